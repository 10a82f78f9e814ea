"""What a run does beside its result: it allocates nothing, waits for nothing, keeps to stream and device."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from devices import each_kernel, each_kernel_program, each_plan, share, small_problems
from late import late_copy

from baracuda import driver
from baracuda.codegen import verify
from baracuda.codegen.verify.devices import CudaBackend
from baracuda.errors import InvalidProblem
from baracuda.stream import Stream

# Allocations


@contextlib.contextmanager
def counted(backend: verify.Backend) -> Iterator[SimpleNamespace]:
    """Count what arrays take: `calls` of CuPy's allocators, bytes of the device or of Python and NumPy."""
    seen = SimpleNamespace(calls=0, nbytes=0)
    with (counted_on_cuda if backend.kind == "cuda" else counted_on_host)(seen):
        yield seen


@contextlib.contextmanager
def counted_on_host(seen: SimpleNamespace) -> Iterator[None]:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        yield
        seen.nbytes = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@contextlib.contextmanager
def counted_on_cuda(seen: SimpleNamespace) -> Iterator[None]:
    import cupy

    class Hook(cupy.cuda.MemoryHook):
        """Sees what any pool hands out and what it takes from the device."""

        name = "baracuda's tests"

        def alloc_preprocess(self, **_: Any) -> None:
            seen.calls += 1

        def malloc_preprocess(self, **_: Any) -> None:
            seen.calls += 1

    pool = cupy.get_default_memory_pool()

    def allocator(nbytes: int) -> Any:
        seen.calls += 1
        return pool.malloc(nbytes)

    cupy.cuda.runtime.deviceSynchronize()
    free, _ = cupy.cuda.runtime.memGetInfo()
    with Hook(), cupy.cuda.using_allocator(allocator):
        yield
    cupy.cuda.runtime.deviceSynchronize()
    seen.nbytes = free - cupy.cuda.runtime.memGetInfo()[0]


#: What Python itself may take for a run, far less than any of the tensors below.
PYTHON = 32 << 10


@each_kernel(dtypes=["bf16", "f32", "u8"])
def test_a_run_allocates_nothing(backend, op, direction, dtype):
    """From the first run of a layout on; nor does a launch that was bound."""
    rows = 16 // min(verify.numpy_dtype(dtype).itemsize, 4)
    shape = (3, 6, 64, 144) if op.family.tiles else (rows, 9000)  # attention's domains are small
    problems = verify.problems(op, direction, dtype, [shape], every_option=False)[:2]
    for problem in share(problems, op, direction, dtype, ["bf16", "f32", "u8"]):
        prepared = verify.prepare(backend, problem, verify.inputs_for(problem))
        plan, args = prepared.plan, prepared.args()
        assert all(tensor.before.nbytes > 4 for tensor in prepared.tensors.values())
        assert max(tensor.before.nbytes for tensor in prepared.tensors.values()) > 4 * PYTHON
        space = backend.workspace(plan.workspace_size())
        bound = plan.bind(args, space)
        with counted(backend) as first:
            plan.run(backend.stream, space, args)
        most = 0 if backend.kind == "cuda" else PYTHON
        for _ in range(5):  # what other processes take of a GPU counts too, but hardly every time
            with counted(backend) as seen:
                for _ in range(3 if backend.kind == "cuda" else 1):
                    plan.run(backend.stream, space, args)
                    bound(backend.stream)
            assert first.calls == seen.calls == 0
            if seen.nbytes <= most:
                break
        # At a kernel's first launch the driver may take stacks of its own from the device.
        assert backend.kind == "cuda" or first.nbytes <= PYTHON, f"{problem}: {first.nbytes} bytes"
        assert seen.nbytes <= most, f"{problem}: {seen.nbytes} bytes"


def test_an_allocation_would_be_seen(backend):
    with counted(backend) as seen:
        kept = backend.memory(np.zeros(64 << 20, np.uint8))
    assert seen.nbytes > PYTHON or seen.calls
    if backend.kind == "cuda":
        assert seen.calls >= 1
    del kept


# Streams


@pytest.mark.cuda
@each_kernel_program()
@pytest.mark.parametrize("way", ["run", "bind", "current stream"])
def test_a_run_is_ordered_on_its_stream_and_does_not_wait(backend, device, op, direction, way):
    """Inputs that a long kernel before it on the same stream writes are read as that kernel leaves them."""
    import cupy

    problem = small_problems(op, direction, "f32", (4, 6))[0]
    values = verify.inputs_for(problem)
    want = verify.run(backend, problem, values)
    prepared = verify.prepare(backend, problem, values)
    plan, args = prepared.plan, prepared.args()
    space = backend.workspace(plan.workspace_size())
    bound = plan.bind(args, space)
    plan.run(backend.stream, space, args)
    copies = []
    for name, tensor in prepared.tensors.items():
        poison = cupy.full_like(tensor.memory, 0xFF)
        if name in problem.inputs():
            source = tensor.memory.copy()
            copies.append((late_copy(device, tensor.memory, source), source))
        tensor.memory[...] = poison
    # Outputs are full of poison again, and inputs until the copies have run.
    cupy.cuda.runtime.deviceSynchronize()
    side = cupy.cuda.Stream(non_blocking=True)
    for copy, _ in copies:
        copy(side.ptr)
    if way == "run":
        plan.run(side, space, args)
    elif way == "bind":
        bound(side)
    else:
        with side:
            plan.run(None, space, args)
    assert not side.done, "the run waited for the device"
    side.synchronize()
    for name, value in want.items():
        got = prepared.tensors[name].values(backend)
        np.testing.assert_array_equal(verify.bits_of(got), verify.bits_of(value))


# Devices; with fakes, `test_rejected_arguments.py` and `test_driver.py` hold the same on any machine


@pytest.fixture
def second_gpu() -> Any:
    """Return CuPy's second device."""
    if driver.device_count() < 2:
        pytest.skip("needs two CUDA devices")
    import cupy

    return cupy.cuda.Device(1)


@pytest.mark.cuda
@each_plan()
def test_what_lies_on_another_gpu_is_refused(backend, second_gpu, op, direction):
    problem = small_problems(op, direction, "f32", (4, 6))[0]
    prepared = verify.prepare(backend, problem, verify.inputs_for(problem))
    plan = prepared.plan
    space = backend.workspace(plan.workspace_size())
    for name, tensor in prepared.tensors.items():
        with second_gpu:
            there = verify.place(backend, name, problem.dtype_of(name), tensor.shape).array
        args = prepared.args(**{name: there})
        for call in (plan.can_implement, lambda args: plan.run(backend.stream, space, args)):
            with pytest.raises(
                InvalidProblem, match=f"^{type(plan).__name__}: {name} lies on cuda:1, want cuda:0"
            ):
                call(args)
    with second_gpu:
        import cupy

        theirs = cupy.cuda.Stream(non_blocking=True)
    with pytest.raises(InvalidProblem, match=r"cuda:1.*want.*cuda:0"):
        plan.run(theirs, space, prepared.args())
    for tensor in prepared.tensors.values():
        tensor.check_untouched(backend)


@pytest.mark.cuda
@each_plan()
def test_a_workspace_on_another_gpu_is_refused(backend, second_gpu, op, direction):
    for problem in verify.problems(op, direction, "f32", [(2, 40000)]):
        prepared = verify.prepare(backend, problem, verify.inputs_for(problem))
        if prepared.plan.workspace_size():
            with second_gpu:
                there = backend.workspace(prepared.plan.workspace_size())
            with pytest.raises(InvalidProblem, match="workspace lies on cuda:1, want cuda:0"):
                prepared.plan.run(backend.stream, there, prepared.args())


@pytest.mark.cuda
@each_plan()
def test_plans_of_two_gpus_in_turn(backend, second_gpu, op, direction):
    """Each runs where its tensors are, whichever device is current, and leaves that one current."""
    import cupy

    problem = small_problems(op, direction, "f32", (4, 6))[0]
    values = verify.inputs_for(problem)
    want = verify.run(backend, problem, values)
    with second_gpu:
        there = CudaBackend()
        theirs = verify.prepare(there, problem, values)
        their_space = there.workspace(theirs.plan.workspace_size())
        cupy.cuda.runtime.deviceSynchronize()
    assert there.stream == Stream(0, theirs.plan.device)
    assert str(theirs.plan.device) == "cuda:1"
    ours = verify.prepare(backend, problem, values)
    our_space = backend.workspace(ours.plan.workspace_size())
    for current in (0, 1):
        with cupy.cuda.Device(current):
            for _ in range(3):
                theirs.plan.run(there.stream, their_space, theirs.args())
                assert cupy.cuda.runtime.getDevice() == current
                ours.plan.run(backend.stream, our_space, ours.args())
                assert cupy.cuda.runtime.getDevice() == current
    for prepared, place in ((ours, cupy.cuda.Device(0)), (theirs, second_gpu)):
        with place:
            cupy.cuda.runtime.deviceSynchronize()
            got = prepared.outputs()
        for name, value in want.items():
            np.testing.assert_array_equal(verify.bits_of(got[name]), verify.bits_of(value))
