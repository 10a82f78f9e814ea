"""`baracuda-gen demo`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from baracuda.codegen.cli.common import BadInput, Failure, report_differences
from baracuda.codegen.cli.list import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float64
    from numpy.typing import NDArray

EPILOG = """\b
Examples:
  baracuda-gen demo
  baracuda-gen demo --all --device host
  baracuda-gen demo --op lerp --op softmax
"""

WIDTHS = (27, 46, 9, 9, 11, 11)
HEAD = ("plan", "SKU", "error", "allowed", "first use", "median")


@click.command(epilog=EPILOG)
@click.option("--all", "everything", is_flag=True, help="The whole matrix, instead of one op a plan class.")
@click.option("--op", "ops", multiple=True, metavar="OP", help="Only this op; may be given several times.")
@click.option(
    "--device",
    type=click.Choice(["auto", "host", "cuda"]),
    default="auto",
    show_default=True,
    help="Where to run; auto takes the GPU where there is one, else the host executor.",
)
def demo(everything: bool, ops: Sequence[str], device: str) -> None:
    """Run every plan class and dtype on real data, and compare with float64.

    The data are the 1,797 digit images that scikit-learn ships. Prints what the machine has, checks that the
    generated code is current, then prints each plan's largest error in units in the last place, the time of
    its first use and its median time. Exits 1 when an error is larger than the spec allows.
    """
    from baracuda.codegen import load_spec, verify
    from baracuda.codegen.cli import machine
    from baracuda.errors import BaracudaError

    spec = load_spec(None)
    for name in ops:
        if name not in spec.ops:
            raise unknown("op", name, sorted(spec.ops))
    found = machine.facts()
    machine.show(found, click.echo)
    chosen = choose_device(device, machine.can_run(found))
    label = chosen
    if chosen == "cuda":
        gpu = machine.read_driver().gpus[0]
        label = f"cuda:{gpu.index} ({gpu.name})"
    click.echo(f"device: {label}")
    images = digits()
    check_current()
    click.echo(row(HEAD))
    count = failed = 0
    for case in verify.cases(spec, images, everything=everything, ops=ops):
        count += 1
        try:
            result = case.run(chosen)
        except BaracudaError as error:
            failed += 1
            click.echo(f"{case.plan}: FAILED: {error}")
            continue
        # A NaN is no small error: only what compares as within the tolerance passes.
        good = result.ulp <= case.tolerance
        failed += not good
        times = (milliseconds(result.first_seconds), milliseconds(result.median_seconds))
        cells = (case.plan, result.sku, f"{result.ulp:.2f} ulp", f"{case.tolerance:g} ulp", *times)
        click.echo(row(cells) + ("" if good else "  FAILED"))
    if count == 0:
        raise Failure("demo: the spec has no plans to run")
    if failed:
        click.echo(f"demo: {count} plans ran on {label}, {failed} failed")
        raise click.exceptions.Exit(1)
    click.echo(f"demo: {count} plans ran on {label}, all within tolerance")


def choose_device(wanted: str, possible: tuple[bool, bool]) -> str:
    """Return `cuda` or `host`; a failure where the machine cannot do what is wanted."""
    gpu, host = possible
    chosen = wanted if wanted != "auto" else "cuda" if gpu else "host"
    if not (gpu if chosen == "cuda" else host):
        raise Failure(f"cannot run on {chosen}: see what is missing above")
    return chosen


def check_current() -> None:
    """Exit 1 with a diff where the generated code that is about to run is not what the spec gives."""
    from pathlib import Path

    from baracuda import generated
    from baracuda.codegen import load_spec, render
    from baracuda.codegen.tree import check_tree

    folder = Path(generated.__file__).parent
    files = render(load_spec(None))
    report_differences(check_tree(files, folder), folder, "baracuda-gen generate")
    click.echo(f"generated code: {len(files)} files, current")


def digits() -> NDArray[float64]:
    """Return scikit-learn's digit images, one a row: float64 of shape (1797, 64), values 0 to 16."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        from baracuda.codegen.cli.machine import pip_install

        command = pip_install("baracuda[demo]")
        raise BadInput(f"the demo's data come with scikit-learn, which is not here: {command}") from error
    images: NDArray[float64] = load_digits().data
    return images


def row(cells: tuple[str, ...]) -> str:
    """Return one line of the table; text to the left, figures to the right."""
    padded = [
        cell.ljust(width) if place < 2 else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))
    ]
    return "  ".join(padded).rstrip()


def milliseconds(seconds: float) -> str:
    """Return a time with three significant digits."""
    if not math.isfinite(seconds):
        return "-"
    value = seconds * 1e3
    return f"{value:.{max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0}f} ms"
