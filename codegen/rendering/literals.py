"""Values as Python text, as the formatter writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence


def plain_tuple(items: Sequence[str]) -> str:
    """A tuple as Python text."""
    return f"({items[0]},)" if len(items) == 1 else "(" + ", ".join(items) + ")"


def tuple_of_names(names: Sequence[str]) -> str:
    """A tuple of strings."""
    return plain_tuple([f'"{name}"' for name in names])


def set_of_names(names: Sequence[str]) -> str:
    """A set of strings; no text where there are none."""
    return "{" + ", ".join(f'"{name}"' for name in names) + "}" if names else ""


def plain_dict(values: Mapping[str, float | None]) -> str:
    """A mapping of numbers as Python text."""
    shown = {name: repr(value).replace("inf", "math.inf") for name, value in values.items()}
    return "{" + ", ".join(f'"{name}": {value}' for name, value in shown.items()) + "}"


def literal(value: str | int | float | bool | None) -> str | None:
    """A default as Python text, None where there is none."""
    if value is None:
        return None
    return json.dumps(value) if isinstance(value, str) else repr(value)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
