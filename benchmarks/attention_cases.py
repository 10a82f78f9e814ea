"""The attention that is measured: problems, tensors with our plans on them, and checks against float64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attention_peers import Problem, backward_steps, forward_steps, grouped
from bits import RUNS, differing
from comparison import SLACK, Bench
from problems import Run, prepare

import baracuda as bc

__all__ = ["OUTPUTS", "PROBLEMS", "SMALL", "Data", "check", "data_of", "planned"]

PROBLEMS = (
    Problem("bf16", 2, 16, 16, 1024, 64),
    Problem("bf16", 4, 16, 16, 2048, 128),
    Problem("f32", 2, 16, 16, 1024, 64),
    Problem("f64", 1, 8, 8, 1024, 64),
    Problem("f16", 2, 16, 16, 1024, 64),
    Problem("bf16", 4, 32, 8, 2048, 128),
    Problem("bf16", 4, 32, 8, 2048, 128, causal=True),
    Problem("f32", 2, 16, 4, 1024, 64, causal=True),
)
SMALL = (
    Problem("f32", 2, 4, 4, 19, 16),
    Problem("f32", 2, 4, 2, 33, 8, causal=True),
    Problem("bf16", 2, 4, 2, 33, 8, causal=True),
)
OUTPUTS = {"forward": ("y", "attn"), "backward": ("dq", "dk", "dv")}


@dataclass(frozen=True)
class Data:
    """One set of tensors, with our plans' launches packed on them."""

    tensors: Mapping[str, Any]
    runs: Mapping[str, Run]

    @property
    def nbytes(self) -> int:
        """What a backward touches."""
        return self.runs["backward"].nbytes


def planned(problem: Problem, direction: str) -> tuple[Any, Any]:
    """The plan class of a direction, and the descriptor."""
    plan: Any = getattr(bc, "SdpaPlan" if direction == "forward" else "SdpaBackwardPlan")
    desc = plan.DESCRIPTOR(
        batch_size=problem.batch,
        num_heads=problem.heads,
        num_kv_heads=problem.kv_heads,
        query_len=problem.length,
        key_len=problem.length,
        d_k=problem.size,
        d_v=problem.size,
        scale=problem.scale,
        element=problem.element,
        causal="top_left" if problem.causal else "none",
    )
    return plan, desc


def data_of(torch: Any, runner: Bench, problem: Problem) -> Data:
    """Standard normal q, k, v and dy, and attn as our forward gives it."""
    dtype, place = runner.make.dtype(problem.element), runner.make.place
    wide = (problem.batch, problem.heads, problem.length, problem.size)
    narrow = (problem.batch, problem.kv_heads, problem.length, problem.size)
    weights = (problem.batch, problem.heads, problem.length, problem.length)
    tensors = {
        name: torch.randn(shape, dtype=dtype, device=place)
        for name, shape in {"q": wide, "k": narrow, "v": narrow, "dy": wide}.items()
    }
    empty = {"y": wide, "attn": weights, "dscores_ws": weights, "dq": wide, "dk": narrow, "dv": narrow}
    tensors |= {name: torch.empty(shape, dtype=dtype, device=place) for name, shape in empty.items()}
    runs = {}
    for direction in OUTPUTS:
        plan, desc = planned(problem, direction)
        taken = {rule.name: tensors[rule.name] for rule in plan.TENSORS if rule.name in tensors}
        runs[direction] = prepare(torch, runner.make.device, plan, desc, taken)
    runs["forward"].launch()
    return Data(tensors, runs)


# Checks


def check(torch: Any, runner: Bench, problem: Problem, direction: str, data: Data) -> dict[str, float]:
    """The largest relative error, and the one allowed.

    Raises:
        ArithmeticError: it is larger, or the bits change from run to run.
    """
    run = data.runs[direction]
    outputs = {name: data.tensors[name] for name in OUTPUTS[direction]}
    name = differing(torch, run.launch, runner.timer.synchronize, outputs)
    if name is not None:
        raise ArithmeticError(f"{name} differs among {RUNS} runs")
    guarantee = run.plan.precision_guarantee
    eps, compute_eps = (
        float(torch.finfo(runner.make.dtype(kind)).eps) for kind in (problem.element, guarantee.accumulator)
    )
    # Rounding errors of a sum grow as the root of its terms; dk and dv sum over the queries that share keys.
    terms = problem.length * (problem.heads // problem.kv_heads if direction == "backward" else 1)
    allowed = SLACK * (max(guarantee.ulp, 1.0) * eps + terms**0.5 * compute_eps)
    largest = 0.0
    for member in {(0, 0), (problem.batch - 1, problem.kv_heads - 1)}:
        for name, want in exact(torch, problem, direction, data.tensors, *member).items():
            got = part(problem, data.tensors[name], *member).double().reshape(want.shape)
            error = float((got - want).abs().max() / want.abs().max())
            if not error <= allowed:
                raise ArithmeticError(f"{name} has a relative error of {error:.2e}, allowed {allowed:.2e}")
            largest = max(largest, error)
    return {"relative": largest, "allowed": allowed}


def part(problem: Problem, tensor: Any, member: int, head: int) -> Any:
    """The heads of a tensor that belong to one head of the keys."""
    count = tensor.shape[1] // problem.kv_heads
    return tensor[member : member + 1, head * count : (head + 1) * count].detach()


def exact(
    torch: Any, problem: Problem, direction: str, tensors: Mapping[str, Any], member: int, head: int
) -> dict[str, Any]:
    """The outputs for one head of the keys in float64; a backward's from the weights that were saved."""
    sharing = problem.heads // problem.kv_heads
    one = Problem(problem.element, 1, sharing, 1, problem.length, problem.size, problem.causal)
    names = ("q", "k", "v", "attn", "dy")
    wide = {name: part(problem, tensors[name], member, head).double() for name in names}
    q, attn, dy = (grouped(one, wide[name]) for name in ("q", "attn", "dy"))
    k, v = (wide[name][0] for name in ("k", "v"))
    if direction == "backward":
        gradients = backward_steps(torch, problem.scale, q, k, v, attn, dy)
        return dict(zip(OUTPUTS[direction], gradients, strict=True))
    places = torch.arange(problem.length, device=q.device)
    hidden = (places[None, :] > places[:, None]).repeat(sharing, 1) if problem.causal else None
    return dict(zip(OUTPUTS[direction], forward_steps(torch, problem.scale, q, k, v, hidden), strict=True))
