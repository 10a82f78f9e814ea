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


def folded(plan: str, op: OpRecord, desc: Any, element: ElementKind) -> tuple[float | bool | int, ...]:
    """The scalars of an op, none of which rounds from a finite double to an infinity.

    Raises:
        InvalidProblem: a number of the descriptor, or what follows from it, does not fit the compute type.
    """
    scalars = op.fold(desc)
    if element.compute is not ElementKind.F32:
        return scalars
    narrowed = (value for kind, value in zip(op.attributes, scalars, strict=True) if kind == "a")
    if any(map(_overflows, narrowed)):
        rules = desc.RULES.items()
        given = {name: getattr(desc, name) for name, rule in rules if rule == "f64"}
        numbers = {name: value for name, value in given.items() if value is not None}
        beyond = {name: value for name, value in numbers.items() if _overflows(value)}
        got = ", ".join(f"{name} is {value}" for name, value in (beyond or numbers).items())
        what = "a number that fits" if beyond else "numbers from which nothing follows that is beyond"
        raise InvalidProblem(f"{plan}: {got}, want {what} f32, in which {op.name} is computed")
    return scalars


def _overflows(value: float) -> bool:
    """Whether a finite number is infinite as an f32."""
    return math.isfinite(value) and abs(value) >= _BEYOND_F32
