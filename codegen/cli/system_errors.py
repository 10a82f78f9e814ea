"""Errors of the operating system in plain words: what, where, and what to do."""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: What a path on the command line can do wrong; everything else (a full disk) is a failure, not bad input.
_PATH_FAULTS = {
    errno.EACCES: "this user may not use it",
    errno.EPERM: "this user may not use it",
    errno.EEXIST: "is there already",
    errno.EISDIR: "is a folder, want a file",
    errno.ELOOP: "its links lead in a circle",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of this path is a file, want folders",
    errno.ENXIO: "is no file that can be opened",
    errno.EROFS: "lies on a file system that is read-only; name a place elsewhere",
}
_FAILURES = {
    errno.ENOSPC: "No space left on device; free some, or name a place elsewhere",
    errno.EDQUOT: "the disk quota is used up; free some space, or name a place elsewhere",
    errno.EFBIG: "File too large for this disk, or for this process",
    errno.EMFILE: "too many files are open; raise the limit with `ulimit -n`, or use fewer jobs",
}


def is_bad_input(error: OSError) -> bool:
    """Whether the path that the user gave is at fault; an error without an errno is ours, about one."""
    return error.errno is None or error.errno in _PATH_FAULTS


def words(error: OSError) -> str:
    """The error as one line. What has no file to name went wrong where everything is printed."""
    if error.errno is None:
        return str(error)
    what = {**_PATH_FAULTS, **_FAILURES}.get(error.errno) or error.strerror or f"error {error.errno}"
    where = error.filename if error.filename is not None else "the output cannot be written"
    text = f"{os.fsdecode(where) if isinstance(where, bytes) else where}: {what}"
    close = _close_to(where) if error.errno == errno.ENOENT else None
    return f"{text}; did you mean {close}?" if close else text


def _close_to(path: object) -> Path | None:
    """A file beside a missing one with nearly its name."""
    wanted = Path(str(path))
    try:
        names = sorted(entry.name for entry in wanted.absolute().parent.iterdir())
    except OSError:
        return None
    close = difflib.get_close_matches(wanted.name, names, n=1, cutoff=0.75)
    return wanted.with_name(close[0]) if close else None


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an error that names no file, or one outside of `path` that the user never saw, name `path`."""
    try:
        yield
    except OSError as error:
        if error.errno is None or (error.filename and _is_inside(Path(str(error.filename)), path)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _is_inside(path: Path, folder: Path) -> bool:
    return path.absolute().is_relative_to(folder.absolute())
