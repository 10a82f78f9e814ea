"""Every generated plan class, its descriptor, its arguments and its enum, loaded when first asked for.

Generated from ops.yaml by templates/plans_init.py.j2. Do not edit: run `baracuda-gen generate`.
"""

from __future__ import annotations

MODULES: dict[str, str] = {
    "AttentionKind": "kinds",
    "BinaryKind": "kinds",
    "BinaryParamArgs": "binary_elementwise",
    "BinaryParamBackwardArgs": "binary_elementwise",
    "BinaryParamBackwardDescriptor": "binary_elementwise",
    "BinaryParamBackwardPlan": "binary_elementwise",
    "BinaryParamDescriptor": "binary_elementwise",
    "BinaryParamPlan": "binary_elementwise",
    "NormalizationKind": "kinds",
    "RMSNormArgs": "normalization",
    "RMSNormBackwardArgs": "normalization",
    "RMSNormBackwardDescriptor": "normalization",
    "RMSNormBackwardPlan": "normalization",
    "RMSNormDescriptor": "normalization",
    "RMSNormPlan": "normalization",
    "ReduceArgs": "reduction",
    "ReduceBackwardArgs": "reduction",
    "ReduceBackwardDescriptor": "reduction",
    "ReduceBackwardPlan": "reduction",
    "ReduceDescriptor": "reduction",
    "ReduceKind": "kinds",
    "ReducePlan": "reduction",
    "RopeArgs": "attention",
    "RopeBackwardArgs": "attention",
    "RopeBackwardDescriptor": "attention",
    "RopeBackwardPlan": "attention",
    "RopeDescriptor": "attention",
    "RopePlan": "attention",
    "SoftmaxArgs": "softmax",
    "SoftmaxBackwardArgs": "softmax",
    "SoftmaxBackwardDescriptor": "softmax",
    "SoftmaxBackwardPlan": "softmax",
    "SoftmaxDescriptor": "softmax",
    "SoftmaxKind": "kinds",
    "SoftmaxPlan": "softmax",
}
