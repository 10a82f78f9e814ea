"""The command line `baracuda-gen`: one module a command.

Command modules import what they need inside the command, so that `--help` stays fast.
"""

from __future__ import annotations

import click

from baracuda.codegen.cli.cache import cache
from baracuda.codegen.cli.check import check
from baracuda.codegen.cli.common import Group
from baracuda.codegen.cli.compile import compile_
from baracuda.codegen.cli.demo import demo
from baracuda.codegen.cli.doctor import doctor
from baracuda.codegen.cli.generate import generate
from baracuda.codegen.cli.lint import lint
from baracuda.codegen.cli.list import list_
from baracuda.codegen.cli.schema import schema
from baracuda.codegen.cli.show import show

EPILOG = """\b
Exit codes: 0 all is well, 1 something is stale or failed, 2 bad input.
Example:
  baracuda-gen generate
"""


@click.group(cls=Group, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="baracuda", prog_name="baracuda-gen")
def main() -> None:
    """Turn ops.yaml into kernels and plans, look at them, compile and try them."""


for command in (cache, check, compile_, demo, doctor, generate, lint, list_, schema, show):
    main.add_command(command)

__all__ = ["main"]
