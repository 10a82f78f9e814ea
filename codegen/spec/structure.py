"""From YAML text to a `SpecFile`: keys and types. Every mistake becomes a problem with its line.

An entry (an op, a family, a monoid, a dtype set) with a mistake is left out of what comes back, with what
depends on it, so that the entries that are well formed are checked further and reported in the same run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pydantic

from baracuda.codegen.problems import Path, Problems, suggest
from baracuda.codegen.spec import schema, vocabulary
from baracuda.codegen.spec.names import check_names
from baracuda.codegen.yaml_source import Source

_IDENTIFIER = "letters, digits and _, a letter first"
# A doc becomes a comment of C++, a docstring of Python and a cell of a table.
_NOT_IN_A_DOC = re.compile(r'[\x00-\x1f\x7f-\x9f\u2028\u2029\\]|"""')


def read_structure(source: Source) -> schema.SpecFile | None:
    """The well-formed entries of a file, or None if there are none; what is wrong is in `source.problems`."""
    data, problems = source.data, source.problems
    if not isinstance(data, dict):
        if not len(problems):
            problems.add((), f"the file is {shown(data)}", "a mapping with version, families and ops")
        return None
    try:
        schema.SpecFile.model_validate(data)
    except pydantic.ValidationError as error:
        for detail in error.errors(include_url=False):
            _report(data, problems, detail)
    _check_docs(data, (), problems)
    _check_transitions(data, (), problems)
    check_names(_sound(data, problems), problems)
    return schema.SpecFile.model_validate(_sound(data, problems))


def _report(data: Mapping[str, Any], problems: Problems, detail: Any) -> None:
    """One of pydantic's errors in this file's words; only its kind and its place are taken from pydantic."""
    loc, kind = detail["loc"], detail["type"]
    path = _path_in(data, loc)
    if kind == "missing":
        model, key = vocabulary.model_at(path), str(loc[-1])
        assert model is not None
        right = vocabulary.description(model, key) or vocabulary.wanted(vocabulary.keys(model)[key])
        problems.add(path, f"the key {key!r} is missing", right)
    elif kind == "extra_forbidden":
        model = vocabulary.model_at(path[:-1])
        assert model is not None
        _unknown_key(path, vocabulary.keys(model), problems)
    elif loc[-1] == "[key]":
        known = vocabulary.key_words(vocabulary.annotation_at(path[:-1]))
        if known:
            _unknown_key(path, known, problems)
        else:
            problems.add(path, f"the key {path[-1]!r} is no identifier", _IDENTIFIER)
    elif kind == "string_pattern_mismatch":
        problems.add(path, f"{detail['input']!r} is no identifier", _IDENTIFIER)
    else:
        _wrong_value(data, path, problems)


def _unknown_key(path: Path, known: Iterable[str], problems: Problems) -> None:
    key = str(path[-1])
    problems.add(path, f"unknown key {key!r}", suggest(key, known) or "known keys: " + ", ".join(known))


def _wrong_value(data: Mapping[str, Any], path: Path, problems: Problems) -> None:
    value, want = value_at(data, path), vocabulary.annotation_at(path)
    model = vocabulary.model_at(path[:-1])
    literal = want is not None and not isinstance(value, dict | list) and "'" in vocabulary.wanted(want)
    if not literal and vocabulary.accepts_kind(want, value):
        return  # another member of a union was tried too: what is wrong lies deeper and is reported there
    if model in vocabulary.FREE_KEYS and path[-1] not in vocabulary.keys(model):
        near = suggest(str(path[-1]), vocabulary.keys(model))
        if near:
            problems.add(path, f"unknown key {path[-1]!r}", near)
            return
    problems.add(path, f"is {shown(value)}", f"want {vocabulary.wanted(want)}")


def _path_in(data: Any, loc: tuple[str | int, ...]) -> Path:
    """The part of a location that is written in the file, without the steps that only the model has."""
    path: list[str | int] = []
    here, before = data, ""
    for step in loc:
        written = f"{before} {step}" if before in vocabulary.SPOKEN_KEYS.values() else step
        if isinstance(here, dict):
            found = next((key for key in here if key == written or " ".join(key.split()) == written), None)
        else:
            found = step if isinstance(here, list) and isinstance(step, int) and step < len(here) else None
        if found is not None:
            here = here[found]
            path.append(found)
        before = "" if found is not None else str(step)
    return tuple(path)


def value_at(data: Any, path: Path) -> Any:
    """What stands at a path that is in the file."""
    for step in path:
        data = data[step]
    return data


def shown(value: Any) -> str:
    """A value of the file as a message says it."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "null"
    return repr(value).lower() if isinstance(value, bool) else repr(value)


def _check_docs(value: Any, path: Path, problems: Problems) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "doc" and isinstance(inner, str):
                _check_doc(inner, (*path, key), problems)
            else:
                _check_docs(inner, (*path, key), problems)


def _check_doc(text: str, path: Path, problems: Problems) -> None:
    # YAML's block style ends with a line break.
    text = text.strip()
    found = _NOT_IN_A_DOC.search(text)
    if not text:
        problems.add(path, "says nothing", "a few words, without a full stop")
    elif found:
        what = "a line break" if found.group() == "\n" else repr(found.group())
        problems.add(path, f"holds {what}", "one line of text, without backslashes and control characters")


def _check_transitions(value: Any, path: Path, problems: Problems) -> None:
    """`let` holds names in a block of a monoid, any other key a formula; the model takes both for both."""
    for key, inner in _mapping(value).items():
        where = (*path, key)
        if path and vocabulary.is_transition(vocabulary.annotation_at(path)):
            if isinstance(inner, dict) is not (key == "let"):
                want = "a mapping of names to expressions" if key == "let" else "an expression"
                problems.add(where, f"is {shown(inner)}", f"want {want}")
        else:
            _check_transitions(inner, where, problems)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _sound(data: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """The file without what is wrong, and without what depends on it."""

    def sound(section: str) -> dict[str, Any]:
        entries = _mapping(data.get(section))
        return {name: entry for name, entry in entries.items() if not problems.inside((section, name))}

    families, monoids = sound("families"), sound("monoids")
    broken_monoids = [name for name in _mapping(data.get("monoids")) if name not in monoids]
    ops = {
        name: entry
        for name, entry in sound("ops").items()
        if (entry["family"] in families or entry["family"] not in _mapping(data.get("families")))
        and not mentions(entry, broken_monoids)
    }
    # A broken set stays as an empty one, so that its name is known.
    dtypes = {name: [] for name in _mapping(data.get("dtypes"))} | sound("dtypes")
    extends = data.get("extends")
    if problems.inside(("extends",)):
        extends, ops = None, {}  # what they may use is not known
    sections = {"dtypes": dtypes, "monoids": monoids, "families": families, "ops": ops}
    return {"version": 1, "extends": extends, **sections}


def mentions(entry: Any, names: Iterable[str]) -> bool:
    """Whether a text of an entry calls one of these names."""
    if isinstance(entry, dict):
        return any(mentions(value, names) for value in entry.values())
    return isinstance(entry, str) and any(re.search(rf"\b{re.escape(name)}\s*\(", entry) for name in names)
