"""Launches of aggregate kernels (include/baracuda/aggregate.cuh).

The summation tree is fixed by the row's length and the dtype; what is chosen here is how it is spread over
lanes, warps and blocks, which changes no bit.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from baracuda.contract import Problem
from baracuda.engines.base import (
    THREADS,
    Engine,
    LaunchStep,
    Tensors,
    ceil_div,
    check_rank,
    power_of_two_from,
    scalar_format,
)
from baracuda.layout import broadcast_strides, fits_int32, merge, order_by_stride
from baracuda.packing import axes_format, axes_values, compiled, pack_scalars
from baracuda.shapes import numel

__all__ = ["AggregateEngine", "Mapping", "RowAggregate", "row_mapping"]

#: Lanes of a warp and elements of a chunk: LANES and CHUNK of tree.cuh.
LANES = 32
CHUNK = 1024
WARPS = THREADS // LANES

#: Blocks that keep the largest card busy: a split row aims at this many.
BUSY_BLOCKS = 1024


@dataclass(frozen=True)
class Mapping:
    """How a row is spread: lanes a warp, warps a block, chunks a warp, blocks a row."""

    lanes: int
    warps: int
    chunks: int
    splits: int


@functools.cache
def row_mapping(rows: int, extent: int, pack_size: int, split: bool) -> Mapping:
    """The mapping for `rows` rows of `extent` elements.

    Args:
        pack_size: elements in 16 bytes.
        split: whether several blocks may share a row, through the workspace.
    """
    chunks = max(ceil_div(extent, CHUNK), 1)
    if chunks == 1:
        return Mapping(min(power_of_two_from(ceil_div(extent, pack_size)), LANES), 1, 1, 1)
    warps = min(power_of_two_from(chunks), WARPS)
    blocks = ceil_div(rows * warps, WARPS)
    wanted = ceil_div(BUSY_BLOCKS, max(blocks, 1))
    if split and wanted > 1 and chunks > warps:
        share = max(chunks // (warps * wanted), 1)
        each = 1 << (share.bit_length() - 1)
        return Mapping(LANES, warps, each, ceil_div(chunks, warps * each))
    return Mapping(LANES, warps, power_of_two_from(ceil_div(chunks, warps)), 1)


class RowAggregate:
    """The launches that aggregate over `axes` of the domain into outputs that keep the other axes."""

    def __init__(
        self, problem: Problem, axes: tuple[int, ...], outputs: tuple[str, ...], state: str, prefix: str, tail: bytes
    ) -> None:
        self.problem = problem
        self.outputs = outputs
        self._prefix = prefix
        self._tail = tail
        domain = problem.domain
        self._reduced = axes
        self._kept = tuple(axis for axis in range(len(domain)) if axis not in axes)
        self._rows = numel(tuple(domain[axis] for axis in self._kept))
        self._extent = numel(tuple(domain[axis] for axis in axes))
        self._pack = 16 // problem.element.itemsize
        self._state_size = compiled(scalar_format(state, problem.element)).size
        largest = problem.preference.max_workspace
        wanted = self._nodes_size(row_mapping(self._rows, self._extent, self._pack, True))
        self._split = largest is None or wanted <= largest
        self._mapping = row_mapping(self._rows, self._extent, self._pack, self._split)

    def _nodes_size(self, mapping: Mapping) -> int:
        return self._rows * mapping.splits * self._state_size if mapping.splits > 1 else 0

    def workspace_size(self) -> int:
        """Bytes for the states of the blocks that share rows."""
        return self._nodes_size(self._mapping)

    def steps(self, tensors: Tensors) -> tuple[LaunchStep, ...]:
        """One launch, and a second where blocks share rows."""
        if self._rows == 0:
            return ()
        domain, inputs = self.problem.domain, self.problem.op.inputs
        names = inputs + self.outputs
        strides = []
        for name in names:
            tensor = tensors[name]
            assert tensor is not None, name
            strides.append(broadcast_strides(tensor.shape, tensor.strides, domain))
        order = order_by_stride(
            [domain[axis] for axis in self._kept], [[s[axis] for axis in self._kept] for s in strides]
        )
        kept_axes = [self._kept[place] for place in order]
        kept = merge([domain[axis] for axis in kept_axes], [[s[axis] for axis in kept_axes] for s in strides])
        reduced = merge(
            [domain[axis] for axis in self._reduced],
            [[s[axis] for axis in self._reduced] for s in strides[: len(inputs)]],
        )
        contiguous = reduced.rank == 0 or (reduced.rank == 1 and all(step == 1 for step in reduced.strides[0]))
        packed = contiguous and all(
            tensor.pointer % 16 == 0 and all(axis[place] % self._pack == 0 for axis in kept.strides)
            for place, name in enumerate(inputs)
            if (tensor := tensors[name]) is not None
        )
        wide = contiguous or not fits_int32(reduced, len(inputs))
        variant = "contig" if contiguous else "strided64" if wide else "strided"
        check_rank(self.problem, kept)
        check_rank(self.problem, reduced)
        mapping = self._mapping
        values = (
            *names,
            "workspace" if mapping.splits > 1 else None,
            self._rows,
            self._extent,
            mapping.splits,
            mapping.chunks,
            mapping.lanes,
            mapping.warps,
            int(packed),
            *axes_values(kept, True, len(names)),
            *axes_values(reduced, wide, len(inputs)),
        )
        layout = f"{len(names)}P P 4q 3i {axes_format(True, len(names))} {axes_format(wide, len(inputs))}"
        together = THREADS // (mapping.lanes * mapping.warps)
        grid = ceil_div(self._rows, together) * mapping.splits
        steps = [LaunchStep(self._name(variant), grid, layout, values, self._tail)]
        if mapping.splits > 1:
            # The nodes kernel walks no elements: it takes the parameters of the contig kernel.
            steps.append(
                LaunchStep(
                    self._name("nodes"),
                    ceil_div(self._rows, WARPS),
                    f"{len(names)}P P 4q 3i {axes_format(True, len(names))} {axes_format(True, len(inputs))}",
                    values[: len(values) - len(axes_values(reduced, wide, len(inputs)))]
                    + tuple(axes_values(reduced, True, len(inputs))),
                    self._tail,
                )
            )
        return tuple(steps)

    def variants(self) -> tuple[str, ...]:
        """The kernel variants that `steps` may launch."""
        return tuple(self._name(variant) for variant in ("contig", "strided", "strided64", "nodes"))

    def _name(self, variant: str) -> str:
        return f"{self._prefix}{variant}"


class AggregateEngine(Engine):
    """Rows aggregated into outputs."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        op = problem.op
        tail = pack_scalars(scalar_format(op.attributes, problem.element), problem.scalars)
        self._aggregate = RowAggregate(problem, problem.axes, op.outputs, op.state, "", tail)

    def units(self) -> dict[str, tuple[str, ...]]:
        """Contig, nodes and 32-bit strided; 64-bit strided."""
        return {"BARACUDA_NARROW": ("contig", "strided", "nodes"), "BARACUDA_WIDE": ("strided64",)}

    def workspace_size(self) -> int:
        """Bytes for the states of the blocks that share rows."""
        return self._aggregate.workspace_size()

    def steps(self, tensors: Tensors) -> tuple[LaunchStep, ...]:
        """The aggregate's launches."""
        return self._aggregate.steps(tensors)
