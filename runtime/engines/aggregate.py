"""Launches of row kernels (include/baracuda/aggregate.cuh and columns.cuh).

The summation tree is fixed by the row's length and the dtype; what is chosen here is how it is spread over
lanes, warps and blocks, which changes no bit.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from baracuda.contract import OpRecord, Problem
from baracuda.engines.base import (
    THREADS,
    Engine,
    LaunchStep,
    Tensors,
    ceil_div,
    check_rank,
    chunk_of,
    log2,
    power_of_two_from,
    scalar_format,
)
from baracuda.engines.column_sums import ColumnSums, compute_rows
from baracuda.engines.shared_memory import WARPS_OF_BLOCK, fit_warps
from baracuda.layout import Walk, broadcast_strides, column_strides, fits_int32, merge, order_by_stride
from baracuda.packing import axes_format, axes_values, compiled, pack_scalars
from baracuda.shapes import numel
from baracuda.workspace import ALIGNMENT

__all__ = ["AggregateEngine", "RowProgram", "Rows", "Spread", "spread_elements", "spread_rows"]

#: Lanes of a warp: LANES of tree.cuh.
LANES = 32
WARPS = THREADS // LANES

#: Rows that blocks share aim at this many: two a multiprocessor, in few streams of memory.
BUSY_BLOCKS = 256
#: Blocks a multiprocessor that aggregate rows without mapping them, by these variants: enough for what they
#: compute, in few streams of memory.
RESIDENT_BLOCKS = 4
RESIDENT = ("contig", "long", "columns")

#: Rows of which a lane has so many packs at most stay in registers: IN_REGISTERS of kept_rows.cuh.
IN_REGISTERS = 4
#: Other rows that a block holds are taken in turns, until it has held so many bytes in their places.
TURN_BYTES = 8 * 1024

#: Neighbouring rows are read side by side from this many bytes on, a sector of memory.
COLUMN_BYTES = 32


@dataclass(frozen=True)
class Spread:
    """How a row is spread: lanes a warp, warps a block, chunks a warp, blocks a row."""

    lanes: int
    warps: int
    chunks: int
    splits: int


@functools.cache
def spread_rows(rows: int, extent: int, pack_size: int, share: bool) -> Spread:
    """The spread of an aggregate over `rows` rows of `extent` elements.

    Args:
        rows: how many rows there are.
        extent: elements a row.
        pack_size: elements in 16 bytes.
        share: whether several blocks may share a row, through the workspace.
    """
    chunks = max(ceil_div(extent, chunk_of(pack_size)), 1)
    if chunks == 1:
        return Spread(min(power_of_two_from(ceil_div(extent, pack_size)), LANES), 1, 1, 1)
    warps = min(power_of_two_from(chunks), WARPS)
    blocks = max(ceil_div(rows * warps, WARPS), 1)
    wanted = ceil_div(BUSY_BLOCKS, blocks)
    if share and wanted > 1 and chunks > warps:
        each = 1 << (max(chunks // (warps * wanted), 1).bit_length() - 1)
        return Spread(LANES, warps, each, ceil_div(chunks, warps * each))
    return Spread(LANES, warps, power_of_two_from(ceil_div(chunks, warps)), 1)


@functools.cache
def spread_elements(extent: int, pack_size: int) -> Spread:
    """The spread of a map over the elements of rows, where nothing is merged: a chunk a warp."""
    chunks = max(ceil_div(extent, chunk_of(pack_size)), 1)
    if chunks == 1:
        return Spread(min(power_of_two_from(ceil_div(extent, pack_size)), LANES), 1, 1, 1)
    warps = min(power_of_two_from(chunks), WARPS)
    return Spread(LANES, warps, 1, ceil_div(chunks, warps))


@dataclass(frozen=True)
class RowProgram:
    """What a row kernel reads and writes, by tensor name, and the kinds of its state's fields."""

    inputs: tuple[str, ...]
    row_inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    row_outputs: tuple[str, ...]
    state: str
    prefix: str = ""
    column_inputs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @staticmethod
    def of(op: OpRecord) -> RowProgram:
        """The program of an op whose template is `aggregate`."""
        return RowProgram(
            op.inputs,
            op.row_inputs,
            op.outputs,
            op.row_outputs,
            op.state,
            column_inputs=op.column_inputs,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Every operand in the kernel's order."""
        return self.inputs + self.row_inputs + self.outputs + self.row_outputs

    @property
    def element_inputs(self) -> tuple[str, ...]:
        """The inputs whose elements differ from row to row."""
        return tuple(name for name in self.inputs if name not in self.column_inputs)

    @property
    def element_places(self) -> tuple[int, ...]:
        """Which of `names` are operands of elements."""
        first = len(self.inputs) + len(self.row_inputs)
        return (*range(len(self.inputs)), *range(first, first + len(self.outputs)))


@dataclass(frozen=True)
class _Layout:
    """The operands' memory, seen by a row kernel."""

    kept: Walk
    reduced: Walk
    variant: str
    packed: bool
    wide: bool


class Rows:
    """The launches that walk the rows of a domain: `axes` lie within a row, the others tell rows apart."""

    def __init__(self, problem: Problem, axes: tuple[int, ...], program: RowProgram, tail: bytes) -> None:
        self.problem = problem
        self.program = program
        self._tail = tail
        domain = problem.domain
        self._axes = axes
        self._kept_axes = tuple(axis for axis in range(len(domain)) if axis not in axes)
        self._rows = numel(tuple(domain[axis] for axis in self._kept_axes))
        self._extent = numel(tuple(domain[axis] for axis in axes))
        self._pack = 16 // problem.element.itemsize
        self._chunks = max(ceil_div(self._extent, chunk_of(self._pack)), 1)
        self._state_size = (
            compiled(scalar_format(program.state, problem.element)).size if program.state else 0
        )
        largest = problem.preference.max_workspace
        shared = self._row_workspace(spread_rows(self._rows, self._extent, self._pack, True))
        self._spread = spread_rows(self._rows, self._extent, self._pack, largest is None or shared <= largest)
        self._columns = largest is None or self._column_workspace() <= largest

    def variants(self) -> dict[str, tuple[str, ...]]:
        """The kernel variants that `steps` may launch, by compile unit: each takes time to load."""
        narrow, wide = ["contig", "strided", "columns"], ["strided64"]
        if self.program.state:
            several, shared = self._chunks > 1, self._spread.splits > 1
            narrow = ["long" if several else "contig", "strided", "columns", *(["nodes"] if several else [])]
            if self.program.outputs:
                kept = "kept_short" if self._is_short() else "kept"
                narrow += [kept, "map_columns", *(["map_contig", "map_strided"] if shared else [])]
                wide += ["map_strided64"] if shared else []
        prefix = self.program.prefix
        return {
            "NARROW": tuple(prefix + name for name in narrow),
            "WIDE": tuple(prefix + name for name in wide),
        }

    def workspace_size(self) -> int:
        """Bytes for states, the most that any layout needs."""
        columns = self._column_workspace() if self._columns else 0
        return max(self._row_workspace(self._spread), columns)

    def _nodes_bytes(self, splits: int) -> int:
        size = self._rows * splits * self._state_size if splits > 1 else 0
        return ceil_div(size, ALIGNMENT) * ALIGNMENT

    def _row_workspace(self, spread: Spread) -> int:
        if spread.splits == 1:
            return 0
        return self._nodes_bytes(spread.splits) + (
            self._rows * self._state_size if self.program.outputs else 0
        )

    def _column_workspace(self) -> int:
        if self._rows <= 1 or self._extent <= 1:
            return 0
        return self._nodes_bytes(self._chunks) + (
            self._rows * self._state_size if self.program.outputs else 0
        )

    def steps(self, tensors: Tensors) -> tuple[LaunchStep, ...]:
        """The launches for tensors of these layouts; none where every output is empty."""
        wanted = [
            name for name in (*self.program.outputs, *self.program.row_outputs) if tensors[name] is not None
        ]
        if self._rows == 0 or not wanted or (self._extent == 0 and not self.program.row_outputs):
            return ()
        layout = self._layout(tensors)
        if layout.variant == "columns":
            return self._column_steps(layout, tensors)
        return self._row_steps(layout, tensors)

    def _layout(self, tensors: Tensors) -> _Layout:
        domain, program = self.problem.domain, self.program
        places = program.element_places
        zeros = (0,) * len(domain)
        strides = []
        for name in program.names:
            tensor = tensors[name]
            if tensor is None:
                strides.append(zeros)
            elif name in program.column_inputs:
                strides.append(column_strides(tensor.shape, tensor.strides, domain, self._axes))
            else:
                strides.append(broadcast_strides(tensor.shape, tensor.strides, domain))
        present = [place for place in places if tensors[program.names[place]] is not None]
        elements = [strides[place] for place in present]
        order = order_by_stride(
            [domain[axis] for axis in self._kept_axes],
            [[s[axis] for axis in self._kept_axes] for s in elements],
        )
        kept_axes = [self._kept_axes[place] for place in order]
        kept = merge([domain[axis] for axis in kept_axes], [[s[axis] for axis in kept_axes] for s in strides])
        reduced = merge(
            [domain[axis] for axis in self._axes],
            [[strides[place][axis] for axis in self._axes] for place in places],
        )
        check_rank(self.problem, kept)
        check_rank(self.problem, reduced)
        in_reduced = [place for place, operand in enumerate(places) if operand in present]
        contiguous = reduced.rank == 0 or (
            reduced.rank == 1 and all(reduced.strides[0][place] == 1 for place in in_reduced)
        )
        # Flags are read byte by byte.
        of_packs = [place for place in present if program.names[place] not in program.flags]
        aligned = all(tensors[program.names[place]].pointer % 16 == 0 for place in of_packs)  # type: ignore[union-attr]
        if not contiguous and self._columns and reduced.rank == 1 and self._side_by_side(kept, present):
            outer = [axis[place] for axis in kept.strides[:-1] for place in of_packs]
            down = [
                axis[place] for axis in reduced.strides for place in in_reduced if places[place] in of_packs
            ]
            packed = aligned and all(number % self._pack == 0 for number in (kept.extents[-1], *outer, *down))
            return _Layout(kept, reduced, "columns", packed, wide=True)
        whole = all(axis[place] % self._pack == 0 for axis in kept.strides for place in of_packs)
        packed = contiguous and aligned and whole
        wide = contiguous or not fits_int32(reduced, len(places))
        variant = "contig" if contiguous else "strided64" if wide else "strided"
        return _Layout(kept, reduced, variant, packed, wide)

    def _side_by_side(self, kept: Walk, elements: list[int]) -> bool:
        """Whether neighbouring rows lie side by side in every operand of elements."""
        if kept.rank == 0 or kept.extents[-1] * self.problem.element.itemsize < COLUMN_BYTES:
            return False
        return all(kept.strides[-1][place] == 1 for place in elements)

    def _row_steps(self, layout: _Layout, tensors: Tensors) -> tuple[LaunchStep, ...]:
        spread = self._spread
        if not self.program.state:
            return (self._step(layout.variant, layout, tensors, spread_elements(self._extent, self._pack)),)
        kept = self._kept_step(layout, tensors)
        if kept is not None:
            return (kept,)
        many_chunks = layout.variant == "contig" and self._chunks > 1
        steps = [self._step("long" if many_chunks else layout.variant, layout, tensors, spread)]
        if spread.splits > 1:
            steps.append(self._nodes(layout, tensors, spread))
            if self.program.outputs:
                spread = spread_elements(self._extent, self._pack)
                steps.append(
                    self._step(f"map_{layout.variant}", layout, tensors, spread, self._spread.splits)
                )
        return tuple(steps)

    def _kept_step(self, layout: _Layout, tensors: Tensors) -> LaunchStep | None:
        """The launch that reads rows once; None where they are not mapped, or a block cannot hold them."""
        program, spread = self.program, self._spread
        mapped = any(tensors[name] is not None for name in program.outputs)
        whole = layout.variant == "contig" and layout.packed and self._extent % self._pack == 0 < self._extent
        if not (mapped and whole and spread.chunks == spread.splits == 1):
            return None
        steps = self._packs_of_lane()
        if self._is_short():
            step = self._step("kept_short", layout, tensors, spread)
            threads = WARPS_OF_BLOCK * LANES
            return replace(step, grid=ceil_div(self._rows * spread.lanes, threads), threads=threads)
        a_warp = self._given(program.element_inputs, tensors) * steps * LANES * 16
        columns = self._given(program.column_inputs, tensors) * self._extent * self.problem.element.itemsize
        for kept_columns in (columns, 0):
            warps = fit_warps(self.problem.device, spread.warps, a_warp, kept_columns)
            if warps:
                teams = warps * LANES // (spread.lanes * spread.warps)
                turns = max(TURN_BYTES // (a_warp * spread.warps), 1)
                step = self._step("kept", layout, tensors, spread, columns_kept=kept_columns > 0)
                grid = ceil_div(self._rows, teams * turns)
                shared = warps * a_warp + kept_columns
                return replace(step, grid=grid, threads=warps * LANES, shared=shared)
        return None

    def _packs_of_lane(self) -> int:
        """Packs that a lane has of its row's chunk, at most."""
        return ceil_div(min(self._extent, chunk_of(self._pack)), LANES * self._pack)

    def _is_short(self) -> bool:
        """Whether a lane's registers hold its packs of a row."""
        return self._packs_of_lane() <= IN_REGISTERS

    @staticmethod
    def _given(names: tuple[str, ...], tensors: Tensors) -> int:
        """How many tensors have a place in shared memory: all up to the last that is there."""
        return max((place + 1 for place, name in enumerate(names) if tensors[name] is not None), default=0)

    def _column_steps(self, layout: _Layout, tensors: Tensors) -> tuple[LaunchStep, ...]:
        spread = Spread(LANES, 1, 1, self._chunks)
        if not self.program.state:
            return (self._step("columns", layout, tensors, spread),)
        steps = [self._step("columns", layout, tensors, spread)]
        if spread.splits > 1:
            steps.append(self._nodes(layout, tensors, spread))
        if self.program.outputs:
            steps.append(self._step("map_columns", layout, tensors, spread))
        return tuple(steps)

    def _nodes(self, layout: _Layout, tensors: Tensors, spread: Spread) -> LaunchStep:
        # It walks no elements; its parameters are those of the kernels with 64-bit offsets.
        groups = ceil_div(spread.splits, LANES)
        lanes = min(power_of_two_from(spread.splits), LANES)
        warps = min(power_of_two_from(groups), WARPS)
        each = power_of_two_from(ceil_div(groups, warps))
        shape = Spread(lanes, warps, each, spread.splits)
        step = self._step("nodes", replace(layout, wide=True), tensors, shape)
        return replace(step, grid=ceil_div(self._rows, THREADS // (lanes * warps)))

    def _step(
        self,
        variant: str,
        layout: _Layout,
        tensors: Tensors,
        spread: Spread,
        node_splits: int | None = None,
        columns_kept: bool = False,
    ) -> LaunchStep:
        program = self.program
        columns = layout.kept.extents[-1] if layout.variant == "columns" else 1
        if layout.variant == "columns":
            tile = LANES // 4 * self._pack if layout.packed else LANES
            grid = self._rows // columns * ceil_div(columns, tile) * spread.splits
        else:
            grid = ceil_div(self._rows, THREADS // (spread.lanes * spread.warps)) * spread.splits
        states = ("workspace", self._nodes_bytes(spread.splits if node_splits is None else node_splits))
        resident = RESIDENT_BLOCKS if program.state and not program.outputs and variant in RESIDENT else 0
        operands, walked = len(program.names), len(program.element_places)
        values = (
            *(name if tensors[name] is not None else None for name in program.names),
            ("workspace", 0),
            states,
            self._rows,
            self._extent,
            spread.splits,
            spread.chunks,
            columns,
            log2(spread.lanes),
            log2(spread.warps),
            int(layout.packed),
            compute_rows(self.problem, (*program.row_inputs, *program.row_outputs), tensors),
            int(columns_kept),
            *axes_values(layout.kept, True, operands),
            *axes_values(layout.reduced, layout.wide, walked),
        )
        form = f"{operands}P 2P 5q 5i {axes_format(True, operands)} {axes_format(layout.wide, walked)}"
        return LaunchStep(program.prefix + variant, grid, form, values, self._tail, resident=resident)


class AggregateEngine(Engine):
    """Rows aggregated, and mapped."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        op = problem.op
        tail = pack_scalars(scalar_format(op.attributes, problem.element), problem.scalars)
        self._walk = Rows(problem, problem.axes, RowProgram.of(op), tail)
        self._sums = ColumnSums(problem, problem.axes, tail) if op.column_outputs else None

    def units(self) -> dict[str, tuple[str, ...]]:
        """Kernels with narrow offsets, those with 64-bit strides, and those that sum over rows."""
        units = {f"BARACUDA_{unit}": names for unit, names in self._walk.variants().items()}
        return units | ({"BARACUDA_SUMS": self._sums.variants()} if self._sums else {})

    def workspace_size(self) -> int:
        """Bytes for states, or for sums over rows, which are done before."""
        return max(self._walk.workspace_size(), self._sums.workspace_size() if self._sums else 0)

    def cross_row_outputs(self) -> tuple[str, ...]:
        """The sums over rows."""
        return self.problem.op.column_outputs

    def may_alias(self, output: str, tensor: str) -> bool:
        """An element may be replaced once its row is known."""
        op = self.problem.op
        elements = {*op.inputs} - {*op.column_inputs, *op.row_inputs}
        return output in op.outputs and tensor in elements

    def steps(self, tensors: Tensors) -> tuple[LaunchStep, ...]:
        """The launches of the sums over rows, which read what later outputs may replace, and of the rows."""
        sums = self._sums.steps(tensors) if self._sums else ()
        if self._sums and self._sums.walks(tensors):
            return sums
        return (*sums, *self._walk.steps(tensors))
