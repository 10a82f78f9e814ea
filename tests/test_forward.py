"""Forwards against each op's independent reference, in units in the last place."""

from __future__ import annotations

import itertools

import numpy as np
from devices import each_kernel, each_op, has_optional_outputs, share, small_problems

from baracuda.codegen import verify

# Scalars, odd and even rows, rows of several chunks, a row that is split over blocks, many short rows.
SHAPES = [(), (1,), (5,), (33, 7), (3, 1, 130), (2, 3, 4, 5), (1100, 3), (2, 1100), (20000,), (700, 2)]
PROFILES = ["normal", "wide", "ties", "offset", "spaced"]


def check(spec, backend, problem, profile, seed=0):
    values = verify.inputs_for(problem, profile, seed)
    error = verify.worst(spec, backend, problem, values)
    assert error <= problem.ulp[problem.dtype], f"{problem} on {profile} values: {error:.3f} ulp"


@each_kernel("forward")
def test_every_shape(spec, backend, op, direction, dtype):
    problems = share(verify.problems(op, direction, dtype, SHAPES), op, direction, dtype)
    for turn, problem in enumerate(problems):
        check(spec, backend, problem, PROFILES[turn % len(PROFILES)])


@each_kernel("forward")
def test_every_kind_of_values(spec, backend, op, direction, dtype):
    problems = small_problems(op, direction, dtype, (3, 5, 7), (4, 300))
    for problem, profile in share([*itertools.product(problems, PROFILES)], op, direction, dtype):
        check(spec, backend, problem, profile, seed=1)


@each_op("forward")
def test_extreme_magnitudes(spec, backend, op, direction, dtype):
    """Nearly every exponent of the kind in one row: what fits the kind comes out right."""
    problems = small_problems(op, direction, dtype, (3, 5, 7), (2, 40))
    for problem in share(problems, op, direction, dtype, least=4):
        check(spec, backend, problem, "extreme")


@each_op("forward")
def test_every_sample_of_the_numbers(spec, backend, op, direction, dtype):
    several = small_problems(op, direction, dtype, (6, 9))[:4]
    numbers = [changed for problem in several for changed in verify.with_numbers(problem)]
    pairs = [*itertools.product(numbers, ("normal", "ties"))]
    for problem, profile in share(pairs, op, direction, dtype, least=3):
        check(spec, backend, problem, profile)


@each_op("forward", where=has_optional_outputs)
def test_optional_outputs_may_be_left_out(spec, backend, op, direction, dtype):
    """What is asked for does not depend on what else is."""
    problem = small_problems(op, direction, dtype)[0]
    values = verify.inputs_for(problem)
    full = verify.run(backend, problem, values)
    for name in set(problem.optional()) & set(problem.outputs()):
        fewer = verify.run(backend, problem, values, unwanted=[name])
        assert set(fewer) == set(full) - {name}
        for other, got in fewer.items():
            np.testing.assert_array_equal(verify.bits_of(got), verify.bits_of(full[other]))
