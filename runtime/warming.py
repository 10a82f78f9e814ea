"""Compiling many plans' kernels at once, ahead of their `select`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from baracuda import driver
from baracuda.compile.loader import preload
from baracuda.stream import Stream
from baracuda.tensor import Device

if TYPE_CHECKING:
    from baracuda.compile.unit import Unit
    from baracuda.plan import Plan

__all__ = ["warm_up"]


def warm_up(
    plans: Iterable[Plan | tuple[Any, ...]], device: Device | None = None, jobs: int | None = None
) -> None:
    """Compile or load the kernels of many plans in parallel, so that `select` of each finds them loaded.

    Args:
        plans: pairs of a plan class and a descriptor, with a `PlanPreference` as a third where `select` will
            get one; or plans that were selected for another device.
        device: where they will run; None: the current CUDA device where there is one, else the host.
        jobs: how many units to compile at once; None: one a processor.

    Raises:
        TypeError, InvalidProblem, Unsupported: what `select` would raise for one of them, before any compile.
        CompileError: a kernel did not compile; raised when all have ended, and what compiled stays loaded.
    """
    if device is not None and not isinstance(device, Device):
        raise TypeError(f"warm_up: device is a {type(device).__name__}, want a baracuda.Device or None")
    if jobs is not None and jobs < 1:
        raise ValueError(f"warm_up: jobs is {jobs}, want 1 or more")
    if device is None:
        device = Stream().device if driver.device_count() else Stream.host().device
    units: dict[Unit, None] = {}
    for entry in plans:
        units.update(dict.fromkeys(_planned(entry, device)._units()))
    preload(units, device, jobs)


def _planned(entry: Any, device: Device) -> Plan:
    """The plan of an entry, with or without its kernels."""
    from baracuda.plan import Plan

    if isinstance(entry, Plan):
        return entry
    if isinstance(entry, tuple) and len(entry) in (2, 3):
        cls, desc, preference = (*entry, None)[:3]
        if isinstance(cls, type) and issubclass(cls, Plan):
            plan: Plan = cls._planned(device, desc, preference)
            return plan
    raise TypeError(f"warm_up: got {entry!r}, want a plan or a pair (plan class, descriptor)")
