"""Packs: the compiled kernels of one or several architectures in one file that can be moved anywhere.

A pack is made ahead of time (``baracuda-gen compile --pack FILE``) and read where no compiler need be: an
entry is found by what its unit is, not by which compiler made it; the pack records that instead. Layout: a
line with magic, format, length and checksum of the index; the index as JSON; the entries, each compressed.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import itertools
import json
import os
import reprlib
import secrets
import threading
import weakref
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from baracuda.compile import nvrtc, source
from baracuda.compile.arch import host_target, runnable
from baracuda.compile.nvrtc import Artifact
from baracuda.compile.unit import SCHEMA, Unit, unit_key
from baracuda.errors import CompileError

__all__ = ["PACK_VARIABLE", "Pack", "find", "load_pack", "loaded_packs", "write_pack"]

PACK_VARIABLE = "BARACUDA_PACK"
_MAGIC = b"baracuda-pack"
# Raise it when a reader of the old format could not make sense of a file.
_FORMAT = 1
# More than any first line has.
_LINE_LIMIT = 256
_REMEDY = "make it anew: baracuda-gen compile --arch ARCH --pack FILE"


def pack_key(unit: Unit, arch: str) -> str:
    """What an entry is found by: everything that makes the unit, and the target, but no compiler."""
    return unit_key(unit, nvrtc.options(unit), arch, "any compiler", source.headers_digest())


class Pack:
    """An open pack, for any number of threads.

    Raises `CompileError`, naming the file, for one that cannot be read, is damaged, has another format, or
    was made for other kernel headers than those of this installation.

    Attributes:
        path: the file.
        compiler: what made it, such as ``"nvrtc 12.9"``.
        version: the version of baracuda that made it.
        flags: the compiler's flags that all units share.
        archs: its targets, such as ``("compute_80", "sm_90")``.
        nbytes: the size of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        try:
            self._file = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            self._fail(f"cannot be read: {error.strerror}", error)
        # The file stays open: its offsets hold even where its name goes to another file later.
        weakref.finalize(self, os.close, self._file)
        self.nbytes = os.fstat(self._file).st_size
        line, newline, _ = self._read(0, _LINE_LIMIT).partition(b"\n")
        fields = line.split(b" ")
        if fields[0] != _MAGIC:
            self._fail("is no pack of compiled kernels")
        if len(fields) > 1 and fields[1] != b"%d" % _FORMAT:
            self._fail(f"has format {fields[1].decode('ascii', 'replace')}, want {_FORMAT}; {_REMEDY}")
        length = int(fields[2]) if len(fields) == 4 and fields[2].isdigit() else self.nbytes
        if not newline or len(line) + 1 + length > self.nbytes:
            self._fail(f"is truncated or damaged: its index cannot be read; {_REMEDY}")
        index = self._read(len(line) + 1, length)
        if hashlib.sha256(index).hexdigest().encode() != fields[3]:
            self._fail(f"is damaged: the checksum of its index does not fit; {_REMEDY}")
        self._start = len(line) + 1 + length
        try:
            content = json.loads(index)
            problem = _senseless(content)
        except (ValueError, RecursionError) as error:
            content, problem = {}, f"no JSON: {error}"
        if problem:
            self._fail(f"has an index that makes no sense: {problem}; {_REMEDY}")
        self._take(content)

    def _take(self, index: dict[str, Any]) -> None:
        """Take over the index, and refuse a pack that cannot serve this installation."""
        self.compiler: str = index["compiler"]
        self.version: str = index["baracuda"]
        self.flags: tuple[str, ...] = tuple(index["flags"])
        self.archs: tuple[str, ...] = tuple(index["archs"])
        self._entries: dict[str, tuple[int, int, str, Any]] = index["entries"]
        wanted = self._start + index["nbytes"]
        if self.nbytes != wanted:
            what = "is truncated" if self.nbytes < wanted else "has bytes behind its end"
            self._fail(f"{what}: it has {self.nbytes} bytes, want {wanted}; {_REMEDY}")
        if (index["schema"], index["headers"]) != (SCHEMA, source.headers_digest()):
            self._fail(
                f"was made by baracuda {self.version} with other kernel headers than those of this "
                f"installation, so that none of its kernels fits; {_REMEDY}"
            )

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<Pack {self.path}: {len(self)} kernel files for {', '.join(self.archs)} by {self.compiler}>"

    def get(self, unit: Unit, arch: str) -> Artifact | None:
        """The entry of ``unit`` for exactly this target, or None. Raises `CompileError` for a damaged one."""
        entry = self._entries.get(pack_key(unit, arch))
        if entry is None:
            return None
        offset, length, checksum, kind = entry
        data = self._read(self._start + offset, length)
        if hashlib.sha256(data).hexdigest() != checksum:
            self._fail(f"is damaged: the checksum of {unit.name} for {arch} does not fit; {_REMEDY}")
        try:
            return Artifact(zlib.decompress(data), kind, arch)
        except zlib.error as error:
            self._fail(f"is damaged: {unit.name} for {arch} cannot be unpacked: {error}; {_REMEDY}", error)

    def _read(self, offset: int, length: int) -> bytes:
        try:
            return os.pread(self._file, length, offset)
        except OSError as error:
            self._fail(f"cannot be read: {error.strerror}", error)

    def _fail(self, problem: str, cause: Exception | None = None) -> NoReturn:
        raise CompileError(f"pack {self.path} {problem}") from cause


_INDEX: dict[str, type] = {
    "baracuda": str, "compiler": str, "schema": int, "headers": str, "flags": list, "archs": list,
    "nbytes": int, "entries": dict,
}  # fmt: skip


def _senseless(index: Any) -> str:
    """What is wrong with the form of an index; empty where nothing is."""
    if not isinstance(index, dict):
        return f"it is a {type(index).__name__}, want an object"
    for name, kind in _INDEX.items():
        if type(index.get(name)) is not kind:
            return f"{name} is {reprlib.repr(index.get(name))}, want {kind.__name__}"
    for name in ("flags", "archs"):
        if not all(isinstance(item, str) for item in index[name]):
            return f"{name} is {reprlib.repr(index[name])}, want words"
    places = []
    for key, entry in index["entries"].items():
        if not isinstance(entry, list) or [type(part) for part in entry] != [int, int, str, str]:
            return f"entry {key} is {reprlib.repr(entry)}, want offset, length, checksum and kind"
        places.append((entry[0], entry[0] + entry[1], key))
        if entry[0] < 0 or entry[1] < 0 or places[-1][1] > index["nbytes"]:
            return f"entry {key} has bytes {entry[0]} to {places[-1][1]}, want some of 0 to {index['nbytes']}"
    places.sort()
    for (_, end, key), (begin, _, other) in itertools.pairwise(places):
        if begin < end:
            return f"the entries {key} and {other} overlap"
    return ""


def write_pack(path: Path, artifacts: Iterable[tuple[Unit, Artifact]], compiler: str) -> int:
    """Write a pack of units and what they compiled to, whole or not at all; its size in bytes.

    The same content gives the same file. Raises OSError, also where `path` is anything but a file: the pack
    would take the place of a device such as /dev/null.
    """
    from baracuda import __version__

    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "is no file, so no pack can take its place", str(path))

    found = {pack_key(unit, artifact.arch): artifact for unit, artifact in artifacts}
    entries: dict[str, tuple[int, int, str, str]] = {}
    blocks: list[bytes] = []
    offset = 0
    for key in sorted(found):
        block = zlib.compress(found[key].data)
        entries[key] = (offset, len(block), hashlib.sha256(block).hexdigest(), found[key].kind)
        blocks.append(block)
        offset += len(block)
    content = {
        "baracuda": __version__,
        "compiler": compiler,
        "schema": SCHEMA,
        "headers": source.headers_digest(),
        "flags": nvrtc.BASE_FLAGS,
        "archs": sorted({artifact.arch for artifact in found.values()}),
        "nbytes": offset,
        "entries": entries,
    }
    index = json.dumps(content, separators=(",", ":")).encode()
    line = b"%s %d %d %s\n" % (_MAGIC, _FORMAT, len(index), hashlib.sha256(index).hexdigest().encode())
    # Not a private temporary file as in the cache: a pack is for everybody whom the umask admits.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.writelines([line, index, *blocks])
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return len(line) + len(index) + offset


_loaded: list[Pack] = []
_guard = threading.Lock()


def load_pack(path: str | os.PathLike[str]) -> Pack:
    """Use the kernels of a pack from now on, in this process: plans look here before they compile.

    Packs that were loaded come before those that ``BARACUDA_PACK`` names. Loading one again changes nothing.

    Raises:
        CompileError: the file cannot be read, is damaged, or was made by another version.
    """
    pack = Pack(Path(path))
    with _guard:
        for known in _loaded:
            if os.path.sameopenfile(known._file, pack._file):
                return known
        _loaded.append(pack)
    return pack


def loaded_packs() -> tuple[Pack, ...]:
    """The packs in use: those that `load_pack` loaded, then those that ``BARACUDA_PACK`` names now."""
    named = os.environ.get(PACK_VARIABLE, "")
    return (*_loaded, *_named_packs(named)) if named else tuple(_loaded)


@functools.lru_cache
def _named_packs(text: str) -> tuple[Pack, ...]:
    """The packs of a list like that of ``PATH``; an error is not remembered."""
    return tuple(Pack(Path(name)) for name in text.split(os.pathsep) if name)


def find(unit: Unit, arch: str) -> Artifact | None:
    """What a pack has of ``unit`` for ``arch``: that very target, else PTX of the nearest lower one.

    ``arch`` may be `host_target()`, which nothing else stands in for.
    """
    packs = loaded_packs()
    if not packs:
        return None
    if arch == host_target():
        return next(filter(None, (pack.get(unit, arch) for pack in packs)), None)
    for target in runnable(arch, {target for pack in packs for target in pack.archs}):
        for pack in packs:
            artifact = pack.get(unit, target)
            if artifact is not None:
                return artifact
    return None
