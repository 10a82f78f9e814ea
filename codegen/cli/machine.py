"""What this machine has: compilers, CuPy, NVRTC, driver and GPUs, and what to install for the rest."""

from __future__ import annotations

import ctypes
import importlib
import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from baracuda.codegen.cli.system_errors import words

# The oldest compute capability that kernels are compiled for.
FLOOR = 80


@dataclass(frozen=True)
class Fact:
    """One part of the machine: what was found, or why it is no use and the command or step that mends it.

    `absence` is the word for a part that is not found: something may be there and broken. `serves` says what
    it has kernels for without a compiler: `gpu`, `host`.
    """

    name: str
    found: bool
    detail: str
    remedy: str = ""
    absence: str = "missing"
    serves: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Gpu:
    """A CUDA device as the driver reports it; `capability` is 90 for sm_90."""

    index: int
    name: str
    capability: int


@dataclass(frozen=True)
class Driver:
    """The CUDA driver: the newest CUDA version it serves, such as (12, 9), and its devices."""

    version: tuple[int, int]
    gpus: tuple[Gpu, ...]


class NoDriver(Exception):
    """The CUDA driver is absent or does not start; the message says which."""


def read_driver() -> Driver:
    """Ask the CUDA driver, without CuPy. Raises `NoDriver`."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise NoDriver("no CUDA driver (libcuda.so.1) on this machine") from error

    def call(function: str, *arguments: object) -> None:
        status = getattr(cuda, function)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            cuda.cuGetErrorName(status, ctypes.byref(text))
            name = text.value.decode() if text.value else f"status {status}"
            raise NoDriver(f"the CUDA driver fails: {function}: {name}")

    call("cuInit", 0)
    version, count = ctypes.c_int(), ctypes.c_int()
    call("cuDriverGetVersion", ctypes.byref(version))
    call("cuDeviceGetCount", ctypes.byref(count))
    gpus = []
    for index in range(count.value):
        handle, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        name = ctypes.create_string_buffer(256)
        call("cuDeviceGet", ctypes.byref(handle), index)
        call("cuDeviceGetName", name, len(name), handle)
        # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
        call("cuDeviceGetAttribute", ctypes.byref(major), 75, handle)
        call("cuDeviceGetAttribute", ctypes.byref(minor), 76, handle)
        gpus.append(Gpu(index, name.value.decode(), major.value * 10 + minor.value))
    return Driver((version.value // 1000, version.value % 1000 // 10), tuple(gpus))


def facts() -> list[Fact]:
    """Look at every part of the machine; never raises for a part that is missing or broken."""
    try:
        driver: Driver | None = read_driver()
        reason = ""
    except NoDriver as error:
        driver, reason = None, str(error)
    extra = extra_for(driver)
    return [
        Fact("Python", True, f"{platform.python_version()} ({sys.executable})"),
        _package("NumPy", "numpy", "numpy"),
        _package("ml_dtypes", "ml_dtypes", "ml_dtypes"),
        cxx_fact(),
        cupy_fact(extra, driver),
        nvrtc_fact(extra, driver),
        driver_fact(driver, reason),
    ]


def extra_for(driver: Driver | None) -> str:
    """Return the extra whose CUDA the driver serves; cuda12 where there is no driver to ask."""
    return "cuda13" if driver is not None and driver.version >= (13, 0) else "cuda12"


def pip_install(requirement: str) -> str:
    """Return the command that installs `requirement` for this very interpreter."""
    return shlex.join([sys.executable, "-m", "pip", "install", requirement])


def _version_of(distribution: str) -> str | None:
    """Return the installed version of a distribution, `None` where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _package(name: str, distribution: str, requirement: str) -> Fact:
    version = _version_of(distribution)
    if version is None:
        return Fact(name, False, "not installed", pip_install(requirement))
    return Fact(name, True, version)


# CuPy's distributions, with the CUDA version that each was built for; conda's has it all in one.
_CUPY = {"cupy-cuda12x": (12, 0), "cupy-cuda13x": (13, 0), "cupy": (0, 0)}


def cupy_fact(extra: str, driver: Driver | None) -> Fact:
    """Look for CuPy: which one, whether it is the only one, loads, and suits the driver."""
    name = "CuPy"
    found = {label: version for label in _CUPY if (version := _version_of(label)) is not None}
    install = pip_install(f"baracuda[{extra}]")
    if not found:
        return Fact(name, False, "not installed", install)
    listed = ", ".join(f"{version} ({label})" for label, version in found.items())
    remove = shlex.join([sys.executable, "-m", "pip", "uninstall", "--yes", *found])
    if len(found) > 1:
        return Fact(
            name, False, f"{listed}: they overwrite each other's files", f"{remove} && {install}", "clash"
        )
    try:
        importlib.import_module("cupy_backends.cuda.api.driver")
    except Exception as error:
        return Fact(
            name,
            False,
            f"{listed} cannot be imported: {_one_line(error)}",
            f"{remove} && {install}",
            "broken",
        )
    if driver is not None and driver.version < max(_CUPY[label] for label in found):
        served = "{}.{}".format(*driver.version)
        return Fact(
            name,
            False,
            f"{listed}, but the driver serves CUDA {served} only",
            f"{remove} && {install}",
            "too new",
        )
    return Fact(name, True, listed)


def _one_line(error: BaseException) -> str:
    return re.sub(r"\s+", " ", str(error).partition("\n")[0])


def cxx_fact() -> Fact:
    """Look for the C++ compiler of the host executor, and let it compile something."""
    from baracuda.errors import CompileError
    from baracuda.host_compile import try_compiler
    from baracuda.host_compiler import find_compiler

    name = "C++ compiler"
    chosen = os.environ.get("CXX", "").strip()
    remedy = "unset CXX, or let it name a C++ compiler" if chosen else _system_install()
    try:
        compiler = find_compiler()
    except CompileError as error:
        return Fact(name, False, str(error), remedy)
    try:
        try_compiler()
    except CompileError as error:
        return Fact(name, False, f"{shlex.join(compiler.command)}: {_one_line(error)}", remedy, "broken")
    except OSError as error:
        return Fact(name, False, f"cannot be tried: {words(error)}", "export TMPDIR=/a/folder/with/room")
    return Fact(name, True, f"{shlex.join(compiler.command)}: {compiler.version}")


def _system_install() -> str:
    """Return the command that installs a compiler with the package manager that is here."""
    if sys.platform == "darwin":
        return "xcode-select --install"
    for manager, command in (
        ("apt-get", "apt-get install g++"),
        ("dnf", "dnf install gcc-c++"),
        ("apk", "apk add g++"),
        ("pacman", "pacman -S gcc"),
        ("zypper", "zypper install gcc-c++"),
    ):
        if shutil.which(manager):
            return command if os.geteuid() == 0 else f"sudo {command}"
    return "install g++ or clang++, or let CXX name a C++ compiler"


def nvrtc_fact(extra: str, driver: Driver | None) -> Fact:
    """Look for NVRTC, and whether it knows the GPUs that are here."""
    from baracuda.compile import nvrtc
    from baracuda.errors import CompileError

    try:
        major, minor = nvrtc.version()
        known = max(nvrtc.supported_archs())
    except CompileError as error:
        return Fact("NVRTC", False, _one_line(error), pip_install(f"baracuda[{extra}]"))
    newer = [gpu for gpu in (driver.gpus if driver else ()) if gpu.capability > known]
    note = f"; {newer[0].name} (sm_{newer[0].capability}) is newer and gets PTX" if newer else ""
    detail = f"{major}.{minor}, compiles up to sm_{known}{note}"
    remedy = f"{pip_install(f'baracuda[{extra}]')} --upgrade" if newer else ""
    return Fact("NVRTC", True, detail, remedy)


def driver_fact(driver: Driver | None, reason: str) -> Fact:
    """Say what the driver and the GPUs are."""
    name = "CUDA driver"
    if driver is None:
        return Fact(
            name, False, reason, f"{_driver_install()}; without a GPU the host executor does the work"
        )
    version = "serves CUDA {}.{}".format(*driver.version)
    if not driver.gpus:
        return Fact(
            name, False, f"{version}, but sees no GPU", "nvidia-smi, and look at CUDA_VISIBLE_DEVICES"
        )
    gpus = ", ".join(f"{gpu.index}: {gpu.name} (sm_{gpu.capability})" for gpu in driver.gpus)
    old = [gpu for gpu in driver.gpus if gpu.capability < FLOOR]
    if len(old) == len(driver.gpus):
        return Fact(name, False, f"{version}; {gpus}: too old", f"a GPU of sm_{FLOOR} or newer", "too old")
    return Fact(name, True, f"{version}; {gpus}")


def _driver_install() -> str:
    """Return the command that installs NVIDIA's driver with what is here."""
    if sys.platform == "darwin":
        return "nothing to install: NVIDIA has no driver for macOS"
    if any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv")):
        return "this is a container: start it with --gpus all"
    for program, command in (
        ("ubuntu-drivers", "ubuntu-drivers install"),
        ("apt-get", "apt-get install nvidia-driver"),
        ("dnf", "dnf install nvidia-open"),
        ("pacman", "pacman -S nvidia"),
        ("zypper", "zypper install nvidia-open"),
    ):
        if shutil.which(program):
            return command if os.geteuid() == 0 else f"sudo {command}"
    return "see https://www.nvidia.com/drivers"


def show(found: list[Fact], echo: Callable[[str], object]) -> None:
    """Print one line a fact, and the remedy below one that needs it."""
    width = max(len(fact.name) for fact in found)
    for fact in found:
        echo(f"{'ok     ' if fact.found else fact.absence.ljust(7)}  {fact.name.ljust(width)}  {fact.detail}")
        if fact.remedy:
            echo(f"{' ' * (11 + width)}to mend it: {fact.remedy}")


def can_run(found: list[Fact]) -> tuple[bool, bool]:
    """Return whether kernels can run on a GPU, and whether they can on the host executor."""
    there = {fact.name: fact.found for fact in found}
    base = there["NumPy"] and there["ml_dtypes"]
    # Where a pack has the kernels, no compiler is needed.
    packed = {what for fact in found if fact.found for what in fact.serves}
    base = base and there.get("BARACUDA_JIT", True)
    gpu = base and there["CuPy"] and there["CUDA driver"] and (there["NVRTC"] or "gpu" in packed)
    return gpu, base and (there["C++ compiler"] or "host" in packed)
