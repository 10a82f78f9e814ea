"""Faults that people reported elsewhere, with the right values: each stands for its whole kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from baracuda.codegen import verify
from baracuda.errors import InvalidProblem

NAN, INF = np.nan, np.inf


@dataclass
class Case:
    """One call with its right result.

    `x` has the shape that it is reduced from, over `axis`; `want` are the exact values, met to `ulp` places.
    Where no dy is given it is ones.
    """

    source: str
    kind: str
    x: Any
    want: Any
    axis: Any = 0
    dtypes: tuple[str, ...] = ("f32", "f64")
    fields: dict[str, Any] = field(default_factory=dict)
    dy: Any = None
    ulp: float | None = None
    name: str = ""


GITHUB = "https://github.com"
HALF = ("f16", "bf16")
EVERY = ("f16", "bf16", "f32", "f64")

NORM = f"{GITHUB}/numpy/numpy/issues/8775"
STD = f"{GITHUB}/data-apis/array-api/issues/334"
SHIFTED = f"{GITHUB}/microsoft/onnxruntime/issues/28463"
LOGSUMEXP = f"{GITHUB}/pytorch/pytorch/issues/31829"
PROPAGATE = f"{GITHUB}/apache/tvm/issues/19518"
HALVES = f"{GITHUB}/pytorch/pytorch/issues/91597"
EMPTY = f"{GITHUB}/NVIDIA/cuCollections/issues/75"
SCALAR = f"{GITHUB}/csarofeen/pytorch/pull/1771"

FORWARD = [
    Case(NORM, "norm2", [600, 800], [1000], dtypes=("f16",), name="half-overflow"),
    Case(NORM, "norm2", [200, 200, 200], [346.41016151377545], dtypes=("f16", "f32"), name="half"),
    Case(NORM, "norm2", [3e30, 4e30], [5e30], dtypes=("f32", "bf16"), ulp=8, name="large"),
    Case(NORM, "norm2", [3e-30, 4e-30], [5e-30], dtypes=("f32", "bf16"), ulp=8, name="small"),
    Case(NORM, "norm2", [3e200, 4e200], [5e200], dtypes=("f64",), ulp=8, name="large-double"),
    Case(NORM, "norm2", [3e-200, 4e-200], [5e-200], dtypes=("f64",), ulp=8, name="small-double"),
    Case(NORM, "norm2", [3e30, 4e-30, 0], [3e30], dtypes=("f32",), ulp=2, name="both"),
    Case(NORM, "norm2", [0, 0], [0], dtypes=EVERY, name="zero"),
    Case(NORM, "norm2", [INF, 1], [INF], dtypes=EVERY, name="infinite"),
    Case(NORM, "norm2", [-INF, NAN], [NAN], dtypes=EVERY, name="nan"),
    Case(STD, "var", [5], [NAN], fields={"correction": 1}, name="one-sample"),
    Case(STD, "var", [5], [0], fields={"correction": 0}, name="one-population"),
    Case(STD, "std", [5], [0], fields={"correction": 0}, name="one-population"),
    Case(STD, "var", [1, 3], [NAN], fields={"correction": 2}, name="no-freedom"),
    Case(STD, "var", [1, 3], [NAN], fields={"correction": 3}, name="never-negative"),
    Case(STD, "std", [1, 3], [NAN], fields={"correction": 3}, name="never-negative"),
    Case(SHIFTED, "var", [40000, 40001, 40002, 40003], [1.25], fields={"correction": 0}, name="large-mean"),
    Case(
        SHIFTED, "var", [1234.0] * 256, [0], fields={"correction": 0}, dtypes=("f32", "f64"), name="constant"
    ),
    Case(SHIFTED, "var", [1e8, 1e8 + 8, 1e8 + 16], [128 / 3], fields={"correction": 0}, name="larger-mean"),
    Case(SHIFTED, "std", [0.1] * 10, [0], fields={"correction": 0}, dtypes=EVERY, name="constant-tenths"),
    Case(SHIFTED, "std", [0.1] * 5000, [0], fields={"correction": 1}, dtypes=EVERY, name="constant-long"),
    Case(LOGSUMEXP, "logsumexp", [-INF, -INF], [-INF], dtypes=EVERY, name="empty-row"),
    Case(LOGSUMEXP, "logsumexp", [-INF, 1], [1], dtypes=EVERY, name="one-term"),
    Case(LOGSUMEXP, "logsumexp", [INF, 1], [INF], dtypes=EVERY, name="infinite"),
    Case(LOGSUMEXP, "logsumexp", [NAN, 1], [NAN], dtypes=EVERY, name="nan"),
    Case(LOGSUMEXP, "logsumexp", [1000, 1000], [1000.6931471805599], dtypes=("f32", "f64"), name="large"),
    Case(LOGSUMEXP, "logsumexp", [-1000, -1000], [-999.3068528194401], dtypes=("f32", "f64"), name="small"),
    Case(PROPAGATE, "max", [1, NAN, 3], [NAN], dtypes=EVERY, name="nan"),
    Case(PROPAGATE, "min", [1, NAN, 3], [NAN], dtypes=EVERY, name="nan"),
    Case(PROPAGATE, "max", [NAN] * 5, [NAN], dtypes=EVERY, name="all-nan"),
    Case(PROPAGATE, "min", [*range(1024), NAN], [NAN], dtypes=EVERY, name="nan-in-the-last-place"),
    Case(PROPAGATE, "max", [-INF, -INF], [-INF], dtypes=EVERY, name="infinite"),
    Case(HALVES, "mean", [40000] * 3, [40000], dtypes=HALF, name="sum-beyond-the-kind"),
    Case(HALVES, "mean", np.ones(100000), [1], dtypes=EVERY, name="many-ones"),
    Case(HALVES, "sum", [32000] * 4 + [-32000] * 4, [0], dtypes=EVERY, name="partial-sums"),
    Case(HALVES, "sum", np.ones(4096), [4096], dtypes=EVERY, name="more-than-digits"),
    Case(HALVES, "logsumexp", np.zeros(65536), [11.090354888959125], dtypes=EVERY, name="many-terms"),
    Case(EMPTY, "sum", np.zeros((1, 0)), [[0]], axis=1, dtypes=EVERY, name="empty"),
    Case(EMPTY, "prod", np.zeros((1, 0)), [[1]], axis=1, dtypes=EVERY, name="empty"),
    Case(EMPTY, "mean", np.zeros((1, 0)), [[NAN]], axis=1, dtypes=EVERY, name="empty"),
    Case(EMPTY, "var", np.zeros((1, 0)), [[NAN]], axis=1, dtypes=EVERY, name="empty"),
    Case(EMPTY, "norm2", np.zeros((1, 0)), [[0]], axis=1, dtypes=EVERY, name="empty"),
    Case(EMPTY, "logsumexp", np.zeros((1, 0)), [[-INF]], axis=1, dtypes=EVERY, name="empty"),
    Case(EMPTY, "sum", np.zeros(0), [0], dtypes=EVERY, name="full-empty"),
    Case(EMPTY, "sum", np.zeros((3, 0)), [[0], [0], [0]], axis=1, dtypes=EVERY, name="three-zeros"),
    Case(EMPTY, "max", np.zeros((0, 3)), np.zeros((0, 1)), axis=1, dtypes=EVERY, name="no-rows"),
    Case(SCALAR, "sum", 3.0, 3.0, axis=(), name="scalar"),
    Case(SCALAR, "max", 3.0, 3.0, axis=(), name="scalar"),
    Case(SCALAR, "std", 3.0, 0.0, axis=(), fields={"correction": 0}, name="scalar"),
    # The sum of prefixes that no kind holds, and a product that no partial product does.
    Case(
        f"{GITHUB}/tinygrad/tinygrad/pull/17404",
        "prod",
        [1e-30, 1e-30, 1e30, 1e30],
        [1],
        ulp=16,
        name="underflow",
    ),
    Case(
        f"{GITHUB}/tinygrad/tinygrad/pull/17404",
        "prod",
        [1e30, 1e30, 1e-30, 1e-30],
        [1],
        ulp=16,
        name="overflow",
    ),
]

PROD = f"{GITHUB}/tinygrad/tinygrad/pull/17404"
ZERO_NORM = f"{GITHUB}/pytorch/pytorch/issues/2421"
ZERO_STD = f"{GITHUB}/pytorch/pytorch/issues/4320"
TIES = f"{GITHUB}/pytorch/pytorch/issues/56734"

SPLIT = {"ties": "split"}

BACKWARD = [
    Case(PROD, "prod", [2, 0, 3, 4], [0, 24, 0, 0], dtypes=EVERY, name="one-zero"),
    Case(PROD, "prod", [0, 0, 3], [0, 0, 0], dtypes=EVERY, name="two-zeros"),
    Case(PROD, "prod", [0.0], [1], dtypes=EVERY, name="alone"),
    Case(PROD, "prod", [[0, 2, 3], [1, 2, 3]], [[6, 0, 0], [6, 3, 2]], axis=1, dtypes=EVERY, name="rows"),
    Case(PROD, "prod", [1e-30, 1e-30, 1e30], [1, 1, 0], dtypes=("f32",), ulp=8, name="product-underflows"),
    Case(PROD, "prod", [-0.0, 2], [2, 0], dtypes=EVERY, name="negative-zero"),
    # As PyTorch has them along an axis.
    Case(PROD, "prod", [0, NAN, 2], [NAN, 0, NAN], dtypes=EVERY, name="zero-and-nan"),
    Case(PROD, "prod", [0, INF, 2], [INF, 0, NAN], dtypes=EVERY, name="zero-and-infinity"),
    Case(PROD, "prod", [0, 0, -INF], [NAN, NAN, 0], dtypes=EVERY, name="zeros-and-infinity"),
    Case(PROD, "prod", [0, NAN, INF], [NAN, NAN, NAN], dtypes=EVERY, name="zero-nan-and-infinity"),
    Case(ZERO_NORM, "norm2", [0, 0, 0], [0, 0, 0], dtypes=EVERY, name="zero"),
    Case(ZERO_NORM, "norm2", [[3, 4], [0, 0]], [[0.6, 0.8], [0, 0]], axis=1, dtypes=EVERY, name="rows"),
    Case(ZERO_NORM, "norm2", [3e30, 4e30], [0.6, 0.8], dtypes=("f32",), ulp=8, name="large"),
    Case(ZERO_NORM, "norm2", [3e-30, 4e-30], [0.6, 0.8], dtypes=("f32",), ulp=8, name="small"),
    Case(ZERO_STD, "std", [3, 3, 3], [0, 0, 0], fields={"correction": 1}, dtypes=EVERY, name="constant"),
    Case(ZERO_STD, "std", [0.1] * 10, [0] * 10, fields={"correction": 1}, dtypes=EVERY, name="tenths"),
    Case(
        ZERO_STD, "std", [1, 2, 3, 4],
        [-0.3872983346207417, -0.12909944487358055, 0.12909944487358055, 0.3872983346207417],
        fields={"correction": 1}, dtypes=EVERY, name="ordinary",
    ),
    Case(STD, "var", [5], [0], fields={"correction": 0}, dtypes=EVERY, name="one-population"),
    Case(STD, "std", [1, 3], [NAN, NAN], fields={"correction": 2}, dtypes=EVERY, name="no-freedom"),
    Case(STD, "var", [1, 3], [-2, 2], fields={"correction": 2}, dtypes=EVERY, name="at-least-one-degree"),
    Case(LOGSUMEXP, "logsumexp", [-INF, 1], [0, 1], dtypes=EVERY, name="one-term"),
    Case(LOGSUMEXP, "logsumexp", [-INF, -INF], [0, 0], dtypes=EVERY, name="no-term"),
    Case(LOGSUMEXP, "logsumexp", [INF, 1], [0, 0], dtypes=EVERY, name="infinite"),
    Case(HALVES, "logsumexp", np.zeros(65536), np.full(65536, 2.0**-16), dtypes=EVERY, name="many-terms"),
    Case(TIES, "max", [1, 3, 3, 2], [0, 0.5, 0.5, 0], fields={"ties": "split"}, dtypes=EVERY, name="split"),
    Case(TIES, "max", [1, 3, 3, 2], [0, 1, 1, 0], fields={"ties": "all"}, dtypes=EVERY, name="all"),
    Case(TIES, "max", [1, 3, 3, 2], [0, 1, 0, 0], fields={"ties": "first"}, dtypes=EVERY, name="first"),
    Case(TIES, "max", np.ones(4096), np.full(4096, 2.0**-12), fields=SPLIT, dtypes=EVERY, name="many"),
    Case(TIES, "min", [NAN, 1, NAN], [0.5, 0, 0.5], fields={"ties": "split"}, dtypes=EVERY, name="nan"),
    Case(TIES, "min", [4, NAN, NAN], [0, 1, 0], fields={"ties": "first"}, dtypes=EVERY, name="first-nan"),
    Case(TIES, "max", [0.0, -0.0], [0.5, 0.5], fields={"ties": "split"}, dtypes=EVERY, name="zeros"),
]  # fmt: skip


def problem_of(spec, direction, case, dtype):
    op = next(op for op in spec.ops.values() if op.family.name == "reduce" and op.kind.lower() == case.kind)
    axes = case.axis if isinstance(case.axis, tuple) else (case.axis,)
    fields = {"input_shape": np.shape(case.x), "reduce_axis": axes, **case.fields}
    fields |= {name: values[0] for name, values in op.options.items() if name not in fields}
    return verify.Problem(op, direction, dtype, fields)


def each(cases):
    return pytest.mark.parametrize(
        ("case", "dtype"),
        [
            pytest.param(case, dtype, id=f"{case.kind}-{case.name}-{dtype}")
            for case in cases
            for dtype in case.dtypes
        ],
    )


def assert_close(problem, case, got, want):
    """Equal to the exact values, rounded, within the places that the case or else the op allows."""
    bound = problem.ulp[problem.dtype] if case.ulp is None or problem.dtype in HALF else case.ulp
    error = verify.largest_error(problem.dtype, got, np.asarray(want, np.longdouble).reshape(got.shape))
    assert error <= bound, f"{case.source}: got {got}, want {want}, off by {error} ulp"


@each(FORWARD)
def test_forward(spec, backend, case, dtype):
    problem = problem_of(spec, "forward", case, dtype)
    x = verify.rounded(case.x, dtype)
    got = verify.run(backend, problem, {"x": x})["y"]
    if dtype in HALF and not np.array_equal(x.astype(float), np.asarray(case.x, float), equal_nan=True):
        # The kind does not hold the case's values: the result is that of the values it holds.
        want = verify.references(problem, {"x": x})["y"]
    else:
        want = case.want
    assert_close(problem, case, got, want)


@each(BACKWARD)
def test_backward(spec, backend, case, dtype):
    problem = problem_of(spec, "backward", case, dtype)
    x = verify.rounded(case.x, dtype)
    shapes = problem.shapes()
    values = {"x": x, "dy": np.ones(shapes["dy"], x.dtype)}
    values |= verify.saved_tensors(problem, values)
    assert_close(problem, case, verify.run(backend, problem, values)["dx"], case.want)


@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize(("shape", "axis"), [((0,), 0), ((3, 0), 1), ((0, 3), 0), ((2, 0), (0, 1))])
def test_extrema_of_nothing(spec, backend, kind, shape, axis):
    """https://github.com/NVIDIA/cuCollections/issues/75: there is no identity."""
    problem = problem_of(spec, "forward", Case("", kind, np.zeros(shape), None, axis), "f32")
    with pytest.raises(InvalidProblem, match=r"^ReducePlan: input_shape is .*, want"):
        problem.plan_class.select(backend.stream, problem.descriptor())


LERP = f"{GITHUB}/tenstorrent/tt-metal/issues/53279"


def lerp(spec, backend, dtype, a, b, weight):
    a, b = (verify.rounded(value, dtype) for value in (a, b))
    fields = {"shape": a.shape, "param": weight, "a_shape": a.shape, "b_shape": b.shape}
    return verify.run(backend, verify.Problem(spec.ops["lerp"], "forward", dtype, fields), {"a": a, "b": b})[
        "y"
    ]


@pytest.mark.parametrize("dtype", EVERY)
def test_lerp_is_exact_at_both_ends(spec, backend, dtype):
    """https://github.com/tenstorrent/tt-metal/issues/53279: a + w * (b - a) loses b at w = 1; signs too."""
    large = 1e4 if dtype == "f16" else 1e8
    a = np.array([large, 1, -0.0, 0.0, 1e-3, INF, 5])
    b = np.array([1, large, 0.0, -0.0, -large, 1, -INF])
    for weight, want in ((0.0, a), (1.0, b)):
        got = lerp(spec, backend, dtype, a, b, weight)
        np.testing.assert_array_equal(verify.bits_of(got), verify.bits_of(verify.rounded(want, dtype)))


@pytest.mark.parametrize("dtype", EVERY)
def test_lerp_of_the_report(spec, backend, dtype):
    """https://github.com/tenstorrent/tt-metal/issues/53279."""
    assert lerp(spec, backend, dtype, [1.0], [5.0], 0.25).tolist() == [2.0]
    assert lerp(spec, backend, dtype, [2.0], [7.0], 0.75).tolist() == [5.75]
    fields = {"shape": (2,), "param": 0.25, "a_shape": (2,), "b_shape": (2,)}
    problem = verify.Problem(spec.ops["lerp"], "backward", dtype, fields)
    got = verify.run(backend, problem, {"dy": verify.rounded([1.0, 2.0], dtype)})
    assert {name: value.tolist() for name, value in got.items()} == {"da": [0.75, 1.5], "db": [0.25, 0.5]}


@pytest.mark.parametrize("dtype", EVERY)
def test_lerp_is_monotonic_in_its_weight_and_stays_between_its_ends(spec, backend, dtype):
    rng = np.random.default_rng(5)
    a = verify.rounded(rng.standard_normal(2000) * np.exp2(rng.integers(-8, 9, 2000)), dtype)
    b = verify.rounded(rng.standard_normal(2000) * np.exp2(rng.integers(-8, 9, 2000)), dtype)
    low, high = (verify.widened(bound) for bound in (np.minimum(a, b), np.maximum(a, b)))
    before = None
    for weight in (0.0, 1e-9, 0.1, 0.3, 0.4999999, 0.5, 0.7, 0.9999999, 1.0):
        y = verify.widened(lerp(spec, backend, dtype, a, b, weight))
        assert np.all((low <= y) & (y <= high)), weight
        if before is not None:
            assert np.all((y - before) * np.sign(verify.widened(b) - verify.widened(a)) >= 0), weight
        before = y


@pytest.mark.parametrize("dtype", EVERY)
def test_lerp_does_not_overflow_between_finite_ends(spec, backend, dtype):
    largest = verify.special_values(dtype)
    largest = float(np.max(largest[np.isfinite(largest)])) if dtype != "f64" else 1.7e308
    got = lerp(spec, backend, dtype, [-largest, largest], [largest, largest], 0.5)
    assert got.astype(float)[0] == 0
    assert np.isfinite(got.astype(float)).all()


@pytest.mark.parametrize("dtype", EVERY)
def test_lerp_beyond_its_ends_overflows_where_the_result_does(spec, backend, dtype):
    """Far beyond an end the weighted difference alone may be infinite; here the difference is exact."""
    largest = verify.special_values(dtype)
    largest = float(np.max(largest[np.isfinite(largest)])) if dtype != "f64" else 1.7e308
    ends = verify.rounded([0.875 * largest, 0.9375 * largest], dtype)
    low, high = verify.widened(ends).astype(np.longdouble)
    for sign in (1, -1):
        for start, end, weight in (
            (low, high, -20.0),
            (high, low, 21.0),
            (low, high, -40.0),
            (low, high, 4.0),
        ):
            right = verify.rounded([sign * (start + weight * (end - start))], dtype)
            a, b, c = (verify.rounded([value], dtype) for value in (sign * start, sign * end, weight))
            scalar = lerp(spec, backend, dtype, a, b, weight)
            problem = verify.Problem(spec.ops["lerp_tensor"], "forward", dtype, {"shape": (1,)})
            tensor = verify.run(backend, problem, {"a": a, "b": b, "c": c})["y"]
            for y in (scalar, tensor):
                np.testing.assert_array_equal(verify.bits_of(y), verify.bits_of(right))


@pytest.mark.parametrize("dtype", EVERY)
def test_lerp_with_nan_is_nan_however_small_the_weight(spec, backend, dtype):
    """1 - weight rounds to 1 here, which is not the end itself."""
    for weight in (1e-30, 1 - (1e-16 if dtype == "f64" else 2.0**-24), 0.25):
        for a, b in ((2.0, np.nan), (np.nan, 2.0), (0.0, np.nan), (np.nan, np.nan), (-INF, np.nan)):
            assert np.isnan(verify.widened(lerp(spec, backend, dtype, [a], [b], weight))).all(), (
                weight,
                a,
                b,
            )


@pytest.mark.parametrize("dtype", EVERY)
def test_lerp_of_an_infinity_with_itself(spec, backend, dtype):
    """Both ends are one and the same value, and so is everything between them."""
    got = lerp(spec, backend, dtype, [INF, -INF], [INF, -INF], 0.25)
    assert got.astype(float).tolist() == [INF, -INF]


SUBNORMAL = f"{GITHUB}/cupy/cupy/issues/8382"


def test_subnormals_are_kept(spec, backend):
    """https://github.com/cupy/cupy/issues/8382: a flag that flushes f32 subnormals to zero."""
    tiny = np.float32(1.17549435e-38)
    got = lerp(spec, backend, "f32", [0.0, 0.0], [tiny, 2.8e-45], 0.5)
    assert got.tolist() == [np.float32(5.877472e-39), np.float32(1.4e-45)]
    problem = problem_of(spec, "forward", Case(SUBNORMAL, "sum", [1.4e-45, 1.4e-45], None), "f32")
    got = verify.run(backend, problem, {"x": np.float32([1.4e-45, 1.4e-45])})["y"]
    assert got.tolist() == [np.float32(2.8e-45)]

    problem = verify.problems(spec.ops["affine"], "forward", "f32", [(2,)])[0]
    for scale, x, want in (
        (0.5, [tiny, 2.8e-45], [5.877472e-39, 1.4e-45]),
        (2.0, [1.4e-45, 0], [2.8e-45, 0]),
    ):
        got = verify.run(backend, problem.with_fields(scale=scale, shift=0.0), {"x": np.float32(x)})["y"]
        assert got.tolist() == np.float32(want).tolist()
    assert gate(spec, backend, "f32", "glu", [1.0], [-100.0]).tolist() == [np.float32(3.72e-44)]


def gate(spec, backend, dtype, kind, a, b):
    problem = verify.problems(spec.ops[kind], "forward", dtype, [np.shape(a)])[0].with_fields(axis=())
    return verify.run(backend, problem, {"a": verify.rounded(a, dtype), "b": verify.rounded(b, dtype)})["y"]


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize(
    ("kind", "want"),
    [
        ("geglu", [-1.43325786e-6, -5.91952587e-9, -4.97676846e-15, 1.95449974]),
        ("geglu_tanh", [-2.2917962e-7, -8.4396467e-11, -3.10778294e-21, 1.95459769]),
    ],
)
def test_gates_in_the_negative_tail(spec, backend, dtype, kind, want):
    """https://github.com/pytorch/pytorch/issues/187806: 1 + erf cancels, and is 0 below -6."""
    got = gate(spec, backend, dtype, kind, [1.0, 1.0, 1.0, 1.0], [-5.0, -6.0, -8.0, 2.0])
    np.testing.assert_allclose(got, want, 1e-6 if dtype == "f32" else 1e-8)


def test_negative_strides(spec, backend):
    """https://github.com/pytorch/pytorch/issues/188023: the first element has the largest address."""
    if backend.kind != "host":
        pytest.skip("NumPy's own flips; the layouts' tests have CuPy's")
    a = np.arange(12.0).reshape(3, 4)
    for view, axis, want in (
        (a[:, ::-1], 1, [6, 22, 38]),
        (a[::-1], 1, [38, 22, 6]),
        (a[::-1, ::-1], 1, [38, 22, 6]),
        (a[::-1, ::-1], 0, [21, 18, 15, 12]),
        (a[0:1:-1], 0, [0] * 4),
    ):
        assert not view.size or min(view.strides) < 0
        problem = problem_of(spec, "forward", Case("", "sum", view, None, axis), "f64")
        y = np.full(problem.shapes()["y"], NAN)
        problem.plan_class.select(backend.stream, problem.descriptor())(x=view, y=y)
        assert y.ravel().tolist() == want


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_a_gradient_that_is_expanded_or_sliced(spec, backend, dtype):
    """https://github.com/ROCm/TransformerEngine/pull/623: `loss.sum()` hands down strides of zero."""
    for kind in ("sum", "max", "logsumexp", "var"):
        x = verify.rounded(np.random.default_rng(3).standard_normal((64, 2)), dtype)
        problem = problem_of(spec, "backward", Case("", kind, x, None, 1), dtype)
        values = {"x": x, "dy": np.ones((64, 1), x.dtype)}
        values |= verify.saved_tensors(problem, values)
        want = verify.run(backend, problem, values)["dx"]
        for layout in ("all axes expanded", "every second column", "all axes permuted", "reversed"):
            got = verify.run(backend, problem, values, layouts={"dy": layout})["dx"]
            np.testing.assert_array_equal(verify.bits_of(got), verify.bits_of(want))


def rope(spec, backend, dtype, x, direction="forward", positions=None, inv_freq=None, **fields):
    x = verify.rounded(x, dtype)
    extents = dict(zip(("batch_size", "num_heads", "seq_len", "head_dim"), x.shape, strict=True))
    options = {"layout": "interleaved", "rotary_dim": x.shape[-1], "scaling": "none"}
    problem = verify.Problem(spec.ops["rope"], direction, dtype, {**extents, **options, **fields})
    values = {"x" if direction == "forward" else "dy": x}
    values |= {} if positions is None else {"positions": np.asarray(positions, np.int64)}
    values |= {} if inv_freq is None else {"inv_freq": np.asarray(inv_freq, np.float64)}
    return verify.run(backend, problem, values)["y" if direction == "forward" else "dx"]


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize(
    ("position", "cosine", "sine"),
    [(1857, 0.306692810, 0.951808552), (1_000_000, -0.814917454, None), (0, 1.0, 0.0)],
)
def test_rope_forms_its_angles_in_double(spec, backend, dtype, position, cosine, sine):
    """https://github.com/EleutherAI/gpt-neox/issues/1003: positions and frequencies in half precision.

    Also https://github.com/huggingface/transformers/pull/29285: bf16 positions beyond 256 fall together.
    """
    x = np.zeros((1, 1, 1, 32))
    x[..., 2] = 1  # the pair 1 of dim 32 at base 10000
    got = rope(spec, backend, dtype, x, positions=[position]).astype(float)[0, 0, 0, 2:4]
    places = {"f16": 3e-4, "bf16": 2e-3}.get(dtype, 1e-7 if dtype == "f32" else 1e-9)
    assert abs(got[0] - cosine) <= places
    assert sine is None or abs(got[1] - sine) <= places
    near = rope(spec, backend, dtype, x, positions=[position + 1]).astype(float)[0, 0, 0, 2:4]
    assert not np.array_equal(got, near)


@pytest.mark.parametrize(
    ("layout", "want"),
    [
        ("half", [-1.98411065, 1.95990067, 2.46237790, 4.01979967]),
        ("interleaved", [-1.14263966, 1.92207560, 2.95985067, 4.02979950]),
    ],
)
def test_rope_in_both_layouts(spec, backend, layout, want):
    """https://github.com/huggingface/candle/pull/3612: which elements are a pair must be said."""
    x = np.array([1.0, 2, 3, 4]).reshape(1, 1, 1, 4)
    got = rope(spec, backend, "f32", x, positions=[1], inv_freq=[1, 0.01], layout=layout)
    np.testing.assert_allclose(got.ravel(), want, rtol=1.2e-7)
    # The frequencies 1 and 0.01 are those of dim 4 at base 10000.
    np.testing.assert_allclose(
        rope(spec, backend, "f32", x, positions=[1], layout=layout).ravel(), want, rtol=1.2e-7
    )


def test_rope_has_a_gradient(spec, backend):
    """https://github.com/huggingface/candle/pull/3612: the gradient turns by the negative angle."""
    x, g = (np.array(pair, float).reshape(1, 1, 1, 2) for pair in ([1, 2], [1, 0]))
    y = rope(spec, backend, "f32", x, positions=[1], inv_freq=[1])
    np.testing.assert_allclose(y.ravel(), [-1.14263966, 1.92207560], rtol=1.2e-7)
    dx = rope(spec, backend, "f32", g, "backward", positions=[1], inv_freq=[1])
    np.testing.assert_allclose(dx.ravel(), [0.54030231, -0.84147098], rtol=1.2e-7)


@pytest.mark.parametrize("heads", [1, 2])
def test_rope_of_one_head_and_of_positions_of_each_sequence(spec, backend, heads):
    """https://github.com/linkedin/Liger-Kernel/pull/477: a head count of 1, rows that differ by sequence."""
    x = np.ones((2, heads, 3, 4))
    positions = [[0, 1, 2], [5, 6, 7]]
    got = rope(spec, backend, "f64", x, positions=positions, layout="half")
    for batch, head, row in np.ndindex(2, heads, 3):
        angles = positions[batch][row] * np.array([1, 0.01])
        want = np.concatenate([np.cos(angles) - np.sin(angles), np.cos(angles) + np.sin(angles)])
        np.testing.assert_allclose(got[batch, head, row], want, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_a_gradient_of_rope_that_is_expanded(spec, backend, dtype):
    """https://github.com/Dao-AILab/flash-attention/issues/355: dy of `loss.sum()`, its heads at stride 0."""
    dy = verify.rounded(np.ones((2, 4, 8, 64)), dtype)
    extents = {"batch_size": 2, "num_heads": 4, "seq_len": 8, "head_dim": 64}
    options = {"layout": "half", "rotary_dim": 64, "scaling": "none"}
    problem = verify.Problem(spec.ops["rope"], "backward", dtype, {**extents, **options})
    want = verify.run(backend, problem, {"dy": dy})["dx"]
    for layout in ("all axes expanded", "first axis expanded", "all axes permuted", "sliced rows"):
        got = verify.run(backend, problem, {"dy": dy}, layouts={"dy": layout})["dx"]
        np.testing.assert_array_equal(verify.bits_of(got), verify.bits_of(want))
