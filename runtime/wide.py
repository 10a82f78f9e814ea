"""Numbers of 40 digits: what plans compute on the host so exactly that kernels may rely on 106 bits of it.

The generated plans call the functions here in place of those of `math`. Numbers are `decimal.Decimal`; they
come from doubles, integers and the literals of formulas without rounding.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext

__all__ = [
    "PI",
    "HostValues",
    "ceil",
    "clamp",
    "computed",
    "exp",
    "floor",
    "log",
    "numbers",
    "power",
    "split",
    "sqrt",
    "wide",
]

DIGITS = 40

#: Powers whose exponents are multiples of 1 / FINEST are products of a few that are kept.
FINEST = 1 << 16

#: Of pi, more digits than are computed with.
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")


@dataclass(frozen=True)
class HostValues:
    """What the host computes for a kernel, once a problem.

    Attributes:
        scalars: numbers, as doubles.
        pairs: for each pair its frequency in quarter turns a position, as the sum of two doubles.
    """

    scalars: tuple[float, ...]
    pairs: tuple[tuple[float, float], ...]

    @staticmethod
    def of(scalars: tuple[Decimal | int, ...], radians: list[Decimal]) -> HostValues:
        """From numbers, and frequencies in radians a position."""
        quarter = 2 / PI
        return HostValues(tuple(map(float, scalars)), tuple(split(item * quarter) for item in radians))


Formulas = Callable[..., HostValues]


def computed(formulas: Formulas, *numbers: float | int) -> HostValues:
    """What formulas give for a descriptor's numbers, in 40 digits; equal calls are computed once."""
    return _computed(formulas, *numbers)


@functools.lru_cache(maxsize=256)
def _computed(formulas: Formulas, *numbers: float | int) -> HostValues:
    with localcontext() as context:
        context.prec = DIGITS
        return formulas(*(number if isinstance(number, bool) else Decimal(number) for number in numbers))


def wide(literal: str) -> Decimal:
    """A literal of a formula."""
    return Decimal(literal)


def numbers(count: Decimal) -> list[Decimal]:
    """The numbers of so many things, from 0."""
    return [Decimal(number) for number in range(int(count))]


def split(number: Decimal) -> tuple[float, float]:
    """The number as the sum of two doubles, right to about 106 bits."""
    high = float(number)
    return high, float(number - Decimal(high))


def power(base: Decimal, exponent: Decimal | int) -> Decimal:
    """`base ** exponent` of a positive base; exact for an integer exponent if 40 digits hold the result."""
    exponent = Decimal(exponent)
    if exponent == exponent.to_integral_value():
        return Decimal(base) ** exponent
    parts = exponent * FINEST
    if parts != parts.to_integral_value():
        # decimal's own ** computes the logarithm again for every exponent, at twice the cost.
        return (exponent * log(base)).exp()
    product, bits, sign = Decimal(1), int(abs(parts)), -1 if parts < 0 else 1
    while bits:
        lowest = bits & -bits
        product *= _root(base, sign * lowest)
        bits ^= lowest
    return product


@functools.lru_cache(maxsize=256)
def _root(base: Decimal, parts: int) -> Decimal:
    """`base ** (parts / FINEST)`."""
    return (Decimal(parts) / FINEST * log(base)).exp()


@functools.lru_cache(maxsize=64)
def log(number: Decimal | int) -> Decimal:
    """The natural logarithm of a positive number."""
    return Decimal(number).ln()


def exp(number: Decimal | int) -> Decimal:
    """The exponential function."""
    return Decimal(number).exp()


def sqrt(number: Decimal | int) -> Decimal:
    """The square root of a number that is not negative."""
    return Decimal(number).sqrt()


def floor(number: Decimal | int) -> Decimal:
    """The largest integer that is not above a number."""
    return Decimal(number).to_integral_value(ROUND_FLOOR)


def ceil(number: Decimal | int) -> Decimal:
    """The smallest integer that is not below a number."""
    return Decimal(number).to_integral_value(ROUND_CEILING)


def clamp(number: Decimal | int, low: Decimal | int, high: Decimal | int) -> Decimal | int:
    """The number, `low` where it is below that, `high` where it is above that."""
    return min(max(number, low), high)
