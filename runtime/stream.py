"""Streams: what a plan's work is ordered on."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from baracuda.arrays import library_of, read_interface
from baracuda.cuda_interface import producer_of
from baracuda.errors import InvalidProblem, Unsupported, said_by
from baracuda.ordering import LEGACY, UNORDERED
from baracuda.tensor import HOST, Device, RefusalError, TensorRef, as_tensor, cuda_device

__all__ = ["Stream", "current_handle", "current_stream", "current_stream_of", "handle_on"]


_FIRST_CUDA = cuda_device(0)


@dataclass(frozen=True)
class Stream:
    """A CUDA stream that somebody else owns, or the host, where work runs at once.

    Attributes:
        handle: the `CUstream` as an int; 0 is the legacy default stream, and what the host has.
        device: the device that the stream belongs to.
        owner: what keeps the stream alive; it takes no part in comparisons.

    Raises:
        InvalidProblem: a negative handle, or a handle on the host.
    """

    handle: int = 0
    device: Device = _FIRST_CUDA
    owner: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.handle < 0 or (self.handle and self.device.kind == "host"):
            wanted = "0: the host has no handles" if self.device.kind == "host" else "a CUstream"
            raise InvalidProblem(f"stream handle is {self.handle}, want {wanted}")
        # One object a device, so that a launch need not compare two.
        one = HOST if self.device.kind == "host" else cuda_device(self.device.index)
        object.__setattr__(self, "device", one)

    def __str__(self) -> str:
        return "host" if self.device.kind == "host" else f"{self.handle:#x} on {self.device}"

    @staticmethod
    def host() -> Stream:
        """The stream of the host executor."""
        return _HOST

    @staticmethod
    def of(obj: object, device: Device | None = None) -> Stream:
        """Read a stream of any library.

        Args:
            obj: a `Stream`, a CuPy or PyTorch stream, an object with `__cuda_stream__`, or a raw handle.
            device: the CUDA device of a stream that does not tell its own, such as a raw handle. Where it
                is None, CuPy's current device for a CuPy stream, and `cuda:0` for everything else.

        Raises:
            InvalidProblem: the stream's own device is another than `device`.
            Unsupported: a `__cuda_stream__` of a version that is not known.
            TypeError: `obj` is no stream.
        """
        if isinstance(obj, Stream):
            stream = obj
        else:
            stream = _read(obj, device or _FIRST_CUDA, known=device is not None)
        if device is not None and stream.device != device:
            raise InvalidProblem(f"stream {stream.handle:#x} is on {stream.device}, want one on {device}")
        return stream


_HOST = Stream(0, HOST)


def _read(obj: Any, device: Device, known: bool) -> Stream:
    """Read what is no `Stream`; `device` serves one that tells none, and was asked for where `known`."""
    library = type(obj).__module__.partition(".")[0]
    if library == "cupy" and hasattr(obj, "ptr"):
        # CuPy writes -1 for "the device that is current", which its null stream always has.
        if obj.device_id >= 0:
            device = cuda_device(obj.device_id)
        elif not known:
            device = cuda_device(_current_cupy_device())
        return Stream(obj.ptr, device, obj)
    if library == "torch" and hasattr(obj, "cuda_stream"):
        return Stream(obj.cuda_stream, cuda_device(obj.device.index or 0), obj)
    if hasattr(obj, "__cuda_stream__"):
        return _read_protocol(obj, device)
    if not isinstance(obj, bool):
        try:
            return Stream(operator.index(obj), device)
        except TypeError:
            pass
    cls = type(obj)
    name = cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    raise TypeError(
        f"stream is a {name}, want a baracuda.Stream, a CuPy or PyTorch stream, "
        "an object with __cuda_stream__, or a CUDA stream handle as an int"
    )


def _read_protocol(obj: Any, device: Device) -> Stream:
    # The protocol made this a method; its first users have an attribute.
    answer = obj.__cuda_stream__() if callable(obj.__cuda_stream__) else obj.__cuda_stream__
    version, handle = answer
    if version != 0:
        raise Unsupported(f"stream has __cuda_stream__ version {version}, want 0")
    theirs = getattr(obj, "device", None)
    for attribute in ("device_id", "index", "id"):
        index = getattr(theirs, attribute, None)
        if isinstance(index, int):
            return Stream(int(handle), cuda_device(index), obj)
    return Stream(int(handle), device, obj)


def _current_cupy_device() -> int:
    try:
        return int(sys.modules["cupy"].cuda.runtime.getDevice())
    except (KeyError, AttributeError, RuntimeError):  # No driver: there is no other device to mix it up with.
        return 0


def handle_on(stream: Any, device: Device, plan: str = "") -> int:
    """The handle of a stream of any library on a device; raises what `Stream.of` raises, for a plan."""
    read = _HANDLES.get(type(stream))
    if read is None:
        read = _HANDLES[type(stream)] = _handle_reader(type(stream))
    try:
        handle = read(stream, device.index) if device.kind == "cuda" else None
    except AttributeError:  # No stream, though of a library that has some.
        handle = None
    if handle is not None:
        return handle
    try:
        return Stream.of(stream, device).handle
    except (InvalidProblem, Unsupported, TypeError) as error:
        raise (said_by(plan, error) if plan else error) from None


# By type of stream: its handle where that is quickly told to be on the CUDA device of an index, else None.
_HANDLES: dict[type, Callable[[Any, int], int | None]] = {}


def _handle_reader(cls: type) -> Callable[[Any, int], int | None]:
    library = cls.__module__.partition(".")[0]
    if library == "cupy":
        return lambda stream, index: stream.ptr if stream.device_id in (-1, index) else None
    if library == "torch":
        return lambda stream, index: stream.cuda_stream if stream.device_index == index else None
    return lambda stream, index: None


def current_handle(library: str, device: Device) -> Callable[[], int]:
    """What gives the handle of the calling thread's current stream of "torch" or "cupy" on a device."""
    if device.kind == "host":
        return lambda: 0
    module = sys.modules[library]
    if library == "cupy":
        get = module.cuda.get_current_stream
        return lambda: get(device.index).ptr
    # It saves making a stream object; PyTorch's compiler calls it too.
    raw = getattr(module._C, "_cuda_getCurrentRawStream", None)
    if raw is not None:
        return functools.partial(raw, device.index)
    return lambda: module.cuda.current_stream(device.index).cuda_stream


def current_stream(obj: object) -> Stream:
    """The current stream of the library that the array `obj` belongs to.

    That is `torch.cuda.current_stream(device)` for PyTorch, `cupy.cuda.get_current_stream(device)` for
    CuPy and `Stream.host()` for everything in host memory. An object with `__cuda_array_interface__`
    says its own stream, if it has one. Other arrays in CUDA memory are ordered on the legacy default
    stream of their device, and that is where `as_tensor` asks a DLPack producer to have the data ready.
    A `TensorRef` answers for the array that it was read from.

    Raises:
        TypeError: `obj` is no array.
        Unsupported: an array of a kind that no kernel can read.
    """
    tensor = as_tensor(obj, stream=UNORDERED)
    if tensor.device.kind == "host":
        return _HOST
    array: Any = obj if not isinstance(obj, TensorRef) else tensor.owner
    library = library_of(type(array))
    if library == "torch":
        stream = sys.modules["torch"].cuda.current_stream(array.device)
        return Stream(stream.cuda_stream, tensor.device, stream)
    if library == "cupy":
        stream = sys.modules["cupy"].cuda.get_current_stream(tensor.device.index)
        return Stream(stream.ptr, tensor.device, stream)
    try:
        handle = producer_of(read_interface(array) or {}) or LEGACY
    except RefusalError as refused:  # Of an owner that somebody named: `as_tensor` did not read it.
        raise refused.kind(f"the array's owner {refused.text}") from None
    # The driver knows the legacy default stream as 0 too, and so does everybody's `Stream()`.
    return Stream(0 if handle == LEGACY else handle, tensor.device)


def current_stream_of(*arrays: object) -> Stream:
    """The one current stream that all of `arrays` agree on.

    `None` is skipped, and so is a CUDA `TensorRef` that names no owner: its user orders the work. Arrays
    in host memory only count where no other is there.

    Raises:
        InvalidProblem: two arrays whose libraries' current streams differ, or no array at all.
    """
    chosen: Stream | None = None
    chosen_name = ""
    fallback: Stream | None = None
    for array in arrays:
        if array is None:
            continue
        stream = current_stream(array)
        if stream.device.kind == "host" or (isinstance(array, TensorRef) and array.owner is None):
            fallback = stream if fallback is None or fallback.device.kind == "host" else fallback
            continue
        name = _library_name(array)
        if chosen is None:
            chosen, chosen_name = stream, name
        elif stream != chosen:
            raise InvalidProblem(
                f"the current streams differ: {chosen_name} has {chosen}, {name} has {stream}; "
                "want one: give stream=, or make the same stream current in both libraries"
            )
    chosen = chosen or fallback
    if chosen is None:
        raise InvalidProblem("stream is None and there is no array to take one from, want a stream")
    return chosen


def _library_name(array: object) -> str:
    if isinstance(array, TensorRef):
        array = array.owner
    # What keeps a DLPack capsule alive remembers whose it was.
    return getattr(array, "dlpack_library", None) or library_of(type(array))
