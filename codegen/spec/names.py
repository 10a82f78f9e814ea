"""Names: what a spec calls its things becomes identifiers of C++ and Python, and files."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Mapping
from typing import Any

from baracuda.codegen.formula import CONSTANTS, FUNCTIONS, FormulaError, check_name
from baracuda.codegen.problems import Path, Problems

#: What the templates declare where a formula's names are declared too; their other names begin with a capital
#: or with `new_`.
_KERNEL_WORDS = frozenset(
    [
        *("in", "out", "state", "of", "push", "close", "merge", "value", "finish", "map", "baracuda", "i64"),
        *("row", "row_in", "known", "run", "values", "may_lack", "absent", "input", "columns"),
    ]
)
#: Structs that the templates have beside those of monoids.
_STRUCT_WORDS = frozenset(
    [
        "A",
        "T",
        "Formula",
        "FormulaOf",
        "Known",
        "Params",
        "Narrow",
        "Wide",
        "Contig",
        "Strided",
        "Strided64",
        "Sums",
    ]
)
#: What a generated descriptor has beside its fields, and a generated plan's call beside its tensors.
_DESCRIPTOR_WORDS = frozenset(["kind", "RULES", "DEFAULTS", "MASKS", "NUMBERS", "check", "self"])
_ARGUMENT_WORDS = frozenset(["stream", "workspace", "self"])
#: What the plans' package holds beside the categories' modules.
_MODULE_WORDS = frozenset(["kinds", "__init__"])

_ANOTHER = "another name"


def struct_name(monoid: str) -> str:
    """The name of a monoid's C++ struct: `log_sum` gives `LogSum`."""
    return "".join(part.capitalize() for part in monoid.split("_"))


def category_folder(category: str) -> str:
    """`BinaryElementwise` as `binary_elementwise`: the name of its module and of its kernels' folder."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in category).lstrip("_")


def check_names(data: Mapping[str, Any], problems: Problems) -> None:
    """Report the names of a well-formed file that would not survive in what is generated."""
    for path in _variables(data):
        name = str(path[-1])
        if name[0].isupper():
            problems.add(path, f"{name!r} begins with a capital", f"write {name[0].lower()}{name[1:]}")
        elif name.startswith("new_"):
            problems.add(path, f"{name!r} begins with new_, as the names of the templates do", _ANOTHER)
        else:
            _check(path, name, problems, _KERNEL_WORDS, "means something in every kernel")
    for name, family in data.get("families", {}).items():
        _check_family(("families", name), family, problems)
    _check_monoids(data.get("monoids", {}), problems)
    _check_families(data.get("families", {}), problems)
    for name, op in data.get("ops", {}).items():
        if "kind" in op:
            _check_kind(("ops", name, "kind"), op["kind"], problems)


def _variables(data: Mapping[str, Any]) -> Iterator[Path]:
    """Where names of variables of a kernel are given."""
    for name, monoid in data.get("monoids", {}).items():
        yield from _named(("monoids", name), monoid)
    for name, family in data.get("families", {}).items():
        for direction in ("forward", "backward"):
            for key in family.get(direction) or ():
                yield ("families", name, direction, key)
    for name, op in data.get("ops", {}).items():
        yield from (("ops", name, "attrs", key) for key in op.get("attrs") or ())
        for block in ("host", "forward", "backward"):
            yield from _named(("ops", name, block), op.get(block) or {})


def _named(path: Path, block: Mapping[str, Any]) -> Iterator[Path]:
    """The names in a block of formulas and in the blocks inside it."""
    for key, value in block.items():
        if isinstance(value, Mapping):
            if key in ("state", "let", "row", "constants"):
                yield from ((*path, key, name) for name in value)
            else:
                yield from _named((*path, key), value)


def _check(path: Path, name: str, problems: Problems, words: frozenset[str], what: str) -> None:
    if name in CONSTANTS:
        problems.add(path, f"{name!r} is a constant", _ANOTHER)
    elif keyword.iskeyword(name):
        problems.add(path, f"{name!r} is a word of Python", _ANOTHER)
    elif name in words:
        problems.add(path, f"{name!r} {what}", _ANOTHER)
    else:
        try:
            check_name(name)
        except FormulaError as error:
            problems.add(path, error.message.partition(":")[0], _ANOTHER)


def _check_family(path: Path, family: Mapping[str, Any], problems: Problems) -> None:
    for key in family["descriptor"]:
        what = "is there already in every descriptor"
        _check((*path, "descriptor", key), key, problems, _DESCRIPTOR_WORDS, what)
    for direction in ("forward", "backward"):
        for key in family.get(direction) or ():
            if key in _ARGUMENT_WORDS:
                what = f"{key!r} is an argument of every plan"
                problems.add((*path, direction, key), what, _ANOTHER)
    folder = category_folder(family["category"])
    if keyword.iskeyword(folder) or folder in _MODULE_WORDS:
        problems.add((*path, "category"), f"{folder}.py cannot be a module of plans", _ANOTHER)
    if keyword.iskeyword(family["kind"]):
        problems.add((*path, "kind"), f"{family['kind']!r} is a word of Python", _ANOTHER)


def _check_families(families: Mapping[str, Any], problems: Problems) -> None:
    plans: dict[str, str] = {}
    folders: dict[str, str] = {}
    for name, family in families.items():
        stem = family["plan"].removesuffix("Backward").lower()
        other = plans.setdefault(stem, name)
        if other != name:
            what = f"the classes of {family['plan']!r} collide with those of the family {other!r}"
            problems.add(("families", name, "plan"), what, "names that differ by more than case and Backward")
        category = family["category"]
        first = folders.setdefault(category_folder(category).lower(), category)
        if first != category:
            what = f"{category!r} and {first!r} would share the module {category_folder(first)}.py"
            problems.add(("families", name, "category"), what, f"write {first}, or another name")


def _check_monoids(monoids: Mapping[str, Any], problems: Problems) -> None:
    structs: dict[str, str] = {}
    for name in monoids:
        struct = struct_name(name)
        other = structs.setdefault(struct.lower(), name)
        if other != name:
            problems.add(("monoids", name), f"its struct {struct} collides with that of {other!r}", _ANOTHER)
        elif name in FUNCTIONS:
            problems.add(("monoids", name), f"{name!r} is a function of formulas", _ANOTHER)
        elif struct in _STRUCT_WORDS:
            problems.add(("monoids", name), f"its struct {struct} means something in every kernel", _ANOTHER)


def _check_kind(path: Path, kind: str, problems: Problems) -> None:
    if kind != kind.upper():
        problems.add(path, f"{kind!r} is not in capitals", f"write {kind.upper()}")
