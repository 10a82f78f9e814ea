"""Which accesses suit the operands of a map: packs along an axis, or tiles by way of shared memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from baracuda.engines.base import ceil_div
from baracuda.layout import INT32_MAX, Walk
from baracuda.packing import axes_format, axes_values, divisor
from baracuda.shapes import numel

__all__ = ["Operand", "Tiles", "pack_axis", "tiles_for"]

#: ROWS and ACROSS of tiled_map.cuh: the packs of the tiles that a block holds, an input.
ROWS, ACROSS = 128, 8
TILE_BYTES = ROWS * ACROSS * 16
#: Shared memory that every GPU has for a block, beside what the system takes.
MOST_SHARED = 96 * 1024
#: Where fewer of a block's elements are there, one of `1 / LEAST_FILLED`, tiles cost more than they save.
LEAST_FILLED = 8


@dataclass(frozen=True)
class Operand:
    """What decides an operand's accesses, beside its strides.

    Attributes:
        given: whether the kernel reads or writes it.
        output: whether it is written.
        aligned: whether its first element lies where a pack may.
    """

    given: bool
    output: bool
    aligned: bool


def takes_packs(walk: Walk, axis: int, place: int, operand: Operand, size: int) -> bool:
    """Whether whole packs of `size` elements of an operand lie along an axis, each where a pack may."""
    steps = [strides[place] for strides in walk.strides]
    whole = operand.aligned and steps[axis] == 1 and walk.extents[axis] % size == 0
    return whole and all(step % size == 0 for other, step in enumerate(steps) if other != axis)


def pack_axis(walk: Walk, operands: Sequence[Operand], size: int) -> tuple[Walk, int] | None:
    """The walk in packs along its last axis, and the inputs that have one element there, a bit each.

    None where an operand takes no packs.
    """
    spread = 0
    for place, operand in enumerate(operands):
        if not operand.given or takes_packs(walk, walk.rank - 1, place, operand, size):
            continue
        if operand.output or walk.strides[-1][place] != 0 or walk.extents[-1] % size:
            return None
        spread |= 1 << place
    steps = tuple(step * size for step in walk.strides[-1])
    packs = Walk((*walk.extents[:-1], walk.extents[-1] // size), (*walk.strides[:-1], steps))
    return packs, spread


@dataclass(frozen=True)
class Tiles:
    """The grid, the bytes of shared memory and the parameters behind the pointers of a tiled launch."""

    grid: int
    shared: int
    layout: str
    values: tuple[int, ...]


def tiles_for(walk: Walk, operands: Sequence[Operand], size: int) -> Tiles | None:
    """The tiles for inputs whose fast axis is not the outputs', which is the walk's last one.

    None where there are no such inputs, where outputs differ, where too little of a tile would be filled, or
    where an extent or a stride takes more than 32 bits.
    """
    if walk.rank < 2:
        return None
    last = walk.rank - 1
    fast = [_fast_axis(walk, place) if operand.given else last for place, operand in enumerate(operands)]
    if any(axis != last for axis, operand in zip(fast, operands, strict=True) if operand.output):
        return None
    others = Counter(axis for axis in fast if axis != last)
    if not others:
        return None
    other = max(others, key=lambda axis: (others[axis], axis))
    edge = ACROSS * size
    extents = (walk.extents[last], walk.extents[other])
    outer = [axis for axis in range(walk.rank) if axis not in (last, other)]
    rest = Walk(tuple(walk.extents[a] for a in outer), tuple(walk.strides[a] for a in outer))
    # Side by side along Y, so that more of a line is read at once, or along X where that takes fewer blocks.
    along = min((1, 0), key=lambda axis: prod(_blocks(extents, edge, axis)))
    blocks = _blocks(extents, edge, along)
    step = (0, edge) if along else (edge, 0)
    grid = prod(blocks) * numel(rest.extents)
    inputs = sum(not operand.output for operand in operands)
    shared = inputs * TILE_BYTES
    filled = prod(extents) * LEAST_FILLED >= prod(blocks) * ROWS * edge
    steps = (*walk.strides[last], *walk.strides[other])
    if not filled or max(grid, *extents, *map(abs, steps)) > INT32_MAX or shared > MOST_SHARED:
        return None
    turned = sum(1 << place for place, axis in enumerate(fast) if axis == other)
    packed = sum(
        1 << place
        for place, (axis, operand) in enumerate(zip(fast, operands, strict=True))
        if not operand.output and takes_packs(walk, other if axis == other else last, place, operand, size)
    )
    outputs = [place for place, operand in enumerate(operands) if operand.output and operand.given]
    if all(takes_packs(walk, last, place, operands[place], size) for place in outputs):
        packed |= 1 << inputs
    count = len(operands)
    next_tile = (edge * stride for stride in walk.strides[other if along else last][inputs:])
    layout = f"2I 2i 6I {2 + 2 * count}i 0q {count - inputs}q {axes_format(True, count, few=True)}"
    values = (
        *(turned, packed, *step, *divisor(blocks[0]), *divisor(blocks[1]), *extents, *steps, *next_tile),
        *axes_values(rest, True, count, few=True),
    )
    return Tiles(grid, shared, layout, values)


def _blocks(extents: tuple[int, int], edge: int, along: int) -> list[int]:
    """The blocks along each axis, where each takes its tiles side by side along one."""
    return [ceil_div(extent, ROWS if axis == along else edge) for axis, extent in enumerate(extents)]


def _fast_axis(walk: Walk, place: int) -> int:
    """The axis along which an operand's elements lie closest; the last one where it has one element there."""
    steps = [abs(strides[place]) for strides in walk.strides]
    if steps[-1] == 0:
        return walk.rank - 1
    closest = min(step for step in steps if step)
    return max(axis for axis, step in enumerate(steps) if step == closest)
