"""`baracuda-gen compile`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from baracuda.codegen.cli.common import BadInput, Failure, spec_option
from baracuda.codegen.cli.list import unknown
from baracuda.codegen.cli.progress import progress

if TYPE_CHECKING:
    from baracuda.compile.nvrtc import Artifact
    from baracuda.compile.unit import Unit

EPILOG = """\b
Examples:
  baracuda-gen compile --arch sm_90 --jobs 8
  baracuda-gen compile --arch sm_90 --arch compute_80 --pack kernels.pack
  baracuda-gen compile --arch sm_80 --op lerp --dtype bf16
"""


def processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@click.command("compile", epilog=EPILOG)
@spec_option
@click.option(
    "--arch",
    "archs",
    required=True,
    multiple=True,
    metavar="ARCH",
    help="sm_90 for machine code, compute_80 for PTX, which newer GPUs take too; may be given several times.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=processors,
    show_default="one a processor",
    metavar="N",
    help="Compile this many units at once.",
)
@click.option("--op", "ops", multiple=True, metavar="OP", help="Only this op; may be given several times.")
@click.option("--dtype", "dtypes", multiple=True, metavar="DTYPE", help="Only this dtype, such as bf16.")
@click.option(
    "--pack",
    "pack",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write everything into this one file, for BARACUDA_PACK or baracuda.load_pack.",
)
def compile_(
    spec: Path | None,
    archs: Sequence[str],
    jobs: int,
    ops: Sequence[str],
    dtypes: Sequence[str],
    pack: Path | None,
) -> None:
    """Compile kernels ahead of their first use, into the cache and a pack; needs NVRTC and no GPU.

    Goes on after a kernel that does not compile, prints every failure at the end, and then exits 1 without
    writing the pack.
    """
    from baracuda.compile.nvrtc import identity, resolve_arch

    targets = list(dict.fromkeys(resolve_arch(arch) for arch in archs))
    units = chosen_units(spec, ops, dtypes)
    if pack is not None:
        # Before the work, which may take a quarter of an hour.
        check_writable(pack)
    started = time.perf_counter()
    made, failures = compile_all([(unit, target) for target in targets for unit in units], jobs)
    seconds = time.perf_counter() - started
    for failure in sorted(failures):
        click.echo(failure, err=True)
    for target in targets:
        own = [artifact for _, wanted, artifact in made if wanted == target]
        fresh = sum(artifact.seconds > 0 for artifact in own)
        size = sum(len(artifact.data) for artifact in own) / 2**10
        click.echo(
            f"{target}: {len(own)} of {len(units)} units compiled ({fresh} now, {len(own) - fresh} were in "
            f"the cache), {size:.0f} KiB"
        )
    click.echo(f"{seconds:.1f} s with {jobs} {'jobs' if jobs > 1 else 'job'}")
    if failures:
        not_written = f", so {pack} was not written" if pack else ""
        raise Failure(f"{len(failures)} of {len(units) * len(targets)} units do not compile{not_written}")
    if pack is not None:
        from baracuda.compile.pack import write_pack

        nbytes = write_pack(pack, [(unit, artifact) for unit, _, artifact in made], identity())
        click.echo(f"wrote {pack}: {len(made)} units for {', '.join(targets)}, {nbytes / 2**10:.0f} KiB")


def compile_all(
    work: Sequence[tuple[Unit, str]], jobs: int
) -> tuple[list[tuple[Unit, str, Artifact]], list[str]]:
    """Compile units for targets, `jobs` at once: what came of it in the order of `work`, and the failures."""
    from concurrent.futures import ThreadPoolExecutor, as_completed

    from baracuda.compile.loader import compile_ahead
    from baracuda.errors import CompileError

    found: dict[int, Artifact] = {}
    failures: list[str] = []
    with ThreadPoolExecutor(max_workers=jobs) as pool, progress(len(work), "compiling", "units") as bar:
        # NVRTC runs without the interpreter's lock, so threads are enough.
        futures = {pool.submit(compile_ahead, *pair): place for place, pair in enumerate(work)}
        try:
            for future in as_completed(futures):
                try:
                    found[futures[future]] = future.result()
                except CompileError as error:
                    failures.append(str(error))
                bar.update(1)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [(*work[place], found[place]) for place in sorted(found)], failures


def chosen_units(spec: Path | None, ops: Sequence[str], dtypes: Sequence[str] = ()) -> list[Unit]:
    """Return the units of the spec's kernels, each once; raise for an op or dtype that the spec lacks."""
    from baracuda.codegen import kernels, load_spec, render
    from baracuda.compile.unit import Unit

    model = load_spec(spec)
    rows = kernels(model)
    for key, wanted in (("op", ops), ("dtype", dtypes)):
        known = sorted({getattr(row, key) for row in rows})
        for name in wanted:
            if name not in known:
                raise unknown(key, name, known)
    rows = [row for row in rows if (not ops or row.op in ops) and (not dtypes or row.dtype in dtypes)]
    if not rows:
        raise BadInput(f"no kernel of {', '.join(ops)} has dtype {', '.join(dtypes)}")
    texts = render(model)
    # Several variants share a unit; a dict keeps each once, in the order of the matrix.
    units: dict[tuple[str, tuple[tuple[str, str], ...]], Unit] = {}
    for row in rows:
        name = row.unit.removeprefix("kernels/")
        units[row.unit, row.defines] = Unit(name, texts[row.unit], row.defines, row.flags)
    return list(units.values())


def check_writable(path: Path) -> None:
    """Raise `BadInput` where the file `path` could not be written."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise BadInput(f"--pack {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise BadInput(f"--pack {path}: {folder} cannot be written")
