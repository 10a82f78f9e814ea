"""On a GPU: a run waits for a kernel that still writes its inputs on another stream, and the host does not.

What is asked of producers and driver, without a GPU: `test_ordering.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from devices import each_kernel_program, small_problems
from late import late_copy

from baracuda.codegen import verify

pytestmark = pytest.mark.cuda


class ByDLPack:
    """A CuPy array that speaks nothing but DLPack; CuPy orders after the stream that is current then."""

    def __init__(self, array: Any, stream: Any) -> None:
        self._array, self._stream = array, stream

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        with self._stream:
            return self._array.__dlpack__(**options)


class ByInterface:
    """A CuPy array that has nothing but `__cuda_array_interface__`, which names the stream."""

    def __init__(self, array: Any, stream: Any) -> None:
        self._array, self._stream = array, stream

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self._array.__cuda_array_interface__, "version": 3, "stream": self._stream.ptr}


def make_some_equal(problem: Any, values: dict[str, Any], number: int) -> None:
    """Pairs of which truth values tell: every other one equal, so that results differ from those of NaN."""
    names = problem.inputs()
    if len(names) == 2 and all(problem.dtype_of(name) == "bool" for name in problem.outputs()):
        fewer, more = sorted((values[name] for name in names), key=lambda value: value.size)
        more[..., number::2] = fewer[..., number::2]


class Scene:
    """A problem whose inputs a producer's stream writes late, behind whatever `wrap` makes of the arrays."""

    def __init__(self, backend: Any, device: Any, op: Any, direction: str, wrap: Any) -> None:
        import cupy

        self.backend, self.device, self.cupy = backend, device, cupy
        self.problem = small_problems(op, direction, "f32", (4, 6))[0]
        self.datasets = [verify.inputs_for(self.problem, seed=seed) for seed in range(2)]
        for number, values in enumerate(self.datasets):
            make_some_equal(self.problem, values, number)
        self.want = [verify.run(backend, self.problem, values) for values in self.datasets]
        self.prepared = verify.prepare(backend, self.problem, self.datasets[0])
        self.plan = self.prepared.plan
        self.space = backend.workspace(self.plan.workspace_size())
        self.producer, self.consumer = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
        wrapped = {
            name: wrap(self.prepared.tensors[name].array, self.producer) for name in self.problem.inputs()
        }
        self.args = self.prepared.args(**wrapped)
        self.kept: list[Any] = []

    def produce(self, number: int) -> None:
        """Poison over everything, then the inputs of a data set, late."""
        other = verify.prepare(self.backend, self.problem, self.datasets[number])
        copies = []
        for name, tensor in self.prepared.tensors.items():
            if name in self.problem.inputs():
                source = other.tensors[name].memory
                copies.append(late_copy(self.device, tensor.memory, source))
            tensor.memory[...] = 0xFF
        self.kept += [other, copies]
        self.cupy.cuda.runtime.deviceSynchronize()
        for copy in copies:
            copy(self.producer.ptr)

    def is_right(self, number: int) -> bool:
        """Whether the outputs are those of a data set, when the consumer's stream has ended."""
        assert not self.consumer.done, "the run waited for the device"
        self.consumer.synchronize()
        got = {name: self.prepared.tensors[name].values(self.backend) for name in self.want[number]}
        return all(
            np.array_equal(verify.bits_of(got[name]), verify.bits_of(value))
            for name, value in self.want[number].items()
        )


@each_kernel_program()
@pytest.mark.parametrize("wrap", [ByDLPack, ByInterface])
def test_every_run_waits_for_the_producer(backend, device, op, direction, wrap):
    """Also the second with the very same arrays, whose data are new."""
    scene = Scene(backend, device, op, direction, wrap)
    scene.plan.run(scene.consumer, scene.space, scene.args)
    scene.consumer.synchronize()
    for number in (0, 1, 0):
        scene.produce(number)
        scene.plan.run(scene.consumer, scene.space, scene.args)
        assert scene.is_right(number)


@each_kernel_program()
@pytest.mark.parametrize("wrap", [ByDLPack, ByInterface])
def test_every_bound_launch_waits_for_the_producer(backend, device, op, direction, wrap):
    scene = Scene(backend, device, op, direction, wrap)
    bound = scene.plan.bind(scene.args, scene.space)
    bound(scene.consumer)
    scene.consumer.synchronize()
    for number in (0, 1):
        scene.produce(number)
        bound(scene.consumer)
        assert scene.is_right(number)


@each_kernel_program("forward")
def test_without_the_wait_the_result_would_be_wrong(backend, device, op, direction):
    """Arrays that name no stream: else the tests above would prove nothing."""
    scene = Scene(backend, device, op, direction, lambda array, stream: array)
    for _ in range(2):
        scene.plan.run(scene.consumer, scene.space, scene.args)
    scene.consumer.synchronize()
    scene.produce(0)
    scene.plan.run(scene.consumer, scene.space, scene.args)
    scene.consumer.synchronize()
    right = all(
        np.array_equal(verify.bits_of(scene.prepared.tensors[name].values(backend)), verify.bits_of(value))
        for name, value in scene.want[0].items()
    )
    scene.producer.synchronize()
    assert not right


@each_kernel_program("forward")
@pytest.mark.parametrize("wrap", [ByDLPack, ByInterface])
def test_a_capture_takes_no_stream_outside_of_it(backend, device, op, direction, wrap):
    """The graph is captured and right; when it is launched, its data must be there."""
    scene = Scene(backend, device, op, direction, wrap)
    with scene.consumer:
        scene.consumer.begin_capture(scene.cupy.cuda.runtime.streamCaptureModeGlobal)
        try:
            scene.plan.run(scene.consumer, scene.space, scene.args)
        finally:
            graph = scene.consumer.end_capture()
    scene.produce(1)
    scene.producer.synchronize()
    graph.launch(stream=scene.consumer)
    scene.consumer.synchronize()
    for name, value in scene.want[1].items():
        got = scene.prepared.tensors[name].values(backend)
        np.testing.assert_array_equal(verify.bits_of(got), verify.bits_of(value))


@each_kernel_program("forward")
def test_a_producer_of_the_same_capture_comes_first(backend, device, op, direction):
    """The producer's stream is forked from the run's, writes late, and the run joins it by the interface."""
    scene = Scene(backend, device, op, direction, ByInterface)
    sources = verify.prepare(backend, scene.problem, scene.datasets[1])
    copies = [
        late_copy(device, scene.prepared.tensors[name].memory, sources.tensors[name].memory)
        for name in scene.problem.inputs()
    ]
    scene.cupy.cuda.runtime.deviceSynchronize()
    event = scene.cupy.cuda.Event(disable_timing=True)
    with scene.consumer:
        scene.consumer.begin_capture(scene.cupy.cuda.runtime.streamCaptureModeGlobal)
        try:
            event.record(scene.consumer)
            scene.producer.wait_event(event)
            for copy in copies:
                copy(scene.producer.ptr)
            scene.plan.run(scene.consumer, scene.space, scene.args)
        finally:
            graph = scene.consumer.end_capture()
    for tensor in scene.prepared.tensors.values():
        tensor.memory[...] = 0xFF
    scene.cupy.cuda.runtime.deviceSynchronize()
    graph.launch(stream=scene.consumer)
    assert scene.is_right(1)


@each_kernel_program("forward")
def test_an_interface_without_a_stream_and_the_current_stream(backend, device, op, direction):
    """The first output's stream is taken, and nothing waits where it is the producer's too."""
    scene = Scene(backend, device, op, direction, ByInterface)
    outputs = {
        name: ByInterface(scene.prepared.tensors[name].array, scene.producer)
        for name in scene.problem.outputs()
    }
    inputs = {
        name: ByInterface(scene.prepared.tensors[name].array, scene.producer)
        for name in scene.problem.inputs()
    }
    args = scene.prepared.args(**inputs, **outputs)
    scene.produce(1)
    scene.plan.run(None, scene.space, args)
    assert not scene.producer.done
    scene.consumer.wait_event(scene.producer.record())
    assert scene.is_right(1)
