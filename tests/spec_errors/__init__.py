"""Broken specs and what the loader says of them: data for test_spec_errors.py.

A case is the small spec with something replaced, or a text of its own. What is expected is the whole text:
for each problem, in the order of the file, a piece of the line that it must name, and the message that stands
behind `ops.yaml:LINE: `.
"""

from __future__ import annotations

from spec_errors import (
    attention,
    dtypes,
    extends,
    families,
    formulas,
    halves,
    keys,
    many,
    monoids,
    names,
    ops,
    pairs,
    rows,
    yaml_text,
)
from spec_errors.case import Case
from spec_errors.extends import BASE

__all__ = ["BASE", "CASES", "Case"]

CASES: list[Case] = [
    *yaml_text.CASES,
    *keys.CASES,
    *names.CASES,
    *dtypes.CASES,
    *families.CASES,
    *monoids.CASES,
    *ops.CASES,
    *formulas.CASES,
    *extends.CASES,
    *many.CASES,
    *pairs.CASES,
    *attention.CASES,
    *halves.CASES,
    *rows.CASES,
]
