"""The formula's tree: frozen nodes, equal when their text is equal, and functions that walk them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Expr:
    """A node; `column` (from 1) is where it starts in the formula, and does not count for equality."""

    column: int = field(default=1, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Number(Expr):
    """A literal. An int adapts to integers and floats, a float to any float type."""

    value: int | float


@dataclass(frozen=True)
class Boolean(Expr):
    """`True` or `False`; also what a compile-time option becomes."""

    value: bool


@dataclass(frozen=True)
class Name(Expr):
    """A variable."""

    name: str


@dataclass(frozen=True)
class Constant(Expr):
    """`inf`, `nan`, `pi`, or a limit of the element type: one of `CONSTANTS`."""

    name: str


@dataclass(frozen=True)
class Field(Expr):
    """`value.name`: a field of a state."""

    value: Expr
    name: str


@dataclass(frozen=True)
class Unary(Expr):
    """`op` is `-`, `+`, `~` or `not`."""

    op: str
    operand: Expr


@dataclass(frozen=True)
class Binary(Expr):
    """`op` is one of `+ - * / // % ** & | ^ << >>`."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Compare(Expr):
    """`a < b <= c`: `ops` has one sign less than `operands` has values."""

    ops: tuple[str, ...]
    operands: tuple[Expr, ...]


@dataclass(frozen=True)
class BoolOp(Expr):
    """`op` is `and` or `or`, over two or more conditions."""

    op: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True)
class IfElse(Expr):
    """`then if condition else other`."""

    condition: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True)
class Call(Expr):
    """A function by name, with positional arguments."""

    name: str
    args: tuple[Expr, ...]


MATH_CONSTANTS = ("inf", "nan", "pi")
LIMITS = ("max_value", "min_value", "smallest_normal", "smallest_subnormal", "epsilon", "is_half")
#: Those of them that belong to the type in which formulas compute.
OF_COMPUTE = ("smallest_subnormal",)
#: Those that are conditions.
CONDITIONS = ("is_half",)
CONSTANTS = MATH_CONSTANTS + LIMITS


def children(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a node, in the order in which they are written."""
    if isinstance(expr, Field):
        return (expr.value,)
    if isinstance(expr, Unary):
        return (expr.operand,)
    if isinstance(expr, Binary):
        return (expr.left, expr.right)
    if isinstance(expr, (Compare, BoolOp)):
        return expr.operands
    if isinstance(expr, IfElse):
        return (expr.then, expr.condition, expr.other)
    if isinstance(expr, Call):
        return expr.args
    return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """Every node, outermost first, in the order in which they are written."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def free_names(expr: Expr) -> list[str]:
    """The variables of a formula, each once, in the order of their first use."""
    return list(dict.fromkeys(node.name for node in walk(expr) if isinstance(node, Name)))


def of_element_type(expr: Expr) -> bool:
    """Whether a formula reads a limit of the element type, which only a kernel knows."""
    return any(isinstance(node, Constant) and node.name in LIMITS for node in walk(expr))


def calls(expr: Expr) -> list[str]:
    """The functions that a formula calls, each once, in the order of their first use."""
    return list(dict.fromkeys(node.name for node in walk(expr) if isinstance(node, Call)))


def rewrite(expr: Expr, fn: Callable[[Expr], Expr]) -> Expr:
    """A tree in which `fn` replaced every node, innermost first; `fn` returns its argument to keep it."""
    return fn(with_children(expr, tuple(rewrite(child, fn) for child in children(expr))))


def substitute(expr: Expr, mapping: Mapping[str, Expr]) -> Expr:
    """A tree in which the named variables are replaced, all at once (a replacement is not searched again)."""

    def swap(node: Expr) -> Expr:
        return mapping.get(node.name, node) if isinstance(node, Name) else node

    return rewrite(expr, swap)


def fold_conditions(expr: Expr) -> Expr:
    """A tree without the conditions that `Boolean` values decide: what compile-time options leave over."""

    def fold(node: Expr) -> Expr:
        if isinstance(node, IfElse) and isinstance(node.condition, Boolean):
            return node.then if node.condition.value else node.other
        if isinstance(node, Unary) and node.op == "not" and isinstance(node.operand, Boolean):
            return Boolean(not node.operand.value, column=node.column)
        if isinstance(node, BoolOp):
            return _fold_bool_op(node)
        return node

    return rewrite(expr, fold)


def _fold_bool_op(node: BoolOp) -> Expr:
    decisive = node.op == "or"
    left: list[Expr] = []
    for operand in node.operands:
        if not isinstance(operand, Boolean):
            left.append(operand)
        elif operand.value == decisive:
            return Boolean(decisive, column=node.column)
    if not left:
        return Boolean(not decisive, column=node.column)
    return left[0] if len(left) == 1 else replace(node, operands=tuple(left))


def with_children(expr: Expr, new: tuple[Expr, ...]) -> Expr:
    """The same node over other parts, in the order of `children`."""
    if isinstance(expr, Field):
        return replace(expr, value=new[0])
    if isinstance(expr, Unary):
        return replace(expr, operand=new[0])
    if isinstance(expr, Binary):
        return replace(expr, left=new[0], right=new[1])
    if isinstance(expr, (Compare, BoolOp)):
        return replace(expr, operands=new)
    if isinstance(expr, IfElse):
        return replace(expr, then=new[0], condition=new[1], other=new[2])
    if isinstance(expr, Call):
        return replace(expr, args=new)
    return expr
