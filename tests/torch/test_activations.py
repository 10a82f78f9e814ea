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


def gated(kind: str, shape: tuple[int, ...], axis: int | tuple[int, ...], element: str, **more: Any) -> Any:
    """The forward's and the backward's plan."""
    fields: dict[str, Any] = {"kind": kind, "shape": shape, "axis": axis, "element": element, **more}
    return (
        bc.GatedActivationPlan.select(HOST, bc.GatedActivationDescriptor(**fields)),
        bc.GatedActivationBackwardPlan.select(HOST, bc.GatedActivationBackwardDescriptor(**fields)),
    )


GATES: dict[str, Any] = {
    "glu": torch.sigmoid,
    "reglu": torch.relu,
    "swiglu": torch.nn.functional.silu,
    "geglu": torch.nn.functional.gelu,
    "geglu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
}


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("kind", GATES)
def test_gates(kind: str, dtype: str) -> None:
    """In halves, in halves the other way round, and as two tensors, beside PyTorch in double precision."""
    generator = torch.Generator().manual_seed(3)
    a, b, dy = (torch.randn(3, 40, generator=generator).mul(3).to(KINDS[dtype]) for _ in range(3))
    wide = [tensor.double().requires_grad_() for tensor in (a, b)]
    exact = wide[0] * GATES[kind](wide[1])
    want = (exact.detach(), *torch.autograd.grad(exact, wide, dy.double()))
    results = []
    y, da, db = torch.empty_like(a), torch.empty_like(a), torch.empty_like(a)
    forward, backward = gated(kind, (3, 40), (), dtype)
    forward(a=a, b=b, y=y)
    backward(dy=dy, a=a, b=b, da=da, db=db)
    results.append((y, da, db))
    for first in (False, True):
        x = torch.cat((b, a) if first else (a, b), dim=-1)
        y, dx = torch.empty_like(a), torch.empty_like(x)
        forward, backward = gated(kind, (3, 40), 1, dtype, gate_first=first)
        forward(x=x, y=y)
        backward(dy=dy, x=x, dx=dx)
        halves = dx.chunk(2, dim=-1)
        results.append((y, *(halves[::-1] if first else halves)))
    kind_of, computed = (
        torch.finfo(KINDS[dtype]),
        torch.finfo(KINDS[dtype] if dtype == "f64" else torch.float32),
    )
    # PyTorch's double loses digits in the negative tail, and ours where the slope is near 0.
    size = 1 + b.double().abs()
    terms = (a.double().abs() * size, dy.double().abs() * size, (dy.double() * a.double()).abs() * size)
    for result in results:
        for got, right, term, first in zip(result, want, terms, results[0], strict=True):
            most = kind_of.eps * right.abs() + 8 * computed.eps * term + kind_of.tiny * kind_of.eps
            assert ((got.double() - right).abs() <= most).all()
            assert torch.equal(got, first)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_glu_along_any_axis(axis: int) -> None:
    """torch.nn.functional.glu, its gradient in place of its input."""
    generator = torch.Generator().manual_seed(4)
    x = torch.randn(4, 6, 8, generator=generator, dtype=torch.float64).requires_grad_()
    want = torch.nn.functional.glu(x, axis)
    dy = torch.randn(want.shape, generator=generator, dtype=torch.float64)
    (dx,) = torch.autograd.grad(want, x, dy)
    forward, backward = gated("glu", tuple(want.shape), axis, "f64")
    y, both = torch.empty_like(dy), x.detach().clone()
    forward(x=both, y=y)
    backward(dy=dy, x=both, dx=both)
    same(y, want.detach(), 1e-14)
    same(both, dx, 1e-14)


@pytest.mark.parametrize("kind", GATES)
def test_special_values_of_gates(kind: str) -> None:
    """Every one with every one as PyTorch has it, but for silu(-inf) and gelu(-inf), which are 0 here."""
    pairs = torch.tensor(list(itertools.product(SPECIAL, SPECIAL)), dtype=torch.float64)
    a, b = (part.contiguous().requires_grad_() for part in pairs.T)
    want = a * GATES[kind](b)
    dy = torch.full_like(want, 1.5)
    gradients = torch.autograd.grad(want, (a, b), dy)
    y, da, db = (torch.empty_like(dy) for _ in range(3))
    forward, backward = gated(kind, tuple(dy.shape), (), "f64")
    forward(a=a.detach(), b=b.detach(), y=y)
    backward(dy=dy, a=a.detach(), b=b.detach(), da=da, db=db)
    alike = torch.isfinite(b) if kind not in ("glu", "reglu") else torch.ones_like(b, dtype=torch.bool)
    usual = alike & torch.isfinite(a)
    same(y[alike], want.detach()[alike], 1e-14)
    same(da[alike], gradients[0][alike], 1e-14)
    same(db[usual], gradients[1][usual], 1e-14)
