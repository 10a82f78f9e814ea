"""RMSNorm, LayerNorm and softmax, forward and backward, beside eager PyTorch, torch.compile and Liger.

At the shapes of language models, the normalised axis last. Each plan is checked against PyTorch in float64
while it runs. Before that, the plans check themselves: twenty runs give equal bits, a backward gives the
bits of the one that needs no workspace, and f16 rows near the limit are right to the last place. Prints
tables, and writes norms.json and norms.md with --out. Exits 1 where a plan failed or was wrong.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from bits import RUNS, bits, differing
from cases import Case
from comparison import Bench
from options import bench, parser
from peers import peer_of
from problems import describe, forward_of, plan_classes, stream_for
from reductions import COPY_BYTES, SMALL_COPY_BYTES
from report import markdown

import baracuda as bc
from baracuda.plan import Plan
from baracuda.sku import PlanPreference

#: Kind, element kind and domain.
SHAPES = (
    ("rms_norm", "bf16", (16384, 4096)),
    ("rms_norm", "bf16", (8192, 8192)),
    ("rms_norm", "f32", (16384, 4096)),
    ("rms_norm", "bf16", (32768, 1024)),
    ("rms_norm", "bf16", (512, 131072)),
    ("rms_norm", "f64", (4096, 4096)),
    ("layer_norm", "bf16", (16384, 4096)),
    ("layer_norm", "f32", (16384, 4096)),
    ("softmax", "bf16", (16384, 4096)),
    ("softmax", "bf16", (4096, 32768)),
    ("softmax", "f32", (16384, 4096)),
)
SMALL = ((37, 512), (9, 130))


def norm_plans(kind: str, options: argparse.Namespace) -> Iterator[tuple[type[Plan], Any]]:
    """The plan classes of a kind, with its member, in the directions that are asked for."""
    for plan in plan_classes():
        direction = "forward" if forward_of(plan) is None else "backward"
        for member in plan.OPS:
            if getattr(member, "value", "") == kind and direction in options.directions:
                yield plan, member


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """What is measured, in the order of SHAPES."""
    for kind, element, domain in SHAPES:
        if (options.kinds and kind not in options.kinds) or (
            options.dtypes and element not in options.dtypes
        ):
            continue
        for plan, member in norm_plans(kind, options):
            for extents in SMALL if options.device == "host" else (domain,):
                yield Case(plan, member, element, extents, (1,))


# Checks


def check_bits(torch: Any, runner: Bench, case: Case) -> str | None:
    """What is wrong: twenty runs, and one without a workspace, are to give equal bits. None: nothing is."""
    data = runner.make.data(case, peer_of(torch, case.plan, case.kind))
    outputs = [rule.name for rule in case.plan.TENSORS if rule.io == "out" and rule.name in data.run.tensors]
    tensors = {name: data.run.tensors[name] for name in outputs}
    name = differing(torch, data.run.launch, runner.timer.synchronize, tensors)
    if name is not None:
        return f"{name} differs among {RUNS} runs"
    first = {name: bits(torch, tensor).clone() for name, tensor in tensors.items()}
    stream = stream_for(torch, runner.make.device)
    plain = case.plan.select(stream, data.run.plan.desc, PlanPreference(max_workspace=0))
    for name in outputs:
        data.run.tensors[name].fill_(float("nan"))
    plain.run(stream, None, case.plan.ARGS(**data.run.tensors))
    runner.timer.synchronize()
    for name, want in first.items():
        if not torch.equal(bits(torch, data.run.tensors[name]), want):
            return f"{name} without a workspace has other bits"
    return None


def check_limit(torch: Any, runner: Bench) -> str | None:
    """f16 rows whose squares overflow f16."""
    plan_class = getattr(bc, "RMSNormPlan")  # noqa: B009 - made from the spec
    desc = describe(plan_class, next(iter(plan_class.OPS)), "f16", (1, 4), (1,), has_gamma=False)
    x = torch.tensor([[60000, -60000, 30000, 0]], dtype=torch.float16, device=runner.make.place)
    y, stream = torch.empty_like(x), stream_for(torch, runner.make.device)
    plan_class.select(stream, desc).run(stream, None, plan_class.ARGS(x=x, y=y))
    runner.timer.synchronize()
    want = torch.tensor([[1.333, -1.333, 0.6665, 0]], dtype=torch.float16, device=runner.make.place)
    return None if torch.equal(y, want) else f"rms_norm of {x.tolist()} is {y.tolist()}"


def checks(torch: Any, runner: Bench, measured: list[Case]) -> int:
    """How many checks failed; each says so."""
    failures = []
    for case in measured:
        try:
            wrong = check_bits(torch, runner, case)
        except (bc.BaracudaError, RuntimeError) as error:
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            failures.append(f"{case.name} {case.element} {case.place}: {wrong}")
    wrong = check_limit(torch, runner)
    failures += [wrong] if wrong else []
    for failure in failures:
        print(f"WRONG: {failure}", flush=True)
    runner.report.about["checks"] = f"{len(measured) + 1}, {len(failures)} failed"
    print(f"checks of bits and limits: {len(measured) + 1}, {len(failures)} failed", flush=True)
    return len(failures)


# Liger


def liger_calls(torch: Any, runner: Bench, case: Case) -> list[Callable[[], object]]:
    """Liger's own functions on the same numbers of bytes."""
    functions: Any = importlib.import_module("liger_kernel.transformers.functional")
    dtype, place = runner.make.dtype(case.element), runner.make.place
    x = torch.randn(case.domain, dtype=dtype, device=place)
    weight, bias = (torch.randn(case.domain[-1:], dtype=dtype, device=place) for _ in range(2))

    def forward(*leaves: Any) -> Any:
        if case.kind.value == "rms_norm":
            return functions.liger_rms_norm(*leaves, 1e-6, in_place=False)
        return functions.liger_layer_norm(*leaves, 1e-5)

    leaves = [x, weight] if case.kind.value == "rms_norm" else [x, weight, bias]
    if not case.backward:
        return [lambda: forward(*leaves)]
    for leaf in leaves:
        leaf.requires_grad_()
    y, dy = forward(*leaves), torch.randn_like(x)
    return [lambda: torch.autograd.grad(y, leaves, dy, retain_graph=True)]


def liger(torch: Any, runner: Bench, options: argparse.Namespace, measured: list[Case]) -> str | None:
    """A table of Liger's GB/s; None where it is not installed or cannot run."""
    if options.device == "host" or options.no_liger:
        return None
    try:
        importlib.import_module("liger_kernel.transformers.functional")
    except Exception as error:
        runner.report.about["liger"] = f"not there: {type(error).__name__}"
        return None
    rows = []
    known = {(row["op"], row["dtype"], row["case"]): row for row in runner.report.rows}
    for case in measured:
        row = known.get((case.name, case.element, case.place), {})
        if case.kind.value not in ("rms_norm", "layer_norm") or "baracuda" not in row:
            continue
        try:
            timing = runner.timer.measure(liger_calls(torch, runner, case), runner.repeats)
            row["liger"] = {"gbps": timing.gbps(row["bytes"]), **timing.to_json()}
            cell = f"{row['liger']['gbps']:.0f}"
        except Exception as error:  # a peer's failure is its own
            row["liger"] = {"failed": f"{type(error).__name__}: {error}"[:200]}
            cell = "failed"
        rows.append([row["op"], row["dtype"], row["case"], f"{row['baracuda']['gbps']:.0f}", cell])
    return markdown(("op", "dtype", "case", "baracuda", "liger"), rows) if rows else None


def main(arguments: list[str] | None = None) -> int:
    """Run; the number of failures as an exit code of 0 or 1."""
    made = parser(__doc__)
    made.add_argument("--directions", default="forward,backward", help="forward, backward or both")
    made.add_argument("--no-liger", action="store_true", help="without Liger")
    made.add_argument("--no-checks", action="store_true", help="without the checks of bits and limits")
    options = made.parse_args(arguments)
    torch, runner = bench("norms", options)
    measured = list(cases(options))
    wrong = 0 if options.no_checks else checks(torch, runner, measured)
    runner.run(measured, compiled=not options.no_compile)
    copy = runner.copy_gbps(SMALL_COPY_BYTES if options.device == "host" else COPY_BYTES)
    runner.report.about["copy GB/s"] = f"{copy:.0f}"
    table = liger(torch, runner, options, measured)
    runner.report.finish([runner.table(runner.report.rows, copy), *([table] if table else [])])
    print(runner.verdict())
    return 1 if runner.failed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
