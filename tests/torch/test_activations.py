"""Activations with a second tensor beside PyTorch on the CPU: their gradients, special values among them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch

import baracuda as bc

SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -3.0, 1e-310)
KINDS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
HOST = bc.Stream.host()


def same(got: torch.Tensor, want: torch.Tensor, within: float = 0.0) -> None:
    """Equal numbers, signs of zeros and NaN, or numbers that are within a relative error."""
    torch.testing.assert_close(got, want, rtol=within, atol=within, equal_nan=True)
    if not within:
        assert torch.equal(torch.signbit(got)[~got.isnan()], torch.signbit(want)[~want.isnan()])


def prelu(x: torch.Tensor, weight: torch.Tensor, dy: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """y, dx and dslope of a plan, for a weight as PyTorch has it."""
    channels = (weight.numel(), *(1,) * (x.ndim - 2)) if weight.numel() > 1 else ()
    element = {kind: name for name, kind in KINDS.items()}[x.dtype]
    fields: dict[str, Any] = {"shape": tuple(x.shape), "element": element, "slope_shape": channels}
    y, dx, dslope = torch.empty_like(x), torch.empty_like(x), torch.empty_like(weight)
    slope = weight.view(channels)
    bc.PReluPlan.select(HOST, bc.PReluDescriptor(**fields))(x=x, slope=slope, y=y)
    plan = bc.PReluBackwardPlan.select(HOST, bc.PReluBackwardDescriptor(**fields))
    space = bc.Workspace.host(plan.workspace_size())
    plan(dy=dy, x=x, slope=slope, dx=dx, dslope=dslope.view(channels), workspace=space)
    return y, dx, dslope


@pytest.mark.parametrize("count", [1, 5], ids=["one slope", "a slope a channel"])
@pytest.mark.parametrize("shape", [(4, 5), (2, 5, 7), (3, 5, 4, 6), (2, 5, 3, 2, 4)], ids=str)
@pytest.mark.parametrize("dtype", KINDS)
def test_prelu(dtype: str, shape: tuple[int, ...], count: int) -> None:
    generator = torch.Generator().manual_seed(len(shape))
    x = torch.randn(shape, generator=generator).to(KINDS[dtype]).requires_grad_()
    weight = torch.randn(count, generator=generator).to(KINDS[dtype]).requires_grad_()
    dy = torch.randn(shape, generator=generator).to(KINDS[dtype])
    y = torch.nn.functional.prelu(x, weight)
    dx, _ = torch.autograd.grad(y, (x, weight), dy)
    wide = [tensor.detach().double().requires_grad_() for tensor in (x, weight)]
    (exact,) = torch.autograd.grad(torch.nn.functional.prelu(*wide), wide[1], dy.double())
    got_y, got_dx, got_dslope = prelu(x.detach(), weight.detach(), dy)
    same(got_y, y.detach())
    same(got_dx, dx)
    # PyTorch's own sum in 16 bits rounds on the way.
    terms = (dy.double() * x.detach().double()).abs().sum()
    assert ((got_dslope.double() - exact).abs() <= 2 * torch.finfo(x.dtype).eps * (exact.abs() + terms)).all()


def test_special_values_of_prelu() -> None:
    """Every one with every one, each pair in a channel of its own, so that gradients are no sums."""
    triples = torch.tensor(list(itertools.product(SPECIAL, SPECIAL, (1.0, -2.0, np.nan, 0.0))))
    x, weight, dy = (part.contiguous() for part in triples.double().T)
    given = x[None].clone().requires_grad_(), weight.clone().requires_grad_()
    y = torch.nn.functional.prelu(*given)
    want = torch.autograd.grad(y, given, dy[None])
    got_y, got_dx, got_dslope = prelu(x[None], weight, dy[None])
    same(got_y, y.detach())
    same(got_dx, want[0])
    same(got_dslope, want[1])
