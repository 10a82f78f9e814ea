"""UnaryElementwise plans.

UnaryPlan, UnaryBackwardPlan, UnaryPredicatePlan, CastPlan, UnaryParamPlan, UnaryParamBackwardPlan,
    AffinePlan, PReluPlan, PReluBackwardPlan.

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

from .kinds import UnaryKind, UnaryPredicateKind

__all__ = [
    "AffineArgs",
    "AffineDescriptor",
    "AffinePlan",
    "CastArgs",
    "CastDescriptor",
    "CastPlan",
    "PReluArgs",
    "PReluBackwardArgs",
    "PReluBackwardDescriptor",
    "PReluBackwardPlan",
    "PReluDescriptor",
    "PReluPlan",
    "UnaryArgs",
    "UnaryBackwardArgs",
    "UnaryBackwardDescriptor",
    "UnaryBackwardPlan",
    "UnaryDescriptor",
    "UnaryParamArgs",
    "UnaryParamBackwardArgs",
    "UnaryParamBackwardDescriptor",
    "UnaryParamBackwardPlan",
    "UnaryParamDescriptor",
    "UnaryParamPlan",
    "UnaryPlan",
    "UnaryPredicateArgs",
    "UnaryPredicateDescriptor",
    "UnaryPredicatePlan",
]


@dataclass(frozen=True, kw_only=True)
class UnaryDescriptor(Descriptor):
    """The problem of a UnaryPlan: y = f(x), element by element.

    Attributes:
        kind: which op.
        shape: extents of every tensor.
        element: dtype of every tensor.
    """

    kind: UnaryKind | str
    shape: tuple[int, ...]
    element: ElementKind | str

    RULES: ClassVar = {
        "kind": UnaryKind,
        "shape": "shape",
        "element": "element",
    }
    DEFAULTS: ClassVar = {}


@dataclass(frozen=True, kw_only=True)
class UnaryBackwardDescriptor(UnaryDescriptor):
    """The problem of a UnaryBackwardPlan: the fields of the forward's descriptor."""


@dataclass(frozen=True, kw_only=True)
class UnaryArgs:
    """The tensors of a UnaryPlan.

    Attributes:
        x: input; of shape shape.
        y: result; may be exactly x; of shape shape.
    """

    x: Any
    y: Any


@dataclass(frozen=True, kw_only=True)
class UnaryBackwardArgs:
    """The tensors of a UnaryBackwardPlan.

    Attributes:
        dy: gradient of y; of shape shape.
        x: the forward's input; None for NEG, FRAC, DEG2RAD, RAD2DEG; of shape shape.
        dx: gradient of x; may be exactly dy or x; of shape shape.
    """

    dy: Any
    x: Any = None
    dx: Any


class UnaryPlan(Plan):
    """y = f(x), element by element.

    NEG (f16, bf16, f32, f64, i8, i16, i32, i64, u8): x with the other sign; the smallest integer is its
        own
        y = -x

    ABS (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): magnitude of x, with gradient 0 at 0; the
        smallest integer is its own
        y = abs(x)

    SIGN (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): -1, 0 or 1, and NaN for NaN
        y = sign(x)

    BITWISE_NOT (i8, i16, i32, i64, u8, bool): x with every bit turned round; not x, of bool
        y = ~x

    POPCOUNT (i8, i16, i32, i64, u8): how many bits of x are set
        y = popcount(x)

    CLZ (i8, i16, i32, i64, u8): zeros above the highest bit of x that is set, the width where none is
        y = leading_zeros(x)

    CTZ (i8, i16, i32, i64, u8): zeros below the lowest bit of x that is set, the width where none is
        y = trailing_zeros(x)

    RECIPROCAL (f16, bf16, f32, f64): 1 / x
        y = 1 / x

    SQUARE (f16, bf16, f32, f64, i8, i16, i32, i64, u8): x * x
        y = x * x

    CUBE (f16, bf16, f32, f64, i8, i16, i32, i64, u8): x * x * x
        y = x * x * x

    SQRT (f16, bf16, f32, f64): square root
        y = element_sqrt(x)

    RSQRT (f16, bf16, f32, f64): 1 / sqrt(x)
        y = element_rsqrt(x)

    CBRT (f16, bf16, f32, f64): cube root
        y = cbrt(x)

    EXP (f16, bf16, f32, f64): e to the power of x
        y = exp(x)

    EXP2 (f16, bf16, f32, f64): 2 to the power of x
        y = exp2(x)

    EXPM1 (f16, bf16, f32, f64): exp(x) - 1, accurate near 0
        y = element_expm1(x)

    LOG (f16, bf16, f32, f64): natural logarithm
        y = element_log(x)

    LOG2 (f16, bf16, f32, f64): logarithm to base 2
        y = element_log2(x)

    LOG10 (f16, bf16, f32, f64): logarithm to base 10
        y = element_log10(x)

    LOG1P (f16, bf16, f32, f64): log(1 + x), accurate near 0
        y = element_log1p(x)

    SIN (f16, bf16, f32, f64): sine
        y = sin(x)

    COS (f16, bf16, f32, f64): cosine
        y = cos(x)

    TAN (f16, bf16, f32, f64): tangent
        y = tan(x)

    ASIN (f16, bf16, f32, f64): inverse sine
        y = asin(x)

    ACOS (f16, bf16, f32, f64): inverse cosine
        y = acos(x)

    ATAN (f16, bf16, f32, f64): inverse tangent
        y = atan(x)

    SINH (f16, bf16, f32, f64): hyperbolic sine
        y = sinh(x)

    COSH (f16, bf16, f32, f64): hyperbolic cosine
        y = cosh(x)

    TANH (f16, bf16, f32, f64): hyperbolic tangent
        y = element_tanh(x)

    ASINH (f16, bf16, f32, f64): inverse hyperbolic sine
        y = element_asinh(x)

    ACOSH (f16, bf16, f32, f64): inverse hyperbolic cosine
        y = element_acosh(x)

    ATANH (f16, bf16, f32, f64): inverse hyperbolic tangent
        y = element_atanh(x)

    FLOOR (f16, bf16, f32, f64, i8, i16, i32, i64, u8): largest integer not above x
        y = floor(x)

    CEIL (f16, bf16, f32, f64, i8, i16, i32, i64, u8): smallest integer not below x
        y = ceil(x)

    ROUND (f16, bf16, f32, f64, i8, i16, i32, i64, u8): nearest integer, ties to even
        y = round(x)

    TRUNC (f16, bf16, f32, f64, i8, i16, i32, i64, u8): x without its fraction
        y = trunc(x)

    FRAC (f16, bf16, f32, f64): x minus trunc(x)
        y = x - trunc(x)

    STEP (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): 1 for positive numbers, else 0, and NaN for
        NaN
        y = 1 if x > 0 else 0 if x <= 0 else x

    DEG2RAD (f16, bf16, f32, f64): degrees as radians
        y = x * 0.017453292519943295

    RAD2DEG (f16, bf16, f32, f64): radians as degrees
        y = x * 57.29577951308232

    RELU (f16, bf16, f32, f64, i8, i16, i32, i64, u8): x where it is positive, else 0
        y = max(x, 0)

    RELU6 (f16, bf16, f32, f64, i8, i16, i32, i64, u8): x between 0 and 6
        y = clamp(x, 0, 6)

    SILU (f16, bf16, f32, f64): x times sigmoid(x), called swish elsewhere
        r = element_inverse(1 + element_exp_addend(-abs(x)))
        tail = element_exp_times(max(x, -2000), -abs(x))
        y = (x if x >= 0 else tail) * r

    SIGMOID (f16, bf16, f32, f64): 1 / (1 + exp(-x)), the logistic function
        r = element_inverse(1 + element_exp_addend(-abs(x)))
        tail = element_exp_times(1, -abs(x))
        y = (1 if x >= 0 else tail) * r

    SOFTSIGN (f16, bf16, f32, f64): x / (1 + |x|)
        y = copysign(1, x) if isinf(x) else x / (1 + abs(x))

    HARDSWISH (f16, bf16, f32, f64): x times relu6(x + 3) / 6
        y = 0 if x <= -3 else x if x >= 3 else x * (x + 3) * 0.16666666666666666

    HARDSIGMOID (f16, bf16, f32, f64): (x + 3) / 6 between 0 and 1
        y = 0 if x <= -3 else 1 if x >= 3 else (x + 3) * 0.16666666666666666

    SELU (f16, bf16, f32, f64): 1.0507 times x, below 0 of 1.6733 times exp(x) - 1; Klambauer et al. 2017
        y = x * 1.0507009873554805 if x > 0 else element_expm1(x) * 1.7580993408473766

    ERF (f16, bf16, f32, f64): error function
        y = element_erf(x)

    ERFC (f16, bf16, f32, f64): 1 - erf(x), accurate in the positive tail
        y = element_erfc(x)

    ERFINV (f16, bf16, f32, f64): inverse of erf
        y = erfinv(x)

    ERFCX (f16, bf16, f32, f64): exp(x * x) * erfc(x), the scaled complementary error function
        y = erfcx(x)

    NDTR (f16, bf16, f32, f64): distribution function of the normal distribution
        y = ndtr(x)

    LOG_NDTR (f16, bf16, f32, f64): logarithm of ndtr, accurate in both tails
        y = element_log_ndtr(x)

    NDTRI (f16, bf16, f32, f64): inverse of ndtr, NaN outside of 0 to 1
        y = ndtri(x)

    LGAMMA (f16, bf16, f32, f64): logarithm of the magnitude of the gamma function
        y = element_lgamma(x)

    DIGAMMA (f16, bf16, f32, f64): derivative of lgamma
        y = digamma(x)

    I0 (f16, bf16, f32, f64): modified Bessel function of the first kind, order 0
        y = i0(x)

    I0E (f16, bf16, f32, f64): i0(x) times exp(-|x|)
        y = i0e(x)

    I1 (f16, bf16, f32, f64): modified Bessel function of the first kind, order 1
        y = i1(x)

    I1E (f16, bf16, f32, f64): i1(x) times exp(-|x|)
        y = i1e(x)

    SINC (f16, bf16, f32, f64): sin(pi * x) / (pi * x), 1 at 0
        y = sinc(x)

    ENTR (f16, bf16, f32, f64): -x * log(x), 0 at 0 and -inf below
        y = -x * log(x) if x > 0 else 0 if x == 0 else -inf if x < 0 else x

    GELU (f16, bf16, f32, f64): x times ndtr(x); Hendrycks and Gimpel 2016
        a = min(abs(x), 60)
        y = element_less_tail_moment(max(x, -0.0), a)

    GELU_TANH (f16, bf16, f32, f64): gelu by way of tanh, as GPT-2 has it; Hendrycks and Gimpel 2016
        a = min(abs(x), 40)
        t = a * a
        p = fma(t, 0.07135481387376785, 1.5957691669464111)
        u = p - 1.5957691669464111
        rest = fma(t, 0.07135481387376785, -u) - (p - u - 1.5957691669464111) + fma(fma(a, a, -t),
            0.07135481387376785, fma(t, 2.3988323959931355e-09, -4.5340680421052719e-08))
        v = a * p
        low = fma(a, rest, fma(a, p, -v))
        z = element_exp_addend(-v, -low)
        r = element_inverse(1 + z)
        y = (x if x >= 0 else element_exp_times(-a, -v, -low)) * r

    MISH (f16, bf16, f32, f64): x times tanh(softplus(x)); Misra 2019
        low = max(x, -2000)
        e = element_exp_addend(x)
        p = e + 2
        q = fma(e, p, 2)
        y = x if x > 25 else element_exp_times(low, x) * element_quotient(p, q)

    LOG_SIGMOID (f16, bf16, f32, f64): logarithm of the logistic function
        z = element_exp_addend(-abs(x))
        tail = element_exp_times(element_log1p_ratio(z), -abs(x))
        y = -(max(-x, 0) + tail)

    TANHSHRINK (f16, bf16, f32, f64): x - tanh(x), accurate near 0
        y = tanhshrink(x)

    `select` checks a UnaryDescriptor and compiles or loads its kernels.
    `run` takes UnaryArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "UnaryElementwise"
    DESCRIPTOR = UnaryDescriptor
    ARGS = UnaryArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("x", "in"),
        TensorRule("y", "out"),
    )
    OPS: ClassVar = {
        UnaryKind.NEG: OpRecord(
            name="neg",
            source="unary_elementwise/neg.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.ABS: OpRecord(
            name="abs",
            source="unary_elementwise/abs.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SIGN: OpRecord(
            name="sign",
            source="unary_elementwise/sign.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.BITWISE_NOT: OpRecord(
            name="bitwise_not",
            source="unary_elementwise/bitwise_not.cu",
            dtypes=("i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={},
            contraction=False,
        ),
        UnaryKind.POPCOUNT: OpRecord(
            name="popcount",
            source="unary_elementwise/popcount.cu",
            dtypes=("i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={},
            contraction=False,
        ),
        UnaryKind.CLZ: OpRecord(
            name="clz",
            source="unary_elementwise/clz.cu",
            dtypes=("i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={},
            contraction=False,
        ),
        UnaryKind.CTZ: OpRecord(
            name="ctz",
            source="unary_elementwise/ctz.cu",
            dtypes=("i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={},
            contraction=False,
        ),
        UnaryKind.RECIPROCAL: OpRecord(
            name="reciprocal",
            source="unary_elementwise/reciprocal.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SQUARE: OpRecord(
            name="square",
            source="unary_elementwise/square.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.CUBE: OpRecord(
            name="cube",
            source="unary_elementwise/cube.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SQRT: OpRecord(
            name="sqrt",
            source="unary_elementwise/sqrt.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
        ),
        UnaryKind.RSQRT: OpRecord(
            name="rsqrt",
            source="unary_elementwise/rsqrt.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.CBRT: OpRecord(
            name="cbrt",
            source="unary_elementwise/cbrt.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=2,
        ),
        UnaryKind.EXP: OpRecord(
            name="exp",
            source="unary_elementwise/exp.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.EXP2: OpRecord(
            name="exp2",
            source="unary_elementwise/exp2.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.EXPM1: OpRecord(
            name="expm1",
            source="unary_elementwise/expm1.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
        ),
        UnaryKind.LOG: OpRecord(
            name="log",
            source="unary_elementwise/log.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.LOG2: OpRecord(
            name="log2",
            source="unary_elementwise/log2.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
        ),
        UnaryKind.LOG10: OpRecord(
            name="log10",
            source="unary_elementwise/log10.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.LOG1P: OpRecord(
            name="log1p",
            source="unary_elementwise/log1p.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
        ),
        UnaryKind.SIN: OpRecord(
            name="sin",
            source="unary_elementwise/sin.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=2,
        ),
        UnaryKind.COS: OpRecord(
            name="cos",
            source="unary_elementwise/cos.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=2,
        ),
        UnaryKind.TAN: OpRecord(
            name="tan",
            source="unary_elementwise/tan.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=2,
        ),
        UnaryKind.ASIN: OpRecord(
            name="asin",
            source="unary_elementwise/asin.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=4,
        ),
        UnaryKind.ACOS: OpRecord(
            name="acos",
            source="unary_elementwise/acos.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=4,
        ),
        UnaryKind.ATAN: OpRecord(
            name="atan",
            source="unary_elementwise/atan.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=2,
        ),
        UnaryKind.SINH: OpRecord(
            name="sinh",
            source="unary_elementwise/sinh.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=4,
        ),
        UnaryKind.COSH: OpRecord(
            name="cosh",
            source="unary_elementwise/cosh.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.TANH: OpRecord(
            name="tanh",
            source="unary_elementwise/tanh.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.ASINH: OpRecord(
            name="asinh",
            source="unary_elementwise/asinh.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
            half_packs=4,
        ),
        UnaryKind.ACOSH: OpRecord(
            name="acosh",
            source="unary_elementwise/acosh.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=4,
            half_packs=4,
        ),
        UnaryKind.ATANH: OpRecord(
            name="atanh",
            source="unary_elementwise/atanh.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryKind.FLOOR: OpRecord(
            name="floor",
            source="unary_elementwise/floor.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.CEIL: OpRecord(
            name="ceil",
            source="unary_elementwise/ceil.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.ROUND: OpRecord(
            name="round",
            source="unary_elementwise/round.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.TRUNC: OpRecord(
            name="trunc",
            source="unary_elementwise/trunc.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.FRAC: OpRecord(
            name="frac",
            source="unary_elementwise/frac.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.STEP: OpRecord(
            name="step",
            source="unary_elementwise/step.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.DEG2RAD: OpRecord(
            name="deg2rad",
            source="unary_elementwise/deg2rad.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.RAD2DEG: OpRecord(
            name="rad2deg",
            source="unary_elementwise/rad2deg.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.RELU: OpRecord(
            name="relu",
            source="unary_elementwise/relu.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.RELU6: OpRecord(
            name="relu6",
            source="unary_elementwise/relu6.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SILU: OpRecord(
            name="silu",
            source="unary_elementwise/silu.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SIGMOID: OpRecord(
            name="sigmoid",
            source="unary_elementwise/sigmoid.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SOFTSIGN: OpRecord(
            name="softsign",
            source="unary_elementwise/softsign.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=4,
        ),
        UnaryKind.HARDSWISH: OpRecord(
            name="hardswish",
            source="unary_elementwise/hardswish.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.HARDSIGMOID: OpRecord(
            name="hardsigmoid",
            source="unary_elementwise/hardsigmoid.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SELU: OpRecord(
            name="selu",
            source="unary_elementwise/selu.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryKind.ERF: OpRecord(
            name="erf",
            source="unary_elementwise/erf.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.ERFC: OpRecord(
            name="erfc",
            source="unary_elementwise/erfc.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 3.0},
            contraction=False,
            packs=4,
        ),
        UnaryKind.ERFINV: OpRecord(
            name="erfinv",
            source="unary_elementwise/erfinv.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=4,
        ),
        UnaryKind.ERFCX: OpRecord(
            name="erfcx",
            source="unary_elementwise/erfcx.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 3.0},
            contraction=False,
            packs=4,
        ),
        UnaryKind.NDTR: OpRecord(
            name="ndtr",
            source="unary_elementwise/ndtr.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 3.0},
            contraction=False,
            packs=4,
            half_packs=4,
        ),
        UnaryKind.LOG_NDTR: OpRecord(
            name="log_ndtr",
            source="unary_elementwise/log_ndtr.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=4,
            half_packs=2,
        ),
        UnaryKind.NDTRI: OpRecord(
            name="ndtri",
            source="unary_elementwise/ndtri.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryKind.LGAMMA: OpRecord(
            name="lgamma",
            source="unary_elementwise/lgamma.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            scale={"y": "abs(exact) + (max(1, lgamma(abs(x))) if x < 0 else 1)"},
            packs=4,
            half_packs=4,
        ),
        UnaryKind.DIGAMMA: OpRecord(
            name="digamma",
            source="unary_elementwise/digamma.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            scale={"y": "abs(exact) + 4 + log1p(abs(x))"},
        ),
        UnaryKind.I0: OpRecord(
            name="i0",
            source="unary_elementwise/i0.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=2,
        ),
        UnaryKind.I0E: OpRecord(
            name="i0e",
            source="unary_elementwise/i0e.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryKind.I1: OpRecord(
            name="i1",
            source="unary_elementwise/i1.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=2,
        ),
        UnaryKind.I1E: OpRecord(
            name="i1e",
            source="unary_elementwise/i1e.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryKind.SINC: OpRecord(
            name="sinc",
            source="unary_elementwise/sinc.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=2,
        ),
        UnaryKind.ENTR: OpRecord(
            name="entr",
            source="unary_elementwise/entr.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryKind.GELU: OpRecord(
            name="gelu",
            source="unary_elementwise/gelu.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=4,
        ),
        UnaryKind.GELU_TANH: OpRecord(
            name="gelu_tanh",
            source="unary_elementwise/gelu_tanh.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=4,
        ),
        UnaryKind.MISH: OpRecord(
            name="mish",
            source="unary_elementwise/mish.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.LOG_SIGMOID: OpRecord(
            name="log_sigmoid",
            source="unary_elementwise/log_sigmoid.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
        ),
        UnaryKind.TANHSHRINK: OpRecord(
            name="tanhshrink",
            source="unary_elementwise/tanhshrink.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "x": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "y": (
                desc.shape,
                "the shape of the descriptor",
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
        args = UnaryArgs(
            x=x,
            y=y,
        )
        self.run(stream, workspace, args)


class UnaryBackwardPlan(Plan):
    """Gradients of UnaryPlan.

    NEG (f16, bf16, f32, f64): x with the other sign; the smallest integer is its own
        dx = -dy

    ABS (f16, bf16, f32, f64): magnitude of x, with gradient 0 at 0; the smallest integer is its own
        dx = dy if x > 0 else -dy if x < 0 else x

    RECIPROCAL (f16, bf16, f32, f64): 1 / x
        dx = -scaled_ratio(dy, 1, x)

    SQUARE (f16, bf16, f32, f64): x * x
        dx = dy * x * 2

    CUBE (f16, bf16, f32, f64): x * x * x
        dx = scaled_product(dy, x, x) * 3

    SQRT (f16, bf16, f32, f64): square root
        dx = dy * (element_rsqrt(x) * 0.5)

    RSQRT (f16, bf16, f32, f64): 1 / sqrt(x)
        r = element_rsqrt(x)
        scale = 4 / epsilon if abs(dy) < smallest_normal else 1
        dx = -(dy * 0.5 * abs(r) * r * r if is_half else dy * scale * (0.5 * r) / (x * scale))

    CBRT (f16, bf16, f32, f64): cube root
        c = cbrt(x)
        dx = dy / (3 * c * c)

    EXP (f16, bf16, f32, f64): e to the power of x
        dx = scaled_exp(dy, x)

    EXP2 (f16, bf16, f32, f64): 2 to the power of x
        product = scaled_exp2(dy, x)
        dx = product * 0.6931471805599453 if isfinite(product) else scaled_exp2(dy, x - 1) *
            1.3862943611198906

    EXPM1 (f16, bf16, f32, f64): exp(x) - 1, accurate near 0
        dx = scaled_exp(dy, x)

    LOG (f16, bf16, f32, f64): natural logarithm
        dx = dy / x

    LOG2 (f16, bf16, f32, f64): logarithm to base 2
        dx = dy / x * 1.4426950408889634

    LOG10 (f16, bf16, f32, f64): logarithm to base 10
        dx = dy / (4 * x) * 1.7371779276130073 if abs(x) < 1 else dy / x * 0.4342944819032518

    LOG1P (f16, bf16, f32, f64): log(1 + x), accurate near 0
        dx = dy / (1 + x)

    SIN (f16, bf16, f32, f64): sine
        dx = dy * cos(x)

    COS (f16, bf16, f32, f64): cosine
        dx = -(dy * sin(x))

    TAN (f16, bf16, f32, f64): tangent
        c = cos(x)
        dx = dy / (c * c)

    ASIN (f16, bf16, f32, f64): inverse sine
        dx = dy / sqrt((1 - x) * (1 + x))

    ACOS (f16, bf16, f32, f64): inverse cosine
        dx = -(dy / sqrt((1 - x) * (1 + x)))

    ATAN (f16, bf16, f32, f64): inverse tangent
        dx = dy / (1 + x * x) if abs(x) < 1.0e9 else dy / x / x

    SINH (f16, bf16, f32, f64): hyperbolic sine
        dx = dy * cosh(x) if abs(x) < 20 else scaled_exp_product(dy, 0.5, abs(x))

    COSH (f16, bf16, f32, f64): hyperbolic cosine
        dx = dy * sinh(x) if abs(x) < 20 else scaled_exp_product(dy, copysign(0.5, x), abs(x))

    TANH (f16, bf16, f32, f64): hyperbolic tangent
        power = -2 * abs(x)
        z = element_exp_product(1, 1, power)
        dx = element_exp_product(dy, 4 * element_inverse(fma(z, z + 2, 1)), power)

    ASINH (f16, bf16, f32, f64): inverse hyperbolic sine
        dx = dy / hypot(x, 1)

    ACOSH (f16, bf16, f32, f64): inverse hyperbolic cosine
        dx = dy / (sqrt(abs(x) - 1) * sqrt(abs(x) + 1))

    ATANH (f16, bf16, f32, f64): inverse hyperbolic tangent
        dx = dy / ((1 - x) * (1 + x)) if abs(x) < 2 else dy / (1 + abs(x)) / (1 - abs(x))

    FRAC (f16, bf16, f32, f64): x minus trunc(x)
        dx = dy

    DEG2RAD (f16, bf16, f32, f64): degrees as radians
        dx = dy * 0.017453292519943295

    RAD2DEG (f16, bf16, f32, f64): radians as degrees
        dx = dy * 57.29577951308232

    RELU (f16, bf16, f32, f64): x where it is positive, else 0
        dx = 0 if x <= 0 else dy

    RELU6 (f16, bf16, f32, f64): x between 0 and 6
        dx = 0 if x <= 0 or x >= 6 else dy

    SILU (f16, bf16, f32, f64): x times sigmoid(x), called swish elsewhere
        z = element_exp_product(1, 1, -abs(x))
        r = element_inverse(1 + z)
        c = clamp(x, -2000, 2000)
        s = fma(c * z if x >= 0 else c, r, 1) * r
        dx = dy * s if x >= 0 else element_exp_product(dy, s, -abs(x))

    SIGMOID (f16, bf16, f32, f64): 1 / (1 + exp(-x)), the logistic function
        z = element_exp_product(1, 1, -abs(x))
        dx = element_exp_product(dy, element_inverse(fma(z, z + 2, 1)), -abs(x))

    SOFTSIGN (f16, bf16, f32, f64): x / (1 + |x|)
        dx = dy / (1 + abs(x)) / (1 + abs(x))

    HARDSWISH (f16, bf16, f32, f64): x times relu6(x + 3) / 6
        dx = 0 if x <= -3 else dy if x >= 3 else dy * ((x + 1.5) / 3)

    HARDSIGMOID (f16, bf16, f32, f64): (x + 3) / 6 between 0 and 1
        dx = 0 if x <= -3 or x >= 3 else dy / 6

    SELU (f16, bf16, f32, f64): 1.0507 times x, below 0 of 1.6733 times exp(x) - 1; Klambauer et al. 2017
        dx = dy * 1.0507009873554805 if x > 0 else scaled_exp(dy, x) * 1.7580993408473766

    ERF (f16, bf16, f32, f64): error function
        a = min(abs(x), 60)
        t = a * a
        dx = element_exp_product(dy, 1.1283791670955126, -t, -fma(a, a, -t))

    ERFC (f16, bf16, f32, f64): 1 - erf(x), accurate in the positive tail
        a = min(abs(x), 60)
        t = a * a
        dx = -element_exp_product(dy, 1.1283791670955126, -t, -fma(a, a, -t))

    ERFINV (f16, bf16, f32, f64): inverse of erf
        dx = dy * (inf if abs(x) == 1 else erfcx(abs(erfinv(x))) / (1 - abs(x)) * 0.886226925452758)

    ERFCX (f16, bf16, f32, f64): exp(x * x) * erfc(x), the scaled complementary error function
        t = max(x, -105)
        s = t * t
        dx = scaled_exp_product(dy, x, s, fma(t, t, -s)) * 4 if x < -6.5 else dy / x / x * -0.5641895835477563
            if x > 1.0e+10 else dy * erfcx_slope(x)

    NDTR (f16, bf16, f32, f64): distribution function of the normal distribution
        a = min(abs(x), 60)
        t = a * a
        dx = element_exp_product(dy, 0.3989422804014327, -t / 2, -fma(a, a, -t) / 2)

    LOG_NDTR (f16, bf16, f32, f64): logarithm of ndtr, accurate in both tails
        a = min(x, 60)
        t = a * a
        upper = element_exp_product(dy, 0.3989422804014327 / ndtr(x), -t / 2, -fma(a, a, -t) / 2)
        dx = upper if x > 0 else dy * -x if x < -1.0e+10 else dy * log_ndtr_slope(x)

    NDTRI (f16, bf16, f32, f64): inverse of ndtr, NaN outside of 0 to 1
        tail = x if x < 0.5 else 1 - x
        e = erfcx(abs(ndtri(x)) * 0.7071067811865476)
        dx = (dy * inf if tail == 0 else dy / tail * e if abs(dy) < 1.0e-30 else dy * e / tail) *
            1.2533141373155003

    LGAMMA (f16, bf16, f32, f64): logarithm of the magnitude of the gamma function
        dx = dy * digamma(x) if abs(x) > 1.0e-20 else -dy / x

    DIGAMMA (f16, bf16, f32, f64): derivative of lgamma
        dx = dy * trigamma(x) if abs(x) > 1.0e-10 else scaled_ratio(dy, 1, x)

    I0 (f16, bf16, f32, f64): modified Bessel function of the first kind, order 0
        dx = dy * x / 2 if abs(x) < 1.0e-10 else dy * i1(x) if abs(x) < 20 else scaled_exp_product(dy, fma(x,
            1.0e-30, i1e(x)), abs(x))

    I0E (f16, bf16, f32, f64): i0(x) times exp(-|x|)
        dx = dy * i0e_slope(x) if abs(x) < 1.0e+18 else dy * i0e(x) / x * -0.5

    I1 (f16, bf16, f32, f64): modified Bessel function of the first kind, order 1
        dx = dy * i1_slope(x) if abs(x) < 20 else scaled_exp_product(dy, max(i0e(x) - i1e(x) / x, 1.0e-30),
            abs(x))

    I1E (f16, bf16, f32, f64): i1(x) times exp(-|x|)
        dx = dy * i1e_slope(x) if abs(x) < 1.0e+18 else dy * i1e(x) / x * -0.5

    SINC (f16, bf16, f32, f64): sin(pi * x) / (pi * x), 1 at 0
        dx = dy * sinc_slope(x) if abs(x) > 1.0e-10 else dy * x * -3.289868133696453

    ENTR (f16, bf16, f32, f64): -x * log(x), 0 at 0 and -inf below
        dx = dy * (-log(x) - 1)

    GELU (f16, bf16, f32, f64): x times ndtr(x); Hendrycks and Gimpel 2016
        a = min(abs(x), 60)
        tail = element_bell_product(1 if x >= 0 else dy, element_mills_excess(a), a)
        dx = dy * (1 - tail) if x >= 0 else tail

    GELU_TANH (f16, bf16, f32, f64): gelu by way of tanh, as GPT-2 has it; Hendrycks and Gimpel 2016
        a = min(abs(x), 40)
        t = a * a
        p = fma(t, 0.07135481387376785, 1.5957691669464111)
        u = p - 1.5957691669464111
        rest = fma(t, 0.07135481387376785, -u) - (p - u - 1.5957691669464111) + fma(fma(a, a, -t),
            0.07135481387376785, fma(t, 2.3988323959931355e-09, -4.5340680421052719e-08))
        v = a * p
        low = fma(a, rest, fma(a, p, -v))
        z = element_exp_product(1, 1, -v, -low)
        r = element_inverse(1 + z)
        slope = 1.5957691216057308 + t * 0.21406444881780075
        s = fma(a * slope * (z if x >= 0 else -1), r, 1) * r
        dx = dy * s if x >= 0 else element_exp_product(dy, s, -v, -low)

    MISH (f16, bf16, f32, f64): x times tanh(softplus(x)); Misra 2019
        low = max(x, -2000)
        e = element_exp_product(1, 1, x)
        p = e + 2
        q = fma(e, p, 2)
        r = element_inverse(q)
        c = 4 * low * (1 + e)
        s = fma(p, q, c) * r * r
        t = s * e if is_half else fma(r, fma(c * e, r, -2), 1)
        dx = dy if x > 25 else dy * t if x >= -0.5 else element_exp_product(dy, s, x)

    LOG_SIGMOID (f16, bf16, f32, f64): logarithm of the logistic function
        r = element_inverse(1 + element_exp_product(1, 1, -abs(x)))
        dx = dy * r if x <= 0 else element_exp_product(dy, r, -abs(x))

    TANHSHRINK (f16, bf16, f32, f64): x - tanh(x), accurate near 0
        t = x - tanhshrink(x) if abs(x) < 1.5 else tanh(x)
        dx = dy * t * t

    `select` checks a UnaryBackwardDescriptor and compiles or loads its kernels.
    `run` takes UnaryBackwardArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "UnaryElementwise"
    DESCRIPTOR = UnaryBackwardDescriptor
    ARGS = UnaryBackwardArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("dy", "in"),
        TensorRule("x", "in"),
        TensorRule("dx", "out"),
    )
    OPS: ClassVar = {
        UnaryKind.NEG: OpRecord(
            name="neg_backward",
            source="unary_elementwise/neg_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy",),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "dx"}),
            accepted=frozenset({"dy", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.ABS: OpRecord(
            name="abs_backward",
            source="unary_elementwise/abs_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.RECIPROCAL: OpRecord(
            name="reciprocal_backward",
            source="unary_elementwise/reciprocal_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SQUARE: OpRecord(
            name="square_backward",
            source="unary_elementwise/square_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.CUBE: OpRecord(
            name="cube_backward",
            source="unary_elementwise/cube_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SQRT: OpRecord(
            name="sqrt_backward",
            source="unary_elementwise/sqrt_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.RSQRT: OpRecord(
            name="rsqrt_backward",
            source="unary_elementwise/rsqrt_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.CBRT: OpRecord(
            name="cbrt_backward",
            source="unary_elementwise/cbrt_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 5.0, "f64": 5.0},
            contraction=False,
        ),
        UnaryKind.EXP: OpRecord(
            name="exp_backward",
            source="unary_elementwise/exp_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.EXP2: OpRecord(
            name="exp2_backward",
            source="unary_elementwise/exp2_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.EXPM1: OpRecord(
            name="expm1_backward",
            source="unary_elementwise/expm1_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.LOG: OpRecord(
            name="log_backward",
            source="unary_elementwise/log_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.LOG2: OpRecord(
            name="log2_backward",
            source="unary_elementwise/log2_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.LOG10: OpRecord(
            name="log10_backward",
            source="unary_elementwise/log10_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.LOG1P: OpRecord(
            name="log1p_backward",
            source="unary_elementwise/log1p_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SIN: OpRecord(
            name="sin_backward",
            source="unary_elementwise/sin_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.COS: OpRecord(
            name="cos_backward",
            source="unary_elementwise/cos_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.TAN: OpRecord(
            name="tan_backward",
            source="unary_elementwise/tan_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 8.0, "f64": 5.0},
            contraction=False,
            half_packs=2,
        ),
        UnaryKind.ASIN: OpRecord(
            name="asin_backward",
            source="unary_elementwise/asin_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
        ),
        UnaryKind.ACOS: OpRecord(
            name="acos_backward",
            source="unary_elementwise/acos_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
        ),
        UnaryKind.ATAN: OpRecord(
            name="atan_backward",
            source="unary_elementwise/atan_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SINH: OpRecord(
            name="sinh_backward",
            source="unary_elementwise/sinh_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.COSH: OpRecord(
            name="cosh_backward",
            source="unary_elementwise/cosh_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.TANH: OpRecord(
            name="tanh_backward",
            source="unary_elementwise/tanh_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.ASINH: OpRecord(
            name="asinh_backward",
            source="unary_elementwise/asinh_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            half_packs=2,
        ),
        UnaryKind.ACOSH: OpRecord(
            name="acosh_backward",
            source="unary_elementwise/acosh_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.ATANH: OpRecord(
            name="atanh_backward",
            source="unary_elementwise/atanh_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.FRAC: OpRecord(
            name="frac_backward",
            source="unary_elementwise/frac_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy",),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "dx"}),
            accepted=frozenset({"dy", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.DEG2RAD: OpRecord(
            name="deg2rad_backward",
            source="unary_elementwise/deg2rad_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy",),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "dx"}),
            accepted=frozenset({"dy", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.RAD2DEG: OpRecord(
            name="rad2deg_backward",
            source="unary_elementwise/rad2deg_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy",),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "dx"}),
            accepted=frozenset({"dy", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.RELU: OpRecord(
            name="relu_backward",
            source="unary_elementwise/relu_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.RELU6: OpRecord(
            name="relu6_backward",
            source="unary_elementwise/relu6_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SILU: OpRecord(
            name="silu_backward",
            source="unary_elementwise/silu_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 5.0, "f64": 5.0},
            contraction=False,
            scale={"dx": "abs(dy) * (1 + min(abs(x), 2000)) * sigmoid(x)"},
        ),
        UnaryKind.SIGMOID: OpRecord(
            name="sigmoid_backward",
            source="unary_elementwise/sigmoid_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SOFTSIGN: OpRecord(
            name="softsign_backward",
            source="unary_elementwise/softsign_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.HARDSWISH: OpRecord(
            name="hardswish_backward",
            source="unary_elementwise/hardswish_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.HARDSIGMOID: OpRecord(
            name="hardsigmoid_backward",
            source="unary_elementwise/hardsigmoid_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.SELU: OpRecord(
            name="selu_backward",
            source="unary_elementwise/selu_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.ERF: OpRecord(
            name="erf_backward",
            source="unary_elementwise/erf_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.ERFC: OpRecord(
            name="erfc_backward",
            source="unary_elementwise/erfc_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.ERFINV: OpRecord(
            name="erfinv_backward",
            source="unary_elementwise/erfinv_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 6.0, "f64": 5.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryKind.ERFCX: OpRecord(
            name="erfcx_backward",
            source="unary_elementwise/erfcx_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 6.0, "f64": 5.0},
            contraction=False,
        ),
        UnaryKind.NDTR: OpRecord(
            name="ndtr_backward",
            source="unary_elementwise/ndtr_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.LOG_NDTR: OpRecord(
            name="log_ndtr_backward",
            source="unary_elementwise/log_ndtr_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 6.0, "f64": 5.0},
            contraction=False,
        ),
        UnaryKind.NDTRI: OpRecord(
            name="ndtri_backward",
            source="unary_elementwise/ndtri_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 6.0, "f64": 5.0},
            contraction=False,
        ),
        UnaryKind.LGAMMA: OpRecord(
            name="lgamma_backward",
            source="unary_elementwise/lgamma_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            scale={"dx": "abs(exact) + abs(dy) * (4 + log1p(abs(x)))"},
        ),
        UnaryKind.DIGAMMA: OpRecord(
            name="digamma_backward",
            source="unary_elementwise/digamma_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.I0: OpRecord(
            name="i0_backward",
            source="unary_elementwise/i0_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 5.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.I0E: OpRecord(
            name="i0e_backward",
            source="unary_elementwise/i0e_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            packs=2,
        ),
        UnaryKind.I1: OpRecord(
            name="i1_backward",
            source="unary_elementwise/i1_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 5.0, "f64": 5.0},
            contraction=False,
        ),
        UnaryKind.I1E: OpRecord(
            name="i1e_backward",
            source="unary_elementwise/i1e_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            scale={"dx": "abs(exact) + abs(dy) / (1 + abs(x))"},
            packs=2,
        ),
        UnaryKind.SINC: OpRecord(
            name="sinc_backward",
            source="unary_elementwise/sinc_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            scale={"dx": "abs(exact) + abs(dy) * min(abs(x), 2 / abs(x))"},
            packs=2,
            half_packs=2,
        ),
        UnaryKind.ENTR: OpRecord(
            name="entr_backward",
            source="unary_elementwise/entr_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            scale={"dx": "abs(dy) * (abs(log(x)) + 1)"},
            half_packs=2,
        ),
        UnaryKind.GELU: OpRecord(
            name="gelu_backward",
            source="unary_elementwise/gelu_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            scale={
                "dx": (
                    "abs(dy) * ((1 if x > 0 else 0) + (1 + min(abs(x), 1000)) * exp(-min(x * x / 2, 11000)))"
                ),
            },
        ),
        UnaryKind.GELU_TANH: OpRecord(
            name="gelu_tanh_backward",
            source="unary_elementwise/gelu_tanh_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 5.0, "f64": 5.0},
            contraction=False,
            scale={
                "dx": "abs(dy) * ((1 if x > 0 else 0) + (1 + min(abs(x), 40)) * exp(-min(x * x / 2, 11000)))",
            },
        ),
        UnaryKind.MISH: OpRecord(
            name="mish_backward",
            source="unary_elementwise/mish_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            scale={"dx": "abs(dy) * (1 + 4 * min(abs(x), 2000)) * sigmoid(x)"},
        ),
        UnaryKind.LOG_SIGMOID: OpRecord(
            name="log_sigmoid_backward",
            source="unary_elementwise/log_sigmoid_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        UnaryKind.TANHSHRINK: OpRecord(
            name="tanhshrink_backward",
            source="unary_elementwise/tanhshrink_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 5.0, "f64": 5.0},
            contraction=False,
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
            "x": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "dx": (
                desc.shape,
                "the shape of the descriptor",
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
        dx: Any,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = UnaryBackwardArgs(
            dy=dy,
            x=x,
            dx=dx,
        )
        self.run(stream, workspace, args)


@dataclass(frozen=True, kw_only=True)
class UnaryPredicateDescriptor(Descriptor):
    """The problem of a UnaryPredicatePlan: whether something is true of x, element by element.

    Attributes:
        kind: which op.
        shape: extents of both tensors.
        element: dtype of x.
    """

    kind: UnaryPredicateKind | str
    shape: tuple[int, ...]
    element: ElementKind | str

    RULES: ClassVar = {
        "kind": UnaryPredicateKind,
        "shape": "shape",
        "element": "element",
    }
    DEFAULTS: ClassVar = {}


@dataclass(frozen=True, kw_only=True)
class UnaryPredicateArgs:
    """The tensors of a UnaryPredicatePlan.

    Attributes:
        x: input; of shape shape.
        y: result, a byte an element, 1 or 0; may be exactly x where that has bytes too; of dtype bool,
            shape shape.
    """

    x: Any
    y: Any


class UnaryPredicatePlan(Plan):
    """whether something is true of x, element by element.

    ISNAN (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether x is NaN
        y = isnan(x)

    ISINF (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether x is an infinity
        y = isinf(x)

    ISFINITE (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether x is neither infinite nor NaN
        y = isfinite(x)

    ISPOSINF (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether x is inf
        y = isinf(x) and x > 0

    ISNEGINF (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether x is -inf
        y = isinf(x) and x < 0

    SIGNBIT (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether the sign bit of x is set, also of
        -0 and NaN
        y = signbit(x)

    LOGICAL_NOT (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): whether x is 0
        y = x == 0

    `select` checks a UnaryPredicateDescriptor and compiles or loads its kernels.
    `run` takes UnaryPredicateArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "UnaryElementwise"
    DESCRIPTOR = UnaryPredicateDescriptor
    ARGS = UnaryPredicateArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("x", "in"),
        TensorRule("y", "out", element="bool"),
    )
    OPS: ClassVar = {
        UnaryPredicateKind.ISNAN: OpRecord(
            name="isnan",
            source="unary_elementwise/isnan.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryPredicateKind.ISINF: OpRecord(
            name="isinf",
            source="unary_elementwise/isinf.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryPredicateKind.ISFINITE: OpRecord(
            name="isfinite",
            source="unary_elementwise/isfinite.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryPredicateKind.ISPOSINF: OpRecord(
            name="isposinf",
            source="unary_elementwise/isposinf.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryPredicateKind.ISNEGINF: OpRecord(
            name="isneginf",
            source="unary_elementwise/isneginf.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryPredicateKind.SIGNBIT: OpRecord(
            name="signbit",
            source="unary_elementwise/signbit.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
        UnaryPredicateKind.LOGICAL_NOT: OpRecord(
            name="logical_not",
            source="unary_elementwise/logical_not.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.0, "bf16": 0.0, "f32": 0.0, "f64": 0.0},
            contraction=False,
            packs=2,
            half_packs=2,
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "x": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "y": (
                desc.shape,
                "the shape of the descriptor",
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
        args = UnaryPredicateArgs(
            x=x,
            y=y,
        )
        self.run(stream, workspace, args)


@dataclass(frozen=True, kw_only=True)
class CastDescriptor(Descriptor):
    """The problem of a CastPlan: y = x in another dtype, element by element.

    Attributes:
        kind: which op (CAST unless given).
        shape: extents of both tensors.
        element: dtype of x.
        target: dtype of y.
    """

    kind: UnaryKind | str = UnaryKind.CAST
    shape: tuple[int, ...]
    element: ElementKind | str
    target: ElementKind | str

    RULES: ClassVar = {
        "kind": UnaryKind,
        "shape": "shape",
        "element": "element",
        "target": "target",
    }
    DEFAULTS: ClassVar = {}


@dataclass(frozen=True, kw_only=True)
class CastArgs:
    """The tensors of a CastPlan.

    Attributes:
        x: input; of shape shape.
        y: result; may be exactly x where the elements of both have one size; of dtype target, shape
            shape.
    """

    x: Any
    y: Any


class CastPlan(Plan):
    """y = x in another dtype, element by element.

    CAST (f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool): x in another dtype; floats are rounded to
        even, integers of floats saturate and are 0 for NaN, a bool is whether x is not 0
        y = x

    `select` checks a CastDescriptor and compiles or loads its kernels.
    `run` takes CastArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "UnaryElementwise"
    DESCRIPTOR = CastDescriptor
    ARGS = CastArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("x", "in"),
        TensorRule("y", "out", element="target"),
    )
    OPS: ClassVar = {
        UnaryKind.CAST: OpRecord(
            name="cast",
            source="unary_elementwise/cast.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 0.5, "bf16": 0.5, "f32": 0.5, "f64": 0.5},
            contraction=False,
            target="target",
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "x": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "y": (
                desc.shape,
                "the shape of the descriptor",
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
        args = CastArgs(
            x=x,
            y=y,
        )
        self.run(stream, workspace, args)


@dataclass(frozen=True, kw_only=True)
class UnaryParamDescriptor(Descriptor):
    """The problem of a UnaryParamPlan: y = f(x), element by element, with scalar parameters.

    Attributes:
        kind: which op.
        shape: extents of every tensor.
        element: dtype of every tensor.
        param: the op's first parameter; None: its usual value.
        param2: the op's second parameter, if it has one.
        param3: the op's third parameter, if it has one.
    """

    kind: UnaryKind | str
    shape: tuple[int, ...]
    element: ElementKind | str
    param: float | None = None
    param2: float | None = None
    param3: float | None = None

    RULES: ClassVar = {
        "kind": UnaryKind,
        "shape": "shape",
        "element": "element",
        "param": "f64",
        "param2": "f64",
        "param3": "f64",
    }
    DEFAULTS: ClassVar = {}
    NUMBERS: ClassVar = {
        "elu": {"param": 1.0},
        "leaky_relu": {"param": 0.01},
        "hardtanh": {"param": -1.0, "param2": 1.0},
        "clamp": {"param": -math.inf, "param2": math.inf},
        "hardshrink": {"param": 0.5},
        "softshrink": {"param": 0.5},
        "threshold": {"param": 0.0, "param2": 0.0},
        "squareplus": {"param": 4.0},
        "celu": {"param": 1.0},
        "softplus": {"param": 1.0, "param2": 20.0},
        "logit": {"param": -1.0},
        "powi": {"param": 2.0},
        "nan_to_num": {"param": 0.0, "param2": math.inf, "param3": -math.inf},
    }


@dataclass(frozen=True, kw_only=True)
class UnaryParamBackwardDescriptor(UnaryParamDescriptor):
    """The problem of a UnaryParamBackwardPlan: the fields of the forward's descriptor."""


@dataclass(frozen=True, kw_only=True)
class UnaryParamArgs:
    """The tensors of a UnaryParamPlan.

    Attributes:
        x: input; of shape shape.
        y: result; may be exactly x; of shape shape.
    """

    x: Any
    y: Any


@dataclass(frozen=True, kw_only=True)
class UnaryParamBackwardArgs:
    """The tensors of a UnaryParamBackwardPlan.

    Attributes:
        dy: gradient of y; of shape shape.
        x: the forward's input; of shape shape.
        dx: gradient of x; may be exactly dy or x; of shape shape.
    """

    dy: Any
    x: Any
    dx: Any


def _elu_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of elu, folded in double precision."""
    alpha = desc.param
    return (alpha,)


def _elu_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of elu_backward, folded in double precision."""
    alpha = desc.param
    return (alpha,)


def _leaky_relu_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of leaky_relu, folded in double precision."""
    slope = desc.param
    return (slope,)


def _leaky_relu_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of leaky_relu_backward, folded in double precision."""
    slope = desc.param
    return (slope,)


def _hardtanh_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of hardtanh, folded in double precision."""
    low = desc.param
    high = desc.param2
    return (low, high)


def _hardtanh_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of hardtanh_backward, folded in double precision."""
    low = desc.param
    high = desc.param2
    return (low, high)


def _clamp_scalar_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of clamp_scalar, folded in double precision."""
    low = desc.param
    high = desc.param2
    return (low, high)


def _clamp_scalar_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of clamp_scalar_backward, folded in double precision."""
    low = desc.param
    high = desc.param2
    return (low, high)


def _hardshrink_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of hardshrink, folded in double precision."""
    lambd = desc.param
    return (lambd,)


def _hardshrink_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of hardshrink_backward, folded in double precision."""
    lambd = desc.param
    return (lambd,)


def _softshrink_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of softshrink, folded in double precision."""
    lambd = desc.param
    return (lambd,)


def _softshrink_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of softshrink_backward, folded in double precision."""
    lambd = desc.param
    return (lambd,)


def _threshold_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of threshold, folded in double precision."""
    bound = desc.param
    instead = desc.param2
    return (instead, bound)


def _threshold_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of threshold_backward, folded in double precision."""
    bound = desc.param
    return (bound,)


def _squareplus_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of squareplus, folded in double precision."""
    b = desc.param
    places = 0 if b == 0 else math.floor(math.log2(b) / 2)
    below = math.pow(2, places)
    scale = math.pow(2, -24 - places)
    return (below, scale, b * scale * scale, b / below / 2 * scale, 0.5 / scale, b == 0)


def _squareplus_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of squareplus_backward, folded in double precision."""
    b = desc.param
    places = 0 if b == 0 else math.floor(math.log2(b) / 2)
    below = math.pow(2, places)
    scale = math.pow(2, -24 - places)
    return (scale, b * scale * scale, b * scale * scale / 2, below * scale, b / below / below / 4, b > 0)


def _celu_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of celu, folded in double precision."""
    alpha = desc.param
    lift = 2**60 if alpha < 1e-30 else 2**-60 if alpha > 1e30 else 1
    lifted = alpha * lift
    each = 1 / lifted
    return (lift, lifted, each, alpha)


def _celu_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of celu_backward, folded in double precision."""
    alpha = desc.param
    lift = 2**60 if alpha < 1e-30 else 2**-60 if alpha > 1e30 else 1
    lifted = alpha * lift
    each = 1 / lifted
    return (lift, lifted, each)


def _softplus_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of softplus, folded in double precision."""
    beta = desc.param
    bound = desc.param2
    lift = (2**110 if abs(bound) < 1e-290 else 2**48) if abs(bound) < 1e-30 and beta < 1e23 else 1
    factor = 1 if bound == 0 else beta * lift
    rate = beta * 1.4426950408889634
    down = 1 if beta <= 1 else 2**-60
    rest = 2**-60 / down / beta
    return (factor, -min(bound, 2000) * lift, 2000 / beta, rate, beta, down, rest, 1 / beta)


def _softplus_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of softplus_backward, folded in double precision."""
    beta = desc.param
    bound = desc.param2
    lift = (2**110 if abs(bound) < 1e-290 else 2**48) if abs(bound) < 1e-30 and beta < 1e23 else 1
    factor = 1 if bound == 0 else beta * lift
    return (factor, -min(bound, 2000) * lift, beta)


def _logit_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of logit, folded in double precision."""
    eps = desc.param
    low = eps if eps >= 0 else -math.inf
    return (low, eps)


def _logit_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of logit_backward, folded in double precision."""
    eps = desc.param
    return (max(eps, 0), 0 if eps >= 0 else math.nan)


def _powi_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of powi, folded in double precision."""
    n = desc.param
    return (n, n == 2)


def _powi_backward_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of powi_backward, folded in double precision."""
    n = desc.param
    return (n - 1, n, n == 0, n == 2)


def _nan_to_num_scalars(desc: Any) -> tuple[float | bool | int, ...]:
    """Scalars of nan_to_num, folded in double precision."""
    for_nan = desc.param
    for_inf = desc.param2
    for_minus_inf = desc.param3
    return (for_inf, for_minus_inf, for_nan, for_inf == math.inf, for_minus_inf == -math.inf)


class UnaryParamPlan(Plan):
    """y = f(x), element by element, with scalar parameters.

    ELU (f16, bf16, f32, f64): x, below 0 alpha times exp(x) - 1
        alpha = param (1 unless given)
        y = x if x > 0 else element_expm1(x) * alpha

    LEAKY_RELU (f16, bf16, f32, f64): x, below 0 times a slope
        slope = param (0.01 unless given)
        y = x if x > 0 else x * slope

    HARDTANH (f16, bf16, f32, f64, i8, i16, i32, i64): x between low and high, with gradient 0 at both
        low = param (-1 unless given)
        high = param2 (1 unless given)
        y = clamp(x, low, high)

    CLAMP (f16, bf16, f32, f64, i8, i16, i32, i64, u8): x between low and high, with gradient 1 at both
        low = param (-inf unless given)
        high = param2 (inf unless given)
        y = clamp(x, low, high)

    HARDSHRINK (f16, bf16, f32, f64): x, and 0 up to lambd on both sides
        lambd = param (0.5 unless given)
        y = 0 if abs(x) <= lambd else x

    SOFTSHRINK (f16, bf16, f32, f64): x, nearer to 0 by lambd, and 0 up to there
        lambd = param (0.5 unless given)
        y = 0 if abs(x) <= lambd else x - lambd if x > 0 else x + lambd

    THRESHOLD (f16, bf16, f32, f64, i8, i16, i32, i64, u8): x where it is above a threshold, else a value
        bound = param (0 unless given)
        instead = param2 (0 unless given)
        y = instead if x <= bound else x

    SQUAREPLUS (f16, bf16, f32, f64): half of x + sqrt(x * x + b), a smooth relu; Barron 2021
        b = param (4 unless given)
        places = 0 if b == 0 else floor(log2(b) / 2)
        below = 2 ** places
        scale = 2 ** (-24 - places)
        z = abs(x) * scale
        far = not is_half and z > 2.5e-10 / smallest_subnormal
        square = fma(z, z, b * scale * scale)
        root = element_root(square) if isfinite(square) else z
        q = 0 if far else element_quotient(b / below / 2 * scale, root + z)
        size = fma(root, 0.5 / scale, abs(x) / 2) if isfinite(square) else abs(x)
        wide = size if x >= 0 else q * below
        y = max(x, 0) if b == 0 else wide

    CELU (f16, bf16, f32, f64): x, below 0 alpha times exp(x / alpha) - 1; Barron 2017
        alpha = param (1 unless given)
        lift = 2 ** 60 if alpha < 1.0e-30 else 2 ** -60 if alpha > 1.0e+30 else 1
        lifted = alpha * lift
        each = 1 / lifted
        q = x * each * lift
        rest = 0 if is_half or abs(q) > 2000 else fma(-q, lifted, x * lift) * each
        e = element_expm1(q)
        y = x if q > -1.0e-20 else alpha * (e + (e + 1) * rest)

    SOFTPLUS (f16, bf16, f32, f64): log(1 + exp(beta * x)) / beta, and x where beta * x is above a
        threshold; inf for none
        beta = param (1 unless given)
        bound = param2 (20 unless given)
        lift = (2 ** 110 if abs(bound) < 1.0e-290 else 2 ** 48) if abs(bound) < 1.0e-30 and beta < 1.0e+23
            else 1
        factor = 1 if bound == 0 else beta * lift
        above = fma(x, factor, -min(bound, 2000) * lift) > 0
        size = abs(x) if is_half else min(abs(x), 2000 / beta)
        rate = beta * 1.4426950408889634
        z = element_decay(size, beta, rate)
        tail = element_lifted_decay(element_log1p_ratio(z), size, beta, rate)
        down = 1 if beta <= 1 else 2 ** -60
        rest = 2 ** -60 / down / beta
        more = 1 / beta if is_half else rest
        y = x if above else fma(tail if is_half else tail * down, more, max(x, 0))

    LOGIT (f16, bf16, f32, f64): log(x / (1 - x)), the inverse of sigmoid, of x between eps and 1 - eps
        where eps is not negative
        eps = param (-1 unless given)
        low = eps if eps >= 0 else -inf
        below = x < low
        above = 1 - x < low and not below
        z = eps if below or above else x
        v = element_log_odds(z)
        y = -v if above else v

    POWI (f16, bf16, f32, f64, i8, i16, i32, i64, u8): x to the power of a whole number
        n = param (2 unless given)
        y = x * x if n == 2 else pow(x, n)

    NAN_TO_NUM (f16, bf16, f32, f64): x with numbers for NaN and the infinities; inf for these stands for
        the largest number of the dtype
        for_nan = param (0 unless given)
        for_inf = param2 (inf unless given)
        for_minus_inf = param3 (-inf unless given)
        top = max_value if for_inf == inf else for_inf
        bottom = min_value if for_minus_inf == -inf else for_minus_inf
        y = for_nan if isnan(x) else top if x == inf else bottom if x == -inf else x

    `select` checks a UnaryParamDescriptor and compiles or loads its kernels.
    `run` takes UnaryParamArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "UnaryElementwise"
    DESCRIPTOR = UnaryParamDescriptor
    ARGS = UnaryParamArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("x", "in"),
        TensorRule("y", "out"),
    )
    OPS: ClassVar = {
        UnaryKind.ELU: OpRecord(
            name="elu",
            source="unary_elementwise/elu.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="a",
            fold=_elu_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
            packs=2,
            half_packs=2,
        ),
        UnaryKind.LEAKY_RELU: OpRecord(
            name="leaky_relu",
            source="unary_elementwise/leaky_relu.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="a",
            fold=_leaky_relu_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.HARDTANH: OpRecord(
            name="hardtanh",
            source="unary_elementwise/hardtanh.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="aa",
            fold=_hardtanh_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param", "param2"),
        ),
        UnaryKind.CLAMP: OpRecord(
            name="clamp_scalar",
            source="unary_elementwise/clamp_scalar.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="aa",
            fold=_clamp_scalar_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param", "param2"),
        ),
        UnaryKind.HARDSHRINK: OpRecord(
            name="hardshrink",
            source="unary_elementwise/hardshrink.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="a",
            fold=_hardshrink_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.SOFTSHRINK: OpRecord(
            name="softshrink",
            source="unary_elementwise/softshrink.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="a",
            fold=_softshrink_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.THRESHOLD: OpRecord(
            name="threshold",
            source="unary_elementwise/threshold.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="aa",
            fold=_threshold_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param", "param2"),
        ),
        UnaryKind.SQUAREPLUS: OpRecord(
            name="squareplus",
            source="unary_elementwise/squareplus.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="aaaaab",
            fold=_squareplus_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.CELU: OpRecord(
            name="celu",
            source="unary_elementwise/celu.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="aaaa",
            fold=_celu_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
            packs=2,
        ),
        UnaryKind.SOFTPLUS: OpRecord(
            name="softplus",
            source="unary_elementwise/softplus.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="aaaaaaaa",
            fold=_softplus_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            holds={
                "y": "x * beta > -80 or beta >= (7.62939453125e-06 if is_half else 1.4551915228366852e-11)",
            },
            narrowed=("param", "param2"),
            packs=4,
        ),
        UnaryKind.LOGIT: OpRecord(
            name="logit",
            source="unary_elementwise/logit.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="aa",
            fold=_logit_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            holds={"y": "not is_half or abs(eps - 0.5) > 0.001"},
            narrowed=("param",),
            packs=4,
            half_packs=4,
        ),
        UnaryKind.POWI: OpRecord(
            name="powi",
            source="unary_elementwise/powi.cu",
            dtypes=("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="ab",
            fold=_powi_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.NAN_TO_NUM: OpRecord(
            name="nan_to_num",
            source="unary_elementwise/nan_to_num.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="aaabb",
            fold=_nan_to_num_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param", "param2", "param3"),
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "x": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "y": (
                desc.shape,
                "the shape of the descriptor",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if desc.kind.value == "elu" and not math.isfinite(desc.param):
            yield f"param is {desc.param}, want isfinite(param)"
        if desc.kind.value == "softshrink" and not (desc.param >= 0):
            yield f"param is {desc.param}, want param >= 0"
        if desc.kind.value == "squareplus" and not (math.isfinite(desc.param) and desc.param >= 0):
            yield f"param is {desc.param}, want isfinite(param) and param >= 0"
        if desc.kind.value == "celu" and not (math.isfinite(desc.param) and desc.param > 0):
            yield f"param is {desc.param}, want isfinite(param) and param > 0"
        if desc.kind.value == "softplus" and not (math.isfinite(desc.param) and desc.param >= 1e-300):
            yield f"param is {desc.param}, want isfinite(param) and param >= 1e-300"
        if desc.kind.value == "logit" and math.isnan(desc.param):
            yield f"param is {desc.param}, want not isnan(param)"
        if desc.kind.value == "powi" and not (
            abs(desc.param) <= 1000 and math.trunc(desc.param) == desc.param
        ):
            yield f"param is {desc.param}, want abs(param) <= 1000 and trunc(param) == param"
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
        args = UnaryParamArgs(
            x=x,
            y=y,
        )
        self.run(stream, workspace, args)


class UnaryParamBackwardPlan(Plan):
    """Gradients of UnaryParamPlan.

    ELU (f16, bf16, f32, f64): x, below 0 alpha times exp(x) - 1
        alpha = param (1 unless given)
        p = scaled_exp(dy, x)
        dx = dy if x > 0 else p * alpha if abs(p) >= smallest_normal else scaled_exp_product(dy, alpha, x)

    LEAKY_RELU (f16, bf16, f32, f64): x, below 0 times a slope
        slope = param (0.01 unless given)
        dx = dy if x > 0 else dy * slope

    HARDTANH (f16, bf16, f32, f64): x between low and high, with gradient 0 at both
        low = param (-1 unless given)
        high = param2 (1 unless given)
        dx = 0 if x <= low or x >= high else dy

    CLAMP (f16, bf16, f32, f64): x between low and high, with gradient 1 at both
        low = param (-inf unless given)
        high = param2 (inf unless given)
        dx = dy if x >= low and x <= high else 0

    HARDSHRINK (f16, bf16, f32, f64): x, and 0 up to lambd on both sides
        lambd = param (0.5 unless given)
        dx = 0 if abs(x) <= lambd else dy

    SOFTSHRINK (f16, bf16, f32, f64): x, nearer to 0 by lambd, and 0 up to there
        lambd = param (0.5 unless given)
        dx = 0 if abs(x) <= lambd else dy

    THRESHOLD (f16, bf16, f32, f64): x where it is above a threshold, else a value
        bound = param (0 unless given)
        dx = 0 if x <= bound else dy

    SQUAREPLUS (f16, bf16, f32, f64): half of x + sqrt(x * x + b), a smooth relu; Barron 2021
        b = param (4 unless given)
        places = 0 if b == 0 else floor(log2(b) / 2)
        below = 2 ** places
        scale = 2 ** (-24 - places)
        z = min(abs(x) * scale, 1.0e+36 if epsilon > 1.0e-10 else 1.7e+308)
        square = fma(z, z, b * scale * scale)
        near = z < 1.0e+10
        over = b * scale * scale / 2 if near else below * scale
        p = element_quotient(over, fma(z, element_root(square), square) if near else z)
        again = b / below / below / 4 * p if abs(x) < inf else 0
        slope = p if x < 0 else 1 - p
        rest = 1 if near or x >= 0 else again
        bent = dy if x > 0 else 0 * dy if x < 0 else dy / 2 + x
        dx = dy * slope * rest if b > 0 else bent

    CELU (f16, bf16, f32, f64): x, below 0 alpha times exp(x / alpha) - 1; Barron 2017
        alpha = param (1 unless given)
        lift = 2 ** 60 if alpha < 1.0e-30 else 2 ** -60 if alpha > 1.0e+30 else 1
        lifted = alpha * lift
        each = 1 / lifted
        q = x * each * lift
        rest = 0 if is_half or abs(q) > 2000 else fma(-q, lifted, x * lift) * each
        dx = dy if x > 0 else element_exp_product(dy, 1, q, rest)

    SOFTPLUS (f16, bf16, f32, f64): log(1 + exp(beta * x)) / beta, and x where beta * x is above a
        threshold; inf for none
        beta = param (1 unless given)
        bound = param2 (20 unless given)
        lift = (2 ** 110 if abs(bound) < 1.0e-290 else 2 ** 48) if abs(bound) < 1.0e-30 and beta < 1.0e+23
            else 1
        factor = 1 if bound == 0 else beta * lift
        above = fma(x, factor, -min(bound, 2000) * lift) > 0
        v = x * beta
        low = 0 if is_half or abs(v) > 2000 else fma(-abs(x), beta, abs(v))
        r = element_inverse(1 + element_exp_product(1, 1, -abs(v), low))
        dx = dy if above else dy * r if x >= 0 else element_exp_product(dy, r, -abs(v), low)

    LOGIT (f16, bf16, f32, f64): log(x / (1 - x)), the inverse of sigmoid, of x between eps and 1 - eps
        where eps is not negative
        eps = param (-1 unless given)
        beyond = x < max(eps, 0) or 1 - x < max(eps, 0)
        dx = dy / ((1 - x) * x) if not beyond else 0 if eps >= 0 else nan

    POWI (f16, bf16, f32, f64): x to the power of a whole number
        n = param (2 unless given)
        dx = 0 if n == 0 else dy * x * 2 if n == 2 else scaled_product(dy, pow(x, n - 1), n)

    NAN_TO_NUM (f16, bf16, f32, f64): x with numbers for NaN and the infinities; inf for these stands for
        the largest number of the dtype
        dx = dy if isfinite(x) else 0

    `select` checks a UnaryParamBackwardDescriptor and compiles or loads its kernels.
    `run` takes UnaryParamBackwardArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "UnaryElementwise"
    DESCRIPTOR = UnaryParamBackwardDescriptor
    ARGS = UnaryParamBackwardArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("dy", "in"),
        TensorRule("x", "in"),
        TensorRule("dx", "out"),
    )
    OPS: ClassVar = {
        UnaryKind.ELU: OpRecord(
            name="elu_backward",
            source="unary_elementwise/elu_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="a",
            fold=_elu_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.LEAKY_RELU: OpRecord(
            name="leaky_relu_backward",
            source="unary_elementwise/leaky_relu_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="a",
            fold=_leaky_relu_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.HARDTANH: OpRecord(
            name="hardtanh_backward",
            source="unary_elementwise/hardtanh_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="aa",
            fold=_hardtanh_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param", "param2"),
        ),
        UnaryKind.CLAMP: OpRecord(
            name="clamp_scalar_backward",
            source="unary_elementwise/clamp_scalar_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="aa",
            fold=_clamp_scalar_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param", "param2"),
        ),
        UnaryKind.HARDSHRINK: OpRecord(
            name="hardshrink_backward",
            source="unary_elementwise/hardshrink_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="a",
            fold=_hardshrink_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.SOFTSHRINK: OpRecord(
            name="softshrink_backward",
            source="unary_elementwise/softshrink_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="a",
            fold=_softshrink_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.THRESHOLD: OpRecord(
            name="threshold_backward",
            source="unary_elementwise/threshold_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="a",
            fold=_threshold_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.SQUAREPLUS: OpRecord(
            name="squareplus_backward",
            source="unary_elementwise/squareplus_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="aaaaab",
            fold=_squareplus_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 5.0, "f64": 5.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.CELU: OpRecord(
            name="celu_backward",
            source="unary_elementwise/celu_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="aaa",
            fold=_celu_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 5.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.SOFTPLUS: OpRecord(
            name="softplus_backward",
            source="unary_elementwise/softplus_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="aaa",
            fold=_softplus_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param", "param2"),
        ),
        UnaryKind.LOGIT: OpRecord(
            name="logit_backward",
            source="unary_elementwise/logit_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="aa",
            fold=_logit_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            narrowed=("param",),
        ),
        UnaryKind.POWI: OpRecord(
            name="powi_backward",
            source="unary_elementwise/powi_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x"),
            row_inputs=(),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "dx"}),
            batch_invariant=("dx",),
            attributes="aabb",
            fold=_powi_backward_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            holds={
                "dx": (
                    "x == 0 or isinf(x) or pow(abs(x), n - 1) < max_value and pow(abs(x), n - 1) >= "
                    "smallest_normal"
                ),
            },
            narrowed=("param",),
        ),
        UnaryKind.NAN_TO_NUM: OpRecord(
            name="nan_to_num_backward",
            source="unary_elementwise/nan_to_num_backward.cu",
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
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
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
            "x": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "dx": (
                desc.shape,
                "the shape of the descriptor",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if desc.kind.value == "elu" and not math.isfinite(desc.param):
            yield f"param is {desc.param}, want isfinite(param)"
        if desc.kind.value == "softshrink" and not (desc.param >= 0):
            yield f"param is {desc.param}, want param >= 0"
        if desc.kind.value == "squareplus" and not (math.isfinite(desc.param) and desc.param >= 0):
            yield f"param is {desc.param}, want isfinite(param) and param >= 0"
        if desc.kind.value == "celu" and not (math.isfinite(desc.param) and desc.param > 0):
            yield f"param is {desc.param}, want isfinite(param) and param > 0"
        if desc.kind.value == "softplus" and not (math.isfinite(desc.param) and desc.param >= 1e-300):
            yield f"param is {desc.param}, want isfinite(param) and param >= 1e-300"
        if desc.kind.value == "logit" and math.isnan(desc.param):
            yield f"param is {desc.param}, want not isnan(param)"
        if desc.kind.value == "powi" and not (
            abs(desc.param) <= 1000 and math.trunc(desc.param) == desc.param
        ):
            yield f"param is {desc.param}, want abs(param) <= 1000 and trunc(param) == param"
        yield from ()

    def __call__(
        self,
        *,
        dy: Any,
        x: Any,
        dx: Any,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = UnaryParamBackwardArgs(
            dy=dy,
            x=x,
            dx=dx,
        )
        self.run(stream, workspace, args)


@dataclass(frozen=True, kw_only=True)
class AffineDescriptor(Descriptor):
    """The problem of an AffinePlan: y = scale * x + shift, element by element.

    Attributes:
        kind: which op (AFFINE unless given).
        shape: extents of both tensors.
        element: dtype of both tensors.
        scale: the factor of every element, a double whatever the dtype.
        shift: what is added to every product, a double whatever the dtype.
    """

    kind: UnaryKind | str = UnaryKind.AFFINE
    shape: tuple[int, ...]
    element: ElementKind | str
    scale: float = 1
    shift: float = 0

    RULES: ClassVar = {
        "kind": UnaryKind,
        "shape": "shape",
        "element": "element",
        "scale": "f64",
        "shift": "f64",
    }
    DEFAULTS: ClassVar = {}


@dataclass(frozen=True, kw_only=True)
class AffineArgs:
    """The tensors of an AffinePlan.

    Attributes:
        x: input; of shape shape.
        y: result; may be exactly x; of shape shape.
    """

    x: Any
    y: Any


def _affine_scalars(desc: AffineDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of affine, folded in double precision."""
    scale = desc.scale
    shift = desc.shift
    return (scale, shift)


class AffinePlan(Plan):
    """y = scale * x + shift, element by element.

    AFFINE (f16, bf16, f32, f64): scale * x + shift
        y = fma(scale, x, shift)

    `select` checks an AffineDescriptor and compiles or loads its kernels.
    `run` takes AffineArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "UnaryElementwise"
    DESCRIPTOR = AffineDescriptor
    ARGS = AffineArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("x", "in"),
        TensorRule("y", "out"),
    )
    OPS: ClassVar = {
        UnaryKind.AFFINE: OpRecord(
            name="affine",
            source="unary_elementwise/affine.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="dd",
            fold=_affine_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
            scale={"y": "(abs(scale * x) + abs(shift)) / 1024"},
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "x": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "y": (
                desc.shape,
                "the shape of the descriptor",
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
        args = AffineArgs(
            x=x,
            y=y,
        )
        self.run(stream, workspace, args)


@dataclass(frozen=True, kw_only=True)
class PReluDescriptor(Descriptor):
    """The problem of a PReluPlan: y = x where it is positive, else x times a slope, which is a tensor.

    Attributes:
        kind: which op (PRELU unless given).
        shape: extents of x.
        element: dtype of every tensor.
        slope_shape: extents of slope, which is broadcast to shape by NumPy's rules: (C, 1, 1) is a slope
            a channel of [N, C, H, W], () is one for all.
    """

    kind: UnaryKind | str = UnaryKind.PRELU
    shape: tuple[int, ...]
    element: ElementKind | str
    slope_shape: tuple[int, ...] | None = None

    RULES: ClassVar = {
        "kind": UnaryKind,
        "shape": "shape",
        "element": "element",
        "slope_shape": "shape",
    }
    DEFAULTS: ClassVar = {"slope_shape": "shape"}


@dataclass(frozen=True, kw_only=True)
class PReluBackwardDescriptor(PReluDescriptor):
    """The problem of a PReluBackwardPlan: the fields of the forward's descriptor."""


@dataclass(frozen=True, kw_only=True)
class PReluArgs:
    """The tensors of a PReluPlan.

    Attributes:
        x: input; of shape shape.
        slope: factors of what is not positive; PyTorch's weight as weight.view(slope_shape); of shape
            slope_shape.
        y: result; may be exactly x; of shape shape.
    """

    x: Any
    slope: Any
    y: Any


@dataclass(frozen=True, kw_only=True)
class PReluBackwardArgs:
    """The tensors of a PReluBackwardPlan.

    Attributes:
        dy: gradient of y; of shape shape.
        x: the forward's input; of shape shape.
        slope: the forward's slope; of shape slope_shape.
        dx: gradient of x; may be exactly dy or x where slope is not broadcast; None: not wanted; of shape
            shape.
        dslope: gradient of slope, summed over its broadcast axes; may be exactly an input where slope is
            not broadcast; None: not wanted; of shape slope_shape.
    """

    dy: Any
    x: Any
    slope: Any
    dx: Any = None
    dslope: Any = None


class PReluPlan(Plan):
    """y = x where it is positive, else x times a slope, which is a tensor.

    PRELU (f16, bf16, f32, f64): x where it is positive, else x times a slope, which is a tensor
        y = x if x > 0 else x * slope

    `select` checks a PReluDescriptor and compiles or loads its kernels.
    `run` takes PReluArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "UnaryElementwise"
    DESCRIPTOR = PReluDescriptor
    ARGS = PReluArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("x", "in"),
        TensorRule("slope", "in"),
        TensorRule("y", "out"),
    )
    OPS: ClassVar = {
        UnaryKind.PRELU: OpRecord(
            name="prelu",
            source="unary_elementwise/prelu.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x", "slope"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "slope", "y"}),
            accepted=frozenset({"x", "slope", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "x": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "slope": (
                desc.slope_shape,
                "the slope_shape of the descriptor",
            ),
            "y": (
                desc.shape,
                "the shape of the descriptor",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not broadcasts(desc.slope_shape, desc.shape):
            yield (
                f"slope_shape is {desc.slope_shape}, shape is {desc.shape}, "
                "want slope_shape that broadcasts to shape"
            )
        yield from ()

    def __call__(
        self,
        *,
        x: Any,
        slope: Any,
        y: Any,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = PReluArgs(
            x=x,
            slope=slope,
            y=y,
        )
        self.run(stream, workspace, args)


class PReluBackwardPlan(Plan):
    """Gradients of PReluPlan.

    PRELU (f16, bf16, f32, f64): x where it is positive, else x times a slope, which is a tensor
        dx = dy if x > 0 else dy * slope
        dslope = 0 if x > 0 else dy * x

    `select` checks a PReluBackwardDescriptor and compiles or loads its kernels.
    `run` takes PReluBackwardArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "map"
    CATEGORY = "UnaryElementwise"
    DESCRIPTOR = PReluBackwardDescriptor
    ARGS = PReluBackwardArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("dy", "in"),
        TensorRule("x", "in"),
        TensorRule("slope", "in"),
        TensorRule("dx", "out", optional=True),
        TensorRule("dslope", "out", optional=True),
    )
    OPS: ClassVar = {
        UnaryKind.PRELU: OpRecord(
            name="prelu_backward",
            source="unary_elementwise/prelu_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x", "slope"),
            row_inputs=(),
            outputs=("dx", "dslope"),
            row_outputs=(),
            required=frozenset({"dy", "x", "slope"}),
            accepted=frozenset({"dy", "x", "slope", "dx", "dslope"}),
            batch_invariant=("dx", "dslope"),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
            sum_ulp={"f16": 0.0, "bf16": 0.0, "f32": 32.0, "f64": 32.0},
            sum_inputs={
                "dslope": ("dy", "x"),
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
                desc.shape,
                "the shape of the descriptor",
            ),
            "slope": (
                desc.slope_shape,
                "the slope_shape of the descriptor",
            ),
            "dx": (
                desc.shape,
                "the shape of the descriptor",
            ),
            "dslope": (
                desc.slope_shape,
                "the slope_shape of the descriptor",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not broadcasts(desc.slope_shape, desc.shape):
            yield (
                f"slope_shape is {desc.slope_shape}, shape is {desc.shape}, "
                "want slope_shape that broadcasts to shape"
            )
        yield from ()

    def __call__(
        self,
        *,
        dy: Any,
        x: Any,
        slope: Any,
        dx: Any = None,
        dslope: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = PReluBackwardArgs(
            dy=dy,
            x=x,
            slope=slope,
            dx=dx,
            dslope=dslope,
        )
        self.run(stream, workspace, args)
