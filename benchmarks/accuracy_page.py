"""What accuracy.py found, as tables and as parts of a page of the documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from report import Report, markdown

__all__ = [
    "cells",
    "hard_cells",
    "hard_part",
    "hard_table_and_notes",
    "part",
    "table_and_notes",
    "write_part",
]

FUNCTIONS = "Every function of one number in f32, {inputs}."
GRADIENTS = """\
The gradient dx = dy f'(x) of every function of one number that has one, in f32, {inputs} x. Each x has a dy
of its own, which follows from its bit pattern: of either sign, its magnitude in [0.5, 2). Both kernels get
the same f32 x and dy."""
#: What is said of both.
INTRODUCTION = """\
- The **error** is in units in the last place (ulp) of the exact result in f32, 2^-149 for subnormals; where
  the spec gives the bound a scale, of the larger of both. The **bound** is the spec's: `baracuda-gen show OP`
  prints it. {places} the error is largest.
- An f32 result is compared with that of the f64 kernel of the same op and numbers at the same input. That
  kernel's own error, at most {wide} ulp of f64, is about {part} ulp of f32: too little to matter here. It was
  compared itself with references in longdouble and mpmath at {checked} of the inputs of each op, the worst
  ones included; **f64** is its largest error there, in ulp of f64.
- **Not nearest** is the part of the inputs whose result is not the f32 number nearest to the f64 kernel's.
- **NaN, inf** counts inputs where one side is NaN or infinite and the other is not; 0 says that all agree.
- An op with several rows was run with several of its numbers.
"""
HEAD = ("op", "numbers", "error", "bound", "x", "not nearest", "NaN, inf", "f64", "holds")
GRADIENT_HEAD = (*HEAD[:5], "dy", *HEAD[5:])

HEAD_OF_PAGE = """\
# Accuracy

What `benchmarks/accuracy.py` found; it writes this page, with `--page`, a part at a time.
"""
HARD_INTRODUCTION = """\
Every function of one number, and gates, in f64 at {asked} hard points: around numbers where functions turn,
have roots and poles, saturate, over- or underflow; at halves of what arguments are reduced by, and at the
numbers of all magnitudes that are nearest to multiples of pi / 2; at numbers of every exponent. The reference
is the spec's in mpmath with 160 bits.

- The **error** is in units in the last place (ulp) of the exact result, 2^-1074 for subnormals; where the
  spec gives the bound a scale, of the larger of both. The **bound** is the spec's. **At** is where the error
  is largest.
- **Points** are those at which the spec states a bound and the reference has a value.
- **Not nearest** is the part of these whose result is not the f64 number nearest to the exact one.
- **NaN, inf** counts points where one side is NaN or infinite and the other is not; 0 says that all agree.
- Of a gate, b is hard and a is a normal variable.
"""
HARD_HEAD = ("op", "numbers", "points", "error", "bound", "at", "not nearest", "NaN, inf", "holds")


#: Columns of a row's inputs where its error is largest: a row of gradients alone has a dy.
PLACES = ("x", "dy")


def _places(row: Mapping[str, Any]) -> list[str]:
    return ["-" if row[name] is None else f"{np.float32(row[name])!s}" for name in PLACES if name in row]


def _numbers(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={number:g}" for name, number in row["numbers"].items())


def _head(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return GRADIENT_HEAD if any("dy" in row for row in rows) else HEAD


def cells(row: Mapping[str, Any]) -> list[str]:
    """A row of the table."""
    numbers = _numbers(row)
    if "failed" in row:
        return [row["op"], numbers, *(["-"] * (len(_head([row])) - 3)), "FAILED"]
    return [
        row["op"],
        numbers,
        f"{row['error']:.3f}",
        f"{row['bound']:g}",
        *_places(row),
        f"{100 * row['not nearest'] / row['inputs']:.2f} %",
        str(row["special"]),
        f"{row['f64 error']:.3f}",
        "yes" if row["holds"] else "NO",
    ]


def notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the table cannot say: inputs for which no bound is stated."""
    found = [f"{row['op']} ({_numbers(row)}): {row['outside']} inputs" for row in rows if row.get("outside")]
    return ["Inputs for which the spec states no bound: " + "; ".join(found) + "."] if found else []


def table_and_notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The table of all rows, and what is said below it."""
    return [markdown(_head(rows), [cells(row) for row in rows]), *notes(rows)]


def hard_cells(row: Mapping[str, Any]) -> list[str]:
    """A row of the table of hard points."""
    if "failed" in row:
        return [row["op"], _numbers(row), *(["-"] * (len(HARD_HEAD) - 3)), "FAILED"]
    at = row["at"] or {}
    places = [f"{value!r}" if len(at) == 1 else f"{name}={value!r}" for name, value in at.items()]
    return [
        row["op"],
        _numbers(row),
        str(row["judged"]),
        f"{row['error']:.3f}",
        f"{row['bound']:g}",
        ", ".join(places) or "-",
        f"{100 * row['not nearest'] / max(row['judged'], 1):.2f} %",
        str(row["special"]),
        ("yes" if row["points"] == row["asked"] else "in part") if row["holds"] else "NO",
    ]


def hard_table_and_notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The table of hard points, and what was not done for want of time."""
    lacking = [
        f"{row['op']} {_numbers(row)}".rstrip() + f" ({row['points']} points)"
        for row in rows
        if "failed" not in row and row["points"] < row["asked"]
    ]
    late = [f"Not done in full, for want of time: {'; '.join(lacking)}."] if lacking else []
    return [markdown(HARD_HEAD, [hard_cells(row) for row in rows]), *late]


def _about(report: Report) -> str:
    return "; ".join(f"{key}: {value}" for key, value in report.about.items())


def hard_part(report: Report) -> str:
    """The part of the page about f64 at hard points."""
    asked = max((row["asked"] for row in report.rows), default=0)
    introduction = HARD_INTRODUCTION.format(asked=f"{asked:,}").rstrip()
    return "\n\n".join([introduction, _about(report), *hard_table_and_notes(report.rows)])


def part(report: Report, inputs: str, checked: int, *, gradients: bool = False) -> str:
    """The part of the page about f32, or about gradients in f32.

    Args:
        report: the rows and the facts.
        inputs: how many inputs each op got, in words.
        checked: at how many the f64 kernels were held against references.
        gradients: whether the rows are those of gradients.
    """
    widest = max((row.get("f64 bound", 0) for row in report.rows), default=0)
    subject = (GRADIENTS if gradients else FUNCTIONS).format(inputs=inputs)
    introduction = INTRODUCTION.format(
        places="**x** and **dy** are where" if gradients else "**x** is where",
        wide=f"{widest:g}",
        part=f"{widest * 2.0**-29:.0e}",
        checked=checked,
    )
    return "\n\n".join([subject, introduction.rstrip(), _about(report), *table_and_notes(report.rows)])


def write_part(page: Path, title: str, text: str) -> None:
    """Write a part of the page, whose other parts stay; a page that is not there is begun."""
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    parts = {found[0]: found[1] for found in re.findall(r"^## (.*)\n\n((?:(?!## ).*\n)*)", old, re.MULTILINE)}
    parts[title] = text + "\n"
    body = [f"## {name}\n\n{value.strip()}\n" for name, value in sorted(parts.items())]
    page.write_text("\n".join([HEAD_OF_PAGE, *body]), encoding="utf-8")
