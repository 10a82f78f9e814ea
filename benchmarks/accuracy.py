"""The accuracy of every function of one number in f32, on all 2^32 inputs.

Each f32 result of our kernel is compared with that of our f64 kernel at the same input, which has 29 more
digits; and the f64 kernel with references of the spec in longdouble and mpmath, on the CPU, at the worst
inputs that were found and at others. Says the largest error in units in the last place, where it is, and
whether the spec's bound holds everywhere. Writes accuracy.json and accuracy.md with --out, and its part of a
page of the documentation with --page. Exits 1 where a bound is broken.

With --gradients it does the same with dx, the gradient of x, and writes accuracy_gradients.json. Both kernels
get the same f32 x and dy, the f64 one widened. No gradient of these families reads the forward's y; one that
did would need its exact y rounded to each dtype, as `verify.saved_tensors` has it. The dy of an x is in
[0.5, 2), of either sign, and follows from the bit pattern of x alone, so that a run can be repeated.

With --f64 it holds the f64 kernels against mpmath at hard points instead, and writes accuracy_f64.json.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import accuracy_f64
import bound_formulas
import numpy as np
from accuracy_page import cells, hard_part, hard_table_and_notes, part, table_and_notes, write_part
from options import torch_and_report, words
from problems import Run, prepare
from report import Report
from ulps import errors, is_rounded

import baracuda as bc
from baracuda.codegen import load_spec, verify
from baracuda.codegen.spec.model import Spec
from baracuda.codegen.verify.hard_points import LEAST
from baracuda.codegen.verify.reference import bound_holds

INPUTS = 1 << 32
#: Inputs at a time; so many in f32 and f64, their results and what errors need take about 5 GiB,
#: with gradients some more.
CHUNK = 1 << 26
#: Parts into which a sample is cut at least: each has a worst input of its own.
PARTS = 64
#: Inputs at which the f64 kernel is held against references: the worst of each chunk, and others.
CHECKED = 200
#: What `--device host` takes.
HOST_SAMPLE = 1 << 12
FAMILIES = ("unary", "unary_param")
#: What dy is mixed with: shifts and factors that spread each bit of 32 over all of them.
MIX = ((15, 0x2C1B3C6D), (12, 0x297A2D39))
WORD = 0xFFFFFFFF
#: The last bit of an f32's exponent and its significand; the other bits of the exponents of [0.5, 2).
FREE_BITS, FIXED_BITS = 0x00FFFFFF, 0x3F000000


def problems_of(
    spec: Spec, kinds: Sequence[str], dtype: str, direction: str = "forward"
) -> Iterator[verify.Problem]:
    """Every function of one number, with each combination of numbers that the spec's samples name."""
    for op in spec.ops.values():
        asked = op.family.name in FAMILIES and (not kinds or op.name in kinds)
        if asked and direction in op.programs and dtype in op.dtypes_of(direction):
            yield from verify.with_numbers(verify.problems(op, direction, dtype, [(1,)])[0])


def dy_of(torch: Any, x: Any) -> Any:
    """A gradient of y for each f32 x: of either sign, in [0.5, 2), and always the same of a bit pattern."""
    bits = x.view(torch.int32).long().bitwise_and_(WORD)
    for shift, factor in MIX:
        bits.bitwise_xor_(bits >> shift).mul_(factor).bitwise_and_(WORD)
    bits.bitwise_xor_(bits >> MIX[0][0])
    size = (bits & FREE_BITS).bitwise_or_(FIXED_BITS).int().view(torch.float32)
    return torch.where(bits > WORD // 2, -size, size)


def inputs_at(torch: Any, problem: verify.Problem, x: Any) -> dict[str, Any]:
    """The f32 inputs of a problem by name: x, and dy where its direction is "backward"."""
    return {"x": x, "dy": dy_of(torch, x)} if problem.direction == "backward" else {"x": x}


class Kernel:
    """A plan on buffers of its own.

    Attributes:
        inputs: the tensors of the last call by name, in the problem's dtype.
    """

    def __init__(self, torch: Any, device: str, problem: verify.Problem, count: int) -> None:
        dtype = {"f32": torch.float32, "f64": torch.float64}[problem.dtype]
        place = "cuda" if device == "cuda" else "cpu"
        # Also an x that the plan does not read: a bound may name it.
        names = {*problem.inputs("forward"), *problem.inputs()}
        self.inputs = {name: torch.zeros(count, dtype=dtype, device=place) for name in names}
        self._output = torch.empty(count, dtype=dtype, device=place)
        desc = problem.with_domain((count,)).descriptor()
        read = {name: self.inputs[name] for name in problem.inputs()}
        (written,) = problem.outputs()
        tensors = {**read, written: self._output}
        self._run: Run = prepare(torch, device, problem.plan_class, desc, tensors)

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        """The results for as many inputs, in a buffer that the next call overwrites."""
        for name, tensor in self.inputs.items():
            tensor.copy_(inputs[name])
        self._output.fill_(float("nan"))
        self._run.launch()
        return self._output


class Inputs:
    """All f32 numbers, or every so many of them, by bit pattern in chunks of one size."""

    def __init__(self, torch: Any, device: str, sample: int) -> None:
        wanted = min(sample, INPUTS)
        self.chunk = min(CHUNK, wanted if wanted == INPUTS else max(1, wanted // PARTS))
        self.chunks = wanted // self.chunk
        self.count = self.chunk * self.chunks
        self.step = INPUTS // self.count
        if self.count < INPUTS:
            self.step -= 1 - self.step % 2  # so that not all of them end with zeros
        self._torch = torch
        place = "cuda" if device == "cuda" else "cpu"
        self._places = torch.arange(self.chunk, dtype=torch.int64, device=place) * self.step

    def __iter__(self) -> Iterator[Any]:
        for number in range(self.chunks):
            # As signed integers, so that each fits.
            patterns = self._places + (number * self.chunk * self.step - INPUTS // 2)
            yield patterns.to(self._torch.int32).view(self._torch.float32)

    def specials(self) -> Any:
        """Special numbers, as many as a chunk has: a sample would miss them."""
        values = verify.rounded(verify.special_values("f32"), "f32")
        return self._torch.from_numpy(np.resize(values, self.chunk)).to(self._places.device)

    def all(self) -> Iterator[Any]:
        """All chunks, and the special numbers where these are not all numbers."""
        yield from self
        if self.count < INPUTS:
            yield self.specials()


class Accuracy:
    """Measures ops one by one into a report."""

    def __init__(self, torch: Any, device: str, spec: Spec, inputs: Inputs, report: Report) -> None:
        self.torch = torch
        self.device = device
        self.spec = spec
        self.inputs = inputs
        self.report = report
        self.broken = 0

    def measure(self, problem: verify.Problem) -> None:
        """Add the row of an op."""
        began = time.monotonic()
        numbers = problem.numbers()
        row: dict[str, Any] = {"op": problem.op.name, "numbers": numbers, "bound": problem.ulp["f32"]}
        row |= {"error": 0.0, "x": None} | ({"dy": None} if problem.direction == "backward" else {})
        self.report.add(row)
        try:
            worst = self._all_inputs(row, problem)
            self._wide_kernel(row, problem, worst)
        except (bc.BaracudaError, RuntimeError, NotImplementedError) as error:
            row["failed"] = f"{type(error).__name__}: {error}"
        row["holds"] = (
            "failed" not in row and row["error"] <= row["bound"] and row["f64 error"] <= row["f64 bound"]
        )
        self.broken += not row["holds"]
        row["seconds"] = time.monotonic() - began
        self.report.save()
        print("  ".join(cells(row)), row.get("failed", ""), flush=True)

    def _all_inputs(self, row: dict[str, Any], problem: verify.Problem) -> list[float]:
        """Compare the f32 kernel with the f64 one; gives the worst input of each chunk."""
        torch, chunk = self.torch, self.inputs.chunk
        narrow = Kernel(torch, self.device, problem, chunk)
        wide = Kernel(torch, self.device, in_f64(problem), chunk)
        row |= {"not nearest": 0, "special": 0, "outside": 0, "inputs": 0}
        worst = []
        for x in self.inputs.all():
            inputs = inputs_at(torch, problem, x)
            got, want = narrow(inputs), wide(inputs)
            found, outside = self._errors(problem, wide.inputs, got, want)
            far = ~is_rounded(got, want)
            if outside is not None:
                far &= ~outside
                row["outside"] += int(outside.sum())
            largest, place = (float(part) for part in found.max(0))
            if largest > 0:
                worst.append(x[int(place)].item())
            if largest > row["error"]:
                known = {**inputs, "got": got, "want": want}
                row |= {"error": largest, **{name: one[int(place)].item() for name, one in known.items()}}
            row["special"] += int(found.isinf().sum())
            row["not nearest"] += int(far.sum())
            row["inputs"] += chunk
        return worst

    def _errors(
        self, problem: verify.Problem, inputs: Mapping[str, Any], got: Any, want: Any
    ) -> tuple[Any, Any]:
        """Errors in ulp, and where the spec states no bound: there they are 0. None: nowhere."""
        op, env = problem.op, {**problem.numbers(), **inputs, "exact": want}
        (output,) = problem.outputs()
        scale, holds = op.scale.get(output), op.holds.get(output)
        size = None if scale is None else bound_formulas.value(self.torch, scale, env)
        found = errors(self.torch, got, want, size)
        if holds is None:
            return found, None
        outside = ~bound_formulas.value(self.torch, holds, env)
        return found.masked_fill_(outside, 0), outside

    def _wide_kernel(self, row: dict[str, Any], problem: verify.Problem, worst: Sequence[float]) -> None:
        """Hold the f64 kernel against references, at the worst inputs and at others."""
        worst = worst[: CHECKED // 2]
        rng = np.random.default_rng(1)
        # Of any magnitude, and of those near 1: many functions have nothing to compute elsewhere.
        count = (CHECKED - len(worst)) // 2
        patterns = rng.integers(0, INPUTS, CHECKED - len(worst) - count, dtype=np.uint32).view(np.float32)
        common = np.concatenate([rng.uniform(-1, 1, count // 2), rng.uniform(-10, 10, count - count // 2)])
        with np.errstate(invalid="ignore"):
            parts = (np.array(worst, np.float32), patterns, common.astype(np.float32))
            tensors = inputs_at(self.torch, problem, self.torch.from_numpy(np.concatenate(parts)))
            inputs = {name: tensor.double().numpy() for name, tensor in tensors.items()}
        wide = in_f64(problem).with_domain((CHECKED,))
        got = Kernel(self.torch, self.device, wide, CHECKED)(tensors).cpu().numpy()
        (output,) = wide.outputs()
        want = verify.references(wide, inputs)[output]
        scale = verify.scales(self.spec, wide, inputs).get(output)
        found = verify.ulp_errors("f64", got, want, scale)
        found = np.where(bound_holds(self.spec, wide, inputs).get(output, True), found, 0)
        row |= {"f64 error": float(found.max()), "f64 bound": wide.ulp["f64"]}
        row |= {f"f64 {name}": values[found.argmax()] for name, values in inputs.items()}


def in_f64(problem: verify.Problem) -> verify.Problem:
    """The same problem in f64, with the numbers as they are in f32."""
    numbers = {a.source: problem.as_computed(a, problem.fields[a.source]) for a in problem.op.attributes}
    fields = {**problem.fields, **numbers}
    return verify.Problem(problem.op, problem.direction, "f64", fields, problem.package)


def compile_all(device: str, measured: Sequence[verify.Problem]) -> None:
    """Compile all kernels in parallel, ahead of the first run."""
    where = bc.Device("cuda", 0) if device == "cuda" else bc.Device("host")
    both = [one for problem in measured for one in (problem, in_f64(problem))]
    bc.warm_up([(one.plan_class, one.descriptor()) for one in both], where)


def at_hard_points(made: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Run with --f64; whether a bound is broken as an exit code of 0 or 1."""
    began = time.monotonic()
    if options.f64 < LEAST or options.jobs < 1:
        made.error(f"--f64 {options.f64} --jobs {options.jobs}: want at least {LEAST} points and one process")
    known = {problem.op.name for problem in accuracy_f64.problems_of(load_spec(None), (), options.f64)}
    unknown = set(options.kinds) - known
    if unknown:
        made.error(f"--kinds: {', '.join(sorted(unknown))}: no function of one number in f64, and no gate")
    _, report = torch_and_report("accuracy_f64", options.out, options.device)
    broken = accuracy_f64.measure(
        options.device, options.kinds, options.f64, options.jobs, began + options.budget, report
    )
    report.finish(hard_table_and_notes(report.rows))
    if options.page is not None:
        write_part(options.page, "f64 at hard points", hard_part(report))
    print(f"accuracy: {len(report.rows)} rows, {broken} broken, {time.monotonic() - began:.0f} s")
    return 1 if broken else 0


def main(arguments: list[str] | None = None) -> int:
    """Run; whether a bound is broken as an exit code of 0 or 1."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--out", type=Path, metavar="DIR", help="folder for accuracy.json and accuracy.md")
    made.add_argument("--page", type=Path, metavar="FILE", help="write the page of the documentation")
    made.add_argument("--device", choices=("cuda", "host"), default="cuda")
    made.add_argument("--kinds", type=words, default=(), metavar="NAME,...", help="ops, such as exp,lgamma")
    made.add_argument(
        "--sample", type=int, metavar="N", help="about so many inputs; all without it, few on the host"
    )
    made.add_argument(
        "--budget", type=float, default=3600.0, metavar="SECONDS", help="begin no further op after so long"
    )
    made.add_argument("--gradients", action="store_true", help="measure dx instead of y")
    made.add_argument(
        "--f64", type=int, metavar="N", help=f"hold f64 against mpmath, at N hard points; at least {LEAST}"
    )
    made.add_argument("--jobs", type=int, default=1, metavar="N", help="processes for mpmath")
    options = made.parse_args(arguments)
    began = time.monotonic()
    if options.f64 is not None and options.gradients:
        made.error("--gradients --f64: gradients are measured in f32 alone")
    if options.f64 is not None:
        return at_hard_points(made, options)
    direction, title = ("backward", "f32 gradients") if options.gradients else ("forward", "f32")
    name = "accuracy_gradients" if options.gradients else "accuracy"
    torch, report = torch_and_report(name, options.out, options.device)
    spec = load_spec(None)
    inputs = Inputs(
        torch, options.device, options.sample or (HOST_SAMPLE if options.device == "host" else INPUTS)
    )
    measured = list(problems_of(spec, options.kinds, "f32", direction))
    unknown = set(options.kinds) - {problem.op.name for problem in measured}
    if unknown:
        what = "gradient of a function" if options.gradients else "function"
        made.error(f"--kinds: {', '.join(sorted(unknown))}: no {what} of one number in f32")
    report.about["inputs"] = f"{inputs.count} an op"
    compile_all(options.device, measured)
    accuracy = Accuracy(torch, options.device, spec, inputs, report)
    for done, problem in enumerate(measured):
        if time.monotonic() - began > options.budget:
            report.about["not measured"] = f"{len(measured) - done} of {len(measured)} rows, for want of time"
            break
        accuracy.measure(problem)
    report.finish(table_and_notes(report.rows))
    if options.page is not None:
        amount = "all 2^32 inputs" if inputs.count == INPUTS else f"{inputs.count} of the 2^32 inputs"
        text = part(report, amount, CHECKED, gradients=options.gradients)
        write_part(options.page, title, text)
    print(f"accuracy: {len(report.rows)} rows, {accuracy.broken} broken, {time.monotonic() - began:.0f} s")
    return 1 if accuracy.broken else 0


if __name__ == "__main__":
    sys.exit(main())
