"""Options of an op: their values, and the blocks of formulas that each adds."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from baracuda.codegen.problems import Path, Problems, suggest
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.model import Family
from baracuda.codegen.spec.rules import fields_of_type


def resolve_options(
    entry: schema.Op, family: Family, path: Path, problems: Problems
) -> dict[str, tuple[str, ...]]:
    """The options of an op and their values, the default first."""
    options = {}
    for name, values in entry.options.items():
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            problems.add((*path, "options", name), f"{twice!r} stands twice", "each value once")
        if name not in family.descriptor or family.descriptor[name].type != "option":
            right = fields_of_type("option", family.descriptor)
            problems.add((*path, "options", name), f"{name!r} is no option of the descriptor", right)
        elif values and values[0] != (default := str(family.descriptor[name].default)):
            # Only the first value's kernel is one that no option is named for.
            what = f"{values[0]!r} stands first, but the family's default is {default!r}"
            rest = (value for value in values if value != default)
            problems.add(
                (*path, "options", name), what, f"the default first: [{', '.join((default, *rest))}]"
            )
        if not values:
            problems.add((*path, "options", name), "no values", "the default first")
        else:
            options[name] = tuple(values)
    return options


def option_choices(
    block: schema.Direction,
    options: Mapping[str, tuple[str, ...]],
    path: Path,
    problems: Problems,
    always: tuple[str, ...] = (),
) -> list[tuple[tuple[str, str], ...]]:
    """Each combination of the options that a block depends on, the defaults first; none with a problem.

    `always` are options of the kernel's shape, on which every block depends.
    """
    before = len(problems)
    for name, values in block.by.items():
        if name not in options:
            right = suggest(name, options) or (
                "options: " + ", ".join(options) if options else "options: {" + name + ": [...]} in the op"
            )
            problems.add((*path, f"by {name}"), f"unknown option {name!r}", right)
            continue
        for value, extra in values.items():
            _check_addition(block, extra, (*path, f"by {name}", value), problems)
            if value not in options[name]:
                right = suggest(value, options[name]) or "values: " + ", ".join(options[name])
                problems.add((*path, f"by {name}", value), f"unknown value {value!r}", right)
        for value in options[name]:
            if value not in values:
                problems.add((*path, f"by {name}"), f"no block for {value!r}", "a block for each value")
    if len(problems) > before:
        return []
    names = tuple(dict.fromkeys((*always, *block.by)))
    choices = itertools.product(*(options[name] for name in names))
    return [tuple(zip(names, choice, strict=True)) for choice in choices]


def _check_addition(block: schema.Direction, extra: schema.Direction, path: Path, problems: Problems) -> None:
    """What an option adds is not there without it, and depends on no other option."""
    if extra.ulp:
        problems.add((*path, "ulp"), "bounds are those of a whole direction", "beside the `by`")
    if extra.packs > 1 or extra.half_packs:
        problems.add((*path, "packs"), "packs are those of a whole direction", "beside the `by`")
    for name in extra.by:
        problems.add((*path, f"by {name}"), "a `by` inside a `by`", "beside it")
    for word in ("let", "row", "takes", "outputs"):
        for name in getattr(extra, word):
            if name in getattr(block, word):
                where = (*path, name) if word == "outputs" else (*path, word, name)
                problems.add(where, f"{name!r} is given for every value already", "in one of the two places")


def with_options(
    block: schema.Direction, chosen: tuple[tuple[str, str], ...], path: Path
) -> tuple[schema.Direction, dict[Path, Path]]:
    """The block with what its options add, and where that is written."""
    places: dict[Path, Path] = {}
    for name, value in chosen:
        extra = block.by.get(name, {}).get(value)
        if extra is None:  # an option of the kernel's shape alone
            continue
        here = (*path, f"by {name}", value)
        for word in ("let", "row", "takes"):
            places |= {(word, key): (*here, word, key) for key in getattr(extra, word)}
        places |= {(key,): (*here, key) for key in extra.outputs}
        places |= {
            ("require", len(block.require) + place): (*here, "require", place)
            for place in range(len(extra.require))
        }
        block = schema.Direction.model_construct(
            require=[*block.require, *extra.require],
            let={**block.let, **extra.let},
            row={**block.row, **extra.row},
            takes={**block.takes, **extra.takes},
            by=block.by,
            ulp=block.ulp,
            packs=block.packs,
            half_packs=block.half_packs,
            outputs={**block.outputs, **extra.outputs},
        )
    return block, places
