"""Numbers of a descriptor as kernels take them: in their compute type, which each must fit."""

from __future__ import annotations

import itertools
import math
import re
import struct
from collections.abc import Callable, Iterable
from typing import Any

from baracuda.contract import OpRecord
from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem

__all__ = ["folded"]

#: From here on a double rounds to an infinite f32: half a unit beyond the largest one.
_BEYOND_F32 = (2 - 2.0**-24) * 2.0**127
#: Whole doubles below this are what they were computed from.
_EXACT = 2.0**53


def folded(
    plan: str,
    op: OpRecord,
    desc: Any,
    element: ElementKind,
    violations: Callable[[Any], Iterable[str]],
) -> tuple[float | bool | int, ...]:
    """The scalars of an op, which follow from the descriptor's numbers as the compute type has them.

    Beside f32 and 16 bits a number is the f32 one that is nearest, as PyTorch takes it.

    Args:
        violations: what is wrong with a descriptor, which is asked again where rounding has changed a number.

    Raises:
        InvalidProblem: a number of the descriptor, or what follows from it, does not fit the compute type.
    """
    if element.ends is not None:
        return _whole(plan, op, desc, element, element.ends, op.fold(desc))
    if element.compute is not ElementKind.F32:
        return _fold(plan, op, desc, {}, violations)
    numbers = {name: value for name, value in _numbers(desc).items() if name in op.narrowed}
    rounded = {name: _nearest_f32(value) for name, value in numbers.items()}
    beyond = {name: value for name, value in numbers.items() if _overflows(value)}
    where = f"f32, in which {op.name} is computed"
    scalars = _fold(plan, op, desc, {**rounded, **beyond}, violations)
    if not _fit_f32(op, scalars):
        names = _at_fault(op, desc, {**rounded, **beyond}, violations) or [*numbers]
        got = {name: numbers[name] for name in names}
        fitting = "a number that fits" if len(names) == 1 else "numbers that fit"
        follows = "numbers from which nothing follows that is beyond"
        what = fitting if {*names} <= {*beyond} else follows
        raise InvalidProblem(f"{plan}: {_said(got)}, want {what} {where}")
    # A number beyond f32 of which kernels have none is the infinity that is nearest.
    return _fold(plan, op, desc, rounded, violations) if beyond else scalars


def _fold(
    plan: str,
    op: OpRecord,
    desc: Any,
    numbers: dict[str, float],
    violations: Callable[[Any], Iterable[str]],
) -> tuple[float | bool | int, ...]:
    """The scalars of a descriptor with other numbers, which are asked what is wrong with them."""
    changed = {name: value for name, value in numbers.items() if value != getattr(desc, name)}
    known = desc.replace(**changed) if changed else desc

    def with_given(text: str) -> str:
        """What is said of the numbers in f32, with those that were given."""
        for name, value in changed.items():
            both = f"{name} is {getattr(desc, name)} ({value} in f32, in which {op.name} is computed)"
            text = re.sub(rf"\b{name} is {re.escape(str(value))}(?!\d)", both, text)
        return text

    for violation in violations(known) if changed else ():
        raise InvalidProblem(f"{plan}: {with_given(violation)}")
    try:
        return op.fold(known)
    except (ArithmeticError, ValueError) as error:
        said = with_given(_said(_numbers(known)))
        raise InvalidProblem(
            f"{plan}: {said}, want numbers that {op.name} can be computed with ({error})"
        ) from None


def _at_fault(
    op: OpRecord, desc: Any, numbers: dict[str, float], violations: Callable[[Any], Iterable[str]]
) -> list[str]:
    """The fewest numbers that leave all scalars in f32 where they are 1; several where each alone does."""
    for count in range(1, len(numbers) + 1):
        chosen = [
            names
            for names in itertools.combinations(numbers, count)
            if not [*violations(other := desc.replace(**numbers | dict.fromkeys(names, 1.0)))]
            and _has_scalars(op, other)
        ]
        if chosen:
            return list(dict.fromkeys(itertools.chain(*chosen)))
    return []


def _has_scalars(op: OpRecord, desc: Any) -> bool:
    try:
        return _fit_f32(op, op.fold(desc))
    except (ArithmeticError, ValueError):
        return False


def _fit_f32(op: OpRecord, scalars: tuple[float | bool | int, ...]) -> bool:
    return not any(
        _overflows(value) for kind, value in zip(op.attributes, scalars, strict=True) if kind == "a"
    )


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


def _nearest_f32(value: float) -> float:
    """The f32 number that is nearest, an infinity beyond the largest one."""
    if _overflows(value):
        return math.copysign(math.inf, value)
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _overflows(value: float) -> bool:
    """Whether a finite number is infinite as an f32."""
    return math.isfinite(value) and abs(value) >= _BEYOND_F32
