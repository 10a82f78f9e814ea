"""Rotary position embedding: what is of its kind. The tests by property run on it as on every op."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import baracuda as bc
from baracuda.codegen import verify
from baracuda.engines import rotate
from baracuda.errors import InvalidProblem, Unsupported

EVERY = ["f16", "bf16", "f32", "f64"]
#: Positions up to which each dtype holds its bound, here with frequencies up to one radian a position.
FARTHEST = {"f16": 2**53 - 1, "bf16": 2**53 - 1, "f32": 2**53 - 1, "f64": 2**40}
POSITIONS = [0, 1, -1, 255, 256, 257, 1857, 10**6, -(10**6), 10**6 + 1, 2**31, -(2**31), 2**31 + 1, 2**40]


def descriptor(dtype, shape, backward=False, **fields):
    batch, heads, length, size = shape
    made = bc.RopeBackwardDescriptor if backward else bc.RopeDescriptor
    return made(batch_size=batch, num_heads=heads, seq_len=length, head_dim=size, element=dtype, **fields)


def turned(backend, dtype, x, *, backward=False, positions=None, inv_freq=None, **fields):
    """What a plan makes of `x`, contiguous."""
    given = {"dy" if backward else "x": verify.place(backend, "x", dtype, x.shape, x)}
    for name, kind, value in (("positions", "i64", positions), ("inv_freq", "f64", inv_freq)):
        if value is not None:
            array = np.ascontiguousarray(value, verify.numpy_dtype(kind))
            given[name] = verify.place(backend, name, kind, array.shape, array)
    out = verify.place(backend, "y", dtype, x.shape)
    plan_class = bc.RopeBackwardPlan if backward else bc.RopePlan
    plan = plan_class.select(backend.stream, descriptor(dtype, x.shape, backward, **fields))
    arrays = {name: tensor.array for name, tensor in given.items()}
    plan(**arrays, **{"dx" if backward else "y": out.array}, stream=backend.stream)
    out.check_surroundings(backend)
    return out.values(backend)


def noise(dtype, *shape, seed=0):
    return verify.rounded(np.random.default_rng(seed).standard_normal(shape), dtype)


def assert_same_bits(got, want):
    np.testing.assert_array_equal(verify.bits_of(got), verify.bits_of(want))


# Angles


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("base", [10000.0, 500000.0, 1.5])
def test_sine_and_cosine_at_any_position(backend, dtype, base):
    """Against the exact angle position * base ** (-2 i / d) in 200 digits, at a million and far beyond."""
    positions = [*POSITIONS, FARTHEST[dtype], -FARTHEST[dtype]]
    positions = [p for p in positions if abs(p) <= FARTHEST[dtype]]
    size = 128
    x = np.zeros((1, 1, len(positions), size), verify.numpy_dtype(dtype))
    x[..., 0::2] = 1
    got = turned(backend, dtype, x, positions=positions, base=base)[0, 0]
    with mpmath.workdps(200):
        angles = [
            [p * mpmath.mpf(base) ** mpmath.mpf(-2 * i / size) for i in range(size // 2)] for p in positions
        ]
        for part, function in ((got[:, 0::2], mpmath.cos), (got[:, 1::2], mpmath.sin)):
            want = np.array([[exact(function(angle)) for angle in row] for row in angles], np.longdouble)
            error = verify.largest_error(dtype, part, want)
            assert error <= (1.3 if dtype == "f64" else 0.501), error


def exact(value):
    """A number of many digits as a longdouble."""
    high = float(value)
    return np.longdouble(high) + np.longdouble(float(value - mpmath.mpf(high)))


@pytest.mark.parametrize("dtype", EVERY)
def test_a_callers_frequencies_are_exact_doubles(backend, dtype):
    """The angle is the exact product of the position with the double that was given."""
    rng = np.random.default_rng(2)
    inv_freq = np.exp(-rng.uniform(0, 9, 32))
    x = np.zeros((1, 1, len(POSITIONS), 64), verify.numpy_dtype(dtype))
    x[..., :32] = 1
    got = turned(backend, dtype, x, positions=POSITIONS, inv_freq=inv_freq, layout="half")[0, 0]
    with mpmath.workdps(100):
        for part, function in ((got[:, :32], mpmath.cos), (got[:, 32:], mpmath.sin)):
            want = [[exact(function(p * mpmath.mpf(f))) for f in inv_freq.tolist()] for p in POSITIONS]
            assert verify.largest_error(dtype, part, np.array(want, np.longdouble)) <= (
                1.3 if dtype == "f64" else 0.501
            )


def test_neighbouring_positions_differ_in_16_bits(backend):
    x = noise("bf16", 1, 1, 1, 64)
    results = [turned(backend, "bf16", x, positions=[p]) for p in (256, 257, 10**6, 10**6 + 1)]
    assert len({result.tobytes() for result in results}) == 4


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300])
def test_a_frequency_that_makes_no_angle_harms_no_other_pair(backend, value):
    x = noise("f32", 1, 2, 3, 8)
    good = turned(backend, "f32", x, inv_freq=[1, 0.5, 0.25, 0.125], positions=[1, 2, 3])
    bad = turned(backend, "f32", x, inv_freq=[1, value, 0.25, 0.125], positions=[1, 2, 3])
    assert_same_bits(np.delete(bad, [2, 3], -1), np.delete(good, [2, 3], -1))
    if not math.isfinite(value):
        assert np.isnan(bad[..., 2:4]).all()


# Arguments


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_positions_of_each_sequence(backend, layout):
    """[B, S] gives what each sequence alone gives with its own [S]; an expanded [S] gives what [S] gives."""
    x = noise("f32", 3, 4, 5, 16)
    positions = np.random.default_rng(1).integers(-5000, 5000, (3, 5))
    got = turned(backend, "f32", x, positions=positions, layout=layout)
    for place in range(3):
        alone = turned(backend, "f32", x[place : place + 1], positions=positions[place], layout=layout)
        assert_same_bits(got[place : place + 1], alone)
    shared = turned(backend, "f32", x, positions=positions[0], layout=layout)
    assert_same_bits(turned(backend, "f32", x, positions=np.stack([positions[0]] * 3), layout=layout), shared)
    assert_same_bits(
        turned(backend, "f32", x, positions=np.arange(5), layout=layout),
        turned(backend, "f32", x, layout=layout),
    )


@pytest.mark.parametrize("strides", [(0, 1), (0, -1), (5, 1), (10, 2), (-5, 1), (1, 3)])
def test_positions_in_any_layout(backend, strides):
    x = noise("f32", 3, 2, 5, 8)
    flat = np.random.default_rng(1).integers(0, 5000, 64)
    start = sum(-stride * (extent - 1) for stride, extent in zip(strides, (3, 5), strict=True) if stride < 0)
    values = np.array([[flat[start + strides[0] * b + strides[1] * s] for s in range(5)] for b in range(3)])
    want = turned(backend, "f32", x, positions=values)
    memory = backend.memory(flat)
    view = backend.view(memory, flat.dtype, (3, 5), verify.Placement(64, start, strides))
    given, out = verify.place(backend, "x", "f32", x.shape, x), verify.place(backend, "y", "f32", x.shape)
    plan = bc.RopePlan.select(backend.stream, descriptor("f32", x.shape))
    plan.run(backend.stream, None, bc.RopeArgs(x=given.array, positions=view, y=out.array))
    assert_same_bits(out.values(backend), want)


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize(
    ("size", "rotary"), [(128, 64), (80, 32), (64, 16), (24, 6), (10, 4), (16, 0), (6, 2)]
)
def test_what_is_not_rotary_passes_through(backend, dtype, layout, size, rotary):
    """The rest keeps its very bits, NaN and infinities too; the pairs are those of a head of rotary_dim."""
    x = noise(dtype, 2, 3, 5, size)
    x[..., rotary:][..., ::3] = np.nan
    x[0, ..., rotary:][..., 1::3] = np.inf
    got = turned(backend, dtype, x, layout=layout, rotary_dim=rotary)
    assert np.array_equal(
        np.ascontiguousarray(got[..., rotary:]).view(np.uint8),
        np.ascontiguousarray(x[..., rotary:]).view(np.uint8),
    )
    if rotary:
        alone = turned(backend, dtype, np.ascontiguousarray(x[..., :rotary]), layout=layout)
        assert_same_bits(np.ascontiguousarray(got[..., :rotary]), alone)


@pytest.mark.parametrize("dtype", EVERY)
def test_the_layouts_are_permutations_of_each_other(backend, dtype):
    x = noise(dtype, 2, 3, 7, 64)
    order = np.arange(64).reshape(32, 2).T.ravel()
    interleaved = turned(backend, dtype, x, layout="interleaved")
    half = turned(backend, dtype, np.ascontiguousarray(x[..., order]), layout="half")
    assert_same_bits(half, np.ascontiguousarray(interleaved[..., order]))


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_a_transposed_view_without_a_copy(backend, layout):
    """[B, S, H, D] seen as [B, H, S, D], in and out, and in place."""
    x = noise("bf16", 2, 9, 6, 64)
    want = turned(backend, "bf16", np.ascontiguousarray(x.transpose(0, 2, 1, 3)), layout=layout)
    memory, target = backend.memory(x.ravel()), backend.memory(np.zeros_like(x.ravel()))
    strides = (9 * 6 * 64, 64, 6 * 64, 1)
    plan = bc.RopePlan.select(backend.stream, descriptor("bf16", (2, 6, 9, 64), layout=layout))
    for out in (target, memory):
        views = [
            backend.view(part, x.dtype, (2, 6, 9, 64), verify.Placement(x.size, 0, strides))
            for part in (memory, out)
        ]
        plan.run(backend.stream, None, bc.RopeArgs(x=views[0], y=views[1]))
        got = backend.read(out, x.dtype).reshape(2, 9, 6, 64).transpose(0, 2, 1, 3)
        assert_same_bits(np.ascontiguousarray(got), want)


# Scalings


def frequencies(**fields):
    """What a kernel gets: radians a position of each pair, and what multiplies sine and cosine."""
    desc = descriptor("f64", (1, 1, 1, fields.pop("dim")), **fields)
    values = bc.RopePlan.OPS[desc.kind].host(desc)
    with mpmath.workdps(40):
        radians = [float((mpmath.mpf(high) + mpmath.mpf(low)) * mpmath.pi / 2) for high, low in values.pairs]
    return np.array(radians), math.prod(values.scalars)


def plain(dim, base):
    return base ** (-np.arange(0, dim, 2) / dim)


def test_without_scaling():
    got, factor = frequencies(dim=64, base=10000.0)
    np.testing.assert_allclose(got, plain(64, 10000.0), rtol=1e-15)
    assert factor == 1


def test_a_table_carries_106_bits():
    values = bc.RopePlan.OPS[bc.AttentionKind.ROPE].host(descriptor("f64", (1, 1, 1, 128), base=500000.0))
    with mpmath.workdps(60):
        for pair, (high, low) in enumerate(values.pairs):
            want = mpmath.mpf(500000) ** (-mpmath.mpf(pair) / 64) * 2 / mpmath.pi
            assert abs(mpmath.mpf(high) + mpmath.mpf(low) - want) <= want * mpmath.mpf(2) ** -105


def test_linear_scaling():
    got, factor = frequencies(dim=64, base=10000.0, scaling="linear", factor=4.0)
    np.testing.assert_allclose(got, plain(64, 10000.0) / 4, rtol=1e-15)
    assert factor == 1


@pytest.mark.parametrize("dim", [2, 4, 128])
def test_ntk_scaling(dim):
    got, _ = frequencies(dim=dim, base=10000.0, scaling="ntk", factor=8.0)
    base = 10000.0 * 8.0 ** (dim / (dim - 2)) if dim > 2 else 1.0
    np.testing.assert_allclose(got, plain(dim, base), rtol=1e-14)


def test_dynamic_ntk_is_ntk_with_its_factor():
    """Hugging Face's dynamic: base * (factor * seq / max - (factor - 1)) ** (d / (d - 2))."""
    factor, seq, most = 2.0, 8192, 4096
    got, _ = frequencies(dim=128, scaling="ntk", factor=factor * seq / most - (factor - 1))
    base = 10000.0 * (factor * seq / most - (factor - 1)) ** (128 / 126)
    np.testing.assert_allclose(got, plain(128, base), rtol=1e-14)


def yarn(dim, base, factor, original, fast=32.0, slow=1.0, truncate=True):
    """The YaRN paper's equations 23 to 25 in the form that transformers gives them."""

    def dimension(rotations):
        return dim * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(base))

    low, high = dimension(fast), dimension(slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    high += 0.001 if low == high else 0
    ramp = np.clip((np.arange(dim // 2) - low) / (high - low), 0, 1)
    return plain(dim, base) / factor * ramp + plain(dim, base) * (1 - ramp)


@pytest.mark.parametrize(
    ("dim", "base", "factor", "original", "more"),
    [
        (128, 10000.0, 16.0, 4096, {}),
        (64, 10000.0, 40.0, 4096, {}),  # DeepSeek-V2
        (64, 150000.0, 32.0, 4096, {"truncate": False}),  # gpt-oss
        (128, 1e6, 4.0, 32768, {"fast": 16.0, "slow": 2.0}),
        (32, 10000.0, 2.0, 3, {}),  # the ramp has no width
        (128, 10000.0, 1.0, 4096, {}),
    ],
)
def test_yarn_scaling(dim, base, factor, original, more):
    names = {"fast": "beta_fast", "slow": "beta_slow"}
    fields = {names.get(name, name): value for name, value in more.items()}
    got, attention = frequencies(
        dim=dim, base=base, factor=factor, original_seq_len=original, scaling="yarn", **fields
    )
    np.testing.assert_allclose(got, yarn(dim, base, factor, original, **more), rtol=1e-13)
    assert attention == pytest.approx(0.1 * math.log(factor) + 1 if factor > 1 else 1.0, rel=1e-15)


def llama3(dim, base, factor, original, low, high):
    """Llama 3.1's own: by wavelength, long ones stretched, short ones kept, the rest between."""
    found = []
    for frequency in plain(dim, base):
        wavelength = 2 * math.pi / frequency
        if wavelength < original / high:
            found.append(frequency)
        elif wavelength > original / low:
            found.append(frequency / factor)
        else:
            smooth = (original / wavelength - low) / (high - low)
            found.append((1 - smooth) * frequency / factor + smooth * frequency)
    return np.array(found)


@pytest.mark.parametrize("factor", [8.0, 32.0])
def test_llama3_scaling(factor):
    fields = {"factor": factor, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_seq_len": 8192}
    got, attention = frequencies(dim=128, base=500000.0, scaling="llama3", **fields)
    np.testing.assert_allclose(got, llama3(128, 500000.0, factor, 8192, 1.0, 4.0), rtol=1e-13)
    assert attention == 1
    assert len(np.unique(np.round(got / plain(128, 500000.0), 12))) > 3


@pytest.mark.parametrize("scaling", ["none", "linear", "ntk", "yarn", "llama3"])
@pytest.mark.parametrize("factor", [0.5, 1.0, 1.25, 2.0, 3.0])
def test_the_attention_factor(backend, scaling, factor):
    """It multiplies what turns, in both directions, and nothing else."""
    fields = {"scaling": scaling, "rotary_dim": 8, "layout": "half"}
    fields |= {} if scaling == "none" else {"factor": 4.0}
    fields |= {"original_seq_len": 64} if scaling in ("yarn", "llama3") else {}
    x = noise("f64", 1, 2, 5, 12)
    one = turned(backend, "f64", x, attention_factor=1.0, **fields)
    got = turned(backend, "f64", x, attention_factor=factor, **fields)
    np.testing.assert_allclose(got[..., :8], factor * one[..., :8], rtol=1e-14)
    assert_same_bits(np.ascontiguousarray(got[..., 8:]), np.ascontiguousarray(x[..., 8:]))
    back = turned(backend, "f64", got, backward=True, attention_factor=factor, **fields)
    np.testing.assert_allclose(back[..., :8], factor**2 * x[..., :8], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_a_table_given_as_inv_freq(backend, layout):
    """The frequencies of a scaling, rounded to double and handed over, give what the scaling gives nearly."""
    fields = {"scaling": "llama3", "factor": 8.0, "original_seq_len": 64, "layout": layout}
    x = noise("f64", 2, 2, 33, 300)
    radians, _ = frequencies(dim=300, **fields)
    np.testing.assert_allclose(
        turned(backend, "f64", x, inv_freq=radians, layout=layout),
        turned(backend, "f64", x, **fields),
        atol=1e-13,
    )


def test_frequencies_of_a_caller_keep_the_amplitude_of_the_scaling(backend):
    """What multiplies sine and cosine is the scaling's or attention_factor, whoever gives frequencies."""
    x = noise("f64", 1, 2, 5, 12)
    radians = plain(12, 10000.0)
    one = turned(backend, "f64", x, inv_freq=radians)
    yarn = {"scaling": "yarn", "factor": 4.0, "original_seq_len": 64}
    got = turned(backend, "f64", x, inv_freq=radians, **yarn)
    np.testing.assert_allclose(got, (0.1 * np.log(4.0) + 1) * one, rtol=1e-13)
    for fields in (yarn, {}):
        got = turned(backend, "f64", x, inv_freq=radians, attention_factor=1.5, **fields)
        np.testing.assert_allclose(got, 1.5 * one, rtol=1e-13)


# Launches


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize(
    ("size", "rotary", "launches"), [(256, 256, 1), (258, 258, 2), (1024, 1000, 4), (600, 0, 1)]
)
def test_frequencies_beyond_one_launch(backend, layout, size, rotary, launches):
    """A launch carries 128 pairs; a wider head takes several, and the result is that of narrow ones."""
    x = noise("f32", 1, 2, 3, size)
    desc = descriptor("f32", x.shape, layout=layout, rotary_dim=rotary)
    plan = bc.RopePlan.select(backend.stream, desc)
    given, out = verify.place(backend, "x", "f32", x.shape, x), verify.place(backend, "y", "f32", x.shape)
    args = bc.RopeArgs(x=given.array, y=out.array)
    assert len(plan._checked(args)[1].steps) == launches
    plan.run(backend.stream, None, args)
    got = out.values(backend)
    for pair in {0, rotary // 4, rotary // 2 - 1} if rotary else ():
        places = [2 * pair, 2 * pair + 1] if layout == "interleaved" else [pair, pair + rotary // 2]
        alone = np.ascontiguousarray(x[..., places])
        frequency = [10000.0 ** (-2 * pair / rotary)]
        np.testing.assert_allclose(
            got[..., places], turned(backend, "f32", alone, inv_freq=frequency), rtol=1e-5
        )


@pytest.mark.parametrize("wanted", [1, 7, 10**6])
@pytest.mark.parametrize("shape", [(3, 5, 7, 64), (1, 1, 300, 16), (2, 40, 1, 8), (5, 3, 2, 2048)])
def test_the_spread_over_blocks_changes_no_bit(backend, monkeypatch, wanted, shape):
    x = noise("bf16", *shape)
    want = [turned(backend, "bf16", x, layout=layout) for layout in ("interleaved", "half")]
    monkeypatch.setattr(rotate, "FEW_BLOCKS", wanted)
    monkeypatch.setattr(rotate, "MANY_BLOCKS", wanted)
    got = [turned(backend, "bf16", x, layout=layout) for layout in ("interleaved", "half")]
    for ours, theirs in zip(got, want, strict=True):
        assert_same_bits(ours, theirs)


@pytest.mark.parametrize("most", [1, 4, 5, 7])
def test_more_planes_than_32_bits_count(backend, monkeypatch, most):
    """Planes beyond 2**31 take several launches; here a few planes do."""
    x = noise("f32", 3, 5, 4, 8)
    positions = np.arange(12).reshape(3, 4)
    want = [turned(backend, "f32", x), turned(backend, "f32", x, positions=positions)]
    monkeypatch.setattr(rotate, "INT32_MAX", most)
    assert_same_bits(turned(backend, "f32", x), want[0])
    assert_same_bits(turned(backend, "f32", x, positions=positions), want[1])


@pytest.mark.parametrize("dtype", EVERY)
def test_backward_turns_back(backend, dtype):
    x = noise(dtype, 2, 3, 9, 32)
    there = turned(backend, dtype, x, positions=np.arange(9) * 10**5)
    back = turned(backend, dtype, there, backward=True, positions=np.arange(9) * 10**5)
    places = {"f64": 1e-15, "f32": 1e-6, "f16": 4e-3, "bf16": 3e-2}[dtype]
    np.testing.assert_allclose(back.astype(float), x.astype(float), atol=4 * places)


# What is refused


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"head_dim": 7}, "head_dim is 7, want an even head_dim"),
        ({"rotary_dim": 3}, "rotary_dim is 3, want an even rotary_dim"),
        ({"rotary_dim": 10}, "rotary_dim is 10, head_dim is 8, want rotary_dim <= head_dim"),
        ({"rotary_dim": -2}, "rotary_dim is -2, want a non-negative extent"),
        ({"batch_size": -1}, "batch_size is -1, want a non-negative extent"),
        ({"seq_len": -5}, "seq_len is -5, want a non-negative extent"),
        ({"base": math.inf}, "base is inf, want isfinite(base) and base > 0"),
        ({"base": math.nan}, "base is nan, want"),
        ({"base": 0.0}, "base is 0.0, want"),
        ({"base": -10000.0}, "base is -10000.0, want"),
        ({"factor": 0.0, "scaling": "linear"}, "factor is 0.0, want"),
        ({"attention_factor": math.inf}, "attention_factor is inf, want"),
        ({"scaling": "yarn"}, "original_seq_len is 0, want original_seq_len > 0"),
        ({"scaling": "llama3"}, "original_seq_len is 0, want original_seq_len > 0"),
        ({"scaling": "yarn", "original_seq_len": 8, "base": 1.0}, "base is 1.0, want base > 1"),
        ({"scaling": "yarn", "original_seq_len": 8, "beta_fast": 0.0}, "beta_fast is 0.0, want"),
        (
            {"scaling": "yarn", "original_seq_len": 8, "beta_fast": 1.0, "beta_slow": 32.0},
            "beta_fast is 1.0, beta_slow is 32.0, want beta_fast >= beta_slow",
        ),
        ({"scaling": "llama3", "original_seq_len": 8, "low_freq_factor": 4.0}, "low_freq_factor is 4.0, "),
    ],
)
@pytest.mark.parametrize("backward", [False, True])
def test_descriptors_that_make_no_sense(backend, fields, words, backward):
    extents = {"batch_size": 1, "num_heads": 2, "seq_len": 3, "head_dim": 8}
    made = bc.RopeBackwardDescriptor if backward else bc.RopeDescriptor
    plan = bc.RopeBackwardPlan if backward else bc.RopePlan
    with pytest.raises(InvalidProblem) as error:
        plan.select(backend.stream, made(**{**extents, **fields}, element="f32"))
    assert str(error.value).startswith(f"{plan.__name__}: {words}"), error.value


@pytest.mark.parametrize(
    ("field", "known"), [("layout", "half, interleaved"), ("scaling", "none, linear, ntk")]
)
def test_words_that_are_not_known(backend, field, known):
    desc = descriptor("f32", (1, 1, 1, 8), **{field: "dynamic"})
    with pytest.raises(Unsupported, match=f"^RopePlan: {field} is 'dynamic', want one of {known}"):
        bc.RopePlan.select(backend.stream, desc)


def test_a_kind_need_not_be_named():
    desc = descriptor("f32", (1, 2, 3, 8))
    assert desc.kind is bc.AttentionKind.ROPE
    assert desc.rotary_dim == 8
    assert desc.shape == (1, 2, 3, 8)


def test_positions_of_another_kind_or_shape(backend):
    if backend.kind != "host":
        pytest.skip("NumPy's own arrays")
    x, y = np.ones((2, 3, 4, 8), np.float32), np.zeros((2, 3, 4, 8), np.float32)
    plan = bc.RopePlan.select(backend.stream, descriptor("f32", x.shape))
    with pytest.raises(Unsupported, match=r"^RopePlan: positions has dtype i32, want i64"):
        plan(x=x, y=y, positions=np.arange(4, dtype=np.int32))
    with pytest.raises(Unsupported, match=r"^RopePlan: inv_freq has dtype f32, want f64"):
        plan(x=x, y=y, inv_freq=np.ones(4, np.float32))
    for shape in [(2,), (3, 4), (2, 3, 4), (4, 2), (1, 4)]:
        with pytest.raises(InvalidProblem, match=r"want \(4,\): \(seq_len,\) of the descriptor, or \(2, 4\)"):
            plan(x=x, y=y, positions=np.zeros(shape, np.int64))
    with pytest.raises(InvalidProblem, match=r"y is exactly x|overlaps"):
        plan(x=x, y=x[:, ::-1])
    assert not y.any()
