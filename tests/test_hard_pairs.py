"""Functions of two and three numbers in f64 at points where they are hard, against mpmath."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from devices import checkout_spec

from baracuda.codegen import verify
from baracuda.codegen.verify import mp_reference
from baracuda.codegen.verify.hard_points import hard_points

#: Of each of the choices of operands that are hard: each one, and all.
POINTS = 250
FAMILIES = ("binary", "binary_param", "ternary", "where")
#: What needs the dtype's neighbours, which other tests compare exactly.
APART = ("nextafter",)


def remainder(x: Any, y: Any) -> Any:
    """Exact, whatever the quotient is."""
    whole, part = Fraction(float(x)), Fraction(float(y))
    rest = whole - part * (whole // part)
    return mpmath.mpf(rest.numerator) / rest.denominator


def is_nan(x: Any) -> bool:
    """A complex number is what NumPy has no value for."""
    return isinstance(x, mpmath.mpc) or bool(mpmath.isnan(x))


#: What their references call of NumPy, with numbers that are neither NaN nor a negative zero.
FUNCTIONS = {
    "arctan2": mpmath.atan2,
    "floor_divide": lambda x, y: mpmath.floor(x / y),
    "fmax": max,
    "fmin": min,
    "fmod": lambda x, y: mpmath.sign(x) * remainder(abs(x), abs(y)),
    "heaviside": lambda x, y: y if x == 0 else mpmath.mpf(int(x > 0)),
    "isnan": is_nan,
    "logaddexp2": lambda x, y: max(x, y) + mpmath.log1p(mpmath.power(2, -abs(x - y))) / mpmath.log(2),
    "remainder": remainder,
    "signbit": lambda x: not isinstance(x, mpmath.mpc) and x < 0,
}


def problems() -> list[Any]:
    found = []
    for op in checkout_spec().ops.values():
        if op.family.name in FAMILIES and op.name not in APART and "f64" in op.dtypes:
            for direction in op.programs:
                problem = verify.with_numbers(verify.problems(op, direction, "f64", [(POINTS,)])[0])[0]
                found.append(pytest.param(problem, id=op.stem(direction)))
    return found


def hard_inputs(problem: Any) -> list[dict[str, Any]]:
    """Inputs of which each operand in turn is hard, and all of them."""
    rng = np.random.default_rng(8)
    operands = [name for name in problem.inputs("forward") if problem.dtype_of(name) == "f64"]
    values = verify.inputs_for(problem)
    values |= {name: rng.uniform(0.5, 2, POINTS) for name in problem.inputs() if name not in operands}
    values |= {name: rng.random(POINTS) < 0.5 for name in values if problem.dtype_of(name) == "bool"}
    found = []
    for chosen in ([name] for name in operands):
        found.append({name: rng.permutation(hard_points(POINTS)) for name in chosen})
    found.append({name: rng.permutation(hard_points(POINTS)) for name in operands})
    return [{**values, **{name: rng.standard_normal(POINTS) for name in operands}, **hard} for hard in found]


@pytest.mark.parametrize("problem", problems())
def test_f64_at_hard_points(spec: Any, backend: Any, problem: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, function in FUNCTIONS.items():
        monkeypatch.setitem(mp_reference._NUMPY, name, function)
    judged = 0
    for tensors in hard_inputs(problem):
        given = {name: value for name, value in tensors.items() if name in problem.inputs()}
        results = verify.run(backend, problem, given)
        for output, found in mp_reference.judge(spec, problem, tensors, results).items():
            judged += np.sum(found.judged)
            place = int(np.argmax(found.errors))
            assert found.errors[place] <= problem.ulp["f64"], (
                f"{output} at {[value[place] for value in tensors.values()]}: {results[output][place]!r}, "
                f"want {found.want[place]}, {found.errors[place]:.2f} ulp"
            )
    assert judged > POINTS
