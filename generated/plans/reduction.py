"""Reduction plans: ReducePlan.

Generated from ops.yaml by templates/plans.py.j2. Do not edit: run `baracuda-gen generate`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from baracuda.contract import OpRecord, TensorRule
from baracuda.descriptor import Descriptor
from baracuda.dtypes import ElementKind
from baracuda.plan import Plan
from baracuda.shapes import keepdim, keepdim_reason

from .kinds import ReduceKind

__all__ = [
    "ReduceArgs",
    "ReduceDescriptor",
    "ReducePlan",
]


@dataclass(frozen=True, kw_only=True)
class ReduceDescriptor(Descriptor):
    """The problem of a ReducePlan: y = aggregate of x over one or several axes, which stay with extent 1.

    Attributes:
        kind: which op.
        input_shape: extents of x.
        reduce_axis: the axis to reduce, or a tuple of axes.
        element: dtype of every tensor.
    """

    kind: ReduceKind | str
    input_shape: tuple[int, ...]
    reduce_axis: int | tuple[int, ...]
    element: ElementKind | str

    RULES = {
        "kind": ReduceKind,
        "input_shape": "shape",
        "reduce_axis": "axes",
        "element": "element",
    }
    DEFAULTS = {}


@dataclass(frozen=True, kw_only=True)
class ReduceArgs:
    """The tensors of a ReducePlan.

    Attributes:
        x: input; of shape input_shape.
        y: result; of shape keepdim(input_shape, reduce_axis).
    """

    x: Any
    y: Any


def _reduce_sum_scalars(_: ReduceDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of reduce_sum, folded in double precision."""
    return ()


class ReducePlan(Plan):
    """y = aggregate of x over one or several axes, which stay with extent 1.

    SUM (f16, bf16, f32, f64): sum over the reduced axes; torch.sum, jnp.sum
        y = sum(x)

    `select` checks a ReduceDescriptor and compiles or loads its kernels; `run` takes ReduceArgs.
    Tensors may have any strides, zero and negative ones included.
    """

    TEMPLATE = "aggregate"
    CATEGORY = "Reduction"
    DESCRIPTOR = ReduceDescriptor
    ARGS = ReduceArgs
    DOMAIN = "input_shape"
    AXES = "reduce_axis"
    TENSORS = (
        TensorRule("x", "in"),
        TensorRule("y", "out"),
    )
    OPS = {
        ReduceKind.SUM: OpRecord(
            name="reduce_sum",
            source="reduction/reduce_sum.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            outputs=("y",),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=_reduce_sum_scalars,
            state="a",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "x": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "y": (
                keepdim(desc.input_shape, desc.reduce_axis),
                keepdim_reason("input_shape", desc.input_shape, "reduce_axis", desc.reduce_axis),
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        yield from ()

    def __call__(
        self,
        *,
        x: Any,
        y: Any,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        self.run(stream, workspace, ReduceArgs(x=x, y=y))
