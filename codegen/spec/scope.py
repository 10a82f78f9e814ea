"""What the names in one direction's formulas mean: the type of each, and what gives its value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from baracuda.codegen.formula import (
    BOOL,
    COMPUTE,
    F64,
    FUNCTIONS,
    INT,
    WHOLE,
    WIDE,
    Binary,
    Call,
    Expr,
    IfElse,
    Name,
    Type,
    Unary,
    children,
    free_names,
    infer,
    of_element_type,
    with_children,
)
from baracuda.codegen.spec.model import Aggregate, Attribute, AttributeValue, Statement

#: The number of elements of a row, and an element's number in its row, in families that have axes.
EXTENT, INDEX = "extent", "index"

#: The types of attributes in formulas, by the type of the descriptor's field.
ATTRIBUTE_TYPES: dict[str, Type] = {"f64": F64, "i64": INT, "bool": BOOL}


def kind_of(type_: Type) -> str:
    """The C++ kind of a value of a type."""
    return {BOOL: "bool", INT: "i64", WHOLE: "whole", WIDE: "wide"}.get(type_, "compute")


@dataclass
class Scope:
    """The names that formulas have given so far, and those that they may read.

    `folded` holds what the host computes from attributes, `lets` what a kernel computes, in order.
    """

    attributes: tuple[Attribute, ...]
    types: dict[str, Type] = field(default_factory=dict)
    folded: dict[str, AttributeValue] = field(default_factory=dict)
    lets: dict[str, Statement] = field(default_factory=dict)
    aggregates: dict[str, Aggregate] = field(default_factory=dict)

    def follows_from_attributes(self, expr: Expr) -> bool:
        """Whether the host can compute an expression."""
        known = {attribute.name for attribute in self.attributes} | set(self.folded)
        names = free_names(expr)
        return bool(names) and set(names) <= known and not of_element_type(expr)

    def follows_from_aggregates(self, expr: Expr) -> bool:
        """Whether an expression is known only after a whole row has been read."""
        names = self.all_names([expr])
        return any(a.name in names or names & set(a.fields) for a in self.aggregates.values())

    def all_names(self, values: Sequence[Expr]) -> set[str]:
        """The names that expressions read, and those that the lets behind them read."""
        return names_in([*values, *(statement.value for statement in self.needed(values))])

    def needed(self, values: Iterable[Expr]) -> tuple[Statement, ...]:
        """The lets that some values follow from, in the order in which they are written."""
        names = names_in(values)
        kept: list[Statement] = []
        for statement in reversed(self.lets.values()):
            if statement.name in names:
                kept.append(statement)
                names.update(free_names(statement.value))
        return tuple(reversed(kept))

    def fold(self, expr: Expr, whole: bool = False) -> Expr:
        """The expression with its largest attribute-only parts replaced by values that the host computes.

        Args:
            expr: the expression.
            whole: whether it counts: a choice of literals is an integer then, no number of the compute type.
        """
        if isinstance(expr, Name):
            if expr.name not in self.folded and any(a.name == expr.name for a in self.attributes):
                self.folded[expr.name] = AttributeValue(expr.name, kind_of(self.types[expr.name]), expr)
            return expr
        if self.follows_from_attributes(expr):
            for value in self.folded.values():
                if value.value == expr:
                    return Name(value.name)
            type_ = infer(expr, self.types, INT if whole else None)
            name = self.numbered({"bool": "flag", "i64": "count"}.get(kind_of(type_), "factor"))
            self.folded[name] = AttributeValue(name, kind_of(type_), expr)
            self.types[name] = type_
            return Name(name)
        if isinstance(expr, Call) and FUNCTIONS[expr.name].rule == "ldexp":
            return with_children(expr, (self.fold(expr.args[0]), self.fold(expr.args[1], True)))
        if whole and isinstance(expr, IfElse):
            then, condition, other = children(expr)
            parts = (self.fold(then, True), self.fold(condition), self.fold(other, True))
            return with_children(expr, parts)
        counts = whole and isinstance(expr, (Unary, Binary))
        return with_changed_children(expr, lambda child: self.fold(child, counts))

    def let(self, name: str, type_: Type, value: Expr) -> None:
        """Give a name to a value that a kernel computes."""
        self.lets[name] = Statement(name, kind_of(type_), value)
        self.types[name] = COMPUTE if type_ == F64 else type_

    def unused(self, name: str, stem: str | None = None) -> str:
        """A name if it has no meaning yet, else a numbered one."""
        return name if name not in self.types else self.numbered(stem or name)

    def numbered(self, stem: str) -> str:
        """A numbered name that has no meaning yet."""
        number = 0
        while f"{stem}{number}" in self.types:
            number += 1
        return f"{stem}{number}"


def names_in(values: Iterable[Expr]) -> set[str]:
    """The names that some expressions read."""
    return {name for value in values for name in free_names(value)}


def with_changed_children(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """An expression whose parts have been changed, one by one."""
    return with_children(expr, tuple(change(child) for child in children(expr)))
