"""What compiled kernels cost, in bytes and in the compiler's time, and whether that is within a budget."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from baracuda.compile.nvrtc import Artifact
    from baracuda.compile.unit import Unit

#: Units that a message names before it says how many more there are.
_NAMED = 5


@dataclass(frozen=True)
class Cost:
    """One unit for one target: its size, and the processor's time that it took, 0 where the cache had it."""

    target: str
    unit: str
    nbytes: int
    seconds: float


@dataclass(frozen=True)
class Budget:
    """Bounds for each target by itself, None where there is none: KiB, and seconds of the processor."""

    kib: float | None = None
    unit_kib: float | None = None
    seconds: float | None = None
    unit_seconds: float | None = None


@dataclass(frozen=True)
class _Measure:
    """A quantity of a cost with the options that bound it."""

    of: Callable[[Cost], float]
    shown: str
    most: str

    def show(self, value: float) -> str:
        return self.shown.format(value)


_SIZE = _Measure(lambda cost: cost.nbytes / 2**10, "{:,.1f} KiB", "largest")
_TIME = _Measure(lambda cost: cost.seconds, "{:.2f} s", "slowest")


def cost_of(unit: Unit, target: str, artifact: Artifact) -> Cost:
    """Return the cost of a compiled unit, under a name that tells dtype and variants."""
    macros = [
        value if name == "BARACUDA_DTYPE" else name.removeprefix("BARACUDA_").lower()
        for name, value in unit.defines
    ]
    return Cost(target, " ".join([unit.name, *macros]), len(artifact.data), artifact.cpu_seconds)


def summary(costs: Sequence[Cost]) -> list[str]:
    """Return a line a measure: the sum, the mean, and the unit with the most. Nothing for no costs."""
    lines = []
    for measure, name in ((_SIZE, "size"), (_TIME, "compiler time")):
        measured = [cost for cost in costs if measure.of(cost) > 0]
        if measured:
            total, top = sum(map(measure.of, measured)), max(measured, key=measure.of)
            lines.append(
                f"  {name}: {measure.show(total)}, {measure.show(total / len(measured))} a unit; "
                f"{measure.most}: {top.unit} with {measure.show(measure.of(top))}"
            )
    return lines


def excesses(costs: Sequence[Cost], budget: Budget) -> list[str]:
    """Return a message for each bound that the costs of one target exceed: what has how much."""
    found = []
    for measure, total, unit, option in (
        (_SIZE, budget.kib, budget.unit_kib, "kib"),
        (_TIME, budget.seconds, budget.unit_seconds, "seconds"),
    ):
        ordered = sorted(costs, key=lambda cost: (-measure.of(cost), cost.unit))
        beyond = [cost for cost in ordered if unit is not None and measure.of(cost) > unit]
        for cost in beyond[:_NAMED]:
            found.append(
                f"{cost.target}: {cost.unit} has {measure.show(measure.of(cost))}, "
                f"the budget of a unit is {measure.show(unit or 0)} (--max-unit-{option})"
            )
        if len(beyond) > _NAMED:
            found.append(f"{beyond[0].target}: {len(beyond) - _NAMED} more units are beyond it")
        whole = sum(map(measure.of, costs))
        if total is not None and whole > total:
            most = ", ".join(f"{cost.unit} {measure.show(measure.of(cost))}" for cost in ordered[:3])
            found.append(
                f"{ordered[0].target}: {len(costs)} units have {measure.show(whole)} together, "
                f"the budget is {measure.show(total)} (--max-{option}); the {measure.most}: {most}"
            )
    return found


def report(costs: Sequence[Cost]) -> str:
    """Return all costs as CSV, a line a unit and target."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["target", "unit", "bytes", "compiler_seconds"])
    writer.writerows([cost.target, cost.unit, cost.nbytes, f"{cost.seconds:.3f}"] for cost in costs)
    return text.getvalue()
