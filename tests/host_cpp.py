"""C++ text compiled into a shared library on this machine, with the flags of the host executor."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

from baracuda.compile.source import include_folder
from baracuda.host_compiler import find_compiler

FLAGS = [
    "-std=c++17",
    "-O1",
    "-ffp-contract=off",
    "-fPIC",
    "-shared",
    "-fno-math-errno",
    "-Wall",
    "-Wextra",
    "-Werror",
]


def compile_library(text: str, folder: Path, *flags: str) -> ctypes.CDLL:
    """Compile `text`, warnings being errors, and load it."""
    candidates = (os.environ.get("CXX"), "c++", "g++", "clang++")
    compiler = next(found for name in candidates if name and (found := shutil.which(name)))
    source, library = folder / "test.cpp", folder / "test.so"
    source.write_text(text)
    command = [compiler, *FLAGS, *flags, "-I", str(include_folder()), str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def compiler(*arguments: str, text: str) -> subprocess.CompletedProcess[str]:
    """Run the compiler on C++ text that finds the headers."""
    command = [
        *find_compiler().command,
        "-std=c++17",
        "-I",
        str(include_folder()),
        "-x",
        "c++",
        *arguments,
        "-",
    ]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)
