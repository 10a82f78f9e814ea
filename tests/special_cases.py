"""Where each special function is hard, its exact value, and how many last places it may be off."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

INF, NAN = math.inf, math.nan
COUNT = 2000

#: Some of a function's arguments: a random generator, how many, and the float type give an array.
Points = Callable[[Any, int, Any], Any]


def between(low: float, high: float) -> Points:
    return lambda rng, count, kind: rng.uniform(low, high, count)


def sizes(low: float, high: float, sign: int = 0) -> Points:
    """Magnitudes between two powers of ten, of one sign or of both."""

    def some(rng: Any, count: int, kind: Any) -> Any:
        signs = rng.choice([-1, 1], count) if sign == 0 else sign
        return signs * 10.0 ** rng.uniform(low, high, count)

    return some


def tiny(sign: int = 0) -> Points:
    """Subnormal numbers and those a little above."""

    def some(rng: Any, count: int, kind: Any) -> Any:
        signs = rng.choice([-1, 1], count) if sign == 0 else sign
        return signs * float(np.finfo(kind).smallest_subnormal) * np.exp2(rng.uniform(0, 60, count))

    return some


def near(*centers: float, far: float = 1e-2) -> Points:
    """Both sides of some places, from neighbours to `far` away."""

    def some(rng: Any, count: int, kind: Any) -> Any:
        middle = np.resize(np.array(centers, dtype=np.float64), count)
        eps = float(np.finfo(kind).eps)
        least = np.log10(np.maximum(np.abs(middle) * eps, float(np.finfo(kind).tiny)))
        distance = 10.0 ** rng.uniform(least, np.log10(far))
        return middle + rng.choice([-1, 1], count) * distance

    return some


def by_type(f32: Points, f64: Points) -> Points:
    return lambda rng, count, kind: (f32 if kind == np.float32 else f64)(rng, count, kind)


@dataclass(frozen=True)
class Case:
    """A function: its exact value, its arguments, its bound, its special values, what its error is a part of.

    `ulp` bounds the error in last places of the result or, where `scale` is given, of that.
    """

    exact: Callable[[Any], Any]
    points: tuple[Points, ...]
    ulp: float
    special: tuple[list[float], list[float]]
    scale: Callable[[Any], Any] | None = None

    def arguments(self, kind: Any) -> Any:
        rng = np.random.default_rng(17)
        each = -(-COUNT // len(self.points))
        with np.errstate(all="ignore"):
            return np.concatenate([some(rng, each, kind) for some in self.points]).astype(kind)


def erfcx(x: Any) -> Any:
    if x < 1e6:
        return mp.exp(x * x) * mp.erfc(x)
    return (1 - 1 / (2 * x * x)) / (x * mp.sqrt(mp.pi))


def ndtr(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def log_ndtr(x: Any) -> Any:
    return mp.log(erfcx(-x / mp.sqrt(2)) / 2) - x * x / 2 if x < 0 else mp.log1p(-ndtr(-x))


def ndtri(p: Any) -> Any:
    if not 0 < p < 1:
        return {0: -mp.inf, 1: mp.inf}.get(p, mp.nan)
    if p > 1e-3:
        return mp.sqrt(2) * mp.erfinv(2 * p - 1)
    target = mp.log(p)
    x = -mp.sqrt(-2 * target - mp.log(-4 * mp.pi * target))
    for _ in range(4):
        # Halley's steps on the logarithm, whose slope is 1 / ratio.
        ratio = erfcx(-x / mp.sqrt(2)) * mp.sqrt(mp.pi / 2)
        off = (mp.log(ratio / mp.sqrt(2 * mp.pi)) - x * x / 2 - target) * ratio
        x -= off / (1 + off * (x + 1 / ratio) / 2)
    return x


def sinc_slope(x: Any) -> Any:
    if abs(x) < 1e-12:
        return -(mp.pi**2) * x / 3
    with mp.workdps(70):
        return (mp.cospi(x) - mp.sincpi(x)) / x


def sinc_slope_terms(x: Any) -> Any:
    # Up to 1.2 the difference loses nothing that the polynomial does not save.
    return sinc_slope(x) if abs(x) < 1.2 else (abs(mp.cospi(x)) + abs(mp.sincpi(x))) / x


CASES = {
    "log1pexp": Case(
        lambda x: mp.log1p(mp.exp(x)),
        (between(-20, 20), between(-1, 1), between(-104, -86), between(-746, -700), sizes(-9, 30)),
        4,
        ([0.0, INF, -INF, NAN], [math.log(2), INF, 0, NAN]),
    ),
    "log_sigmoid": Case(
        lambda x: -mp.log1p(mp.exp(-x)),
        (between(-20, 20), between(-1, 1), between(86, 104), between(700, 746), sizes(-9, 30)),
        4,
        ([0.0, INF, -INF, NAN], [-math.log(2), -0.0, -INF, NAN]),
    ),
    "erfcx": Case(
        erfcx,
        (between(-2, 10), sizes(-9, 38, 1), sizes(-9, -1), between(-9.4, -1), between(-26.7, -9)),
        4,
        ([0.0, -0.0, INF, -INF, -40.0, NAN], [1, 1, 0, INF, INF, NAN]),
    ),
    "normal_density": Case(
        mp.npdf,
        (between(-8, 8), sizes(-9, 0), between(12.9, 14.6), between(37, 39)),
        2,
        ([0.0, INF, -INF, 1e30, NAN], [1 / math.sqrt(2 * math.pi), 0, 0, 0, NAN]),
    ),
    "ndtr": Case(
        ndtr,
        (between(-8, 8), sizes(-9, 0), between(-14.5, -12.9), between(-38.6, -37)),
        4,
        ([0.0, -0.0, INF, -INF, 20.0, -40.0, NAN], [0.5, 0.5, 1, 0, 1, 0, NAN]),
    ),
    "log_ndtr": Case(
        log_ndtr,
        (between(-8, 8), sizes(-9, 0), sizes(0, 18, -1), between(12.9, 14.5), between(37, 38.6)),
        4,
        ([INF, -INF, -1e30, 40.0, NAN], [-0.0, -INF, None, -0.0, NAN]),
    ),
    "ndtri": Case(
        ndtri,
        (
            between(0, 1),
            between(0.05, 0.2),
            near(0.5, 0.075, 0.925, 0.14644660940672624, 0.8535533905932737),
            by_type(sizes(-45, -1, 1), sizes(-323, -1, 1)),
            near(1),
        ),
        4,
        (
            [0.0, -0.0, 0.5, 1.0, -1e-300, -0.25, 1.5, INF, -INF, NAN],
            [-INF, -INF, 0, INF, None, NAN, NAN, NAN, NAN, NAN],
        ),
    ),
    "sinpi": Case(
        mp.sinpi,
        (between(-2, 2), near(0.25, -0.75, 1, -2, 63, 64.5), sizes(-30, 6), tiny()),
        2,
        (
            [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 2.0**60, -(2.0**60), 1e30, INF, -INF, NAN],
            [0, -0.0, 0, -0.0, 1, -1, 0, -0.0, 0, NAN, NAN, NAN],
        ),
    ),
    "cospi": Case(
        mp.cospi,
        (between(-2, 2), near(0.25, -0.75, 0.5, -1.5, 63, 64.5), sizes(-30, 6)),
        2,
        (
            [0.0, -0.0, 1.0, 0.5, -2.5, 2.0**60, 1e30, INF, -INF, NAN],
            [1, 1, -1, 0, 0, 1, 1, NAN, NAN, NAN],
        ),
    ),
    "sinc": Case(
        mp.sincpi,
        (between(-3, 3), near(0.25, -1, 2, 63), sizes(-30, 6), tiny()),
        4,
        ([0.0, -0.0, 1.0, -2.0, 0.5, INF, NAN], [1, 1, 0, 0, 2 / math.pi, NAN, NAN]),
    ),
    "sinc_slope": Case(
        sinc_slope,
        (between(-1.2, 1.2), near(0.5, -0.5, 1.4302966531242027, 2.459024), sizes(-30, 6), tiny()),
        4,
        ([0.0, -0.0, 1.0, -1.0, NAN], [-0.0, 0, -1, 1, NAN]),
        sinc_slope_terms,
    ),
}
