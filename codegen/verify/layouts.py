"""The same values in many memory layouts, between guards that show a read or a write out of place."""

from __future__ import annotations

import functools
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
    inner: bool = False,
) -> Placement:
    """Axes laid out in `order`, outermost first, with `pad` elements left out behind each innermost row.

    With `inner`, the last axis lies innermost with stride 1, and the others have what the layout gives all.
    """
    order = list(range(len(shape)) if order is None else order)
    strides = [0] * len(shape)
    last = len(shape) - 1 if inner else -1
    if last >= 0:
        order = [*(axis for axis in order if axis != last), last]
    running = step
    for place, axis in enumerate(reversed(order)):
        if axis == last:
            strides[axis], running = 1, (max(shape[axis], 1) + pad) * step
            continue
        if axis in zero:
            continue
        strides[axis] = -running if axis in negative else running
        running *= max(shape[axis], 1)
        running += pad * step if place == 0 else 0
    if odd_ones:
        strides = [
            (97 + axis) * (-1) ** axis if extent == 1 and axis != last else strides[axis]
            for axis, extent in enumerate(shape)
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


Layout = Callable[..., Placement]

#: Layouts in which every element has an address of its own: inputs and outputs may have them.
LAYOUTS: dict[str, Layout] = {
    "contiguous": lambda shape, inner=False: _place(shape, inner=inner),
    "misaligned": lambda shape, inner=False: _place(shape, start=1, inner=inner),
    "sliced rows": lambda shape, inner=False: _place(shape, pad=3, inner=inner),
    "sliced rows, aligned": lambda shape, inner=False: _place(
        shape, pad=-shape[-1] % 8 + 8 if shape else 0, inner=inner
    ),
    "every second column": lambda shape, inner=False: _place(shape, step=2, inner=inner),
    "every third column of slices": lambda shape, inner=False: _place(
        shape, step=3, pad=2, start=1, inner=inner
    ),
    "transposed": lambda shape, inner=False: _place(shape, _swapped(shape), inner=inner),
    "rotated axes": lambda shape, inner=False: _place(shape, _rotated(shape), pad=1, inner=inner),
    "all axes permuted": lambda shape, inner=False: _place(shape, list(reversed(_all(shape))), inner=inner),
    "reversed": lambda shape, inner=False: _place(shape, negative=_all(shape), inner=inner),
    "reversed rows": lambda shape, inner=False: _place(shape, negative=_all(shape)[:1], pad=1, inner=inner),
    "reversed columns": lambda shape, inner=False: _place(
        shape, negative=_all(shape)[-1:], step=2, inner=inner
    ),
    "odd strides of size-1 axes": lambda shape, inner=False: _place(shape, odd_ones=True, inner=inner),
}

#: Layouts in which elements share an address: for inputs, whose values are then the same along the axes.
EXPANDED: dict[str, Layout] = {
    "first axis expanded": lambda shape, inner=False: _place(shape, zero=_all(shape)[:1], inner=inner),
    "last axis expanded": lambda shape, inner=False: _place(shape, zero=_all(shape)[-1:], pad=1, inner=inner),
    "all axes expanded": lambda shape, inner=False: _place(shape, zero=_all(shape), inner=inner),
}

ANY_LAYOUT = {name: functools.cache(layout) for name, layout in (LAYOUTS | EXPANDED).items()}
