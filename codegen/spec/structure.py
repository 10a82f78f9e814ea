"""From YAML text to a `SpecFile`: keys and types. Every mistake becomes a problem with its line."""

from __future__ import annotations

from typing import Any

import pydantic

from baracuda.codegen.problems import Path, suggest
from baracuda.codegen.spec import schema
from baracuda.codegen.yaml_source import Source

# Which model holds the keys below a path; a star stands for any name.
_MODELS: dict[tuple[str, ...], type[pydantic.BaseModel]] = {
    (): schema.SpecFile,
    ("monoids", "*"): schema.Monoid,
    ("families", "*"): schema.Family,
    ("families", "*", "descriptor", "*"): schema.DescriptorField,
    ("families", "*", "forward", "*"): schema.Tensor,
    ("families", "*", "backward", "*"): schema.Tensor,
    ("ops", "*"): schema.Op,
    ("ops", "*", "attrs", "*"): schema.Attribute,
}


def read_structure(source: Source) -> schema.SpecFile | None:
    """The file as a model, or None with the reasons in `source.problems`."""
    if source.data is None:
        if not len(source.problems):
            source.problems.add((), "the file is empty", "a mapping with version, families and ops")
        return None
    try:
        return schema.SpecFile.model_validate(source.data)
    except pydantic.ValidationError as error:
        for detail in error.errors(include_url=False):
            _report(source, detail)
        return None


def _report(source: Source, detail: Any) -> None:
    path = _path_in(source.data, detail["loc"])
    kind, key = detail["type"], detail["loc"][-1] if detail["loc"] else ""
    if kind == "extra_forbidden":
        known = _keys_below(path[:-1])
        right = suggest(str(key), known) or "known keys: " + ", ".join(known)
        source.problems.add(path, f"unknown key {key!r}", right)
    elif kind == "missing":
        source.problems.add(path, f"the key {key!r} is missing", _describe(path, str(key)))
    elif kind == "literal_error":
        source.problems.add(path, f"is {detail['input']!r}", f"want {detail['ctx']['expected']}")
    elif kind == "string_pattern_mismatch":
        source.problems.add(path, f"{detail['input']!r} is no identifier", "letters, digits and _, a letter first")
    else:
        message = detail["msg"][:1].lower() + detail["msg"][1:]
        source.problems.add(path, f"is {detail['input']!r}: {message}")


def _path_in(data: Any, loc: tuple[str | int, ...]) -> Path:
    """The part of a location that is written in the file, without the steps that only the model has."""
    path: list[str | int] = []
    here = data
    for step in loc:
        if isinstance(here, dict) and step in here:
            here = here[step]
            path.append(step)
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            here = here[step]
            path.append(step)
    return tuple(path)


def _model_at(path: Path) -> type[pydantic.BaseModel] | None:
    for pattern, model in _MODELS.items():
        if len(pattern) == len(path) and all(
            want in ("*", step) for want, step in zip(pattern, path, strict=True)
        ):
            return model
    return None


def _keys_below(path: Path) -> list[str]:
    model = _model_at(path)
    return [info.alias or name for name, info in model.model_fields.items()] if model else []


def _describe(path: Path, key: str) -> str | None:
    model = _model_at(path)
    info = model.model_fields.get(key) if model else None
    return info.description if info else None
