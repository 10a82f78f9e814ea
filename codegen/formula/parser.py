"""Text to tree. Python's `ast` does the parsing; nothing is ever evaluated or compiled."""

from __future__ import annotations

import ast

from .errors import FormulaError
from .lexical import MAX_DEPTH, check_name, check_text
from .nodes import (
    CONSTANTS,
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

_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_UNSUPPORTED: dict[type[ast.cmpop | ast.expr], str] = {
    ast.In: "`in` is not in the formula language: compare with `==`",
    ast.NotIn: "`not in` is not in the formula language: compare with `!=`",
    ast.Is: "`is` is not in the formula language: compare with `==`",
    ast.IsNot: "`is not` is not in the formula language: compare with `!=`",
    ast.Lambda: "`lambda` is not in the formula language",
    ast.Tuple: "a comma outside a call: a formula is one expression",
    ast.Starred: "`*` before an argument is not in the formula language",
    ast.GeneratorExp: "`for` is not in the formula language",
    ast.Await: "`await` is not in the formula language",
    ast.Yield: "`yield` is not in the formula language",
    ast.YieldFrom: "`yield` is not in the formula language",
}


def parse(text: str) -> Expr:
    """The tree of a formula. Raises `FormulaError`; knows no names, types or functions yet (see `infer`)."""
    if not isinstance(text, str):
        raise FormulaError(f"a formula is text, got {text!r}: quote it", 1)
    check_text(text)
    # A line break inside a formula means nothing; spaces keep the columns as they are.
    flat = "".join(" " if character in "\t\r\n" else character for character in text)
    lead = len(flat) - len(flat.lstrip())
    try:
        body = ast.parse(flat.strip(), mode="eval").body
    except SyntaxError as error:
        column = min((error.offset or 1) + lead, len(text))
        raise FormulaError("this is no expression: something is missing or too much", column) from None
    return _Parser(lead).expr(body, 1)


class _Parser:
    def __init__(self, lead: int) -> None:
        self.lead = lead

    def expr(self, node: ast.expr, depth: int) -> Expr:
        column = node.col_offset + 1 + self.lead
        if depth > MAX_DEPTH:
            raise FormulaError(f"nested deeper than {MAX_DEPTH}: name parts under `let`", column)
        deeper = depth + 1
        if isinstance(node, ast.Constant):
            return self.literal(node, column)
        if isinstance(node, ast.Name):
            if node.id in CONSTANTS:
                return Constant(node.id, column=column)
            check_name(node.id, column)
            return Name(node.id, column=column)
        if isinstance(node, ast.Attribute):
            check_name(node.attr, column)
            if not isinstance(node.value, ast.Name) or node.value.id in CONSTANTS:
                raise FormulaError(f"only a name has fields: `.{node.attr}` follows something else", column)
            return Field(self.expr(node.value, deeper), node.attr, column=column)
        if isinstance(node, ast.UnaryOp):
            return Unary(_UNARY[type(node.op)], self.expr(node.operand, deeper), column=column)
        if isinstance(node, ast.BinOp):
            if type(node.op) not in _BINARY:
                raise FormulaError("`@` is not in the formula language", column)
            left, right = self.expr(node.left, deeper), self.expr(node.right, deeper)
            return Binary(_BINARY[type(node.op)], left, right, column=column)
        if isinstance(node, ast.Compare):
            for op in node.ops:
                if type(op) not in _COMPARE:
                    raise FormulaError(_UNSUPPORTED[type(op)], column)
            operands = tuple(self.expr(value, deeper) for value in (node.left, *node.comparators))
            return Compare(tuple(_COMPARE[type(op)] for op in node.ops), operands, column=column)
        if isinstance(node, ast.BoolOp):
            name = "and" if isinstance(node.op, ast.And) else "or"
            return BoolOp(name, tuple(self.expr(value, deeper) for value in node.values), column=column)
        if isinstance(node, ast.IfExp):
            then, condition = self.expr(node.body, deeper), self.expr(node.test, deeper)
            return IfElse(condition, then, self.expr(node.orelse, deeper), column=column)
        if isinstance(node, ast.Call):
            return self.call(node, column, deeper)
        kind = type(node)
        raise FormulaError(
            _UNSUPPORTED.get(kind, f"`{kind.__name__}` is not in the formula language"), column
        )

    def literal(self, node: ast.Constant, column: int) -> Expr:
        value = node.value
        if isinstance(value, bool):
            return Boolean(value, column=column)
        if isinstance(value, (int, float)):
            return Number(value, column=column)
        raise FormulaError(f"`{value!r}` is not in the formula language", column)

    def call(self, node: ast.Call, column: int, depth: int) -> Expr:
        if not isinstance(node.func, ast.Name):
            raise FormulaError("a function is called by its plain name", column)
        check_name(node.func.id, column)
        if node.keywords:
            keyword = node.keywords[0]
            where = keyword.value.col_offset + 1 + self.lead
            raise FormulaError("arguments are given by position, not by keyword", where)
        return Call(node.func.id, tuple(self.expr(arg, depth) for arg in node.args), column=column)
