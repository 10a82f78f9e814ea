"""Tensors as the plans see them: a pointer with a shape, strides and an element kind, on a device."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem, Unsupported
from baracuda.overlap import reach

__all__ = ["Device", "TensorRef", "as_tensor"]


@dataclass(frozen=True)
class Device:
    """Where memory lies and kernels run: a CUDA device by its index, or the host (always index 0)."""

    kind: Literal["cuda", "host"]
    index: int = 0

    def __post_init__(self) -> None:
        if self.kind not in ("cuda", "host"):
            raise InvalidProblem(f"Device: kind is {self.kind!r}, want 'cuda' or 'host'")
        if self.index < 0 or (self.kind == "host" and self.index != 0):
            wanted = "0: there is one host" if self.kind == "host" else "at least 0"
            raise InvalidProblem(f"Device: index is {self.index}, want {wanted}")

    def __str__(self) -> str:
        return "host" if self.kind == "host" else f"cuda:{self.index}"


HOST = Device("host")


@functools.cache
def cuda_device(index: int) -> Device:
    """The CUDA device of an index, always the same object, so that comparing it costs next to nothing."""
    return Device("cuda", index)


#: How many addresses there are.
_ADDRESSES = 2**64


@dataclass(frozen=True)
class TensorRef:
    """Memory that somebody else owns, seen as a strided tensor.

    Attributes:
        pointer: the address of the first logical element, in bytes. Negative strides go below it.
        shape: the extents, none negative; `()` is a scalar.
        strides: in elements (not bytes), one an extent, of any sign, zero included.
        element: the kind of the elements; a name such as "bf16" is accepted.
        device: where the memory lies.
        readonly: true where nothing may be written.
        buffer: the lowest address of the memory and the one behind its last byte, or None where that is
            not known. Whoever gives it has shape and strides checked against it.
        owner: what keeps the memory alive; it takes no part in comparisons.

    Raises:
        InvalidProblem: shape and strides differ in length, an extent is negative, elements at a null
            pointer or at addresses beyond 64 bits, or a buffer that ends before it begins.
        Unsupported: an element that is not known.
        TypeError: a field of the wrong type.
    """

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element: ElementKind
    device: Device
    readonly: bool = False
    buffer: tuple[int, int] | None = None
    owner: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        assign = object.__setattr__
        assign(self, "pointer", _integer("pointer", self.pointer))
        assign(self, "shape", _integers("shape", self.shape))
        assign(self, "strides", _integers("strides", self.strides))
        try:
            assign(self, "element", ElementKind.parse(self.element))
        except (Unsupported, TypeError) as error:
            raise type(error)(f"TensorRef: {error}") from None
        if not isinstance(self.device, Device):
            raise TypeError(
                f"TensorRef: device is a {type(self.device).__qualname__}, want a baracuda Device"
            )
        if len(self.shape) != len(self.strides):
            raise InvalidProblem(
                f"TensorRef: strides {self.strides} have {len(self.strides)} entries, "
                f"want {len(self.shape)}: one for each extent of shape {self.shape}"
            )
        if any(extent < 0 for extent in self.shape):
            raise InvalidProblem(f"TensorRef: shape {self.shape} has a negative extent, want none below 0")
        if self.pointer < 0 or (self.pointer == 0 and 0 not in self.shape):
            raise InvalidProblem(
                f"TensorRef: pointer is {self.pointer}, want the address of the first element"
            )
        lowest, highest = reach(self.shape, self.strides) or (0, 0)
        item = self.element.itemsize
        if self.pointer + lowest * item < 0 or self.pointer + (highest + 1) * item > _ADDRESSES:
            raise InvalidProblem(
                f"TensorRef: shape {self.shape} and strides {self.strides} reach beyond every address from "
                f"pointer {self.pointer:#x}, want memory that exists"
            )
        if self.buffer is not None:
            bounds = _integers("buffer", self.buffer)
            if len(bounds) != 2 or bounds[0] > bounds[1]:
                raise InvalidProblem(
                    f"TensorRef: buffer is {self.buffer}, want (lowest address, end address)"
                )
            assign(self, "buffer", bounds)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size


def trusted_tensor(
    *,
    pointer: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    element: ElementKind,
    device: Device,
    readonly: bool,
    buffer: tuple[int, int] | None,
    owner: Any,
) -> TensorRef:
    """A `TensorRef` without the checks, for adapters whose source cannot break its rules."""
    tensor = object.__new__(TensorRef)
    # A frozen dataclass assigns its fields one by one through object.__setattr__: this is six times faster.
    fields = tensor.__dict__
    fields["pointer"] = pointer
    fields["shape"] = shape
    fields["strides"] = strides
    fields["element"] = element
    fields["device"] = device
    fields["readonly"] = readonly
    fields["buffer"] = buffer
    fields["owner"] = owner
    return tensor


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of `shape` in C order."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * max(shape[axis], 1)
    return tuple(strides)


class RefusalError(Exception):
    """An adapter's refusal: the error to raise, and its text without the plan and argument in front."""

    def __init__(self, kind: type[Exception], text: str) -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text


#: From an array, and the stream that reads it next as `as_tensor` takes it.
Adapter = Callable[[Any, "int | None"], TensorRef]

# The adapter of each type seen so far: looking a type up is all that a repeated call pays for dispatch.
_adapters: dict[type, Adapter] = {TensorRef: lambda tensor, _stream: tensor}


def as_tensor(obj: object, name: str = "", plan: str = "", stream: int | None = None) -> TensorRef:
    """Read an array as a `TensorRef` over the same memory; nothing is copied.

    NumPy, CuPy and PyTorch arrays are read by their own attributes, other objects by `__dlpack__` or
    `__cuda_array_interface__`; a `TensorRef` is returned as it is. The result keeps `obj` alive.

    Args:
        obj: the array.
        name: the argument's name, for the message of an error.
        plan: the plan's name, for the message of an error.
        stream: the CUDA stream that reads the array next and must wait for what writes it, in DLPack's
            numbering: 1 is the legacy default stream, 2 the per-thread one, -1 says that nothing may wait,
            and everything else is a handle. Only objects with `__dlpack__` or `__cuda_array_interface__` can
            be ordered like that. None: data that comes by `__dlpack__` is ready on the legacy default stream,
            and nothing waits for other data.

    Raises:
        Unsupported: the dtype or the kind of memory is none that a kernel can read.
        MisalignedOperand: a byte stride that is no multiple of the element's size.
        InvalidProblem: what `obj` says of itself makes no sense.
        TypeError: `obj` is no array.
    """
    adapter = _adapters.get(type(obj))
    if adapter is None:
        from baracuda.arrays import adapter_for

        adapter = adapter_for(type(obj))
        _adapters[type(obj)] = adapter
    try:
        return adapter(obj, stream)
    except RefusalError as refused:
        raise refused.kind(f"{argument(name, plan)} {refused.text}") from None


def argument(name: str, plan: str) -> str:
    """How a message begins: "SumPlan: x", "x", or "array" where neither name is known."""
    return f"{plan}: {name or 'array'}" if plan else name or "array"


def _integer(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"TensorRef: {name} is {value!r}, want an int") from None


def _integers(name: str, values: Iterable[Any]) -> tuple[int, ...]:
    try:
        return tuple(operator.index(value) for value in values)
    except TypeError:
        raise TypeError(f"TensorRef: {name} is {values!r}, want a tuple of ints") from None
