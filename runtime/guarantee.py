"""What a plan promises of its results, as follows from its op's record and from the kernels that it runs."""

from __future__ import annotations

from collections.abc import Set

from baracuda.contract import OpRecord
from baracuda.dtypes import ElementKind
from baracuda.engines import Engine
from baracuda.sku import MathPrecision, PrecisionGuarantee

__all__ = ["guarantee_of"]

#: How many units in the last place of f32 one of TF32 is, which has 11 digits of the 24.
TF32_LOSS = 2.0**13


def guarantee_of(op: OpRecord, element: ElementKind, engine: Engine, never: Set[str]) -> PrecisionGuarantee:
    """What an op promises; `never` are outputs that are never there."""
    others = {*never, *engine.cross_row_outputs()}
    precision = engine.math_precision()
    summed = op.sum_ulp.get(element.value, 0.0) if engine.cross_row_outputs() else 0.0
    scale = {name: text for name, text in op.scale.items() if name not in never}
    holds = {name: text for name, text in op.holds.items() if name not in never}
    if op.sum_ulp or op.column_outputs:
        for name in engine.cross_row_outputs():
            if name not in never:
                term = scale.get(name, "abs(exact)")
                scale[name] = f"the sum over its terms of max({term}, smallest_normal of {element.compute})"
                fits = "the sum over its terms of abs(exact) is at most max_value"
                holds[name] = f"({holds[name]}) and {fits}" if name in holds else fits
    return PrecisionGuarantee(
        math_precision=precision,
        accumulator=element.compute,
        deterministic=True,
        bit_stable_on_same_hardware=True,
        ulp=(_bound(op, element, engine) + summed) * (TF32_LOSS if precision is MathPrecision.TF32 else 1),
        batch_invariant=tuple(name for name in op.batch_invariant if name not in others),
        scale=tuple(scale.items()),
        holds=tuple(holds.items()),
    )


def _bound(op: OpRecord, element: ElementKind, engine: Engine) -> float:
    """The error bound: of outputs that all have one element kind of their own, that one's."""
    own = {engine.problem.elements[name] for name in op.outputs}
    result = own.pop() if len(own) == 1 and not op.row_outputs else element
    return op.ulp.get(result.value, 0.0)
