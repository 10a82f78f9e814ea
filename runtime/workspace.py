"""Workspaces: scratch memory that the caller owns and lends to a plan."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from baracuda.checks import byte_span, check_bounds
from baracuda.errors import InvalidProblem, MisalignedOperand, WorkspaceTooSmall
from baracuda.overlap import folds_onto_itself
from baracuda.tensor import Device, as_tensor

__all__ = ["ALIGNMENT", "Workspace"]

# In bytes: what cudaMalloc and every framework's allocator give at least.
ALIGNMENT = 256


@dataclass(frozen=True)
class Workspace:
    """Scratch memory for one run; what it holds before and after means nothing.

    Attributes:
        pointer: the address of the first byte; 0 where there is none.
        nbytes: how many bytes there are.
        device: where they lie; None where there are none.
        owner: what keeps the memory alive; it takes no part in comparisons.
    """

    pointer: int = 0
    nbytes: int = 0
    device: Device | None = None
    owner: Any = field(default=None, compare=False, repr=False)

    @staticmethod
    def none() -> Workspace:
        """No workspace."""
        return _NONE

    @staticmethod
    def borrowed(buffer: object, stream: int | None = None) -> Workspace:
        """The memory of `buffer`, which must not be used for anything else while a plan runs.

        Args:
            buffer: a NumPy, CuPy or PyTorch array or whatever else `as_tensor` reads, of any dtype,
                writable and without gaps; or a tuple (pointer, nbytes, device).
            stream: as for `as_tensor`.

        Raises:
            InvalidProblem: the buffer is read-only or has gaps, or a pointer or size is negative or null.
            BufferTooSmall: a view that reaches outside of the memory behind it.
            TypeError: `buffer` is neither.
        """
        if isinstance(buffer, tuple):
            return _of_pointer(buffer)
        tensor = as_tensor(buffer, "workspace", stream=stream)
        lowest, end = byte_span(tensor)
        if tensor.readonly:
            raise InvalidProblem("workspace is read-only, want a writable buffer")
        is_dense = end - lowest == tensor.size * tensor.element.itemsize
        if not is_dense or folds_onto_itself(tensor.shape, tensor.strides):
            raise InvalidProblem(
                f"workspace has strides {tensor.strides} for shape {tensor.shape}, want a buffer without gaps"
            )
        check_bounds(tensor, "workspace", "")
        return Workspace(lowest, end - lowest, tensor.device, tensor)

    @staticmethod
    def of(obj: object, stream: int | None = None) -> Workspace:
        """A `Workspace` as it is, `None` as `Workspace.none()`, anything else as `borrowed` takes it."""
        if obj is None:
            return _NONE
        return obj if isinstance(obj, Workspace) else Workspace.borrowed(obj, stream)

    @staticmethod
    def host(nbytes: int) -> Workspace:
        """New host memory, aligned as plans want it, which NumPy's own arrays need not be.

        Raises `TypeError` for what is no int, `InvalidProblem` for a negative one.
        """
        given: Any = nbytes
        if isinstance(given, bool) or not hasattr(given, "__index__"):
            raise TypeError(f"Workspace.host: nbytes is a {type(given).__name__}, want an int")
        if nbytes < 0:
            raise InvalidProblem(f"Workspace.host: nbytes is {nbytes}, want at least 0")
        memory = np.empty(nbytes + ALIGNMENT, np.uint8)
        skipped = -memory.__array_interface__["data"][0] % ALIGNMENT
        return Workspace.borrowed(memory[skipped : skipped + nbytes])

    def require(self, needed: int, device: Device, plan: str, instead: str = "") -> None:
        """Check that a plan can use this workspace; nothing is asked of one that needs no bytes.

        Args:
            needed: how many bytes the plan uses.
            device: where the plan runs.
            plan: the plan's name.
            instead: an argument that serves as well; empty: a plan selected with max_workspace=0.

        Raises:
            WorkspaceTooSmall: fewer bytes than needed.
            InvalidProblem: memory of another device.
            MisalignedOperand: a pointer that is no multiple of 256.
        """
        if needed <= 0:
            return
        if self.nbytes < needed:
            raise WorkspaceTooSmall(
                needed,
                self.nbytes,
                f"{plan}: workspace has {self.nbytes} bytes, want {needed}, as workspace_size() says: "
                f"{_way_to(needed, device)}, or {instead or 'select with PlanPreference(max_workspace=0)'}",
            )
        if self.device != device:
            raise InvalidProblem(
                f"{plan}: workspace lies on {self.device}, want {device}, where the plan's stream is"
            )
        if self.pointer % ALIGNMENT:
            raise MisalignedOperand(
                f"{plan}: workspace has pointer {self.pointer:#x}, {self.pointer % ALIGNMENT} bytes past a "
                f"multiple of {ALIGNMENT}; want one, as CUDA allocations and Workspace.host(nbytes) give it"
            )


_NONE = Workspace()


def _way_to(needed: int, device: Device) -> str:
    """What gives a workspace of so many bytes on a device."""
    if device.kind == "host":
        return f"give Workspace.host({needed})"
    return f"give an array of {needed} bytes on {device}, or Workspace.borrowed(...) of one"


def _of_pointer(parts: tuple[Any, ...]) -> Workspace:
    if len(parts) != 3 or not isinstance(parts[2], Device):
        raise TypeError(f"workspace is {parts!r}, want (pointer, nbytes, Device) or a buffer")
    try:
        pointer, nbytes = operator.index(parts[0]), operator.index(parts[1])
    except TypeError:
        raise TypeError(f"workspace is {parts!r}, want (pointer, nbytes, Device) with integers") from None
    if pointer < 0 or nbytes < 0 or (pointer == 0 and nbytes):
        raise InvalidProblem(f"workspace has pointer {pointer} and {nbytes} bytes, want memory that exists")
    return Workspace(pointer, nbytes, parts[2])
