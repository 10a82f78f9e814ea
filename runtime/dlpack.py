"""Read any object that speaks DLPack as a `TensorRef`, without its library."""

from __future__ import annotations

import ctypes
import operator
import weakref
from typing import Any

from baracuda.arrays import top_module
from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem, Unsupported
from baracuda.ordering import asked_of_producer
from baracuda.tensor import (
    HOST,
    Device,
    RefusalError,
    TensorRef,
    contiguous_strides,
    cuda_device,
    trusted_tensor,
)

__all__ = ["read_dlpack"]


class _DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


# The deleter runs without the GIL, as the protocol has it: a producer that needs the GIL takes it itself.
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [("dl_tensor", _DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", _Deleter)]


class _ManagedVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", _DLTensor),
    ]


_MAJOR = 1
_FLAG_READ_ONLY = 1

# (type code, bits) as in dlpack.h.
_KINDS = {
    (0, 8): ElementKind.I8, (0, 16): ElementKind.I16, (0, 32): ElementKind.I32, (0, 64): ElementKind.I64,
    (1, 8): ElementKind.U8, (1, 16): ElementKind.U16, (1, 32): ElementKind.U32, (1, 64): ElementKind.U64,
    (2, 16): ElementKind.F16, (2, 32): ElementKind.F32, (2, 64): ElementKind.F64,
    (4, 16): ElementKind.BF16,
    (6, 8): ElementKind.BOOL,
}  # fmt: skip
_CODE_NAMES = {0: "int", 1: "uint", 2: "float", 3: "opaque", 4: "bfloat", 5: "complex", 6: "bool"}

# The host itself, and memory that CUDA pinned for it.
_HOST_TYPES = (1, 3)
# CUDA memory, and memory that CUDA moves between device and host.
_CUDA_TYPES = (2, 13)

# PyCapsule_SetName keeps the pointer, so the bytes must live as long as the process.
_PLAIN, _USED_PLAIN = b"dltensor", b"used_dltensor"
_VERSIONED, _USED_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned"

_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_int
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.argtypes, _get_pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
_set_name = ctypes.pythonapi.PyCapsule_SetName
_set_name.argtypes, _set_name.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_int


class _Owner:
    """Keeps a managed tensor alive; its deleter is called once, when nobody needs it any more."""

    dlpack_library = ""

    def __init__(self, address: int, deleter: Any) -> None:
        if deleter:
            # At exit the process frees everything, and the producer's library may be gone already.
            weakref.finalize(self, deleter, address).atexit = False


def read_dlpack(obj: Any, readonly: bool, stream: int | None) -> TensorRef:
    """Read `obj` through `__dlpack_device__` and `__dlpack__`.

    Args:
        obj: the object; it has both methods.
        readonly: true where the library's arrays must not be written, whatever the capsule says.
        stream: what reads it next, in DLPack's numbering; the producer makes it wait. None: the legacy
            default stream, which is also what `current_stream` answers for such an object.
    """
    device = _device(obj)
    library = top_module(type(obj))
    # In host memory there is no stream to speak of, and the protocol wants none.
    asked = {"stream": asked_of_producer(stream, library)} if device.kind == "cuda" else {}
    tensor, flags, owner = _consume(_capsule(obj, asked))
    owner.dlpack_library = library
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[axis] for axis in range(tensor.ndim))
    else:
        strides = contiguous_strides(shape)
    return trusted_tensor(
        pointer=(tensor.data or 0) + tensor.byte_offset,
        shape=shape,
        strides=strides,
        element=_element(tensor.dtype),
        device=device,
        readonly=readonly or bool(flags & _FLAG_READ_ONLY),
        buffer=None,
        owner=owner,
    )


def _device(obj: Any) -> Device:
    """Where `obj` lies, by its `__dlpack_device__`."""
    try:
        device_type, device_id = answer = tuple(operator.index(part) for part in obj.__dlpack_device__())
    except Exception as error:
        text = f"has a __dlpack_device__ that gives no device: {type(error).__name__}: {error}"
        raise RefusalError(InvalidProblem, text) from error
    if device_id < 0:
        raise RefusalError(
            InvalidProblem, f"has a __dlpack_device__ that gives {answer}, want no index below 0"
        )
    if device_type in _HOST_TYPES:
        return HOST
    if device_type in _CUDA_TYPES:
        return cuda_device(device_id)
    raise RefusalError(Unsupported, f"lies on DLPack device type {device_type}, want host or CUDA memory")


def _capsule(obj: Any, asked: dict[str, Any]) -> Any:
    try:
        try:
            return obj.__dlpack__(max_version=(_MAJOR, 0), **asked)
        except TypeError:  # A producer from before DLPack 1.0 does not know max_version.
            return obj.__dlpack__(**asked)
    except (BufferError, RuntimeError, ValueError, AssertionError) as error:
        raise RefusalError(Unsupported, f"cannot be exported by DLPack: {error}") from error
    except Exception as error:
        text = f"has a __dlpack__ that raises {type(error).__name__}: {error}"
        raise RefusalError(InvalidProblem, text) from error


def _consume(capsule: Any) -> tuple[Any, int, _Owner]:
    """The tensor in `capsule`, its flags, and its owner. The capsule is marked as used."""
    if _is_valid(capsule, _VERSIONED):
        address = _get_pointer(capsule, _VERSIONED)
        versioned = _ManagedVersioned.from_address(address)
        # Unread, a capsule stays its producer's to free; only the version may be looked at before.
        if versioned.major != _MAJOR:
            text = f"speaks DLPack {versioned.major}.{versioned.minor}, want version {_MAJOR}"
            raise RefusalError(Unsupported, text)
        _set_name(capsule, _USED_VERSIONED)
        return versioned.dl_tensor, versioned.flags, _Owner(address, versioned.deleter)
    if _is_valid(capsule, _PLAIN):
        address = _get_pointer(capsule, _PLAIN)
        managed = _Managed.from_address(address)
        _set_name(capsule, _USED_PLAIN)
        return managed.dl_tensor, 0, _Owner(address, managed.deleter)
    raise RefusalError(TypeError, f"has a __dlpack__ that gives {capsule!r}, want a fresh DLPack capsule")


def _element(dtype: Any) -> ElementKind:
    kind = _KINDS.get((dtype.code, dtype.bits)) if dtype.lanes == 1 else None
    if kind is None:
        name = f"{_CODE_NAMES.get(dtype.code, f'type code {dtype.code} with bits ')}{dtype.bits}"
        lanes = f" in {dtype.lanes} lanes" if dtype.lanes != 1 else ""
        wanted = ", ".join(known.value for known in ElementKind)
        raise RefusalError(Unsupported, f"has dtype {name}{lanes}, want one of {wanted}")
    return kind
