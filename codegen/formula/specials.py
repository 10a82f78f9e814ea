"""Special functions of the formula language in NumPy: from SciPy, in longdouble from mpmath.

Where a function is not finite or jumps, SciPy's value stands at every width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .numeric import Array, Implementation, by_mpmath, is_wide


def _infinite(xp: Any, x: Array) -> Array:
    return ~xp.isfinite(x)


def _no_probability(xp: Any, x: Array) -> Array:
    return ~((x > 0) & (x < 1))


def _of(
    ordinary: Callable[[Array], Array],
    exact: Callable[[Any, Any], Any],
    edge: Callable[[Any, Array], Array] = _infinite,
) -> Implementation:
    """A function of float64 arrays that is `exact` of mpmath and a number of its in longdouble."""

    def call(xp: Any, x: Array) -> Array:
        import mpmath

        if not is_wide(x):
            return xp.asarray(ordinary(x.astype(np.float64))).astype(x.dtype)
        at_edge = edge(xp, x)
        inside = by_mpmath(lambda value: exact(mpmath, value), xp.where(at_edge, x.dtype.type(0.5), x))
        return xp.where(at_edge, xp.asarray(ordinary(x.astype(np.float64))).astype(x.dtype), inside)

    return call


def _scipy(name: str) -> Callable[[Array], Array]:
    def call(x: Array) -> Array:
        from scipy import special as functions

        return getattr(functions, name)(x)

    return call


def _erfcx(mp: Any, x: Any) -> Any:
    if x < 1e6:
        return mp.exp(x * x) * mp.erfc(x) if x > -1e3 else mp.inf
    return (1 - (1 - 3 / (2 * x * x)) / (2 * x * x)) / (x * mp.sqrt(mp.pi))


def _ndtr(mp: Any, x: Any) -> Any:
    # Beyond the bounds the tail is less than any float.
    return mp.erfc(-min(max(x, -400), 400) / mp.sqrt(2)) / 2


def _log_ndtr(mp: Any, x: Any) -> Any:
    if x > 0:
        return mp.log1p(-_ndtr(mp, -x))
    return mp.log(_erfcx(mp, -x / mp.sqrt(2)) / 2) - x * x / 2


def _ndtri(mp: Any, p: Any) -> Any:
    if p > 0.01:
        return mp.sqrt(2) * mp.erfinv(2 * p - 1)
    target = mp.log(p)
    x = -mp.sqrt(-2 * target - mp.log(-4 * mp.pi * target))
    for _ in range(40):
        step = (_log_ndtr(mp, x) - target) * _erfcx(mp, -x / mp.sqrt(2)) * mp.sqrt(mp.pi / 2)
        x -= step
        if abs(step) < abs(x) * mp.eps * 16:
            break
    return x


def _density(x: Array) -> Array:
    return np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)


def _exact_density(mp: Any, x: Any) -> Any:
    return mp.npdf(x) if abs(x) < 400 else mp.mpf(0)


def _half_turns(x: Array) -> tuple[Array, Array]:
    """Sine and cosine of pi * x."""
    turn = np.fmod(x, 2)
    quarters = np.rint(2 * turn)
    angle = np.pi * (turn - quarters / 2)
    place = np.where(np.isfinite(x), quarters, 0).astype(np.int64) % 4
    sine, cosine = np.sin(angle), np.cos(angle)
    sines, cosines = np.array([sine, cosine, -sine, -cosine]), np.array([cosine, -sine, -cosine, sine])
    index = np.arange(x.size).reshape(x.shape)
    pick = (place, *np.unravel_index(index, x.shape)) if x.shape else (place,)
    return sines[pick], cosines[pick]


def _sinpi(x: Array) -> Array:
    sine = _half_turns(x)[0]
    return np.where(sine == 0, np.copysign(0.0, x), sine)


def _cospi(x: Array) -> Array:
    return _half_turns(x)[1] + 0.0


def _sinc(x: Array) -> Array:
    return np.where(np.abs(x) < 1e-9, 1.0, _sinpi(x) / (np.pi * x))


def _sinc_slope(x: Array) -> Array:
    z = (np.pi * x) ** 2
    series = -(np.pi**2) * x / 3 * (1 - z / 10 * (1 - z / 28 * (1 - z / 54 * (1 - z / 88 * (1 - z / 130)))))
    return np.where(np.abs(x) < 0.2, series, (_cospi(x) - _sinc(x)) / x)


def _exact_sinc_slope(mp: Any, x: Any) -> Any:
    if abs(x) < 1e-12:
        return -(mp.pi**2) * x / 3
    with mp.workdps(90):
        return (mp.cospi(x) - mp.sincpi(x)) / x


sinpi = _of(_sinpi, lambda mp, x: mp.sinpi(x))
cospi = _of(_cospi, lambda mp, x: mp.cospi(x))
sinc = _of(_sinc, lambda mp, x: mp.sincpi(x))
sinc_slope = _of(_sinc_slope, _exact_sinc_slope)
erfcx = _of(_scipy("erfcx"), _erfcx)
ndtr = _of(_scipy("ndtr"), _ndtr)
log_ndtr = _of(_scipy("log_ndtr"), _log_ndtr)
ndtri = _of(_scipy("ndtri"), _ndtri, _no_probability)
normal_density = _of(_density, _exact_density)


def log1pexp(xp: Any, x: Array) -> Array:
    """log(1 + exp(x)), without overflow and with a full negative tail."""
    return xp.logaddexp(x.dtype.type(0), x)


def log_sigmoid(xp: Any, x: Array) -> Array:
    """The logarithm of `sigmoid`."""
    return -log1pexp(xp, -x)
