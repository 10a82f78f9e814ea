"""Runs a sample of every kernel shape once, on small odd problems, for a tool that watches every access.

    compute-sanitizer --tool memcheck python3 benchmarks/sanitize.py

and the same with racecheck, initcheck and synccheck. Run it once without a tool before: that compiles the
kernels into the cache, so that the tool need not watch a compiler. Each tensor is an allocation of its own
that ends with its last element, so that the tool knows every bound; outputs and workspaces start
uninitialised. Prints how many launches it made, and exits 1 where a kernel shape (plan, variant, dtype) of
the spec was not launched.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np
from memory import CudaMemory, HostMemory, Memory, place
from options import words
from problems import describe, given, plan_classes, shape_fields, stored

import baracuda as bc
from baracuda.errors import InvalidProblem
from baracuda.plan import Plan
from baracuda.shapes import numel

Shape = tuple[int, ...]

#: Domains of plans without axes: odd sizes, two that take tiles if they are transposed, by elements and by
#: packs, a single element, none.
DOMAINS: tuple[tuple[Shape, Shape], ...] = (
    ((7, 129), ()),
    ((3, 5, 33), ()),
    ((4, 7, 64), ()),
    ((70, 131), ()),
    ((80, 144), ()),
    ((1,), ()),
    ((0, 4), ()),
)
#: Where operands are broadcast: sums along rows and columns, and one long enough for several blocks.
BROADCAST: tuple[tuple[Shape, Shape], ...] = (
    ((37, 5), (1, 5)),
    ((37, 19), (1, 19)),
    ((4500, 64), (1, 64)),
    ((5, 37), (5, 1)),
    ((70, 301), (1, 1)),
)
#: Domains and axes: last, first, middle, several; few and many rows side by side; rows of a lane, a chunk,
#: many chunks, many blocks, none.
REDUCED: tuple[tuple[Shape, Shape], ...] = (
    ((5, 37), (1,)),
    ((37, 5), (0,)),
    ((37, 19), (0,)),
    ((37, 19), (1,)),
    ((3, 35, 5), (1,)),
    ((3, 35, 19), (1,)),
    ((3, 5, 7), (0, 2)),
    ((4, 1), (1,)),
    ((9, 136), (1,)),
    ((3, 1300), (1,)),
    ((9, 1536), (1,)),
    ((1300, 3), (0,)),
    ((4500, 64), (0,)),
    ((2, 41070), (1,)),
    ((41070,), (0,)),
    ((3, 0), (1,)),
)
#: Domains of attention: batch, heads, queries, keys, elements of a key and of a value. Tiles that are not
#: full, heads in several parts, no keys; each causal in its turn.
ATTENDED: tuple[Shape, ...] = (
    (2, 4, 37, 70, 20, 12),
    (1, 2, 70, 37, 70, 130),
    (1, 2, 5, 100, 200, 6),
    (1, 1, 3, 0, 4, 4),
)
#: Of these, the ones on which each flag of a descriptor is turned over, and all are off.
FLAGGED = (((37, 19), (1,)), ((9, 1536), (1,)), ((2, 41070), (1,)))
#: Layouts of the inputs and of the outputs.
LAYOUTS = (
    ("contiguous", "contiguous"),
    ("misaligned", "misaligned"),
    ("transposed", "contiguous"),
    ("transposed", "transposed"),
    ("gaps", "reversed"),
    ("expanded", "transposed"),
)
#: Of these, the ones that are run again with 64-bit offsets.
WIDE_LAYOUTS = (LAYOUTS[2], LAYOUTS[4])


@dataclass(frozen=True)
class Sample:
    """One problem to run in all layouts."""

    plan: type[Plan]
    desc: Any


@dataclass
class Launches:
    """How often each kernel was packed, by symbol."""

    count: Counter[str] = field(default_factory=Counter)

    @contextlib.contextmanager
    def counted(self, device: str) -> Iterator[None]:
        """Count what is packed in the meantime."""
        from baracuda.driver import CudaKernel
        from baracuda.host import HostKernel

        kernel: Any = CudaKernel if device == "cuda" else HostKernel
        pack, count = kernel.pack, self.count

        def counting(self: Any, *args: Any, **options: Any) -> Any:
            count[self.symbol] += 1
            return pack(self, *args, **options)

        with mock.patch.object(kernel, "pack", counting):
            yield


def samples(plan: type[Plan], dtypes: tuple[str, ...], everything: bool) -> Iterator[Sample]:
    """Every op of a plan class: the first of each dtype in it, the others in one each, in turn."""
    seen: set[str] = set()
    for number, (kind, op) in enumerate(plan.OPS.items()):
        elements = [element for element in op.dtypes if not dtypes or element in dtypes]
        if elements and not everything:
            elements = [element for element in elements if element not in seen] or [
                elements[number % len(elements)]
            ]
        seen.update(elements)
        for element in elements:
            yield from _problems(plan, kind, element)


def _problems(plan: type[Plan], kind: Any, element: str) -> Iterator[Sample]:
    if plan.TEMPLATE == "attention":
        others = [dict(options) for other, options, _ in plan.ALTERNATIVES if other is kind]
        for options in [{}, *others]:
            for domain, causal in zip(ATTENDED, ("none", "top_left", "bottom_right", "none"), strict=True):
                yield Sample(plan, describe(plan, kind, element, domain, causal=causal, **options))
        return
    for fields in _targets(plan, kind):
        for domain, axes in REDUCED if plan.AXES is not None else DOMAINS:
            yield Sample(plan, describe(plan, kind, element, domain, axes, **fields))
    flags = [name for name, rule in plan.DESCRIPTOR.RULES.items() if rule == "bool"]
    usual = {name: plan.DESCRIPTOR.__dataclass_fields__[name].default for name in flags}
    for name in flags if plan.AXES is not None else ():
        for domain, axes in FLAGGED:
            yield Sample(plan, describe(plan, kind, element, domain, axes, **{name: not usual[name]}))
    if flags and plan.AXES is not None:
        for domain, axes in FLAGGED:
            yield Sample(plan, describe(plan, kind, element, domain, axes, **dict.fromkeys(flags, False)))
    for domain, shape in BROADCAST:
        for name in shape_fields(plan):
            yield Sample(plan, describe(plan, kind, element, domain, **{name: shape}))
    for other, options, _ in plan.ALTERNATIVES:
        if other is kind:
            for domain, axes in REDUCED if plan.AXES is not None else DOMAINS:
                yield Sample(plan, describe(plan, kind, element, domain, axes, **options))


def _targets(plan: type[Plan], kind: Any) -> list[dict[str, str]]:
    """A kernel each: the descriptor's fields with the outputs' dtypes, of a plan that has such a field."""
    name = plan.OPS[kind].target
    return [{name: element} for element in plan.OPS[kind].dtypes] if name else [{}]


def run(sample: Sample, memory: Memory, random: np.random.Generator) -> None:
    """Run a problem in every layout, with and without workspace, with narrow and wide offsets."""
    stream = bc.Stream.host() if memory.device.kind == "host" else bc.Stream(0, memory.device)
    try:
        plans = [sample.plan.select(stream, sample.desc)]
    except InvalidProblem:  # such as the maximum of no elements
        return
    if plans[0].workspace_size():
        plans.append(sample.plan.select(stream, sample.desc, bc.PlanPreference(max_workspace=0)))
    if sample.plan.TEMPLATE == "attention" and sample.desc.element is bc.ElementKind.F32:
        plans.append(sample.plan.select(stream, sample.desc, bc.PlanPreference(allow_tf32=True)))
    for plan in plans:
        # A thread takes several packs where so many threads are left, which small problems have not.
        with mock.patch("baracuda.engines.map.THREADS_ENOUGH", 1):
            for layouts in LAYOUTS:
                launch(plan, stream, layouts, memory, random)
    # Only tensors of gigabytes need 64-bit offsets; the kernels are the same for small ones.
    with mock.patch("baracuda.layout.INT32_MAX", -1):
        for layouts in WIDE_LAYOUTS:
            launch(plans[0], stream, layouts, memory, random, fresh=True)


def launch(
    plan: Any,
    stream: Any,
    layouts: tuple[str, str],
    memory: Memory,
    random: np.random.Generator,
    fresh: bool = False,
) -> None:
    """Run a plan once on new tensors; `fresh`: by a new plan, which remembers no launch of these layouts."""
    if fresh:
        plan = type(plan).select(stream, plan.desc)
    rules = {rule.name: rule for rule in plan.TENSORS}
    shapes: Mapping[str, tuple[Shape, str]] = plan.shapes(plan.desc)
    element = next(getattr(plan.desc, name) for name, rule in plan.desc.RULES.items() if rule == "element")
    tensors: dict[str, Any] = dict.fromkeys(rules)
    for name in _handed_over(plan, layouts):
        shape = shapes[name][0]
        whole = rules[name].layout == "contiguous"
        layout = "contiguous" if whole else layouts[rules[name].io != "in"]
        where = place(shape, layout, rules[name].layout == "inner")
        content, own = None, stored(rules[name], plan.desc, element)
        if rules[name].io == "in":
            numbers = random.standard_normal(where.length)
            numbers = numbers > 0 if own is bc.ElementKind.BOOL else numbers
            content = numbers.astype(own.numpy).view(np.uint8)
        nbytes = where.length * own.itemsize
        address, owner = memory.allocate(nbytes, content)
        tensors[name] = bc.TensorRef(
            pointer=address + where.offset * own.itemsize,
            shape=shape,
            strides=where.strides,
            element=own,
            device=memory.device,
            buffer=(address, address + nbytes) if numel(shape) else None,
            owner=owner,
        )
    nbytes = plan.workspace_size()
    workspace = memory.workspace(nbytes) if nbytes else None
    plan.run(stream, workspace, plan.ARGS(**tensors))
    memory.synchronize()


def _handed_over(plan: Any, layouts: tuple[str, str]) -> tuple[str, ...]:
    """The tensors of a call: of attention all, the mask in some layouts, scratch without a workspace.

    In one layout attention's first output is wanted alone, without scratch.
    """
    if plan.TEMPLATE != "attention":
        return given(type(plan), plan.desc)
    outputs = [rule.name for rule in plan.TENSORS if rule.io == "out"]
    wanted = outputs[:1] if layouts[0] == "gaps" else outputs
    scratch = layouts[0] != "gaps" and not plan.workspace_size()
    return tuple(
        rule.name
        for rule in plan.TENSORS
        if (rule.io == "in" or rule.name in wanted or (rule.io == "scratch" and scratch))
        and (not rule.other_elements or layouts[0] == "transposed")
    )


def shapes_missed(
    launched: Mapping[str, int], dtypes: tuple[str, ...], plans: tuple[str, ...] = ()
) -> list[str]:
    """The kernel shapes of the spec, or of these dtypes and plans, of which no kernel was launched."""
    from baracuda.codegen import kernels, load_spec

    ran: dict[tuple[str, str, str], bool] = {}
    for row in kernels(load_spec(None)):
        if (not dtypes or row.dtype in dtypes) and (not plans or row.plan in plans):
            shape = (row.plan, row.variant, row.dtype)
            ran[shape] = ran.get(shape, False) or row.symbol in launched
    return [" ".join(shape) for shape, did in ran.items() if not did]


def main(arguments: list[str] | None = None) -> int:
    """Run; exit code 1 where a kernel shape was missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=("cuda", "host"), default="cuda")
    parser.add_argument(
        "--dtypes", type=words, default=(), metavar="NAME,...", help="element kinds, such as bf16"
    )
    parser.add_argument("--plans", type=words, default=(), metavar="NAME,...", help="plan classes")
    parser.add_argument("--all", action="store_true", help="every op in every dtype")
    options = parser.parse_args(arguments)
    memory: Memory = CudaMemory() if options.device == "cuda" else HostMemory()
    random = np.random.default_rng(7)
    launches = Launches()
    problems = 0
    with launches.counted(options.device):
        for plan in plan_classes():
            if options.plans and plan.__name__ not in options.plans:
                continue
            for sample in samples(plan, options.dtypes, options.all):
                run(sample, memory, random)
                problems += 1
    missed = shapes_missed(launches.count, options.dtypes, options.plans)
    made, kernels = launches.count.total(), len(launches.count)
    print(f"sanitize: {made} launches of {kernels} kernels for {problems} problems")
    if missed:
        print(f"sanitize: {len(missed)} kernel shapes were not launched: {'; '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
