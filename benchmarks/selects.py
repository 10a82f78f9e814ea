"""Milliseconds that selecting a plan takes, in processes where nothing but imports was loaded beforehand.

Started as a script it is such a process: it imports everything, initialises CUDA, selects a plan of every
class and prints what each took.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from problems import describe, plan_classes

import baracuda as bc
from baracuda import driver
from baracuda.compile import nvrtc
from baracuda.compile.loader import compile_only
from baracuda.compile.pack import write_pack
from baracuda.plan import Plan

__all__ = ["AXES", "DOMAIN", "ELEMENT", "FIRST", "Selects", "descriptors", "measure_selects"]

DOMAIN = (4, 256)
AXES = (1,)
ELEMENT = "f32"
#: What casts make of it; every array library has it.
TARGET = "f64"
#: Processes with a full cache, or with a pack; the best of them counts, plan by plan.
WARM_PROCESSES = 3

#: The state of a process that has a pack and selects this plan before all others: of the slowest classes.
FIRST = "pack, first of a process"
SLOWEST = 3

#: Milliseconds by plan class, in the order in which a process selected them.
Selects = dict[str, float]


def descriptors() -> Iterator[tuple[type[Plan], Any]]:
    """The first op of every plan class, on a small problem."""
    for plan in plan_classes():
        kind = next(iter(plan.OPS))
        targets = {name: TARGET for name, rule in plan.DESCRIPTOR.RULES.items() if rule == "target"}
        yield plan, describe(plan, kind, ELEMENT, DOMAIN, AXES if plan.AXES else (), **targets)


def measure_selects(device: str) -> tuple[dict[str, Selects], int]:
    """Times with an empty cache, with the cache that this left, from a pack, and again; bytes of the pack.

    Those of a pack are there for CUDA alone.
    """
    found: dict[str, Selects] = {}
    nbytes = 0
    with tempfile.TemporaryDirectory(prefix="baracuda-selects-") as folder:
        environment = {**os.environ, "BARACUDA_CACHE_DIR": f"{folder}/cache"}
        environment.pop("BARACUDA_PACK", None)
        pack = Path(folder, "kernels.pack")
        cold = _process(device, environment, "--pack", str(pack))
        found["empty cache"] = cold["first"]
        warm = [_process(device, environment) for _ in range(WARM_PROCESSES)]
        found["full cache"] = _best([each["first"] for each in warm])
        if device == "cuda":
            nbytes = pack.stat().st_size
            # Nothing but the pack: no cache, no compiler.
            alone = {
                "BARACUDA_CACHE_DIR": f"{folder}/empty",
                "BARACUDA_PACK": str(pack),
                "BARACUDA_JIT": "never",
            }
            packed = [_process(device, {**environment, **alone}) for _ in range(WARM_PROCESSES)]
            times = found["pack"] = _best([each["first"] for each in packed])
            slowest = sorted(times, key=lambda name: times[name])[-SLOWEST:]
            found[FIRST] = {
                name: _best(
                    [
                        _process(device, {**environment, **alone}, "--first", name)["first"]
                        for _ in range(WARM_PROCESSES)
                    ]
                )[name]
                for name in slowest
            }
        found["memory"] = _best([each["again"] for each in (cold, *warm)])
    return found, nbytes


def _process(device: str, environment: dict[str, str], *options: str) -> dict[str, Selects]:
    command = [sys.executable, __file__, "--device", device, *options]
    found: dict[str, Selects] = json.loads(subprocess.check_output(command, env=environment, text=True))
    return found


def _best(runs: list[Selects]) -> Selects:
    return {name: min(run[name] for run in runs) for name in runs[0]}


def select_all(device: str, first: str | None = None) -> dict[str, Selects]:
    """Milliseconds of the first and the second select of every plan class here; `first` comes before all."""
    problems = sorted(descriptors(), key=lambda problem: problem[0].__name__ != first)
    stream = bc.Stream.host()
    if device == "cuda":
        cupy = importlib.import_module("cupy")
        # CUDA is initialised, and no kernel of CuPy compiled, which would load NVRTC.
        cupy.cuda.runtime.free(0)
        # CuPy looks the driver's functions up when the first of them is called.
        cupy.cuda.driver.ctxGetCurrent()
        stream = bc.Stream()
    found: dict[str, Selects] = {"first": {}, "again": {}}
    for times in found.values():
        for plan, desc in problems:
            started = time.perf_counter()
            plan.select(stream, desc)
            times[plan.__name__] = (time.perf_counter() - started) * 1e3
    return found


def write_kernels(path: Path) -> None:
    """A pack with the kernels of `descriptors` for the first device."""
    arch = driver.device_arch(0)
    plans = [plan.select(bc.Stream(), desc) for plan, desc in descriptors()]
    units = dict.fromkeys(unit for plan in plans for unit in plan._units())
    write_pack(path, [(unit, compile_only(unit, arch)) for unit in units], nvrtc.identity())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cuda", "host"), required=True)
    parser.add_argument("--pack", type=Path, help="write the kernels here, behind all measurements")
    parser.add_argument("--first", metavar="PLAN", help="the plan class that is selected before all others")
    options = parser.parse_args()
    print(json.dumps(select_all(options.device, options.first)))
    if options.pack is not None and options.device == "cuda":
        write_kernels(options.pack)
