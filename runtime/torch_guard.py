"""PyTorch's own comparison of tensors: one call in place of a dozen attribute reads.

PyTorch's compiler guards its code with `TensorGuards`, which notes the type, dispatch keys (device type,
sparse, nested and neg bit among them), dtype, device index, sizes and strides of some tensors and says later
whether others have the same. It is no public interface, so it is used only where it tells apart all that
matters.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["tensor_guard"]

#: Of some tensors: whether others are the same in all but place and content.
Guard = Callable[..., Callable[..., bool]]


@functools.cache
def tensor_guard() -> Guard | None:
    """What makes such a comparison; None where this PyTorch has none that can be trusted."""
    try:
        torch: Any = sys.modules["torch"]
        from torch._C._dynamo.guards import TensorGuards

        def guard(*tensors: Any) -> Callable[..., bool]:
            check: Callable[..., bool] = TensorGuards(
                *tensors, dynamic_dims_sizes=None, dynamic_dims_strides=None
            ).check
            return check

        return guard if _tells_apart(torch, guard) else None
    except Exception:  # Whatever another version may do: the attributes are compared then.
        return None


def _tells_apart(torch: Any, guard: Guard) -> bool:
    """Whether a guard passes a tensor like its own, and none that differs."""
    own = torch.zeros(2, 3, device="cpu")
    same = guard(own, own)
    others = (
        torch.zeros(3, 2, device="cpu"),
        torch.zeros(3, 2, device="cpu").t(),
        torch.zeros(2, 1, device="cpu").expand(2, 3),
        torch.zeros(2, 3, 1, device="cpu"),
        torch.zeros(2, 3, device="cpu", dtype=torch.float64),
        torch.zeros(2, 3, device="meta"),
        torch._neg_view(own),
        torch.nn.Parameter(own),
        own.to_sparse(),
        None,
    )
    return same(own, own.clone()) and not any(same(own, other) or same(other, own) for other in others)
