"""From a `SpecFile` to a `Spec`: references followed, formulas built, meaning checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath

from baracuda.codegen.formula import (
    COMPUTE,
    FUNCTIONS,
    WHOLE,
    Expr,
    FormulaError,
    calls,
    check_reference,
    free_names,
)
from baracuda.codegen.problems import Path, Problems, suggest
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.attention import AttentionBuilder
from baracuda.codegen.spec.calls import OpFormula, callable_ops
from baracuda.codegen.spec.families import resolve_family
from baracuda.codegen.spec.host import HostBuilder
from baracuda.codegen.spec.model import COMPUTE as COMPUTE_DTYPES
from baracuda.codegen.spec.model import (
    OF_KIND,
    WHOLE_DTYPES,
    Attribute,
    Family,
    HostFormulas,
    Monoid,
    Op,
    Program,
    Spec,
    TileSet,
    stem_of,
)
from baracuda.codegen.spec.monoids import resolve_monoid
from baracuda.codegen.spec.options import option_choices, resolve_options, with_options
from baracuda.codegen.spec.pairs import PLACES, PairBuilder
from baracuda.codegen.spec.program import Builder
from baracuda.codegen.spec.rules import condition, numbers_of, parse_at
from baracuda.codegen.spec.scope import EXTENT, INDEX
from baracuda.codegen.spec.structure import mentions
from baracuda.codegen.spec.tensors import MAPS, outputs_of
from baracuda.codegen.yaml_remarks import Remark
from baracuda.codegen.yaml_source import Source

#: Names that an op's `ref` may use beside its tensors and attributes.
REFERENCE_NAMES = ("axes", "extent", "index", "stored", "next_stored", "converted", "integer_bits")


def resolve(file: schema.SpecFile, source: Source, path: FilePath, base: Spec) -> Spec | None:
    """The spec, or None with every reason in `source.problems`; what `base` names can be used too."""
    problems = source.problems
    before = len(problems)
    _check_names(file, base, problems)
    dtypes = _DtypeSets({**base.dtypes, **file.dtypes}, problems)
    monoids = dict(base.monoids)
    for name, entry in file.monoids.items():
        if (monoid := resolve_monoid(name, entry, problems)) is not None:
            monoids[name] = monoid
    families = dict(base.families)
    for name, form in file.families.items():
        if (family := resolve_family(name, form, path.parent, problems)) is not None:
            where = ("families", name)
            families[name] = replace(
                family,
                dtypes=dtypes.expand(_listed(form.dtypes), (*where, "dtypes")),
                ulp=_bounds(form.ulp, dtypes, where, problems),
                sum_ulp=_bounds(form.sum_ulp, dtypes, where, problems, "sum_ulp"),
            )
    broken = [name for name in file.monoids if name not in monoids]
    formulas = callable_ops(file.ops, families, base.ops.values())
    ops: dict[str, Op] = {}
    for name, op_entry in file.ops.items():
        known = {**base.families, **file.families}
        if op_entry.family not in known:
            right = suggest(op_entry.family, known) or "families: " + ", ".join(known)
            problems.add(("ops", name, "family"), f"unknown family {op_entry.family!r}", right)
        elif op_entry.family in families and not mentions(op_entry.model_dump(), broken):
            op = _resolve_op(name, op_entry, families[op_entry.family], monoids, formulas, dtypes, source)
            if op is not None:
                ops[name] = op
    _check_collisions(ops.values(), problems)
    _check_default_kinds(file, problems)
    return Spec(path, monoids, families, ops, dtypes.expanded()) if len(problems) == before else None


def _check_default_kinds(file: schema.SpecFile, problems: Problems) -> None:
    for name, family in file.families.items():
        kinds = [op.kind or key.upper() for key, op in file.ops.items() if op.family == name]
        if family.default_kind is not None and kinds and family.default_kind not in kinds:
            what = f"no op of the family has the kind {family.default_kind!r}"
            problems.add(("families", name, "default_kind"), what, "one of " + ", ".join(kinds))


def _check_names(file: schema.SpecFile, base: Spec, problems: Problems) -> None:
    """A name means one thing: what the base defines is not defined again."""
    for block, own, known in (
        ("dtypes", file.dtypes, base.dtypes),
        ("monoids", file.monoids, base.monoids),
        ("families", file.families, base.families),
        ("ops", file.ops, base.ops),
    ):
        for name in own:
            if name in known:
                problems.add(
                    (block, name), f"{name!r} is one of {base.path.name} of baracuda already", "another name"
                )
    plans = {family.plan: name for name, family in base.families.items()}
    for name, entry in file.families.items():
        if entry.plan in plans:
            what = f"{entry.plan!r} is the plan of {plans[entry.plan]!r} already"
            problems.add(("families", name, "plan"), what, "another name")


def _listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def _bounds(
    ulp: Mapping[str, float], dtypes: _DtypeSets, path: Path, problems: Problems, key_of: str = "ulp"
) -> dict[str, float]:
    """Error bounds by dtype."""
    found = {}
    for key, bound in ulp.items():
        if not 0 <= bound < float("inf"):
            problems.add(
                (*path, key_of, key), f"{bound} is no error bound", "a finite number, 0 for exact results"
            )
        found.update(dict.fromkeys(dtypes.expand([key], (*path, key_of, key)), float(bound)))
    return found


class _DtypeSets:
    """The named dtype sets, each expanded once; what is wrong with a set is reported where it is defined."""

    def __init__(self, sets: Mapping[str, Sequence[str]], problems: Problems) -> None:
        self._sets = sets
        self._problems = problems
        self._expanded: dict[str, tuple[str, ...]] = {}
        for name in sets:
            if name in COMPUTE_DTYPES:
                problems.add(("dtypes", name), f"{name!r} is a dtype", "another name for the set")
            self._expand_set(name, ())

    def expanded(self) -> dict[str, tuple[str, ...]]:
        """Every set with its dtypes."""
        return dict(self._expanded)

    def expand(self, names: Iterable[str], path: Path, inside: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The dtypes that names of dtypes and sets stand for, each once, in order; `-NAME` takes away."""
        found: dict[str, None] = {}
        for entry in names:
            name = entry.removeprefix("-")
            members: tuple[str, ...] = ()
            if name in COMPUTE_DTYPES:
                members = (name,)
            elif name in self._sets:
                members = self._expand_set(name, inside)
            else:
                known = [*COMPUTE_DTYPES, *self._sets]
                right = suggest(name, known) or "dtypes with a compute type: " + ", ".join(COMPUTE_DTYPES)
                self._problems.add(path, f"{name!r} is no dtype with a compute type, and no set", right)
            if entry == name:
                found.update(dict.fromkeys(members))
            else:
                found = {dtype: None for dtype in found if dtype not in members}
        return tuple(found)

    def _expand_set(self, name: str, inside: tuple[str, ...]) -> tuple[str, ...]:
        if name in inside:
            self._problems.add(("dtypes", name), f"the set {name!r} contains itself", "leave it out")
            return ()
        if name not in self._expanded:
            self._expanded[name] = self.expand(self._sets[name], ("dtypes", name), (*inside, name))
        return self._expanded[name]


def _check_collisions(ops: Iterable[Op], problems: Problems) -> None:
    """File names that differ by case alone are one file on some systems; a kind names one op of its enum."""
    stems: dict[str, str] = {}
    kinds: dict[tuple[str, str], str] = {}
    for op in ops:
        for program in op.all_programs():
            other = stems.setdefault(program.stem.lower(), op.name)
            if other != op.name:
                what = f"its file {program.stem}.cu collides with one of {other!r}"
                problems.add(("ops", op.name), what, "names that differ by more than case")
                break
        other = kinds.setdefault((op.family.kind, op.kind), op.name)
        if other != op.name:
            what = f"{op.kind} is the {op.family.kind} of {other!r} already"
            problems.add(("ops", op.name, "kind"), what, "another kind")


def _resolve_op(
    name: str,
    entry: schema.Op,
    family: Family,
    monoids: Mapping[str, Monoid],
    formulas: Mapping[str, OpFormula],
    dtypes: _DtypeSets,
    source: Source,
) -> Op | None:
    problems, path = source.problems, ("ops", name)
    before = len(problems)
    listed = _listed(entry.dtypes)
    expanded = dtypes.expand(listed, (*path, "dtypes")) or family.dtypes
    if not listed and not family.dtypes:
        problems.add((*path, "dtypes"), "no dtypes", "a dtype, a set, or a list of them")
    attributes = tuple(
        attribute
        for key, value in entry.attrs.items()
        if (attribute := _resolve_attribute(key, value, family, (*path, "attrs", key), problems)) is not None
    )
    options = resolve_options(entry, family, path, problems)
    integers = [dtype for dtype in expanded if dtype in WHOLE_DTYPES]
    numbers = [COMPUTE] * (len(integers) < len(expanded)) + [WHOLE] * bool(integers)
    if integers and family.template != "map":
        what = f"{integers[0]} is a dtype of the template map alone"
        problems.add((*path, "dtypes"), what, "dtypes of floats")
    if entry.backward is not None and len(integers) == len(expanded) > 0:
        problems.add((*path, "backward"), "integers have no gradients", "leave it out")
    host = _resolve_host(entry, family, options, path, problems)
    if len(problems) > before:
        return None  # the formulas' names are not known
    failed = False
    programs: dict[str, Program] = {}
    alternatives: list[Program] = []
    for direction, block in (("forward", entry.forward), ("backward", entry.backward)):
        if block is None:
            continue
        if direction == "backward" and not family.backward:
            problems.add(
                (*path, "backward"),
                f"the family {family.name!r} has no backward tensors",
                "add them to the family",
            )
            continue
        always = (family.pairs.place,) if family.pairs is not None else ()
        for chosen in option_choices(block, options, (*path, direction), problems, always):
            whole, places = with_options(block, chosen, (*path, direction))
            where = (*path, direction)
            builder: Builder | PairBuilder | AttentionBuilder
            if family.pairs is not None:
                builder = PairBuilder(family, direction, attributes, host, problems, where, places)
            elif family.tiles:
                builder = AttentionBuilder(family, direction, attributes, problems, where, places)
            else:
                builder = Builder(
                    family, direction, monoids, attributes, problems, where, places, formulas, numbers[0]
                )
            stem = stem_of(name, direction, tuple(value for key, value in chosen if value != options[key][0]))
            program = builder.build(whole, stem, chosen)
            if program is not None and direction == "forward" and len(numbers) > 1:
                # One text for floats and integers: it must mean something for both.
                other = Builder(
                    family, direction, monoids, attributes, problems, where, places, formulas, numbers[1]
                )
                program = program if other.build(whole, stem, chosen) is not None else None
            if program is None:
                failed = True
                break
            program = replace(
                program,
                ulp=_bounds(block.ulp, dtypes, where, problems),
                packs=block.packs,
                half_packs=block.half_packs or block.packs,
                remarks=_remarks(whole, source, where, places),
            )
            for word, is_given in (("packs", block.packs > 1), ("half_packs", block.half_packs is not None)):
                if is_given and family.template != "map":
                    problems.add((*where, word), f"{family.template} has none", "leave it out")
            if direction in programs:
                alternatives.append(program)
            else:
                programs[direction] = program
    exact = dict.fromkeys(WHOLE_DTYPES, 0.0)
    ulp = {**exact, **family.ulp, **_bounds(entry.ulp, dtypes, path, problems)}
    for dtype in expanded:
        if dtype not in ulp:
            problems.add((*path, "ulp"), f"no error bound for {dtype}", "a bound for each dtype")
    for key in entry.samples:
        if key not in family.descriptor or family.descriptor[key].type not in ("f64", "i64"):
            right = numbers_of(family.descriptor)
            problems.add((*path, "samples", key), f"{key!r} is no number of the descriptor", right)
    if entry.backward is not None and not family.backward:
        return None  # what references may name is not known
    directions = ["forward"] + ["backward"] * (entry.backward is not None)
    inputs = {key for direction in directions for key in family.tensors(direction)}
    if len(problems) > before or failed:
        # What the formulas give is not known: any output may have a reference, none must.
        outputs = [name for direction in directions for name in outputs_of(family.tensors(direction))]
    else:
        outputs = [output for program in programs.values() for output in program.written]
        for output in outputs:
            if output not in entry.ref:
                problems.add(
                    (*path, "ref"),
                    f"no reference for {output!r}",
                    "an independent expression for each output",
                )
    known = {*inputs, *(a.name for a in attributes), *family.descriptor, *REFERENCE_NAMES}
    named = set(known)
    for name_of_part, text in entry.ref_let.items():
        _check_reference(text, named, (*path, "ref_let", name_of_part), problems)
        named.add(name_of_part)
    for output, text in entry.ref.items():
        if output not in outputs:
            problems.add(
                (*path, "ref", output), f"unknown output {output!r}", "outputs: " + ", ".join(outputs)
            )
        _check_reference(text, named, (*path, "ref", output), problems)
    scale = {}
    for output, magnitude in entry.scale.items():
        if output not in outputs:
            problems.add(
                (*path, "scale", output), f"unknown output {output!r}", "outputs: " + ", ".join(outputs)
            )
        expr = _scale(
            magnitude, sorted({*known, *entry.ref_let, "exact"}), monoids, (*path, "scale", output), problems
        )
        if expr is not None:
            scale[output] = expr
    holds = _resolve_holds(entry, outputs, sorted({*known, *entry.ref_let}), monoids, path, problems)
    tiles: dict[str, TileSet] = {}
    for key, tile_set in family.tiles.items():
        tiles.update(dict.fromkeys(dtypes.expand([key], ("families", family.name, "tiles", key)), tile_set))
    for dtype in expanded if family.tiles else ():
        if dtype not in tiles:
            problems.add((*path, "dtypes"), f"the family has no tiles for {dtype}", "tiles for each dtype")
    if len(problems) > before or failed:
        return None
    return Op(
        name, entry.doc, family, entry.kind or name.upper(), expanded, attributes, options,
        {key: tuple(values) for key, values in entry.samples.items()},
        programs, tuple(alternatives), dict(entry.ref_let), dict(entry.ref), ulp, scale, holds,
        source.line(path), {str(place): text for place, text in entry.names.items()}, host, tiles,
    )  # fmt: skip


def _remarks(
    block: schema.Direction, source: Source, path: Path, places: Mapping[Path, Path]
) -> dict[str, Remark]:
    """The comments of a direction and of its formulas; what heads a `let` or `row` goes to its first one."""

    def said_of(*steps: str) -> Remark:
        return source.remarks.get(places.get(steps, (*path, *steps)), Remark())

    found = {"": _heading(said_of())}
    for word, names in (("let", block.let), ("row", block.row), ("", block.outputs)):
        heading = _heading(said_of(word)) if word else Remark()
        for name in names:
            own = said_of(word, name) if word else said_of(name)
            found[name] = Remark(heading.before + own.before, own.behind)
            heading = Remark()
    return {name: remark for name, remark in found.items() if remark != Remark()}


def _heading(remark: Remark) -> Remark:
    """What is said of a block, which stands before what it holds."""
    return Remark((*remark.before, remark.behind) if remark.behind else remark.before)


def _resolve_host(
    entry: schema.Op, family: Family, options: Mapping[str, tuple[str, ...]], path: Path, problems: Problems
) -> tuple[HostFormulas, ...]:
    """What the host computes, for each choice of the options on which it depends."""
    where = (*path, "host")
    if (entry.host is None) is not (family.pairs is None):
        what = "values of pairs that the host computes belong to families of pairs"
        problems.add(where if entry.host else path, what, "host: {NAME: ...} in an op of such a family")
    if entry.host is None or family.pairs is None:
        return ()
    place = family.pairs.place
    for value in options.get(place, ("",)):
        if value not in PLACES:
            problems.add(
                (*path, "options"), f"{place} says where pairs lie", f"{place}: [{', '.join(PLACES)}]"
            )
    found = []
    for chosen in option_choices(entry.host, options, where, problems):
        whole, places = with_options(entry.host, chosen, where)
        formulas = HostBuilder(family, problems, where, places).build(whole, chosen)
        if formulas is None:
            break
        found.append(formulas)
    if any(formulas.scalars.keys() != found[0].scalars.keys() for formulas in found):
        problems.add(where, "another set of names for another option", "the same names for every value")
    return tuple(found)


def _scale(
    text: object, known: list[str], monoids: Mapping[str, Monoid], path: Path, problems: Problems
) -> Expr | None:
    expr = parse_at(text, path, problems)
    if expr is None:
        return None
    for name in free_names(expr):
        if name not in known:
            right = suggest(name, known) or "known here: " + ", ".join(known)
            problems.add(path, f"{text}: unknown name {name!r}", right)
    for name in calls(expr):
        if name not in FUNCTIONS and name not in monoids:
            hint = suggest(name, [*FUNCTIONS, *monoids]) or "docs/spec.md lists them"
            problems.add(path, f"{text}: unknown function {name!r}", hint)
    return expr


def _resolve_holds(
    entry: schema.Op,
    outputs: list[str],
    known: list[str],
    monoids: Mapping[str, Monoid],
    path: Path,
    problems: Problems,
) -> dict[str, Expr]:
    """Where the bound of an output holds, for those outputs where it does not everywhere."""
    where = (*path, "holds")
    if not isinstance(entry.holds, dict):
        expr = None if entry.holds is None else _scale(entry.holds, known, monoids, where, problems)
        return {} if expr is None else dict.fromkeys(outputs, expr)
    found = {}
    for output, text in entry.holds.items():
        if output not in outputs:
            problems.add((*where, output), f"unknown output {output!r}", "outputs: " + ", ".join(outputs))
        expr = _scale(text, known, monoids, (*where, output), problems)
        if expr is not None:
            found[output] = expr
    return found


def _check_reference(text: str, known: set[str], path: Path, problems: Problems) -> None:
    try:
        check_reference(text, known)
    except FormulaError as error:
        problems.add(path, f"{text}: {error}")


def _resolve_attribute(
    name: str, entry: schema.Attribute, family: Family, path: Path, problems: Problems
) -> Attribute | None:
    field = family.descriptor.get(entry.from_)
    if field is None or field.type not in ("f64", "i64", "bool"):
        problems.add(
            (*path, "from"), f"{entry.from_!r} is no number of the descriptor", numbers_of(family.descriptor)
        )
        return None
    if name in family.forward or name in family.backward or (family.axes and name in (EXTENT, INDEX)):
        problems.add(path, f"{name!r} is already a name here", "another name")
    require = None
    if entry.require is not None:
        require = condition(entry.require, family.descriptor, (*path, "require"), problems)
    if field.default == OF_KIND and entry.default is None:
        what = f"is missing: {entry.from_!r} has `default: {OF_KIND}`, a number for each op"
        problems.add((*path, "default"), what, "default: a number")
        return None
    if field.default != OF_KIND and entry.default is not None:
        what = f"belongs to fields with `default: {OF_KIND}`, which {entry.from_!r} is not"
        problems.add((*path, "default"), what, "leave it out, or change the field")
        return None
    if entry.wide and (field.type != "f64" or family.template != MAPS):
        problems.add((*path, "wide"), f"belongs to f64 of the template {MAPS}", "leave it out")
    default = None if entry.default is None else float(entry.default)
    return Attribute(name, entry.from_, require, default, entry.wide)
