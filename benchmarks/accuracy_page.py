"""What accuracy.py found, as a table and as a page of the documentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from report import Report, markdown

__all__ = ["cells", "page", "table_and_notes"]

INTRODUCTION = """\
What `benchmarks/accuracy.py` found; it writes this page. Every function of one number in f32, {inputs}.

- The **error** is in units in the last place (ulp) of the exact result in f32, 2^-149 for subnormals; where
  the spec gives the bound a scale, of the larger of both. The **bound** is the spec's: `baracuda-gen show OP`
  prints it. **x** is where the error is largest.
- An f32 result is compared with that of the f64 kernel of the same op and numbers at the same input. That
  kernel's own error, at most {wide} ulp of f64, is about {part} ulp of f32: too little to matter here. It was
  compared itself with references in longdouble and mpmath at {checked} of the inputs of each op, the worst
  ones included; **f64** is its largest error there, in ulp of f64.
- **Not nearest** is the part of the inputs whose result is not the f32 number nearest to the f64 kernel's.
- **NaN, inf** counts inputs where one side is NaN or infinite and the other is not; 0 says that all agree.
- An op with several rows was run with several of its numbers.
"""
HEAD = ("op", "numbers", "error", "bound", "x", "not nearest", "NaN, inf", "f64", "holds")


def cells(row: Mapping[str, Any]) -> list[str]:
    """A row of the table."""
    numbers = ", ".join(f"{name}={number:g}" for name, number in row["numbers"].items())
    if "failed" in row:
        return [row["op"], numbers, *(["-"] * (len(HEAD) - 3)), "FAILED"]
    return [
        row["op"],
        numbers,
        f"{row['error']:.3f}",
        f"{row['bound']:g}",
        "-" if row["x"] is None else f"{np.float32(row['x'])!s}",
        f"{100 * row['not nearest'] / row['inputs']:.2f} %",
        str(row["special"]),
        f"{row['f64 error']:.3f}",
        "yes" if row["holds"] else "NO",
    ]


def notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the table cannot say: inputs for which no bound is stated."""
    found = [
        f"{row['op']} ({', '.join(f'{name}={number:g}' for name, number in row['numbers'].items())}): "
        f"{row['outside']} inputs"
        for row in rows
        if row.get("outside")
    ]
    return ["Inputs for which the spec states no bound: " + "; ".join(found) + "."] if found else []


def table_and_notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The table of all rows, and what is said below it."""
    return [markdown(HEAD, [cells(row) for row in rows]), *notes(rows)]


def page(report: Report, inputs: str, checked: int) -> str:
    """The page of the documentation.

    Args:
        report: the rows and the facts.
        inputs: how many inputs each op got, in words.
        checked: at how many the f64 kernels were held against references.
    """
    widest = max((row.get("f64 bound", 0) for row in report.rows), default=0)
    introduction = INTRODUCTION.format(
        inputs=inputs,
        wide=f"{widest:g}",
        part=f"{widest * 2.0**-29:.0e}",
        checked=checked,
    )
    about = "; ".join(f"{key}: {value}" for key, value in report.about.items())
    return (
        "\n\n".join(["# Accuracy in f32", introduction.rstrip(), about, *table_and_notes(report.rows)]) + "\n"
    )
