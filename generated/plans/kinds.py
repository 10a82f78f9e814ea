"""The enums that tell the ops of a plan class apart. A descriptor takes a member or its name as a string.

Generated from ops.yaml by templates/kinds.py.j2. Do not edit: run `baracuda-gen generate`.
"""

from __future__ import annotations

import enum

__all__ = ["AttentionKind", "BinaryKind", "NormalizationKind", "ReduceKind", "SoftmaxKind"]


class AttentionKind(str, enum.Enum):
    """Ops of RopeBackwardPlan and RopePlan and SdpaBackwardPlan and SdpaPlan.

    Attributes:
        ROPE: rotary position embedding of queries or keys; transformers' apply_rotary_pos_emb.
        SDPA: scaled dot-product attention; torch.nn.functional.scaled_dot_product_attention,
            jax.nn.dot_product_attention.
    """

    ROPE = "rope"
    SDPA = "sdpa"


class BinaryKind(str, enum.Enum):
    """Ops of BinaryParamBackwardPlan and BinaryParamPlan.

    Attributes:
        LERP: linear interpolation from a (weight 0) to b (weight 1); torch.lerp with a scalar weight.
    """

    LERP = "lerp"


class NormalizationKind(str, enum.Enum):
    """Ops of LayerNormBackwardPlan and LayerNormPlan and RMSNormBackwardPlan and RMSNormPlan.

    Attributes:
        RMS_NORM: x over the root of its mean square, times gamma; torch.nn.functional.rms_norm.
        LAYER_NORM: x minus its mean, over its standard deviation, times gamma, plus beta;
            torch.nn.functional.layer_norm.
    """

    RMS_NORM = "rms_norm"
    LAYER_NORM = "layer_norm"


class ReduceKind(str, enum.Enum):
    """Ops of ReduceBackwardPlan and ReducePlan.

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
    """Ops of SoftmaxBackwardPlan and SoftmaxPlan.

    Attributes:
        SOFTMAX: exp(x) over its sum; torch.softmax, jax.nn.softmax.
        LOG_SOFTMAX: x minus the logarithm of the sum of exp(x); torch.log_softmax, jax.nn.log_softmax.
    """

    SOFTMAX = "softmax"
    LOG_SOFTMAX = "log_softmax"
