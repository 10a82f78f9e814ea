"""Whether two strided index sets meet: an exact answer, with a bound on the effort.

Everything here is a bounded linear equation: is there a choice of `x_k` in `[0, u_k]` with
`sum(c_k * x_k) == target`, all `c_k > 0`? In general that is hard to decide, but strided tensors have few
axes, and their strides nearly always nest. Where the effort would exceed `_MAX_STEPS`, the answer is the
safe one: they meet.
"""

from __future__ import annotations

import functools
import math

__all__ = ["folds_onto_itself", "reach", "share_memory"]

# About 20 ms; ordinary layouts need fewer than ten steps.
_MAX_STEPS = 20_000


@functools.lru_cache(maxsize=4096)
def reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int] | None:
    """The lowest and the highest offset, in elements, that shape and strides reach; None where empty."""
    lowest = highest = 0
    for extent, stride in zip(shape, strides, strict=True):
        if extent == 0:
            return None
        if stride < 0:
            lowest += stride * (extent - 1)
        else:
            highest += stride * (extent - 1)
    return lowest, highest


@functools.lru_cache(maxsize=4096)
def folds_onto_itself(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether two different indices of this layout reach the same element."""
    if 0 in shape:
        return False
    axes = sorted((abs(stride), extent) for extent, stride in zip(shape, strides, strict=True) if extent > 1)
    if axes and axes[0][0] == 0:
        return True
    # Two indices meet where sum(stride * d) == 0 for differences d that are not all 0. Say the last d that
    # is not 0 is positive: then the smaller strides must make up for it, moved by their spans to x >= 0.
    span = 0
    smaller: list[tuple[int, int]] = []
    for stride, extent in axes:
        if stride <= span and _solvable([*smaller, (stride, extent - 2)], span - stride):
            return True
        span += stride * (extent - 1)
        smaller.append((stride, 2 * (extent - 1)))
    return False


@functools.lru_cache(maxsize=4096)
def share_memory(
    distance: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    itemsize: int,
    other_shape: tuple[int, ...],
    other_strides: tuple[int, ...],
    other_itemsize: int,
) -> bool:
    """Whether two tensors share a byte.

    Args:
        distance: the other's pointer minus the first one's, in bytes.
        shape: of the first tensor.
        strides: of the first tensor, in elements.
        itemsize: bytes an element of the first tensor.
        other_shape: of the other tensor.
        other_strides: of the other tensor, in elements.
        other_itemsize: bytes an element of the other tensor.
    """
    own, other = reach(shape, strides), reach(other_shape, other_strides)
    if own is None or other is None:
        return False
    # offset + byte == distance + other offset + other byte. An axis that runs downwards is walked from its
    # low end, and the other side of the equation from its high end, so that every coefficient is positive.
    terms = [(abs(stride) * itemsize, extent - 1) for extent, stride in zip(shape, strides, strict=True)]
    terms += [
        (abs(stride) * other_itemsize, extent - 1)
        for extent, stride in zip(other_shape, other_strides, strict=True)
    ]
    target = distance + other[1] * other_itemsize - own[0] * itemsize
    if itemsize == other_itemsize and distance % itemsize == 0:
        terms = [(coefficient // itemsize, bound) for coefficient, bound in terms]
        target //= itemsize
    else:
        terms.append((1, itemsize + other_itemsize - 2))
        target += other_itemsize - 1
    return _solvable(terms, target)


def _solvable(terms: list[tuple[int, int]], target: int) -> bool:
    """Whether some x with 0 <= x_k <= u_k has sum(c_k * x_k) == target, for the terms (c_k, u_k)."""
    merged: dict[int, int] = {}
    for coefficient, bound in terms:
        if coefficient and bound:
            merged[coefficient] = merged.get(coefficient, 0) + bound
    try:
        return _Search(sorted(merged.items())).finds(len(merged), target)
    except _TooHard:
        return True


class _TooHard(Exception):
    """The search took more steps than it may."""


class _Search:
    """A search from the largest coefficient down, in which remainders and spans leave few choices."""

    def __init__(self, terms: list[tuple[int, int]]) -> None:
        self.terms = terms
        # Of the first k terms: the largest sum, the gcd of the coefficients, and whether every multiple of
        # that gcd from 0 to the largest sum can be reached.
        self.largest = [0]
        self.gcds = [0]
        self.dense = [True]
        for coefficient, bound in terms:
            gcd = math.gcd(self.gcds[-1], coefficient)
            fits = gcd == self.gcds[-1] or self.gcds[-1] == 0
            self.dense.append(self.dense[-1] and fits and coefficient <= self.largest[-1] + gcd)
            self.largest.append(self.largest[-1] + coefficient * bound)
            self.gcds.append(gcd)
        self.failed: set[tuple[int, int]] = set()
        self.steps = 0

    def finds(self, count: int, target: int) -> bool:
        """Whether the first `count` terms can sum to `target`."""
        if target < 0 or target > self.largest[count] or (target and target % self.gcds[count]):
            return False
        if self.dense[count] or target == 0:
            return True
        choices = self._choices(count, target)
        if self.dense[count - 1]:
            return len(choices) > 0
        if (count, target) in self.failed:
            return False
        coefficient = self.terms[count - 1][0]
        for choice in reversed(choices):
            self.steps += 1
            if self.steps > _MAX_STEPS:
                raise _TooHard
            if self.finds(count - 1, target - coefficient * choice):
                return True
        self.failed.add((count, target))
        return False

    def _choices(self, count: int, target: int) -> range:
        """The x of the last of `count` terms that leave the others a sum in range, and of their gcd."""
        coefficient, bound = self.terms[count - 1]
        lowest = max(0, -((self.largest[count - 1] - target) // coefficient))
        highest = min(bound, target // coefficient)
        gcd = self.gcds[count]
        period = self.gcds[count - 1] // gcd
        residue = target // gcd * pow(coefficient // gcd, -1, period) % period
        return range(lowest + (residue - lowest) % period, highest + 1, period)
