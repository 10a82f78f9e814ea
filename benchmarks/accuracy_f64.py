"""The accuracy of functions of one number, and of gates, in f64 at hard points, against mpmath.

The device computes all results first; a pool of processes then holds them against references.
"""

from __future__ import annotations

import functools
import multiprocessing
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from accuracy_page import hard_cells
from report import Report

import baracuda as bc
from baracuda.codegen import load_spec, verify
from baracuda.codegen.spec.model import Spec
from baracuda.codegen.verify.hard_points import hard_inputs

__all__ = ["FAMILIES", "measure", "problems_of"]

FAMILIES = ("unary", "unary_param", "affine", "prelu", "gated")
#: Points that a process takes at a time, about a second at the most expensive function.
CHUNK = 500


def problems_of(spec: Spec, kinds: Sequence[str], count: int) -> list[verify.Problem]:
    """Every op of these families, with each combination of numbers that the spec's samples name."""
    return [
        problem
        for op in spec.ops.values()
        if op.family.name in FAMILIES and "f64" in op.dtypes and (not kinds or op.name in kinds)
        for problem in verify.with_numbers(verify.problems(op, "forward", "f64", [(count,)])[0])
    ]


@dataclass(frozen=True)
class Task:
    """Some points of a problem: its place among `problems_of`, the inputs and the output y there."""

    place: int
    tensors: Mapping[str, Any]
    got: Any


@dataclass(frozen=True)
class Part:
    """What a task found."""

    place: int
    points: int
    judged: int
    special: int
    far: int
    error: float
    at: Mapping[str, float]
    got: float
    want: float


@functools.cache
def _known(kinds: tuple[str, ...], count: int) -> tuple[Spec, list[verify.Problem]]:
    spec = load_spec(None)
    return spec, problems_of(spec, kinds, count)


def _check(kinds: tuple[str, ...], task: Task) -> Part:
    """Hold the results of a task against references; runs in a process of its own."""
    from baracuda.codegen.verify import mp_reference

    spec, problems = _known(kinds, len(task.got))
    found = mp_reference.judge(spec, problems[task.place], task.tensors, {"y": task.got})["y"]
    with np.errstate(over="ignore", under="ignore"):
        far = found.judged & (task.got != found.want.astype(np.float64)) & ~np.isnan(task.got)
    worst = int(np.argmax(found.errors))
    return Part(
        task.place,
        len(task.got),
        int(found.judged.sum()),
        int(np.isinf(found.errors).sum()),
        int(far.sum()),
        float(found.errors[worst]),
        {name: float(values[worst]) for name, values in task.tensors.items()},
        float(task.got[worst]),
        float(found.want[worst]),
    )


def _tasks(place: int, tensors: Mapping[str, Any], got: Any) -> Iterator[Task]:
    for start in range(0, len(got), CHUNK):
        part = slice(start, start + CHUNK)
        yield Task(place, {name: values[part] for name, values in tensors.items()}, got[part])


def _checked(kinds: tuple[str, ...], tasks: Sequence[Task], jobs: int, until: float) -> Iterator[Part]:
    """The parts in any order, until it is too late."""
    check = functools.partial(_check, kinds)
    if jobs == 1:
        for task in tasks:
            if time.monotonic() > until:
                return
            yield check(task)
        return
    # A fork of a process that uses a GPU is not safe.
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        parts = pool.imap_unordered(check, tasks)
        try:
            for _ in tasks:
                yield parts.next(max(until - time.monotonic(), 0.001))
        except multiprocessing.TimeoutError:
            return


def _results(
    device: str, problems: Sequence[verify.Problem], rows: Sequence[dict[str, Any]], count: int
) -> list[Task]:
    """What the device computes, cut into tasks; a problem that fails has its reason in its row."""
    backend = verify.backend(device)
    tasks: list[Task] = []
    for place, (problem, row) in enumerate(zip(problems, rows, strict=True)):
        tensors = hard_inputs(problem, count)
        try:
            tasks += _tasks(place, tensors, verify.run(backend, problem, tensors)["y"])
        except (bc.BaracudaError, RuntimeError) as error:
            row["failed"] = f"{type(error).__name__}: {error}"
    return tasks


def measure(device: str, kinds: tuple[str, ...], count: int, jobs: int, until: float, report: Report) -> int:
    """Fill a report with a row a problem; gives how many bounds are broken.

    Args:
        device: "cuda" or "host".
        kinds: names of ops; none: all.
        count: points a problem.
        jobs: processes.
        until: when to stop, as `time.monotonic` has it; what is not done by then says so.
        report: where the rows go.
    """
    _, problems = _known(kinds, count)
    where = bc.Device("cuda", 0) if device == "cuda" else bc.Device("host")
    bc.warm_up([(problem.plan_class, problem.descriptor()) for problem in problems], where)
    for problem in problems:
        numbers = problem.numbers()
        row = {"op": problem.op.name, "numbers": numbers, "bound": problem.ulp["f64"], "asked": count}
        counts = dict.fromkeys(("points", "judged", "special", "not nearest"), 0)
        report.add({**row, **counts, "error": 0.0, "at": None})
    rows = report.rows
    for part in _checked(kinds, _results(device, problems, rows, count), jobs, until):
        _take_in(rows[part.place], part)
        if rows[part.place]["points"] == count:
            report.save()
            print("  ".join(hard_cells(rows[part.place])), flush=True)
    for row in rows:
        row["holds"] = "failed" not in row and row["error"] <= row["bound"]
    report.save()
    return sum(not row["holds"] for row in rows)


def _take_in(row: dict[str, Any], part: Part) -> None:
    row["points"] += part.points
    row["judged"] += part.judged
    row["special"] += part.special
    row["not nearest"] += part.far
    if part.error > row["error"]:
        row |= {"error": part.error, "at": dict(part.at), "got": part.got, "want": part.want}
    row["holds"] = row["error"] <= row["bound"]
