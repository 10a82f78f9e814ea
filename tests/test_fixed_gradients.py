"""Gradients of functions of one number, at every 16-bit input beside a few dy, and beside subnormal ones."""

from __future__ import annotations

import numpy as np
from devices import each_op, share

from baracuda.codegen import verify

#: One that changes nothing, one that rounds, a large and a small one; other tests have special ones.
GRADIENTS = (1.0, -0.37, 300.0, 0.0021)


def of_one_number(op, direction):
    """Whether a gradient follows from one number."""
    program = op.programs[direction]
    return op.family.template == "map" and {*program.inputs} <= {"dy", "x"} and len(program.outputs) == 1


@each_op("backward", dtypes=["f16", "bf16"], where=of_one_number)
def test_all_65536_inputs(spec, backend, op, direction, dtype):
    patterns = verify.all_patterns(dtype)
    first = verify.problems(op, direction, dtype, [patterns.shape])[0]
    pieces = [(problem, dy) for problem in verify.with_numbers(first) for dy in GRADIENTS]
    for problem, dy in share(pieces, op, direction, dtype, ["f16", "bf16"]):
        values = {"x": patterns, "dy": np.full_like(patterns, dy)}
        given = {name: values[name] for name in problem.inputs()}
        assert verify.worst(spec, backend, problem, given) <= problem.ulp[dtype], f"{problem} at dy = {dy}"


@each_op("backward", dtypes=["f32"], where=of_one_number)
def test_a_sample_of_f32_inputs(spec, backend, op, direction, dtype):
    """Numbers near 1 and of every size; `benchmarks/accuracy.py --gradients` has all of them."""
    rng = np.random.default_rng(12)
    count = 1 << 15
    near = rng.uniform(-10, 10, count) * np.where(
        rng.random(count) < 0.5, 1, 10 ** rng.uniform(-6, 1.5, count)
    )
    every = rng.integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32)
    x = np.where(rng.random(count) < 0.8, near.astype(np.float32), every)
    values = {"x": x, "dy": (rng.uniform(0.5, 2, count) * rng.choice([-1, 1], count)).astype(np.float32)}
    for problem in verify.with_numbers(verify.problems(op, direction, dtype, [(count,)])[0]):
        given = {name: values[name] for name in problem.inputs()}
        assert verify.worst(spec, backend, problem, given) <= problem.ulp[dtype], f"{problem}"


@each_op("backward", dtypes=["f32", "f64"], where=of_one_number)
def test_subnormal_gradients(spec, backend, op, direction, dtype):
    """A product with a number of few digits, and a quotient, lose none that a later factor brings back."""
    rng = np.random.default_rng(11)
    kind, count = (np.float32, 2000) if dtype == "f32" else (np.float64, 400)
    x = rng.standard_normal(count) * 10.0 ** rng.uniform(-6, 3, count)
    dy = rng.integers(1, 1 << 17, count) * rng.choice([-1, 1], count)
    dy[::4] = rng.choice([-3, -1, 1, 2, 5], dy[::4].size)
    values = {"x": x.astype(kind), "dy": dy * np.finfo(kind).smallest_subnormal}
    for problem in verify.with_numbers(verify.problems(op, direction, dtype, [(count,)])[0]):
        given = {name: values[name] for name in problem.inputs()}
        assert verify.worst(spec, backend, problem, given) <= problem.ulp[dtype], f"{problem}"
