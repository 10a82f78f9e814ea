"""Backwards against independent references, and those against the numerical derivative of the forward's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from devices import (
    each_kernel,
    each_op,
    each_program,
    half,
    has_optional_outputs,
    share,
    small_problems,
    turn,
)

from baracuda.codegen import verify

SHAPES = [(), (1,), (5,), (33, 7), (3, 1, 130), (2, 3, 4, 5), (1100, 3), (2, 1100), (20000,), (700, 2)]
PROFILES = ["normal", "wide", "ties", "offset", "spaced"]
# Of a numerical derivative, relative to its largest element; longdouble and Richardson give about 1e-13.
NUMERICAL = 1e-10


def check(spec, backend, problem, profile, seed=0):
    values = verify.inputs_for(problem, profile, seed)
    error = verify.worst(spec, backend, problem, values)
    assert error <= problem.ulp[problem.dtype], f"{problem} on {profile} values: {error:.3f} ulp"


@each_kernel("backward")
def test_every_shape(spec, backend, op, direction, dtype):
    problems = share(verify.problems(op, direction, dtype, SHAPES), op, direction, dtype)
    for number, problem in enumerate(problems):
        check(spec, backend, problem, PROFILES[number % len(PROFILES)])


@each_kernel("backward")
def test_every_kind_of_values(spec, backend, op, direction, dtype):
    problems = small_problems(op, direction, dtype, (3, 5, 7), (4, 300))
    for problem, profile in share([*itertools.product(problems, PROFILES)], op, direction, dtype):
        check(spec, backend, problem, profile, seed=1)


@each_op("backward")
def test_extreme_magnitudes(spec, backend, op, direction, dtype):
    """Nearly every exponent of the kind in one row: what fits the kind comes out right."""
    problems = small_problems(op, direction, dtype, (3, 5, 7), (2, 40))
    for problem in share(problems, op, direction, dtype, least=4):
        check(spec, backend, problem, "extreme")


@each_op("backward")
def test_every_sample_of_the_numbers(spec, backend, op, direction, dtype):
    several = small_problems(op, direction, dtype, (6, 9))[:4]
    numbers = [changed for problem in several for changed in verify.with_numbers(problem)]
    pairs = [*itertools.product(numbers, ("normal", "ties"))]
    for problem, profile in share(pairs, op, direction, dtype, least=3):
        check(spec, backend, problem, profile)


def summed_problems(op, direction, dtype="f32"):
    long = small_problems(op, direction, dtype, (3, 9000), (9000, 3), (30000,))
    return [problem for problem in long if problem.summed()]


@each_op("backward", where=summed_problems)
def test_broadcast_operands_with_split_rows(spec, backend, op, direction, dtype):
    """Gradients that are long sums, over leading, trailing and all axes."""
    for problem in share(summed_problems(op, direction, dtype), op, direction, dtype):
        check(spec, backend, problem, "normal")


def smooth_problems(op):
    """Problems of a few elements with every option: half of them, of those with broadcast operands a part."""
    shapes = ((2, 3, 4), (5,))
    broadcast = small_problems(op, "backward", "f64", *shapes)
    some = itertools.chain(*turn([broadcast[first::4] for first in range(4)], op, "backward"))
    found = [
        changed
        for problem in (*verify.problems(op, "backward", "f64", shapes), *some)
        for changed in verify.with_numbers(problem)[:3]
        if np.prod(problem.domain)
    ]
    return half(found, op, "backward")


@each_program("backward")
def test_the_numerical_derivative(backend, op, direction):
    """The formula, its reference and the derivative of the forward's reference agree where all is smooth."""
    compared = 0
    for start in (None, 0, 1):  # for functions that have values between two numbers alone
        for number, problem in enumerate(smooth_problems(op)):
            values = verify.inputs_for(problem, "spaced", seed=number)
            if start is not None:
                inputs = problem.with_direction("forward").inputs()
                values |= {name: start + 1 / (1 + np.exp(-values[name])) for name in inputs}
            with np.errstate(invalid="ignore"):
                numerical = verify.numerical_gradients(problem, values)
            exact = verify.references(problem, values)
            got = verify.run(backend, problem, values)
            for name, derivative in numerical.items():
                # Where the forward has no value, or a kink or a jump, there is nothing to differentiate.
                smooth = np.isfinite(derivative)
                want = derivative[smooth]
                size = max(np.max(np.abs(want), initial=0), 1)
                compared += want.size
                for values_of in (exact, got):
                    error = np.max(np.abs(values_of[name][smooth] - want), initial=0)
                    assert error <= NUMERICAL * size, (problem, name)
        if compared:
            return
    pytest.fail("the forward has no values at any of these points")


@each_program("backward")
def test_every_input_that_has_a_gradient_gets_it(op, direction):
    """The numerical derivative reaches each output of the backward."""
    problem = small_problems(op, direction, "f64", (2, 3))[0]
    with np.errstate(invalid="ignore"):
        numerical = verify.numerical_gradients(problem, verify.inputs_for(problem, "spaced"))
    assert set(numerical) == set(problem.outputs())


@each_op("backward", where=has_optional_outputs)
def test_gradients_may_be_left_out(backend, op, direction, dtype):
    for problem in share(small_problems(op, direction, dtype), op, direction, dtype):
        values = verify.inputs_for(problem)
        full = verify.run(backend, problem, values)
        for name in set(problem.optional()) & set(problem.outputs()):
            fewer = verify.run(backend, problem, values, unwanted=[name])
            assert set(fewer) == set(full) - {name}
            for other, got in fewer.items():
                np.testing.assert_array_equal(verify.bits_of(got), verify.bits_of(full[other]))
