"""Compiling for the device: NVRTC, with exactly our flags. No GPU is needed.

NVRTC is reached through CuPy's thin binding, because CuPy knows how to find the library. CuPy's own compile
paths are not used: they append ``-ftz=true``, which flushes subnormal numbers.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
import re
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from baracuda.compile import source
from baracuda.compile.arch import parse_arch
from baracuda.compile.unit import Unit
from baracuda.errors import CompileError, Unsupported

logger = logging.getLogger("baracuda.compile")

ArtifactKind = Literal["cubin", "ptx", "library"]

# IEEE arithmetic, the same on host and device: no flushing, exact division and square root, no contraction.
BASE_FLAGS = ("-std=c++17", "-ftz=false", "-prec-div=true", "-prec-sqrt=true", "-fmad=false")
# The oldest architecture that the kernels are written for.
FLOOR = 80
# Known to every NVRTC that we support, for bindings that cannot list what theirs knows.
_ARCHS_OF_ANY_NVRTC = (80, 86, 87, 89, 90)


@dataclass(frozen=True)
class Artifact:
    """What a compile gave: a cubin (machine code), PTX (which the driver compiles) or a library of the host.

    ``arch`` is what it was compiled for (``"sm_90"``, ``"compute_90"``), ``log`` the compiler's remarks,
    ``seconds`` the time the compile took and ``cpu_seconds`` the processor's share of it, which other work on
    the machine does not change; both are 0.0 where the bytes came from a cache.
    """

    data: bytes
    kind: ArtifactKind
    arch: str
    log: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0


@functools.cache
def _nvrtc() -> Any:
    """CuPy's binding of NVRTC, with the library loaded; raises `CompileError` where either is missing."""
    try:
        binding = importlib.import_module("cupy_backends.cuda.libs.nvrtc")
        binding.getVersion()
    except Exception as error:
        raise _missing(error) from error
    return binding


def is_loaded() -> bool:
    """Whether this process has loaded NVRTC, so that asking it costs nothing."""
    return _nvrtc.cache_info().currsize > 0


def _missing(error: BaseException) -> CompileError:
    """What to say where NVRTC cannot be used: the cause, where it was looked for, and what to install."""
    from importlib import metadata

    extra = "cuda12"
    for distribution in ("cupy-cuda13x", "cupy-cuda12x"):
        try:
            version = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
        found = f"{distribution} {version} is installed, and asked for NVRTC in"
        extra = "cuda13" if distribution == "cupy-cuda13x" else "cuda12"
        break
    else:
        found = "no CuPy wheel is installed; it would ask for NVRTC in"
    variables = ", ".join(
        f"{name}={os.environ.get(name, '(not set)')}"
        for name in ("CUDA_PATH", "CUDA_HOME", "LD_LIBRARY_PATH")
    )
    return CompileError(
        f"compiling a CUDA kernel needs NVRTC, which cannot be loaded: {type(error).__name__}: {error}\n"
        f"{found} the nvidia packages of the Python environment, conda, the system's "
        f"libraries and {variables}.\n"
        f'Install it: pip install "baracuda[{extra}]"'
    )


def version() -> tuple[int, int]:
    """NVRTC's version, such as (12, 9). Raises `CompileError` where NVRTC is missing."""
    major, minor = _nvrtc().getVersion()
    return int(major), int(minor)


def identity() -> str:
    """The compiler's name in a cache key, such as ``"nvrtc 12.9"``."""
    return "nvrtc {}.{}".format(*version())


def supported_archs() -> tuple[int, ...]:
    """The compute capabilities that this NVRTC compiles for, ascending: (..., 80, 86, 90, ...)."""
    listing = getattr(_nvrtc(), "getSupportedArchs", None)
    return tuple(sorted(int(arch) for arch in listing())) if listing else _ARCHS_OF_ANY_NVRTC


def resolve_arch(arch: str) -> str:
    """The target that this NVRTC compiles to for ``arch``: ``arch`` itself, or PTX where the GPU is newer.

    ``arch`` is ``sm_90`` (a cubin), ``sm_90a`` (a cubin with the features of that architecture alone) or
    ``compute_90`` (PTX). An architecture that this NVRTC does not know gives the newest ``compute_XX`` below
    it. Raises `Unsupported` below sm_80, for an unknown architecture with a suffix, and for what is no
    architecture.
    """
    _, capability, suffix = parse_arch(arch)
    known = tuple(known for known in supported_archs() if known >= FLOOR)
    names = ", ".join(f"sm_{known}" for known in known) or f"none from sm_{FLOOR} on"
    this = "NVRTC {}.{}".format(*version())
    if capability < FLOOR:
        raise Unsupported(
            f"{arch} is too old: baracuda needs sm_{FLOOR} or newer; {this} compiles for {names}"
        )
    if capability in known:
        return arch
    older = [known for known in known if known < capability]
    if suffix or not older:
        raise Unsupported(f"{this} does not know {arch}; it compiles for {names}")
    return f"compute_{older[-1]}"


def options(unit: Unit) -> tuple[str, ...]:
    """The flags for ``unit``, without macros and architecture: ours, each replaced by the unit's own."""

    def name(flag: str) -> str:
        return flag.split("=", maxsplit=1)[0].lstrip("-")

    flags = {name(flag): flag for flag in BASE_FLAGS}
    flags.update((name(flag), flag) for flag in unit.flags)
    return tuple(flags.values())


def command_line(unit: Unit, arch: str) -> list[str]:
    """All options of a compile, macros and architecture included."""
    macros = [f"-D{name}={value}" for name, value in sorted(unit.defines)]
    return [*options(unit), *macros, f"--gpu-architecture={arch}"]


def compile_cubin(unit: Unit, arch: str, failed_folder: Path | None = None) -> Artifact:
    """Compile ``unit`` for ``arch`` (see `resolve_arch`) now, past every cache.

    Logs one line when it starts and one with the duration when it ends. Raises `Unsupported` for an
    architecture that cannot be served and `CompileError` (``log``, ``source_path``: the numbered source,
    written below ``failed_folder`` or to a temporary file) for a unit that does not compile or where NVRTC
    is missing. Thread-safe; NVRTC runs without the interpreter's lock, so that threads compile at the same
    time.
    """
    arch = resolve_arch(arch)
    nvrtc = _nvrtc()
    kind: ArtifactKind = "ptx" if arch.startswith("compute_") else "cubin"
    command = command_line(unit, arch)
    source.check_includes(unit.name, unit.text)
    bundled = source.headers()
    names = [name.encode() for name in bundled]
    contents = [text.encode() for text in bundled.values()]
    dtype = unit.define("BARACUDA_DTYPE", "-")
    logger.info("compiling %s (%s) for %s", unit.name, dtype, arch)
    started, cpu_started = time.perf_counter(), time.thread_time()
    program = nvrtc.createProgram(unit.text, unit.name, contents, names)
    try:
        try:
            nvrtc.compileProgram(program, command)
        except Exception as error:
            log = nvrtc.getProgramLog(program)
            logger.info("compiling %s (%s) for %s failed", unit.name, dtype, arch)
            raise _failure(unit, command, log, error, failed_folder) from error
        log = nvrtc.getProgramLog(program)
        data = nvrtc.getPTX(program) if kind == "ptx" else _whole_elf(nvrtc.getCUBIN(program))
    finally:
        nvrtc.destroyProgram(program)
    seconds, cpu_seconds = time.perf_counter() - started, time.thread_time() - cpu_started
    logger.info("compiled %s (%s) for %s in %.0f ms", unit.name, dtype, arch, seconds * 1e3)
    content = data.encode() if isinstance(data, str) else bytes(data)
    return Artifact(content, kind, arch, log, seconds, cpu_seconds)


def _failure(
    unit: Unit, command: list[str], log: str, error: BaseException, folder: Path | None
) -> CompileError:
    """The error for a unit that NVRTC refused: its name, the first errors, where the numbered source lies."""
    if "nvrtc-builtins" in log:
        return _missing(RuntimeError(log.strip()))
    path = source.write_failed_source(unit, folder, " ".join(command), log)
    errors = _first_errors(log.splitlines()) or [str(error)]
    where = f"\nnumbered source: {path}" if path else ""
    return CompileError(f"{unit.name}: " + "\n".join(errors) + where, log=log, source_path=path)


def _first_errors(lines: Iterable[str], count: int = 3) -> list[str]:
    """The first lines of a log that report an error, each stripped."""
    return [line.strip() for line in lines if re.search(r"\berror\b", line)][:count]


def _whole_elf(cubin: bytes) -> bytes:
    """``cubin`` in the length that its ELF header states.

    CuPy's binding drops the last byte, as if it ended a string; it is a zero of the last table's entry.
    """
    if cubin[:5] != b"\x7fELF\x02":
        return cubin
    program_offset, section_offset = struct.unpack_from("<QQ", cubin, 32)
    program_size, programs, section_size, sections = struct.unpack_from("<HHHH", cubin, 54)
    length = max(program_offset + program_size * programs, section_offset + section_size * sections)
    return cubin + b"\0" if len(cubin) == length - 1 else cubin
