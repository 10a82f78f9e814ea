"""The matrix: every op x direction x dtype x variant, as one row a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from baracuda.codegen.spec.model import Family, Op, Spec

#: Variants of each template with the compile unit that holds them, and those of the sums over broadcast axes.
VARIANTS = {
    "map": {"contig": "NARROW", "strided": "NARROW", "strided64": "WIDE"},
    "aggregate": {"contig": "NARROW", "strided": "NARROW", "nodes": "NARROW", "strided64": "WIDE"},
}
SUM_VARIANTS = ("contig", "strided", "strided64", "nodes")


@dataclass(frozen=True)
class KernelRow:
    """One kernel of the matrix; `unit`, `defines` and `flags` say what is compiled to get it."""

    op: str
    family: str
    category: str
    kind: str
    plan: str
    direction: str
    dtype: str
    variant: str
    symbol: str
    unit: str
    defines: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The row as plain data."""
        return asdict(self)


def category_folder(category: str) -> str:
    """`BinaryElementwise` as `binary_elementwise`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in category).lstrip("_")


def source_path(op: Op, direction: str) -> str:
    """The kernel file of an op's direction, below generated/kernels/."""
    return f"{category_folder(op.family.category)}/{op.stem(direction)}.cu"


def summed_outputs(op: Op, direction: str) -> tuple[str, ...]:
    """Outputs of a map that may be broadcast operands' gradients: their shape is a descriptor field of its own."""
    family = op.family
    if family.template != "map":
        return ()
    tensors = family.tensors(direction)
    return tuple(name for name in op.programs[direction].outputs if tensors[name].shape != family.domain)


def variants(op: Op, direction: str) -> dict[str, str]:
    """The kernel variants of an op's direction, each with its compile unit."""
    found = dict(VARIANTS[op.family.template])
    for name in summed_outputs(op, direction):
        found |= {f"sum_{name}_{variant}": f"SUM_{name}" for variant in SUM_VARIANTS}
    return found


def symbol(op: Op, direction: str, dtype: str, variant: str) -> str:
    """The kernel's symbol."""
    stem = f"baracuda_{op.stem(direction)}_{dtype}"
    return stem if variant == "contig" else f"{stem}_{variant}"


def kernels(spec: Spec) -> list[KernelRow]:
    """Every kernel of a spec, in the order of the file."""
    return [row for op in spec.ops.values() for row in _rows(op, op.family)]


def _rows(op: Op, family: Family) -> Iterator[KernelRow]:
    for direction in op.programs:
        for dtype in op.dtypes:
            for variant, unit in variants(op, direction).items():
                yield KernelRow(
                    op=op.name,
                    family=family.name,
                    category=family.category,
                    kind=op.kind,
                    plan=family.plan_class(direction),
                    direction=direction,
                    dtype=dtype,
                    variant=variant,
                    symbol=symbol(op, direction, dtype, variant),
                    unit=f"kernels/{source_path(op, direction)}",
                    defines=(("BARACUDA_DTYPE", dtype), (f"BARACUDA_{unit}", "1")),
                    flags=("-fmad=true",) if family.contraction else (),
                )
