"""`baracuda-gen schema`."""

from __future__ import annotations

from pathlib import Path

import click

from baracuda.codegen.cli.common import Place
from baracuda.codegen.cli.system_errors import naming

EPILOG = """\b
Examples:
  baracuda-gen schema
  baracuda-gen schema --out my_package/ops.schema.json
The first line of a spec names it for editors with a YAML language server:
  # yaml-language-server: $schema=my_package/ops.schema.json
"""


@click.command(epilog=EPILOG)
@click.option(
    "--out",
    type=Place(),
    metavar="FILE",
    help="Where to write it; by default it is printed.",
)
def schema(out: Path | None) -> None:
    """Print the JSON Schema of a spec, with which an editor completes and checks it."""
    from baracuda.codegen.json_schema import json_schema

    text = json_schema()
    if out is None:
        click.echo(text, nl=False)
        return
    with naming(out):
        out.write_bytes(text.encode())
    click.echo(f"wrote {out}")
