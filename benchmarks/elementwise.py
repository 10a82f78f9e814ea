"""Maps of the spec over contiguous, permuted, sliced and broadcast tensors, beside PyTorch and a device copy.

Every op of every plan class that works element by element, at 134,217,728 elements. In the other layouts the
outputs stay contiguous; the inputs are transposed, have stride 0 on the first axis (row-broadcast), have rows
with a gap behind each (sliced), or are [B, S, H, D] where the outputs are [B, H, S, D] (bshd inputs). Where
an operand has a shape of its own, it is also broadcast to the domain, and its gradient summed over what was
broadcast. Prints a table, and writes elementwise.json and elementwise.md with --out.
Exits 1 where a plan failed or was wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from cases import Case
from options import bench, parser
from problems import plan_classes, shape_fields
from reductions import COPY_BYTES, SMALL_COPY_BYTES, finish

from baracuda.plan import Plan

DOMAIN, SMALL_DOMAIN = (16384, 8192), (65, 33)
HEADS, SMALL_HEADS = (16, 32, 2048, 128), (2, 3, 5, 8)
LAYOUTS = ("contig", "transposed", "row-broadcast", "sliced", "bshd inputs")
#: Dtypes of the other layouts: two sizes of an element show what strides cost.
STRIDED_DTYPES = ("bf16", "f32")


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """What is measured: contiguous in every dtype first, then the other layouts."""
    domain = SMALL_DOMAIN if options.device == "host" else DOMAIN
    plans = [plan for plan in plan_classes() if plan.TEMPLATE == "map"]
    for layout in LAYOUTS:
        for plan in plans:
            for kind, element in _kinds(plan, options, layout):
                heads = layout == "bshd inputs"
                extents = (SMALL_HEADS if options.device == "host" else HEADS) if heads else domain
                yield Case(plan, kind, element, extents, layout=layout)
    for plan in plans:
        for kind, element in _kinds(plan, options, "broadcast"):
            for name in shape_fields(plan):
                yield Case(plan, kind, element, domain, fields={name: (1, domain[1])})


def _kinds(plan: type[Plan], options: argparse.Namespace, layout: str) -> Iterator[tuple[object, str]]:
    for kind, op in plan.OPS.items():
        if options.kinds and kind.value not in options.kinds:
            continue
        for element in options.dtypes or op.dtypes:
            if element in op.dtypes and (layout == "contig" or options.dtypes or element in STRIDED_DTYPES):
                yield kind, element


def main(arguments: list[str] | None = None) -> int:
    """Run; the number of failures as an exit code of 0 or 1."""
    options = parser(__doc__).parse_args(arguments)
    _, runner = bench("elementwise", options)
    runner.run(list(cases(options)), compiled=not options.no_compile)
    return finish(runner, SMALL_COPY_BYTES if options.device == "host" else COPY_BYTES)


if __name__ == "__main__":
    sys.exit(main())
