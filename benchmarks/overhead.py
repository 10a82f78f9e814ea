"""Microseconds of host time a call, beside PyTorch and CuPy, and what selecting a plan costs.

Calls: plan.run with a stream and with None, bind()(stream), plan(**tensors), on CuPy and PyTorch arrays of
1,024 elements, beside torch.add(out=), a + b, a CuPy ufunc with out=, and cupy.RawKernel. Nothing is
synchronised inside a batch. Selecting: with an empty cache, from the disk cache, from memory; each of the
first two in a process of its own, where CUDA is initialised beforehand, and the first plan also loads the
compiler. Prints tables, and writes overhead.json and overhead.md with --out.
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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from problems import describe, given, plan_classes
from report import Report, facts, markdown
from timing import host_microseconds

import baracuda as bc
from baracuda.plan import Plan

#: Elements a call: no time on the device, so that only the host's counts.
SIZE = 1024
AXES = (1,)
DOMAIN = (4, SIZE // 4)
ELEMENT = "f32"
IMPORTS = 5

RAW = r"""
extern "C" __global__ void add(const float* a, const float* b, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i];
}
"""


def descriptors() -> Iterator[tuple[type[Plan], Any]]:
    """The first op of every plan class, on a small problem."""
    for plan in plan_classes():
        kind = next(iter(plan.OPS))
        yield plan, describe(plan, kind, ELEMENT, DOMAIN, AXES if plan.AXES else ())


class Library:
    """How one array library makes arrays, and which stream its work is on."""

    def __init__(
        self, name: str, make: Callable[[tuple[int, ...]], Any], stream: Any, wait: Callable[[], Any]
    ) -> None:
        self.name = name
        self.make = make
        self.stream = stream
        self.wait = wait


def libraries(torch: Any, device: str) -> list[Library]:
    """CuPy and PyTorch, or NumPy and PyTorch on the host."""
    if device == "cuda":
        cupy = importlib.import_module("cupy")
        wait = cupy.cuda.runtime.deviceSynchronize
        streams = cupy.cuda.get_current_stream(), torch.cuda.current_stream()
        return [
            Library("cupy", lambda shape: cupy.ones(shape, "f4"), streams[0], wait),
            Library("torch", lambda shape: torch.ones(shape, device="cuda"), streams[1], wait),
        ]
    host = bc.Stream.host()
    return [
        Library("numpy", lambda shape: np.ones(shape, "f4"), host, lambda: None),
        Library("torch", torch.ones, host, lambda: None),
    ]


def plan_calls(library: Library, plan_class: type[Plan], desc: Any) -> dict[str, Callable[[], object]]:
    """The ways to run a plan."""
    plan = plan_class.select(library.stream, desc)
    shapes = plan_class.shapes(desc)
    tensors = {name: library.make(shapes[name][0]) for name in given(plan_class, desc)}
    nbytes = plan.workspace_size()
    workspace = library.make((nbytes // 4 + 1,)) if nbytes else None
    args = plan_class.ARGS(**tensors)
    bound = plan.bind(args, workspace)
    stream = bc.Stream.of(library.stream)
    return {
        "run(stream, ...)": lambda: plan.run(stream, workspace, args),
        f"run({library.name} stream, ...)": lambda: plan.run(library.stream, workspace, args),
        "run(None, ...)": lambda: plan.run(None, workspace, args),
        "plan(name=tensor, ...)": lambda: plan(**tensors, workspace=workspace),
        "bind(...)": lambda: plan.bind(args, workspace),
        "bind(...)(stream)": lambda: bound(stream),
    }


def peer_calls(torch: Any, device: str) -> dict[str, Callable[[], object]]:
    """What others take for an addition of the same size."""
    place = "cuda" if device == "cuda" else "cpu"
    a, b, y = (torch.ones(SIZE, device=place) for _ in range(3))
    calls: dict[str, Callable[[], object]] = {
        "torch.add(out=)": lambda: torch.add(a, b, out=y),
        "torch a + b": lambda: a + b,
    }
    if device != "cuda":
        return calls
    cupy = importlib.import_module("cupy")
    c, d, z = (cupy.ones(SIZE, "f4") for _ in range(3))
    kernel = cupy.RawKernel(RAW, "add")
    blocks, threads, arguments = (SIZE // 256,), (256,), (c, d, z, np.int32(SIZE))
    return calls | {
        "cupy.add(out=)": lambda: cupy.add(c, d, out=z),
        "cupy a + b": lambda: c + d,
        "cupy.RawKernel": lambda: kernel(blocks, threads, arguments),
    }


def select_times(device: str) -> dict[str, dict[str, float]]:
    """Milliseconds of the first and the second select of every plan class in this process."""
    if device == "cuda":
        cupy = importlib.import_module("cupy")
        cupy.ones(1)
        cupy.cuda.runtime.deviceSynchronize()
        stream = bc.Stream.of(cupy.cuda.get_current_stream())
    else:
        stream = bc.Stream.host()
    found = {}
    for plan, desc in descriptors():
        times = []
        for _ in range(2):
            started = time.perf_counter()
            plan.select(stream, desc)
            times.append((time.perf_counter() - started) * 1e3)
        found[plan.__name__] = {"first": times[0], "again": times[1]}
    return found


def select_rows(device: str) -> list[dict[str, Any]]:
    """Select with an empty cache, then with what that left on disk, each in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="baracuda-overhead-") as folder:
        environment = {**os.environ, "BARACUDA_CACHE_DIR": folder}
        command = [sys.executable, __file__, "--device", device, "--select-only"]
        cold, warm = (
            json.loads(subprocess.check_output(command, env=environment, text=True)) for _ in range(2)
        )
    return [
        {
            "plan": name,
            "empty cache, ms": round(cold[name]["first"], 2),
            "disk cache, ms": round(warm[name]["first"], 2),
            "memory, ms": round(min(cold[name]["again"], warm[name]["again"]), 3),
        }
        for name in cold
    ]


def import_row() -> dict[str, Any]:
    """Milliseconds that `import baracuda` takes beyond `import numpy`: the best of a few processes each."""

    def best(statement: str) -> float:
        code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
        runs = (
            float(subprocess.check_output([sys.executable, "-c", code], text=True, cwd="/"))
            for _ in range(IMPORTS)
        )
        return min(runs) * 1e3

    alone, both = best("import numpy"), best("import numpy, baracuda")
    return {"import numpy, ms": round(alone, 1), "baracuda beyond it, ms": round(both - alone, 1)}


def main(arguments: list[str] | None = None) -> int:
    """Run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for overhead.json and overhead.md")
    parser.add_argument("--device", choices=("cuda", "host"), default="cuda")
    parser.add_argument("--quick", action="store_true", help="fewer calls")
    parser.add_argument("--select-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.select_only:
        print(json.dumps(select_times(options.device)))
        return 0
    torch: Any = importlib.import_module("torch")
    report = Report("overhead", options.out, facts(torch, options.device))
    batches = 3 if options.quick else 9
    wait = libraries(torch, options.device)[0].wait
    for name, call in peer_calls(torch, options.device).items():
        report.add({"call": name, "us": round(host_microseconds(call, wait, batches=batches), 2)})
    for plan, desc in descriptors():
        for library in libraries(torch, options.device):
            for name, call in plan_calls(library, plan, desc).items():
                took = host_microseconds(call, library.wait, batches=batches)
                report.add({"call": f"{plan.__name__} {library.name}: {name}", "us": round(took, 2)})
    calls = markdown(("call", "us"), [(row["call"], f"{row['us']:.2f}") for row in report.rows])
    selects = select_rows(options.device)
    imported = import_row()
    report.more = {"select": selects, "import": imported}
    tables = [calls, markdown(list(selects[0]), [list(row.values()) for row in selects])]
    tables.append(markdown(list(imported), [list(imported.values())]))
    report.finish(tables)
    runs = {row["call"]: row["us"] for row in report.rows if "run(stream" in row["call"]}
    print("overhead: " + ", ".join(f"{call} {us} us" for call, us in runs.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
