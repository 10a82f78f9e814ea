"""A formula as C++: one expression that rounds exactly where the formula's tree does."""

from __future__ import annotations

from collections.abc import Mapping

from .functions import FUNCTIONS
from .nodes import OF_COMPUTE, Expr
from .typed import Typed, elaborate
from .types import BOOL, F64, INT, WHOLE, WIDE, Type

# How tightly a piece of C++ holds together.
_SELECT, _OR, _AND, _COMPARE, _SHIFT, _SUM, _PRODUCT, _UNARY, _ATOM = range(9)
_LEVEL = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT}
_DOUBLES = (F64, WIDE)
_CPP_TYPE = {
    "compute": "A",
    "whole": "A",
    "f64": "double",
    "wide": "double",
    "int": "baracuda::i64",
    "bool": "bool",
}


def to_cuda(
    expr: Expr,
    env: Mapping[str, Type],
    want: Type | None = None,
    names: Mapping[str, str] | None = None,
) -> str:
    """C++ text of a formula, for device and host, where `A` is the compute type and `T` the element type.

    `env` types the names, `want` is the type of the result (see `infer`), and `names` spells those names
    whose C++ is another, such as `{"eps": "p.eps"}`; a spelling is taken as it is, so it must be a primary
    expression. Every function is one of `baracuda/math.cuh`. Raises `FormulaError`.
    """
    return _Printer(names or {}).text(elaborate(expr, env, want))[0]


class _Printer:
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def text(self, node: Typed) -> tuple[str, int]:
        """The C++ of a node and how tightly it holds together."""
        if node.kind == "literal":
            return _literal(node)
        if node.kind == "constant":
            return _constant(node)
        if node.kind == "limit":
            limit = f"baracuda::limits<{'A' if node.text in OF_COMPUTE else 'T'}>::{node.text}"
            return limit if node.type == BOOL else f"A({limit})", _ATOM
        if node.kind == "name":
            owner, dot, field = node.text.partition(".")
            return self.names.get(node.text) or self.names.get(owner, owner) + dot + field, _ATOM
        if node.kind == "cast":
            return f"{_CPP_TYPE[node.type.kind]}({self.text(node.args[0])[0]})", _ATOM
        if node.kind == "unary":
            return self.unary(node)
        if node.kind == "binary":
            return self.binary(node)
        if node.kind == "compare":
            # Bit operators bind less tightly than comparisons in C++, so they get parentheses.
            a, b = (self.inside(arg, _SUM) for arg in node.args)
            return f"{a} {node.text} {b}", _COMPARE
        if node.kind == "logic":
            # Conditions are cheap and free of effects: all are computed, where && and || may become branches.
            sign, level = ("&", _AND) if node.text == "and" else ("|", _OR)
            return f" {sign} ".join(self.inside(arg, _SHIFT) for arg in node.args), level
        if node.kind == "select":
            condition = self.inside(node.args[0], _COMPARE)
            then, other = (self.inside(arg, _OR) for arg in node.args[1:])
            return f"{condition} ? {then} : {other}", _SELECT
        args = [self.argument(arg) for arg in node.args]
        element = "<T>" if FUNCTIONS[node.text].of_element else ""
        return f"baracuda::{node.text}{element}({', '.join(args)})", _ATOM

    def inside(self, node: Typed, least: int) -> str:
        """The C++ of a part, in parentheses where it holds together less tightly than `least`."""
        text, level = self.text(node)
        return text if level >= least else f"({text})"

    def unary(self, node: Typed) -> tuple[str, int]:
        (operand,) = node.args
        if node.text == "+":
            return self.text(operand)
        if node.text == "-" and operand.kind == "literal":
            return _literal(operand, negative=True)
        if node.text == "-" and operand.kind == "constant":
            return "-" + _constant(operand)[0], _UNARY
        sign = "!" if node.text == "not" else node.text
        # -(-x): without the parentheses it would be a decrement.
        return sign + self.inside(operand, _ATOM), _UNARY

    def binary(self, node: Typed) -> tuple[str, int]:
        sign = node.text
        left_node, right_node = node.args
        if sign in ("<<", ">>"):
            if node.type == WHOLE or right_node.kind != "literal" or right_node.value > 63:
                name = "shift_left" if sign == "<<" else "shift_right"
                args = ", ".join(self.argument(arg) for arg in node.args)
                return f"baracuda::{name}({args})", _ATOM
            if sign == "<<":
                # A negative number may not be shifted left in C++17, and a literal is only an int.
                args = f"{self.argument(left_node)}, {self.text(right_node)[0]}"
                return f"baracuda::shift_left({args})", _ATOM
        if sign in _LEVEL:
            level = _LEVEL[sign]
            left, right = self.inside(left_node, level), self.inside(right_node, level + 1)
        else:
            level = _SHIFT
            left, right = self.inside(left_node, _UNARY), self.inside(right_node, _UNARY)
        if right.startswith("-"):
            right = f"({right})"
        if node.type == INT and _only_literals(left_node) and _only_literals(right_node):
            left = self.wide(left_node)
        return f"{left} {sign} {right}", level

    def argument(self, node: Typed) -> str:
        """The C++ of a function's argument."""
        return self.wide(node) if node.type == INT and _only_literals(node) else self.text(node)[0]

    def wide(self, node: Typed) -> str:
        """Integer literals as an i64: a plain literal is an int, which overflows and picks no overload."""
        text = self.text(node)[0]
        return f"({text})" if node.kind == "binary" else f"baracuda::i64({text})"


def _only_literals(node: Typed) -> bool:
    if node.kind == "literal":
        return True
    if node.kind == "select":
        return _only_literals(node.args[1]) and _only_literals(node.args[2])
    return node.kind in ("unary", "binary") and all(_only_literals(arg) for arg in node.args)


def _literal(node: Typed, negative: bool = False) -> tuple[str, int]:
    value = node.value
    if node.type == BOOL:
        return ("true" if value else "false"), _ATOM
    if node.type == INT:
        return (f"-{value}", _UNARY) if negative else (str(value), _ATOM)
    text = repr(value)
    if node.type in _DOUBLES and isinstance(value, int):
        text = repr(float(value))
    if negative:
        # Minus an integer zero would be +0 in C++, and -0.0 is what the formula says.
        text = "-0.0" if value == 0 else f"-{text}"
    return (f"A({text})", _ATOM) if node.type not in _DOUBLES else (text, _UNARY if negative else _ATOM)


def _constant(node: Typed) -> tuple[str, int]:
    kind = _CPP_TYPE[node.type.kind]
    if node.text == "pi":
        return ("3.141592653589793" if node.type in _DOUBLES else "A(3.141592653589793)"), _ATOM
    return f"baracuda::{node.text}<{kind}>", _ATOM
