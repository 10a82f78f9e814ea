"""Memory whose bounds a sanitizer knows: an allocation a tensor, which ends with its last element."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

import baracuda as bc

__all__ = ["CudaMemory", "HostMemory", "Memory", "place"]

Shape = tuple[int, ...]


@dataclass
class Placement:
    """Elements before the first, strides, and elements of the allocation."""

    offset: int
    strides: Shape
    length: int


def place(shape: Shape, layout: str, inner: bool = False) -> Placement:
    """Where a tensor of a layout lies in the smallest allocation that holds it.

    With `inner` the innermost axis has stride 1, and the others lie as the layout has them.
    """
    if inner and shape and shape[-1] and 0 not in shape:
        outer, size = place(shape[:-1], layout), shape[-1]
        shift = layout == "misaligned"
        offset = (outer.offset - shift) * size
        strides = (*(stride * size for stride in outer.strides), 1)
        return Placement(offset + shift, strides, (outer.length - shift) * size + shift)
    order = range(len(shape)) if layout == "transposed" else reversed(range(len(shape)))
    strides, step = [0] * len(shape), 2 if layout == "gaps" else 1
    for axis in order:
        strides[axis] = step
        step *= max(shape[axis], 1)
    if layout == "reversed":
        strides = [-stride for stride in strides]
    if layout == "expanded" and shape:
        strides[0] = 0
    if 0 in shape:
        return Placement(0, tuple(strides), 0)
    reach = [stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True)]
    below = -sum(part for part in reach if part < 0)
    offset = below + (layout == "misaligned")
    return Placement(offset, tuple(strides), offset + sum(part for part in reach if part > 0) + 1)


class HostMemory:
    """Allocations that AddressSanitizer watches, where the process runs under it."""

    device = bc.Device("host")

    def allocate(self, nbytes: int, content: Any = None) -> tuple[int, Any]:
        """Address and owner of new memory, which ends where the allocation does."""
        if nbytes == 0:
            return 0, None
        memory = np.empty(nbytes, np.uint8)
        if content is not None:
            memory[:] = content
        return memory.__array_interface__["data"][0], memory

    def workspace(self, nbytes: int) -> bc.Workspace:
        """Scratch memory, aligned as plans want it."""
        return bc.Workspace.host(nbytes)

    def synchronize(self) -> None:
        """Nothing to wait for."""


class CudaMemory:
    """One cudaMalloc an allocation: a pool would hide where one ends."""

    device = bc.Device("cuda", 0)

    def __init__(self) -> None:
        self._cupy = importlib.import_module("cupy")

    def allocate(self, nbytes: int, content: Any = None) -> tuple[int, Any]:
        """Address and owner of new memory."""
        if nbytes == 0:
            return 0, None
        memory = self._cupy.cuda.Memory(nbytes)
        if content is not None:
            address = np.ascontiguousarray(content).__array_interface__["data"][0]
            self._cupy.cuda.runtime.memcpy(memory.ptr, address, nbytes, 1)
        return int(memory.ptr), memory

    def workspace(self, nbytes: int) -> bc.Workspace:
        """Scratch memory of just so many bytes."""
        address, owner = self.allocate(nbytes)
        return bc.Workspace(address, nbytes, self.device, owner)

    def synchronize(self) -> None:
        """Wait for the device, so that an error belongs to the launch before."""
        self._cupy.cuda.runtime.deviceSynchronize()


Memory = HostMemory | CudaMemory
