"""Plans under PyTorch's autograd, as the documentation has them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch

import baracuda as bc

PAGE = Path(__file__).resolve().parents[2] / "docs/maps.md"


def test_the_example_of_a_function_runs():
    """As it stands on the page, behind the block that the page begins with; its gradient beside PyTorch's."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    seen: dict[str, Any] = {}
    exec(blocks[0] + blocks[-1], seen)
    x = torch.randn(2, 3, requires_grad=True)
    seen["SiLU"].apply(x).square().sum().backward()
    own = x.detach().clone().requires_grad_()
    torch.nn.functional.silu(own).square().sum().backward()
    torch.testing.assert_close(x.grad, own.grad)
    ones = torch.ones(2, 3, requires_grad=True)
    torch.nn.functional.silu(ones).sum().backward()
    torch.testing.assert_close(seen["leaf"].grad, ones.grad)


def test_autograd_does_not_see_what_a_plan_writes():
    plan = bc.UnaryPlan.select(bc.Stream.host(), bc.UnaryDescriptor(kind="neg", shape=(3,), element="f32"))
    leaf = torch.ones(3, requires_grad=True)
    version = leaf._version
    plan(x=torch.ones(3), y=leaf)
    assert leaf.tolist() == [-1, -1, -1]
    assert (leaf._version, leaf.is_leaf) == (version, True)
