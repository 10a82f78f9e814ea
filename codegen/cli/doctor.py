"""`baracuda-gen doctor`."""

from __future__ import annotations

import click

from baracuda.codegen.cli.common import Failure

EPILOG = """\b
Example:
  baracuda-gen doctor
"""


@click.command(epilog=EPILOG)
def doctor() -> None:
    """Say what of the compilers, CuPy, NVRTC, driver and GPU is there, and what to install for the rest.

    Exits 1 when kernels can run neither on a GPU nor on the host executor.
    """
    from baracuda.codegen.cli import machine

    found = machine.facts()
    machine.show(found, click.echo)
    gpu, host = machine.can_run(found)
    click.echo(
        f"kernels run on a GPU: {'yes' if gpu else 'no'}; on the host executor: {'yes' if host else 'no'}"
    )
    if not gpu and not host:
        raise Failure("nothing here can run a kernel; install what is missing above")
