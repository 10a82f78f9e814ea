"""`isclose` beside exact arithmetic: every dtype, the ends of the range, tolerances of every size."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from devices import checkout_spec

from baracuda.codegen import verify

ISCLOSE = checkout_spec().ops["isclose"]
TOLERANCES = [
    (0.0, 0.0), (1e-5, 1e-8), (0.5, 0.0), (1.0, 0.0), (1.5, 0.0), (2.0, 0.0), (3.0, 1.0),
    (0.0, 1.0), (0.0, 255.0), (1e-320, 1e-320), (0.0, 1e300), (1e300, 0.0), (2.0**-52, 0.0), (0.0, 2.0**64),
]  # fmt: skip
#: From here on a difference is infinite as a double.
BEYOND = Fraction(2) ** 1024 - Fraction(2) ** 970
#: What a product that is subnormal as a double loses.
TINY = Fraction(2) ** -1074


def points(dtype: str) -> Any:
    values = verify.rounded(verify.special_values(dtype), dtype)
    if dtype == "bool":
        return values
    more = [100, 101] + ([2.0**40, 2.0**40 + 1] if dtype in ("f64", "i64") else [])
    return np.unique(np.concatenate([values, np.array(more).astype(values.dtype)]))


def exact(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> bool | None:
    """Whether a and b are close; None where a double cannot tell the difference from the tolerance."""
    if math.isnan(a) or math.isnan(b):
        return equal_nan and math.isnan(a) and math.isnan(b)
    if a == b or math.isinf(a) or math.isinf(b):
        return bool(a == b)
    gap = abs(Fraction(a) - Fraction(b))
    if gap >= BEYOND:
        return False
    tolerance = Fraction(atol) + Fraction(rtol) * abs(Fraction(b))
    if gap == tolerance and gap.denominator == 1 and gap < 2**24:
        return True
    return None if abs(gap - tolerance) <= (gap + tolerance) / 2**50 + TINY else gap <= tolerance


@pytest.mark.parametrize("equal_nan", [False, True])
@pytest.mark.parametrize("dtype", ISCLOSE.dtypes)
def test_beside_exact_arithmetic(backend: Any, dtype: str, equal_nan: bool) -> None:
    values = points(dtype)
    a, b = (np.ascontiguousarray(part.ravel()) for part in np.meshgrid(values, values))
    plain = (values if verify.is_whole(dtype) else values.astype(np.float64)).tolist()
    pairs = [(first, second) for second in plain for first in plain]
    told = 0
    for rtol, atol in TOLERANCES:
        fields = {"shape": a.shape, "rtol": rtol, "atol": atol, "equal_nan": equal_nan}
        problem = verify.Problem(ISCLOSE, "forward", dtype, fields)
        got = verify.run(backend, problem, {"a": a, "b": b})["y"]
        for (first, second), close in zip(pairs, got.tolist(), strict=True):
            want = exact(first, second, rtol, atol, equal_nan)
            assert want is None or close is want, (first, second, rtol, atol)
            told += want is not None
    assert told > 0.9 * len(pairs) * len(TOLERANCES)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_a_difference_beyond_the_dtype_is_no_infinity(backend: Any, dtype: str) -> None:
    """Of the largest numbers with different signs: an infinite tolerance would be close to all."""
    largest = verify.rounded(verify.special_values(dtype), dtype).astype(np.float64)
    largest = np.array([np.max(largest[np.isfinite(largest)])]).astype(verify.numpy_dtype(dtype))
    for rtol, close in ((1.5, False), (2.0, True)):
        fields = {"shape": (1,), "rtol": rtol, "atol": 0.0, "equal_nan": False}
        problem = verify.Problem(ISCLOSE, "forward", dtype, fields)
        assert verify.run(backend, problem, {"a": largest, "b": -largest})["y"].tolist() == [close]
