"""The disk cache of compiled kernels: one checked file a key, written atomically, bounded in size.

The cache is an optimisation: nothing that goes wrong with its folder reaches a caller, except one warning a
process. Layout: ``<folder>/kernels/<key>.bin`` (a header line, then the compiler's bytes), ``<folder>/made/``
(which compilers compiled for which targets: a file a pair, without content), ``<folder>/compilers/`` (see
compiler_note.py) and ``<folder>/failed/`` (sources that did not compile). Beside them ``<folder>/host/``
holds the host executor's libraries.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from baracuda.compile.files import files, reason, remove, size_of, write_atomically
from baracuda.compile.locks import KeyedLocks
from baracuda.compile.nvrtc import Artifact, ArtifactKind

FOLDER_VARIABLE = "BARACUDA_CACHE_DIR"
LIMIT_VARIABLE = "BARACUDA_CACHE_MAX_BYTES"
DEFAULT_LIMIT = 1 << 30
# A writer that takes longer than this died; its temporary file is removed with the next write.
STALE_SECONDS = 3600.0
# With the format's number: a reader ignores what another version wrote.
MAGIC = "baracuda-kernel-1"

_KEY = re.compile(r"[0-9a-f]{64}")

_warned: set[str] = set()
_warned_guard = threading.Lock()


@dataclass(frozen=True)
class CacheInfo:
    """What lies in the cache: its folder (None without one), how many entries and bytes, the bound."""

    folder: Path | None
    entries: int
    nbytes: int
    limit: int


def cache_folder() -> Path | None:
    """``BARACUDA_CACHE_DIR``, ``XDG_CACHE_HOME/baracuda`` or ``~/.cache/baracuda``; None without a home."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen).absolute()
    if (xdg := os.environ.get("XDG_CACHE_HOME")) and Path(xdg).is_absolute():
        return Path(xdg) / "baracuda"
    try:
        home = Path.home()
    except (RuntimeError, KeyError):
        return None
    # A relative one would be another folder wherever the process goes.
    return home / ".cache" / "baracuda" if home.is_absolute() else None


def cache_limit() -> int:
    """The bound in bytes: ``BARACUDA_CACHE_MAX_BYTES``, else 1 GiB; 0 keeps nothing on disk."""
    text = os.environ.get(LIMIT_VARIABLE, "")
    if not text:
        return DEFAULT_LIMIT
    if text.isascii() and text.isdigit():
        return int(text)
    _warn_once(LIMIT_VARIABLE, f"{LIMIT_VARIABLE}={text!r} is no number of bytes; using {DEFAULT_LIMIT}")
    return DEFAULT_LIMIT


def encode(key: str, artifact: Artifact) -> bytes:
    """An entry: a line with magic, key, kind, architecture, length and checksum, then the bytes."""
    checksum = hashlib.sha256(artifact.data).hexdigest()
    header = f"{MAGIC} {key} {artifact.kind} {artifact.arch} {len(artifact.data)} {checksum}\n"
    return header.encode("ascii") + artifact.data


def decode(key: str, entry: bytes) -> Artifact | None:
    """The artifact that `encode` wrote for ``key``; None for anything truncated, altered or foreign."""
    line, newline, data = entry.partition(b"\n")
    fields = line.split(b" ")
    if not newline or len(fields) != 6 or fields[0] != MAGIC.encode() or fields[1] != key.encode():
        return None
    kind, arch, length, checksum = (field.decode("ascii", "replace") for field in fields[2:])
    whole = length == str(len(data)) and checksum == hashlib.sha256(data).hexdigest()
    return Artifact(data, cast("ArtifactKind", kind), arch) if whole and kind in ("cubin", "ptx") else None


class DiskCache:
    """A cache in ``folder``, bounded to ``limit`` bytes; for any number of threads and processes at once."""

    def __init__(self, folder: Path | None, limit: int = DEFAULT_LIMIT) -> None:
        self.folder = folder
        self.limit = limit
        self._memory: dict[str, Artifact] = {}
        self._locks = KeyedLocks()

    @property
    def failed_folder(self) -> Path | None:
        """Where the sources of failed compiles go."""
        return self.folder / "failed" if self.folder else None

    def get_or_make(self, key: str, make: Callable[[], Artifact]) -> Artifact:
        """The artifact of ``key``: from disk, else from ``make``, which runs once for all threads that ask.

        What ``make`` raises is passed on. Where the disk cannot keep the artifact, memory does.
        """
        with self._locks.holding(key):
            artifact = self._memory.get(key) or self.get(key)
            if artifact is None:
                artifact = make()
                if not self.put(key, artifact):
                    self._memory[key] = artifact
            return artifact

    def get(self, key: str) -> Artifact | None:
        """The entry of ``key``; None where there is none. An entry that fails its checks is removed."""
        folder = self._kernels(create=False)
        if folder is None:
            return None
        path = folder / f"{key}.bin"
        try:
            entry = path.read_bytes()
        except OSError:
            # Missing, or unreadable for now: compiled anew and replaced; a lasting fault shows in `put`.
            return None
        artifact = decode(key, entry)
        with contextlib.suppress(OSError):
            if artifact is None:
                path.unlink()
            else:
                # Set by hand, because mounts with noatime or relatime do not; eviction goes by it.
                os.utime(path)
        return artifact

    def put(self, key: str, artifact: Artifact) -> bool:
        """Write an entry; False where the disk could not keep it (one warning a process says so)."""
        if self.limit == 0:
            return False
        folder = self._kernels(create=True)
        if folder is None:
            return False
        try:
            write_atomically(folder / f"{key}.bin", encode(key, artifact))
        except OSError as error:
            self._warn(f"{folder} cannot be written: {reason(error)}")
            return False
        self._evict(folder)
        return True

    def note_made(self, compiler: str, arch: str) -> None:
        """Remember that ``compiler`` compiled for ``arch``, for readers that have no compiler to ask."""
        if self.limit and (folder := self._kernels(create=True)) is not None:
            with contextlib.suppress(OSError):
                made = folder.parent / "made"
                made.mkdir(mode=0o700, exist_ok=True)
                (made / f"{compiler} {arch}").touch(mode=0o600)

    def made(self) -> list[tuple[str, str]]:
        """The pairs that `note_made` noted: compiler and target, the newest compiler first."""
        if self._kernels(create=False) is None or self.folder is None:
            return []
        names = [path.name.rpartition(" ") for path, _ in files(self.folder / "made", None)]
        pairs = [(compiler, arch) for compiler, _, arch in names if compiler]
        return sorted(pairs, key=lambda pair: (_numbers(pair[0]), pair), reverse=True)

    def note_compiler(self, environment: str, note: str) -> None:
        """Keep a note about the compiler of an environment."""
        if self.limit and (folder := self._kernels(create=True)) is not None:
            with contextlib.suppress(OSError):
                notes = folder.parent / "compilers"
                notes.mkdir(mode=0o700, exist_ok=True)
                write_atomically(notes / environment, note.encode())

    def compiler_note(self, environment: str) -> str:
        """The note about the compiler of an environment; empty where there is none."""
        folder = self._kernels(create=False)
        try:
            return (folder.parent / "compilers" / environment).read_text("utf-8") if folder else ""
        except (OSError, ValueError):
            return ""

    def info(self) -> CacheInfo:
        """How many entries there are and how large they are."""
        folder = self._kernels(create=False)
        sizes = [entry.st_size for _, entry in files(folder, ".bin")] if folder else []
        return CacheInfo(self.folder, len(sizes), sum(sizes), self.limit)

    def host_info(self) -> CacheInfo:
        """How many libraries of the host executor there are and how large they are; a bound of their own."""
        sizes = [size_of(folder) for folder in self._host_entries()]
        return CacheInfo(self.folder, len(sizes), sum(sizes), self.limit)

    def clear(self) -> int:
        """Remove every entry, the host executor's too; the number of entries that went.

        Only files that the cache wrote are touched, and processes that run on are not disturbed.
        """
        self._memory.clear()
        folder = self._kernels(create=False)
        removed = sum(remove(path) for path, _ in files(folder, ".bin")) if folder else 0
        notes = [(self.folder / name, None) for name in ("made", "compilers")] if self.folder else []
        leftovers = [(folder, ".tmp"), (self.failed_folder, ".txt"), *notes]
        for place, suffix in leftovers:
            for path, _ in files(place, suffix) if place else ():
                remove(path)
        for entry in self._host_entries():
            shutil.rmtree(entry, ignore_errors=True)
            removed += not entry.exists()
        return removed

    def _host_entries(self) -> list[Path]:
        folder = self.folder / "host" if self.folder else None
        if folder is None or not folder.is_dir():
            return []
        return [path for path in folder.iterdir() if _KEY.fullmatch(path.name) and path.is_dir()]

    def _evict(self, folder: Path) -> None:
        """Remove the least recently read entries beyond the bound, and abandoned temporary files."""
        now = time.time()
        for path, entry in files(folder, ".tmp"):
            if now - entry.st_mtime > STALE_SECONDS:
                remove(path)
        entries = sorted(files(folder, ".bin"), key=lambda item: (item[1].st_mtime_ns, item[0].name))
        excess = sum(entry.st_size for _, entry in entries) - self.limit
        for path, entry in entries:
            if excess <= 0:
                break
            remove(path)
            excess -= entry.st_size

    def problem(self) -> str:
        """Why the folder cannot keep entries, tried by writing a file; empty where it can."""
        folder, problem = self._place(create=True)
        if folder is not None:
            try:
                with tempfile.TemporaryFile(dir=folder) as file:
                    file.write(b"baracuda")
                    file.flush()
            except OSError as error:
                problem = f"{folder} cannot be written: {reason(error)}"
        return problem

    def _kernels(self, create: bool) -> Path | None:
        """The folder of the entries, or None (with one warning) where it cannot be used."""
        folder, problem = self._place(create)
        if problem:
            self._warn(problem)
        return folder

    def _place(self, create: bool) -> tuple[Path | None, str]:
        """The folder of the entries, or None and what is wrong with it (nothing where it is not there yet).

        It must belong to this user (or to root) and be writable by nobody else: an entry is code that will
        run.
        """
        if self.folder is None:
            return None, "no cache folder: neither HOME nor XDG_CACHE_HOME is an absolute path"
        folder = self.folder / "kernels"
        try:
            if create:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                folder.mkdir(mode=0o700, exist_ok=True)
            status = folder.stat()
        except FileNotFoundError as error:
            return None, f"{folder} cannot be made: {reason(error)}" if create else ""
        except OSError as error:
            return None, f"{folder} cannot be used: {reason(error)}"
        if not stat.S_ISDIR(status.st_mode):
            return None, f"{folder} is no folder"
        if status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o022:
            return None, f"{folder} can be written by other users, who could place code there; want mode 0700"
        return folder, ""

    def _warn(self, problem: str) -> None:
        _warn_once(
            FOLDER_VARIABLE,
            f"baracuda keeps compiled kernels in memory only: {problem}. Set {FOLDER_VARIABLE} to "
            "a folder of your own that can be written",
        )


def _warn_once(topic: str, message: str) -> None:
    """Warn about ``topic`` once a process."""
    with _warned_guard:
        if topic in _warned:
            return
        _warned.add(topic)
    warnings.warn(message, RuntimeWarning, stacklevel=3)


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers in a name, so that 12.10 sorts behind 12.9."""
    return tuple(int(digits) for digits in re.findall(r"\d+", text))


_caches: dict[tuple[Path | None, int], DiskCache] = {}
_caches_guard = threading.Lock()


def disk_cache() -> DiskCache:
    """The process's cache for the folder and the bound that the environment names now."""
    place = cache_folder(), cache_limit()
    with _caches_guard:
        return _caches.setdefault(place, DiskCache(*place))
