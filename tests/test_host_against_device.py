"""The same kernel text on the host and on the GPU: equal bits of integers, and of only IEEE operations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from devices import checkout_spec, small_problems

from baracuda.codegen import verify
from baracuda.codegen.formula import calls
from baracuda.codegen.spec.pairs import uses_own_trigonometry
from baracuda.codegen.verify.devices import HostBackend

pytestmark = pytest.mark.cuda

#: Functions that are exact, or correctly rounded, on the host and on the GPU alike.
IEEE = frozenset(
    [
        *("abs", "sqrt", "square", "max", "min", "fmax", "fmin", "clamp", "copysign", "sign", "fma"),
        *("isnan", "isinf", "isfinite", "signbit", "floor", "ceil", "trunc", "round"),
        *(
            "mantissa",
            "exponent",
            "normal_mantissa",
            "normal_exponent",
            "normal_scale",
            "ldexp",
            "reciprocal",
        ),
    ]
)


def expressions(program):
    """Every formula that a program's kernels evaluate."""
    for statement in (
        *program.known_lets,
        *program.lift_lets,
        *program.row_lets,
        *program.lets,
        *program.results,
        *program.row_results,
    ):
        yield statement.value
    for aggregate in program.aggregates:
        monoid = aggregate.monoid
        yield aggregate.operand
        steps = [monoid.lift, monoid.merge]
        if monoid.run is not None:
            usual = monoid.run.usual
            steps += [monoid.run.push, monoid.run.close]
            if usual is not None:
                steps += [usual.push, usual.settle]
                yield usual.fits
        for step in steps:
            if step is not None:
                yield from (*(statement.value for statement in step.lets), *step.values)
        yield from (
            statement.value for statement in (*monoid.derived, *([monoid.value] if monoid.value else []))
        )


def only_ieee(program, family):
    if family.template == "attention":  # its exponentials and the order of its products are not the formulas'
        return False
    # Sine and cosine of an angle are the library's own.
    own = {"sin", "cos"} if family.pairs is not None and uses_own_trigonometry(program) else set()
    return all(name in IEEE | own for expression in expressions(program) for name in calls(expression))


# Other functions differ by library; the tests of forwards and backwards hold both sides to the bound.
EXACT = [
    pytest.param(op, direction, dtype, id=f"{op.stem(direction)}-{dtype}")
    for op, direction, dtype in verify.each_op(checkout_spec())
    if verify.is_whole(dtype) or only_ieee(op.programs[direction], op.family)
]


@pytest.mark.parametrize(("op", "direction", "dtype"), EXACT)
def test_host_and_device_agree(backend, op, direction, dtype):
    problems = small_problems(op, direction, dtype, (3, 5, 7), (2, 9000))
    for problem, profile in itertools.product(problems, ("normal", "ties", "wide")):
        values = verify.inputs_for(problem, profile)
        ours, theirs = verify.run(HostBackend(), problem, values), verify.run(backend, problem, values)
        for name, mine in ours.items():
            same = (mine == theirs[name]) | (np.isnan(mine) & np.isnan(theirs[name]))
            assert np.all(same), f"{problem}: {name} differs in {np.sum(~same)} elements"
