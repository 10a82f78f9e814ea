"""GatedActivation plans.

GatedActivationPlan, GatedActivationBackwardPlan.

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
from baracuda.shapes import at_most_one, doubled

from .kinds import GatedActivationKind

__all__ = [
    "GatedActivationArgs",
    "GatedActivationBackwardArgs",
    "GatedActivationBackwardDescriptor",
    "GatedActivationBackwardPlan",
    "GatedActivationDescriptor",
    "GatedActivationPlan",
]


@dataclass(frozen=True, kw_only=True)
class GatedActivationDescriptor(Descriptor):
    """The problem of a GatedActivationPlan: y = a times f(b), of two tensors or of the halves of one.

    Attributes:
        kind: which op.
        shape: extents of y.
        axis: the axis along which x holds a and b, its halves; (): a and b are tensors of their own.
        element: dtype of every tensor.
        gate_first: whether b, the gate, is the first half of x: silu(gate) * up of Llama and Liger;
            PyTorch's and JAX's glu has it behind a; false where axis is ().
    """

    kind: GatedActivationKind | str
    shape: tuple[int, ...]
    axis: int | tuple[int, ...]
    element: ElementKind | str
    gate_first: bool = False

    RULES: ClassVar = {
        "kind": GatedActivationKind,
        "shape": "shape",
        "axis": "axes",
        "element": "element",
        "gate_first": "bool",
    }
    DEFAULTS: ClassVar = {}


@dataclass(frozen=True, kw_only=True)
class GatedActivationBackwardDescriptor(GatedActivationDescriptor):
    """The problem of a GatedActivationBackwardPlan: the fields of the forward's descriptor."""


@dataclass(frozen=True, kw_only=True)
class GatedActivationArgs:
    """The tensors of a GatedActivationPlan.

    Attributes:
        x: a and b side by side, where there is an axis; of shape doubled(shape, axis).
        a: what is multiplied, where axis is (); of shape shape.
        b: the gate, where axis is (); of shape shape.
        y: result; may be exactly a or b; of shape shape.
    """

    x: Any = None
    a: Any = None
    b: Any = None
    y: Any


@dataclass(frozen=True, kw_only=True)
class GatedActivationBackwardArgs:
    """The tensors of a GatedActivationBackwardPlan.

    Attributes:
        dy: gradient of y; of shape shape.
        x: the forward's x, where there is an axis; of shape doubled(shape, axis).
        a: the forward's a, where axis is (); of shape shape.
        b: the forward's b, where axis is (); of shape shape.
        dx: gradient of x, where there is an axis; may be exactly x; of shape doubled(shape, axis).
        da: gradient of a, where axis is (); may be exactly an input; None: not wanted; of shape shape.
        db: gradient of b, where axis is (); may be exactly an input; None: not wanted; of shape shape.
    """

    dy: Any
    x: Any = None
    a: Any = None
    b: Any = None
    dx: Any = None
    da: Any = None
    db: Any = None


class GatedActivationPlan(Plan):
    """y = a times f(b), of two tensors or of the halves of one.

    GLU (f16, bf16, f32, f64): a times sigmoid(b); Dauphin et al. 2017
        y = a * sigmoid(b)

    REGLU (f16, bf16, f32, f64): a times relu(b); Shazeer 2020
        y = a * relu(b)

    SWIGLU (f16, bf16, f32, f64): a times silu(b); Shazeer 2020
        y = a * silu(b)

    GEGLU (f16, bf16, f32, f64): a times gelu(b); Shazeer 2020
        y = a * gelu(b)

    GEGLU_TANH (f16, bf16, f32, f64): a times gelu_tanh(b)
        y = a * gelu_tanh(b)

    `select` checks a GatedActivationDescriptor and compiles or loads its kernels.
    `run` takes GatedActivationArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "GatedActivation"
    DESCRIPTOR = GatedActivationDescriptor
    ARGS = GatedActivationArgs
    DOMAIN = "shape"
    AXES = None
    HALVES = ("axis", "gate_first")
    TENSORS = (
        TensorRule("x", "in", halves=("a", "b")),
        TensorRule("a", "in"),
        TensorRule("b", "in"),
        TensorRule("y", "out"),
    )
    OPS: ClassVar = {
        GatedActivationKind.GLU: OpRecord(
            name="glu",
            source="gated_activation/glu.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"y"}),
            accepted=frozenset({"x", "a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 9.0, "f64": 9.0},
            contraction=False,
            holds={"y": "abs(a) <= 1 or gate == 0 or abs(gate) >= smallest_normal"},
        ),
        GatedActivationKind.REGLU: OpRecord(
            name="reglu",
            source="gated_activation/reglu.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"y"}),
            accepted=frozenset({"x", "a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
        ),
        GatedActivationKind.SWIGLU: OpRecord(
            name="swiglu",
            source="gated_activation/swiglu.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"y"}),
            accepted=frozenset({"x", "a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 9.0, "f64": 9.0},
            contraction=False,
            holds={"y": "abs(a) <= 1 or gate == 0 or abs(gate) >= smallest_normal"},
        ),
        GatedActivationKind.GEGLU: OpRecord(
            name="geglu",
            source="gated_activation/geglu.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"y"}),
            accepted=frozenset({"x", "a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 9.0, "f64": 9.0},
            contraction=False,
            holds={"y": "abs(a) <= 1 or gate == 0 or abs(gate) >= smallest_normal"},
        ),
        GatedActivationKind.GEGLU_TANH: OpRecord(
            name="geglu_tanh",
            source="gated_activation/geglu_tanh.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"y"}),
            accepted=frozenset({"x", "a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 9.0, "f64": 9.0},
            contraction=False,
            holds={"y": "abs(a) <= 1 or gate == 0 or abs(gate) >= smallest_normal"},
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "x": (
                doubled(desc.shape, desc.axis),
                "shape with twice the extent along axis",
            ),
            "a": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "b": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "y": (
                desc.shape,
                "the shape of the descriptor",
            ),
        }

    @staticmethod
    def conditions(desc: Any) -> dict[str, tuple[bool, str]]:
        """Tensors that are there only on a condition: whether it holds, and which fields decide it."""
        return {
            "x": (
                bool(desc.axis),
                f"axis is {desc.axis}",
            ),
            "a": (
                not desc.axis,
                f"axis is {desc.axis}",
            ),
            "b": (
                not desc.axis,
                f"axis is {desc.axis}",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not at_most_one(desc.axis):
            yield f"axis is {desc.axis}, want one axis, or (): none"
        if desc.gate_first and not desc.axis:
            yield "gate_first is True, want False where axis is ()"
        yield from ()

    def __call__(
        self,
        *,
        x: Any = None,
        a: Any = None,
        b: Any = None,
        y: Any,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = GatedActivationArgs(
            x=x,
            a=a,
            b=b,
            y=y,
        )
        self.run(stream, workspace, args)


class GatedActivationBackwardPlan(Plan):
    """Gradients of GatedActivationPlan.

    GLU (f16, bf16, f32, f64): a times sigmoid(b); Dauphin et al. 2017
        da = dy * sigmoid(b)
        db = sigmoid_backward(dy * a, b)

    REGLU (f16, bf16, f32, f64): a times relu(b); Shazeer 2020
        da = dy * relu(b)
        db = relu_backward(dy * a, b)

    SWIGLU (f16, bf16, f32, f64): a times silu(b); Shazeer 2020
        da = dy * silu(b)
        db = silu_backward(dy * a, b)

    GEGLU (f16, bf16, f32, f64): a times gelu(b); Shazeer 2020
        da = dy * gelu(b)
        db = gelu_backward(dy * a, b)

    GEGLU_TANH (f16, bf16, f32, f64): a times gelu_tanh(b)
        da = dy * gelu_tanh(b)
        db = gelu_tanh_backward(dy * a, b)

    `select` checks a GatedActivationBackwardDescriptor and compiles or loads its kernels.
    `run` takes GatedActivationBackwardArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "GatedActivation"
    DESCRIPTOR = GatedActivationBackwardDescriptor
    ARGS = GatedActivationBackwardArgs
    DOMAIN = "shape"
    AXES = None
    HALVES = ("axis", "gate_first")
    TENSORS = (
        TensorRule("dy", "in"),
        TensorRule("x", "in", halves=("a", "b")),
        TensorRule("a", "in"),
        TensorRule("b", "in"),
        TensorRule("dx", "out", halves=("da", "db")),
        TensorRule("da", "out", optional=True),
        TensorRule("db", "out", optional=True),
    )
    OPS: ClassVar = {
        GatedActivationKind.GLU: OpRecord(
            name="glu_backward",
            source="gated_activation/glu_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy"}),
            accepted=frozenset({"dy", "x", "a", "b", "dx", "da", "db"}),
            batch_invariant=("da", "db", "dx"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 9.0, "f64": 9.0},
            contraction=False,
            holds={
                "da": "abs(dy) <= 1 or gate == 0 or abs(gate) >= smallest_normal",
                "db": "abs(dy * a) < max_value or isinf(dy) or isinf(a)",
            },
        ),
        GatedActivationKind.REGLU: OpRecord(
            name="reglu_backward",
            source="gated_activation/reglu_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy"}),
            accepted=frozenset({"dy", "x", "a", "b", "dx", "da", "db"}),
            batch_invariant=("da", "db", "dx"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
        ),
        GatedActivationKind.SWIGLU: OpRecord(
            name="swiglu_backward",
            source="gated_activation/swiglu_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy"}),
            accepted=frozenset({"dy", "x", "a", "b", "dx", "da", "db"}),
            batch_invariant=("da", "db", "dx"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 9.0, "f64": 9.0},
            contraction=False,
            scale={"db": "abs(dy * a) * (1 + min(abs(b), 2000)) * sigmoid(b)"},
            holds={
                "da": "abs(dy) <= 1 or gate == 0 or abs(gate) >= smallest_normal",
                "db": "abs(dy * a) < max_value or isinf(dy) or isinf(a)",
            },
        ),
        GatedActivationKind.GEGLU: OpRecord(
            name="geglu_backward",
            source="gated_activation/geglu_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy"}),
            accepted=frozenset({"dy", "x", "a", "b", "dx", "da", "db"}),
            batch_invariant=("da", "db", "dx"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 9.0, "f64": 9.0},
            contraction=False,
            scale={
                "db": (
                    "abs(dy * a) * ((1 if b > 0 else 0) + (1 + min(abs(b), 1000)) * exp(-min(b * b / 2, "
                    "11000)))"
                ),
            },
            holds={
                "da": "abs(dy) <= 1 or gate == 0 or abs(gate) >= smallest_normal",
                "db": "abs(dy * a) < max_value or isinf(dy) or isinf(a)",
            },
        ),
        GatedActivationKind.GEGLU_TANH: OpRecord(
            name="geglu_tanh_backward",
            source="gated_activation/geglu_tanh_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy"}),
            accepted=frozenset({"dy", "x", "a", "b", "dx", "da", "db"}),
            batch_invariant=("da", "db", "dx"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 9.0, "f64": 9.0},
            contraction=False,
            scale={
                "db": (
                    "abs(dy * a) * ((1 if b > 0 else 0) + (1 + min(abs(b), 40)) * exp(-min(b * b / 2, "
                    "11000)))"
                ),
            },
            holds={
                "da": "abs(dy) <= 1 or gate == 0 or abs(gate) >= smallest_normal",
                "db": "abs(dy * a) < max_value or isinf(dy) or isinf(a)",
            },
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "dy": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "x": (
                doubled(desc.shape, desc.axis),
                "shape with twice the extent along axis",
            ),
            "a": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "b": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "dx": (
                doubled(desc.shape, desc.axis),
                "shape with twice the extent along axis",
            ),
            "da": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "db": (
                desc.shape,
                "the shape of the descriptor",
            ),
        }

    @staticmethod
    def conditions(desc: Any) -> dict[str, tuple[bool, str]]:
        """Tensors that are there only on a condition: whether it holds, and which fields decide it."""
        return {
            "x": (
                bool(desc.axis),
                f"axis is {desc.axis}",
            ),
            "a": (
                not desc.axis,
                f"axis is {desc.axis}",
            ),
            "b": (
                not desc.axis,
                f"axis is {desc.axis}",
            ),
            "dx": (
                bool(desc.axis),
                f"axis is {desc.axis}",
            ),
            "da": (
                not desc.axis,
                f"axis is {desc.axis}",
            ),
            "db": (
                not desc.axis,
                f"axis is {desc.axis}",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not at_most_one(desc.axis):
            yield f"axis is {desc.axis}, want one axis, or (): none"
        if desc.gate_first and not desc.axis:
            yield "gate_first is True, want False where axis is ()"
        yield from ()

    def __call__(
        self,
        *,
        dy: Any,
        x: Any = None,
        a: Any = None,
        b: Any = None,
        dx: Any = None,
        da: Any = None,
        db: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = GatedActivationBackwardArgs(
            dy=dy,
            x=x,
            a=a,
            b=b,
            dx=dx,
            da=da,
            db=db,
        )
        self.run(stream, workspace, args)
