"""The documentation of the spec says what is so: its tables are complete, its examples load."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pydantic
import pytest
from cli_runner import run

from baracuda.codegen import load_spec, render
from baracuda.codegen.formula import CONSTANTS
from baracuda.codegen.formula.table import function_table
from baracuda.codegen.spec import schema, vocabulary
from baracuda.codegen.spec.rules import SHAPE_FUNCTIONS
from baracuda.codegen.yaml_source import parse_yaml
from baracuda.errors import InvalidProblem

ROOT = Path(__file__).resolve().parents[1]
SPEC_PAGE = (ROOT / "docs/spec.md").read_text(encoding="utf-8")
OP_PAGE = (ROOT / "docs/adding-an-op.md").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def models() -> list[Any]:
    found = [value for value in vars(schema).values() if isinstance(value, type)]
    return [
        m for m in found if issubclass(m, pydantic.BaseModel) and m not in (pydantic.BaseModel, schema.Model)
    ]


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=lambda page: page.name)
def test_a_page_says_nothing_twice(page: Path) -> None:
    """No two headings, and no two points of a list under one heading, begin alike."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    heading, seen = "", set()
    for line in prose.split("\n"):
        point = re.match(r"- \*\*[^*]+\*\*", line)
        if re.match("#+ ", line):
            heading = line
        elif point is None:
            continue
        said = (heading, point[0] if point else "")
        assert said not in seen, said
        seen.add(said)


def test_the_table_of_functions_is_current() -> None:
    begin, end = "<!-- functions: begin -->\n", "\n<!-- functions: end -->"
    shown = SPEC_PAGE[SPEC_PAGE.index(begin) + len(begin) : SPEC_PAGE.index(end)]
    assert shown == function_table()


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_every_key_is_explained(model: Any) -> None:
    missing = [key for key in vocabulary.keys(model) if f"`{key}`" not in SPEC_PAGE]
    assert missing == []


def test_every_word_of_a_list_is_explained() -> None:
    for model in models():
        for key, annotation in vocabulary.keys(model).items():
            words = re.findall(r"'(\w+)'", vocabulary.wanted(annotation))
            assert [word for word in words if f"`{word}`" not in SPEC_PAGE] == [], (model.__name__, key)


def test_every_constant_and_shape_function_is_explained() -> None:
    assert [name for name in CONSTANTS if f"`{name}`" not in SPEC_PAGE] == []
    assert [name for name in SHAPE_FUNCTIONS if f"`{name}(" not in SPEC_PAGE] == []


@pytest.mark.parametrize("page", [SPEC_PAGE, OP_PAGE], ids=["spec", "adding-an-op"])
def test_examples_are_yaml_without_surprises(page: str) -> None:
    assert len(blocks(page, "yaml")) > 0
    for text in blocks(page, "yaml"):
        source = parse_yaml(text, "example.yaml")
        assert [str(problem) for problem in source.problems.sorted()] == [], text
        assert isinstance(source.data, dict)


def test_the_sections_of_the_page_make_a_spec(tmp_path: Path) -> None:
    """Every section's example stands in one file, and the file loads."""
    sections = {}
    for text in blocks(SPEC_PAGE, "yaml"):
        for name in ("dtypes", "monoids", "families", "ops"):
            if text.startswith(f"{name}:\n"):
                sections.setdefault(name, text)
    assert list(sections) == ["dtypes", "ops", "families", "monoids"]
    path = tmp_path / "ops.yaml"
    path.write_text("version: 1\n" + "".join(sections.values()), encoding="utf-8")
    assert list(load_spec(path).ops) == ["lerp"]


def test_the_example_of_an_own_spec_loads(tmp_path: Path) -> None:
    (text,) = [text for text in blocks(SPEC_PAGE, "yaml") if "extends: baracuda" in text]
    path = tmp_path / "my_ops.yaml"
    path.write_text(text, encoding="utf-8")
    assert run("lint", "--spec", path).exit_code == 0
    assert run("generate", "--spec", path, "--out", tmp_path / "my_package").exit_code == 0


@pytest.fixture
def with_new_op(tmp_path: Path) -> Path:
    """The checkout's spec with the entry that the walk-through adds."""
    path = tmp_path / "ops.yaml"
    shutil.copy(ROOT / "ops.yaml", path)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" + blocks(OP_PAGE, "yaml")[0])
    return path


def test_the_walk_through_gives_the_kernel_that_it_shows(with_new_op: Path) -> None:
    before, after = render(load_spec()), render(load_spec(with_new_op))
    added = [path for path in after if path not in before]
    assert len(added) == 2
    shown = blocks(OP_PAGE, "cpp")
    assert len(shown) == 1
    assert shown[0] in after[added[0]]
    for path in added:
        assert f"generated/{path}" in OP_PAGE


def test_the_walk_through_shows_what_lint_says(with_new_op: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(with_new_op.parent)
    text = with_new_op.read_text(encoding="utf-8")
    (message,) = [m for m in blocks(OP_PAGE, "text") if m.startswith("Error: ops.yaml:")]
    good = blocks(OP_PAGE, "yaml")[0]
    broken = good.replace("a + alpha * b", "a + alhpa * b", 1)
    assert broken != good
    with_new_op.write_text(text.replace(good, broken), encoding="utf-8")
    result = run("lint", "--spec", with_new_op.name)
    assert result.exit_code == 2
    assert re.sub(r":\d+:", ":LINE:", result.stderr) == re.sub(r":\d+:", ":LINE:", message)


def test_the_walk_through_ends_with_what_its_tests_pass(with_new_op: Path, tmp_path: Path) -> None:
    """Its first formula overflows on the way, its last does not; its example is right."""
    first, second = blocks(OP_PAGE, "yaml")
    (body,) = blocks(OP_PAGE, "python")
    results = []
    for formula in (first, first.replace(re.search(r"    forward:\n.*\n", first)[0], second)):
        text = (ROOT / "ops.yaml").read_text(encoding="utf-8")
        with_new_op.write_text(f"{text}\n{formula}", encoding="utf-8")
        package = tmp_path / f"package{len(results)}"
        assert run("generate", "--spec", with_new_op, "--out", package).exit_code == 0
        code = body.replace("bc.BinaryParam", f"{package.name}.BinaryParam").replace(
            "import numpy as np", f"import numpy as np, {package.name}"
        )
        code += "\nprint(y)\nbig = np.array([np.inf, 1, 1, 1], np.float32), np.full(4, -3.4e38, np.float32)\n"
        code += "plan = type(plan).select(bc.Stream.host(), dataclasses.replace(desc, param=1.7))\n"
        code += "plan(a=big[0], b=big[1], y=y)\nprint(y[0])"
        shown = subprocess.run(
            [sys.executable, "-c", f"import dataclasses\n{code}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        results.append(shown.stdout.splitlines())
    assert results == [["[1.  1.5 2.  2.5]", "nan"], ["[1.  1.5 2.  2.5]", "inf"]]


def test_the_examples_of_rows_run() -> None:
    """One after another, as they stand on the page; their results beside NumPy's."""
    page = (ROOT / "docs/rows.md").read_text(encoding="utf-8")
    seen: dict[str, Any] = {}
    norm, reduction, rope = blocks(page, "python")
    exec(norm, seen)
    want = seen["x"] / np.sqrt(np.mean(seen["x"].astype(np.float64) ** 2, axis=1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(seen["y"], want, rtol=1e-5)
    np.testing.assert_allclose(seen["dgamma"], np.sum(seen["dy"] * want, axis=0), rtol=1e-4, atol=1e-5)
    exec(reduction, seen)
    parts = np.exp(seen["x"].astype(np.float64))
    np.testing.assert_allclose(seen["y"].ravel(), np.log(parts.sum()), rtol=1e-6)
    np.testing.assert_allclose(seen["dx"], parts / parts.sum(), rtol=1e-5)
    seen["rng"], same = np.random.default_rng(5), np.random.default_rng(5)
    exec(rope, seen)
    before = same.standard_normal((2, 16, 8, 64), dtype=np.float32).astype(np.float64)
    angles = seen["positions"][:, None, None] * 10000.0 ** (-np.arange(32) / 32) / 4
    cosine, sine, first, second = np.cos(angles), np.sin(angles), before[..., :32], before[..., 32:]
    want = np.concatenate([first * cosine - second * sine, first * sine + second * cosine], -1)
    np.testing.assert_allclose(seen["q"], want, atol=1e-5)


def test_the_examples_of_maps_run() -> None:
    """One after another, as they stand on the page, which asserts some; the other results beside NumPy's.

    That of PyTorch runs in torch/test_autograd.py.
    """
    seen: dict[str, Any] = {}
    start, broadcast, layouts, integers, gates, _ = blocks(
        (ROOT / "docs/maps.md").read_text(encoding="utf-8"), "python"
    )
    for block in (start, broadcast):
        exec(block, seen)
    np.testing.assert_array_equal(seen["y"], seen["a"] * seen["b"])
    np.testing.assert_array_equal(seen["da"], np.broadcast_to(seen["b"], (2, 3)))
    for block in (layouts, integers):
        exec(block, seen)
    np.testing.assert_array_equal(seen["less"], seen["small"] < seen["one"])
    exec(gates, seen)
    np.testing.assert_allclose(seen["y"], np.full((2, 4), 1 / (1 + np.exp(-1))), rtol=1e-6)
    overlap = layouts.replace(".T.copy()", ".T")
    with pytest.raises(InvalidProblem):
        exec(overlap, seen)
