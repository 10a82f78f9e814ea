"""Formulas of the spec in PyTorch: what an op's error bound is a multiple of, and where it holds."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Mapping
from typing import Any

from baracuda.codegen.formula import (
    Binary,
    BoolOp,
    Call,
    Compare,
    Constant,
    Expr,
    IfElse,
    Name,
    Number,
    Unary,
    to_text,
)

__all__ = ["F32_LIMITS", "value"]

OPERATORS: Mapping[str, Any] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
#: What the bounds of maps call; another is refused by name.
FUNCTIONS = (
    "abs",
    "exp",
    "exp2",
    "isfinite",
    "isinf",
    "isnan",
    "lgamma",
    "log",
    "log1p",
    "pow",
    "sigmoid",
    "sqrt",
)
PAIRS = {"max": "maximum", "min": "minimum"}
F32_LIMITS = {
    "max_value": (2 - 2.0**-23) * 2.0**127,
    "min_value": -(2 - 2.0**-23) * 2.0**127,
    "smallest_normal": 2.0**-126,
    "smallest_subnormal": 2.0**-149,
    "epsilon": 2.0**-23,
    "is_half": False,
}


def value(torch: Any, expr: Expr, env: Mapping[str, Any], limits: Mapping[str, float] = F32_LIMITS) -> Any:
    """The formula's value for float64 tensors and numbers by name.

    Raises:
        NotImplementedError: it has a part that no bound has had yet.
    """

    place = next((value.device for value in env.values() if isinstance(value, torch.Tensor)), None)

    def of(node: Expr) -> Any:
        if isinstance(node, Number):
            return node.value
        if isinstance(node, Name) and node.name in env:
            return env[node.name]
        if isinstance(node, Constant):
            return limits[node.name] if node.name in limits else getattr(math, node.name)
        if isinstance(node, Unary) and node.op == "-":
            return -of(node.operand)
        if isinstance(node, Unary) and node.op == "not":
            return torch.logical_not(torch.as_tensor(of(node.operand), device=place))
        if isinstance(node, Binary) and node.op in OPERATORS:
            return OPERATORS[node.op](of(node.left), of(node.right))
        if isinstance(node, Compare):
            parts = [of(part) for part in node.operands]
            pairs = zip(node.ops, parts[:-1], parts[1:], strict=True)
            return functools.reduce(operator.and_, (OPERATORS[sign](a, b) for sign, a, b in pairs))
        if isinstance(node, BoolOp):
            join = operator.and_ if node.op == "and" else operator.or_
            return functools.reduce(join, map(of, node.operands))
        if isinstance(node, IfElse):
            condition, then, other = map(of, (node.condition, node.then, node.other))
            if isinstance(condition, bool):
                return then if condition else other
            return torch.where(condition, then, other)
        if isinstance(node, Call) and node.name in PAIRS:
            args = [torch.as_tensor(of(arg), dtype=torch.float64, device=place) for arg in node.args]
            return functools.reduce(getattr(torch, PAIRS[node.name]), args)
        if isinstance(node, Call) and node.name in FUNCTIONS:
            args = [torch.as_tensor(of(arg), device=place) for arg in node.args]
            return getattr(torch, node.name)(*args)
        raise NotImplementedError(f"{to_text(node)} in the bound {to_text(expr)}")

    return of(expr)
