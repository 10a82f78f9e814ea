"""Read an object with `__cuda_array_interface__` as a `TensorRef`, without its library."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from baracuda.arrays import IMMUTABLE, element_of, element_strides, top_module
from baracuda.errors import InvalidProblem, Unsupported
from baracuda.ordering import wait_for_producer
from baracuda.tensor import RefusalError, TensorRef, contiguous_strides, cuda_device

__all__ = ["producer_of", "read_cuda_interface"]


def read_cuda_interface(obj: Any, interface: dict[str, Any], stream: int | None) -> TensorRef:
    """Read `obj` by its interface.

    Args:
        obj: the object.
        interface: its `__cuda_array_interface__`.
        stream: what reads it next, in DLPack's numbering, and waits for the producer's stream; None: nothing
            waits.
    """
    if interface.get("mask") is not None:
        raise RefusalError(
            Unsupported, "has a __cuda_array_interface__ with a mask, want an array without one"
        )
    dtype = np.dtype(interface["typestr"])
    # The interface has no word for bf16: there the object's own dtype says what two opaque bytes mean.
    kind = element_of(getattr(obj, "dtype", dtype) if dtype.kind == "V" else dtype)
    pointer, readonly = interface["data"]
    shape = tuple(int(extent) for extent in interface["shape"])
    byte_strides = interface.get("strides")
    if byte_strides is None:
        strides = contiguous_strides(shape)
    else:
        strides = element_strides(shape, tuple(int(stride) for stride in byte_strides), kind)
    pointer = int(pointer or 0)
    device = cuda_device(_device_of_pointer(pointer))
    producer = producer_of(interface)
    if stream is not None and producer is not None and 0 not in shape:
        wait_for_producer(stream, producer, device)
    readonly = bool(readonly) or top_module(type(obj)) in IMMUTABLE
    return TensorRef(pointer, shape, strides, kind, device, readonly, None, obj)


def producer_of(interface: dict[str, Any]) -> int | None:
    """The stream that writes the array, in DLPack's numbering; None where nothing is to be waited for."""
    stream = interface.get("stream")
    if stream is None:
        return None
    if isinstance(stream, bool) or not isinstance(stream, int) or stream < 1:
        raise RefusalError(
            InvalidProblem,
            f"has a __cuda_array_interface__ with stream {stream!r}, want None, "
            "1 (the legacy default stream), 2 (the per-thread default stream) or a handle",
        )
    return stream


def _device_of_pointer(pointer: int) -> int:
    """The index of the CUDA device that a pointer belongs to; 0 where CuPy is not loaded or cannot tell."""
    cupy = sys.modules.get("cupy")
    if cupy is None or pointer == 0:
        return 0
    try:
        return max(int(cupy.cuda.runtime.pointerGetAttributes(pointer).device), 0)
    except (AttributeError, RuntimeError):
        return 0
