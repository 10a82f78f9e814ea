"""Where each special function is hard, its exact value, and how many last places it may be off."""

from __future__ import annotations

import math

import mpmath as mp
import special_exact as exact
from special_points import Case, between, by_type, near, sizes, tiny

INF, NAN = math.inf, math.nan

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
    "erfc": Case(
        mp.erfc,
        (between(-6, 10), sizes(-9, 0), near(1, -1), between(8.9, 10.2), between(26, 27.3)),
        3,
        ([0.0, -0.0, INF, -INF, 40.0, -40.0, NAN], [1, 1, 0, 2, 0, 2, NAN]),
    ),
    "erfcx": Case(
        exact.erfcx,
        (between(-2, 10), sizes(-9, 38, 1), sizes(-9, -1), between(-9.4, -1), between(-26.7, -9)),
        3,
        ([0.0, -0.0, INF, -INF, -40.0, NAN], [1, 1, 0, INF, INF, NAN]),
    ),
    "normal_density": Case(
        mp.npdf,
        (between(-8, 8), sizes(-9, 0), between(12.9, 14.6), between(37, 39)),
        2,
        ([0.0, INF, -INF, 1e30, NAN], [1 / math.sqrt(2 * math.pi), 0, 0, 0, NAN]),
    ),
    "ndtr": Case(
        exact.ndtr,
        (between(-8, 8), sizes(-9, 0), near(0.75, -0.75), between(-14.5, -12.9), between(-38.6, -37)),
        3,
        ([0.0, -0.0, INF, -INF, 20.0, -40.0, NAN], [0.5, 0.5, 1, 0, 1, 0, NAN]),
    ),
    "log_ndtr": Case(
        exact.log_ndtr,
        (between(-8, 8), sizes(-9, 0), sizes(0, 18, -1), between(12.9, 14.5), between(37, 38.6)),
        4,
        ([INF, -INF, -1e30, 40.0, NAN], [-0.0, -INF, None, -0.0, NAN]),
    ),
    "ndtri": Case(
        exact.ndtri,
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
        exact.sinc_slope,
        (between(-1.2, 1.2), near(0.5, -0.5, 1.4302966531242027, 2.459024), sizes(-30, 6), tiny()),
        4,
        ([0.0, -0.0, 1.0, -1.0, NAN], [-0.0, 0, -1, 1, NAN]),
        exact.sinc_slope_terms,
    ),
    "tanhshrink": Case(
        exact.tanhshrink,
        (between(-4, 4), near(1.5, -1.5), sizes(-12, 2), by_type(sizes(-15, -12), sizes(-107, -102))),
        4,
        ([0.0, -0.0, INF, -INF, NAN], [0, -0.0, INF, -INF, NAN]),
    ),
    "gaussian": Case(
        lambda x: mp.exp(-x * x),
        (between(-4, 4), sizes(-9, 0), between(9.3, 10.3), between(26.5, 27.4)),
        2,
        ([0.0, INF, -INF, 1e30, NAN], [1, 0, 0, 0, NAN]),
    ),
    "log_ndtr_slope": Case(
        exact.log_ndtr_slope,
        (between(-8, 8), sizes(-9, 0), sizes(0, 30, -1), between(12.9, 14.6), between(37, 39)),
        4,
        ([INF, -INF, 1e30, NAN], [0, INF, 0, NAN]),
    ),
    "erfcx_slope": Case(
        exact.erfcx_slope,
        (between(-2, 10), sizes(-9, 18, 1), sizes(-9, -1), between(-9, -1), between(-26.5, -9)),
        4,
        ([0.0, -0.0, INF, -INF, NAN], [-2 / math.sqrt(math.pi), -2 / math.sqrt(math.pi), -0.0, -INF, NAN]),
    ),
    "i0": Case(
        lambda x: mp.besseli(0, x),
        (
            between(-5, 5),
            between(0, 20),
            near(3.5, 9),
            by_type(between(80, 91.9), between(600, 713.9)),
            sizes(-9, 1),
        ),
        4,
        ([0.0, -0.0, 92.0 * 8, -1e30, INF, -INF, NAN], [1, 1, INF, INF, INF, INF, NAN]),
    ),
    "i0e": Case(
        lambda x: exact.scaled_pair(abs(x))[0],
        (between(-5, 5), between(0, 20), near(3.5, 9), sizes(-9, 8)),
        4,
        ([0.0, -0.0, INF, -INF, NAN], [1, 1, 0, 0, NAN]),
    ),
    "i0e_slope": Case(
        lambda x: -mp.sign(x) * exact.scaled_difference(abs(x)),
        (between(-5, 5), between(0, 20), near(3.5, 9), sizes(-9, 8)),
        4,
        ([INF, -INF, NAN], [-0.0, 0, NAN]),
    ),
    "i1": Case(
        lambda x: mp.besseli(1, x),
        (
            between(-5, 5),
            between(0, 20),
            near(3.5, 9),
            by_type(between(80, 91.9), between(600, 713.9)),
            sizes(-9, 1),
            tiny(),
        ),
        4,
        ([0.0, -0.0, 92.0 * 8, -1e30, INF, -INF, NAN], [0, -0.0, INF, -INF, INF, -INF, NAN]),
    ),
    "i1_slope": Case(
        exact.i1_slope,
        (
            between(-5, 5),
            between(0, 20),
            near(3.5, 9),
            by_type(between(80, 91.9), between(600, 713.9)),
            sizes(-9, 1),
        ),
        4,
        ([0.0, -0.0, 92.0 * 8, INF, -INF, NAN], [0.5, 0.5, INF, INF, INF, NAN]),
    ),
    "i1e": Case(
        lambda x: mp.sign(x) * exact.scaled_pair(abs(x))[1],
        (between(-5, 5), between(0, 20), near(3.5, 9), sizes(-9, 8), tiny()),
        4,
        ([0.0, -0.0, INF, -INF, NAN], [0, -0.0, 0, -0.0, NAN]),
    ),
    "i1e_slope": Case(
        lambda x: exact.scaled_difference(abs(x)) - exact.scaled_i1_over(abs(x)),
        (between(-5, 5), between(0, 20), near(1.545, 3.5, 9), sizes(-9, 8)),
        4,
        ([0.0, -0.0, NAN], [0.5, 0.5, NAN]),
        lambda x: exact.scaled_difference(abs(x)) + exact.scaled_i1_over(abs(x)),
    ),
    "lgamma": Case(
        exact.lgamma,
        (
            between(0, 12),
            near(0.5, 1, 2, 4, 8),
            by_type(sizes(-44, 36, 1), sizes(-320, 300, 1)),
            between(-6, 0),
            near(-1, -2.457024738220801, -2.7476826467274127, -3.955294284858598, -20),
            by_type(sizes(-44, 5, -1), sizes(-320, 5, -1)),
        ),
        4,
        ([1.0, 2.0, 0.0, -0.0, -1.0, -1e30, INF, -INF, NAN], [0, 0, INF, INF, INF, INF, INF, INF, NAN]),
        exact.lgamma_terms,
    ),
    "digamma": Case(
        exact.digamma,
        (
            between(0, 5),
            near(1, 1.4616321449683622, 2),
            sizes(-30, 20, 1),
            between(-6, 0),
            near(-1, -2, -0.504, -1.573, -20),
            sizes(0, 5, -1),
        ),
        4,
        ([0.0, -0.0, -1.0, -1e30, INF, -INF, NAN], [-INF, INF, NAN, NAN, INF, NAN, NAN]),
        exact.digamma_terms,
    ),
    "trigamma": Case(
        exact.trigamma,
        (
            between(0, 5),
            near(1, 2),
            sizes(-18, 18, 1),
            between(-6, 0),
            near(-1, -2, -0.75, -20),
            sizes(0, 5, -1),
        ),
        4,
        ([0.0, -0.0, -1.0, -1e30, INF, -INF, NAN], [INF, INF, INF, INF, 0, NAN, NAN]),
    ),
}
