"""The generated kernels compile, whatever a spec calls its things."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from host_cpp import compiler
from small_spec import SMALL_SPEC

from baracuda.codegen import kernels, load_spec, render
from baracuda.codegen.matrix import KernelRow
from baracuda.codegen.problems import Problems
from baracuda.codegen.spec.names import check_names
from baracuda.compile.source import include_folder
from baracuda.compile.unit import Unit

needs_nvrtc = pytest.mark.skipif(sys.platform != "linux", reason="NVRTC for Linux alone is among the extras")


def sample(rows: list[KernelRow], template_of: dict[str, str]) -> list[Any]:
    """A unit of each template and direction; another choice with another spec."""
    chosen = random.Random(20240501)
    groups: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        unit = (row.unit, row.defines, row.flags)
        group = groups.setdefault((template_of[row.op], row.direction), [])
        if unit not in group:
            group.append(unit)
    return [
        pytest.param(key[0], unit, id=f"{Path(unit[0]).stem}-{unit[1][0][1]}-{unit[1][1][0]}")
        for key, group in groups.items()
        for unit in chosen.sample(group, 1)
    ]


SPEC = load_spec()
SAMPLE = sample(kernels(SPEC), {op.name: op.family.template for op in SPEC.ops.values()})


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return render(SPEC)


#: Bytes: so many tiles of one input run at once that 32 registers are left for a thread, of which some lie in
#: memory where elements are moved one by one.
SPILLS_OF_TILES = 32


@needs_nvrtc
@pytest.mark.parametrize(("template", "unit"), SAMPLE)
def test_nvrtc_compiles_a_sample(template: str, unit: Any, texts: dict[str, str]) -> None:
    """PTX for the oldest architecture, or a cubin for sm_90: no warnings; of maps both, and hardly a spill.

    CUDA's sine, cosine and tangent reduce large angles by way of an array, which is a stack frame.
    """
    from baracuda.compile import nvrtc

    path, defines, flags = unit
    slow = template == "attention" or (template != "map" and path.endswith("_backward.cu"))
    if template == "map" or slow:  # cubins of the slow ones take several times as long
        old = nvrtc.compile_cubin(Unit(path, texts[path], defines, flags), "compute_80")
        assert old.log.strip("\0\n") == ""
        assert b".target sm_80" in old.data
    if slow:
        return
    new = nvrtc.compile_cubin(Unit(path, texts[path], defines, (*flags, "--ptxas-options=-v")), "sm_90")
    assert new.data[:4] == b"\x7fELF"
    assert "warning" not in new.log
    if template == "map" and not any(name.startswith("BARACUDA_SUM") for name, _ in defines):
        found = re.findall(
            r"properties for (\w+)\n.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill",
            new.log,
        )
        assert len(found) >= 1
        turns = re.search(r"baracuda::(sin|cos|tan)\(", texts[path]) is not None
        for name, frame, stores, loads in found:
            most = SPILLS_OF_TILES if name.endswith("_tiled") else 0
            assert max(int(stores), int(loads), 0 if turns else int(frame)) <= most, name


def identifiers(texts: dict[str, str]) -> list[str]:
    """Every identifier of the kernels' C++, comments and directives apart."""
    code = [
        line.partition("//")[0]
        for path, text in texts.items()
        if path.endswith(".cu")
        for line in text.splitlines()
        if not line.startswith("#")
    ]
    return sorted(set(re.findall(r"[A-Za-z]\w*", "\n".join(code))))


def accepted(name: str) -> bool:
    problems = Problems("ops.yaml")
    check_names({"ops": {"op": {"kind": "KIND", "forward": {"let": {name: "x"}}}}}, problems)
    return not len(problems)


#: Functions and variables of CUDA and the C library, and macros of some systems.
LIBRARY = [
    "fma", "floor", "exp", "log", "sqrt", "rsqrt", "pow", "abs", "fmin", "fmax", "erf", "y0", "y1", "gamma",
    "signgam", "memcpy", "malloc", "printf", "exit", "time", "clock", "div", "rand", "major", "minor", "unix",
    "near", "far", "assert", "errno", "stdin", "threadIdx", "warpSize", "clock64", "saturate", "int2", "half",
]  # fmt: skip

SUM = SMALL_SPEC[SMALL_SPEC.index("    state: {s:") : SMALL_SPEC.index("  matches:\n")]
MIX = SMALL_SPEC[
    SMALL_SPEC.index("      let: {rest: 1 - weight}\n      y:") : SMALL_SPEC.index("    backward:\n      let")
]


def each(names: list[str], value: str) -> str:
    return "{" + ", ".join(f"{name}: {value}" for name in names) + "}"


@pytest.mark.parametrize(
    ("where", "old", "new", "taken"),
    [
        ("pairs/mix", MIX, '      let: LETS\n      y: "max(NAMES) * weight + b"\n', "a b weight"),
        ("pairs/mix", "    attrs:\n", "    attrs:\nATTRIBUTES", "a b y da db dy weight"),
        (
            "rows/total",
            "row: {n: matches(x > 0)}\n      y: sum(x) + n",
            'row: ROWS\n      y: "max(NAMES)"',
            "x y dx dy",
        ),
        (
            "rows/total_backward",
            "all: {dx: dy if x > 0 else 0}",
            'all: {let: LETS, dx: "max(NAMES)"}',
            "x y dx dy",
        ),
        ("rows/total", SUM, SUM.replace("lift: {s: x}", 'lift: {let: LETS, s: "max(NAMES)"}'), "x index"),
        (
            "rows/total",
            SUM,
            SUM.replace("merge: {s: a.s + b.s}", 'merge: {let: MERGES, s: "max(NAMES) + b.s"}'),
            "a b",
        ),
        (
            "rows/total",
            SUM,
            "    constants: CONSTANTS\n" + SUM.replace("{s: x}", '{s: "x * max(NAMES)"}'),
            "a b x index s",
        ),
    ],
    ids=["let", "attribute", "row", "let over axes", "lift", "merge", "constants"],
)
def test_no_name_that_the_loader_takes_breaks_a_kernel(
    where: str, old: str, new: str, taken: str, tmp_path: Path
) -> None:
    """Names of a kernel's own C++, of the headers, of CUDA and the C library are refused or do no harm."""
    path = tmp_path / "ops.yaml"
    path.write_text(SMALL_SPEC, encoding="utf-8")
    headers = {f"{path.name}.cu": path.read_text("utf-8") for path in include_folder().rglob("*.cuh")}
    some = random.Random(20240501).sample(identifiers(headers), 60)
    names = [
        name
        for name in sorted({*identifiers(render(load_spec(path))), *some, *LIBRARY})
        if accepted(name)
        and yaml.safe_load(name) == name
        and name not in [*taken.split(), "extent", "index", "n", "rest"]
    ]
    assert len(names) > 20
    for mark, text in {
        "LETS": each(names, "x * 2" if where.startswith("rows") else "a * 2"),
        "ROWS": each(names, "sum(x)"),
        "MERGES": each(names, "a.s * 2"),
        "CONSTANTS": each(names, "{f32: 1.0, f64: 1.0}"),
        "ATTRIBUTES": "".join(f"      {name}: {{from: number}}\n" for name in names),
        "NAMES": ", ".join(names),
    }.items():
        new = new.replace(mark, text)
    assert old in SMALL_SPEC
    broken = SMALL_SPEC.replace(old, new, 1)
    if "from: number" in new:
        broken = broken.replace(
            "y: a * rest + b * weight", f'y: "max(a, {", ".join(names)}) + weight * rest * b"', 1
        )
    path.write_text(broken, encoding="utf-8")
    text = render(load_spec(path))[f"kernels/{where}.cu"]
    macros = [
        "-DBARACUDA_DTYPE=f16",
        "-DBARACUDA_NARROW=1",
        "-DBARACUDA_WIDE=1",
        "-DBARACUDA_NAMESPACE=kernels",
    ]
    shown = compiler("-fsyntax-only", *macros, text=text)
    assert shown.returncode == 0, shown.stderr[:4000]


def test_a_wide_attribute_and_what_follows_from_it_stay_doubles(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    wide = SMALL_SPEC.replace("{from: number,", "{from: number, wide: true,", 1)
    path.write_text(wide.replace("y: a * rest + b * weight", "y: a * rest + b", 1), encoding="utf-8")
    text = render(load_spec(path))["kernels/pairs/mix.cu"]
    assert "    double rest;  // 1 - weight\n" in text
    assert "out[0] = A(double(a) * rest + double(b));" in text


def test_a_kernel_includes_what_its_formulas_call(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(SMALL_SPEC, encoding="utf-8")
    plain = render(load_spec(path))
    called = SMALL_SPEC.replace("y: a * rest + b * weight", "y: ndtr(a) * rest + sinpi(b) * weight", 1)
    path.write_text(called, encoding="utf-8")
    text = render(load_spec(path))["kernels/pairs/mix.cu"]
    added = "#include <baracuda/half_turns.cuh>\n#include <baracuda/normal.cuh>\n"
    assert f"{added}\nnamespace" in text
    assert not any("normal.cuh" in other for other in plain.values())
    shown = compiler(
        "-fsyntax-only", "-DBARACUDA_DTYPE=f16", "-DBARACUDA_NARROW=1", "-DBARACUDA_NAMESPACE=k", text=text
    )
    assert shown.returncode == 0, shown.stderr[:4000]


def test_a_kernel_has_the_comments_of_its_formulas(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    reason = "which is exact where the weight is a power of two, and rounds once elsewhere, " * 2
    told = SMALL_SPEC.replace(
        "    forward:\n      let: {rest: 1 - weight}\n      y: a * rest + b * weight\n",
        "    # Of both ends.\n    forward:\n      let: {rest: 1 - weight}      # of a\n"
        f"      # {reason}\n      y: a * rest + b * weight\n",
        1,
    )
    path.write_text(told, encoding="utf-8")
    kernels = render(load_spec(path))
    lines = kernels["kernels/pairs/mix.cu"].split("\n")
    at = lines.index("// Of both ends.")
    assert lines[at + 1] == "//   rest = 1 - weight  # of a"
    above = lines[at + 2 : lines.index("//   y = a * rest + b * weight")]
    assert " ".join(line.removeprefix("//   # ") for line in above) == reason.strip()
    assert "Of both ends" not in kernels["kernels/pairs/mix_backward.cu"]
