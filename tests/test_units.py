"""Compile units and their keys."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from probe_unit import TEXT, UNIT

from baracuda.compile import loader, nvrtc, source
from baracuda.compile.pack import pack_key
from baracuda.compile.unit import Unit, digest, unit_key

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
    monkeypatch.setattr("baracuda.compile.unit.SCHEMA", 2)
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


def test_a_changed_header_is_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One byte more, a name, a folder: for cache and packs; the same contents elsewhere are a hit."""

    def keys_with(*headers: tuple[str, bytes]) -> set[str]:
        include = tmp_path / str(len(list(tmp_path.iterdir())))
        shutil.copytree(source.include_folder(), include)
        for name, content in headers:
            (include / name).parent.mkdir(exist_ok=True)
            with (include / name).open("ab") as file:
                file.write(content)
        with monkeypatch.context() as context:
            context.setattr(source, "_INCLUDE", include)
            # What is not remembered under the changed folder.
            for read in (source._contents, source.headers, source.headers_digest):
                context.setattr(source, read.__name__, read.__wrapped__)
            return {loader.artifact_key(UNIT, "sm_90"), pack_key(UNIT, "sm_90")}

    changes = [
        [("baracuda/target.cuh", b"\n")],
        [("baracuda/new.cuh", b"")],
        [("baracuda/newer.cuh", b"")],
        [("deeper/new.cuh", b"")],
        [("baracuda/new.cuh", b"a"), ("baracuda/newer.cuh", b"b")],
        [("baracuda/new.cuh", b"ab"), ("baracuda/newer.cuh", b"")],
    ]
    keys = [keys_with(), *(keys_with(*headers) for headers in changes)]
    assert len(set().union(*keys)) == 2 * len(keys)
    assert keys[0] == keys_with(("baracuda/notes.txt", b"no header")) == keys_with()


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
