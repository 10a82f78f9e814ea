"""Tensors for problems: random values of several kinds; saved tensors come from the forward's reference."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from baracuda.codegen.spec.tensors import OWN_DTYPES
from baracuda.codegen.verify.floats import FORMATS, is_whole, numpy_dtype, rounded
from baracuda.codegen.verify.problems import Problem
from baracuda.codegen.verify.reference import references

Generator = np.random.Generator
Profile = Callable[[Generator, tuple[int, ...], str], Any]


def _normal(rng: Generator, shape: tuple[int, ...], dtype: str) -> Any:
    del dtype
    return rng.standard_normal(shape)


def _wide(rng: Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Magnitudes over a quarter of the exponents, so that squares neither over- nor underflow."""
    most = FORMATS[dtype].most // 4
    return rng.standard_normal(shape) * np.exp2(rng.uniform(-most, most, shape))


def _extreme(rng: Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Magnitudes over nearly all exponents, subnormals among them, so that squares over- and underflow."""
    kind = FORMATS[dtype]
    exponents = rng.uniform(kind.least, kind.most - 2 - math.log2(max(math.prod(shape), 1)), shape)
    return np.ldexp(rng.choice([-1.0, 1.0], shape) * np.exp2(exponents % 1), np.floor(exponents).astype(int))


def _ties(rng: Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Small integers, zeros among them: equal values in nearly every row."""
    del dtype
    return rng.integers(-2, 3, shape).astype(np.float64)


def _offset(rng: Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """A mean that is large beside the spread, exactly representable."""
    return 2.0 ** (FORMATS[dtype].bits - 3) + rng.integers(-8, 9, shape)


def _spaced(rng: Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Distinct values, none near zero or another: where a function has kinks, these lie elsewhere."""
    del dtype
    count = int(np.prod(shape))
    # Of an offset of their own, so that two tensors do not meet either.
    values = (np.arange(count) + rng.uniform(0.2, 0.8) - count // 2) * (4 / max(count, 1))
    return rng.permutation(values).reshape(shape)


def _special(rng: Generator, shape: tuple[int, ...], dtype: str) -> Any:
    values = special_values(dtype, headroom=10)
    return values[rng.integers(0, len(values), shape)]


def _positive(rng: Generator, shape: tuple[int, ...], dtype: str) -> Any:
    del dtype
    return rng.uniform(0.5, 1.5, shape)


def _integers(rng: Generator, shape: tuple[int, ...], dtype: str, profile: str) -> Any:
    """Integers or truth values of a profile: as a rule of every magnitude, each as often as another."""
    if dtype == "bool":
        return rng.random(shape) < 0.5
    kind = np.iinfo(numpy_dtype(dtype))
    if profile == "special":
        values = special_values(dtype)
        return values[rng.integers(0, len(values), shape)]
    if profile == "extreme":
        return rng.integers(kind.min, kind.max, shape, dtype=kind.dtype, endpoint=True)
    if profile == "ties":
        return rng.integers(max(kind.min, -2), 3, shape, dtype=kind.dtype)
    digits = rng.integers(0, kind.bits - (kind.min < 0), shape, endpoint=True)
    masks = (np.uint64(1) << digits.astype(np.uint64)) - np.uint64(1)
    sizes = rng.integers(0, 2**64, shape, dtype=np.uint64) & masks
    signs = rng.choice([1, -1] if kind.min < 0 and profile != "positive" else [1], shape)
    return sizes.astype(kind.dtype) * signs.astype(kind.dtype)


PROFILES: Mapping[str, Profile] = {
    "normal": _normal,
    "wide": _wide,
    "extreme": _extreme,
    "ties": _ties,
    "offset": _offset,
    "spaced": _spaced,
    "special": _special,
    "positive": _positive,
}


def special_values(dtype: str, headroom: int = 0) -> Any:
    """NaN, infinities, both zeros, subnormals, largest and smallest values, ones, in longdouble.

    With `headroom` the large values are that many powers of two below the largest, so that a sum of some
    hundred does not overflow on the way to a finite result. Of integers: the ends of the range, powers of
    two, and what is near 0.
    """
    if is_whole(dtype):
        return _special_integers(dtype)
    kind = FORMATS[dtype]
    tiny = np.ldexp(np.longdouble(1), kind.least)
    normal = np.ldexp(np.longdouble(1), kind.least + kind.bits - 1)
    large = np.ldexp(kind.largest, -headroom)
    sizes = [np.inf, 0.0, tiny, 3 * tiny, normal - tiny, normal, large, large / 2, 1.0, 1.5]
    return np.array([np.nan, *(sign * size for size in sizes for sign in (1, -1))], np.longdouble)


def _special_integers(dtype: str) -> Any:
    if dtype == "bool":
        return np.array([False, True])
    kind = np.iinfo(numpy_dtype(dtype))
    near = [*range(-3, 4), kind.bits - 1, kind.bits]
    powers = [sign * 2**power for power in (kind.bits // 2, kind.bits - 2) for sign in (1, -1)]
    ends = [kind.min, kind.min + 1, kind.min // 2, kind.max // 2, kind.max - 1, kind.max]
    fitting = (number for number in (*near, *powers, *ends) if kind.min <= number <= kind.max)
    return np.array([*dict.fromkeys(fitting)], kind.dtype)


def all_patterns(dtype: str) -> Any:
    """Every value of an element kind of at most 16 bits, by bit pattern."""
    kind = numpy_dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True])
    return np.arange(1 << 8 * kind.itemsize).astype(f"u{kind.itemsize}").view(kind)


def inputs_for(
    problem: Problem, profile: str = "normal", seed: int = 0, *, every: bool = False
) -> dict[str, Any]:
    """The inputs of a problem and of its forward, in the tensors' dtypes; equal calls give equal values.

    A saved tensor, which the forward writes and the backward reads, is its exact result, rounded. An input
    that changes the result and may be left out is there or not, as chance has it; one that may have several
    shapes has one of them.

    Args:
        problem: the problem.
        profile: one of `PROFILES`; gradients that come in are always normal.
        seed: picks other values.
        every: whether every input is there.
    """
    rng = np.random.default_rng([zlib.crc32(f"{problem} {profile}".encode()), seed])
    forward = problem.with_direction("forward")
    shapes = {name: shape for name, shape in forward.shapes().items() if name in forward.inputs()}
    own = {
        name: shape for name, shape in shapes.items() if problem.op.family.forward[name].dtype in OWN_DTYPES
    }
    masks = [name for name in shapes if problem.op.family.forward[name].role == "mask"]
    profiled = partial(_integers, profile=profile) if is_whole(problem.dtype) else PROFILES[profile]
    values = {
        name: profiled(rng, shape, problem.dtype)
        for name, shape in shapes.items()
        if name not in own and name not in masks
    }
    tensors = {name: rounded(value, problem.dtype) for name, value in values.items()}
    tensors |= _own_dtypes(forward, own, rng, every)
    for name in masks:
        mask = _mask(forward, name, shapes[name], rng)
        if mask is not None or every:
            tensors[name] = np.ones((), bool) if mask is None else mask
    if problem.direction == "backward":
        tensors |= _backward_inputs(problem, tensors, rng)
    return tensors


def _own_dtypes(
    problem: Problem, shapes: Mapping[str, tuple[int, ...]], rng: Generator, every: bool
) -> dict[str, Any]:
    """Inputs that have a dtype of their own: truth values, integers of up to 31 bits, numbers in (0, 1)."""
    others, found = problem.other_shapes(), {}
    # Which there are, and of which shape, is the same for every seed.
    chance = np.random.default_rng(zlib.crc32(str(problem).encode()))
    for name, first in shapes.items():
        several = [first, *others.get(name, ())]
        shape = several[int(chance.integers(len(several)))]
        if chance.integers(2) and problem.op.family.forward[name].optional and not every:
            continue
        kind = numpy_dtype(problem.dtype_of(name))
        if kind.kind == "b":
            found[name] = rng.random(shape) < 0.5
        elif kind.kind == "f":
            found[name] = rng.uniform(0, 1, shape).astype(kind)
        else:
            found[name] = np.floor(
                rng.choice([-1.0, 1.0], shape) * np.exp2(rng.uniform(0, 31, shape))
            ).astype(kind)
    return found


def _mask(problem: Problem, name: str, shape: tuple[int, ...], rng: Generator) -> Any:
    """None, truth values, or terms of which some are -inf, of a shape that broadcasts."""
    chance = np.random.default_rng(zlib.crc32(f"mask of {problem}".encode()))
    several = [shape, *problem.other_shapes()[name]]
    shape = several[int(chance.integers(len(several)))] if chance.integers(2) else shape
    kind = int(chance.integers(3))
    if kind == 0:
        return None
    hidden = rng.random(shape) < 0.3
    return (
        ~hidden
        if kind == 1
        else rounded(np.where(hidden, -np.inf, rng.standard_normal(shape)), problem.dtype)
    )


def saved_tensors(problem: Problem, tensors: Mapping[str, Any]) -> dict[str, Any]:
    """What the forward would have saved for a backward, from inputs of the forward: exact, then rounded."""
    forward = problem.with_direction("forward")
    names = [name for name in problem.inputs() if name in forward.outputs()]
    exact = references(forward, tensors) if names else {}
    return {name: rounded(exact[name], problem.dtype_of(name)) for name in names}


def _backward_inputs(problem: Problem, tensors: Mapping[str, Any], rng: Generator) -> dict[str, Any]:
    shapes = problem.shapes()
    found = saved_tensors(problem, tensors)
    for name in problem.inputs():
        if name not in tensors and name not in found and name not in problem.inputs("forward"):
            found[name] = rounded(_normal(rng, shapes[name], problem.dtype), problem.dtype)
    return found
