"""`baracuda-gen compile`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from baracuda.codegen.cli.common import Failure, on_terminal, spec_option
from baracuda.codegen.cli.list import unknown

if TYPE_CHECKING:
    from baracuda.compile.unit import Unit

EPILOG = """\b
Examples:
  baracuda-gen compile --arch sm_90 --jobs 8
  baracuda-gen compile --arch compute_80 --op lerp
"""

# Without a terminal a line at this interval shows that the work goes on.
INTERVAL_SECONDS = 10.0


def processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@click.command("compile", epilog=EPILOG)
@spec_option
@click.option("--arch", required=True, metavar="ARCH", help="sm_90 for machine code, compute_80 for PTX.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=processors,
    show_default="one a processor",
    metavar="N",
    help="Compile this many units at once.",
)
@click.option("--op", "ops", multiple=True, metavar="OP", help="Only this op; may be given several times.")
def compile_(spec: Path | None, arch: str, jobs: int, ops: Sequence[str]) -> None:
    """Compile kernels ahead of their first use, into the cache; needs NVRTC and no GPU.

    Goes on after a kernel that does not compile, prints every failure at the end, and then exits 1.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed

    from baracuda.compile.loader import compile_only
    from baracuda.compile.nvrtc import resolve_arch
    from baracuda.errors import CompileError

    # This is the compiling ahead that BARACUDA_JIT=never sends a user to.
    os.environ.pop("BARACUDA_JIT", None)
    target = resolve_arch(arch)
    units = chosen_units(spec, ops)
    started = time.perf_counter()
    failures: list[str] = []
    fresh = nbytes = 0
    with ThreadPoolExecutor(max_workers=jobs) as pool, progress(len(units)) as bar:
        # NVRTC runs without the interpreter's lock, so threads are enough.
        futures = {pool.submit(compile_only, unit, target): unit for unit in units}
        try:
            for future in as_completed(futures):
                try:
                    artifact = future.result()
                except CompileError as error:
                    failures.append(str(error))
                else:
                    fresh += artifact.seconds > 0
                    nbytes += len(artifact.data)
                bar.update(1)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    seconds = time.perf_counter() - started
    for failure in sorted(failures):
        click.echo(failure, err=True)
    good = len(units) - len(failures)
    click.echo(
        f"{target}: {good} of {len(units)} units compiled ({fresh} now, {good - fresh} were in the cache), "
        f"{nbytes / 2**10:.0f} KiB, {seconds:.1f} s"
    )
    if failures:
        raise Failure(f"{len(failures)} of {len(units)} units do not compile")


def chosen_units(spec: Path | None, ops: Sequence[str]) -> list[Unit]:
    """Return the units of the spec's kernels, each once; raise for an op that the spec lacks."""
    from baracuda.codegen import kernels, load_spec, render
    from baracuda.compile.unit import Unit

    model = load_spec(spec)
    rows = kernels(model)
    known = sorted({row.op for row in rows})
    for op in ops:
        if op not in known:
            raise unknown("op", op, known)
    texts = render(model)
    # Several variants share a unit; a dict keeps each once, in the order of the matrix.
    units: dict[tuple[str, tuple[tuple[str, str], ...]], Unit] = {}
    for row in rows:
        if not ops or row.op in ops:
            units[row.unit, row.defines] = Unit(
                row.unit.removeprefix("kernels/"), texts[row.unit], row.defines, row.flags
            )
    return list(units.values())


class Bar(Protocol):
    """What shows how far the work is."""

    def update(self, count: int) -> None:
        """Note that `count` more units are done."""


class Lines:
    """Progress for logs: a line at intervals."""

    def __init__(self, total: int) -> None:
        """Start the clock."""
        self.total = total
        self.done = 0
        self.next_line = time.monotonic() + INTERVAL_SECONDS

    def update(self, count: int) -> None:
        """Note that `count` more units are done, and say so if the last line is long ago."""
        self.done += count
        if time.monotonic() >= self.next_line:
            self.next_line = time.monotonic() + INTERVAL_SECONDS
            click.echo(f"{self.done} of {self.total} units")


@contextmanager
def progress(total: int) -> Iterator[Bar]:
    """Show a moving bar on a terminal, a line at intervals elsewhere."""
    if not on_terminal():
        yield Lines(total)
        return
    with ExitStack() as stack:
        yield stack.enter_context(click.progressbar(length=total, label="compiling"))
