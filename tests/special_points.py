"""Where a function is looked at: numbers of a type that are spread in some way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

COUNT = 2000

#: Some of a function's arguments: a random generator, how many, and the float type give an array.
Points = Callable[[Any, int, Any], Any]


def between(low: float, high: float) -> Points:
    return lambda rng, count, kind: rng.uniform(low, high, count)


def sizes(low: float, high: float, sign: int = 0) -> Points:
    """Magnitudes between two powers of ten, of one sign or of both."""

    def some(rng: Any, count: int, kind: Any) -> Any:
        signs = rng.choice([-1, 1], count) if sign == 0 else sign
        return signs * 10.0 ** rng.uniform(low, high, count)

    return some


def tiny(sign: int = 0) -> Points:
    """Subnormal numbers and those a little above."""

    def some(rng: Any, count: int, kind: Any) -> Any:
        signs = rng.choice([-1, 1], count) if sign == 0 else sign
        return signs * float(np.finfo(kind).smallest_subnormal) * np.exp2(rng.uniform(0, 60, count))

    return some


def near(*centers: float, far: float = 1e-2) -> Points:
    """Both sides of some places, from neighbours to `far` away."""

    def some(rng: Any, count: int, kind: Any) -> Any:
        middle = np.resize(np.array(centers, dtype=np.float64), count)
        eps = float(np.finfo(kind).eps)
        least = np.log10(np.maximum(np.abs(middle) * eps, float(np.finfo(kind).tiny)))
        distance = 10.0 ** rng.uniform(least, np.log10(far))
        return middle + rng.choice([-1, 1], count) * distance

    return some


def by_type(f32: Points, f64: Points) -> Points:
    return lambda rng, count, kind: (f32 if kind == np.float32 else f64)(rng, count, kind)


@dataclass(frozen=True)
class Case:
    """A function: its exact value, its arguments, its bound, its special values, what its error is a part of.

    `ulp` bounds the error in last places of the result or, where `scale` is given, of that.
    """

    exact: Callable[[Any], Any]
    points: tuple[Points, ...]
    ulp: float
    special: tuple[list[float], list[float]]
    scale: Callable[[Any], Any] | None = None

    def arguments(self, kind: Any) -> Any:
        rng = np.random.default_rng(17)
        each = -(-COUNT // len(self.points))
        with np.errstate(all="ignore"):
            return np.concatenate([some(rng, each, kind) for some in self.points]).astype(kind)
