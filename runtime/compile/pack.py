"""Packs: the compiled kernels of one or several architectures in one file that can be moved anywhere.

A pack is made ahead of time (``baracuda-gen compile --pack FILE``) and read where no compiler need be: an
entry is found by what its unit is, not by which compiler made it; the pack records that instead. Layout: a
line with magic, format, length of the facts, number of entries, and checksum of facts and table; the facts as
JSON; the table, a record an entry, in the order of their keys; the entries.
"""

from __future__ import annotations

import bisect
import errno
import functools
import hashlib
import json
import os
import reprlib
import secrets
import stat
import struct
import threading
import weakref
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from baracuda.compile import nvrtc, source
from baracuda.compile.arch import host_target, runnable
from baracuda.compile.nvrtc import Artifact, ArtifactKind
from baracuda.compile.unit import SCHEMA, Unit, unit_key
from baracuda.errors import CompileError

__all__ = ["PACK_VARIABLE", "Pack", "find", "load_pack", "loaded_packs", "write_pack"]

PACK_VARIABLE = "BARACUDA_PACK"
_MAGIC = b"baracuda-pack"
# Raise it when a reader of the old format could not make sense of a file.
_FORMAT = 2
# More than any first line has.
_LINE_LIMIT = 256
# An entry's key and checksum, its first byte and how many they are, its kind, and whether it is packed.
# Looked up where it lies: a pack of the whole matrix has thousands.
_RECORD = struct.Struct("<32s32sQQBB6x")
_KINDS: tuple[ArtifactKind, ...] = ("cubin", "ptx", "library")
_REMEDY = "make it anew: baracuda-gen compile --arch ARCH --pack FILE"


def pack_key(unit: Unit, arch: str) -> str:
    """What an entry is found by: everything that makes the unit, and the target, but no compiler."""
    flags = nvrtc.options(unit)
    if arch == host_target():
        from baracuda.host_compiler import FLAGS

        flags = FLAGS
    return unit_key(unit, flags, arch, "any compiler", source.headers_digest(unit.text))


class Pack:
    """An open pack, for any number of threads.

    Raises `CompileError`, naming the file, for one that cannot be read, is damaged, or has another format.

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
            # Opening a pipe would wait for its writer.
            self._file = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            self._fail(f"cannot be read: {error.strerror}", error)
        # The file stays open: its offsets hold even where its name goes to another file later.
        weakref.finalize(self, os.close, self._file)
        status = os.fstat(self._file)
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            self._fail("is no file")
        self.nbytes = status.st_size
        line, newline, _ = self._read(0, _LINE_LIMIT).partition(b"\n")
        fields = line.split(b" ")
        if fields[0] != _MAGIC:
            self._fail("is no pack of compiled kernels")
        if len(fields) > 1 and fields[1] != b"%d" % _FORMAT:
            self._fail(f"has format {fields[1].decode('ascii', 'replace')}, want {_FORMAT}; {_REMEDY}")
        numbers = [int(field) for field in fields[2:4] if field.isdigit()]
        length, self._count = numbers if len(fields) == 5 and len(numbers) == 2 else (self.nbytes, 0)
        self._start = len(line) + 1 + length + self._count * _RECORD.size
        if not newline or self._start > self.nbytes:
            self._fail(f"is truncated or damaged: its index cannot be read; {_REMEDY}")
        index = self._read(len(line) + 1, self._start - len(line) - 1)
        if hashlib.sha256(index).hexdigest().encode() != fields[4]:
            self._fail(f"is damaged: the checksum of its index does not fit; {_REMEDY}")
        self._table = memoryview(index)[length:]
        try:
            facts = json.loads(index[:length])
            problem = _senseless(facts)
        except (ValueError, RecursionError) as error:
            facts, problem = {}, f"no JSON: {error}"
        if problem:
            self._fail_index(problem)
        self._take(facts)

    def _take(self, facts: dict[str, Any]) -> None:
        """Take over the facts, and refuse a pack that cannot serve this installation."""
        self.compiler: str = facts["compiler"]
        self.version: str = facts["baracuda"]
        self.flags: tuple[str, ...] = tuple(facts["flags"])
        self.archs: tuple[str, ...] = tuple(facts["archs"])
        self._nbytes: int = facts["nbytes"]
        wanted = self._start + self._nbytes
        if self.nbytes != wanted:
            what = "is truncated" if self.nbytes < wanted else "has bytes behind its end"
            self._fail(f"{what}: it has {self.nbytes} bytes, want {wanted}; {_REMEDY}")
        self._schema_and_headers = (facts["schema"], facts["headers"])

    def check_headers(self) -> None:
        """Raise `CompileError` for a pack that was made for other kernel headers than this installation's.

        Entries found have the very headers that they include; this says why others are not.
        """
        if self._schema_and_headers != (SCHEMA, source.all_headers_digest()):
            self._fail(
                f"was made by baracuda {self.version} with other kernel headers than those of this "
                f"installation, so that its kernels do not fit; {_REMEDY}"
            )

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"<Pack {self.path}: {len(self)} kernel files for {', '.join(self.archs)} by {self.compiler}>"

    def get(self, unit: Unit, arch: str) -> Artifact | None:
        """The entry of ``unit`` for exactly this target, or None. Raises `CompileError` for a damaged one."""
        key = bytes.fromhex(pack_key(unit, arch))
        place = bisect.bisect_left(range(self._count), key, key=self._key)
        if place == self._count or self._key(place) != key:
            return None
        _, checksum, offset, length, kind, packed = _RECORD.unpack_from(self._table, place * _RECORD.size)
        if offset + length > self._nbytes or kind >= len(_KINDS) or packed > 1:
            what = f"bytes {offset} to {offset + length} of {self._nbytes}, kind {kind}, packed {packed}"
            self._fail_index(f"{unit.name} for {arch} has {what}")
        data = self._read(self._start + offset, length)
        if hashlib.sha256(data).digest() != checksum:
            self._fail(f"is damaged: the checksum of {unit.name} for {arch} does not fit; {_REMEDY}")
        try:
            return Artifact(zlib.decompress(data) if packed else data, _KINDS[kind], arch)
        except zlib.error as error:
            self._fail(f"is damaged: {unit.name} for {arch} cannot be unpacked: {error}; {_REMEDY}", error)

    def _key(self, place: int) -> bytes:
        """The key of an entry, by its place in the table."""
        start = place * _RECORD.size
        return bytes(self._table[start : start + 32])

    def _read(self, offset: int, length: int) -> bytes:
        try:
            return os.pread(self._file, length, offset)
        except OSError as error:
            self._fail(f"cannot be read: {error.strerror}", error)
        except MemoryError as error:
            self._fail(f"cannot be read: no memory for {length} bytes of it; {_REMEDY}", error)

    def _fail(self, problem: str, cause: Exception | None = None) -> NoReturn:
        raise CompileError(f"pack {self.path} {problem}") from cause

    def _fail_index(self, problem: str) -> NoReturn:
        self._fail(f"has an index that makes no sense: {problem}; {_REMEDY}")


_FACTS: dict[str, type] = {
    "baracuda": str, "compiler": str, "schema": int, "headers": str, "flags": list, "archs": list,
    "nbytes": int,
}  # fmt: skip


def _senseless(facts: Any) -> str:
    """What is wrong with the form of the facts; empty where nothing is."""
    if not isinstance(facts, dict):
        return f"it is a {type(facts).__name__}, want an object"
    for name, kind in _FACTS.items():
        if type(facts.get(name)) is not kind:
            return f"{name} is {reprlib.repr(facts.get(name))}, want {kind.__name__}"
    for name in ("flags", "archs"):
        if not all(isinstance(item, str) for item in facts[name]):
            return f"{name} is {reprlib.repr(facts[name])}, want words"
    return ""


def write_pack(
    path: Path, artifacts: Iterable[tuple[Unit, Artifact]], compiler: str, *, compress: bool = False
) -> int:
    """Write a pack of units and what they compiled to, whole or not at all; its size in bytes.

    Machine code is stored as it is, unless `compress` asks otherwise: unpacking it takes longer than all else
    in a `select`. PTX is always compressed: the driver takes far longer to compile it.
    The same content gives the same file. Raises OSError, also where `path` is anything but a file: the pack
    would take the place of a device such as /dev/null.
    """
    from baracuda import __version__

    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "is no file, so no pack can take its place", str(path))

    found = {pack_key(unit, artifact.arch): artifact for unit, artifact in artifacts}
    records: list[bytes] = []
    blocks: list[bytes] = []
    offset = 0
    for key in sorted(found):
        artifact = found[key]
        packed = compress or artifact.kind == "ptx"
        block = zlib.compress(artifact.data) if packed else artifact.data
        checksum = hashlib.sha256(block).digest()
        kind = _KINDS.index(artifact.kind)
        records.append(_RECORD.pack(bytes.fromhex(key), checksum, offset, len(block), kind, packed))
        blocks.append(block)
        offset += len(block)
    content = {
        "baracuda": __version__,
        "compiler": compiler,
        "schema": SCHEMA,
        "headers": source.all_headers_digest(),
        "flags": nvrtc.BASE_FLAGS,
        "archs": sorted({artifact.arch for artifact in found.values()}),
        "nbytes": offset,
    }
    facts = json.dumps(content, separators=(",", ":")).encode()
    index = b"".join([facts, *records])
    checksum = hashlib.sha256(index).hexdigest().encode()
    line = b"%s %d %d %d %s\n" % (_MAGIC, _FORMAT, len(facts), len(records), checksum)
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
    pack.check_headers()
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


def places() -> str:
    """Where `find` looks, for messages."""
    names = [str(pack.path) for pack in loaded_packs()]
    return f"the pack{'s' * (len(names) > 1)} {', '.join(names)}" if names else "a pack (none is loaded)"


@functools.lru_cache
def _named_packs(text: str) -> tuple[Pack, ...]:
    """The packs of a list like that of ``PATH``; an error is not remembered."""
    return tuple(Pack(Path(name)) for name in text.split(os.pathsep) if name)


def find(unit: Unit, arch: str) -> Artifact | None:
    """What a pack has of ``unit`` for ``arch``: that very target, else PTX of the nearest lower one.

    ``arch`` may be `host_target()`, which nothing else stands in for. Raises `CompileError` for a damaged
    entry, and where nothing is found and a pack was made for other headers.
    """
    packs = loaded_packs()
    if not packs:
        return None
    own = arch == host_target()
    for target in [arch] if own else runnable(arch, {target for pack in packs for target in pack.archs}):
        for pack in packs:
            artifact = pack.get(unit, target)
            if artifact is not None:
                return artifact
    # Not before: reading all headers takes longer than finding a kernel.
    for pack in packs:
        pack.check_headers()
    return None
