"""The special functions to the digits that mpmath is set to, and the terms that some of them are sums of."""

from __future__ import annotations

import functools
from typing import Any

import mpmath as mp
from special_points import COUNT


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
    for _ in range(3):
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


def log_ndtr_slope(x: Any) -> Any:
    if x > 0:
        return mp.npdf(x) / ndtr(x)
    return mp.sqrt(2 / mp.pi) / erfcx(-x / mp.sqrt(2))


def erfcx_slope(x: Any) -> Any:
    if x > 1e6:
        return -(1 - 3 / (2 * x * x)) / (mp.sqrt(mp.pi) * x * x)
    with mp.workdps(60):
        return 2 * x * erfcx(x) - 2 / mp.sqrt(mp.pi)


@functools.lru_cache(COUNT + 10)
def scaled_pair(x: Any) -> tuple[Any, Any]:
    """i0 and i1 times exp(-x), with the digits that their difference loses."""
    with mp.workdps(50):
        return mp.besseli(0, x) * mp.exp(-x), mp.besseli(1, x) * mp.exp(-x)


def scaled_difference(x: Any) -> Any:
    with mp.workdps(50):
        return scaled_pair(x)[0] - scaled_pair(x)[1]


def scaled_i1_over(x: Any) -> Any:
    return scaled_pair(x)[1] / x if x else mp.mpf(0.5)


def i1_slope(x: Any) -> Any:
    return mp.besseli(0, x) - (mp.besseli(1, x) / x if x else mp.mpf(0.5))


def tanhshrink(x: Any) -> Any:
    if abs(x) < 1e-12:
        return x**3 / 3
    with mp.workdps(60):
        return x - mp.tanh(x)


def trigamma(x: Any) -> Any:
    # mpmath's psi takes milliseconds.
    if x <= 0:
        return mp.inf if x == mp.floor(x) else (mp.pi / mp.sinpi(x)) ** 2 - trigamma(1 - x)
    steps = max(0, 15 - int(min(x, 15)))
    y = x + steps
    total = sum((1 / (x + k) ** 2 for k in range(steps)), 1 / y + 1 / (2 * y * y))
    return total + sum(mp.bernoulli(2 * k) / y ** (2 * k + 1) for k in range(1, 14))


def lgamma(x: Any) -> Any:
    return mp.inf if x <= 0 and x == mp.floor(x) else mp.re(mp.loggamma(x))


def lgamma_terms(x: Any) -> Any:
    if x > 0 or x == mp.floor(x):
        return lgamma(x)
    if x > -0.5:
        return abs(lgamma(1 - x)) + abs(mp.log(abs(mp.sinpi(x)) / mp.pi))
    return abs(lgamma(-x)) + abs(mp.log(abs(x * mp.sinpi(x)) / mp.pi))


def digamma_terms(x: Any) -> Any:
    if x > 0 or x == mp.floor(x):
        return mp.digamma(x) if x > 0 else mp.nan
    return abs(mp.digamma(1 - x)) + abs(mp.pi * mp.cot(mp.pi * x))


def digamma(x: Any) -> Any:
    return mp.nan if x <= 0 and x == mp.floor(x) else mp.digamma(x)
