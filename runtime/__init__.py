"""baracuda: CUDA kernels generated from data, behind plans that validate once and run many times.

Every plan class of the op matrix, with its descriptor and arguments, is a name of this package, loaded when
first asked for: `baracuda.ReducePlan`, `baracuda.ReduceDescriptor`, `baracuda.ReduceArgs`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from baracuda.dtypes import ElementKind
from baracuda.errors import (
    BaracudaError,
    BufferTooSmall,
    CompileError,
    DriverError,
    InvalidProblem,
    MisalignedOperand,
    Unsupported,
    WorkspaceTooSmall,
)
from baracuda.sku import Backend, KernelSku, MathPrecision, PlanPreference, PrecisionGuarantee
from baracuda.stream import Stream
from baracuda.tensor import Device, TensorRef, as_tensor
from baracuda.workspace import Workspace

if TYPE_CHECKING:
    from baracuda.compile.pack import load_pack
    from baracuda.warming import warm_up

__version__ = "0.1.0"

__all__ = [
    "Backend",
    "BaracudaError",
    "BufferTooSmall",
    "CompileError",
    "Device",
    "DriverError",
    "ElementKind",
    "InvalidProblem",
    "KernelSku",
    "MathPrecision",
    "MisalignedOperand",
    "PlanPreference",
    "PrecisionGuarantee",
    "Stream",
    "TensorRef",
    "Unsupported",
    "Workspace",
    "WorkspaceTooSmall",
    "as_tensor",
    "load_pack",
    "warm_up",
]

# Loaded when first asked for, because they bring the compiler's side with them.
_LAZY = {"load_pack": "baracuda.compile.pack", "warm_up": "baracuda.warming"}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    plans = importlib.import_module("baracuda.generated.plans")
    module = plans.MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"baracuda.generated.plans.{module}"), name)


def __dir__() -> list[str]:
    plans = importlib.import_module("baracuda.generated.plans")
    return sorted([*__all__, *plans.MODULES])
