"""What the loader refuses, in which words and at which line; the cases are in spec_errors/."""

from __future__ import annotations

import ast
import functools
import sys
import tempfile
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from small_spec import SMALL_HALVES, SMALL_PAIRS
from spec_errors import BASE, CASES, Case, yaml_text

from baracuda import codegen
from baracuda.codegen import SpecError, load_spec, yaml_source
from baracuda.codegen import spec as spec_package
from baracuda.codegen.problems import Problems
from baracuda.codegen.yaml_source import parse_yaml

#: A file of the loader, and a line in it.
Site: TypeAlias = tuple[str, int]


def load(case: Case, folder: Path) -> None:
    path = folder / "ops.yaml"
    path.write_text(case.text(), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        if case.most_nodes is not None:
            patch.setattr(yaml_source, "_MAX_NODES", case.most_nodes)
        load_spec(path)


def want(case: Case, path: Path) -> str:
    text = case.text()
    lines = []
    for anchor, message in case.expected:
        assert text.count(anchor) == 1, (
            f"{case.name}: {anchor!r} stands {text.count(anchor)} times in the text"
        )
        line = text.count("\n", 0, text.index(anchor)) + 1
        lines.append(f"{path}:{line}: {message}")
    return "\n".join(lines)


def test_the_small_specs_are_valid(tmp_path: Path) -> None:
    load(Case("the small spec", (), ()), tmp_path)
    load(Case("the small spec of pairs", (), (), SMALL_PAIRS), tmp_path)
    load(Case("the small spec of halves", (), (), SMALL_HALVES), tmp_path)


@functools.cache
def refused(case: Case) -> tuple[str, frozenset[Site]]:
    """What is said of a broken spec, and the lines of the loader that note it."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        reached = recording(patch)
        if case not in yaml_text.CASES:
            # libyaml reads good YAML the same, and what it cannot read the other parser reads again.
            patch.setattr(spec_package, "parse_yaml", lambda *args, **_: parse_yaml(*args, trusted=True))
        with pytest.raises(SpecError) as caught:
            load(case, Path(folder))
        return str(caught.value).replace(str(Path(folder, "ops.yaml")), "ops.yaml"), frozenset(reached)


def recording(patch: pytest.MonkeyPatch) -> set[Site]:
    """The lines that note problems from now on."""
    reached: set[Site] = set()
    add = Problems.add

    def recorded(problems: Problems, *args: Any, **kwargs: Any) -> None:
        caller = sys._getframe(1)
        reached.add((caller.f_code.co_filename, caller.f_lineno))
        add(problems, *args, **kwargs)

    patch.setattr(Problems, "add", recorded)
    return reached


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_broken_spec_is_refused_in_full(case: Case) -> None:
    assert refused(case)[0] == want(case, Path("ops.yaml"))


def test_a_set_may_take_dtypes_away(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    line = "  float: [half, f32, f64]\n"
    text = Case("", (), ()).text()
    assert text.count(line) == 1
    more = "  wide: [float, -half]\n  back: [float, -half, bf16]\n"
    path.write_text(text.replace(line, line + more), encoding="utf-8")
    sets = load_spec(path).dtypes
    assert sets["wide"] == ("f32", "f64")
    assert sets["back"] == ("f32", "f64", "bf16")


def test_a_file_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_bytes(b"version: 1\n# \xff\n")
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    assert str(caught.value) == f"{path}:2: the byte 0xff is no UTF-8 (save the file as UTF-8)"


def test_a_file_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec_package, "_LARGEST", 1 << 20)
    path = tmp_path / "ops.yaml"
    path.write_bytes(b"#" * (1 << 20) + b"\n")
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    assert str(caught.value) == f"{path}:1: the file is larger than 1 MiB (the path of a spec)"


def test_a_template_beside_the_spec_that_is_not_there_is_refused(tmp_path: Path) -> None:
    edit = ("    template: map\n", "    template: mine\n    engine: map\n")
    with pytest.raises(SpecError) as caught:
        load(Case("no template", (edit,), ()), tmp_path)
    own = tmp_path / "templates" / "mine.cu.j2"
    what = f"families.pair.template: no file {own} (a template beside the spec)"
    assert str(caught.value) == f"{tmp_path / 'ops.yaml'}:37: {what}"


def test_the_spec_of_baracuda_cannot_extend_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec_package, "default_spec_path", lambda: tmp_path / "ops.yaml")
    with pytest.raises(SpecError) as caught:
        load(Case("itself", (), (), BASE), tmp_path)
    what = "extends: this is the spec of baracuda itself (leave it out)"
    assert str(caught.value) == f"{tmp_path / 'ops.yaml'}:2: {what}"


def test_a_file_is_named_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "specs").mkdir()
    path = tmp_path / "specs" / "mine.yaml"
    path.write_text("version: no\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for given in (path, Path("specs/mine.yaml"), Path("specs/../specs/mine.yaml")):
        with pytest.raises(SpecError) as caught:
            load_spec(given)
        assert {problem.file for problem in caught.value.problems} == {str(given)}
        assert str(caught.value).startswith(f"{given}:1: ")
    # Nobody gave the default: it is named as seen from the current folder.
    monkeypatch.setattr(spec_package, "default_spec_path", lambda: path)
    (tmp_path / "elsewhere").mkdir()
    for folder, shown in ((".", "specs/mine.yaml"), ("specs", "mine.yaml"), ("elsewhere", str(path))):
        monkeypatch.chdir(tmp_path / folder)
        with pytest.raises(SpecError) as caught:
            load_spec()
        assert str(caught.value).startswith(f"{shown}:1: ")


def test_a_message_is_one_line() -> None:
    """A name may hold a line break; what is said of it may not."""
    source = yaml_source.parse_yaml('version: 1\nops: {"a\\nb": no}\n', "ops.yaml")
    assert [str(problem) for problem in source.problems.sorted()] == [
        "ops.yaml:2: ops.a b: no is a boolean in YAML 1.1 (quote it, or write false)"
    ]


# Completeness

PACKAGE = Path(str(codegen.__file__)).parent
CHECKED = [PACKAGE / "yaml_source.py", *sorted((PACKAGE / "spec").glob("*.py"))]


def rejections(path: Path) -> dict[int, int]:
    """First and last line of every call that notes a problem."""
    return {
        node.lineno: node.end_lineno or node.lineno
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("problems.add")
    }


def test_every_rejection_has_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No message of the loader is without its exact text above: the lines that note problems are recorded."""
    sites = {str(path): rejections(path) for path in CHECKED}
    assert sum(map(len, sites.values())) > 80
    reached = recording(monkeypatch)
    for case in CASES:
        reached |= refused(case)[1]
    test_a_file_that_is_no_utf8_is_refused(tmp_path)
    test_a_file_that_never_ends_is_refused(tmp_path, monkeypatch)
    test_a_template_beside_the_spec_that_is_not_there_is_refused(tmp_path)
    test_the_spec_of_baracuda_cannot_extend_itself(tmp_path, monkeypatch)
    missing = [
        f"{Path(name).name}:{first}"
        for name, lines in sites.items()
        for first, last in lines.items()
        if not any((name, line) in reached for line in range(first, last + 1))
    ]
    assert missing == []
