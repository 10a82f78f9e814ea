"""Every function of `baracuda/math.cuh`, for float and double, against oracles that share nothing with it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import pytest
from host_cpp import compile_library

from baracuda.compile import nvrtc

if TYPE_CHECKING:
    from baracuda.tensor import Device
from math_kernel import FLOAT_FUNCTIONS, TYPES, Apply, applying, assert_within, same, unit
from math_special_values import INF, NAN, PAIRS, SPECIAL


@pytest.fixture(scope="module", params=["f32", "f64"])
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def apply(dtype: str, device: Device) -> Apply:
    """Return a function that runs one function of the header on arrays."""
    return applying(dtype, device)


def rounded(value: Any, kind: Any) -> Any:
    """An mpmath number in the nearest value of a dtype, once rounded."""
    if isinstance(value, mpmath.mpc):
        return kind(math.nan)
    if mpmath.isinf(value) or mpmath.isnan(value):
        return kind(float(value))
    info = np.finfo(kind)
    if value == 0:
        return kind(0)
    # The grid of the dtype around the value, subnormals included.
    exponent = max(int(mpmath.floor(mpmath.log(abs(value), 2))), info.minexp)
    step = mpmath.mpf(2) ** (exponent - info.nmant)
    nearest = mpmath.nint(value / step) * step
    return kind(float(nearest)) if abs(nearest) <= float(info.max) else kind(math.copysign(math.inf, value))


def points(kind: Any, low: float, high: float) -> Any:
    """Values between two bounds: both signs, tiny ones, subnormals, halves and integers."""
    info = np.finfo(kind)
    rng = np.random.default_rng(11)
    magnitudes = [
        float(info.smallest_subnormal),
        float(info.tiny),
        1e-30,
        1e-9,
        1e-4,
        0.1,
        0.25,
        0.49,
        0.5,
        0.51,
    ]
    magnitudes += [
        0.75,
        0.999,
        1.0,
        1.001,
        1.5,
        2.0,
        2.5,
        3.7,
        5.0,
        6.5,
        10.0,
        26.0,
        80.0,
        104.0,
        700.0,
        745.0,
        1e4,
    ]
    some = np.concatenate([magnitudes, np.negative(magnitudes), rng.uniform(-5, 5, 30), [low, high]])
    values = np.unique(some.astype(kind))
    return values[(values >= low) & (values <= high)]


BIG = 1e4
# name: (mpmath's function, lowest argument, highest argument, bound in ulp)
UNARY: dict[str, tuple[Callable[[Any], Any], float, float, int]] = {
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), 1e-44, BIG, 2),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), -BIG, BIG, 1),
    "exp": (mpmath.exp, -BIG, BIG, 2),
    "exp2": (lambda x: mpmath.power(2, x), -BIG, BIG, 2),
    "exp10": (lambda x: mpmath.power(10, x), -BIG, BIG, 2),
    "expm1": (mpmath.expm1, -BIG, BIG, 2),
    "log": (mpmath.log, 1e-44, BIG, 2),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), 1e-44, BIG, 2),
    "log10": (mpmath.log10, 1e-44, BIG, 3),
    "log1p": (mpmath.log1p, -0.9999, BIG, 2),
    "sin": (mpmath.sin, -BIG, BIG, 2),
    "cos": (mpmath.cos, -BIG, BIG, 2),
    "tan": (mpmath.tan, -BIG, BIG, 4),
    "asin": (mpmath.asin, -1, 1, 4),
    "acos": (mpmath.acos, -1, 1, 4),
    "atan": (mpmath.atan, -BIG, BIG, 2),
    "sinh": (mpmath.sinh, -BIG, BIG, 3),
    "cosh": (mpmath.cosh, -BIG, BIG, 3),
    "tanh": (mpmath.tanh, -BIG, BIG, 3),
    "asinh": (mpmath.asinh, -BIG, BIG, 4),
    "acosh": (mpmath.acosh, 1, BIG, 4),
    "atanh": (mpmath.atanh, -0.9999, 0.9999, 4),
    "erf": (mpmath.erf, -BIG, BIG, 2),
    "erfinv": (mpmath.erfinv, -0.9999, 0.9999, 5),
    "tgamma": (mpmath.gamma, -34.6, 200, 10),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), -BIG, BIG, 4),
    "sqrt": (mpmath.sqrt, 0, BIG, 0),
    "reciprocal": (lambda x: 1 / x, -BIG, BIG, 0),
    "square": (lambda x: x * x, -BIG, BIG, 0),
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_argument(apply: Apply, dtype: str, name: str) -> None:
    exact, low, high, ulp = UNARY[name]
    x = points(TYPES[dtype], low, high)
    if name == "tgamma":
        x = x[(x > 0) | (x != np.floor(x))]
    if name in ("rsqrt", "reciprocal", "log", "log2", "log10"):
        x = x[x != 0]
    with mpmath.workprec(200):
        want = np.array([rounded(exact(mpmath.mpf(float(value))), TYPES[dtype]) for value in x])
    # mpmath has no signed zero: these functions keep the sign of a result that underflows.
    zero = want == 0
    want[zero] = (
        np.copysign(want[zero], x[zero]) if name in ("expm1", "sin", "erf", "reciprocal", "tgamma") else 0.0
    )
    assert_within(apply(name, x), want, ulp, x)


BINARY: dict[str, tuple[Callable[[Any, Any], Any], int]] = {
    "atan2": (mpmath.atan2, 3),
    "hypot": (mpmath.hypot, 3),
    "scaled_exp": (lambda x, y: x * mpmath.exp(y), 3),
    "scaled_exp2": (lambda x, y: x * mpmath.power(2, y), 3),
    "pow": (lambda x, y: mpmath.power(x, y) if x > 0 or y == int(y) else mpmath.nan, 5),
}


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arguments(apply: Apply, dtype: str, name: str) -> None:
    exact, ulp = BINARY[name]
    some = np.array([-30.5, -7, -2, -0.75, 0.3, 0.5, 1.0, 1.75, 3, 12, 40.5, 1e-5, 250]).astype(TYPES[dtype])
    x, y = (grid.ravel() for grid in np.meshgrid(some, some))
    with mpmath.workprec(200):
        pairs = [(mpmath.mpf(float(a)), mpmath.mpf(float(b))) for a, b in zip(x, y, strict=True)]
        want = np.array([rounded(exact(a, b), TYPES[dtype]) for a, b in pairs])
    if name == "pow":
        want[(want == 0) & (x < 0) & (y % 2 == 1)] = -0.0
    assert_within(apply(name, x, y), want, ulp, np.stack([x, y], -1))


@pytest.mark.parametrize(("name", "x", "want"), SPECIAL, ids=[name for name, _, _ in SPECIAL])
def test_special_values_of_one_argument(
    apply: Apply, device: Device, dtype: str, name: str, x: Any, want: Any
) -> None:
    got = apply(name, np.array(x))
    # CUDA's own functions need not be exact where the C library's are.
    ulp = 0 if device.kind == "host" or name not in UNARY else UNARY[name][3]
    assert_within(got, np.array(want).astype(got.dtype), ulp, np.array(x)) if got.dtype.kind == "f" else (
        np.testing.assert_array_equal(got, np.array(want).astype(got.dtype))
    )


@pytest.mark.parametrize(("name", "pairs", "want"), PAIRS, ids=[row[0] for row in PAIRS])
def test_special_values_of_two_arguments(apply: Apply, name: str, pairs: Any, want: Any) -> None:
    x, y = np.array(pairs, dtype=np.float64).T
    got = apply(name, x, y)
    keep = np.array([value is not None for value in want])
    same(got[keep], np.array([value for value in want if value is not None], dtype=np.float64))


def test_hypot_of_the_largest_numbers(apply: Apply, dtype: str) -> None:
    most = np.finfo(TYPES[dtype]).max
    same(apply("hypot", np.array([most, -3, most]), np.array([2, most, most])), [most, most, INF])


def test_quotients_follow_python(apply: Apply, dtype: str) -> None:
    rng = np.random.default_rng(3)
    a = np.concatenate([[1, 10, 6, -1.75, 6.8], rng.uniform(-50, 50, 300)])
    b = np.concatenate(
        [[0.1, 0.1, 0.1, 0.08333333333333333, 1], rng.choice([0.1, -0.3, 1, -2.5, 7, 1e-3], 300)]
    )
    if dtype == "f64":
        same(apply("floor_divide", a, b), [x // y for x, y in zip(a.tolist(), b.tolist(), strict=True)])
        same(apply("remainder", a, b), [x % y for x, y in zip(a.tolist(), b.tolist(), strict=True)])
    else:
        a, b = a.astype(np.float32), b.astype(np.float32)
        same(apply("floor_divide", a, b), np.floor_divide(a, b))
        same(apply("remainder", a, b), np.remainder(a, b))
    exact = [math.fmod(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    same(apply("fmod", a, b), exact)


def _extreme(values: tuple[float, ...], *, largest: bool, skip_nan: bool) -> float:
    numbers = [value for value in values if not math.isnan(value)]
    if not numbers or (len(numbers) < len(values) and not skip_nan):
        return NAN
    return (max if largest else min)(numbers, key=lambda value: (value, math.copysign(1, value)))


@pytest.mark.parametrize("name", ["max", "min", "fmax", "fmin"])
def test_extremes(apply: Apply, name: str) -> None:
    values = (0.0, -0.0, 1.0, -2.5, INF, -INF, NAN)
    pairs = list(itertools.product(values, repeat=2))
    want = [_extreme(pair, largest="max" in name, skip_nan=name[0] == "f") for pair in pairs]
    x, y = np.array(pairs).T
    same(apply(name, x, y), want)


def test_clamp(apply: Apply) -> None:
    rows = [
        (0.5, 0, 1),
        (-2, 0, 1),
        (2, 0, 1),
        (NAN, 0, 1),
        (0.5, NAN, 1),
        (0.5, 0, NAN),
        (0.5, 2, 1),
        (-0.0, 0.0, 1),
    ]
    same(apply("clamp", *np.array(rows).T), [0.5, 0, 1, NAN, NAN, NAN, 1, 0])


def test_fma_rounds_once(apply: Apply, dtype: str) -> None:
    info = np.finfo(TYPES[dtype])
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(400).astype(TYPES[dtype]) for _ in range(2))
    c = (-a * b * rng.choice([1, 1 + info.eps, 0.5, 1e-3], 400)).astype(TYPES[dtype])
    a[:3], b[:3], c[:3] = [info.max, INF, 0.0], [2, 0, -1], [-INF, 1, 0.0]
    with mpmath.workprec(2400):
        rows = zip(a[3:].tolist(), b[3:].tolist(), c[3:].tolist(), strict=True)
        want = [rounded(mpmath.mpf(x) * y + z, TYPES[dtype]) for x, y, z in rows]
    got = apply("fma", a, b, c)
    same(got[:3], [-INF, NAN, 0.0])
    same(got[3:], want)


def test_a_distance_is_a_double(apply: Apply, dtype: str) -> None:
    """Of two f32 nothing is lost that a double holds, and nothing is infinite."""
    info, infinite = np.finfo(TYPES[dtype]), np.array([[INF, 1], [INF, INF], [NAN, 1], [1, -INF]])
    rng = np.random.default_rng(7)
    x, y = (
        np.ldexp(rng.uniform(-1, 1, 400), rng.integers(-40, 40, 400)).astype(info.dtype) for _ in range(2)
    )
    x[:3], y[:3] = [info.max, info.tiny, 1], [-info.max, info.smallest_subnormal, 1]
    with np.errstate(over="ignore"):
        want = np.abs(x.astype(np.longdouble) - y.astype(np.longdouble)).astype(np.float64)
    same(apply("distance", x, y), want)
    assert np.isfinite(want).all() == (dtype == "f32")
    same(apply("distance", *infinite.T), [INF, NAN, NAN, INF])


def test_products_whose_parts_over_or_underflow(apply: Apply, dtype: str) -> None:
    """Factors of every size, whose product fits though products of two of them do not."""
    kind = TYPES[dtype]
    info = np.finfo(kind)
    rng = np.random.default_rng(6)
    most = info.maxexp - 2
    i, j = rng.integers(-most, most, (2, 4000))
    whole = {
        "scaled_product": (-(i + j), lambda a, b, c: a * b * c),
        "scaled_ratio": ((i + j) // 2, lambda a, b, c: a * b / (c * c)),
    }
    for name, (k, function) in whole.items():
        powers = np.stack([i, j, np.clip(k + rng.integers(-8, 8, i.size), -most, most)])
        x, y, z = (np.ldexp(rng.uniform(-1, 1, i.size), power).astype(kind) for power in powers)
        for values, zero in zip((x, y), (7, 11), strict=True):
            values[zero] = 0
        with mpmath.workprec(300):
            rows = zip(x.tolist(), y.tolist(), z.tolist(), strict=True)
            want = np.array([rounded(function(*map(mpmath.mpf, row)), kind) for row in rows])
        got = apply(name, x, y, z)
        assert np.count_nonzero(np.isfinite(want) & (want != 0)) > 3000
        assert_within(np.abs(got), np.abs(want), 4, x)
        assert np.array_equal(np.sign(got), np.sign(want))
    same(apply("scaled_product", [INF, 0, NAN], [1, 2, 1], [-1, INF, 1]), [-INF, NAN, NAN])
    same(apply("scaled_ratio", [INF, 0, NAN], [1, 2, 1], [-1, 0, 1]), [INF, NAN, NAN])


def test_products_with_a_power_of_e(apply: Apply, dtype: str) -> None:
    """Factors of every size and powers beyond the largest number, whose product fits."""
    kind = TYPES[dtype]
    info = np.finfo(kind)
    rng = np.random.default_rng(9)
    i, j = rng.integers(info.minexp - 20, info.maxexp - 2, (2, 4000))
    power = np.log(2) * (rng.uniform(info.minexp, info.maxexp, i.size) - i - j)
    x, y = (np.ldexp(rng.uniform(-1, 1, i.size), power_of_two).astype(kind) for power_of_two in (i, j))
    x[7] = y[11] = 0
    power = power.astype(kind)
    with mpmath.workprec(300):
        rows = zip(x.tolist(), y.tolist(), power.tolist(), strict=True)
        want = np.array([rounded(mpmath.mpf(a) * b * mpmath.exp(c), kind) for a, b, c in rows])
    got = apply("scaled_exp_product", x, y, power)
    assert np.count_nonzero(np.isfinite(want) & (want != 0)) > 3000
    assert_within(np.abs(got), np.abs(want), 3, power)
    assert np.array_equal(np.sign(got), np.sign(want))
    same(
        apply(
            "scaled_exp_product",
            [INF, 0, NAN, 2, 2, -0.0, -0.0, -0.0],
            [1, 2, 1, 1, 1, 1, 3, 1],
            [-1, INF, 1, INF, -INF, 1e9, 20, -0.6],
        ),
        [INF, NAN, NAN, INF, 0, -0.0, -0.0, -0.0],
    )


def test_products_at_a_scale(apply: Apply, dtype: str) -> None:
    """x * (y * scale) * z * last for powers of two, whatever over- or underflows on the way."""
    kind = TYPES[dtype]
    most = np.finfo(kind).maxexp - 2
    rng = np.random.default_rng(8)
    i, j, k = rng.integers(-most, most, (3, 4000))
    last = np.clip(rng.integers(-8, 8, i.size) - (i + j + k), -most, most)
    x, y = (np.ldexp(rng.uniform(0.5, 1, i.size), power).astype(kind) for power in (i, j))
    z = np.ldexp(rng.uniform(0.5, 1, i.size), rng.integers(-5, 90, i.size)).astype(kind)
    x[:20], y[20:40] = 0, -y[20:40]
    scale, further = (np.ldexp(1.0, power).astype(kind) for power in (k, last))
    with mpmath.workprec(300):
        rows = zip(*(part.tolist() for part in (x, y, scale, z, further)), strict=True)
        want = np.array([rounded(math.prod(map(mpmath.mpf, row)), kind) for row in rows])
    assert np.count_nonzero(np.isfinite(want) & (want != 0)) > 2000
    assert_within(apply("product_at_scale", x, y, scale, z, further), want, 2, x)
    same(apply("product_at_scale", [INF, NAN], [1, 1], [1, 1], [1, 1], [2, 2]), [INF, NAN])


def test_parts_of_a_number(apply: Apply, dtype: str) -> None:
    kind = TYPES[dtype]
    info = np.finfo(kind)
    x = np.concatenate(
        [points(kind, -BIG, BIG), [info.max, -info.max, info.tiny, info.smallest_subnormal * 3]]
    )
    x = x.astype(kind)
    parts = [math.frexp(float(value)) for value in x]
    same(apply("mantissa", x), [part for part, _ in parts])
    assert apply("exponent", x).tolist() == [power for _, power in parts]
    same(apply("ldexp", *np.array(parts).T), x)
    powers = np.resize([-160, -140, -30, -1, 0, 1, 30, 120, -1060, 1020], len(x))
    with mpmath.workprec(200):
        want = [rounded(mpmath.ldexp(float(v), int(n)), kind) for v, n in zip(x, powers, strict=True)]
    same(apply("ldexp", x, powers), np.copysign(np.array(want), x))


def test_nextafter(apply: Apply, dtype: str) -> None:
    kind = TYPES[dtype]
    info = np.finfo(kind)
    x = np.array([0.0, -0.0, 0.0, 1.0, 1.0, info.max, info.tiny, INF, NAN, 2.0], dtype=kind)
    y = np.array([1.0, 0.0, -1.0, 2.0, 0.0, INF, 0.0, 0.0, 1.0, 2.0], dtype=kind)
    least = info.smallest_subnormal
    want = [least, 0.0, -least, 1 + info.eps, 1 - info.epsneg, INF, info.tiny - least, info.max, NAN, 2.0]
    same(apply("nextafter", x, y), want)


def test_integers(apply: Apply) -> None:
    least = -(2**63)
    some = [0, 1, -1, 2, -7, 9, 10**12, least, 2**63 - 1]
    k, n, m = (np.array(column) for column in zip(*itertools.product(some, some, [0, 5]), strict=True))

    def wrapped(values: list[int]) -> list[int]:
        return [(value + 2**63) % 2**64 - 2**63 for value in values]

    rows = list(zip(k.tolist(), n.tolist(), m.tolist(), strict=True))
    assert apply("abs", k, integers=True).tolist() == wrapped([abs(a) for a, _, _ in rows])
    assert apply("sign", k, integers=True).tolist() == [(a > 0) - (a < 0) for a, _, _ in rows]
    assert apply("max", k, n, integers=True).tolist() == [max(a, b) for a, b, _ in rows]
    assert apply("min", k, n, integers=True).tolist() == [min(a, b) for a, b, _ in rows]
    assert apply("clamp", k, n, m, integers=True).tolist() == [min(max(a, b), c) for a, b, c in rows]
    assert apply("remainder", k, n, integers=True).tolist() == [a % b if b else 0 for a, b, _ in rows]
    quotients = wrapped([a // b if b else 0 for a, b, _ in rows])
    assert apply("floor_divide", k, n, integers=True).tolist() == quotients
    assert apply("square", np.array([-3, 7]), integers=True).tolist() == [9, 49]
    counts = np.resize([0, 1, 5, 62, 63, 64, -1], len(k))
    left = [a << by if 0 <= by < 64 else 0 for a, by in zip(k.tolist(), counts.tolist(), strict=True)]
    right = [a >> (by if 0 <= by < 64 else 63) for a, by in zip(k.tolist(), counts.tolist(), strict=True)]
    assert apply("shift_left", k, counts, integers=True).tolist() == wrapped(left)
    assert apply("shift_right", k, counts, integers=True).tolist() == right


def test_tails_keep_their_digits(apply: Apply, dtype: str) -> None:
    x = np.array([-100.0, -87.5, -50.0])
    with mpmath.workprec(200):
        want = [rounded(1 / (1 + mpmath.exp(-mpmath.mpf(value))), TYPES[dtype]) for value in x]
    assert np.all(np.array(want) > 0)
    assert_within(apply("sigmoid", x), np.array(want), 4, x)


def test_erfinv_up_to_its_ends(apply: Apply, dtype: str) -> None:
    kind = TYPES[dtype]
    gaps = np.float64(2) ** -np.arange(2, np.finfo(kind).nmant + 2)
    x = np.concatenate([1 - gaps, gaps - 1, np.linspace(0.9, 0.9999, 40), np.linspace(-0.6, -0.4, 40), gaps])
    x = x.astype(kind)
    with mpmath.workprec(200):
        want = np.array([rounded(mpmath.erfinv(mpmath.mpf(float(value))), kind) for value in x])
    assert_within(apply("erfinv", x), want, 5, x)


def test_every_function_is_tested() -> None:
    tested = set(UNARY) | set(BINARY) | {name for name, _, _ in SPECIAL} | {name for name, _, _ in PAIRS}
    assert set(FLOAT_FUNCTIONS) - tested == {
        *("max", "min", "fmax", "fmin", "clamp", "fma", "nextafter", "distance"),
        *("scaled_product", "scaled_ratio", "scaled_exp_product", "product_at_scale"),
    }


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_it_compiles_for_the_device_without_remarks(dtype: str, arch: str) -> None:
    artifact = nvrtc.compile_cubin(unit(dtype), arch)
    assert artifact.log.strip() == ""
    assert len(artifact.data) > 1000


def test_the_host_compiler_has_no_remarks(tmp_path: Path) -> None:
    text = """
#include <baracuda/math.cuh>
namespace baracuda {
template <class A> A all(A x, i64 k) {
    if (isnan(x) || isinf(x) || !isfinite(x) || signbit(x)) return nan<A>;
    return max(x, sign(x), square(x), inf<A>) + min(x, rsqrt(x), clamp(x, x, x)) + fmax(x, x, x)
         + fmin(x, x, x)
         + remainder(x, x) + floor_divide(x, x) + mantissa(x) + ldexp(x, exponent(x)) + sigmoid(x) + exp10(x)
         + erfinv(x) + A(remainder(k, k) + floor_divide(k, k) + max(k, k) + abs(k) + shift_left(k, 1))
         + limits<A>::max_value + A(limits<f16>::max_value) + A(limits<bf16>::epsilon);
}
}
extern "C" double probe(double x) { using baracuda::all; return all(x, 1) + double(all(float(x), 1)); }
"""
    compile_library(text, tmp_path, "-pedantic")


def test_limits(tmp_path: Path) -> None:
    names = ("max_value", "min_value", "smallest_normal", "smallest_subnormal", "epsilon", "is_half")
    rows = [
        f"double(limits<{kind}>::{name})" for kind in ("double", "float", "f16", "bf16") for name in names
    ]
    text = f"""
#include <baracuda/math.cuh>
using baracuda::limits, baracuda::f16, baracuda::bf16;
extern "C" void limits_of(double* out) {{
    const double all[] = {{{", ".join(rows)}}};
    for (int i = 0; i < {len(rows)}; ++i) out[i] = all[i];
}}
"""
    out = np.zeros(len(rows))
    compile_library(text, tmp_path).limits_of(np.ctypeslib.as_ctypes(out))
    import ml_dtypes

    infos = [
        np.finfo(np.float64),
        np.finfo(np.float32),
        np.finfo(np.float16),
        ml_dtypes.finfo(ml_dtypes.bfloat16),
    ]
    want = [
        float(value)
        for info in infos
        for value in (
            info.max,
            info.min,
            info.smallest_normal,
            info.smallest_subnormal,
            info.eps,
            info.bits == 16,
        )
    ]
    assert out.tolist() == want
