"""BinaryElementwise plans: BinaryParamPlan, BinaryParamBackwardPlan.

Generated from ops.yaml by templates/plans.py.j2. Do not edit: run `baracuda-gen generate`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from baracuda.contract import OpRecord, TensorRule
from baracuda.descriptor import Descriptor
from baracuda.dtypes import ElementKind
from baracuda.plan import Plan
from baracuda.shapes import broadcasts

from .kinds import BinaryKind

__all__ = [
    "BinaryParamArgs",
    "BinaryParamBackwardArgs",
    "BinaryParamBackwardDescriptor",
    "BinaryParamBackwardPlan",
    "BinaryParamDescriptor",
    "BinaryParamPlan",
]


@dataclass(frozen=True, kw_only=True)
class BinaryParamDescriptor(Descriptor):
    """The problem of a BinaryParamPlan: y = f(a, b), element by element, with one scalar parameter.

    Attributes:
        kind: which op.
        shape: extents of the output.
        element: dtype of every tensor.
        param: the op's scalar parameter, the same for all elements.
        a_shape: extents of a, which is broadcast to shape.
        b_shape: extents of b, which is broadcast to shape.
    """

    kind: BinaryKind | str
    shape: tuple[int, ...]
    element: ElementKind | str
    param: float
    a_shape: tuple[int, ...] | None = None
    b_shape: tuple[int, ...] | None = None

    RULES: ClassVar = {
        "kind": BinaryKind,
        "shape": "shape",
        "element": "element",
        "param": "f64",
        "a_shape": "shape",
        "b_shape": "shape",
    }
    DEFAULTS: ClassVar = {"a_shape": "shape", "b_shape": "shape"}


@dataclass(frozen=True, kw_only=True)
class BinaryParamBackwardDescriptor(BinaryParamDescriptor):
    """The problem of a BinaryParamBackwardPlan: the fields of the forward's descriptor."""


@dataclass(frozen=True, kw_only=True)
class BinaryParamArgs:
    """The tensors of a BinaryParamPlan.

    Attributes:
        a: first operand; of shape a_shape.
        b: second operand; of shape b_shape.
        y: result; of shape shape.
    """

    a: Any
    b: Any
    y: Any


@dataclass(frozen=True, kw_only=True)
class BinaryParamBackwardArgs:
    """The tensors of a BinaryParamBackwardPlan.

    Attributes:
        dy: gradient of y; of shape shape.
        da: gradient of a, summed over its broadcast axes; None: not wanted; of shape a_shape.
        db: gradient of b, summed over its broadcast axes; None: not wanted; of shape b_shape.
    """

    dy: Any
    da: Any = None
    db: Any = None


def _lerp_scalars(desc: BinaryParamDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of lerp, folded in double precision."""
    weight = desc.param
    rest = 1 - weight
    at_a = weight == 0
    at_b = weight == 1
    return (rest, weight, at_a, at_b)


def _lerp_backward_scalars(desc: BinaryParamDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of lerp_backward, folded in double precision."""
    weight = desc.param
    rest = 1 - weight
    return (rest, weight)


class BinaryParamPlan(Plan):
    """y = f(a, b), element by element, with one scalar parameter.

    LERP (f16, bf16, f32, f64): linear interpolation from a (weight 0) to b (weight 1); torch.lerp with a
        scalar weight
        weight = param
        rest = 1 - weight
        at_a = weight == 0
        at_b = weight == 1
        toward_b = abs(a) <= abs(b)
        near = a if toward_b else b
        far = b if toward_b else a
        t = weight if toward_b else rest
        z = near if near == far or t == 0 else far if t == 1 else near + t * (far - near)
        beyond = z > far if far > 0 else z < far
        between = z if beyond == (t > 1) or isnan(z) else far
        mixed = a * rest + b * weight
        y = a if at_a else b if at_b else mixed if (a < 0) != (b < 0) else between

    `select` checks a BinaryParamDescriptor and compiles or loads its kernels.
    `run` takes BinaryParamArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "BinaryElementwise"
    DESCRIPTOR = BinaryParamDescriptor
    ARGS = BinaryParamArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("a", "in"),
        TensorRule("b", "in"),
        TensorRule("y", "out"),
    )
    OPS: ClassVar = {
        BinaryKind.LERP: OpRecord(
            name="lerp",
            source="binary_elementwise/lerp.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="aabb",
            fold=_lerp_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 3.0},
            contraction=False,
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "a": (
                desc.a_shape,
                "the a_shape of the descriptor",
            ),
            "b": (
                desc.b_shape,
                "the b_shape of the descriptor",
            ),
            "y": (
                desc.shape,
                "the shape of the descriptor",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not broadcasts(desc.a_shape, desc.shape):
            yield f"a_shape is {desc.a_shape}, shape is {desc.shape}, want a_shape that broadcasts to shape"
        if not broadcasts(desc.b_shape, desc.shape):
            yield f"b_shape is {desc.b_shape}, shape is {desc.shape}, want b_shape that broadcasts to shape"
        if desc.kind.value == "lerp" and not math.isfinite(desc.param):
            yield f"param is {desc.param}, want isfinite(param)"
        yield from ()

    def __call__(
        self,
        *,
        a: Any,
        b: Any,
        y: Any,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = BinaryParamArgs(
            a=a,
            b=b,
            y=y,
        )
        self.run(stream, workspace, args)


class BinaryParamBackwardPlan(Plan):
    """Gradients of BinaryParamPlan.

    LERP (f16, bf16, f32, f64): linear interpolation from a (weight 0) to b (weight 1); torch.lerp with a
        scalar weight
        weight = param
        rest = 1 - weight
        da = dy * rest
        db = dy * weight

    `select` checks a BinaryParamBackwardDescriptor and compiles or loads its kernels.
    `run` takes BinaryParamBackwardArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "BinaryElementwise"
    DESCRIPTOR = BinaryParamBackwardDescriptor
    ARGS = BinaryParamBackwardArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("dy", "in"),
        TensorRule("da", "out", optional=True),
        TensorRule("db", "out", optional=True),
    )
    OPS: ClassVar = {
        BinaryKind.LERP: OpRecord(
            name="lerp_backward",
            source="binary_elementwise/lerp_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy",),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy"}),
            accepted=frozenset({"dy", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="aa",
            fold=_lerp_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 3.0},
            contraction=False,
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
            "da": (
                desc.a_shape,
                "the a_shape of the descriptor",
            ),
            "db": (
                desc.b_shape,
                "the b_shape of the descriptor",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not broadcasts(desc.a_shape, desc.shape):
            yield f"a_shape is {desc.a_shape}, shape is {desc.shape}, want a_shape that broadcasts to shape"
        if not broadcasts(desc.b_shape, desc.shape):
            yield f"b_shape is {desc.b_shape}, shape is {desc.shape}, want b_shape that broadcasts to shape"
        if desc.kind.value == "lerp" and not math.isfinite(desc.param):
            yield f"param is {desc.param}, want isfinite(param)"
        yield from ()

    def __call__(
        self,
        *,
        dy: Any,
        da: Any = None,
        db: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = BinaryParamBackwardArgs(
            dy=dy,
            da=da,
            db=db,
        )
        self.run(stream, workspace, args)
