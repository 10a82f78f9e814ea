"""Gradients of functions of one number at every 16-bit input, beside each of a few incoming gradients."""

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
