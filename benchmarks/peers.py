"""What PyTorch calls the same op: by the name that the spec gives for it, or by the table here.

The table has the ops whose arguments differ from PyTorch's. An op with neither runs beside no peer.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from baracuda.plan import Plan

__all__ = ["Peer", "peer_of"]


@dataclass(frozen=True)
class Peer:
    """PyTorch's form of one op.

    Attributes:
        forward: of torch, the descriptor and the inputs in the plan's order.
        fields: descriptor fields with which the plan means what PyTorch means.
        noise: standard normal numbers, and how many of them are aggregated, to inputs that suit the op.
        view: the backward only makes a view in eager PyTorch, so that it has no time to compare with.
        tables: of torch, the descriptor and the first input, further inputs of `forward` that are made once
            and cost no time here, as a model makes them once for all its layers.
    """

    forward: Callable[..., Any]
    fields: Mapping[str, Any] = field(default_factory=dict)
    noise: Callable[[Any, int], Any] = lambda normal, extent: normal + 0.5  # so that no sum is nearly 0
    view: bool = False
    tables: Callable[..., tuple[Any, ...]] = lambda torch, desc, x: ()


def _for_truth(normal: Any, extent: int) -> Any:
    """Numbers of which some are equal, some infinite and some NaN."""
    coarse = (4 * normal).round() / (normal.abs() < 2)
    return coarse.masked_fill_((normal > 0.5) & (normal < 0.6), float("nan"))


def _near_one(normal: Any, extent: int) -> Any:
    """Factors whose product over `extent` of them neither over- nor underflows."""
    return (normal * extent**-0.5).exp()


def _nowhere(*poles: float) -> Callable[[Any, int], Any]:
    """Noise that is none of some numbers, where PyTorch's gradient is NaN and 16 bits often are."""

    def noise(normal: Any, extent: int) -> Any:
        values = normal + 0.5
        for pole in poles:
            values.masked_fill_(values == pole, 1)
        return values

    return noise


def _no_integer(normal: Any, extent: int) -> Any:
    """At the poles of trigamma, of which 16 bits have many numbers, PyTorch has large ones, no infinities."""
    values = normal + 0.5
    return values.masked_fill_(values == values.round(), 0.25)


_REDUCTIONS = {
    "sum": Peer(lambda torch, desc, x: x.sum(desc.reduce_axis, keepdim=True), view=True),
    "mean": Peer(lambda torch, desc, x: x.mean(desc.reduce_axis, keepdim=True)),
    "max": Peer(lambda torch, desc, x: x.amax(desc.reduce_axis, keepdim=True), fields={"ties": "split"}),
    "min": Peer(lambda torch, desc, x: x.amin(desc.reduce_axis, keepdim=True), fields={"ties": "split"}),
    "prod": Peer(lambda torch, desc, x: x.prod(desc.reduce_axis[0], keepdim=True), noise=_near_one),
    "norm2": Peer(lambda torch, desc, x: torch.linalg.vector_norm(x, 2, desc.reduce_axis, keepdim=True)),
    "logsumexp": Peer(lambda torch, desc, x: x.logsumexp(desc.reduce_axis, keepdim=True)),
    "var": Peer(lambda torch, desc, x: x.var(desc.reduce_axis, correction=desc.correction, keepdim=True)),
    "std": Peer(lambda torch, desc, x: x.std(desc.reduce_axis, correction=desc.correction, keepdim=True)),
}


def _rope_tables(torch: Any, desc: Any, x: Any) -> tuple[Any, ...]:
    """Meta's Llama has one complex table, Hugging Face's models have cosine and sine of each half twice."""
    exponents = torch.arange(0, desc.rotary_dim, 2, device=x.device, dtype=torch.float64) / desc.rotary_dim
    positions = torch.arange(desc.seq_len, device=x.device, dtype=torch.float64)
    angles = positions[:, None] * desc.base**-exponents
    if desc.layout == "interleaved":
        table = torch.polar(torch.ones_like(angles), angles)
        return (table if x.dtype == torch.float64 else table.to(torch.complex64),)
    whole = torch.cat([angles, angles], -1)
    return whole.cos().to(x.dtype), whole.sin().to(x.dtype)


def _rope(torch: Any, desc: Any, x: Any, *tables: Any) -> Any:
    """Meta's complex form, or transformers' apply_rotary_pos_emb."""
    if desc.layout == "interleaved":
        wide = x if x.dtype == torch.float64 else x.float()
        pairs = torch.view_as_complex(wide.unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * tables[0]).flatten(-2).to(x.dtype)
    cosine, sine = tables
    half = x.shape[-1] // 2
    return x * cosine + torch.cat([-x[..., half:], x[..., :half]], -1) * sine


_ROPE = {"rope": Peer(_rope, tables=_rope_tables)}
_BINARY_PARAM = {"lerp": Peer(lambda torch, desc, a, b: torch.lerp(a, b, desc.param))}
_UNARY = {
    "digamma": Peer(lambda torch, desc, x: torch.digamma(x), noise=_no_integer),
    "frac": Peer(lambda torch, desc, x: torch.frac(x), view=True),
}
_BINARY = {
    "add": Peer(lambda torch, desc, a, b: a + b, view=True),
    "hypot": Peer(lambda torch, desc, a, b: torch.hypot(a, b), noise=_nowhere(0)),
    "fmod": Peer(lambda torch, desc, a, b: torch.fmod(a, b), noise=_nowhere(0)),
    "xlogy": Peer(lambda torch, desc, a, b: torch.xlogy(a, b), noise=_nowhere(0)),
    "xlog1py": Peer(lambda torch, desc, a, b: torch.special.xlog1py(a, b), noise=_nowhere(0, -1)),
}
_TERNARY = {
    "addcmul": Peer(lambda torch, desc, a, b, c: torch.addcmul(a, b, c, value=desc.param)),
    "addcdiv": Peer(lambda torch, desc, a, b, c: torch.addcdiv(a, b, c, value=desc.param)),
}
_CAST = {"cast": Peer(lambda torch, desc, x: x.to(getattr(torch, desc.target.numpy.name)))}
_AFFINE = {"affine": Peer(lambda torch, desc, x: x * desc.scale + desc.shift)}
# What prelu calls with its weight in the shape that broadcasts.
_PRELU = {"prelu": Peer(lambda torch, desc, x, slope: torch._prelu_kernel(x, slope))}


def _gate(function: str, **words: Any) -> Peer:
    """A gate of halves as two operations."""

    def forward(torch: Any, desc: Any, x: Any) -> Any:
        a, b = x.chunk(2, desc.axis[0])
        return a * getattr(torch.nn.functional, function)(b, **words)

    return Peer(forward)


_GATES = {
    "glu": Peer(lambda torch, desc, x: torch.nn.functional.glu(x, desc.axis[0])),
    "reglu": _gate("relu"),
    "swiglu": _gate("silu"),
    "geglu": _gate("gelu"),
    "geglu_tanh": _gate("gelu", approximate="tanh"),
}


def _eps(desc: Any, usual: float) -> float:
    """The eps of a forward; a backward has none, its statistics have."""
    return float(getattr(desc, "eps", usual))


def _rms_norm(torch: Any, desc: Any, x: Any, gamma: Any) -> Any:
    return torch.nn.functional.rms_norm(x, gamma.shape, gamma, _eps(desc, 1e-6))


def _layer_norm(torch: Any, desc: Any, x: Any, gamma: Any, beta: Any) -> Any:
    return torch.nn.functional.layer_norm(x, gamma.shape, gamma, beta, _eps(desc, 1e-5))


_SOFTMAX = {
    name: Peer(
        lambda torch, desc, x, name=name: getattr(torch, name)(x, desc.softmax_axis[0]),
        fields={"masked_row": "nan"},
    )
    for name in ("softmax", "log_softmax")
}

_PEERS: Mapping[str, Mapping[str, Peer]] = {
    "Reduce": _REDUCTIONS,
    "Unary": _UNARY,
    "Binary": _BINARY,
    "BinaryParam": _BINARY_PARAM,
    "Ternary": _TERNARY,
    "Affine": _AFFINE,
    "Cast": _CAST,
    "PRelu": _PRELU,
    "GatedActivation": _GATES,
    "Rope": _ROPE,
    "RMSNorm": {"rms_norm": Peer(_rms_norm)},
    "LayerNorm": {"layer_norm": Peer(_layer_norm)},
    "Softmax": _SOFTMAX,
}


def peer_of(torch: Any, plan: type[Plan], kind: Any) -> Peer | None:
    """The peer of a plan class and kind, forward or backward; None where PyTorch has none."""
    family = plan.__name__.removesuffix("Plan").removesuffix("Backward")
    known = _PEERS.get(family, {}).get(kind.value)
    if known is not None:
        fields = {name: value for name, value in known.fields.items() if name in plan.DESCRIPTOR.RULES}
        return replace(known, fields=fields)
    name = _torch_name(plan.OPS[kind].name.removesuffix("_backward"))
    if name is None:
        return None
    call = ast.parse(name, mode="eval").body
    words: dict[str, Any] = {}
    if isinstance(call, ast.Call):
        words = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
        call = call.func
    function = operator.attrgetter(ast.unparse(call))(torch)
    numbers = tuple(plan.DESCRIPTOR.NUMBERS.get(kind.value, ()))

    def forward(torch: Any, desc: Any, *inputs: Any) -> Any:
        return function(*inputs, *(getattr(desc, number) for number in numbers), **words)

    if any(rule.element == "bool" for rule in plan.TENSORS if rule.io == "out"):
        return Peer(forward, noise=_for_truth)
    return Peer(forward)


@functools.cache
def _torch_name(op: str) -> str | None:
    """PyTorch's name of an op in the spec, such as "nn.functional.gelu(approximate='tanh')"."""
    from baracuda.codegen import load_spec

    return load_spec(None).ops[op].names.get("torch")
