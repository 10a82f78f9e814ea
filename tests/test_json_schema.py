"""The JSON Schema of the spec agrees with the loader on which keys there are and what stands at them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pydantic
import pytest
from cli_runner import run
from small_spec import SMALL_SPEC
from spec_errors import CASES

from baracuda.codegen.json_schema import json_schema
from baracuda.codegen.spec import schema, vocabulary
from baracuda.codegen.yaml_source import parse_yaml

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = json.loads(json_schema())
TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
ANNOTATIONS = {"$schema", "title", "description", "default", "definitions"}


def accepts(rule: Any, value: Any) -> bool:
    """Whether a value fits a schema of draft 7, of which only the words below are known."""
    if isinstance(rule, bool):
        return rule
    return all(word in ANNOTATIONS or CHECKS[word](rule, argument, value) for word, argument in rule.items())


def fits_type(names: Any, value: Any) -> bool:
    names = [names] if isinstance(names, str) else names
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, TYPES[name]) for name in names)


def additional(rule: Any, others: Any, value: Any) -> bool:
    patterns = rule.get("patternProperties", {})
    return not isinstance(value, dict) or all(
        accepts(others, item)
        for key, item in value.items()
        if key not in rule.get("properties", {}) and not any(re.search(pattern, key) for pattern in patterns)
    )


def of_keys(rules: dict[str, Any], value: Any) -> bool:
    return not isinstance(value, dict) or all(
        accepts(rules[key], item) for key, item in value.items() if key in rules
    )


def of_patterns(rules: dict[str, Any], value: Any) -> bool:
    return not isinstance(value, dict) or all(
        accepts(rule, item)
        for pattern, rule in rules.items()
        for key, item in value.items()
        if re.search(pattern, key)
    )


CHECKS: dict[str, Any] = {
    "$ref": lambda _, name, value: accepts(SCHEMA["definitions"][name.removeprefix("#/definitions/")], value),
    "allOf": lambda _, rules, value: all(accepts(rule, value) for rule in rules),
    "anyOf": lambda _, rules, value: any(accepts(rule, value) for rule in rules),
    "const": lambda _, wanted, value: type(value) is type(wanted) and value == wanted,
    "enum": lambda _, wanted, value: value in wanted,
    "type": lambda _, names, value: fits_type(names, value),
    "pattern": lambda _, pattern, value: not isinstance(value, str) or re.search(pattern, value) is not None,
    "items": lambda _, rule, value: not isinstance(value, list) or all(accepts(rule, item) for item in value),
    "required": lambda _, names, value: not isinstance(value, dict) or all(name in value for name in names),
    "propertyNames": lambda _, rule, value: (
        not isinstance(value, dict) or all(accepts(rule, k) for k in value)
    ),
    "properties": lambda _, rules, value: of_keys(rules, value),
    "patternProperties": lambda _, rules, value: of_patterns(rules, value),
    "additionalProperties": additional,
}


def walk(rule: Any) -> list[dict[str, Any]]:
    if isinstance(rule, list):
        return [found for item in rule for found in walk(item)]
    if not isinstance(rule, dict):
        return []
    return [rule, *(found for value in rule.values() for found in walk(value))]


def loads(data: Any) -> bool:
    try:
        schema.SpecFile.model_validate(data)
    except pydantic.ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    "text", [SMALL_SPEC, (ROOT / "ops.yaml").read_text(encoding="utf-8")], ids=["small", "ops"]
)
def test_a_valid_spec_fits(text: str) -> None:
    assert accepts(SCHEMA, parse_yaml(text, "ops.yaml", trusted=True).data)


def test_schema_and_loader_agree_on_keys_and_types() -> None:
    # One test of all cases: parsing them takes seconds, which every process would spend on their names.
    parsed = {case.name: parse_yaml(case.text(), "ops.yaml", trusted=True).data for case in CASES}
    verdicts = {name: loads(data) for name, data in parsed.items() if data is not None}
    assert [name for name, verdict in verdicts.items() if accepts(SCHEMA, parsed[name]) != verdict] == []
    assert [*verdicts.values()].count(True) > 50
    assert [*verdicts.values()].count(False) > 25


def test_every_key_is_there_and_none_besides() -> None:
    for name, definition in {**SCHEMA["definitions"], "SpecFile": SCHEMA}.items():
        model = getattr(schema, name, None)
        if model is not None:
            assert list(definition["properties"]) == list(vocabulary.keys(model)), name
            assert definition["description"], name


def test_references_and_patterns_are_sound() -> None:
    for rule in walk(SCHEMA):
        if isinstance(rule.get("$ref"), str):
            assert rule["$ref"].removeprefix("#/definitions/") in SCHEMA["definitions"]
            assert set(rule) == {"$ref"}, "draft 7 reads nothing beside a $ref"
        for pattern in [rule.get("pattern"), *rule.get("patternProperties", {})]:
            if isinstance(pattern, str):
                re.compile(pattern)


def test_the_command_prints_and_writes_it(tmp_path: Path) -> None:
    assert run("schema").stdout == json_schema()
    path = tmp_path / "ops.schema.json"
    assert run("schema", "--out", path).exit_code == 0
    assert path.read_bytes() == json_schema().encode()
