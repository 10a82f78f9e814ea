"""From a formula to a tree in which every value has its type and every conversion stands.

The C++ text and the NumPy value both come from this tree, so that both round in the same places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .checker import NUMBER_HINT, Checker, is_square
from .errors import FormulaError
from .functions import FUNCTIONS
from .nodes import (
    LIMITS,
    Binary,
    Boolean,
    BoolOp,
    Call,
    Compare,
    Constant,
    Expr,
    Field,
    IfElse,
    Name,
    Number,
    Unary,
)
from .types import BOOL, COMPUTE, F64, FLOAT_LITERAL, INT, INT_LITERAL, WHOLE, Type, settled


@dataclass(frozen=True)
class Typed:
    """`kind` is literal, constant, limit, name, cast, unary, binary, compare, logic, select or call.

    `text` is its operator, name or function; `value` that of a literal.
    """

    kind: str
    type: Type
    text: str = ""
    args: tuple[Typed, ...] = ()
    value: int | float | bool = 0


def infer(expr: Expr, env: Mapping[str, Type], want: Type | None = None) -> Type:
    """The type of a formula whose names have the types of `env`, all of it checked.

    With `want`, the type that the formula is used as: a mismatch is an error. A formula of literals alone is
    `COMPUTE` unless `want` says otherwise. Raises `FormulaError`.
    """
    return elaborate(expr, env, want).type


def elaborate(expr: Expr, env: Mapping[str, Type], want: Type | None = None) -> Typed:
    """The typed tree of a formula, as `infer` checks it."""
    checker = Checker(env)
    return _Lowering(checker).lower(expr, want or settled(checker.type(expr)))


class _Lowering:
    def __init__(self, checker: Checker) -> None:
        self.checker = checker

    def lower(self, expr: Expr, want: Type) -> Typed:
        """The node as a value of type `want`, converted where the rules allow it."""
        own = self.checker.type(expr)
        kind = self.resolve(expr, own, want)
        typed = self.build(expr, kind)
        return typed if kind == want else Typed("cast", want, args=(typed,))

    def resolve(self, expr: Expr, own: Type, want: Type) -> Type:
        """The type in which a node is computed before it is converted to `want`."""
        if own == want:
            return own
        if own == BOOL:
            raise FormulaError(f"a number is wanted, got a condition ({NUMBER_HINT})", expr.column)
        if want == BOOL:
            raise FormulaError(f"a condition is wanted, got {own} (write `!= 0`)", expr.column)
        if WHOLE in (own, want) and own != INT_LITERAL:
            raise FormulaError(f"{want} is wanted, got {own}", expr.column)
        if want == INT and own != INT_LITERAL:
            raise FormulaError(f"an integer is wanted, got {own} (use `//`, or `exponent`)", expr.column)
        if own in (INT_LITERAL, FLOAT_LITERAL):
            return want
        if want == F64 and own == COMPUTE:
            raise FormulaError(
                "an f64 attribute is wanted, got a value of the kernel's own type", expr.column
            )
        return own

    def build(self, expr: Expr, kind: Type) -> Typed:
        if isinstance(expr, (Number, Boolean)):
            return Typed("literal", kind, value=expr.value)
        if isinstance(expr, Constant):
            return Typed("limit" if expr.name in LIMITS else "constant", kind, expr.name)
        if isinstance(expr, Name):
            return Typed("name", kind, expr.name)
        if isinstance(expr, Field):
            assert isinstance(expr.value, Name)
            return Typed("name", kind, f"{expr.value.name}.{expr.name}")
        if isinstance(expr, Unary):
            return Typed("unary", kind, expr.op, (self.lower(expr.operand, kind),))
        if isinstance(expr, Binary):
            return self.build_binary(expr, kind)
        if isinstance(expr, Compare):
            return self.build_compare(expr)
        if isinstance(expr, BoolOp):
            return Typed(
                "logic", BOOL, expr.op, tuple(self.lower(operand, BOOL) for operand in expr.operands)
            )
        if isinstance(expr, IfElse):
            condition = self.lower(expr.condition, BOOL)
            return Typed(
                "select", kind, args=(condition, self.lower(expr.then, kind), self.lower(expr.other, kind))
            )
        assert isinstance(expr, Call)
        return self.build_call(expr, kind)

    def build_binary(self, expr: Binary, kind: Type) -> Typed:
        if is_square(expr):
            return Typed("call", kind, "square", (self.lower(expr.left, kind),))
        args = (self.lower(expr.left, kind), self.lower(expr.right, kind))
        named = {"**": "pow", "//": "floor_divide", "%": "remainder"}.get(expr.op)
        return Typed("call", kind, named, args) if named else Typed("binary", kind, expr.op, args)

    def build_compare(self, expr: Compare) -> Typed:
        parts = []
        neighbours = zip(self.checker.pairs(expr), expr.ops, expr.operands, expr.operands[1:], strict=False)
        for kind, op, left, right in neighbours:
            parts.append(Typed("compare", BOOL, op, (self.lower(left, kind), self.lower(right, kind))))
        return parts[0] if len(parts) == 1 else Typed("logic", BOOL, "and", tuple(parts))

    def build_call(self, expr: Call, kind: Type) -> Typed:
        rule = FUNCTIONS[expr.name].rule
        if rule == "ldexp":
            number, power = expr.args
            return Typed("call", kind, expr.name, (self.lower(number, kind), self.lower(power, INT)))
        if rule in ("test", "exponent", "wide"):
            own = self.checker.meeting(expr.args)
            return Typed("call", kind, expr.name, tuple(self.lower(arg, own) for arg in expr.args))
        return Typed("call", kind, expr.name, tuple(self.lower(arg, kind) for arg in expr.args))
