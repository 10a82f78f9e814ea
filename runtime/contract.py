"""What a generated plan class says about itself: its tensors, and a record for each op that it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from baracuda.dtypes import ElementKind
from baracuda.sku import PlanPreference
from baracuda.tensor import Device
from baracuda.wide import HostValues

__all__ = ["Halves", "OpRecord", "Problem", "SumTileRecord", "TensorRule", "TileRecord", "no_scalars"]


def no_scalars(_: Any) -> tuple[float | bool | int, ...]:
    """What an op without attributes folds: nothing."""
    return ()


@dataclass(frozen=True)
class TensorRule:
    """One tensor argument of a plan class.

    Attributes:
        name: the argument's name.
        io: whether the kernel reads or writes it, or needs it for what it works out on the way.
        optional: whether the caller may always leave it out (a gradient not wanted).
        layout: strides that the kernel takes: any, innermost stride 1, or contiguous.
        element: its element kind where that is not the descriptor's, or the descriptor's field that decides.
        other_elements: further kinds that it may have.
        shares: of an output whose heads may share their memory, by a zero stride: the input that does so too.
        halves: the two operands that it holds, of a tensor that does.
    """

    name: str
    io: Literal["in", "out", "scratch"]
    optional: bool = False
    layout: Literal["any", "inner", "contiguous"] = "any"
    element: str | None = None
    other_elements: tuple[str, ...] = ()
    shares: str | None = None
    halves: tuple[str, ...] = ()


@dataclass(frozen=True)
class SumTileRecord:
    """The tiles of attention's sums of items with weights.

    Attributes:
        rows: of a tile.
        depth: what is summed over in a stage.
        stages: in shared memory.
        warps: of a block, by rows, columns and depth.
    """

    rows: int
    depth: int
    stages: int
    warps: tuple[int, int, int]


@dataclass(frozen=True)
class TileRecord:
    """The tiles that an op's kernels are made for, of one element kind.

    Attributes:
        heads: elements of a head that a block holds at once; a kernel each.
        queries: rows of a tile.
        keys: keys that a block takes at once.
        rows: rows of a warp.
        scores: keys that a block takes at once where it sums nothing over them.
        sums: the tiles of sums.
    """

    heads: tuple[int, ...]
    queries: int
    keys: int
    rows: int
    scores: int
    sums: SumTileRecord

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.queries // self.rows * 32


@dataclass(frozen=True)
class OpRecord:
    """One op in one direction.

    Attributes:
        name: the stem of its symbols, such as "lerp_backward".
        source: its kernel file below `kernels/`.
        dtypes: the element kinds that it takes.
        inputs: tensors that the kernel reads at each element, in its order.
        row_inputs: tensors that it reads once a row, in its order.
        outputs: tensors that it writes at each element, in its order.
        row_outputs: tensors that it writes once a row, in its order.
        required: tensors that the caller must give.
        accepted: tensors that the caller may give, required or not; any other must be None.
        batch_invariant: outputs of which a row does not depend on the other rows.
        attributes: kinds of the scalars that the kernel takes: a (compute type), d (double), b (bool),
            i (64-bit).
        fold: descriptor to those scalars, in double precision.
        narrowed: fields of the descriptor whose numbers formulas take in the compute type.
        state: kinds of the fields of a row's state, empty where there is none.
        ulp: error bound an element kind, in units in the last place; others are exact.
        contraction: whether a * b + c may round once.
        sum_ulp: what is added to the bound where an output is a sum over broadcast axes.
        scale: magnitudes that bounds of outputs are multiples of, as the spec writes them; else the result.
        holds: conditions of bounds of outputs, as the spec writes them; else they hold everywhere.
        pairs: where the elements of a pair lie, "interleaved" or "half", in kernels of pairs.
        host: descriptor to what the host computes for the kernel in 40 digits; None: nothing.
        choices: options that no kernel depends on, and their values.
        column_inputs: those of `inputs` that have an element a column, the last ones.
        flags: those of `inputs` that are bool, the last ones.
        target: the descriptor's field with the element kind of the outputs, empty where it has none.
        sum_inputs: of outputs of a map that may be sums, those of `inputs` that they depend on, if not all.
        column_outputs: tensors with an element a column, each a sum over the rows.
        packs: of 16 bytes that a thread of a contiguous map takes.
        half_packs: the same for elements of 16 bits.
        tiles: the tiles of attention, an element kind.
    """

    name: str
    source: str
    dtypes: tuple[str, ...]
    inputs: tuple[str, ...]
    row_inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    row_outputs: tuple[str, ...]
    required: frozenset[str]
    accepted: frozenset[str]
    batch_invariant: tuple[str, ...]
    attributes: str
    fold: Callable[[Any], tuple[float | bool | int, ...]]
    state: str
    ulp: Mapping[str, float]
    contraction: bool = False
    sum_ulp: Mapping[str, float] = field(default_factory=dict)
    scale: Mapping[str, str] = field(default_factory=dict)
    holds: Mapping[str, str] = field(default_factory=dict)
    pairs: str = ""
    host: Callable[[Any], HostValues] | None = None
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    column_inputs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    target: str = ""
    sum_inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    column_outputs: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()
    packs: int = 1
    half_packs: int = 1
    tiles: Mapping[str, TileRecord] = field(default_factory=dict)


@dataclass(frozen=True)
class Halves:
    """Operands that lie side by side in one tensor.

    Attributes:
        axis: along which they lie.
        places: of each operand, the tensor that holds it, and whether it is the first half (0) or the second.
    """

    axis: int
    places: Mapping[str, tuple[str, int]]


@dataclass(frozen=True)
class Problem:
    """What an engine is made for: a plan's op, its element kind, its extents and where it runs.

    `elements` has the element kind of each tensor, `element` that of the descriptor; `halves` says which
    operands are halves of one tensor, if any are.
    """

    plan: str
    op: OpRecord
    element: ElementKind
    device: Device
    domain: tuple[int, ...]
    axes: tuple[int, ...]
    shapes: Mapping[str, tuple[int, ...]]
    scalars: tuple[float | bool | int, ...]
    preference: PlanPreference
    elements: Mapping[str, ElementKind] = field(default_factory=dict)
    host: HostValues | None = None
    desc: Any = None
    halves: Halves | None = None
