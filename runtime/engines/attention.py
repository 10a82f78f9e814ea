"""Launches of attention (include/baracuda/attention_*.cuh): tiles of queries, or of keys, of one head each.

How tiles are spread over blocks changes no bit: the order of every sum follows from its own row's extents.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator

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
SHAPE = "7q 2i"

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
        elements: int, first_place: int,
    ) -> Iterator[LaunchStep]:  # fmt: skip
        """A launch for every 2^31 blocks; `first_place` is where `first_block` stands among the values."""
        for first in range(0, blocks, INT32_MAX):
            here = (*values[:first_place], first, *values[first_place + 1 :])
            yield LaunchStep(
                variant,
                min(blocks - first, INT32_MAX),
                layout,
                here,
                self._tail,
                threads=self._tiles.threads,
                shared=elements * self.problem.element.itemsize,
            )

    def _shape(self, kv_heads: int, aligned: int) -> tuple[int, ...]:
        """The values of `AttentionShape`."""
        desc = self._desc
        return (
            desc.num_heads, max(kv_heads, 1), desc.query_len, desc.key_len, desc.d_k, desc.d_v, 0,
            CAUSAL.index(desc.causal), aligned,
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
        """A tile of queries, one of weights, and two stages of keys and values (attention_forward.cuh)."""
        queries, keys = self._tiles.queries, self._tiles.keys
        stage = 2 * keys * self._stride(head)
        return queries * (self._stride(head) + self._stride(keys)) + 2 * stage

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
            *self._shape(desc.num_kv_heads, self._aligned(q, k, v, None, y, attn)),
            *_outer(q), *_outer(k), *_outer(v), *_outer(y), *steps, parts,
            int(mask is not None and mask.element is ElementKind.BOOL),
        )  # fmt: skip
        layout = f"6P {SHAPE} 12q 4q q i"
        return tuple(
            self._launches(self.usual_variant(), blocks, layout, values, self._elements(self._head), 6 + 6)
        )


class _Backward(_Attention):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        size = numel(problem.domain) * problem.element.itemsize
        self._bytes = ceil_div(size, _GRANULE) * _GRANULE
        most = problem.preference.max_workspace
        self._spared = most is not None and most < self._bytes

    def _elements(self, head: int) -> int:
        return max(self._score_elements(head), self._sum_elements(head))

    def _score_elements(self, head: int) -> int:
        """A tile of dy, and two stages of keys, values and weights (attention_backward.cuh)."""
        queries, keys = self._tiles.queries, self._tiles.keys
        stage = 2 * keys * self._stride(head) + queries * self._stride(keys)
        return queries * self._stride(head) + 2 * stage

    def _sum_elements(self, head: int) -> int:
        """Three stages of weights and of what they multiply, or the tile of sums (attention_key_sums.cuh)."""
        queries, keys = self._tiles.queries, self._tiles.keys
        return max(3 * keys * (self._stride(queries) + self._stride(head)), queries * self._stride(head))

    def units(self) -> dict[str, tuple[str, ...]]:
        """Both kernels of the problem's head size."""
        return {self._unit(): (self.usual_variant(), self._variant("sums"))}

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
        """The scores' gradients together with dq, then dk from them; dv stands alone.

        Raises:
            InvalidProblem: there is neither dscores_ws nor a workspace.
        """
        problem = self.problem
        dscores: str | tuple[str, int] | None = None
        if tensors["dk"] is not None and numel(problem.domain):
            dscores = "dscores_ws"
            if tensors["dscores_ws"] is None:
                if self._spared:
                    raise InvalidProblem(
                        f"{problem.plan}: dscores_ws is None, want a tensor, or a workspace of "
                        f"{self._bytes} bytes, which max_workspace={problem.preference.max_workspace} forbids"
                    )
                dscores = ("workspace", 0)
        found: list[LaunchStep] = []
        dq = tensors["dq"]
        if dscores is not None or (dq is not None and numel(dq.shape)):
            found += self._score_gradients(tensors, dscores)
        if tensors["dk"] is not None:
            found += self._key_sums(tensors, "dk", dscores, "q")
        if tensors["dv"] is not None:
            found += self._key_sums(tensors, "dv", "attn", "dy")
        return tuple(found)

    def _score_gradients(
        self, tensors: Tensors, dscores: str | tuple[str, int] | None
    ) -> Iterator[LaunchStep]:
        desc = self._desc
        k, v, attn, dy, dq = (tensors[name] for name in ("k", "v", "attn", "dy", "dq"))
        scratch = tensors["dscores_ws"] if dscores == "dscores_ws" else attn
        assert k is not None
        assert v is not None
        assert dy is not None
        wanted = dq is not None and numel(dq.shape) > 0
        parts = self._parts(desc.d_k) if wanted else 1
        blocks = desc.batch_size * desc.num_heads * parts * ceil_div(desc.query_len, self._tiles.queries)
        aligned = self._aligned(k, v, attn, dy, dq, scratch)
        if dscores == ("workspace", 0):
            # Its rows are those of attn; the workspace itself is aligned.
            aligned = aligned & 31 | (32 if desc.key_len % self.pack_size() == 0 else 0)
        values = (
            "k", "v", "attn", "dy", dscores, "dq" if wanted else None,
            *self._shape(desc.num_kv_heads, aligned),
            *_outer(k), *_outer(v), *_outer(dy), *(_outer(dq) if dq is not None else (0, 0, 0)), parts,
        )  # fmt: skip
        layout = f"6P {SHAPE} 12q q"
        elements = self._score_elements(self._head)
        yield from self._launches(self.usual_variant(), blocks, layout, values, elements, 6 + 6)

    def _key_sums(
        self, tensors: Tensors, out: str, weights: str | tuple[str, int] | None, items: str
    ) -> Iterator[LaunchStep]:
        desc = self._desc
        result, given = tensors[out], tensors[items]
        assert result is not None
        assert given is not None
        if not numel(result.shape):
            return
        # Heads that share their memory share one sum.
        groups = 1 if result.shape[1] > 1 and result.strides[1] == 0 else desc.num_kv_heads
        extent = result.shape[-1]
        parts = self._parts(extent)
        blocks = desc.batch_size * groups * parts * ceil_div(desc.key_len, self._tiles.queries)
        kept = tensors[weights] if isinstance(weights, str) else None
        rows_aligned = desc.key_len % self.pack_size() == 0
        aligned = self._aligned(None, given, result) | (
            rows_aligned and (kept is None or kept.pointer % 16 == 0)
        )
        values = (
            weights, items, out,
            *self._shape(groups, aligned), *_outer(given), *_outer(result), parts, extent, int(out == "dk"),
        )  # fmt: skip
        layout = f"3P {SHAPE} 6q 2q i"
        variant = self._variant("sums")
        yield from self._launches(variant, blocks, layout, values, self._sum_elements(self._head), 3 + 6)


def _outer(tensor: TensorRef) -> tuple[int, ...]:
    """The strides of the outer axes, 0 where an extent of 1 makes it say nothing."""
    if is_contiguous(tensor) and 0 in tensor.shape:
        return (0, 0, 0)
    axes = zip(tensor.shape[:-1], tensor.strides[:-1], strict=True)
    return tuple(stride if extent > 1 else 0 for extent, stride in axes)
