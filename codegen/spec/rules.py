"""Rules: what the host checks and computes from a descriptor's fields. Conditions and shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from baracuda.codegen.formula import (
    BOOL,
    F64,
    FUNCTIONS,
    INT,
    Boolean,
    Call,
    Expr,
    FormulaError,
    Name,
    Type,
    free_names,
    infer,
    parse,
    rewrite,
    to_python,
    to_text,
    walk,
)
from baracuda.codegen.problems import Path, Problems, suggest
from baracuda.codegen.spec import schema

Fields = Mapping[str, schema.DescriptorField]


@dataclass(frozen=True)
class ShapeFunction:
    """A function of shape rules: the types of the fields that it takes, and whether it gives a shape.

    `wants` says what a condition asks for, `gives` what a shape is, with the fields' names in the braces.
    """

    takes: tuple[str, ...]
    gives_shape: bool
    wants: str = ""
    gives: str = ""

    def usage(self, name: str) -> str:
        """How it is called."""
        return f"{name}({', '.join(self.takes)})"


#: Functions of shape rules, all of `baracuda.shapes`.
SHAPE_FUNCTIONS = {
    "keepdim": ShapeFunction(("shape", "axes"), gives_shape=True),
    "extents": ShapeFunction(("shape", "axes"), gives_shape=True, gives="the extents of {0} along {1}"),
    "doubled": ShapeFunction(
        ("shape", "axes"), gives_shape=True, gives="{0} with twice the extent along {1}"
    ),
    "flat": ShapeFunction(
        ("shape", "axes"), gives_shape=True, gives="the number of elements of {0} along {1}"
    ),
    "broadcasts": ShapeFunction(("shape", "shape"), gives_shape=False, wants="{0} that broadcasts to {1}"),
    "reduces_elements": ShapeFunction(
        ("shape", "axes"), gives_shape=False, wants="an element of {0} to reduce for every result"
    ),
    "is_suffix": ShapeFunction(
        ("shape", "axes"), gives_shape=False, wants="the last axes of {0}, one at least, in {1}"
    ),
    "at_most_one": ShapeFunction(("axes",), gives_shape=False, wants="one axis, or (): none"),
    "is_even": ShapeFunction(("extent",), gives_shape=False, wants="an even {0}"),
    "divides": ShapeFunction(("extent", "extent"), gives_shape=False, wants="a {0} that divides {1}"),
}

_NUMBERS: dict[str, Type] = {"f64": F64, "i64": INT, "extent": INT, "bool": BOOL}


def parse_at(text: object, path: Path, problems: Problems) -> Expr | None:
    """The parsed formula, or None with the reason noted."""
    try:
        return parse(str(text))
    except FormulaError as error:
        problems.add(path, f"{text}: {error}")
        return None


def condition(text: object, fields: Fields, path: Path, problems: Problems) -> Expr | None:
    """A condition over a descriptor's fields that the host checks, or None with every reason noted."""
    expr = parse_at(text, path, problems)
    if expr is None:
        return None
    before = len(problems)
    _check_calls(text, expr, fields, path, problems)
    if len(problems) > before:
        return None
    numbers = {key: _NUMBERS[field.type] for key, field in fields.items() if field.type in _NUMBERS}
    # What the shape functions take is checked; to the rest of the formula they are conditions.
    plain = rewrite(expr, lambda node: Boolean(True) if _calls(node, gives_shape=False) else node)
    shapes = [key for key in free_names(plain) if key in fields and key not in numbers]
    if shapes:
        problems.add(path, f"{text}: {shapes[0]!r} is no number", f"in a call: {_usages(gives_shape=False)}")
        return None
    try:
        infer(plain, numbers, BOOL)
        to_python(expr, {key: key for key in fields}, {key: key for key in SHAPE_FUNCTIONS})
    except FormulaError as error:
        problems.add(path, f"{text}: {error}")
        return None
    return expr


def wanted(rule: Expr) -> str:
    """What a condition asks for, in words where it is a call of a shape function."""
    if isinstance(rule, Call) and rule.name in SHAPE_FUNCTIONS:
        return SHAPE_FUNCTIONS[rule.name].wants.format(*(to_text(arg) for arg in rule.args))
    return to_text(rule)


def check_shape(text: str, fields: Fields, path: Path, problems: Problems) -> None:
    """A tensor's shape: a field of type shape, or a call that gives one."""
    expr = parse_at(text, path, problems)
    if expr is None:
        return
    before = len(problems)
    _check_calls(text, expr, fields, path, problems)
    if len(problems) > before:
        return
    if isinstance(expr, Name):
        if fields[expr.name].type != "shape":
            problems.add(
                path, f"{text}: {expr.name!r} is no field of type shape", fields_of_type("shape", fields)
            )
    elif not _calls(expr, gives_shape=True):
        problems.add(path, f"{text}: is no shape", f"a field of type shape, or {_usages(gives_shape=True)}")


def fields_of_type(type_: str, fields: Fields) -> str:
    """The fields of a type, as a message offers them."""
    known = [key for key, field in fields.items() if field.type == type_]
    return "one of " + ", ".join(known) if known else f"the descriptor has none: add one of type {type_}"


def numbers_of(fields: Fields) -> str:
    """The fields that hold a number, as a message offers them."""
    known = [key for key, field in fields.items() if field.type in ("f64", "i64", "bool")]
    return "one of " + ", ".join(known) if known else "the descriptor has none: add one of type f64 or i64"


def _calls(node: Expr, gives_shape: bool) -> bool:
    """Whether a node calls a shape function that gives a shape, or one that gives a condition."""
    return (
        isinstance(node, Call)
        and node.name in SHAPE_FUNCTIONS
        and SHAPE_FUNCTIONS[node.name].gives_shape is gives_shape
    )


def _usages(gives_shape: bool) -> str:
    return " or ".join(f.usage(name) for name, f in SHAPE_FUNCTIONS.items() if f.gives_shape is gives_shape)


def _check_calls(text: object, expr: Expr, fields: Fields, path: Path, problems: Problems) -> None:
    """Every name of a rule is a field, and every shape function gets fields of the right types."""
    for name in free_names(expr):
        if name not in fields:
            right = suggest(name, fields) or "fields: " + ", ".join(fields)
            problems.add(path, f"{text}: unknown name {name!r}", right)
            return
    for node in walk(expr):
        if not isinstance(node, Call):
            continue
        function = SHAPE_FUNCTIONS.get(node.name)
        if function is None:
            if node.name not in FUNCTIONS:
                right = suggest(node.name, [*SHAPE_FUNCTIONS, *FUNCTIONS]) or "of shapes: " + ", ".join(
                    SHAPE_FUNCTIONS
                )
                problems.add(path, f"{text}: unknown function {node.name!r}", right)
            continue
        types = tuple(fields[arg.name].type if isinstance(arg, Name) else "number" for arg in node.args)
        if types != function.takes:
            got = ", ".join(types) or "nothing"
            problems.add(path, f"{text}: {node.name} is given {got}", function.usage(node.name))
