"""The references of functions of one number in mpmath, one number at a time, with as many bits as asked for.

It imports mpmath, so `baracuda.codegen.verify` does not import it.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from baracuda.codegen.formula import FUNCTIONS
from baracuda.codegen.formula.numeric import to_mpmath, to_wide
from baracuda.codegen.formula.specials import Special
from baracuda.codegen.spec.model import Spec
from baracuda.codegen.verify.floats import WIDE, integer_bits, ulp_errors
from baracuda.codegen.verify.problems import Problem
from baracuda.codegen.verify.reference import bound_holds, parts_of, scales

__all__ = ["BITS", "Judged", "judge", "references"]

BITS = 160


def _number(value: Any) -> Any:
    return value if isinstance(value, (mpmath.mpf, mpmath.mpc)) else mpmath.mpf(value)


def _of_mpmath(name: str) -> Any:
    return lambda *args: getattr(mpmath, name)(*(_number(arg) for arg in args))


def _cbrt(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _copysign(x: Any, y: Any) -> Any:
    return abs(x) if y >= 0 else -abs(x)


#: What references call of NumPy. None of the numbers here is NaN or a negative zero.
_NUMPY: dict[str, Any] = {
    **{name: _of_mpmath(name) for name in ("cos", "cosh", "exp", "expm1", "hypot", "log", "log10", "log1p")},
    **{name: _of_mpmath(name) for name in ("sin", "sinh", "sqrt", "tan", "tanh", "sign", "floor", "ceil")},
    **{f"arc{name}": _of_mpmath(f"a{name}") for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")},
    "abs": abs,
    "cbrt": _cbrt,
    "clip": lambda x, low, high: min(max(x, low), high),
    "copysign": _copysign,
    "exp2": lambda x: mpmath.power(2, x),
    "inf": mpmath.inf,
    "isfinite": mpmath.isfinite,
    "isinf": mpmath.isinf,
    "isnan": mpmath.isnan,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "logaddexp": lambda x, y: max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y))),
    "longdouble": mpmath.mpf,
    "maximum": max,
    "minimum": min,
    "mod": lambda x, y: x % y,
    "nan": mpmath.nan,
    "rint": mpmath.nint,
    "trunc": lambda x: mpmath.floor(x) if x >= 0 else mpmath.ceil(x),
}


class _Module:
    """Stands for `np` or `special`."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        self._find = functools.cache(find)

    def __getattr__(self, name: str) -> Any:
        return self._find(name)


#: Functions of the formula language that mpmath has by their name for every number.
_SAME = {"erf", "erfc"}


def _special(name: str) -> Any:
    """A function of the formula language; where it jumps or is not finite its value in longdouble."""
    function = FUNCTIONS[name].numpy

    def call(x: Any) -> Any:
        number = _number(x)
        if name in _SAME:
            return getattr(mpmath, name)(number)
        wide = np.array([to_wide(number)], WIDE)
        if isinstance(function, Special) and not function.edge(np, wide)[0]:
            return function.exact(mpmath, number)
        return to_mpmath(function(np, wide)[0])

    return call


class _Lazy(ast.NodeTransformer):
    """`np.where(c, a, b)` as `a if c else b`: the other branch may have no value; `|` and `&` as they are.

    `~c` as `not c`: the truth values here are Python's, whose `~` is that of integers.
    """

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "where":
            test, body, orelse = node.args
            return ast.copy_location(ast.IfExp(test, body, orelse), node)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Invert):
            return ast.copy_location(ast.UnaryOp(ast.Not(), node.operand), node)
        return node


@functools.cache
def _compiled(text: str) -> Any:
    tree = _Lazy().visit(ast.parse(" ".join(text.split()), mode="eval"))
    return compile(ast.fix_missing_locations(tree), "reference", "eval")


def references(
    problem: Problem,
    output: str,
    numbers: Mapping[str, Any],
    tensors: Mapping[str, Any],
    bits: int = BITS,
) -> Any:
    """An output at every element, in longdouble; NaN where the expression divides by zero.

    Args:
        problem: a problem of a family of maps.
        output: the name of one of its outputs.
        numbers: the op's numbers, by the names that its formulas have for them.
        tensors: float64 arrays of one dimension and one length, by the names that references have for them.
        bits: digits of the significands that it computes with.
    """
    text = problem.op.ref[output]
    lets = {name: _compiled(problem.op.ref_lets[name]) for name in parts_of(text, problem.op.ref_lets)}
    base: dict[str, Any] = {
        "np": _Module(_NUMPY.__getitem__),
        "special": _Module(_special),
        "inf": mpmath.inf,
        "integer_bits": integer_bits(problem.dtype),
    }
    found = []
    with mpmath.workprec(bits), np.errstate(all="ignore"):
        base |= {name: mpmath.mpf(value) for name, value in numbers.items()}
        for values in zip(*tensors.values(), strict=True):
            named = zip(tensors, values, strict=True)
            found.append(
                _one(_compiled(text), lets, base | {name: mpmath.mpf(float(value)) for name, value in named})
            )
    return np.array(found, WIDE)


def _one(code: Any, lets: Mapping[str, Any], env: dict[str, Any]) -> Any:
    try:
        for name, part in lets.items():
            env[name] = eval(part, {"__builtins__": {}}, env)
        return to_wide(_number(eval(code, {"__builtins__": {}}, env)))
    except ZeroDivisionError:
        return WIDE(np.nan)


@dataclass(frozen=True)
class Judged:
    """How far an output is from the exact one.

    Attributes:
        want: the exact values, in longdouble.
        errors: in units in the last place of `want` or of the spec's scale; 0 where nothing is judged.
        judged: where the spec states a bound and the reference has a value, or the output is NaN.
    """

    want: Any
    errors: Any
    judged: Any


def judge(
    spec: Spec, problem: Problem, tensors: Mapping[str, Any], results: Mapping[str, Any]
) -> dict[str, Judged]:
    """Hold what a kernel wrote against `references`.

    Args:
        spec: has the monoids that scales name.
        problem: a problem of a family of maps, over one axis.
        tensors: the inputs of both directions, float64 arrays of the domain's length.
        results: the outputs by name.
    """
    numbers = problem.numbers()
    exact = {name: references(problem, name, numbers, tensors) for name in results}
    sizes = scales(spec, problem, tensors, exact)
    holds = bound_holds(spec, problem, tensors)
    found = {}
    for name, got in results.items():
        errors = ulp_errors(problem.dtype, got, exact[name], sizes.get(name))
        judged = np.broadcast_to(holds.get(name, True), got.shape) & (np.isnan(got) | ~np.isnan(exact[name]))
        found[name] = Judged(exact[name], np.where(judged, errors, 0), judged)
    return found
