"""Attention, forward with its weights kept and backward from them, beside PyTorch.

The peers: the same steps one by one with cuBLAS (the forward's three, the backward's five), those compiled,
scaled_dot_product_attention by its MATH backend, and, for information, by FLASH_ATTENTION, which is other
work: it keeps no weights, and computes them again. f32 is without TF32 everywhere, as our guarantee is.

Each plan is checked first: against float64 on some heads of the first and the last member of the batch, and
that twenty runs give equal bits. Prints a table, and writes attention.json and attention.md with --out. Exits
1 where a plan failed or was wrong.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attention_cases import OUTPUTS, PROBLEMS, SMALL, Data, check, data_of, planned
from attention_peers import Call, Problem, backend_call, step_calls
from bits import RUNS
from comparison import Bench
from options import bench, parser
from report import markdown
from timing import Timing, buffer_sets

import baracuda as bc

#: Matrix products that TFLOP/s count, as is usual: in the backward that of the scores too, though `attn` is
#: saved and FLASH_ATTENTION alone computes them again. The other four are 0.8 of the figure.
PRODUCTS = {"forward": 2, "backward": 5}
COUNTING = (
    "TFLOP/s: 2 products forward, 5 backward (4 are computed from saved weights), causal: of the scores seen"
)
BACKENDS = ("MATH", "FLASH_ATTENTION")
#: Element kinds that FLASH_ATTENTION takes.
FLASH = ("f16", "bf16")


class Measurement:
    """Measures the problems of the options into the report of a bench."""

    def __init__(self, torch: Any, runner: Bench, options: argparse.Namespace) -> None:
        self.torch = torch
        self.runner = runner
        self.options = options
        self.until = time.monotonic() + options.budget

    def run(self) -> None:
        """Measure all problems in all directions; what the budget does not reach is said in the report."""
        about, wanted = self.runner.report.about, list(problems(self.options))
        # In parallel: these kernels take the compiler longest.
        where = bc.Device("cuda", 0) if self.options.device == "cuda" else bc.Device("host")
        bc.warm_up([planned(problem, direction) for problem in wanted for direction in OUTPUTS], where)
        for done, problem in enumerate(wanted):
            if time.monotonic() > self.until:
                about["not measured"] = f"{len(wanted) - done} problems, for want of time"
                break
            try:
                sets = self.sets(problem)
            except (bc.BaracudaError, RuntimeError) as error:
                row = self.row(problem, "both")
                self.fail(row, f"{type(error).__name__}: {error}")
                continue
            for direction in self.options.directions.split(","):
                self.measure(problem, direction, sets)

    def sets(self, problem: Problem) -> list[Data]:
        """As many sets of tensors as keep the caches cold."""
        first = data_of(self.torch, self.runner, problem)
        count = buffer_sets(first.nbytes, self.runner.timer.cache)
        return [first, *(data_of(self.torch, self.runner, problem) for _ in range(count - 1))]

    def row(self, problem: Problem, direction: str) -> dict[str, Any]:
        """A new row of the report."""
        name = "sdpa" if direction == "forward" else "sdpa backward"
        return self.runner.report.add({"op": name, "dtype": problem.element, "case": problem.place})

    def fail(self, row: dict[str, Any], text: str) -> None:
        """Say that a plan of ours failed."""
        row["failed"] = text
        self.runner.failed += 1
        print("  ".join(str(row[key]) for key in ("op", "dtype", "case")), "FAILED", text, flush=True)

    def measure(self, problem: Problem, direction: str, sets: Sequence[Data]) -> None:
        """Check a plan, then measure it and its peers."""
        row = self.row(problem, direction)
        row["sku"] = str(sets[0].runs[direction].plan.sku)
        row["flop"] = problem.flops(PRODUCTS[direction])
        backward = direction == "backward"
        try:
            row["error"] = check(self.torch, self.runner, problem, direction, sets[0])
            self.time(row, "baracuda", [data.runs[direction].launch for data in sets])
        except (bc.BaracudaError, RuntimeError, ArithmeticError) as error:
            row.pop("baracuda", None)
            self.fail(row, f"{type(error).__name__}: {error}")
            return
        steps = [step_calls(self.torch, problem, data.tensors, backward) for data in sets]
        for name in steps[0]:
            self.peer(row, name, functools.partial(list, [calls[name] for calls in steps]))
        known = [row[name] for name in steps[0] if "tflops" in row[name]]
        if known:
            row["steps"] = max(known, key=lambda entry: float(entry["tflops"]))
        for backend in BACKENDS if problem.element in FLASH else BACKENDS[:1]:
            self.peer(row, backend, functools.partial(self.backend, problem, sets, backend, backward))
        if not self.options.no_compile and time.monotonic() < self.until:
            self.peer(row, "compiled steps", lambda: self.compiled(steps))
        self.runner.report.save()
        cells = [str(row[key]) for key in ("op", "dtype", "case")]
        cells += [f"{who} {speed(row.get(who))}" for who in ("baracuda", *COLUMNS)]
        print("  ".join(cells), flush=True)

    def backend(self, problem: Problem, sets: Sequence[Data], backend: str, backward: bool) -> list[Call]:
        """PyTorch's own attention for each set of tensors."""
        return [backend_call(self.torch, problem, data.tensors, backend, backward) for data in sets]

    def compiled(self, steps: Sequence[Mapping[str, Call]]) -> list[Call]:
        """The first form of the steps, compiled for each set of tensors."""
        self.torch._dynamo.reset()
        return [self.torch.compile(next(iter(calls.values())), dynamic=False) for calls in steps]

    def peer(self, row: dict[str, Any], who: str, make: Callable[[], Sequence[Call]]) -> None:
        """A peer's failure is its own: the row says it, and the run goes on."""
        try:
            self.time(row, who, make())
        except Exception as error:
            first_line = str(error).partition("\n")[0][:200]
            row[who] = {"failed": f"{type(error).__name__}: {first_line}"}

    def time(self, row: dict[str, Any], who: str, calls: Sequence[Call]) -> None:
        """The TFLOP/s of calls, one a set of tensors, into a row."""
        timing: Timing = self.runner.timer.measure(calls, self.runner.repeats)
        row[who] = {"tflops": row["flop"] / timing.median / 1e12, "spread": timing.spread, **timing.to_json()}


def problems(options: argparse.Namespace) -> Iterator[Problem]:
    """What is measured."""
    for problem in SMALL if options.device == "host" else PROBLEMS:
        if not options.dtypes or problem.element in options.dtypes:
            yield problem


# Tables

COLUMNS = ("steps", "compiled steps", *BACKENDS)


def speed(entry: Mapping[str, Any] | None) -> str:
    """TFLOP/s as a cell."""
    if not entry:
        return "-"
    return f"{entry['tflops']:.3g}" if "tflops" in entry else "failed"


def ratio(row: Mapping[str, Any], who: str) -> float | None:
    """How many times as fast as a peer we are."""
    ours, theirs = row.get("baracuda", {}), row.get(who, {})
    return ours["tflops"] / theirs["tflops"] if "tflops" in ours and "tflops" in theirs else None


def cells(row: Mapping[str, Any]) -> list[str]:
    """A row of the table."""
    ours, error = row.get("baracuda"), row.get("error")
    ratios = [ratio(row, who) for who in ("steps", "MATH")]
    return [
        *(str(row[key]) for key in ("op", "dtype", "case")),
        "FAILED" if "failed" in row else speed(ours),
        *(speed(row.get(who)) for who in COLUMNS),
        *("-" if one is None else f"{one:.2f}" for one in ratios),
        f"{ours['median_us']:.0f}" if ours else "-",
        f"{100 * ours['spread']:.1f} %" if ours else "-",
        f"{error['relative'] / error['allowed']:.2f}" if error else "-",
    ]


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """TFLOP/s of everybody, ours beside the steps and MATH, and the error beside the allowed one."""
    peers = ("steps", "compiled steps", "MATH", "FLASH (other work)")
    head = ("op", "dtype", "case", "baracuda", *peers, "to steps", "to MATH", "us", "spread", "error/allowed")
    return markdown(head, [cells(row) for row in rows])


def verdict(runner: Bench) -> str:
    """How many rows there were, what failed, and what was slower than the steps."""
    ratios = {f"{r['op']} {r['dtype']} {r['case']}": ratio(r, "steps") for r in runner.report.rows}
    known = {name: one for name, one in ratios.items() if one is not None}
    slower = sorted((one, name) for name, one in known.items() if one < 1)
    text = f"attention: {len(ratios)} cases, {runner.failed} failed, "
    text += f"{len(slower)} of {len(known)} slower than the steps"
    return f"{text}: {'; '.join(f'{name} ({one:.2f})' for one, name in slower)}" if slower else text


def main(arguments: list[str] | None = None) -> int:
    """Run; the number of failures as an exit code of 0 or 1."""
    made = parser(__doc__)
    made.add_argument("--directions", default="forward,backward", help="forward, backward or both")
    options = made.parse_args(arguments)
    torch, runner = bench("attention", options)
    torch.manual_seed(1)
    runner.report.about |= {
        "counted": COUNTING,
        "steps": "the faster of the scale on dq and dk and the scale on dscores",
        "MATH": "as PyTorch has it by default: f16 and bf16 go by way of f32",
        "f32": "without TF32",
        "equal bits": f"{RUNS} runs a case",
    }
    Measurement(torch, runner, options).run()
    runner.report.finish([table(runner.report.rows)])
    print(verdict(runner))
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
