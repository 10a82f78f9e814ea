"""RMSNorm and LayerNorm with their gradients beside PyTorch on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import baracuda as bc

ROWS = torch.tensor(
    [[1.0, 2.0, -3.0, 0.5], [4e4, 40001.0, 40002.0, 40003.0], [1e-9, 0.0, -1e-9, 2e-9], [5.0, 5.0, 5.0, 5.0]],
    dtype=torch.float64,
)
EPS = 1e-5


def run(name: str, desc: dict[str, object], **tensors: object) -> None:
    plan_class = getattr(bc, f"{name}Plan")
    plan = plan_class.select(bc.Stream.host(), getattr(bc, f"{name}Descriptor")(element="f64", **desc))
    plan(**tensors, workspace=bc.Workspace.host(plan.workspace_size()))


def close(got: torch.Tensor, want: torch.Tensor) -> None:
    exact = want.detach()
    # PyTorch rounds the mean of a row near 40,000 to a double before it takes it from the row.
    np.testing.assert_allclose(got, exact, rtol=1e-9, atol=1e-11 * float(exact.abs().max()))


@pytest.mark.parametrize("gamma", [True, False])
def test_rms_norm(gamma: bool) -> None:
    x = ROWS.clone().requires_grad_()
    weight = torch.linspace(-1, 2, 4, dtype=torch.float64).requires_grad_() if gamma else None
    dy = torch.randn(4, 4, dtype=torch.float64)
    want = torch.nn.functional.rms_norm(x, (4,), weight, EPS)
    want_dx, *rest = torch.autograd.grad(want, [x, *([weight] if gamma else [])], dy)
    desc = {"input_shape": (4, 4), "norm_axes": (1,), "has_gamma": gamma}
    y, rms, dx = torch.empty_like(dy), torch.empty(4, 1, dtype=torch.float64), torch.empty_like(dy)
    given = {"gamma": weight.detach()} if weight is not None else {}
    run("RMSNorm", {**desc, "eps": EPS}, x=x.detach(), y=y, rms=rms, **given)
    close(y, want)
    made = {"dgamma": torch.empty(4, dtype=torch.float64)} if gamma else {}
    run("RMSNormBackward", desc, dy=dy, x=x.detach(), rms=rms, dx=dx, **given, **made)
    close(dx, want_dx)
    for got, expected in zip(made.values(), rest, strict=True):
        close(got, expected)


@pytest.mark.parametrize(("gamma", "beta"), [(True, True), (True, False), (False, True), (False, False)])
def test_layer_norm(gamma: bool, beta: bool) -> None:
    x = ROWS.clone().requires_grad_()
    weight = torch.linspace(-1, 2, 4, dtype=torch.float64).requires_grad_() if gamma else None
    bias = torch.linspace(3, 1, 4, dtype=torch.float64).requires_grad_() if beta else None
    params = {"gamma": weight, "beta": bias}
    known = {name: value for name, value in params.items() if value is not None}
    dy = torch.randn(4, 4, dtype=torch.float64)
    want = torch.nn.functional.layer_norm(x, (4,), weight, bias, EPS)
    want_dx, *rest = torch.autograd.grad(want, [x, *known.values()], dy)
    desc = {"input_shape": (4, 4), "norm_axes": (1,), "has_gamma": gamma, "has_beta": beta}
    y, dx = torch.empty_like(dy), torch.empty_like(dy)
    stats = {name: torch.empty(4, 1, dtype=torch.float64) for name in ("mean", "rstd")}
    given = {name: value.detach() for name, value in known.items()}
    run("LayerNorm", {**desc, "eps": EPS}, x=x.detach(), y=y, **stats, **given)
    close(y, want)
    made = {f"d{name}": torch.empty(4, dtype=torch.float64) for name in known}
    given.pop("beta", None)
    run("LayerNormBackward", desc, dy=dy, x=x.detach(), dx=dx, **stats, **given, **made)
    close(dx, want_dx)
    for got, expected in zip(made.values(), rest, strict=True):
        close(got, expected)


def test_the_gradient_of_a_sum_is_expanded() -> None:
    """`loss.sum()` hands down one element with zero strides; other gradients are views too."""
    x = torch.randn(6, 8, dtype=torch.float64)
    rms = (x.square().mean(1, keepdim=True) + EPS).sqrt()
    weight, desc = torch.ones(8, dtype=torch.float64), {"input_shape": (6, 8), "norm_axes": (1,)}
    wide = torch.randn(6, 16, dtype=torch.float64)
    views = (torch.ones((), dtype=torch.float64).expand(6, 8), wide[:, ::2], wide[:4, :12].reshape(8, 6).T)
    for dy in views:
        results = []
        for given in (dy, dy.contiguous()):
            dx, dgamma = torch.empty_like(x), torch.empty_like(weight)
            run("RMSNormBackward", desc, dy=given, x=x, gamma=weight, rms=rms, dx=dx, dgamma=dgamma)
            results.append((dx, dgamma))
        for got, expected in zip(*results, strict=True):
            np.testing.assert_array_equal(got, expected)
