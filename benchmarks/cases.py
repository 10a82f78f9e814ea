"""What is compared: cases, and the tensors that they run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from peers import Peer
from problems import Run, describe, forward_of, given, prepare, stored
from timing import buffer_sets

import baracuda as bc
from baracuda.plan import Plan
from baracuda.shapes import numel

__all__ = ["Case", "Data", "DataMaker"]

#: Elements between the rows of the layout `sliced`: whole packs of 16 bytes in every dtype.
GAP = 64


@dataclass(frozen=True)
class Case:
    """One problem in one layout.

    Attributes:
        plan: the plan class.
        kind: which op of it.
        element: the element kind's name.
        domain: the extents that the op walks.
        axes: the axes that it reduces.
        fields: further descriptor fields.
        layout: contig, transposed (the inputs, the outputs stay contiguous), row-broadcast (the inputs have
            stride 0 on the first axis), sliced (the inputs' rows have a gap behind them), bshd (of four axes,
            every tensor has the middle two swapped) or bshd inputs (the outputs stay contiguous).
    """

    plan: type[Plan]
    kind: Any
    element: str
    domain: tuple[int, ...]
    axes: tuple[int, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    layout: str = "contig"

    @property
    def backward(self) -> bool:
        """Whether it is a gradient."""
        return forward_of(self.plan) is not None

    @property
    def permuted(self) -> bool:
        """Whether inputs have their axes in another order than the contiguous outputs."""
        return self.layout in ("transposed", "bshd inputs")

    @property
    def place(self) -> str:
        """Extents, axes and layout, as the table shows them."""
        words = ["x".join(str(extent) for extent in self.domain)]
        if self.axes:
            words.append("axis " + ",".join(str(axis) for axis in self.axes))
        if self.layout != "contig":
            words.append(self.layout)
        words += [f"{name}={value}" for name, value in self.fields.items()]
        return " ".join(words)

    @property
    def name(self) -> str:
        """The op and its direction."""
        return f"{self.kind.value}{' backward' if self.backward else ''}"


@dataclass(frozen=True)
class Data:
    """Tensors of one case: the forward's inputs, the plan with its own, a backward's incoming gradient."""

    inputs: tuple[Any, ...]
    run: Run
    dy: Any


class DataMaker:
    """Makes the tensors of cases, always the same numbers for the same sequence of cases."""

    def __init__(self, torch: Any, device: str) -> None:
        self.torch = torch
        self.device = device
        self.place = "cuda" if device == "cuda" else "cpu"
        self._random = torch.Generator(device=self.place).manual_seed(1)

    def describe(self, case: Case, peer: Peer | None) -> Any:
        """The descriptor of a case, with what makes it the peer's op."""
        fields = {**(peer.fields if peer else {}), **case.fields}
        return describe(case.plan, case.kind, case.element, case.domain, case.axes, **fields)

    def sets(self, case: Case, peer: Peer | None, cache: int) -> list[Data]:
        """As many sets of buffers as keep a cache of `cache` bytes cold."""
        first = self.data(case, peer)
        count = buffer_sets(first.run.nbytes, cache)
        return [first, *(self.data(case, peer) for _ in range(count - 1))]

    def data(self, case: Case, peer: Peer | None) -> Data:
        """One set of buffers, with the plan's launch packed."""
        desc = self.describe(case, peer)
        names = given(case.plan, desc)
        known: dict[str, Any] = {}
        forward = forward_of(case.plan)
        if forward is None:
            inputs = self._fill(case, case.plan, desc, names, known, peer)
        else:
            fields = {name: getattr(desc, name) for name in forward.DESCRIPTOR.RULES if hasattr(desc, name)}
            forward_desc = forward.DESCRIPTOR(**fields)
            saved = {rule.name for rule in forward.TENSORS if rule.io == "out"} & set(names)
            forward_names = tuple(dict.fromkeys((*given(forward, forward_desc), *sorted(saved))))
            inputs = self._fill(case, forward, forward_desc, forward_names, known, peer)
            results = {rule.name for rule in forward.TENSORS if rule.io == "out"}
            if results & set(names):
                tensors = {name: known[name] for name in forward_names}
                prepare(self.torch, self.device, forward, forward_desc, tensors).launch()
            else:
                for name in results:
                    known.pop(name, None)
            gradients = self._fill(case, case.plan, desc, names, known, None)
        run = prepare(self.torch, self.device, case.plan, desc, {name: known[name] for name in names})
        dy = known[gradients[0]] if forward is not None else None
        return Data(tuple(known[name] for name in inputs), run, dy)

    def _fill(
        self,
        case: Case,
        plan: type[Plan],
        desc: Any,
        names: Sequence[str],
        known: dict[str, Any],
        peer: Peer | None,
    ) -> list[str]:
        """Make the tensors that are not known yet: noise for inputs, whose names are given back."""
        extent = numel(tuple(case.domain[axis] for axis in case.axes))
        shapes = plan.shapes(desc)
        made = []
        for rule in plan.TENSORS:
            if rule.name in known or rule.name not in names:
                continue
            shape = shapes[rule.name][0]
            kind = stored(rule, desc, bc.ElementKind.parse(case.element))
            if rule.io == "in":
                known[rule.name] = self._noise(case, kind, shape, peer, extent)
                made.append(rule.name)
            else:
                known[rule.name] = self._bshd(
                    case, shape, lambda extents, kind=kind: self._unwritten(extents, kind)
                )
        return made

    @staticmethod
    def _bshd(case: Case, shape: tuple[int, ...], make: Callable[[tuple[int, ...]], Any]) -> Any:
        """A tensor of a shape; in the layout bshd, a view of one with the middle axes swapped."""
        if case.layout != "bshd" or len(shape) != 4:
            return make(shape)
        return make((shape[0], shape[2], shape[1], shape[3])).transpose(1, 2)

    def dtype(self, element: str) -> Any:
        """PyTorch's dtype of an element kind."""
        return getattr(self.torch, bc.ElementKind.parse(element).numpy.name)

    def _unwritten(self, shape: tuple[int, ...], kind: bc.ElementKind) -> Any:
        """An output of what no result is likely to be: NaN, the largest integer; true."""
        dtype = self.dtype(str(kind))
        if kind is bc.ElementKind.BOOL:
            content: float | bool = True
        else:
            content = float("nan") if kind.is_float else self.torch.iinfo(dtype).max
        return self.torch.full(shape, content, dtype=dtype, device=self.place)

    def _random_numbers(self, shape: tuple[int, ...], kind: bc.ElementKind) -> Any:
        """Standard normal numbers; truth values; integers of half the digits.

        No integer is 0, which could not be divided by, and no product of two of them overflows.
        """
        dtype = self.dtype(str(kind))
        if kind.is_float:
            return self.torch.empty(shape, dtype=dtype, device=self.place).normal_(generator=self._random)
        low, high = 0, 2
        if kind is not bc.ElementKind.BOOL:
            high = 1 << 4 * kind.itemsize - 1
            low = -high if dtype.is_signed else 1
        numbers = self.torch.randint(low, high, shape, dtype=dtype, device=self.place, generator=self._random)
        return numbers.masked_fill_(numbers == 0, 1) if low < 0 else numbers

    def _noise(
        self, case: Case, kind: bc.ElementKind, shape: tuple[int, ...], peer: Peer | None, extent: int
    ) -> Any:
        """Random numbers of a shape, in the case's layout."""
        stored = shape
        if case.layout == "transposed":
            stored = shape[::-1]
        elif case.layout == "sliced":
            stored = (*shape[:-1], shape[-1] + GAP)
        elif case.layout == "bshd inputs" and len(shape) == 4:
            stored = (shape[0], shape[2], shape[1], shape[3])
        elif case.layout == "row-broadcast" and len(shape) == len(case.domain):
            stored = (1, *shape[1:])
        values = self._bshd(case, stored, lambda extents: self._random_numbers(extents, kind))
        if peer is not None and kind.is_float:
            values = peer.noise(values, extent)
        if case.layout == "transposed":
            return values.permute(*reversed(range(len(shape))))
        if case.layout == "sliced":
            return values[..., : shape[-1]]
        if case.layout == "bshd inputs" and len(shape) == 4:
            return values.transpose(1, 2)
        return values.expand(shape)
