"""Host time of a call, beside PyTorch, CuPy and the bare driver, and of selecting a plan.

Calls: plan.run with a baracuda.Stream, with the library's stream and with None, plan(name=tensor), bind and
bind()(stream), on CuPy and PyTorch arrays of 1,024 elements; beside torch.add(out=), a CuPy ufunc with out=,
cupy.RawKernel, and cuLaunchKernel with packed arguments through CuPy's binding and NVIDIA's. Selecting: with
an empty cache, with a full one, from a pack, each in a process of its own, and again in the same process.
Sizes: the wheel, and the pack. Prints tables and whether the goals are met, and writes overhead.json and
overhead.md with --out.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bare import BARE, bare_calls
from problems import given, stored
from report import Report, facts, markdown
from selects import ELEMENT, FIRST, Selects, descriptors, measure_selects
from sizes import wheel_bytes
from timing import host_microseconds

import baracuda as bc
from baracuda.plan import Plan

#: Elements a call: no time on the device, so that only the host's counts.
SIZE = 1024
IMPORTS = 5
#: A bound launch takes at most so many times what the driver alone takes.
BOUND_RATIO = 1.3
#: What a plan may take to select where it need not be compiled, in milliseconds.
SELECT_LIMIT = 5.0
PEER = "torch.add(out=)"
#: The plan class that has as many tensors as the peer.
LIKE_PEER = "BinaryParamPlan"

Call = Callable[[], object]


class Library(NamedTuple):
    """How one array library makes arrays, and which stream its work is on."""

    name: str
    make: Callable[[tuple[int, ...], str], Any]
    stream: Any


class Goal(NamedTuple):
    """One goal: what was measured, what is wanted, and whether it is met."""

    what: str
    measured: float
    limit: float
    unit: str

    @property
    def is_met(self) -> bool:
        """Whether the figure is within the limit."""
        return self.measured <= self.limit


def libraries(torch: Any, device: str) -> list[Library]:
    """CuPy and PyTorch, or NumPy and PyTorch on the host."""

    def torch_ones(shape: tuple[int, ...], dtype: str) -> Any:
        return torch.ones(shape, dtype=getattr(torch, dtype), device=device.replace("host", "cpu"))

    if device == "cuda":
        cupy = importlib.import_module("cupy")
        return [
            Library("cupy", cupy.ones, cupy.cuda.get_current_stream()),
            Library("torch", torch_ones, torch.cuda.current_stream()),
        ]
    host = bc.Stream.host()
    return [
        Library("numpy", np.ones, host),
        Library("torch", torch_ones, host),
    ]


def plan_calls(library: Library, plan_class: type[Plan], desc: Any) -> dict[str, Call]:
    """The ways to run a plan."""
    plan = plan_class.select(library.stream, desc)
    shapes = plan_class.shapes(desc)
    kinds = {rule.name: stored(rule, desc, bc.ElementKind.parse(ELEMENT)) for rule in plan_class.TENSORS}
    tensors = {
        name: library.make(shapes[name][0], kinds[name].numpy.name) for name in given(plan_class, desc)
    }
    nbytes = plan.workspace_size()
    workspace = library.make((nbytes // 4 + 1,), "float32") if nbytes else None
    if workspace is not None and plan.device.kind == "host":
        workspace = bc.Workspace.host(nbytes)
    args = plan_class.ARGS(**tensors)
    bound = plan.bind(args, workspace)
    stream = bc.Stream.of(library.stream)
    calls: dict[str, Call] = {
        "run(stream, ...)": lambda: plan.run(stream, workspace, args),
        f"run({library.name} stream, ...)": lambda: plan.run(library.stream, workspace, args),
        "run(None, ...)": lambda: plan.run(None, workspace, args),
        "plan(name=tensor, ...)": lambda: plan(**tensors, workspace=workspace),
        "bind(...)": lambda: plan.bind(args, workspace),
        "bind(...)(stream)": lambda: bound(stream),
    }
    return {f"{plan_class.__name__} {library.name}: {name}": call for name, call in calls.items()}


def peer_calls(torch: Any, device: str) -> dict[str, Call]:
    """What others take for an addition of the same size."""
    a, b, y = (torch.ones(SIZE, device="cuda" if device == "cuda" else "cpu") for _ in range(3))
    calls: dict[str, Call] = {PEER: lambda: torch.add(a, b, out=y), "torch a + b": lambda: a + b}
    if device != "cuda":
        return calls
    cupy = importlib.import_module("cupy")
    c, d, z = (cupy.ones(SIZE, "f4") for _ in range(3))
    calls |= {"cupy.add(out=)": lambda: cupy.add(c, d, out=z), "cupy a + b": lambda: c + d}
    return calls | bare_calls(SIZE)


def goals(calls: Mapping[str, float], selects: Mapping[str, Selects]) -> Iterator[Goal]:
    """What the project wants of the figures: microseconds by call, milliseconds by state and plan class."""
    runs = {name: us for name, us in calls.items() if name.startswith(f"{LIKE_PEER} ") and ": run(" in name}
    slowest = max(runs, key=lambda name: runs[name])
    yield Goal(f"{slowest}, the slowest of {len(runs)}, beside {PEER}", runs[slowest], calls[PEER], "us")
    bare = [us for name, us in calls.items() if name.startswith(BARE)]
    if bare:
        bound = {
            name: us for name, us in calls.items() if name.startswith(LIKE_PEER) and "bind(...)(" in name
        }
        slowest = max(bound, key=lambda name: bound[name])
        what = f"{slowest} beside {BOUND_RATIO} times the fastest {BARE}"
        yield Goal(what, bound[slowest], BOUND_RATIO * min(bare), "us")
    for state in ("full cache", "pack", FIRST):
        if state in selects:
            plan = max(selects[state], key=lambda name: selects[state][name])
            yield Goal(f"select from a {state}, slowest: {plan}", selects[state][plan], SELECT_LIMIT, "ms")


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


def tables(report: Report) -> list[str]:
    """The figures as Markdown."""
    selects: dict[str, Selects] = report.more["select"]
    plans = next(iter(selects.values()))
    states = [f"{state}, ms" for state in selects]
    rows = [
        [plan, *(f"{times[plan]:.2f}" if plan in times else "" for times in selects.values())]
        for plan in plans
    ]
    found = [
        markdown(("call", "us"), [(row["call"], f"{row['us']:.2f}") for row in report.rows]),
        markdown(["plan, in the order of their selection", *states], rows),
        markdown(list(report.more["import"]), [list(report.more["import"].values())]),
    ]
    nbytes = report.more["bytes"]
    return [*found, markdown(["bytes of", *nbytes], [["", *nbytes.values()]])]


def main(arguments: list[str] | None = None) -> int:
    """Run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for overhead.json and overhead.md")
    parser.add_argument("--device", choices=("cuda", "host"), default="cuda")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a goal is missed")
    options = parser.parse_args(arguments)
    torch: Any = importlib.import_module("torch")
    report = Report("overhead", options.out, facts(torch, options.device))
    calls = peer_calls(torch, options.device)
    for plan, desc in descriptors():
        for library in libraries(torch, options.device):
            calls |= plan_calls(library, plan, desc)
    wait = torch.cuda.synchronize if options.device == "cuda" else lambda: None
    times = host_microseconds(calls, wait, rounds=4 if options.quick or options.device == "host" else 100)
    for name, us in times.items():
        report.rows.append({"call": name, "us": round(us, 3)})
    selects, pack = measure_selects(options.device)
    wheel = wheel_bytes()
    nbytes = {"wheel": wheel or "not built"} | ({"pack of these plans": pack} if pack else {})
    report.more = {"select": selects, "import": import_row(), "bytes": nbytes}
    judged = list(goals(times, selects))
    report.more["goals"] = [{**goal._asdict(), "is met": goal.is_met} for goal in judged]
    report.finish(tables(report))
    for goal in judged:
        verdict = "met" if goal.is_met else "MISSED"
        print(f"{verdict}: {goal.what}: {goal.measured:.2f} {goal.unit}, limit {goal.limit:.2f}")
    missed = sum(not goal.is_met for goal in judged)
    print(f"overhead: goals {'all met' if not missed else f'missed: {missed} of {len(judged)}'}")
    return 1 if options.strict and missed else 0


if __name__ == "__main__":
    sys.exit(main())
