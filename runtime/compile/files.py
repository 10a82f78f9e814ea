"""Files of a folder that other processes write and remove at the same time."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["files", "reason", "remove", "size_of", "write_atomically"]


def reason(error: OSError) -> str:
    """What the system says, without number and path: ``No space left on device``."""
    return error.strerror or str(error)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file that readers see whole or not at all; leaves no temporary file behind. Raises OSError."""
    handle, temporary = tempfile.mkstemp(prefix=f"{path.stem[:16]}-", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def size_of(folder: Path) -> int:
    """The bytes in a folder's files; what vanishes meanwhile does not count."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(parent) / name).stat().st_size
    return total


def files(folder: Path, suffix: str | None) -> Iterator[tuple[Path, os.stat_result]]:
    """Files of ``folder`` with their status, all where ``suffix`` is None; what vanishes is left out."""
    try:
        paths = list(folder.iterdir())
    except OSError:
        return
    for path in paths:
        if suffix is None or path.suffix == suffix:
            try:
                status = path.stat()
            except OSError:
                continue
            yield path, status


def remove(path: Path) -> bool:
    """Remove a file; False where that failed, or where another process was faster."""
    try:
        path.unlink()
    except OSError:
        return False
    return True
