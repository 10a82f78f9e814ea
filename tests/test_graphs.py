"""A run captured in a CUDA graph and replayed with other data in the same memory.

On the host executor the launches of a run are recorded in place of a graph, and launched again: that what a
run launches depends on places and not on contents is held there too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from devices import each_kernel, each_kernel_program, each_plan, half, overwrite, share, small_problems

from baracuda.codegen import verify
from baracuda.codegen.verify.floats import is_whole
from baracuda.compile import loader
from baracuda.errors import DriverError
from baracuda.host import HostLaunch

#: Makes of a function that runs something on a stream one that replays what it launched, and waits.
Capture = Callable[[Callable[[Any], None]], Callable[[], None]]


@pytest.fixture
def capture(backend: verify.Backend, monkeypatch: pytest.MonkeyPatch) -> Capture:
    if backend.kind == "cuda":
        return lambda run: captured(backend, run)
    return lambda run: recorded(backend, run, monkeypatch)


def captured(backend: verify.Backend, run: Callable[[Any], None]) -> Callable[[], None]:
    import cupy

    backend.synchronize()
    side = cupy.cuda.Stream(non_blocking=True)
    with side:
        # In this mode, PyTorch's default, an allocation or a synchronisation by any thread is an error.
        side.begin_capture(cupy.cuda.runtime.streamCaptureModeGlobal)
        try:
            run(side)
        finally:
            graph = side.end_capture()

    def replay() -> None:
        backend.synchronize()
        graph.launch(stream=side)
        side.synchronize()

    return replay


def recorded(
    backend: verify.Backend, run: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    launch, calls = HostLaunch.__call__, []
    with monkeypatch.context() as patch:
        patch.setattr(HostLaunch, "__call__", lambda self, handle=0: calls.append((self, bytes(self.params))))
        run(backend.stream)

    def replay() -> None:
        for call, params in calls:
            call.params[:] = params
            launch(call)

    return replay


def renew(backend: verify.Backend, prepared: Any, values: Any) -> None:
    """Write other inputs, and poison over what is written."""
    inputs = prepared.problem.inputs()
    for name, tensor in prepared.tensors.items():
        overwrite(backend, tensor, values[name] if name in inputs else None)


def assert_equal_bits(got: dict[str, Any], want: dict[str, Any], what: object) -> None:
    assert got.keys() == want.keys()
    for name, value in got.items():
        np.testing.assert_array_equal(verify.bits_of(value), verify.bits_of(want[name]), f"{what}: {name}")


def replays(
    backend: verify.Backend, capture: Capture, problem: Any, layout: str, bound: bool = False
) -> bool:
    """Capture the first run of a plan, and compare replays with runs that nobody captured.

    Returns whether other data gave another result, without which a replay would prove nothing.
    """
    # Of usual numbers most truth values are the same.
    truth = any(problem.dtype_of(name) == "bool" for name in problem.outputs())
    profile = "special" if truth else "normal"
    datasets = [verify.inputs_for(problem, profile, seed=seed) for seed in range(2)]
    layouts = dict.fromkeys(problem.tensors(), layout)
    want = [verify.run(backend, problem, values, layouts=layouts) for values in datasets]
    prepared = verify.prepare(backend, problem, datasets[0], layouts=layouts)
    plan, args = prepared.plan, prepared.args()
    space = backend.workspace(plan.workspace_size())
    if bound:
        replay = capture(plan.bind(args, space))
    else:
        replay = capture(lambda stream: plan.run(stream, space, args))
    for tensor in prepared.tensors.values():
        tensor.check_untouched(backend)
    for place in (0, 1, 0):
        renew(backend, prepared, datasets[place])
        replay()
        assert_equal_bits(prepared.outputs(), want[place], f"{problem}, data {place}, {layout}")
    # No integer is a NaN or infinite.
    constant = truth and is_whole(problem.dtype)
    same = [np.array_equal(want[0][name], want[1][name], equal_nan=True) for name in want[0]]
    return constant or not all(same)


@each_kernel()
def test_a_replay_has_the_bits_of_a_run(backend, capture, op, direction, dtype):
    """Every axis, option and broadcast operand."""
    problems = share(small_problems(op, direction, dtype, (3, 5, 7)), op, direction, dtype)
    changed = [replays(backend, capture, problem, "contiguous") for problem in problems]
    assert any(changed)


@each_kernel_program()
@pytest.mark.parametrize("layout", ["misaligned", "every second column", "all axes permuted", "reversed"])
def test_a_replay_in_any_layout(backend, capture, op, direction, layout):
    assert replays(backend, capture, small_problems(op, direction, "f32", (4, 6, 10))[0], layout)


@each_kernel_program()
def test_a_replay_with_a_workspace(backend, capture, op, direction):
    """Rows that are split over blocks, columns, and everything at once."""
    problems = verify.problems(op, direction, "f32", [(2, 20000), (20000, 2)], every_option=False)
    changed = [replays(backend, capture, problem, "contiguous") for problem in half(problems, op, direction)]
    assert any(changed)


@each_kernel_program()
def test_a_replay_of_a_bound_launch(backend, capture, op, direction):
    problem = small_problems(op, direction, "f32", (4, 6))[0]
    assert replays(backend, capture, problem, "contiguous", bound=True)


@pytest.mark.cuda
@each_plan()
def test_a_cold_select_in_a_capture_says_what_to_do_and_leaves_the_capture_alone(
    backend, op, direction, monkeypatch
):
    import cupy

    problem = small_problems(op, direction, "f32", (4, 6))[0]
    values = verify.inputs_for(problem)
    want = verify.run(backend, problem, values)
    prepared = verify.prepare(backend, problem, values)
    space = backend.workspace(prepared.plan.workspace_size())

    def run(stream: Any) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(loader, "_modules", {})
            with pytest.raises(DriverError, match="select the plan before the capture begins"):
                problem.plan_class.select(stream, problem.descriptor())
        assert cupy.cuda.runtime.streamIsCapturing(stream.ptr)
        prepared.plan.run(stream, space, prepared.args())

    captured(backend, run)()
    assert_equal_bits(prepared.outputs(), want, problem)
