"""Numbers of a descriptor beside f32 and 16 bits: each is the nearest f32 number, in whatever follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from devices import checkout_spec

from baracuda.codegen import verify

#: Of a power of two nearly half of what separates it from the next f32 number.
NUDGE = 1 + 0.95 * 2.0**-24


def narrowed(op, direction):
    """The fields of an op's descriptor whose numbers formulas take in the compute type."""
    fields = op.family.fields(direction)
    sources = [a.source for a in op.attributes if not a.wide and a.source in fields]
    return [name for name in sources if fields[name].type == "f64"]


def beside_f32(op, direction):
    """A problem, and numbers for it that f32 does not have."""
    problem = verify.problems(op, direction, "f32", [(5, 33)])[0]
    sources = narrowed(op, direction)
    given = {name: problem.fields[name] * NUDGE for name in sources}
    if all(value == problem.fields[name] for name, value in given.items()):  # 0 and infinities
        given = dict.fromkeys(sources, 0.3)
    return problem, given


def takes_such(op, direction):
    """Not of an op whose numbers are whole."""
    problem, given = beside_f32(op, direction)
    return problem.with_fields(**given).is_valid()


CASES = [
    pytest.param(op, direction, id=op.stem(direction))
    for op in checkout_spec().ops.values()
    for direction in op.programs
    if narrowed(op, direction) and "f32" in op.dtypes_of(direction) and takes_such(op, direction)
]


def test_there_are_such_ops():
    assert {case.id for case in CASES} >= {"celu", "softplus_backward", "lerp", "rms_norm", "reduce_var"}


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
@pytest.mark.parametrize(("op", "direction"), CASES)
def test_the_nearest_f32_number_counts(spec, backend, op, direction, dtype):
    """Bit for bit the results of a number are those of the f32 number nearest to it."""
    problem, given = beside_f32(op, direction)
    problem = replace(problem, dtype=dtype)
    nearest = {name: float(np.float32(value)) for name, value in given.items()}
    assert given != nearest
    inputs = verify.inputs_for(problem, "wide", 3)
    got = verify.run(backend, problem.with_fields(**given), inputs)
    want = verify.run(backend, problem.with_fields(**nearest), inputs)
    for name in want:
        np.testing.assert_array_equal(got[name].view(np.uint8), want[name].view(np.uint8), err_msg=name)
