"""The tables of docs/performance.md for maps, from elementwise.json of a run of elementwise.py.

One layout: a row an op, its directions and dtypes side by side, as baracuda / eager PyTorch. Several: a row
an op, direction and dtype, the layouts side by side, as baracuda / eager / torch.compile where that ran.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from report import markdown

PEERS = ("baracuda", "eager", "compile")
BACKWARD = "_backward"
#: What the JSON file calls no layout: the contiguous one.
CONTIGUOUS = "contiguous"


def layout_of(row: Mapping[str, Any]) -> str:
    """What stands behind the shape in the name of a case, such as "row-broadcast"."""
    return str(row["case"]).partition(" ")[2] or CONTIGUOUS


def stem_of(row: Mapping[str, Any]) -> str:
    """The op and its direction, such as "lerp_tensor_backward": kinds have their names twice."""
    return str(row["sku"]).partition("/")[0]


def cell(row: Mapping[str, Any] | None, peers: Sequence[str]) -> str:
    """GB/s of ours and of its peers; a dash where one did not run or failed."""
    if row is None:
        return ""
    found = [row.get(who) or {} for who in peers]
    return " / ".join(f"{one['gbps']:.0f}" if "gbps" in one else "-" for one in found)


def of_one_layout(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row an op, in the order of the file."""
    dtypes = [*dict.fromkeys(row["dtype"] for row in rows)]
    by_name = {(stem_of(row), row["dtype"]): row for row in rows}
    stems = dict.fromkeys(stem_of(row).removesuffix(BACKWARD) for row in rows)
    head = ("op", *(title for dtype in dtypes for title in (dtype, "its gradient")))
    lines = [
        (
            stem,
            *(
                cell(by_name.get((name, dtype)), PEERS[:2])
                for dtype in dtypes
                for name in (stem, stem + BACKWARD)
            ),
        )
        for stem in stems
    ]
    return markdown(head, lines)


def of_layouts(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row an op, direction and dtype."""
    layouts = [*dict.fromkeys(map(layout_of, rows))]
    peers = PEERS if any("compile" in row for row in rows) else PEERS[:2]
    by_name = {(stem_of(row), row["dtype"], layout_of(row)): row for row in rows}
    cases = dict.fromkeys((stem_of(row), row["dtype"]) for row in rows)
    lines = [
        (
            stem.replace(BACKWARD, " backward"),
            dtype,
            *(cell(by_name.get((stem, dtype, one)), peers) for one in layouts),
        )
        for stem, dtype in cases
    ]
    return markdown(("op", "dtype", *layouts), lines)


def main(arguments: list[str] | None = None) -> int:
    """Print the table of a file."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("results", type=Path, metavar="FILE", help="elementwise.json")
    rows = [row for row in json.loads(made.parse_args(arguments).results.read_text())["rows"] if "sku" in row]
    print((of_layouts if len({*map(layout_of, rows)}) > 1 else of_one_layout)(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
