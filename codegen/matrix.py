"""The matrix: every op x direction x dtype x variant, as one row a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from baracuda.codegen.formula import free_names
from baracuda.codegen.spec.model import Op, Program, Spec
from baracuda.codegen.spec.names import category_folder

#: Variants of a map, each with its compile unit.
MAP_VARIANTS = {"contig": "NARROW", "strided": "NARROW", "strided64": "WIDE", "tiled": "WIDE"}

#: Variants of a rotation: 16-byte accesses, and one element at a time.
ROTATE_VARIANTS = {"contig": "NARROW", "scalar": "NARROW"}

#: Kernels of attention, one a head size, by direction.
ATTENTION_KERNELS = {"forward": ("head",), "backward": ("scores", "rows", "keys", "alone")}

#: Variants of an aggregate: its compile unit, the width of its offsets, and its function in the headers.
STATE_VARIANTS = {
    "contig": ("NARROW", "Wide", "aggregate_short_rows"),
    "long": ("NARROW", "Wide", "aggregate_long_rows"),
    "strided": ("NARROW", "Narrow", "aggregate_strided_rows"),
    "columns": ("NARROW", "Wide", "aggregate_columns"),
    "nodes": ("NARROW", "Wide", "aggregate_nodes"),
    "strided64": ("WIDE", "Wide", "aggregate_strided_rows"),
}
#: The variant of an aggregate that also maps elements, for rows that a block can hold.
KEPT_VARIANTS = {"kept": ("NARROW", "Wide", "aggregate_kept_rows")}
#: The same for short rows.
SHORT_VARIANTS = {"kept_short": ("NARROW", "Wide", "aggregate_kept_short_rows")}
ELEMENT_VARIANTS = {
    "contig": ("NARROW", "Wide", "map_rows"),
    "strided": ("NARROW", "Narrow", "map_rows"),
    "columns": ("NARROW", "Wide", "map_columns"),
    "strided64": ("WIDE", "Wide", "map_rows"),
}


@dataclass(frozen=True)
class KernelRow:
    """One kernel of the matrix; `unit`, `defines` and `flags` say what is compiled to get it."""

    op: str
    family: str
    category: str
    kind: str
    plan: str
    direction: str
    options: str
    dtype: str
    variant: str
    symbol: str
    unit: str
    defines: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The row as plain data."""
        return asdict(self)


def source_path(op: Op, program: Program) -> str:
    """The kernel file of a program, below generated/kernels/."""
    return f"{category_folder(op.family.category)}/{program.stem}.cu"


def summed_outputs(op: Op, program: Program) -> tuple[str, ...]:
    """Outputs that may be sums over rows: of a map, those whose shape is another field of the descriptor."""
    family = op.family
    if family.template == "attention":
        rules = family.tensors(program.direction)
        return tuple(name for name in program.outputs if rules[name].role == "column")
    if family.template != "map":
        return program.column_outputs
    tensors = family.tensors(program.direction)
    return tuple(name for name in program.outputs if tensors[name].shape != family.domain)


def read_by(program: Program, output: str) -> tuple[str, ...]:
    """The inputs that an output of a map depends on, one at least, in the kernel's order."""
    wanted = {
        name for result in program.results if result.name == output for name in free_names(result.value)
    }
    for statement in reversed(program.lets):
        if statement.name in wanted:
            wanted |= {*free_names(statement.value)}
    return tuple(name for name in program.inputs if name in wanted) or program.inputs[:1]


def aggregate_variants(program: Program) -> dict[str, tuple[str, str, str]]:
    """Variants of an aggregate: those that find the states, then those that map elements."""
    if not program.aggregates:
        return ELEMENT_VARIANTS
    if not program.outputs:
        return STATE_VARIANTS
    maps = {f"map_{name}": how for name, how in ELEMENT_VARIANTS.items()}
    return STATE_VARIANTS | KEPT_VARIANTS | SHORT_VARIANTS | maps


#: Variants of the sums over rows that the outputs of columns are, which are their functions in the headers.
COLUMN_VARIANTS = {"walk_groups": 512, "sum_columns": 256, "total_columns": 256}


def attention_variants(op: Op, program: Program, dtypes: Iterable[str]) -> dict[str, str]:
    """Variants of attention: a kernel each head size, and of f32 another one that rounds to TF32."""
    sizes = [
        f"{prefix}HEAD_{head}"
        for prefix in ("", "TF32_")
        for head in dict.fromkeys(head for dtype in dtypes for head in op.tiles[dtype].heads)
        if not prefix or "f32" in dtypes
    ]
    return {
        unit.lower().replace("head_", stem): unit
        for unit in sizes
        for stem in ATTENTION_KERNELS[program.direction]
    }


def variants(op: Op, program: Program, dtype: str | None = None) -> dict[str, str]:
    """The kernel variants of a program, each with its compile unit; without a dtype those of all."""
    if op.family.template == "attention":
        return attention_variants(op, program, op.dtypes if dtype is None else (dtype,))
    if op.family.template == "map":
        found = {name[variant]: unit for name in map_names(op) for variant, unit in MAP_VARIANTS.items()}
        for name in summed_outputs(op, program):
            found |= {f"sum_{name}_{variant}": f"SUM_{name}" for variant in STATE_VARIANTS}
        return found
    if op.family.template == "rotate":
        return dict(ROTATE_VARIANTS)
    found = {variant: unit for variant, (unit, _, _) in aggregate_variants(program).items()}
    return found | (dict.fromkeys(COLUMN_VARIANTS, "SUMS") if program.column_outputs else {})


def map_names(op: Op) -> list[dict[str, str]]:
    """What the variants of a map are called, for each dtype that its outputs may have."""
    if op.family.target() is None:
        return [{variant: variant for variant in MAP_VARIANTS}]
    return [
        {variant: f"to_{dtype}" + ("" if variant == "contig" else f"_{variant}") for variant in MAP_VARIANTS}
        for dtype in op.dtypes
    ]


def symbol(program: Program, dtype: str, variant: str) -> str:
    """The kernel's symbol."""
    stem = f"baracuda_{program.stem}_{dtype}"
    return stem if variant == "contig" else f"{stem}_{variant}"


def kernels(spec: Spec) -> list[KernelRow]:
    """Every kernel of a spec, in the order of the file."""
    return [row for op in spec.ops.values() for program in op.all_programs() for row in _rows(op, program)]


def _rows(op: Op, program: Program) -> Iterator[KernelRow]:
    family = op.family
    for dtype in op.dtypes_of(program.direction):
        for variant, unit in variants(op, program, dtype).items():
            yield KernelRow(
                op=op.name,
                family=family.name,
                category=family.category,
                kind=op.kind,
                plan=family.plan_class(program.direction),
                direction=program.direction,
                options=" ".join(f"{name}={value}" for name, value in program.options),
                dtype=dtype,
                variant=variant,
                symbol=symbol(program, dtype, variant),
                unit=f"kernels/{source_path(op, program)}",
                defines=(("BARACUDA_DTYPE", dtype), (f"BARACUDA_{unit}", "1")),
                flags=("-fmad=true",) if family.contraction else (),
            )
