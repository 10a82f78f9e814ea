"""What the schema's annotations say: which keys stand where, which value is wanted at a path, and its words.

The error messages and the JSON Schema both come from here, so they depend on no pydantic version.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

import pydantic

from baracuda.codegen.problems import Path
from baracuda.codegen.spec import schema

Model = type[pydantic.BaseModel]

#: Models whose unknown keys belong to one of their fields: an output is written beside `let`.
FREE_KEYS: dict[Model, str] = {schema.Direction: "outputs"}

#: Fields whose name and key are written as one key: `by ties: ...` is what `by` holds for ties.
SPOKEN_KEYS: dict[Model, str] = {schema.Direction: "by"}

_SCALARS: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


@functools.cache
def keys(model: Model) -> Mapping[str, Any]:
    """The keys of a model as the file writes them, each with its annotation."""
    hints = _hints(model)
    unwritten = (FREE_KEYS.get(model), SPOKEN_KEYS.get(model))
    return {
        info.alias or name: hints[name] for name, info in model.model_fields.items() if name not in unwritten
    }


@functools.cache
def _hints(model: Model) -> Mapping[str, Any]:
    return typing.get_type_hints(model, include_extras=True)


def description(model: Model, key: str) -> str | None:
    """What the schema says of a key, None where it says nothing."""
    for name, info in model.model_fields.items():
        if key == (info.alias or name):
            return info.description
    return None


def free_value(model: Model) -> Any:
    """The annotation of what stands at a key that is none of the model's words; None without such keys."""
    free = FREE_KEYS.get(model)
    return None if free is None else dict_value(_hints(model)[free])


def spoken_value(model: Model) -> Any:
    """The annotation of what stands at a key such as `by ties`; None if there are no such keys."""
    spoken = SPOKEN_KEYS.get(model)
    return None if spoken is None else dict_value(_hints(model)[spoken])


def dict_value(annotation: Any) -> Any:
    """The annotation of a dict's values."""
    return typing.get_args(bare(annotation))[1]


def key_words(annotation: Any) -> tuple[str, ...]:
    """The keys that a dict's annotation lists, () where any name will do."""
    for option in options(annotation):
        arguments = typing.get_args(bare(option))
        if typing.get_origin(bare(option)) is dict and typing.get_origin(arguments[0]) is typing.Literal:
            return typing.get_args(arguments[0])
    return ()


def bare(annotation: Any) -> Any:
    """An annotation without its metadata."""
    return typing.get_args(annotation)[0] if typing.get_origin(annotation) is typing.Annotated else annotation


def options(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, the annotation itself where it is none."""
    plain = bare(annotation)
    if typing.get_origin(plain) in (typing.Union, types.UnionType):
        return tuple(typing.get_args(plain))
    return (annotation,)


def is_model(annotation: Any) -> bool:
    """Whether an annotation is one of the schema's models."""
    return isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel)


def is_expression(annotation: Any) -> bool:
    """Whether an annotation takes an expression: text, or a number that stands alone."""
    return {*options(annotation)} == {str, int, float}


def is_transition(annotation: Any) -> bool:
    """Whether an annotation is a block of a monoid: formulas by field, and `let` with a mapping."""
    if annotation is None or typing.get_origin(bare(annotation)) is not dict:
        return False
    return len(options(dict_value(annotation))) > 1 and any(
        typing.get_origin(bare(option)) is dict for option in options(dict_value(annotation))
    )


def annotation_at(path: Path, root: Any = schema.SpecFile) -> Any:
    """The annotation of what stands at a path, None where nothing is known of it."""
    here = root
    for step in path:
        here = next((found for option in options(here) if (found := _below(option, step)) is not None), None)
        if here is None:
            return None
    return here


def _below(annotation: Any, step: str | int) -> Any:
    plain = bare(annotation)
    if is_model(plain):
        if step in keys(plain):
            return keys(plain)[str(step)]
        spoken = SPOKEN_KEYS.get(plain)
        return spoken_value(plain) if spoken and str(step).startswith(f"{spoken} ") else free_value(plain)
    arguments = typing.get_args(plain)
    if typing.get_origin(plain) is dict:
        return arguments[1]
    if typing.get_origin(plain) is list and isinstance(step, int):
        return arguments[0]
    return None


def model_at(path: Path) -> Model | None:
    """The model of the mapping at a path, if it has one."""
    found = annotation_at(path)
    return next((option for option in options(found) if is_model(option)), None)


def wanted(annotation: Any) -> str:
    """What an annotation takes, in words."""
    if is_expression(annotation):
        return "an expression"
    members = [member for member in options(annotation) if member is not type(None)]
    if len(members) > 1:
        return joined([wanted(member) for member in members if member is not int or float not in members])
    if members[0] is not annotation:
        return wanted(members[0])
    plain = bare(annotation)
    if is_model(plain):
        free = free_value(plain)
        if free is not None:
            return f"a mapping with {wanted(free)} for each of its {FREE_KEYS[plain]}"
        return "a mapping with " + ", ".join(keys(plain))
    origin, arguments = typing.get_origin(plain), typing.get_args(plain)
    if origin is typing.Literal:
        return joined([repr(value) for value in arguments])
    if origin is list:
        return "a list of " + plural(wanted(arguments[0]))
    if origin is dict:
        return "a mapping of names to " + (
            "mappings" if is_model(arguments[1]) else plural(wanted(arguments[1]))
        )
    return _SCALARS[plain]


def joined(words: Iterable[str]) -> str:
    """`a, b or c`."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def plural(words: str) -> str:
    """`an expression` as `expressions`; text stays as it is."""
    for article in ("an ", "a "):
        if words.startswith(article):
            noun, space, rest = words.removeprefix(article).partition(" ")
            return f"{noun}s{space}{rest}"
    return words


def accepts_kind(annotation: Any, value: Any) -> bool:
    """Whether a value is of a kind that the annotation takes, whatever is inside it."""
    for option in options(annotation):
        plain = bare(option)
        origin = typing.get_origin(plain)
        if isinstance(value, dict):
            fits = is_model(plain) or origin is dict
        elif isinstance(value, list):
            fits = origin is list
        else:
            fits = type(value) is plain or (plain is float and type(value) is int)
        if fits:
            return True
    return False
