"""TernaryElementwise plans.

TernaryPlan, TernaryBackwardPlan, WherePlan, WhereBackwardPlan.

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
from baracuda.shapes import broadcasts

from .kinds import TernaryKind

__all__ = [
    "TernaryArgs",
    "TernaryBackwardArgs",
    "TernaryBackwardDescriptor",
    "TernaryBackwardPlan",
    "TernaryDescriptor",
    "TernaryPlan",
    "WhereArgs",
    "WhereBackwardArgs",
    "WhereBackwardDescriptor",
    "WhereBackwardPlan",
    "WhereDescriptor",
    "WherePlan",
]


@dataclass(frozen=True, kw_only=True)
class TernaryDescriptor(Descriptor):
    """The problem of a TernaryPlan: y = f(a, b, c), element by element.

    Attributes:
        kind: which op.
        shape: extents of the output.
        element: dtype of every tensor.
        param: the op's scalar parameter, if it has one; None: its usual value.
        a_shape: extents of a, which is broadcast to shape.
        b_shape: extents of b, which is broadcast to shape.
        c_shape: extents of c, which is broadcast to shape.
    """

    kind: TernaryKind | str
    shape: tuple[int, ...]
    element: ElementKind | str
    param: float | None = None
    a_shape: tuple[int, ...] | None = None
    b_shape: tuple[int, ...] | None = None
    c_shape: tuple[int, ...] | None = None

    RULES: ClassVar = {
        "kind": TernaryKind,
        "shape": "shape",
        "element": "element",
        "param": "f64",
        "a_shape": "shape",
        "b_shape": "shape",
        "c_shape": "shape",
    }
    DEFAULTS: ClassVar = {"a_shape": "shape", "b_shape": "shape", "c_shape": "shape"}
    NUMBERS: ClassVar = {
        "clamp": {},
        "lerp": {},
        "fma": {},
        "addcmul": {"param": 1.0},
        "addcdiv": {"param": 1.0},
    }


@dataclass(frozen=True, kw_only=True)
class TernaryBackwardDescriptor(TernaryDescriptor):
    """The problem of a TernaryBackwardPlan: the fields of the forward's descriptor."""


@dataclass(frozen=True, kw_only=True)
class TernaryArgs:
    """The tensors of a TernaryPlan.

    Attributes:
        a: first operand; of shape a_shape.
        b: second operand; of shape b_shape.
        c: third operand; of shape c_shape.
        y: result; may be exactly an operand; of shape shape.
    """

    a: Any
    b: Any
    c: Any
    y: Any


@dataclass(frozen=True, kw_only=True)
class TernaryBackwardArgs:
    """The tensors of a TernaryBackwardPlan.

    Attributes:
        dy: gradient of y; of shape shape.
        a: the forward's a; None for ADDCMUL, ADDCDIV; of shape a_shape.
        b: the forward's b; of shape b_shape.
        c: the forward's c; None for FMA; of shape c_shape.
        da: gradient of a, summed over its broadcast axes; may be exactly an input where no gradient is a
            sum; None: not wanted; of shape a_shape.
        db: gradient of b, summed over its broadcast axes; may be exactly an input where no gradient is a
            sum; None: not wanted; of shape b_shape.
        dc: gradient of c, summed over its broadcast axes; may be exactly an input where no gradient is a
            sum; None: not wanted; of shape c_shape.
    """

    dy: Any
    a: Any = None
    b: Any
    c: Any = None
    da: Any = None
    db: Any = None
    dc: Any = None


def _addcmul_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of addcmul, folded in double precision."""
    factor = desc.param
    return (factor,)


def _addcmul_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of addcmul_backward, folded in double precision."""
    factor = desc.param
    return (factor,)


def _addcdiv_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of addcdiv, folded in double precision."""
    factor = desc.param
    return (factor,)


def _addcdiv_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of addcdiv_backward, folded in double precision."""
    factor = desc.param
    return (factor,)


class TernaryPlan(Plan):
    """y = f(a, b, c), element by element.

    CLAMP (f16, bf16, f32, f64, i8, i16, i32, i64, u8): a between b and c, which is c where b is above c;
        a has the gradient at both
        y = clamp(a, b, c)

    LERP (f16, bf16, f32, f64): linear interpolation from a (c = 0) to b (c = 1); torch.lerp with a tensor
        as weight
        rest = 1 - c
        toward_b = abs(a) <= abs(b)
        near = a if toward_b else b
        far = b if toward_b else a
        t = c if toward_b else rest
        z = near if near == far or t == 0 else far if t == 1 and not isnan(near) else fma(t, far - near, near)
        beyond = z > far if far > 0 else z < far
        between = z if is_half or beyond == (t > 1) or isnan(z) else far
        mixed = a * rest + b * c
        y = a + c * (b - a) if not isfinite(c) else a if c == 0 else b if c == 1 else mixed if (a < 0) != (b <
            0) else between

    FMA (f16, bf16, f32, f64, i8, i16, i32, i64, u8): a * b + c, rounded once
        y = fma(a, b, c)

    ADDCMUL (f16, bf16, f32, f64, i8, i16, i32, i64, u8): a + factor * b * c
        factor = param (1 unless given)
        y = fma(factor * b, c, a)

    ADDCDIV (f16, bf16, f32, f64): a + factor * b / c
        factor = param (1 unless given)
        y = a + factor * b / c

    `select` checks a TernaryDescriptor and compiles or loads its kernels.
    `run` takes TernaryArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "TernaryElementwise"
    DESCRIPTOR = TernaryDescriptor
    ARGS = TernaryArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("a", "in"),
        TensorRule("b", "in"),
        TensorRule("c", "in"),
        TensorRule("y", "out"),
    )
    OPS: ClassVar = {
        TernaryKind.CLAMP: OpRecord(
            name="clamp_tensor",
            source="ternary_elementwise/clamp_tensor.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("a", "b", "c"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "c", "y"}),
            accepted=frozenset({"a", "b", "c", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        TernaryKind.LERP: OpRecord(
            name="lerp_tensor",
            source="ternary_elementwise/lerp_tensor.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b", "c"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "c", "y"}),
            accepted=frozenset({"a", "b", "c", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 3.0},
            contraction=False,
            scale={"y": "abs(a * (1 - c)) + abs(b * c)"},
        ),
        TernaryKind.FMA: OpRecord(
            name="fma",
            source="ternary_elementwise/fma.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("a", "b", "c"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "c", "y"}),
            accepted=frozenset({"a", "b", "c", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
            scale={"y": "(abs(a * b) + abs(c)) / 1024"},
        ),
        TernaryKind.ADDCMUL: OpRecord(
            name="addcmul",
            source="ternary_elementwise/addcmul.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("a", "b", "c"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "c", "y"}),
            accepted=frozenset({"a", "b", "c", "y"}),
            batch_invariant=("y",),
            attributes="a",
            fold=_addcmul_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 2.0, "f64": 2.0},
            contraction=False,
            scale={"y": "abs(a) + abs(factor * b * c)"},
            holds={"y": "factor == 1 or smallest_normal <= abs(factor * b) < max_value"},
            narrowed=("param",),
        ),
        TernaryKind.ADDCDIV: OpRecord(
            name="addcdiv",
            source="ternary_elementwise/addcdiv.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b", "c"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "c", "y"}),
            accepted=frozenset({"a", "b", "c", "y"}),
            batch_invariant=("y",),
            attributes="a",
            fold=_addcdiv_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 3.0},
            contraction=False,
            scale={"y": "abs(a) + abs(factor * b / c)"},
            holds={
                "y": (
                    "(factor == 1 or smallest_normal <= abs(factor * b) < max_value) and (abs(factor * b / c)"
                    " < max_value or isinf(b) or c == 0)"
                ),
            },
            narrowed=("param",),
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
            "c": (
                desc.c_shape,
                "the c_shape of the descriptor",
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
        if not broadcasts(desc.c_shape, desc.shape):
            yield f"c_shape is {desc.c_shape}, shape is {desc.shape}, want c_shape that broadcasts to shape"
        yield from ()

    def __call__(
        self,
        *,
        a: Any,
        b: Any,
        c: Any,
        y: Any,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = TernaryArgs(
            a=a,
            b=b,
            c=c,
            y=y,
        )
        self.run(stream, workspace, args)


class TernaryBackwardPlan(Plan):
    """Gradients of TernaryPlan.

    CLAMP (f16, bf16, f32, f64): a between b and c, which is c where b is above c; a has the gradient at
        both
        da = dy if a >= b and a <= c else 0
        db = dy if a < b and b < c else 0
        dc = dy if a > c or b > c else 0

    LERP (f16, bf16, f32, f64): linear interpolation from a (c = 0) to b (c = 1); torch.lerp with a tensor
        as weight
        gap = b - a
        da = dy * (1 - c)
        db = dy * c
        dc = dy * gap if isfinite(gap) else dy * (b / 2 - a / 2) * 2

    FMA (f16, bf16, f32, f64): a * b + c, rounded once
        da = dy * b
        db = dy * a
        dc = dy

    ADDCMUL (f16, bf16, f32, f64): a + factor * b * c
        factor = param (1 unless given)
        da = dy
        db = scaled_product(dy, c, factor)
        dc = scaled_product(dy, b, factor)

    ADDCDIV (f16, bf16, f32, f64): a + factor * b / c
        factor = param (1 unless given)
        da = dy
        db = ldexp(mantissa(dy) / mantissa(c) * factor, exponent(dy) - exponent(c))
        dc = -ldexp(mantissa(dy) * mantissa(b) / mantissa(c) / mantissa(c) * factor, exponent(dy) +
            exponent(b) - 2 * exponent(c))

    `select` checks a TernaryBackwardDescriptor and compiles or loads its kernels.
    `run` takes TernaryBackwardArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "TernaryElementwise"
    DESCRIPTOR = TernaryBackwardDescriptor
    ARGS = TernaryBackwardArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("dy", "in"),
        TensorRule("a", "in"),
        TensorRule("b", "in"),
        TensorRule("c", "in"),
        TensorRule("da", "out", optional=True),
        TensorRule("db", "out", optional=True),
        TensorRule("dc", "out", optional=True),
    )
    OPS: ClassVar = {
        TernaryKind.CLAMP: OpRecord(
            name="clamp_tensor_backward",
            source="ternary_elementwise/clamp_tensor_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b", "c"),
            row_inputs=(),
            outputs=("da", "db", "dc"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b", "c"}),
            accepted=frozenset({"dy", "a", "b", "c", "da", "db", "dc"}),
            batch_invariant=("da", "db", "dc"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
        ),
        TernaryKind.LERP: OpRecord(
            name="lerp_tensor_backward",
            source="ternary_elementwise/lerp_tensor_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b", "c"),
            row_inputs=(),
            outputs=("da", "db", "dc"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b", "c"}),
            accepted=frozenset({"dy", "a", "b", "c", "da", "db", "dc"}),
            batch_invariant=("da", "db", "dc"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            sum_inputs={
                "da": ("dy", "c"),
                "db": ("dy", "c"),
                "dc": ("dy", "a", "b"),
            },
        ),
        TernaryKind.FMA: OpRecord(
            name="fma_backward",
            source="ternary_elementwise/fma_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db", "dc"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db", "dc"}),
            batch_invariant=("da", "db", "dc"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            sum_inputs={
                "da": ("dy", "b"),
                "db": ("dy", "a"),
                "dc": ("dy",),
            },
        ),
        TernaryKind.ADDCMUL: OpRecord(
            name="addcmul_backward",
            source="ternary_elementwise/addcmul_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "b", "c"),
            row_inputs=(),
            outputs=("da", "db", "dc"),
            row_outputs=(),
            required=frozenset({"dy", "b", "c"}),
            accepted=frozenset({"dy", "b", "c", "da", "db", "dc"}),
            batch_invariant=("da", "db", "dc"),
            attributes="a",
            fold=_addcmul_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            sum_inputs={
                "da": ("dy",),
                "db": ("dy", "c"),
                "dc": ("dy", "b"),
            },
            narrowed=("param",),
        ),
        TernaryKind.ADDCDIV: OpRecord(
            name="addcdiv_backward",
            source="ternary_elementwise/addcdiv_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "b", "c"),
            row_inputs=(),
            outputs=("da", "db", "dc"),
            row_outputs=(),
            required=frozenset({"dy", "b", "c"}),
            accepted=frozenset({"dy", "b", "c", "da", "db", "dc"}),
            batch_invariant=("da", "db", "dc"),
            attributes="a",
            fold=_addcdiv_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 5.0, "f64": 5.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            holds={
                "db": "4 * smallest_normal <= abs(factor) < max_value / 4",
                "dc": "4 * smallest_normal <= abs(factor) < max_value / 4",
            },
            sum_inputs={
                "da": ("dy",),
                "db": ("dy", "c"),
            },
            narrowed=("param",),
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
            "a": (
                desc.a_shape,
                "the a_shape of the descriptor",
            ),
            "b": (
                desc.b_shape,
                "the b_shape of the descriptor",
            ),
            "c": (
                desc.c_shape,
                "the c_shape of the descriptor",
            ),
            "da": (
                desc.a_shape,
                "the a_shape of the descriptor",
            ),
            "db": (
                desc.b_shape,
                "the b_shape of the descriptor",
            ),
            "dc": (
                desc.c_shape,
                "the c_shape of the descriptor",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not broadcasts(desc.a_shape, desc.shape):
            yield f"a_shape is {desc.a_shape}, shape is {desc.shape}, want a_shape that broadcasts to shape"
        if not broadcasts(desc.b_shape, desc.shape):
            yield f"b_shape is {desc.b_shape}, shape is {desc.shape}, want b_shape that broadcasts to shape"
        if not broadcasts(desc.c_shape, desc.shape):
            yield f"c_shape is {desc.c_shape}, shape is {desc.shape}, want c_shape that broadcasts to shape"
        yield from ()

    def __call__(
        self,
        *,
        dy: Any,
        a: Any = None,
        b: Any,
        c: Any = None,
        da: Any = None,
        db: Any = None,
        dc: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = TernaryBackwardArgs(
            dy=dy,
            a=a,
            b=b,
            c=c,
            da=da,
            db=db,
            dc=dc,
        )
        self.run(stream, workspace, args)


@dataclass(frozen=True, kw_only=True)
class WhereDescriptor(Descriptor):
    """The problem of a WherePlan: y = a where a condition holds, else b.

    Attributes:
        kind: which op (WHERE unless given).
        shape: extents of the output.
        element: dtype of every tensor, the condition apart.
        condition_shape: extents of the condition, which is broadcast to shape.
        a_shape: extents of a, which is broadcast to shape.
        b_shape: extents of b, which is broadcast to shape.
    """

    kind: TernaryKind | str = TernaryKind.WHERE
    shape: tuple[int, ...]
    element: ElementKind | str
    condition_shape: tuple[int, ...] | None = None
    a_shape: tuple[int, ...] | None = None
    b_shape: tuple[int, ...] | None = None

    RULES: ClassVar = {
        "kind": TernaryKind,
        "shape": "shape",
        "element": "element",
        "condition_shape": "shape",
        "a_shape": "shape",
        "b_shape": "shape",
    }
    DEFAULTS: ClassVar = {"condition_shape": "shape", "a_shape": "shape", "b_shape": "shape"}


@dataclass(frozen=True, kw_only=True)
class WhereBackwardDescriptor(WhereDescriptor):
    """The problem of a WhereBackwardPlan: the fields of the forward's descriptor."""


@dataclass(frozen=True, kw_only=True)
class WhereArgs:
    """The tensors of a WherePlan.

    Attributes:
        condition: a byte an element, true where it is not 0; of dtype bool, shape condition_shape.
        a: what y is where the condition holds; of shape a_shape.
        b: what y is elsewhere; of shape b_shape.
        y: result; may be exactly a or b; of shape shape.
    """

    condition: Any
    a: Any
    b: Any
    y: Any


@dataclass(frozen=True, kw_only=True)
class WhereBackwardArgs:
    """The tensors of a WhereBackwardPlan.

    Attributes:
        dy: gradient of y; of shape shape.
        condition: a byte an element, true where it is not 0; of dtype bool, shape condition_shape.
        da: gradient of a, summed over its broadcast axes; may be exactly dy where no gradient is a sum;
            None: not wanted; of shape a_shape.
        db: gradient of b, summed over its broadcast axes; may be exactly dy where no gradient is a sum;
            None: not wanted; of shape b_shape.
    """

    dy: Any
    condition: Any
    da: Any = None
    db: Any = None


class WherePlan(Plan):
    """y = a where a condition holds, else b.

    WHERE (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): a where the condition holds, else b; what is
        not taken has no gradient, NaN or not
        y = a if condition else b

    `select` checks a WhereDescriptor and compiles or loads its kernels.
    `run` takes WhereArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "TernaryElementwise"
    DESCRIPTOR = WhereDescriptor
    ARGS = WhereArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("condition", "in", element="bool"),
        TensorRule("a", "in"),
        TensorRule("b", "in"),
        TensorRule("y", "out"),
    )
    OPS: ClassVar = {
        TernaryKind.WHERE: OpRecord(
            name="where",
            source="ternary_elementwise/where.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b", "condition"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"condition", "a", "b", "y"}),
            accepted=frozenset({"condition", "a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
            flags=("condition",),
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "condition": (
                desc.condition_shape,
                "the condition_shape of the descriptor",
            ),
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
        if not broadcasts(desc.condition_shape, desc.shape):
            yield (
                f"condition_shape is {desc.condition_shape}, shape is {desc.shape}, "
                "want condition_shape that broadcasts to shape"
            )
        if not broadcasts(desc.a_shape, desc.shape):
            yield f"a_shape is {desc.a_shape}, shape is {desc.shape}, want a_shape that broadcasts to shape"
        if not broadcasts(desc.b_shape, desc.shape):
            yield f"b_shape is {desc.b_shape}, shape is {desc.shape}, want b_shape that broadcasts to shape"
        yield from ()

    def __call__(
        self,
        *,
        condition: Any,
        a: Any,
        b: Any,
        y: Any,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = WhereArgs(
            condition=condition,
            a=a,
            b=b,
            y=y,
        )
        self.run(stream, workspace, args)


class WhereBackwardPlan(Plan):
    """Gradients of WherePlan.

    WHERE (f16, bf16, f32, f64): a where the condition holds, else b; what is not taken has no gradient,
        NaN or not
        da = dy if condition else 0
        db = 0 if condition else dy

    `select` checks a WhereBackwardDescriptor and compiles or loads its kernels.
    `run` takes WhereBackwardArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "TernaryElementwise"
    DESCRIPTOR = WhereBackwardDescriptor
    ARGS = WhereBackwardArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("dy", "in"),
        TensorRule("condition", "in", element="bool"),
        TensorRule("da", "out", optional=True),
        TensorRule("db", "out", optional=True),
    )
    OPS: ClassVar = {
        TernaryKind.WHERE: OpRecord(
            name="where_backward",
            source="ternary_elementwise/where_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "condition"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "condition"}),
            accepted=frozenset({"dy", "condition", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            flags=("condition",),
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
            "condition": (
                desc.condition_shape,
                "the condition_shape of the descriptor",
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
        if not broadcasts(desc.condition_shape, desc.shape):
            yield (
                f"condition_shape is {desc.condition_shape}, shape is {desc.shape}, "
                "want condition_shape that broadcasts to shape"
            )
        if not broadcasts(desc.a_shape, desc.shape):
            yield f"a_shape is {desc.a_shape}, shape is {desc.shape}, want a_shape that broadcasts to shape"
        if not broadcasts(desc.b_shape, desc.shape):
            yield f"b_shape is {desc.b_shape}, shape is {desc.shape}, want b_shape that broadcasts to shape"
        yield from ()

    def __call__(
        self,
        *,
        dy: Any,
        condition: Any,
        da: Any = None,
        db: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = WhereBackwardArgs(
            dy=dy,
            condition=condition,
            da=da,
            db=db,
        )
        self.run(stream, workspace, args)
