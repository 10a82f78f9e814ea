"""`baracuda-gen list`."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from baracuda.codegen.cli.common import BadInput, spec_option, table

EPILOG = """\b
Examples:
  baracuda-gen list --dtype bf16
  baracuda-gen list --op lerp --op reduce_sum --json
"""

#: So many names are listed where none is near.
FEW = 16

COLUMNS = ("op", "family", "category", "kind", "plan", "direction", "options", "dtype", "variant", "symbol")


@click.command("list", epilog=EPILOG)
@spec_option
@click.option("--op", "ops", multiple=True, metavar="OP", help="Only this op; may be given several times.")
@click.option("--dtype", "dtypes", multiple=True, metavar="DTYPE", help="Only this dtype, such as bf16.")
@click.option(
    "--plan", "plans", multiple=True, metavar="PLAN", help="Only this plan class, such as ReducePlan."
)
@click.option("--json", "as_json", is_flag=True, help="A JSON array with one object a kernel, a line each.")
def list_(
    spec: Path | None, ops: Sequence[str], dtypes: Sequence[str], plans: Sequence[str], as_json: bool
) -> None:
    """List every kernel: each op, direction, dtype and layout variant, with its symbol."""
    from baracuda.codegen import kernels, load_spec

    rows = [as_dict(row) for row in kernels(load_spec(spec))]
    for key, wanted in (("op", ops), ("dtype", dtypes), ("plan", plans)):
        rows = keep(rows, key, wanted)
    if as_json:
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        click.echo(f"[\n{lines}\n]" if rows else "[]")
        return
    click.echo(table(COLUMNS, [[row[column] for column in COLUMNS] for row in rows]))
    click.echo(f"{len(rows)} kernels of {len({row['op'] for row in rows})} ops")


def keep(rows: list[dict[str, Any]], key: str, wanted: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows whose `key` is one of `wanted`, all where that is empty; raise for an unknown name."""
    if not wanted:
        return rows
    known = sorted({str(row[key]) for row in rows})
    for name in wanted:
        if name not in known:
            raise unknown(key, name, known)
    return [row for row in rows if row[key] in wanted]


def unknown(key: str, name: str, known: Sequence[str]) -> BadInput:
    """Return the failure for a name that is not there, with those that are near, else what there is."""
    import difflib

    lower = {other.lower(): other for other in known}
    close = [lower[other] for other in difflib.get_close_matches(name.lower(), lower, n=1)]
    # `sum` for reduce_sum: a part of the name, as whole words.
    parts = [other for other in known if name and name.lower() in re.split("[_.]", other.lower())]
    same = [lower[name.lower()]] if name.lower() in lower else []
    meant = same or parts[:8] or close
    if meant:
        return BadInput(f"no {key} {name!r} here; did you mean {', '.join(meant)}?")
    few = f"there are {', '.join(known)}" if known else "the spec has none"
    return BadInput(
        f"no {key} {name!r} here; {few if len(known) <= FEW else '`baracuda-gen list` shows all'}"
    )


def as_dict(row: Any) -> dict[str, Any]:
    """Return a kernel row's fields; enums as their value."""
    return {
        field.name: getattr(value, "value", value)
        for field in dataclasses.fields(row)
        for value in [getattr(row, field.name)]
    }
