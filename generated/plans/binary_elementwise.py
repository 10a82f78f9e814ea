"""BinaryElementwise plans.

BinaryParamPlan, BinaryParamBackwardPlan, BinaryPlan, BinaryBackwardPlan, BinaryCmpPlan.

Generated from ops.yaml by templates/plans.py.j2. Do not edit: run `baracuda-gen generate`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from baracuda.contract import OpRecord, TensorRule, no_scalars
from baracuda.descriptor import Descriptor
from baracuda.dtypes import ElementKind
from baracuda.plan import Plan
from baracuda.shapes import broadcasts

from .kinds import BinaryCmpKind, BinaryKind

__all__ = [
    "BinaryArgs",
    "BinaryBackwardArgs",
    "BinaryBackwardDescriptor",
    "BinaryBackwardPlan",
    "BinaryCmpArgs",
    "BinaryCmpDescriptor",
    "BinaryCmpPlan",
    "BinaryDescriptor",
    "BinaryParamArgs",
    "BinaryParamBackwardArgs",
    "BinaryParamBackwardDescriptor",
    "BinaryParamBackwardPlan",
    "BinaryParamDescriptor",
    "BinaryParamPlan",
    "BinaryPlan",
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
        y: result; may be exactly a or b; of shape shape.
    """

    a: Any
    b: Any
    y: Any


@dataclass(frozen=True, kw_only=True)
class BinaryParamBackwardArgs:
    """The tensors of a BinaryParamBackwardPlan.

    Attributes:
        dy: gradient of y; of shape shape.
        da: gradient of a, summed over its broadcast axes; may be exactly dy where no gradient is a sum;
            None: not wanted; of shape a_shape.
        db: gradient of b, summed over its broadcast axes; may be exactly dy where no gradient is a sum;
            None: not wanted; of shape b_shape.
    """

    dy: Any
    da: Any = None
    db: Any = None


def _lerp_scalars(desc: BinaryParamDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of lerp, folded in double precision."""
    weight = desc.param
    rest = 1 - weight
    return (rest, weight, weight == 1, weight == 0)


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
        toward_b = abs(a) <= abs(b)
        near = a if toward_b else b
        far = b if toward_b else a
        t = weight if toward_b else rest
        z = fma(t, far - near, near)
        beyond = z > far if far > 0 else z < far
        kept = t != 1 and beyond == (t > 1)
        between = z if is_half or kept or isnan(z) else far
        mixed = a * rest + b * weight
        y = b if weight == 1 else a if weight == 0 or a == b else mixed if (a < 0) != (b < 0) else between

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
            scale={"y": "abs(a * (1 - weight)) + abs(b * weight)"},
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
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
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


@dataclass(frozen=True, kw_only=True)
class BinaryDescriptor(Descriptor):
    """The problem of a BinaryPlan: y = f(a, b), element by element.

    Attributes:
        kind: which op.
        shape: extents of the output.
        element: dtype of every tensor.
        a_shape: extents of a, which is broadcast to shape.
        b_shape: extents of b, which is broadcast to shape.
    """

    kind: BinaryKind | str
    shape: tuple[int, ...]
    element: ElementKind | str
    a_shape: tuple[int, ...] | None = None
    b_shape: tuple[int, ...] | None = None

    RULES: ClassVar = {
        "kind": BinaryKind,
        "shape": "shape",
        "element": "element",
        "a_shape": "shape",
        "b_shape": "shape",
    }
    DEFAULTS: ClassVar = {"a_shape": "shape", "b_shape": "shape"}


@dataclass(frozen=True, kw_only=True)
class BinaryBackwardDescriptor(BinaryDescriptor):
    """The problem of a BinaryBackwardPlan: the fields of the forward's descriptor."""


@dataclass(frozen=True, kw_only=True)
class BinaryArgs:
    """The tensors of a BinaryPlan.

    Attributes:
        a: first operand; of shape a_shape.
        b: second operand; of shape b_shape.
        y: result; may be exactly a or b; of shape shape.
    """

    a: Any
    b: Any
    y: Any


@dataclass(frozen=True, kw_only=True)
class BinaryBackwardArgs:
    """The tensors of a BinaryBackwardPlan.

    Attributes:
        dy: gradient of y; of shape shape.
        a: the forward's a; None for ADD, SUB; of shape a_shape.
        b: the forward's b; None for ADD, SUB; of shape b_shape.
        da: gradient of a, summed over its broadcast axes; may be exactly an input where no gradient is a
            sum; None: not wanted; of shape a_shape.
        db: gradient of b, summed over its broadcast axes; may be exactly an input where no gradient is a
            sum; None: not wanted; of shape b_shape.
    """

    dy: Any
    a: Any = None
    b: Any = None
    da: Any = None
    db: Any = None


class BinaryPlan(Plan):
    """y = f(a, b), element by element.

    ADD (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): a + b
        y = a + b

    SUB (f16, bf16, f32, f64, i8, i16, i32, i64, u8): a - b
        y = a - b

    MUL (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): a * b
        y = a * b

    DIV (f16, bf16, f32, f64): a / b
        y = a / b

    FLOOR_DIVIDE (f16, bf16, f32, f64, i8, i16, i32, i64, u8): largest integer not above a / b; where b is
        0 it is a / b, of integers 0
        y = a // b

    FMOD (f16, bf16, f32, f64, i8, i16, i32, i64, u8): remainder of a / b with the sign of a, exact; of
        integers 0 where b is 0; the crate's Remainder
        y = fmod(a, b)

    REMAINDER (f16, bf16, f32, f64, i8, i16, i32, i64, u8): remainder of a / b with the sign of b; of
        integers 0 where b is 0; the crate's Mod
        y = a % b

    POW (f16, bf16, f32, f64, i8, i16, i32, i64, u8): a to the power of b; of integers with a negative b
        the quotient without its fraction
        y = element_pow(a, b)

    ATAN2 (f16, bf16, f32, f64): angle of the point (b, a), with gradient 0 at the origin
        y = element_atan2(a, b)

    HYPOT (f16, bf16, f32, f64): length of the vector (a, b), with gradient 0 at the origin
        y = hypot(a, b)

    COPYSIGN (f16, bf16, f32, f64): magnitude of a with the sign of b, with gradient 0 at a = 0
        y = copysign(a, b)

    NEXTAFTER (f16, bf16, f32, f64): number of the dtype after a toward b; a has the gradient, but not
        where it is b
        y = next_stored(a, b)

    LDEXP (f16, bf16, f32, f64): a times 2 to the power of b, rounded once where b is whole; an infinite b
        is a number beyond all
        part = 0 if isinf(b) else b - round(b)
        y = ldexp(mantissa(a) * exp2(part), exponent(a) + integer(b))

    MINIMUM (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): the smaller of a and b, NaN if either is;
        equals get half of the gradient each
        y = min(a, b)

    MAXIMUM (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): the larger of a and b, NaN if either is;
        equals get half of the gradient each
        y = max(a, b)

    FMIN (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): the smaller of a and b, of those that are not
        NaN; of equals a gets the gradient
        y = fmin(a, b)

    FMAX (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): the larger of a and b, of those that are not
        NaN; of equals a gets the gradient
        y = fmax(a, b)

    LOGADDEXP (f16, bf16, f32, f64): log(exp(a) + exp(b)); equal infinities get half of the gradient each
        far = max(a, b)
        near = min(a, b)
        d = 0 if a == b else far - near
        rest = 0 if d == 0 or d > 1.0e+4 else far - d - near if abs(far) >= abs(near) else far - (d + near)
        z = element_exp_times(1, -d, -rest)
        y = far + z * element_log1p_ratio(z)

    LOGADDEXP2 (f16, bf16, f32, f64): log2(2**a + 2**b); equal infinities get half of the gradient each
        far = max(a, b)
        near = min(a, b)
        d = 0 if a == b else far - near
        rest = 0 if d == 0 or d > 1.0e+4 else far - d - near if abs(far) >= abs(near) else far - (d + near)
        z = element_exp2_times(1, -d, -rest)
        y = far + element_log1p(z) * 1.4426950408889634

    XLOGY (f16, bf16, f32, f64): a * log(b), 0 where a is 0 and b not NaN
        y = 0 if a == 0 and not isnan(b) else a * element_log(b)

    XLOG1PY (f16, bf16, f32, f64): a * log(1 + b), 0 where a is 0 and b not NaN
        y = 0 if a == 0 and not isnan(b) else a * element_log1p(b)

    HEAVISIDE (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): 0 where a is negative, 1 where it is
        positive, b where it is 0, NaN for NaN
        y = 1 if a > 0 else 0 if a < 0 else b if a == 0 else a

    GCD (i8, i16, i32, i64, u8): largest integer that divides a and b, 0 where both are 0
        y = gcd(a, b)

    LCM (i8, i16, i32, i64, u8): smallest multiple of a and b that is not negative, modulo 2 ** width
        y = lcm(a, b)

    BITWISE_AND (i8, i16, i32, i64, u8, bool): bits that are set in both a and b
        y = a & b

    BITWISE_OR (i8, i16, i32, i64, u8, bool): bits that are set in a or b
        y = a | b

    BITWISE_XOR (i8, i16, i32, i64, u8, bool): bits that are set in one of a and b
        y = a ^ b

    BITWISE_LEFT_SHIFT (i8, i16, i32, i64, u8): a times 2 to the power of b, 0 where b is negative or not
        below the width
        y = a << b

    BITWISE_RIGHT_SHIFT (i8, i16, i32, i64, u8): a // 2 to the power of b; where b is negative or not
        below the width, the sign alone is left, 0 or -1
        y = a >> b

    `select` checks a BinaryDescriptor and compiles or loads its kernels.
    `run` takes BinaryArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "BinaryElementwise"
    DESCRIPTOR = BinaryDescriptor
    ARGS = BinaryArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("a", "in"),
        TensorRule("b", "in"),
        TensorRule("y", "out"),
    )
    OPS: ClassVar = {
        BinaryKind.ADD: OpRecord(
            name="add",
            source="binary_elementwise/add.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
        ),
        BinaryKind.SUB: OpRecord(
            name="sub",
            source="binary_elementwise/sub.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
        ),
        BinaryKind.MUL: OpRecord(
            name="mul",
            source="binary_elementwise/mul.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
        ),
        BinaryKind.DIV: OpRecord(
            name="div",
            source="binary_elementwise/div.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
        ),
        BinaryKind.FLOOR_DIVIDE: OpRecord(
            name="floor_divide",
            source="binary_elementwise/floor_divide.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 2.0, "f64": 2.0},
            contraction=False,
        ),
        BinaryKind.FMOD: OpRecord(
            name="fmod",
            source="binary_elementwise/fmod.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryKind.REMAINDER: OpRecord(
            name="remainder",
            source="binary_elementwise/remainder.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
        ),
        BinaryKind.POW: OpRecord(
            name="pow",
            source="binary_elementwise/pow.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        BinaryKind.ATAN2: OpRecord(
            name="atan2",
            source="binary_elementwise/atan2.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        BinaryKind.HYPOT: OpRecord(
            name="hypot",
            source="binary_elementwise/hypot.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        BinaryKind.COPYSIGN: OpRecord(
            name="copysign",
            source="binary_elementwise/copysign.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryKind.NEXTAFTER: OpRecord(
            name="nextafter",
            source="binary_elementwise/nextafter.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryKind.LDEXP: OpRecord(
            name="ldexp",
            source="binary_elementwise/ldexp.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        BinaryKind.MINIMUM: OpRecord(
            name="minimum",
            source="binary_elementwise/minimum.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryKind.MAXIMUM: OpRecord(
            name="maximum",
            source="binary_elementwise/maximum.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryKind.FMIN: OpRecord(
            name="fmin",
            source="binary_elementwise/fmin.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryKind.FMAX: OpRecord(
            name="fmax",
            source="binary_elementwise/fmax.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryKind.LOGADDEXP: OpRecord(
            name="logaddexp",
            source="binary_elementwise/logaddexp.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            scale={"y": "abs(max(a, b)) + exp(-abs(a - b))"},
        ),
        BinaryKind.LOGADDEXP2: OpRecord(
            name="logaddexp2",
            source="binary_elementwise/logaddexp2.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            scale={"y": "abs(max(a, b)) + 1.4426950408889634 * exp2(-abs(a - b))"},
            packs=2,
            half_packs=2,
        ),
        BinaryKind.XLOGY: OpRecord(
            name="xlogy",
            source="binary_elementwise/xlogy.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        BinaryKind.XLOG1PY: OpRecord(
            name="xlog1py",
            source="binary_elementwise/xlog1py.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        BinaryKind.HEAVISIDE: OpRecord(
            name="heaviside",
            source="binary_elementwise/heaviside.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryKind.GCD: OpRecord(
            name="gcd",
            source="binary_elementwise/gcd.cu",
            dtypes=("i8", "i16", "i32", "i64", "u8"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={},
            contraction=False,
        ),
        BinaryKind.LCM: OpRecord(
            name="lcm",
            source="binary_elementwise/lcm.cu",
            dtypes=("i8", "i16", "i32", "i64", "u8"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={},
            contraction=False,
        ),
        BinaryKind.BITWISE_AND: OpRecord(
            name="bitwise_and",
            source="binary_elementwise/bitwise_and.cu",
            dtypes=("i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={},
            contraction=False,
        ),
        BinaryKind.BITWISE_OR: OpRecord(
            name="bitwise_or",
            source="binary_elementwise/bitwise_or.cu",
            dtypes=("i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={},
            contraction=False,
        ),
        BinaryKind.BITWISE_XOR: OpRecord(
            name="bitwise_xor",
            source="binary_elementwise/bitwise_xor.cu",
            dtypes=("i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={},
            contraction=False,
        ),
        BinaryKind.BITWISE_LEFT_SHIFT: OpRecord(
            name="bitwise_left_shift",
            source="binary_elementwise/bitwise_left_shift.cu",
            dtypes=("i8", "i16", "i32", "i64", "u8"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={},
            contraction=False,
        ),
        BinaryKind.BITWISE_RIGHT_SHIFT: OpRecord(
            name="bitwise_right_shift",
            source="binary_elementwise/bitwise_right_shift.cu",
            dtypes=("i8", "i16", "i32", "i64", "u8"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={},
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
        args = BinaryArgs(
            a=a,
            b=b,
            y=y,
        )
        self.run(stream, workspace, args)


class BinaryBackwardPlan(Plan):
    """Gradients of BinaryPlan.

    ADD (f16, bf16, f32, f64): a + b
        da = dy
        db = dy

    SUB (f16, bf16, f32, f64): a - b
        da = dy
        db = -dy

    MUL (f16, bf16, f32, f64): a * b
        da = dy * b
        db = dy * a

    DIV (f16, bf16, f32, f64): a / b
        da = element_ratio(dy, b)
        db = -element_ratio_product(dy, a, b)

    FMOD (f16, bf16, f32, f64): remainder of a / b with the sign of a, exact; of integers 0 where b is 0;
        the crate's Remainder
        da = dy
        db = -dy * round((a - fmod(a, b)) / b)

    REMAINDER (f16, bf16, f32, f64): remainder of a / b with the sign of b; of integers 0 where b is 0;
        the crate's Mod
        da = dy
        db = -dy * (a // b)

    POW (f16, bf16, f32, f64): a to the power of b; of integers with a negative b the quotient without its
        fraction
        early = element_early_log(abs(a))
        power = element_pow(a, b)
        da = (0 if b == 0 else dy) * (element_pow_slope(a, b, power) * b)
        db = 0 if a == 0 and b >= 0 else nan if a < 0 else dy * (power * element_late_log(early))

    ATAN2 (f16, bf16, f32, f64): angle of the point (b, a), with gradient 0 at the origin
        da = element_over_square(dy, b, a, b)
        db = element_over_square(dy, -a, a, b)

    HYPOT (f16, bf16, f32, f64): length of the vector (a, b), with gradient 0 at the origin
        scale = normal_scale(clamp(max(abs(a), abs(b)), 2 * smallest_normal, max_value / 4))
        p = a * scale
        q = b * scale
        square = p * p + q * q
        at_origin = a == 0 and b == 0
        inverse = element_rsqrt(square)
        da = 0 if at_origin else product_at_scale(dy, a, scale, inverse, 1)
        db = 0 if at_origin else product_at_scale(dy, b, scale, inverse, 1)

    COPYSIGN (f16, bf16, f32, f64): magnitude of a with the sign of b, with gradient 0 at a = 0
        da = (dy if signbit(a) == signbit(b) else -dy) if abs(a) > 0 else a
        db = 0

    NEXTAFTER (f16, bf16, f32, f64): number of the dtype after a toward b; a has the gradient, but not
        where it is b
        da = 0 if a == b else dy
        db = 0

    LDEXP (f16, bf16, f32, f64): a times 2 to the power of b, rounded once where b is whole; an infinite b
        is a number beyond all
        part = 0 if isinf(b) else b - round(b)
        da = ldexp(mantissa(dy) * exp2(part), exponent(dy) + integer(b))
        db = ldexp(mantissa(dy) * mantissa(a) * (exp2(part) * 0.6931471805599453), exponent(dy) + exponent(a)
            + integer(b))

    MINIMUM (f16, bf16, f32, f64): the smaller of a and b, NaN if either is; equals get half of the
        gradient each
        da = dy / 2 if a == b else 0 if a > b else dy
        db = dy / 2 if a == b else 0 if b > a else dy

    MAXIMUM (f16, bf16, f32, f64): the larger of a and b, NaN if either is; equals get half of the
        gradient each
        da = dy / 2 if a == b else 0 if a < b else dy
        db = dy / 2 if a == b else 0 if b < a else dy

    FMIN (f16, bf16, f32, f64): the smaller of a and b, of those that are not NaN; of equals a gets the
        gradient
        da = dy if a <= b or isnan(b) else 0
        db = 0 if a <= b or isnan(b) else dy

    FMAX (f16, bf16, f32, f64): the larger of a and b, of those that are not NaN; of equals a gets the
        gradient
        da = dy if a >= b or isnan(b) else 0
        db = 0 if a >= b or isnan(b) else dy

    LOGADDEXP (f16, bf16, f32, f64): log(exp(a) + exp(b)); equal infinities get half of the gradient each
        far = max(a, b)
        near = min(a, b)
        d = 0 if a == b else far - near
        rest = 0 if d == 0 or d > 1.0e+4 else far - d - near if abs(far) >= abs(near) else far - (d + near)
        z = element_exp_times(1, -d, -rest)
        r = element_inverse(1 + z)
        less = element_exp_product(dy, r, -d, -rest)
        da = dy * r if a >= b else less
        db = dy * r if b >= a else less

    LOGADDEXP2 (f16, bf16, f32, f64): log2(2**a + 2**b); equal infinities get half of the gradient each
        far = max(a, b)
        near = min(a, b)
        d = 0 if a == b else far - near
        rest = 0 if d == 0 or d > 1.0e+4 else far - d - near if abs(far) >= abs(near) else far - (d + near)
        z = element_exp2_times(1, -d, -rest)
        da = (dy if a >= b else scaled_exp2(dy, -d) * (1 - rest * 0.6931471805599453)) / (1 + z)
        db = (dy if b >= a else scaled_exp2(dy, -d) * (1 - rest * 0.6931471805599453)) / (1 + z)

    XLOGY (f16, bf16, f32, f64): a * log(b), 0 where a is 0 and b not NaN
        da = 0 if dy == 0 and not isnan(b) or a == 0 and b <= 0 else dy * element_log(b)
        db = 0 if a == 0 and not isnan(b) else ldexp(mantissa(dy) * mantissa(a) / mantissa(b), exponent(dy) +
            exponent(a) - exponent(b))

    XLOG1PY (f16, bf16, f32, f64): a * log(1 + b), 0 where a is 0 and b not NaN
        c = 1 + b
        da = 0 if dy == 0 and not isnan(b) or a == 0 and b <= -1 else dy * element_log1p(b)
        db = 0 if a == 0 and not isnan(b) else ldexp(mantissa(dy) * mantissa(a) / mantissa(c), exponent(dy) +
            exponent(a) - exponent(c))

    `select` checks a BinaryBackwardDescriptor and compiles or loads its kernels.
    `run` takes BinaryBackwardArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "BinaryElementwise"
    DESCRIPTOR = BinaryBackwardDescriptor
    ARGS = BinaryBackwardArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("dy", "in"),
        TensorRule("a", "in"),
        TensorRule("b", "in"),
        TensorRule("da", "out", optional=True),
        TensorRule("db", "out", optional=True),
    )
    OPS: ClassVar = {
        BinaryKind.ADD: OpRecord(
            name="add_backward",
            source="binary_elementwise/add_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy",),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy"}),
            accepted=frozenset({"dy", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
        ),
        BinaryKind.SUB: OpRecord(
            name="sub_backward",
            source="binary_elementwise/sub_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy",),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy"}),
            accepted=frozenset({"dy", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
        ),
        BinaryKind.MUL: OpRecord(
            name="mul_backward",
            source="binary_elementwise/mul_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            sum_inputs={
                "da": ("dy", "b"),
                "db": ("dy", "a"),
            },
        ),
        BinaryKind.DIV: OpRecord(
            name="div_backward",
            source="binary_elementwise/div_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            sum_inputs={
                "da": ("dy", "b"),
            },
        ),
        BinaryKind.FMOD: OpRecord(
            name="fmod_backward",
            source="binary_elementwise/fmod_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            holds={"db": "abs(a / b) < max_value or b == 0"},
            sum_inputs={
                "da": ("dy",),
            },
        ),
        BinaryKind.REMAINDER: OpRecord(
            name="remainder_backward",
            source="binary_elementwise/remainder_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            holds={"db": "abs(a / b) < max_value or b == 0"},
            sum_inputs={
                "da": ("dy",),
            },
        ),
        BinaryKind.POW: OpRecord(
            name="pow_backward",
            source="binary_elementwise/pow_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 5.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            holds={
                "da": (
                    "a == 0 or b == 0 or isinf(a) or not (min(steep, abs(b) * steep) < smallest_normal or "
                    "max(steep, abs(b) * steep) > max_value / 2)"
                ),
                "db": (
                    "abs(a) == 1 or a == 0 or isinf(a) or not (min(size, size * abs(log(abs(a)))) < "
                    "smallest_normal or max(size, size * abs(log(abs(a)))) > max_value)"
                ),
            },
        ),
        BinaryKind.ATAN2: OpRecord(
            name="atan2_backward",
            source="binary_elementwise/atan2_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
        ),
        BinaryKind.HYPOT: OpRecord(
            name="hypot_backward",
            source="binary_elementwise/hypot_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
        ),
        BinaryKind.COPYSIGN: OpRecord(
            name="copysign_backward",
            source="binary_elementwise/copysign_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            sum_inputs={
                "db": ("dy",),
            },
        ),
        BinaryKind.NEXTAFTER: OpRecord(
            name="nextafter_backward",
            source="binary_elementwise/nextafter_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            sum_inputs={
                "db": ("dy",),
            },
        ),
        BinaryKind.LDEXP: OpRecord(
            name="ldexp_backward",
            source="binary_elementwise/ldexp_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 5.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            sum_inputs={
                "da": ("dy", "b"),
            },
            packs=4,
        ),
        BinaryKind.MINIMUM: OpRecord(
            name="minimum_backward",
            source="binary_elementwise/minimum_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
        ),
        BinaryKind.MAXIMUM: OpRecord(
            name="maximum_backward",
            source="binary_elementwise/maximum_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
        ),
        BinaryKind.FMIN: OpRecord(
            name="fmin_backward",
            source="binary_elementwise/fmin_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
        ),
        BinaryKind.FMAX: OpRecord(
            name="fmax_backward",
            source="binary_elementwise/fmax_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
        ),
        BinaryKind.LOGADDEXP: OpRecord(
            name="logaddexp_backward",
            source="binary_elementwise/logaddexp_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
        ),
        BinaryKind.LOGADDEXP2: OpRecord(
            name="logaddexp2_backward",
            source="binary_elementwise/logaddexp2_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 6.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
        ),
        BinaryKind.XLOGY: OpRecord(
            name="xlogy_backward",
            source="binary_elementwise/xlogy_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            packs=2,
            half_packs=2,
        ),
        BinaryKind.XLOG1PY: OpRecord(
            name="xlog1py_backward",
            source="binary_elementwise/xlog1py_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "a", "b"),
            row_inputs=(),
            outputs=("da", "db"),
            row_outputs=(),
            required=frozenset({"dy", "a", "b"}),
            accepted=frozenset({"dy", "a", "b", "da", "db"}),
            batch_invariant=("da", "db"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            packs=2,
            half_packs=2,
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
        yield from ()

    def __call__(
        self,
        *,
        dy: Any,
        a: Any = None,
        b: Any = None,
        da: Any = None,
        db: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = BinaryBackwardArgs(
            dy=dy,
            a=a,
            b=b,
            da=da,
            db=db,
        )
        self.run(stream, workspace, args)


@dataclass(frozen=True, kw_only=True)
class BinaryCmpDescriptor(Descriptor):
    """The problem of a BinaryCmpPlan: whether something is true of a and b, element by element.

    Attributes:
        kind: which op.
        shape: extents of the output.
        element: dtype of a and b.
        rtol: of isclose: how much of abs(b) the difference may be.
        atol: of isclose: how much the difference may be beside that.
        equal_nan: of isclose: whether NaN is close to NaN.
        a_shape: extents of a, which is broadcast to shape.
        b_shape: extents of b, which is broadcast to shape.
    """

    kind: BinaryCmpKind | str
    shape: tuple[int, ...]
    element: ElementKind | str
    rtol: float | None = None
    atol: float | None = None
    equal_nan: bool = False
    a_shape: tuple[int, ...] | None = None
    b_shape: tuple[int, ...] | None = None

    RULES: ClassVar = {
        "kind": BinaryCmpKind,
        "shape": "shape",
        "element": "element",
        "rtol": "f64",
        "atol": "f64",
        "equal_nan": "bool",
        "a_shape": "shape",
        "b_shape": "shape",
    }
    DEFAULTS: ClassVar = {"a_shape": "shape", "b_shape": "shape"}
    NUMBERS: ClassVar = {
        "eq": {},
        "ne": {},
        "gt": {},
        "ge": {},
        "lt": {},
        "le": {},
        "isclose": {"rtol": 1e-05, "atol": 1e-08},
        "logical_and": {},
        "logical_or": {},
        "logical_xor": {},
    }
    IDLE: ClassVar = (
        ({"kind": "eq"}, ("equal_nan",)),
        ({"kind": "ne"}, ("equal_nan",)),
        ({"kind": "gt"}, ("equal_nan",)),
        ({"kind": "ge"}, ("equal_nan",)),
        ({"kind": "lt"}, ("equal_nan",)),
        ({"kind": "le"}, ("equal_nan",)),
        ({"kind": "logical_and"}, ("equal_nan",)),
        ({"kind": "logical_or"}, ("equal_nan",)),
        ({"kind": "logical_xor"}, ("equal_nan",)),
    )


@dataclass(frozen=True, kw_only=True)
class BinaryCmpArgs:
    """The tensors of a BinaryCmpPlan.

    Attributes:
        a: first operand; of shape a_shape.
        b: second operand; of shape b_shape.
        y: result, a byte an element, 1 or 0; may be exactly a or b where these have bytes too; of dtype
            bool, shape shape.
    """

    a: Any
    b: Any
    y: Any


def _isclose_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of isclose, folded in double precision."""
    rtol = desc.rtol
    atol = desc.atol
    equal_nan = desc.equal_nan
    return (atol, rtol, equal_nan)


class BinaryCmpPlan(Plan):
    """whether something is true of a and b, element by element.

    EQ (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether a is equal to b
        y = a == b

    NE (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether a is not equal to b, true of NaN
        y = a != b

    GT (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether a is greater than b
        y = a > b

    GE (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether a is greater than b or equal to it
        y = a >= b

    LT (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether a is less than b
        y = a < b

    LE (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether a is less than b or equal to it
        y = a <= b

    ISCLOSE (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether a and b are equal, or finite with
        a difference of at most atol + rtol * abs(b), in double
        gap = distance(a, b)
        near = gap <= atol + rtol * distance(b, 0)
        both_nan = isnan(a) and isnan(b)
        y = a == b or isfinite(gap) and near or equal_nan and both_nan

    LOGICAL_AND (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether neither a nor b is 0
        y = a != 0 and b != 0

    LOGICAL_OR (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether a or b is not 0
        y = a != 0 or b != 0

    LOGICAL_XOR (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether one of a and b is 0 and the
        other is not
        y = (a != 0) != (b != 0)

    `select` checks a BinaryCmpDescriptor and compiles or loads its kernels.
    `run` takes BinaryCmpArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "BinaryElementwise"
    DESCRIPTOR = BinaryCmpDescriptor
    ARGS = BinaryCmpArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("a", "in"),
        TensorRule("b", "in"),
        TensorRule("y", "out", element="bool"),
    )
    OPS: ClassVar = {
        BinaryCmpKind.EQ: OpRecord(
            name="eq",
            source="binary_elementwise/eq.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryCmpKind.NE: OpRecord(
            name="ne",
            source="binary_elementwise/ne.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryCmpKind.GT: OpRecord(
            name="gt",
            source="binary_elementwise/gt.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryCmpKind.GE: OpRecord(
            name="ge",
            source="binary_elementwise/ge.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryCmpKind.LT: OpRecord(
            name="lt",
            source="binary_elementwise/lt.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryCmpKind.LE: OpRecord(
            name="le",
            source="binary_elementwise/le.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryCmpKind.ISCLOSE: OpRecord(
            name="isclose",
            source="binary_elementwise/isclose.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="ddb",
            fold=_isclose_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryCmpKind.LOGICAL_AND: OpRecord(
            name="logical_and",
            source="binary_elementwise/logical_and.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryCmpKind.LOGICAL_OR: OpRecord(
            name="logical_or",
            source="binary_elementwise/logical_or.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
        ),
        BinaryCmpKind.LOGICAL_XOR: OpRecord(
            name="logical_xor",
            source="binary_elementwise/logical_xor.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("a", "b"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"a", "b", "y"}),
            accepted=frozenset({"a", "b", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
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
        if desc.kind.value == "isclose" and not (math.isfinite(desc.rtol) and desc.rtol >= 0):
            yield f"rtol is {desc.rtol}, want isfinite(rtol) and rtol >= 0"
        if desc.kind.value == "isclose" and not (math.isfinite(desc.atol) and desc.atol >= 0):
            yield f"atol is {desc.atol}, want isfinite(atol) and atol >= 0"
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
        args = BinaryCmpArgs(
            a=a,
            b=b,
            y=y,
        )
        self.run(stream, workspace, args)
