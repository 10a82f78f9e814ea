"""Special functions of the formula language in NumPy: from SciPy, in longdouble from mpmath.

Where a function is not finite or jumps, SciPy's value stands at every width.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .numeric import Array, at_pole, bell_times, by_mpmath, is_wide


def _infinite(xp: Any, x: Array) -> Array:
    return ~xp.isfinite(x)


def _no_erf(xp: Any, x: Array) -> Array:
    return (x == 0) | ~(xp.abs(x) < 1)


def _no_probability(xp: Any, x: Array) -> Array:
    return ~((x > 0) & (x < 1))


@dataclass(frozen=True)
class Special:
    """A function of float64 arrays that is `exact` of mpmath and a number of its in longdouble.

    Attributes:
        ordinary: the function of float64 arrays.
        exact: the function of the module mpmath and a number, to the digits that mpmath is set to.
        edge: where `ordinary` stands at every width.
    """

    ordinary: Callable[[Array], Array]
    exact: Callable[[Any, Any], Any]
    edge: Callable[[Any, Array], Array] = _infinite

    def __call__(self, xp: Any, x: Array) -> Array:
        """The function of an array of any width."""
        import mpmath

        if not is_wide(x):
            return xp.asarray(self.ordinary(x.astype(np.float64))).astype(x.dtype)
        at_edge = self.edge(xp, x)
        inside = by_mpmath(lambda value: self.exact(mpmath, value), xp.where(at_edge, x.dtype.type(0.5), x))
        return xp.where(at_edge, xp.asarray(self.ordinary(x.astype(np.float64))).astype(x.dtype), inside)


def _scipy(name: str) -> Callable[[Array], Array]:
    def call(x: Array) -> Array:
        from scipy import special as functions

        return getattr(functions, name)(x)

    return call


def _erfcx(mp: Any, x: Any) -> Any:
    # The asymptotic series errs by less than exp(-x * x).
    if x * x > 0.7 * mp.mp.prec + 20 and x > 0:
        ratio = 1 / (2 * x * x)
        return _summed(mp, lambda n: (1 - 2 * n) * ratio) / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x) if x > -1e3 else mp.inf


def _summed(mp: Any, ratio: Callable[[int], Any]) -> Any:
    """A series whose first term is 1; `ratio` gives the quotient of term n and the one before it."""
    term = total = mp.mpf(1)
    n = 0
    while abs(term) > mp.eps * abs(total) / 8:
        n += 1
        term *= ratio(n)
        total += term
    return total


def _mills(mp: Any, a: Any) -> Any:
    return _erfcx(mp, a / mp.sqrt(2)) / 2


def _ndtr(mp: Any, x: Any) -> Any:
    # Beyond the bounds the tail is less than any float.
    return mp.erfc(-min(max(x, -400), 400) / mp.sqrt(2)) / 2


def _log_ndtr(mp: Any, x: Any) -> Any:
    if x > 0:
        return mp.log1p(-_ndtr(mp, -x))
    return mp.log(_erfcx(mp, -x / mp.sqrt(2)) / 2) - x * x / 2


def _inverse_erf(mp: Any, x: Any, rest: Any) -> Any:
    """The y of at least 0 with erf(y) = x and erfc(y) = rest, for x from 0 to 1."""
    if x < 1e-3:
        y = x * mp.sqrt(mp.pi) / 2 * (1 + mp.pi * x * x / 12)
    else:
        y = mp.mpf(-statistics.NormalDist().inv_cdf(float(rest) / 2)) / mp.sqrt(2)
    for _ in range(40):
        # Halley's step, behind which the error is the cube of what it was.
        off = (mp.erf(y) - x if x < 0.5 else rest - mp.erfc(y)) * mp.exp(y * y) * mp.sqrt(mp.pi) / 2
        step = off / (1 + y * off)
        y -= step
        if abs(step) <= abs(y) * mp.ldexp(1, -(mp.mp.prec // 3) - 10):
            break
    return y


def _exact_erfinv(mp: Any, x: Any) -> Any:
    return mp.sign(x) * _inverse_erf(mp, abs(x), 1 - abs(x))


def _ndtri(mp: Any, p: Any) -> Any:
    tail = min(p, 1 - p)
    return (1 if p > 0.5 else -1) * mp.sqrt(2) * _inverse_erf(mp, 1 - 2 * tail, 2 * tail)


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
    return np.choose(place, [sine, cosine, -sine, -cosine]), np.choose(place, [cosine, -sine, -cosine, sine])


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


def _tanhshrink(x: Array) -> Array:
    z = x * x
    series = x * z * (1 / 3 - z * (2 / 15 - z * (17 / 315 - z * (62 / 2835 - z * 1382 / 155925))))
    return np.where(np.abs(x) < 0.05, series, x - np.tanh(x))


def _exact_tanhshrink(mp: Any, x: Any) -> Any:
    if abs(x) < 1e-12:
        return x**3 / 3
    with mp.workdps(90):
        return x - mp.tanh(x)


def _exact_gaussian(mp: Any, x: Any) -> Any:
    return mp.exp(-x * x) if abs(x) < 400 else mp.mpf(0)


def _exact_log_ndtr_slope(mp: Any, x: Any) -> Any:
    if x > 0:
        return _exact_density(mp, x) / _ndtr(mp, x)
    return mp.sqrt(2 / mp.pi) / _erfcx(mp, -x / mp.sqrt(2))


def _log_ndtr_slope(x: Array) -> Array:
    tail = np.sqrt(2 / np.pi) / _scipy("erfcx")(-x * np.sqrt(0.5))
    return np.where(x > 0, _density(x) / _scipy("ndtr")(x), tail)


def _erfcx_slope(x: Array) -> Array:
    z = 1 / np.square(np.where(x > 8, x, 8))
    tail = -z * (1 - z * (1.5 - z * (3.75 - z * (13.125 - z * (59.0625 - z * 324.84375))))) / np.sqrt(np.pi)
    return np.where(x > 8, tail, 2 * x * _scipy("erfcx")(x) - 2 / np.sqrt(np.pi))


def _exact_erfcx_slope(mp: Any, x: Any) -> Any:
    if x > 1e6:
        return -(1 - 3 / (2 * x * x)) / (x * x * mp.sqrt(mp.pi))
    with mp.workdps(90):
        return 2 * x * _erfcx(mp, x) - 2 / mp.sqrt(mp.pi)


def _scaled_difference(x: Array) -> Array:
    """(i0 - i1) * exp(-x) of positive x."""
    u = 1 / np.where(x > 60, x, 60)
    series = 1 + u * (
        0.375 + u * (0.3515625 + u * (0.5126953125 + u * (1.009368896484375 + u * 2.498188018798828)))
    )
    near = _scipy("i0e")(x) - _scipy("i1e")(x)
    return np.where(x > 60, series * u * np.sqrt(u / (8 * np.pi)), near)


def _scaled_bessel(mp: Any, order: int, x: Any) -> Any:
    """The modified Bessel function of the first kind, times exp(-|x|)."""
    size = abs(x)
    if size > 0.4 * mp.mp.prec + 8:
        # The asymptotic series errs by about exp(-2 * size).
        series = _summed(mp, lambda n: ((2 * n - 1) ** 2 - 4 * order) / (8 * n * size))
        return (mp.sign(x) if order else 1) * series / mp.sqrt(2 * mp.pi * size)
    return mp.besseli(order, x) * mp.exp(-size)


def _exact_bessel(mp: Any, order: int, x: Any) -> Any:
    return _scaled_bessel(mp, order, x) * mp.exp(abs(x))


def _exact_difference(mp: Any, x: Any) -> Any:
    with mp.workdps(90):
        return _scaled_bessel(mp, 0, x) - _scaled_bessel(mp, 1, x)


def _i1_over(function: str, x: Array) -> Array:
    """i1 or i1e over x."""
    return np.where(x == 0, 0.5, _scipy(function)(x) / x)


def _exact_i1_over(mp: Any, x: Any) -> Any:
    """i1e over x."""
    return _scaled_bessel(mp, 1, x) / x if x else mp.mpf(0.5)


def _i0(x: Array) -> Array:
    return np.where(np.isinf(x), np.inf, _scipy("i0")(x))


def _i1(x: Array) -> Array:
    return np.where(np.isinf(x), x, _scipy("i1")(x))


def _i1_slope(x: Array) -> Array:
    infinite = np.isinf(_i0(x))
    return np.where(infinite, np.inf, _i0(x) - np.where(infinite, 0.0, _i1_over("i1", x)))


def _digamma(x: Array) -> Array:
    return np.where(np.isneginf(x), np.nan, _scipy("psi")(x))


def _trigamma(x: Array) -> Array:
    from scipy import special as functions

    upper = functions.polygamma(1, np.where(x > 0, x, 1 - x))
    sine = _sinpi(x)
    reflected = np.where(x == np.floor(x), np.inf, np.square(np.pi / sine) - upper)
    return np.where(np.isneginf(x), np.nan, np.where(x > 0, upper, reflected))


def _exact_digamma(mp: Any, x: Any) -> Any:
    # mpmath goes down to a negative number step by step.
    return mp.psi(0, 1 - x) - mp.pi * mp.cospi(x) / mp.sinpi(x) if x < 0 else mp.psi(0, x)


def _exact_trigamma(mp: Any, x: Any) -> Any:
    return (mp.pi / mp.sinpi(x)) ** 2 - mp.psi(1, 1 - x) if x < 0 else mp.psi(1, x)


sinpi = Special(_sinpi, lambda mp, x: mp.sinpi(x))
cospi = Special(_cospi, lambda mp, x: mp.cospi(x))
sinc = Special(_sinc, lambda mp, x: mp.sincpi(x))
sinc_slope = Special(_sinc_slope, _exact_sinc_slope)
gaussian = Special(lambda x: np.exp(-x * x), _exact_gaussian)
erfcx = Special(_scipy("erfcx"), _erfcx)
erfcx_slope = Special(_erfcx_slope, _exact_erfcx_slope)
ndtr = Special(_scipy("ndtr"), _ndtr)
mills = Special(lambda a: _scipy("erfcx")(a / np.sqrt(2)) / 2, _mills)
log_ndtr = Special(_scipy("log_ndtr"), _log_ndtr)
log_ndtr_slope = Special(_log_ndtr_slope, _exact_log_ndtr_slope)
erfinv = Special(lambda x: np.where(x == 0, x, _scipy("erfinv")(x)), _exact_erfinv, _no_erf)
ndtri = Special(_scipy("ndtri"), _ndtri, _no_probability)
normal_density = Special(_density, _exact_density)
i0 = Special(_i0, lambda mp, x: _exact_bessel(mp, 0, x))
i1 = Special(_i1, lambda mp, x: _exact_bessel(mp, 1, x))
i0e = Special(_scipy("i0e"), lambda mp, x: _scaled_bessel(mp, 0, x))
i1e = Special(_scipy("i1e"), lambda mp, x: _scaled_bessel(mp, 1, x))
i0e_slope = Special(
    lambda x: -np.sign(x) * _scaled_difference(np.abs(x)),
    lambda mp, x: -mp.sign(x) * _exact_difference(mp, abs(x)),
)
i1_slope = Special(
    _i1_slope, lambda mp, x: (_scaled_bessel(mp, 0, x) - _exact_i1_over(mp, x)) * mp.exp(abs(x))
)
i1e_slope = Special(
    lambda x: _scaled_difference(np.abs(x)) - _i1_over("i1e", np.abs(x)),
    lambda mp, x: _exact_difference(mp, abs(x)) - _exact_i1_over(mp, x),
)
tanhshrink = Special(_tanhshrink, _exact_tanhshrink)
digamma = Special(_digamma, _exact_digamma, at_pole)
trigamma = Special(_trigamma, _exact_trigamma, at_pole)


def log1pexp(xp: Any, x: Array) -> Array:
    """log(1 + exp(x)), without overflow and with a full negative tail."""
    return xp.logaddexp(x.dtype.type(0), x)


def log_sigmoid(xp: Any, x: Array) -> Array:
    """The logarithm of `sigmoid`."""
    return -log1pexp(xp, -x)


def less_tail_moment(xp: Any, x: Array, a: Array) -> Array:
    """Compute x - a * ndtr(-a)."""
    return x - bell_times(xp, a * mills(xp, a), a)


def mills_excess(xp: Any, a: Array) -> Array:
    """ndtr(-a) * exp(a * a / 2) - a / sqrt(2 pi)."""
    return mills(xp, a) - a / np.sqrt(a.dtype.type(2 * np.pi))
