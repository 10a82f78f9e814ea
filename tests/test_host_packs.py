"""Packs for the host executor: a machine without a C++ compiler runs kernels that another one compiled."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from cli_runner import run
from devices import each_kind
from small_problems import problems

from baracuda import host, host_compiler
from baracuda.compile import loader
from baracuda.compile.arch import host_target, runnable
from baracuda.compile.nvrtc import Artifact
from baracuda.compile.pack import Pack, find, load_pack, write_pack
from baracuda.compile.unit import Unit
from baracuda.errors import CompileError
from baracuda.tensor import Device

pytestmark = pytest.mark.usefixtures("no_packs")

TESTS = str(Path(__file__).parent)
#: An op for each template whose kernels compile fast; for each plan class with `--full`.
OPS = each_kind(
    ("lerp", "reduce_mean", "rope"),
    (
        "rms_norm",
        "sdpa",
        "reduce_logsumexp",
        "softmax",
        "layer_norm",
        "neg",
        "elu",
        "add",
        "clamp_tensor",
        "where",
        "eq",
        "isnan",
        "cast",
        "affine",
        "prelu",
        "glu",
    ),
)
UNIT = Unit("probe/unit.cu", "no text that matters", (("BARACUDA_DTYPE", "f32"),))

RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from small_problems import problems
for problem in problems():
    op = problem.plan.OPS[problem.desc.kind]
    if op.name.removesuffix("_backward") in sys.argv[2:]:
        plan, arrays = problem.select(), problem.tensors()
        plan.run(None, problem.workspace(plan), problem.plan.ARGS(**arrays))
        print(problem.plan.__name__, b"".join(arrays[name].tobytes() for name in problem.outputs()).hex())
"""


def packed(path: Path, *arguments: str) -> Path:
    """Return a pack with f32 kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BARACUDA_CACHE_DIR", str(path.parent / "cache"))
        # What forbids the library to compile says nothing to the command that compiles ahead.
        patch.setenv("BARACUDA_JIT", "never")
        result = run("compile", "--arch", "host", *arguments, "--dtype", "f32", "--pack", path)
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a pack with the ops, for the host."""
    ops = [word for op in OPS for word in ("--op", op)]
    return packed(tmp_path_factory.mktemp("pack") / "für den Rechner.pack", *ops)


def process(place: Path, *ops: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run each problem of some ops where there is no compiler and an empty cache."""
    bare = {name: value for name, value in os.environ.items() if name != "CXX"}
    return subprocess.run(
        [sys.executable, "-c", RUN, TESTS, *ops],
        env={**bare, "PATH": str(place), "BARACUDA_CACHE_DIR": str(place / "cache"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("jit", ["", "never"])
def test_plans_run_from_a_pack_without_a_compiler(
    file: Path, tmp_path: Path, jit: str, pytestconfig: pytest.Config
) -> None:
    done = process(tmp_path, *OPS, BARACUDA_PACK=str(file), BARACUDA_JIT=jit, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    expected = []
    for problem in problems():
        if problem.plan.OPS[problem.desc.kind].name.removesuffix("_backward") in OPS:
            plan, arrays = problem.select(), problem.tensors()
            plan.run(None, problem.workspace(plan), problem.plan.ARGS(**arrays))
            outputs = b"".join(arrays[name].tobytes() for name in problem.outputs())
            expected.append(f"{problem.plan.__name__} {outputs.hex()}")
    assert done.stdout.splitlines() == expected
    if pytestconfig.getoption("--full"):
        ran = {line.split()[0] for line in expected}
        assert ran == {problem.plan.__name__ for problem in problems()}
    # Neither a cache nor what was unpacked is left.
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_what_the_pack_lacks_is_named_with_the_command_that_makes_it(file: Path, tmp_path: Path) -> None:
    done = process(tmp_path, "reduce_sum", BARACUDA_PACK=str(file))
    for part in (
        "needs a C++17 compiler",
        "baracuda-gen compile --arch host --pack FILE",
        "BARACUDA_PACK=FILE",
    ):
        assert part in done.stderr
    done = process(tmp_path, "reduce_sum", BARACUDA_PACK=str(file), BARACUDA_JIT="never")
    where = f"in the pack {file} or in "
    for part in (
        "reduction/reduce_sum",
        where,
        "BARACUDA_JIT=never",
        "baracuda-gen compile --arch host --pack",
    ):
        assert part in done.stderr


@pytest.mark.slow
def test_doctor_counts_on_a_pack_of_the_host(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = packed(tmp_path_factory.mktemp("pack") / "both.pack", "--arch", "sm_90", "--op", "isnan")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "on the host executor: no" in run("doctor").output
    monkeypatch.setenv("BARACUDA_PACK", str(both))
    result = run("doctor")
    assert result.exit_code == 0
    assert f"units for {host_target()}, sm_90" in result.output
    assert "on the host executor: yes" in result.output


def test_libraries_of_the_host_serve_no_gpu_and_kernels_of_a_gpu_no_host(tmp_path: Path) -> None:
    both = [Artifact(b"a", "library", host_target()), Artifact(b"b", "ptx", "compute_80")]
    write_pack(tmp_path / "both.pack", [(UNIT, artifact) for artifact in both], "two compilers")
    load_pack(tmp_path / "both.pack")
    assert runnable("sm_90", [host_target(), "compute_80"]) == ["compute_80"]
    found = [find(UNIT, arch) for arch in ("sm_90", host_target(), "compute_90")]
    assert [artifact and artifact.data for artifact in found] == [b"b", b"a", None]
    assert Pack(tmp_path / "both.pack").archs == ("compute_80", host_target())


def test_a_library_of_other_flags_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version whose flags round differently, say: its libraries are none of this version's."""
    with monkeypatch.context() as other:
        other.setattr(host_compiler, "FLAGS", (*host_compiler.FLAGS, "-ffp-contract=fast"))
        both = [Artifact(b"a", "library", host_target()), Artifact(b"b", "ptx", "compute_80")]
        write_pack(tmp_path / "other.pack", [(UNIT, artifact) for artifact in both], "two compilers")
        load_pack(tmp_path / "other.pack")
        assert find(UNIT, host_target()) is not None
    assert find(UNIT, host_target()) is None
    assert find(UNIT, "sm_90") is not None


def test_a_library_of_another_machine_is_named(tmp_path: Path) -> None:
    write_pack(tmp_path / "other.pack", [(UNIT, Artifact(b"no ELF", "library", host_target()))], "c++")
    load_pack(tmp_path / "other.pack")
    with pytest.raises(CompileError, match=r"probe/unit\.cu: the library of a pack cannot be loaded on this"):
        loader.load(UNIT, Device("host"))


def test_a_sanitizer_takes_no_library_of_a_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pack(tmp_path / "plain.pack", [(UNIT, Artifact(b"no ELF", "library", host_target()))], "c++")
    load_pack(tmp_path / "plain.pack")
    monkeypatch.setenv(host_compiler.SANITIZE_VARIABLE, "address")
    assert host.find_packed(UNIT) is None


def test_compiling_ahead_leaves_everything_beside_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It works in the system's folder for temporary files, where nothing is ours to bound or to remove."""
    neighbour = tmp_path / "somebody's"
    neighbour.mkdir()
    (neighbour / "work.tmp").write_bytes(bytes(5000))
    os.utime(neighbour / "work.tmp", (0, 0))
    os.utime(neighbour, (0, 0))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("BARACUDA_CACHE_MAX_BYTES", "1")
    artifact = host.compile_library(host.EXECUTOR)
    assert artifact.data[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe")
    assert (artifact.kind, artifact.arch) == ("library", host_target())
    assert [path.name for path in tmp_path.rglob("*")] == [neighbour.name, "work.tmp"]
