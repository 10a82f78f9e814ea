"""Launches of sums over rows (include/baracuda/column_sums.cuh): outputs with an element a column.

The rows are summed in groups whose size follows from the rows' number and length and the dtype; what is
chosen here is which blocks take them, which changes no bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from baracuda.contract import Problem
from baracuda.engines.base import (
    THREADS,
    LaunchStep,
    Tensors,
    ceil_div,
    check_rank,
    chunk_of,
)
from baracuda.engines.shared_memory import largest_block
from baracuda.layout import Walk, broadcast_strides, column_strides, merge
from baracuda.packing import axes_format, axes_values, divisor
from baracuda.shapes import numel

__all__ = ["ColumnSums", "row_group"]

LANES = 32
WARPS = THREADS // LANES

#: Threads of a block that walks rows, and what it has of shared memory that is static, at most.
WALK_THREADS, WALK_STATIC = 512, 16 * 1024

#: Warps that map a batch while the others aggregate the next, at least where there is work for them.
MAPPING_WARPS = 8
#: Packs of columns whose sums a thread keeps in registers at most, and in how many bytes: UNITS of
#: column_sums.cuh.
MOST_UNITS, SUM_BYTES = 5, 128

#: Chunks of the rows that it holds at once, at most: MOST of column_sums.cuh.
MOST_CHUNKS = 64
#: Packs a row from which on the threads of a block have enough to do; a warp has one for each lane.
LEAST_PACKS = 64

#: Groups of rows that blocks take each: two a multiprocessor of the largest card.
GROUPS = 264
#: Rows of at most so many bytes are walked whole by a block; of longer ones, blocks take parts.
WALKED_BYTES = 32 * 1024
#: Rows that are summed in order at most, and at least where there are so many.
MOST_ROWS, LEAST_ROWS = 128, 4


def row_group(rows: int, extent: int, itemsize: int) -> int:
    """How many neighbouring rows are summed in order."""
    wanted = GROUPS
    if extent * itemsize > WALKED_BYTES:
        tiles = ceil_div(extent * itemsize, LANES * 16)
        wanted = ceil_div(GROUPS * WARPS, tiles)
    return min(max(ceil_div(rows, wanted), LEAST_ROWS), MOST_ROWS)


@dataclass(frozen=True)
class _Layout:
    """The operands' memory, seen by a kernel that sums columns."""

    kept: Walk
    reduced: Walk
    packed: bool
    walked: bool


@dataclass(frozen=True)
class _Held:
    """The rows that a block holds in shared memory: how many at once, how often, and in how many bytes."""

    batch: int
    stages: int
    shared: int


class ColumnSums:
    """The launches that sum over the rows of a domain, whose `axes` lie within a row."""

    def __init__(self, problem: Problem, axes: tuple[int, ...], tail: bytes) -> None:
        self.problem = problem
        self._tail = tail
        self._axes = axes
        domain, item = problem.domain, problem.element.itemsize
        self._kept_axes = tuple(axis for axis in range(len(domain)) if axis not in axes)
        self._rows = numel(tuple(domain[axis] for axis in self._kept_axes))
        self._extent = numel(tuple(domain[axis] for axis in axes))
        self._pack = 16 // item
        self._group = row_group(self._rows, self._extent, item)
        self._groups = ceil_div(self._rows, self._group)
        largest = problem.preference.max_workspace
        fits = largest is None or self._partial_bytes() <= largest
        self._held = self._rows_held() if fits else None
        self._partial = fits and self._extent > 0 and (self._groups > WARPS or self._held is not None)

    def variants(self) -> tuple[str, ...]:
        """The kernel variants that `steps` may launch."""
        return ("walk_groups", "sum_columns", "total_columns")

    def _rows_held(self) -> _Held | None:
        """What a block that walks whole rows holds; None where rows are too long, or too short to share."""
        op, element = self.problem.op, self.problem.element
        packs, chunks = self._extent // self._pack, ceil_div(self._extent, chunk_of(self._pack))
        if self._extent % self._pack or packs < LEAST_PACKS or not op.outputs:
            return None
        row = (len(op.inputs) - len(op.column_inputs)) * self._extent * element.itemsize
        sums = len(op.column_outputs) * self._extent * element.compute.itemsize
        room = largest_block(self.problem.device, WALK_STATIC)
        most, warps, across = MOST_CHUNKS // chunks, WALK_THREADS // LANES, ceil_div(packs, LANES)
        # With three stages a batch is mapped while the next is aggregated, and sums stay in registers.
        if across <= warps * min(max(SUM_BYTES // (self._pack * sums // self._extent), 1), MOST_UNITS):
            aggregating = max((warps - min(across, MAPPING_WARPS)) // chunks, 1)
            batch = min(room // (3 * row), most, self._group, aggregating)
            if batch >= 1:
                return _Held(batch, 3, 3 * batch * row)
        for stages in (2, 1):
            batch = min((room - sums) // (stages * row), most, self._group)
            if batch >= 1:
                return _Held(batch, stages, stages * batch * row + sums)
        return None

    def workspace_size(self) -> int:
        """Bytes for the sums of groups."""
        return self._partial_bytes() if self._partial else 0

    def _partial_bytes(self) -> int:
        item = self.problem.element.compute.itemsize
        return len(self.problem.op.column_outputs) * self._groups * self._extent * item

    def steps(self, tensors: Tensors) -> tuple[LaunchStep, ...]:
        """The launches for tensors of these layouts; none where no sum is wanted or all are empty."""
        wanted = [name for name in self.problem.op.column_outputs if tensors[name] is not None]
        if not wanted or self._extent == 0:
            return ()
        layout = self._layout(tensors)
        last = ceil_div(self._extent, LANES)
        if layout.walked:
            return (
                self._step("walk_groups", self._groups, layout, tensors),
                self._step("total_columns", last, layout, tensors),
            )
        width = self._pack if layout.packed else 1
        tiles = ceil_div(self._extent, LANES * width)
        splits = ceil_div(self._groups, WARPS) if self._partial else 1
        first = self._step("sum_columns", tiles * splits, layout, tensors)
        if not self._partial:
            return (first,)
        return first, self._step("total_columns", last, layout, tensors)

    def walks(self, tensors: Tensors) -> bool:
        """Whether `steps` write the outputs of elements too, each row read once."""
        op = self.problem.op
        if self._held is None or not self._rows:
            return False
        if all(tensors[name] is None for name in op.column_outputs):
            return False
        return self._layout(tensors).walked

    def _layout(self, tensors: Tensors) -> _Layout:
        op, domain = self.problem.op, self.problem.domain
        zeros = (0,) * len(domain)
        strides = {}
        for name in (*op.inputs, *op.row_inputs, *op.outputs, *op.column_outputs):
            tensor = tensors[name]
            if tensor is None:
                strides[name] = zeros
            elif name in op.column_inputs or name in op.column_outputs:
                strides[name] = column_strides(tensor.shape, tensor.strides, domain, self._axes)
            else:
                strides[name] = broadcast_strides(tensor.shape, tensor.strides, domain)
        # In the order of the domain, whatever the strides: it is the order of the sum.
        of_rows = (*op.inputs, *op.row_inputs, *op.outputs)
        kept = self._merged(self._kept_axes, [strides[name] for name in of_rows])
        reduced = self._merged(self._axes, [strides[name] for name in (*op.inputs, *op.column_outputs)])
        given = [
            (place, tensor) for place, name in enumerate(op.inputs) if (tensor := tensors[name]) is not None
        ]
        packed = (
            self._extent % self._pack == 0
            and reduced.rank == 1
            and all(
                reduced.strides[0][place] == 1
                and tensor.pointer % 16 == 0
                and all(axis[place] % self._pack == 0 for axis in kept.strides)
                for place, tensor in given
            )
        )
        written = [(place, tensors[name]) for place, name in enumerate(of_rows) if name in op.outputs]
        walked = (
            packed
            and self._held is not None
            and self._rows > 0
            and all(
                tensor is not None
                and tensor.pointer % 16 == 0
                and all(axis[place] % self._pack == 0 for axis in kept.strides)
                and self._is_row(strides[of_rows[place]])
                for place, tensor in written
            )
        )
        return _Layout(kept, reduced, packed, walked)

    def _is_row(self, strides: tuple[int, ...]) -> bool:
        """Whether the elements of a row lie side by side."""
        walk = merge(
            [self.problem.domain[axis] for axis in self._axes], [[strides[axis] for axis in self._axes]]
        )
        return walk.strides == ((1,),)

    def _merged(self, axes: tuple[int, ...], strides: list[tuple[int, ...]]) -> Walk:
        domain = self.problem.domain
        walk = merge([domain[axis] for axis in axes], [[s[axis] for axis in axes] for s in strides])
        return check_rank(self.problem, walk)

    def _step(self, variant: str, grid: int, layout: _Layout, tensors: Tensors) -> LaunchStep:
        op = self.problem.op
        given, written = (*op.inputs, *op.row_inputs), (*op.outputs, *op.column_outputs)
        of_rows, of_columns = len(given) + len(op.outputs), len(op.inputs) + len(op.column_outputs)
        held = self._held or _Held(0, 0, 0)
        packs = self._extent // self._pack if self._held else 1
        values = (
            *(name if tensors[name] is not None else None for name in (*given, *written)),
            ("workspace", 0) if self._partial else None,
            self._rows,
            self._extent,
            self._group,
            self._groups,
            int(layout.packed),
            compute_rows(self.problem, op.row_inputs, tensors),
            held.batch,
            held.stages,
            *divisor(packs),
            *axes_values(layout.kept, True, of_rows),
            *axes_values(layout.reduced, True, of_columns),
        )
        form = (
            f"{len(given) + len(written)}P P 4q 4i 3I "
            f"{axes_format(True, of_rows)} {axes_format(True, of_columns)}"
        )
        step = LaunchStep(variant, grid, form, values, self._tail)
        if variant != "walk_groups":
            return step
        return replace(step, threads=WALK_THREADS, shared=held.shared)


def compute_rows(problem: Problem, names: tuple[str, ...], tensors: Tensors) -> int:
    """Row operands that are stored in the compute type, a bit each."""
    kinds = [tensor.element if (tensor := tensors[name]) is not None else None for name in names]
    return sum(1 << place for place, kind in enumerate(kinds) if kind not in (None, problem.element))
