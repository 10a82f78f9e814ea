"""Shape rules that the spec's expressions call. Shapes are tuples of extents, axes are non-negative."""

from __future__ import annotations

import itertools
import math

__all__ = [
    "at_most_one",
    "broadcast_shapes",
    "broadcasts",
    "divides",
    "doubled",
    "extents",
    "flat",
    "is_even",
    "is_suffix",
    "keepdim",
    "keepdim_reason",
    "numel",
    "reduces_elements",
]


def keepdim(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with the extents of `axes` set to 1."""
    return tuple(1 if axis in axes else extent for axis, extent in enumerate(shape))


def keepdim_reason(shape_name: str, shape: tuple[int, ...], axes_name: str, axes: tuple[int, ...]) -> str:
    """Where a shape comes from that `keepdim` gave."""
    del axes_name
    which = "axis" if len(axes) == 1 else "axes"
    return (
        f"the keepdim form of {shape_name} {shape} with {which} {', '.join(map(str, axes)) or 'none'} reduced"
    )


def extents(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """The extents of `axes`, in the order of the shape."""
    return tuple(extent for axis, extent in enumerate(shape) if axis in axes)


def flat(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int]:
    """The shape of one axis with as many elements as `axes` have together."""
    return (numel(extents(shape, axes)),)


def doubled(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with twice the extent of each of `axes`."""
    return tuple(2 * extent if axis in axes else extent for axis, extent in enumerate(shape))


def at_most_one(axes: tuple[int, ...]) -> bool:
    """Whether there is one axis, or none."""
    return len(axes) <= 1


def is_suffix(shape: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    """Whether `axes` are the last ones of the shape, one at least."""
    rank = len(shape)
    return bool(axes) and axes == tuple(range(rank - len(axes), rank))


def broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether NumPy's rules broadcast `shape` to exactly `target`."""
    return len(shape) <= len(target) and all(
        extent in (1, wanted) for extent, wanted in zip(reversed(shape), reversed(target), strict=False)
    )


def broadcast_shapes(shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Every shape that NumPy's rules broadcast to exactly `shape`, other than itself."""
    found: list[tuple[int, ...]] = [()]
    for rank in range(1, len(shape) + 1):
        extents = [(extent, 1) if extent != 1 else (1,) for extent in shape[len(shape) - rank :]]
        found += itertools.product(*extents)
    return tuple(one for one in found if one != shape)


def reduces_elements(shape: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    """Whether every result of a reduction over `axes` has an element to come from; true without results."""
    return 0 not in (shape[axis] for axis in axes) or 0 in keepdim(shape, axes)


def is_even(extent: int) -> bool:
    """Whether an extent is an even number."""
    return extent % 2 == 0


def divides(part: int, whole: int) -> bool:
    """Whether an extent is a whole number of times in another; 0 is so in 0 alone."""
    return part == whole or (part > 0 and whole % part == 0)


def numel(shape: tuple[int, ...]) -> int:
    """How many elements a tensor of `shape` has."""
    return math.prod(shape)
