"""Functions of one number, and gates, in f64 at points where they are hard, against mpmath."""

from __future__ import annotations

from typing import Any

import mp_reference
import numpy as np
import pytest
from devices import checkout_spec

from baracuda.codegen import verify
from baracuda.codegen.verify.reference import bound_holds

POINTS = 1000
FAMILIES = ("unary", "unary_param", "affine", "prelu", "gated")


def hard_points(count: int) -> Any:
    """Numbers of every magnitude, near those where functions turn, and near the bounds of their ranges."""
    rng = np.random.default_rng(5)
    signs = np.array([-1.0, 1.0])
    ulps = rng.integers(-4, 5, 400) * 2.0**-53
    near_one = 1 + np.multiply.outer(signs, 2.0 ** -np.arange(1, 53)).ravel()
    turns = rng.integers(1, 10**6, 60) * (np.pi / 2)
    halves = np.arange(-40, 41) / 2 * (1 + ulps[:81])
    parts = [near_one, -near_one, turns * rng.choice(signs, 60), halves]
    left = count - sum(map(len, parts))
    scales = np.array([1, 1, 10, 10, 50, 750])[np.arange(2 * left // 3) % 6]
    parts.append(rng.uniform(-1, 1, len(scales)) * scales)
    left -= len(scales)
    parts.append(rng.choice(signs, left) * np.exp2(rng.uniform(-1074, 1024, left)))
    return np.concatenate(parts)


def problems() -> list[Any]:
    found = []
    for op in checkout_spec().ops.values():
        if op.family.name in FAMILIES and "f64" in op.dtypes:
            for direction in op.programs:
                for problem in verify.with_numbers(verify.problems(op, direction, "f64", [(POINTS,)])[0]):
                    found.append(pytest.param(problem, id=str(problem)))
    return found


@pytest.mark.parametrize("problem", problems())
def test_f64_at_hard_points(spec: Any, backend: Any, problem: Any) -> None:
    """The last of the forward's operands is hard, the others are numbers of usual sizes."""
    *others, hard = problem.inputs("forward")
    rng = np.random.default_rng(6)
    tensors = {name: rng.uniform(0.5, 2, POINTS) for name in problem.inputs() if name not in (*others, hard)}
    tensors |= {name: rng.standard_normal(POINTS) for name in others} | {hard: hard_points(POINTS)}
    numbers = {attribute.name: problem.fields[attribute.source] for attribute in problem.op.attributes}
    results = verify.run(backend, problem, tensors)
    for output, got in results.items():
        want = mp_reference.references(problem, output, numbers, tensors)
        scale = verify.scales(spec, problem, tensors).get(output)
        errors = verify.ulp_errors("f64", got, want, scale)
        # Where the expression divides by zero or the spec states no bound, other tests say what is right.
        judged = np.broadcast_to(bound_holds(spec, problem, tensors).get(output, True), got.shape)
        judged = judged & (np.isnan(got) | ~np.isnan(want))
        place = int(np.argmax(np.where(judged, errors, 0)))
        bound = problem.ulp["f64"]
        assert np.sum(judged) > POINTS // 4
        assert errors[place] <= bound, (
            f"{output} at {[value[place] for value in tensors.values()]}: {got[place]!r}, "
            f"want {want[place]}, {errors[place]:.2f} ulp"
        )
