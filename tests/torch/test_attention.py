"""Attention beside PyTorch on the CPU: scaled_dot_product_attention and autograd through it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

import baracuda as bc

BATCH, HEADS, QUERIES, KEYS, D_K, D_V = 2, 4, 17, 29, 20, 12
DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16}
# In units of the dtype's epsilon, for standard normal values.
PLACES = 24


def operands(dtype: str, kv_heads: int, transposed: bool = False) -> list[torch.Tensor]:
    """q, k, v and the gradient of y; `transposed`: views of [B, S, H, D]."""
    torch.manual_seed(3)
    shapes = [(HEADS, QUERIES, D_K), (kv_heads, KEYS, D_K), (kv_heads, KEYS, D_V), (HEADS, QUERIES, D_V)]
    if transposed:
        return [torch.randn(BATCH, s, h, d).to(DTYPES[dtype]).transpose(1, 2) for h, s, d in shapes]
    return [torch.randn(BATCH, h, s, d).to(DTYPES[dtype]) for h, s, d in shapes]


def ours(dtype: str, tensors: list[torch.Tensor], mask: Any = None, **fields: Any) -> list[torch.Tensor]:
    """y, dq, dk and dv of our plans."""
    q, k, v, dy = tensors
    fields |= {
        "batch_size": BATCH, "num_heads": HEADS, "num_kv_heads": k.shape[1], "query_len": QUERIES,
        "key_len": KEYS, "d_k": D_K, "d_v": D_V, "scale": D_K**-0.5, "element": dtype,
    }  # fmt: skip
    host = bc.Stream.host()
    y, attn = torch.empty_like(dy), torch.empty(BATCH, HEADS, QUERIES, KEYS, dtype=q.dtype)
    bc.SdpaPlan.select(host, bc.SdpaDescriptor(**fields))(q=q, k=k, v=v, mask=mask, y=y, attn=attn)
    dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
    bc.SdpaBackwardPlan.select(host, bc.SdpaBackwardDescriptor(**fields))(
        q=q, k=k, v=v, attn=attn, dy=dy, dscores_ws=torch.empty_like(attn), dq=dq, dk=dk, dv=dv
    )
    return [y, dq, dk, dv]


def theirs(tensors: list[torch.Tensor], mask: Any = None, is_causal: bool = False) -> list[torch.Tensor]:
    """The same of PyTorch, in double."""
    q, k, v, dy = (x.detach().double().contiguous() for x in tensors)
    leaves = [x.requires_grad_() for x in (q, k, v)]
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.double()
    wide = [x.repeat_interleave(HEADS // x.shape[1], 1) for x in leaves]
    y = scaled_dot_product_attention(*wide, attn_mask=mask, is_causal=is_causal)
    return [y.detach(), *torch.autograd.grad(y, leaves, dy)]


def assert_near(dtype: str, got: list[torch.Tensor], want: list[torch.Tensor]) -> None:
    for one, other in zip(got, want, strict=True):
        error = (one.double() - other).abs().max() / max(1.0, float(other.abs().max()))
        assert error <= PLACES * torch.finfo(DTYPES[dtype]).eps


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kv_heads", [4, 2, 1])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_both_directions(dtype: str, kv_heads: int, causal: bool, transposed: bool) -> None:
    tensors = operands(dtype, kv_heads, transposed)
    got = ours(dtype, tensors, causal="top_left" if causal else "none")
    assert_near(dtype, got, theirs(tensors, is_causal=causal))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["bool", "terms"])
@pytest.mark.parametrize("shape", [(QUERIES, KEYS), (BATCH, 1, 1, KEYS), (BATCH, HEADS, QUERIES, KEYS)])
def test_masks(dtype: str, kind: str, shape: tuple[int, ...]) -> None:
    tensors = operands(dtype, HEADS)
    mask = torch.rand(shape) < 0.7
    mask[..., 0] = True
    if kind == "terms":
        mask = torch.where(mask, torch.randn(shape), -torch.inf).to(DTYPES[dtype])
    assert_near(dtype, ours(dtype, tensors, mask), theirs(tensors, mask))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", ["all", "some", "beside -inf"])
def test_masks_of_the_smallest_number(dtype: str, rows: str) -> None:
    """What `torch.finfo(dtype).min` hides, a row of it alone too, as many models write their masks."""
    tensors = operands(dtype, HEADS)
    mask = torch.full((QUERIES, KEYS), torch.finfo(DTYPES[dtype]).min, dtype=DTYPES[dtype])
    if rows == "some":
        mask[3], mask[5, 10:] = 0, 0
    if rows == "beside -inf":
        mask[:, ::2] = -torch.inf
    q, k, v, dy = (x.requires_grad_() for x in operands(dtype, HEADS))
    y = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    want = [y.detach(), *torch.autograd.grad(y, [q, k, v], dy)]
    assert_near(dtype, ours(dtype, tensors, mask), [x.double() for x in want])


def test_a_fully_masked_row() -> None:
    """0 in both, whatever a softmax would give."""
    tensors = operands("f64", HEADS)
    mask = torch.ones(QUERIES, KEYS, dtype=torch.bool)
    mask[3] = False
    got, want = ours("f64", tensors, mask), theirs(tensors, mask)
    assert (got[0][:, :, 3] == 0).all()
    assert (got[1][:, :, 3] == 0).all()
    assert_near("f64", got[:1], want[:1])


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_expanded_keys(dtype: str) -> None:
    """Keys and values that are one head for all, as `expand` gives them."""
    q, k, v, dy = operands(dtype, 1)
    want = ours(dtype, [q, k, v, dy])
    got = ours(dtype, [q, k.expand(-1, HEADS, -1, -1), v.expand(-1, HEADS, -1, -1), dy])
    assert torch.equal(got[0], want[0])
    assert torch.equal(got[1], want[1])
    # Each head has memory of its own here, and so its own part of the sum.
    assert_near(dtype, [x.double().sum(1, keepdim=True) for x in got[2:]], [x.double() for x in want[2:]])
