"""The enums that tell the ops of a plan class apart. A descriptor takes a member or its name as a string.

Generated from ops.yaml by templates/kinds.py.j2. Do not edit: run `baracuda-gen generate`.
"""

from __future__ import annotations

import enum

__all__ = [
    "AttentionKind",
    "BinaryCmpKind",
    "BinaryKind",
    "GatedActivationKind",
    "NormalizationKind",
    "ReduceKind",
    "SoftmaxKind",
    "TernaryKind",
    "UnaryKind",
    "UnaryPredicateKind",
]


class AttentionKind(str, enum.Enum):
    """Ops of one kind of plan.

    Plans: RopeBackwardPlan, RopePlan, SdpaBackwardPlan and SdpaPlan.

    Attributes:
        ROPE: rotary position embedding of queries or keys; transformers' apply_rotary_pos_emb.
        SDPA: scaled dot-product attention; torch.nn.functional.scaled_dot_product_attention,
            jax.nn.dot_product_attention.
    """

    ROPE = "rope"
    SDPA = "sdpa"


class BinaryCmpKind(str, enum.Enum):
    """Ops of one kind of plan.

    Plans: BinaryCmpPlan.

    Attributes:
        EQ: whether a is equal to b.
        NE: whether a is not equal to b, true of NaN.
        GT: whether a is greater than b.
        GE: whether a is greater than b or equal to it.
        LT: whether a is less than b.
        LE: whether a is less than b or equal to it.
        ISCLOSE: whether a and b are equal, or finite with a difference of at most atol + rtol * abs(b),
            in double.
        LOGICAL_AND: whether neither a nor b is 0.
        LOGICAL_OR: whether a or b is not 0.
        LOGICAL_XOR: whether one of a and b is 0 and the other is not.
    """

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GE = "ge"
    LT = "lt"
    LE = "le"
    ISCLOSE = "isclose"
    LOGICAL_AND = "logical_and"
    LOGICAL_OR = "logical_or"
    LOGICAL_XOR = "logical_xor"


class BinaryKind(str, enum.Enum):
    """Ops of one kind of plan.

    Plans: BinaryBackwardPlan, BinaryParamBackwardPlan, BinaryParamPlan and BinaryPlan.

    Attributes:
        LERP: linear interpolation from a (weight 0) to b (weight 1); torch.lerp with a scalar weight.
        ADD: a + b.
        SUB: a - b.
        MUL: a * b.
        DIV: a / b.
        FLOOR_DIVIDE: largest integer not above a / b; where b is 0 it is a / b, of integers 0.
        FMOD: remainder of a / b with the sign of a, exact; of integers 0 where b is 0; the crate's
            Remainder.
        REMAINDER: remainder of a / b with the sign of b; of integers 0 where b is 0; the crate's Mod.
        POW: a to the power of b; of integers with a negative b the quotient without its fraction.
        ATAN2: angle of the point (b, a), with gradient 0 at the origin.
        HYPOT: length of the vector (a, b), with gradient 0 at the origin.
        COPYSIGN: magnitude of a with the sign of b, with gradient 0 at a = 0.
        NEXTAFTER: number of the dtype after a toward b; a has the gradient, but not where it is b.
        LDEXP: a times 2 to the power of b, rounded once where b is whole; an infinite b is a number
            beyond all.
        MINIMUM: the smaller of a and b, NaN if either is; equals get half of the gradient each.
        MAXIMUM: the larger of a and b, NaN if either is; equals get half of the gradient each.
        FMIN: the smaller of a and b, of those that are not NaN; of equals a gets the gradient.
        FMAX: the larger of a and b, of those that are not NaN; of equals a gets the gradient.
        LOGADDEXP: log(exp(a) + exp(b)); equal infinities get half of the gradient each.
        LOGADDEXP2: log2(2**a + 2**b); equal infinities get half of the gradient each.
        XLOGY: a * log(b), 0 where a is 0 and b not NaN.
        XLOG1PY: a * log(1 + b), 0 where a is 0 and b not NaN.
        HEAVISIDE: 0 where a is negative, 1 where it is positive, b where it is 0, NaN for NaN.
        GCD: largest integer that divides a and b, 0 where both are 0.
        LCM: smallest multiple of a and b that is not negative, modulo 2 ** width.
        BITWISE_AND: bits that are set in both a and b.
        BITWISE_OR: bits that are set in a or b.
        BITWISE_XOR: bits that are set in one of a and b.
        BITWISE_LEFT_SHIFT: a times 2 to the power of b, 0 where b is negative or not below the width.
        BITWISE_RIGHT_SHIFT: a // 2 to the power of b; where b is negative or not below the width, the
            sign alone is left, 0 or -1.
    """

    LERP = "lerp"
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    FLOOR_DIVIDE = "floor_divide"
    FMOD = "fmod"
    REMAINDER = "remainder"
    POW = "pow"
    ATAN2 = "atan2"
    HYPOT = "hypot"
    COPYSIGN = "copysign"
    NEXTAFTER = "nextafter"
    LDEXP = "ldexp"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    FMIN = "fmin"
    FMAX = "fmax"
    LOGADDEXP = "logaddexp"
    LOGADDEXP2 = "logaddexp2"
    XLOGY = "xlogy"
    XLOG1PY = "xlog1py"
    HEAVISIDE = "heaviside"
    GCD = "gcd"
    LCM = "lcm"
    BITWISE_AND = "bitwise_and"
    BITWISE_OR = "bitwise_or"
    BITWISE_XOR = "bitwise_xor"
    BITWISE_LEFT_SHIFT = "bitwise_left_shift"
    BITWISE_RIGHT_SHIFT = "bitwise_right_shift"


class GatedActivationKind(str, enum.Enum):
    """Ops of one kind of plan.

    Plans: GatedActivationBackwardPlan and GatedActivationPlan.

    Attributes:
        GLU: a times sigmoid(b); Dauphin et al. 2017.
        REGLU: a times relu(b); Shazeer 2020.
        SWIGLU: a times silu(b); Shazeer 2020.
        GEGLU: a times gelu(b); Shazeer 2020.
        GEGLU_TANH: a times gelu_tanh(b).
    """

    GLU = "glu"
    REGLU = "reglu"
    SWIGLU = "swiglu"
    GEGLU = "geglu"
    GEGLU_TANH = "geglu_tanh"


class NormalizationKind(str, enum.Enum):
    """Ops of one kind of plan.

    Plans: LayerNormBackwardPlan, LayerNormPlan, RMSNormBackwardPlan and RMSNormPlan.

    Attributes:
        RMS_NORM: x over the root of its mean square, times gamma; torch.nn.functional.rms_norm.
        LAYER_NORM: x minus its mean, over its standard deviation, times gamma, plus beta;
            torch.nn.functional.layer_norm.
    """

    RMS_NORM = "rms_norm"
    LAYER_NORM = "layer_norm"


class ReduceKind(str, enum.Enum):
    """Ops of one kind of plan.

    Plans: ReduceBackwardPlan and ReducePlan.

    Attributes:
        SUM: sum over the reduced axes; torch.sum, jnp.sum.
        MEAN: mean over the reduced axes, NaN of no elements; torch.mean, jnp.mean.
        MAX: largest element, NaN if any is; torch.amax, jnp.max.
        MIN: smallest element, NaN if any is; torch.amin, jnp.min.
        PROD: product over the reduced axes; torch.prod, jnp.prod.
        NORM2: Euclidean norm; torch.linalg.vector_norm, jnp.linalg.norm.
        LOGSUMEXP: log(sum(exp(x))), -inf of no elements; torch.logsumexp, jax.nn.logsumexp.
        VAR: variance with n - correction degrees of freedom, NaN where there are none; torch.var,
            jnp.var.
        STD: square root of the variance, with gradient 0 where it is 0; torch.std, jnp.std.
    """

    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"
    PROD = "prod"
    NORM2 = "norm2"
    LOGSUMEXP = "logsumexp"
    VAR = "var"
    STD = "std"


class SoftmaxKind(str, enum.Enum):
    """Ops of one kind of plan.

    Plans: SoftmaxBackwardPlan and SoftmaxPlan.

    Attributes:
        SOFTMAX: exp(x) over its sum; torch.softmax, jax.nn.softmax.
        LOG_SOFTMAX: x minus the logarithm of the sum of exp(x); torch.log_softmax, jax.nn.log_softmax.
    """

    SOFTMAX = "softmax"
    LOG_SOFTMAX = "log_softmax"


class TernaryKind(str, enum.Enum):
    """Ops of one kind of plan.

    Plans: TernaryBackwardPlan, TernaryPlan, WhereBackwardPlan and WherePlan.

    Attributes:
        CLAMP: a between b and c, which is c where b is above c; a has the gradient at both.
        LERP: linear interpolation from a (c = 0) to b (c = 1); torch.lerp with a tensor as weight.
        FMA: a * b + c, rounded once.
        ADDCMUL: a + factor * b * c.
        ADDCDIV: a + factor * b / c.
        WHERE: a where the condition holds, else b; what is not taken has no gradient, NaN or not.
    """

    CLAMP = "clamp"
    LERP = "lerp"
    FMA = "fma"
    ADDCMUL = "addcmul"
    ADDCDIV = "addcdiv"
    WHERE = "where"


class UnaryKind(str, enum.Enum):
    """Ops of one kind of plan.

    Plans: AffinePlan, CastPlan, PReluBackwardPlan, PReluPlan, UnaryBackwardPlan, UnaryParamBackwardPlan,
        UnaryParamPlan and UnaryPlan.

    Attributes:
        AFFINE: scale * x + shift.
        PRELU: x where it is positive, else x times a slope, which is a tensor.
        NEG: x with the other sign; the smallest integer is its own.
        ABS: magnitude of x, with gradient 0 at 0; the smallest integer is its own.
        SIGN: -1, 0 or 1, and NaN for NaN.
        BITWISE_NOT: x with every bit turned round; not x, of bool.
        POPCOUNT: how many bits of x are set.
        CLZ: zeros above the highest bit of x that is set, the width where none is.
        CTZ: zeros below the lowest bit of x that is set, the width where none is.
        CAST: x in another dtype; floats are rounded to even, integers of floats saturate and are 0 for
            NaN, a bool is whether x is not 0.
        RECIPROCAL: 1 / x.
        SQUARE: x * x.
        CUBE: x * x * x.
        SQRT: square root.
        RSQRT: 1 / sqrt(x).
        CBRT: cube root.
        EXP: e to the power of x.
        EXP2: 2 to the power of x.
        EXPM1: exp(x) - 1, accurate near 0.
        LOG: natural logarithm.
        LOG2: logarithm to base 2.
        LOG10: logarithm to base 10.
        LOG1P: log(1 + x), accurate near 0.
        SIN: sine.
        COS: cosine.
        TAN: tangent.
        ASIN: inverse sine.
        ACOS: inverse cosine.
        ATAN: inverse tangent.
        SINH: hyperbolic sine.
        COSH: hyperbolic cosine.
        TANH: hyperbolic tangent.
        ASINH: inverse hyperbolic sine.
        ACOSH: inverse hyperbolic cosine.
        ATANH: inverse hyperbolic tangent.
        FLOOR: largest integer not above x.
        CEIL: smallest integer not below x.
        ROUND: nearest integer, ties to even.
        TRUNC: x without its fraction.
        FRAC: x minus trunc(x).
        STEP: 1 for positive numbers, else 0, and NaN for NaN.
        DEG2RAD: degrees as radians.
        RAD2DEG: radians as degrees.
        RELU: x where it is positive, else 0.
        RELU6: x between 0 and 6.
        SILU: x times sigmoid(x), called swish elsewhere.
        SIGMOID: 1 / (1 + exp(-x)), the logistic function.
        SOFTSIGN: x / (1 + |x|).
        HARDSWISH: x times relu6(x + 3) / 6.
        HARDSIGMOID: (x + 3) / 6 between 0 and 1.
        SELU: 1.0507 times x, below 0 of 1.6733 times exp(x) - 1; Klambauer et al. 2017.
        ERF: error function.
        ERFC: 1 - erf(x), accurate in the positive tail.
        ERFINV: inverse of erf.
        ERFCX: exp(x * x) * erfc(x), the scaled complementary error function.
        NDTR: distribution function of the normal distribution.
        LOG_NDTR: logarithm of ndtr, accurate in both tails.
        NDTRI: inverse of ndtr, NaN outside of 0 to 1.
        LGAMMA: logarithm of the magnitude of the gamma function.
        DIGAMMA: derivative of lgamma.
        I0: modified Bessel function of the first kind, order 0.
        I0E: i0(x) times exp(-|x|).
        I1: modified Bessel function of the first kind, order 1.
        I1E: i1(x) times exp(-|x|).
        SINC: sin(pi * x) / (pi * x), 1 at 0.
        ENTR: -x * log(x), 0 at 0 and -inf below.
        GELU: x times ndtr(x); Hendrycks and Gimpel 2016.
        GELU_TANH: gelu by way of tanh, as GPT-2 has it; Hendrycks and Gimpel 2016.
        MISH: x times tanh(softplus(x)); Misra 2019.
        LOG_SIGMOID: logarithm of the logistic function.
        TANHSHRINK: x - tanh(x), accurate near 0.
        ELU: x, below 0 alpha times exp(x) - 1.
        LEAKY_RELU: x, below 0 times a slope.
        HARDTANH: x between low and high, with gradient 0 at both.
        CLAMP: x between low and high, with gradient 1 at both.
        HARDSHRINK: x, and 0 up to lambd on both sides.
        SOFTSHRINK: x, nearer to 0 by lambd, and 0 up to there.
        THRESHOLD: x where it is above a threshold, else a value.
        SQUAREPLUS: half of x + sqrt(x * x + b), a smooth relu; Barron 2021.
        CELU: x, below 0 alpha times exp(x / alpha) - 1; Barron 2017.
        SOFTPLUS: log(1 + exp(beta * x)) / beta, and x where beta * x is above a threshold; inf for none.
        LOGIT: log(x / (1 - x)), the inverse of sigmoid, of x between eps and 1 - eps where eps is not
            negative.
        POWI: x to the power of a whole number.
        NAN_TO_NUM: x with numbers for NaN and the infinities; inf for these stands for the largest number
            of the dtype.
    """

    AFFINE = "affine"
    PRELU = "prelu"
    NEG = "neg"
    ABS = "abs"
    SIGN = "sign"
    BITWISE_NOT = "bitwise_not"
    POPCOUNT = "popcount"
    CLZ = "clz"
    CTZ = "ctz"
    CAST = "cast"
    RECIPROCAL = "reciprocal"
    SQUARE = "square"
    CUBE = "cube"
    SQRT = "sqrt"
    RSQRT = "rsqrt"
    CBRT = "cbrt"
    EXP = "exp"
    EXP2 = "exp2"
    EXPM1 = "expm1"
    LOG = "log"
    LOG2 = "log2"
    LOG10 = "log10"
    LOG1P = "log1p"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    ASIN = "asin"
    ACOS = "acos"
    ATAN = "atan"
    SINH = "sinh"
    COSH = "cosh"
    TANH = "tanh"
    ASINH = "asinh"
    ACOSH = "acosh"
    ATANH = "atanh"
    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"
    TRUNC = "trunc"
    FRAC = "frac"
    STEP = "step"
    DEG2RAD = "deg2rad"
    RAD2DEG = "rad2deg"
    RELU = "relu"
    RELU6 = "relu6"
    SILU = "silu"
    SIGMOID = "sigmoid"
    SOFTSIGN = "softsign"
    HARDSWISH = "hardswish"
    HARDSIGMOID = "hardsigmoid"
    SELU = "selu"
    ERF = "erf"
    ERFC = "erfc"
    ERFINV = "erfinv"
    ERFCX = "erfcx"
    NDTR = "ndtr"
    LOG_NDTR = "log_ndtr"
    NDTRI = "ndtri"
    LGAMMA = "lgamma"
    DIGAMMA = "digamma"
    I0 = "i0"
    I0E = "i0e"
    I1 = "i1"
    I1E = "i1e"
    SINC = "sinc"
    ENTR = "entr"
    GELU = "gelu"
    GELU_TANH = "gelu_tanh"
    MISH = "mish"
    LOG_SIGMOID = "log_sigmoid"
    TANHSHRINK = "tanhshrink"
    ELU = "elu"
    LEAKY_RELU = "leaky_relu"
    HARDTANH = "hardtanh"
    CLAMP = "clamp"
    HARDSHRINK = "hardshrink"
    SOFTSHRINK = "softshrink"
    THRESHOLD = "threshold"
    SQUAREPLUS = "squareplus"
    CELU = "celu"
    SOFTPLUS = "softplus"
    LOGIT = "logit"
    POWI = "powi"
    NAN_TO_NUM = "nan_to_num"


class UnaryPredicateKind(str, enum.Enum):
    """Ops of one kind of plan.

    Plans: UnaryPredicatePlan.

    Attributes:
        ISNAN: whether x is NaN.
        ISINF: whether x is an infinity.
        ISFINITE: whether x is neither infinite nor NaN.
        ISPOSINF: whether x is inf.
        ISNEGINF: whether x is -inf.
        SIGNBIT: whether the sign bit of x is set, also of -0 and NaN.
        LOGICAL_NOT: whether x is 0.
    """

    ISNAN = "isnan"
    ISINF = "isinf"
    ISFINITE = "isfinite"
    ISPOSINF = "isposinf"
    ISNEGINF = "isneginf"
    SIGNBIT = "signbit"
    LOGICAL_NOT = "logical_not"
