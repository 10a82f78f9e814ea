"""Formulas without the inputs that may lack: what is left of them where none of these is there."""

from __future__ import annotations

import math
from dataclasses import replace

from baracuda.codegen.formula import Binary, Call, Expr, IfElse, Name, Number, rewrite, substitute
from baracuda.codegen.spec.model import Program, Statement

__all__ = ["BARE", "optional_inputs", "without_rounding"]

#: The template parameter of a formula's struct that says that none of its optional inputs is there.
BARE = "BARE"


def optional_inputs(program: Program) -> tuple[str, ...]:
    """The inputs that differ from row to row and may lack."""
    return tuple(n for n in program.inputs if n in program.absent and n not in program.column_inputs)


def without_rounding(program: Program) -> Program:
    """The program in which what is stored is not rounded where it is an input that was stored already."""
    lacking: dict[str, Expr] = {name: Number(program.absent[name]) for name in optional_inputs(program)}
    if not lacking:
        return program

    def visit(node: Expr) -> Expr:
        if isinstance(node, Call) and node.name == "stored":
            left = rewrite(substitute(node.args[0], lacking), _without_identity)
            if isinstance(left, Name) and left.name in program.inputs:
                return IfElse(Name(BARE), left, node)
        return node

    def changed(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(replace(s, value=rewrite(s.value, visit)) for s in statements)

    return replace(
        program,
        lift_lets=changed(program.lift_lets),
        aggregates=tuple(replace(a, operand=rewrite(a.operand, visit)) for a in program.aggregates),
        lets=changed(program.lets),
        results=changed(program.results),
        column_lets=changed(program.column_lets),
        column_results=changed(program.column_results),
    )


def _without_identity(node: Expr) -> Expr:
    """What has every bit of `x + -0.0` or of `x * 1`: x."""
    if not isinstance(node, Binary) or node.op not in "+*":
        return node
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(one, Number) and _is_identity(node.op, one.value):
            return other
    return node


def _is_identity(op: str, value: float) -> bool:
    return value == 1 if op == "*" else value == 0 and math.copysign(1, value) < 0
