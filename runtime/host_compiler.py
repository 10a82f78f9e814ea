"""The system's C++ compiler: finding it, its flags, and what AddressSanitizer needs of a process."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from baracuda.errors import CompileError, InvalidProblem

# IEEE arithmetic as on the device: no contraction, no fast-math, the architecture's base instructions.
# -O2 compiles half as long again, and most of the time on the host goes into compiling.
FLAGS = (
    "-std=c++17",
    "-O1",
    "-ffp-contract=off",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-fno-math-errno",
    "-pthread",
)
# Passes that take a sixth of GCC's time at -O1 and make no kernel faster that was measured.
GCC_FLAGS = ("-fno-tree-dominator-opts", "-fno-tree-dse", "-fno-tree-pta", "-fno-ivopts")
# How a machine without a compiler gets its libraries.
AHEAD = "baracuda-gen compile --arch host --pack FILE, then BARACUDA_PACK=FILE"
SANITIZE_VARIABLE = "BARACUDA_SANITIZE"


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: the command that calls it, and what tells it from any other (path and version)."""

    command: tuple[str, ...]
    identity: str

    @property
    def version(self) -> str:
        """What it says of itself, in one line."""
        return self.identity.rpartition("\0")[2].partition("\n")[0]

    @property
    def is_clang(self) -> bool:
        """Whether it takes clang's options."""
        return "clang" in self.identity

    @property
    def is_gcc(self) -> bool:
        """Whether it knows the passes of GCC by name."""
        return "Free Software Foundation" in self.identity

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that make a shared library of one C++ file."""
        return (*FLAGS, *GCC_FLAGS) if self.is_gcc else FLAGS


def find_compiler() -> Compiler:
    """The compiler that ``CXX`` names, else the first of ``c++``, ``g++``, ``clang++`` on the path.

    Raises `CompileError`, saying what to install, where there is none or it does not run.
    """
    return _find_compiler(os.environ.get("CXX", "").strip(), os.environ.get("PATH", ""))


@functools.cache
def _find_compiler(chosen: str, path: str) -> Compiler:
    try:
        commands = [shlex.split(chosen)] if chosen else [["c++"], ["g++"], ["clang++"]]
    except ValueError as error:
        raise CompileError(f"CXX={chosen!r} is no command: {error}; set it to a C++ compiler") from error
    for command in commands:
        program = shutil.which(command[0], path=path)
        if program is None:
            continue
        full = (program, *command[1:])
        try:
            said = subprocess.run([*full, "--version"], capture_output=True, check=True).stdout
            version = said.decode("utf-8", "replace")
        except (OSError, subprocess.CalledProcessError) as error:
            raise CompileError(f"the C++ compiler {shlex.join(full)} does not run: {error}") from error
        return Compiler(full, "\0".join((*full, str(Path(program).resolve()), version)))
    wanted = f"CXX={chosen!r} is not on the path" if chosen else "none of c++, g++, clang++ is on the path"
    hint = "xcode-select --install" if sys.platform == "darwin" else "apt install g++, or dnf install gcc-c++"
    raise CompileError(
        f"the host executor needs a C++17 compiler, and {wanted}: {hint}, or set CXX; or bring its libraries "
        f"from a machine like this one that has a compiler: {AHEAD}"
    )


def sanitizer() -> str:
    """What ``BARACUDA_SANITIZE`` asks for: ``""`` or ``"address"``. `InvalidProblem` for anything else."""
    name = os.environ.get(SANITIZE_VARIABLE, "").strip()
    if name not in ("", "address"):
        raise InvalidProblem(f"{SANITIZE_VARIABLE}={name!r}: want 'address' or nothing")
    return name


def check_process() -> None:
    """Raise `CompileError` where this process cannot load instrumented libraries: they would end it."""
    if sanitizer() and not hasattr(ctypes.CDLL(None), "__asan_init"):
        advice = "start it with the variables of baracuda.host.asan_environment()"
        raise CompileError(f"{SANITIZE_VARIABLE}=address needs a process under AddressSanitizer: {advice}")


def asan_environment() -> dict[str, str]:
    """The environment variables to add for a Python process that runs kernels under AddressSanitizer.

    They ask for an instrumented build and load the sanitizer's library first, without which an instrumented
    library cannot be loaded into Python. Leaks are not reported, because Python itself has some.
    Raises `CompileError` where the compiler does not come with the sanitizer.
    """
    compiler = find_compiler()
    names = ["libasan.so", "libstdc++.so.6"]
    if sys.platform == "darwin":
        names = ["libclang_rt.asan_osx_dynamic.dylib"]
    elif compiler.is_clang:
        names = [f"libclang_rt.asan-{platform.machine()}.so", "libstdc++.so.6"]
    paths = [_runtime_library(compiler, name) for name in names]
    variable = "DYLD_INSERT_LIBRARIES" if sys.platform == "darwin" else "LD_PRELOAD"
    preload = ":".join([*paths, *filter(None, [os.environ.get(variable, "")])])
    options = ":".join(["detect_leaks=0", *filter(None, [os.environ.get("ASAN_OPTIONS", "")])])
    return {SANITIZE_VARIABLE: "address", variable: preload, "ASAN_OPTIONS": options}


def _runtime_library(compiler: Compiler, name: str) -> str:
    command = [*compiler.command, f"-print-file-name={name}"]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    if not Path(found).is_absolute():
        raise CompileError(f"{compiler.command[0]} comes without {name}: install its sanitizer libraries")
    return str(Path(found).resolve())


def compile_flags(compiler: Compiler) -> tuple[str, ...]:
    """The flags that make a shared library of one C++ file, instrumented if the environment asks for it."""
    if not sanitizer():
        return compiler.flags
    shared = ("-shared-libasan",) if compiler.is_clang and sys.platform != "darwin" else ()
    return (*compiler.flags, "-fsanitize=address", "-fno-omit-frame-pointer", "-g", *shared)
