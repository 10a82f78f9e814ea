"""Kinds: which op of its family a descriptor asks for. Several plans may share an enum of them."""

from __future__ import annotations

import enum
import sys
from typing import Any

from baracuda.errors import Unsupported, nearest

__all__ = ["member_of", "plan_with"]


def plan_with(kind: Any, like: str, module: str) -> Any:
    """The plan class of a module that has a kind, of the direction of the plan named `like`; None: none."""
    plans = [plan for plan in _classes(module) if isinstance(plan.__dict__.get("DESCRIPTOR"), type)]
    alike = [plan for plan in plans if ("Backward" in plan.__name__) == ("Backward" in like)]
    return next((plan for plan in alike if kind in plan.OPS), None)


def member_of(kinds: type[enum.Enum], value: Any, plan: str, module: str, field: str) -> enum.Enum:
    """The member that a value of a field is or names.

    Raises:
        Unsupported: none; the message lists the kinds that the plan has, of those in the enum.
    """
    if isinstance(value, kinds):
        return value
    if isinstance(value, str):
        for member in kinds:
            if value.lower() == member.value:
                return member
    ops = next((each.OPS for each in _classes(module) if each.__name__ == plan), kinds)
    own = [str(member.value) for member in kinds if member in ops]
    given = value if isinstance(value, str) else None
    enums = [other for other in _classes(kinds.__module__) if issubclass(other, enum.Enum)]
    owner = next((other for other in enums if any(given == member.value for member in other)), None)
    hint = f", which is a {owner.__name__}" if owner else _meant(given, kinds, own, plan, module)
    raise Unsupported(f"{plan}: {field} is {value!r}{hint}, want one of {', '.join(own)}")


def _meant(given: str | None, kinds: type[enum.Enum], own: list[str], plan: str, module: str) -> str:
    """What a misspelt kind was meant to be: one of the plan's own, else one that another plan has."""
    if not given:
        return ""
    if close := nearest(given, own):
        return f" (did you mean {close!r}?)"
    close = nearest(given, [str(member.value) for member in kinds])
    other = plan_with(kinds(close), plan, module) if close else None
    return f" (did you mean {close!r}, which {other.__name__} has?)" if other else ""


def _classes(module: str) -> list[Any]:
    """The classes that a module knows by name."""
    there = vars(sys.modules[module]).values() if module in sys.modules else ()
    return [each for each in there if isinstance(each, type)]
