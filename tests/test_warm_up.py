"""`warm_up`: many plans' kernels in parallel, ahead of `select`."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from small_problems import first_problem, problems

import baracuda
from baracuda import driver
from baracuda.compile import loader, nvrtc
from baracuda.compile.nvrtc import Artifact
from baracuda.compile.unit import Unit
from baracuda.errors import CompileError, InvalidProblem
from baracuda.tensor import Device

CUDA = Device("cuda")


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, fresh_cache: Path) -> SimpleNamespace:
    """A driver that loads nothing and a compiler that notes what it compiles, and how many at once."""
    state = SimpleNamespace(compiled=[], running=0, most=0, failing=None)
    guard = threading.Lock()

    def compile_cubin(unit: Unit, arch: str, failed_folder: Path | None = None) -> Artifact:
        with guard:
            state.running += 1
            state.most = max(state.most, state.running)
            state.compiled.append(unit)
        # Long enough for every worker to come in.
        threading.Event().wait(0.05)
        with guard:
            state.running -= 1
        if state.failing is not None and state.failing(unit):
            raise CompileError(f"{unit.name}: error: no")
        return Artifact(b"cubin", "cubin", arch)

    monkeypatch.setattr(loader, "_modules", {})
    monkeypatch.setattr(nvrtc, "compile_cubin", compile_cubin)
    monkeypatch.setattr(nvrtc, "identity", lambda: "nvrtc 12.9")
    monkeypatch.setattr(nvrtc, "resolve_arch", lambda arch: arch)
    monkeypatch.setattr(driver, "device_arch", lambda index: "sm_90")
    monkeypatch.setattr(driver, "multiprocessor_count", lambda index: 132)
    monkeypatch.setattr(driver, "max_shared_memory", lambda index: 232_448)
    monkeypatch.setattr(driver, "context_of", lambda index: 100)
    monkeypatch.setattr(driver, "is_capturing", lambda stream: False)
    monkeypatch.setattr(
        driver, "load_module", lambda image, index, name: SimpleNamespace(kernel=lambda symbol: symbol)
    )
    return state


def test_every_plan_is_compiled_once_and_select_finds_it_loaded(gpu: SimpleNamespace) -> None:
    wanted = [problem for element in ("f32", "bf16") for problem in problems(element)]
    baracuda.warm_up([(problem.plan, problem.desc) for problem in wanted * 2], CUDA, jobs=4)
    assert len(gpu.compiled) == len(set(gpu.compiled)) > 4
    assert gpu.most == 4
    before = len(gpu.compiled)
    for problem in wanted:
        problem.select(baracuda.Stream(0, CUDA))
    assert len(gpu.compiled) == before


def test_plans_and_preferences_are_taken_too(gpu: SimpleNamespace) -> None:
    problem = first_problem()
    selected = problem.select(baracuda.Stream(0, CUDA))
    before = len(gpu.compiled)
    loader._modules.clear()
    preference = baracuda.PlanPreference(max_workspace=0)
    baracuda.warm_up(iter([selected, (problem.plan, problem.desc, preference)]), CUDA)
    # From the cache, and loaded.
    assert len(gpu.compiled) == before
    assert loader._modules


def test_the_default_device_is_the_current_one(gpu: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = first_problem()
    devices: list[Device] = []
    monkeypatch.setattr("baracuda.warming.preload", lambda units, device, jobs: devices.append(device))
    for count, device in ((1, CUDA), (0, Device("host"))):
        monkeypatch.setattr(driver, "device_count", lambda count=count: count)
        baracuda.warm_up([(problem.plan, problem.desc)])
        assert devices.pop() == device


def test_nothing_to_do_is_nothing(gpu: SimpleNamespace) -> None:
    baracuda.warm_up([], CUDA)
    assert gpu.compiled == []


def test_a_bad_descriptor_is_told_before_anything_compiles(gpu: SimpleNamespace) -> None:
    good = first_problem()
    bad = first_problem(shape=(-3, 20))
    with pytest.raises(InvalidProblem, match=bad.plan.__name__):
        baracuda.warm_up([(good.plan, good.desc), (bad.plan, bad.desc)], CUDA)
    assert gpu.compiled == []


@pytest.mark.parametrize("entry", [None, 3, (1, 2), (dict, {}), ("Plan",)])
def test_an_entry_that_is_no_plan(entry: object) -> None:
    with pytest.raises(TypeError, match=r"warm_up: got .*, want a plan or a pair \(plan class, descriptor\)"):
        baracuda.warm_up([entry])  # type: ignore[list-item]


def test_a_bad_device_or_number_of_jobs() -> None:
    with pytest.raises(TypeError, match=r"warm_up: device is a str, want a baracuda\.Device"):
        baracuda.warm_up([], "cuda")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="warm_up: jobs is 0"):
        baracuda.warm_up([], jobs=0)


def test_a_unit_that_does_not_compile_stops_no_other(gpu: SimpleNamespace) -> None:
    wanted = [(problem.plan, problem.desc) for problem in problems()]
    first: list[Unit] = []
    gpu.failing = lambda unit: unit == (first or first.append(unit) or first)[0]
    with pytest.raises(CompileError, match="error: no"):
        baracuda.warm_up(wanted, CUDA, jobs=2)
    assert len(loader._modules) == len(set(gpu.compiled)) - 1


def test_never_jit_says_what_is_missing(gpu: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARACUDA_JIT", "never")
    problem = first_problem()
    with pytest.raises(CompileError, match="BARACUDA_JIT=never forbids compiling"):
        baracuda.warm_up([(problem.plan, problem.desc)], CUDA)


HOST = """
import logging, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import baracuda
from small_problems import problems
wanted = list(problems())[:4]
logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.INFO)
baracuda.warm_up([(problem.plan, problem.desc) for problem in wanted], baracuda.Device("host"))
print("warm", flush=True)
for problem in wanted:
    plan = problem.select()
    arrays = problem.tensors()
    plan.run(None, problem.workspace(plan), problem.plan.ARGS(**arrays))
    assert all(np.isfinite(arrays[name]).all() for name in problem.outputs())
print(f"ran {len(wanted)} plans")
"""


def test_on_the_host_select_compiles_nothing_any_more(fresh_cache: Path) -> None:
    command = [sys.executable, "-c", HOST, str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.split("warm\n")
    assert "compiling" in before
    assert "compiling" not in after
    assert f"ran {after.count(': selected ')} plans" in after


def test_many_host_units_go_into_several_files(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []

    def compile_units(units: list[Unit]) -> object:
        batches.append(len(units))
        return SimpleNamespace(unit=lambda unit: unit)

    monkeypatch.setattr(loader, "_modules", {})
    host = SimpleNamespace(compile_units=compile_units, find_packed=lambda unit: None)
    monkeypatch.setitem(sys.modules, "baracuda.host", host)
    units = [Unit("u.cu", f"// {i}", ()) for i in range(70)]
    assert loader.preload([*units, *units], Device("host"), jobs=2) == [*units, *units]
    assert sorted(batches) == [6, 32, 32]
    assert np.array(batches).sum() == 70


@pytest.mark.cuda
def test_on_a_gpu_a_warm_plan_is_selected_while_a_graph_is_captured(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import cupy

    monkeypatch.setattr(loader, "_modules", {})
    wanted = list(problems())
    baracuda.warm_up([(problem.plan, problem.desc) for problem in wanted])
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        plans = [problem.select(stream) for problem in wanted]
        stream.end_capture()
    assert [plan.device for plan in plans] == [CUDA] * len(wanted)
