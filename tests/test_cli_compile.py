"""`baracuda-gen compile` and `cache`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli_runner import run

from baracuda import codegen

compile_module = importlib.import_module("baracuda.codegen.cli.compile")

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
    monkeypatch.setattr(codegen, "render", lambda model: texts, raising=False)
    return rows


def test_compile_fills_the_cache(two_kernels: list[Row], fresh_cache: Path) -> None:
    first = run("compile", "--arch", "sm_90", "--jobs", "2")
    assert first.exit_code == 0
    assert "sm_90: 2 of 2 units compiled (2 now, 0 were in the cache)" in first.output
    assert len(list(fresh_cache.rglob("*.bin"))) == 2
    second = run("compile", "--arch", "sm_90", "--op", "copy")
    assert "1 of 1 units compiled (0 now, 1 were in the cache)" in second.output
    info = run("cache", "info").output
    assert str(fresh_cache) in info
    assert "entries  2" in info
    assert "removed 2 entries" in run("cache", "clear").output
    assert list(fresh_cache.rglob("*.bin")) == []


def test_compile_goes_on_after_a_failure(
    two_kernels: list[Row], monkeypatch: pytest.MonkeyPatch, fresh_cache: Path
) -> None:
    texts = {"kernels/copy.cu": "this is no C++", "kernels/other.cu": KERNEL}
    monkeypatch.setattr(codegen, "render", lambda model: texts, raising=False)
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
    ],
)
def test_compile_refuses_bad_input(two_kernels: list[Row], arguments: tuple[str, ...], message: str) -> None:
    arch = () if "--arch" in arguments else ("--arch", "sm_90")
    result = run("compile", *arch, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_compile_reports_progress_at_intervals(
    two_kernels: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_module, "INTERVAL_SECONDS", 0.0)
    output = run("compile", "--arch", "sm_90", "--jobs", "1").output
    assert "1 of 2 units\n2 of 2 units\n" in output
    assert "\x1b" not in output
