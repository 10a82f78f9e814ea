"""The functions of the formula language as a table of Markdown: `docs/spec.md` holds it."""

from __future__ import annotations

from .functions import FUNCTIONS, Function


def function_table() -> str:
    """A line a function: how it is called, what it is, whether the host has it too."""
    lines = ["| function | what it is | host |", "| --- | --- | --- |"]
    lines += [f"| `{_call(f)}` | {_cell(f.doc)} | {'yes' if f.python else ''} |" for f in FUNCTIONS.values()]
    return "\n".join(lines)


#: Of functions whose descriptions name their arguments otherwise than x, y and z.
ARGUMENTS = {
    "ldexp": ("x", "exponent"),
    "clamp": ("x", "low", "high"),
    "fma": ("a", "b", "c"),
    "remainder": ("a", "b"),
    "floor_divide": ("a", "b"),
    "product_at_scale": ("x", "y", "scale", "z", "last"),
    "element_exp_product": ("x", "y", "power"),
    "element_exp_times": ("x", "power"),
    "element_bell_product": ("x", "y", "a"),
    "element_over_square": ("x", "y", "a", "b"),
}


def _call(function: Function) -> str:
    names = ARGUMENTS.get(function.name, ("x", "y", "z")[: function.least])
    return f"{function.name}({', '.join(names)}{', ...' if function.most is None else ''})"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
