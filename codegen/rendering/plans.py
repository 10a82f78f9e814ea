"""Plan modules: descriptors, arguments and plan classes of one category, as Python text."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from baracuda.codegen.formula import Call, Expr, Name, free_names, parse, to_python, to_text, walk
from baracuda.codegen.matrix import read_by, source_path, summed_outputs
from baracuda.codegen.rendering.environment import banner, fill
from baracuda.codegen.rendering.host import host_functions, host_lines, plain_tuple, wide_names
from baracuda.codegen.rendering.kernel import formula_lines, packed_order
from baracuda.codegen.rendering.locals import local_names
from baracuda.codegen.rendering.width import TEXT_WIDTH
from baracuda.codegen.spec.halves import parts, with_wholes
from baracuda.codegen.spec.idle import idle_fields
from baracuda.codegen.spec.model import OF_KIND, WHOLE_DTYPES, Family, Halves, Op, Program, Spec, TileSet
from baracuda.codegen.spec.rules import SHAPE_FUNCTIONS, wanted
from baracuda.codegen.spec.schema import DescriptorField, Tensor
from baracuda.codegen.spec.tensors import may_be_none

_ANNOTATIONS = {
    "shape": "tuple[int, ...]",
    "axes": "int | tuple[int, ...]",
    "extent": "int",
    "element": "ElementKind | str",
    "target": "ElementKind | str",
    "f64": "float",
    "i64": "int",
    "bool": "bool",
    "option": "str",
    "storage": "str",
}
_ATTRIBUTE_LETTERS = {"compute": "a", "whole": "a", "f64": "d", "wide": "d", "bool": "b", "i64": "i"}
_WIDTH = TEXT_WIDTH


def render_plans(spec: Spec, category: str, families: Sequence[Family]) -> str:
    """The plan module of a category."""
    entries = [_family(spec, family) for family in families]
    text_functions = sorted({name for entry in entries for name in entry["shape_functions"]})
    stems = [plan["stem"] for entry in entries for plan in entry["plans"]]
    return fill(
        "plans.py.j2",
        banner=banner("plans.py.j2"),
        category=category,
        plan_names=[plan["name"] for entry in entries for plan in entry["plans"]],
        names=sorted(stem + suffix for stem in stems for suffix in ("Args", "Descriptor", "Plan")),
        kinds=sorted({family.kind for family in families}),
        uses_no_scalars=any(
            op["fold"] == "no_scalars" for entry in entries for plan in entry["plans"] for op in plan["ops"]
        ),
        shape_functions=text_functions,
        wide_names=wide_names(entries),
        uses_tiles=any(family.tiles for family in families),
        uses_math=any("math." in text for entry in entries for text in _code(entry)),
        families=entries,
    )


def _code(family: Mapping[str, Any]) -> Iterator[str]:
    """The expressions in a family's plans that may call `math`."""
    for plan in family["plans"]:
        yield from (rule["condition"] for rule in plan["rules"])
    yield from family["numbers"].values()
    for function in family["scalar_functions"]:
        yield from (*function["lines"], function["result"])


def exported_names(spec: Spec, category: str, families: Sequence[Family]) -> list[str]:
    """The public names of a category's module."""
    names = []
    for family in families:
        for direction in _directions(spec, family):
            stem = _stem(family, direction)
            names += [f"{stem}Args", f"{stem}Descriptor", f"{stem}Plan"]
    return names


def _ops(spec: Spec, family: Family) -> list[Op]:
    return [op for op in spec.ops.values() if op.family is family]


def _directions(spec: Spec, family: Family) -> list[str]:
    present = {direction for op in _ops(spec, family) for direction in op.programs}
    return [direction for direction in ("forward", "backward") if direction in present]


def _stem(family: Family, direction: str) -> str:
    return family.plan if direction == "forward" else f"{family.plan}Backward"


def _family(spec: Spec, family: Family) -> dict[str, Any]:
    directions = _directions(spec, family)
    rules = [
        text
        for direction in directions
        for tensor in family.tensors(direction).values()
        for text in _shape_texts(tensor)
    ]
    functions = {
        node.name
        for rule in (*map(parse, rules), *family.require, *_op_requirements(spec, family))
        for node in walk(rule)
        if isinstance(node, Call) and node.name in SHAPE_FUNCTIONS
    }
    described = {"keepdim_reason"} if "keepdim" in functions else set()
    every = [*family.forward.values(), *family.backward.values()]
    if any(tensor.role == "mask" for tensor in every):
        described.add("broadcast_shapes")
    fields = {direction: _class_fields(family, direction) for direction in ("forward", "backward")}
    return {
        "plan": family.plan,
        "article": "an" if family.plan[0] in "AEIO" else "a",
        "doc": family.doc,
        "kind": family.kind,
        "template": family.template,
        "domain": family.domain,
        "axes": family.axes,
        "halves": family.halves,
        "fields": fields["forward"],
        "backward": "backward" in directions,
        # A backward that lacks a field of the forward's is no subclass of it.
        "own_fields": fields["backward"] if fields["backward"] != fields["forward"] else None,
        "numbers": {
            f"{op.kind.lower()}": plain_dict(
                {a.source: a.default for a in op.attributes if a.source in family.numbers_of_kinds()}
            )
            for op in _ops(spec, family)
            if family.numbers_of_kinds()
        },
        "idle": [
            _idle(op.kind, options, names)
            for op in _ops(spec, family)
            for options, names in idle_fields(op).items()
        ],
        "masks": {name: field.mask for name, field in family.descriptor.items() if field.mask},
        "plans": [_plan(spec, family, direction) for direction in directions],
        "scalar_functions": [
            _scalar_function(op, program)
            for op in _ops(spec, family)
            for program in op.all_programs()
            if program.attributes
        ],
        "shape_functions": functions | described,
        "default_kind": family.default_kind if _has_default(spec, family) else None,
        "shapes": [
            {
                "name": name,
                "code": plain_tuple([to_python(part, _own_fields(family, "desc")) for part in parts]),
                "text": plain_tuple([to_text(part) for part in parts]),
            }
            for name, parts in family.shapes.items()
        ],
        "hosts": [host_functions(op) for op in _ops(spec, family) if op.host],
    }


def _shape_texts(tensor: Tensor) -> list[str]:
    return [tensor.shape] if isinstance(tensor.shape, str) else tensor.shape


def _own_fields(family: Family, owner: str) -> dict[str, str]:
    """How the descriptor's fields and named shapes are read from `owner`."""
    return {name: f"{owner}.{name}" for name in (*family.descriptor, *family.shapes)}


def _has_default(spec: Spec, family: Family) -> bool:
    return any(op.kind == family.default_kind for op in _ops(spec, family))


def _op_requirements(spec: Spec, family: Family) -> list[Expr]:
    return [rule for op in _ops(spec, family) for program in op.all_programs() for rule in program.require]


def _field(name: str, field: DescriptorField) -> dict[str, Any]:
    follows = field.default if field.type in ("shape", "extent") and isinstance(field.default, str) else None
    annotation = _ANNOTATIONS[field.type]
    open_to_none = follows or field.mask or field.default == OF_KIND
    return {
        "name": name,
        "doc": field.doc,
        "type": field.type,
        "annotation": f"{annotation} | None" if open_to_none else annotation,
        "default": "None" if open_to_none else _literal(field.default),
        "follows": follows,
    }


def _class_fields(family: Family, direction: str) -> list[dict[str, Any]]:
    """The fields of a descriptor class; masks stand behind the axes that they may give."""
    found = []
    for name, field in family.fields(direction).items():
        found.append(_field(name, field))
        if field.mask:
            doc = f"{name} as a number with bit i set for axis i; one of the two is enough"
            found.append(
                {
                    "name": field.mask,
                    "doc": doc,
                    "annotation": "int | None",
                    "default": "None",
                    "type": None,
                    "follows": None,
                }
            )
    return found


def _idle(kind: str, options: Sequence[tuple[str, str]], names: Sequence[str]) -> str:
    """Fields that nothing reads under a choice, as Python text, broken as the formatter does."""
    pairs = ", ".join(f'"{name}": "{value}"' for name, value in (("kind", kind.lower()), *options))
    given, listed = "{" + pairs + "}", _tuple(names)
    if len(f"        ({given}, {listed}),") <= _WIDTH:
        return f"({given}, {listed})"
    if len(f"            {listed},") > _WIDTH:
        listed = "(\n" + "".join(f'        "{name}",\n' for name in names) + "    )"
    return f"(\n    {given},\n    {listed},\n)"


def _literal(value: str | int | float | bool | None) -> str | None:
    """A default as Python text, None where there is none."""
    if value is None:
        return None
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _plan(spec: Spec, family: Family, direction: str) -> dict[str, Any]:
    stem = _stem(family, direction)
    ops = [op for op in _ops(spec, family) if direction in op.programs]
    others = [(op, program) for op in ops for program in op.alternatives if program.direction == direction]
    return {
        "stem": stem,
        "name": f"{stem}Plan",
        "doc": f"{family.doc}." if direction == "forward" else f"Gradients of {family.plan}Plan.",
        "tensors": [
            _tensor(name, tensor, family, ops, direction)
            for name, tensor in family.tensors(direction).items()
        ],
        "ops": [_op(op, op.programs[direction]) for op in ops],
        "alternatives": [_op(op, program) for op, program in others],
        "rules": [
            *_family_rules(family, direction),
            *(rule for op in ops for rule in (*_op_rules(op, direction), *_host_rules(op))),
        ],
        "other_shapes": _other_shapes(family, direction),
        "conditions": _conditions(family, direction),
        "layouts": _layouts(family.tensors(direction)),
    }


def _layouts(tensors: Mapping[str, Tensor]) -> str:
    """How the tensors of a plan may lie, for a reader."""
    text = "tensors with any strides, zero and negative ones included"
    inner = [name for name, tensor in tensors.items() if tensor.layout == "inner"]
    contiguous = [name for name, tensor in tensors.items() if tensor.layout == "contiguous"]
    if inner:
        text += f"; the innermost stride of {_listed(inner)} must be 1"
    if contiguous:
        text += f"{',' if inner else ';'} {_listed(contiguous)} must be contiguous"
    return text


def _listed(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _other_shapes(family: Family, direction: str) -> list[dict[str, str]]:
    """Tensors that may have several shapes, with those behind the first."""
    fields = _own_fields(family, "desc")
    found = []
    for name, tensor in family.tensors(direction).items():
        texts = _shape_texts(tensor)[1:]
        if tensor.role == "mask":
            whole = to_python(parse(_shape_texts(tensor)[0]), fields)
            found.append({"name": name, "code": f"broadcast_shapes({whole})"})
        elif texts:
            shapes = [to_python(parse(text), fields, {key: key for key in SHAPE_FUNCTIONS}) for text in texts]
            found.append({"name": name, "code": plain_tuple(shapes)})
    return found


def _tensor(name: str, tensor: Tensor, family: Family, ops: Iterable[Op], direction: str) -> dict[str, Any]:
    first, *others = (parse(text) for text in _shape_texts(tensor))
    rule = first
    fields = _own_fields(family, "desc")
    if isinstance(rule, Name) and rule.name in family.shapes:
        parts = plain_tuple([to_text(part) for part in family.shapes[rule.name]])
        reason = f'"{parts} of the descriptor"'
    elif isinstance(rule, Name):
        reason = f'"the {rule.name} of the descriptor"'
    elif isinstance(rule, Call) and SHAPE_FUNCTIONS[rule.name].gives:
        reason = f'"{SHAPE_FUNCTIONS[rule.name].gives.format(*map(to_text, rule.args))}"'
    else:
        assert isinstance(rule, Call)
        shown = [f'"{arg.name}", desc.{arg.name}' for arg in rule.args if isinstance(arg, Name)]
        reason = f"{rule.name}_reason({', '.join(shown)})"
    needed = [name in _required(op, direction) for op in ops]
    return {
        "name": name,
        "doc": tensor.doc,
        "io": tensor.io,
        "optional": tensor.optional,
        "layout": tensor.layout,
        "may_lack": may_be_none(tensor) or bool(tensor.halves) or not all(needed),
        "halves": _tuple(tensor.halves) if tensor.halves else "",
        "dtype": tensor.dtype,
        "others": _tuple(["bool"]) if tensor.role == "mask" else "",
        "shares": tensor.shares,
        "needed": "" if tensor.optional else _needed_text(name, ops, direction),
        "dtype_text": f"dtype {tensor.dtype}, " if tensor.dtype else "",
        "shape_text": " or ".join(_shape_text(family, shape) for shape in (rule, *others))
        + (" or one that broadcasts to it" if tensor.role == "mask" else ""),
        "shape_code": to_python(rule, fields, {key: key for key in SHAPE_FUNCTIONS}),
        "shape_reason": reason,
    }


def _needed_text(name: str, ops: Iterable[Op], direction: str) -> str:
    """Which ops want a tensor, for a reader, where they differ: whichever list is shorter."""
    wanted = {op.kind: (name in _required(op, direction), name in _accepted(op, direction)) for op in ops}
    needing = [kind for kind, (needed, _) in wanted.items() if needed]
    sparing = [kind for kind, (needed, taken) in wanted.items() if taken and not needed]
    refusing = [kind for kind, (_, taken) in wanted.items() if not taken]
    if not refusing or not needing:
        return ""
    if len(refusing) <= len(needing):
        text = f"None for {', '.join(refusing)}"
    else:
        text = f"for {', '.join(needing)} alone"
    return f"; {text}" + (f"; may be None for {', '.join(sparing)}" if sparing else "")


def _shape_text(family: Family, rule: Expr) -> str:
    """A shape for a reader: a named one as its extents."""
    if isinstance(rule, Name) and rule.name in family.shapes:
        return plain_tuple([to_text(part) for part in family.shapes[rule.name]])
    return to_text(rule)


def _required(op: Op, direction: str) -> list[str]:
    """Tensors that a caller must give: what the kernel reads, what the contract asks for, what is written."""
    program = op.programs[direction]
    tensors = op.family.tensors(direction)
    asked = [name for name, word in program.takes.items() if word == "required"]
    held = parts(tensors)
    return [
        name
        for name, tensor in tensors.items()
        if not may_be_none(tensor) and name not in held and name in {*program.read, *program.written, *asked}
    ]


def _accepted(op: Op, direction: str) -> list[str]:
    program = op.programs[direction]
    tensors = op.family.tensors(direction)
    known = with_wholes({*program.read, *program.written, *program.takes}, tensors)
    return [name for name in tensors if name in known]


def _op(op: Op, program: Program) -> dict[str, Any]:
    direction = program.direction
    formulas = [
        piece
        for line in (
            *attribute_lines(op, program),
            *formula_lines(program),
            *(f"host: {line}" for line in host_lines(op)),
        )
        for piece in textwrap.wrap(line, _WIDTH - 8, subsequent_indent="    ")
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
        "dtype_tuple": _tuple(op.dtypes_of(direction)),
        "inputs": _tuple(program.inputs),
        "row_inputs": _tuple(program.row_inputs),
        "outputs": _tuple(program.outputs),
        "row_outputs": _tuple(program.row_outputs),
        "required": _set(_required(op, direction)),
        "accepted": _set(_accepted(op, direction)),
        "batch_invariant": _tuple(_invariant(op, program)),
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
        "narrowed": _tuple(narrowed) if narrowed else "",
        "choices": {name: _tuple(op.options[name]) for name in _free_options(op, direction)},
        "column_inputs": _tuple(program.column_inputs) if program.column_inputs else "",
        "flags": _tuple(program.flags) if program.flags else "",
        "target": op.family.target() or "",
        "packs": program.packs,
        "half_packs": program.half_packs,
        "sum_inputs": {
            name: _tuple(reads)
            for name in (summed_outputs(op, program) if op.family.template == "map" else ())
            if (reads := read_by(program, name)) != program.inputs
        },
        "column_outputs": _tuple(program.column_outputs) if program.column_outputs else "",
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
    if not items or len(f"            {field}={line},") <= _WIDTH:
        return line if items else ""
    for place, (name, text) in enumerate(texts.items()):
        if len(f"                {items[place]},") > _WIDTH:
            parts = textwrap.wrap(text, _WIDTH - len('                    ""'), drop_whitespace=False)
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


def _scalars_name(program: Program) -> str:
    return f"_{program.stem}_scalars"


def _scalar_function(op: Op, program: Program) -> dict[str, Any]:
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
    descriptor = f"{op.family.plan if same else _stem(op.family, program.direction)}Descriptor"
    return {
        "name": _scalars_name(program),
        "op": program.stem,
        "lines": lines,
        "result": result,
        # Of a kind, the numbers are there that other kinds lack.
        "descriptor": "Any" if op.family.numbers_of_kinds() else descriptor,
    }


def _attribute_names(op: Op, program: Program) -> set[str]:
    return {attribute.name for attribute in op.folded_attributes(program)}


def _family_rules(family: Family, direction: str) -> list[dict[str, str]]:
    fields = {field: f"desc.{field}" for field in family.fields(direction)}
    functions = {key: key for key in SHAPE_FUNCTIONS}
    rules = family.requirements(direction)
    found = [_rule(rule, to_python(rule, fields, functions)) for rule in rules]
    return [*found, *([_halves_rule(family.halves)] if family.halves else [])]


def _halves_rule(halves: Halves) -> dict[str, str]:
    """Tensors of their own have no order."""
    return {
        "condition": f"desc.{halves.swapped} and not desc.{halves.axis}",
        "message": f'"{halves.swapped} is True, want False where {halves.axis} is ()"',
    }


def _conditions(family: Family, direction: str) -> list[dict[str, str]]:
    """When tensors are there that are so only on a condition, and the fields that decide it."""
    found, held = [], parts(family.tensors(direction))
    for name, tensor in family.tensors(direction).items():
        if tensor.given is not None:
            rule = parse(str(tensor.given))
            names = free_names(rule)
            code = to_python(rule, {key: f"desc.{key}" for key in names})
        elif family.halves is not None and (tensor.halves or name in held):
            names = [family.halves.axis]
            code = f"bool(desc.{names[0]})" if tensor.halves else f"not desc.{names[0]}"
        else:
            continue
        why = " and ".join(f"{key} is {{desc.{key}}}" for key in names)
        found.append({"name": name, "code": code, "why": why})
    return found


def _op_rules(op: Op, direction: str) -> list[dict[str, str]]:
    fields = {field: f"desc.{field}" for field in op.family.fields(direction)}
    functions = {key: key for key in SHAPE_FUNCTIONS}
    found = []
    for requirement in op.requirements(direction):
        rule = _rule(requirement, to_python(requirement, fields, functions))
        found.append(_under([_is_kind(op)], rule))
    return found


def _is_kind(op: Op) -> str:
    return f'desc.kind.value == "{op.kind.lower()}"'


def _under(conditions: Sequence[str], rule: dict[str, str]) -> dict[str, str]:
    """A rule that holds under conditions, broken where they are long as the formatter breaks them."""
    parts = [*conditions, rule["condition"]]
    text = " and ".join(parts)
    if len(text) + len("        if :") > _WIDTH:
        first, last = parts[0], parts[-1]
        if len(parts) == 2 and last.startswith("not ("):
            text = f"{first} and not (\n            {last[len('not (') : -1]}\n        )"
        else:
            text = "(\n            " + "\n            and ".join(parts) + "\n        )"
    return {**rule, "condition": text}


def _host_rules(op: Op) -> list[dict[str, str]]:
    """Conditions of what the host computes, each under the options that it belongs to."""
    fields = {field: f"desc.{field}" for field in op.family.descriptor}
    functions = {key: key for key in SHAPE_FUNCTIONS}
    found = []
    for item in op.host:
        under = [_is_kind(op), *(f'desc.{name} == "{value}"' for name, value in item.options)]
        found += [_under(under, _rule(rule, to_python(rule, fields, functions))) for rule in item.require]
    return found


def _rule(rule: Expr, code: str) -> dict[str, str]:
    names = free_names(rule)
    got = ", ".join(f"{name} is {{desc.{name}}}" for name in names)
    simple = isinstance(rule, Name | Call)
    message = f'f"{got}, want {wanted(rule)}"'
    if len(message) > _WIDTH - len("            yield "):
        lines = textwrap.wrap(f"{got}, ", _WIDTH - len('                f" "'), drop_whitespace=False)
        parts = [f'f"{line}"' for line in lines] + [f'"want {wanted(rule)}"']
        message = "(" + "".join(f"\n                {part}" for part in parts) + "\n            )"
    return {"condition": f"not {code}" if simple else f"not ({code})", "message": message}


def plain_dict(values: Mapping[str, float | None]) -> str:
    """A mapping of numbers as Python text."""
    shown = {name: repr(value).replace("inf", "math.inf") for name, value in values.items()}
    return "{" + ", ".join(f'"{name}": {value}' for name, value in shown.items()) + "}"


def _tuple(names: Sequence[str]) -> str:
    return plain_tuple([f'"{name}"' for name in names])


def _set(names: Sequence[str]) -> str:
    return "{" + ", ".join(f'"{name}"' for name in names) + "}" if names else ""
