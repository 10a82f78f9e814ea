"""The functions of the formula language in NumPy, with the same special values as `baracuda/math.cuh`.

Every function takes the array module first and arrays of one dtype (float32, float64, longdouble or int64).
Functions that NumPy lacks come from SciPy, in longdouble from mpmath; both are imported only when used.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Array = Any
Implementation = Callable[..., Array]


def plain(name: str) -> Implementation:
    """NumPy's function of that name."""

    def call(xp: Any, *args: Array) -> Array:
        return getattr(xp, name)(*args)

    return call


_ROUGH = contextvars.ContextVar("rough", default=False)


@contextlib.contextmanager
def roughly() -> Iterator[None]:
    """Meanwhile `special` has a double's digits of any dtype, many times faster: enough for a magnitude."""
    token = _ROUGH.set(True)
    try:
        yield
    finally:
        _ROUGH.reset(token)


def special(scipy_name: str, mpmath_name: str) -> Implementation:
    """A function of one argument from scipy.special, from mpmath where the dtype is wider than a double."""

    def call(xp: Any, x: Array) -> Array:
        if is_wide(x) and not _ROUGH.get():
            return by_mpmath(mpmath_name, x)
        from scipy import special as functions

        narrow = x.astype(np.float64) if is_wide(x) else x
        return getattr(functions, scipy_name)(narrow).astype(x.dtype)

    return call


def is_wide(x: Array) -> bool:
    """Whether an array holds more digits than a double."""
    return bool(x.dtype.kind == "f" and x.dtype.itemsize > 8)


def to_mpmath(value: Any) -> Any:
    """A longdouble as a number of mpmath, exactly; call it with at least 64 bits of precision."""
    import mpmath

    if not np.isfinite(value):
        return mpmath.mpf(float(value))
    part, power = np.frexp(np.longdouble(value))
    high = float(part)
    return mpmath.ldexp(mpmath.mpf(high) + mpmath.mpf(float(part - np.longdouble(high))), int(power))


def to_wide(value: Any) -> Any:
    """A number of mpmath as a longdouble; NaN for one that is not real."""
    import mpmath

    if isinstance(value, mpmath.mpc):
        return np.longdouble("nan")
    if not mpmath.isfinite(value):
        return np.longdouble(float(value))
    part, power = mpmath.frexp(value)
    high = float(part)
    wide = np.longdouble(high) + np.longdouble(float(part - mpmath.mpf(high)))
    # Beyond the bounds every number is zero or infinite.
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(wide, int(min(max(power, -20_000), 20_000)))


def by_mpmath(name: str | Callable[[Any], Any], x: Array) -> Array:
    """A function of mpmath, or one of its numbers, for each of an array of longdoubles."""
    import mpmath

    function = getattr(mpmath, name) if isinstance(name, str) else name

    def one(value: Any) -> Any:
        if np.isnan(value):
            return value
        with mpmath.workprec(160):
            try:
                result = function(to_mpmath(value))
            except ValueError:
                return np.longdouble("nan")  # a pole
            if isinstance(result, mpmath.mpc):
                result = result.real if name == "loggamma" else mpmath.nan
            return to_wide(result)

    # Tests ask for the same few numbers in every combination; the sign of a zero makes two of one.
    known: dict[Any, Any] = {}
    flat = []
    for value in np.asarray(x).ravel():
        key = (value, bool(np.signbit(value)))
        if key not in known:
            known[key] = one(value)
        flat.append(known[key])
    return np.array(flat, dtype=x.dtype).reshape(np.shape(x))


def _larger(xp: Any, a: Array, b: Array) -> Array:
    """The larger of two numbers, +0 above -0; says nothing about NaN."""
    return xp.where((a > b) | ((a == b) & ~_negative(xp, a)), a, b)


def _smaller(xp: Any, a: Array, b: Array) -> Array:
    return xp.where((a < b) | ((a == b) & _negative(xp, a)), a, b)


def _negative(xp: Any, x: Array) -> Array:
    return xp.signbit(x) if x.dtype.kind == "f" else x < 0


def maximum(xp: Any, first: Array, *rest: Array) -> Array:
    """The largest; NaN if any is NaN."""
    for item in rest:
        first = xp.where(xp.isnan(first), first, xp.where(xp.isnan(item), item, _larger(xp, first, item)))
    return first


def minimum(xp: Any, first: Array, *rest: Array) -> Array:
    """The smallest; NaN if any is NaN."""
    for item in rest:
        first = xp.where(xp.isnan(first), first, xp.where(xp.isnan(item), item, _smaller(xp, first, item)))
    return first


def fmax(xp: Any, first: Array, *rest: Array) -> Array:
    """The largest of those that are not NaN."""
    for item in rest:
        first = xp.where(xp.isnan(first), item, xp.where(xp.isnan(item), first, _larger(xp, first, item)))
    return first


def fmin(xp: Any, first: Array, *rest: Array) -> Array:
    """The smallest of those that are not NaN."""
    for item in rest:
        first = xp.where(xp.isnan(first), item, xp.where(xp.isnan(item), first, _smaller(xp, first, item)))
    return first


def clamp(xp: Any, x: Array, low: Array, high: Array) -> Array:
    """min(max(x, low), high)."""
    return minimum(xp, maximum(xp, x, low), high)


def rsqrt(xp: Any, x: Array) -> Array:
    """1 / sqrt(x), two roundings."""
    return x.dtype.type(1) / xp.sqrt(x)


def reciprocal(xp: Any, x: Array) -> Array:
    """1 / x."""
    return x.dtype.type(1) / x


def exp10(xp: Any, x: Array) -> Array:
    """10**x."""
    return xp.power(x.dtype.type(10), x)


def sigmoid(xp: Any, x: Array) -> Array:
    """1 / (1 + exp(-x)), without overflow and with a full negative tail."""
    one = x.dtype.type(1)
    z = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, one, z) / (one + z)


def scaled(power_name: str) -> Implementation:
    """A number times a power, in factors that are normal numbers; infinities and zeros stay so."""

    def call(xp: Any, x: Array, y: Array) -> Array:
        power, info = getattr(xp, power_name), xp.finfo(y.dtype)
        most = y.dtype.type({4: 80, 8: 700}.get(y.dtype.itemsize, 11000))
        first = xp.clip(y, -most, most)
        second = xp.clip(y - first, -most, most)
        rest = xp.where(xp.isinf(y), y, xp.clip(y - first - second, -most, most))
        last = xp.maximum(power(rest), info.smallest_subnormal)
        return x * power(first) * power(second) * last

    return call


def scaled_product(xp: Any, x: Array, y: Array, z: Array) -> Array:
    """Multiply with the factors' exponents apart."""
    parts = mantissa(xp, x) * mantissa(xp, y) * mantissa(xp, z)
    return ldexp(xp, parts, exponent(xp, x) + exponent(xp, y) + exponent(xp, z))


def scaled_exp_product(xp: Any, x: Array, y: Array, power: Array, low: Array | float = 0) -> Array:
    """Compute x * y * e**(power + low) with the factors' exponents apart."""
    parts = scaled("exp")(xp, mantissa(xp, x) * mantissa(xp, y), power + low)
    return ldexp(xp, parts, exponent(xp, x) + exponent(xp, y))


def product_at_scale(xp: Any, x: Array, y: Array, scale: Array, z: Array, last: Array) -> Array:
    """Multiply with the exponents apart of all but z."""
    parts = mantissa(xp, x) * mantissa(xp, y) * z
    powers = exponent(xp, scale) - 1 + exponent(xp, last) - 1
    return ldexp(xp, parts, exponent(xp, x) + exponent(xp, y) + powers)


def pow_slope(xp: Any, x: Array, y: Array, power: Array) -> Array:
    """Compute x**(y - 1), also where y - 1 rounds to another parity, and NaN where power is."""
    size = xp.power(xp.abs(x), y - 1)
    is_positive = (y != xp.trunc(y)) | (xp.signbit(power) == xp.signbit(x))
    return xp.where(xp.isnan(power), power, xp.where(is_positive, size, -size))


def scaled_ratio(xp: Any, x: Array, y: Array, z: Array) -> Array:
    """Compute x * y / z**2 with the exponents apart."""
    parts = mantissa(xp, x) * mantissa(xp, y) / mantissa(xp, z) / mantissa(xp, z)
    return ldexp(xp, parts, exponent(xp, x) + exponent(xp, y) - 2 * exponent(xp, z))


def over_square(xp: Any, x: Array, y: Array, a: Array, b: Array) -> Array:
    """Compute x * y / (a**2 + b**2), 0 at the origin, with the exponents apart."""
    longer = xp.maximum(xp.abs(a), xp.abs(b))
    scale = ldexp(xp, xp.ones_like(longer), -exponent(xp, longer))
    square = (a * scale) ** 2 + (b * scale) ** 2
    inverse = xp.where(xp.isinf(square), 0, 1 / xp.where(square == 0, 1, square))
    return xp.where(longer == 0, 0, product_at_scale(xp, x, y, scale, inverse, scale))


def exp_product(xp: Any, x: Array, y: Array, power: Array, low: Array | float = 0) -> Array:
    """Compute x * y * e**(power + low), in factors that are normal numbers."""
    return exp_times(xp, x, power, low) * y


def exp_sum(xp: Any, power: Array, low: Array | float = 0) -> Array:
    """Compute e**(power + low)."""
    return xp.exp(power + low)


def exp_times(xp: Any, x: Array, power: Array, low: Array | float = 0) -> Array:
    """Compute x * e**(power + low), in factors that are normal numbers."""
    return scaled("exp")(xp, x, power + low)


def exp2_times(xp: Any, x: Array, power: Array, low: Array | float = 0) -> Array:
    """Compute x * 2**(power + low), in factors that are normal numbers."""
    return scaled("exp2")(xp, x, power + low)


def decay(xp: Any, a: Array, b: Array, _: Array) -> Array:
    """Compute e**(-a * b)."""
    return xp.exp(-a * b)


def lifted_decay(xp: Any, x: Array, a: Array, b: Array, _: Array) -> Array:
    """Compute 2**60 * x * e**(-a * b)."""
    return exp_times(xp, x * a.dtype.type(2.0**60), -a * b)


def bell_times(xp: Any, x: Array, a: Array) -> Array:
    """Compute x * e**(-a * a / 2), in factors that are normal numbers."""
    return exp_times(xp, x, a * a / -2)


def bell_product(xp: Any, x: Array, y: Array, a: Array) -> Array:
    """Compute x * y * e**(-a * a / 2), in factors that are normal numbers."""
    return bell_times(xp, x, a) * y


def quotient(_: Any, x: Array, y: Array) -> Array:
    """Divide."""
    return x / y


def log1p_ratio(xp: Any, z: Array) -> Array:
    """log(1 + z) / z, 1 at 0."""
    return xp.where(z == 0, 1, xp.log1p(z) / xp.where(z == 0, 1, z))


def log_odds(xp: Any, x: Array) -> Array:
    """log(x / (1 - x)), accurate around 1/2."""
    rest = 1 - x
    near = xp.where(abs(x - 0.5) < 0.25, (x - rest) / xp.where(rest == 0, 1, rest), 0)
    return xp.where(near == 0, xp.log(x / rest), xp.log1p(near))


def remainder(xp: Any, a: Array, b: Array) -> Array:
    """Python's %: the sign of b; an integer modulo 0 is 0."""
    if a.dtype.kind == "i":
        safe = xp.where((b == 0) | (b == -1), 1, b)
        return xp.where((b == 0) | (b == -1), 0, xp.remainder(a, safe))
    return xp.remainder(a, b)


def floor_divide(xp: Any, a: Array, b: Array) -> Array:
    """Python's //; an integer divided by 0 is 0."""
    if a.dtype.kind == "i":
        safe = xp.where((b == 0) | (b == -1), 1, b)
        return xp.where(b == 0, 0, xp.where(b == -1, -a, xp.floor_divide(a, safe)))
    return xp.floor_divide(a, b)


def lgamma(xp: Any, x: Array) -> Array:
    """log(|gamma(x)|), +inf at both infinities and at the poles."""
    ordinary = special("gammaln", "loggamma")(xp, xp.where(at_pole(xp, x), x.dtype.type(1), x))
    return xp.where(at_pole(xp, x), x.dtype.type(np.inf), ordinary)


def at_pole(xp: Any, x: Array) -> Array:
    """Whether x is zero, a negative integer or an infinity."""
    return xp.isinf(x) | ((x <= 0) & (x == xp.floor(x)))


def tgamma(xp: Any, x: Array) -> Array:
    """gamma(x); NaN at the negative integers, an infinity of the sign of x at zero."""
    pole = at_pole(xp, x)
    ordinary = special("gamma", "gamma")(xp, xp.where(pole, x.dtype.type(1), x))
    value_at_pole = xp.where(x == 0, x.dtype.type(1) / x, xp.where(x > 0, x, x.dtype.type(np.nan)))
    return xp.where(pole, value_at_pole, ordinary)


def mantissa(xp: Any, x: Array) -> Array:
    """The m of x = m * 2**exponent(x) with 0.5 <= |m| < 1; zeros, infinities and NaN as they are."""
    return xp.where(xp.isfinite(x), xp.frexp(x)[0], x)


def exponent(xp: Any, x: Array) -> Array:
    """The exponent that goes with `mantissa`, int64; 0 for zeros, infinities and NaN."""
    return xp.where(xp.isfinite(x), xp.frexp(x)[1], 0).astype(np.int64)


def integer(xp: Any, x: Array) -> Array:
    """The nearest integer, int64, ties to even; 0 for NaN, and at most 2**62 in magnitude."""
    limit = x.dtype.type(2.0**62)
    return xp.rint(xp.where(xp.isnan(x), x.dtype.type(0), xp.clip(x, -limit, limit))).astype(np.int64)


def normal_scale(xp: Any, x: Array) -> Array:
    """The power of two that makes a normal x its mantissa."""
    return ldexp(xp, xp.ones_like(x), -exponent(xp, x))


def ldexp(xp: Any, x: Array, exponent: Array) -> Array:
    """Return x * 2**exponent, rounded once."""
    # Beyond this every finite number is infinite or zero, and the exponent fits an int.
    limit = 2 * (int(np.finfo(x.dtype).maxexp) - int(np.finfo(x.dtype).minexp))
    return xp.ldexp(x, xp.clip(exponent, -limit, limit).astype(np.int32))


def _bits(xp: Any, x: Array) -> Array:
    """The bits of integers, the highest first, on a last axis."""
    width = 8 * x.dtype.itemsize
    places = xp.arange(width - 1, -1, -1).astype(x.dtype)
    return (x[..., None] >> places) & x.dtype.type(1)


def popcount(xp: Any, x: Array) -> Array:
    """How many bits are set."""
    return xp.sum(_bits(xp, x), axis=-1).astype(x.dtype)


def leading_zeros(xp: Any, x: Array) -> Array:
    """Zeros above the highest bit that is set; the width where none is."""
    return xp.sum(xp.cumsum(_bits(xp, x), axis=-1) == 0, axis=-1).astype(x.dtype)


def trailing_zeros(xp: Any, x: Array) -> Array:
    """Zeros below the lowest bit that is set; the width where none is."""
    return xp.sum(xp.cumsum(_bits(xp, x)[..., ::-1], axis=-1) == 0, axis=-1).astype(x.dtype)


def fma(xp: Any, a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c with one rounding; in longdouble with two, which is closer than either in float64."""
    if is_wide(a):
        return a * b + c
    a, b, c = np.broadcast_arrays(a, b, c)
    if a.dtype == np.float32:
        return _fma32(a, b, c)
    values = [_fma64(float(p), float(q), float(r)) for p, q, r in zip(a.flat, b.flat, c.flat, strict=True)]
    return np.array(values, dtype=np.float64).reshape(a.shape)


def distance(xp: Any, x: Array, y: Array) -> Array:
    """Return abs(x - y) in float64, or in longdouble where the arguments are."""
    kind = np.result_type(x.dtype, np.float64)
    return xp.abs(x.astype(kind) - y.astype(kind))


def _fma32(a: Array, b: Array, c: Array) -> Array:
    # The product is exact in float64. The sum is rounded to odd there, so that float32 rounds it right.
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    total = product + addend
    part = total - product
    error = (product - (total - part)) + (addend - part)
    bits = np.ascontiguousarray(total).view(np.int64).reshape(total.shape)
    inexact = np.isfinite(total) & (error != 0) & (bits % 2 == 0)
    odd = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
    return np.where(inexact, odd, total).astype(np.float32)


def _fma64(a: float, b: float, c: float) -> float:
    from fractions import Fraction

    if not (math.isfinite(a) and math.isfinite(b)):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        # Opposite terms give +0; zeros add up as IEEE 754 says.
        product = math.copysign(0.0, math.copysign(1.0, a) * math.copysign(1.0, b))
        return product + c if a == 0 or b == 0 else 0.0
    try:
        value = exact.numerator / exact.denominator
    except OverflowError:
        value = math.inf
    return math.copysign(value, 1.0 if exact > 0 else -1.0)
