"""Memory and streams of the two devices that kernels run on, behind one interface."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from baracuda.codegen.verify.layouts import Placement

#: In bytes: what allocators of GPU memory give, and more than any kernel asks for.
ALIGNMENT = 256


class Backend(abc.ABC):
    """Where plans are run: makes memory, hands it out as arrays, and reads it back.

    Attributes:
        kind: "host" or "cuda".
        stream: the stream that plans are selected for and run on.
    """

    kind: str
    stream: Any

    @abc.abstractmethod
    def memory(self, flat: Any) -> Any:
        """New memory, aligned to 256 bytes, that holds the elements of a one-dimensional NumPy array."""

    @abc.abstractmethod
    def view(self, memory: Any, dtype: np.dtype[Any], shape: tuple[int, ...], place: Placement) -> Any:
        """An array over memory, as a user of this device has them."""

    @abc.abstractmethod
    def read(self, memory: Any, dtype: np.dtype[Any]) -> Any:
        """The elements of memory, as a new one-dimensional NumPy array, after all work has ended."""

    @abc.abstractmethod
    def synchronize(self) -> None:
        """Wait for all work."""

    def workspace(self, nbytes: int) -> Any:
        """Scratch memory full of NaN patterns, None for no bytes."""
        return self.memory(np.full(nbytes, 0xFF, np.uint8)) if nbytes else None


class HostBackend(Backend):
    """The host executor on NumPy arrays."""

    kind = "host"

    def __init__(self) -> None:
        from baracuda.stream import Stream

        self.stream = Stream.host()

    def memory(self, flat: Any) -> Any:
        """A NumPy array."""
        raw = np.empty(flat.nbytes + ALIGNMENT, np.uint8)
        skipped = -raw.__array_interface__["data"][0] % ALIGNMENT
        memory = raw[skipped : skipped + flat.nbytes].view(flat.dtype)
        memory[...] = flat
        return memory

    def view(self, memory: Any, dtype: np.dtype[Any], shape: tuple[int, ...], place: Placement) -> Any:
        """A NumPy view."""
        strides = tuple(stride * dtype.itemsize for stride in place.strides)
        return np.ndarray(shape, dtype, memory, place.offset * dtype.itemsize, strides)

    def read(self, memory: Any, dtype: np.dtype[Any]) -> Any:
        """A copy."""
        return memory.view(dtype).copy()

    def synchronize(self) -> None:
        """Nothing: the host's launches return when they have ended."""


class CudaBackend(Backend):
    """The first CUDA device on CuPy arrays; kinds that CuPy lacks go as a `TensorRef`."""

    kind = "cuda"

    def __init__(self) -> None:
        import cupy

        from baracuda.stream import Stream

        self._cupy = cupy
        self.stream = Stream.of(cupy.cuda.get_current_stream())

    def memory(self, flat: Any) -> Any:
        """A CuPy array of bytes, which CuPy aligns to 512."""
        return self._cupy.asarray(np.ascontiguousarray(flat).view(np.uint8))

    def view(self, memory: Any, dtype: np.dtype[Any], shape: tuple[int, ...], place: Placement) -> Any:
        """A CuPy array, or a `TensorRef` that keeps the memory alive."""
        if dtype.kind in "fiub":
            strides = tuple(stride * dtype.itemsize for stride in place.strides)
            start = memory.data + place.offset * dtype.itemsize
            return self._cupy.ndarray(shape, dtype, start, strides)
        from baracuda.dtypes import ElementKind
        from baracuda.tensor import Device, TensorRef

        first = memory.data.ptr
        return TensorRef(
            pointer=first + place.offset * dtype.itemsize,
            shape=shape,
            strides=place.strides,
            element=ElementKind.parse(dtype),
            device=Device("cuda", memory.device.id),
            buffer=(first, first + memory.nbytes),
            owner=memory,
        )

    def read(self, memory: Any, dtype: np.dtype[Any]) -> Any:
        """A copy on the host."""
        self.synchronize()
        return self._cupy.asnumpy(memory).view(dtype)

    def synchronize(self) -> None:
        """Wait for the device."""
        self._cupy.cuda.get_current_stream().synchronize()


def backend(kind: str) -> Backend:
    """The backend of a device kind, "host" or "cuda"."""
    return {"host": HostBackend, "cuda": CudaBackend}[kind]()
