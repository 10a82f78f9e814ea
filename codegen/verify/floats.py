"""The element kinds as number formats: NumPy dtypes, and errors in units in the last place.

The widest float holds every integer of 64 bits, so references of integers are exact there, too.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from baracuda.codegen.spec.model import COMPUTE, WHOLE_DTYPES

#: What exact inputs are widened to, and what references are computed in.
WIDE = np.longdouble


@dataclass(frozen=True)
class Format:
    """A binary floating-point format.

    Attributes:
        bits: digits of the significand, the hidden one included.
        least: exponent of the smallest subnormal, a power of two.
        most: exponent of the first power of two beyond the largest finite value.
    """

    bits: int
    least: int
    most: int

    @property
    def largest(self) -> Any:
        """The largest finite value."""
        return np.ldexp(WIDE(2) - np.ldexp(WIDE(2), -self.bits), self.most - 1)


FORMATS = {
    "f16": Format(11, -24, 16),
    "bf16": Format(8, -133, 128),
    "f32": Format(24, -149, 128),
    "f64": Format(53, -1074, 1024),
}


def is_whole(element: str) -> bool:
    """Whether an element kind is one of integers or of truth values."""
    return element in WHOLE_DTYPES


@functools.cache
def numpy_dtype(element: str) -> np.dtype[Any]:
    """The NumPy dtype of an element kind; `ml_dtypes` is imported for bf16."""
    from baracuda.dtypes import ElementKind

    return ElementKind.parse(element).numpy


def rounded(values: Any, element: str) -> Any:
    """Values in the element kind: rounded once to nearest, overflow to infinity; of integers their own."""
    if is_whole(element):
        return np.asarray(values).astype(numpy_dtype(element))
    wide = np.asarray(values)
    if wide.dtype != np.float64:  # whose arithmetic is exact enough here, and several times faster
        wide = wide.astype(WIDE)
    with np.errstate(all="ignore"):
        if FORMATS[element].bits > FORMATS["f16"].bits:
            return wide.astype(numpy_dtype(element))
        # The 16-bit casts of other libraries go by way of a float; the first rounding is made harmless.
        return _round_to_odd(wide).astype(numpy_dtype(element))


def converted(values: Any, element: str) -> Any:
    """Values in the element kind as a cast has them.

    Floats become integers without their fractions, within the range, 0 for NaN; integers keep their last
    bits. As a bool everything is true but 0.
    """
    array = np.asarray(values)
    if element == "bool":
        return array != 0
    if not is_whole(element) or array.dtype.kind != "f":
        return rounded(array, element)
    kind = np.iinfo(numpy_dtype(element))
    whole = np.where(
        np.isnan(array), 0, np.clip(np.trunc(array.astype(WIDE)), WIDE(kind.min), WIDE(kind.max))
    )
    return whole.astype(kind.dtype)


def integer_bits(element: str) -> int:
    """The width of an integer kind, 1 for truth values, 0 for floats."""
    if element == "bool":
        return 1
    return 8 * numpy_dtype(element).itemsize if is_whole(element) else 0


def integer_range(element: str) -> tuple[int, int]:
    """The smallest and the largest number of an integer kind, 0 and 1 for truth values."""
    if element == "bool":
        return 0, 1
    kind = np.iinfo(numpy_dtype(element))
    return int(kind.min), int(kind.max)


def _round_to_odd(wide: Any) -> Any:
    """float32 values that round on to 16 bits as the wide ones do: inexact ones get an odd last bit."""
    near = wide.astype(np.float32)
    away = np.abs(near.astype(wide.dtype)) > np.abs(wide)
    down = np.where(away, np.nextafter(near, np.float32(0)), near)
    inexact = (down.astype(wide.dtype) != wide) & np.isfinite(wide) & np.isfinite(down)
    return (down.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)


def next_after(values: Any, toward: Any, element: str) -> Any:
    """The numbers of the element kind after some of its numbers, toward others."""
    return np.nextafter(rounded(values, element), rounded(toward, element))


def widened(values: Any) -> Any:
    """The same values in the widest dtype; every element kind fits exactly."""
    array = np.asarray(values)
    if array.dtype.kind in "biu":
        return array
    with np.errstate(all="ignore"):
        return (array if array.dtype.kind == "f" else array.astype(np.float32)).astype(WIDE)


def ulp(element: str, values: Any) -> Any:
    """The distance between neighbouring numbers of a kind at the magnitude of `values`; subnormals count."""
    size = np.minimum(np.abs(np.asarray(values, WIDE)), FORMATS[element].largest)
    return _ulp_within(element, np.where(np.isnan(size), 0, size))


def _ulp_within(element: str, size: Any) -> Any:
    """`ulp` of magnitudes that the kind holds; anything of others."""
    kind = FORMATS[element]
    near = size.astype(np.float64)  # whose exponents are found several times faster
    part, exponent = np.frexp(near)
    # A power of two may have been rounded up to.
    exponent = np.where(part == 0.5, np.frexp(size)[1], exponent) if np.any(part == 0.5) else exponent
    exponent = np.where(near > 0, exponent, kind.least)
    return _powers(element)[np.clip(exponent - kind.bits, kind.least, kind.most - kind.bits) - kind.least]


@functools.cache
def _powers(element: str) -> Any:
    """The powers of two that are an ulp of a kind, the smallest first: looking them up is fast."""
    kind = FORMATS[element]
    return np.ldexp(WIDE(1), np.arange(kind.least, kind.most - kind.bits + 1))


def ulp_errors(element: str, got: Any, want: Any, scale: Any = None) -> Any:
    """The error of each element, in units in the last place of `max(|want|, scale)`.

    NaN equals NaN, and an infinite `want` must be met exactly. A finite `want` beyond the largest finite
    value may round to infinity: both sides then count as the first power of two that does not fit. Where the
    terms of the scale together are beyond the kind that is computed in, sums of a part of them may overflow,
    and what is not finite is no error. Any other disagreement is infinite, and so is every one of integers.

    Args:
        element: the element kind of `got`.
        got: what a kernel wrote.
        want: the exact values, of the same shape, in longdouble.
        scale: the magnitude that the bound is a multiple of, where it is more than `|want|`.
    """
    got, want = widened(got), np.asarray(want, WIDE)
    if got.shape != want.shape:
        raise ValueError(f"got shape {got.shape}, want {want.shape}")
    if is_whole(element):
        return np.where(got.astype(WIDE) == want, WIDE(0), WIDE("inf"))
    with np.errstate(all="ignore"):
        size = np.fabs(want)  # without a branch, as `abs` is not
        size = size if scale is None else np.fmax(size, np.fabs(np.asarray(scale, WIDE)))
        plain = (size <= FORMATS[element].largest) & np.isfinite(got) & np.isfinite(want)
        errors = np.asarray(np.fabs(got - want) / _ulp_within(element, size))
    if not np.all(plain):
        alike = (np.isnan(got) & np.isnan(want)) | (np.isinf(want) & (got == want))
        errors[alike] = 0
        rest = ~(plain | alike)
        errors[rest] = _odd_errors(element, got[rest], want[rest], size[rest], scale is not None)
    return errors


def _odd_errors(element: str, got: Any, want: Any, size: Any, scaled: bool) -> Any:
    """What `ulp_errors` says beyond the range, and of what is no number, where the two are not alike."""
    edge = np.ldexp(WIDE(1), FORMATS[element].most)
    with np.errstate(all="ignore"):
        errors = np.abs(np.clip(got, -edge, edge) - np.clip(want, -edge, edge)) / ulp(element, size)
    limit = FORMATS[COMPUTE[element]].largest
    overflows = (size > limit) & np.isfinite(size) & ~np.isfinite(got) & scaled
    special = np.isnan(got) | np.isnan(want) | np.isinf(want)
    # Beside an infinite scale every error would be small.
    special |= ~np.isfinite(size) & (got != want)
    return np.where(overflows, WIDE(0), np.where(special, WIDE("inf"), errors))


def largest_error(element: str, got: Any, want: Any, scale: Any = None) -> float:
    """The largest of `ulp_errors`, 0 where there are no elements."""
    errors = ulp_errors(element, got, want, scale)
    return float(np.max(errors)) if errors.size else 0.0


def bits_of(values: Any) -> Any:
    """The bit patterns of an array, as unsigned integers of its element size, with every NaN made one."""
    array = np.ascontiguousarray(values)
    patterns = array.view(np.dtype(f"u{array.dtype.itemsize}")).copy()
    with np.errstate(all="ignore"):
        nan = np.isnan(array) if array.dtype.kind == "f" else np.isnan(array.astype(np.float32))
    patterns[nan] = np.iinfo(patterns.dtype).max
    return patterns
