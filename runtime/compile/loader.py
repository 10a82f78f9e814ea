"""From a unit to a module that can be launched: from memory, a pack, the disk cache or the compiler."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from baracuda import driver
from baracuda.compile import nvrtc, pack, source
from baracuda.compile.arch import runnable
from baracuda.compile.cache import disk_cache
from baracuda.compile.compiler_note import known_compiler, note_compiler
from baracuda.compile.locks import KeyedLocks
from baracuda.compile.nvrtc import Artifact
from baracuda.compile.unit import Unit, unit_key
from baracuda.errors import CompileError, DriverError, InvalidProblem
from baracuda.tensor import Device

JIT_VARIABLE = "BARACUDA_JIT"
# Units a C++ file on the host: more save little, and take one compiler longer than several would.
_HOST_BATCH = 32

_Piece = TypeVar("_Piece")


class Launch(Protocol):
    """A kernel with grid and parameters packed.

    ``params`` is a writable buffer over its copy of the parameters, which may be changed between calls.
    """

    @property
    def params(self) -> Any:
        """The packed parameters."""

    def __call__(self, stream_handle: int) -> None:
        """Enqueue it on the stream (on the host: run it); no allocation, no synchronisation."""


class Kernel(Protocol):
    """One kernel of a module."""

    def shared_to_hold(self, blocks: int, threads: int) -> int:
        """Bytes of dynamic shared memory of a block with which a multiprocessor holds at most `blocks`."""

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
    """Whether kernels may be compiled on demand: not where ``BARACUDA_JIT`` is ``never``.

    Raises `InvalidProblem` for a word that means nothing: who sets the variable does not want it overlooked.
    """
    word = os.environ.get(JIT_VARIABLE, "").strip()
    if word.lower() not in ("", "never"):
        raise InvalidProblem(f"{JIT_VARIABLE}={word!r}: want 'never' or nothing")
    return not word


def artifact_key(unit: Unit, arch: str, compiler: str | None = None) -> str:
    """The cache key of ``unit`` for a target as `nvrtc.resolve_arch` gives it; ``compiler``: NVRTC's own."""
    headers = source.headers_digest(unit.text)
    return unit_key(unit, nvrtc.options(unit), arch, compiler or nvrtc.identity(), headers)


def compile_only(unit: Unit, arch: str) -> Artifact:
    """``unit`` for ``arch`` (``"sm_90"``, ``"compute_90"``): from a pack, the cache, or compiled now.

    Needs no GPU, and asks for NVRTC only where the packs have nothing and ``BARACUDA_JIT`` is not ``never``.
    Raises `Unsupported` for an architecture that cannot be served, and `CompileError` for a unit that does
    not compile, where NVRTC is missing, for a damaged pack, or for what ``BARACUDA_JIT=never`` forbids.
    """
    artifact = ready(unit, arch)
    if artifact is None and not jit_allowed():
        raise _missing(unit, arch)
    return artifact or compile_ahead(unit, arch)


def ready(unit: Unit, arch: str) -> Artifact | None:
    """What there is of ``unit`` for ``arch`` without a compile, and without loading the compiler."""
    artifact = pack.find(unit, arch)
    if artifact is not None:
        return artifact
    if not jit_allowed():
        return _cached(unit, arch)
    cache = disk_cache()
    compiler = known_compiler(cache)
    return cache.get(artifact_key(unit, arch, compiler)) if compiler else None


def compile_ahead(unit: Unit, arch: str, *, fresh: bool = False) -> Artifact:
    """``unit`` for ``arch`` from the cache or compiled now, whatever packs and ``BARACUDA_JIT`` say.

    ``fresh`` compiles what the cache has too. ``arch`` may be ``"host"``: a library of the host executor for
    machines like this one, which goes into no cache.
    """
    if arch == "host":
        from baracuda.host import compile_library

        return compile_library(unit)
    target = nvrtc.resolve_arch(arch)
    cache = disk_cache()

    def make() -> Artifact:
        artifact = nvrtc.compile_cubin(unit, target, cache.failed_folder)
        cache.note_made(nvrtc.identity(), target)
        return artifact

    key = artifact_key(unit, target)
    if fresh:
        artifact = make()
        cache.put(key, artifact)
    else:
        artifact = cache.get_or_make(key, make)
    note_compiler(cache)
    return artifact


def _cached(unit: Unit, arch: str) -> Artifact | None:
    """What the cache has of ``unit`` for ``arch``, whichever compiler made it; asks no compiler."""
    cache = disk_cache()
    made = cache.made()
    for target in runnable(arch, {target for _, target in made}):
        for compiler, of in made:
            if of == target:
                artifact = cache.get(artifact_key(unit, target, compiler))
                if artifact is not None:
                    return artifact
    return None


def _missing(unit: Unit, arch: str) -> CompileError:
    """The error for a unit that may not be compiled: what is missing, where it was looked for, what to do."""
    dtype = unit.define("BARACUDA_DTYPE", "-")
    return CompileError(
        f"{unit.name}: no compiled kernel for dtype {dtype} and {arch} in {pack.places()} "
        f"or the cache {disk_cache().folder}, and {JIT_VARIABLE}=never forbids compiling it; make it ahead: "
        f"baracuda-gen compile --arch {arch} --pack FILE, then {pack.PACK_VARIABLE}=FILE"
    )


def load(unit: Unit, device: Device, *, stream_handle: int | None = None) -> Module:
    """The module of ``unit`` on ``device``, loaded once a process: from a pack or the cache if it can be.

    Thread-safe. ``stream_handle`` is the CUDA stream that the caller is about to use: a cold load while that
    stream captures a graph raises `DriverError`, because loading would break the capture. Raises what
    `compile_only` raises, and `DriverError` where the device cannot be used.
    """
    if device.kind == "host":
        return _load_host([unit])[0]
    module = _load_cuda(unit, device, stream_handle, compile_only)
    assert module is not None
    return module


def _load_cuda(
    unit: Unit, device: Device, stream_handle: int | None, find: Callable[[Unit, str], Artifact | None]
) -> Module | None:
    """The module of ``unit``, from ``find`` if it is not loaded yet; None where that finds nothing."""
    key = (unit, device.index, driver.context_of(device.index))
    module = _modules.get(key)
    if module is not None:
        return module
    if stream_handle is not None:
        _refuse_capture(unit, device, stream_handle)
    with _locks.holding(key):
        module = _modules.get(key)
        if module is None:
            artifact = find(unit, driver.device_arch(device.index))
            if artifact is not None:
                module = _modules[key] = driver.load_module(artifact.data, device.index, unit.name)
    return module


def _refuse_capture(unit: Unit, device: Device, stream_handle: int) -> None:
    """Raise `DriverError` where a unit would have to be loaded while the stream captures a graph."""
    if driver.is_capturing(stream_handle):
        raise DriverError(
            f"{unit.name} is not loaded on {device} yet, and the stream is capturing a CUDA graph: "
            "select the plan before the capture begins"
        )


def preload(
    units: Iterable[Unit], device: Device, jobs: int | None = None, *, stream_handle: int | None = None
) -> list[Module]:
    """Load many units, compiling ``jobs`` at once (default: one a processor); modules in order of ``units``.

    Threads suffice, because NVRTC compiles in parallel within one process. On the host many units share a C++
    file. The first error is raised when all have ended; what compiled stays loaded. Otherwise as `load`.
    """
    units = list(units)
    if device.kind == "host":
        missing = [unit for unit in dict.fromkeys(units) if unit not in _modules]
        batches = [missing[start : start + _HOST_BATCH] for start in range(0, len(missing), _HOST_BATCH)]
        _at_once(_load_host, batches, jobs)
        return [load(unit, device) for unit in units]
    found = {unit: _load_cuda(unit, device, stream_handle, ready) for unit in dict.fromkeys(units)}
    missing = [unit for unit, module in found.items() if module is None]
    _at_once(functools.partial(load, device=device, stream_handle=stream_handle), missing, jobs)
    return [found[unit] or load(unit, device, stream_handle=stream_handle) for unit in units]


def _at_once(work: Callable[[_Piece], object], pieces: Sequence[_Piece], jobs: int | None) -> None:
    """Do the pieces of work, ``jobs`` at once; the first error is raised when all have ended."""
    if len(pieces) == 1:
        work(pieces[0])
    elif pieces:
        with ThreadPoolExecutor(max(1, jobs or _processors()), thread_name_prefix="baracuda-compile") as pool:
            list(pool.map(work, pieces))


def _processors() -> int:
    """The processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _load_host(units: Sequence[Unit]) -> list[Module]:
    """The host's modules: from packs, and the units that none has are compiled together."""
    missing = [unit for unit in dict.fromkeys(units) if unit not in _modules]
    if missing:
        # Different batches compile side by side; a unit in two of them is compiled twice at worst.
        with _locks.holding(tuple(missing)):
            from baracuda.host import compile_units, find_packed

            for unit in [unit for unit in missing if unit not in _modules]:
                packed = find_packed(unit)
                if packed is not None:
                    _modules.setdefault(unit, packed)
            missing = [unit for unit in missing if unit not in _modules]
            if missing:
                library = compile_units(missing)
                for unit in missing:
                    _modules.setdefault(unit, library.unit(unit))
    return [_modules[unit] for unit in units]
