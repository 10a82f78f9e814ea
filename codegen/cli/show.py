"""`baracuda-gen show`."""

from __future__ import annotations

from pathlib import Path

import click

from baracuda.codegen.cli.common import spec_option, table
from baracuda.codegen.cli.list import unknown

EPILOG = """\b
Examples:
  baracuda-gen show lerp
  baracuda-gen show lerp --no-source
"""

COLUMNS = ("plan", "direction", "options", "dtype", "variant", "symbol")


@click.command(epilog=EPILOG)
@spec_option
@click.argument("op")
@click.option(
    "--source/--no-source", default=True, help="With the generated kernels (the default), or without."
)
def show(spec: Path | None, op: str, source: bool) -> None:
    """Print what the spec says of OP, the kernels it gives and their source."""
    from baracuda.codegen import describe, kernels, load_spec, render_kernels

    model = load_spec(spec)
    rows = kernels(model)
    own = [row for row in rows if row.op == op]
    if not own:
        raise unknown("op", op, sorted({row.op for row in rows}))
    click.echo(describe(model, op).rstrip())
    click.echo()
    click.echo(table(COLUMNS, [[getattr(row, column) for column in COLUMNS] for row in own]))
    if not source:
        return
    texts = render_kernels(model, [op])
    for unit in dict.fromkeys(row.unit for row in own):
        click.echo(f"\n==> {unit}")
        click.echo(texts[unit].rstrip())
