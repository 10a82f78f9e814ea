"""A run waits for those who write its arrays, where these say who that is or can be asked to order it.

Here with producers and a driver that note what they are asked for; `test_ordering_gpu.py` does it on a GPU.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any

import numpy as np
import pytest
import recording
from recording import each
from small_problems import Problem, first_problem, problems

import baracuda as bc
from baracuda import driver, observe
from baracuda.plan import BoundLaunch, Plan

DEVICE = bc.Device("cuda", 0)


class ByDLPack:
    """An array "in CUDA memory" of which only DLPack is known; `asked` are the streams of its readers."""

    def __init__(self, shape: tuple[int, ...], device: int = 0) -> None:
        self.memory = np.zeros(shape, np.float32)
        self.device = device
        self.asked: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self.device)

    def __dlpack__(self, *, stream: Any = "nothing", max_version: Any = None) -> Any:
        self.asked.append(stream)
        return self.memory.__dlpack__()


class ByInterface:
    """An array of which only `__cuda_array_interface__` is known, written by a stream."""

    def __init__(self, shape: tuple[int, ...], stream: Any) -> None:
        self.memory = np.zeros(shape, np.float32)
        self.stream = stream

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        pointer = self.memory.__array_interface__["data"][0]
        return {
            "version": 3, "shape": self.memory.shape, "typestr": self.memory.dtype.str,
            "data": (pointer, False), "stream": self.stream,
        }  # fmt: skip


class Case(recording.Case):
    """A plan for the GPU that records; `make` makes each of its arrays."""

    device = DEVICE

    def __init__(self, problem: Problem, make: Any) -> None:
        super().__init__(problem)
        tensors: dict[str, Any] = {rule.name: None for rule in problem.plan.TENSORS}
        for name, array in problem.tensors().items():
            tensors[name] = made = make(array.shape)
            if isinstance(made, (ByDLPack, ByInterface)):
                made.memory = np.zeros_like(array)
        self.args = problem.plan.ARGS(**tensors)
        self.arrays = {name: array for name, array in tensors.items() if array is not None}

    def room(self, nbytes: int) -> bc.Workspace:
        return bc.Workspace(1 << 40, nbytes, DEVICE)

    def go(self, stream: Any) -> None:
        self.plan.run(stream, self.workspace, self.args)


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """The waits that the driver is asked for: of which stream, for which, on which device."""
    seen: list[tuple[int, int, int]] = []
    monkeypatch.setattr(driver, "_device_attribute", lambda attribute, index: 100)
    monkeypatch.setattr(driver, "wait_for", lambda *wait: seen.append(wait))
    monkeypatch.setattr(driver, "is_capturing", lambda handle: False)
    return seen


def capturing(monkeypatch: pytest.MonkeyPatch, *handles: int) -> None:
    monkeypatch.setattr(driver, "is_capturing", lambda handle: handle in handles)


HANDLES = [(0, 1), (1, 1), (2, 2), (0x70, 0x70)]


@each(problems())
def test_every_run_asks_dlpack_for_its_own_stream(problem: Problem) -> None:
    case = Case(problem, ByDLPack)
    for handle, numbered in [*HANDLES, *HANDLES]:
        for stream in (handle, bc.Stream(handle, DEVICE)):
            case.log.clear()
            case.go(stream)
            assert case.log == case.expected(case.args)
            for array in case.arrays.values():
                # `expected` looks once more, and waits for nothing.
                assert array.asked == [numbered, -1]
                array.asked.clear()


def test_a_call_does_what_a_run_does() -> None:
    case = Case(first_problem(), ByDLPack)
    case.plan(**case.arrays, stream=0x70, workspace=case.workspace)
    assert all(array.asked == [0x70] for array in case.arrays.values())


@each(problems())
def test_without_a_stream_dlpack_is_ordered_on_the_legacy_default_stream(problem: Problem) -> None:
    case = Case(problem, ByDLPack)
    case.go(None)
    for array in case.arrays.values():
        assert [stream for stream in array.asked if stream != -1] == [1]


@each(problems())
def test_every_run_waits_for_the_stream_of_an_interface(problem: Problem, waits: Any) -> None:
    case = Case(problem, lambda shape: ByInterface(shape, 0x50))
    for _ in range(3):
        waits.clear()
        case.log.clear()
        case.go(0x70)
        assert waits == [(0x70, 0x50, 0)] * len(case.arrays)
        assert case.log == case.expected(case.args)


def test_the_stream_of_an_interface_is_read_at_every_run(waits: Any) -> None:
    case = Case(first_problem(), lambda shape: ByInterface(shape, None))
    case.go(0x70)
    assert waits == []
    next(iter(case.arrays.values())).stream = 0x60
    case.go(0x70)
    assert waits == [(0x70, 0x60, 0)]


@pytest.mark.parametrize(
    ("handle", "producer", "wait"),
    [
        (0x70, None, None),
        (0x70, 0x70, None),
        (0x70, 1, (0x70, 0, 0)),
        (0x70, 2, (0x70, 2, 0)),
        (0, 1, None),
        (1, 1, None),
        (0, 2, (0, 2, 0)),
        (0, 0x50, (0, 0x50, 0)),
        (2, 2, None),
        (2, 1, (2, 0, 0)),
    ],
)
def test_which_stream_waits_for_which(waits: Any, handle: int, producer: Any, wait: Any) -> None:
    case = Case(first_problem(), lambda shape: ByInterface(shape, producer))
    case.go(handle)
    assert waits == ([] if wait is None else [wait] * len(case.arrays))


def test_without_a_stream_the_first_output_decides_and_the_others_are_waited_for(waits: Any) -> None:
    case = Case(first_problem(), lambda shape: ByInterface(shape, 0x50))
    outputs = [rule.name for rule in case.plan.TENSORS if rule.io == "out"]
    case.arrays[outputs[0]].stream = 0x90
    handles: list[int] = []
    kernels = {name: noting(handles) for name in case.plan._kernels}
    case.plan._kernels = kernels
    case.go(None)
    assert set(handles) == {0x90}
    assert waits == [(0x90, 0x50, 0)] * (len(case.arrays) - 1)


def noting(handles: list[int]) -> Any:
    """A kernel whose launches note their stream."""

    class Launch:
        def __init__(self, params: bytes) -> None:
            self.params = bytearray(params)

        def __call__(self, stream_handle: int) -> None:
            handles.append(stream_handle)

    return types.SimpleNamespace(pack=lambda grid, threads, shared, params: Launch(params))


@pytest.mark.parametrize("stream", [0, True, -1, 1.5, "1"])
def test_no_stream_of_an_interface_is_a_clear_error(stream: Any) -> None:
    case = Case(first_problem(), lambda shape: ByInterface(shape, stream))
    name = next(iter(case.arrays))
    for call in (lambda: case.go(0x70), lambda: case.plan.can_implement(case.args), lambda: case.go(None)):
        with pytest.raises(
            bc.InvalidProblem, match=rf"Plan: {name} has .* with stream {stream!r}, want None"
        ):
            call()
    assert not case.log


# Looking, binding


def test_looking_orders_nothing(waits: Any) -> None:
    by_dlpack, by_interface = (
        Case(first_problem(), make) for make in (ByDLPack, lambda shape: ByInterface(shape, 0x50))
    )
    for case in (by_dlpack, by_interface):
        case.plan.can_implement(case.args)
        case.plan.sku_for(case.args)
        case.plan.bind(case.args, case.workspace)
    assert all(set(array.asked) == {-1} for array in by_dlpack.arrays.values())
    assert waits == []


def test_jax_waits_itself_instead_of_ordering(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take -1 for a handle."""
    jax = type("ArrayImpl", (ByDLPack,), {"__module__": "jaxlib._jax"})
    case = Case(first_problem(), ByDLPack)
    name = next(rule.name for rule in case.plan.TENSORS if rule.io == "in")
    array = jax(case.arrays[name].memory.shape)
    args = dataclasses.replace(case.args, **{name: array})
    case.plan.can_implement(args)
    case.run(args)
    case.plan.run(0x70, case.workspace, args)
    capturing(monkeypatch, 0x70)
    case.plan.run(0x70, case.workspace, args)
    assert array.asked == [None, 1, 0x70, None]


@each(problems())
def test_every_bound_launch_is_ordered_anew(problem: Problem, waits: Any) -> None:
    case = Case(problem, ByDLPack)
    bound = case.plan.bind(case.args, case.workspace)
    for array in case.arrays.values():
        array.asked.clear()
    for handle, numbered in HANDLES:
        case.log.clear()
        bound(handle)
        assert case.log == case.expected(case.args)
        for array in case.arrays.values():
            assert array.asked == [numbered, -1]
            array.asked.clear()
    by_interface = Case(problem, lambda shape: ByInterface(shape, 0x50))
    bound = by_interface.plan.bind(by_interface.args, by_interface.workspace)
    for _ in range(2):
        waits.clear()
        bound(0x70)
        assert waits == [(0x70, 0x50, 0)] * len(by_interface.arrays)


def test_an_array_that_moved_since_it_was_bound_is_refused() -> None:
    case = Case(first_problem(), ByDLPack)
    bound = case.plan.bind(case.args, case.workspace)
    name, array = next(iter(case.arrays.items()))
    old, array.memory = array.memory, np.zeros_like(array.memory)
    with pytest.raises(bc.InvalidProblem, match=rf"Plan: {name} lies at 0x.*, where it was bound"):
        bound(0x70)
    assert not case.log
    del old


def test_bound_arrays_that_nobody_orders_cost_nothing() -> None:
    case = Case(first_problem(), reference)
    bound = case.plan.bind(case.args, case.workspace)
    assert len(bound._launches) == len(case.expected(case.args))


def reference(shape: tuple[int, ...]) -> bc.TensorRef:
    owner = ByInterface(shape, 0x50)
    return dataclasses.replace(bc.as_tensor(owner.memory), device=DEVICE, owner=owner)


# Whom nobody waits for


def test_a_reference_is_not_ordered(waits: Any) -> None:
    case = Case(first_problem(), reference)
    case.go(0x70)
    case.plan.bind(case.args, case.workspace)(0x70)
    assert case.log
    assert waits == []


def test_on_the_host_nothing_is_ordered(waits: Any) -> None:
    """Not even for arrays that a host plan then refuses."""
    problem = first_problem()
    plan, _ = recording.recorded(problem)
    case = Case(problem, lambda shape: ByInterface(shape, 0x50))
    with pytest.raises(bc.InvalidProblem, match="lies on cuda:0, want host"):
        plan.run(bc.Stream.host(), None, case.args)
    case = Case(problem, ByDLPack)
    with pytest.raises(bc.InvalidProblem, match="lies on cuda:0, want host"):
        plan.run(None, None, case.args)
    assert {stream for array in case.arrays.values() for stream in array.asked} <= {-1}
    assert waits == []


def test_an_empty_array_has_nothing_to_wait_for(waits: Any) -> None:
    bc.as_tensor(ByInterface((0, 3), 0x50), stream=0x70)
    assert waits == []
    bc.as_tensor(ByInterface((1, 3), 0x50), stream=0x70)
    assert waits == [(0x70, 0x50, 0)]


# Graphs


@pytest.mark.parametrize(
    ("handle", "producer", "recording_streams", "ordered"),
    [
        (0x70, 0x50, (0x70,), False),
        (0x70, 0x50, (0x50,), False),
        (0x70, 0x50, (0x70, 0x50), True),
        # The legacy default stream says yes while another one captures, and must be left alone then.
        (0x70, 1, (0x70, 0), False),
        (0x70, 1, (0,), False),
        (0, 0x50, (0,), False),
        (0x70, 0x50, (0x90,), True),
    ],
)
def test_a_graph_waits_for_nothing_outside_of_it(
    waits: Any,
    monkeypatch: pytest.MonkeyPatch,
    handle: int,
    producer: int,
    recording_streams: Any,
    ordered: bool,
) -> None:
    capturing(monkeypatch, *recording_streams)
    case = Case(first_problem(), lambda shape: ByInterface(shape, producer))
    case.go(handle)
    assert case.log
    assert bool(waits) == ordered
    case = Case(first_problem(), ByDLPack)
    case.go(handle)
    asked = {stream for array in case.arrays.values() for stream in array.asked}
    assert asked == {-1 if handle in recording_streams else handle or 1}


# Workspace, errors, devices


def test_a_workspace_is_ordered_too(waits: Any) -> None:
    case = next(case for case in (Case(p, reference) for p in problems(shape=(2, 200_000))) if case.workspace)
    elements = -(-case.workspace.nbytes // 4) + 64
    for make in (ByDLPack, lambda shape: ByInterface(shape, 0x50)):
        space = aligned(make, elements)
        waits.clear()
        case.plan.run(0x70, space, case.args)
        case.plan.bind(case.args, space)(0x70)
        if isinstance(space, ByDLPack):
            assert space.asked == [0x70, -1, -1, 0x70]
        else:
            assert waits == [(0x70, 0x50, 0)] * 2


def aligned(make: Any, elements: int) -> Any:
    space = make((elements,))
    skipped = -space.memory.__array_interface__["data"][0] % 256 // 4
    space.memory = space.memory[skipped:]
    return space


def test_what_is_wrong_with_an_array_is_said_before_what_is_wrong_with_the_stream() -> None:
    case = Case(first_problem(), ByDLPack)
    name = next(iter(case.arrays))
    wrong = dataclasses.replace(case.args, **{name: ByDLPack((1, 2, 3))})
    for stream in ("no stream", None, bc.Stream.host()):
        with pytest.raises(bc.InvalidProblem, match=f"Plan: {name} has shape"):
            case.plan.run(stream, case.workspace, wrong)
    with pytest.raises(TypeError, match="stream is a str"):
        case.plan.run("no stream", case.workspace, case.args)
    with pytest.raises(bc.InvalidProblem, match="is on host, want one on cuda:0"):
        case.plan.run(bc.Stream.host(), case.workspace, case.args)
    with pytest.raises(TypeError, match="args is a list"):
        case.plan.run(None, case.workspace, [])
    assert not case.log


def test_a_plan_of_the_second_device_orders_there(waits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    second = bc.Device("cuda", 1)
    problem = first_problem()
    plan, log = recording.recorded(problem, second)
    nbytes = plan.workspace_size()
    space = bc.Workspace(1 << 40, nbytes, second) if nbytes else None
    case = Case(problem, lambda shape: ByDLPack(shape, 1))
    plan.run(bc.Stream(0x70, second), space, case.args)
    assert log
    assert all(array.asked == [0x70] for array in case.arrays.values())
    monkeypatch.setattr("baracuda.cuda_interface._device_of_pointer", lambda pointer: 1)
    case = Case(problem, lambda shape: ByInterface(shape, 0x50))
    plan.run(bc.Stream(0x70, second), space, case.args)
    assert waits == [(0x70, 0x50, 1)] * len(case.arrays)


def test_the_debug_mode_looks_at_ordered_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "synchronize", lambda handle, index: None)
    monkeypatch.setattr(observe, "_nans", lambda tensor: (0, ()))
    undo = observe.install(Plan, BoundLaunch, nvtx=False, debug=True)
    try:
        case = Case(first_problem(), ByDLPack)
        case.go(0x70)
        assert all(array.asked[0] == 0x70 for array in case.arrays.values())
        bound = case.plan.bind(case.args, case.workspace)
        for array in case.arrays.values():
            array.asked.clear()
        bound(0x70)
        assert all(array.asked[0] == 0x70 for array in case.arrays.values())
    finally:
        undo()
