"""Launches of rotations (include/baracuda/rotate.cuh): pairs of a row turned by the angle of their position.

How rows and planes are spread over blocks changes no bit: each element has a result of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from baracuda.contract import Problem
from baracuda.engines.base import THREADS, Engine, LaunchStep, Tensors, ceil_div, scalar_format
from baracuda.layout import INT32_MAX
from baracuda.packing import divisor, pack_scalars
from baracuda.tensor import TensorRef

__all__ = ["RotateEngine"]

#: Pairs whose frequencies one launch carries: TABLE_PAIRS of rotate.cuh.
TABLE_PAIRS = 128

#: Accesses that a thread keeps in flight: ROTATE_ACCESSES of rotate.cuh.
ACCESSES = 8

#: Blocks that a launch is split into where it has the planes for them: several waves of the largest card.
FEW_BLOCKS, MANY_BLOCKS = 2048, 16384

#: `Rotate` of rotate.cuh behind its four pointers.
FORMAT = "4P 19q 3I i 3I 3I 4i 2I"

Strides = tuple[int, ...]


@dataclass(frozen=True)
class _Units:
    """What threads hold of a row.

    Attributes:
        width: elements an access.
        pairs: pairs a unit.
        count: units a row.
        runs: accesses a unit.
    """

    width: int
    pairs: int
    count: int
    runs: int


@dataclass(frozen=True)
class _Spread:
    """How a launch is spread: a block's threads over units, rows and planes, blocks over groups of these."""

    lanes: int
    rows: int
    planes: int
    rows_beside: bool
    planes_a_block: int
    unit_groups: int
    row_groups: int
    plane_groups: int


class RotateEngine(Engine):
    """A tensor [batch, heads, positions, elements], with innermost stride 1, rotated into another."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        assert problem.host is not None
        self._scalars = pack_scalars("d" * len(problem.host.scalars), problem.host.scalars)
        self._scalars += pack_scalars(scalar_format(problem.op.attributes, problem.element), problem.scalars)
        self._table = problem.host.pairs
        self._interleaved = problem.op.pairs == "interleaved"

    def units(self) -> dict[str, tuple[str, ...]]:
        """One unit with both kernels."""
        return {"BARACUDA_NARROW": ("contig", "scalar")}

    def workspace_size(self) -> int:
        """None: frequencies travel as parameters."""
        return 0

    def may_alias(self, output: str, tensor: str) -> bool:
        """A thread reads its elements before it writes them."""
        return tensor in self.problem.op.inputs

    def steps(self, tensors: Tensors) -> tuple[LaunchStep, ...]:
        """A launch for every 128 pairs; more where there are more planes than 32 bits count."""
        if 0 in self.problem.domain:
            return ()
        op = self.problem.op
        given, result = tensors[op.inputs[0]], tensors[op.outputs[0]]
        positions, frequencies = (tensors[name] for name in op.row_inputs)
        assert given is not None
        assert result is not None
        batch, heads, length, _ = self.problem.domain
        reading, writing, counting = _strides(given), _strides(result), _position_strides(positions)
        # The batch is more planes of the same rows, unless each member has positions of its own.
        apart = batch > 1 and counting[0] != 0
        rows, planes = ((batch, length), (1, heads)) if apart else ((1, length), (batch, heads))
        units = self._units_of(given, result)
        inverse = frequencies.strides[0] if frequencies is not None and frequencies.shape[0] > 1 else 0
        # What a block takes to find an angle is little beside so many planes that turn by it.
        turned = 4 * units.pairs // self.problem.element.itemsize
        steps = []
        for first, count in self._slices(units):
            for start, part in _parts(planes):
                beside = _rows_first(heads, length, reading, writing)
                spread = _spread(count, rows, part, beside, ACCESSES // units.runs, turned)
                axes = (0, 2) if apart else (2, 2)
                values = (
                    op.inputs[0],
                    op.row_inputs[0] if positions is not None else None,
                    op.row_inputs[1] if frequencies is not None else None,
                    op.outputs[0],
                    rows[1],
                    rows[0] * rows[1],
                    *counting,
                    inverse,
                    *(reading[axis] for axis in axes),
                    *(writing[axis] for axis in axes),
                    *reading[:2],
                    *writing[:2],
                    *start,
                    self.problem.domain[3],
                    len(self._table),
                    first,
                    count,
                    *divisor(part[1]),
                    part[0] * part[1],
                    *divisor(spread.lanes),
                    *divisor(spread.rows if spread.rows_beside else spread.planes),
                    int(spread.rows_beside),
                    spread.rows,
                    spread.planes,
                    spread.planes_a_block,
                    spread.unit_groups,
                    spread.row_groups,
                )
                grid = spread.unit_groups * spread.row_groups * spread.plane_groups
                variant = "contig" if units.width > 1 else "scalar"
                steps.append(LaunchStep(variant, grid, FORMAT, values, self._tail(first * units.pairs)))
        return tuple(steps)

    def _units_of(self, given: TensorRef, result: TensorRef) -> _Units:
        """Accesses of 16 bytes where every run of them is aligned, else of one element."""
        size, extent, pairs = self.pack_size(), self.problem.domain[3], len(self._table)
        runs = [extent] if self._interleaved else [extent, pairs]
        packed = all(number % size == 0 for number in runs) and all(
            tensor.pointer % 16 == 0 and all(stride % size == 0 for stride in _strides(tensor))
            for tensor in (given, result)
        )
        if self._interleaved:
            elements = size if packed else 2
            return _Units(
                size if packed else 1, elements // 2, ceil_div(extent, elements), 1 if packed else 2
            )
        width = size if packed else 1
        return _Units(width, width, pairs // width + ceil_div(extent - 2 * pairs, 2 * width), 2)

    def _slices(self, units: _Units) -> Iterator[tuple[int, int]]:
        """The first unit and the number of units of each launch; the last has what is behind the pairs."""
        size = TABLE_PAIRS // units.pairs
        starts = range(0, max(ceil_div(len(self._table), units.pairs), 1), size)
        for first in starts:
            yield first, (units.count if first == starts[-1] else first + size) - first

    def _tail(self, first_pair: int) -> bytes:
        """The table of one launch, and the scalars behind it."""
        part = self._table[first_pair : first_pair + TABLE_PAIRS]
        flat = [number for pair in part for number in pair]
        return struct.pack(f"@{2 * TABLE_PAIRS}d", *flat, *(0.0,) * (2 * TABLE_PAIRS - len(flat))) + (
            self._scalars or bytes(8)
        )


def _strides(tensor: TensorRef) -> Strides:
    """The strides of the outer axes, 0 where an extent of 1 makes it say nothing."""
    axes = zip(tensor.shape[:-1], tensor.strides[:-1], strict=True)
    return tuple(stride if extent > 1 else 0 for extent, stride in axes)


def _position_strides(positions: TensorRef | None) -> tuple[int, int]:
    """Strides over the batch and along the sequence."""
    if positions is None:
        return 0, 0
    *outer, inner = (
        stride if extent > 1 else 0 for extent, stride in zip(positions.shape, positions.strides, strict=True)
    )
    return (outer[0] if outer else 0), inner


def _rows_first(heads: int, length: int, reading: Strides, writing: Strides) -> bool:
    """Whether neighbours in memory are rows of one plane rather than planes of one row."""
    if heads == 1 or length == 1:
        return heads == 1
    return (abs(writing[2]), abs(reading[2])) <= (abs(writing[1]), abs(reading[1]))


def _parts(planes: tuple[int, int]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """The planes in parts that 32 bits count: where each begins, and how many it has."""
    inner = min(planes[1], INT32_MAX)
    outer = max(min(planes[0], INT32_MAX // inner), 1)
    for low in range(0, planes[0], outer):
        for start in range(0, planes[1], inner):
            yield (low, start), (min(outer, planes[0] - low), min(inner, planes[1] - start))


def _spread(
    units: int, rows: tuple[int, int], planes: tuple[int, int], rows_beside: bool, at_once: int, turned: int
) -> _Spread:
    """Neighbouring threads take what lies side by side: units, then rows or planes.

    Args:
        units: units a row.
        rows: rows that have a position of their own, outer and inner.
        planes: planes of such rows, outer and inner.
        rows_beside: whether rows come before planes.
        at_once: planes that a thread has under way at a time.
        turned: planes for which an angle is worth finding.
    """
    row_count, plane_count = rows[0] * rows[1], planes[0] * planes[1]
    lanes = min(units, THREADS)
    room = THREADS // lanes
    if rows_beside:
        row_lanes = min(row_count, room)
        plane_lanes = min(plane_count, room // row_lanes)
    else:
        plane_lanes = min(planes[1], room)
        row_lanes = min(row_count, room // plane_lanes)
    unit_groups, row_groups = ceil_div(units, lanes), ceil_div(row_count, row_lanes)
    fewest, most = (
        ceil_div(plane_count, ceil_div(blocks, unit_groups * row_groups))
        for blocks in (MANY_BLOCKS, FEW_BLOCKS)
    )
    useful = max(turned, max(at_once, turned // 4) * plane_lanes)
    planes_a_block = ceil_div(min(max(useful, fewest), most), plane_lanes) * plane_lanes
    plane_groups = ceil_div(plane_count, planes_a_block)
    return _Spread(
        lanes, row_lanes, plane_lanes, rows_beside, planes_a_block, unit_groups, row_groups, plane_groups
    )
