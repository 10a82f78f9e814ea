"""From a `SpecFile` to a `Spec`: references followed, formulas built, meaning checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath

from baracuda.codegen.formula import (
    COMPUTE,
    INT,
    STATE,
    Expr,
    FormulaError,
    Type,
    check_reference,
    free_names,
    infer,
    parse,
)
from baracuda.codegen.problems import Path, Problems, suggest
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.families import resolve_family
from baracuda.codegen.spec.model import (
    COMPUTE as COMPUTE_DTYPES,
)
from baracuda.codegen.spec.model import (
    Attribute,
    Family,
    Monoid,
    Op,
    Program,
    Spec,
    StateField,
    Statement,
)
from baracuda.codegen.spec.program import Builder, kind_of, parse_at
from baracuda.codegen.yaml_source import Source

#: Names that an op's `ref` may use beside its tensors and attributes.
REFERENCE_NAMES = ("axes",)


def resolve(file: schema.SpecFile, source: Source, path: FilePath) -> Spec | None:
    """The spec, or None with every reason in `source.problems`."""
    problems = source.problems
    before = len(problems)
    dtypes = _DtypeSets(file.dtypes, problems)
    monoids = {
        name: monoid
        for name, entry in file.monoids.items()
        if (monoid := _resolve_monoid(name, entry, problems)) is not None
    }
    families = {
        name: family
        for name, entry in file.families.items()
        if (family := resolve_family(name, entry, problems)) is not None
    }
    _check_collisions(file, problems)
    ops: dict[str, Op] = {}
    for name, entry in file.ops.items():
        if entry.family not in file.families:
            right = suggest(entry.family, file.families) or "families: " + ", ".join(file.families)
            problems.add(("ops", name, "family"), f"unknown family {entry.family!r}", right)
        elif entry.family in families:
            op = _resolve_op(name, entry, families[entry.family], monoids, dtypes, source)
            if op is not None:
                ops[name] = op
    return Spec(path, monoids, families, ops) if len(problems) == before else None


class _DtypeSets:
    """The named dtype sets, expanded on demand."""

    def __init__(self, sets: Mapping[str, list[str]], problems: Problems) -> None:
        self._sets = sets
        self._problems = problems
        for name in sets:
            if name in COMPUTE_DTYPES:
                problems.add(("dtypes", name), f"{name!r} is a dtype", "another name for the set")
            self.expand([name], ("dtypes", name))

    def expand(self, names: Iterable[str], path: Path, seen: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The dtypes that names of dtypes and sets stand for, each once, in order."""
        found: dict[str, None] = {}
        for name in names:
            if name in COMPUTE_DTYPES:
                found[name] = None
            elif name in seen:
                self._problems.add(path, f"the set {name!r} contains itself")
            elif name in self._sets:
                found.update(dict.fromkeys(self.expand(self._sets[name], path, (*seen, name))))
            else:
                known = [*COMPUTE_DTYPES, *self._sets]
                right = suggest(name, known) or "dtypes with a compute type: " + ", ".join(COMPUTE_DTYPES)
                self._problems.add(path, f"{name!r} is no dtype with a compute type, and no set", right)
        return tuple(found)


def _check_collisions(file: schema.SpecFile, problems: Problems) -> None:
    """File names that differ by case alone are one file on some systems; so are an op and another's backward."""
    seen: dict[str, str] = {}
    for name, entry in file.ops.items():
        for stem in (name, f"{name}_backward") if entry.backward else (name,):
            other = seen.setdefault(stem.lower(), name)
            if other != name:
                problems.add(
                    ("ops", name), f"its file {stem}.cu collides with one of {other!r}", "names that differ by more than case"
                )
    kinds: dict[tuple[str, str], str] = {}
    for name, entry in file.ops.items():
        other = kinds.setdefault((entry.family, entry.kind), name)
        if other != name:
            problems.add(("ops", name, "kind"), f"{entry.kind} is the kind of {other!r} already", "another kind")


def _resolve_monoid(name: str, entry: schema.Monoid, problems: Problems) -> Monoid | None:
    path = ("monoids", name)
    before = len(problems)
    types: dict[str, Type] = {}
    identities: dict[str, Expr] = {}
    for field, text in entry.state.items():
        kind, equals, identity = (part.strip() for part in text.partition("="))
        if not equals or kind not in ("compute", "i64"):
            problems.add((*path, "state", field), f"is {text!r}", "`compute = IDENTITY` or `i64 = IDENTITY`")
            continue
        types[field] = COMPUTE if kind == "compute" else INT
        parsed = _checked(identity, {}, types[field], (*path, "state", field), problems)
        if parsed is not None:
            identities[field] = parsed
    lift_types: dict[str, Type] = {"x": COMPUTE}
    lift_lets = _lets(entry.let, lift_types, (*path, "let"), problems)
    merge_types: dict[str, Type] = {"a": STATE(types), "b": STATE(types)}
    merge_entry = dict(entry.merge)
    let_block = merge_entry.pop("let", {})
    if not isinstance(let_block, dict):
        problems.add((*path, "merge", "let"), "is no mapping", "name: expression")
        let_block = {}
    merge_lets = _lets(let_block, merge_types, (*path, "merge", "let"), problems)
    fields = []
    for field, type_ in types.items():
        lift = _member(entry.lift, field, lift_types, type_, (*path, "lift"), problems)
        merge = _member(merge_entry, field, merge_types, type_, (*path, "merge"), problems)
        if lift is not None and merge is not None and field in identities:
            fields.append(StateField(field, kind_of(type_), identities[field], lift, merge))
    for block, keys in (("lift", entry.lift), ("merge", merge_entry)):
        for key in keys:
            if key not in entry.state:
                problems.add((*path, block, key), f"unknown field {key!r}", "fields: " + ", ".join(entry.state))
    value = None
    if entry.value is not None:
        value = _checked(str(entry.value), types, COMPUTE, (*path, "value"), problems)
    if len(problems) > before:
        return None
    return Monoid(name, entry.doc, tuple(fields), lift_lets, merge_lets, value)


def _member(
    block: Mapping[str, object], field: str, types: dict[str, Type], want: Type, path: Path, problems: Problems
) -> Expr | None:
    if field not in block:
        problems.add(path, f"no value for the field {field!r}", "a value for each field of state")
        return None
    return _checked(str(block[field]), types, want, (*path, field), problems)


def _lets(block: Mapping[str, object], types: dict[str, Type], path: Path, problems: Problems) -> tuple[Statement, ...]:
    """The statements of a `let`; their types are added to `types`."""
    statements = []
    for name, text in block.items():
        expr = parse_at(text, (*path, name), problems)
        if expr is None:
            continue
        try:
            type_ = infer(expr, types)
        except FormulaError as error:
            problems.add((*path, name), f"{text}: {error}")
            continue
        types[name] = type_
        statements.append(Statement(name, kind_of(type_), expr))
    return tuple(statements)


def _checked(text: str, types: Mapping[str, Type], want: Type | None, path: Path, problems: Problems) -> Expr | None:
    try:
        expr = parse(text)
        infer(expr, types, want)
    except FormulaError as error:
        problems.add(path, f"{text}: {error}")
        return None
    return expr


def _resolve_op(
    name: str,
    entry: schema.Op,
    family: Family,
    monoids: Mapping[str, Monoid],
    dtypes: _DtypeSets,
    source: Source,
) -> Op | None:
    problems, path = source.problems, ("ops", name)
    before = len(problems)
    listed = [entry.dtypes] if isinstance(entry.dtypes, str) else entry.dtypes
    expanded = dtypes.expand(listed, (*path, "dtypes"))
    attributes = tuple(
        attribute
        for key, value in entry.attrs.items()
        if (attribute := _resolve_attribute(key, value, family, (*path, "attrs", key), problems)) is not None
    )
    programs: dict[str, Program] = {}
    for direction, block in (("forward", entry.forward), ("backward", entry.backward)):
        if block is None:
            continue
        if direction == "backward" and not family.backward:
            problems.add((*path, "backward"), f"the family {family.name!r} has no backward tensors", "add them to the family")
            continue
        builder = Builder(family, direction, monoids, attributes, problems, (*path, direction))
        program = builder.build(block)
        if program is not None:
            programs[direction] = program
    ulp = {}
    for key, bound in entry.ulp.items():
        ulp.update(dict.fromkeys(dtypes.expand([key], (*path, "ulp", key)), float(bound)))
    for dtype in expanded:
        if dtype not in ulp:
            problems.add((*path, "ulp"), f"no error bound for {dtype}", "a bound for each dtype")
    outputs = [output for program in programs.values() for output in program.outputs]
    for output in outputs:
        if output not in entry.ref:
            problems.add((*path, "ref"), f"no reference for {output!r}", "an independent expression for each output")
    inputs = {key for direction in programs for key in family.tensors(direction)}
    known = {*inputs, *(a.name for a in attributes), *family.descriptor, *REFERENCE_NAMES}
    for output, text in entry.ref.items():
        _check_reference(output, text, outputs, known, (*path, "ref", output), problems)
    scale = {}
    for output, text in entry.scale.items():
        if output not in outputs:
            problems.add((*path, "scale", output), f"unknown output {output!r}", "outputs: " + ", ".join(outputs))
        expr = parse_at(text, (*path, "scale", output), problems)
        if expr is not None:
            scale[output] = expr
    if len(problems) > before:
        return None
    line = source.line(path)
    return Op(
        name, entry.doc, family, entry.kind, expanded, attributes, programs, dict(entry.ref), ulp, scale, line
    )


def _check_reference(
    output: str, text: str, outputs: list[str], known: set[str], path: Path, problems: Problems
) -> None:
    if output not in outputs:
        problems.add(path, f"unknown output {output!r}", "outputs: " + ", ".join(outputs))
    try:
        check_reference(text, known)
    except FormulaError as error:
        problems.add(path, f"{text}: {error}")


def _resolve_attribute(
    name: str, entry: schema.Attribute, family: Family, path: Path, problems: Problems
) -> Attribute | None:
    field = family.descriptor.get(entry.from_)
    if field is None or field.type not in ("f64", "i64"):
        numeric = [key for key, value in family.descriptor.items() if value.type in ("f64", "i64")]
        problems.add((*path, "from"), f"{entry.from_!r} is no number of the descriptor", "one of " + ", ".join(numeric))
        return None
    require = None
    if entry.require is not None:
        require = parse_at(entry.require, (*path, "require"), problems)
        unknown = [] if require is None else [key for key in free_names(require) if key not in family.descriptor]
        for key in unknown:
            right = suggest(key, family.descriptor) or "fields: " + ", ".join(family.descriptor)
            problems.add((*path, "require"), f"unknown name {key!r}", right)
    return Attribute(name, entry.from_, require)
