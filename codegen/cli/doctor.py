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

    Looks at the cache folder, at packs and at the generated code too. Exits 1 when kernels can run neither on
    a GPU nor on the host executor, or when the generated code is not what the spec gives.
    """
    from baracuda.codegen.cli import installation, machine

    found = [*machine.facts(), *installation.facts()]
    machine.show(found, click.echo)
    gpu, host = machine.can_run(found)
    click.echo(
        f"kernels run on a GPU: {'yes' if gpu else 'no'}; on the host executor: {'yes' if host else 'no'}"
    )
    if not gpu and not host:
        raise Failure("nothing here can run a kernel; install what is missing above")
    if not all(fact.found for fact in found if fact.name == "generated code"):
        raise Failure("the generated code is not what the spec gives; see above")
