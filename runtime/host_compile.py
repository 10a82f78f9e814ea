"""From C++ sources to a loaded library, by way of a cache on disk.

Layout: ``<cache folder>/host/<key>/`` holds the sources and ``<digest of the library>.so``, so that an entry
checks itself. The key is the SHA-256 of everything that can change the library: sources, bundled headers,
flags, compiler.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import errno
import functools
import hashlib
import logging
import os
import re
import secrets
import shutil
import stat
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from baracuda.compile.cache import FOLDER_VARIABLE, cache_folder, cache_limit
from baracuda.compile.files import reason
from baracuda.compile.loader import JIT_VARIABLE, jit_allowed
from baracuda.compile.locks import KeyedLocks
from baracuda.compile.pack import places
from baracuda.compile.source import check_includes, check_unchanged, headers_digest, include_folder
from baracuda.compile.unit import digest
from baracuda.errors import CompileError
from baracuda.host_compiler import AHEAD, check_process, compile_flags, find_compiler

logger = logging.getLogger("baracuda.compile")

# The file that a program is compiled from; it includes the others.
MAIN = "main.cpp"
# Raise it when an entry changes its meaning in a way that the rest of the key does not show.
_SCHEMA = 1
# A build that left its temporary file this long ago died.
_STALE_SECONDS = 3600.0

_KEY = re.compile(r"[0-9a-f]{64}")

# C++17 with its library and threads, which is what the executor needs.
_TRIAL = """\
#include <cmath>
#include <thread>
template <bool kind> double half(double x) { if constexpr (kind) return std::ldexp(x, -1); else return 0; }
extern "C" double trial(double x) { std::thread([&] { x = half<true>(x); }).join(); return x; }
"""

_loaded: dict[str, ctypes.CDLL] = {}
_locks = KeyedLocks()


def load_library(files: Mapping[str, str], what: str) -> ctypes.CDLL:
    """The library that ``files`` (name to text, `MAIN` among them) compile to, built once and loaded once.

    Thread-safe, and any number of processes may ask for the same at once. ``what`` is for messages. Raises
    `CompileError` with the compiler's log where it does not compile, where there is no compiler, where
    ``BARACUDA_JIT=never`` forbids to compile what is not in the cache, or where the result cannot be loaded.
    """
    check_process()
    allowed = jit_allowed()
    try:
        compiler = find_compiler()
    except CompileError as error:
        raise error if allowed else _forbidden(what, cache_folder()) from error
    flags = compile_flags(compiler)
    sources = [part for name in sorted(files) for part in (name, files[name])]
    command = [*compiler.command, *flags]
    headers = headers_digest(*files.values())
    key = digest("baracuda host", str(_SCHEMA), compiler.identity, *flags, headers, *sources)
    with _locks.holding(key):
        if key not in _loaded:
            _loaded[key] = _load_or_build(key, files, what, command)
        return _loaded[key]


def build_library(files: Mapping[str, str], what: str) -> bytes:
    """Compile to a library for machines like this one, past every cache, and return its bytes.

    Never instrumented, whatever ``BARACUDA_SANITIZE`` says. Raises `CompileError` as `load_library`.
    """
    compiler = find_compiler()
    with tempfile.TemporaryDirectory(prefix="baracuda-host-") as folder:
        return _build(Path(folder), files, what, [*compiler.command, *compiler.flags]).read_bytes()


def try_compiler() -> None:
    """Compile and load a small library. Raises `CompileError` as `load_library`, OSError from the disk."""
    load_built(build_library({MAIN: _TRIAL}, "a small program"), "a small program")


def load_built(content: bytes, what: str) -> ctypes.CDLL:
    """Load what `build_library` made, once a process. Raises `CompileError` where it does not load."""
    key = hashlib.sha256(content).hexdigest()
    with _locks.holding(key):
        if key not in _loaded:
            try:
                path = _temporary_folder() / f"{key}.so"
                path.write_bytes(content)
                _loaded[key] = ctypes.CDLL(str(path))
            except OSError as error:
                problem = f"{what}: the library of a pack cannot be loaded on this machine: {error}"
                raise CompileError(problem) from error
        return _loaded[key]


def _load_or_build(key: str, files: Mapping[str, str], what: str, command: list[str]) -> ctypes.CDLL:
    """From the cache's folder, else from a temporary one where the first cannot be used."""
    folder = _cache_folder()
    if folder is not None:
        try:
            return _load_from(folder / key, files, what, command)
        except OSError as error:
            _warn_once(f"{folder} cannot be written: {reason(error)}")
    try:
        return _load_from(_temporary_folder() / key, files, what, command)
    except OSError as error:
        raise CompileError(f"{what}: there is no place to compile it in: {reason(error)}") from error


def _load_from(folder: Path, files: Mapping[str, str], what: str, command: list[str]) -> ctypes.CDLL:
    """The library of one entry; one that does not load is built again once. OSError from the disk."""
    problem = ""
    for _ in range(2):
        library = _find_library(folder)
        if library is None:
            if not jit_allowed():
                raise _forbidden(what, folder.parent)
            with _only_process(folder):
                library = _find_library(folder)
                if library is None:
                    library = _build(folder, files, what, command)
                    _evict(folder)
        try:
            loaded = ctypes.CDLL(str(library))
        except OSError as error:
            problem = str(error)
            with contextlib.suppress(OSError):
                library.unlink()
            continue
        with contextlib.suppress(OSError):
            os.utime(folder)  # eviction goes by it
        return loaded
    message = f"{what}: the compiled library does not load: {problem}"
    raise CompileError(message, source_path=str(folder / MAIN))


def _forbidden(what: str, folder: Path | None) -> CompileError:
    """The error for what may not be compiled."""
    return CompileError(
        f"{what}: no library for the host executor in {places()} or in {folder}, and {JIT_VARIABLE}=never "
        f"forbids compiling it; make it ahead: {AHEAD}"
    )


def _find_library(folder: Path) -> Path | None:
    """The entry's library; files whose content is not what their name says are removed."""
    for path in sorted(folder.glob("*.so")):
        with contextlib.suppress(OSError):
            if _content_digest(path) == path.stem:
                return path
            path.unlink()
    return None


def _content_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# What fails a compiler and says nothing of the source.
_DISK_FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG)


def _build(folder: Path, files: Mapping[str, str], what: str, command: list[str]) -> Path:
    for name, text in files.items():
        check_includes(name, text, files)
        _write(folder / name, text)
    output = folder / f"{secrets.token_hex(8)}.tmp"
    arguments = [*command, "-I", str(include_folder()), MAIN, "-o", output.name]
    begin = time.perf_counter()
    logger.info("compiling %s for the host", what)
    try:
        # An untranslated log, and a compiler that is not itself run under a sanitizer.
        environment = {**os.environ, "LC_ALL": "C", "LD_PRELOAD": "", "DYLD_INSERT_LIBRARIES": ""}
        done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, check=False)
        if done.returncode != 0:
            log = (done.stderr + done.stdout).decode("utf-8", "replace")
            fault = next((number for number in _DISK_FAULTS if os.strerror(number) in log), None)
            if fault is not None:
                raise OSError(fault, os.strerror(fault), str(folder))
            first = next((line for line in log.splitlines() if "error" in line), f"status {done.returncode}")
            raise CompileError(f"{what} does not compile: {first}", log, str(folder / MAIN))
        if not output.exists():
            raise CompileError(f"{what} does not compile: {command[0]} ends well and writes no library")
        check_unchanged(what, *files.values())
        library = folder / f"{_content_digest(output)}.so"
        output.replace(library)
    finally:
        output.unlink(missing_ok=True)
    logger.info("compiled %s for the host in %.2f s", what, time.perf_counter() - begin)
    return library


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _only_process(folder: Path) -> Iterator[None]:
    """Hold the entry's lock, so that processes that race compile it once; nothing where locks do not work."""
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as file:
        unlock = contextlib.ExitStack()
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
            # Closing is not enough: a child that was forked meanwhile has the file open too.
            unlock.callback(fcntl.flock, file, fcntl.LOCK_UN)
        with unlock:
            yield


def _cache_folder() -> Path | None:
    """The folder of the entries, or None (with one warning) where it cannot be used.

    It must belong to this user (or to root) and be writable by nobody else: a library is code that will run.
    """
    parent = cache_folder()
    if parent is None or cache_limit() == 0:
        return None
    folder = parent / "host"
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        _warn_once(f"{folder} cannot be made: {reason(error)}")
        return None
    if status.st_uid not in (0, os.geteuid()) or stat.S_IMODE(status.st_mode) & 0o022:
        _warn_once(f"{folder} can be written by other users, who could place code there; want mode 0700")
        return None
    return folder


@functools.cache
def _temporary_folder() -> Path:
    """A folder of this process, removed when it ends."""
    folder = Path(tempfile.mkdtemp(prefix="baracuda-host-"))
    atexit.register(_remove_own, folder, os.getpid())
    return folder


def _remove_own(folder: Path, process: int) -> None:
    # A forked child shares the folder and ends first.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


_warned: list[str] = []


def _warn_once(problem: str) -> None:
    if not _warned:
        _warned.append(problem)
        advice = f"Set {FOLDER_VARIABLE} to a folder of your own that can be written"
        message = f"baracuda compiles host kernels anew in each process: {problem}. {advice}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def _evict(kept: Path) -> None:
    """Remove the least recently used entries beyond the cache's bound, and what dead builds left.

    Only folders named like a key are looked at: whatever else lies there is somebody else's.
    """
    entries = []
    with contextlib.suppress(OSError):
        with os.scandir(kept.parent) as found:
            folders = [entry for entry in found if _KEY.fullmatch(entry.name) and entry.is_dir()]
        for entry in folders:
            size = 0
            for path, status in _files(entry.path):
                size += status.st_size
                if path.endswith(".tmp") and time.time() - status.st_mtime > _STALE_SECONDS:
                    Path(path).unlink(missing_ok=True)
            entries.append((entry.stat().st_mtime_ns, entry.path, size))
        excess = sum(size for _, _, size in entries) - cache_limit()
        for _, path, size in sorted(entries):
            if excess <= 0:
                break
            if path != str(kept):
                shutil.rmtree(path, ignore_errors=True)
                excess -= size


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The files of a folder and of those in it; every compile looks at all entries, so it must be quick."""
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
            elif entry.is_file():
                yield entry.path, entry.stat()
