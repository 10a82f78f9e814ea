"""Numbers of a descriptor that kernels take in their compute type: each must fit it."""

from __future__ import annotations

import math
from typing import Any

from baracuda.contract import OpRecord
from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem

__all__ = ["folded"]

#: From here on a double rounds to an infinite f32: half a unit beyond the largest one.
_BEYOND_F32 = (2 - 2.0**-24) * 2.0**127
#: Whole doubles below this are what they were computed from.
_EXACT = 2.0**53


def folded(plan: str, op: OpRecord, desc: Any, element: ElementKind) -> tuple[float | bool | int, ...]:
    """The scalars of an op, each of which the compute type has: a float as a number that is near.

    Raises:
        InvalidProblem: a number of the descriptor, or what follows from it, does not fit the compute type.
    """
    scalars = op.fold(desc)
    if element.ends is not None:
        return _whole(plan, op, desc, element, element.ends, scalars)
    if element.compute is not ElementKind.F32:
        return scalars
    narrowed = (value for kind, value in zip(op.attributes, scalars, strict=True) if kind == "a")
    if any(map(_overflows, narrowed)):
        numbers = _numbers(desc)
        beyond = {name: value for name, value in numbers.items() if _overflows(value)}
        what = "a number that fits" if beyond else "numbers from which nothing follows that is beyond"
        got = _said(beyond or numbers)
        raise InvalidProblem(f"{plan}: {got}, want {what} f32, in which {op.name} is computed")
    return scalars


def _whole(
    plan: str,
    op: OpRecord,
    desc: Any,
    element: ElementKind,
    ends: tuple[int, int],
    scalars: tuple[float | bool | int, ...],
) -> tuple[float | bool | int, ...]:
    """The scalars of a kernel of integers: of the compute type are integers that it has, exactly."""

    def fits(value: float) -> bool:
        exact = isinstance(value, int) or (value.is_integer() and abs(value) < _EXACT)
        return exact and ends[0] <= value <= ends[1]

    kinds = op.attributes
    if not all(fits(value) for kind, value in zip(kinds, scalars, strict=True) if kind == "a"):
        numbers = _numbers(desc)
        beyond = {name: value for name, value in numbers.items() if not fits(value)}
        what = "a whole number" if beyond else "numbers from which follows a whole number"
        got, low, high = _said(beyond or numbers), *ends
        raise InvalidProblem(f"{plan}: {got}, want {what} from {low} to {high}, as {element} has")
    return tuple(int(value) if kind == "a" else value for kind, value in zip(kinds, scalars, strict=True))


def _numbers(desc: Any) -> dict[str, float]:
    """The numbers that a descriptor has."""
    given = {name: getattr(desc, name) for name, rule in desc.RULES.items() if rule == "f64"}
    return {name: value for name, value in given.items() if value is not None}


def _said(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name} is {value}" for name, value in numbers.items())


def _overflows(value: float) -> bool:
    """Whether a finite number is infinite as an f32."""
    return math.isfinite(value) and abs(value) >= _BEYOND_F32
