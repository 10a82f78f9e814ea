"""A formula's value in NumPy, and the magnitude against which its rounding is judged."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from .functions import FUNCTIONS
from .nodes import Expr
from .typed import Typed, elaborate
from .types import BOOL, COMPUTE, F64, INT, WIDE, Type, state

_OPERATORS: dict[str, Any] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def evaluate(
    expr: Expr,
    env: Mapping[str, Any],
    xp: Any = np,
    want: Type | None = None,
    limits: Mapping[str, float] | None = None,
) -> Any:
    """The formula's value for the arrays of `env`, by the rules and in the rounding steps of its C++.

    `env` holds arrays (float32, float64 or longdouble; integers; bool), Python scalars (a float is an f64
    attribute) and mappings (states). The result has the widest float dtype of the arrays, float64 when there
    is none, int64 or bool. `limits` gives max_value and the like; by default those of the compute dtype.
    """
    return _Evaluator(expr, env, xp, want, limits).run(magnitude=False)


def magnitude(
    expr: Expr,
    env: Mapping[str, Any],
    xp: Any = np,
    want: Type | None = None,
    limits: Mapping[str, float] | None = None,
) -> Any:
    """The sum of absolute terms, of which rounding errors are a fraction of about one last place.

    |a| + |b| for sums and differences, the product for products and quotients, that of the chosen branch for
    conditionals and max or min, |value| for leaves and all other functions. Never below |value|, never NaN
    where the value is not. Arguments as for `evaluate`.
    """
    return _Evaluator(expr, env, xp, want, limits).run(magnitude=True)


def type_of(value: Any) -> Type:
    """The type that a value of `env` has."""
    if isinstance(value, Mapping):
        return state({name: type_of(item) for name, item in value.items()})
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT
    if isinstance(value, float) and not isinstance(value, np.generic):
        return F64
    dtype = np.dtype(getattr(value, "dtype", type(value)))
    if dtype.kind == "b":
        return BOOL
    if dtype.kind in "iu":
        return INT
    if dtype.kind == "f" and dtype.itemsize >= 4:
        return COMPUTE
    raise TypeError(f"a formula is evaluated on float32, float64, longdouble, integers or bool, got {dtype}")


class _Evaluator:
    def __init__(
        self,
        expr: Expr,
        env: Mapping[str, Any],
        xp: Any,
        want: Type | None,
        limits: Mapping[str, float] | None,
    ) -> None:
        self.xp = xp
        self.values: dict[str, Any] = {}
        for name, value in env.items():
            if isinstance(value, Mapping):
                self.values.update({f"{name}.{field}": item for field, item in value.items()})
            else:
                self.values[name] = value
        floats = [value.dtype for value in self.values.values() if type_of(value) == COMPUTE]
        compute = np.result_type(*floats) if floats else np.dtype(np.float64)
        self.dtypes = {
            COMPUTE: compute,
            # Beside a longdouble reference, attributes are not the place to lose digits.
            F64: np.result_type(compute, np.float64),
            WIDE: np.result_type(compute, np.float64),
            INT: np.dtype(np.int64),
            BOOL: np.dtype(np.bool_),
        }
        self.limits = limits
        self.tree = elaborate(expr, {name: type_of(value) for name, value in env.items()}, want)
        self.known: dict[int, Any] = {}

    def run(self, *, magnitude: bool) -> Any:
        with np.errstate(all="ignore"):
            return self.xp.asarray(self.magnitude(self.tree) if magnitude else self.value(self.tree))

    def value(self, node: Typed) -> Any:
        key = id(node)
        if key not in self.known:
            self.known[key] = self._value(node)
        return self.known[key]

    def _value(self, node: Typed) -> Any:
        dtype = self.dtypes[node.type]
        if node.kind == "literal":
            return dtype.type(node.value)
        if node.kind == "constant":
            return dtype.type(getattr(math, node.text))
        if node.kind == "limit":
            return dtype.type(self.limit(node.text))
        if node.kind == "name":
            return self.xp.asarray(self.values[node.text]).astype(dtype)
        args = [self.value(arg) for arg in node.args]
        if node.kind == "cast":
            return args[0].astype(dtype)
        if node.kind == "unary":
            return self.unary(node.text, args[0])
        if node.kind == "binary" and node.text in ("<<", ">>"):
            return self.shift(node.text, *args)
        if node.kind in ("binary", "compare"):
            return _OPERATORS[node.text](*args)
        if node.kind == "logic":
            join = self.xp.logical_and if node.text == "and" else self.xp.logical_or
            result = args[0]
            for arg in args[1:]:
                result = join(result, arg)
            return result
        if node.kind == "select":
            return self.xp.where(*args)
        return FUNCTIONS[node.text].numpy(self.xp, *(self.xp.asarray(arg) for arg in args))

    def unary(self, sign: str, value: Any) -> Any:
        if sign == "not":
            return self.xp.logical_not(value)
        return -value if sign == "-" else ~value if sign == "~" else value

    def shift(self, sign: str, value: Any, count: Any) -> Any:
        """Shifts by an amount outside 0..63 give what is left when every bit is gone."""
        outside = (count < 0) | (count > 63)
        inside = self.xp.where(outside, 0, count)
        if sign == "<<":
            return self.xp.where(outside, 0, self.xp.left_shift(value, inside))
        return self.xp.where(outside, self.xp.right_shift(value, 63), self.xp.right_shift(value, inside))

    def limit(self, name: str) -> Any:
        if self.limits is not None:
            return self.limits[name]
        info = np.finfo(self.dtypes[COMPUTE])
        return {
            "max_value": info.max,
            "min_value": info.min,
            "smallest_normal": info.smallest_normal,
            "smallest_subnormal": info.smallest_subnormal,
            "epsilon": info.eps,
            "is_half": info.bits == 16,
        }[name]

    def magnitude(self, node: Typed) -> Any:
        size = self.xp.abs(self.value(node)) if node.type != BOOL else self.value(node)
        if node.type == BOOL:
            return size
        return self.xp.fmax(self._magnitude(node, size), size)

    def _magnitude(self, node: Typed, size: Any) -> Any:
        if node.kind in ("cast", "unary") and node.text != "~":
            return self.magnitude(node.args[0]).astype(size.dtype)
        if node.kind == "binary" and node.text in "+-*/":
            a, b = (self.magnitude(arg) for arg in node.args)
            if node.text == "*":
                return a * b
            if node.text == "/":
                below = self.xp.abs(self.value(node.args[1]))
                return (a / below) * (b / below)
            return a + b
        if node.kind == "select":
            return self.xp.where(self.value(node.args[0]), *(self.magnitude(arg) for arg in node.args[1:]))
        if node.kind == "call":
            return self.call_magnitude(node, size)
        return size

    def call_magnitude(self, node: Typed, size: Any) -> Any:
        parts = [self.magnitude(arg) for arg in node.args]
        if node.text in ("abs", "copysign"):
            return parts[0]
        if node.text == "square":
            return parts[0] * parts[0]
        if node.text == "fma":
            return parts[0] * parts[1] + parts[2]
        if node.text in ("max", "min", "fmax", "fmin", "clamp"):
            result = size
            for arg, part in zip(node.args, parts, strict=True):
                result = self.xp.fmax(result, self.xp.where(self.value(arg) == self.value(node), part, size))
            return result
        return size
