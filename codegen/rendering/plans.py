"""Plan modules: descriptors, arguments and plan classes of one category, as Python text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from baracuda.codegen.formula import Call, Expr, parse, to_python, to_text, walk
from baracuda.codegen.rendering.environment import banner, fill
from baracuda.codegen.rendering.host import host_functions, wide_names
from baracuda.codegen.rendering.literals import literal, plain_dict, plain_tuple, tuple_of_names
from baracuda.codegen.rendering.plan_ops import op_entry, scalar_function
from baracuda.codegen.rendering.plan_rules import conditions, family_rules, host_rules, op_rules
from baracuda.codegen.rendering.plan_tensors import (
    layouts_text,
    other_shapes,
    own_fields,
    shape_texts,
    tensor_entry,
)
from baracuda.codegen.rendering.width import TEXT_WIDTH
from baracuda.codegen.spec.idle import idle_fields
from baracuda.codegen.spec.model import OF_KIND, Family, Op, Spec
from baracuda.codegen.spec.rules import SHAPE_FUNCTIONS
from baracuda.codegen.spec.schema import DescriptorField

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
            stem = family.class_stem(direction)
            names += [f"{stem}Args", f"{stem}Descriptor", f"{stem}Plan"]
    return names


def _ops(spec: Spec, family: Family) -> list[Op]:
    return [op for op in spec.ops.values() if op.family is family]


def _directions(spec: Spec, family: Family) -> list[str]:
    present = {direction for op in _ops(spec, family) for direction in op.programs}
    return [direction for direction in ("forward", "backward") if direction in present]


def _family(spec: Spec, family: Family) -> dict[str, Any]:
    directions = _directions(spec, family)
    rules = [
        text
        for direction in directions
        for tensor in family.tensors(direction).values()
        for text in shape_texts(tensor)
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
            scalar_function(op, program)
            for op in _ops(spec, family)
            for program in op.all_programs()
            if program.attributes
        ],
        "shape_functions": functions | described,
        "default_kind": family.default_kind if _has_default(spec, family) else None,
        "shapes": [
            {
                "name": name,
                "code": plain_tuple([to_python(part, own_fields(family, "desc")) for part in parts]),
                "text": plain_tuple([to_text(part) for part in parts]),
            }
            for name, parts in family.shapes.items()
        ],
        "hosts": [host_functions(op) for op in _ops(spec, family) if op.host],
    }


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
        "default": "None" if open_to_none else literal(field.default),
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
    given, listed = "{" + pairs + "}", tuple_of_names(names)
    if len(f"        ({given}, {listed}),") <= TEXT_WIDTH:
        return f"({given}, {listed})"
    if len(f"            {listed},") > TEXT_WIDTH:
        listed = "(\n" + "".join(f'        "{name}",\n' for name in names) + "    )"
    return f"(\n    {given},\n    {listed},\n)"


def _plan(spec: Spec, family: Family, direction: str) -> dict[str, Any]:
    stem = family.class_stem(direction)
    ops = [op for op in _ops(spec, family) if direction in op.programs]
    others = [(op, program) for op in ops for program in op.alternatives if program.direction == direction]
    return {
        "stem": stem,
        "name": f"{stem}Plan",
        "doc": f"{family.doc}." if direction == "forward" else f"Gradients of {family.plan}Plan.",
        "tensors": [
            tensor_entry(name, tensor, family, ops, direction)
            for name, tensor in family.tensors(direction).items()
        ],
        "ops": [op_entry(op, op.programs[direction]) for op in ops],
        "alternatives": [op_entry(op, program) for op, program in others],
        "rules": [
            *family_rules(family, direction),
            *(rule for op in ops for rule in (*op_rules(op, direction), *host_rules(op))),
        ],
        "other_shapes": other_shapes(family, direction),
        "conditions": conditions(family, direction),
        "layouts": layouts_text(family.tensors(direction)),
    }
