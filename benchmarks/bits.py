"""Whether runs give equal bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["RUNS", "bits", "differing"]

#: How often a plan runs on the same tensors.
RUNS = 20


def bits(torch: Any, tensor: Any) -> Any:
    """The bytes of a tensor."""
    return tensor.contiguous().view(torch.uint8)


def differing(
    torch: Any, launch: Callable[[], object], synchronize: Callable[[], object], outputs: Mapping[str, Any]
) -> str | None:
    """An output whose bits are not the same after each of `RUNS` runs; None: there is none.

    Args:
        torch: PyTorch.
        launch: runs once, and writes all of `outputs`.
        synchronize: waits for the device.
        outputs: tensors by name; they hold NaN before each run, so that what is left out counts too.
    """
    first: dict[str, Any] = {}
    for _ in range(RUNS):
        for tensor in outputs.values():
            tensor.fill_(float("nan"))
        launch()
        synchronize()
        for name, tensor in outputs.items():
            now = bits(torch, tensor)
            if not torch.equal(now, first.setdefault(name, now.clone())):
                return name
    return None
