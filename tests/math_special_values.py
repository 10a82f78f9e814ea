"""What the functions of `baracuda/math.cuh` give for special values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


INF, NAN = math.inf, math.nan
SPECIAL = [
    ("exp", [0.0, -0.0, INF, -INF, NAN], [1, 1, INF, 0, NAN]),
    ("exp2", [0.0, 3.0, INF, -INF, NAN], [1, 8, INF, 0, NAN]),
    ("exp10", [0.0, 2.0, INF, -INF, NAN], [1, 100, INF, 0, NAN]),
    ("expm1", [0.0, -0.0, INF, -INF, NAN], [0, -0.0, INF, -1, NAN]),
    ("log", [1.0, 0.0, -0.0, -1.0, INF, -INF, NAN], [0, -INF, -INF, NAN, INF, NAN, NAN]),
    ("log2", [1.0, 8.0, 0.0, -1.0, INF], [0, 3, -INF, NAN, INF]),
    ("log10", [1.0, 1000.0, 0.0, -1.0, INF], [0, 3, -INF, NAN, INF]),
    ("log1p", [0.0, -0.0, -1.0, -2.0, INF], [0, -0.0, -INF, NAN, INF]),
    ("sqrt", [0.0, -0.0, 4.0, -1.0, INF, -INF], [0, -0.0, 2, NAN, INF, NAN]),
    ("rsqrt", [0.0, -0.0, 4.0, -1.0, INF, NAN], [INF, -INF, 0.5, NAN, 0, NAN]),
    ("cbrt", [0.0, -0.0, -8.0, INF, -INF], [0, -0.0, -2, INF, -INF]),
    ("reciprocal", [0.0, -0.0, INF, -INF, NAN], [INF, -INF, 0, -0.0, NAN]),
    ("square", [-0.0, -3.0, -INF, NAN], [0, 9, INF, NAN]),
    ("sin", [0.0, -0.0, INF, NAN], [0, -0.0, NAN, NAN]),
    ("cos", [0.0, -0.0, -INF, NAN], [1, 1, NAN, NAN]),
    ("tan", [0.0, -0.0, INF], [0, -0.0, NAN]),
    ("asin", [0.0, -0.0, 1.5, -INF], [0, -0.0, NAN, NAN]),
    ("acos", [1.0, -1.5, INF], [0, NAN, NAN]),
    ("atan", [-0.0, INF, -INF], [-0.0, math.pi / 2, -math.pi / 2]),
    ("sinh", [-0.0, INF, -INF], [-0.0, INF, -INF]),
    ("cosh", [-0.0, INF, -INF], [1, INF, INF]),
    ("tanh", [-0.0, INF, -INF, NAN], [-0.0, 1, -1, NAN]),
    ("asinh", [-0.0, INF, -INF], [-0.0, INF, -INF]),
    ("acosh", [1.0, 0.5, INF, -INF], [0, NAN, INF, NAN]),
    ("atanh", [-0.0, 1.0, -1.0, 2.0], [-0.0, INF, -INF, NAN]),
    ("erf", [-0.0, INF, -INF, NAN], [-0.0, 1, -1, NAN]),
    ("erfinv", [0.0, -0.0, 1.0, -1.0, 1.5, -INF, NAN], [0, -0.0, INF, -INF, NAN, NAN, NAN]),
    ("tgamma", [1.0, 5.0, 0.0, -0.0, -1.0, INF, -INF, NAN], [1, 24, INF, -INF, NAN, INF, NAN, NAN]),
    ("sigmoid", [0.0, -0.0, INF, -INF, NAN], [0.5, 0.5, 1, 0, NAN]),
    ("abs", [-0.0, 0.0, -3.5, -INF, NAN], [0, 0, 3.5, INF, NAN]),
    ("sign", [0.0, -0.0, 3.5, -1e-40, INF, -INF, NAN], [0, 0, 1, -1, 1, -1, NAN]),
    ("floor", [-0.0, 0.5, -0.5, 2.0, -2.5, INF, NAN], [-0.0, 0, -1, 2, -3, INF, NAN]),
    ("ceil", [-0.0, 0.5, -0.5, 2.0, -2.5, -INF, NAN], [-0.0, 1, -0.0, 2, -2, -INF, NAN]),
    ("trunc", [-0.0, 0.5, -0.5, 2.5, -2.5, -INF, NAN], [-0.0, 0, -0.0, 2, -2, -INF, NAN]),
    ("round", [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999, INF, NAN], [0, 2, 2, -0.0, -2, 0, INF, NAN]),
    ("mantissa", [0.0, -0.0, 1.0, -3.0, INF, -INF, NAN], [0, -0.0, 0.5, -0.75, INF, -INF, NAN]),
    (
        "normal_mantissa",
        [1.0, -3.0, 0.5, 1e-30, -1e30],
        [0.5, -0.75, 0.5, 1e-30 * 2.0**99, -1e30 * 2.0**-100],
    ),
    ("normal_scale", [1.0, -3.0, 0.5, 1e-30, -1e30], [0.5, 0.25, 1.0, 2.0**99, 2.0**-100]),
    ("normal_exponent", [1.0, -3.0, 0.5, 1e-30, -1e30], [1, 2, 0, -99, 100]),
    (
        "integer",
        [0.5, 1.5, -2.5, 2.75, -0.0, NAN, INF, -INF, 1e30],
        [0, 2, -2, 3, 0, 0, 2**62, -(2**62), 2**62],
    ),
    ("exponent", [0.0, -0.0, 1.0, -3.0, INF, -INF, NAN, 0.5, 1e-30], [0, 0, 1, 2, 0, 0, 0, 0, -99]),
    ("isnan", [NAN, -NAN, INF, 0.0, 1.0], [1, 1, 0, 0, 0]),
    ("isinf", [NAN, INF, -INF, 0.0, 1e30], [0, 1, 1, 0, 0]),
    ("isfinite", [NAN, INF, -INF, -0.0, 1e30], [0, 0, 0, 1, 1]),
    ("signbit", [-0.0, 0.0, -1.0, 1.0, -INF, INF, math.copysign(NAN, -1), NAN], [1, 0, 1, 0, 1, 0, 1, 0]),
]

PAIRS = [
    (
        "fmod",
        [(-4, 10), (4, -10), (-0.0, 3), (5, INF), (INF, 2), (5, 0), (-6, 3)],
        [-4, 4, -0.0, 5, NAN, NAN, -0.0],
    ),
    (
        "remainder",
        [(-4, 10), (4, -10), (-1, INF), (1, -INF), (-1, 1), (1, -1), (5, 0), (INF, 2), (NAN, 1), (1, NAN)],
        [6, -6, INF, -INF, 0.0, -0.0, NAN, NAN, NAN, NAN],
    ),
    (
        "floor_divide",
        [
            (1, 0.1),
            (-7, 2),
            (7, -2),
            (INF, 1),
            (1, 0),
            (-1, 0),
            (0, 0),
            (-1, INF),
            (1, INF),
            (0, -3),
            (NAN, 1),
        ],
        [9, -4, -4, NAN, INF, -INF, NAN, -1, 0, -0.0, NAN],
    ),
    (
        "pow",
        [
            (0, 0),
            (1, 0),
            (NAN, 0),
            (1, NAN),
            (-2, 2),
            (-2, 3),
            (-8, 1 / 3),
            (0, -1),
            (-0.0, -1),
            (-0.0, 3),
            (-1, INF),
        ],
        [1, 1, 1, 1, 4, -8, NAN, INF, -INF, -0.0, 1],
    ),
    ("pow", [(2, -INF), (0.5, -INF), (INF, -1), (-INF, 3), (-INF, 2), (4, 0.5)], [0, INF, 0, -INF, INF, 2]),
    (
        "atan2",
        [(0, -0.0), (-0.0, -0.0), (-0.0, -1), (-0.0, 1), (0, 1), (INF, INF), (1, 0), (NAN, 1)],
        [math.pi, -math.pi, -math.pi, -0.0, 0, math.pi / 4, math.pi / 2, NAN],
    ),
    (
        "hypot",
        [(3, 4), (INF, NAN), (NAN, -INF), (NAN, 1), (0, -0.0), (3e30, 4e30)],
        [5, INF, INF, NAN, 0, None],
    ),
    (
        "scaled_exp",
        [
            (3, 0),
            (-0.0, 5),
            (INF, -INF),
            (-INF, -900),
            (1, -INF),
            (0, INF),
            (2, INF),
            (1, NAN),
            (NAN, 1),
            (-0.0, 1e9),
        ],
        [3, -0.0, INF, -INF, 0, NAN, INF, NAN, NAN, -0.0],
    ),
    (
        "scaled_exp2",
        [(3, 4), (2.0**-149, 150), (2.0**-20, 140), (2.0**100, -200), (1, -149), (INF, -INF), (1, 2000)],
        [48, 2, 2.0**120, 2.0**-100, 2.0**-149, INF, INF],
    ),
    ("copysign", [(1, -0.0), (-INF, 1), (0, -2)], [-1, INF, -0.0]),
    (
        "ldexp",
        [(0.75, 3), (-0.0, 5), (INF, -9), (1, 10**12), (1, -(10**12)), (NAN, 1)],
        [6, -0.0, INF, INF, 0, NAN],
    ),
]
