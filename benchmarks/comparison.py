"""One case: a plan beside eager PyTorch and torch.compile on the same data, checked against float64."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from cases import Case, Data, DataMaker
from peers import Peer, peer_of
from report import Report, markdown
from timing import Timer

import baracuda as bc
from baracuda.shapes import numel

__all__ = ["Bench"]

#: How many times the bound of the op's guarantee an error may be before it is called wrong. The guarantee
#: speaks of each element and its own magnitude, the check here of the largest error and the largest value.
SLACK = 4.0
#: Elements of the domain that are compared with float64 at most, and slices in which they are taken.
CHECKED = 1 << 22
SLICES = 64
#: How many cases that are slower than PyTorch the last line names.
NAMED = 5

Call = Callable[[], object]


def _leaf(tensor: Any) -> Any:
    """A tensor that autograd begins at; a condition has no gradient."""
    return tensor.detach().requires_grad_(tensor.is_floating_point())


def _eps(torch: Any, dtype: Any) -> float:
    """The distance of 1 from the next number of a dtype; 0 of integers and truth values, which are exact."""
    return float(torch.finfo(dtype).eps) if dtype.is_floating_point else 0.0


def _forward(case: Case, peer: Peer) -> Callable[..., Any]:
    """The peer's form, with a contiguous result as ours is: of permuted inputs alone it would keep theirs."""
    if not case.permuted:
        return peer.forward
    return lambda *arguments: peer.forward(*arguments).contiguous()


def _widened(tensor: Any) -> Any:
    """Numbers in float64, truth values as they are."""
    return tensor.detach().double() if tensor.is_floating_point() else tensor.detach()


class Bench:
    """Runs cases in two passes: every plan beside eager PyTorch, then torch.compile while time is left."""

    def __init__(
        self, torch: Any, timer: Timer, device: str, report: Report, repeats: int, budget: float
    ) -> None:
        self.torch = torch
        self.timer = timer
        self.make = DataMaker(torch, device)
        self.report = report
        self.repeats = repeats
        self.failed = 0
        self._until = time.monotonic() + budget

    def copy_gbps(self, nbytes: int) -> float:
        """What a copy of `nbytes` on the device moves, in GB/s read and written: the ceiling of every map."""
        source = self.torch.empty(nbytes // 4, dtype=self.torch.float32, device=self.make.place).normal_()
        target = self.torch.empty_like(source)
        return self.timer.measure([lambda: target.copy_(source)], self.repeats).gbps(2 * nbytes)

    def run(self, cases: Sequence[Case], compiled: bool) -> None:
        """Measure all cases; what the budget does not reach is said in the report."""
        rows: list[tuple[Case, dict[str, Any]]] = []
        for case in cases:
            if time.monotonic() > self._until:
                self.report.about["not measured"] = f"{len(cases) - len(rows)} cases, for want of time"
                break
            rows.append((case, self._ours_and_eager(case)))
        done = 0
        for case, row in rows if compiled else ():
            if "failed" in row or time.monotonic() > self._until:
                continue
            self._compiled(case, row)
            done += 1
        if compiled and done < len(rows):
            self.report.about["without torch.compile"] = f"{len(rows) - done} cases"
        self.report.save()

    def _ours_and_eager(self, case: Case) -> dict[str, Any]:
        row: dict[str, Any] = {"op": case.name, "dtype": case.element, "case": case.place}
        self.report.add(row)
        peer = peer_of(self.torch, case.plan, case.kind)
        try:
            data = self.make.sets(case, peer, self.timer.cache)
            row["bytes"] = data[0].run.nbytes
            row["sku"] = str(data[0].run.plan.sku_for(case.plan.ARGS(**data[0].run.tensors)))
            row["workspace"] = data[0].run.plan.workspace_size()
            self._measure(row, "baracuda", [one.run.launch for one in data])
            if peer is not None:
                self._check(row, case, peer, data[0])
        except (bc.BaracudaError, RuntimeError) as error:
            row["failed"] = f"{type(error).__name__}: {error}"
            self.failed += 1
        else:
            if peer is not None and not (case.backward and peer.view):
                self._measure_peer(
                    row, "eager", lambda: self._peer_calls(case, peer, _forward(case, peer), data)
                )
        self._tell(row)
        return row

    def _compiled(self, case: Case, row: dict[str, Any]) -> None:
        peer = peer_of(self.torch, case.plan, case.kind)
        if peer is None or (case.backward and peer.view):
            return
        torch = self.torch

        def calls() -> list[Call]:
            torch._dynamo.reset()
            desc = self.make.describe(case, peer)
            forward = _forward(case, peer)
            function = torch.compile(lambda *inputs: forward(torch, desc, *inputs), dynamic=False)
            return self._peer_calls(
                case,
                peer,
                lambda _, __, *inputs: function(*inputs),
                self.make.sets(case, peer, self.timer.cache),
            )

        self._measure_peer(row, "compile", calls)
        self._tell(row)

    def _measure(self, row: dict[str, Any], who: str, calls: Sequence[Call]) -> None:
        timing = self.timer.measure(calls, self.repeats)
        row[who] = {"gbps": timing.gbps(row["bytes"]), **timing.to_json()}
        self.report.save()

    def _measure_peer(self, row: dict[str, Any], who: str, make: Callable[[], list[Call]]) -> None:
        """A peer's failure is its own: the row says it, and the run goes on."""
        try:
            self._measure(row, who, make())
        except Exception as error:
            first_line = str(error).partition("\n")[0][:200]
            row[who] = {"failed": f"{type(error).__name__}: {first_line}"}

    def _tell(self, row: Mapping[str, Any]) -> None:
        cells = [str(row[key]) for key in ("op", "dtype", "case")]
        cells += [f"{who} {_cell(row.get(who))}" for who in ("baracuda", "eager", "compile")]
        print("  ".join(cells), row.get("failed", ""), flush=True)

    # PyTorch

    def _peer_calls(
        self, case: Case, peer: Peer, forward: Callable[..., Any], data: Sequence[Data]
    ) -> list[Call]:
        tables = peer.tables(self.torch, data[0].run.plan.desc, data[0].inputs[0])
        return [self._peer_call(case, forward, one, tables) for one in data]

    def _peer_call(
        self, case: Case, forward: Callable[..., Any], data: Data, tables: tuple[Any, ...]
    ) -> Call:
        torch = self.torch
        desc = data.run.plan.desc
        if not case.backward:
            inputs = [tensor.detach() for tensor in data.inputs]

            def call() -> object:
                with torch.no_grad():
                    return forward(torch, desc, *inputs, *tables)

            return call
        inputs = [_leaf(tensor) for tensor in data.inputs]
        leaves = [tensor for tensor in inputs if tensor.requires_grad]
        y = forward(torch, desc, *inputs, *tables)

        def gradients() -> object:
            found = torch.autograd.grad(y, leaves, data.dy, retain_graph=True)
            return [gradient.contiguous() for gradient in found] if case.permuted else found

        return gradients

    def _check(self, row: dict[str, Any], case: Case, peer: Peer, data: Data) -> None:
        """Compare the plan's outputs with PyTorch in float64, on slices along an axis that is not reduced.

        Integers and truth values are compared exactly, with what PyTorch makes of the same. Where it does not
        take the dtype there is nothing to compare with.
        """
        torch = self.torch
        data.run.launch()
        self.timer.synchronize()
        plan, halves = data.run.plan, case.plan.HALVES
        together = {*case.axes, *(getattr(plan.desc, halves[0]) if halves else ())}
        kept = [axis for axis in range(len(case.domain)) if axis not in together]
        # The axis on which nothing is broadcast or summed: none where an output is a sum over rows.
        axis = (kept[0] if case.axes else kept[-1]) if kept else None
        if plan.precision_guarantee.batch_invariant != tuple(
            rule.name for rule in case.plan.TENSORS if rule.io == "out" and rule.name in data.run.tensors
        ):
            axis = axis if not case.axes else None

        def sliced(tensor: Any) -> Any:
            place = None if axis is None else axis - len(case.domain)
            if place is None or -place > tensor.dim() or tensor.shape[place] == 1:
                return _widened(tensor)
            extent = case.domain[axis or 0]
            count = max(1, min(SLICES, extent, CHECKED * extent // max(numel(case.domain), 1)))
            chosen = torch.linspace(0, extent - 1, count, device=self.make.place).round().long()
            return _widened(tensor.index_select(place, chosen))

        inputs = [sliced(tensor) for tensor in data.inputs]
        desc = data.run.plan.desc
        tables = peer.tables(torch, desc, inputs[0])
        inputs = [_leaf(tensor) for tensor in inputs] if case.backward else inputs
        try:
            wanted = [peer.forward(torch, desc, *inputs, *tables)]
            if case.backward:
                leaves = [tensor for tensor in inputs if tensor.requires_grad]
                wanted = torch.autograd.grad(wanted, leaves, [sliced(data.dy)])
        except NotImplementedError:
            return
        outputs = [
            rule.name for rule in case.plan.TENSORS if rule.io == "out" and rule.name in data.run.tensors
        ]
        guarantee = data.run.plan.precision_guarantee
        eps, compute_eps = (
            max(_eps(torch, dtype) for dtype in dtypes)
            for dtypes in (
                [data.run.tensors[name].dtype for name in outputs],
                [self.make.dtype(guarantee.accumulator)],
            )
        )
        # Some bounds grow with the row, as the errors of so many roundings do.
        extent = numel(tuple(case.domain[axis] for axis in case.axes))
        allowed = SLACK * (max(guarantee.ulp, 1.0) * eps + extent**0.5 * compute_eps) if eps else 0.0
        largest = 0.0
        for name, exact in zip(outputs, wanted, strict=False):
            got = sliced(data.run.tensors[name])
            reference = exact.reshape(got.shape)
            if not got.is_floating_point():
                largest = max(largest, float((got != reference).double().mean()))
                continue
            # Where both have no value or the same infinity; a NaN of one alone is no small error.
            same = (got == reference) | (got.isnan() & reference.isnan())
            sizes = reference[reference.isfinite()].abs()
            error = (got - reference).masked_fill(same, 0).abs().max()
            if error:
                error = error / (sizes.max() if sizes.numel() else 1)
            largest = max(largest, float(error)) if float(error) == float(error) else float("inf")
        row["error"] = {"relative": largest, "allowed": allowed}
        if not largest <= allowed:
            row["failed"] = f"wrong: the largest relative error is {largest:.2e}, allowed {allowed:.2e}"
            if not allowed:
                row["failed"] = f"wrong: {largest:.2%} of the results differ from PyTorch's"
            self.failed += 1

    # Tables

    def table(self, rows: Iterable[Mapping[str, Any]], copy: float) -> str:
        """GB/s of everybody, ours beside eager's and the copy's, and the error beside the allowed one."""
        speeds = ("baracuda", "eager", "compile", "to eager", "of copy", "spread")
        head = ("op", "dtype", "case", *speeds, "error/allowed")
        return markdown(head, [self._cells(row, copy) for row in rows])

    def verdict(self) -> str:
        """How many cases there were, what failed, and what was slower than eager PyTorch."""
        rows = [row for row in self.report.rows if "baracuda" in row and "gbps" in row.get("eager", {})]
        slower = [row for row in rows if row["baracuda"]["gbps"] < row["eager"]["gbps"]]
        slower.sort(key=lambda row: float(row["baracuda"]["gbps"] / row["eager"]["gbps"]))
        names = [f"{row['op']} {row['dtype']} {row['case']}" for row in slower[:NAMED]]
        text = f"{self.report.name}: {len(self.report.rows)} cases, {self.failed} failed, "
        text += f"{len(slower)} of {len(rows)} slower than eager"
        return f"{text}, the slowest: {'; '.join(names)}" if names else text

    def _cells(self, row: Mapping[str, Any], copy: float) -> list[str]:
        ours, eager = row.get("baracuda"), row.get("eager")
        error = row.get("error")
        speed = ours["gbps"] if ours else np.nan
        spread = (ours["high_us"] - ours["low_us"]) / ours["median_us"] if ours else np.nan
        return [
            str(row["op"]),
            str(row["dtype"]),
            str(row["case"]),
            "FAILED" if "failed" in row else _cell(ours),
            _cell(eager),
            _cell(row.get("compile")),
            f"{speed / eager['gbps']:.2f}" if ours and eager and "gbps" in eager else "-",
            f"{100 * speed / copy:.0f} %",
            f"{100 * spread:.1f} %",
            _error_cell(error),
        ]


def _cell(entry: Mapping[str, Any] | None) -> str:
    if not entry:
        return "-"
    return f"{entry['gbps']:.0f}" if "gbps" in entry else "failed"


def _error_cell(error: Mapping[str, float] | None) -> str:
    """The error beside the allowed one, where there is something to compare with."""
    if not error:
        return "-"
    if error["allowed"]:
        return f"{error['relative'] / error['allowed']:.2f}"
    return "equal" if not error["relative"] else "unequal"
