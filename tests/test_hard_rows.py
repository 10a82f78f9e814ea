"""Rows that are hard to aggregate: with outliers where a lane begins, huge, tiny, masked, empty."""

from __future__ import annotations

import numpy as np
import pytest

import baracuda as bc
from baracuda.codegen import verify

DTYPES = {"f32": np.float32, "f64": np.float64}


def run(backend, plan_class, desc, *names, **arrays):
    """The outputs of a plan, on the device of the tests."""
    element = str(desc.element)
    placed = {
        name: verify.place(backend, name, element, array.shape, array) for name, array in arrays.items()
    }
    shapes = plan_class.shapes(desc)
    outputs = {name: verify.place(backend, name, element, shapes[name][0]) for name in names}
    plan = plan_class.select(backend.stream, desc, bc.PlanPreference(max_workspace=0))
    tensors = {name: tensor.array for name, tensor in {**placed, **outputs}.items()}
    plan.run(backend.stream, None, plan_class.ARGS(**tensors))
    return [outputs[name].values(backend) for name in names]


def rows(dtype, extent):
    """Rows with numbers far from the others: the first, each lane's first, the first few, the last."""
    rng, place = np.random.default_rng(1), np.arange(extent)
    for size in (10.0, 1e3, 1e6, 1e8):
        noise = rng.standard_normal(extent)
        yield np.where(place == 0, size, noise).astype(dtype)
        yield np.where(place % 512 < 4, size, noise).astype(dtype)
        yield np.where(place < min(200, extent // 2), 0, size + noise).astype(dtype)
        yield np.where(place == 0, 0, size + place % 7).astype(dtype)
        yield np.where(place == extent - 1, size, noise).astype(dtype)


@pytest.mark.parametrize("extent", [9, 64, 1001, 5000, 300_000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_variances_beside_an_outlier(backend, dtype, extent):
    kind = DTYPES[dtype]
    for x in rows(kind, extent):
        wide = x.astype(np.longdouble)
        mean = wide.mean()
        want = ((wide - mean) ** 2).sum() / (extent - 1)
        desc = bc.ReduceDescriptor(kind="var", input_shape=x.shape, reduce_axis=0, element=dtype)
        y, got_mean = run(backend, bc.ReducePlan, desc, "y", "mean", x=x)
        bound = bc.ReducePlan.select(backend.stream, desc).precision_guarantee.ulp
        assert abs(y[0] - want) <= bound * np.spacing(kind(want)), (x[:3], y, want)
        # Deviations that are rounded beside the outlier are in the mean as so many parts of its own.
        assert abs(got_mean[0] - mean) <= 16 * (
            np.spacing(kind(abs(mean))) + np.spacing(kind(x.max())) / extent
        )


def test_layer_norm_beside_an_outlier(backend):
    x = np.random.default_rng(2).standard_normal((1, 4096)).astype(np.float32)
    x[0, 0] = 1e3
    wide = x.astype(np.longdouble)
    want = (wide - wide.mean()) / np.sqrt(((wide - wide.mean()) ** 2).mean() + 1e-5)
    desc = bc.LayerNormDescriptor(
        input_shape=x.shape, norm_axes=(1,), element="f32", has_gamma=False, has_beta=False
    )
    (y,) = run(backend, bc.LayerNormPlan, desc, "y", x=x)
    assert np.abs(y - want).max() <= 3 * np.spacing(np.float32(np.abs(want).max()))


@pytest.mark.parametrize("size", [4.49e15, 4.6e15, 1e13])
def test_norms_of_many_large_elements(backend, size):
    x = (np.random.default_rng(3).uniform(0.99, 1, 18_000_000) * size).astype(np.float32)
    desc = bc.ReduceDescriptor(kind="norm2", input_shape=x.shape, reduce_axis=0, element="f32")
    (y,) = run(backend, bc.ReducePlan, desc, "y", x=x)
    want = np.sqrt(np.sum(np.square(x, dtype=np.longdouble)))
    assert abs(y[0] - want) <= 4 * np.spacing(np.float32(want))


@pytest.mark.parametrize("extent", [128, 1000, 4096, 5000, 100_000])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["sum", "mean", "norm2"])
def test_equal_numbers(backend, kind, dtype, extent):
    """What each addition rounds away is on one side."""
    desc = bc.ReduceDescriptor(kind=kind, input_shape=(60, extent), reduce_axis=1, element=dtype)
    numbers = np.random.default_rng(4).uniform(1, 2, 60).astype(DTYPES[dtype])
    (y,) = run(backend, bc.ReducePlan, desc, "y", x=np.repeat(numbers[:, None], extent, 1))
    size = np.longdouble({"sum": extent, "mean": 1, "norm2": np.sqrt(np.longdouble(extent))}[kind])
    want = numbers.astype(np.longdouble) * size
    bound = bc.ReducePlan.select(backend.stream, desc).precision_guarantee.ulp
    assert np.all(np.abs(y[:, 0] - want) <= bound * np.spacing(want.astype(DTYPES[dtype])))


def equal_rows(dtype, extent, seed=4):
    """60 numbers, each of them a row; and the numbers in more than double precision."""
    numbers = np.random.default_rng(seed).uniform(1, 2, 60).astype(DTYPES[dtype])
    return np.repeat(numbers[:, None], extent, 1), numbers.astype(np.longdouble)


def within(plan_class, desc, got, want, scale=None):
    """Whether a result is within the plan's bound, in last places of a magnitude."""
    bound = plan_class.select(bc.Stream.host(), desc).precision_guarantee.ulp
    unit = np.spacing((np.abs(want) if scale is None else scale).astype(got.dtype))
    return np.all(np.abs(got - want) <= bound * unit)


@pytest.mark.parametrize("extent", [128, 1000, 4096, 5000, 100_000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_norms_of_equal_numbers(backend, dtype, extent):
    """Means of squares, and what the gradient of a row sums over it."""
    x, numbers = equal_rows(dtype, extent)
    known = {"input_shape": x.shape, "norm_axes": (1,), "element": dtype, "has_gamma": False}
    desc = bc.RMSNormDescriptor(**known, eps=0.0)
    y, rms = run(backend, bc.RMSNormPlan, desc, "y", "rms", x=x)
    assert within(bc.RMSNormPlan, desc, rms[:, 0], numbers)
    assert within(bc.RMSNormPlan, desc, y, np.ones(x.shape, np.longdouble))
    dy, gradients = equal_rows(dtype, extent, seed=5)
    desc = bc.RMSNormBackwardDescriptor(**known)
    (dx,) = run(backend, bc.RMSNormBackwardPlan, desc, "dx", dy=dy, x=x, rms=rms)
    size = rms[:, 0].astype(np.longdouble)
    gradient, unit = gradients / size, numbers / size
    want, scale = gradient - unit * (gradient * unit), gradient + unit * (gradient * unit)
    assert within(bc.RMSNormBackwardPlan, desc, dx, want[:, None], scale[:, None])


@pytest.mark.parametrize("count", [128, 1000, 4096, 20_000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_of_equal_rows(backend, dtype, count):
    """Gradients that are summed over rows or over broadcast axes."""
    kind, (columns, numbers) = DTYPES[dtype], equal_rows(dtype, count)
    dy, want = np.ascontiguousarray(columns.T), numbers * count
    ones = {"x": np.ones(dy.shape, kind), "gamma": np.ones(60, kind)}
    known = {"input_shape": dy.shape, "norm_axes": (1,), "element": dtype, "want_dx": False}
    desc = bc.RMSNormBackwardDescriptor(**known)
    given = {**ones, "dy": dy, "rms": np.ones((count, 1), kind)}
    (dgamma,) = run(backend, bc.RMSNormBackwardPlan, desc, "dgamma", **given)
    assert within(bc.RMSNormBackwardPlan, desc, dgamma, want)
    desc = bc.LayerNormBackwardDescriptor(**known)
    given = {**ones, "dy": dy, "mean": np.zeros((count, 1), kind), "rstd": np.ones((count, 1), kind)}
    for found in run(backend, bc.LayerNormBackwardPlan, desc, "dgamma", "dbeta", **given):
        assert within(bc.LayerNormBackwardPlan, desc, found, want)
    desc = bc.BinaryBackwardDescriptor(kind="add", shape=dy.shape, b_shape=(60,), element=dtype)
    (db,) = run(backend, bc.BinaryBackwardPlan, desc, "db", dy=dy)
    assert within(bc.BinaryBackwardPlan, desc, db, want)
    desc = bc.BinaryBackwardDescriptor(kind="mul", shape=dy.shape, b_shape=(60,), element=dtype)
    given = {"dy": dy, "a": ones["x"], "b": ones["gamma"]}
    (db,) = run(backend, bc.BinaryBackwardPlan, desc, "db", **given)
    assert within(bc.BinaryBackwardPlan, desc, db, want)


def test_a_small_share_of_a_large_norm(backend):
    x = np.array([1e-10, 1e34], np.float32)
    y, dy = np.array([1e34], np.float32), np.array([1e30], np.float32)
    desc = bc.ReduceBackwardDescriptor(kind="norm2", input_shape=(2,), reduce_axis=0, element="f32")
    (dx,) = run(backend, bc.ReduceBackwardPlan, desc, "dx", x=x, y=y, dy=dy)
    want = np.longdouble(dy[0]) * x.astype(np.longdouble) / np.longdouble(x[1])
    assert np.all(np.abs(dx - want) <= 4 * np.spacing(want.astype(np.float32)))


@pytest.mark.parametrize("kind", ["softmax", "log_softmax"])
def test_a_masked_row_has_no_gradient(backend, kind):
    desc = bc.SoftmaxBackwardDescriptor(kind=kind, input_shape=(1, 2), softmax_axis=1, element="f32")
    given = {"y": np.zeros((1, 2))} if kind == "softmax" else {"x": np.full((1, 2), -np.inf)}
    dy = np.array([[np.nan, np.inf]], np.float32)
    given = {name: value.astype(np.float32) for name, value in given.items()}
    (dx,) = run(backend, bc.SoftmaxBackwardPlan, desc, "dx", dy=dy, **given)
    np.testing.assert_array_equal(dx, np.zeros((1, 2), np.float32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_share_of_logsumexp_that_underflows(backend, dtype):
    """A large dy brings back what exp(x - max) alone cannot hold."""
    kind = DTYPES[dtype]
    depth, largest = -np.log(float(np.finfo(kind).smallest_subnormal)), float(np.finfo(kind).max)
    x = -np.linspace(0, 2 * depth, 60).astype(kind)
    for size in (0.5, largest**0.25, largest**0.5, largest**0.75, largest / 4):
        dy = np.array([size], kind)
        y = np.array([np.log(np.sum(np.exp(x.astype(np.longdouble))))], kind)
        desc = bc.ReduceBackwardDescriptor(
            kind="logsumexp", input_shape=x.shape, reduce_axis=0, element=dtype
        )
        (dx,) = run(backend, bc.ReduceBackwardPlan, desc, "dx", x=x, y=y, dy=dy)
        parts = np.exp(x.astype(np.longdouble))
        want = dy.astype(np.longdouble) * parts / parts.sum()
        bound = bc.ReduceBackwardPlan.select(bc.Stream.host(), desc).precision_guarantee.ulp
        unit = np.spacing(want.astype(kind)) * np.minimum(1 - x.astype(np.longdouble), 800)
        assert np.all(np.abs(dx - want) <= bound * unit), size


EPS = [0.0, 1e-6, 0.75, 1.0, 1e10, 6e16, 8e16, 1e20, 1e30, 3e38]


@pytest.mark.parametrize(
    ("dtype", "eps"),
    [*(("f32", eps) for eps in EPS), *(("f64", eps) for eps in (*EPS, 1e90, 1e98, 1e200, 1e300))],
)
def test_rms_norms_beside_any_eps(backend, dtype, eps):
    """Of rows that are nothing, tiny, ordinary and huge, and of mixed ones."""
    kind = DTYPES[dtype]
    info = np.finfo(kind)
    root = np.sqrt(float(info.smallest_normal))
    sizes = [0, float(info.smallest_subnormal), float(info.smallest_normal), root / 64, root, 1, 1 / root]
    shares = np.random.default_rng(6).uniform(-1, 1, (len(sizes) + 1, 40))
    x = (shares * np.array([*sizes, 1])[:, None]).astype(kind)
    x[-1] = (shares[-1] * np.geomspace(root, 1 / root, 40)).astype(kind)
    desc = bc.RMSNormDescriptor(
        input_shape=x.shape, norm_axes=1, element=dtype, has_gamma=False, eps=eps, rms_dtype="compute"
    )
    y, rms = run(backend, bc.RMSNormPlan, desc, "y", "rms", x=x)
    bound = bc.RMSNormPlan.select(bc.Stream.host(), desc).precision_guarantee.ulp
    wide = x.astype(np.longdouble)
    want_rms = np.sqrt(np.mean(wide * wide, axis=1, keepdims=True) + np.longdouble(kind(eps)))
    assert np.all(np.abs(rms - want_rms) <= bound * np.spacing(want_rms.astype(kind)))
    with np.errstate(invalid="ignore"):
        want = wide / want_rms
    near = np.abs(y - want) <= bound * np.spacing((np.abs(want) + float(info.smallest_normal)).astype(kind))
    assert np.all(near | (np.isnan(y) & np.isnan(want)))
    assert np.isnan(want).any() == (eps == 0)


@pytest.mark.parametrize("eps", [0.0, 1e-6, 2.0])
@pytest.mark.parametrize("norm", ["RMSNorm", "LayerNorm"])
def test_statistics_of_no_elements(backend, norm, eps):
    """They are NaN, as a mean of nothing is."""
    desc = getattr(bc, f"{norm}Descriptor")(
        input_shape=(3, 0), norm_axes=1, element="f32", has_gamma=False, eps=eps
    )
    if norm == "LayerNorm":
        desc = desc.replace(has_beta=False)
    names = ("rms",) if norm == "RMSNorm" else ("mean", "rstd")
    found = run(backend, getattr(bc, f"{norm}Plan"), desc, "y", *names, x=np.zeros((3, 0), np.float32))
    for values in found[1:]:
        assert values.shape == (3, 1)
        assert np.all(np.isnan(values))


@pytest.mark.parametrize("correction", [-1.5, 0.25, 0.5, 1.5, 4.5, 4.75, 5.0, 5.25])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["var", "std"])
def test_a_correction_that_is_no_integer(backend, kind, dtype, correction):
    """As the array API has it; five elements, so that freedom comes to 0, below 1 and below 0."""
    x = np.array([[1, 3, -2, 8, 0.5], [7, 7, 7, 7, 7]], DTYPES[dtype])
    known = {"kind": kind, "input_shape": x.shape, "reduce_axis": 1, "element": dtype}
    desc = bc.ReduceDescriptor(**known, correction=correction)
    (y,) = run(backend, bc.ReducePlan, desc, "y", x=x)
    wide, freedom = x.astype(np.longdouble), 5 - correction
    centred = wide - wide.mean(1, keepdims=True)
    variance = (centred**2).sum(1, keepdims=True) / (freedom if freedom > 0 else np.nan)
    want = variance if kind == "var" else np.sqrt(variance)
    np.testing.assert_allclose(y, want, rtol=8 * np.finfo(DTYPES[dtype]).eps)
    if kind == "var":
        gradient = 2 * centred / (freedom if freedom > 0 else 1)
    else:
        gradient = centred / (np.where(want == 0, 1, want) * freedom)
    desc = bc.ReduceBackwardDescriptor(**known, correction=correction)
    (dx,) = run(backend, bc.ReduceBackwardPlan, desc, "dx", x=x, y=y, dy=np.ones((2, 1), DTYPES[dtype]))
    np.testing.assert_allclose(dx, gradient, rtol=16 * np.finfo(DTYPES[dtype]).eps)
