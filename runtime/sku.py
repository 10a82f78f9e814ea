"""What a plan is and what it promises: kernel identity, precision guarantee and selection preference."""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass
from typing import Any

from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem

__all__ = ["Backend", "KernelSku", "MathPrecision", "PlanPreference", "PrecisionGuarantee"]


class MathPrecision(str, enum.Enum):
    """The precision in which a formula's arithmetic is done; that of integers is exact, modulo 2**width."""

    F32 = "f32"
    F64 = "f64"
    TF32 = "tf32"
    INTEGER = "integer"


class Backend(str, enum.Enum):
    """What runs a plan: a kernel compiled for the GPU, or the same kernel on the host executor."""

    CUDA = "cuda"
    HOST = "host"


@dataclass(frozen=True)
class PrecisionGuarantee:
    """What a plan promises of its results.

    Attributes:
        math_precision: precision of the arithmetic.
        accumulator: the kind in which sums and other aggregates are held.
        deterministic: equal inputs give equal bits.
        bit_stable_on_same_hardware: equal bits from run to run and process to process on one kind of card.
        ulp: largest error against the exact result at the given inputs, in units in the last place of the
            output's dtype, of the result or of the magnitude that `scale` names.
        scale: pairs of an output and the magnitude that its bound is relative to, where that is not the
            result alone: a formula of `ops.yaml`, over the tensors, the exact result (`exact`) and parts of
            the op's reference, which `baracuda-gen show OP` lists. The larger of it and the result counts.
        holds: pairs of an output and the condition under which its bound holds, where that is not everywhere:
            a formula as in `scale`, with the limits of the compute type.
        batch_invariant: outputs of which a row depends neither on the other rows nor on how many there are.
    """

    math_precision: MathPrecision
    accumulator: ElementKind
    deterministic: bool
    bit_stable_on_same_hardware: bool
    ulp: float
    batch_invariant: tuple[str, ...]
    scale: tuple[tuple[str, str], ...] = ()
    holds: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class KernelSku:
    """Identity of the kernel behind a plan; hashable, and `to_json` gives plain data.

    Plans that differ in shapes, numbers or options that no kernel depends on share it: `Plan.key` and
    `Plan.to_json` tell them apart.

    Attributes:
        category: family of ops, such as "Reduction".
        op: name of the op and direction, such as "reduce_sum".
        element: kind of the elements.
        aux_element: kind of a second operand where it differs, else None.
        layout: layout policy of the op where it has one, else None.
        epilogue: fused epilogue, else None.
        arch: "sm_90" and the like, or "host".
        backend: what runs the kernel.
        variant: the kernel variant for contiguous tensors (`Plan.sku_for` tells it for given tensors).
        precision_guarantee: what the results are held to.
    """

    category: str
    op: str
    element: ElementKind
    aux_element: ElementKind | None
    layout: str | None
    epilogue: str | None
    arch: str
    backend: Backend
    variant: str
    precision_guarantee: PrecisionGuarantee

    def to_json(self) -> dict[str, Any]:
        """The SKU as a dictionary of plain values, as `json.dumps` takes it."""
        plain: dict[str, Any] = dataclasses.asdict(self, dict_factory=_plain)
        return plain

    def __str__(self) -> str:
        return f"{self.op}/{self.element}/{self.variant}/{self.arch}"


def _plain(items: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value.value if isinstance(value, enum.Enum) else value for name, value in items}


@dataclass(frozen=True)
class PlanPreference:
    """What the caller prefers where several kernels would do.

    Attributes:
        max_workspace: bytes of workspace that the plan may ask for; None: all that the fastest kernel wants.
            A smaller bound picks another way to the same bits.
        allow_tf32: whether f32 matrix products may round their operands to TF32.
    """

    max_workspace: int | None = None
    allow_tf32: bool = False

    def __post_init__(self) -> None:
        given: Any = self.max_workspace
        if not isinstance(given, int | None) or isinstance(given, bool):
            got = type(given).__name__
            raise TypeError(f"PlanPreference: max_workspace is a {got}, want an int or None")
        allowed: Any = self.allow_tf32
        if not isinstance(allowed, bool):
            raise TypeError(f"PlanPreference: allow_tf32 is {allowed!r}, want True or False")
        if self.max_workspace is not None and self.max_workspace < 0:
            raise InvalidProblem(f"PlanPreference: max_workspace is {self.max_workspace}, want at least 0")
