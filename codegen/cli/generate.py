"""`baracuda-gen generate`."""

from __future__ import annotations

from pathlib import Path

import click

from baracuda.codegen.cli.common import out_option, output_folder, spec_option
from baracuda.codegen.cli.package_name import check_package_name
from baracuda.codegen.cli.system_errors import naming

EPILOG = """\b
Examples:
  baracuda-gen generate
  baracuda-gen generate --spec my_ops.yaml --out my_package/
"""


@click.command(epilog=EPILOG)
@spec_option
@out_option
@click.option("--force", is_flag=True, help="Overwrite files in the way that no earlier run wrote.")
def generate(spec: Path | None, out: Path | None, force: bool) -> None:
    """Write the kernels, plans and tables that the spec describes.

    Files that are already right keep their time stamp, files that the spec no longer gives are removed, files
    of yours beside them are left alone, and an error leaves the folder as it was.
    """
    folder = output_folder(spec, out)
    check_package_name(folder)

    from baracuda.codegen import load_spec, render
    from baracuda.codegen.tree import write_tree

    files = render(load_spec(spec))
    with naming(folder):
        written = write_tree(files, folder, overwrite=force)
    for path in written.changed:
        click.echo(f"wrote {folder / path}")
    for path in written.removed:
        click.echo(f"removed {folder / path}")
    equal = len(files) - len(written.changed)
    click.echo(f"{folder}: {len(written.changed)} written, {len(written.removed)} removed, {equal} unchanged")
