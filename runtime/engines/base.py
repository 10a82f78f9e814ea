"""What every engine has: compile units, workspace, and launches for given layouts."""

from __future__ import annotations

import abc
import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from baracuda.contract import Problem
from baracuda.dtypes import ElementKind
from baracuda.errors import Unsupported
from baracuda.layout import Walk
from baracuda.packing import MAX_RANK, compiled
from baracuda.sku import MathPrecision
from baracuda.tensor import TensorRef

__all__ = [
    "THREADS",
    "Engine",
    "LaunchStep",
    "Tensors",
    "ceil_div",
    "chunk_of",
    "log2",
    "power_of_two_from",
]

#: Threads a block of every map and aggregate kernel.
THREADS = 256
#: `struct` formats of compute types.
_FORMATS = {
    ElementKind.F32: "f", ElementKind.F64: "d",
    ElementKind.I8: "b", ElementKind.I16: "h", ElementKind.I32: "i", ElementKind.I64: "q",
    ElementKind.U8: "B", ElementKind.BOOL: "?",
}  # fmt: skip

#: Tensors by argument name; None where the caller left one out.
Tensors = Mapping[str, "TensorRef | None"]


@dataclass(frozen=True)
class LaunchStep:
    """One kernel launch for tensors of one layout; only the pointers change from run to run.

    Attributes:
        variant: suffix of the kernel's symbol, "contig" for none.
        grid: number of blocks.
        layout: `struct` format of the parameters.
        values: their values; in the places of pointers the names of tensors, None for a null pointer, or
            "workspace" with an offset in bytes.
        tail: bytes behind them: the op's scalars.
        threads: of a block.
        shared: bytes of dynamic shared memory.
        resident: how many blocks a multiprocessor is to hold at most; 0 for as many as it can.
    """

    variant: str
    grid: int
    layout: str
    values: tuple[int | str | tuple[str, int] | None, ...]
    tail: bytes
    threads: int = THREADS
    shared: int = 0
    resident: int = 0

    @property
    def pointers(self) -> tuple[str | tuple[str, int] | None, ...]:
        """The values that are pointers: they come first in `values`, and in `layout` as so many P."""
        return tuple(itertools.takewhile(lambda value: not isinstance(value, int), self.values))  # type: ignore[arg-type]

    @functools.cached_property
    def blank(self) -> bytes:
        """The parameter block with null pointers."""
        return self.parameters(None)

    def parameters(self, pointers: Mapping[str, int] | None = None) -> bytes:
        """The parameter block with the pointers filled in, or null where `pointers` is None."""
        if pointers is None:
            values = [value if isinstance(value, int) else 0 for value in self.values]
        else:
            values = [value if isinstance(value, int) else _address(value, pointers) for value in self.values]
        # An empty struct of scalars still takes its place in the parameter struct.
        return compiled(self.layout).pack(*values) + (self.tail or bytes(8))


def _address(value: str | tuple[str, int] | None, pointers: Mapping[str, int]) -> int:
    if value is None:
        return 0
    if isinstance(value, str):
        return pointers[value]
    name, offset = value
    return pointers[name] + offset if pointers[name] else 0


class Engine(abc.ABC):
    """Turns a problem and its tensors into launches."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @abc.abstractmethod
    def units(self) -> dict[str, tuple[str, ...]]:
        """The compile units that `steps` may need: the macro that selects each, and the variants in it."""

    @abc.abstractmethod
    def workspace_size(self) -> int:
        """Bytes of workspace that `steps` may need, over all layouts."""

    @abc.abstractmethod
    def steps(self, tensors: Tensors) -> tuple[LaunchStep, ...]:
        """The launches for tensors of these layouts.

        Raises:
            Unsupported: more axes remain after merging than a kernel can walk.
        """

    def may_alias(self, output: str, tensor: str) -> bool:
        """Whether an output may be exactly an input: where each element is read before it is written."""
        return False

    def why_apart(self, output: str, tensor: str) -> str:
        """What of this problem keeps an output from being an input, for a message; empty: it never may be."""
        return ""

    def cross_row_outputs(self) -> tuple[str, ...]:
        """Outputs that sum over rows, so that they cannot be batch-invariant."""
        return ()

    def takes_workspace(self, tensors: Tensors) -> bool:
        """Whether the launches for these tensors want the workspace that there may be."""
        return True

    def usual_variant(self) -> str:
        """The variant that contiguous tensors get."""
        return "contig"

    def math_precision(self) -> MathPrecision:
        """The precision of the arithmetic: that of the compute type, unless an engine differs."""
        if not self.problem.element.is_float:
            return MathPrecision.INTEGER
        wide = self.problem.element.compute is ElementKind.F64
        return MathPrecision.F64 if wide else MathPrecision.F32

    def pack_size(self) -> int:
        """Elements in a 16-byte pack."""
        return 16 // self.problem.element.itemsize

    def result(self) -> ElementKind | None:
        """The element kind of the outputs, None where it is that of the inputs."""
        return None


def check_rank(problem: Problem, walk: Walk) -> Walk:
    """The walk itself, if a kernel can hold it."""
    if walk.rank > MAX_RANK:
        raise Unsupported(
            f"{problem.plan}: {walk.rank} axes remain after merging those that lie together, "
            f"want at most {MAX_RANK}"
        )
    return walk


def scalar_format(kinds: str, element: ElementKind) -> str:
    """`struct` format of scalars in C layout, by their kinds."""
    formats = {"a": _FORMATS[element.compute], "d": "d", "b": "?", "i": "q"}
    return "".join(formats[kind] for kind in kinds)


def chunk_of(pack_size: int) -> int:
    """How many elements of a row a warp takes, where 16 bytes hold `pack_size`: CHUNK of tree.cuh."""
    return 4096 if pack_size > 2 else 2048


def ceil_div(number: int, divisor: int) -> int:
    """The quotient of number and divisor, rounded up."""
    return -(-number // divisor)


def power_of_two_from(number: int) -> int:
    """The smallest power of two that is not below `number`."""
    return 1 << max(number - 1, 0).bit_length()


def log2(number: int) -> int:
    """The exponent of a power of two."""
    return number.bit_length() - 1
