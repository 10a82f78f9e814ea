"""The log, NVTX ranges and the debug mode; on the host, or with `--device cuda` on a GPU too."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_problems import Problem, first_problem, problems

from baracuda import driver, observe
from baracuda.dtypes import ElementKind
from baracuda.errors import BaracudaError, DriverError
from baracuda.plan import BoundLaunch, Plan
from baracuda.tensor import Device, TensorRef, as_tensor

Observe = Callable[..., None]


@pytest.fixture
def observed() -> Iterator[Observe]:
    """Return `install` for the plan base; what it wrapped is unwrapped after the test."""
    undo: list[Callable[[], None]] = []

    def install(**options: bool) -> None:
        undo.append(observe.install(Plan, BoundLaunch, **{"nvtx": False, "debug": False, **options}))

    yield install
    for step in reversed(undo):
        step()


def run(problem: Problem, **tensors: Any) -> dict[str, Any]:
    plan = problem.select()
    arrays = problem.tensors() | tensors
    plan.run(None, problem.workspace(plan), problem.plan.ARGS(**arrays))
    return arrays


# Off


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


WRAPPED = """
from baracuda.plan import BoundLaunch, Plan
print([hasattr(function, "__wrapped__") for function in (Plan.run, BoundLaunch.__call__)])
"""


@pytest.mark.parametrize(
    ("environment", "wrapped"),
    [
        ({}, False),
        ({"BARACUDA_DEBUG": "0", "BARACUDA_NVTX": ""}, False),
        ({"BARACUDA_DEBUG": "1"}, True),
        ({"BARACUDA_NVTX": "1"}, True),
    ],
)
def test_nothing_is_wrapped_unless_the_environment_asks(environment: dict[str, str], wrapped: bool) -> None:
    off = {"BARACUDA_DEBUG": "", "BARACUDA_NVTX": ""}
    done = run_python(WRAPPED, **(off | environment))
    assert (done.stdout, done.returncode) == (f"[{wrapped}, {wrapped}]\n", 0), done.stderr


def test_undoing_leaves_the_functions_as_they_were() -> None:
    before = Plan.run, BoundLaunch.__call__
    observe.install(Plan, BoundLaunch, nvtx=False, debug=True)()
    assert (Plan.run, BoundLaunch.__call__) == before
    assert observe.install(Plan, BoundLaunch, nvtx=False, debug=False)() is None
    assert (Plan.run, BoundLaunch.__call__) == before


# The log


def test_select_is_logged_under_the_plans_name(caplog: pytest.LogCaptureFixture) -> None:
    problem = first_problem()
    with caplog.at_level(logging.INFO, "baracuda.plan"):
        plan = problem.select()
    [record] = [record for record in caplog.records if record.name.startswith("baracuda.plan")]
    assert record.name == f"baracuda.plan.{problem.plan.__name__}"
    assert f"{problem.plan.__name__}: selected {plan.sku} in " in record.getMessage()
    assert repr(plan.desc) in record.getMessage()


# NVTX


def test_each_run_is_a_range_by_the_plans_name(observed: Observe, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    binding = types.SimpleNamespace(RangePush=events.append, RangePop=lambda: events.append("pop"))
    monkeypatch.setitem(sys.modules, "cupy_backends.cuda.libs.nvtx", binding)
    observed(nvtx=True)
    problem = first_problem()
    plan = problem.select()
    args = problem.plan.ARGS(**problem.tensors())
    space = problem.workspace(plan)
    plan.run(None, space, args)
    plan.bind(args, space)()
    name = f"{problem.plan.__name__} {plan.sku}"
    assert events == [name, "pop", name, "pop"]
    with pytest.raises(TypeError):
        plan.run(None, None, "no arguments")
    assert events[4:] == [name, "pop"]


def test_nvtx_without_cupy_is_a_warning(
    observed: Observe, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "cupy_backends.cuda.libs.nvtx", None)
    observed(nvtx=True)
    assert "BARACUDA_NVTX is set, but NVTX is CuPy's" in caplog.text
    run(first_problem())


# NaN


def test_every_plan_runs_in_debug_mode(observed: Observe) -> None:
    quiet = {problem: run(problem) for problem in problems()}
    observed(debug=True)
    for problem, expected in quiet.items():
        found = run(problem)
        for name in problem.outputs():
            np.testing.assert_array_equal(found[name], expected[name])


def test_bad_arguments_raise_the_same_in_debug_mode(observed: Observe) -> None:
    problem = first_problem()
    plan = problem.select()
    name = problem.outputs()[0]
    bad = problem.plan.ARGS(**{**problem.tensors(), name: np.zeros((7, 7, 7), np.float32)})
    with pytest.raises(BaracudaError) as plain:
        plan.run(None, None, bad)
    observed(debug=True)
    with pytest.raises(type(plain.value)) as checked:
        plan.run(None, None, bad)
    assert str(checked.value) == str(plain.value)


def nan_maker(element: str = "f32") -> tuple[Problem, dict[str, Any]]:
    """A problem with inputs that hold no NaN and whose first output does, in row 1 alone."""
    for problem in problems(element):
        arrays = problem.tensors()
        for name in arrays.keys() - problem.outputs():
            if arrays[name].ndim > 1:
                arrays[name][1, ::2], arrays[name][1, 1::2] = np.inf, -np.inf
        found = run(problem, **arrays)[problem.outputs()[0]]
        if np.isnan(found[1]).any() and not np.isnan(found[[0, 2]]).any():
            return problem, arrays
    raise AssertionError("no op makes NaN of infinities")


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_nan_out_of_numbers_names_plan_and_output(observed: Observe, element: str) -> None:
    problem, arrays = nan_maker(element)
    observed(debug=True)
    with pytest.raises(observe.NaNFound) as caught:
        run(problem, **arrays)
    output = problem.outputs()[0]
    index = np.argwhere(np.isnan(arrays[output].astype(np.float64)))[0]
    message = str(caught.value)
    assert message.startswith(f"{problem.plan.__name__}: {output} holds NaN in ")
    assert f"the first at {tuple(map(int, index))}, and no input held any" in message


def test_nan_that_came_in_is_a_warning_in_the_log(
    observed: Observe, caplog: pytest.LogCaptureFixture
) -> None:
    problem = first_problem()
    arrays = problem.tensors()
    name = next(name for name in arrays if name not in problem.outputs())
    arrays[name][1, 2] = np.nan
    observed(debug=True)
    run(problem, **arrays)
    messages = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert messages
    for message in messages:
        assert message.startswith(f"{problem.plan.__name__}: ")
        assert message.endswith(f"; so did the input {name}")


def test_a_bound_launch_is_checked_too(observed: Observe) -> None:
    problem, spoilt = nan_maker()
    plan = problem.select()
    arrays = problem.tensors()
    bound = plan.bind(problem.plan.ARGS(**arrays), problem.workspace(plan))
    observed(debug=True)
    bound()
    for name in arrays.keys() - problem.outputs():
        arrays[name][...] = spoilt[name]
    with pytest.raises(observe.NaNFound, match=problem.plan.__name__):
        bound()


@pytest.mark.parametrize(
    ("view", "where"),
    [
        (np.s_[:, :], (2, 5)),
        (np.s_[::-1, :], (1, 5)),
        (np.s_[::-1, ::-1], (1, 4)),
        (np.s_[2, ::5], (1,)),
        (np.s_[2, 5, ...], ()),
    ],
)
@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_the_first_nan_is_found_in_any_layout(element: str, view: Any, where: tuple[int, ...]) -> None:
    array = np.zeros((4, 10), ElementKind(element).numpy)
    array[0, 0], array[3, 9] = np.inf, -np.inf
    assert observe._nans(as_tensor(array[view])) == (0, ())
    array[2, 5] = np.nan
    assert observe._nans(as_tensor(array[view])) == (1, where)
    array[2, 5] = -array[2, 5]
    assert observe._nans(as_tensor(array[view])) == (1, where)


def test_what_cannot_hold_nan_is_not_looked_at() -> None:
    assert observe._nans(as_tensor(np.full(3, -1, np.int32))) == (0, ())
    assert observe._nans(as_tensor(np.zeros((0, 3), np.float32))) == (0, ())
    broadcast = np.broadcast_to(np.float32(np.nan), (2, 3))
    assert observe._nans(as_tensor(broadcast))[0] == 6


# Errors of the device


def on_cuda(
    monkeypatch: pytest.MonkeyPatch, failures: list[DriverError | None], capturing: bool = False
) -> Any:
    """A plan that believes in a GPU: launches do nothing, and each wait takes the next of `failures`."""
    waits = iter(failures)

    def synchronize(stream: int, index: int) -> None:
        error = next(waits)
        if error is not None:
            raise error

    monkeypatch.setattr(driver, "synchronize", synchronize)
    monkeypatch.setattr(driver, "is_capturing", lambda stream: capturing)
    problem = first_problem()
    plan = problem.select()
    monkeypatch.setattr(plan, "_device", Device("cuda"))
    monkeypatch.setattr("baracuda.plan._device_arch", lambda device: "sm_90")
    return plan


ILLEGAL = DriverError("stream 0x7 of device 0: cudaErrorIllegalAddress", status=700)


def test_a_failed_kernel_is_reported_with_its_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = on_cuda(monkeypatch, [None, ILLEGAL])
    launched: list[int] = []
    with pytest.raises(DriverError) as caught:
        observe._check_run(plan, 7, {}, lambda: launched.append(1))
    assert launched == [1]
    assert caught.value.status == 700
    message = str(caught.value)
    for part in (repr(plan), "failed on the device", "cudaErrorIllegalAddress", "no longer be used"):
        assert part in message


def test_an_earlier_failure_is_not_blamed_on_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = on_cuda(monkeypatch, [ILLEGAL])
    launched: list[int] = []
    with pytest.raises(
        DriverError, match="had failed before this run, by whatever ran there earlier"
    ) as caught:
        observe._check_run(plan, 7, {}, lambda: launched.append(1))
    assert launched == []
    assert str(caught.value).startswith(type(plan).__name__)


def test_a_dead_context_that_answers_no_question_is_no_fault_of_the_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = on_cuda(monkeypatch, [])

    def ask(stream: int) -> bool:
        raise ILLEGAL

    monkeypatch.setattr(driver, "is_capturing", ask)
    with pytest.raises(DriverError, match=r"had failed before this run, .* can no longer be used"):
        observe._check_run(plan, 7, {}, lambda: None)


def test_a_refused_launch_names_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = on_cuda(monkeypatch, [None])

    def refuse() -> None:
        raise DriverError("baracuda_kernel on stream 0x7 of device 0: CUDA_ERROR_INVALID_VALUE", status=1)

    with pytest.raises(DriverError, match="CUDA_ERROR_INVALID_VALUE") as caught:
        observe._check_run(plan, 7, {}, refuse)
    assert str(caught.value).startswith(repr(plan))
    assert "no longer be used" not in str(caught.value)


def test_a_capture_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = on_cuda(monkeypatch, [ILLEGAL], capturing=True)
    launched: list[int] = []
    observe._check_run(plan, 7, {}, lambda: launched.append(1))
    assert launched == [1]


def test_the_error_can_be_pickled() -> None:
    import pickle

    error = observe.NaNFound("y holds NaN")
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, BaracudaError)
    assert isinstance(copy, FloatingPointError)
    assert str(copy) == "y holds NaN"


def test_a_tensor_ref_is_read_too() -> None:
    array = np.array([1, np.nan], np.float32)
    reference = TensorRef(array.ctypes.data, (2,), (1,), "f32", Device("host"))  # type: ignore[arg-type]
    assert observe._nans(reference) == (1, (1,))


# On a GPU


@pytest.mark.cuda
@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_the_first_nan_is_found_on_a_gpu(element: str) -> None:
    import cupy

    kind = ElementKind(element)
    host = np.zeros((4, 10), kind.numpy)
    host[0, 0], host[2, 5], host[3, 9] = np.inf, np.nan, -np.inf
    memory = cupy.asarray(host.view(f"u{kind.itemsize}"))

    def nans(*keys: Any) -> tuple[int, tuple[int, ...]]:
        view = memory[keys]
        strides = tuple(stride // kind.itemsize for stride in view.strides)
        return observe._nans(TensorRef(view.data.ptr, view.shape, strides, kind, Device("cuda")))

    assert nans(...) == (1, (2, 5))
    assert nans(np.s_[::-1], np.s_[::-1]) == (1, (1, 4))
    assert nans(2, np.s_[::5]) == (1, (1,))
    assert nans(np.s_[:2]) == (0, ())


DEBUGGED = """
import sys
sys.path.insert(0, sys.argv[1])
import cupy, numpy as np, baracuda
from baracuda import observe
from small_problems import first_problem, problems
cuda = baracuda.Device("cuda")
stream = baracuda.Stream(0, cuda)

def prepared(problem):
    plan = problem.select(stream)
    arrays = {name: cupy.asarray(array) for name, array in problem.tensors().items()}
    return plan, arrays, cupy.empty(max(plan.workspace_size(), 1), cupy.uint8)

# Every plan runs, and finds nothing.
for problem in problems():
    plan, arrays, space = prepared(problem)
    plan.run(None, space, problem.plan.ARGS(**arrays))

# Infinities of both signs give some plan a NaN, and it is found there.
found = 0
for problem in problems():
    plan, arrays, space = prepared(problem)
    for name in arrays.keys() - problem.outputs():
        arrays[name][..., ::2], arrays[name][..., 1::2] = np.inf, -np.inf
    try:
        plan.run(None, space, problem.plan.ARGS(**arrays))
    except observe.NaNFound as error:
        assert str(error).startswith(f"{problem.plan.__name__}: ")
        found += 1
assert found

# A pointer to nowhere.
problem = first_problem()
plan, arrays, space = prepared(problem)
out = problem.outputs()[0]
lost = baracuda.TensorRef(4096, arrays[out].shape, tuple(s // 4 for s in arrays[out].strides), "f32", cuda)
for name in problem.outputs():
    arrays[name] = lost if name == out else None
messages = []
for _ in range(2):
    try:
        plan.run(stream, space, problem.plan.ARGS(**arrays))
    except baracuda.DriverError as error:
        messages.append(f"{error.status} {error}")
print(*messages, sep="\\n")
print(repr(plan))
"""


@pytest.mark.cuda
def test_the_debug_mode_on_a_gpu() -> None:
    command = [sys.executable, "-c", DEBUGGED, str(Path(__file__).parent)]
    environment = {**os.environ, "BARACUDA_DEBUG": "1", "BARACUDA_NVTX": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == 3, done.stdout + done.stderr
    first, second, plan = lines
    assert first.startswith(f"700 {plan}: failed on the device: ")
    assert "can no longer be used" in first
    assert "the device had failed before this run" in second
