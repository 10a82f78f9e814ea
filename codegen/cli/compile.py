"""`baracuda-gen compile`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from baracuda.codegen.cli.common import BadInput, Bound, Failure, Place, share, spec_option
from baracuda.codegen.cli.cost import Budget, cost_of, excesses, report, summary
from baracuda.codegen.cli.list import unknown
from baracuda.codegen.cli.progress import progress
from baracuda.codegen.cli.system_errors import naming

if TYPE_CHECKING:
    from baracuda.compile.nvrtc import Artifact
    from baracuda.compile.unit import Unit

EPILOG = """\b
Examples:
  baracuda-gen compile --arch sm_90 --jobs 8
  baracuda-gen compile --arch sm_90 --arch compute_80 --pack kernels.pack
  baracuda-gen compile --arch sm_80 --op lerp --dtype bf16
  baracuda-gen compile --arch sm_90 --part 1/4
  baracuda-gen compile --arch host --pack host.pack
  baracuda-gen compile --arch sm_90 --pack kernels.pack --compress
  baracuda-gen compile --arch sm_90 --fresh --max-unit-kib 800 --report units.csv
"""


#: The target that stands for the host executor of machines like this one.
HOST = "host"


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
    help="sm_90 for machine code, compute_80 for PTX, which newer GPUs take too, host, into a pack, for this "
    "kind of machine's host executor; may be given several times.",
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
    "--part",
    callback=share,
    metavar="I/N",
    help="Only every Nth unit, from the Ith on: a sample, or the share of one of N machines.",
)
@click.option(
    "--pack",
    "pack",
    type=Place(dir_okay=False),
    metavar="FILE",
    help="Also write everything into this one file, for BARACUDA_PACK or baracuda.load_pack.",
)
@click.option(
    "--compress",
    is_flag=True,
    help="Make the pack a quarter as large; a plan's first select then takes some milliseconds more.",
)
@click.option("--fresh", is_flag=True, help="Compile what the cache has too, so that all is measured.")
@click.option(
    "--report",
    "report_to",
    type=Place(dir_okay=False),
    metavar="FILE",
    help="Write size and compiler time of every unit to this CSV file.",
)
@click.option("--max-kib", type=Bound(), metavar="KIB", help="Fail where all units of an ARCH are larger.")
@click.option("--max-unit-kib", type=Bound(), metavar="KIB", help="Fail where one unit is larger.")
@click.option(
    "--max-seconds", type=Bound(), metavar="S", help="Fail where an ARCH takes more of the processor's time."
)
@click.option("--max-unit-seconds", type=Bound(), metavar="S", help="Fail where one unit takes more.")
def compile_(
    spec: Path | None,
    archs: Sequence[str],
    jobs: int,
    ops: Sequence[str],
    dtypes: Sequence[str],
    part: tuple[int, int] | None,
    pack: Path | None,
    compress: bool,
    fresh: bool,
    report_to: Path | None,
    max_kib: float | None,
    max_unit_kib: float | None,
    max_seconds: float | None,
    max_unit_seconds: float | None,
) -> None:
    """Compile kernels ahead of their first use, into the cache and a pack; needs NVRTC and no GPU.

    Goes on after a kernel that does not compile, prints every failure at the end, and then exits 1 without
    writing the pack. The same where a unit, or all of an ARCH, is beyond a --max option.
    """
    targets = list(dict.fromkeys(map(resolved, archs)))
    units = chosen_units(spec, ops, dtypes)
    if part is not None:
        first, step = part
        if first > len(units):
            raise BadInput(f"--part {first}/{step}: there are {len(units)} units")
        units = units[first - 1 :: step]
    budget = Budget(max_kib, max_unit_kib, max_seconds, max_unit_seconds)
    if HOST in targets and pack is None:
        raise BadInput("--arch host: libraries of the host executor go into a pack; add --pack FILE")
    if compress and pack is None:
        raise BadInput("--compress: it is the pack that is compressed; add --pack FILE")
    for option, path in (("--pack", pack), ("--report", report_to)):
        if path is not None:
            # Before the work, which may take a quarter of an hour.
            check_writable(option, path)
    if pack and report_to and pack.resolve() == report_to.resolve():
        raise BadInput(f"--pack {pack} and --report {report_to} are one file; name two")
    started = time.perf_counter()
    work = [(unit, target) for target in targets for unit in (*units, *support(target))]
    made, failures = compile_all(work, jobs, fresh)
    seconds = time.perf_counter() - started
    for failure in sorted(failures):
        click.echo(failure, err=True)
    costs, beyond = [], []
    for target in targets:
        own = [artifact for _, wanted, artifact in made if wanted == target]
        now = sum(artifact.seconds > 0 for artifact in own)
        size = sum(len(artifact.data) for artifact in own) / 2**10
        click.echo(
            f"{target}: {len(own)} of {len(units) + len(support(target))} units compiled ({now} now, "
            f"{len(own) - now} were in the cache), {size:.0f} KiB"
        )
        of_target = [cost_of(unit, target, artifact) for unit, wanted, artifact in made if wanted == target]
        for line in summary(of_target):
            click.echo(line)
        beyond += excesses(of_target, budget)
        costs += of_target
    click.echo(f"{seconds:.1f} s with {jobs} {'jobs' if jobs > 1 else 'job'}")
    if report_to is not None:
        with naming(report_to):
            report_to.write_text(report(costs), encoding="utf-8")
        click.echo(f"wrote {report_to}")
    not_written = f", so {pack} was not written" if pack else ""
    if failures:
        raise Failure(f"{len(failures)} of {len(work)} units do not compile{not_written}")
    if beyond:
        listed = "\n".join(beyond)
        raise Failure(f"beyond the budget{not_written}:\n{listed}")
    if pack is not None:
        write(pack, made, targets, compress)


def resolved(arch: str) -> str:
    """Return what ARCH is compiled to: itself, or PTX, with a warning, where NVRTC does not know it."""
    if arch == HOST:
        return arch
    from baracuda.compile.nvrtc import resolve_arch, version

    target = resolve_arch(arch)
    if target != arch:
        click.echo(
            "warning: NVRTC {}.{} ".format(*version())
            + f"does not know {arch}; making PTX for {target}, which the driver of such a GPU compiles",
            err=True,
        )
    return target


def support(target: str) -> list[Unit]:
    """Return what a target needs beside the kernels: on the host, what runs them."""
    if target != HOST:
        return []
    from baracuda.host import EXECUTOR

    return [EXECUTOR]


def write(
    pack: Path, made: Sequence[tuple[Unit, str, Artifact]], targets: Sequence[str], compress: bool
) -> None:
    """Write the pack, and say so."""
    from baracuda.compile.nvrtc import identity
    from baracuda.compile.pack import write_pack
    from baracuda.host_compiler import find_compiler

    compilers = [identity()] if set(targets) - {HOST} else []
    compilers += [find_compiler().version] if HOST in targets else []
    with naming(pack):
        artifacts = [(unit, artifact) for unit, _, artifact in made]
        nbytes = write_pack(pack, artifacts, ", ".join(compilers), compress=compress)
    click.echo(f"wrote {pack}: {len(made)} units for {', '.join(targets)}, {nbytes / 2**10:.0f} KiB")


def compile_all(
    work: Sequence[tuple[Unit, str]], jobs: int, fresh: bool = False
) -> tuple[list[tuple[Unit, str, Artifact]], list[str]]:
    """Compile units for targets, `jobs` at once: what came of it in the order of `work`, and the failures."""
    from concurrent.futures import ThreadPoolExecutor, as_completed

    from baracuda.compile.loader import compile_ahead
    from baracuda.errors import CompileError

    found: dict[int, Artifact] = {}
    failures: list[str] = []
    with ThreadPoolExecutor(max_workers=jobs) as pool, progress(len(work), "compiling", "units") as bar:
        try:
            # NVRTC runs without the interpreter's lock, so threads are enough.
            futures = {
                pool.submit(compile_ahead, *pair, fresh=fresh): place for place, pair in enumerate(work)
            }
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
    from baracuda.codegen import kernels, load_spec, render_kernels
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
    texts = render_kernels(model, {row.op for row in rows})
    # Several variants share a unit; a dict keeps each once, in the order of the matrix.
    units: dict[tuple[str, tuple[tuple[str, str], ...]], Unit] = {}
    for row in rows:
        name = row.unit.removeprefix("kernels/")
        units[row.unit, row.defines] = Unit(name, texts[row.unit], row.defines, row.flags)
    return list(units.values())


def check_writable(option: str, path: Path) -> None:
    """Raise `BadInput` where the file `path` could not be written."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise BadInput(f"{option} {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise BadInput(f"{option} {path}: {folder} cannot be written")
    if option == "--pack" and path.exists() and not path.is_file():
        raise BadInput(f"{option} {path}: is no file, so no pack can take its place")
