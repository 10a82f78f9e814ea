"""Casts beside exact arithmetic: every value of the kinds of 16 bits and fewer, hard points of the others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from devices import checkout_spec

from baracuda.codegen import verify

CASTS = checkout_spec().ops["cast"]
#: Digits, exponent of the smallest number, exponent beyond the largest.
FLOATS = {"f16": (11, -24, 16), "bf16": (8, -133, 128), "f32": (24, -149, 128), "f64": (53, -1074, 1024)}
RANGES = {
    "i8": (-(2**7), 2**7 - 1),
    "i16": (-(2**15), 2**15 - 1),
    "i32": (-(2**31), 2**31 - 1),
    "i64": (-(2**63), 2**63 - 1),
    "u8": (0, 2**8 - 1),
}
SMALL = ("f16", "bf16", "i8", "i16", "u8", "bool")
LARGE = ("f32", "f64", "i32", "i64")


def nearest(value: Fraction, target: str) -> float:
    """The nearest number of a format, ties to even, as a float64, which holds it."""
    digits, least, most = FLOATS[target]
    size = abs(value)
    if size == 0:
        return 0.0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent += size >= Fraction(2) ** exponent  # of the power of two above
    unit = Fraction(2) ** max(exponent - digits, least)
    count, rest = divmod(size, unit)
    count += rest * 2 > unit or (rest * 2 == unit and count % 2 == 1)
    result = float("inf") if count * unit >= Fraction(2) ** most else float(count * unit)
    return -result if value < 0 else result


def nearest_of_few_digits(x: Any, target: str) -> Any:
    """As `nearest`, of an array of float64 with few digits: their multiples of powers of two are exact."""
    digits, least, most = FLOATS[target]
    unit = np.maximum(np.frexp(x)[1] - digits, least)
    result = np.ldexp(np.rint(np.ldexp(x, -unit)), unit)  # ties to even
    return np.where(np.abs(result) >= 2.0**most if most < 1024 else False, np.copysign(np.inf, x), result)


def exact(value: Any, source: str, target: str) -> Any:
    """What a cast of one number gives: a float64, an integer or a truth value."""
    if source in FLOATS:
        number = float(value)
        if np.isnan(number) or np.isinf(number):
            if target in FLOATS:
                return number
            if target == "bool":
                return True
            return 0 if np.isnan(number) else RANGES[target][number > 0]
        if target in FLOATS:
            return np.copysign(nearest(Fraction(number), target), number)
        if target == "bool":
            return number != 0
        low, high = RANGES[target]
        return min(max(int(number), low), high)
    number = int(value)
    if target in FLOATS:
        return nearest(Fraction(number), target)
    if target == "bool":
        return number != 0
    low, high = RANGES[target]
    return (number - low) % (high - low + 1) + low


def float_points(source: str) -> Any:
    """Halves between numbers of every narrower format, and what lies near to them."""
    points = [np.nan, np.inf, 0.0, 0.5, 1.5, 2.5]
    for digits, least, most in FLOATS.values():
        if FLOATS[source][0] <= digits:
            continue
        for exponent in (-3, 0, 5, most - 1, least + digits - 1, least + digits, least + 2, least):
            # Of the last digit of a number of this exponent.
            unit = 2.0 ** max(exponent - digits + 1, least)
            for count in (2 ** (digits - 1), 2 ** (digits - 1) + 1, 2**digits - 2, 2**digits - 1):
                number = count * unit if exponent > least + digits else (count % 8) * unit
                tiny = (unit / 2**20, unit / 2**12, -unit / 2**20)
                points += [number, *(number + step for step in tiny)]
                points += [number + unit / 2, *(number + unit / 2 + step for step in tiny)]
        points += [2.0**most * (1 - 2.0**-digits), 2.0**most * (1 - 2.0 ** -(digits + 1)), 2.0 ** (most - 1)]
    for low, high in RANGES.values():
        for edge in (low, high, high + 1, low - 1):
            points += [float(edge) + step for step in (-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0)]
    kind = verify.numpy_dtype(source)
    with np.errstate(over="ignore"):
        values = np.array(points).astype(kind)
    ends = np.array([np.inf, -np.inf], kind)
    near = [np.nextafter(values, end) for end in ends]
    info = np.finfo(kind)
    extremes = np.array([info.smallest_subnormal, info.tiny, info.max, info.max / 2], kind)
    found = np.concatenate([values, *near, extremes])
    return np.concatenate([found, -found])


def integer_points(source: str) -> Any:
    """Powers of two, what lies beside them, and halves between floats of every format with more behind."""
    low, high = RANGES[source]
    points = {low, low + 1, high, high - 1, 65519, 65520, 65521, 65504, 65505}
    for digits, _, _ in FLOATS.values():
        for shift in range(64 - digits):
            for count in (2 ** (digits - 1), 2 ** (digits - 1) + 1, 2**digits - 1):
                half = (2 * count + 1) << shift
                points |= {half + rest for rest in (-1, 0, 1)} | {(half >> 1) + 1}
    points |= {2**power + step for power in range(64) for step in (-1, 0, 1)}
    signed = points | {-point for point in points}
    return np.array(sorted(point for point in signed if low <= point <= high), verify.numpy_dtype(source))


def values_of(source: str) -> Any:
    if source in SMALL:
        return verify.all_patterns(source)
    return float_points(source) if source in FLOATS else integer_points(source)


def check(backend: Any, source: str, target: str, x: Any) -> None:
    problem = verify.Problem(CASTS, "forward", source, {"shape": x.shape, "target": target})
    got = verify.run(backend, problem, {"x": x})["y"]
    assert got.dtype == verify.numpy_dtype(target)
    few = source in SMALL and target in FLOATS
    with np.errstate(invalid="ignore"):  # of NaN that signal
        want = nearest_of_few_digits(x.astype(np.float64), target) if few else None
    if want is None:
        want = [exact(value, source, target) for value in x.tolist()]
    if target in FLOATS:
        with np.errstate(invalid="ignore"):  # of NaN that signal
            wide = got.astype(np.float64)
        right = np.array(want, np.float64)
        alike = (wide == right) & (np.signbit(wide) == np.signbit(right)) | np.isnan(wide) & np.isnan(right)
    else:
        # A bool is a byte of 1 or 0.
        alike = (got.view(np.uint8) if target == "bool" else got) == np.array(want, got.dtype)
    wrong = np.flatnonzero(~alike)
    assert wrong.size == 0, [(x[at], got[at], want[at]) for at in wrong[:5]]


@pytest.mark.parametrize("target", CASTS.dtypes)
@pytest.mark.parametrize("source", SMALL)
def test_every_value(backend: Any, source: str, target: str) -> None:
    check(backend, source, target, values_of(source))


@pytest.mark.parametrize("target", CASTS.dtypes)
@pytest.mark.parametrize("source", LARGE)
def test_hard_points(backend: Any, source: str, target: str) -> None:
    x = values_of(source)
    assert x.size > 500
    check(backend, source, target, x)


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", SMALL)
def test_both_ways_to_the_nearest_agree(source: str, target: str) -> None:
    with np.errstate(invalid="ignore"):  # of NaN that signal
        x = values_of(source)[::61].astype(np.float64)
    x = x[np.isfinite(x)]
    want = [np.copysign(nearest(Fraction(value), target), value) for value in x.tolist()]
    np.testing.assert_array_equal(nearest_of_few_digits(x, target), want)


def test_the_kinds_are_all_there() -> None:
    assert {*SMALL, *LARGE} == {*CASTS.dtypes} == {*FLOATS, *RANGES, "bool"}


TRAPS = [("f64", "f32", "f16"), ("f64", "f32", "bf16"), ("i64", "f64", "f32"), ("i64", "f64", "bf16")]


@pytest.mark.parametrize(("source", "between", "target"), [*TRAPS, ("i32", "f32", "bf16")])
def test_the_points_hold_traps_of_two_roundings(source: str, between: str, target: str) -> None:
    """By way of another float some points round otherwise: else they would show nothing."""
    numbers = [value for value in values_of(source).tolist() if np.isfinite(value)]
    first = [nearest(Fraction(number), between) for number in numbers]
    twice = [nearest(Fraction(number), target) if np.isfinite(number) else number for number in first]
    assert [nearest(Fraction(number), target) for number in numbers] != twice
