"""Families: descriptors, tensors and shape rules, checked."""

from __future__ import annotations

from pathlib import Path as FilePath

from baracuda.codegen.formula import Call, Expr, free_names
from baracuda.codegen.formula.nodes import Name, walk
from baracuda.codegen.problems import Path, Problems, suggest
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.model import Family
from baracuda.codegen.spec.program import parse_at

#: Functions of shape rules, all of `baracuda.shapes`, with their numbers of arguments.
SHAPE_FUNCTIONS = {"keepdim": 2, "broadcasts": 2}

TEMPLATES = FilePath(__file__).resolve().parents[2] / "templates"


def resolve_family(name: str, entry: schema.Family, problems: Problems) -> Family | None:
    """The family, or None with every reason noted."""
    path = ("families", name)
    before = len(problems)
    _check_template(entry.template, (*path, "template"), problems)
    fields = entry.descriptor
    if not any(field.type == "element" for field in fields.values()):
        problems.add((*path, "descriptor"), "no field of type element", "element: {type: element, doc: ...}")
    _check_field(entry.domain, "shape", entry, (*path, "domain"), problems)
    if entry.axes is not None:
        _check_field(entry.axes, "axes", entry, (*path, "axes"), problems)
    for key, field in fields.items():
        if field.type == "axes" and (field.of is None or field.of not in fields):
            problems.add((*path, "descriptor", key), "axes of which shape?", "of: a field of type shape")
        if field.type == "shape" and isinstance(field.default, str) and field.default not in fields:
            right = suggest(field.default, fields) or "fields: " + ", ".join(fields)
            problems.add((*path, "descriptor", key, "default"), f"unknown field {field.default!r}", right)
    for direction, tensors in (("forward", entry.forward), ("backward", entry.backward)):
        for key, tensor in tensors.items():
            _rule(tensor.shape, entry, (*path, direction, key, "shape"), problems)
    require = [
        rule
        for place, text in enumerate(entry.require)
        if (rule := _rule(text, entry, (*path, "require", place), problems)) is not None
    ]
    if len(problems) > before:
        return None
    return Family(
        name, entry.doc, entry.template, entry.category, entry.plan, entry.kind, entry.domain, entry.axes,
        fields, tuple(require), entry.contraction, entry.forward, entry.backward,
    )  # fmt: skip


def _check_template(template: str, path: Path, problems: Problems) -> None:
    known = sorted(file.name.removesuffix(".cu.j2") for file in TEMPLATES.glob("*.cu.j2"))
    if template not in known:
        problems.add(path, f"no template {template!r}", suggest(template, known) or "templates: " + ", ".join(known))


def _check_field(name: str, type_: str, entry: schema.Family, path: Path, problems: Problems) -> None:
    field = entry.descriptor.get(name)
    if field is None or field.type != type_:
        known = [key for key, value in entry.descriptor.items() if value.type == type_]
        problems.add(path, f"{name!r} is no field of type {type_}", "one of " + ", ".join(known))


def _rule(text: object, entry: schema.Family, path: Path, problems: Problems) -> Expr | None:
    """A shape rule: descriptor fields and SHAPE_FUNCTIONS."""
    expr = parse_at(text, path, problems)
    if expr is None:
        return None
    for name in free_names(expr):
        if name not in entry.descriptor:
            right = suggest(name, entry.descriptor) or "fields: " + ", ".join(entry.descriptor)
            problems.add(path, f"{text}: unknown name {name!r}", right)
    for node in walk(expr):
        if not isinstance(node, Name | Call):
            problems.add(path, f"{text}: a shape rule is a field or a call", "such as keepdim(input_shape, reduce_axis)")
        elif isinstance(node, Call) and SHAPE_FUNCTIONS.get(node.name) != len(node.args):
            right = ", ".join(f"{key} takes {count}" for key, count in SHAPE_FUNCTIONS.items())
            problems.add(path, f"{text}: no shape function {node.name!r} of {len(node.args)} arguments", right)
    return expr
