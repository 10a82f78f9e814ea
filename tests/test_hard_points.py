"""Functions of one number, and gates, in f64 at points where they are hard, against mpmath."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from devices import checkout_spec, half

from baracuda.codegen import verify
from baracuda.codegen.verify import mp_reference
from baracuda.codegen.verify.hard_points import LEAST, hard_inputs, hard_points

POINTS = 1000
FAMILIES = ("unary", "unary_param", "affine", "prelu", "gated")


def problems() -> list[Any]:
    found = []
    for op in checkout_spec().ops.values():
        if op.family.name in FAMILIES and "f64" in op.dtypes:
            for direction in op.programs:
                several = verify.with_numbers(verify.problems(op, direction, "f64", [(POINTS,)])[0])
                for problem in half(several, op, direction):
                    found.append(pytest.param(problem, id=str(problem)))
    return found


@pytest.mark.parametrize("problem", problems())
def test_f64_at_hard_points(spec: Any, backend: Any, problem: Any) -> None:
    tensors = hard_inputs(problem, POINTS)
    results = verify.run(backend, problem, tensors)
    bound = problem.ulp["f64"]
    for output, found in mp_reference.judge(spec, problem, tensors, results).items():
        # Where the expression divides by zero or the spec states no bound, other tests say what is right.
        assert np.sum(found.judged) > POINTS // 4
        place = int(np.argmax(found.errors))
        assert found.errors[place] <= bound, (
            f"{output} at {[value[place] for value in tensors.values()]}: {results[output][place]!r}, "
            f"want {found.want[place]}, {found.errors[place]:.2f} ulp"
        )


def test_not_of_a_truth_value_is_one() -> None:
    """Of an integer's bits `~` makes another number, true for both truth values."""
    problem = verify.problems(checkout_spec().ops["neg"], "forward", "f64", [(2,)])[0]
    op = dataclasses.replace(problem.op, ref={"y": "np.where(~(x == 0), 1 / x, 3)"})
    found = mp_reference.references(dataclasses.replace(problem, op=op), "y", {}, {"x": np.array([0.0, 2.0])})
    np.testing.assert_array_equal(found, [3, 0.5])


def test_hard_points_are_spread() -> None:
    """As many as asked for, the same ones each time; of every size, at places where functions turn."""
    for count in (LEAST, 1000, 20000):
        x = hard_points(count)
        assert x.shape == (count,)
        assert np.isfinite(x).all()
        np.testing.assert_array_equal(x, hard_points(count))
        assert abs(np.mean(x < 0) - 0.5) < 0.1
    size = np.abs(x)
    for place in (1.0, np.log(2) / 2, 709.782712893384, 1.4616321449683622):
        distance = np.abs(size - place)
        assert np.sum(distance < 1e-3 * place) > 3
        assert np.min(distance) < 1e-13 * place
    for low, high in ((0, 1e-308), (1e-300, 1e-10), (1e-3, 0.1), (1e3, 1e10), (1e100, 1e300)):
        assert np.sum((size > low) & (size < high)) > 100


def test_the_nearest_to_a_multiple_of_half_pi_is_among_them() -> None:
    """The number of all doubles, 6381956970095103 * 2**797: Muller 1997, "Elementary Functions"."""
    assert 6381956970095103 * 2.0**797 in np.abs(hard_points(100_000))
    with pytest.raises(ValueError, match="count is 199, want at least 200"):
        hard_points(LEAST - 1)
