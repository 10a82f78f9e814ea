"""What norms over the last axes have beside what every op has: columns, sums over rows, saved statistics."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from devices import checkout_spec

import baracuda as bc
from baracuda.codegen import verify
from baracuda.errors import InvalidProblem, Unsupported
from baracuda.sku import PlanPreference

NORMS = [op.name for op in checkout_spec().ops.values() if op.family.category == "Normalization"]
GITHUB = "https://github.com"


def problem_of(op: str, direction: str, dtype: str, shape: Any, axes: Any = (-1,), **fields: Any) -> Any:
    """A problem over the last axes; `axes` count from the end."""
    named = {"input_shape": shape, "norm_axes": tuple(len(shape) + axis for axis in axes), **fields}
    return verify.Problem(checkout_spec().ops[op], direction, dtype, named)


def values_of(problem: Any, seed: int = 0, **given: Any) -> dict[str, Any]:
    """Inputs, some of them given; what the forward saves is made from them."""
    values = verify.inputs_for(problem, seed=seed)
    values |= {name: np.asarray(value, values[name].dtype) for name, value in given.items()}
    return values | (verify.saved_tensors(problem, values) if problem.direction == "backward" else {})


def same_bits(got: dict[str, Any], want: dict[str, Any]) -> None:
    for name, value in got.items():
        bits = verify.bits_of(np.reshape(want[name], np.shape(value)))
        np.testing.assert_array_equal(verify.bits_of(value), bits, err_msg=name)


# Faults that people reported elsewhere

FORWARD = [
    # microsoft/onnxruntime/issues/28463: E[x²] - E[x]² cancels, down to a negative variance.
    ("layer_norm", "f32", [40000, 40001, 40002, 40003], 1e-5,
     [-1.34163542, -0.44721181, 0.44721181, 1.34163542], 2e-7),
    ("layer_norm", "f32", [1234.0] * 256, 1e-5, [0.0] * 256, 0),
    ("layer_norm", "f16", [1234.0] * 256, 1e-5, [0.0] * 256, 0),
    # pytorch/pytorch/pull/133085: squares beyond f16.
    ("rms_norm", "f16", [300, 400], 1e-6, [0.848528, 1.131371], 5e-4),
    ("rms_norm", "f16", [60000, -60000, 30000, 0], 1e-6, [4 / 3, -4 / 3, 2 / 3, 0], 4e-4),
    ("rms_norm", "bf16", [60000, -60000, 30000, 0], 1e-6, [4 / 3, -4 / 3, 2 / 3, 0], 4e-3),
    # apple/coremltools/pull/2822: eps outside of the root, or scaled with x.
    ("rms_norm", "f32", [0] * 8, 1e-5, [0] * 8, 0),
    ("rms_norm", "f16", [0] * 8, 1e-5, [0] * 8, 0),
    ("rms_norm", "f32", [100] + [0] * 1023, 1e-5, [31.99998362] + [0] * 1023, 1e-7),
    ("rms_norm", "f32", [1e25, 1e25], 1e-6, [1, 1], 2e-7),
    ("rms_norm", "f32", [1e-25, 1e-25], 0, [1, 1], 2e-7),
    ("rms_norm", "f32", [3e38, -3e38], 1e-6, [1, -1], 2e-7),
    ("rms_norm", "f32", [2e-45, 0], 0, [2**0.5, 0], 2e-7),
    ("rms_norm", "f64", [1e300, 1e300], 1e-6, [1, 1], 4e-16),
]  # fmt: skip


@pytest.mark.parametrize(("norm", "dtype", "x", "eps", "want", "rtol"), FORWARD)
def test_rows_that_went_wrong_elsewhere(backend, norm, dtype, x, eps, want, rtol):
    problem = problem_of(norm, "forward", dtype, (1, len(x)), has_gamma=False, eps=eps)
    if norm == "layer_norm":
        problem = problem.with_fields(has_beta=False)
    got = verify.run(backend, problem, values_of(problem, x=[x]))["y"]
    np.testing.assert_allclose(got[0].astype(np.float64), want, rtol=rtol, atol=rtol and 1e-30)


def test_the_limit_of_f16_to_the_last_place(backend):
    problem = problem_of("rms_norm", "forward", "f16", (1, 4), has_gamma=False)
    got = verify.run(backend, problem, values_of(problem, x=[[60000, -60000, 30000, 0]]))["y"]
    np.testing.assert_array_equal(got, np.array([[1.333, -1.333, 0.6665, 0]], np.float16))


def test_a_gradient_without_the_cube_of_rms(backend):
    """rms³ overflows f32 from 7e12 on, and is nothing below 1e-13."""
    for size in (1e-30, 1e-15, 1e15, 1e30):
        problem = problem_of("rms_norm", "backward", "f32", (3, 64))
        values = values_of(problem, x=values_of(problem)["x"] * size)
        assert verify.worst(checkout_spec(), backend, problem, values) <= problem.ulp["f32"]


# Axes, and the columns' shape


@pytest.mark.parametrize("norm", NORMS)
def test_several_axes_are_one(backend, norm):
    """Over the last two of three or all three axes: as over one axis with as many elements."""
    for direction, (rows, within) in itertools.product(
        ("forward", "backward"), [((6,), (5, 8)), ((), (6, 5, 8))]
    ):
        axes = tuple(range(-len(within), 0))
        whole = problem_of(norm, direction, "f32", (*rows, *within), axes)
        flat = problem_of(norm, direction, "f32", (*rows, int(np.prod(within))))
        values = values_of(whole)
        flattened = {name: np.reshape(value, flat.shapes().get(name, -1)) for name, value in values.items()}
        same_bits(verify.run(backend, whole, values), verify.run(backend, flat, flattened))
        assert verify.worst(checkout_spec(), backend, whole, values) <= whole.ulp["f32"]


@pytest.mark.parametrize("norm", NORMS)
def test_columns_may_be_flat(norm):
    """gamma and its like have the shape of the normalised axes, or one axis with as many elements."""
    whole = problem_of(norm, "backward", "f32", (6, 5, 8), (-2, -1))
    plan = whole.plan_class.select(bc.Stream.host(), whole.descriptor())
    values, outputs = values_of(whole), []
    space = bc.Workspace.host(plan.workspace_size())
    for shape in ((5, 8), (40,)):
        given = {name: values[name] for name in whole.inputs()} | {"gamma": values["gamma"].reshape(shape)}
        made = {name: np.empty(whole.shapes()[name], np.float32) for name in whole.outputs()}
        made = {
            name: value.reshape(shape) if value.shape == (5, 8) else value for name, value in made.items()
        }
        plan(**given, **made, workspace=space)
        outputs.append(made)
    same_bits(*outputs)
    backwards = np.ascontiguousarray(values["gamma"].ravel()[::-1])[::-1]
    made = {name: np.empty(whole.shapes()[name], np.float32) for name in whole.outputs()}
    plan(**{name: values[name] for name in whole.inputs()} | {"gamma": backwards}, **made, workspace=space)
    same_bits(made, outputs[0])


def test_axes_as_a_mask():
    by_axes = bc.RMSNormDescriptor(input_shape=(2, 3, 4), norm_axes=(1, 2), element="f32")
    by_mask = bc.RMSNormDescriptor(input_shape=(2, 3, 4), norm_axes_mask=0b110, element="f32")
    assert by_axes == by_mask
    assert hash(by_axes) == hash(by_mask)
    assert (by_mask.norm_axes, by_mask.norm_axes_mask) == ((1, 2), 6)
    with pytest.raises(TypeError, match="norm_axes and norm_axes_mask are None, want one of the two"):
        bc.RMSNormDescriptor(input_shape=(4,), element="f32")
    with pytest.raises(TypeError, match="norm_axes_mask is 'b', want an integer"):
        bc.RMSNormDescriptor(input_shape=(4,), norm_axes_mask="b", element="f32")
    with pytest.raises(InvalidProblem, match="norm_axes is 0 and norm_axes_mask is 2, want one of"):
        bc.RMSNormDescriptor(input_shape=(4, 4), norm_axes=0, norm_axes_mask=2, element="f32")
    with pytest.raises(InvalidProblem, match="norm_axes_mask is -1, want a bit for each of the axes"):
        bc.RMSNormDescriptor(input_shape=(4, 4), norm_axes_mask=-1, element="f32")


@pytest.mark.parametrize("mask", [0b000, 0b001, 0b010, 0b011, 0b101, 0b1100])
def test_a_mask_that_is_no_suffix(mask):
    for plan in (bc.RMSNormPlan, bc.RMSNormBackwardPlan, bc.LayerNormPlan, bc.LayerNormBackwardPlan):
        desc = plan.DESCRIPTOR(input_shape=(2, 3, 4), norm_axes_mask=mask, element="f32")
        with pytest.raises(
            InvalidProblem, match=r"Plan: (input_shape is .*, norm_axes|norm_axes_mask) is .*, want "
        ):
            plan.select(bc.Stream.host(), desc)


# What is there and what is not


def args_of(problem: Any) -> tuple[Any, dict[str, Any]]:
    """A plan on the host, and tensors for every argument that it takes under some descriptor."""
    plan = problem.plan_class.select(bc.Stream.host(), problem.descriptor())
    rules = problem.op.family.tensors(problem.direction)
    return plan, {
        name: np.ones(problem.shapes()[name], verify.numpy_dtype(problem.dtype_of(name))) for name in rules
    }


@pytest.mark.parametrize(
    ("norm", "direction", "fields", "wrong", "message"),
    [
        ("rms_norm", "forward", {"has_gamma": False}, {}, "gamma is given, want None: has_gamma is False"),
        ("rms_norm", "forward", {}, {"gamma": None}, "gamma is None, want a tensor: has_gamma is True"),
        ("rms_norm", "forward", {"has_residual": False}, {}, "residual is given, want None: has_residual is"),
        ("rms_norm", "backward", {"want_dx": False}, {}, "dx is given, want None: want_dx is False"),
        ("rms_norm", "backward", {}, {"dgamma": None}, "dgamma is None, want a tensor: has_gamma is True"),
        ("layer_norm", "backward", {"has_beta": False}, {}, "dbeta is given, want None: has_beta is False"),
        ("layer_norm", "backward", {}, {"rstd": None}, "rstd is None, want a tensor: layer_norm"),
    ],
)  # fmt: skip
def test_what_a_descriptor_says_must_be_there(norm, direction, fields, wrong, message):
    all_there = {"has_residual": True} if (norm, direction) == ("rms_norm", "forward") else {}
    plan, tensors = args_of(problem_of(norm, direction, "f32", (3, 4), **{**all_there, **fields}))
    with pytest.raises(InvalidProblem, match=f"Plan: {message}"):
        plan.can_implement(plan.ARGS(**{**tensors, **wrong}))


@pytest.mark.parametrize("norm", NORMS)
def test_gradients_that_are_not_wanted(backend, norm):
    """Each alone, and each combination: the bits of those that are wanted stay."""
    full = problem_of(norm, "backward", "bf16", (70, 24))
    values = values_of(full)
    want = verify.run(backend, full, values)
    flags = [name for name in full.op.family.fields("backward") if name.startswith("want_")]
    for chosen in itertools.product((True, False), repeat=len(flags)):
        if any(chosen):
            fewer = full.with_fields(**dict(zip(flags, chosen, strict=True)))
            got = verify.run(backend, fewer, values)
            assert set(got) == {
                flag.removeprefix("want_") for flag, on in zip(flags, chosen, strict=True) if on
            }
            same_bits(got, want)


def test_statistics_in_the_compute_type(backend):
    """f32 statistics of 16-bit rows are exact to f32, and gradients made with them nearer to the truth."""
    element = problem_of("rms_norm", "forward", "bf16", (9, 100))
    wide = element.with_fields(rms_dtype="compute")
    values = values_of(element)
    got = verify.run(backend, wide, values)["rms"]
    assert got.dtype == np.float32
    rms = np.sqrt(np.mean(verify.widened(values["x"]) ** 2, axis=1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(got, rms.astype(np.float64), rtol=3e-7)
    narrow = verify.run(backend, element, values)["rms"]
    np.testing.assert_array_equal(narrow, got.astype(ml_dtypes.bfloat16))
    with pytest.raises(Unsupported, match="rms_dtype is 'f32', want one of element, compute"):
        wide.descriptor(rms_dtype="f32")
    plan, tensors = args_of(wide)
    with pytest.raises(Unsupported, match="rms has dtype bf16, want f32"):
        plan.can_implement(plan.ARGS(**{**tensors, "residual": None, "summed": None, "rms": narrow}))


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_a_fused_residual(backend, dtype):
    """The norm is of the sum as it is stored: the same bits as by way of memory."""
    fused = problem_of("rms_norm", "forward", dtype, (5, 300), has_residual=True)
    values = values_of(fused)
    got = verify.run(backend, fused, values)
    compute = np.float64 if dtype == "f64" else np.float32
    summed = (values["x"].astype(compute) + values["residual"].astype(compute)).astype(values["x"].dtype)
    plain = fused.with_fields(has_residual=False)
    want = verify.run(backend, plain, {"x": summed, "gamma": values["gamma"]}) | {"summed": summed}
    same_bits(got, want)
    same_bits(verify.run(backend, fused, values, unwanted=["summed"]), {k: want[k] for k in ("y", "rms")})


def test_an_offset_of_gamma(backend):
    """gamma + 1 in the compute type; without a gamma there is nothing to add to."""
    offset = problem_of("rms_norm", "forward", "f32", (4, 33), unit_offset=True)
    values = values_of(offset)
    plain = offset.with_fields(unit_offset=False)
    want = verify.run(backend, plain, {**values, "gamma": values["gamma"] + np.float32(1)})
    same_bits(verify.run(backend, offset, values), want)
    for flag in (True, False):
        without = offset.with_fields(has_gamma=False, unit_offset=flag)
        ones = verify.run(backend, plain, {**values, "gamma": np.ones_like(values["gamma"])})
        same_bits(verify.run(backend, without, {"x": values["x"]}), ones)


# Sums over rows


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 5, 7, 31, 33, 264, 265, 1000, 1057, 5000])
@pytest.mark.parametrize("norm", NORMS)
def test_any_number_of_rows(backend, norm, rows):
    """A sum over no rows is 0."""
    for dtype, columns in (("f32", 9), ("bf16", 16)):
        problem = problem_of(norm, "backward", dtype, (rows, columns))
        values = values_of(problem)
        prepared = verify.prepare(backend, problem, values)
        prepared.launch()
        errors = prepared.errors(checkout_spec())
        assert max(errors.values()) <= problem.ulp[dtype], errors
        if not rows:
            for name in problem.summed():
                assert not prepared.outputs()[name].any()


@pytest.mark.parametrize("dtype", ["bf16", "f32", "f64"])
@pytest.mark.parametrize("norm", NORMS)
def test_ways_of_one_sum(backend, norm, dtype):
    """With a workspace and without, aligned and not, in any strides: a sum has one result."""
    for shape in [(300, 64), (37, 512), (2500, 24), (21, 4096), (18, 8200)]:
        problem = problem_of(norm, "backward", dtype, shape)
        values = values_of(problem)
        want = verify.run(backend, problem, values)
        none = PlanPreference(max_workspace=0)
        same_bits(verify.run(backend, problem, values, preference=none), want)
        for layout in ("misaligned", "transposed", "every second column", "sliced rows", "reversed"):
            layouts = dict.fromkeys(("dy", "x", "dx"), layout)
            same_bits(verify.run(backend, problem, values, layouts=layouts), want)


@pytest.mark.parametrize("norm", NORMS)
def test_rows_are_read_once(backend, norm):
    """One launch reads rows and writes dx and the sums of groups, where rows fit and all are wanted."""

    def variant(problem, **options):
        prepared = verify.prepare(backend, problem, values_of(problem), **options)
        return prepared.plan.sku_for(prepared.args()).variant

    for dtype, extents in {"bf16": (512, 4096, 8192), "f32": (256, 4096), "f64": (128, 2048)}.items():
        for extent in extents:
            problem = problem_of(norm, "backward", dtype, (9, extent))
            assert variant(problem) == "walk_groups"
            assert variant(problem, preference=PlanPreference(max_workspace=0)) == "sum_columns"
            assert variant(problem, layouts={"dy": "misaligned"}) == "sum_columns"
            assert variant(problem, layouts={"dx": "transposed"}) == "sum_columns"
            assert variant(problem.with_fields(want_dx=False)) == "sum_columns"
    assert variant(problem_of(norm, "backward", "bf16", (3, 40960))) == "sum_columns"
    assert variant(problem_of(norm, "backward", "bf16", (3, 4097))) == "sum_columns"


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("norm", NORMS)
def test_long_rows(backend, norm, direction):
    for dtype, shape in (("f16", (3, 131072)), ("f32", (2, 150001))):
        problem = problem_of(norm, direction, dtype, shape)
        error = verify.worst(checkout_spec(), backend, problem, values_of(problem))
        assert error <= problem.ulp[dtype]


@pytest.mark.parametrize("norm", NORMS)
def test_guarantees_tell_rows_from_columns(norm):
    problem = problem_of(norm, "backward", "f32", (64, 48))
    plan = problem.plan_class.select(bc.Stream.host(), problem.descriptor())
    assert plan.precision_guarantee.batch_invariant == ("dx",)
    assert plan.precision_guarantee.deterministic
    none = problem.plan_class.select(bc.Stream.host(), problem.descriptor(), PlanPreference(max_workspace=0))
    assert none.workspace_size() == 0


# In place


@pytest.mark.parametrize("norm", NORMS)
def test_in_place(backend, norm):
    """An output of elements may be exactly an input of elements; half of one is refused."""
    cases = {"forward": [("x", "y")], "backward": [("x", "dx"), ("dy", "dx")]}
    for direction, dtype in itertools.product(cases, ("f32", "f16")):
        for shape in [(1, 1), (3, 67), (40, 256), (2, 9000), (1, 40000)]:
            problem = problem_of(norm, direction, dtype, shape)
            values = values_of(problem)
            want = verify.run(backend, problem, values)
            for source, output in cases[direction]:
                prepared = verify.prepare(backend, problem, values)
                space = backend.workspace(prepared.plan.workspace_size())
                shared = prepared.tensors[source]
                prepared.plan.run(backend.stream, space, prepared.args(**{output: shared.array}))
                got = {name: t.values(backend) for name, t in prepared.tensors.items() if name in want}
                same_bits({**got, output: shared.values(backend)}, want)


@pytest.mark.parametrize("norm", NORMS)
def test_an_output_over_a_part_of_an_input_is_refused(norm):
    plan, tensors = args_of(problem_of(norm, "forward", "f32", (3, 4), has_gamma=False))
    memory = np.ones(20, np.float32)
    tensors |= {"x": memory[:12].reshape(3, 4), "y": memory[4:16].reshape(3, 4)}
    tensors = {name: value for name, value in tensors.items() if name in {"x", "y", "beta", "rms"}}
    with pytest.raises(InvalidProblem, match=r"y .*overlaps"):
        plan.can_implement(plan.ARGS(**tensors))
    # gamma is read by every row: no output may be written over it.
    plan, tensors = args_of(problem_of(norm, "forward", "f32", (1, 4)))
    whole = {name: value for name, value in tensors.items() if name not in ("residual", "summed")}
    with pytest.raises(InvalidProblem, match=r"y .*overlap"):
        plan.can_implement(plan.ARGS(**{**whole, "y": whole["gamma"].reshape(1, 4)}))
