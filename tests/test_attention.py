"""Scaled dot-product attention: what is of its kind. The tests by property run on it as on every op."""

from __future__ import annotations

import importlib
import itertools

import ml_dtypes
import numpy as np
import pytest

import baracuda as bc
from baracuda.codegen import verify
from baracuda.engines import attention
from baracuda.errors import InvalidProblem, Unsupported, WorkspaceTooSmall
from baracuda.host import ORDER_VARIABLE
from baracuda.sku import MathPrecision, PlanPreference

EVERY = ["f16", "bf16", "f32", "f64"]
NAN, INF = np.nan, np.inf


def descriptor(dtype, q, k, v, backward=False, **fields):
    batch, heads, queries, d_k = q.shape
    made = bc.SdpaBackwardDescriptor if backward else bc.SdpaDescriptor
    known = {
        "batch_size": batch, "num_heads": heads, "query_len": queries, "key_len": k.shape[2], "d_k": d_k,
        "d_v": v.shape[3], "num_kv_heads": k.shape[1], "scale": 1.0, "element": dtype,
    }  # fmt: skip
    return made(**{**known, **fields})


def placed(backend, dtype, name, value):
    if value is None or not isinstance(value, np.ndarray):
        return value  # what a test has placed itself
    kind = "bool" if value.dtype == bool else dtype
    exact = value if kind == "bool" else verify.rounded(value, dtype)
    return verify.place(backend, name, kind, exact.shape, exact)


def array_of(tensor):
    return None if tensor is None else tensor.array


def attend(backend, dtype, q, k, v, *, mask=None, preference=None, wants_attn=True, **fields):
    """y and attn of a forward."""
    desc = descriptor(dtype, q, k, v, **fields)
    given = {n: placed(backend, dtype, n, x) for n, x in {"q": q, "k": k, "v": v, "mask": mask}.items()}
    y = verify.place(backend, "y", dtype, (*q.shape[:3], v.shape[3]))
    attn = verify.place(backend, "attn", dtype, (*q.shape[:3], k.shape[2])) if wants_attn else None
    plan = bc.SdpaPlan.select(backend.stream, desc, preference)
    arrays = {name: array_of(tensor) for name, tensor in given.items()}
    plan(**arrays, y=y.array, attn=array_of(attn), stream=backend.stream)
    y.check_surroundings(backend)
    if attn is None:
        return y.values(backend), None
    attn.check_surroundings(backend)
    return y.values(backend), attn.values(backend)


def gradients(
    backend, dtype, q, k, v, attn, dy, *, preference=None, wanted="dq dk dv", scratch=True, **fields
):
    """The gradients that are wanted, by name."""
    desc = descriptor(dtype, q, k, v, backward=True, **fields)
    given = {"q": q, "k": k, "v": v, "attn": attn, "dy": dy}
    arrays = {name: array_of(placed(backend, dtype, name, value)) for name, value in given.items()}
    shapes = {"dq": q.shape, "dk": k.shape, "dv": v.shape}
    outs = {name: verify.place(backend, name, dtype, shapes[name]) for name in wanted.split()}
    space = verify.place(backend, "dscores_ws", dtype, attn.shape) if scratch else None
    plan = bc.SdpaBackwardPlan.select(backend.stream, desc, preference)
    workspace = None if scratch else backend.workspace(plan.workspace_size())
    plan(
        **arrays,
        dscores_ws=array_of(space),
        **{name: out.array for name, out in outs.items()},
        stream=backend.stream,
        workspace=workspace,
    )
    for out in outs.values():
        out.check_surroundings(backend)
    return {name: out.values(backend) for name, out in outs.items()}


def noise(dtype, *shape, seed=0):
    return verify.rounded(np.random.default_rng(seed).standard_normal(shape), dtype)


def operands(dtype, heads=4, kv_heads=2, queries=70, keys=90, d_k=20, d_v=24, batch=2):
    """q, k, v and dy of more than one tile each."""
    return (
        noise(dtype, batch, heads, queries, d_k, seed=1),
        noise(dtype, batch, kv_heads, keys, d_k, seed=2),
        noise(dtype, batch, kv_heads, keys, d_v, seed=3),
        noise(dtype, batch, heads, queries, d_v, seed=4),
    )


def assert_same_bits(got, want):
    np.testing.assert_array_equal(verify.bits_of(got), verify.bits_of(want))


def assert_near(dtype, got, want, places=4):
    """Within some units in the last place of what is 1 or larger."""
    want = np.asarray(want, np.longdouble).reshape(got.shape)
    error = verify.largest_error(dtype, got, want, np.maximum(np.abs(want), 1))
    assert error <= places, f"got {got}, want {want}: {error} ulp"


# Faults that people reported elsewhere, with the right values


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("additive", [False, True])
def test_a_fully_masked_row(backend, dtype, additive):
    """https://github.com/pytorch/pytorch/issues/103963: it gives 0, no gradient, and no NaN to others."""
    q = np.array([[1.0, 0], [0, 1]]).reshape(1, 1, 2, 2)
    k = np.array([[1.0, 2], [3, 4]]).reshape(1, 1, 2, 2)
    v = np.array([[5.0, 6], [7, 8]]).reshape(1, 1, 2, 2)
    mask = np.array([[False, False], [True, False]])
    y, attn = attend(backend, dtype, q, k, v, mask=np.where(mask, 0, -INF) if additive else mask)
    np.testing.assert_array_equal(y[0, 0].astype(float), [[0, 0], [5, 6]])
    np.testing.assert_array_equal(attn[0, 0].astype(float), [[0, 0], [1, 0]])
    found = gradients(backend, dtype, q, k, v, attn, np.ones((1, 1, 2, 2)))
    np.testing.assert_array_equal(found["dv"][0, 0].astype(float), [[1, 1], [0, 0]])
    for name in ("dq", "dk"):
        np.testing.assert_array_equal(found[name].astype(float), 0)


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize(
    ("causal", "values", "queries", "want"),
    [
        ("bottom_right", [1, 2, 3, 4], 2, [2, 2.5]),
        ("bottom_right", [1, 3], 4, [0, 0, 1, 2]),
        ("top_left", [1, 2, 3, 4], 2, [1, 1.5]),
        ("top_left", [1, 3], 4, [1, 2, 2, 2]),
    ],
)
def test_causal_alignment(backend, dtype, causal, values, queries, want):
    """https://github.com/Dao-AILab/flash-attention/pull/436: forward and backward agree on it."""
    v = np.array(values, float).reshape(1, 1, -1, 1)
    q, k = np.zeros((1, 1, queries, 1)), np.zeros_like(v)
    y, attn = attend(backend, dtype, q, k, v, causal=causal)
    assert_near(dtype, y[0, 0, :, 0], want)
    dv = gradients(backend, dtype, q, k, v, attn, np.ones(q.shape), causal=causal)["dv"]
    assert_near(dtype, dv[0, 0, :, 0], np.sum(attn[0, 0].astype(float), axis=0))


@pytest.mark.parametrize("dtype", EVERY)
def test_heads_that_share_keys(backend, dtype):
    """https://github.com/marin-community/levanter/pull/449: gradients are sums over the heads of a group."""
    q = np.array([1.0, 0, 2]).reshape(1, 3, 1, 1)
    k, v = np.array([1.0, 0]).reshape(1, 1, 2, 1), np.array([1.0, 3]).reshape(1, 1, 2, 1)
    y, attn = attend(backend, dtype, q, k, v)
    loose = 2**27 if dtype == "f64" else 8  # the values have nine digits
    assert_near(dtype, y, [1.53788284, 2, 1.23840584], loose)
    found = gradients(backend, dtype, q, k, v, attn, np.ones((1, 3, 1, 1)))
    assert_near(dtype, found["dq"], [-0.39322387, -0.5, -0.20998717], loose)
    assert_near(dtype, found["dk"], [-0.81319821, 0.81319821], loose)
    assert_near(dtype, found["dv"], [2.11185566, 0.88814434], loose)


@pytest.mark.parametrize("dtype", EVERY)
def test_which_heads_share(backend, dtype):
    """Neighbours do, as in `repeat_interleave`: 6 heads of queries, 2 of keys."""
    v = np.array([10.0, 20]).reshape(1, 2, 1, 1)
    y, _ = attend(backend, dtype, np.zeros((1, 6, 1, 2)), np.zeros((1, 2, 1, 2)), v)
    np.testing.assert_array_equal(y[0, :, 0, 0].astype(float), [10, 10, 10, 20, 20, 20])


@pytest.mark.parametrize("dtype", EVERY)
def test_gradients_go_to_the_head_that_is_shared(backend, dtype):
    """One head of 6 after the other has a gradient: its keys, of 2 heads, get what it alone gives."""
    q, k, v, dy = operands(dtype, heads=6, kv_heads=2, queries=9, keys=40, d_k=5, d_v=7)
    _, attn = attend(backend, dtype, q, k, v)
    for head in range(6):
        alone = np.zeros_like(dy)
        alone[:, head] = dy[:, head]
        found = gradients(backend, dtype, q, k, v, attn, alone)
        part = slice(head // 3, head // 3 + 1)
        one = [x[:, head : head + 1] for x in (q, attn, dy)]
        want = gradients(backend, dtype, one[0], k[:, part], v[:, part], *one[1:])
        assert_same_bits(found["dq"][:, head], want["dq"][:, 0])
        assert_same_bits(found["dk"][:, part], want["dk"])
        assert_same_bits(found["dv"][:, part], want["dv"])
        assert (found["dk"][:, 1 - head // 3].astype(float) == 0).all()
        assert (found["dv"][:, 1 - head // 3].astype(float) == 0).all()


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_an_expanded_gradient(backend, dtype):
    """https://github.com/ROCm/TransformerEngine/pull/623: what `loss.sum()` hands down, slices."""
    q, k, v, _ = operands(dtype, queries=20, keys=30, d_v=8)
    _, attn = attend(backend, dtype, q, k, v)
    for layout in ("first axis expanded", "sliced rows", "transposed", "rotated axes", "reversed"):
        dy = verify.place(backend, "dy", dtype, (2, 4, 20, 8), noise(dtype, 2, 4, 20, 8), layout, inner=True)
        got = gradients(backend, dtype, q, k, v, attn, dy)
        dy.check_untouched(backend)
        want = gradients(backend, dtype, q, k, v, attn, dy.values(backend))
        for name in want:
            assert_same_bits(got[name], want[name])


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_strides_of_single_elements_say_nothing(backend, dtype):
    """https://github.com/pytorch/pytorch/pull/83158: any stride on an axis of extent 1, the innermost too."""
    q, k, v, _ = operands(dtype, batch=1, heads=1, kv_heads=1, queries=2, keys=3, d_k=1, d_v=1)
    want, _ = attend(backend, dtype, q, k, v)
    odd = [
        verify.place(backend, name, dtype, x.shape, x, "odd strides of size-1 axes")
        for name, x in (("q", q), ("k", k), ("v", v))
    ]
    y = verify.place(backend, "y", dtype, (1, 1, 2, 1), None, "odd strides of size-1 axes")
    plan = bc.SdpaPlan.select(backend.stream, descriptor(dtype, q, k, v))
    plan(q=odd[0].array, k=odd[1].array, v=odd[2].array, y=y.array, stream=backend.stream)
    assert_same_bits(y.values(backend), want)


# What a weight of zero leaves out


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("planted", [NAN, INF, -INF])
@pytest.mark.parametrize("additive", [False, True])
def test_masked_keys_are_never_read_into_a_result(backend, dtype, planted, additive):
    """Keys that nobody sees, as of a cache that is not full: results have the bits that finite ones give."""
    q, k, v, dy = operands(dtype)
    hidden = np.zeros(90, bool)
    hidden[[0, 17, 63, 64, 65, 88, 89]] = True
    mask = np.where(hidden, -INF, 0.0) if additive else ~hidden
    results = []
    for value in (0.5, planted):
        for array in (k, v):
            array[:, :, hidden] = value
        y, attn = attend(backend, dtype, q, k, v, mask=mask)
        results.append({"y": y, "attn": attn, **gradients(backend, dtype, q, k, v, attn, dy)})
    for name, want in results[0].items():
        assert np.isfinite(want.astype(float)).all()
        assert_same_bits(results[1][name], want)


@pytest.mark.parametrize("dtype", EVERY)
def test_what_single_queries_do_not_see(backend, dtype):
    """NaN in a late key spoils the queries that see it and no other, in the forward and the backward."""
    q, k, v, dy = operands(dtype, queries=90)
    clean_y, clean_attn = attend(backend, dtype, q, k, v, causal="top_left")
    clean = gradients(backend, dtype, q, k, v, clean_attn, dy, causal="top_left")
    k[:, :, 70], v[:, :, 70] = NAN, NAN
    y, attn = attend(backend, dtype, q, k, v, causal="top_left")
    assert_same_bits(y[:, :, :70], clean_y[:, :, :70])
    assert_same_bits(attn[:, :, :70], clean_attn[:, :, :70])
    assert np.isnan(y[:, :, 70:].astype(float)).all()
    dq = gradients(backend, dtype, q, k, v, attn, dy, wanted="dq", causal="top_left")["dq"]
    assert_same_bits(dq[:, :, :70], clean["dq"][:, :, :70])
    assert np.isnan(dq[:, :, 70:].astype(float)).all()


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("planted", [NAN, INF, -INF])
@pytest.mark.parametrize(("causal", "queries"), [("top_left", 20), ("top_left", 140), ("bottom_right", 140)])
def test_what_a_query_that_is_nan_does_not_see(backend, dtype, planted, causal, queries):
    """It has no weight there, wherever tiles end, and leaves the gradients of these keys as they are."""
    q, k, v, dy = operands(dtype, 2, 1, batch=1, queries=queries, keys=200)
    row, seen = 5, 6 + (200 - queries if causal == "bottom_right" else 0)
    offset = seen - row - 1
    mask = np.arange(200) <= np.arange(queries)[:, None] + offset
    k[:, :, 2, 3] = -1 if planted == -INF else 1  # the score is inf, and so the row NaN
    _, attn = attend(backend, dtype, q, k, v, causal=causal)
    clean = gradients(backend, dtype, q, k, v, attn, dy, causal=causal)
    q[:, :, row, 3] = planted
    found = []
    for shown in ({"causal": causal}, {"mask": mask}):
        y, attn = attend(backend, dtype, q, k, v, **shown)
        assert np.isnan(y[:, :, row].astype(float)).all()
        assert np.isnan(attn[:, :, row, 2].astype(float)).all()
        assert (attn[:, :, row, seen:].astype(float) == 0).all()
        found.append({"attn": attn, **gradients(backend, dtype, q, k, v, attn, dy, causal=causal)})
    for name, want in found[0].items():
        assert_same_bits(found[1][name], want)
    assert_same_bits(found[0]["dv"][:, :, seen:], clean["dv"][:, :, seen:])
    assert np.isfinite(found[0]["dk"][:, :, seen:].astype(float)).all()
    assert np.isnan(found[0]["dv"][:, :, 2].astype(float)).all()


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize(("queries", "keys"), [(150, 20), (148, 20), (90, 70), (130, 64), (65, 64)])
@pytest.mark.parametrize("scratch", [True, False])
def test_weights_that_causal_hides_are_not_read(backend, dtype, queries, keys, scratch):
    """Rows of NaN, as masked_row="nan" leaves them, give what rows of zeros give, wherever tiles end."""
    q, k, v, dy = operands(dtype, batch=1, queries=queries, keys=keys)
    hidden = queries - keys
    kept = {}
    for masked_row in ("zero", "nan"):
        _, kept[masked_row] = attend(backend, dtype, q, k, v, causal="bottom_right", masked_row=masked_row)
    assert np.isnan(kept["nan"][:, :, :hidden].astype(float)).all()
    preference = None if scratch else PlanPreference(max_workspace=0)
    options = {"scratch": scratch, "preference": preference, "wanted": "dq dk dv" if scratch else "dq dv"}
    want, got = (
        gradients(backend, dtype, q, k, v, attn, dy, causal="bottom_right", **options)
        for attn in kept.values()
    )
    for name, value in want.items():
        assert_same_bits(got[name], value)


@pytest.mark.parametrize("dtype", EVERY)
def test_queries_that_see_nothing_hand_nothing_down(backend, dtype):
    """NaN in a masked query and in the gradient that comes to it."""
    q, k, v, dy = operands(dtype)
    mask = np.ones((70, 1), bool)
    mask[[3, 64]] = False
    results = []
    for value in (0.5, NAN):
        q[:, :, [3, 64]], dy[:, :, [3, 64]] = value, value
        y, attn = attend(backend, dtype, q, k, v, mask=mask)
        results.append({"y": y, "attn": attn, **gradients(backend, dtype, q, k, v, attn, dy)})
    for name, want in results[0].items():
        assert_same_bits(results[1][name], want)
    for name in ("y", "attn", "dq"):
        assert (results[0][name][:, :, [3, 64]].astype(float) == 0).all()


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_infinite_values_that_are_seen(backend, dtype):
    """An infinity reaches its own column of the queries that see it, and nothing else changes a bit."""
    q, k, v, _ = operands(dtype)
    clean, _ = attend(backend, dtype, q, k, v, scale=0.1)
    v[0, 1, 40, 5] = INF
    y, _ = attend(backend, dtype, q, k, v, scale=0.1)
    want = clean.copy()
    want[0, 2:, :, 5] = INF
    assert_same_bits(y, want)


# Rows without a key, and nothing at all


@pytest.mark.parametrize("dtype", EVERY)
def test_masked_row_as_pytorch_has_it(backend, dtype):
    q, k, v, _ = operands(dtype)
    mask = np.ones((70, 90), bool)
    mask[5] = False
    y, attn = attend(backend, dtype, q, k, v, mask=mask, masked_row="nan")
    usual_y, usual_attn = attend(backend, dtype, q, k, v, mask=mask)
    others = np.arange(70) != 5
    for got, usual in ((y, usual_y), (attn, usual_attn)):
        assert np.isnan(got[:, :, 5].astype(float)).all()
        assert_same_bits(got[:, :, others], usual[:, :, others])


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("masked_row", ["zero", "nan"])
def test_no_keys(backend, dtype, masked_row):
    """An empty sum is 0, whatever a masked row gives."""
    q, k, v, dy = operands(dtype, keys=0)
    y, attn = attend(backend, dtype, q, k, v, masked_row=masked_row)
    assert attn.shape == (2, 4, 70, 0)
    assert (y.astype(float) == 0).all()
    dq = gradients(backend, dtype, q, k, v, attn, dy)["dq"]
    assert (dq.astype(float) == 0).all()


@pytest.mark.parametrize("dtype", EVERY)
def test_no_queries_and_no_elements(backend, dtype):
    q, k, v, dy = operands(dtype, queries=0)
    y, attn = attend(backend, dtype, q, k, v)
    assert y.size == attn.size == 0
    found = gradients(backend, dtype, q, k, v, attn, dy)
    assert all((found[name].astype(float) == 0).all() for name in ("dk", "dv"))
    # Without elements every score is 0, and every weight the same.
    q, k, v, dy = operands(dtype, d_k=0, keys=64)
    y, attn = attend(backend, dtype, q, k, v)
    assert (attn.astype(float) == 1 / 64).all()
    assert_near(dtype, y, np.repeat(v.astype(float).mean(axis=2, keepdims=True), 2, 1).repeat(70, 2))


# Masks


@pytest.mark.parametrize("dtype", ["bf16", "f64"])
def test_a_mask_of_every_shape_that_broadcasts(backend, dtype):
    q, k, v, _ = operands(dtype, queries=9, keys=11)
    whole = np.random.default_rng(7).random((2, 4, 9, 11)) < 0.7
    for rank in range(5):
        for ones in itertools.product((False, True), repeat=rank):
            part = whole[(0,) * (4 - rank)]
            part = part[tuple(slice(0, 1) if one else slice(None) for one in ones)]
            want = attend(backend, dtype, q, k, v, mask=np.broadcast_to(part, whole.shape).copy())
            for mask in (part, np.where(part, 0.0, -INF)):
                got = attend(backend, dtype, q, k, v, mask=np.asarray(mask))
                for one, other in zip(got, want, strict=True):
                    assert_same_bits(one, other)


@pytest.mark.parametrize("causal", ["top_left", "bottom_right"])
@pytest.mark.parametrize(("queries", "keys"), [(70, 90), (90, 70), (130, 130), (1, 200), (200, 1)])
@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_causal_is_a_mask(backend, dtype, causal, queries, keys):
    """Tiles that nobody sees are left out, and change no bit: of gradients neither."""
    q, k, v, dy = operands(dtype, queries=queries, keys=keys)
    offset = keys - queries if causal == "bottom_right" else 0
    mask = np.arange(keys) <= np.arange(queries)[:, None] + offset
    got, want = attend(backend, dtype, q, k, v, causal=causal), attend(backend, dtype, q, k, v, mask=mask)
    for one, other in zip(got, want, strict=True):
        assert_same_bits(one, other)
    attn = want[1]
    skipping = gradients(backend, dtype, q, k, v, attn, dy, causal=causal)
    plain = gradients(backend, dtype, q, k, v, attn, dy)
    for name in plain:
        assert_same_bits(skipping[name], plain[name])


@pytest.mark.parametrize("dtype", EVERY)
def test_terms_at_the_end_of_the_range(backend, dtype):
    """The smallest number hides nothing in a row that has nothing else; beside other terms it is -inf."""
    q, k, v, _ = operands(dtype, queries=9, keys=64)
    terms = np.full((9, 64), float(ml_dtypes.finfo(verify.numpy_dtype(dtype)).min))
    terms[3], terms[5, 10:] = 0, 0
    _, attn = attend(backend, dtype, q, k, v, mask=terms)
    _, want = attend(backend, dtype, q, k, v, mask=terms == 0)
    for row in (3, 5):
        assert_same_bits(attn[:, :, row], want[:, :, row])
    assert (np.sum(attn.astype(float), axis=-1) > 0.9).all()
    if dtype != "f16":  # beside whose smallest number a score keeps digits
        assert (np.delete(attn.astype(float), [3, 5], axis=2) == 1 / 64).all()


@pytest.mark.parametrize("dtype", ["f16", "f64"])
@pytest.mark.parametrize("layout", ["transposed", "every second column", "reversed", "last axis expanded"])
def test_a_mask_in_any_layout(backend, dtype, layout):
    q, k, v, _ = operands(dtype, queries=9, keys=11)
    terms = noise(dtype, 2, 4, 9, 11)
    mask = verify.place(backend, "mask", dtype, terms.shape, terms, layout)
    got = attend(backend, dtype, q, k, v, mask=mask)
    want = attend(backend, dtype, q, k, v, mask=mask.values(backend))
    for one, other in zip(got, want, strict=True):
        assert_same_bits(one, other)


# Heads that share, by number and by stride


@pytest.mark.parametrize("dtype", EVERY)
def test_a_zero_stride_shares_a_head(backend, dtype):
    """Keys and values broadcast over the heads, and gradients that are one slot for all of them."""
    q, k, v, dy = operands(dtype, kv_heads=1)
    want_y, attn = attend(backend, dtype, q, k, v)
    want = gradients(backend, dtype, q, k, v, attn, dy)
    wide = {"k": np.broadcast_to(k, (2, 4, *k.shape[2:])), "v": np.broadcast_to(v, (2, 4, *v.shape[2:]))}
    shared = {name: expanded(backend, dtype, name, x) for name, x in wide.items()}
    desc = descriptor(dtype, q, wide["k"], wide["v"])
    given = {name: placed(backend, dtype, name, x) for name, x in {"q": q, "attn": attn, "dy": dy}.items()}
    y = verify.place(backend, "y", dtype, want_y.shape)
    plan = bc.SdpaPlan.select(backend.stream, desc)
    arrays = {name: tensor.array for name, tensor in shared.items()}
    plan(q=given["q"].array, **arrays, y=y.array, stream=backend.stream)
    assert_same_bits(y.values(backend), want_y)
    # Whatever the slots hold before: the crate asks for zeros.
    for fill in (NAN, 0.0):
        outs = {f"d{name}": expanded(backend, dtype, name, np.full_like(x, fill)) for name, x in wide.items()}
        dq = verify.place(backend, "dq", dtype, q.shape)
        space = verify.place(backend, "dscores_ws", dtype, attn.shape)
        backward = descriptor(dtype, q, wide["k"], wide["v"], backward=True)
        bc.SdpaBackwardPlan.select(backend.stream, backward)(
            **{name: tensor.array for name, tensor in given.items()},
            **arrays,
            **{name: out.array for name, out in outs.items()},
            dq=dq.array,
            dscores_ws=space.array,
            stream=backend.stream,
        )
        assert_same_bits(dq.values(backend), want["dq"])
        for name, out in outs.items():
            out.check_surroundings(backend)
            assert_same_bits(out.values(backend)[:, :1], want[name])


def expanded(backend, dtype, name, values):
    """A tensor whose heads are one and the same memory."""
    batch, _, rows, size = values.shape
    place = verify.Placement(64 + batch * rows * size, 32, (rows * size, 0, size, 1))
    tensor = verify.place(backend, name, dtype, (1,))
    flat = np.full(place.length, NAN).astype(verify.numpy_dtype(dtype))
    tensor.shape, tensor.place, tensor.before = values.shape, place, flat
    tensor.strided(flat)[...] = values
    tensor.memory = backend.memory(flat)
    tensor.array = backend.view(tensor.memory, tensor.dtype, values.shape, place)
    return tensor


@pytest.mark.parametrize("name", ["dk", "dv"])
def test_a_gradient_shares_heads_only_where_its_operand_does(backend, name):
    q, k, v, dy = operands("f32", kv_heads=4, queries=8, keys=9)
    _, attn = attend(backend, "f32", q, k, v)
    out = expanded(backend, "f32", name, k if name == "dk" else v)
    plan = bc.SdpaBackwardPlan.select(backend.stream, descriptor("f32", q, k, v, backward=True))
    given = {"q": q, "k": k, "v": v, "attn": attn, "dy": dy}
    arrays = {key: placed(backend, "f32", key, value).array for key, value in given.items()}
    message = (
        rf"{name} is an output and has a zero stride on axis 1 .*, or heads of {name[1]} at a zero stride"
    )
    with pytest.raises(InvalidProblem, match=message):
        plan(**arrays, **{name: out.array}, stream=backend.stream)
    out.check_untouched(backend)


def test_a_gradient_for_each_head_of_a_shared_key(backend):
    """Where dk has memory for every head, each gets its own part of the sum."""
    q, k, v, dy = operands("f32", kv_heads=1)
    wide_k, wide_v = (np.ascontiguousarray(np.broadcast_to(x, (2, 4, *x.shape[2:]))) for x in (k, v))
    _, attn = attend(backend, "f32", q, k, v)
    want = gradients(backend, "f32", q, wide_k, wide_v, attn, dy)
    shared = [expanded(backend, "f32", name, x) for name, x in (("k", wide_k), ("v", wide_v))]
    desc = descriptor("f32", q, wide_k, wide_v, backward=True)
    outs = {name: verify.place(backend, name, "f32", wide_k.shape) for name in ("dk",)}
    space = verify.place(backend, "dscores_ws", "f32", attn.shape)
    bc.SdpaBackwardPlan.select(backend.stream, desc)(
        q=placed(backend, "f32", "q", q).array,
        k=shared[0].array,
        v=shared[1].array,
        attn=placed(backend, "f32", "attn", attn).array,
        dy=placed(backend, "f32", "dy", dy).array,
        dscores_ws=space.array,
        dk=outs["dk"].array,
        stream=backend.stream,
    )
    assert_same_bits(outs["dk"].values(backend), want["dk"])


# Sizes


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize(("d_k", "d_v"), [(64, 128), (150, 24), (24, 150), (300, 257), (128, 64), (129, 1)])
def test_heads_of_any_size(spec, backend, dtype, d_k, d_v):
    """Those of a kernel, and longer ones, which go in parts; d_k unlike d_v."""
    op = spec.ops["sdpa"]
    extents = {"batch_size": 1, "num_heads": 2, "query_len": 20, "key_len": 70, "num_kv_heads": 1}
    fields = {**extents, "d_k": d_k, "d_v": d_v, "scale": d_k**-0.5, "causal": "bottom_right"}
    for direction in ("forward", "backward"):
        problem = verify.Problem(op, direction, dtype, fields)
        values = verify.inputs_for(problem)
        assert verify.worst(spec, backend, problem, values) <= problem.ulp[dtype]


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_scores_that_grow_with_every_key(spec, backend, dtype):
    """What was summed is rescaled at every tile, and keeps its digits."""
    op = spec.ops["sdpa"]
    fields = {
        "batch_size": 1, "num_heads": 1, "query_len": 3, "key_len": 600, "num_kv_heads": 1, "d_k": 1,
        "d_v": 9, "scale": 1.0, "causal": "none", "masked_row": "zero",
    }  # fmt: skip
    problem = verify.Problem(op, "forward", dtype, fields)
    for rising in (1, -1):
        k = verify.rounded(np.linspace(0, 40, 600)[::rising].reshape(1, 1, 600, 1), dtype)
        values = {"q": np.ones((1, 1, 3, 1), k.dtype), "k": k, "v": noise(dtype, 1, 1, 600, 9)}
        assert verify.worst(spec, backend, problem, values) <= problem.ulp[dtype]


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_more_blocks_than_a_launch_can_have(backend, dtype, monkeypatch):
    q, k, v, dy = operands(dtype)
    want_y, attn = attend(backend, dtype, q, k, v)
    want = gradients(backend, dtype, q, k, v, attn, dy)
    monkeypatch.setattr(attention, "INT32_MAX", 3)
    y, _ = attend(backend, dtype, q, k, v)
    assert_same_bits(y, want_y)
    for name, got in gradients(backend, dtype, q, k, v, attn, dy).items():
        assert_same_bits(got, want[name])


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_the_order_of_threads_over_many_tiles(device, backend, dtype, monkeypatch):
    """Every barrier is met several times: one that is missing shows."""
    if device.kind != "host":
        pytest.skip("the order of a GPU's threads cannot be asked for")
    q, k, v, dy = operands(dtype, batch=1, kv_heads=1, queries=150, keys=200, d_k=70)
    results = []
    for order in ("forward", "reverse", "ahead", "shuffle:1"):
        monkeypatch.setenv(ORDER_VARIABLE, order)
        y, attn = attend(backend, dtype, q, k, v, scale=0.1)
        results.append({"y": y, "attn": attn, **gradients(backend, dtype, q, k, v, attn, dy, scale=0.1)})
    for found in results[1:]:
        for name, want in results[0].items():
            assert_same_bits(found[name], want)


def test_heads_that_lie_far_apart(device, backend):
    """Offsets of more than 31 bits in elements, 32 in bytes."""
    arrays = importlib.import_module("cupy") if device.kind == "cuda" else np
    memory, far = arrays.empty(2**31 + 2**16, "f2"), 2**31
    shapes = {"q": (5, 8), "k": (7, 8), "v": (7, 6), "dy": (5, 6), "y": (5, 6), "dq": (5, 8)}
    given, tensors = (
        dict(zip(("q", "k", "v", "dy"), operands("f16", 2, 2, 5, 7, 8, 6, batch=1), strict=True)),
        {},
    )
    for place, (name, shape) in enumerate(shapes.items()):
        flat = memory[place * 1024 :]
        strides = tuple(2 * stride for stride in (far, far, shape[1], 1))
        tensors[name] = arrays.lib.stride_tricks.as_strided(flat, (1, 2, *shape), strides)
        if name in given:
            tensors[name][...] = arrays.asarray(given[name])
    q, k, v, dy = given.values()
    want_y, attn = attend(backend, "f16", q, k, v)
    want = gradients(backend, "f16", q, k, v, attn, dy, wanted="dq")["dq"]
    saved = arrays.asarray(attn)
    y, dq = tensors.pop("y"), tensors.pop("dq")
    operand = {name: tensors[name] for name in "qkv"}
    bc.SdpaPlan.select(backend.stream, descriptor("f16", q, k, v))(**operand, y=y, stream=backend.stream)
    bc.SdpaBackwardPlan.select(backend.stream, descriptor("f16", q, k, v, backward=True))(
        **operand, attn=saved, dy=tensors["dy"], dq=dq, stream=backend.stream
    )
    backend.synchronize()
    for got, exact in ((y, want_y), (dq, want)):
        assert_same_bits(arrays.ascontiguousarray(got).tolist(), exact.tolist())


def test_head_sizes_follow_from_the_problem():
    """A kernel for each of a finite set of sizes; the largest serves what is longer."""
    host = bc.Stream.host()
    fields = {"batch_size": 1, "num_heads": 1, "query_len": 1, "key_len": 1, "scale": 1.0}
    for dtype, sizes in {
        "f16": {1: 64, 64: 64, 65: 128, 128: 128, 500: 128},
        "f32": {64: 64, 65: 128},
        "f64": {64: 64, 65: 64},
    }.items():
        for size, head in sizes.items():
            desc = bc.SdpaDescriptor(**fields, d_k=size, d_v=1, element=dtype)
            assert bc.SdpaPlan.select(host, desc).sku.variant == f"head{head}"


# Scratch memory


@pytest.mark.parametrize("dtype", ["f16", "f64"])
def test_scratch_memory_as_an_argument_or_as_a_workspace(backend, dtype):
    q, k, v, dy = operands(dtype)
    _, attn = attend(backend, dtype, q, k, v)
    want = gradients(backend, dtype, q, k, v, attn, dy)
    for name, got in gradients(backend, dtype, q, k, v, attn, dy, scratch=False).items():
        assert_same_bits(got, want[name])
    desc = descriptor(dtype, q, k, v, backward=True)
    plan = bc.SdpaBackwardPlan.select(backend.stream, desc)
    assert 0 <= plan.workspace_size() - attn.nbytes < 256
    given = {"q": q, "k": k, "v": v, "attn": attn, "dy": dy}
    arrays = {name: placed(backend, dtype, name, value).array for name, value in given.items()}
    dk = verify.place(backend, "dk", dtype, k.shape)
    with pytest.raises(WorkspaceTooSmall, match=r"workspace has 0 bytes, .*, or dscores_ws$"):
        plan(**arrays, dk=dk.array, stream=backend.stream)
    spared = bc.SdpaBackwardPlan.select(backend.stream, desc, PlanPreference(max_workspace=0))
    assert spared.workspace_size() == 0
    with pytest.raises(
        InvalidProblem, match=r"dscores_ws is None, want a tensor, or a workspace of \d+ bytes"
    ):
        spared(**arrays, dk=dk.array, stream=backend.stream)
    dk.check_untouched(backend)


def subsets(*names):
    """Every choice of them but none, as text."""
    choices = itertools.product((False, True), repeat=len(names))
    return [" ".join(itertools.compress(names, choice)) for choice in choices if any(choice)]


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("wanted", subsets("dq", "dk", "dv"))
def test_gradients_that_are_wanted(backend, dtype, wanted):
    """Each has the bits that it has beside the others. Only dk reads what scratch memory keeps."""
    q, k, v, dy = operands(dtype, batch=1, heads=2, kv_heads=1, queries=130, keys=140)
    _, attn = attend(backend, dtype, q, k, v, scale=0.1)
    want = gradients(backend, dtype, q, k, v, attn, dy, scale=0.1)
    ways = [{"scratch": True}, {"scratch": False}]
    if "dk" not in wanted:
        ways.append({"scratch": False, "preference": PlanPreference(max_workspace=0)})
    for way in ways:
        got = gradients(backend, dtype, q, k, v, attn, dy, wanted=wanted, scale=0.1, **way)
        assert [*got] == wanted.split()
        for name, value in got.items():
            assert_same_bits(value, want[name])


def test_scratch_memory_overlaps_nothing(backend):
    q, k, v, dy = operands("f32", queries=8, keys=8)
    _, attn = attend(backend, "f32", q, k, v)
    given = {"q": q, "k": k, "v": v, "attn": attn, "dy": dy}
    tensors = {name: placed(backend, "f32", name, value) for name, value in given.items()}
    plan = bc.SdpaBackwardPlan.select(backend.stream, descriptor("f32", q, k, v, backward=True))
    arrays = {name: tensor.array for name, tensor in tensors.items()}
    dk = verify.place(backend, "dk", "f32", k.shape)
    with pytest.raises(InvalidProblem, match=r"dscores_ws is exactly attn, want memory apart"):
        plan(**arrays, dk=dk.array, dscores_ws=arrays["attn"], stream=backend.stream)
    tensors["attn"].check_untouched(backend)


# Precision


def test_tf32_only_where_it_is_allowed(backend):
    q, k, v, dy = operands("f32", d_k=64)
    desc = descriptor("f32", q, k, v, scale=0.125)
    exact = bc.SdpaPlan.select(backend.stream, desc).precision_guarantee
    assert exact.math_precision is MathPrecision.F32
    allowed = PlanPreference(allow_tf32=True)
    plan = bc.SdpaPlan.select(backend.stream, desc, allowed)
    assert plan.precision_guarantee.math_precision is MathPrecision.TF32
    assert plan.precision_guarantee.ulp == exact.ulp * 2**13
    assert plan.sku.variant == "tf32_head64"
    plain, attn = attend(backend, "f32", q, k, v, scale=0.125)
    rounded, _ = attend(backend, "f32", q, k, v, scale=0.125, preference=allowed)
    difference = np.abs(plain - rounded).max()
    assert 2.0**-16 < difference < 2.0**-8
    want = gradients(backend, "f32", q, k, v, attn, dy, scale=0.125)
    for name, got in gradients(backend, "f32", q, k, v, attn, dy, scale=0.125, preference=allowed).items():
        assert 0 < np.abs(got - want[name]).max() < 2.0**-6


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f64"])
def test_tf32_is_for_f32_alone(backend, dtype):
    q, k, v, _ = operands(dtype)
    plan = bc.SdpaPlan.select(backend.stream, descriptor(dtype, q, k, v), PlanPreference(allow_tf32=True))
    assert plan.precision_guarantee.math_precision.value == ("f64" if dtype == "f64" else "f32")
    assert plan.precision_guarantee.accumulator.value == ("f64" if dtype == "f64" else "f32")


def test_what_depends_on_other_queries():
    """Of the gradients, those of keys and values are sums over queries."""
    host = bc.Stream.host()
    q, k, v, _ = operands("f32")
    forward = bc.SdpaPlan.select(host, descriptor("f32", q, k, v))
    assert set(forward.precision_guarantee.batch_invariant) == {"y", "attn"}
    backward = bc.SdpaBackwardPlan.select(host, descriptor("f32", q, k, v, backward=True))
    assert backward.precision_guarantee.batch_invariant == ("dq",)


# Refusals


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scale": NAN}, "scale is nan, want isfinite"),
        ({"scale": INF}, "scale is inf, want isfinite"),
        ({"num_kv_heads": 3}, "num_kv_heads is 3"),
        ({"num_kv_heads": 0}, "num_kv_heads is 0"),
        ({"query_len": -1}, "query_len is -1, want a non-negative extent"),
    ],
)
@pytest.mark.parametrize("backward", [False, True])
def test_descriptors_that_make_no_sense(fields, message, backward):
    q, k, v, _ = operands("f32")
    cls = bc.SdpaBackwardPlan if backward else bc.SdpaPlan
    with pytest.raises(InvalidProblem, match=message):
        cls.select(bc.Stream.host(), descriptor("f32", q, k, v, backward, **fields))


def test_options_that_are_not_known():
    q, k, v, _ = operands("f32")
    for fields in ({"causal": "lower"}, {"masked_row": "average"}):
        with pytest.raises(Unsupported, match="want one of"):
            bc.SdpaPlan.select(bc.Stream.host(), descriptor("f32", q, k, v, **fields))
    with pytest.raises(Unsupported, match="causal is 'lower', want one of none, top_left, bottom_right"):
        bc.SdpaBackwardPlan.select(bc.Stream.host(), descriptor("f32", q, k, v, True, causal="lower"))


def test_weights_that_are_not_contiguous(backend):
    q, k, v, _ = operands("f32", queries=8, keys=8)
    plan = bc.SdpaPlan.select(backend.stream, descriptor("f32", q, k, v))
    tensors = {n: placed(backend, "f32", n, x).array for n, x in {"q": q, "k": k, "v": v}.items()}
    attn = verify.place(backend, "attn", "f32", (2, 4, 8, 8), None, "transposed")
    y = verify.place(backend, "y", "f32", (2, 4, 8, 24))
    with pytest.raises(Unsupported, match="SdpaPlan: attn has strides"):
        plan(**tensors, y=y.array, attn=attn.array, stream=backend.stream)


@pytest.mark.parametrize(
    ("mask", "kind", "message"),
    [
        (
            np.zeros((3, 8)),
            InvalidProblem,
            r"mask has shape \(3, 8\), want .*, or a shape that broadcasts to it$",
        ),
        (np.zeros((1, 2, 4, 8, 8)), InvalidProblem, "mask has shape"),
    ],
)
def test_masks_of_another_shape(backend, mask, kind, message):
    q, k, v, _ = operands("f32", queries=8, keys=8)
    with pytest.raises(kind, match=message):
        attend(backend, "f32", q, k, v, mask=mask)


def test_a_mask_of_another_dtype(backend):
    q, k, v, _ = operands("f32", queries=8, keys=8)
    mask = verify.place(backend, "mask", "f64", (8, 8), np.zeros((8, 8)))
    with pytest.raises(Unsupported, match="mask has dtype f64, want f32 or bool"):
        attend(backend, "f32", q, k, v, mask=mask)


def test_masks_that_differ_in_shape_alone(backend):
    """A plan that knows one layout does not take another shape with the same strides for it."""
    q, k, v, _ = operands("f32", queries=8, keys=8)
    tensors = {n: placed(backend, "f32", n, x).array for n, x in {"q": q, "k": k, "v": v}.items()}
    plan = bc.SdpaPlan.select(backend.stream, descriptor("f32", q, k, v))
    whole = np.random.default_rng(2).random((2, 4, 8, 8)) < 0.5
    for mask in (whole, whole[:1], whole[:1, :1], np.where(whole, 0.0, -INF), whole[0, 0]):
        y = verify.place(backend, "y", "f32", (2, 4, 8, 24))
        given = placed(backend, "f32", "mask", np.ascontiguousarray(mask))
        plan(**tensors, mask=given.array, y=y.array, stream=backend.stream)
        assert_same_bits(y.values(backend), attend(backend, "f32", q, k, v, mask=mask)[0])
