"""Reductions and their gradients beside PyTorch on the CPU, where the two mean the same."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest
import torch

import baracuda as bc

SHAPE = (3, 4, 5)
AXES = [(2,), (0,), (1,), (0, 2), (0, 1, 2)]


def spread(kind: str, number: float) -> Callable[..., torch.Tensor]:
    """`torch.var` or `torch.std` with a correction."""
    return functools.partial(getattr(torch, kind), correction=number)


#: What PyTorch calls each kind, with the descriptor's numbers and options that mean the same.
PEERS: dict[str, tuple[str, dict[str, object], Callable[..., torch.Tensor]]] = {
    "sum": ("sum", {}, torch.sum),
    "mean": ("mean", {}, torch.mean),
    "amax": ("max", {"ties": "split"}, torch.amax),
    "amin": ("min", {"ties": "split"}, torch.amin),
    "norm2": ("norm2", {}, torch.linalg.vector_norm),
    "logsumexp": ("logsumexp", {}, torch.logsumexp),
    **{
        f"{kind}, correction {number}": (kind, {"correction": number}, spread(kind, number))
        for kind in ("var", "std")
        for number in (1, 0, 0.5, -1)
    },
}


def run(name: str, desc: dict[str, object], **tensors: object) -> None:
    plan_class = getattr(bc, f"{name}Plan")
    plan = plan_class.select(bc.Stream.host(), getattr(bc, f"{name}Descriptor")(element="f64", **desc))
    plan(**tensors, workspace=bc.Workspace.host(plan.workspace_size()))


def both(kind: str, fields: dict[str, object], x: torch.Tensor, axes: tuple[int, ...], dy: torch.Tensor):
    """Result and gradient, as a plan has them."""
    desc = {"kind": kind, "input_shape": tuple(x.shape), "reduce_axis": axes, **fields}
    y, dx = torch.empty_like(dy), torch.empty_like(x)
    run("Reduce", desc, x=x, y=y)
    saved = {} if kind in ("sum", "mean") else {"x": x} if kind == "var" else {"x": x, "y": y}
    run("ReduceBackward", desc, dy=dy, dx=dx, **saved)
    return y, dx


def keepdim(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if axis in axes else extent for axis, extent in enumerate(SHAPE))


def data(special: float | None) -> torch.Tensor:
    """Numbers with ties; a special value at some places."""
    x = torch.randint(-4, 5, SHAPE, generator=torch.Generator().manual_seed(1)).to(torch.float64) / 2
    if special is not None:
        x[1, 2, 3] = x[0, 0, 0] = special
    return x


@pytest.mark.parametrize("special", [None, np.nan, np.inf, -np.inf, 600.0, -0.0])
@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("peer", PEERS)
def test_forward_and_backward(peer: str, axes: tuple[int, ...], special: float | None) -> None:
    kind, fields, call = PEERS[peer]
    x = data(special).requires_grad_()
    dy = torch.linspace(-1, 2, int(np.prod(keepdim(axes))), dtype=torch.float64).reshape(keepdim(axes))
    want = call(x, dim=axes, keepdim=True)
    (want_dx,) = torch.autograd.grad(want, x, dy)
    y, dx = both(kind, fields, x.detach(), axes, dy)
    np.testing.assert_allclose(y, want.detach(), rtol=1e-14, atol=1e-15)
    # PyTorch has NaN where an infinite logsumexp has a subgradient, and a share of an infinite norm2 is 0.
    told = ~torch.isnan(want_dx) | torch.isnan(want).expand(SHAPE) & (peer not in ("amax", "amin"))
    np.testing.assert_allclose(dx[told], want_dx[told], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("ties", ["all", "first"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", ["max", "min"])
def test_ties(kind: str, axis: int, ties: str) -> None:
    """`torch.max` along an axis gives the gradient to one element; "all" gives it to each of the equals."""
    x = data(None).requires_grad_()
    want, place = getattr(torch, kind)(x, axis, keepdim=True)
    dy = torch.linspace(1, 2, want.numel(), dtype=torch.float64).reshape(want.shape)
    (want_dx,) = torch.autograd.grad(want, x, dy)
    y, dx = both(kind, {"ties": ties}, x.detach(), (axis,), dy)
    np.testing.assert_array_equal(y, want.detach())
    hits = x.detach() == y
    if ties == "all":
        np.testing.assert_array_equal(dx, torch.where(hits, dy, 0))
    else:
        assert torch.equal(hits.to(torch.int8).argmax(axis, keepdim=True), place)
        np.testing.assert_array_equal(dx, want_dx)


@pytest.mark.parametrize("zeros", [0, 1, 2])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_products(axis: int, zeros: int) -> None:
    x = data(None)
    x[x == 0] = 0.75
    for place in range(zeros):
        x.select(axis, place).fill_(0)
    x.requires_grad_()
    want = torch.prod(x, axis, keepdim=True)
    dy = torch.linspace(1, 2, want.numel(), dtype=torch.float64).reshape(want.shape)
    (want_dx,) = torch.autograd.grad(want, x, dy)
    y, dx = both("prod", {}, x.detach(), (axis,), dy)
    np.testing.assert_allclose(y, want.detach(), rtol=1e-14)
    np.testing.assert_allclose(dx, want_dx, rtol=1e-14)


@pytest.mark.parametrize("peer", PEERS)
def test_the_gradient_of_a_sum_is_expanded(peer: str) -> None:
    """`y.sum().backward()` hands down one number at all places."""
    kind, fields, call = PEERS[peer]
    x = data(None).requires_grad_()
    want = call(x, dim=(1,), keepdim=True)
    (want_dx,) = torch.autograd.grad(want.sum(), x)
    dy = torch.ones((), dtype=torch.float64).expand(want.shape)
    assert set(dy.stride()) == {0}
    _, dx = both(kind, fields, x.detach(), (1,), dy)
    np.testing.assert_allclose(dx, want_dx, rtol=1e-13, atol=1e-15)
