"""A new op is a few lines of YAML: plans, kernels and tests follow, in a folder of the user's own."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from devices import load_units
from packages import write_package

from baracuda.codegen import kernels, load_spec, render, verify
from baracuda.codegen.spec import default_spec_path

MONOID = """
  span:
    doc: smallest and largest x
    state: {low: compute = inf, high: compute = -inf}
    lift:  {low: x, high: x}
    merge:
      low: min(a.low, b.low)
      high: max(a.high, b.high)
    value: high - low
"""

OPS = """
  weighted_difference:
    family: binary_param
    doc: weighted difference of two tensors
    kind: WEIGHTED_DIFFERENCE
    dtypes: float
    attrs:
      weight: {from: param, require: weight_rule}
    forward:
      y: (a - b) * weight
    backward:
      da: dy * weight
      db: -dy * weight
    ref:
      y: a * weight - b * weight
      da: dy * weight
      db: -(dy * weight)
    ulp: {half: 1, f32: 3, f64: 3}
    scale:
      y: (abs(a) + abs(b)) * abs(weight)

  reduce_span:
    family: reduce
    doc: largest minus smallest element
    kind: SPAN
    dtypes: [f32, f64, bf16]
    forward:
      y: span(x)
    ref:
      y: >-
        np.max(x, axis=axes, keepdims=True, initial=-np.inf)
        - np.min(x, axis=axes, keepdims=True, initial=np.inf)
    ulp: {half: 1, f32: 1, f64: 1}
""".replace("weight_rule", "param > -1000")


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """The checkout's spec with two ops more, its generated package and its path."""
    folder = tmp_path_factory.mktemp("new_op")
    text = default_spec_path().read_text(encoding="utf-8")
    text = re.sub(r"^monoids:\n", lambda match: match.group() + MONOID.lstrip("\n"), text, flags=re.MULTILINE)
    path = folder / "my_ops.yaml"
    path.write_text(text.rstrip("\n") + "\n" + OPS, encoding="utf-8")
    spec = load_spec(path)
    return spec, write_package(folder, "package_of_a_new_op", dict(render(spec)))


CASES = [
    ("weighted_difference", "forward", "f32"),
    ("weighted_difference", "backward", "f32"),
    ("weighted_difference", "forward", "bf16"),
    ("weighted_difference", "backward", "f64"),
    ("reduce_span", "forward", "f32"),
    ("reduce_span", "forward", "bf16"),
]


@pytest.fixture(scope="module")
def loaded(new, device):
    spec, package = new
    wanted = [row for row in kernels(spec) if (row.op, row.direction, row.dtype) in CASES]
    load_units(wanted, device, package)
    return spec, package


@pytest.mark.parametrize(("name", "direction", "dtype"), CASES)
def test_it_runs_and_is_right(loaded, backend, name, direction, dtype):
    spec, package = loaded
    op = spec.ops[name]
    for profile in ("normal", "ties", "special"):
        for problem in verify.problems(
            op, direction, dtype, [(3, 5, 7), (2, 1100), (20000,)], broadcast=True, package=package
        ):
            for layouts in ({}, dict.fromkeys(problem.tensors(), "all axes permuted")):
                values = verify.inputs_for(problem, profile)
                error = verify.worst(spec, backend, problem, values, layouts=layouts)
                assert error <= problem.ulp[dtype], (str(problem), profile, error)


def test_its_gradient_is_the_derivative(loaded, backend):
    spec, package = loaded
    for problem in verify.problems(
        spec.ops["weighted_difference"], "backward", "f64", [(2, 3)], broadcast=True, package=package
    ):
        values = verify.inputs_for(problem, "spaced")
        got = verify.run(backend, problem, values)
        for key, want in verify.numerical_gradients(problem, values).items():
            np.testing.assert_allclose(
                got[key].astype(np.float64), want.astype(np.float64), rtol=1e-10, atol=1e-10
            )


def test_numbers_by_hand(loaded, backend):
    """The new ops, called as a user calls them."""
    _, package = loaded
    plan_class = verify.plan_class("BinaryParamPlan", package)
    fields = {"kind": "weighted_difference", "shape": (3,), "element": "f32", "param": 2.5}
    plan = plan_class.select(backend.stream, plan_class.DESCRIPTOR(**fields))
    tensors = {
        name: verify.place(backend, name, "f32", (3,), values)
        for name, values in (("a", [1.0, 2.0, -3.0]), ("b", [0.0, 4.0, 1.0]), ("y", None))
    }
    plan(**{name: tensor.array for name, tensor in tensors.items()})
    assert tensors["y"].values(backend).tolist() == [2.5, -5.0, -10.0]

    plan_class = verify.plan_class("ReducePlan", package)
    fields = {"kind": "span", "input_shape": (2, 3), "reduce_axis": 1, "element": "f32"}
    plan = plan_class.select(backend.stream, plan_class.DESCRIPTOR(**fields))
    x = verify.place(backend, "x", "f32", (2, 3), [[1.0, -2.0, 0.5], [7.0, 7.0, math.nan]])
    y = verify.place(backend, "y", "f32", (2, 1))
    plan(x=x.array, y=y.array)
    np.testing.assert_array_equal(y.values(backend), [[3.0], [np.nan]])


def test_the_old_ops_are_still_there(new, spec):
    more, package = new
    assert set(more.ops) == set(spec.ops) | {"weighted_difference", "reduce_span"}
    plans = verify.plan_class("ReducePlan", package)
    assert len(plans.OPS) == len(verify.plan_class("ReducePlan").OPS) + 1


def test_only_its_own_kernels_are_new(new):
    """Other kernels' files stay byte for byte what they are: an op touches its own files and the tables."""
    more, _ = new
    before, after = render(load_spec()), render(more)
    changed = {path for path, text in after.items() if before.get(path) != text}
    new_kernels = {path for path in changed if path.endswith(".cu")}
    assert new_kernels == {
        "kernels/binary_elementwise/weighted_difference.cu",
        "kernels/binary_elementwise/weighted_difference_backward.cu",
        "kernels/reduction/reduce_span.cu",
    }


def test_a_requirement_of_the_new_op_is_held(loaded, backend):
    _, package = loaded
    plan_class = verify.plan_class("BinaryParamPlan", package)
    desc = plan_class.DESCRIPTOR(kind="weighted_difference", shape=(3,), element="f32", param=-1000.0)
    with pytest.raises(ValueError, match=r"BinaryParamPlan: param is -1000.0, want param > -1000"):
        plan_class.select(backend.stream, desc)


def test_it_shows_in_the_matrix(new):
    spec, _ = new
    rows = [row for row in kernels(spec) if row.op == "reduce_span"]
    assert {row.dtype for row in rows} == {"f32", "f64", "bf16"}
    assert all(row.plan == "ReducePlan" for row in rows)
