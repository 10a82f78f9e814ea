"""A formula as Python text: for comments and documentation, and as the source of a scalar expression."""

from __future__ import annotations

from collections.abc import Mapping

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

_IF, _OR, _AND, _NOT, _COMPARE, _BITOR, _XOR, _BITAND, _SHIFT, _SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(
    14
)
_LEVEL = {
    "|": _BITOR,
    "^": _XOR,
    "&": _BITAND,
    "<<": _SHIFT,
    ">>": _SHIFT,
    "+": _SUM,
    "-": _SUM,
    "*": _PRODUCT,
    "/": _PRODUCT,
    "//": _PRODUCT,
    "%": _PRODUCT,
}


def to_text(expr: Expr) -> str:
    """The formula in Python's spelling; parsed again, it gives the same tree."""
    return _Printer().text(expr)[0]


def to_python(expr: Expr, names: Mapping[str, str], functions: Mapping[str, str] | None = None) -> str:
    """Python source of a scalar formula, for attributes and rules. It needs `import math` where it runs.

    `names` spells every free name (a field as `{"a.m": ...}`), each as a primary expression; `functions` adds
    to the functions that plain Python has. Raises `FormulaError` for a name or a function without a spelling.
    """
    return _PythonPrinter(names, functions or {}).text(expr)[0]


def to_decimal(expr: Expr, names: Mapping[str, str], functions: Mapping[str, str]) -> str:
    """Python source of a scalar formula on the `decimal` numbers of `baracuda.wide`.

    `functions` spells every function. Raises `FormulaError` for a name or a function without a spelling.
    """
    return _DecimalPrinter(names, functions).text(expr)[0]


class _Printer:
    #: How tightly an operand of `or` holds together at least, without parentheses.
    least_of_or = _AND

    def text(self, expr: Expr) -> tuple[str, int]:
        """The text of a node and how tightly it holds together."""
        if isinstance(expr, Number):
            text = repr(expr.value).replace("e+", "e")  # as a formatter of Python writes it
            return text, _UNARY if text.startswith("-") else _ATOM
        if isinstance(expr, Boolean):
            return repr(expr.value), _ATOM
        if isinstance(expr, Name):
            return self.name(expr), _ATOM
        if isinstance(expr, Constant):
            return self.constant(expr), _ATOM
        if isinstance(expr, Field):
            return self.field(expr), _ATOM
        if isinstance(expr, Unary):
            if expr.op == "not":
                return f"not {self.inside(expr.operand, _NOT)}", _NOT
            nested = isinstance(expr.operand, Unary)
            return expr.op + self.inside(expr.operand, _ATOM if nested else _UNARY), _UNARY
        if isinstance(expr, Binary):
            return self.binary(expr)
        if isinstance(expr, Compare):
            parts = [self.inside(operand, _BITOR) for operand in expr.operands]
            signs = [f" {op} {part}" for op, part in zip(expr.ops, parts[1:], strict=True)]
            return parts[0] + "".join(signs), _COMPARE
        if isinstance(expr, BoolOp):
            level = _AND if expr.op == "and" else _OR
            least = self.least_of_or if expr.op == "or" else _NOT
            return f" {expr.op} ".join(self.inside(operand, least) for operand in expr.operands), level
        if isinstance(expr, IfElse):
            then, condition = self.inside(expr.then, _OR), self.inside(expr.condition, _OR)
            return f"{then} if {condition} else {self.inside(expr.other, _IF)}", _IF
        assert isinstance(expr, Call)
        return self.call(expr)

    def inside(self, expr: Expr, least: int) -> str:
        text, level = self.text(expr)
        return text if level >= least else f"({text})"

    def binary(self, expr: Binary) -> tuple[str, int]:
        if expr.op == "**":
            return f"{self.inside(expr.left, _ATOM)} ** {self.inside(expr.right, _UNARY)}", _POWER
        level = _LEVEL[expr.op]
        return f"{self.inside(expr.left, level)} {expr.op} {self.inside(expr.right, level + 1)}", level

    def name(self, expr: Name) -> str:
        return expr.name

    def constant(self, expr: Constant) -> str:
        return expr.name

    def field(self, expr: Field) -> str:
        return f"{self.inside(expr.value, _ATOM)}.{expr.name}"

    def call(self, expr: Call) -> tuple[str, int]:
        return f"{expr.name}({', '.join(self.text(arg)[0] for arg in expr.args)})", _ATOM


class _PythonPrinter(_Printer):
    least_of_or = _NOT  # few readers trust the precedence of `and` inside `or`, and ruff warns

    def __init__(self, names: Mapping[str, str], functions: Mapping[str, str]) -> None:
        self.names = names
        self.functions = functions

    def spelled(self, name: str, column: int) -> str:
        found = self.names.get(name)
        if found is None:
            known = ", ".join(self.names) or "nothing"
            raise FormulaError(f"{name!r} is not known on the host (known here: {known})", column)
        return found

    def name(self, expr: Name) -> str:
        return self.spelled(expr.name, expr.column)

    def field(self, expr: Field) -> str:
        return self.spelled(to_text(expr), expr.column)

    def constant(self, expr: Constant) -> str:
        if expr.name in LIMITS:
            raise FormulaError(
                f"{expr.name!r} belongs to the element type: it is not known on the host", expr.column
            )
        return f"math.{expr.name}"

    def binary(self, expr: Binary) -> tuple[str, int]:
        if expr.op != "**":
            return super().binary(expr)
        if not (_is_whole(expr.right) or (_is_literal(expr.left) and _is_literal(expr.right))):
            # Python's own ** makes a complex number of a negative base.
            return f"math.pow({self.text(expr.left)[0]}, {self.text(expr.right)[0]})", _ATOM
        text, level = super().binary(expr)
        # As formatters write it: close where both sides are short.
        return text.replace(" ** ", "**") if isinstance(expr.left, (Name, Number)) else text, level

    def call(self, expr: Call) -> tuple[str, int]:
        name = self.functions.get(expr.name)
        if name is None:
            operator = {"remainder": "%", "floor_divide": "//"}.get(expr.name)
            if operator and len(expr.args) == 2:
                return self.binary(Binary(operator, expr.args[0], expr.args[1], column=expr.column))
            function = FUNCTIONS.get(expr.name)
            name = function.python if function else None
        if name is None:
            raise FormulaError(f"`{expr.name}` is not available on the host", expr.column)
        return f"{name}({', '.join(self.text(arg)[0] for arg in expr.args)})", _ATOM


class _DecimalPrinter(_PythonPrinter):
    """Literals become numbers of 40 digits, but whole ones beside such a number stay as they are."""

    def text(self, expr: Expr) -> tuple[str, int]:
        if isinstance(expr, Number):
            return f'wide("{expr.value!r}")', _ATOM
        if isinstance(expr, IfElse):
            then, other = (
                self.text(branch)[0] if isinstance(branch, Number) else self.inside(branch, level)
                for branch, level in ((expr.then, _OR), (expr.other, _IF))
            )
            return f"{then} if {self.inside(expr.condition, _OR)} else {other}", _IF
        return super().text(expr)

    def inside(self, expr: Expr, least: int) -> str:
        if isinstance(expr, Number) and isinstance(expr.value, int):
            return repr(expr.value)
        return super().inside(expr, least)

    def constant(self, expr: Constant) -> str:
        if expr.name != "pi":
            raise FormulaError(f"{expr.name!r} is not known on the host in 40 digits", expr.column)
        return "PI"

    def binary(self, expr: Binary) -> tuple[str, int]:
        if expr.op == "**":
            return self.call(Call("pow", (expr.left, expr.right), column=expr.column))
        if expr.op == "/" and isinstance(expr.left, Number):
            # Python's quotient of two whole numbers is a double.
            return f"{self.text(expr.left)[0]} / {self.inside(expr.right, _PRODUCT + 1)}", _PRODUCT
        return super().binary(expr)


def _is_whole(expr: Expr) -> bool:
    return isinstance(expr, Number) and isinstance(expr.value, int)


def _is_literal(expr: Expr) -> bool:
    if isinstance(expr, Unary) and expr.op == "-":
        return isinstance(expr.operand, Number)
    return isinstance(expr, Number)
