"""Engines: for each kernel template, how a plan's tensors become launches. One file a template."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.contract import Problem
from baracuda.engines.aggregate import AggregateEngine
from baracuda.engines.attention import attention_engine
from baracuda.engines.base import Engine, LaunchStep
from baracuda.engines.map import MapEngine
from baracuda.engines.rotate import RotateEngine

__all__ = ["Engine", "LaunchStep", "engine_for"]

_ENGINES: dict[str, Callable[[Problem], Engine]] = {
    "map": MapEngine,
    "aggregate": AggregateEngine,
    "rotate": RotateEngine,
    "attention": attention_engine,
}


def engine_for(template: str, problem: Problem) -> Engine:
    """The engine of a template, made for a problem."""
    return _ENGINES[template](problem)
