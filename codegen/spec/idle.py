"""Fields of a descriptor that nothing reads for one op: they belong to other ops, or to other options."""

from __future__ import annotations

from collections.abc import Mapping

from baracuda.codegen.formula import free_names, parse
from baracuda.codegen.spec.model import HostFormulas, Op

__all__ = ["idle_fields", "idle_with"]

#: Types of fields that an op may have no use for; shapes, extents and dtypes every op reads.
_TYPES = ("option", "f64", "i64", "bool")

Choice = tuple[tuple[str, str], ...]


def idle_fields(op: Op) -> dict[Choice, tuple[str, ...]]:
    """The fields that must stay at their defaults, by the options under which nothing reads them.

    Fields with no default of their own are none of them: a number of some kinds is None for the others.
    """
    fields = [
        name
        for name, rule in op.family.descriptor.items()
        if rule.type in _TYPES and rule.default is not None and name not in op.family.numbers_of_kinds()
    ]
    by_choice = {item.options: read_on_host(item) for item in op.host} or {(): set[str]()}
    used = _used(op, set().union(*by_choice.values()))
    found = {
        options: tuple(name for name in fields if name not in used | read)
        for options, read in by_choice.items()
    }
    return {options: names for options, names in found.items() if names}


def idle_with(
    op: Op, options: Mapping[str, object], fields: Mapping[Choice, tuple[str, ...]] | None = None
) -> tuple[str, ...]:
    """The fields of `idle_fields` for given values of the options; `fields` where those are known already."""
    return tuple(
        name
        for choice, names in (idle_fields(op) if fields is None else fields).items()
        if all(options.get(key, op.options[key][0]) == value for key, value in choice)
        for name in names
    )


def read_on_host(item: HostFormulas) -> set[str]:
    """The descriptor's numbers that the results of the host's formulas follow from, or that they restrict.

    A let that only another option's formulas need is not counted.
    """
    results = [*item.scalars.values(), *item.of_pair.values()]
    read = {name for expr in results for name in free_names(expr)}
    for name, expr in reversed([*item.lets.items(), *item.pair_lets.items()]):
        if name in read:
            read |= set(free_names(expr))
    return read | {name for rule in item.require for name in free_names(rule)}


def _used(op: Op, of_some_choice: set[str]) -> set[str]:
    """What an op reads whatever the options are."""
    family = op.family
    used = {*op.options, *(attribute.source for attribute in op.attributes)}
    used |= {name for program in op.all_programs() for rule in program.require for name in free_names(rule)}
    used |= {name for rule in family.require for name in free_names(rule)} - of_some_choice
    used |= {name for parts in family.shapes.values() for part in parts for name in free_names(part)}
    for tensor in (*family.forward.values(), *family.backward.values()):
        if tensor.given is not None:
            used |= set(free_names(parse(str(tensor.given))))
    if family.halves is not None:
        used |= {family.halves.axis, family.halves.swapped}
    if family.pairs is not None:
        used |= {family.pairs.extent, family.pairs.place}
    return used
