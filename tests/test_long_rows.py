"""Rows so long that many blocks share them keep to the bound, also where every rounding falls to one side."""

from __future__ import annotations

import numpy as np
import pytest
from devices import each_op, has_axes

from baracuda.codegen import verify

EXTENT = 300_000


@each_op("forward", dtypes=["bf16", "f32", "f64"], where=has_axes)
@pytest.mark.parametrize("spread", [2.0**-15, 2.0**-9])
def test_many_numbers_near_one(spec, backend, op, direction, dtype, spread):
    """Below 1 the steps of floating point are half of those above: what drifts there adds up."""
    for problem in verify.problems(op, direction, dtype, [(EXTENT,)], every_option=False)[:1]:
        values = verify.inputs_for(problem)
        noise = np.random.default_rng(3).standard_normal(EXTENT)
        for name, like in values.items():
            values[name] = (1 + spread * noise).reshape(like.shape).astype(like.dtype)
        assert verify.worst(spec, backend, problem, values) <= problem.ulp[dtype]
