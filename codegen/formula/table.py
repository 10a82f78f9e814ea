"""The functions of the formula language as a table of Markdown: `docs/spec.md` holds it."""

from __future__ import annotations

from .functions import FUNCTIONS, Function


def function_table() -> str:
    """A line a function: how it is called, what it is, whether the host has it too."""
    lines = ["| function | what it is | host |", "| --- | --- | --- |"]
    lines += [f"| `{_call(f)}` | {_cell(f.doc)} | {'yes' if f.python else ''} |" for f in FUNCTIONS.values()]
    return "\n".join(lines)


def _call(function: Function) -> str:
    names = ["x", "y", "z"][: function.least]
    if function.name == "ldexp":
        names = ["x", "exponent"]
    elif function.name == "clamp":
        names = ["x", "low", "high"]
    elif function.name in ("fma", "remainder", "floor_divide"):
        names = ["a", "b", "c"][: function.least]
    return f"{function.name}({', '.join(names)}{', ...' if function.most is None else ''})"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
