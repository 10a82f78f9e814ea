"""Reductions, forward and backward, beside eager PyTorch and torch.compile.

Three positions of the axis, and a full reduction of 2^30 elements (forward only). Each kind is checked
against PyTorch in float64 while it runs. Prints a table, and writes reductions.json and reductions.md with
--out. Exits 1 where a plan failed or was wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from cases import Case
from comparison import Bench
from options import bench, parser
from problems import forward_of, plan_classes

from baracuda.plan import Plan

#: Domain and axes: last, first, middle.
POSITIONS = (((16384, 4096), (1,)), ((16384, 4096), (0,)), ((128, 2048, 256), (1,)))
FULL = ((1 << 30,), (0,))
SMALL_POSITIONS = (((37, 130), (1,)), ((130, 37), (0,)), ((3, 70, 20), (1,)))
SMALL_FULL = ((20_000,), (0,))
COPY_BYTES, SMALL_COPY_BYTES = 1 << 30, 1 << 16


def reduction_plans() -> list[type[Plan]]:
    """The plan classes whose outputs are one row of the domain, and their backwards."""
    found = []
    for plan in plan_classes():
        forward = forward_of(plan) or plan
        if forward.AXES is not None and forward.CATEGORY == "Reduction":
            found.append(plan)
    return found


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """What is measured: every position first, then the full reductions."""
    small = options.device == "host"
    positions = SMALL_POSITIONS if small else POSITIONS
    plans = [plan for plan in reduction_plans() if _direction(plan) in options.directions]
    for plan in plans:
        for domain, axes in positions:
            yield from _kinds(plan, options, domain, axes)
    for plan in plans:
        if forward_of(plan) is None:
            yield from _kinds(plan, options, *(SMALL_FULL if small else FULL))


def _direction(plan: type[Plan]) -> str:
    return "forward" if forward_of(plan) is None else "backward"


def _kinds(
    plan: type[Plan], options: argparse.Namespace, domain: tuple[int, ...], axes: tuple[int, ...]
) -> Iterator[Case]:
    for element in options.dtypes or ("bf16", "f32"):
        for kind in dict.fromkeys(plan.OPS):
            if not options.kinds or kind.value in options.kinds:
                yield Case(plan, kind, element, domain, axes)


def main(arguments: list[str] | None = None) -> int:
    """Run; the number of failures as an exit code of 0 or 1."""
    made = parser(__doc__)
    made.add_argument("--directions", default="forward,backward", help="forward, backward or both")
    options = made.parse_args(arguments)
    _, runner = bench("reductions", options)
    runner.run(list(cases(options)), compiled=not options.no_compile)
    return finish(runner, SMALL_COPY_BYTES if options.device == "host" else COPY_BYTES)


def finish(runner: Bench, copy_bytes: int) -> int:
    """Measure the copy, print the table, and give the exit code."""
    copy = runner.copy_gbps(copy_bytes)
    runner.report.about["copy GB/s"] = f"{copy:.0f}"
    runner.report.finish([runner.table(runner.report.rows, copy)])
    print(runner.verdict())
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
