"""Which NVRTC an environment has, noted beside the cache, so that a warm start need not load 100 MB to ask.

A key of the cache names the compiler's version. Once NVRTC was loaded, a note says which one it was, and what
decided that: the library's file, the variables and folders where it is looked for, and CuPy, which looks.
Where any of that has changed the note says nothing, and NVRTC is asked.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path

from baracuda.compile import nvrtc
from baracuda.compile.cache import DiskCache
from baracuda.compile.unit import digest

__all__ = ["known_compiler", "note_compiler"]

_VARIABLES = ("CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX", "LD_LIBRARY_PATH", "LD_PRELOAD")
_LIBRARY = re.compile(r"/\S*/libnvrtc\.so\S*")
# What this process has read and written; the answer does not change under it.
_known: dict[DiskCache, str] = {}
_noted: set[tuple[DiskCache, str]] = set()


def known_compiler(cache: DiskCache) -> str | None:
    """NVRTC's name in a cache key, if that is known without loading it."""
    if nvrtc.is_loaded():
        return nvrtc.identity()
    if cache not in _known:
        parts = cache.compiler_note(_name()).split("\n")
        if len(parts) != 3 or parts[2] != _fingerprint(parts[1]):
            return None
        _known[cache] = parts[0]
    return _known[cache]


def note_compiler(cache: DiskCache) -> None:
    """Note which NVRTC this process has loaded, once a process and cache."""
    compiler = nvrtc.identity()
    if (cache, compiler) in _noted:
        return
    _noted.add((cache, compiler))
    library = _loaded_library()
    if library is not None:
        note = "\n".join((compiler, library, _fingerprint(library)))
        if cache.compiler_note(_name()) != note:
            cache.note_compiler(_name(), note)


def _name() -> str:
    """The name of an environment's note."""
    return digest(sys.prefix)[:32]


def _fingerprint(library: str) -> str:
    """A digest of what decides which NVRTC is loaded; `library` is the file that it was."""
    folders = [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))]
    cupy = importlib.util.find_spec("cupy_backends")
    # Installing or removing a package changes the time of its folder's parent.
    places = [library, *(place for folder in folders for place in (folder, f"{folder}/nvidia"))]
    variables = (os.environ.get(name, "") for name in _VARIABLES)
    return digest(
        str(cupy and cupy.origin), *variables, *(part for place in places for part in (place, _state(place)))
    )


def _state(path: str) -> str:
    try:
        found = Path(path).stat()
    except OSError:
        return ""
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _loaded_library() -> str | None:
    """The file of the NVRTC in this process; None where that cannot be told."""
    try:
        found = set(_LIBRARY.findall(Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return None
    return found.pop() if len(found) == 1 else None
