"""Errors of f32 results in units in the last place, in PyTorch: the rules of the tests, for many values."""

from __future__ import annotations

from typing import Any

__all__ = ["errors", "is_rounded", "units"]

#: Digits of a float64's significand that are stored, and the bias of its exponent.
STORED, BIAS = 52, 1023
#: Of f32: digits of the significand, the exponents of the smallest subnormal and of the first power of two
#: that does not fit, the largest value.
DIGITS, LEAST, MOST = 24, -149, 128
LARGEST = (2 - 2.0**-23) * 2.0**127


def units(torch: Any, size: Any) -> Any:
    """The distance of neighbouring f32 numbers at float64 magnitudes; subnormals count.

    Where the magnitude has no value the unit has no meaning.
    """
    exponent = size.clamp(max=LARGEST).view(torch.int64) >> STORED
    exponent -= BIAS + DIGITS - 1
    return exponent.clamp_(min=LEAST).add_(BIAS).bitwise_left_shift_(STORED).view(torch.float64)


def errors(torch: Any, got: Any, want: Any, scale: Any = None) -> Any:
    """The error of each f32 element in units in the last place of `max(|want|, scale)`, as float64.

    NaN equals NaN, and an infinite `want` must be met exactly. A finite `want` beyond the largest f32 may
    round to infinity: both sides then count as 2^128. Where the terms of the scale are beyond f32 together,
    what is not finite is no error. Any other disagreement is infinite.

    Args:
        torch: PyTorch.
        got: float32.
        want: the right values, float64.
        scale: the magnitude that the bound is a multiple of, where it is more than `|want|`.
    """
    wide, edge = got.double(), 2.0**MOST
    size = want.abs() if scale is None else torch.fmax(want.abs(), scale.abs())
    found = wide.clamp(-edge, edge).sub_(want.clamp(-edge, edge)).abs_().div_(units(torch, size))
    special = wide.isnan() | want.isnan() | want.isinf()
    alike = (wide.isnan() & want.isnan()) | (want.isinf() & (wide == want))
    if scale is not None:
        # Beside an infinite scale every error would be small.
        special |= ~size.isfinite() & (wide != want)
        alike |= (size > LARGEST) & size.isfinite() & ~wide.isfinite()
    return found.masked_fill_(special, float("inf")).masked_fill_(alike, 0)


def is_rounded(got: Any, want: Any) -> Any:
    """Where f32 results are the nearest to float64 values; NaN is that of NaN."""
    near = want.float()
    return (got == near) | (got.isnan() & near.isnan())
