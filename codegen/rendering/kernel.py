"""A kernel file: formulas as C++ in the shape of a template."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from baracuda.codegen.formula import (
    BOOL,
    COMPUTE,
    INT,
    STATE,
    Type,
    free_names,
    to_cuda,
    to_text,
)
from baracuda.codegen.matrix import summed_outputs
from baracuda.codegen.rendering.environment import banner, fill
from baracuda.codegen.spec.model import AttributeValue, Monoid, Op, Program, Statement
from baracuda.codegen.spec.program import EXTENT

_TYPES: dict[str, Type] = {"compute": COMPUTE, "bool": BOOL, "i64": INT}
_CPP = {"compute": "A", "bool": "bool", "i64": "baracuda::i64"}
_WIDTH = 116


def render_kernel(op: Op, direction: str) -> str:
    """The `.cu` text of an op's direction."""
    program = op.programs[direction]
    template = f"{op.family.template}.cu.j2"
    scope = _scope(program)
    holes: dict[str, Any] = {
        "banner": _head(op, direction, program, template),
        "stem": op.stem(direction),
        "inputs": program.inputs,
        "outputs": program.outputs,
        "attributes": _attributes(program.attributes),
        "lets": _statements(program.lets, scope),
        "results": [to_cuda(result.value, scope, COMPUTE) for result in program.results],
        "summed": [
            (name, place) for place, name in enumerate(program.outputs) if name in summed_outputs(op, direction)
        ],
        "lift_lets": _statements(program.lift_lets, scope),
        "monoids": [_monoid(monoid) for monoid in {a.monoid.name: a.monoid for a in program.aggregates}.values()],
        "aggregates": [
            {
                "name": aggregate.name,
                "struct": aggregate.monoid.struct,
                "operand": to_cuda(aggregate.operand, scope, COMPUTE),
                "used": any(aggregate.name in free_names(s.value) for s in (*program.lets, *program.results)),
            }
            for aggregate in program.aggregates
        ],
    }
    return fill(template, **holes)


def formula_lines(program: Program) -> list[str]:
    """The formulas as the spec writes them: named sub-expressions first, then the outputs."""
    return [f"{name} = {text}" for name, text in program.source.items()]


def _head(op: Op, direction: str, program: Program, template: str) -> str:
    doc = f"{op.stem(direction)}: {'gradients of ' if direction == 'backward' else ''}{op.doc}."
    lines = textwrap.wrap(doc, _WIDTH)
    for line in formula_lines(program):
        lines += textwrap.wrap(line, _WIDTH, initial_indent="  ", subsequent_indent="      ")
    return "\n".join(f"// {line}" for line in (*lines, banner(template)))


def _scope(program: Program) -> dict[str, Type]:
    """The types of the names that the formulas see inside the kernel."""
    return {
        **dict.fromkeys(program.inputs, COMPUTE),
        **{value.name: _TYPES[value.kind] for value in program.attributes},
        **{value.name: _TYPES[value.kind] for value in (*program.lift_lets, *program.lets)},
        **{aggregate.name: COMPUTE for aggregate in program.aggregates},
        EXTENT: INT,
    }


def _attributes(values: Sequence[AttributeValue]) -> list[str]:
    """Members of the formula's struct, widest first as the host packs them."""
    lines = []
    for value in packed_order(values):
        text = to_text(value.value)
        lines.append(f"{_CPP[value.kind]} {value.name};" + (f"  // {text}" if text != value.name else ""))
    return lines


def packed_order(values: Sequence[AttributeValue]) -> list[AttributeValue]:
    """Attribute values in the order of the struct: integers, numbers, truth values."""
    return sorted(values, key=lambda value: ("i64", "compute", "bool").index(value.kind))


def _statements(statements: Sequence[Statement], scope: Mapping[str, Type]) -> list[str]:
    return [
        f"const {_CPP[s.kind]} {s.name} = {to_cuda(s.value, scope, _TYPES[s.kind])};" for s in statements
    ]


def _monoid(monoid: Monoid) -> dict[str, Any]:
    kinds = {field.name: _TYPES[field.kind] for field in monoid.fields}
    lift_scope: dict[str, Type] = {"x": COMPUTE, **{s.name: _TYPES[s.kind] for s in monoid.lift_lets}}
    merge_scope: dict[str, Type] = {
        "a": STATE(kinds),
        "b": STATE(kinds),
        **{s.name: _TYPES[s.kind] for s in monoid.merge_lets},
    }
    return {
        "doc": f"{monoid.struct}: {monoid.doc}.",
        "struct": monoid.struct,
        "fields": [
            f"{_CPP[f.kind]} {f.name} = {to_cuda(f.identity, {}, _TYPES[f.kind])};" for f in monoid.fields
        ],
        "lift_lets": _statements(monoid.lift_lets, lift_scope),
        "merge_lets": _statements(monoid.merge_lets, merge_scope),
        "lift": [to_cuda(f.lift, lift_scope, kinds[f.name]) for f in monoid.fields],
        "merge": [to_cuda(f.merge, merge_scope, kinds[f.name]) for f in monoid.fields],
        "value": None if monoid.value is None else to_cuda(monoid.value, kinds, COMPUTE),
    }


