"""RoPE, forward and backward, beside eager PyTorch, torch.compile and, where it is installed, Liger.

At 4 x 32 x 4096 x 128, contiguous and as a transposed view of [B, S, H, D], in both layouts: the peer of the
interleaved one is Meta's complex form, that of the halves transformers' apply_rotary_pos_emb, which is what
Liger does too. Their tables of cosines and sines are made beforehand; ours come from the positions at each
call. Each plan is checked against PyTorch in float64 while it runs. Prints tables, and writes rope.json and
rope.md with --out. Exits 1 where a plan failed or was wrong.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from cases import Case
from comparison import Bench
from options import bench, parser
from problems import plan_classes
from reductions import COPY_BYTES, SMALL_COPY_BYTES
from report import markdown

from baracuda.plan import Plan

DOMAIN, SMALL_DOMAIN = (4, 32, 4096, 128), (2, 3, 5, 16)
LAYOUTS = ("contig", "bshd")


def rope_plans() -> list[type[Plan]]:
    """The plan classes whose kernels turn pairs."""
    return [plan for plan in plan_classes() if plan.TEMPLATE == "rotate"]


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """Both layouts of memory and of pairs, in each dtype."""
    domain = SMALL_DOMAIN if options.device == "host" else DOMAIN
    for element in options.dtypes or ("bf16", "f32"):
        for plan in rope_plans():
            for layout in LAYOUTS:
                for pairs in ("interleaved", "half"):
                    for kind in plan.OPS:
                        fields = {"layout": pairs}
                        # The check takes slices along the batch: elements of a row belong together.
                        yield Case(plan, kind, element, domain, (3,), fields, layout)


def liger_calls(torch: Any, runner: Bench, case: Case) -> list[Callable[[], object]]:
    """Liger's own kernels on the same numbers of bytes: all heads as queries, one more as the key."""
    ops: Any = importlib.import_module("liger_kernel.ops.rope")
    function = ops.rope_backward if case.backward else ops.rope_forward
    batch, heads, length, size = case.domain
    dtype, place = runner.make.dtype(case.element), runner.make.place
    angles = torch.arange(length, device=place)[:, None] * 10000.0 ** (
        -torch.arange(0, size, 2, device=place) / size
    )
    cosine, sine = (part.repeat(1, 2)[None].to(dtype) for part in (angles.cos(), angles.sin()))
    # It wants [B, H, S, D] as a view of [B, S, H, D], and works in place.
    query = torch.randn(batch, length, heads, size, dtype=dtype, device=place).transpose(1, 2)
    key = torch.randn(batch, length, 1, size, dtype=dtype, device=place).transpose(1, 2)
    return [lambda: function(query, key, cosine, sine)]


def liger(torch: Any, runner: Bench, options: argparse.Namespace, measured: list[Case]) -> str | None:
    """A table of Liger's GB/s; None where it is not installed or cannot run."""
    if options.device == "host":
        return None
    try:
        importlib.import_module("liger_kernel.ops.rope")
    except ImportError:
        runner.report.about["liger"] = "not installed"
        return None
    rows = []
    for case in measured:
        if case.fields["layout"] != "half" or case.layout != "bshd":
            continue
        known = [row for row in runner.report.rows if _key(row) == (case.name, case.element, case.place)]
        if not known or "baracuda" not in known[0]:
            continue
        (row,) = known
        try:
            timing = runner.timer.measure(liger_calls(torch, runner, case), runner.repeats)
            row["liger"] = {"gbps": timing.gbps(row["bytes"]), **timing.to_json()}
            cell = f"{row['liger']['gbps']:.0f}"
        except Exception as error:  # a peer's failure is its own
            row["liger"] = {"failed": f"{type(error).__name__}: {error}"[:200]}
            cell = "failed"
        rows.append([row["op"], row["dtype"], row["case"], f"{row['baracuda']['gbps']:.0f}", cell])
    return markdown(("op", "dtype", "case", "baracuda", "liger"), rows)


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["op"], row["dtype"], row["case"]


def main(arguments: list[str] | None = None) -> int:
    """Run; the number of failures as an exit code of 0 or 1."""
    options = parser(__doc__).parse_args(arguments)
    torch, runner = bench("rope", options)
    measured = list(cases(options))
    runner.run(measured, compiled=not options.no_compile)
    copy = runner.copy_gbps(SMALL_COPY_BYTES if options.device == "host" else COPY_BYTES)
    runner.report.about["copy GB/s"] = f"{copy:.0f}"
    table = liger(torch, runner, options, measured)
    tables = [runner.table(runner.report.rows, copy), *([table] if table else [])]
    runner.report.finish(tables)
    print(runner.verdict())
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
