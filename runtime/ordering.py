"""The order between those who write an array and the stream that reads it next.

Arrays of PyTorch, CuPy and NumPy, and a `TensorRef`, do not tell which stream writes them: there the caller
orders. `__dlpack__` takes the reader's stream and makes it wait for the writer's; `__cuda_array_interface__`
tells the writer's, and the wait is made here. Streams are in DLPack's numbering throughout.
"""

from __future__ import annotations

from typing import Any

from baracuda.arrays import is_ordered
from baracuda.errors import InvalidProblem
from baracuda.tensor import Device, as_tensor

__all__ = ["LEGACY", "UNORDERED", "Producers", "asked_of_producer", "numbered", "wait_for_producer"]

#: The legacy default stream: 0 may mean another one to a producer, and both protocols forbid it.
LEGACY = 1
#: Nobody reads yet, or nobody may wait.
UNORDERED = -1

# What asks these libraries not to order: JAX takes -1 for a handle, and for None it waits on the host.
_UNORDERED_WORDS = {"jax": None, "jaxlib": None}


def numbered(handle: int, device: Device) -> int:
    """The stream of a run by its driver handle; what lies on the host is read at once."""
    return (handle or LEGACY) if device.kind == "cuda" else UNORDERED


def asked_of_producer(stream: int | None, library: str) -> int | None:
    """What `__dlpack__` of a library is asked for, so that a stream may read what lies in CUDA memory.

    A stream that records a CUDA graph cannot wait for work outside of it: the producer is not asked to order.
    """
    if stream is None:
        return LEGACY
    if stream == UNORDERED or _is_capturing(_handle(stream)):
        return _UNORDERED_WORDS.get(library, UNORDERED)
    return stream


def wait_for_producer(stream: int, producer: int, device: Device) -> None:
    """Make a stream wait for what the producer's stream of the same device was given so far.

    The host does not wait. Of two streams of which one records a CUDA graph neither waits.
    """
    own, other = _handle(stream), _handle(producer)
    if stream == UNORDERED or own == other:
        return
    capturing = _is_capturing(own), _is_capturing(other)
    # The legacy default stream is part of no graph; asked while another stream captures, it says yes.
    if any(capturing) and not (all(capturing) and own and other):
        return
    from baracuda import driver

    driver.wait_for(own, other, device.index)


def _is_capturing(handle: int) -> bool:
    from baracuda import driver

    return driver.is_capturing(handle)


def _handle(stream: int) -> int:
    """The driver's handle of a stream."""
    return 0 if stream == LEGACY else stream


class Producers:
    """Orders a bound plan's launches, like a launch before them; arrays must still lie where they were."""

    params = b""

    def __init__(self, plan: str, device: Device, arrays: dict[str, Any]) -> None:
        """`arrays` are the arguments and the workspace by name; those that nobody orders do not matter."""
        self._plan = plan
        self._device = device
        self._places = [
            (name, array, as_tensor(array, name, plan, UNORDERED).pointer)
            for name, array in arrays.items()
            if device.kind == "cuda" and is_ordered(array)
        ]

    def __bool__(self) -> bool:
        return bool(self._places)

    def __call__(self, stream_handle: int) -> None:
        """Make the stream wait for all of them."""
        for name, array, pointer in self._places:
            now = as_tensor(array, name, self._plan, numbered(stream_handle, self._device)).pointer
            if now != pointer:
                raise InvalidProblem(
                    f"{self._plan}: {name} lies at {now:#x}, want {pointer:#x}, where it was bound"
                )
