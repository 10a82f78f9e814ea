"""Faults of functions element by element that people reported elsewhere: each stands for its whole kind."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from devices import checkout_spec

from baracuda.codegen import verify

NAN, INF = np.nan, np.inf
FLOATS = ("f16", "bf16", "f32", "f64")
WIDE = ("f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64")
GITHUB = "https://github.com"

PROPAGATE = f"{GITHUB}/torch/cutorch/issues/289"
TIES = f"{GITHUB}/pytorch/pytorch/issues/56734"
SIGNS = f"{GITHUB}/numba/numba/issues/8574"
QUOTIENTS = f"{GITHUB}/pytorch/pytorch/pull/50280"
POWERS = f"{GITHUB}/pytorch/pytorch/issues/8940"
ANGLES = f"{GITHUB}/pytorch/pytorch/issues/45605"
ZEROS = f"{GITHUB}/pytorch/pytorch/issues/186901"
NEAR_ZERO = f"{GITHUB}/ggml-org/ggml/pull/1515"
CASTS = f"{GITHUB}/pytorch/pytorch/issues/180159"
TAILS = f"{GITHUB}/pytorch/pytorch/issues/187806"
ENDS = f"{GITHUB}/tenstorrent/tt-metal/issues/53279"
SUBNORMAL = f"{GITHUB}/cupy/cupy/issues/8382"


@dataclass
class Case:
    """Inputs by name, a row each, and the right results; those of `ulp` 0 are met to the bit, but for NaN."""

    source: str
    op: str
    inputs: dict[str, Any]
    want: dict[str, Any]
    direction: str = "forward"
    dtypes: tuple[str, ...] = WIDE
    ulp: float = 0
    fields: dict[str, Any] = field(default_factory=dict)


CASES = [
    Case(PROPAGATE, "maximum", {"a": [NAN, 1, NAN], "b": [1, NAN, NAN]}, {"y": [NAN] * 3}, dtypes=FLOATS),
    Case(PROPAGATE, "minimum", {"a": [NAN, 1, NAN], "b": [1, NAN, NAN]}, {"y": [NAN] * 3}, dtypes=FLOATS),
    Case(PROPAGATE, "fmax", {"a": [NAN, 1, NAN], "b": [1, NAN, NAN]}, {"y": [1, 1, NAN]}, dtypes=FLOATS),
    Case(PROPAGATE, "fmin", {"a": [NAN, 1, NAN], "b": [1, NAN, NAN]}, {"y": [1, 1, NAN]}, dtypes=FLOATS),
    Case(
        PROPAGATE,
        "clamp_tensor",
        {"a": [NAN, 0.5, 0.5], "b": [0, NAN, 0], "c": [1, 1, NAN]},
        {"y": [NAN] * 3},
        dtypes=FLOATS,
    ),
    Case(
        PROPAGATE,
        "clamp_scalar",
        {"x": [NAN, 2, -1]},
        {"y": [NAN, 1, 0]},
        dtypes=FLOATS,
        fields={"param": 0.0, "param2": 1.0},
    ),
    Case(
        TIES,
        "maximum",
        {"dy": [1, 1, 1], "a": [2, 3, -INF], "b": [2, 2, -INF]},
        {"da": [0.5, 1, 0.5], "db": [0.5, 0, 0.5]},
        "backward",
        FLOATS,
    ),
    Case(SIGNS, "fmod", {"a": [-4, 4], "b": [10, -10]}, {"y": [-4, 4]}, dtypes=(*WIDE, *INTEGERS)),
    Case(SIGNS, "remainder", {"a": [-4, 4], "b": [10, -10]}, {"y": [6, -6]}, dtypes=(*WIDE, *INTEGERS)),
    Case(
        SIGNS, "remainder", {"a": [6.8, -1], "b": [1, INF]}, {"y": [0.7999999999999998, INF]}, dtypes=("f64",)
    ),
    Case(SIGNS, "fmod", {"a": [6.8, -1], "b": [1, INF]}, {"y": [0.7999999999999998, -1]}, dtypes=("f64",)),
    Case(SIGNS, "remainder", {"a": [-1], "b": [INF]}, {"y": [INF]}, dtypes=FLOATS),
    Case(SIGNS, "fmod", {"a": [-1], "b": [INF]}, {"y": [-1]}, dtypes=FLOATS),
    Case(
        QUOTIENTS,
        "floor_divide",
        {"a": [1, 10, 6, -1.75, -7], "b": [0.1, 0.1, 0.1, 0.08333333333333333, 2]},
        {"y": [9, 99, 59, -22, -4]},
        dtypes=("f64",),
    ),
    Case(QUOTIENTS, "floor_divide", {"a": [1], "b": [0.1]}, {"y": [9]}, dtypes=("f32",)),
    Case(QUOTIENTS, "floor_divide", {"a": [INF, 1, -1], "b": [1, 0, INF]}, {"y": [NAN, INF, -1]}),
    Case(POWERS, "pow", {"a": [0, 1, -2, -2], "b": [0, 0, 2, 3]}, {"y": [1, 1, 4, -8]}, dtypes=FLOATS),
    Case(POWERS, "pow", {"a": [-8], "b": [1 / 3]}, {"y": [NAN]}),
    Case(
        POWERS,
        "pow",
        {"a": [-1] * 4, "b": [2**23 - 0.5, 2**23 + 1, 2**24 - 1, 2**24]},
        {"y": [NAN, -1, -1, 1]},
        dtypes=("f32",),
    ),
    Case(POWERS, "pow", {"a": [0, 1, 2, -2], "b": [0, 0, 3, 3]}, {"y": [1, 1, 8, -8]}, dtypes=INTEGERS),
    Case(
        POWERS,
        "pow",
        {"dy": [1] * 4, "a": [0, 1, 0, 2], "b": [0, 0, 1, 1]},
        {"da": [0, 0, 1, 1], "db": [0, 0, 0, 1.3862943611198906]},
        "backward",
        ulp=4,
    ),
    Case(
        POWERS,
        "pow",
        {"dy": [1] * 3, "a": [-2, -2, -8], "b": [2, 3, 1 / 3]},
        {"da": [-4, 12, NAN], "db": [NAN] * 3},
        "backward",
        ulp=4,
    ),
    Case(
        ANGLES,
        "atan2",
        {"a": [0.0, -0.0, -0.0, -0.0], "b": [-0.0, -0.0, -1, 1]},
        {"y": [np.pi, -np.pi, -np.pi, -0.0]},
        dtypes=FLOATS,
        ulp=1,
    ),
    Case(
        ANGLES,
        "atan2",
        {"dy": [1, 1], "a": [0, 1e-30], "b": [0, 1e-30]},
        {"da": [0, 5e29], "db": [0, -5e29]},
        "backward",
        ("f32",),
        4,
    ),
    Case(ZEROS, "sign", {"x": [NAN, -0.0, 0.0, -2]}, {"y": [NAN, 0.0, 0.0, -1]}, dtypes=FLOATS),
    Case(ZEROS, "round", {"x": [0.5, 1.5, 2.5, -0.5]}, {"y": [0.0, 2, 2, -0.0]}, dtypes=FLOATS),
    Case(ZEROS, "ceil", {"x": [-0.5, -0.0]}, {"y": [-0.0, -0.0]}, dtypes=FLOATS),
    Case(ZEROS, "floor", {"x": [-0.0, 0.0]}, {"y": [-0.0, 0.0]}, dtypes=FLOATS),
    Case(
        NEAR_ZERO,
        "expm1",
        {"x": [1e-8, 1e-5, -1e-8]},
        {"y": [9.99999999392253e-09, 1.0000049746852e-05, -9.99999988882e-09]},
        dtypes=("f32",),
        ulp=4,
    ),
    Case(
        NEAR_ZERO,
        "log1p",
        {"x": [1e-8, 1e-5, -1e-8]},
        {"y": [9.999999889e-09, 9.999949748e-06, -9.999999989e-09]},
        dtypes=("f32",),
        ulp=4,
    ),
    *(
        Case(
            NEAR_ZERO,
            op,
            {"x": [-1e-8, -1e-5]},
            {"y": [-9.99999988882e-09, -9.9999497467e-06]},
            dtypes=("f32",),
            ulp=4,
        )
        for op in ("elu", "celu")
    ),
    Case(
        NEAR_ZERO,
        "softplus",
        {"x": [-100, 1e-8, 0]},
        {"y": [3.720075976020836e-44, 0.6931471855599453, 0.6931471805599453]},
        ulp=4,
    ),
    Case(
        NEAR_ZERO, "log_sigmoid", {"x": [100, 0]}, {"y": [-3.720075976020836e-44, -0.6931471805599453]}, ulp=4
    ),
    Case(
        TAILS,
        "gelu",
        {"x": [-5, -6, -8, 2]},
        {"y": [-1.4332578593959695e-06, -5.9195258702261885e-09, -4.976768459417427e-15, 1.9544997361036416]},
        ulp=4,
    ),
    Case(
        TAILS,
        "gelu_tanh",
        {"x": [-5, -6, -8, 2]},
        {"y": [-2.291796196629506e-07, -8.439646700762297e-11, -3.1077829375011112e-21, 1.954597694087775]},
        ulp=4,
    ),
    Case(
        ENDS,
        "lerp_tensor",
        {"a": [1e8, 1e8], "b": [1, 1], "c": [1, 0]},
        {"y": [1, 1e8]},
    ),
    Case(
        ENDS,
        "lerp_tensor",
        {"a": [1, 2], "b": [5, 7], "c": [0.25, 0.75]},
        {"y": [2, 5.75]},
        dtypes=FLOATS,
    ),
    Case(
        ENDS,
        "lerp_tensor",
        {"dy": [1, 1], "a": [1, 2], "b": [5, 7], "c": [0.25, 0.75]},
        {"da": [0.75, 0.25], "db": [0.25, 0.75], "dc": [4, 5]},
        "backward",
        FLOATS,
    ),
    Case(
        SUBNORMAL,
        "mul",
        {"a": [1.17549435e-38, 1.4e-45], "b": [0.5, 2]},
        {"y": [5.877472e-39, 2.8e-45]},
        dtypes=("f32",),
    ),
    Case(
        SUBNORMAL,
        "div",
        {"a": [1.17549435e-38, 2.8e-45], "b": [2, 2]},
        {"y": [5.877472e-39, 1.4e-45]},
        dtypes=("f32",),
    ),
    Case(SUBNORMAL, "exp", {"x": [-100]}, {"y": [3.720075976020836e-44]}, dtypes=("f32",), ulp=4),
    Case(
        TIES,
        "clamp_scalar",
        {"dy": [1, 1, 1, 1], "x": [0, 1, -1, 2]},
        {"dx": [1, 1, 0, 0]},
        "backward",
        FLOATS,
        fields={"param": 0.0, "param2": 1.0},
    ),
    Case(
        CASTS,
        "cast",
        {"x": [NAN, INF, -INF, 3e9, -3]},
        {"y": [0, 2**31 - 1, -(2**31), 2**31 - 1, -3]},
        dtypes=("f32", "f64"),
        fields={"target": "i32"},
    ),
    Case(CASTS, "cast", {"x": [-3, 300, NAN]}, {"y": [0, 255, 0]}, dtypes=FLOATS, fields={"target": "u8"}),
    Case(
        CASTS,
        "cast",
        {"x": [NAN, INF, -INF]},
        {"y": [0, 2**63 - 1, -(2**63)]},
        dtypes=FLOATS,
        fields={"target": "i64"},
    ),
]


@pytest.mark.parametrize(
    ("case", "dtype"),
    [
        pytest.param(case, dtype, id=f"{place}-{case.op}-{case.direction}-{dtype}")
        for place, case in enumerate(CASES)
        for dtype in case.dtypes
    ],
)
def test_what_was_reported(backend: Any, case: Case, dtype: str) -> None:
    op = checkout_spec().ops[case.op]
    shape = (len(next(iter(case.inputs.values()))),)
    problem = verify.Problem(op, case.direction, dtype, {"shape": shape, **case.fields})
    inputs = {
        name: verify.rounded(np.array(values, np.longdouble), dtype)
        if not verify.is_whole(dtype)
        else np.array(values, verify.numpy_dtype(dtype))
        for name, values in case.inputs.items()
        if name in problem.inputs()
    }
    got = verify.run(backend, problem, inputs)
    for name, values in case.want.items():
        kind = problem.dtype_of(name)
        if verify.is_whole(kind):
            assert got[name].tolist() == values
            continue
        want = verify.widened(verify.rounded(np.array(values, np.longdouble), kind))
        assert verify.largest_error(kind, got[name], want, None) <= case.ulp, got[name]
        zeros = want == 0
        np.testing.assert_array_equal(np.signbit(verify.widened(got[name]))[zeros], np.signbit(want)[zeros])


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_quotient_and_remainder_belong_together(backend: Any, dtype: str) -> None:
    """Of every pair: a is b times the quotient and the remainder, whose sign is b's; fmod has that of a."""
    values = verify.all_patterns(dtype)
    pairs = np.array(list(itertools.product(values.tolist(), values.tolist()))).astype(values.dtype)
    a, b = (np.ascontiguousarray(column) for column in pairs.T)
    ops = checkout_spec().ops
    found = {}
    for name in ("floor_divide", "remainder", "fmod"):
        problem = verify.Problem(ops[name], "forward", dtype, {"shape": a.shape})
        found[name] = verify.run(backend, problem, {"a": a, "b": b})["y"].astype(np.int64)
    quotient, rest, other = found["floor_divide"], found["remainder"], found["fmod"]
    wide_a, wide_b, there = a.astype(np.int64), b.astype(np.int64), b != 0
    assert (((quotient * wide_b + rest - wide_a) % 256 == 0) | ~there).all()
    for result, sign in ((rest, wide_b), (other, wide_a)):
        assert (np.abs(result)[there] < np.abs(wide_b)[there]).all()
        assert ((result == 0) | (np.sign(result) == np.sign(sign)))[there].all()
        assert (result[~there] == 0).all()


@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "f16", "bf16", "f32", "i32", "f64", "i64"])
def test_in_place_at_every_length(backend: Any, dtype: str) -> None:
    """A tail that was taken twice would undo the sign: github.com/dotnet/runtime/pull/92820."""
    op = checkout_spec().ops["bitwise_not" if dtype == "u8" else "neg"]
    for length in range(1, 68):
        x = np.arange(1, length + 1).astype(verify.numpy_dtype(dtype))
        want = ~x if dtype == "u8" else -x
        problem = verify.Problem(op, "forward", dtype, {"shape": (length,)})
        run = verify.prepare(backend, problem, {"x": x})
        shared = run.tensors["x"]
        run.plan.run(backend.stream, None, run.args(y=shared.array))
        np.testing.assert_array_equal(shared.values(backend), want)
