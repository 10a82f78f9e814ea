"""The text side of a compile: the bundled headers, the numbered source of a failed unit."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import tempfile
from pathlib import Path

from baracuda.compile.unit import Unit, digest

_INCLUDE = Path(__file__).resolve().parent.parent / "include"


def include_folder() -> Path:
    """The folder of the bundled headers, for compilers that want a search path (the host executor's)."""
    return _INCLUDE


@functools.cache
def _contents() -> dict[str, bytes]:
    """The bundled headers as they lie on the disk, read once a process, sorted by include name."""
    found: dict[str, bytes] = {}
    root = str(_INCLUDE)
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".cuh"):
                # Not by pathlib, which takes twice as long: this is most of a process's first `select`.
                path = f"{folder}/{name}"
                with open(path, "rb", buffering=0) as file:  # noqa: PTH123
                    found[path[len(root) + 1 :]] = file.read()
    return dict(sorted(found.items()))


@functools.cache
def headers() -> dict[str, str]:
    """The bundled headers: include name (``"baracuda/map.cuh"``) to text, sorted."""
    return {name: content.decode() for name, content in _contents().items()}


@functools.cache
def headers_digest() -> str:
    """SHA-256 over names and contents of the bundled headers, computed once a process."""
    return digest(*(part for name, content in _contents().items() for part in (name, content)))


def numbered(text: str) -> str:
    """``text`` with line numbers in front, as a compiler's log counts them."""
    lines = text.splitlines()
    width = len(str(len(lines)))
    return "".join(f"{number:{width}d} | {line}\n" for number, line in enumerate(lines, 1))


def write_failed_source(unit: Unit, folder: Path | None, command: str, log: str) -> str | None:
    """Write the numbered source of a unit that failed to compile, and return the file's path.

    The file goes into ``folder`` (made if need be), or into a temporary file where that cannot be written;
    the path is None if neither can. It holds the compiler's options and log as comments above the source.
    """
    stem = re.sub(r"[^A-Za-z0-9_.-]", "_", unit.name.removesuffix(".cu"))
    name = f"{stem}-{digest(unit.text, command)[:12]}.txt"
    note = "".join(f"// {line}\n" for line in [f"{unit.name}: {command}", *log.splitlines()])
    content = f"{note}\n{numbered(unit.text)}".encode("utf-8", "replace")
    if folder is not None:
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = folder / name
            path.write_bytes(content)
            return str(path)
    with contextlib.suppress(OSError), tempfile.NamedTemporaryFile(suffix=f"-{name}", delete=False) as file:
        file.write(content)
        return file.name
    return None
