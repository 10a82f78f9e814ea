"""Read an object with `__cuda_array_interface__` as a `TensorRef`, without its library."""

from __future__ import annotations

import operator
import sys
from typing import Any, NoReturn

import numpy as np

from baracuda.arrays import IMMUTABLE, element_of, element_strides, top_module
from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem, Unsupported
from baracuda.ordering import wait_for_producer
from baracuda.tensor import RefusalError, TensorRef, contiguous_strides, cuda_device, trusted_tensor

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
    kind = _element(obj, _entry(interface, "typestr"))
    pointer, readonly = _data(_entry(interface, "data"))
    shape = _integers(interface, "shape", _entry(interface, "shape"))
    if any(extent < 0 for extent in shape):
        _refuse("shape", shape, "no extent below 0")
    if not pointer and 0 not in shape:
        _refuse("data", interface["data"], "the address of the first element")
    byte_strides = interface.get("strides")
    if byte_strides is None:
        strides = contiguous_strides(shape)
    else:
        byte_strides = _integers(interface, "strides", byte_strides)
        if len(byte_strides) != len(shape):
            _refuse("strides", byte_strides, f"None, or one for each extent of shape {shape}")
        strides = element_strides(shape, byte_strides, kind)
    device = cuda_device(_device_of_pointer(pointer))
    producer = producer_of(interface)
    if stream is not None and producer is not None and 0 not in shape:
        wait_for_producer(stream, producer, device)
    readonly = readonly or top_module(type(obj)) in IMMUTABLE
    return trusted_tensor(
        pointer=pointer,
        shape=shape,
        strides=strides,
        element=kind,
        device=device,
        readonly=readonly,
        buffer=None,
        owner=obj,
    )


def producer_of(interface: dict[str, Any]) -> int | None:
    """The stream that writes the array, in DLPack's numbering; None where nothing is to be waited for."""
    stream = interface.get("stream")
    if stream is None:
        return None
    if isinstance(stream, bool) or not isinstance(stream, int) or stream < 1:
        wanted = "None, 1 (the legacy default stream), 2 (the per-thread default stream) or a handle"
        _refuse("stream", stream, wanted)
    return stream


def _refuse(entry: str, got: object, wanted: str) -> NoReturn:
    raise RefusalError(InvalidProblem, f"has a __cuda_array_interface__ with {entry} {got!r}, want {wanted}")


def _entry(interface: dict[str, Any], name: str) -> Any:
    try:
        return interface[name]
    except KeyError:
        raise RefusalError(
            InvalidProblem, f"has a __cuda_array_interface__ without {name}, want shape, typestr and data"
        ) from None


def _element(obj: Any, typestr: Any) -> ElementKind:
    if not isinstance(typestr, str):
        _refuse("typestr", typestr, "a str such as '<f4'")
    try:
        dtype = np.dtype(typestr)
    except (TypeError, ValueError, SyntaxError):  # np.dtype parses some words as Python.
        _refuse("typestr", typestr, "one such as '<f4'")
    # The interface has no word for bf16: there the object's own dtype says what two opaque bytes mean.
    return element_of(getattr(obj, "dtype", dtype) if dtype.kind == "V" else dtype)


def _data(data: Any) -> tuple[int, bool]:
    """Pointer and whether it is read-only."""
    try:
        pointer, readonly = data
        # Producers of empty arrays write None too.
        address = operator.index(pointer or 0)
    except (TypeError, ValueError):
        address, readonly = -1, False
    if address < 0:
        _refuse("data", data, "(address, read-only)")
    return address, bool(readonly)


def _integers(interface: dict[str, Any], name: str, values: Any) -> tuple[int, ...]:
    try:
        return tuple(operator.index(value) for value in values)
    except TypeError:
        _refuse(name, interface[name], "a tuple of ints")


def _device_of_pointer(pointer: int) -> int:
    """The index of the CUDA device that a pointer belongs to; 0 where CuPy is not loaded or cannot tell."""
    cupy = sys.modules.get("cupy")
    if cupy is None or pointer == 0:
        return 0
    try:
        return max(int(cupy.cuda.runtime.pointerGetAttributes(pointer).device), 0)
    except (AttributeError, RuntimeError):
        return 0
