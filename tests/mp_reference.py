"""The references of functions of one number in mpmath, one number at a time with 160 bits."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np

from baracuda.codegen import verify
from baracuda.codegen.formula import FUNCTIONS
from baracuda.codegen.formula.numeric import to_mpmath, to_wide
from baracuda.codegen.verify.floats import WIDE
from baracuda.codegen.verify.reference import parts_of

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

    def __init__(self, find: Any) -> None:
        self._find = find

    def __getattr__(self, name: str) -> Any:
        return self._find(name)


def _special(name: str) -> Any:
    """A function of the formula language, which is mpmath's in longdouble."""

    def call(x: Any) -> Any:
        value = FUNCTIONS[name].numpy(np, np.array([to_wide(_number(x))], WIDE))[0]
        return to_mpmath(value)

    return call


class _Lazy(ast.NodeTransformer):
    """`np.where(c, a, b)` as `a if c else b`: the other branch may have no value; `|` and `&` as they are."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "where":
            test, body, orelse = node.args
            return ast.copy_location(ast.IfExp(test, body, orelse), node)
        return node


@functools.cache
def _compiled(text: str) -> Any:
    tree = _Lazy().visit(ast.parse(" ".join(text.split()), mode="eval"))
    return compile(ast.fix_missing_locations(tree), "reference", "eval")


def references(
    problem: verify.Problem, output: str, numbers: Mapping[str, Any], tensors: Mapping[str, Any]
) -> Any:
    """An output at every element, in longdouble; NaN where the expression divides by zero."""
    lets, text = problem.op.ref_lets, problem.op.ref[output]
    base = {"np": _Module(_NUMPY.__getitem__), "special": _Module(_special), "inf": mpmath.inf}
    found = []
    with mpmath.workprec(BITS), np.errstate(all="ignore"):
        base |= {name: mpmath.mpf(value) for name, value in numbers.items()}
        for values in zip(*tensors.values(), strict=True):
            env = base | {name: mpmath.mpf(float(value)) for name, value in zip(tensors, values, strict=True)}
            found.append(_one(text, lets, env))
    return np.array(found, WIDE)


def _one(text: str, lets: Mapping[str, str], env: dict[str, Any]) -> Any:
    try:
        for name in parts_of(text, lets):
            env[name] = eval(_compiled(lets[name]), {"__builtins__": {}}, env)
        return to_wide(_number(eval(_compiled(text), {"__builtins__": {}}, env)))
    except ZeroDivisionError:
        return WIDE(np.nan)
