"""Softmax and its gradient beside PyTorch on the CPU, where the two mean the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import baracuda as bc

ROWS = np.array(
    [
        [1.0, 2.0, 3.0],
        [40000.0, 40001.0, 40002.0],
        [-np.inf, 0.0, -np.inf],
        [np.inf, 0.0, 1.0],
        [np.nan, 0.0, 1.0],
    ]
)


def run(cls, desc_cls, kind, shape, axis, **tensors):
    desc = desc_cls(kind=kind, input_shape=shape, softmax_axis=axis, element="f64", masked_row="nan")
    plan = cls.select(bc.Stream.host(), desc)
    plan(**tensors, workspace=bc.Workspace.host(plan.workspace_size()))


@pytest.mark.parametrize("kind", ["softmax", "log_softmax"])
@pytest.mark.parametrize("axis", [0, 1])
def test_forward_and_backward(kind: str, axis: int) -> None:
    x = torch.tensor(np.vstack([ROWS, np.full((1, 3), -np.inf)]), requires_grad=True)
    dy = torch.linspace(-1, 2, x.numel(), dtype=torch.float64).reshape(x.shape)
    want = getattr(torch, kind)(x, axis)
    (want_dx,) = torch.autograd.grad(want, x, dy)
    shape, y, dx = tuple(x.shape), torch.empty_like(x.detach()), torch.empty_like(x.detach())
    run(bc.SoftmaxPlan, bc.SoftmaxDescriptor, kind, shape, axis, x=x.detach(), y=y)
    np.testing.assert_allclose(y, want.detach(), rtol=1e-14, atol=1e-300)
    saved = {"y": y} if kind == "softmax" else {"x": x.detach()}
    run(bc.SoftmaxBackwardPlan, bc.SoftmaxBackwardDescriptor, kind, shape, axis, dy=dy, dx=dx, **saved)
    np.testing.assert_allclose(dx, want_dx, rtol=1e-13, atol=1e-15)


def test_two_axes_at_once() -> None:
    x = torch.randn(3, 4, 5, dtype=torch.float64)
    y = torch.empty_like(x)
    run(bc.SoftmaxPlan, bc.SoftmaxDescriptor, "softmax", (3, 4, 5), (0, 2), x=x, y=y)
    want = torch.softmax(x.permute(1, 0, 2).reshape(4, 15), 1).reshape(4, 3, 5).permute(1, 0, 2)
    np.testing.assert_allclose(y, want, rtol=1e-14)
