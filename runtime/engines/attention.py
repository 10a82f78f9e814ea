"""Launches of attention (include/baracuda/attention_*.cuh): tiles of queries, or of keys, of one head each.

How tiles are spread over blocks changes no bit: the order of every sum follows from its own row's extents.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Iterator
from dataclasses import dataclass

from baracuda.checks import is_contiguous
from baracuda.contract import Problem
from baracuda.dtypes import ElementKind
from baracuda.engines.base import Engine, LaunchStep, Tensors, ceil_div, scalar_format
from baracuda.engines.shared_memory import largest_block
from baracuda.errors import InvalidProblem
from baracuda.layout import INT32_MAX, broadcast_strides
from baracuda.packing import pack_scalars
from baracuda.shapes import numel
from baracuda.sku import MathPrecision
from baracuda.tensor import TensorRef

__all__ = ["attention_engine"]

#: Values of `causal`, in the order of attention_tiles.cuh.
CAUSAL = ("none", "top_left", "bottom_right")

#: `AttentionShape` of attention_tiles.cuh.
SHAPE = "9q 2i"

#: What a launch finds memory by: a tensor's name, a place in the workspace, nothing.
Place = str | tuple[str, int] | None

#: Bytes of workspace are a multiple of this.
_GRANULE = 256


def attention_engine(problem: Problem) -> Engine:
    """The engine of the direction that the op's tensors tell."""
    return _Backward(problem) if "dy" in problem.op.inputs else _Forward(problem)


class _Attention(Engine):
    """What both directions have: tiles, heads, alignment."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        desc = problem.desc
        self._desc = desc
        self._tiles = problem.op.tiles[problem.element.value]
        self._tf32 = problem.element is ElementKind.F32 and problem.preference.allow_tf32
        self._tail = pack_scalars(scalar_format(problem.op.attributes, problem.element), problem.scalars)
        self._head = self._chosen_head()

    def math_precision(self) -> MathPrecision:
        """TF32 where f32 products may round to it."""
        return MathPrecision.TF32 if self._tf32 else super().math_precision()

    @abc.abstractmethod
    def _elements(self, head: int) -> int:
        """Elements of shared memory that a block of the largest kernel needs."""

    def _chosen_head(self) -> int:
        """The smallest head size that holds the problem's, else the largest that fits the device."""
        size = self.problem.element.itemsize
        room = largest_block(self.problem.device)
        fitting = [head for head in self._tiles.heads if self._elements(head) * size <= room]
        heads = fitting or list(self._tiles.heads[:1])
        wanted = max(self._desc.d_k, self._desc.d_v)
        return next((head for head in heads if head >= wanted), heads[-1])

    def _variant(self, stem: str) -> str:
        return f"{'tf32_' if self._tf32 else ''}{stem}{self._head}"

    def _unit(self) -> str:
        return f"BARACUDA_{'TF32_' if self._tf32 else ''}HEAD_{self._head}"

    def _stride(self, columns: int) -> int:
        """`tile_stride` of tile_product.cuh."""
        size = self.problem.element.itemsize
        return columns + (4 if size == 8 else 16 // size)

    def _parts(self, extent: int) -> int:
        """Blocks that share a row of `extent` elements."""
        return max(ceil_div(extent, self._head), 1)

    def _launches(
        self, variant: str, blocks: int, layout: str, values: tuple[int | str | tuple[str, int] | None, ...],
        elements: int, threads: int,
    ) -> Iterator[LaunchStep]:  # fmt: skip
        """A launch for every 2^31 blocks; behind the pointers stands `AttentionShape` without its blocks."""
        place = sum(1 for value in values if not isinstance(value, int)) + 7
        for first in range(0, blocks, INT32_MAX):
            yield LaunchStep(
                variant,
                min(blocks - first, INT32_MAX),
                layout,
                (*values[:place], first, blocks, *values[place:]),
                self._tail,
                threads=threads,
                shared=elements * self.problem.element.itemsize,
            )

    def _shape(self, aligned: int) -> tuple[int, ...]:
        """The values of `AttentionShape` but for the blocks of a launch."""
        desc = self._desc
        return (
            desc.batch_size, desc.num_heads, max(desc.num_kv_heads, 1), desc.query_len, desc.key_len,
            desc.d_k, desc.d_v, CAUSAL.index(desc.causal), aligned,
        )  # fmt: skip

    def _aligned(self, *tensors: TensorRef | None) -> int:
        """A bit for each tensor whose rows all begin at a multiple of 16 bytes."""
        size = self.pack_size()
        return sum(
            1 << place
            for place, tensor in enumerate(tensors)
            if tensor is not None
            and tensor.pointer % 16 == 0
            and all(stride % size == 0 for stride in _outer(tensor))
        )


class _Forward(_Attention):
    def _elements(self, head: int) -> int:
        """A tile of queries, two stages of keys and values, and one of weights (attention_forward.cuh).

        Weights of 16 bits take the place of the values.
        """
        queries, keys = self._tiles.queries, self._tiles.keys
        stages, weights = 2 * keys * self._stride(head), queries * self._stride(keys)
        last = max(stages, weights) if self.problem.element.itemsize < 4 else stages + weights
        return queries * self._stride(head) + stages + last

    def units(self) -> dict[str, tuple[str, ...]]:
        """The kernel of the problem's head size."""
        return {self._unit(): (self.usual_variant(),)}

    def usual_variant(self) -> str:
        """That of the problem's head size."""
        return self._variant("head")

    def workspace_size(self) -> int:
        """None: weights stay in the block."""
        return 0

    def steps(self, tensors: Tensors) -> tuple[LaunchStep, ...]:
        """One launch, a block for each tile of queries."""
        desc = self._desc
        q, k, v, y = (tensors[name] for name in ("q", "k", "v", "y"))
        mask, attn = tensors["mask"], tensors["attn"]
        assert q is not None
        assert k is not None
        assert v is not None
        assert y is not None
        if not numel(y.shape) and (attn is None or not numel(attn.shape)):
            return ()
        parts = self._parts(desc.d_v)
        blocks = desc.batch_size * desc.num_heads * parts * ceil_div(desc.query_len, self._tiles.queries)
        steps = (0,) * 4 if mask is None else broadcast_strides(mask.shape, mask.strides, self.problem.domain)
        values = (
            "q", "k", "v", None if mask is None else "mask", "y", None if attn is None else "attn",
            *self._shape(self._aligned(q, k, v, None, y, attn)),
            *_outer(q), *_outer(k), *_outer(v), *_outer(y), *steps, parts,
            int(mask is not None and mask.element is ElementKind.BOOL),
        )  # fmt: skip
        layout = f"6P {SHAPE} 12q 4q q i"
        elements, threads = self._elements(self._head), self._tiles.threads
        return tuple(self._launches(self.usual_variant(), blocks, layout, values, elements, threads))


class _Backward(_Attention):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        size = numel(problem.domain) * problem.element.itemsize
        self._bytes = ceil_div(size, _GRANULE) * _GRANULE
        most = problem.preference.max_workspace
        self._spared = most is not None and most < self._bytes

    def _elements(self, head: int) -> int:
        return max(
            self._score_elements(head),
            self._alone_elements(head),
            self._query_sum_elements(head),
            self._key_sum_elements(head),
        )

    def _score_elements(self, head: int) -> int:
        """A tile of dy, and two stages of values and of weights that lanes do not read themselves."""
        tiles = self._tiles
        weights = 0 if self.problem.element.itemsize >= 4 else tiles.queries * self._stride(tiles.scores)
        return tiles.queries * self._stride(head) + 2 * (tiles.scores * self._stride(head) + weights)

    def _alone_elements(self, head: int) -> int:
        """A tile of dy, and two stages of values, keys and weights."""
        queries, keys = self._tiles.queries, self._tiles.keys
        stage = 2 * keys * self._stride(head) + queries * self._stride(keys)
        return queries * self._stride(head) + 2 * stage

    def _query_sum_elements(self, head: int) -> int:
        """Stages of weights and items (attention_sums.cuh), or the tile of sums."""
        sums = self._tiles.sums
        stage = sums.rows * self._stride(sums.depth) + sums.depth * self._stride(head)
        return max(sums.stages * stage, sums.rows * self._stride(head))

    def _key_sum_elements(self, head: int) -> int:
        """The same, or the sums of all groups of warps but one."""
        sums = self._tiles.sums
        stage = sums.depth * (self._stride(sums.rows) + self._stride(head))
        wide = self.problem.element.compute.itemsize // self.problem.element.itemsize
        joined = (sums.warps[2] - 1) * sums.rows * head * wide
        return max(sums.stages * stage, sums.rows * self._stride(head), joined)

    def units(self) -> dict[str, tuple[str, ...]]:
        """The kernels of the problem's head size."""
        return {self._unit(): tuple(self._variant(stem) for stem in ("scores", "rows", "keys", "alone"))}

    def usual_variant(self) -> str:
        """That of the scores' gradients, which comes first."""
        return self._variant("scores")

    def workspace_size(self) -> int:
        """Bytes of dscores_ws, for callers that give none; 0 where the preference does not allow as many."""
        return 0 if self._spared else self._bytes

    def takes_workspace(self, tensors: Tensors) -> bool:
        """Whether the scores' gradients are to be kept, and dscores_ws is not there for them."""
        return tensors["dscores_ws"] is None and tensors["dk"] is not None

    def cross_row_outputs(self) -> tuple[str, ...]:
        """Sums over the queries."""
        return ("dk", "dv")

    def steps(self, tensors: Tensors) -> tuple[LaunchStep, ...]:
        """The scores' gradients, dq from them, then dk from them and dv from the weights.

        Without memory for the scores' gradients, dq comes from a kernel that does not keep them.

        Raises:
            InvalidProblem: dk is wanted, and there is neither dscores_ws nor a workspace.
        """
        problem = self.problem
        wanted = {name: _is_wanted(tensors[name]) for name in ("dq", "dk", "dv")}
        dscores: Place = "dscores_ws" if tensors["dscores_ws"] is not None else None
        if tensors["dk"] is not None and numel(problem.domain) and dscores is None:
            if self._spared:
                raise InvalidProblem(
                    f"{problem.plan}: dscores_ws is None, want a tensor, or a workspace of "
                    f"{self._bytes} bytes, which max_workspace={problem.preference.max_workspace} forbids"
                )
            dscores = ("workspace", 0)
        found: list[LaunchStep] = []
        if not numel(problem.domain):
            dscores = None
        if dscores is not None and (wanted["dq"] or wanted["dk"]):
            found += self._score_gradients("scores", tensors, dscores)
            if wanted["dq"]:
                found += self._query_sums(tensors, dscores)
        elif wanted["dq"]:
            found += self._score_gradients("alone", tensors, None)
        if wanted["dk"] or wanted["dv"]:
            found += self._key_sums(tensors, dscores)
        return tuple(found)

    def _kept_aligned(self, tensors: Tensors, dscores: Place) -> bool:
        """Whether the rows of the scores' gradients begin at multiples of 16 bytes, as a workspace does."""
        tensor = tensors["dscores_ws"] if dscores == "dscores_ws" else None
        return self._desc.key_len % self.pack_size() == 0 and (tensor is None or tensor.pointer % 16 == 0)

    def _score_gradients(self, stem: str, tensors: Tensors, dscores: Place) -> Iterator[LaunchStep]:
        desc, tiles = self._desc, self._tiles
        k, v, attn, dy, dq = (tensors[name] for name in ("k", "v", "attn", "dy", "dq"))
        assert k is not None
        assert v is not None
        assert dy is not None
        alone = stem == "alone"
        parts = self._parts(desc.d_k) if alone else 1
        blocks = desc.batch_size * desc.num_heads * parts * ceil_div(desc.query_len, tiles.queries)
        aligned = self._aligned(k, v, attn, dy, dq) | 32 * self._kept_aligned(tensors, dscores)
        values = (
            "k", "v", "attn", "dy", dscores, "dq" if alone else None, *self._shape(aligned),
            *_outer(k), *_outer(v), *_outer(dy), *(_outer(dq) if dq is not None else (0, 0, 0)), parts,
        )  # fmt: skip
        elements = self._alone_elements(self._head) if alone else self._score_elements(self._head)
        layout = f"6P {SHAPE} 12q q"
        yield from self._launches(self._variant(stem), blocks, layout, values, elements, tiles.threads)

    def _query_sums(self, tensors: Tensors, dscores: Place) -> Iterator[LaunchStep]:
        desc, sums = self._desc, self._tiles.sums
        k, dq = tensors["k"], tensors["dq"]
        assert k is not None
        assert dq is not None
        parts = self._parts(desc.d_k)
        blocks = desc.batch_size * desc.num_heads * parts * ceil_div(desc.query_len, sums.rows)
        aligned = self._aligned(None, k, dq) | self._kept_aligned(tensors, dscores)
        values = (dscores, "k", "dq", *self._shape(aligned), *_outer(k), *_outer(dq), parts)
        elements = self._query_sum_elements(self._head)
        threads = sums.warps[0] * sums.warps[1] * 32
        yield from self._launches(
            self._variant("rows"), blocks, f"3P {SHAPE} 6q q", values, elements, threads
        )

    def _key_sums(self, tensors: Tensors, dscores: Place) -> Iterator[LaunchStep]:
        """Both by one launch: where there are few sums for dk, those for dv keep the device busy."""
        desc, sums = self._desc, self._tiles.sums
        attn = tensors["attn"]
        assert attn is not None
        both = (
            self._key_sum(tensors, "dk", "q", dscores, self._kept_aligned(tensors, dscores)),
            self._key_sum(tensors, "dv", "dy", "attn", self._aligned(attn) > 0),
        )
        shared = sum(one.groups * one.parts for one in both)
        blocks = ceil_div(desc.key_len, sums.rows) * desc.batch_size * shared
        values = (
            *(one.weights for one in both), *(one.items for one in both), *(one.out for one in both),
            *self._shape(both[0].aligned | both[1].aligned << 3),
            *(stride for one in both for stride in one.item_strides),
            *(stride for one in both for stride in one.out_strides),
            *(one.groups for one in both), *(one.parts for one in both), *(one.extent for one in both),
        )  # fmt: skip
        elements, threads = self._key_sum_elements(self._head), math.prod(sums.warps) * 32
        layout = f"6P {SHAPE} 12q 6q"
        yield from self._launches(self._variant("keys"), blocks, layout, values, elements, threads)

    def _key_sum(
        self, tensors: Tensors, out: str, items: str, weights: Place, weights_aligned: bool
    ) -> _KeySum:
        result, given = tensors[out], tensors[items]
        assert given is not None
        if result is None or not _is_wanted(result):
            return _KeySum(None, None, None)
        # Heads that share their memory share one sum.
        groups = 1 if result.shape[1] > 1 and result.strides[1] == 0 else self._desc.num_kv_heads
        extent = result.shape[-1]
        aligned = self._aligned(None, given, result) | weights_aligned
        return _KeySum(
            weights, items, out, _outer(given), _outer(result), groups, self._parts(extent), extent, aligned
        )


@dataclass(frozen=True)
class _KeySum:
    """One of the two sums over queries, as `AttentionKeySums` has it; not wanted: without groups."""

    weights: Place
    items: Place
    out: Place
    item_strides: tuple[int, ...] = (0, 0, 0)
    out_strides: tuple[int, ...] = (0, 0, 0)
    groups: int = 0
    parts: int = 1
    extent: int = 1
    aligned: int = 0


def _is_wanted(tensor: TensorRef | None) -> bool:
    return tensor is not None and numel(tensor.shape) > 0


def _outer(tensor: TensorRef) -> tuple[int, ...]:
    """The strides of the outer axes, 0 where an extent of 1 makes it say nothing."""
    if is_contiguous(tensor) and 0 in tensor.shape:
        return (0, 0, 0)
    axes = zip(tensor.shape[:-1], tensor.strides[:-1], strict=True)
    return tuple(stride if extent > 1 else 0 for extent, stride in axes)
