"""Compile units and their keys."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from packages import generated_files
from probe_unit import TEXT, UNIT

from baracuda.compile import loader, nvrtc, source
from baracuda.compile.pack import pack_key
from baracuda.compile.unit import Unit, digest, unit_key
from baracuda.errors import CompileError
from baracuda.host import compile_units

pytestmark = pytest.mark.usefixtures("nothing_loaded")


def key(unit: Unit = UNIT, arch: str = "sm_90", compiler: str = "nvrtc 12.9", headers: str = "h") -> str:
    return unit_key(unit, nvrtc.options(unit), arch, compiler, headers)


@pytest.mark.parametrize(
    "other",
    [
        key(replace(UNIT, text=TEXT + " ")),
        key(replace(UNIT, defines=(("BARACUDA_DTYPE", "f16"), ("BARACUDA_PROBE", "1")))),
        key(replace(UNIT, defines=(*UNIT.defines, ("BARACUDA_WIDE", "")))),
        key(replace(UNIT, defines=UNIT.defines[:1])),
        key(replace(UNIT, flags=("-fmad=true",))),
        key(replace(UNIT, flags=("-ftz=true",))),
        key(replace(UNIT, flags=("-std=c++20",))),
        key(replace(UNIT, flags=("-lineinfo",))),
        key(arch="sm_80"),
        key(arch="compute_90"),
        key(compiler="nvrtc 13.0"),
        key(headers="g"),
    ],
)
def test_key_changes_with_every_ingredient(other: str) -> None:
    assert other != key()


def test_key_changes_with_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key()
    monkeypatch.setattr("baracuda.compile.unit.SCHEMA", 99)
    assert key() != before


def test_key_does_not_change_otherwise() -> None:
    assert key(replace(UNIT, defines=UNIT.defines[::-1])) == key()
    assert key(replace(UNIT, name="elsewhere/probe.cu")) == key()
    assert key(replace(UNIT, flags=("-fmad=false",))) == key()
    assert len(key()) == 64


def test_digest_keeps_fields_apart() -> None:
    assert (
        len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("abc", ""), digest("a\0b", "c")})
        == 5
    )


def test_key_is_the_same_in_another_process() -> None:
    script = (
        "from baracuda.compile import loader\nfrom baracuda.compile.unit import Unit\n"
        f"print(loader.artifact_key(Unit{(UNIT.name, UNIT.text, UNIT.defines)!r}, 'sm_90'))"
    )
    keys = {loader.artifact_key(UNIT, "sm_90")}
    for seed, locale in (("1", "C"), ("4711", "C.UTF-8")):
        environment = os.environ | {"PYTHONHASHSEED": seed, "LC_ALL": locale}
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            cwd="/",
        )
        keys.add(done.stdout.strip())
    assert len(keys) == 1


@pytest.fixture
def keys_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[str, str, str]]:
    """The keys for cache, packs and the host of a text beside the bundled headers with more text each."""

    def keys(text: str, *headers: tuple[str, str]) -> tuple[str, str, str]:
        include = tmp_path / str(len(list(tmp_path.iterdir())))
        shutil.copytree(source.include_folder(), include)
        for name, content in headers:
            (include / name).parent.mkdir(exist_ok=True)
            with (include / name).open("a") as file:
                file.write(content)
        unit = replace(UNIT, text=text)
        with monkeypatch.context() as context:
            context.setattr(source, "_INCLUDE", include)
            # What is not remembered under the changed folder.
            for name, value in list(vars(source).items()):
                if hasattr(value, "cache_clear"):
                    context.setattr(source, name, functools.cache(value.__wrapped__))
            return loader.artifact_key(unit, "sm_90"), pack_key(unit, "sm_90"), source.headers_digest(text)

    return keys


DIRECT = "#include <baracuda/new.cuh>\n"


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        ("#include <baracuda/map.cuh>\n", [("baracuda/target.cuh", "\n")]),
        (DIRECT, [("baracuda/new.cuh", "")]),
        ('  # include "baracuda/new.cuh" // why\n', [("baracuda/new.cuh", "a")]),
        ("#ifdef NEVER\n#include <deeper/new.cuh>\n#endif", [("deeper/new.cuh", "a")]),
        (
            DIRECT,
            [("baracuda/new.cuh", DIRECT + "#include <baracuda/newer.cuh>"), ("baracuda/newer.cuh", "")],
        ),
        (DIRECT, [("baracuda/new.cuh", "#include <baracuda/newer.cuh>"), ("baracuda/newer.cuh", "a")]),
        ("#define NEW <baracuda/new.cuh>\n#include NEW\n", [("baracuda/new.cuh", "")]),
        ("/* why */ #include <baracuda/new.cuh>\r\n", [("baracuda/new.cuh", "")]),
        ("#/* why */include <baracuda/new.cuh>\n", [("baracuda/new.cuh", "")]),
        ("#\finclude <baracuda/new.cuh>\n", [("baracuda/new.cuh", "")]),
        ("%:include <baracuda/new.cuh>\n", [("baracuda/new.cuh", "")]),
        ("#include_next <baracuda/new.cuh>\n", [("baracuda/new.cuh", "")]),
        ("#if __has_include(<baracuda/new.cuh>)\n#endif\n", [("baracuda/new.cuh", "")]),
        ("#\\\ninclude <baracuda/new.cuh>\n", [("baracuda/new.cuh", "")]),
        ("#include \\\r\n<baracuda/\\\nnew.cuh>\n", [("baracuda/new.cuh", "")]),
        ("#inc\\\nlude <baracuda/new.cuh>\n", [("baracuda/new.cuh", "")]),
        ("#inclu\\ \t\r\nde <baracuda/\\\nnew.cuh>\n", [("baracuda/new.cuh", "")]),
        (DIRECT, [("baracuda/new.cuh", "#i\\\nnclude <baracuda/newer.cuh>"), ("baracuda/newer.cuh", "a")]),
    ],
)
def test_a_changed_header_is_a_miss(
    text: str, headers: list[tuple[str, str]], keys_with: Callable[..., tuple[str, str, str]]
) -> None:
    """Each header that counts changes all keys: named by the text, by a header, or perhaps by a macro."""
    found = [keys_with(text, *headers[:number]) for number in range(len(headers) + 1)]
    for keys in zip(*found, strict=True):
        assert len(set(keys)) == len(found)
    assert found[-1] == keys_with(text, *headers)


@pytest.mark.parametrize(
    "line",
    [
        '#include "FILE"',
        "#include <FILE>",
        '\t# include\t"FILE" // why',
        '/* why */ #include "FILE"',
        '#/* // */include/* why */"FILE"',
        '%:include "FILE"',
        '#inc\\\nlude \\\n"FILE"',
        '// why\n#include <cmath> /*\n*/\n#include "FILE"',
        '#define HTTP "http://"\n#include "FILE"',
        '#import "FILE"',
        '#define MINE_FILE "FILE"\n#include MINE_FILE',
    ],
)
@pytest.mark.parametrize("name", ["mine.cuh", "FOLDER/mine.cuh", "../mine.cuh"])
def test_a_file_that_no_key_knows_is_not_included(
    line: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an own template, perhaps: an edit of the file would find the old kernel in cache and packs."""
    (tmp_path / "below").mkdir()
    (tmp_path / "mine.cuh").write_text("#define MINE 1\n")
    monkeypatch.chdir(tmp_path / "below" if name.startswith("..") else tmp_path)
    file = name.replace("FOLDER", str(tmp_path))
    text = TEXT + line.replace("FILE", file) + "\n"
    if "<FILE>" in line and not Path(file).is_absolute():
        # What compilers look for among their own headers alone.
        source.check_includes("own/mine.cu", text)
        return
    unit = replace(UNIT, name="own/mine.cu", text=text)
    for make in (lambda: nvrtc.compile_cubin(unit, "compute_90"), lambda: compile_units([unit])):
        with pytest.raises(
            CompileError, match=r"mine\.cu includes '.*(mine\.cuh|MINE_FILE)', want headers of"
        ):
            make()


@pytest.mark.parametrize(
    "text", ['// #include "mine.cuh"\n', '/*\n#include "mine.cuh"\n*/\n', "#include <cmath>\n"]
)
def test_what_is_said_of_files_includes_none(text: str) -> None:
    source.check_includes("own/mine.cu", text + '#include "baracuda/target.cuh"\n')


def test_bundled_headers_include_bundled_ones() -> None:
    """By their whole names: a compiler that reads from the disk would find neighbours that no key knows."""
    for name, text in source.headers().items():
        source.check_includes(name, text)


def test_names_and_contents_of_headers_are_kept_apart(
    keys_with: Callable[..., tuple[str, str, str]],
) -> None:
    both = DIRECT + "#include <baracuda/newer.cuh>\n"
    one = keys_with(both, ("baracuda/new.cuh", "a"), ("baracuda/newer.cuh", "b"))
    other = keys_with(both, ("baracuda/new.cuh", "ab"), ("baracuda/newer.cuh", ""))
    assert not set(one) & set(other)


@pytest.mark.parametrize("name", ["baracuda", "a\0b", "x" * 5000, "\udcff", "../baracuda/target.cuh/"])
def test_a_name_that_is_no_header_changes_no_key(name: str) -> None:
    assert source.headers_digest(f"#include <{name}>\n") == source.headers_digest("")


@pytest.mark.parametrize("header", ["baracuda/notes.txt", "baracuda/new.cuh", "baracuda/rotate.cuh"])
def test_what_is_not_included_changes_no_key(
    header: str, keys_with: Callable[..., tuple[str, str, str]]
) -> None:
    text = "#include <baracuda/map.cuh>\n#include <cmath>\n"
    assert keys_with(text, (header, "more")) == keys_with(text)


def test_kernels_know_the_headers_they_include() -> None:
    """None names a header by a macro, and each knows not all: editing one leaves most kernels alone."""
    texts = [text for name, text in generated_files().items() if name.endswith(".cu")]
    assert len(texts) > 200
    for text in texts:
        digest_of_text = source.headers_digest(text)
        assert digest_of_text not in (source.headers_digest(""), source.all_headers_digest())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"defines": (("A", "1"), ("A", "2"))}, "defined twice: A"),
        ({"defines": (("A B", "1"),)}, "'A B' is not a C identifier"),
        ({"defines": (("A", "1\n#include <x>"),)}, "line break"),
        ({"flags": ("-I/usr/include",)}, "refused"),
        ({"flags": ("-DX=1",)}, "refused"),
        ({"flags": ("--include-path=/usr",)}, "refused"),
        ({"flags": ("-arch=sm_80",)}, "refused"),
        ({"flags": ("--pch",)}, "refused"),
        ({"flags": ("fmad=true",)}, "does not start with '-'"),
    ],
)
def test_a_unit_refuses_what_its_key_cannot_see(fields: dict[str, tuple[str, ...]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(UNIT, **fields)  # type: ignore[arg-type]
