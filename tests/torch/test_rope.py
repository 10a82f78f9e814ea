"""RoPE beside PyTorch on the CPU: the complex form, Hugging Face's rotate_half, and autograd through both."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import baracuda as bc

BATCH, HEADS, LENGTH, SIZE = 2, 3, 17, 32
# In units of the dtype's epsilon, for standard normal values.
PLACES = 8
DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16}


def inv_freq(rotary: int) -> torch.Tensor:
    return 10000.0 ** (-torch.arange(0, rotary, 2, dtype=torch.float64) / rotary)


def angles(positions: torch.Tensor, rotary: int) -> torch.Tensor:
    """[1 or B, 1, S, pairs], in double."""
    return (positions.double()[..., None] * inv_freq(rotary)).unsqueeze(-3)


def interleaved(x: torch.Tensor, positions: torch.Tensor, rotary: int) -> torch.Tensor:
    """The complex form, of Meta's Llama."""
    turn = torch.polar(torch.ones(()).double(), angles(positions, rotary))
    pairs = torch.view_as_complex(x[..., :rotary].double().unflatten(-1, (-1, 2)))
    return torch.cat([torch.view_as_real(pairs * turn).flatten(-2), x[..., rotary:].double()], -1)


def half(x: torch.Tensor, positions: torch.Tensor, rotary: int) -> torch.Tensor:
    """apply_rotary_pos_emb of transformers."""
    whole = torch.cat([angles(positions, rotary)] * 2, -1)
    first, second = x[..., :rotary].double().chunk(2, -1)
    swapped = torch.cat([-second, first], -1)
    turned = x[..., :rotary].double() * whole.cos() + swapped * whole.sin()
    return torch.cat([turned, x[..., rotary:].double()], -1)


FORMS = {"interleaved": interleaved, "half": half}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", FORMS)
@pytest.mark.parametrize("rotary", [SIZE, 16])
@pytest.mark.parametrize("per_sequence", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_both_directions(dtype: str, layout: str, rotary: int, per_sequence: bool, transposed: bool) -> None:
    torch.manual_seed(3)
    shape = (BATCH, LENGTH, HEADS, SIZE) if transposed else (BATCH, HEADS, LENGTH, SIZE)
    x, dy = (torch.randn(shape).to(DTYPES[dtype]) for _ in range(2))
    if transposed:
        x, dy = x.transpose(1, 2), dy.transpose(1, 2)
    positions = torch.randint(-3000, 3000, (BATCH, LENGTH) if per_sequence else (LENGTH,))
    leaf = x.detach().double().requires_grad_()
    want = FORMS[layout](leaf, positions, rotary)
    (gradient,) = torch.autograd.grad(want, leaf, dy.double())
    fields = {
        "batch_size": BATCH,
        "num_heads": HEADS,
        "seq_len": LENGTH,
        "head_dim": SIZE,
        "element": dtype,
        "layout": layout,
        "rotary_dim": rotary,
    }
    y, dx = torch.full_like(x, float("nan")), torch.full_like(x, float("nan"))
    bc.RopePlan.select(bc.Stream.host(), bc.RopeDescriptor(**fields))(x=x, positions=positions, y=y)
    backward = bc.RopeBackwardPlan.select(bc.Stream.host(), bc.RopeBackwardDescriptor(**fields))
    backward(dy=dy, positions=positions, dx=dx)
    # PyTorch's own angle is a double, off by its last place times the position.
    allowed = PLACES * torch.finfo(DTYPES[dtype]).eps + 1e-11 * (dtype == "f64")
    for got, right in ((y, want), (dx, gradient)):
        np.testing.assert_allclose(got.double().numpy(), right.detach().numpy(), atol=allowed, rtol=allowed)


@pytest.mark.parametrize("layout", FORMS)
def test_in_place(layout: str) -> None:
    x = torch.randn(BATCH, LENGTH, HEADS, SIZE).transpose(1, 2)
    desc = bc.RopeDescriptor(
        batch_size=BATCH, num_heads=HEADS, seq_len=LENGTH, head_dim=SIZE, element="f32", layout=layout
    )
    plan = bc.RopePlan.select(bc.Stream.host(), desc)
    y = torch.empty_like(x)
    plan(x=x, y=y)
    plan(x=x, y=x)
    assert torch.equal(x, y)
