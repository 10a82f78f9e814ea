"""Adapters: how the arrays of each library are read as a `TensorRef`.

Libraries are told apart by the module and name of a type, so none but NumPy is imported here. An adapter
raises `RefusalError`, which `as_tensor` turns into the error that names plan and argument.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem, MisalignedOperand, Unsupported
from baracuda.tensor import (
    HOST,
    Adapter,
    Device,
    RefusalError,
    TensorRef,
    cuda_device,
    trusted_tensor,
)

__all__ = [
    "IMMUTABLE",
    "adapter_for",
    "element_of",
    "element_strides",
    "is_ordered",
    "library_of",
    "read_interface",
    "top_module",
]

# The class that marks an array of a library, by top-level module and name; a subclass counts as one.
_ARRAY_CLASSES = {
    ("numpy", "MaskedArray"): "numpy.ma",
    ("numpy", "ndarray"): "numpy",
    ("cupy", "ndarray"): "cupy",
    ("torch", "Tensor"): "torch",
}

# Libraries whose arrays never change once they are made: inputs only.
IMMUTABLE = ("jax", "jaxlib", "tensorflow")


_libraries: dict[type, str] = {}


def library_of(cls: type) -> str:
    """The library that arrays of type `cls` belong to: "numpy", "cupy", "torch", or its top-level module."""
    library = _libraries.get(cls)
    if library is None:
        library = _libraries[cls] = _array_library(cls) or top_module(cls)
    return library


def adapter_for(cls: type) -> Adapter:
    """The function that reads an object of type `cls`; for what is no array, one that refuses it."""
    if issubclass(cls, TensorRef):
        return lambda tensor, _stream: tensor
    if issubclass(cls, type):
        return _refuse
    library = _array_library(cls)
    return _ADAPTERS[library] if library else _read_foreign


def _array_library(cls: type) -> str | None:
    marks = (_ARRAY_CLASSES.get((top_module(base), base.__name__)) for base in cls.__mro__)
    return next((mark for mark in marks if mark is not None), None)


def is_ordered(obj: object) -> bool:
    """Whether an object can say what its readers wait for, or be asked to make them wait."""
    # Libraries that have a current stream, and NumPy, leave that to their users.
    if isinstance(obj, TensorRef) or _array_library(type(obj)) is not None:
        return False
    return hasattr(obj, "__dlpack__") or hasattr(obj, "__cuda_array_interface__")


def top_module(cls: type) -> str:
    """The top-level module that a type comes from."""
    return cls.__module__.partition(".")[0]


def _refuse(obj: Any, _stream: int | None = None) -> TensorRef:
    cls = type(obj)
    name = cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    raise RefusalError(
        TypeError,
        f"is a {name}, want a NumPy, CuPy or PyTorch array, a baracuda.TensorRef, "
        "or an object with __dlpack__ or __cuda_array_interface__",
    )


def element_of(dtype: Any) -> ElementKind:
    """The element kind of a library's dtype."""
    try:
        return ElementKind.parse(dtype)
    except Unsupported:
        pass
    if isinstance(dtype, np.dtype) and not dtype.isnative and not dtype.names:
        native = dtype.newbyteorder("=")
        raise RefusalError(
            Unsupported,
            f"has dtype {dtype.str} in the other byte order than this machine, "
            f"want {native.name}: convert with .astype({native.name!r})",
        )
    wanted = ", ".join(kind.value for kind in ElementKind)
    raise RefusalError(Unsupported, f"has dtype {dtype}, want one of {wanted}")


@functools.lru_cache(maxsize=4096)
def _element_strides(
    shape: tuple[int, ...], byte_strides: tuple[int, ...], itemsize: int
) -> tuple[int, ...] | None:
    """Byte strides as element strides; None where one that is walked is no multiple of the itemsize."""
    walked = 0 not in shape
    for extent, stride in zip(shape, byte_strides, strict=True):
        if walked and extent > 1 and stride % itemsize:
            return None
    return tuple(stride // itemsize for stride in byte_strides)


def element_strides(
    shape: tuple[int, ...], byte_strides: tuple[int, ...], kind: ElementKind
) -> tuple[int, ...]:
    """Byte strides as element strides."""
    strides = _element_strides(shape, byte_strides, kind.itemsize)
    if strides is None:
        raise RefusalError(
            MisalignedOperand,
            f"has byte strides {byte_strides}, want multiples of {kind.itemsize}: a {kind} element's bytes",
        )
    return strides


# NumPy


def _read_numpy(array: Any, _stream: int | None) -> TensorRef:
    kind = element_of(array.dtype)
    shape = array.shape
    pointer = array.__array_interface__["data"][0]
    return trusted_tensor(
        pointer=pointer,
        shape=shape,
        strides=element_strides(shape, array.strides, kind),
        element=kind,
        device=HOST,
        readonly=not array.flags.writeable,
        buffer=_numpy_bounds(array, pointer),
        owner=array,
    )


def _refuse_masked(_array: Any, _stream: int | None) -> TensorRef:
    raise RefusalError(Unsupported, "is a masked array, want a plain one: hand over .data, or .filled(value)")


def _numpy_bounds(view: Any, pointer: int) -> tuple[int, int] | None:
    """The memory behind a view at `pointer`, from whichever object at the end of its bases owns it."""
    array = view
    while (base := array.base) is not None:
        # as_strided and the like put an object of their own between a view and its array.
        inner = base if isinstance(base, np.ndarray) else getattr(base, "base", None)
        if not isinstance(inner, np.ndarray):
            return _foreign_bounds(base)
        array = inner
    if not array.flags.owndata:
        return None
    lowest = pointer if array is view else array.__array_interface__["data"][0]
    if array.flags.forc:
        return lowest, lowest + array.nbytes
    end = lowest + array.itemsize
    for extent, stride in zip(array.shape, array.strides, strict=True):
        if stride < 0:
            lowest += stride * (extent - 1)
        else:
            end += stride * (extent - 1)
    return lowest, end


def _foreign_bounds(base: Any) -> tuple[int, int] | None:
    """The memory of an object that lent it to a NumPy array: bytes, mmap, a PyTorch tensor."""
    if _array_library(type(base)) == "torch":
        try:
            return _read_torch(base).buffer
        except RefusalError:  # Such as the complex tensor behind a float view.
            return None
    try:
        flat = np.frombuffer(base, np.uint8)
    except (TypeError, ValueError, AttributeError, BufferError):
        return None
    lowest = flat.__array_interface__["data"][0]
    return lowest, lowest + flat.nbytes


# CuPy


def _read_cupy(array: Any, _stream: int | None) -> TensorRef:
    kind = element_of(array.dtype)
    shape = tuple(array.shape)
    data = array.data
    return trusted_tensor(
        pointer=data.ptr,
        shape=shape,
        strides=element_strides(shape, tuple(array.strides), kind),
        element=kind,
        device=cuda_device(data.device_id),
        readonly=False,
        buffer=_cupy_bounds(data.mem),
        owner=array,
    )


def _cupy_bounds(memory: Any) -> tuple[int, int] | None:
    """CuPy's memory, where its size can be trusted.

    For memory that came by DLPack CuPy adds the extents where it should multiply them, and for a strided
    `__cuda_array_interface__` it takes the longest axis: both may be less than what the array reaches.
    """
    kind = type(memory).__name__
    if memory.size <= 0 or kind == "DLPackMemory":
        return None
    if kind == "UnownedMemory":
        interface = read_interface(getattr(memory, "_owner", None))
        if interface is not None and interface.get("strides") is not None:
            return None
    return memory.ptr, memory.ptr + memory.size


# PyTorch


@functools.lru_cache(maxsize=64)
def _torch_device(device: Any) -> Device:
    if device.type == "cpu":
        return HOST
    if device.type == "cuda":
        return cuda_device(device.index or 0)
    raise RefusalError(Unsupported, f"lies on the PyTorch device {device}, want cpu or cuda")


@functools.lru_cache(maxsize=64)
def _is_strided(layout: Any) -> bool:
    return str(layout) == "torch.strided"


# Element kind and device of dense tensors, by dtype, device and layout as PyTorch has them.
_torch_kinds: dict[Any, tuple[ElementKind, Device]] = {}


def _torch_kind(tensor: Any) -> tuple[ElementKind, Device]:
    if not _is_strided(tensor.layout):
        raise RefusalError(Unsupported, f"has layout {tensor.layout}, want a dense (torch.strided) tensor")
    if tensor.is_nested:
        raise RefusalError(Unsupported, "is a nested tensor, want a dense one")
    device = _torch_device(tensor.device)
    kind = element_of(tensor.dtype)
    _torch_kinds[tensor.dtype, tensor.device, tensor.layout] = kind, device
    return kind, device


def _read_torch(tensor: Any, _stream: int | None = None) -> TensorRef:
    found = _torch_kinds.get((tensor.dtype, tensor.device, tensor.layout))
    kind, device = _torch_kind(tensor) if found is None or tensor.is_nested else found
    if tensor.is_neg():  # A conj bit needs no look: it comes with a complex dtype only.
        raise RefusalError(Unsupported, "has its neg bit set, want plain values: call .resolve_neg() first")
    shape = tuple(tensor.shape)
    try:
        pointer = tensor.data_ptr()
        storage = tensor.untyped_storage()
        lowest, nbytes = storage.data_ptr(), storage.nbytes()
    except (RuntimeError, NotImplementedError) as error:
        raise RefusalError(Unsupported, f"has no memory of its own: {error}") from error
    if pointer == 0 and 0 not in shape:
        raise RefusalError(
            Unsupported, f"is a {type(tensor).__qualname__} without memory, want a tensor with data"
        )
    return trusted_tensor(
        pointer=pointer,
        shape=shape,
        strides=tuple(tensor.stride()),
        element=kind,
        device=device,
        readonly=False,
        buffer=(lowest, lowest + nbytes),
        owner=tensor,
    )


# Everything else


def _read_foreign(obj: Any, stream: int | None) -> TensorRef:
    """DLPack first: unlike the CUDA array interface it tells the device, and has a name for bf16."""
    if hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__"):
        from baracuda.dlpack import read_dlpack

        return read_dlpack(obj, top_module(type(obj)) in IMMUTABLE, stream)
    interface = read_interface(obj)
    if interface is not None:
        from baracuda.cuda_interface import read_cuda_interface

        return read_cuda_interface(obj, interface, stream)
    return _refuse(obj)


def read_interface(obj: Any) -> dict[str, Any] | None:
    """The `__cuda_array_interface__` of `obj`, or None where it has none."""
    try:
        interface = getattr(obj, "__cuda_array_interface__", None)
    except Exception as error:
        text = f"has a __cuda_array_interface__ that raises {type(error).__name__}: {error}"
        raise RefusalError(InvalidProblem, text) from error
    if interface is not None and not isinstance(interface, dict):
        text = f"has a __cuda_array_interface__ that is a {type(interface).__qualname__}, want a dict"
        raise RefusalError(InvalidProblem, text)
    return interface


_ADAPTERS: dict[str, Adapter] = {
    "numpy": _read_numpy,
    "numpy.ma": _refuse_masked,
    "cupy": _read_cupy,
    "torch": _read_torch,
}
