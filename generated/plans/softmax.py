"""Softmax plans.

SoftmaxPlan, SoftmaxBackwardPlan.

Generated from ops.yaml by templates/plans.py.j2. Do not edit: run `baracuda-gen generate`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from baracuda.contract import OpRecord, TensorRule, no_scalars
from baracuda.descriptor import Descriptor
from baracuda.dtypes import ElementKind
from baracuda.plan import Plan

from .kinds import SoftmaxKind

__all__ = [
    "SoftmaxArgs",
    "SoftmaxBackwardArgs",
    "SoftmaxBackwardDescriptor",
    "SoftmaxBackwardPlan",
    "SoftmaxDescriptor",
    "SoftmaxPlan",
]


@dataclass(frozen=True, kw_only=True)
class SoftmaxDescriptor(Descriptor):
    """The problem of a SoftmaxPlan: y = f(x), with statistics of x over one or several axes.

    Attributes:
        kind: which op.
        input_shape: extents of every tensor.
        softmax_axis: the axis that sums to 1, or a tuple of axes.
        element: dtype of every tensor.
        masked_row: what a row of nothing but -inf gives: zero, or nan as in PyTorch.
    """

    kind: SoftmaxKind | str
    input_shape: tuple[int, ...]
    softmax_axis: int | tuple[int, ...]
    element: ElementKind | str
    masked_row: str = "zero"

    RULES: ClassVar = {
        "kind": SoftmaxKind,
        "input_shape": "shape",
        "softmax_axis": "axes",
        "element": "element",
        "masked_row": "option",
    }
    DEFAULTS: ClassVar = {}


@dataclass(frozen=True, kw_only=True)
class SoftmaxBackwardDescriptor(SoftmaxDescriptor):
    """The problem of a SoftmaxBackwardPlan: the fields of the forward's descriptor."""


@dataclass(frozen=True, kw_only=True)
class SoftmaxArgs:
    """The tensors of a SoftmaxPlan.

    Attributes:
        x: input; of shape input_shape.
        y: result; of shape input_shape.
    """

    x: Any
    y: Any


@dataclass(frozen=True, kw_only=True)
class SoftmaxBackwardArgs:
    """The tensors of a SoftmaxBackwardPlan.

    Attributes:
        dy: gradient of y; of shape input_shape.
        x: the forward's input; None for SOFTMAX; of shape input_shape.
        y: the forward's result; None for LOG_SOFTMAX; of shape input_shape.
        dx: gradient of x; of shape input_shape.
    """

    dy: Any
    x: Any = None
    y: Any = None
    dx: Any


class SoftmaxPlan(Plan):
    """y = f(x), with statistics of x over one or several axes.

    SOFTMAX (f16, bf16, f32, f64, masked_row=zero): exp(x) over its sum; torch.softmax, jax.nn.softmax
        share = 1 / l.total
        l = logsumexp(x)
        y = 0 if l.m == -inf else exp(x - l.m) * share

    LOG_SOFTMAX (f16, bf16, f32, f64, masked_row=zero): x minus the logarithm of the sum of exp(x);
        torch.log_softmax, jax.nn.log_softmax
        l = logsumexp(x)
        y = -inf if l.m == -inf else x - l.m - log(l.total)

    `select` checks a SoftmaxDescriptor and compiles or loads its kernels.
    `run` takes SoftmaxArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "aggregate"
    CATEGORY = "Softmax"
    DESCRIPTOR = SoftmaxDescriptor
    ARGS = SoftmaxArgs
    DOMAIN = "input_shape"
    AXES = "softmax_axis"
    TENSORS = (
        TensorRule("x", "in"),
        TensorRule("y", "out"),
    )
    OPS: ClassVar = {
        SoftmaxKind.SOFTMAX: OpRecord(
            name="softmax",
            source="softmax/softmax.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="aa",
            ulp={"f16": 2.0, "bf16": 2.0, "f32": 32.0, "f64": 32.0},
            contraction=False,
            scale={"y": "abs(exact) * min(1 + maximum(x) - x, 800)"},
        ),
        SoftmaxKind.LOG_SOFTMAX: OpRecord(
            name="log_softmax",
            source="softmax/log_softmax.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="aa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 8.0, "f64": 8.0},
            contraction=False,
            scale={"y": "abs(exact) + 1"},
        ),
    }
    ALTERNATIVES = (
        (
            SoftmaxKind.SOFTMAX,
            {"masked_row": "nan"},
            OpRecord(
                name="softmax_nan",
                source="softmax/softmax_nan.cu",
                dtypes=("f16", "bf16", "f32", "f64"),
                inputs=("x",),
                row_inputs=(),
                outputs=("y",),
                row_outputs=(),
                required=frozenset({"x", "y"}),
                accepted=frozenset({"x", "y"}),
                batch_invariant=("y",),
                attributes="",
                fold=no_scalars,
                state="aa",
                ulp={"f16": 2.0, "bf16": 2.0, "f32": 32.0, "f64": 32.0},
                contraction=False,
                scale={"y": "abs(exact) * min(1 + maximum(x) - x, 800)"},
            ),
        ),
        (
            SoftmaxKind.LOG_SOFTMAX,
            {"masked_row": "nan"},
            OpRecord(
                name="log_softmax_nan",
                source="softmax/log_softmax_nan.cu",
                dtypes=("f16", "bf16", "f32", "f64"),
                inputs=("x",),
                row_inputs=(),
                outputs=("y",),
                row_outputs=(),
                required=frozenset({"x", "y"}),
                accepted=frozenset({"x", "y"}),
                batch_invariant=("y",),
                attributes="",
                fold=no_scalars,
                state="aa",
                ulp={"f16": 1.0, "bf16": 1.0, "f32": 8.0, "f64": 8.0},
                contraction=False,
                scale={"y": "abs(exact) + 1"},
            ),
        ),
    )

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "x": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "y": (
                desc.input_shape,
                "the input_shape of the descriptor",
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
        args = SoftmaxArgs(
            x=x,
            y=y,
        )
        self.run(stream, workspace, args)


class SoftmaxBackwardPlan(Plan):
    """Gradients of SoftmaxPlan.

    SOFTMAX (f16, bf16, f32, f64): exp(x) over its sum; torch.softmax, jax.nn.softmax
        s = sum(dy * y)
        top = maximum(y)
        dx = 0 if top == 0 else dy * y - s * y

    LOG_SOFTMAX (f16, bf16, f32, f64, masked_row=zero): x minus the logarithm of the sum of exp(x);
        torch.log_softmax, jax.nn.log_softmax
        l = logsumexp(x)
        g = sum(dy)
        dx = 0 if l.m == -inf else dy - g * (exp(x - l.m) / l.total)

    `select` checks a SoftmaxBackwardDescriptor and compiles or loads its kernels.
    `run` takes SoftmaxBackwardArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "aggregate"
    CATEGORY = "Softmax"
    DESCRIPTOR = SoftmaxBackwardDescriptor
    ARGS = SoftmaxBackwardArgs
    DOMAIN = "input_shape"
    AXES = "softmax_axis"
    TENSORS = (
        TensorRule("dy", "in"),
        TensorRule("x", "in"),
        TensorRule("y", "in"),
        TensorRule("dx", "out"),
    )
    OPS: ClassVar = {
        SoftmaxKind.SOFTMAX: OpRecord(
            name="softmax_backward",
            source="softmax/softmax_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "y"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "y", "dx"}),
            accepted=frozenset({"dy", "y", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="aa",
            ulp={"f16": 2.0, "bf16": 2.0, "f32": 32.0, "f64": 32.0},
            contraction=False,
            scale={"dx": "1.5 * max(abs(y), smallest_normal) * (abs(dy) + sum(abs(dy * y)))"},
            choices={"masked_row": ("zero", "nan")},
        ),
        SoftmaxKind.LOG_SOFTMAX: OpRecord(
            name="log_softmax_backward",
            source="softmax/log_softmax_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="aaa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 8.0, "f64": 8.0},
            contraction=False,
            scale={"dx": "abs(dy) + sum(abs(dy))"},
            holds={"dx": "sum(abs(dy)) < max_value"},
        ),
    }
    ALTERNATIVES = (
        (
            SoftmaxKind.LOG_SOFTMAX,
            {"masked_row": "nan"},
            OpRecord(
                name="log_softmax_backward_nan",
                source="softmax/log_softmax_backward_nan.cu",
                dtypes=("f16", "bf16", "f32", "f64"),
                inputs=("dy", "x"),
                row_inputs=(),
                outputs=("dx",),
                row_outputs=(),
                required=frozenset({"dy", "x", "dx"}),
                accepted=frozenset({"dy", "x", "dx"}),
                batch_invariant=("dx",),
                attributes="",
                fold=no_scalars,
                state="aaa",
                ulp={"f16": 1.0, "bf16": 1.0, "f32": 8.0, "f64": 8.0},
                contraction=False,
                scale={"dx": "abs(dy) + sum(abs(dy))"},
                holds={"dx": "sum(abs(dy)) < max_value"},
            ),
        ),
    )

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "dy": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "x": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "y": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "dx": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        yield from ()

    def __call__(
        self,
        *,
        dy: Any,
        x: Any = None,
        y: Any = None,
        dx: Any,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = SoftmaxBackwardArgs(
            dy=dy,
            x=x,
            y=y,
            dx=dx,
        )
        self.run(stream, workspace, args)
