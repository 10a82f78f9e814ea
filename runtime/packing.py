"""Kernel parameters as bytes: the C layout of the parameter structs in `include/baracuda`."""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence

from baracuda.layout import Walk

__all__ = ["MAX_RANK", "axes_format", "axes_values", "divisor"]

MAX_RANK = 8


def divisor(number: int) -> tuple[int, int, int]:
    """`Divisor<i32>`: number, multiplier, shift (Granlund and Montgomery), exact for dividends below 2^31."""
    number = max(number, 1)  # an axis without elements is never divided by
    shift = (number - 1).bit_length()
    return number, ((1 << 32) * ((1 << shift) - number)) // number + 1, shift


@functools.cache
def axes_format(wide: bool, operands: int, few: bool = False) -> str:
    """`struct` format of `Axes<Offset, OPERANDS>`, aligned at both ends; `few`: with an Index of 32 bits."""
    if wide and few:
        return f"0q i {3 * MAX_RANK}I 0q {MAX_RANK * operands}q"
    if wide:
        return f"0q i 0q {MAX_RANK}q {MAX_RANK * operands}q"
    return f"i {3 * MAX_RANK}I {MAX_RANK * operands}i"


def axes_values(walk: Walk, wide: bool, operands: int, few: bool = False) -> list[int]:
    """The values of `Axes<Offset, OPERANDS>` for a walk; `few` as in `axes_format`."""
    spare = MAX_RANK - walk.rank
    values = [walk.rank]
    for extent in (*walk.extents, *(1,) * spare):
        values.extend((extent,) if wide and not few else divisor(extent))
    for steps in walk.strides:
        values.extend(steps)
    values.extend([0] * (spare * operands))
    return values


@functools.cache
def compiled(layout: str) -> struct.Struct:
    """A native-layout `struct.Struct`, padded to a multiple of 8 bytes."""
    return struct.Struct(f"@ {layout} 0q")


def pack_scalars(layout: str, values: Sequence[float | bool | int]) -> bytes:
    """Scalars in C layout: 'f', 'd', '?' or 'q' each."""
    return compiled(layout).pack(*values) if layout else b""
