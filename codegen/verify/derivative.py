"""The numerical derivative of the forward's reference: what a backward is held against."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from baracuda.codegen.verify.floats import WIDE, widened
from baracuda.codegen.verify.problems import Problem
from baracuda.codegen.verify.reference import references

#: From the inputs to the outputs, each times its incoming gradient.
Losses: TypeAlias = "Callable[[Mapping[str, Any]], list[Any]]"

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

    Every element of every input is moved, in turn where one may reach what another does, and the outputs are
    weighted with their incoming gradients: meant for problems of some dozen elements. Where the function is
    not smooth within a step, a gradient is NaN.

    Args:
        problem: a backward problem.
        tensors: the inputs of both directions.
    """
    forward = problem.with_direction("forward")
    exact = {name: widened(value) for name, value in tensors.items()}
    weights = {name: exact[gradient_name(name)] for name in forward.outputs() if gradient_name(name) in exact}

    def losses(inputs: Mapping[str, Any]) -> Any:
        results = references(forward, inputs)
        return [results[name] * weight for name, weight in weights.items()]

    # A map's element reaches what stands at its own places alone, so that all may be moved at once.
    at_once = forward.op.family.template == "map" and not forward.halves()
    gradient = _gradient_of_map if at_once else _gradient
    return {
        gradient_name(name): gradient(losses, forward, exact, name)
        for name in forward.inputs()
        if gradient_name(name) in problem.outputs()
    }


def _gradient_of_map(losses: Losses, forward: Problem, exact: Mapping[str, Any], name: str) -> Any:
    def moved(step: Any) -> Any:
        found = np.broadcast_to(sum(losses({**exact, name: exact[name] + step})), forward.domain)
        return np.sum(found, axis=forward.lacking(name), keepdims=True).reshape(exact[name].shape)

    return _slope(moved)


def _gradient(losses: Losses, forward: Problem, exact: Mapping[str, Any], name: str) -> Any:
    result = np.zeros(exact[name].shape, WIDE)
    for index in np.ndindex(*result.shape):
        result[index] = _slope(functools.partial(_moved, losses, exact, name, index))
    return result


def _slope(moved: Callable[[Any], Any]) -> Any:
    """The derivative at 0 of what a step gives, NaN where it is not smooth."""
    table = []
    for level in range(LEVELS):
        step = WIDE(STEP) / 2**level
        table.append((moved(step) - moved(-step)) / (2 * step))
    for order in range(1, LEVELS):
        factor = WIDE(4) ** order
        before = table[-1]
        table = [(factor * finer - coarser) / (factor - 1) for coarser, finer in itertools.pairwise(table)]
    settled = np.abs(table[0] - before) <= SETTLED * np.maximum(np.abs(table[0]), 1)
    return np.where(settled, table[0], np.nan)


def _moved(losses: Losses, exact: Mapping[str, Any], name: str, index: tuple[int, ...], step: Any) -> Any:
    moved = exact[name].copy()
    moved[index] += step
    return sum(np.sum(part) for part in losses({**exact, name: moved}))
