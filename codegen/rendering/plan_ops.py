"""The records of ops in a plan module, and the functions that fold their numbers."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from baracuda.codegen.formula import Expr, free_names, to_python, to_text
from baracuda.codegen.matrix import read_by, source_path, summed_outputs
from baracuda.codegen.rendering.host import host_lines
from baracuda.codegen.rendering.kernel import formula_lines, packed_order
from baracuda.codegen.rendering.literals import plain_tuple, set_of_names, tuple_of_names
from baracuda.codegen.rendering.locals import local_names
from baracuda.codegen.rendering.plan_tensors import accepted_tensors, required_tensors
from baracuda.codegen.rendering.width import TEXT_WIDTH
from baracuda.codegen.spec.halves import with_wholes
from baracuda.codegen.spec.model import WHOLE_DTYPES, Op, Program, TileSet

_ATTRIBUTE_LETTERS = {"compute": "a", "whole": "a", "f64": "d", "wide": "d", "bool": "b", "i64": "i"}


def op_entry(op: Op, program: Program) -> dict[str, Any]:
    """What the template says of an op's kernel: its formulas for a reader, and the fields of its record."""
    direction = program.direction
    formulas = [
        piece
        for line in (
            *attribute_lines(op, program),
            *formula_lines(program),
            *(f"host: {line}" for line in host_lines(op)),
        )
        for piece in textwrap.wrap(line, TEXT_WIDTH - 8, subsequent_indent="    ")
    ]
    bounds = op.bounds(direction)
    floats = [dtype for dtype in op.dtypes_of(direction) if dtype not in WHOLE_DTYPES]
    narrowed = [attribute.source for attribute in op.attributes if op.is_narrowed(attribute, program)]
    return {
        "kind_member": op.kind,
        "stem": program.stem,
        "options": ", ".join(f'"{name}": "{value}"' for name, value in program.options),
        "option_text": "".join(f", {name}={value}" for name, value in program.options),
        "doc": op.doc,
        "dtypes": ", ".join(op.dtypes_of(direction)),
        "formulas": formulas,
        "source": source_path(op, program),
        "dtype_tuple": tuple_of_names(op.dtypes_of(direction)),
        "inputs": tuple_of_names(program.inputs),
        "row_inputs": tuple_of_names(program.row_inputs),
        "outputs": tuple_of_names(program.outputs),
        "row_outputs": tuple_of_names(program.row_outputs),
        "required": set_of_names(required_tensors(op, direction)),
        "accepted": set_of_names(accepted_tensors(op, direction)),
        "batch_invariant": tuple_of_names(_invariant(op, program)),
        "attribute_kinds": "".join(
            _ATTRIBUTE_LETTERS[value.kind] for value in packed_order(program.attributes)
        ),
        "fold": _scalars_name(program) if program.attributes else "no_scalars",
        "state": "".join(_ATTRIBUTE_LETTERS[f.kind] for a in program.aggregates for f in a.monoid.fields),
        "ulp": "{" + ", ".join(f'"{dtype}": {bounds[dtype]!r}' for dtype in floats) + "}",
        "sum_ulp": _sum_bounds(op, program),
        "scale": _by_output("scale", op.scale, program),
        "holds": _by_output("holds", op.holds, program),
        "contraction": op.family.contraction,
        "pairs": dict(program.options).get(op.family.pairs.place, "") if op.family.pairs else "",
        "host": f"_{op.name}_host" if op.host else None,
        "narrowed": tuple_of_names(narrowed) if narrowed else "",
        "choices": {name: tuple_of_names(op.options[name]) for name in _free_options(op, direction)},
        "column_inputs": tuple_of_names(program.column_inputs) if program.column_inputs else "",
        "flags": tuple_of_names(program.flags) if program.flags else "",
        "target": op.family.target() or "",
        "packs": program.packs,
        "half_packs": program.half_packs,
        "sum_inputs": {
            name: tuple_of_names(reads)
            for name in (summed_outputs(op, program) if op.family.template == "map" else ())
            if (reads := read_by(program, name)) != program.inputs
        },
        "column_outputs": tuple_of_names(program.column_outputs) if program.column_outputs else "",
        "tiles": [(dtype, _tile_record(tiles)) for dtype, tiles in op.tiles.items()],
    }


def _free_options(op: Op, direction: str) -> list[str]:
    """The options of a direction's descriptor on which none of its kernels depends."""
    programs = [program for program in op.all_programs() if program.direction == direction]
    of_kernels = {name for program in programs for name, _ in program.options}
    return [name for name in op.options if name not in of_kernels and name in op.family.fields(direction)]


def _tile_record(tiles: TileSet) -> str:
    sums = tiles.sums
    warps = f"({sums.down}, {sums.across}, {sums.split})"
    return (
        f"TileRecord({tiles.heads!r}, {tiles.queries}, {tiles.keys}, {tiles.rows}, {tiles.scores}, "
        f"SumTileRecord({sums.rows}, {sums.depth}, {sums.stages}, {warps}))"
    )


def _invariant(op: Op, program: Program) -> list[str]:
    """What is written, and the tensors that hold it."""
    tensors = op.family.tensors(program.direction)
    return [*program.written, *sorted(with_wholes(program.written, tensors) - {*program.written})]


def _sum_bounds(op: Op, program: Program) -> str:
    """What sums over broadcast axes add to the bounds, where the direction has such outputs."""
    more = op.family.sum_ulp
    if op.family.template != "map" or not more or not summed_outputs(op, program):
        return ""
    return "{" + ", ".join(f'"{dtype}": {more[dtype]!r}' for dtype in op.dtypes if dtype in more) + "}"


def _by_output(field: str, formulas: Mapping[str, Expr], program: Program) -> str:
    """What a field of a record says of outputs' bounds, as Python text, where the spec names some."""
    texts = {name: to_text(formulas[name]) for name in program.written if name in formulas}
    items = [f'"{name}": {json.dumps(text)}' for name, text in texts.items()]
    line = "{" + ", ".join(items) + "}"
    if not items or len(f"            {field}={line},") <= TEXT_WIDTH:
        return line if items else ""
    for place, (name, text) in enumerate(texts.items()):
        if len(f"                {items[place]},") > TEXT_WIDTH:
            parts = textwrap.wrap(text, TEXT_WIDTH - len('                    ""'), drop_whitespace=False)
            items[place] = (
                f'"{name}": (\n' + "".join(f"        {json.dumps(part)}\n" for part in parts) + "    )"
            )
    return "{\n" + "".join(f"    {item},\n" for item in items) + "}"


def attribute_lines(op: Op, program: Program) -> Iterator[str]:
    """Which of the descriptor's numbers formulas read under another name, and what it is unless given."""
    used = _attribute_names(op, program)
    for attribute in op.attributes:
        if attribute.name in used and attribute.name != attribute.source:
            default = "" if attribute.default is None else f" ({attribute.default:g} unless given)"
            yield f"{attribute.name} = {attribute.source}{default}"


def scalar_function(op: Op, program: Program) -> dict[str, Any]:
    """The host's part of a formula: attributes from the descriptor, then what follows from them, in order."""
    values = [*program.folded_lets, *program.attributes]
    used = _attribute_names(op, program)
    own = {a.name for a in op.attributes}
    local = local_names([*own, *(value.name for value in values)])
    lines = [f"{local[a.name]} = desc.{a.source}" for a in op.attributes if a.name in used]
    lines += [f"{local[value.name]} = {to_python(value.value, local)}" for value in program.folded_lets]
    results = {}
    for value in program.attributes:
        text = to_python(value.value, local)
        if text == local[value.name] or value.name in own:
            results[value.name] = local[value.name]
        elif value.name in program.source or any(
            value.name in free_names(o.value) for o in program.attributes
        ):
            lines.append(f"{local[value.name]} = {text}")
            results[value.name] = local[value.name]
        else:
            results[value.name] = text
    result = plain_tuple([results[value.name] for value in packed_order(program.attributes)])
    same = op.family.fields("backward") == op.family.fields("forward")
    descriptor = f"{op.family.plan if same else op.family.class_stem(program.direction)}Descriptor"
    return {
        "name": _scalars_name(program),
        "op": program.stem,
        "lines": lines,
        "result": result,
        # Of a kind, the numbers are there that other kinds lack.
        "descriptor": "Any" if op.family.numbers_of_kinds() else descriptor,
    }


def _scalars_name(program: Program) -> str:
    return f"_{program.stem}_scalars"


def _attribute_names(op: Op, program: Program) -> set[str]:
    return {attribute.name for attribute in op.folded_attributes(program)}
