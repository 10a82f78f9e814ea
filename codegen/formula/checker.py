"""Which type every part of a formula has, and what is wrong where it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.codegen.problems import suggest

from .errors import FormulaError
from .functions import FUNCTIONS, Function
from .nodes import (
    CONDITIONS,
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
from .types import BOOL, COMPUTE, FLOAT_LITERAL, INT, INT_LITERAL, WHOLE, WIDE, Type, as_float, join, settled

_BITS = ("&", "|", "^", "<<", ">>")
NUMBER_HINT = "write `1 if c else 0`"


class Checker:
    """Types the nodes of a tree whose names have the types of `env`; raises `FormulaError`."""

    def __init__(self, env: Mapping[str, Type]) -> None:
        self.env = env
        self.known: dict[int, Type] = {}

    def type(self, expr: Expr) -> Type:
        """The type that a node has by itself; a literal's may still be open."""
        key = id(expr)
        if key not in self.known:
            self.known[key] = self._type(expr)
        return self.known[key]

    def _type(self, expr: Expr) -> Type:
        if isinstance(expr, Number):
            return FLOAT_LITERAL if isinstance(expr.value, float) else INT_LITERAL
        if isinstance(expr, Boolean):
            return BOOL
        if isinstance(expr, Constant):
            if expr.name in CONDITIONS:
                return BOOL
            return COMPUTE if expr.name in LIMITS else FLOAT_LITERAL
        if isinstance(expr, (Name, Field)):
            return self._variable(expr)
        if isinstance(expr, Unary):
            return self._unary(expr)
        if isinstance(expr, Binary):
            return self._binary(expr)
        if isinstance(expr, Compare):
            self.pairs(expr)
            return BOOL
        if isinstance(expr, BoolOp):
            for operand in expr.operands:
                self._condition(operand, f"`{expr.op}`")
            return BOOL
        if isinstance(expr, IfElse):
            return self._choice(expr)
        assert isinstance(expr, Call)
        return self._call(expr)

    def _variable(self, expr: Name | Field) -> Type:
        if isinstance(expr, Field):
            assert isinstance(expr.value, Name)
            owner = self._lookup(expr.value)
            found = owner.field(expr.name)
            if found is None:
                if not owner.fields:
                    raise FormulaError(f"{expr.value.name!r} is {owner}: it has no fields", expr.column)
                names = [name for name, _ in owner.fields]
                hint = suggest(expr.name, names) or "it has " + ", ".join(names)
                raise FormulaError(f"{expr.value.name!r} has no field {expr.name!r} ({hint})", expr.column)
            return found
        found = self._lookup(expr)
        if found.kind == "state":
            first = found.fields[0][0] if found.fields else "m"
            raise FormulaError(
                f"{expr.name!r} is a state: use a field, such as {expr.name}.{first}", expr.column
            )
        return found

    def _lookup(self, name: Name) -> Type:
        found = self.env.get(name.name)
        if found is None:
            hint = suggest(name.name, self.env) or "known here: " + (", ".join(self.env) or "nothing")
            if name.name in FUNCTIONS:
                hint = "it is a function: call it"
            elif name.name == "e" and "e" not in self.env:
                hint = "write exp(1) for the number e"
            raise FormulaError(f"unknown name {name.name!r} ({hint})", name.column)
        return found

    def _number(self, expr: Expr, user: str) -> Type:
        kind = self.type(expr)
        if kind == BOOL:
            raise FormulaError(f"{user} wants a number, got a condition ({NUMBER_HINT})", expr.column)
        return kind

    def _meet(self, a: Type, b: Type, expr: Expr, user: str) -> Type:
        """The type in which two numbers meet."""
        both = join(a, b)
        if both is None:
            other = b if a == WHOLE else a
            raise FormulaError(f"{user} wants numbers of one kind, got {WHOLE} and {other}", expr.column)
        return both

    def _condition(self, expr: Expr, user: str) -> None:
        kind = self.type(expr)
        if kind != BOOL:
            raise FormulaError(f"{user} wants a condition, got {kind} (write `!= 0`)", expr.column)

    def _integer(self, expr: Expr, user: str) -> Type:
        """The type of an integer: an index or count, or an element."""
        kind = self.type(expr)
        if kind == BOOL:
            hint = "combine conditions with `and`, `or`, `not`, `!=`"
            raise FormulaError(f"{user} wants integers, got a condition ({hint})", expr.column)
        if kind not in (INT, WHOLE, INT_LITERAL):
            raise FormulaError(f"{user} wants integers, got {kind}", expr.column)
        return WHOLE if kind == WHOLE else INT

    def _unary(self, expr: Unary) -> Type:
        if expr.op == "not":
            self._condition(expr.operand, "`not`")
            return BOOL
        if expr.op == "~":
            return self._integer(expr.operand, "`~`")
        return self._number(expr.operand, f"`{expr.op}`")

    def _binary(self, expr: Binary) -> Type:
        user = f"`{expr.op}`"
        if expr.op in _BITS:
            own = [self._integer(operand, user) for operand in (expr.left, expr.right)]
            if WHOLE not in own:
                return INT
            return self._meet(self.type(expr.left), self.type(expr.right), expr, user)
        both = self._meet(self._number(expr.left, user), self._number(expr.right, user), expr, user)
        if is_square(expr):
            return self.type(expr.left)
        if expr.op == "/" and both == WHOLE:
            raise FormulaError(f"`/` wants floats, got {WHOLE} (use `//`)", expr.column)
        if both == WHOLE:
            return WHOLE
        return as_float(both) if expr.op in ("/", "**") else both

    def pairs(self, expr: Compare) -> list[Type]:
        """Return the type in which each pair of neighbours is compared."""
        found = []
        for op, left, right in zip(expr.ops, expr.operands, expr.operands[1:], strict=False):
            a, b = self.type(left), self.type(right)
            if a == BOOL and b == BOOL:
                if op not in ("==", "!="):
                    raise FormulaError(f"`{op}` wants numbers, got conditions", left.column)
                found.append(BOOL)
            else:
                user = f"`{op}`"
                both = self._meet(self._number(left, user), self._number(right, user), left, user)
                found.append(INT if both == INT_LITERAL else settled(both))
        return found

    def meeting(self, args: Sequence[Expr]) -> Type:
        """Return the type in which arguments meet that a function takes as floats or integers of elements."""
        both = self.type(args[0])
        for arg in args[1:]:
            both = self._meet(both, self.type(arg), arg, "a function")
        return settled(as_float(both))

    def _choice(self, expr: IfElse) -> Type:
        self._condition(expr.condition, "`if`")
        a, b = self.type(expr.then), self.type(expr.other)
        if a == BOOL and b == BOOL:
            return BOOL
        if BOOL in (a, b):
            odd = expr.then if a == BOOL else expr.other
            hint = f"the branches are a number and a condition ({NUMBER_HINT})"
            raise FormulaError(hint, odd.column)
        return self._meet(a, b, expr, "`if`")

    def _call(self, expr: Call) -> Type:
        function = self._function(expr)
        user = f"`{expr.name}`"
        kinds = [self._number(arg, user) for arg in expr.args]
        if function.rule == "ldexp":
            self._integer(expr.args[1], "the exponent of `ldexp`")
            if WHOLE in kinds:
                raise FormulaError(f"{user} wants a float and an integer, got {WHOLE}", expr.column)
            return as_float(kinds[0])
        both = kinds[0]
        for kind in kinds[1:]:
            both = self._meet(both, kind, expr, user)
        if function.rule == "whole" and both not in (WHOLE, INT_LITERAL):
            raise FormulaError(f"{user} wants integers of the element dtype, got {both}", expr.column)
        if both == WHOLE and not function.takes_integers():
            raise FormulaError(f"{user} wants floats, got {WHOLE}", expr.column)
        if function.rule == "test":
            return BOOL
        if function.rule == "exponent":
            return INT
        if function.rule == "wide":
            return WIDE
        if both == WHOLE or function.rule == "whole":
            return WHOLE
        return both if function.rule == "number" else as_float(both)

    def _function(self, expr: Call) -> Function:
        function = FUNCTIONS.get(expr.name)
        if function is None:
            hint = suggest(expr.name, FUNCTIONS)
            raise FormulaError(
                f"unknown function {expr.name!r}" + (f" ({hint})" if hint else ""), expr.column
            )
        count = len(expr.args)
        if count < function.least or (function.most is not None and count > function.most):
            raise FormulaError(f"`{expr.name}` takes {function.arity()}, got {count}", expr.column)
        return function


def is_square(expr: Expr) -> bool:
    """Whether a node is `x ** 2`, which means x * x: one rounding, and exact for integers."""
    if not isinstance(expr, Binary) or expr.op != "**":
        return False
    power = expr.right
    return isinstance(power, Number) and isinstance(power.value, int) and power.value == 2
