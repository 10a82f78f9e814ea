"""Maps of the spec over contiguous, permuted, sliced and broadcast tensors, beside PyTorch and a device copy.

Every op of every plan class that works element by element, at 134,217,728 elements: of floats, and of
integers and truth values where --dtypes names them (or --kinds an op that has nothing else). In the other
layouts the outputs stay contiguous; the inputs are transposed, have stride 0 on the first axis
(row-broadcast), have rows with a gap behind each (sliced), or are [B, S, H, D] where the outputs are [B, H,
S, D] (bshd inputs). Where an operand has a shape of its own, it is also broadcast to the domain, and its
gradient summed over what was broadcast. `--kinds usual` stands for the kinds that models are made of (USUAL
below), and `--layouts` picks layouts: their speed is judged by `--kinds usual --dtypes bf16,f32 --layouts
contig,row-broadcast,sliced`.
Prints a table, and writes elementwise.json and elementwise.md with --out.
Exits 1 where a plan failed or was wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from cases import Case
from options import bench, parser, words
from problems import plan_classes, shape_fields
from reductions import COPY_BYTES, SMALL_COPY_BYTES, finish

import baracuda as bc
from baracuda.contract import OpRecord
from baracuda.plan import Plan

DOMAIN, SMALL_DOMAIN = (16384, 8192), (65, 33)
HEADS, SMALL_HEADS = (16, 32, 2048, 128), (2, 3, 5, 8)
LAYOUTS = ("contig", "transposed", "row-broadcast", "sliced", "bshd inputs", "broadcast")
#: What `--kinds usual` measures, by the ops' names: of each sort the ones that models are made of.
USUAL = {
    *("add", "sub", "mul", "div", "maximum", "pow", "atan2", "lerp"),
    *(
        "neg",
        "exp",
        "log",
        "tanh",
        "sigmoid",
        "silu",
        "gelu",
        "gelu_tanh",
        "erf",
        "softplus",
        "rsqrt",
        "mish",
    ),
    *("where", "clamp_scalar", "addcmul"),
}
#: Dtypes of the other layouts: two sizes of an element show what strides cost.
STRIDED_DTYPES = ("bf16", "f32")


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """What is measured: contiguous in every dtype first, then the other layouts."""
    domain = SMALL_DOMAIN if options.device == "host" else DOMAIN
    plans = [plan for plan in plan_classes() if plan.TEMPLATE == "map"]
    for layout in options.layouts:
        if layout == "broadcast":  # an operand of its own shape, below
            continue
        for plan in plans:
            for kind, element in _kinds(plan, options, layout):
                heads = layout == "bshd inputs"
                extents = (SMALL_HEADS if options.device == "host" else HEADS) if heads else domain
                yield Case(plan, kind, element, extents, layout=layout)
    for plan in plans if "broadcast" in options.layouts else ():
        for kind, element in _kinds(plan, options, "broadcast"):
            for name in shape_fields(plan):
                yield Case(plan, kind, element, domain, fields={name: (1, domain[1])})


def _kinds(plan: type[Plan], options: argparse.Namespace, layout: str) -> Iterator[tuple[object, str]]:
    for kind, op in plan.OPS.items():
        if options.kinds and not _is_asked(op.name.removesuffix("_backward"), kind, options.kinds):
            continue
        for element in options.dtypes or _usual_dtypes(op, bool(options.kinds)):
            if element in op.dtypes and (layout == "contig" or options.dtypes or element in STRIDED_DTYPES):
                yield kind, element


def _usual_dtypes(op: OpRecord, named: bool) -> tuple[str, ...]:
    """Floats; of an op that has none, all it has if it was asked for by name."""
    floats = tuple(element for element in op.dtypes if bc.ElementKind.parse(element).is_float)
    return floats or (op.dtypes if named else ())


def _is_asked(op: str, kind: object, kinds: tuple[str, ...]) -> bool:
    """Whether an op is one of the kinds that were asked for."""
    return getattr(kind, "value", kind) in kinds or ("usual" in kinds and op in USUAL)


def layouts(text: str) -> tuple[str, ...]:
    """Layouts by name; raises where there is no such layout."""
    asked = words(text)
    if unknown := [name for name in asked if name not in LAYOUTS]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: the layouts are {', '.join(LAYOUTS)}")
    return asked


def main(arguments: list[str] | None = None) -> int:
    """Run; the number of failures as an exit code of 0 or 1."""
    known = parser(__doc__)
    known.add_argument(
        "--layouts", type=layouts, default=LAYOUTS, metavar="NAME,...", help=f"of {', '.join(LAYOUTS)}"
    )
    options = known.parse_args(arguments)
    _, runner = bench("elementwise", options)
    runner.run(list(cases(options)), compiled=not options.no_compile)
    return finish(runner, SMALL_COPY_BYTES if options.device == "host" else COPY_BYTES)


if __name__ == "__main__":
    sys.exit(main())
