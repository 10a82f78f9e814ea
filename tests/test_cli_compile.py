"""`baracuda-gen compile` and `cache`."""

from __future__ import annotations

import ast
import csv
import errno
import importlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli_runner import run

from baracuda import codegen
from baracuda.codegen.cli import main
from baracuda.codegen.cli.cost import Budget, Cost, excesses
from baracuda.compile import nvrtc
from baracuda.compile.pack import Pack

ROOT = Path(__file__).resolve().parents[1]
progress_module = importlib.import_module("baracuda.codegen.cli.progress")

KERNEL = """\
#include <baracuda/target.cuh>
extern "C" __global__ void baracuda_copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
"""


@dataclass(frozen=True)
class Row:
    """A row of the matrix, as the commands read it."""

    op: str
    dtype: str
    variant: str = "contig"
    family: str = "map"
    category: str = "unary"
    kind: str = "COPY"
    plan: str = "UnaryPlan"
    direction: str = "forward"
    flags: tuple[str, ...] = ()

    @property
    def symbol(self) -> str:
        return f"baracuda_{self.op}_{self.dtype}"

    @property
    def unit(self) -> str:
        return f"kernels/{self.op}.cu"

    @property
    def defines(self) -> tuple[tuple[str, str], ...]:
        return (("BARACUDA_DTYPE", self.dtype),)


@pytest.fixture
def two_kernels(monkeypatch: pytest.MonkeyPatch, fresh_cache: Path) -> list[Row]:
    """Two units that compile fast, in place of the whole matrix; the cache is empty."""
    rows = [Row("copy", "f32"), Row("copy", "f32", "strided"), Row("other", "f32")]
    texts = {"kernels/copy.cu": KERNEL, "kernels/other.cu": KERNEL + "// another text, so another key\n"}
    monkeypatch.setattr(codegen, "load_spec", lambda spec: None, raising=False)
    monkeypatch.setattr(codegen, "kernels", lambda model: rows, raising=False)
    monkeypatch.setattr(codegen, "render_kernels", lambda *_: texts, raising=False)
    return rows


def test_compile_fills_the_cache(two_kernels: list[Row], fresh_cache: Path) -> None:
    first = run("compile", "--arch", "sm_90", "--jobs", "2")
    assert first.exit_code == 0
    assert "sm_90: 2 of 2 units compiled (2 now, 0 were in the cache), " in first.output
    assert " s with 2 jobs" in first.output
    assert len(list(fresh_cache.rglob("*.bin"))) == 2
    second = run("compile", "--arch", "sm_90", "--op", "copy")
    assert "1 of 1 units compiled (0 now, 1 were in the cache)" in second.output
    info = run("cache", "info").output
    assert str(fresh_cache) in info
    assert "kernels         2, " in info
    assert "removed 2 entries" in run("cache", "clear").output
    assert [path for path in fresh_cache.rglob("*") if path.is_file()] == []


def test_compile_goes_on_after_a_failure(
    two_kernels: list[Row], monkeypatch: pytest.MonkeyPatch, fresh_cache: Path
) -> None:
    texts = {"kernels/copy.cu": "this is no C++", "kernels/other.cu": KERNEL}
    monkeypatch.setattr(codegen, "render_kernels", lambda *_: texts, raising=False)
    result = run("compile", "--arch", "compute_80")
    assert result.exit_code == 1
    assert "1 of 2 units compiled" in result.output
    assert "copy.cu: " in result.stderr
    assert len(list(fresh_cache.rglob("*.bin"))) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--arch", "sm_35"), "too old"),
        (("--arch", "gfx90a"), "no architecture"),
        (("--op", "cop"), "did you mean copy?"),
        (("--dtype", "f23"), "did you mean f32?"),
        (("--pack", "no such folder/a.pack"), "there is no folder"),
        (("--pack", "."), "is a directory"),
        (("--compress",), "--compress: it is the pack that is compressed; add --pack FILE"),
    ],
)
def test_compile_refuses_bad_input(two_kernels: list[Row], arguments: tuple[str, ...], message: str) -> None:
    arch = () if "--arch" in arguments else ("--arch", "sm_90")
    result = run("compile", *arch, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


# Packs


def test_compile_writes_a_pack_of_several_architectures(
    two_kernels: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "für alle.pack"
    arguments = ("--arch", "sm_90", "--arch", "compute_80", "--arch", "sm_90", "--pack", path)
    # What forbids the library to compile says nothing to the command that compiles ahead.
    monkeypatch.setenv("BARACUDA_JIT", "never")
    result = run("compile", *arguments)
    assert result.exit_code == 0
    assert f"wrote {path}: 4 units for sm_90, compute_80, " in result.output
    pack = Pack(path)
    assert (len(pack), pack.archs) == (4, ("compute_80", "sm_90"))
    before = path.read_bytes()
    assert "(0 now, 2 were in the cache)" in run("compile", *arguments).output
    assert path.read_bytes() == before
    small = tmp_path / "small.pack"
    assert run("compile", *arguments[:-1], small, "--compress").exit_code == 0
    assert small.stat().st_size < len(before)


def test_no_pack_is_written_where_a_unit_fails(
    two_kernels: list[Row], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    texts = {"kernels/copy.cu": "this is no C++", "kernels/other.cu": KERNEL}
    monkeypatch.setattr(codegen, "render_kernels", lambda *_: texts, raising=False)
    path = tmp_path / "kernels.pack"
    path.write_text("of before")
    result = run("compile", "--arch", "sm_90", "--pack", path)
    assert result.exit_code == 1
    assert f"1 of 2 units do not compile, so {path} was not written" in result.stderr
    assert path.read_text() == "of before"
    assert [entry.name for entry in tmp_path.glob("*pack*")] == ["kernels.pack"]


def test_a_pack_into_a_folder_that_cannot_be_written_is_refused_before_the_work(
    two_kernels: list[Row], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fresh_cache: Path
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    result = run("compile", "--arch", "sm_90", "--pack", tmp_path / "a.pack")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
    assert not fresh_cache.exists()


def test_a_full_disk_is_a_failure_and_leaves_nothing(
    two_kernels: list[Row], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    run("compile", "--arch", "sm_90")
    monkeypatch.setattr(os, "fsync", fail)
    result = run("compile", "--arch", "sm_90", "--pack", tmp_path / "a.pack")
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr
    assert list(tmp_path.glob("*pack*")) == []


def test_compile_takes_a_dtype(two_kernels: list[Row]) -> None:
    two_kernels.append(Row("copy", "f64"))
    assert "sm_90: 1 of 1 units" in run("compile", "--arch", "sm_90", "--dtype", "f64").output
    assert (
        "sm_90: 3 of 3 units" in run("compile", "--arch", "sm_90", "--dtype", "f64", "--dtype", "f32").output
    )
    nothing = run("compile", "--arch", "sm_90", "--op", "other", "--dtype", "f64")
    assert nothing.exit_code == 2
    assert "no kernel of other has dtype f64" in nothing.stderr


def test_a_gpu_that_nvrtc_does_not_know_gets_ptx_and_a_word(
    two_kernels: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvrtc, "supported_archs", lambda: (80, 90))
    result = run("compile", "--arch", "sm_99")
    assert result.exit_code == 0
    assert re.match(
        r"warning: NVRTC \d+\.\d+ does not know sm_99; making PTX for compute_90, which", result.stderr
    )
    assert "compute_90: 2 of 2 units compiled" in result.stdout


# What it costs


def test_costs_are_reported_a_unit(two_kernels: list[Row], tmp_path: Path) -> None:
    path = tmp_path / "units.csv"
    first = run("compile", "--arch", "sm_90", "--arch", "compute_80", "--report", path).output
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["target"], row["unit"]) for row in rows] == [
        (target, f"{name}.cu f32") for target in ("sm_90", "compute_80") for name in ("copy", "other")
    ]
    assert all(int(row["bytes"]) > 500 and float(row["compiler_seconds"]) > 0 for row in rows)
    sizes = [int(row["bytes"]) / 1024 for row in rows[:2]]
    assert f"size: {sum(sizes):,.1f} KiB, {sum(sizes) / 2:,.1f} KiB a unit; largest: " in first
    assert first.count("compiler time: ") == 2
    # What the cache has took no time, and is measured where it is compiled all the same.
    assert "compiler time" not in run("compile", "--arch", "sm_90").output
    fresh = run("compile", "--arch", "sm_90", "--fresh").output
    assert "(2 now, 0 were in the cache)" in fresh
    assert "compiler time: " in fresh


def test_parts_are_shares_of_the_whole(two_kernels: list[Row], tmp_path: Path) -> None:
    names = []
    for part in ("1/2", "2/2"):
        path = tmp_path / "units.csv"
        run("compile", "--arch", "sm_90", "--part", part, "--report", path)
        names += [row["unit"] for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]
    assert names == ["copy.cu f32", "other.cu f32"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--max-unit-kib", "1.5"),
            r"sm_90: (copy|other)\.cu f32 has [\d.]+ KiB, the budget of a unit is 1\.5 KiB",
        ),
        (
            ("--max-kib", "3"),
            r"sm_90: 2 units have [\d.]+ KiB together, the budget is 3\.0 KiB .*; the largest: ",
        ),
        (
            ("--max-unit-seconds", "0.001"),
            r"sm_90: (copy|other)\.cu f32 has [\d.]+ s, the budget of a unit is 0\.00",
        ),
        (
            ("--max-seconds", "0.001"),
            r"sm_90: 2 units have [\d.]+ s together, the budget is 0\.00 s .*the slowest: ",
        ),
    ],
)
def test_beyond_the_budget_is_a_failure_that_names_the_unit(
    two_kernels: list[Row], tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    pack = tmp_path / "kernels.pack"
    generous = (
        "--max-kib",
        "1e6",
        "--max-unit-kib",
        "1e6",
        "--max-seconds",
        "1e6",
        "--max-unit-seconds",
        "1e6",
    )
    assert run("compile", "--arch", "sm_90", "--fresh", *generous).exit_code == 0
    result = run("compile", "--arch", "sm_90", "--fresh", "--pack", pack, *generous, *options)
    assert result.exit_code == 1
    assert f"beyond the budget, so {pack} was not written:" in result.stderr
    assert re.search(message, result.stderr), result.stderr
    assert f"({options[0]})" in result.stderr
    # The one bound alone, and no other.
    assert result.stderr.count("the budget") == 1 + (2 if "unit" in options[0] else 1)
    assert not pack.exists()


def test_many_units_beyond_the_budget_are_counted() -> None:
    costs = [Cost("sm_90", f"{place}.cu", 2048 * (place + 1), 0.0) for place in range(9)]
    found = excesses(costs, Budget(unit_kib=3.0))
    assert [line.partition(" has ")[0] for line in found[:-1]] == [f"sm_90: {i}.cu" for i in (8, 7, 6, 5, 4)]
    assert found[-1] == "sm_90: 3 more units are beyond it"
    assert excesses([], Budget(1, 1, 1, 1)) == []


def test_the_session_has_a_budget_for_each_architecture() -> None:
    """`nox -s matrix` compiles all of the matrix anew, and every bound is given."""
    known = {option for parameter in main.commands["compile"].params for option in parameter.opts}
    bounds = {option.removeprefix("--") for option in known if option.startswith("--max-")}
    source = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    [table] = [
        ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "MATRIX_BUDGETS"
    ]
    assert list(table) == ["sm_90", "compute_80"]
    for budget in table.values():
        assert budget.keys() == bounds
        assert all(value > 0 for value in budget.values())


# Progress


def test_compile_reports_progress_at_intervals(
    two_kernels: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_module, "INTERVAL_SECONDS", 0.0)
    output = run("compile", "--arch", "sm_90", "--jobs", "1").output
    assert "1 of 2 units\n2 of 2 units\n" in output
    assert "\x1b" not in output


BAR = """
import sys
from baracuda.codegen.cli.progress import progress
with progress(3, "compiling", "units") as bar:
    for _ in range(3):
        bar.update(1)
"""


def test_progress_is_a_bar_on_a_terminal() -> None:
    pty = pytest.importorskip("pty", reason="needs pseudo-terminals")
    ours, theirs = pty.openpty()
    try:
        subprocess.run([sys.executable, "-c", BAR], stdout=theirs, check=True)
        shown = os.read(ours, 10000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "compiling" in shown
    assert "3/3" in shown
    assert "\r" in shown


def test_progress_elsewhere_is_no_bar() -> None:
    assert subprocess.run([sys.executable, "-c", BAR], capture_output=True, check=True).stdout == b""
