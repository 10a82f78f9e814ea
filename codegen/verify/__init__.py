"""Data, references and error measurement: what the demo and the tests hold plans against.

Everything follows from the spec. The oracles are the ops' independent `ref` expressions, evaluated in
longdouble on the exactly widened inputs, and the numerical derivative of the forward's.
"""

from baracuda.codegen.verify.cases import Case, Result, cases
from baracuda.codegen.verify.data import PROFILES, all_patterns, inputs_for, saved_tensors, special_values
from baracuda.codegen.verify.derivative import numerical_gradients
from baracuda.codegen.verify.devices import Backend, backend
from baracuda.codegen.verify.execute import GuardError, Run, Tensor, place, prepare, run, worst
from baracuda.codegen.verify.floats import (
    bits_of,
    integer_range,
    is_whole,
    largest_error,
    numpy_dtype,
    rounded,
    ulp,
    ulp_errors,
    widened,
)
from baracuda.codegen.verify.layouts import ANY_LAYOUT, EXPANDED, LAYOUTS, Placement
from baracuda.codegen.verify.problems import (
    GENERATED,
    Problem,
    axes_of,
    each_op,
    plan_class,
    problems,
    with_numbers,
)
from baracuda.codegen.verify.reference import evaluate_scale, references, scales

__all__ = [
    "ANY_LAYOUT",
    "EXPANDED",
    "GENERATED",
    "LAYOUTS",
    "PROFILES",
    "Backend",
    "Case",
    "GuardError",
    "Placement",
    "Problem",
    "Result",
    "Run",
    "Tensor",
    "all_patterns",
    "axes_of",
    "backend",
    "bits_of",
    "cases",
    "each_op",
    "evaluate_scale",
    "inputs_for",
    "integer_range",
    "is_whole",
    "largest_error",
    "numerical_gradients",
    "numpy_dtype",
    "place",
    "plan_class",
    "prepare",
    "problems",
    "references",
    "rounded",
    "run",
    "saved_tensors",
    "scales",
    "special_values",
    "ulp",
    "ulp_errors",
    "widened",
    "with_numbers",
    "worst",
]
