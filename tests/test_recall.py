"""CuPy arrays that a plan knows (PyTorch's: tests/torch). They lie in host memory, for nobody reads them."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import recording
from recording import each
from small_problems import Problem, problems

import baracuda as bc
from baracuda import driver
from baracuda.stream import current_handle, handle_on

cupy: Any = pytest.importorskip("cupy")

DEVICE = bc.Device("cuda", 0)
STREAM = bc.Stream(0x70)


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the engines ask of a device."""
    monkeypatch.setattr(driver, "_device_attribute", lambda attribute, index: 100)


def array(
    memory: Any, shape: tuple[int, ...], offset: int = 0, strides: Any = None, dtype: Any = np.float32
) -> Any:
    pointer = cupy.cuda.MemoryPointer(memory, offset)
    return cupy.ndarray(shape, dtype, pointer, strides)


def memory_of(nbytes: int, device: int = 0) -> Any:
    owner = np.zeros(nbytes, np.uint8)
    return cupy.cuda.UnownedMemory(owner.ctypes.data, nbytes, owner, device)


def arguments(problem: Problem) -> Any:
    tensors: dict[str, Any] = {rule.name: None for rule in problem.plan.TENSORS}
    for name, given in problem.tensors().items():
        tensors[name] = array(memory_of(given.nbytes + 256), given.shape, 64, None, given.dtype)
    return problem.plan.ARGS(**tensors)


class Case(recording.Case):
    """A plan for the GPU that records."""

    device = DEVICE
    stream = STREAM

    def room(self, nbytes: int) -> bc.Workspace:
        return bc.Workspace(1 << 40, nbytes, DEVICE)


@each(problems())
def test_a_known_call_launches_the_same(problem: Problem) -> None:
    case = Case(problem)
    for args in (arguments(problem), arguments(problem)):
        for turn in range(4):
            assert case.run(args) == case.expected(args)
            assert case.knows(args) == (turn >= 1)
        case.log.clear()
        case.plan.bind(args, case.workspace)(STREAM)
        assert case.log == case.expected(args)


def others(known: Any) -> Iterator[tuple[str, Any]]:
    """Arrays that differ from one that is known."""
    memory, shape, nbytes, size = known.data.mem, known.shape, known.nbytes, known.itemsize

    def like(memory: Any, shape: tuple[int, ...], offset: int, strides: Any = None) -> Any:
        return array(memory, shape, offset, strides, known.dtype)

    yield "shape", like(memory, shape[::-1], 64)
    yield "strides", like(memory, shape, 64, (2 * size, *known.strides[1:]))
    yield "a zero stride", like(memory, shape, 64, (0,) * len(shape))
    yield "dtype", cupy.ndarray(shape, np.int32, known.data)
    yield "moved", like(memory, shape, 64 + size)
    yield "beyond its memory", like(memory, shape, 256)
    smaller = cupy.cuda.UnownedMemory(memory.ptr, 64 + nbytes - 1, memory, 0)
    yield "smaller memory", like(smaller, shape, 64)
    later = cupy.cuda.UnownedMemory(memory.ptr + 64 + size, nbytes, memory, 0)
    yield "memory that begins later", like(later, shape, -size)
    yield "another device", like(cupy.cuda.UnownedMemory(memory.ptr, memory.size, memory, 1), shape, 64)
    yield "an array of NumPy", np.zeros(shape, known.dtype)
    yield "no array", None


@each(problems())
def test_another_array_in_a_known_place_is_judged_anew(problem: Problem) -> None:
    case = Case(problem)
    args = arguments(problem)
    for _ in range(2):
        case.run(args)
    refused = set()
    for name in (field.name for field in dataclasses.fields(args)):
        if getattr(args, name) is None:
            continue
        for what, other in others(getattr(args, name)):
            changed = dataclasses.replace(args, **{name: other})
            if not case.outcomes_agree(changed, (name, what)):
                refused.add(what)
    assert {"dtype", "another device", "smaller memory", "memory that begins later"} <= refused


def test_an_array_whose_shape_is_set_is_another() -> None:
    case = Case(next(problems()))
    args = arguments(case.problem)
    for _ in range(2):
        case.run(args)
    first = next(name for name in case.plan._known._names if getattr(args, name) is not None)
    getattr(args, first).shape = (-1,)
    with pytest.raises(bc.InvalidProblem, match="has shape"):
        case.run(args)


def test_handles_of_library_streams() -> None:
    def stream(module: str, **attributes: Any) -> Any:
        cls = type("Stream", (), {"__module__": module})
        made = cls()
        for name, value in attributes.items():
            setattr(made, name, value)
        return made

    second = bc.Device("cuda", 1)
    assert handle_on(stream("cupy.cuda.stream", ptr=5, device_id=1), second) == 5
    assert handle_on(stream("cupy.cuda.stream", ptr=5, device_id=-1), second) == 5
    of_torch = stream("torch.cuda.streams", cuda_stream=6, device=types.SimpleNamespace(index=1))
    assert handle_on(of_torch, second) == 6
    assert handle_on(7, second) == 7
    assert handle_on(bc.Stream(8, second), second) == 8
    for elsewhere in (of_torch, bc.Stream(8, second), stream("cupy.cuda", ptr=5, device_id=1)):
        with pytest.raises(bc.InvalidProblem, match="is on cuda:1, want one on cuda:0"):
            handle_on(elsewhere, DEVICE)
    with pytest.raises(TypeError, match="stream is a cupy"):
        handle_on(array(memory_of(4), (1,)), DEVICE)


def test_current_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy.cuda, "get_current_stream", lambda index: types.SimpleNamespace(ptr=16 + index))
    assert current_handle("cupy", bc.Device("cuda", 3))() == 19
    assert current_handle("cupy", bc.Device("host"))() == 0
    torch = types.SimpleNamespace(
        _C=types.SimpleNamespace(_cuda_getCurrentRawStream=lambda index: 32 + index),
        cuda=types.SimpleNamespace(
            current_stream=lambda index: types.SimpleNamespace(cuda_stream=64 + index)
        ),
    )
    monkeypatch.setitem(__import__("sys").modules, "torch", torch)
    assert current_handle("torch", bc.Device("cuda", 3))() == 35
    del torch._C._cuda_getCurrentRawStream
    assert current_handle("torch", bc.Device("cuda", 3))() == 67


def test_without_a_stream_a_known_call_asks_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    current = {"ptr": 1}
    monkeypatch.setattr(
        cupy.cuda, "get_current_stream", lambda index: types.SimpleNamespace(ptr=current["ptr"])
    )
    case = Case(next(problems()))
    args = arguments(case.problem)
    handles: list[int] = []
    for _ in range(2):
        case.run(args)
    call = next(find(args, case.workspace) for find in case.plan._known.finders)
    assert call is not None
    noting = dataclasses.replace(call, launches=(handles.append,))
    monkeypatch.setattr(case.plan._known, "finders", (lambda *_: noting,))
    for handle in (1, 2):
        current["ptr"] = handle
        case.plan.run(None, case.workspace, args)
        case.plan.bind(args, case.workspace)()
    case.plan.run(STREAM, case.workspace, args)
    assert handles == [1, 1, 2, 2, STREAM.handle]
