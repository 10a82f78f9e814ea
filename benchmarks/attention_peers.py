"""Attention in PyTorch: the same steps one by one with cuBLAS, and scaled_dot_product_attention by backend.

The steps work on what our plans work on: a forward that keeps the weights, a backward that takes them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Problem", "backend_call", "step_calls"]

Call = Callable[[], object]


@dataclass(frozen=True)
class Problem:
    """One attention: as many keys as queries, values as long as keys."""

    element: str
    batch: int
    heads: int
    kv_heads: int
    length: int
    size: int
    causal: bool = False

    @property
    def scale(self) -> float:
        """The usual factor of the scores."""
        return float(self.size**-0.5)

    @property
    def place(self) -> str:
        """The extents as BxH(KV heads)xSxD, as the table shows them."""
        heads = f"{self.heads}({self.kv_heads})"
        return f"{self.batch}x{heads}x{self.length}x{self.size} {'causal' if self.causal else 'full'}"

    def flops(self, products: int) -> float:
        """Floating-point operations of `products` matrix products, of the scores that are seen alone."""
        seen = self.length * (self.length + 1) / 2 if self.causal else self.length**2
        return 2.0 * products * self.batch * self.heads * seen * self.size


def grouped(problem: Problem, tensor: Any) -> Any:
    """A tensor of all heads as one matrix for each head of the keys: a view.

    Queries that share keys are rows of one matrix, so that a product serves all of them, and their gradients
    are summed inside it: nothing is repeated.
    """
    rows = problem.heads // problem.kv_heads * problem.length
    return tensor.reshape(problem.batch * problem.kv_heads, rows, tensor.shape[-1])


def step_calls(torch: Any, problem: Problem, tensors: Mapping[str, Any], backward: bool) -> dict[str, Call]:
    """The steps in eager PyTorch, by the place where the scale is multiplied.

    Args:
        torch: PyTorch.
        problem: the problem.
        tensors: q, k, v, and attn and dy for a backward; contiguous.
        backward: whether these are the steps of the backward.
    """
    parts = {name: tensor.detach() for name, tensor in tensors.items()}
    q, attn, dy = (grouped(problem, parts[name]) for name in ("q", "attn", "dy"))
    k, v = (parts[name].reshape(-1, problem.length, problem.size) for name in ("k", "v"))
    hidden = None
    if problem.causal:
        square = torch.ones(problem.length, problem.length, dtype=torch.bool, device=q.device)
        hidden = square.triu(1).repeat(problem.heads // problem.kv_heads, 1)
    if not backward:
        return {"scale on q": lambda: forward_steps(torch, problem.scale, q, k, v, hidden)}
    # The seed of the plan has the scale on dq and dk; on the scores it is one pass more over a large matrix,
    # and one product less over a small one.
    return {
        "scale on dq and dk": lambda: backward_steps(torch, problem.scale, q, k, v, attn, dy),
        "scale on dscores": lambda: scaled_backward_steps(torch, problem.scale, q, k, v, attn, dy),
    }


def forward_steps(torch: Any, scale: float, q: Any, k: Any, v: Any, hidden: Any) -> tuple[Any, ...]:
    """y and the weights."""
    with torch.no_grad():
        scores = torch.bmm(q * scale, k.transpose(1, 2))
        if hidden is not None:
            scores.masked_fill_(hidden, float("-inf"))
        attn = torch.softmax(scores, -1)
        return torch.bmm(attn, v), attn


def backward_steps(
    torch: Any, scale: float, q: Any, k: Any, v: Any, attn: Any, dy: Any
) -> tuple[Any, Any, Any]:
    """The five steps: dv, dattn, dscores, dq, dk."""
    with torch.no_grad():
        dv = torch.bmm(attn.transpose(1, 2), dy)
        dattn = torch.bmm(dy, v.transpose(1, 2))
        dscores = torch._softmax_backward_data(dattn, attn, -1, attn.dtype)
        dq = torch.bmm(dscores, k) * scale
        dk = torch.bmm(dscores.transpose(1, 2), q) * scale
        return dq, dk, dv


def scaled_backward_steps(
    torch: Any, scale: float, q: Any, k: Any, v: Any, attn: Any, dy: Any
) -> tuple[Any, Any, Any]:
    """The same with the scale on dscores."""
    with torch.no_grad():
        dv = torch.bmm(attn.transpose(1, 2), dy)
        dattn = torch.bmm(dy, v.transpose(1, 2))
        dscores = torch._softmax_backward_data(dattn, attn, -1, attn.dtype).mul_(scale)
        dq = torch.bmm(dscores, k)
        dk = torch.bmm(dscores.transpose(1, 2), q)
        return dq, dk, dv


def backend_call(
    torch: Any, problem: Problem, tensors: Mapping[str, Any], backend: str, backward: bool
) -> Call:
    """scaled_dot_product_attention by one of its backends, or autograd through it.

    Raises:
        RuntimeError: the backend does not take the problem.
    """
    attention: Any = importlib.import_module("torch.nn.attention")
    kind = getattr(attention.SDPBackend, backend)
    leaves = [tensors[name].detach() for name in ("q", "k", "v")]
    words = {"enable_gqa": True} if problem.kv_heads != problem.heads else {}

    def forward() -> Any:
        with attention.sdpa_kernel([kind]):
            return torch.nn.functional.scaled_dot_product_attention(
                *leaves, is_causal=problem.causal, scale=problem.scale, **words
            )

    if not backward:

        def call() -> object:
            with torch.no_grad():
                return forward()

        return call
    for leaf in leaves:
        leaf.requires_grad_()
    y, dy = forward(), tensors["dy"].detach()
    return lambda: torch.autograd.grad(y, leaves, dy, retain_graph=True)
