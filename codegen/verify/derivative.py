"""The numerical derivative of the forward's reference: what a backward is held against."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from baracuda.codegen.verify.floats import WIDE, widened
from baracuda.codegen.verify.problems import Problem
from baracuda.codegen.verify.reference import references

#: Of central differences: small beside the spacing of the points of tests, large beside longdouble's noise.
STEP = 2.0**-10
#: Steps STEP, STEP / 2, ...: Richardson's extrapolation takes the error from STEP**2 to STEP**(2 * LEVELS).
LEVELS = 4
#: How far the last two extrapolations may lie apart, relative to the result or 1; further, and a kink or a
#: jump is near.
SETTLED = 1e-9


def gradient_name(tensor: str) -> str:
    """The name of a tensor's gradient."""
    return f"d{tensor}"


def numerical_gradients(problem: Problem, tensors: Mapping[str, Any]) -> dict[str, Any]:
    """The gradients of a backward problem, from its forward's reference alone, in longdouble.

    Every element of every input is moved in turn, and the outputs are weighted with their incoming
    gradients: meant for problems of some dozen elements. Where the function is not smooth within a step, a
    gradient is NaN.

    Args:
        problem: a backward problem.
        tensors: the inputs of both directions.
    """
    forward = problem.with_direction("forward")
    exact = {name: widened(value) for name, value in tensors.items()}
    weights = {name: exact[gradient_name(name)] for name in forward.outputs() if gradient_name(name) in exact}

    def loss(inputs: Mapping[str, Any]) -> Any:
        results = references(forward, inputs)
        return sum((np.sum(results[name] * weight) for name, weight in weights.items()), WIDE(0))

    found = {}
    for name in forward.inputs():
        if gradient_name(name) in problem.outputs():
            found[gradient_name(name)] = _gradient(loss, exact, name)
    return found


def _gradient(loss: Any, exact: Mapping[str, Any], name: str) -> Any:
    base = exact[name]
    result = np.zeros(base.shape, WIDE)
    for index in np.ndindex(*base.shape):
        table = []
        for level in range(LEVELS):
            step = WIDE(STEP) / 2**level
            table.append(
                (_moved(loss, exact, name, index, step) - _moved(loss, exact, name, index, -step))
                / (2 * step)
            )
        for order in range(1, LEVELS):
            factor = WIDE(4) ** order
            before = table[-1]
            table = [
                (factor * finer - coarser) / (factor - 1) for coarser, finer in itertools.pairwise(table)
            ]
        settled = abs(table[0] - before) <= SETTLED * max(abs(table[0]), 1)
        result[index] = table[0] if settled else np.nan
    return result


def _moved(loss: Any, exact: Mapping[str, Any], name: str, index: tuple[int, ...], step: Any) -> Any:
    moved = exact[name].copy()
    moved[index] += step
    return loss({**exact, name: moved})
