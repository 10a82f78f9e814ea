"""The accuracy of every function of several numbers in f32, at random operands.

Each f32 result of our kernels, forward and backward, is compared with that of our f64 kernel at the same
operands, for which the spec's bounds are far below what is measured here. Says the largest error of each
output in units in the last place, where it is, and whether the spec's bound holds; outputs whose bound is 0
are left out, as the f64 kernel may mean another number. Writes accuracy_operands.json and .md with --out.
Exits 1 where a bound is broken.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import bound_formulas
import numpy as np
from accuracy import compile_all, in_f64
from options import torch_and_report, words
from problems import prepare
from report import Report, markdown
from ulps import errors, is_rounded

import baracuda as bc
from baracuda.codegen import load_spec, verify
from baracuda.codegen.spec.model import Spec
from baracuda.codegen.verify.reference import bound_holds

FAMILIES = ("binary", "binary_param", "ternary", "where", "prelu")
#: Operands at a time, and how often, of each sort: normal; of magnitudes from 1e-3 to 1e3; from 1 to 4.
COUNT, HOST_COUNT = 1 << 24, 1 << 12
SORTS = ("normal", "magnitudes", "few")
#: Elements of an output whose bound names parts of its reference, which only NumPy can evaluate.
FEW = 1 << 16
HEAD = ("op", "direction", "numbers", "output", "error", "bound", "at", "not nearest", "holds")


def problems_of(spec: Spec, kinds: Sequence[str], count: int) -> Iterator[verify.Problem]:
    """Every function of several numbers in f32, both directions, with each of the samples' numbers."""
    for op in spec.ops.values():
        if op.family.name in FAMILIES and (not kinds or op.name in kinds):
            for direction in op.programs:
                if "f32" in op.dtypes_of(direction):
                    yield from verify.with_numbers(verify.problems(op, direction, "f32", [(count,)])[0])


class Operands:
    """Random operands, the same ones for the same sequence of calls."""

    def __init__(self, torch: Any, device: str, count: int) -> None:
        self._torch, self._count = torch, count
        self._place = "cuda" if device == "cuda" else "cpu"
        self._random = torch.Generator(device=self._place).manual_seed(5)

    def __call__(self, problem: verify.Problem, sort: str) -> dict[str, Any]:
        """The inputs of a problem by name: f32, or bool."""
        made = {}
        for name in problem.inputs():
            number = self._number("few" if name == "dy" else sort)
            made[name] = number > 0 if problem.dtype_of(name) == "bool" else number
        return made

    def _number(self, sort: str) -> Any:
        torch, shape = self._torch, (self._count,)
        normal = torch.randn(shape, generator=self._random, device=self._place)
        if sort == "normal":
            return normal
        even = torch.rand(shape, generator=self._random, device=self._place)
        return normal * 10 ** (6 * even - 3) if sort == "magnitudes" else normal.sign() * (1 + 3 * even)


def results(torch: Any, device: str, problem: verify.Problem, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of a problem by name, for inputs in its dtype."""
    dtype = {"f32": torch.float32, "f64": torch.float64}[problem.dtype]
    some = next(iter(inputs.values()))
    written = {
        name: torch.full(some.shape, float("nan"), dtype=dtype, device=some.device)
        for name in problem.outputs()
    }
    desc = problem.descriptor()
    prepare(torch, device, problem.plan_class, desc, {**inputs, **written}).launch()
    return written


def over(problem: verify.Problem, count: int) -> verify.Problem:
    """The problem with so many elements in each of its tensors, none of which is broadcast here."""
    whole = problem.domain
    return problem.with_fields(**{name: (count,) for name, one in problem.fields.items() if one == whole})


def judged(
    torch: Any, spec: Spec, problem: verify.Problem, name: str, inputs: Mapping[str, Any], got: Any, want: Any
) -> tuple[Any, Any]:
    """The errors in ulp of an output, 0 where the spec states no bound, and where it is not the nearest.

    A bound that PyTorch cannot evaluate is judged by NumPy, at the first FEW elements.
    """
    op = problem.op
    try:
        env = {**problem.numbers(), **inputs, "exact": want}
        scale, holds = (
            None if part is None else bound_formulas.value(torch, part, env)
            for part in (op.scale.get(name), op.holds.get(name))
        )
    except NotImplementedError:
        got, want = got[:FEW], want[:FEW]
        some = {key: one[:FEW].cpu().numpy() for key, one in inputs.items()}
        small = over(problem, got.numel())
        scale, holds = (
            None if part is None else torch.from_numpy(np.array(part, kind)).to(got.device)
            for part, kind in (
                (verify.scales(spec, small, some).get(name), np.float64),
                (bound_holds(spec, small, some).get(name), bool),
            )
        )
    found, far = errors(torch, got, want, scale), ~is_rounded(got, want)
    return (found, far) if holds is None else (found.masked_fill_(~holds, 0), far & holds)


def measure(
    torch: Any, device: str, spec: Spec, problem: verify.Problem, operands: Operands
) -> list[dict[str, Any]]:
    """A row for each output of a problem whose bound is not 0."""
    bound = problem.ulp["f32"]
    rows = {name: row_of(problem, name) for name in (problem.outputs() if bound else ())}
    for sort in SORTS if rows else ():
        inputs = operands(problem, sort)
        widened = {key: one if one.dtype == torch.bool else one.double() for key, one in inputs.items()}
        narrow = results(torch, device, problem, inputs)
        wide = results(torch, device, in_f64(problem), widened)
        for name, row in rows.items():
            found, far = judged(torch, spec, problem, name, widened, narrow[name], wide[name])
            largest, place = (float(part) for part in found.max(0))
            if largest > row["error"]:
                row |= {"error": largest, "at": {key: one[int(place)].item() for key, one in inputs.items()}}
            row["not nearest"] += int(far.sum())
            row["count"] += found.numel()
    return list(rows.values())


def row_of(problem: verify.Problem, output: str) -> dict[str, Any]:
    """A row before anything is measured."""
    named = {"op": problem.op.name, "direction": problem.direction, "numbers": problem.numbers()}
    bound = problem.ulp["f32"]
    return {**named, "output": output, "bound": bound, "error": 0.0, "at": None, "not nearest": 0, "count": 0}


def cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """A row as text."""
    numbers = ", ".join(f"{name}={value:g}" for name, value in row["numbers"].items())
    place = ", ".join(f"{name}={value:.8g}" for name, value in (row["at"] or {}).items()) or "-"
    far = f"{row['not nearest'] / max(row['count'], 1):.2%}"
    error = row.get("failed") or f"{row['error']:.3f}"
    holds = "yes" if row["holds"] else "NO"
    return (
        row["op"], row["direction"], numbers, row["output"], error, f"{row['bound']:g}", place, far, holds,
    )  # fmt: skip


def run(torch: Any, device: str, report: Report, spec: Spec, kinds: Sequence[str], count: int) -> int:
    """Fill the report; how many bounds are broken."""
    measured = list(problems_of(spec, kinds, count))
    compile_all(device, measured)
    operands = Operands(torch, device, count)
    for problem in measured:
        try:
            rows = measure(torch, device, spec, problem, operands)
        except (bc.BaracudaError, RuntimeError) as error:
            rows = [{**row_of(problem, "-"), "failed": f"{type(error).__name__}: {error}"}]
        for row in rows:
            row["holds"] = "failed" not in row and row["error"] <= row["bound"]
            report.add(row)
            print("  ".join(cells(row)), flush=True)
    return sum(not row["holds"] for row in report.rows)


def main(arguments: list[str] | None = None) -> int:
    """Run; whether a bound is broken as an exit code of 0 or 1."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--out", type=Path, metavar="DIR", help="folder for the JSON file and the table")
    made.add_argument("--device", choices=("cuda", "host"), default="cuda")
    made.add_argument("--kinds", type=words, default=(), metavar="NAME,...", help="ops, such as hypot,pow")
    made.add_argument("--count", type=int, metavar="N", help="operands of each sort; 2^24, few on the host")
    options = made.parse_args(arguments)
    count = options.count if options.count is not None else HOST_COUNT if options.device == "host" else COUNT
    spec = load_spec(None)
    unknown = set(options.kinds) - {problem.op.name for problem in problems_of(spec, options.kinds, 1)}
    if unknown or count < 1:
        made.error(
            f"--kinds {','.join(sorted(unknown))} --count {count}: want functions of several numbers in f32"
        )
    torch, report = torch_and_report("accuracy_operands", options.out, options.device)
    report.about["operands"] = f"{count} of each of {len(SORTS)} sorts"
    broken = run(torch, options.device, report, spec, options.kinds, count)
    report.finish([markdown(HEAD, [cells(row) for row in report.rows])])
    print(f"accuracy_operands: {len(report.rows)} rows, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
