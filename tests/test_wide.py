"""Numbers of 40 digits, against mpmath."""

from __future__ import annotations

from decimal import Decimal, localcontext

import mpmath
import pytest

from baracuda import wide

#: Exponents that are products of kept roots, one or many, and others that are not.
EXPONENTS = [
    "-0.0078125",
    "0.9921875",
    "-1.5",
    "1000.5",
    "-0.0000152587890625",
    "0.1",
    "-0.333333",
    "12345.678",
]


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("base", [10000.0, 1.0000001, 0.3, 2.0**30])
def test_powers(base: float, exponent: str) -> None:
    """106 bits and more, after the errors of a logarithm that is multiplied by the exponent."""
    with localcontext() as context:
        context.prec = wide.DIGITS
        got = wide.power(Decimal(base), Decimal(exponent))
    with mpmath.workdps(80):
        exact = mpmath.power(mpmath.mpf(base), mpmath.mpf(exponent))
        size = 1 + abs(mpmath.mpf(exponent) * mpmath.log(mpmath.mpf(base)))
        assert abs(mpmath.mpf(str(got)) / exact - 1) <= 20 * size * mpmath.mpf(10) ** (1 - wide.DIGITS)


def test_integer_powers_are_exact() -> None:
    with localcontext() as context:
        context.prec = wide.DIGITS
        assert wide.power(Decimal(3), Decimal(40)) == 3**40
        assert wide.power(Decimal(7), 0) == 1
