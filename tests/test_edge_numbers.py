"""Numbers of ops at the ends of their ranges, and what they make of ordinary operands."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from devices import checkout_spec

import baracuda as bc
from baracuda.codegen import verify
from baracuda.codegen.verify.floats import next_after
from baracuda.codegen.verify.reference import bound_holds
from baracuda.errors import InvalidProblem
from baracuda.narrowing import folded

FLOATS = ("f16", "bf16", "f32", "f64")


def results(backend, name, direction, dtype, inputs, **fields):
    """The outputs of one run by name, as wide floats; inputs are rounded to the dtype."""
    shape = (len(next(iter(inputs.values()))),)
    problem = verify.Problem(checkout_spec().ops[name], direction, dtype, {"shape": shape, **fields})
    rounded = {key: verify.rounded(np.array(row, np.longdouble), dtype) for key, row in inputs.items()}
    return {key: verify.widened(y) for key, y in verify.run(backend, problem, rounded).items()}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("name", "fields", "sign"), [("softplus", {"param": 1.0}, 1), ("log_sigmoid", {}, -1)]
)
def test_at_zero_it_is_the_number_nearest_to_log_2(backend, name, fields, sign, dtype):
    x = [0.0, -0.0, 1e-30, -1e-30]
    got = results(backend, name, "forward", dtype, {"x": x}, **fields)["y"]
    want = verify.widened(verify.rounded(np.full(len(x), sign * np.log(np.longdouble(2))), dtype))
    np.testing.assert_array_equal(got, want)


BETAS = (0.125, 0.7, 2.0**-10, 37.0, 2.0**-20, 3e-9, 1.3 * 2.0**70, 1e30, 2e38)


@pytest.mark.parametrize(
    ("beta", "dtype"),
    [
        (beta, dtype)
        for dtype in ("bf16", "f32", "f64")
        for beta in BETAS
        if dtype != "bf16" or beta > 2.0**-17
    ],
)
def test_softplus_with_any_beta_far_below_zero(backend, beta, dtype):
    """Where exp(beta x) is subnormal, or rounds to 0, and its quotient by beta is not; and elsewhere."""
    if dtype != "f64":
        beta = float(np.float32(beta))
    powers = np.concatenate([-np.linspace(0.1, 103 if dtype != "f64" else 744, 97), [0, 5, 1000]])
    x = verify.widened(verify.rounded(np.array(powers / beta, np.longdouble), dtype))
    fields = {"param": beta, "param2": np.inf}
    got = results(backend, "softplus", "forward", dtype, {"x": x}, **fields)["y"]
    with mpmath.workdps(60):
        terms = [mpmath.mpf(float(one)) * mpmath.mpf(beta) for one in x]
        exact = [mpmath.log1p(mpmath.exp(-abs(term))) / beta + max(term, 0) / beta for term in terms]
        want = np.array([np.longdouble(mpmath.nstr(one, 25)) for one in exact])
    bound = checkout_spec().ops["softplus"].bounds("forward")[dtype]
    assert verify.largest_error(dtype, verify.rounded(got, dtype), want, None) <= bound


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_softplus_at_a_bound_that_the_product_would_lose(backend, dtype):
    """beta x underflows to 0, which is not above a bound of 0."""
    x, fields = [2.0**-140], {"param": 2.0**-20, "param2": 0.0}
    if dtype == "f64":
        x, fields = [2.0**-1060], {"param": 2.0**-20, "param2": 0.0}
    assert results(backend, "softplus", "forward", dtype, {"x": x}, **fields)["y"] == x
    assert results(backend, "softplus", "backward", dtype, {"dy": [3], "x": x}, **fields)["dx"] == 3


@pytest.mark.parametrize("bound", [3e38, 1e300, np.inf])
def test_softplus_with_a_bound_that_is_none(backend, bound):
    """However it is said that x is never taken for itself, its quotient by beta must not be beyond f32."""
    fields = {"param": 0.25, "param2": bound}
    got = results(backend, "softplus", "forward", "f32", {"x": [96, 1e38, np.inf]}, **fields)["y"]
    np.testing.assert_array_equal(got, np.float32([96, 1e38, np.inf]))
    y = results(backend, "softplus", "forward", "f64", {"x": [96]}, **fields)["y"]
    assert 96 < y[0] < 96 + 2e-10


BS = (4.0, 0.3, 1e-6, 1e-18, 1e-30, 1e-38, 1e-45, 1e20, 3.3e32, 3e38)
BS_OF_F64 = (5e-324, 1e-300, 1e-100, 1e150, 1e308)


@pytest.mark.parametrize(
    ("b", "dtype"),
    [*((b, dtype) for dtype in FLOATS for b in BS), *((b, "f64") for b in BS_OF_F64)],
)
def test_squareplus_with_any_b(backend, b, dtype):
    """Numbers of every size beside the root of b and of the dtype; slopes beside every size of dy."""
    if dtype != "f64":
        b = float(np.float32(b))
    low, high = {"f16": (-24, 15), "bf16": (-133, 127), "f32": (-149, 127), "f64": (-1074, 1023)}[dtype]
    powers = np.concatenate([np.log2(b) / 2 + np.linspace(-30, 30, 61), np.linspace(low, high, 200)])
    sizes = np.longdouble(2) ** powers[(low <= powers) & (powers <= high)]
    x = verify.widened(verify.rounded(np.concatenate([-sizes, sizes, [0]]), dtype))
    root = np.hypot(x, np.sqrt(np.longdouble(b)))
    other = b / (root + abs(x))
    values = np.where(x >= 0, x + root, other) / 2
    slopes = np.where(x >= 0, 1 + x / root, other / root) / 2
    op = checkout_spec().ops["squareplus"]
    y = results(backend, "squareplus", "forward", dtype, {"x": x}, param=b)["y"]
    with np.errstate(over="ignore"):
        right = np.where(np.isinf(verify.widened(verify.rounded(values, dtype))), y, values)  # 65504 + b
    assert verify.largest_error(dtype, verify.rounded(y, dtype), right, None) <= op.bounds("forward")[dtype]
    for power in (low + 1, low // 2, 0, high):
        dy = np.full(len(x), np.longdouble(1.25) * np.longdouble(2) ** power)
        dx = results(backend, "squareplus", "backward", dtype, {"dy": dy, "x": x}, param=b)["dx"]
        right = verify.widened(verify.rounded(dy, dtype)) * slopes
        error = verify.largest_error(dtype, verify.rounded(dx, dtype), right, None)
        assert error <= op.bounds("backward")[dtype], power


@pytest.mark.parametrize("dtype", FLOATS)
def test_squareplus_without_b_is_a_relu(backend, dtype):
    """At 0 it is 0, and its slope is what it is for every other b."""
    x = [np.nan, -np.inf, -2, -6e-8, -0.0, 0, 6e-8, 3, np.inf]
    numbers = [0.0] if dtype == "f64" else [0.0, 1e-46, 1e-320]  # f32 has none of the others
    for b in numbers:
        y = results(backend, "squareplus", "forward", dtype, {"x": x}, param=b)["y"]
        right = verify.widened(verify.rounded(np.maximum(np.array(x, np.longdouble), 0), dtype))
        np.testing.assert_array_equal(y, right)
        run = {"dy": [2] * len(x), "x": x}
        slope = results(backend, "squareplus", "backward", dtype, run, param=b)["dx"]
        np.testing.assert_array_equal(slope, [np.nan, 0, 0, 0, 1, 1, 2, 2, 2])


def test_the_bound_of_a_sum_is_for_terms_that_fit(backend):
    """Of dy a / b for a tiny b one term alone is beyond f32, of either sign, and infinities would meet."""
    fields = {"shape": (3, 2), "a_shape": (3, 2), "b_shape": (3, 1)}
    problem = verify.Problem(checkout_spec().ops["xlogy"], "backward", "f32", fields)
    values = {
        "dy": np.ones((3, 2)),
        "a": np.array([[3, -2], [1, 1], [1e30, np.inf]]),
        "b": [[1e-38], [2], [3]],
    }
    values = {name: np.array(value, np.float32) for name, value in values.items()}
    values["b"][0] = 1e-45
    holds = bound_holds(checkout_spec(), problem, values)["db"]
    np.testing.assert_array_equal(holds, [[False], [True], [True]])
    got = verify.run(backend, problem, values)["db"]
    assert np.isnan(got[0, 0])
    assert got[1:].tolist() == [[1], [np.inf]]


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("alpha", [1e-45, 9.99994610111476e-41, 1e-31, 3e-30, 1e30, 2e38])
def test_celu_with_any_alpha(backend, alpha, dtype):
    alpha = float(np.float32(alpha))
    x = np.array([-0.01, -1, -20, -80, 0.5]) * alpha
    x = verify.widened(verify.rounded(x.astype(np.longdouble), dtype))
    dy = np.full(len(x), 1.3e38)
    y = results(backend, "celu", "forward", dtype, {"x": x}, param=alpha)["y"]
    dx = results(backend, "celu", "backward", dtype, {"dy": dy, "x": x}, param=alpha)["dx"]
    power = np.minimum(x.astype(np.longdouble) / alpha, 0)
    op = checkout_spec().ops["celu"]
    right = np.where(x > 0, x, np.expm1(power) * alpha)
    assert verify.largest_error(dtype, verify.rounded(y, dtype), right, None) <= op.bounds("forward")[dtype]
    slope = verify.widened(verify.rounded(dy.astype(np.longdouble), dtype)) * np.exp(power)
    assert verify.largest_error(dtype, verify.rounded(dx, dtype), slope, None) <= op.bounds("backward")[dtype]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_a_number_that_vanishes_is_judged_as_0(backend, dtype):
    """Of 1e-46 f32 has 0, by which celu would divide and lerp stays at a."""
    right = r"param is 1e-46 \(0.0 in f32, in which celu is computed\), want .* and param > 0"
    with pytest.raises(InvalidProblem, match=right):
        results(backend, "celu", "forward", dtype, {"x": [1]}, param=1e-46)
    y = results(backend, "lerp", "forward", dtype, {"a": [2, 3], "b": [np.inf, 9]}, param=1e-46)["y"]
    np.testing.assert_array_equal(y, [2, 3])


@pytest.mark.parametrize("bound", [20.0, 1e300])
def test_a_number_that_is_refused_is_named_alone(backend, bound):
    message = "UnaryParamPlan: param is 1e-37, want numbers from which nothing follows that is beyond f32"
    with pytest.raises(InvalidProblem, match=message):
        results(backend, "softplus", "forward", "f32", {"x": [1]}, param=1e-37, param2=bound)


@pytest.mark.parametrize("element", [bc.ElementKind.F32, bc.ElementKind.F64])
@pytest.mark.parametrize("number", [-2.0, 0.0, 1e-320])
def test_a_number_without_a_scalar_is_refused_as_it_was_given(element, number):
    """An error of Python's arithmetic says no more of the call than that."""
    op = replace(bc.UnaryParamPlan.OPS[bc.UnaryKind.ELU], fold=lambda desc: (math.pow(desc.param, -0.5),))
    desc = bc.UnaryParamDescriptor(kind="elu", shape=(1,), element=element, param=number)
    if number > 0 and element is bc.ElementKind.F64:
        assert folded("UnaryParamPlan", op, desc, element, lambda _: ()) == (math.pow(number, -0.5),)
        return
    told = (
        re.escape(f"UnaryParamPlan: param is {number}") + r".*, want numbers that elu can be computed with \("
    )
    with pytest.raises(InvalidProblem, match=told):
        folded("UnaryParamPlan", op, desc, element, lambda _: ())


def test_numbers_that_are_refused_together_are_named_alone(backend):
    """Not those that fit, nor infinities that no bound at all means."""
    message = r": param2 is 1e\+39, param3 is -1e\+39, want numbers that fit f32"
    with pytest.raises(InvalidProblem, match=message):
        results(backend, "nan_to_num", "forward", "f32", {"x": [1]}, param=0.0, param2=1e39, param3=-1e39)
    with pytest.raises(InvalidProblem, match=r": param is 1e\+39, param2 is 1e\+39, want"):
        results(backend, "nan_to_num", "forward", "f32", {"x": [1]}, param=1e39, param2=1e39)


def test_a_number_beyond_f32_is_the_infinity_that_is_nearest(backend):
    """In both directions alike, where kernels have none such."""
    for direction, run in (("forward", {"x": [1]}), ("backward", {"dy": [1], "x": [1]})):
        with pytest.raises(InvalidProblem, match=r": param is 1e\+76( \(inf in f32, .*\))?, want"):
            results(backend, "squareplus", direction, "f32", run, param=1e76)
    y = results(backend, "softplus", "forward", "f32", {"x": [50, 1e38]}, param=1.0, param2=1e39)["y"]
    np.testing.assert_array_equal(y, np.float32([50, 1e38]))


def test_numbers_that_the_host_computes_with_alone_are_doubles():
    """RoPE's angles come from them in 40 digits: that they are none of f32 is no reason to refuse them."""
    sizes = {"batch_size": 1, "num_heads": 2, "seq_len": 8, "head_dim": 8}
    numbers = {"base": 1 + 1e-9, "factor": 8.0, "original_seq_len": 8192}
    desc = bc.RopeDescriptor(element="f32", scaling="yarn", **sizes, **numbers)
    bc.RopePlan.select(bc.Stream.host(), desc)


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_gradient_of_squareplus_at_its_worst(backend, dtype):
    """Results just below powers of two, whose last places are the smallest beside them; an infinite dy."""
    x = verify.widened(verify.rounded(-np.geomspace(0.01, 5, 4001).astype(np.longdouble), dtype))
    root = np.hypot(x, np.longdouble(2))
    slopes = 4 / (root - x) / root / 2
    dy = verify.rounded(2 ** np.ceil(np.log2(slopes)) / slopes * (1 - np.linspace(1e-5, 0.02, len(x))), dtype)
    run = {"dy": verify.widened(dy), "x": x}
    dx = results(backend, "squareplus", "backward", dtype, run, param=4.0)["dx"]
    error = verify.largest_error(dtype, verify.rounded(dx, dtype), verify.widened(dy) * slopes, None)
    assert error <= checkout_spec().ops["squareplus"].bounds("backward")[dtype]
    far = {"dy": [np.inf] * 4, "x": [-1, -1e4, -(1e25 if dtype != "f16" else 6e4), -np.inf]}
    dx = results(backend, "squareplus", "backward", dtype, far, param=1e-40)["dx"]
    np.testing.assert_array_equal(dx, [np.inf] * 3 + [np.nan])


def test_log_of_a_probability_near_1_is_a_negative_zero(backend):
    for dtype in FLOATS:
        y = results(backend, "log_ndtr", "forward", dtype, {"x": [40, np.inf]})["y"]
        assert (y == 0).all()
        assert np.signbit(y).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("bound", [20.0, 1.0, 2.5])
def test_softplus_compares_the_exact_product_with_its_bound(backend, bound, dtype):
    """Just below and above it for many betas: x is taken where beta x is above it, however that rounds."""
    betas = np.random.default_rng(5).uniform(0.1, 2, 200 if dtype in ("f32", "f64") else 40)
    for beta in betas if dtype == "f64" else map(float, np.float32(betas)):
        middle = verify.rounded(np.full(1, np.longdouble(bound) / beta), dtype)
        nearby = [next_after(verify.widened(middle), np.full(1, to), dtype) for to in (-np.inf, np.inf)]
        x = np.concatenate([verify.widened(one) for one in (nearby[0], middle, nearby[1])])
        fields = {"param": beta, "param2": bound}
        y = results(backend, "softplus", "forward", dtype, {"x": x}, **fields)["y"]
        dx = results(backend, "softplus", "backward", dtype, {"dy": [1] * 3, "x": x}, **fields)["dx"]
        above = [Fraction(float(one)) * Fraction(beta) > bound for one in x]
        for place, is_above in enumerate(above):
            if is_above or bound < 5 or dtype == "f64":  # at 20 the jump is below f32
                assert (y[place] == x[place]) == is_above, (beta, x[place])
                assert (dx[place] == 1) == is_above, (beta, x[place])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("bound", [1.5e-39, -3e-42, 2.0**-149, 4e-31, 5e-324, -1e-310, 1e-291])
def test_softplus_compares_with_a_tiny_bound(backend, bound, dtype):
    """Where the difference of the product and the bound would underflow."""
    rng = np.random.default_rng(6)
    bound = bound if dtype == "f64" else float(np.float32(bound))
    for beta in np.float32(rng.uniform(1, 2, 40)).astype(float) * 2.0 ** rng.integers(-60, 90, 40):
        middle = verify.rounded(np.full(1, np.longdouble(bound) / beta), dtype)
        nearby = [next_after(verify.widened(middle), np.full(1, to), dtype) for to in (-np.inf, np.inf)]
        x = np.concatenate([verify.widened(one) for one in (nearby[0], middle, nearby[1])])
        dx = results(
            backend, "softplus", "backward", dtype, {"dy": [1] * 3, "x": x}, param=beta, param2=bound
        )
        above = [Fraction(float(one)) * Fraction(beta) > Fraction(bound) for one in x]
        reached = [Fraction(float(one)) * Fraction(beta) > 60 for one in x]  # where the slope is 1 anyway
        assert (dx["dx"] == 1).tolist() == [*map(max, above, reached)], (beta, x)


@pytest.mark.parametrize("name", ["elu", "celu"])
def test_no_scale_is_infinite(backend, name):
    with pytest.raises(InvalidProblem, match="param is inf, want isfinite"):
        results(backend, name, "forward", "f32", {"x": [1]}, param=np.inf)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", ["i1", "i1e", "sinh", "expm1", "log1p"])
def test_what_rounds_to_zero_keeps_its_sign(backend, name, dtype):
    smallest = np.finfo(verify.numpy_dtype(dtype)).smallest_subnormal
    got = results(backend, name, "forward", dtype, {"x": [-smallest, smallest]})["y"]
    np.testing.assert_array_equal(np.signbit(got), [True, False])


@pytest.mark.parametrize(("dtype", "beta"), [("f32", 2.4e38), ("bf16", 5e-36), ("f64", 1e-306)])
def test_softplus_refuses_a_beta_that_it_could_not_serve(backend, dtype, beta):
    with pytest.raises(InvalidProblem, match=r"param is .*, want"):
        results(backend, "softplus", "forward", dtype, {"x": [0]}, param=beta)


def test_lgamma_of_16_bits_has_digits_around_its_roots(backend):
    x = verify.widened(verify.rounded(np.linspace(0.85, 2.15, 4000, dtype=np.longdouble), "f16"))
    got = results(backend, "lgamma", "forward", "f16", {"x": x})["y"]
    with mpmath.workdps(40):
        want = np.array([np.longdouble(mpmath.nstr(mpmath.loggamma(float(one)), 25)) for one in x])
    assert verify.largest_error("f16", verify.rounded(got, "f16"), want, None) <= 1
