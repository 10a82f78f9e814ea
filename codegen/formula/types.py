"""The types that a formula's values have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
    """`kind` is compute, whole, f64, int, bool or state; a state has typed fields.

    Messages say it as `str` does.
    """

    kind: str
    fields: tuple[tuple[str, Type], ...] = ()

    def __str__(self) -> str:
        return _SHOWN.get(self.kind, self.kind)

    def field(self, name: str) -> Type | None:
        """The type of a state's field, None if there is none of that name."""
        return dict(self.fields).get(name)


_SHOWN = {
    "bool": "a condition",
    "int": "an integer",
    "integer literal": "an integer",
    "float literal": "a float",
    "f64": "a float (f64)",
    "compute": "a float",
    "whole": "an integer of the element dtype",
    "wide": "a float (f64)",
    "state": "a state",
}

COMPUTE = Type("compute")
"""The type `A` of a kernel: what loads widen to and stores round from."""
WHOLE = Type("whole")
"""The type `A` of a kernel of integers or truth values. It meets literals, no other number."""
F64 = Type("f64")
"""A run-time attribute: a double, whatever `A` is."""
WIDE = Type("wide")
"""A double in a kernel, whatever `A` is; what meets it is computed in double."""
INT = Type("int")
"""Indices and counts: i64."""
BOOL = Type("bool")
"""A condition. It is no number."""

INT_LITERAL = Type("integer literal")
"""Not yet decided: an integer or any float, as its surroundings ask."""
FLOAT_LITERAL = Type("float literal")
"""Not yet decided: `COMPUTE` or `F64`, as its surroundings ask."""

# A pair of numbers meets in the later one of this list.
_ORDER = (INT_LITERAL, INT, FLOAT_LITERAL, F64, COMPUTE, WIDE)


def state(fields: Mapping[str, Type]) -> Type:
    """The type of an aggregate's state."""
    return Type("state", tuple(fields.items()))


STATE = state


def join(a: Type, b: Type) -> Type | None:
    """The type in which two numbers meet; None where they do not."""
    if WHOLE in (a, b):
        return WHOLE if {a, b} <= {WHOLE, INT_LITERAL} else None
    return max(a, b, key=_ORDER.index)


def as_float(kind: Type) -> Type:
    """The type of a quotient or of a function such as exp. Integers of the element dtype have none."""
    return FLOAT_LITERAL if kind in (INT_LITERAL, INT) else kind


def settled(kind: Type, default: Type = COMPUTE) -> Type:
    """A type that is decided: a literal that nothing decided becomes `default`."""
    return default if kind in (INT_LITERAL, FLOAT_LITERAL) else kind
