"""Independent reference expressions over NumPy, math, scipy.special, mpmath, and functions of formulas.

Python's `ast` is walked with a list of what is allowed; nothing is passed to `eval`.
"""

from __future__ import annotations

import ast
import functools
import importlib
import math
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from baracuda.codegen.problems import suggest

from .errors import FormulaError
from .functions import FUNCTIONS
from .numeric import to_mpmath, to_wide

_MODULES = {
    "np": "numpy",
    "np.linalg": "numpy.linalg",
    "math": "math",
    "scipy": "scipy",
    "scipy.special": "scipy.special",
    "mpmath": "mpmath",
    "special": "special",
}
# What reads files, runs code or changes settings has no place in an expression.
_REFUSED = """
    load save savez savez_compressed savetxt loadtxt genfromtxt fromregex fromfile frombuffer memmap
    open_memmap DataSource vectorize frompyfunc apply_along_axis apply_over_axes piecewise fromfunction
    fromiter seterr seterrcall setbufsize set_printoptions show_config info test runtests doctests plot
    cplot splot
"""
_ATTRIBUTES = ("shape", "ndim", "size", "T", "real", "imag", "dtype")
_MPMATH_BITS = 160
_BINARY: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_UNARY: dict[type[ast.unaryop], Any] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Any] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def reference(text: str, env: Mapping[str, Any], *, keep: bool = False, exact: bool = True) -> Any:
    """The value of an independent expression over the arrays of `env`.

    Names under `np`, `math`, `scipy.special` and `mpmath` may be called, with keywords too; subscripts,
    tuples and lists work. Functions of `math` and `mpmath` go element by element, those of mpmath with
    160 bits; the result then has the widest float dtype of `env`. Raises `FormulaError` for anything else.

    `special.NAME` is a function of the formula language as SciPy or, where `exact`, mpmath has it.

    With `keep` the result of an expression that calls mpmath stays as it is, an array of objects. An
    expression that calls mpmath itself reads such values with all their digits, any other reads them rounded.
    """
    walker = _Walker(env, exact)
    tree = parse_reference(text)
    names = _names(text)
    calls = "mpmath" in names
    wide = [name for name in names if name in env and _is_wide(env[name])]
    with np.errstate(all="ignore"):
        if not calls and not wide:
            return walker.run(tree)
        import mpmath

        # The arithmetic between two calls of mpmath keeps its digits too.
        with mpmath.workprec(_MPMATH_BITS):
            if calls:
                value = walker.run(tree)
                return value if keep else walker.finish(value)
            walker.env = {**env, **{name: walker.finish(env[name]) for name in wide}}
        return walker.run(tree)


def _is_wide(value: Any) -> bool:
    """Whether a value is one of mpmath, or an array of such."""
    return (
        type(value).__module__.startswith("mpmath")
        or getattr(getattr(value, "dtype", None), "kind", "") == "O"
    )


def check_reference(text: str, known: set[str]) -> list[str]:
    """Check an expression without arrays: syntax, modules and names. Returns the names of `known` it uses."""
    walker = _Walker(dict.fromkeys(sorted(known)))
    used: list[str] = []
    for node in ast.walk(parse_reference(text)):
        if isinstance(node, (ast.Attribute, ast.Name)):
            dotted = _dotted(node)
            if isinstance(node, ast.Name) and node.id in known and node.id not in used:
                used.append(node.id)
            elif dotted is not None and dotted.split(".")[0] not in known:
                walker.module_name(node, dotted)
        elif not isinstance(node, _WALKED):
            raise FormulaError(f"`{type(node).__name__}` is not allowed in a reference", _column(node))
    return sorted(used)


@functools.lru_cache(maxsize=4096)
def parse_reference(text: str) -> ast.expr:
    """Python's tree of a reference expression, for reading: equal texts have one."""
    try:
        return ast.parse(" ".join(text.split()), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = getattr(error, "offset", None) or 1
        raise FormulaError("this is no expression: something is missing or too much", column) from None


@functools.lru_cache(maxsize=4096)
def _names(text: str) -> tuple[str, ...]:
    """The names in a reference expression, each once."""
    return tuple(
        dict.fromkeys(node.id for node in ast.walk(parse_reference(text)) if isinstance(node, ast.Name))
    )


_WALKED = (
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.UnaryOp,
    ast.BinOp,
    ast.Compare,
    ast.BoolOp,
    ast.IfExp,
    ast.Call,
    ast.keyword,
    ast.Subscript,
    ast.Slice,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
    ast.boolop,
)


def _column(node: ast.AST) -> int:
    return int(getattr(node, "col_offset", 0)) + 1


def _absent(dotted: str, error: ModuleNotFoundError) -> Callable[..., Any]:
    """What stands for a function of a package that is not installed: it says so when it is called."""

    def call(*_: Any, **__: Any) -> Any:
        raise ModuleNotFoundError(f"{dotted}: {error}; install baracuda[test]", name=error.name)

    return call


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return owner and f"{owner}.{node.attr}"
    return None


class _Walker:
    def __init__(self, env: Mapping[str, Any], exact: bool = True) -> None:
        self.env = env
        self.exact = exact

    def run(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.env[node.id] if node.id in self.env else self.module_name(node, node.id)
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        if isinstance(node, ast.Tuple):
            return tuple(self.run(item) for item in node.elts)
        if isinstance(node, ast.List):
            return [self.run(item) for item in node.elts]
        if isinstance(node, ast.UnaryOp):
            return _UNARY[type(node.op)](self.run(node.operand))
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](self.run(node.left), self.run(node.right))
        if isinstance(node, ast.Compare):
            return self.compare(node)
        if isinstance(node, ast.BoolOp):
            return self.bool_op(node)
        if isinstance(node, ast.IfExp):
            return self.run(node.body if self.run(node.test) else node.orelse)
        if isinstance(node, ast.Subscript):
            return self.run(node.value)[self.run(node.slice)]
        if isinstance(node, ast.Slice):
            return slice(*(part and self.run(part) for part in (node.lower, node.upper, node.step)))
        if isinstance(node, ast.Call):
            return self.call(node)
        raise FormulaError(f"`{type(node).__name__}` is not allowed in a reference", _column(node))

    def compare(self, node: ast.Compare) -> Any:
        result: Any = None
        left = self.run(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            if type(op) not in _COMPARE:
                raise FormulaError(f"`{type(op).__name__}` is not allowed in a reference", _column(node))
            right = self.run(right_node)
            pair = _COMPARE[type(op)](left, right)
            result = pair if result is None else np.logical_and(result, pair)
            left = right
        return result

    def bool_op(self, node: ast.BoolOp) -> Any:
        join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        result = self.run(node.values[0])
        for value in node.values[1:]:
            result = join(result, self.run(value))
        return result

    def attribute(self, node: ast.Attribute) -> Any:
        dotted = _dotted(node)
        if dotted is not None and dotted.split(".")[0] not in self.env:
            return self.module_name(node, dotted)
        if node.attr not in _ATTRIBUTES:
            raise FormulaError(f"`.{node.attr}` of a value is not allowed in a reference", _column(node))
        return getattr(self.run(node.value), node.attr)

    def module_name(self, node: ast.expr, dotted: str) -> Any:
        """What a dotted name under an allowed module stands for."""
        if dotted in _MODULES:
            return _MODULES[dotted]
        module, _, name = dotted.rpartition(".")
        column = _column(node)
        if module == "special":
            return self.special(name, column)
        if module not in _MODULES or module == "scipy":
            hint = suggest(dotted, [*self.env, *_MODULES])
            known = hint or "known here: " + ", ".join([*self.env, "np", "math", "scipy.special", "mpmath"])
            raise FormulaError(f"unknown name {dotted!r} ({known})", column)
        if _is_refused(name):
            raise FormulaError(f"{dotted!r} is not allowed in a reference", column)
        try:
            owner = importlib.import_module(_MODULES[module])
        except ModuleNotFoundError as error:
            # Only tests evaluate references: whoever generates need not have what they are written in.
            return _absent(dotted, error)
        found = getattr(owner, name, None)
        if found is None:
            hint = suggest(name, (known for known in dir(owner) if not _is_refused(known)), f"{module}.")
            raise FormulaError(f"unknown name {dotted!r}" + (f" ({hint})" if hint else ""), column)
        if isinstance(found, types.ModuleType):
            raise FormulaError(f"{dotted!r} is not allowed in a reference", column)
        return found

    def special(self, name: str, column: int) -> Callable[[Any], Any]:
        """A function of one number of the formula language, by SciPy in float64 or by mpmath."""
        function = FUNCTIONS.get(name)
        if function is None or function.most != 1:
            known = [key for key, other in FUNCTIONS.items() if other.most == 1]
            hint = suggest(name, known, "special.") or "docs/spec.md lists them"
            raise FormulaError(f"unknown name 'special.{name}' ({hint})", column)

        def call(x: Any) -> Any:
            wide = np.asarray(x, np.longdouble)
            return function.numpy(np, wide if self.exact else wide.astype(np.float64)).astype(np.longdouble)

        return call

    def call(self, node: ast.Call) -> Any:
        dotted = _dotted(node.func)
        given = self.env.get(dotted or "")
        if callable(given):
            return given(*(self.run(arg) for arg in node.args))
        if dotted is None or dotted.split(".")[0] in self.env or "." not in dotted:
            raise FormulaError(
                "only functions of np, math, scipy.special and mpmath are called", _column(node)
            )
        function = self.module_name(node.func, dotted)
        args = [self.run(arg) for arg in node.args]
        if any(keyword.arg is None for keyword in node.keywords):
            raise FormulaError("`**` before an argument is not allowed in a reference", _column(node))
        keywords = {str(keyword.arg): self.run(keyword.value) for keyword in node.keywords}
        module = dotted.split(".")[0]
        if module == "mpmath":
            return _each_mpmath(function, args, keywords)
        if module == "math" and any(np.ndim(arg) for arg in args):
            return _each_math(function, args)
        return function(*args, **keywords)

    def finish(self, value: Any) -> Any:
        """An mpmath result as an array of the widest float dtype of `env`."""
        floats = [
            item.dtype
            for item in self.env.values()
            if getattr(getattr(item, "dtype", None), "kind", "") == "f"
        ]
        dtype = np.result_type(*floats) if floats else np.dtype(np.float64)
        flat = [_from_mpmath(item, dtype) for item in np.asarray(value, dtype=object).ravel()]
        return np.array(flat, dtype=dtype).reshape(np.shape(value))


def _is_refused(name: str) -> bool:
    """Whether a module's name may not be read."""
    return name.startswith("_") or name in _REFUSED.split()


def _each_mpmath(function: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    def one(*values: Any) -> Any:
        return function(*(_to_mpmath(value) for value in values), **keywords)

    if any(isinstance(arg, np.ndarray) for arg in args):
        return np.frompyfunc(one, len(args), 1)(*args)
    return one(*args)


def _each_math(function: Any, args: list[Any]) -> Any:
    def one(*values: Any) -> float:
        try:
            return float(function(*values))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return np.frompyfunc(one, len(args), 1)(*args).astype(np.float64)


def _to_mpmath(value: Any) -> Any:
    if isinstance(value, np.floating):
        return to_mpmath(value)
    return int(value) if isinstance(value, np.integer) else value


def _from_mpmath(value: Any, dtype: Any) -> Any:
    import mpmath

    if isinstance(value, mpmath.mpc):
        return dtype.type(math.nan)
    if not isinstance(value, mpmath.mpf):
        return dtype.type(value)
    # By way of a longdouble a double would be rounded twice.
    return dtype.type(float(value)) if dtype.itemsize <= 8 else to_wide(value)
