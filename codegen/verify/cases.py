"""What the demo runs: every plan class, or every op, on given data."""

from __future__ import annotations

import statistics
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from baracuda.codegen.spec.model import Op, Spec
from baracuda.codegen.verify.data import saved_tensors
from baracuda.codegen.verify.devices import backend
from baracuda.codegen.verify.execute import prepare
from baracuda.codegen.verify.floats import rounded
from baracuda.codegen.verify.problems import Problem, each_op, problems

#: Runs of a plan after its first, to take the median of.
REPEATS = 9
#: Rows that are enough where a reference computes each element with many digits, which takes its time.
SLOW_ROWS = 40


@dataclass(frozen=True)
class Result:
    """What one case gave.

    Attributes:
        sku: the kernel's identity.
        ulp: the largest error, in units in the last place.
        first_seconds: selection, compilation where need be, and the first run.
        median_seconds: of a run after the first.
    """

    sku: str
    ulp: float
    first_seconds: float
    median_seconds: float


@dataclass(frozen=True)
class Case:
    """One plan to run.

    Attributes:
        spec: the spec that it comes from.
        problem: op, direction, dtype and descriptor.
        inputs: the tensors' values.
    """

    spec: Spec
    problem: Problem
    inputs: Mapping[str, Any]

    @property
    def plan(self) -> str:
        """The name of the plan class."""
        return self.problem.op.family.plan_class(self.problem.direction)

    @property
    def tolerance(self) -> float:
        """The largest error that the spec allows, in units in the last place."""
        return self.problem.ulp[self.problem.dtype]

    def run(self, device: str) -> Result:
        """Select and run the plan on "host" or "cuda", and compare with the reference.

        Raises:
            BaracudaError: the plan cannot be had or run there.
            GuardError: it wrote outside of its outputs.
        """
        where = backend(device)
        begin = time.perf_counter()
        prepared = prepare(where, self.problem, self.inputs)
        prepared.launch()
        where.synchronize()
        first = time.perf_counter() - begin
        errors = prepared.errors(self.spec)
        launch = prepared.plan.bind(prepared.args(), where.workspace(prepared.plan.workspace_size()))
        times = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            launch(where.stream)
            where.synchronize()
            times.append(time.perf_counter() - begin)
        return Result(str(prepared.plan.sku), max(errors.values()), first, statistics.median(times))


def cases(spec: Spec, images: Any, everything: bool = False, ops: Collection[str] = ()) -> Iterator[Case]:
    """The cases of a spec on images, one a row.

    Args:
        spec: the spec.
        images: float64 of shape (count, pixels).
        everything: whether every op has its cases, or the first of each plan class alone.
        ops: the names of those that have any; empty: of all.
    """
    seen: dict[str, str] = {}
    for op, direction, dtype in each_op(spec):
        name = op.family.plan_class(direction)
        if ops and op.name not in ops:
            continue
        if not everything and not ops and seen.setdefault(name, op.name) != op.name:
            continue
        data = images[:SLOW_ROWS] if any("mpmath" in text for text in op.ref.values()) else images
        yield _case(spec, op, direction, dtype, data)


def _case(spec: Spec, op: Op, direction: str, dtype: str, images: Any) -> Case:
    # The first axes are the last one alone: a row is an image.
    problem = problems(op, direction, dtype, [images.shape], every_option=False)[0]
    forward = problem.with_direction("forward")
    shapes = forward.shapes()
    inputs = {
        name: rounded(_filled(images, shapes[name], turn), dtype)
        for turn, name in enumerate(forward.inputs())
        if op.family.forward[name].dtype is None  # positions and the like stay at their defaults
    }
    if direction == "backward":
        inputs |= saved_tensors(problem, inputs)
        shapes = problem.shapes()
        missing = [
            name
            for name in problem.inputs()
            if name not in inputs and op.family.tensors(direction)[name].dtype is None
        ]
        for turn, name in enumerate(missing, len(inputs)):
            inputs[name] = rounded(_filled(images, shapes[name], turn), dtype)
    for name in {*problem.inputs()} - {*problem.optional()}:
        if op.family.tensors(direction)[name].dtype == "bool":
            inputs[name] = _filled(images > np.mean(images), problem.shapes()[name], 1)
    return Case(spec, problem, inputs)


def _filled(images: Any, shape: tuple[int, ...], turn: int) -> Any:
    """A tensor of some shape filled with pixels, beginning `turn` images later than the first."""
    flat = np.roll(images, -turn, axis=0).ravel()
    return np.resize(flat, shape)
