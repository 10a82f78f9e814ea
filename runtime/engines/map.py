"""Launches of map kernels (include/baracuda/map.cuh), and of the sums over axes that an output lacks."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

from baracuda.contract import Problem
from baracuda.dtypes import ElementKind
from baracuda.engines.aggregate import RowProgram, Rows
from baracuda.engines.base import THREADS, Engine, LaunchStep, Tensors, ceil_div, check_rank, scalar_format
from baracuda.engines.tiles import Operand, pack_axis, tiles_for
from baracuda.layout import Walk, broadcast_strides, fits_int32, merge, order_by_stride
from baracuda.packing import axes_format, axes_values, pack_scalars
from baracuda.shapes import numel
from baracuda.tensor import TensorRef

__all__ = ["MapEngine"]

#: A tensor that an operand is, or a view of it, and its pointer as a launch names it.
_Found = tuple["TensorRef | None", "str | tuple[str, int] | None"]

#: Elements of strided operands that a thread takes: MAP_UNROLL of map.cuh.
UNROLL = 4
#: Packs of strided operands that a thread takes, the best first, and the threads that there must be then:
#: about as many as a device of today runs at a time.
PACKS_AT_ONCE = (4, 2)
THREADS_ENOUGH = 1 << 18


class MapEngine(Engine):
    """Every output element is a formula of the input elements at the same place of the domain.

    An output with fewer elements than the domain (the gradient of a broadcast operand) is the sum of the
    formula over the axes where it is broadcast.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        op = problem.op
        self._tail = pack_scalars(scalar_format(op.attributes, problem.element), problem.scalars)
        size = numel(problem.domain)
        self._summed = tuple(name for name in op.outputs if _lacks_axes(problem.shapes[name], problem.domain))
        self._mapped = tuple(name for name in op.outputs if name not in self._summed)
        self._sums = {name: self._sum_of(name) for name in self._summed}
        places = problem.halves.places if problem.halves else {}
        self._wholes = {place[0] for name, place in places.items() if name in self._mapped}
        self._empty = size == 0

    def result(self) -> ElementKind | None:
        """The kind of the outputs, where it is another."""
        kind = self.problem.elements[self.problem.op.outputs[0]]
        return None if kind is self.problem.element else kind

    def pack_size(self) -> int:
        """Elements that a pack has of every tensor: 16 bytes of the larger ones."""
        kinds = [self.problem.element, self.problem.elements[self.problem.op.outputs[0]]]
        return 16 // max(kind.itemsize for kind in kinds)

    def usual_variant(self) -> str:
        """The variant that contiguous tensors get."""
        return self._variant("contig")

    def _variant(self, name: str) -> str:
        """The name of a variant; those of outputs whose kind is a choice begin with it."""
        op = self.problem.op
        if not op.target:
            return name
        first = f"to_{self.problem.elements[op.outputs[0]]}"
        return first if name == "contig" else f"{first}_{name}"

    def _sum_of(self, name: str) -> Rows:
        problem = self.problem
        shape = problem.shapes[name]
        padded = (1,) * (len(problem.domain) - len(shape)) + shape
        axes = tuple(axis for axis, extent in enumerate(problem.domain) if padded[axis] != extent)
        # The operand itself, of stride 0 along these axes, is mostly not among them.
        inputs = problem.op.sum_inputs.get(name, problem.op.inputs)
        flags = problem.op.flags
        program = RowProgram(inputs, (), (), (name,), state="a", prefix=f"sum_{name}_", flags=flags)
        return Rows(problem, axes, program, self._tail)

    def units(self) -> dict[str, tuple[str, ...]]:
        """The two units of the map, and one more where an output is summed."""
        units: dict[str, tuple[str, ...]] = {}
        if self._mapped:
            for unit, names in (("NARROW", ("contig", "strided")), ("WIDE", ("strided64", "tiled"))):
                units[f"BARACUDA_{unit}"] = tuple(map(self._variant, names))
        for name, total in self._sums.items():
            units[f"BARACUDA_SUM_{name}"] = tuple(
                v for variants in total.variants().values() for v in variants
            )
        return units

    def may_alias(self, output: str, tensor: str) -> bool:
        """A mapped output may be an input of its own shape: a thread reads an element before it writes it."""
        mapped = output in self._mapped or output in self._wholes
        return mapped and not self._summed and tensor not in self.problem.op.flags

    def why_apart(self, output: str, tensor: str) -> str:
        """Sums read the inputs after the map has written, and which of them a call wants is no matter."""
        if not self._summed or tensor in self.problem.op.flags:
            return ""
        verb = "are sums" if len(self._summed) > 1 else "is a sum"
        return f"{' and '.join(self._summed)} of this problem {verb} over broadcast axes, wanted or not"

    def cross_row_outputs(self) -> tuple[str, ...]:
        """The sums over axes where an operand is broadcast."""
        return self._summed

    def workspace_size(self) -> int:
        """The largest that a sum needs."""
        return max((total.workspace_size() for total in self._sums.values()), default=0)

    def steps(self, tensors: Tensors) -> tuple[LaunchStep, ...]:
        """One launch for the outputs that have all axes, and those of each sum that is wanted."""
        steps: list[LaunchStep] = []
        if not self._empty:
            read = self.problem.op.inputs
            operands = {name: self._operand(name, tensors) for name in (*read, *self._mapped)}
            if any(operands[name][0] is not None for name in self._mapped):
                steps.append(self._map(operands))
        for name, total in self._sums.items():
            if tensors[name] is not None:
                steps += total.steps(tensors)
        return tuple(steps)

    def _operand(self, name: str, tensors: Tensors) -> _Found:
        """An operand with its pointer as a launch names it: a tensor, or a half of one."""
        halves = self.problem.halves
        if halves is None or name not in halves.places:
            return tensors[name], name
        whole_name, place = halves.places[name]
        whole = tensors[whole_name]
        if whole is None:
            return None, None
        shape = self.problem.shapes[name]
        offset = place * shape[halves.axis] * whole.strides[halves.axis] * whole.element.itemsize
        return replace(whole, pointer=whole.pointer + offset, shape=shape), (whole_name, offset)

    def _map(self, operands: Mapping[str, _Found]) -> LaunchStep:
        op, domain = self.problem.op, self.problem.domain
        names = op.inputs + op.outputs
        nothing: _Found = (None, None)
        found = [operands.get(name, nothing) for name in names]
        given = [tensor is not None for tensor, _ in found]
        zeros = (0,) * len(domain)
        strides = []
        for (tensor, _), present in zip(found, given, strict=True):
            strides.append(
                broadcast_strides(tensor.shape, tensor.strides, domain) if present and tensor else zeros
            )
        # An output that is not written follows the first that is, so that it does not stop axes from merging.
        first = next(
            s
            for s, name, present in zip(strides, names, given, strict=True)
            if present and name in op.outputs
        )
        strides = [s if present else first for s, present in zip(strides, given, strict=True)]
        pointers = tuple(
            pointer if present else None for (_, pointer), present in zip(found, given, strict=True)
        )

        order = order_by_stride(domain, strides)
        walk = merge([domain[axis] for axis in order], [[s[axis] for axis in order] for s in strides])
        count, size = numel(domain), self.pack_size()
        ways = []
        for name, (tensor, _), present in zip(names, found, given, strict=True):
            bytes_of_pack = size * self.problem.elements[name].itemsize
            aligned = present and tensor is not None and tensor.pointer % bytes_of_pack == 0
            ways.append(Operand(present, name in op.outputs, aligned))
        aligned = all(operand.aligned for operand in ways if operand.given)
        # Contiguous elements that no pack begins with are strided ones, of which a thread takes several.
        if walk.rank == 0 or (aligned and walk.rank == 1 and all(step == 1 for step in walk.strides[0])):
            packs = count // size if aligned else 0
            each = op.half_packs if self.problem.element.itemsize == 2 else op.packs
            grid = ceil_div(packs + count - packs * size, THREADS * each)
            variant = self._variant("contig")
            return LaunchStep(variant, grid, f"{len(names)}P 2q", (*pointers, count, packs), self._tail)
        check_rank(self.problem, walk)
        tiles = tiles_for(walk, ways, size)
        if tiles is not None:
            layout, values = f"{len(names)}P {tiles.layout}", (*pointers, *tiles.values)
            variant = self._variant("tiled")
            return LaunchStep(variant, tiles.grid, layout, values, self._tail, shared=tiles.shared)
        packed = pack_axis(walk, ways, size)
        packs, spread, step, reached = 0, 0, (0,) * len(names), walk
        if packed is not None:
            walk, spread = packed
            packs, step, walk = several_packs(walk)
            count = numel(walk.extents)
            # A thread steps on from its last pack, too, which may be the only one that it takes so far out.
            reached = Walk((*walk.extents, packs + 1), (*walk.strides, step))
        wide = not fits_int32(reached, len(names))
        return LaunchStep(
            self._variant("strided64" if wide else "strided"),
            ceil_div(count, THREADS * (UNROLL if packed is None else 1)),
            f"{len(names)}P q i I {len(names)}{'q' if wide else 'i'} {axes_format(wide, len(names))}",
            (*pointers, count, packs, spread, *step, *axes_values(walk, wide, len(names))),
            self._tail,
        )


def several_packs(walk: Walk) -> tuple[int, tuple[int, ...], Walk]:
    """How many packs a thread takes of a walk in packs, their steps, and the walk of threads.

    They lie along the innermost axis beside the packs' own whose extent they divide; one pack where there are
    too few threads, or no such axis.
    """
    for packs in PACKS_AT_ONCE:
        if numel(walk.extents) // packs < THREADS_ENOUGH:
            continue
        for axis in reversed(range(walk.rank - 1)):
            if walk.extents[axis] % packs == 0:
                extents, strides = list(walk.extents), list(walk.strides)
                step = strides[axis]
                extents[axis] //= packs
                strides[axis] = tuple(packs * stride for stride in step)
                return packs, step, Walk(tuple(extents), tuple(strides))
    return 1, (0,) * len(walk.strides[0]), walk


@functools.cache
def _lacks_axes(shape: tuple[int, ...], domain: tuple[int, ...]) -> bool:
    return (1,) * (len(domain) - len(shape)) + shape != domain
