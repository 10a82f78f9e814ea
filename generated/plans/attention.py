"""Attention plans.

RopePlan, RopeBackwardPlan, SdpaPlan, SdpaBackwardPlan.

Generated from ops.yaml by templates/plans.py.j2. Do not edit: run `baracuda-gen generate`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from baracuda.contract import OpRecord, SumTileRecord, TensorRule, TileRecord, no_scalars
from baracuda.descriptor import Descriptor
from baracuda.dtypes import ElementKind
from baracuda.plan import Plan
from baracuda.shapes import broadcast_shapes, divides, is_even
from baracuda.wide import PI, HostValues, ceil, clamp, computed, floor, log, numbers, power, wide

from .kinds import AttentionKind

__all__ = [
    "RopeArgs",
    "RopeBackwardArgs",
    "RopeBackwardDescriptor",
    "RopeBackwardPlan",
    "RopeDescriptor",
    "RopePlan",
    "SdpaArgs",
    "SdpaBackwardArgs",
    "SdpaBackwardDescriptor",
    "SdpaBackwardPlan",
    "SdpaDescriptor",
    "SdpaPlan",
]


@dataclass(frozen=True, kw_only=True)
class RopeDescriptor(Descriptor):
    """The problem of a RopePlan: y = x, its pairs of elements turned by the angles of their positions.

    Attributes:
        kind: which op (ROPE unless given).
        batch_size: number of sequences.
        num_heads: number of heads.
        seq_len: positions of a sequence.
        head_dim: elements of a head, an even number.
        element: dtype of x, y and their gradients.
        base: base of the frequencies, called theta elsewhere.
        layout: the elements of pair i: 2i and 2i + 1 (interleaved; GPT-J, the RoFormer paper), or i and i
            + rotary_dim / 2 (half; GPT-NeoX, Hugging Face).
        rotary_dim: how many elements of a head turn, from the first, an even number; the others are
            copied.
        scaling: how inv_freq is stretched for longer contexts, as Hugging Face's modeling_rope_utils
            does: none, linear (kaiokendev 2023), ntk (bloc97 2023; the base grows by factor ** (d / (d - 2));
            for Hugging Face's dynamic give its own factor), yarn (Peng et al. 2023, arXiv:2309.00071), llama3
            (Llama 3.1).
        factor: how many times longer the context becomes.
        original_seq_len: for yarn and llama3, the context of the training:
            original_max_position_embeddings.
        beta_fast: for yarn, the turns over the original context from which a pair keeps its frequency.
        beta_slow: for yarn, the turns over the original context up to which a pair is stretched whole.
        truncate: for yarn, whether the ramp between the two begins and ends at whole pairs.
        attention_factor: what sine and cosine are multiplied by (YaRN's mscale; for DeepSeek's mscale and
            mscale_all_dim the ratio of the two); 0: 0.1 ln(factor) + 1 for yarn, else 1.
        low_freq_factor: for llama3, the turns over the original context up to which a pair is stretched
            whole.
        high_freq_factor: for llama3, the turns over the original context from which a pair keeps its
            frequency.
    """

    kind: AttentionKind | str = AttentionKind.ROPE
    batch_size: int
    num_heads: int
    seq_len: int
    head_dim: int
    element: ElementKind | str
    base: float = 10000.0
    layout: str = "interleaved"
    rotary_dim: int | None = None
    scaling: str = "none"
    factor: float = 1.0
    original_seq_len: int = 0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    attention_factor: float = 0.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0

    RULES: ClassVar = {
        "kind": AttentionKind,
        "batch_size": "extent",
        "num_heads": "extent",
        "seq_len": "extent",
        "head_dim": "extent",
        "element": "element",
        "base": "f64",
        "layout": "option",
        "rotary_dim": "extent",
        "scaling": "option",
        "factor": "f64",
        "original_seq_len": "i64",
        "beta_fast": "f64",
        "beta_slow": "f64",
        "truncate": "bool",
        "attention_factor": "f64",
        "low_freq_factor": "f64",
        "high_freq_factor": "f64",
    }
    DEFAULTS: ClassVar = {"rotary_dim": "head_dim"}
    IDLE: ClassVar = (
        (
            {"kind": "rope", "scaling": "none"},
            (
                "factor",
                "original_seq_len",
                "beta_fast",
                "beta_slow",
                "truncate",
                "low_freq_factor",
                "high_freq_factor",
            ),
        ),
        (
            {"kind": "rope", "scaling": "linear"},
            ("original_seq_len", "beta_fast", "beta_slow", "truncate", "low_freq_factor", "high_freq_factor"),
        ),
        (
            {"kind": "rope", "scaling": "ntk"},
            ("original_seq_len", "beta_fast", "beta_slow", "truncate", "low_freq_factor", "high_freq_factor"),
        ),
        ({"kind": "rope", "scaling": "yarn"}, ("low_freq_factor", "high_freq_factor")),
        ({"kind": "rope", "scaling": "llama3"}, ("beta_fast", "beta_slow", "truncate")),
    )

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents (batch_size, num_heads, seq_len, head_dim)."""
        desc: Any = self
        return (desc.batch_size, desc.num_heads, desc.seq_len, desc.head_dim)

    @property
    def sequence(self) -> tuple[int, ...]:
        """The extents (seq_len,)."""
        desc: Any = self
        return (desc.seq_len,)

    @property
    def sequences(self) -> tuple[int, ...]:
        """The extents (batch_size, seq_len)."""
        desc: Any = self
        return (desc.batch_size, desc.seq_len)

    @property
    def frequencies(self) -> tuple[int, ...]:
        """The extents (rotary_dim // 2,)."""
        desc: Any = self
        return (desc.rotary_dim // 2,)


@dataclass(frozen=True, kw_only=True)
class RopeBackwardDescriptor(RopeDescriptor):
    """The problem of a RopeBackwardPlan: the fields of the forward's descriptor."""


@dataclass(frozen=True, kw_only=True)
class RopeArgs:
    """The tensors of a RopePlan.

    Attributes:
        x: queries or keys; of shape (batch_size, num_heads, seq_len, head_dim).
        positions: the position of each row, negative ones too; None: 0 to seq_len - 1; of dtype i64,
            shape (seq_len,) or (batch_size, seq_len).
        inv_freq: radians a position of each pair; None: what base and scaling give. What multiplies sine
            and cosine is the scaling's or attention_factor all the same; of dtype f64, shape (rotary_dim //
            2,).
        y: x turned; may be exactly x; of shape (batch_size, num_heads, seq_len, head_dim).
    """

    x: Any
    positions: Any = None
    inv_freq: Any = None
    y: Any


@dataclass(frozen=True, kw_only=True)
class RopeBackwardArgs:
    """The tensors of a RopeBackwardPlan.

    Attributes:
        dy: gradient of y; of shape (batch_size, num_heads, seq_len, head_dim).
        positions: the forward's; of dtype i64, shape (seq_len,) or (batch_size, seq_len).
        inv_freq: the forward's; of dtype f64, shape (rotary_dim // 2,).
        dx: gradient of x; may be exactly dy; of shape (batch_size, num_heads, seq_len, head_dim).
    """

    dy: Any
    positions: Any = None
    inv_freq: Any = None
    dx: Any


def _rope_host_none(
    base: Any,
    rotary_dim: Any,
    attention_factor: Any,
) -> HostValues:
    """What the host computes for rope with scaling=none."""
    own = wide("1")
    whole = attention_factor if attention_factor > 0 else own
    gain = power(wide("2"), ceil(log(max(whole, wide("1"))) / log(wide("2"))))
    amplitude = whole / gain
    radians = []
    for pair in numbers(rotary_dim // 2):
        plain = power(base, -2 * pair / rotary_dim)
        radians.append(plain)
    return HostValues.of((gain, amplitude), radians)


def _rope_host_linear(
    base: Any,
    rotary_dim: Any,
    factor: Any,
    attention_factor: Any,
) -> HostValues:
    """What the host computes for rope with scaling=linear."""
    own = wide("1")
    whole = attention_factor if attention_factor > 0 else own
    gain = power(wide("2"), ceil(log(max(whole, wide("1"))) / log(wide("2"))))
    amplitude = whole / gain
    radians = []
    for pair in numbers(rotary_dim // 2):
        plain = power(base, -2 * pair / rotary_dim)
        radians.append(plain / factor)
    return HostValues.of((gain, amplitude), radians)


def _rope_host_ntk(
    base: Any,
    rotary_dim: Any,
    factor: Any,
    attention_factor: Any,
) -> HostValues:
    """What the host computes for rope with scaling=ntk."""
    own = wide("1")
    whole = attention_factor if attention_factor > 0 else own
    gain = power(wide("2"), ceil(log(max(whole, wide("1"))) / log(wide("2"))))
    amplitude = whole / gain
    radians = []
    for pair in numbers(rotary_dim // 2):
        plain = power(base, -2 * pair / rotary_dim)
        radians.append(plain * power(factor, -2 * pair / max(rotary_dim - 2, wide("1"))))
    return HostValues.of((gain, amplitude), radians)


def _rope_host_yarn(
    base: Any,
    rotary_dim: Any,
    factor: Any,
    original_seq_len: Any,
    beta_fast: Any,
    beta_slow: Any,
    truncate: Any,
    attention_factor: Any,
) -> HostValues:
    """What the host computes for rope with scaling=yarn."""
    fast = rotary_dim * log(original_seq_len / (2 * PI * beta_fast)) / (2 * log(base))
    slow = rotary_dim * log(original_seq_len / (2 * PI * beta_slow)) / (2 * log(base))
    low = max(floor(fast) if truncate else fast, wide("0"))
    high = min(ceil(slow) if truncate else slow, rotary_dim - 1)
    own = wide("0.1") * log(factor) + 1 if factor > 1 else wide("1")
    whole = attention_factor if attention_factor > 0 else own
    gain = power(wide("2"), ceil(log(max(whole, wide("1"))) / log(wide("2"))))
    amplitude = whole / gain
    radians = []
    for pair in numbers(rotary_dim // 2):
        plain = power(base, -2 * pair / rotary_dim)
        ramp = clamp((pair - low) / (high - low if high != low else wide("0.001")), wide("0"), wide("1"))
        radians.append(plain / factor * ramp + plain * (1 - ramp))
    return HostValues.of((gain, amplitude), radians)


def _rope_host_llama3(
    base: Any,
    rotary_dim: Any,
    factor: Any,
    original_seq_len: Any,
    attention_factor: Any,
    low_freq_factor: Any,
    high_freq_factor: Any,
) -> HostValues:
    """What the host computes for rope with scaling=llama3."""
    own = wide("1")
    whole = attention_factor if attention_factor > 0 else own
    gain = power(wide("2"), ceil(log(max(whole, wide("1"))) / log(wide("2"))))
    amplitude = whole / gain
    radians = []
    for pair in numbers(rotary_dim // 2):
        plain = power(base, -2 * pair / rotary_dim)
        turns = original_seq_len * plain / (2 * PI)
        ramp = clamp((turns - low_freq_factor) / (high_freq_factor - low_freq_factor), wide("0"), wide("1"))
        radians.append(plain / factor * (1 - ramp) + plain * ramp)
    return HostValues.of((gain, amplitude), radians)


def _rope_host(desc: Any) -> HostValues:
    """What the host computes for rope, in 40 digits."""
    if desc.scaling == "none":
        return computed(_rope_host_none, desc.base, desc.rotary_dim, desc.attention_factor)
    if desc.scaling == "linear":
        return computed(_rope_host_linear, desc.base, desc.rotary_dim, desc.factor, desc.attention_factor)
    if desc.scaling == "ntk":
        return computed(_rope_host_ntk, desc.base, desc.rotary_dim, desc.factor, desc.attention_factor)
    if desc.scaling == "yarn":
        return computed(
            _rope_host_yarn,
            desc.base,
            desc.rotary_dim,
            desc.factor,
            desc.original_seq_len,
            desc.beta_fast,
            desc.beta_slow,
            desc.truncate,
            desc.attention_factor,
        )
    if desc.scaling == "llama3":
        return computed(
            _rope_host_llama3,
            desc.base,
            desc.rotary_dim,
            desc.factor,
            desc.original_seq_len,
            desc.attention_factor,
            desc.low_freq_factor,
            desc.high_freq_factor,
        )
    raise AssertionError(desc)  # the plan has refused other values


class RopePlan(Plan):
    """y = x, its pairs of elements turned by the angles of their positions.

    ROPE (f16, bf16, f32, f64, layout=interleaved): rotary position embedding of queries or keys;
        transformers' apply_rotary_pos_emb
        angle = positions * inv_freq
        c = amplitude * cos(angle)
        s = amplitude * sin(angle)
        y = pair(gain * fma(x.first, c, -(x.second * s)), gain * fma(x.second, c, x.first * s))
        host: plain = pow(base, -2 * pair / rotary_dim)
        host: whole = attention_factor if attention_factor > 0 else own
        host: gain = pow(2, ceil(log(max(whole, 1)) / log(2)))
        host: amplitude = whole / gain
        host: own = 1  (scaling=none)
        host: inv_freq = plain  (scaling=none)
        host: own = 1  (scaling=linear)
        host: inv_freq = plain / factor  (scaling=linear)
        host: own = 1  (scaling=ntk)
        host: inv_freq = plain * pow(factor, -2 * pair / max(rotary_dim - 2, 1))  (scaling=ntk)
        host: fast = rotary_dim * log(original_seq_len / (2 * pi * beta_fast)) / (2 * log(base))
            (scaling=yarn)
        host: slow = rotary_dim * log(original_seq_len / (2 * pi * beta_slow)) / (2 * log(base))
            (scaling=yarn)
        host: low = max(floor(fast) if truncate else fast, 0)  (scaling=yarn)
        host: high = min(ceil(slow) if truncate else slow, rotary_dim - 1)  (scaling=yarn)
        host: ramp = clamp((pair - low) / (high - low if high != low else 0.001), 0, 1)  (scaling=yarn)
        host: own = 0.1 * log(factor) + 1 if factor > 1 else 1  (scaling=yarn)
        host: inv_freq = plain / factor * ramp + plain * (1 - ramp)  (scaling=yarn)
        host: turns = original_seq_len * plain / (2 * pi)  (scaling=llama3)
        host: ramp = clamp((turns - low_freq_factor) / (high_freq_factor - low_freq_factor), 0, 1)
            (scaling=llama3)
        host: own = 1  (scaling=llama3)
        host: inv_freq = plain / factor * (1 - ramp) + plain * ramp  (scaling=llama3)

    `select` checks a RopeDescriptor and compiles or loads its kernels.
    `run` takes RopeArgs: tensors with any strides, zero and negative ones included; the innermost stride of x
    and y must be 1.
    """

    TEMPLATE = "rotate"
    CATEGORY = "Attention"
    DESCRIPTOR = RopeDescriptor
    ARGS = RopeArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("x", "in", layout="inner"),
        TensorRule("positions", "in", optional=True, element="i64"),
        TensorRule("inv_freq", "in", optional=True, element="f64"),
        TensorRule("y", "out", layout="inner"),
    )
    OPS: ClassVar = {
        AttentionKind.ROPE: OpRecord(
            name="rope",
            source="attention/rope.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=("positions", "inv_freq"),
            outputs=("y",),
            row_outputs=(),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "positions", "inv_freq", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 5.0},
            contraction=False,
            scale={"y": "y_size"},
            pairs="interleaved",
            host=_rope_host,
            choices={"scaling": ("none", "linear", "ntk", "yarn", "llama3")},
        ),
    }
    ALTERNATIVES = (
        (
            AttentionKind.ROPE,
            {"layout": "half"},
            OpRecord(
                name="rope_half",
                source="attention/rope_half.cu",
                dtypes=("f16", "bf16", "f32", "f64"),
                inputs=("x",),
                row_inputs=("positions", "inv_freq"),
                outputs=("y",),
                row_outputs=(),
                required=frozenset({"x", "y"}),
                accepted=frozenset({"x", "positions", "inv_freq", "y"}),
                batch_invariant=("y",),
                attributes="",
                fold=no_scalars,
                state="",
                ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 5.0},
                contraction=False,
                scale={"y": "y_size"},
                pairs="half",
                host=_rope_host,
                choices={"scaling": ("none", "linear", "ntk", "yarn", "llama3")},
            ),
        ),
    )

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "x": (
                desc.shape,
                "(batch_size, num_heads, seq_len, head_dim) of the descriptor",
            ),
            "positions": (
                desc.sequence,
                "(seq_len,) of the descriptor",
            ),
            "inv_freq": (
                desc.frequencies,
                "(rotary_dim // 2,) of the descriptor",
            ),
            "y": (
                desc.shape,
                "(batch_size, num_heads, seq_len, head_dim) of the descriptor",
            ),
        }

    @staticmethod
    def other_shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], ...]]:
        """Further shapes that a tensor may have."""
        return {
            "positions": (desc.sequences,),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not (math.isfinite(desc.base) and desc.base > 0):
            yield f"base is {desc.base}, want isfinite(base) and base > 0"
        if not is_even(desc.head_dim):
            yield f"head_dim is {desc.head_dim}, want an even head_dim"
        if not is_even(desc.rotary_dim):
            yield f"rotary_dim is {desc.rotary_dim}, want an even rotary_dim"
        if not (desc.rotary_dim <= desc.head_dim):
            yield f"rotary_dim is {desc.rotary_dim}, head_dim is {desc.head_dim}, want rotary_dim <= head_dim"
        if not (math.isfinite(desc.factor) and desc.factor > 0):
            yield f"factor is {desc.factor}, want isfinite(factor) and factor > 0"
        if not (math.isfinite(desc.attention_factor) and desc.attention_factor >= 0):
            yield (
                f"attention_factor is {desc.attention_factor}, "
                "want isfinite(attention_factor) and attention_factor >= 0"
            )
        if desc.kind.value == "rope" and desc.scaling == "yarn" and not (desc.original_seq_len > 0):
            yield f"original_seq_len is {desc.original_seq_len}, want original_seq_len > 0"
        if desc.kind.value == "rope" and desc.scaling == "yarn" and not (desc.base > 1):
            yield f"base is {desc.base}, want base > 1"
        if (
            desc.kind.value == "rope"
            and desc.scaling == "yarn"
            and not (desc.beta_fast > 0 and math.isfinite(desc.beta_fast))
        ):
            yield f"beta_fast is {desc.beta_fast}, want beta_fast > 0 and isfinite(beta_fast)"
        if (
            desc.kind.value == "rope"
            and desc.scaling == "yarn"
            and not (desc.beta_slow > 0 and math.isfinite(desc.beta_slow))
        ):
            yield f"beta_slow is {desc.beta_slow}, want beta_slow > 0 and isfinite(beta_slow)"
        if desc.kind.value == "rope" and desc.scaling == "yarn" and not (desc.beta_fast >= desc.beta_slow):
            yield f"beta_fast is {desc.beta_fast}, beta_slow is {desc.beta_slow}, want beta_fast >= beta_slow"
        if desc.kind.value == "rope" and desc.scaling == "llama3" and not (desc.original_seq_len > 0):
            yield f"original_seq_len is {desc.original_seq_len}, want original_seq_len > 0"
        if (
            desc.kind.value == "rope"
            and desc.scaling == "llama3"
            and not (0 < desc.low_freq_factor < desc.high_freq_factor)
        ):
            yield (
                f"low_freq_factor is {desc.low_freq_factor}, high_freq_factor is {desc.high_freq_factor}, "
                "want 0 < low_freq_factor < high_freq_factor"
            )
        if (
            desc.kind.value == "rope"
            and desc.scaling == "llama3"
            and not math.isfinite(desc.high_freq_factor)
        ):
            yield f"high_freq_factor is {desc.high_freq_factor}, want isfinite(high_freq_factor)"
        yield from ()

    def __call__(
        self,
        *,
        x: Any,
        positions: Any = None,
        inv_freq: Any = None,
        y: Any,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = RopeArgs(
            x=x,
            positions=positions,
            inv_freq=inv_freq,
            y=y,
        )
        self.run(stream, workspace, args)


class RopeBackwardPlan(Plan):
    """Gradients of RopePlan.

    ROPE (f16, bf16, f32, f64, layout=interleaved): rotary position embedding of queries or keys;
        transformers' apply_rotary_pos_emb
        angle = positions * inv_freq
        c = amplitude * cos(angle)
        s = amplitude * sin(angle)
        dx = pair(gain * fma(dy.first, c, dy.second * s), gain * fma(dy.second, c, -(dy.first * s)))
        host: plain = pow(base, -2 * pair / rotary_dim)
        host: whole = attention_factor if attention_factor > 0 else own
        host: gain = pow(2, ceil(log(max(whole, 1)) / log(2)))
        host: amplitude = whole / gain
        host: own = 1  (scaling=none)
        host: inv_freq = plain  (scaling=none)
        host: own = 1  (scaling=linear)
        host: inv_freq = plain / factor  (scaling=linear)
        host: own = 1  (scaling=ntk)
        host: inv_freq = plain * pow(factor, -2 * pair / max(rotary_dim - 2, 1))  (scaling=ntk)
        host: fast = rotary_dim * log(original_seq_len / (2 * pi * beta_fast)) / (2 * log(base))
            (scaling=yarn)
        host: slow = rotary_dim * log(original_seq_len / (2 * pi * beta_slow)) / (2 * log(base))
            (scaling=yarn)
        host: low = max(floor(fast) if truncate else fast, 0)  (scaling=yarn)
        host: high = min(ceil(slow) if truncate else slow, rotary_dim - 1)  (scaling=yarn)
        host: ramp = clamp((pair - low) / (high - low if high != low else 0.001), 0, 1)  (scaling=yarn)
        host: own = 0.1 * log(factor) + 1 if factor > 1 else 1  (scaling=yarn)
        host: inv_freq = plain / factor * ramp + plain * (1 - ramp)  (scaling=yarn)
        host: turns = original_seq_len * plain / (2 * pi)  (scaling=llama3)
        host: ramp = clamp((turns - low_freq_factor) / (high_freq_factor - low_freq_factor), 0, 1)
            (scaling=llama3)
        host: own = 1  (scaling=llama3)
        host: inv_freq = plain / factor * (1 - ramp) + plain * ramp  (scaling=llama3)

    `select` checks a RopeBackwardDescriptor and compiles or loads its kernels.
    `run` takes RopeBackwardArgs: tensors with any strides, zero and negative ones included; the innermost
    stride of dy and dx must be 1.
    """

    TEMPLATE = "rotate"
    CATEGORY = "Attention"
    DESCRIPTOR = RopeBackwardDescriptor
    ARGS = RopeBackwardArgs
    DOMAIN = "shape"
    AXES = None
    TENSORS = (
        TensorRule("dy", "in", layout="inner"),
        TensorRule("positions", "in", optional=True, element="i64"),
        TensorRule("inv_freq", "in", optional=True, element="f64"),
        TensorRule("dx", "out", layout="inner"),
    )
    OPS: ClassVar = {
        AttentionKind.ROPE: OpRecord(
            name="rope_backward",
            source="attention/rope_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy",),
            row_inputs=("positions", "inv_freq"),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "dx"}),
            accepted=frozenset({"dy", "positions", "inv_freq", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 5.0},
            contraction=False,
            scale={"dx": "dx_size"},
            pairs="interleaved",
            host=_rope_host,
            choices={"scaling": ("none", "linear", "ntk", "yarn", "llama3")},
        ),
    }
    ALTERNATIVES = (
        (
            AttentionKind.ROPE,
            {"layout": "half"},
            OpRecord(
                name="rope_backward_half",
                source="attention/rope_backward_half.cu",
                dtypes=("f16", "bf16", "f32", "f64"),
                inputs=("dy",),
                row_inputs=("positions", "inv_freq"),
                outputs=("dx",),
                row_outputs=(),
                required=frozenset({"dy", "dx"}),
                accepted=frozenset({"dy", "positions", "inv_freq", "dx"}),
                batch_invariant=("dx",),
                attributes="",
                fold=no_scalars,
                state="",
                ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 5.0},
                contraction=False,
                scale={"dx": "dx_size"},
                pairs="half",
                host=_rope_host,
                choices={"scaling": ("none", "linear", "ntk", "yarn", "llama3")},
            ),
        ),
    )

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "dy": (
                desc.shape,
                "(batch_size, num_heads, seq_len, head_dim) of the descriptor",
            ),
            "positions": (
                desc.sequence,
                "(seq_len,) of the descriptor",
            ),
            "inv_freq": (
                desc.frequencies,
                "(rotary_dim // 2,) of the descriptor",
            ),
            "dx": (
                desc.shape,
                "(batch_size, num_heads, seq_len, head_dim) of the descriptor",
            ),
        }

    @staticmethod
    def other_shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], ...]]:
        """Further shapes that a tensor may have."""
        return {
            "positions": (desc.sequences,),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not (math.isfinite(desc.base) and desc.base > 0):
            yield f"base is {desc.base}, want isfinite(base) and base > 0"
        if not is_even(desc.head_dim):
            yield f"head_dim is {desc.head_dim}, want an even head_dim"
        if not is_even(desc.rotary_dim):
            yield f"rotary_dim is {desc.rotary_dim}, want an even rotary_dim"
        if not (desc.rotary_dim <= desc.head_dim):
            yield f"rotary_dim is {desc.rotary_dim}, head_dim is {desc.head_dim}, want rotary_dim <= head_dim"
        if not (math.isfinite(desc.factor) and desc.factor > 0):
            yield f"factor is {desc.factor}, want isfinite(factor) and factor > 0"
        if not (math.isfinite(desc.attention_factor) and desc.attention_factor >= 0):
            yield (
                f"attention_factor is {desc.attention_factor}, "
                "want isfinite(attention_factor) and attention_factor >= 0"
            )
        if desc.kind.value == "rope" and desc.scaling == "yarn" and not (desc.original_seq_len > 0):
            yield f"original_seq_len is {desc.original_seq_len}, want original_seq_len > 0"
        if desc.kind.value == "rope" and desc.scaling == "yarn" and not (desc.base > 1):
            yield f"base is {desc.base}, want base > 1"
        if (
            desc.kind.value == "rope"
            and desc.scaling == "yarn"
            and not (desc.beta_fast > 0 and math.isfinite(desc.beta_fast))
        ):
            yield f"beta_fast is {desc.beta_fast}, want beta_fast > 0 and isfinite(beta_fast)"
        if (
            desc.kind.value == "rope"
            and desc.scaling == "yarn"
            and not (desc.beta_slow > 0 and math.isfinite(desc.beta_slow))
        ):
            yield f"beta_slow is {desc.beta_slow}, want beta_slow > 0 and isfinite(beta_slow)"
        if desc.kind.value == "rope" and desc.scaling == "yarn" and not (desc.beta_fast >= desc.beta_slow):
            yield f"beta_fast is {desc.beta_fast}, beta_slow is {desc.beta_slow}, want beta_fast >= beta_slow"
        if desc.kind.value == "rope" and desc.scaling == "llama3" and not (desc.original_seq_len > 0):
            yield f"original_seq_len is {desc.original_seq_len}, want original_seq_len > 0"
        if (
            desc.kind.value == "rope"
            and desc.scaling == "llama3"
            and not (0 < desc.low_freq_factor < desc.high_freq_factor)
        ):
            yield (
                f"low_freq_factor is {desc.low_freq_factor}, high_freq_factor is {desc.high_freq_factor}, "
                "want 0 < low_freq_factor < high_freq_factor"
            )
        if (
            desc.kind.value == "rope"
            and desc.scaling == "llama3"
            and not math.isfinite(desc.high_freq_factor)
        ):
            yield f"high_freq_factor is {desc.high_freq_factor}, want isfinite(high_freq_factor)"
        yield from ()

    def __call__(
        self,
        *,
        dy: Any,
        positions: Any = None,
        inv_freq: Any = None,
        dx: Any,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = RopeBackwardArgs(
            dy=dy,
            positions=positions,
            inv_freq=inv_freq,
            dx=dx,
        )
        self.run(stream, workspace, args)


@dataclass(frozen=True, kw_only=True)
class SdpaDescriptor(Descriptor):
    """The problem of a SdpaPlan: y = softmax(scale * q k^T + mask) v.

    Attributes:
        kind: which op (SDPA unless given).
        batch_size: members of the batch.
        num_heads: heads of the queries.
        query_len: queries of a head.
        key_len: keys of a head.
        d_k: elements of a query and a key.
        d_v: elements of a value.
        scale: factor of the products of queries and keys, such as d_k ** -0.5.
        element: dtype of every tensor, a bool mask apart.
        num_kv_heads: heads of the keys and values, each for num_heads / num_kv_heads neighbouring heads
            of the queries.
        causal: which keys query i sees: all (none), the first i + 1 (top_left), or the first i + 1 +
            key_len - query_len (bottom_right).
        masked_row: what a query gets that sees none of the keys: zero, or nan as in PyTorch's softmax.
    """

    kind: AttentionKind | str = AttentionKind.SDPA
    batch_size: int
    num_heads: int
    query_len: int
    key_len: int
    d_k: int
    d_v: int
    scale: float
    element: ElementKind | str
    num_kv_heads: int | None = None
    causal: str = "none"
    masked_row: str = "zero"

    RULES: ClassVar = {
        "kind": AttentionKind,
        "batch_size": "extent",
        "num_heads": "extent",
        "query_len": "extent",
        "key_len": "extent",
        "d_k": "extent",
        "d_v": "extent",
        "scale": "f64",
        "element": "element",
        "num_kv_heads": "extent",
        "causal": "option",
        "masked_row": "option",
    }
    DEFAULTS: ClassVar = {"num_kv_heads": "num_heads"}

    @property
    def scores(self) -> tuple[int, ...]:
        """The extents (batch_size, num_heads, query_len, key_len)."""
        desc: Any = self
        return (desc.batch_size, desc.num_heads, desc.query_len, desc.key_len)

    @property
    def queries(self) -> tuple[int, ...]:
        """The extents (batch_size, num_heads, query_len, d_k)."""
        desc: Any = self
        return (desc.batch_size, desc.num_heads, desc.query_len, desc.d_k)

    @property
    def keys(self) -> tuple[int, ...]:
        """The extents (batch_size, num_kv_heads, key_len, d_k)."""
        desc: Any = self
        return (desc.batch_size, desc.num_kv_heads, desc.key_len, desc.d_k)

    @property
    def values(self) -> tuple[int, ...]:
        """The extents (batch_size, num_kv_heads, key_len, d_v)."""
        desc: Any = self
        return (desc.batch_size, desc.num_kv_heads, desc.key_len, desc.d_v)

    @property
    def results(self) -> tuple[int, ...]:
        """The extents (batch_size, num_heads, query_len, d_v)."""
        desc: Any = self
        return (desc.batch_size, desc.num_heads, desc.query_len, desc.d_v)


@dataclass(frozen=True, kw_only=True)
class SdpaBackwardDescriptor(Descriptor):
    """The problem of a SdpaBackwardPlan.

    Attributes:
        kind: which op (SDPA unless given).
        batch_size: members of the batch.
        num_heads: heads of the queries.
        query_len: queries of a head.
        key_len: keys of a head.
        d_k: elements of a query and a key.
        d_v: elements of a value.
        scale: factor of the products of queries and keys, such as d_k ** -0.5.
        element: dtype of every tensor, a bool mask apart.
        num_kv_heads: heads of the keys and values, each for num_heads / num_kv_heads neighbouring heads
            of the queries.
        causal: which keys query i sees: all (none), the first i + 1 (top_left), or the first i + 1 +
            key_len - query_len (bottom_right).
    """

    kind: AttentionKind | str = AttentionKind.SDPA
    batch_size: int
    num_heads: int
    query_len: int
    key_len: int
    d_k: int
    d_v: int
    scale: float
    element: ElementKind | str
    num_kv_heads: int | None = None
    causal: str = "none"

    RULES: ClassVar = {
        "kind": AttentionKind,
        "batch_size": "extent",
        "num_heads": "extent",
        "query_len": "extent",
        "key_len": "extent",
        "d_k": "extent",
        "d_v": "extent",
        "scale": "f64",
        "element": "element",
        "num_kv_heads": "extent",
        "causal": "option",
    }
    DEFAULTS: ClassVar = {"num_kv_heads": "num_heads"}

    @property
    def scores(self) -> tuple[int, ...]:
        """The extents (batch_size, num_heads, query_len, key_len)."""
        desc: Any = self
        return (desc.batch_size, desc.num_heads, desc.query_len, desc.key_len)

    @property
    def queries(self) -> tuple[int, ...]:
        """The extents (batch_size, num_heads, query_len, d_k)."""
        desc: Any = self
        return (desc.batch_size, desc.num_heads, desc.query_len, desc.d_k)

    @property
    def keys(self) -> tuple[int, ...]:
        """The extents (batch_size, num_kv_heads, key_len, d_k)."""
        desc: Any = self
        return (desc.batch_size, desc.num_kv_heads, desc.key_len, desc.d_k)

    @property
    def values(self) -> tuple[int, ...]:
        """The extents (batch_size, num_kv_heads, key_len, d_v)."""
        desc: Any = self
        return (desc.batch_size, desc.num_kv_heads, desc.key_len, desc.d_v)

    @property
    def results(self) -> tuple[int, ...]:
        """The extents (batch_size, num_heads, query_len, d_v)."""
        desc: Any = self
        return (desc.batch_size, desc.num_heads, desc.query_len, desc.d_v)


@dataclass(frozen=True, kw_only=True)
class SdpaArgs:
    """The tensors of a SdpaPlan.

    Attributes:
        q: queries; of shape (batch_size, num_heads, query_len, d_k).
        k: keys; a zero stride between heads shares one; of shape (batch_size, num_kv_heads, key_len,
            d_k).
        v: values; a zero stride between heads shares one; of shape (batch_size, num_kv_heads, key_len,
            d_v).
        mask: bool, true for the keys that a query sees, or terms of the scores, -inf for those that it
            does not see; of shape (batch_size, num_heads, query_len, key_len) or one that broadcasts to it.
        y: result; of shape (batch_size, num_heads, query_len, d_v).
        attn: the weights, for the backward; None: not wanted; of shape (batch_size, num_heads, query_len,
            key_len).
    """

    q: Any
    k: Any
    v: Any
    mask: Any = None
    y: Any
    attn: Any = None


@dataclass(frozen=True, kw_only=True)
class SdpaBackwardArgs:
    """The tensors of a SdpaBackwardPlan.

    Attributes:
        q: queries; of shape (batch_size, num_heads, query_len, d_k).
        k: keys; a zero stride between heads shares one; of shape (batch_size, num_kv_heads, key_len,
            d_k).
        v: values; a zero stride between heads shares one; of shape (batch_size, num_kv_heads, key_len,
            d_v).
        attn: the forward's, which know its mask: the backward takes none; of shape (batch_size,
            num_heads, query_len, key_len).
        dy: gradient of y; of shape (batch_size, num_heads, query_len, d_v).
        dscores_ws: scratch memory that is overwritten; None: a workspace, if dk is wanted; of shape
            (batch_size, num_heads, query_len, key_len).
        dq: gradient of q; None: not wanted; of shape (batch_size, num_heads, query_len, d_k).
        dk: gradient of k, with a zero stride between heads their sum; None: not wanted; of shape
            (batch_size, num_kv_heads, key_len, d_k).
        dv: gradient of v, with a zero stride between heads their sum; None: not wanted; of shape
            (batch_size, num_kv_heads, key_len, d_v).
    """

    q: Any
    k: Any
    v: Any
    attn: Any
    dy: Any
    dscores_ws: Any = None
    dq: Any = None
    dk: Any = None
    dv: Any = None


def _sdpa_scalars(desc: SdpaDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of sdpa, folded in double precision."""
    scale = desc.scale
    return (scale,)


def _sdpa_backward_scalars(desc: SdpaBackwardDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of sdpa_backward, folded in double precision."""
    scale = desc.scale
    return (scale,)


def _sdpa_nan_scalars(desc: SdpaDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of sdpa_nan, folded in double precision."""
    scale = desc.scale
    return (scale,)


class SdpaPlan(Plan):
    """y = softmax(scale * q k^T + mask) v.

    SDPA (f16, bf16, f32, f64, masked_row=zero): scaled dot-product attention;
        torch.nn.functional.scaled_dot_product_attention, jax.nn.dot_product_attention
        score = scale * dot(q, k) + mask
        nothing = 0
        attn = softmax(score, nothing)
        y = dot(attn, v)

    `select` checks a SdpaDescriptor and compiles or loads its kernels.
    `run` takes SdpaArgs: tensors with any strides, zero and negative ones included; the innermost stride of
    q, k, v and y must be 1, attn must be contiguous.
    """

    TEMPLATE = "attention"
    CATEGORY = "Attention"
    DESCRIPTOR = SdpaDescriptor
    ARGS = SdpaArgs
    DOMAIN = "scores"
    AXES = None
    TENSORS = (
        TensorRule("q", "in", layout="inner"),
        TensorRule("k", "in", layout="inner"),
        TensorRule("v", "in", layout="inner"),
        TensorRule("mask", "in", optional=True, other_elements=("bool",)),
        TensorRule("y", "out", layout="inner"),
        TensorRule("attn", "out", optional=True, layout="contiguous"),
    )
    OPS: ClassVar = {
        AttentionKind.SDPA: OpRecord(
            name="sdpa",
            source="attention/sdpa.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("q", "k", "v", "mask"),
            row_inputs=(),
            outputs=("y", "attn"),
            row_outputs=(),
            required=frozenset({"q", "k", "v", "y"}),
            accepted=frozenset({"q", "k", "v", "mask", "y", "attn"}),
            batch_invariant=("y", "attn"),
            attributes="a",
            fold=_sdpa_scalars,
            state="",
            ulp={"f16": 2.0, "bf16": 2.0, "f32": 16.0, "f64": 16.0},
            contraction=True,
            scale={"y": "y_size + y_spread / epsilon", "attn": "abs(exact) + spread / epsilon"},
            holds={"y": "y_fits > 0", "attn": "fits > 0"},
            choices={"causal": ("none", "top_left", "bottom_right")},
            narrowed=("scale",),
            tiles={
                "f16": TileRecord((64, 128), 128, 64, 32, 64, SumTileRecord(128, 64, 2, (2, 2, 1))),
                "bf16": TileRecord((64, 128), 128, 64, 32, 64, SumTileRecord(128, 64, 2, (2, 2, 1))),
                "f32": TileRecord((64, 128), 128, 32, 32, 64, SumTileRecord(64, 64, 2, (1, 2, 2))),
                "f64": TileRecord((64,), 64, 32, 16, 32, SumTileRecord(64, 32, 2, (2, 2, 1))),
            },
        ),
    }
    ALTERNATIVES = (
        (
            AttentionKind.SDPA,
            {"masked_row": "nan"},
            OpRecord(
                name="sdpa_nan",
                source="attention/sdpa_nan.cu",
                dtypes=("f16", "bf16", "f32", "f64"),
                inputs=("q", "k", "v", "mask"),
                row_inputs=(),
                outputs=("y", "attn"),
                row_outputs=(),
                required=frozenset({"q", "k", "v", "y"}),
                accepted=frozenset({"q", "k", "v", "mask", "y", "attn"}),
                batch_invariant=("y", "attn"),
                attributes="a",
                fold=_sdpa_nan_scalars,
                state="",
                ulp={"f16": 2.0, "bf16": 2.0, "f32": 16.0, "f64": 16.0},
                contraction=True,
                scale={"y": "y_size + y_spread / epsilon", "attn": "abs(exact) + spread / epsilon"},
                holds={"y": "y_fits > 0", "attn": "fits > 0"},
                choices={"causal": ("none", "top_left", "bottom_right")},
                narrowed=("scale",),
                tiles={
                    "f16": TileRecord((64, 128), 128, 64, 32, 64, SumTileRecord(128, 64, 2, (2, 2, 1))),
                    "bf16": TileRecord((64, 128), 128, 64, 32, 64, SumTileRecord(128, 64, 2, (2, 2, 1))),
                    "f32": TileRecord((64, 128), 128, 32, 32, 64, SumTileRecord(64, 64, 2, (1, 2, 2))),
                    "f64": TileRecord((64,), 64, 32, 16, 32, SumTileRecord(64, 32, 2, (2, 2, 1))),
                },
            ),
        ),
    )

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "q": (
                desc.queries,
                "(batch_size, num_heads, query_len, d_k) of the descriptor",
            ),
            "k": (
                desc.keys,
                "(batch_size, num_kv_heads, key_len, d_k) of the descriptor",
            ),
            "v": (
                desc.values,
                "(batch_size, num_kv_heads, key_len, d_v) of the descriptor",
            ),
            "mask": (
                desc.scores,
                "(batch_size, num_heads, query_len, key_len) of the descriptor",
            ),
            "y": (
                desc.results,
                "(batch_size, num_heads, query_len, d_v) of the descriptor",
            ),
            "attn": (
                desc.scores,
                "(batch_size, num_heads, query_len, key_len) of the descriptor",
            ),
        }

    @staticmethod
    def other_shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], ...]]:
        """Further shapes that a tensor may have."""
        return {
            "mask": broadcast_shapes(desc.scores),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not divides(desc.num_kv_heads, desc.num_heads):
            yield (
                f"num_kv_heads is {desc.num_kv_heads}, num_heads is {desc.num_heads}, "
                "want a num_kv_heads that divides num_heads"
            )
        if desc.kind.value == "sdpa" and not math.isfinite(desc.scale):
            yield f"scale is {desc.scale}, want isfinite(scale)"
        yield from ()

    def __call__(
        self,
        *,
        q: Any,
        k: Any,
        v: Any,
        mask: Any = None,
        y: Any,
        attn: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = SdpaArgs(
            q=q,
            k=k,
            v=v,
            mask=mask,
            y=y,
            attn=attn,
        )
        self.run(stream, workspace, args)


class SdpaBackwardPlan(Plan):
    """Gradients of SdpaPlan.

    SDPA (f16, bf16, f32, f64): scaled dot-product attention;
        torch.nn.functional.scaled_dot_product_attention, jax.nn.dot_product_attention
        dattn = dot(dy, v)
        dscores = 0 if attn == 0 else attn * (dattn - sum(attn * dattn))
        dq = scale * dot(dscores, k)
        dk = scale * dot(dscores, q)
        dv = dot(attn, dy)

    `select` checks a SdpaBackwardDescriptor and compiles or loads its kernels.
    `run` takes SdpaBackwardArgs: tensors with any strides, zero and negative ones included; the innermost
    stride of q, k, v, dy, dq, dk and dv must be 1, attn and dscores_ws must be contiguous.
    """

    TEMPLATE = "attention"
    CATEGORY = "Attention"
    DESCRIPTOR = SdpaBackwardDescriptor
    ARGS = SdpaBackwardArgs
    DOMAIN = "scores"
    AXES = None
    TENSORS = (
        TensorRule("q", "in", layout="inner"),
        TensorRule("k", "in", layout="inner"),
        TensorRule("v", "in", layout="inner"),
        TensorRule("attn", "in", layout="contiguous"),
        TensorRule("dy", "in", layout="inner"),
        TensorRule("dscores_ws", "scratch", layout="contiguous"),
        TensorRule("dq", "out", optional=True, layout="inner"),
        TensorRule("dk", "out", optional=True, layout="inner", shares="k"),
        TensorRule("dv", "out", optional=True, layout="inner", shares="v"),
    )
    OPS: ClassVar = {
        AttentionKind.SDPA: OpRecord(
            name="sdpa_backward",
            source="attention/sdpa_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("q", "k", "v", "attn", "dy"),
            row_inputs=(),
            outputs=("dq", "dk", "dv"),
            row_outputs=(),
            required=frozenset({"q", "k", "v", "attn", "dy"}),
            accepted=frozenset({"q", "k", "v", "attn", "dy", "dscores_ws", "dq", "dk", "dv"}),
            batch_invariant=("dq", "dk", "dv"),
            attributes="a",
            fold=_sdpa_backward_scalars,
            state="",
            ulp={"f16": 2.0, "bf16": 2.0, "f32": 16.0, "f64": 16.0},
            contraction=True,
            scale={"dq": "abs(scale) * dq_size", "dk": "abs(scale) * dk_size", "dv": "dv_size"},
            holds={"dq": "dq_fits > 0", "dk": "dk_fits > 0"},
            choices={"causal": ("none", "top_left", "bottom_right")},
            narrowed=("scale",),
            tiles={
                "f16": TileRecord((64, 128), 128, 64, 32, 64, SumTileRecord(128, 64, 2, (2, 2, 1))),
                "bf16": TileRecord((64, 128), 128, 64, 32, 64, SumTileRecord(128, 64, 2, (2, 2, 1))),
                "f32": TileRecord((64, 128), 128, 32, 32, 64, SumTileRecord(64, 64, 2, (1, 2, 2))),
                "f64": TileRecord((64,), 64, 32, 16, 32, SumTileRecord(64, 32, 2, (2, 2, 1))),
            },
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "q": (
                desc.queries,
                "(batch_size, num_heads, query_len, d_k) of the descriptor",
            ),
            "k": (
                desc.keys,
                "(batch_size, num_kv_heads, key_len, d_k) of the descriptor",
            ),
            "v": (
                desc.values,
                "(batch_size, num_kv_heads, key_len, d_v) of the descriptor",
            ),
            "attn": (
                desc.scores,
                "(batch_size, num_heads, query_len, key_len) of the descriptor",
            ),
            "dy": (
                desc.results,
                "(batch_size, num_heads, query_len, d_v) of the descriptor",
            ),
            "dscores_ws": (
                desc.scores,
                "(batch_size, num_heads, query_len, key_len) of the descriptor",
            ),
            "dq": (
                desc.queries,
                "(batch_size, num_heads, query_len, d_k) of the descriptor",
            ),
            "dk": (
                desc.keys,
                "(batch_size, num_kv_heads, key_len, d_k) of the descriptor",
            ),
            "dv": (
                desc.values,
                "(batch_size, num_kv_heads, key_len, d_v) of the descriptor",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not divides(desc.num_kv_heads, desc.num_heads):
            yield (
                f"num_kv_heads is {desc.num_kv_heads}, num_heads is {desc.num_heads}, "
                "want a num_kv_heads that divides num_heads"
            )
        if desc.kind.value == "sdpa" and not math.isfinite(desc.scale):
            yield f"scale is {desc.scale}, want isfinite(scale)"
        yield from ()

    def __call__(
        self,
        *,
        q: Any,
        k: Any,
        v: Any,
        attn: Any,
        dy: Any,
        dscores_ws: Any = None,
        dq: Any = None,
        dk: Any = None,
        dv: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = SdpaBackwardArgs(
            q=q,
            k=k,
            v=v,
            attn=attn,
            dy=dy,
            dscores_ws=dscores_ws,
            dq=dq,
            dk=dk,
            dv=dv,
        )
        self.run(stream, workspace, args)
