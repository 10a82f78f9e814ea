"""The enums that tell the ops of a plan class apart. A descriptor takes a member or its name as a string.

Generated from ops.yaml by templates/kinds.py.j2. Do not edit: run `baracuda-gen generate`.
"""

from __future__ import annotations

import enum

__all__ = ["BinaryKind", "ReduceKind"]


class BinaryKind(str, enum.Enum):
    """Ops of BinaryParamBackwardPlan and BinaryParamPlan."""

    LERP = "lerp"  # linear interpolation from a (weight 0) to b (weight 1); torch.lerp with a scalar weight


class ReduceKind(str, enum.Enum):
    """Ops of ReducePlan."""

    SUM = "sum"  # sum over the reduced axes; torch.sum, jnp.sum
