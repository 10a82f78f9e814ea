"""From shapes and strides to what a kernel walks: axes dropped, sorted and merged for all operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "INT32_MAX",
    "Walk",
    "broadcast_strides",
    "column_strides",
    "fits_int32",
    "merge",
    "order_by_stride",
]

INT32_MAX = 2**31 - 1


@dataclass(frozen=True)
class Walk:
    """Axes walked together, outermost first; `strides` has a tuple an axis, of a number an operand."""

    extents: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    @property
    def rank(self) -> int:
        """How many axes there are."""
        return len(self.extents)

    def span(self, operand: int) -> int:
        """The largest distance, in elements, between two elements of an operand."""
        axes = zip(self.extents, self.strides, strict=True)
        return sum(abs(strides[operand]) * (extent - 1) for extent, strides in axes)


def broadcast_strides(shape: Sequence[int], strides: Sequence[int], domain: Sequence[int]) -> tuple[int, ...]:
    """Strides with which a tensor of `shape` is read over `domain`: 0 on the axes where it is broadcast."""
    lead = len(domain) - len(shape)
    own = tuple(0 if extent == 1 else stride for extent, stride in zip(shape, strides, strict=True))
    return (0,) * lead + own


def column_strides(
    shape: Sequence[int], strides: Sequence[int], domain: Sequence[int], axes: Sequence[int]
) -> tuple[int, ...]:
    """Strides with which a tensor that has an element a column is read over `domain`: 0 from row to row.

    Its shape is that of `axes`, or one axis with as many elements.
    """
    found = [0] * len(domain)
    if len(shape) == len(axes):
        for axis, stride in zip(axes, broadcast_strides(shape, strides, shape), strict=True):
            found[axis] = stride
        return tuple(found)
    (step,) = strides
    for axis in reversed(axes):
        found[axis] = 0 if domain[axis] == 1 else step
        step *= domain[axis]
    return tuple(found)


def merge(extents: Sequence[int], strides: Sequence[Sequence[int]]) -> Walk:
    """Drops axes of extent 1 and merges neighbours that lie together for every operand.

    Args:
        extents: the axes, outermost first.
        strides: a sequence an operand, each with a stride an axis.

    The linear order of the elements stays as it was.
    """
    merged_extents: list[int] = []
    merged: list[tuple[int, ...]] = []
    for axis, extent in enumerate(extents):
        if extent == 1:
            continue
        steps = tuple(operand[axis] for operand in strides)
        if merged and all(outer == inner * extent for outer, inner in zip(merged[-1], steps, strict=True)):
            merged_extents[-1] *= extent
            merged[-1] = steps
        else:
            merged_extents.append(extent)
            merged.append(steps)
    return Walk(tuple(merged_extents), tuple(merged))


def order_by_stride(extents: Sequence[int], strides: Sequence[Sequence[int]]) -> list[int]:
    """The axes from the largest stride to the smallest, so that threads walk memory in order.

    The last operand decides first.
    """

    def size(axis: int) -> tuple[int, ...]:
        return tuple(-abs(operand[axis]) for operand in reversed(strides))

    return sorted(range(len(extents)), key=size)


def fits_int32(walk: Walk, operands: int) -> bool:
    """Whether every index and every offset fits 32 bits: offsets count, not only the number of elements."""
    count = 1
    for extent in walk.extents:
        count *= extent
    return count <= INT32_MAX and all(walk.span(operand) <= INT32_MAX for operand in range(operands))
