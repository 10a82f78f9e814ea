"""A kernel file: formulas as C++ in the shape of a template."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from baracuda.codegen.formula import (
    BOOL,
    COMPUTE,
    F64,
    FUNCTIONS,
    INT,
    STATE,
    WHOLE,
    WIDE,
    Expr,
    Name,
    Type,
    free_names,
    to_cuda,
    to_text,
)
from baracuda.codegen.matrix import (
    COLUMN_VARIANTS,
    STATE_VARIANTS,
    aggregate_variants,
    map_names,
    read_by,
    summed_outputs,
)
from baracuda.codegen.rendering.bare import BARE, optional_inputs, without_rounding
from baracuda.codegen.rendering.environment import banner, fill, fill_own
from baracuda.codegen.rendering.width import CPP_WIDTH, fold_cpp
from baracuda.codegen.spec.attention import METHODS
from baracuda.codegen.spec.model import (
    AttributeValue,
    Monoid,
    Op,
    Program,
    RunState,
    StateField,
    Statement,
    Transition,
)
from baracuda.codegen.spec.pairs import angle_names
from baracuda.codegen.spec.scope import EXTENT, INDEX
from baracuda.codegen.spec.tensors import FLAG
from baracuda.codegen.yaml_remarks import Remark

_TYPES: dict[str, Type] = {
    "compute": COMPUTE,
    "whole": WHOLE,
    "f64": F64,
    "wide": WIDE,
    "bool": BOOL,
    "i64": INT,
    "i32": INT,
}
_CPP = {
    "compute": "A",
    "whole": "A",
    "f64": "f64",
    "wide": "double",
    "bool": "bool",
    "i64": "i64",
    "i32": "i32",
}
#: Storage types whose name in C++ is not the dtype's.
_STORED = {FLAG: "boolean"}
_COMMENT_WIDTH = CPP_WIDTH - len("// ")


def render_kernel(op: Op, program: Program) -> str:
    """The `.cu` text of a program."""
    shapes = {
        "map": _map_holes,
        "aggregate": _aggregate_holes,
        "rotate": _rotate_holes,
        "attention": _attention_holes,
    }
    holes = shapes[op.family.template](op, program)
    own = op.family.own_template
    template = own.name if own else f"{op.family.template}.cu.j2"
    holes |= {"banner": _head(op, program, template), "stem": program.stem}
    return fold_cpp(_with_headers(fill_own(own, **holes) if own else fill(template, **holes)))


def _with_headers(text: str) -> str:
    """A kernel that includes what its formulas call, behind the includes of its template."""
    names = re.findall(r"baracuda::(\w+)(?:<T>)?\(", text)
    called = {FUNCTIONS[name].header for name in names if name in FUNCTIONS}
    lines = "".join(f"#include <baracuda/{header}>\n" for header in sorted(filter(None, called)))
    includes = re.search(r"(?:^#include .*\n)+", text, re.MULTILINE)
    end = includes.end() if includes else 0
    return text[:end] + lines + text[end:]


def _map_holes(op: Op, program: Program) -> dict[str, Any]:
    scope = _scope(program)
    summed = summed_outputs(op, program)
    sizes = [len(program.inputs), len(program.outputs), *([len(program.flags)] if program.flags else [])]
    return {
        "inputs": program.inputs,
        "flags": program.flags,
        "packs": program.packs,
        "half_packs": program.half_packs,
        "sizes": ", ".join(map(str, sizes)),
        "outputs": program.outputs,
        "attributes": _attributes(program.attributes),
        "counts": "i64" in (*(value.kind for value in program.attributes), *(s.kind for s in program.lets)),
        "lets": _statements(program.lets, scope),
        "results": [_result(result, scope) for result in program.results],
        "launches": _map_launches(op, program),
        "converts": op.family.result(program.direction) is not None,
        "summed": [
            (name, place, [program.inputs.index(read) for read in reads], len({*reads} & {*program.flags}))
            for place, name in enumerate(program.outputs)
            if name in summed
            for reads in [read_by(program, name)]
        ],
        "sum_kernels": [(name, params, function) for name, (_, params, function) in STATE_VARIANTS.items()],
    }


def _result(result: Statement, scope: Mapping[str, Type]) -> str:
    """An output's value; of a condition 1 or 0."""
    text = to_cuda(result.value, scope, _TYPES[result.kind])
    return f"A({text})" if result.kind == "bool" else text


def _map_launches(op: Op, program: Program) -> list[dict[str, str]]:
    """The names of a map's kernels and the types that they read and write, an entry a dtype of outputs."""
    result = op.family.result(program.direction)
    if result is None:
        types = ["T"]
    elif result == FLAG:
        types = [f"T, baracuda::{_STORED[FLAG]}"]
    else:
        types = [f"T, baracuda::{_STORED.get(dtype, dtype)}" for dtype in op.dtypes]
    return [{**names, "types": of} for names, of in zip(map_names(op), types, strict=True)]


def _aggregate_holes(op: Op, program: Program) -> dict[str, Any]:
    program = without_rounding(program)
    scope = _scope(program)
    of_row = {name: f"row.{name}" for name in program.row_values}
    known = {name: f"known.{name}" for name in program.known_values}
    lift_values = [*(a.operand for a in program.aggregates), *(s.value for s in program.lift_lets)]
    map_values = [s.value for s in (*program.lets, *program.results)]
    column_values = [s.value for s in (*program.column_lets, *program.column_results)]
    runs = [a.monoid.run for a in program.aggregates if a.monoid.run is not None]
    usual, begins = any(run.usual is not None for run in runs), any(run.begin for run in runs)
    members = {**program.row_values, **{f"new_{name}": "compute" for name in program.row_outputs}}
    chosen = aggregate_variants(program)
    return {
        "sizes": {"inputs": max(len(program.inputs), 1), "row_inputs": max(len(program.row_inputs), 1)},
        "inputs": program.inputs,
        "row_inputs": program.row_inputs,
        "outputs": program.outputs,
        "row_outputs": program.row_outputs,
        "attributes": _attributes(program.attributes),
        "monoids": [_monoid(m) for m in {a.monoid.name: a.monoid for a in program.aggregates}.values()],
        "aggregates": [
            {
                "name": a.name,
                "struct": a.monoid.struct,
                "usual": a.monoid.run is not None and a.monoid.run.usual is not None,
                "begins": bool(a.monoid.run and a.monoid.run.begin),
                "operand": to_cuda(a.operand, scope, _TYPES[a.monoid.of], known),
            }
            for a in program.aggregates
        ],
        "optional": optional_inputs(program),
        "usual": usual,
        "begins": begins,
        "flags": _flags(op, program, usual, begins),
        "absent": [
            {"is_it": f"input == {place}", "value": repr(program.absent[name])}
            for place, name in enumerate(program.inputs)
            if name in program.absent
        ],
        "counts_32": any(
            field.kind == "i32" for a in program.aggregates if a.monoid.run for field in a.monoid.run.fields
        ),
        "row_members": [f"{_CPP[kind]} {name};" for name, kind in members.items()],
        "row_names": list(members),
        "known_members": [f"{_CPP[kind]} {name};" for name, kind in program.known_values.items()],
        "known_names": list(program.known_values),
        "known_lines": _row_loads(program, [Name(n) for n in known], program.known_lets)
        + _statements(program.known_lets, scope),
        "lift_lines": _loads(program, lift_values) + _statements(program.lift_lets, scope, known),
        "value_lines": _value_lines(program, scope),
        "map_lines": _loads(program, map_values) + _statements(program.lets, scope, of_row),
        "results": [to_cuda(result.value, scope, COMPUTE, of_row) for result in program.results],
        "column_outputs": program.column_outputs,
        "column_lines": _loads(program, column_values) + _statements(program.column_lets, scope, of_row),
        "column_results": [to_cuda(r.value, scope, COMPUTE, of_row) for r in program.column_results],
        "column_kernels": COLUMN_VARIANTS,
        "narrow": _kernels(chosen, "NARROW"),
        "wide": _kernels(chosen, "WIDE"),
    }


def _flags(op: Op, program: Program, usual: bool, begins: bool) -> list[str]:
    """What is true of a formula of rows, in the words of the headers."""
    tensors = op.family.tensors(program.direction)
    flags = {
        "AGGREGATES": bool(program.aggregates),
        "USUAL": usual,
        "BEGINS": begins,
        "ROWS_CHOOSE": any(
            tensors[name].dtype is not None
            for name in (*program.row_inputs, *program.row_outputs)
            if name in tensors
        ),
    }
    lines = [f"bool {name} = true" for name, holds in flags.items() if holds]
    columns = len(program.column_inputs)
    return [*lines, f"int COLUMN_INPUTS = {columns}"] if columns else lines


def _rotate_holes(op: Op, program: Program) -> dict[str, Any]:
    (given,) = program.inputs
    pair = STATE({"first": COMPUTE, "second": COMPUTE})
    numbers: dict[str, Type] = dict.fromkeys(op.host[0].scalars, F64)
    numbers |= {value.name: _TYPES[value.kind] for value in program.attributes}
    shared = {statement.name: _TYPES[statement.kind] for statement in program.row_lets}
    scope = {**numbers, **{name: COMPUTE if type_ == F64 else type_ for name, type_ in shared.items()}}
    scope |= {given: pair, **{s.name: _TYPES[s.kind] for s in program.lets}}
    angles = dict.fromkeys(angle_names(program), F64)
    of_row = {name: f"row.{name}" for name in program.row_values}
    angle, *others = angle_names(program)
    own = dict(program.options)[op.family.pairs.place] if op.family.pairs else ""
    return {
        "angle": angle,
        "input": given,
        "place": {"interleaved": "Interleaved", "half": "Half"}[own],
        "scalars": [f"f64 {name};" for name in op.host[0].scalars],
        "attributes": [f"{_CPP[value.kind]} {value.name};" for value in packed_order(program.attributes)],
        "row_members": [
            f"{_CPP['compute' if k == 'f64' else k]} {n};" for n, k in program.row_values.items()
        ],
        "row_values": [f"A({n})" if k == "f64" else n for n, k in program.row_values.items()],
        "row_lines": _statements(
            program.row_lets, {**numbers, **shared, **angles}, dict.fromkeys(others, angle)
        ),
        "lines": _statements(program.lets, scope, of_row),
        "results": [to_cuda(result.value, scope, COMPUTE, of_row) for result in program.results],
    }


def _attention_holes(op: Op, program: Program) -> dict[str, Any]:
    scope: dict[str, Type] = {value.name: _TYPES[value.kind] for value in program.attributes}
    methods = []
    for statement in program.results:
        names = METHODS[program.direction][statement.name]
        methods.append(
            {
                "name": statement.name,
                "parameters": ", ".join(f"A {name}" for name in names),
                "value": to_cuda(statement.value, {**scope, **dict.fromkeys(names, COMPUTE)}, COMPUTE),
            }
        )
    return {
        "direction": program.direction,
        "attributes": _attributes(program.attributes),
        "methods": methods,
        "tiles": op.tiles,
        "heads": sorted({head for tiles in op.tiles.values() for head in tiles.heads}),
        "tf32": "f32" in op.tiles,
    }


def _kernels(chosen: Mapping[str, tuple[str, str, str]], wanted: str) -> list[dict[str, str]]:
    return [
        {"variant": variant, "params": params, "function": function}
        for variant, (unit, params, function) in chosen.items()
        if unit == wanted
    ]


def _loads(program: Program, values: Sequence[Expr]) -> list[str]:
    """Named copies of the inputs of elements that some values read."""
    read = {name for value in values for name in free_names(value)}
    return [f"const A {name} = in[{place}];" for place, name in enumerate(program.inputs) if name in read]


def _row_loads(program: Program, values: Sequence[Expr], lets: Sequence[Statement]) -> list[str]:
    """Named copies of the inputs of rows that some values read, and what these follow from."""
    read = {name for value in (*values, *(s.value for s in lets)) for name in free_names(value)}
    return [f"const A {n} = row_in[{place}];" for place, n in enumerate(program.row_inputs) if n in read]


def _value_lines(program: Program, scope: Mapping[str, Type]) -> list[str]:
    """The values of a row: what is read, what the state holds, what follows, and the row's outputs."""
    values = [*(s.value for s in program.row_results), *(Name(n) for n in program.row_values)]
    read = {name for value in (*values, *(s.value for s in program.row_lets)) for name in free_names(value)}
    lines = _row_loads(program, values, program.row_lets)
    for aggregate in program.aggregates:
        monoid = aggregate.monoid
        if aggregate.name in read and monoid.value is not None:
            lines.append(
                f"const {_CPP[monoid.value.kind]} {aggregate.name} = state.{aggregate.name}.value();"
            )
        methods = {statement.name for statement in monoid.derived}
        for name, field in aggregate.fields.items():
            call = "()" if field in methods else ""
            lines.append(
                f"const {_CPP[monoid.readable()[field]]} {name} = state.{aggregate.name}.{field}{call};"
            )
    lines += _statements(program.row_lets, scope)
    lines += [f"const A new_{s.name} = {to_cuda(s.value, scope, COMPUTE)};" for s in program.row_results]
    return lines


def formula_lines(program: Program) -> list[str]:
    """The formulas as the spec writes them: named sub-expressions first, then the outputs."""
    return [f"{name} = {text}" for name, text in program.source.items()]


def _head(op: Op, program: Program, template: str) -> str:
    gradients = "gradients of " if program.direction == "backward" else ""
    options = "".join(f" {name}={value}." for name, value in program.options)
    lines = textwrap.wrap(f"{program.stem}: {gradients}{op.doc}.{options}", _COMMENT_WIDTH)
    for text in program.remarks.get("", Remark()).before:
        lines += textwrap.wrap(text, _COMMENT_WIDTH)
    for name, line in zip(program.source, formula_lines(program), strict=True):
        lines += _remarked(line, program.remarks.get(name, Remark()))
    if op.host:
        names = ", ".join((*op.host[0].scalars, *op.host[0].of_pair))
        lines += textwrap.wrap(f"  {names}: from the host, see `baracuda-gen show {op.name}`", _COMMENT_WIDTH)
    return "\n".join(f"// {line}" for line in (*lines, banner(template)))


def _remarked(line: str, remark: Remark) -> list[str]:
    """A formula with the spec's comments, that behind it where there is room."""
    whole = f"  {line}  # {remark.behind}"
    fits = bool(remark.behind) and len(whole) <= _COMMENT_WIDTH
    lead = "  # "
    lines = [
        row
        for text in (*remark.before, "" if fits else remark.behind)
        for row in textwrap.wrap(text, _COMMENT_WIDTH, initial_indent=lead, subsequent_indent=lead)
    ]
    if fits:
        return [*lines, whole]
    return lines + textwrap.wrap(line, _COMMENT_WIDTH, initial_indent="  ", subsequent_indent="      ")


def _scope(program: Program) -> dict[str, Type]:
    """The types of the names that the formulas see inside the kernel."""
    kinds: dict[str, str] = {value.name: value.kind for value in program.attributes}
    lets = (program.known_lets, program.lift_lets, program.row_lets, program.lets, program.column_lets)
    for statement in itertools.chain(*lets):
        kinds[statement.name] = statement.kind
    for aggregate in program.aggregates:
        readable = aggregate.monoid.readable()
        kinds[aggregate.name] = aggregate.monoid.value.kind if aggregate.monoid.value else "compute"
        kinds |= {name: readable[field] for name, field in aggregate.fields.items()}
    return {
        **dict.fromkeys((*program.inputs, *program.row_inputs), _TYPES[program.number]),
        **dict.fromkeys(program.flags, BOOL),
        **{name: _TYPES[kind] for name, kind in kinds.items()},
        EXTENT: INT,
        INDEX: INT,
        BARE: BOOL,
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
    return sorted(
        values, key=lambda value: ("i64", "f64", "wide", "compute", "whole", "bool").index(value.kind)
    )


def _statements(
    statements: Sequence[Statement], scope: Mapping[str, Type], names: Mapping[str, str] | None = None
) -> list[str]:
    return [
        f"const {_CPP[s.kind]} {s.name} = {to_cuda(s.value, scope, _TYPES[s.kind], names)};"
        for s in statements
    ]


def _monoid(monoid: Monoid) -> dict[str, Any]:
    constants: dict[str, Type] = dict.fromkeys(monoid.constants, COMPUTE)
    kinds = {field.name: _TYPES[field.kind] for field in monoid.fields}
    element = {"x": _TYPES[monoid.of], "index": INT, **constants}
    lift_lets, lift = _transition(monoid.lift, element, kinds)
    merge_lets, merge = _transition(monoid.merge, {"a": STATE(kinds), "b": STATE(kinds), **constants}, kinds)
    derived = {statement.name: _TYPES[statement.kind] for statement in monoid.derived}
    calls = {name: f"{name}()" for name in derived}
    methods = [*monoid.derived, *([monoid.value] if monoid.value is not None else [])]
    return {
        "doc": f"{monoid.struct}: {monoid.doc}.",
        "struct": monoid.struct,
        "element": _CPP[monoid.of],
        "constants": [
            f"static constexpr A {name} = baracuda::by_compute<A>({values['f32']!r}f, {values['f64']!r});"
            for name, values in monoid.constants.items()
        ],
        "fields": _fields(monoid.fields),
        "lift_lets": lift_lets,
        "lift": lift,
        "run": None if monoid.run is None else _run(monoid.run, element, kinds, constants),
        "merge_lets": merge_lets,
        "merge": merge,
        "methods": [
            {
                "type": _CPP[item.kind],
                "name": item.name,
                "value": to_cuda(item.value, {**kinds, **constants, **derived}, _TYPES[item.kind], calls),
            }
            for item in methods
        ],
    }


def _run(
    run: RunState, element: Mapping[str, Type], kinds: Mapping[str, Type], constants: Mapping[str, Type]
) -> dict[str, Any]:
    own = {field.name: _TYPES[field.kind] for field in run.fields}
    push_lets, push = _transition(run.push, {"r": STATE(own), **element}, own, run.fields)
    close_lets, close = _transition(run.close, {"r": STATE(own), **constants}, kinds)
    usual = None
    if run.usual is not None:
        fields = (*run.fields, *run.usual.fields)
        trial = {field.name: _TYPES[field.kind] for field in fields}
        names = {"r": STATE(trial), **constants}
        usual_lets, usual_push = _transition(run.usual.push, {**names, **element}, trial, fields)
        settle_lets, settle = _transition(run.usual.settle, names, own, run.fields)
        usual = {
            "fields": [f"{_CPP[field.kind]} {field.name};" for field in fields],
            "start": [f"r.{field.name}" for field in run.fields]
            + [to_cuda(f.initial, {"r": STATE(own)}, _TYPES[f.kind]) for f in run.usual.fields],
            "push_lets": usual_lets,
            "push": usual_push,
            "fits": to_cuda(run.usual.fits, names, BOOL),
            "settle_lets": settle_lets,
            "settle": settle or [f"r.{field.name}" for field in run.fields],
        }
    return {
        "begin": [f"run.{name} = {to_cuda(value, element, own[name])};" for name, value in run.begin.items()],
        "usual": usual,
        "fields": _fields(run.fields),
        "push_lets": push_lets,
        "push": push,
        "close_lets": close_lets,
        "close": close,
    }


def _fields(fields: Sequence[StateField]) -> list[str]:
    return [f"{_CPP[f.kind]} {f.name} = {to_cuda(f.initial, {}, _TYPES[f.kind])};" for f in fields]


def _transition(
    transition: Transition | None,
    names: Mapping[str, Type],
    fields: Mapping[str, Type],
    stored: Sequence[StateField] = (),
) -> tuple[list[str], list[str]]:
    """The lets and values of a transition; integers that are `stored` in fewer bits are narrowed to them."""
    if transition is None:
        return [], []
    scope = {**names, **{s.name: _TYPES[s.kind] for s in transition.lets}}
    values = [to_cuda(v, scope, type_) for v, type_ in zip(transition.values, fields.values(), strict=True)]
    for place, field in enumerate(stored):
        if field.kind == "i32":
            values[place] = f"i32({values[place]})"
    return _statements(transition.lets, scope), values
