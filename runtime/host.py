"""The host executor: kernels compiled by the system's C++ compiler, run on memory that NumPy can see.

The same text that NVRTC compiles for a GPU runs here with its real blocks and threads (see
``include/baracuda/host_scheduler.cuh``). Objects have the protocol of `baracuda.compile.loader`: a module
gives kernels, a kernel packs launches, a launch is called with a stream handle.
"""

from __future__ import annotations

import ctypes
import os
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from baracuda.compile import pack
from baracuda.compile.arch import host_target
from baracuda.compile.nvrtc import Artifact
from baracuda.compile.unit import Unit
from baracuda.errors import DriverError, InvalidProblem, Unsupported
from baracuda.host_compile import MAIN, build_library, load_built, load_library
from baracuda.host_compiler import asan_environment, find_compiler, sanitizer

__all__ = ["HostKernel", "HostLaunch", "HostModule", "asan_environment", "compile_units", "find_compiler"]

ORDER_VARIABLE = "BARACUDA_HOST_ORDER"
THREADS_VARIABLE = "BARACUDA_HOST_THREADS"
# What a block of a GPU can have: more would run here and fail there.
MAX_SHARED_BYTES = 227 * 1024
_GRID_LIMITS = (2**31 - 1, 65535, 65535)
_ORDERS = {"forward": 0, "reverse": 1, "shuffle": 2, "ahead": 3}
# More OS threads help little, and each has the stacks of a whole block.
_MAX_DEFAULT_THREADS = 16
# The bytes that a Params struct may ask to be aligned to.
_PARAMS_ALIGNMENT = 64


# What runs the kernels' blocks and threads, a library by itself.
EXECUTOR = Unit("the host executor", "#include <baracuda/host_executor.cuh>\n", ())


class _Launch(ctypes.Structure):
    """``baracuda::host::Launch`` of host_abi.cuh."""

    _fields_ = (
        ("runtime", ctypes.c_void_p),
        ("grid", ctypes.c_uint32 * 3),
        ("threads", ctypes.c_uint32),
        ("shared_bytes", ctypes.c_uint32),
        ("order", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("os_threads", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )


class _Info(ctypes.Structure):
    """``baracuda::host::KernelInfo`` of host_abi.cuh."""

    _fields_ = (("params_bytes", ctypes.c_uint32), ("max_threads", ctypes.c_uint32))


@dataclass(frozen=True)
class _Executor:
    """The scheduler's library: the address of its function table, and what reads a launch's error."""

    runtime: int
    error: Any


def compile_units(units: Sequence[Unit]) -> HostModule:
    """Compile many units as one C++ file, which costs far less than one by one, and load the result.

    A unit's ``flags`` are NVRTC's and mean nothing here. Results are cached on disk. Raises `CompileError`
    with the compiler's log and the source's path; `ValueError` for no units at all.
    """
    units = tuple(units)
    if not units:
        raise ValueError("compile_units: no units")
    names = ", ".join(dict.fromkeys(unit.name for unit in units[:3]))
    what = names if len(units) <= 3 else f"{names} and {len(units) - 3} more units"
    library = load_library(_program(units), what)
    return HostModule(library, _executor(), tuple(enumerate(units)))


def compile_library(unit: Unit) -> Artifact:
    """Compile one unit ahead, for a pack. Raises `CompileError` as `compile_units`."""
    started = time.perf_counter()
    files = {MAIN: unit.text} if unit == EXECUTOR else _program([unit])
    content = build_library(files, unit.name)
    seconds = time.perf_counter() - started
    return Artifact(content, "library", host_target(), seconds=seconds)


def find_packed(unit: Unit) -> HostModule | None:
    """The unit as a pack has it, or None; nothing under AddressSanitizer, whose libraries are other ones.

    Raises `CompileError` for a damaged pack, and for a library that does not load on this machine.
    """
    artifact = None if sanitizer() else pack.find(unit, host_target())
    if artifact is None:
        return None
    return HostModule(load_built(artifact.data, unit.name), _executor(), ((0, unit),))


def _program(units: Iterable[Unit]) -> dict[str, str]:
    """The files of the program: each text once, and a main file that includes it for each of its units."""
    files: dict[str, str] = {}
    lines: list[str] = []
    for index, unit in enumerate(units):
        name = _file_name(unit, files)
        files[name] = unit.text
        macros = [(name, value) for name, value in unit.defines if name != "BARACUDA_NAMESPACE"]
        macros.append(("BARACUDA_NAMESPACE", _space(index)))
        lines += [f"#define {macro} {value}" for macro, value in macros]
        lines.append(f'#include "{name}"')
        lines += [f"#undef {macro}" for macro, _ in macros]
    files[MAIN] = "\n".join([*lines, ""])
    return files


def _file_name(unit: Unit, taken: dict[str, str]) -> str:
    """Where to write the unit's text: its name made harmless, with a number where another text has it."""
    parts = [re.sub(r"[^A-Za-z0-9_.-]", "_", part) for part in unit.name.split("/")]
    stem = "/".join(part for part in parts if part.strip(".")) or "unit.cu"
    name, number = stem, 1
    # Names are compared without case, as some file systems do.
    lower = {known.lower(): text for known, text in taken.items()} | {MAIN: "", "lock": ""}
    while lower.get(name.lower(), unit.text) != unit.text:
        number += 1
        name = f"{number}-{stem.replace('/', '-')}"
    return name


def _space(index: int) -> str:
    """The C++ namespace of the unit with this number."""
    return f"baracuda_unit_{index}"


def _executor() -> _Executor:
    packed = None if sanitizer() else pack.find(EXECUTOR, host_target())
    if packed is not None:
        library = load_built(packed.data, EXECUTOR.name)
    else:
        library = load_library({MAIN: EXECUTOR.text}, EXECUTOR.name)
    library.baracuda_host_runtime.restype = ctypes.c_void_p
    library.baracuda_host_error.restype = ctypes.c_char_p
    return _Executor(library.baracuda_host_runtime(), library.baracuda_host_error)


class HostModule:
    """The kernels of one or many compiled units."""

    def __init__(
        self, library: ctypes.CDLL, executor: _Executor, units: tuple[tuple[int, Unit], ...]
    ) -> None:
        self._library = library
        self._executor = executor
        self._units = units
        self._kernels: dict[str, HostKernel] = {}

    @property
    def units(self) -> tuple[Unit, ...]:
        """The units that its kernels come from."""
        return tuple(unit for _, unit in self._units)

    def unit(self, unit: Unit) -> HostModule:
        """The part that came from ``unit``, where units define the same symbols; `KeyError` if none did."""
        for index, known in self._units:
            if known == unit:
                return HostModule(self._library, self._executor, ((index, known),))
        raise KeyError(f"{unit.name} with {dict(unit.defines)} is not in this module")

    def kernel(self, symbol: str) -> HostKernel:
        """The kernel ``symbol``. Raises `DriverError` where no unit has it, or more than one."""
        kernel = self._kernels.get(symbol)
        if kernel is None:
            kernel = self._kernels[symbol] = self._find(symbol)
        return kernel

    def _find(self, symbol: str) -> HostKernel:
        found: dict[Unit, HostKernel] = {}
        for index, unit in self._units:
            name = f"{_space(index)}_{symbol}"
            try:
                info = _Info.in_dll(self._library, f"{name}_info")
            except ValueError:
                continue
            if unit not in found:
                found[unit] = HostKernel(symbol, getattr(self._library, name), info, self._executor)
        if len(found) == 1:
            return next(iter(found.values()))
        names = ", ".join(dict.fromkeys(unit.name for unit in self.units[:3]))
        if not found:
            raise DriverError(f"no kernel {symbol} in {names} ({len(self._units)} units)")
        raise DriverError(f"{len(found)} units have a kernel {symbol}: ask HostModule.unit for one of them")


class HostKernel:
    """One kernel.

    Attributes:
        symbol: its name, as on the device.
        params_bytes: the size of its ``Params``.
        max_threads: the largest block that it may be launched with.
    """

    def __init__(self, symbol: str, function: Any, info: _Info, executor: _Executor) -> None:
        function.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        function.restype = None
        self.symbol = symbol
        self.params_bytes: int = info.params_bytes
        self.max_threads: int = info.max_threads
        self._function = function
        self._executor = executor

    def shared_to_hold(self, blocks: int, threads: int) -> int:
        """None: there is no multiprocessor that holds blocks."""
        del blocks, threads
        return 0

    def pack(
        self,
        grid: tuple[int, int, int],
        threads: int,
        shared_bytes: int,
        params: bytes,
        *,
        order: str | None = None,
        os_threads: int | None = None,
    ) -> HostLaunch:
        """A launch of ``grid`` blocks of ``threads`` threads with ``shared_bytes`` of dynamic shared memory.

        ``params`` are the bytes of the kernel's one parameter; they are copied. ``order`` is the order in
        which threads run between two barriers, and blocks one after another: ``"forward"``, ``"reverse"``,
        ``"shuffle:SEED"``, or ``"ahead"``, where one warp runs as far as barriers let it before the others
        (default: ``BARACUDA_HOST_ORDER``, else forward). ``os_threads`` bounds the number of OS threads that
        blocks are spread over (default: ``BARACUDA_HOST_THREADS``, else the processors).
        Raises `InvalidProblem` and `Unsupported` for what a GPU would refuse to launch, `InvalidProblem` for
        an order that there is not, `DriverError` for parameters of another size than the kernel's.
        """
        if any(not 1 <= extent <= limit for extent, limit in zip(grid, _GRID_LIMITS, strict=True)):
            limits = f"each extent is 1 to {_GRID_LIMITS}"
            raise InvalidProblem(f"{self.symbol}: a grid of {grid} blocks; {limits}")
        if not 1 <= threads <= self.max_threads:
            limits = f"this kernel runs 1 to {self.max_threads}"
            raise InvalidProblem(f"{self.symbol}: {threads} threads a block; {limits}")
        if not 0 <= shared_bytes <= MAX_SHARED_BYTES:
            limits = f"a block has at most {MAX_SHARED_BYTES}"
            raise Unsupported(f"{self.symbol}: {shared_bytes} bytes of dynamic shared memory; {limits}")
        if len(params) != self.params_bytes:
            raise DriverError(f"{self.symbol}: got {len(params)} bytes of Params, want {self.params_bytes}")
        number, seed = _parse_order(os.environ.get(ORDER_VARIABLE) or "forward" if order is None else order)
        launch = _Launch(self._executor.runtime, grid, threads, shared_bytes, number, seed)
        launch.os_threads = _default_os_threads() if os_threads is None else max(1, os_threads)
        return HostLaunch(self, launch, params)

    def run(self, params: int, launch: int) -> None:
        """Run a launch whose parameters and description lie at these addresses; `HostLaunch` calls it."""
        self._function(params, launch)
        # Kept by OS thread, and the two calls are on one.
        if message := self._executor.error():
            raise DriverError(message.decode("utf-8", "replace"))


class HostLaunch:
    """A kernel with its grid and parameters, ready to run; it may be called from several threads at once."""

    __slots__ = ("_kernel", "_launch", "_launch_address", "_params_address", "params")

    def __init__(self, kernel: HostKernel, launch: _Launch, params: bytes) -> None:
        self._kernel = kernel
        self._launch = launch
        self._launch_address = ctypes.addressof(launch)
        block = ctypes.create_string_buffer(len(params) + _PARAMS_ALIGNMENT)
        address = ctypes.addressof(block)
        skipped = -address % _PARAMS_ALIGNMENT
        self._params_address = address + skipped
        self.params = memoryview(block).cast("B")[skipped : skipped + len(params)]
        self.params[:] = params

    def __call__(self, stream_handle: int = 0) -> None:
        """Run the kernel to its end, without Python's global lock; the stream means nothing here.

        Raises `DriverError` where threads wait for each other for ever, naming block, threads and barriers.
        """
        self._kernel.run(self._params_address, self._launch_address)


def _parse_order(text: str) -> tuple[int, int]:
    """Number and seed of an order: ``forward``, ``reverse``, ``ahead``, ``shuffle`` or ``shuffle:SEED``."""
    name, _, seed = text.strip().partition(":")
    plain = name in _ORDERS and (not seed or (name == "shuffle" and seed.isascii() and seed.isdigit()))
    if not plain:
        raise InvalidProblem(f"{ORDER_VARIABLE}={text!r}: want forward, reverse, ahead or shuffle:SEED")
    return _ORDERS[name], int(seed or 0) % 2**64


def _default_os_threads() -> int:
    text = os.environ.get(THREADS_VARIABLE, "").strip()
    if not text:
        return _processors()
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise InvalidProblem(f"{THREADS_VARIABLE}={text!r}: want a number of OS threads, 1 or more")
    return min(int(text), 1024)


def _processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return min(len(affinity(0)) if affinity else os.cpu_count() or 1, _MAX_DEFAULT_THREADS)
