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
def headers() -> dict[str, str]:
    """The bundled headers, read once a process: include name (``"baracuda/map.cuh"``) to text, sorted."""
    found = (
        Path(folder, name)
        for folder, _, names in os.walk(_INCLUDE)
        for name in names
        if name.endswith(".cuh")
    )
    paths = {path.relative_to(_INCLUDE).as_posix(): path for path in found}
    return {name: paths[name].read_text(encoding="utf-8") for name in sorted(paths)}


@functools.cache
def headers_digest() -> str:
    """SHA-256 over names and contents of the bundled headers, computed once a process."""
    return digest(*(part for name, text in headers().items() for part in (name, text)))


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
