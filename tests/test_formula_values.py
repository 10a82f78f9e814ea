"""A formula's C++, compiled here, and its NumPy value agree bit for bit; magnitudes and references."""

from __future__ import annotations

import ctypes
import random
import sys
from typing import Any

import mpmath
import numpy as np
import pytest
from host_cpp import compile_library
from math_kernel import SPECIAL_FUNCTIONS
from scipy import special
from special_cases import CASES

from baracuda.codegen.formula import (
    BOOL,
    COMPUTE,
    F64,
    INT,
    STATE,
    Expr,
    FormulaError,
    Type,
    check_reference,
    evaluate,
    infer,
    magnitude,
    parse,
    reference,
    to_cuda,
    to_text,
)

COUNT = 240
TYPES: dict[str, Type] = {
    "x": COMPUTE,
    "y": COMPUTE,
    "i": INT,
    "k": INT,
    "w": F64,
    "hit": BOOL,
    "a": STATE({"m": COMPUTE, "e": INT}),
}
# What IEEE 754 or this library defines to the last bit.
EXACT_ONE = (
    "abs",
    "sign",
    "square",
    "reciprocal",
    "sqrt",
    "rsqrt",
    "floor",
    "ceil",
    "trunc",
    "round",
    "mantissa",
)
EXACT_TWO = ("fmod", "remainder", "floor_divide", "copysign", "nextafter", "max", "min", "fmax", "fmin")
LITERALS = ("0", "1", "2", "7", "0.5", "0.1", "1e-5", "3e30", "-1", "-0.0", "inf", "-inf", "nan", "pi")
LIMITS = ("max_value", "min_value", "smallest_normal", "smallest_subnormal", "epsilon")


class Grammar:
    """Random formulas, most of them odd, all of them well typed."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def number(self, depth: int) -> str:
        choose = self.pick
        if depth == 0:
            leaves = ("x", "y", "x", "y", "a.m", "w", "i", choose.choice(LITERALS), choose.choice(LIMITS))
            return choose.choice(leaves)
        a, b = self.number(depth - 1), self.number(choose.randrange(depth))
        kind = choose.randrange(12)
        if kind < 5:
            return f"({a}) {choose.choice('+-*/')} ({b})"
        if kind == 5:
            return f"({a}) {choose.choice(('%', '//'))} ({b})"
        if kind == 6:
            return choose.choice((f"-({a})", f"({a}) ** 2", f"ldexp({a}, {self.integer(1)})"))
        if kind == 7:
            return f"{choose.choice(EXACT_ONE)}({a})"
        if kind == 8:
            return f"{choose.choice(EXACT_TWO)}({a}, {b})"
        if kind == 9:
            return choose.choice((f"clamp({a}, {b}, y)", f"max({a}, {b}, x)", f"fma({a}, {b}, x)"))
        if kind == 10:
            return f"{a} + ({self.integer(1)})"
        return f"({a}) if {self.condition(depth - 1)} else ({b})"

    def integer(self, depth: int) -> str:
        choose = self.pick
        if depth == 0:
            return choose.choice(("i", "k", "a.e", "3", "-2", "0", "exponent(x)"))
        a, b = self.integer(0), self.integer(0)
        kind = choose.randrange(6)
        if kind == 0:
            return f"{choose.choice(('max', 'min', 'remainder', 'floor_divide'))}({a}, {b})"
        if kind == 1:
            return f"{choose.choice(('abs', 'sign', '~', '-'))}({a})"
        if kind == 2:
            return f"({a}) {choose.choice(('<<', '>>'))} (({b}) & 15)"
        if kind == 3:
            return f"({a}) if {self.condition(0)} else ({b})"
        return f"({a}) {choose.choice(('+', '-', '*', '//', '%', '&', '|', '^'))} ({b})"

    def condition(self, depth: int) -> str:
        choose = self.pick
        if depth == 0:
            return choose.choice(
                ("hit", "x < y", "i != k", "isnan(x)", "signbit(y)", "0 <= x < 1", "isfinite(a.m)")
            )
        kind = choose.randrange(5)
        a, b = self.condition(depth - 1), self.condition(0)
        if kind == 0:
            return f"({a}) {choose.choice(('and', 'or'))} ({b})"
        if kind == 1:
            return f"not ({a})"
        if kind == 2:
            return f"({a}) {choose.choice(('==', '!='))} ({b})"
        sign = choose.choice(("<", "<=", "==", "!=", ">", ">="))
        return f"({self.number(depth - 1)}) {sign} ({self.number(0)})"


def formulas() -> list[Expr]:
    grammar = Grammar(20)
    texts = [grammar.number(1 + index % 4) for index in range(COUNT)]
    texts += [grammar.integer(1) for _ in range(COUNT // 2)]
    texts += [grammar.condition(1 + index % 2) for index in range(COUNT // 4)]
    return [parse(text) for text in texts]


FORMULAS = formulas()
RESULTS = [infer(tree, TYPES) for tree in FORMULAS]
CPP_RESULT = {COMPUTE: "A", F64: "double", INT: "i64", BOOL: "bool"}


def program() -> str:
    """One C++ file with every formula for float and for double."""
    names = {name: f"{name}[j]" for name in TYPES}
    cases = []
    for index, (tree, kind) in enumerate(zip(FORMULAS, RESULTS, strict=True)):
        out = f"static_cast<{CPP_RESULT[kind]}*>(out)[j]"
        cases.append(f"case {index}: {out} = {to_cuda(tree, TYPES, kind, names)}; break;")
    body = "\n".join(cases)
    return f"""
#include <baracuda/math.cuh>
using baracuda::i64;
template <class T> struct State {{ T m; i64 e; }};
template <class T> void run(int which, int count, const T* x, const T* y, const i64* i, const i64* k,
                            const double* w, const bool* hit, const State<T>* a, void* out) {{
    using A = T;
    for (int j = 0; j < count; ++j) switch (which) {{
{body}
    }}
}}
#define EXPORT(name, T)                                                                        \\
    extern "C" void name(int which, int count, const T* x, const T* y, const i64* i,           \\
                         const i64* k, const double* w, const bool* hit, const State<T>* a,    \\
                         void* out) {{                                                          \\
        run<T>(which, count, x, y, i, k, w, hit, a, out);                                      \\
    }}
EXPORT(run_float, float)
EXPORT(run_double, double)
"""


def inputs(dtype: Any) -> dict[str, Any]:
    """Random and special values, every pair of special ones among them."""
    rng = np.random.default_rng(7)
    info = np.finfo(dtype)
    special_values = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.0, np.inf, -np.inf, np.nan, info.max, info.tiny]
    special_values += [info.smallest_subnormal, -info.smallest_subnormal, 1 - info.epsneg, 1e-3]
    x, y = (grid.ravel() for grid in np.meshgrid(special_values, special_values))
    scale = 10.0 ** rng.uniform(-6, 6, 200)
    x = np.concatenate([x, rng.standard_normal(200) * scale]).astype(dtype)
    y = np.concatenate([y, rng.standard_normal(200)]).astype(dtype)
    count = len(x)
    state = np.zeros(count, dtype=np.dtype([("m", dtype), ("e", np.int64)], align=True))
    state["m"], state["e"] = rng.permutation(x), rng.integers(-40, 40, count)
    return {
        "x": x,
        "y": y,
        "i": rng.integers(-9, 10, count),
        "k": rng.choice([0, 1, -1, 5, -(10**6), 2**40], count),
        "w": rng.choice([0.0, 0.1, 1.0, -3.5, 1e-300, np.inf, np.nan, 2.0 / 3.0], count),
        "hit": rng.random(count) < 0.5,
        "state": state,
    }


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    # Random formulas compare things with themselves.
    return compile_library(program(), tmp_path_factory.mktemp("formulas"), "-Wno-tautological-compare")


def same_bits(got: Any, want: Any) -> Any:
    if got.dtype.kind == "f":
        bits = f"u{got.dtype.itemsize}"
        return (got.view(bits) == want.view(bits)) | (np.isnan(got) & np.isnan(want))
    return got == want


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cpp_and_numpy_agree_bit_for_bit(library: ctypes.CDLL, dtype: Any) -> None:
    data = inputs(dtype)
    run = library.run_float if dtype == np.float32 else library.run_double
    pointers = [ctypes.c_void_p(data[name].ctypes.data) for name in ("x", "y", "i", "k", "w", "hit", "state")]
    arrays = {name: data[name] for name in ("x", "y", "i", "k", "hit")}
    arrays["a"] = {"m": data["state"]["m"], "e": data["state"]["e"]}
    count = len(data["x"])
    numpy_types = {COMPUTE: dtype, F64: np.float64, INT: np.int64, BOOL: np.bool_}
    for index, (tree, kind) in enumerate(zip(FORMULAS, RESULTS, strict=True)):
        got = np.zeros(count, numpy_types[kind])
        run(index, count, *pointers, ctypes.c_void_p(got.ctypes.data))
        # An attribute is a scalar; one value after the other stands for its runs.
        for value in np.unique(data["w"]):
            at = (data["w"] == value) | (np.isnan(data["w"]) & np.isnan(value))
            env = {name: _part(array, at) for name, array in arrays.items()}
            want = np.broadcast_to(evaluate(tree, env | {"w": float(value)}, want=kind), (int(at.sum()),))
            agree = same_bits(got[at], np.ascontiguousarray(want))
            first = int(np.argmin(agree))
            assert agree.all(), (
                f"{to_text(tree)}: {got[at][first]!r}, want {want[first]!r}, w={value}, {_row(env, first)}"
            )


def _part(array: Any, at: Any) -> Any:
    return {name: item[at] for name, item in array.items()} if isinstance(array, dict) else array[at]


def _row(env: dict[str, Any], index: int) -> str:
    return ", ".join(f"{name}={_part(array, index)!r}" for name, array in env.items())


def test_the_random_formulas_reach_everything() -> None:
    text = "\n".join(to_text(tree) for tree in FORMULAS)
    for word in (
        *EXACT_ONE,
        *EXACT_TWO,
        *LIMITS,
        "clamp",
        "fma",
        "ldexp",
        "exponent",
        " if ",
        " and ",
        " or ",
        "not ",
    ):
        assert word in text
    for sign in (
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "**",
        "&",
        "|",
        "^",
        "<<",
        ">>",
        "~",
        "<",
        "<=",
        "==",
        "!=",
        ">",
        ">=",
    ):
        assert f"{sign} " in text or sign in "~"
    assert {str(kind) for kind in RESULTS} == {"a float", "a float (f64)", "an integer", "a condition"}


def test_random_formulas_survive_printing() -> None:
    for tree in FORMULAS:
        assert parse(to_text(tree)) == tree


X = np.array([-3.0, -0.5, 0.25, 2.0])


def test_evaluate_keeps_the_dtype() -> None:
    tree = parse("x * 0.1 + eps")
    for dtype in (np.float32, np.float64, np.longdouble):
        assert evaluate(tree, {"x": X.astype(dtype), "eps": 1e-6}).dtype == dtype
    assert evaluate(parse("i + 1"), {"i": np.arange(3, dtype=np.int32)}).dtype == np.int64
    assert evaluate(parse("x > 0"), {"x": X}).dtype == np.bool_
    assert evaluate(parse("1 + 1"), {}).dtype == np.float64
    assert evaluate(parse("1 + 1"), {}, want=INT).dtype == np.int64
    with pytest.raises(TypeError, match="got float16"):
        evaluate(tree, {"x": X.astype(np.float16), "eps": 1.0})


def test_evaluate_rounds_where_the_kernel_does() -> None:
    x = np.float32([16777216.0])
    assert evaluate(parse("x + 1 - x"), {"x": x})[0] == 0
    assert evaluate(parse("x * 0.1"), {"x": np.float32([3])})[0] == np.float32(3) * np.float32(0.1)
    assert evaluate(parse("i * x"), {"i": np.array([16777217]), "x": np.float32([1])})[0] == np.float32(
        16777216
    )
    # 1 - w is exact in double and is rounded once.
    third = evaluate(parse("x * (1 - w)"), {"x": np.float32([1]), "w": 1 / 3})[0]
    assert third == np.float32(1 - 1 / 3)
    assert evaluate(parse("1 / 3 * x"), {"x": np.float32([1])})[0] == np.float32(1) / np.float32(3)


def test_evaluate_uses_given_limits() -> None:
    limits = {
        "max_value": 65504.0,
        "min_value": -65504.0,
        "smallest_normal": 2.0**-14,
        "smallest_subnormal": 2.0**-24,
        "epsilon": 2.0**-10,
        "is_half": True,
    }
    tree = parse("clamp(x, min_value, max_value)")
    assert list(evaluate(tree, {"x": np.float32([1e6, -1e6])}, limits=limits)) == [65504.0, -65504.0]
    assert evaluate(parse("max_value + 0 * x"), {"x": X})[0] == np.finfo(np.float64).max
    tree = parse("x if is_half else -x")
    assert list(evaluate(tree, {"x": X}, limits=limits)) == list(X)
    assert list(evaluate(tree, {"x": X})) == list(-X)


@pytest.mark.parametrize(
    "name",
    ["erf", "erfinv", "tgamma", "cbrt", "exp10", "sigmoid", *SPECIAL_FUNCTIONS],
)
def test_longdouble_has_its_own_digits(name: str) -> None:
    x = np.longdouble([0.1, 0.3, 0.75, 0.9])
    got = evaluate(parse(f"{name}(x)"), {"x": x})
    exact = {
        **{name: case.exact for name, case in CASES.items()},
        "exp10": lambda v: mpmath.mpf(10) ** v,
        "sigmoid": lambda v: 1 / (1 + mpmath.exp(-v)),
        "tgamma": mpmath.gamma,
    }
    with mpmath.workprec(200):
        for value, result in zip(x, got, strict=True):
            high = float(value)
            point = mpmath.mpf(high) + mpmath.mpf(float(value - np.longdouble(high)))
            want = exact.get(name, getattr(mpmath, name, None))(point)
            head = float(result)
            error = mpmath.mpf(head) + mpmath.mpf(float(result - np.longdouble(head))) - want
            assert abs(error) < abs(want) * float(4 * np.finfo(np.longdouble).eps)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("x - 1", [4, 1.5, 1.25, 3]),
        ("x - 1 + 1", [5, 2.5, 2.25, 4]),
        ("x * (x - 1)", [12, 0.75, 0.3125, 6]),
        ("-(x - 1)", [4, 1.5, 1.25, 3]),
        ("abs(x - 1)", [4, 1.5, 1.25, 3]),
        ("(x - 2) ** 2", [25, 6.25, 5.0625, 16]),
        ("exp(x - 1)", np.exp(X - 1)),
        ("x - 1 if x > 0 else x", [3, 0.5, 1.25, 3]),
        ("max(x - 2, 0)", [0, 0, 0, 4]),
        ("max(x - 1, 0)", [0, 0, 0, 3]),
        ("6 / (x - 1)", [1.5, 4, 40 / 3, 18]),
        ("(x - 1) / 2", [2, 0.75, 0.625, 1.5]),
        ("fma(x, x, -4)", [13, 4.25, 4.0625, 8]),
        ("copysign(x - 1, -1)", [4, 1.5, 1.25, 3]),
    ],
)
def test_magnitude(text: str, want: Any) -> None:
    assert np.allclose(magnitude(parse(text), {"x": X}), want, rtol=1e-14)


def test_magnitude_is_never_below_the_value_nor_nan() -> None:
    data = inputs(np.float64)
    env = {name: data[name] for name in ("x", "y", "i", "k", "hit")} | {"w": 0.1}
    env["a"] = {"m": data["state"]["m"], "e": data["state"]["e"]}
    for tree, kind in zip(FORMULAS, RESULTS, strict=True):
        if kind in (COMPUTE, F64):
            value, size = np.abs(evaluate(tree, env)), magnitude(tree, env)
            assert np.all((size >= value) | np.isnan(value)), to_text(tree)


def test_reference() -> None:
    x = np.array([[0.5, -1.0, 2.0], [3.0, 0.0, -0.25]])
    rows = "np.log(np.sum(np.exp(x - np.max(x, axis=-1, keepdims=True)), axis=axes)) + np.max(x, axis=-1)"
    assert np.allclose(reference(rows, {"x": x, "axes": -1}), special.logsumexp(x, axis=-1))
    env = {"x": x, "i": np.array([1, 0])}
    assert np.array_equal(
        reference("np.where((x > 0) & (x < 1), x, -x)", env), np.where((x > 0) & (x < 1), x, -x)
    )
    assert np.array_equal(reference("x[:, 1:][0, ::-1]", env), x[:, 1:][0, ::-1])
    assert np.array_equal(reference("x[(i, i)]", env), x[[1, 0], [1, 0]])
    assert np.array_equal(reference("x * scipy.special.expit(x)", env), x * special.expit(x))
    assert np.array_equal(reference("np.linalg.norm(x, axis=1)", env), np.linalg.norm(x, axis=1))
    assert np.allclose(reference("math.erf(x)", env), special.erf(x), rtol=1e-15)
    assert np.isnan(reference("math.sqrt(x)", env)[0, 1])
    assert reference("x.shape[0] if x.ndim == 2 else None", env) == 2
    assert np.array_equal(reference("0 < x < 1", env), (x > 0) & (x < 1))
    assert np.array_equal(reference("x > 0 and x < 1 or not 1", env), (x > 0) & (x < 1))
    assert reference("np.stack([x, -x], axis=0)", env).shape == (2, 2, 3)


def test_reference_with_mpmath_keeps_its_digits() -> None:
    x = np.array([1e-20, 1e-3, 40.0], dtype=np.longdouble)
    got = reference("mpmath.exp(x) - 1", {"x": x})
    assert got.dtype == np.longdouble
    assert np.allclose(got.astype(np.float64), np.expm1(x.astype(np.float64)), rtol=1e-15)
    assert reference("mpmath.erf(x)", {"x": np.float32([0.5])}).dtype == np.float32
    assert reference("mpmath.quad(mpmath.sin, (0, mpmath.pi)) + x", {"x": np.array([1.0])})[0] == 3.0
    assert np.isnan(reference("mpmath.log(x)", {"x": np.array([-1.0])})[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x +", "this is no expression: something is missing or too much"),
        ("np.load('x')", "'np.load' is not allowed in a reference, at column 1"),
        ("np.__dict__", "'np.__dict__' is not allowed in a reference, at column 1"),
        ("np.lib", "'np.lib' is not allowed in a reference, at column 1"),
        ("np.expp(x)", "unknown name 'np.expp' (did you mean 'np.exp'?), at column 1"),
        (
            "scipy.special.xlogi(x)",
            "unknown name 'scipy.special.xlogi' (did you mean 'scipy.special.xlogy'?), at column 1",
        ),
        ("special.expp(x)", "unknown name 'special.expp' (did you mean 'special.exp'?), at column 1"),
        ("np.lod(x)", "unknown name 'np.lod' (did you mean 'np.mod'?), at column 1"),  # not np.load
        (
            "os.system('x')",
            "unknown name 'os.system' (known here: x, np, math, scipy.special, mpmath), at column 1",
        ),
        ("scipy.optimize.root(x)", "unknown name 'scipy.optimize.root'"),
        ("z + 1", "unknown name 'z' (known here: x, np, math, scipy.special, mpmath), at column 1"),
        ("x.__class__", "`.__class__` of a value is not allowed in a reference, at column 1"),
        ("x.tofile", "`.tofile` of a value is not allowed in a reference, at column 1"),
        ("x.sum()", "only functions of np, math, scipy.special and mpmath are called, at column 1"),
        ("abs(x)", "only functions of np, math, scipy.special and mpmath are called, at column 1"),
        ("(lambda: x)()", "only functions of np, math, scipy.special and mpmath are called, at column 1"),
        ("lambda: x", "`Lambda` is not allowed in a reference, at column 1"),
        ("[y for y in x]", "`ListComp` is not allowed in a reference, at column 1"),
        ("np.exp(**x)", "`**` before an argument is not allowed in a reference, at column 1"),
        ("x in x", "`In` is not allowed in a reference, at column 1"),
    ],
)
def test_what_is_no_reference(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as caught:
        reference(text, {"x": X})
    assert str(caught.value).startswith(message)


def test_a_reference_is_checked_without_arrays() -> None:
    known = {"x", "dy", "axes"}
    assert check_reference("dy * np.sum(x, axis=axes, keepdims=True)", known) == ["axes", "dy", "x"]
    for text in ("np.expp(x)", "y + 1", "np.load(x)", "lambda: x", "[x for x in x]", "os.system(x)"):
        with pytest.raises(FormulaError):
            check_reference(text, known)


def test_a_reference_is_checked_without_the_packages_that_evaluate_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever generates has neither mpmath nor SciPy."""
    for module in ("mpmath", "scipy.special"):
        monkeypatch.setitem(sys.modules, module, None)
        check_reference(f"{module}.log1p(x) + 1", {"x"})
    with pytest.raises(ModuleNotFoundError, match=r"scipy\.special\.log1p: .*install baracuda\[test\]"):
        reference("scipy.special.log1p(x)", {"x": np.ones(2)})
