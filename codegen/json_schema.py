"""The JSON Schema of the spec, with which an editor completes and checks `ops.yaml`.

It is written from the models' annotations, not by pydantic, whose own schemas differ from version to version.
Draft 7, because that is what YAML language servers know best.
"""

from __future__ import annotations

import inspect
import json
import typing
from typing import Any

import pydantic
from pydantic.fields import FieldInfo

from baracuda.codegen.spec import schema, vocabulary

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


#: Annotations that have a definition of their own.
_NAMED = {"name": schema.Identifier, "expression": schema.Expression}


def json_schema() -> str:
    """The schema's text: UTF-8 JSON, two spaces of indentation, a line break at the end."""
    definitions: dict[str, Any] = {}
    for name, annotation in _NAMED.items():
        members = [vocabulary.bare(member) for member in vocabulary.options(annotation)]
        definitions[name] = _union([{"type": _SCALARS[member]} for member in members]) | _constraints(
            annotation
        )
    _reference(schema.SpecFile, definitions)
    document = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "The ops of a baracuda package",
        **definitions.pop(schema.SpecFile.__name__),
        "definitions": {name: definitions[name] for name in sorted(definitions)},
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _reference(model: vocabulary.Model, definitions: dict[str, Any]) -> dict[str, Any]:
    name = model.__name__
    if name not in definitions:
        definitions[name] = {}  # a model may hold itself
        definitions[name] = _object(model, definitions)
    return {"$ref": f"#/definitions/{name}"}


def _object(model: vocabulary.Model, definitions: dict[str, Any]) -> dict[str, Any]:
    infos = {info.alias or name: info for name, info in model.model_fields.items()}
    written = vocabulary.keys(model)
    found: dict[str, Any] = {
        "type": "object",
        "description": inspect.cleandoc(model.__doc__ or ""),
        "properties": {key: _property(infos[key], written[key], definitions) for key in written},
    }
    required = [key for key in written if infos[key].is_required()]
    if required:
        found["required"] = required
    if model in vocabulary.SPOKEN_KEYS:
        pattern = f"^{vocabulary.SPOKEN_KEYS[model]} [A-Za-z][A-Za-z0-9_]*$"
        found["patternProperties"] = {pattern: _value(vocabulary.spoken_value(model), definitions)}
    free = vocabulary.free_value(model)
    found["additionalProperties"] = False if free is None else _value(free, definitions)
    return found


def _property(info: FieldInfo, annotation: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """What stands at a key, with what an editor shows of it: its description and a telling default."""
    entry = _value(annotation, definitions)
    if isinstance(info.default, str | int | float):
        entry = {**entry, "default": info.default}
    if not info.description:
        return entry
    # Beside a $ref, draft 7 reads nothing.
    return {"description": info.description, **({"allOf": [entry]} if "$ref" in entry else entry)}


def _value(annotation: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    for name, named in _NAMED.items():
        if annotation == named:
            return {"$ref": f"#/definitions/{name}"}
    plain = vocabulary.bare(annotation)
    members = vocabulary.options(annotation)
    if len(members) > 1:
        found = _union([_value(member, definitions) for member in members])
    elif vocabulary.is_model(plain):
        return _reference(plain, definitions)
    elif typing.get_origin(plain) is typing.Literal:
        values = typing.get_args(plain)
        found = {"const": values[0]} if len(values) == 1 else {"enum": list(values)}
    elif typing.get_origin(plain) is list:
        found = {"type": "array", "items": _value(typing.get_args(plain)[0], definitions)}
    elif typing.get_origin(plain) is dict:
        key, value = typing.get_args(plain)
        names = {} if key is str else {"propertyNames": _value(key, definitions)}
        found = {"type": "object", **names, "additionalProperties": _value(value, definitions)}
    else:
        found = {"type": _SCALARS[plain]}
    return {**found, **_constraints(annotation)}


def _union(members: list[dict[str, Any]]) -> dict[str, Any]:
    """One of several: a list of types where each is no more than a type."""
    if not all(member.keys() == {"type"} and isinstance(member["type"], str) for member in members):
        return {"anyOf": members}
    types = list(dict.fromkeys(member["type"] for member in members))
    if "number" in types:
        types = [name for name in types if name != "integer"]
    return {"type": types[0] if len(types) == 1 else types}


def _constraints(annotation: Any) -> dict[str, Any]:
    """Description and restrictions of an annotation that has metadata."""
    if typing.get_origin(annotation) is not typing.Annotated:
        return {}
    found = pydantic.TypeAdapter(annotation).json_schema()
    return {
        key: found[key] for key in ("description", "pattern", "minimum", "exclusiveMinimum") if key in found
    }
