"""Families: descriptors, tensors and shape rules, checked."""

from __future__ import annotations

from pathlib import Path as FilePath

from baracuda.codegen.formula import INT, Expr, FormulaError, infer, to_python
from baracuda.codegen.problems import Path, Problems, suggest
from baracuda.codegen.spec import attention, schema
from baracuda.codegen.spec.halves import check_halves
from baracuda.codegen.spec.model import COMPUTE, OF_KIND, Family, Halves, Pairs
from baracuda.codegen.spec.pairs import check_domain, check_tensors
from baracuda.codegen.spec.rules import Fields, check_shape, condition, fields_of_type, parse_at
from baracuda.codegen.spec.scope import EXTENT, INDEX
from baracuda.codegen.spec.tensors import check_fields, check_presence, check_results, fields_of

#: The values of a field of type storage: the element dtype, or the one that it is computed in.
STORAGE = ("element", "compute")

TEMPLATES = FilePath(__file__).resolve().parents[2] / "templates"


def resolve_family(name: str, entry: schema.Family, folder: FilePath, problems: Problems) -> Family | None:
    """The family, or None with every reason noted; `folder` is the spec's."""
    path = ("families", name)
    before = len(problems)
    template, own_template = _templates(entry, folder, path, problems)
    fields = entry.descriptor
    elements = [key for key, field in fields.items() if field.type == "element"]
    if len(elements) != 1:
        what = f"{' and '.join(elements) or 'no field'} of type element"
        problems.add((*path, "descriptor"), what, "one field: {type: element, doc: ...}")
    shapes = _named_shapes(entry, path, problems)
    # To rules, a named shape is a field of the descriptor.
    known = {**fields, **{key: schema.DescriptorField(type="shape", doc=key) for key in entry.shapes}}
    _check_field(entry.domain, "shape", known, (*path, "domain"), problems)
    check_domain(entry, path, problems)
    check_tensors(entry, path, problems)
    attention.check_family(entry, path, problems)
    check_halves(entry, template, path, problems)
    if entry.pairs is not None:
        _check_field(entry.pairs.extent, "extent", fields, (*path, "pairs", "extent"), problems)
        _check_field(entry.pairs.place, "option", fields, (*path, "pairs", "place"), problems)
    if entry.axes is not None:
        _check_field(entry.axes, "axes", fields, (*path, "axes"), problems)
    for key, field in fields.items():
        _check_default(key, field, fields, (*path, "descriptor", key), problems)
    shared = {name: name for name in (entry.domain, entry.axes) if name is not None}
    check_fields(fields, shared, path, problems)
    for direction, tensors in (("forward", entry.forward), ("backward", entry.backward)):
        own = fields_of(direction, known)
        for key, tensor in tensors.items():
            if entry.axes is not None and key in (EXTENT, INDEX):
                problems.add(
                    (*path, direction, key), f"{key!r} means something in formulas over axes", "another name"
                )
            for text in [tensor.shape] if isinstance(tensor.shape, str) else tensor.shape:
                check_shape(text, own, (*path, direction, key, "shape"), problems)
            check_presence(tensor, own, template, (*path, direction, key), problems)
        check_results(tensors, template, (*path, direction), problems)
        if direction in entry.model_fields_set and not any(tensor.io == "out" for tensor in tensors.values()):
            problems.add((*path, direction), "no tensor with io: out", "at least one output")
    require = [
        rule
        for place, text in enumerate(entry.require)
        if (rule := condition(text, known, (*path, "require", place), problems)) is not None
    ]
    if len(problems) > before:
        return None
    pairs = None if entry.pairs is None else Pairs(entry.pairs.extent, entry.pairs.place)
    return Family(
        name, entry.doc, template, entry.category, entry.plan, entry.kind, entry.domain, entry.axes,
        fields, tuple(require), entry.contraction, entry.forward, entry.backward, own_template,
        entry.default_kind, pairs, shapes,
        tiles={key: attention.tile_set(tiles) for key, tiles in entry.tiles.items()},
        halves=None if entry.halves is None else Halves(entry.halves.axis, entry.halves.swapped),
    )  # fmt: skip


def _named_shapes(entry: schema.Family, path: Path, problems: Problems) -> dict[str, tuple[Expr, ...]]:
    """The shapes made of extents, as far as they are sound."""
    extents = {key: INT for key, field in entry.descriptor.items() if field.type == "extent"}
    shapes = {}
    for name, parts in entry.shapes.items():
        where = (*path, "shapes", name)
        if name in entry.descriptor:
            problems.add(where, f"{name!r} is a field of the descriptor", "another name")
        exprs = [parse_at(part, (*where, place), problems) for place, part in enumerate(parts)]
        for place, expr in enumerate(exprs):
            try:
                if expr is not None:
                    infer(expr, extents, INT)
                    to_python(expr, {key: key for key in extents})
            except FormulaError as error:
                problems.add(
                    (*where, place), f"{parts[place]}: {error}", fields_of_type("extent", entry.descriptor)
                )
        shapes[name] = tuple(expr for expr in exprs if expr is not None)
    return shapes


def _templates(
    entry: schema.Family, folder: FilePath, path: Path, problems: Problems
) -> tuple[str, FilePath | None]:
    """The shipped template that a family's kernels go by, and the file of its own if it has one."""
    known = sorted(file.name.removesuffix(".cu.j2") for file in TEMPLATES.glob("*.cu.j2"))
    shipped = "one of baracuda's: " + ", ".join(known)
    if entry.engine is None:
        if entry.template not in known:
            right = suggest(entry.template, known) or f"{shipped}; a template beside the spec needs `engine`"
            problems.add((*path, "template"), f"no template {entry.template!r}", right)
        return entry.template, None
    if entry.engine not in known:
        problems.add(
            (*path, "engine"), f"no template {entry.engine!r}", suggest(entry.engine, known) or shipped
        )
    own = folder / "templates" / f"{entry.template}.cu.j2"
    if entry.template in known:
        problems.add((*path, "template"), f"{entry.template!r} is a template of baracuda", "another name")
    elif not own.is_file():
        problems.add((*path, "template"), f"no file {own}", "a template beside the spec")
    return entry.engine, own


def _check_field(name: str, type_: str, fields: Fields, path: Path, problems: Problems) -> None:
    if name not in fields or fields[name].type != type_:
        problems.add(path, f"{name!r} is no field of type {type_}", fields_of_type(type_, fields))


def _check_default(
    name: str, field: schema.DescriptorField, fields: Fields, path: Path, problems: Problems
) -> None:
    if field.type == "axes":
        if field.of is None:
            problems.add(path, "axes of which shape?", "of: a field of type shape")
        else:
            _check_field(field.of, "shape", fields, (*path, "of"), problems)
    elif field.of is not None:
        problems.add((*path, "of"), "belongs to axes alone", "leave it out")
    default = field.default
    if default is None:
        if field.type == "option":
            what = "an option without a default"
            problems.add(path, what, "default: the first of the values in each op's options")
        return
    where = (*path, "default")
    if field.type in ("shape", "extent"):
        given = [key for key, other in fields.items() if other.type == field.type and other.default is None]
        if default not in given:
            right = (isinstance(default, str) and suggest(default, given)) or "one of " + ", ".join(given)
            problems.add(where, f"{default!r} is no {field.type} that is always given", right)
        return
    fitting = {
        "f64": default == OF_KIND or (type(default) in (int, float) and abs(float(default)) < float("inf")),
        "i64": type(default) is int,
        "bool": type(default) is bool,
        "element": isinstance(default, str) and default in COMPUTE,
        "option": isinstance(default, str),
        "storage": default in STORAGE,
    }
    if not fitting.get(field.type, False):
        right = _DEFAULTS.get(field.type, f"a field of type {field.type} has no default")
        problems.add(where, f"{default!r} is no default of the field {name!r}", right)


_DEFAULTS = {
    "f64": f"a finite number, or {OF_KIND}",
    "i64": "a whole number",
    "bool": "true or false",
    "element": "one of " + ", ".join(COMPUTE),
    "option": "one of the option's values",
    "storage": " or ".join(STORAGE),
}
