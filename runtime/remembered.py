"""What a plan remembers of a layout that it has checked once: what is left to check, and packed launches.

Strides, shapes and alignment decide nearly everything that a plan checks and all that it launches. Only where
the tensors lie may change from run to run, and that is a few comparisons of addresses.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence

from baracuda.checks import byte_span
from baracuda.compile.loader import Launch
from baracuda.engines.base import LaunchStep
from baracuda.tensor import TensorRef

__all__ = ["ALIGNMENT", "Buffer", "LaunchTemplate", "RememberedLayout"]

#: The lowest address of a tensor's memory and the one behind its last byte; None where that is not known.
Buffer = tuple[int, int] | None

#: In bytes. Pointers that differ by a multiple of it are the same to every kernel.
ALIGNMENT = 16

#: Distances of overlapping tensors that are remembered as allowed, a layout.
_MOST_DISTANCES = 64


class LaunchTemplate:
    """A launch of which only the pointers change.

    A run takes a parameter block from a list and puts it back, so that threads never write to the same one.
    """

    __slots__ = ("_free", "_offsets", "_pack", "_pick", "_step", "_struct")

    def __init__(self, pack: Callable[[LaunchStep], Launch], step: LaunchStep, names: Sequence[str]) -> None:
        """`pack` makes a launch with null pointers; `names` are a call's pointers, the last a null one."""
        self._pack = pack
        self._step = step
        self._free: list[Launch] = []
        slots = step.pointers
        parts = [(slot, 0) if isinstance(slot, str) else slot or (None, 0) for slot in slots]
        places = [len(names) if name is None else names.index(name) for name, _ in parts]
        # Of one place itemgetter would give a number instead of a tuple.
        only = slice(places[0], places[0] + 1)
        self._pick = operator.itemgetter(*places) if len(places) > 1 else operator.itemgetter(only)
        self._offsets = [offset for _, offset in parts] if any(offset for _, offset in parts) else None
        self._struct = struct.Struct(f"@{len(slots)}P")

    def packed(self, pointers: Sequence[int]) -> Launch:
        """A launch of the caller's own, for these pointers."""
        launch = self._pack(self._step)
        self._fill(launch, pointers)
        return launch

    def __call__(self, pointers: Sequence[int], stream_handle: int) -> None:
        """Launch with these pointers."""
        try:
            launch = self._free.pop()
        except IndexError:
            launch = self.packed(pointers)
        else:
            self._fill(launch, pointers)
        launch(stream_handle)
        self._free.append(launch)

    def _fill(self, launch: Launch, pointers: Sequence[int]) -> None:
        values = self._pick(pointers)
        if self._offsets is not None:
            values = [
                value + offset if value else 0 for value, offset in zip(values, self._offsets, strict=True)
            ]
        self._struct.pack_into(launch.params, 0, *values)


class RememberedLayout:
    """One layout of a plan's tensors that was found valid.

    Attributes:
        steps: the launches as the engine planned them.
        launches: the same, to be called with pointers.
        needed: bytes of workspace that they want.
    """

    __slots__ = ("_distances", "_pairs", "_spans", "launches", "needed", "steps")

    def __init__(
        self,
        tensors: Sequence[TensorRef | None],
        outputs: Sequence[int],
        steps: tuple[LaunchStep, ...],
        launches: tuple[LaunchTemplate, ...],
        needed: int = 0,
    ) -> None:
        """`outputs` are the places of the outputs in `tensors`."""
        self.steps = steps
        self.launches = launches
        self.needed = needed
        spans: list[tuple[int, int, int, int]] = []
        for place, tensor in enumerate(tensors):
            if tensor is not None:
                first, end = byte_span(tensor)
                if first != end:
                    pointer = tensor.pointer
                    spans.append((place, first - pointer, end - pointer, pointer % ALIGNMENT))
        self._spans = tuple(spans)
        written = [at for at, (place, *_) in enumerate(spans) if place in outputs]
        self._pairs = tuple(
            (one, other)
            for one in written
            for other in range(len(spans))
            if other != one and not (other in written and other < one)
        )
        self._distances: set[tuple[int, int, int]] = set()

    def packed(self, pointers: Sequence[int]) -> tuple[Launch, ...]:
        """The launches for these pointers, the caller's own."""
        return tuple(launch.packed(pointers) for launch in self.launches)

    def fits(self, pointers: Sequence[int], buffers: Sequence[Buffer]) -> bool:
        """Whether tensors of this layout at other places are valid there.

        They are where they are aligned as the first ones were, lie within their buffers, and no output
        overlaps another tensor. False says that the slow checks must decide.
        """
        starts, ends = [], []
        for place, below, above, alignment in self._spans:
            pointer = pointers[place]
            start, end = pointer + below, pointer + above
            buffer = buffers[place]
            if pointer % ALIGNMENT != alignment or (buffer and (start < buffer[0] or end > buffer[1])):
                return False
            starts.append(start)
            ends.append(end)
        for one, other in self._pairs:
            meet = starts[one] < ends[other] and starts[other] < ends[one]
            if meet and (one, other, starts[other] - starts[one]) not in self._distances:
                return False
        return True

    def allow(self, pointers: Sequence[int]) -> None:
        """Remember that tensors may overlap as they do here, which follows from their distances."""
        if len(self._distances) >= _MOST_DISTANCES:
            self._distances = set()
        starts = [pointers[place] + below for place, below, _, _ in self._spans]
        self._distances |= {(one, other, starts[other] - starts[one]) for one, other in self._pairs}

    def within(self, first: int, end: int, pointers: Sequence[int]) -> int | None:
        """The place of a tensor that reaches into the memory from `first` to `end`, or None."""
        for place, below, above, _ in self._spans:
            if pointers[place] + below < end and first < pointers[place] + above:
                return place
        return None
