"""From a unit to a module that can be launched: memory, then the disk cache, then the compiler."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from baracuda import driver
from baracuda.compile import nvrtc, source
from baracuda.compile.cache import disk_cache
from baracuda.compile.locks import KeyedLocks
from baracuda.compile.nvrtc import Artifact
from baracuda.compile.unit import Unit, unit_key
from baracuda.errors import CompileError, DriverError
from baracuda.tensor import Device

JIT_VARIABLE = "BARACUDA_JIT"


class Launch(Protocol):
    """A kernel with grid and parameters packed."""

    def __call__(self, stream_handle: int) -> None:
        """Enqueue it on the stream (on the host: run it); no allocation, no synchronisation."""


class Kernel(Protocol):
    """One kernel of a module."""

    def pack(self, grid: tuple[int, int, int], threads: int, shared_bytes: int, params: bytes) -> Launch:
        """Pack a launch of ``grid`` blocks of ``threads`` threads; ``params`` are copied."""


class Module(Protocol):
    """A compiled and loaded unit."""

    def kernel(self, symbol: str) -> Kernel:
        """The kernel called ``symbol``; raises where there is none."""


# Loaded units: on CUDA by (unit, device index, context), on the host by unit.
_modules: dict[tuple[Unit, int, int] | Unit, Module] = {}
_locks = KeyedLocks()


def jit_allowed() -> bool:
    """Whether kernels may be compiled on demand: not where ``BARACUDA_JIT`` is ``never``."""
    return os.environ.get(JIT_VARIABLE, "").strip().lower() != "never"


def require_jit(unit: Unit, target: str) -> None:
    """Raise `CompileError`, naming what is missing, where ``BARACUDA_JIT`` forbids to compile ``unit``."""
    if not jit_allowed():
        dtype = unit.define("BARACUDA_DTYPE", "-")
        raise CompileError(
            f"{unit.name}: no compiled kernel for dtype {dtype} and {target} in {disk_cache().folder}, and "
            f"{JIT_VARIABLE}=never forbids compiling it; make it ahead: baracuda-gen compile --arch {target}"
        )


def artifact_key(unit: Unit, arch: str) -> str:
    """The cache key of ``unit`` for an architecture as `nvrtc.resolve_arch` gives it."""
    return unit_key(unit, nvrtc.options(unit), arch, nvrtc.identity(), source.headers_digest())


def compile_only(unit: Unit, arch: str) -> Artifact:
    """``unit`` compiled for ``arch`` (``"sm_90"``, ``"compute_90"``), from the cache or now; needs no GPU.

    Raises `Unsupported` for an architecture that cannot be served, and `CompileError` for a unit that does
    not compile, where NVRTC is missing, or where ``BARACUDA_JIT=never`` and the cache has no entry.
    """
    target = nvrtc.resolve_arch(arch)
    cache = disk_cache()

    def make() -> Artifact:
        require_jit(unit, target)
        return nvrtc.compile_cubin(unit, target, cache.failed_folder)

    return cache.get_or_make(artifact_key(unit, target), make)


def load(unit: Unit, device: Device, *, stream_handle: int | None = None) -> Module:
    """The module of ``unit`` on ``device``, loaded once a process: from the cache if it can be.

    Thread-safe. ``stream_handle`` is the CUDA stream that the caller is about to use: a cold load while that
    stream captures a graph raises `DriverError`, because loading would break the capture. Raises what
    `compile_only` raises, and `DriverError` where the device cannot be used.
    """
    if device.kind == "host":
        return _load_host([unit])[0]
    key = (unit, device.index, driver.context_of(device.index))
    module = _modules.get(key)
    if module is not None:
        return module
    if stream_handle is not None and driver.is_capturing(stream_handle):
        raise DriverError(
            f"{unit.name} is not loaded on {device} yet, and the stream is capturing a CUDA graph: "
            "select the plan before the capture begins"
        )
    with _locks.holding(key):
        module = _modules.get(key)
        if module is None:
            artifact = compile_only(unit, driver.device_arch(device.index))
            module = driver.load_module(artifact.data, device.index, unit.name)
            _modules[key] = module
    return module


def preload(units: Iterable[Unit], device: Device, jobs: int | None = None) -> list[Module]:
    """Load many units, compiling ``jobs`` at once (default: one a processor); modules in order of ``units``.

    Threads suffice, because NVRTC compiles in parallel within one process. On the host all units that are
    not loaded yet go into one C++ file. The first error is raised when all have ended; what compiled stays
    loaded.
    """
    units = list(units)
    if device.kind == "host":
        return _load_host(units)
    with ThreadPoolExecutor(max(1, jobs or _processors()), thread_name_prefix="baracuda-compile") as pool:
        return list(pool.map(functools.partial(load, device=device), units))


def _processors() -> int:
    """The processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _load_host(units: Sequence[Unit]) -> list[Module]:
    """The host's modules; the units that are missing are compiled together."""
    missing = [unit for unit in dict.fromkeys(units) if unit not in _modules]
    if missing:
        # Single units compile side by side, batches in turn; a unit in both is compiled twice at worst.
        with _locks.holding(missing[0] if len(missing) == 1 else "batch"):
            missing = [unit for unit in missing if unit not in _modules]
            if missing:
                from baracuda.host import compile_units

                library = compile_units(missing)
                _modules.update((unit, library.unit(unit)) for unit in missing)
    return [_modules[unit] for unit in units]
