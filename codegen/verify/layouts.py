"""The same values in many memory layouts, between guards that show a read or a write out of place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Shape = tuple[int, ...]

#: Elements before and behind a tensor: a multiple of 16 bytes for every element kind.
GUARD = 32


@dataclass(frozen=True)
class Placement:
    """Where a tensor lies in a buffer, in elements.

    Attributes:
        length: of the buffer, guards included.
        offset: of the first logical element.
        strides: one an axis, of any sign.
    """

    length: int
    offset: int
    strides: Shape


def _place(
    shape: Shape,
    order: Sequence[int] | None = None,
    *,
    step: int = 1,
    pad: int = 0,
    start: int = 0,
    negative: Sequence[int] = (),
    zero: Sequence[int] = (),
    odd_ones: bool = False,
) -> Placement:
    """Axes laid out in `order`, outermost first, with `pad` elements left out behind each innermost row."""
    order = range(len(shape)) if order is None else order
    strides = [0] * len(shape)
    running = step
    for place, axis in enumerate(reversed(order)):
        if axis in zero:
            continue
        strides[axis] = -running if axis in negative else running
        running *= max(shape[axis], 1)
        running += pad * step if place == 0 else 0
    if odd_ones:
        strides = [
            (97 + axis) * (-1) ** axis if extent == 1 else strides[axis] for axis, extent in enumerate(shape)
        ]
    reach = [
        stride * (extent - 1) if extent > 1 else 0 for stride, extent in zip(strides, shape, strict=True)
    ]
    below = -sum(part for part in reach if part < 0)
    above = sum(part for part in reach if part > 0)
    return Placement(GUARD + start + below + above + 1 + GUARD, GUARD + start + below, tuple(strides))


def _all(shape: Shape) -> range:
    return range(len(shape))


def _swapped(shape: Shape) -> list[int]:
    order = list(range(len(shape)))
    return [*order[:-2], *reversed(order[-2:])]


def _rotated(shape: Shape) -> list[int]:
    order = list(range(len(shape)))
    return order[1:] + order[:1]


Layout = Callable[[Shape], Placement]

#: Layouts in which every element has an address of its own: inputs and outputs may have them.
LAYOUTS: dict[str, Layout] = {
    "contiguous": _place,
    "misaligned": lambda shape: _place(shape, start=1),
    "sliced rows": lambda shape: _place(shape, pad=3),
    "sliced rows, aligned": lambda shape: _place(shape, pad=-shape[-1] % 8 + 8 if shape else 0),
    "every second column": lambda shape: _place(shape, step=2),
    "every third column of slices": lambda shape: _place(shape, step=3, pad=2, start=1),
    "transposed": lambda shape: _place(shape, _swapped(shape)),
    "rotated axes": lambda shape: _place(shape, _rotated(shape), pad=1),
    "all axes permuted": lambda shape: _place(shape, list(reversed(_all(shape)))),
    "reversed": lambda shape: _place(shape, negative=_all(shape)),
    "reversed rows": lambda shape: _place(shape, negative=_all(shape)[:1], pad=1),
    "reversed columns": lambda shape: _place(shape, negative=_all(shape)[-1:], step=2),
    "odd strides of size-1 axes": lambda shape: _place(shape, odd_ones=True),
}

#: Layouts in which elements share an address: for inputs, whose values are then the same along the axes.
EXPANDED: dict[str, Layout] = {
    "first axis expanded": lambda shape: _place(shape, zero=_all(shape)[:1]),
    "last axis expanded": lambda shape: _place(shape, zero=_all(shape)[-1:], pad=1),
    "all axes expanded": lambda shape: _place(shape, zero=_all(shape)),
}

ANY_LAYOUT = LAYOUTS | EXPANDED
