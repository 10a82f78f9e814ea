"""`baracuda-gen check`."""

from __future__ import annotations

from pathlib import Path

import click

from baracuda.codegen.cli.common import out_option, output_folder, report_differences, spec_option
from baracuda.codegen.cli.system_errors import naming

EPILOG = """\b
Examples:
  baracuda-gen check
  baracuda-gen check | git apply --allow-empty --directory generated
"""


@click.command(epilog=EPILOG)
@spec_option
@out_option
def check(spec: Path | None, out: Path | None) -> None:
    """Compare the generated folder with what the spec gives.

    Prints a unified diff from what is there to what should be, and exits 1, when a file is changed, missing,
    stale (an earlier run wrote it, the spec no longer gives it) or foreign (nobody generated it).
    """
    folder = output_folder(spec, out)

    from baracuda.codegen import load_spec, render
    from baracuda.codegen.tree import check_tree

    files = render(load_spec(spec))
    command = "baracuda-gen generate" + (f" --spec {spec} --out {folder}" if spec else "")
    with naming(folder):
        differences = check_tree(files, folder)
    report_differences(differences, folder, command)
    click.echo(f"{folder}: {len(files)} files are current")
