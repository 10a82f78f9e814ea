"""Writing and checking a tree of generated files.

A tree is a mapping from relative POSIX paths to text. It always contains `manifest.json`, whose key `files`
lists the paths of the tree in order. The manifest on disk says which files an earlier run owns: those may be
replaced and removed, everything else in the folder belongs to somebody else.
"""

from __future__ import annotations

import difflib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

MANIFEST = "manifest.json"

Kind = Literal["changed", "missing", "stale", "foreign"]


@dataclass(frozen=True)
class Difference:
    """One file that is not what the spec gives.

    `kind` is `changed` (another content), `missing`, `stale` (an earlier run wrote it, this one would not)
    or `foreign` (nobody generated it). `diff` is a unified diff from the disk to the wanted text; empty for
    `foreign`.
    """

    path: str
    kind: Kind
    diff: str


@dataclass(frozen=True)
class Written:
    """What `write_tree` did: relative paths, sorted."""

    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class ForeignFileError(FileExistsError):
    """A file that no earlier run wrote stands where a generated file must go."""


def write_tree(files: Mapping[str, str], out: Path, *, overwrite: bool = False) -> Written:
    """Make the generated part of the folder `out` equal to `files`.

    Files are UTF-8 with LF line ends. Only what differs is touched, so time stamps of equal files stay. Stale
    files are removed. All text is staged beside `out` first, and an error or an interrupt on the way restores
    every file.

    Raises `ValueError` for a malformed tree, `ForeignFileError` where a file that is not ours is in the way
    and differs (`overwrite=True` replaces it), and `OSError` from the file system.
    """
    wanted = _encode(files)
    out = out.resolve()
    for path in wanted:
        _check_place(out, path)
    owned = _owned(out)
    changed = [path for path in wanted if _read(out / path) != wanted[path]]
    strangers = [path for path in changed if path not in owned and os.path.lexists(out / path)]
    if strangers and not overwrite:
        listing = ", ".join(strangers[:5]) + (", ..." if len(strangers) > 5 else "")
        raise ForeignFileError(
            f"{out}: no earlier run wrote {listing}: move it away, or overwrite it with --force"
        )
    stale = sorted(path for path in owned - wanted.keys() if _is_plain_file(out, path))
    if not changed and not stale:
        return Written()
    out.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{out.name}.staging-", dir=out.parent))
    swap = _Swap(out, staging)
    try:
        for path in changed:
            swap.stage(path, wanted[path])
        for path in stale:
            swap.put_aside(path)
        # The manifest goes last, so a killed run leaves one that still owns whatever was not removed.
        for path in sorted(changed, key=lambda path: (path == MANIFEST, path)):
            swap.place(path)
    except BaseException:
        # Where even this fails, the staging folder stays: it holds the originals.
        swap.roll_back()
        shutil.rmtree(staging, ignore_errors=True)
        raise
    shutil.rmtree(staging, ignore_errors=True)
    _remove_empty_folders(out, stale)
    return Written(tuple(sorted(changed)), tuple(stale))


def check_tree(files: Mapping[str, str], out: Path) -> list[Difference]:
    """Compare the folder `out` with `files` and return the differences, sorted by path.

    Raises `ValueError` for a malformed tree and `NotADirectoryError` where `out` is a file.
    """
    wanted = _encode(files)
    if out.exists() and not out.is_dir():
        raise NotADirectoryError(f"{out}: is a file, want a folder")
    owned = _owned(out)
    result = []
    for path, text in wanted.items():
        have = _read(out / path)
        if have is None:
            result.append(Difference(path, "missing", _diff(path, None, text)))
        elif have != text:
            result.append(Difference(path, "changed", _diff(path, have, text)))
    for path in set(_walk(out)) - wanted.keys():
        if path in owned:
            result.append(Difference(path, "stale", _diff(path, _read(out / path), None)))
        else:
            result.append(Difference(path, "foreign", ""))
    return sorted(result, key=lambda difference: difference.path)


@dataclass
class _Swap:
    """Replaces files in `out` by files staged in `staging`, and can take every step back.

    Each step is recorded before it is taken, so that an interrupt between the two loses nothing.
    """

    out: Path
    staging: Path
    aside: list[str] = field(default_factory=list)
    placed: list[str] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)

    def stage(self, path: str, text: bytes) -> None:
        staged = self.staging / "new" / path
        staged.parent.mkdir(parents=True, exist_ok=True)
        staged.write_bytes(text)

    def put_aside(self, path: str) -> None:
        backup = self.staging / "old" / path
        backup.parent.mkdir(parents=True, exist_ok=True)
        self.aside.append(path)
        (self.out / path).replace(backup)

    def place(self, path: str) -> None:
        target = self.out / path
        for folder in reversed(target.parents):
            if not folder.exists():
                self.folders.append(folder)
                folder.mkdir()
        if os.path.lexists(target):
            self.put_aside(path)
        self.placed.append(path)
        (self.staging / "new" / path).replace(target)

    def roll_back(self) -> None:
        for path in self.placed:
            (self.out / path).unlink(missing_ok=True)
        for path in self.aside:
            backup = self.staging / "old" / path
            if os.path.lexists(backup):
                backup.replace(self.out / path)
        for folder in reversed(self.folders):
            with suppress(OSError):
                folder.rmdir()


def _encode(files: Mapping[str, str]) -> dict[str, bytes]:
    """Check the shape of a tree and return its bytes, sorted by path."""
    folded: dict[str, str] = {}
    for path in sorted(files):
        if not _is_safe(path):
            raise ValueError(
                f"generated path {path!r}: want a relative path such as 'kernels/binary/lerp.cu'"
            )
        twin = folded.setdefault(path.casefold(), path)
        if twin != path:
            raise ValueError(f"generated paths {twin!r} and {path!r} are one file where case does not count")
    if MANIFEST not in files:
        raise ValueError(f"a generated tree holds {MANIFEST}, this one does not")
    listed = json.loads(files[MANIFEST]).get("files")
    others = sorted(files.keys() - {MANIFEST})
    if listed not in (others, sorted(files)):
        raise ValueError(f"{MANIFEST}: its key 'files' is not the sorted list of the tree's paths")
    return {path: files[path].replace("\r\n", "\n").encode() for path in sorted(files)}


def _is_safe(path: object) -> bool:
    """Whether a path stays inside its folder, on every system."""
    if not isinstance(path, str) or not path or "\\" in path or ":" in path or "\0" in path:
        return False
    parts = path.split("/")
    return not any(part in ("", ".", "..") for part in parts)


def _owned(out: Path) -> set[str]:
    """Paths that the manifest on disk claims; none where it is absent or damaged."""
    try:
        listed = json.loads((out / MANIFEST).read_bytes())["files"]
        return {path for path in listed if _is_safe(path)} | {MANIFEST}
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return set()


def _check_place(out: Path, path: str) -> None:
    """Raise where writing `path` would follow a link out of the folder or replace a folder."""
    parents = [out / parent for parent in PurePosixPath(path).parents]
    for folder in parents:
        if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir()):
            raise NotADirectoryError(f"{folder}: want a folder, to hold the generated {path}")
    if (out / path).is_dir():
        raise IsADirectoryError(f"{out / path}: is a folder, want a generated file there")


def _is_plain_file(out: Path, path: str) -> bool:
    """Whether `path` is there as a file, reached without following a link."""
    if any((out / parent).is_symlink() for parent in PurePosixPath(path).parents):
        return False
    return (out / path).is_symlink() or (out / path).is_file()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _walk(out: Path) -> Iterator[str]:
    """Relative paths of all files under `out`; links are files, byte code is not counted."""
    for folder, names, files in os.walk(out):
        names[:] = sorted(name for name in names if name != "__pycache__")
        links = [name for name in names if (Path(folder) / name).is_symlink()]
        for name in [*files, *links]:
            if not name.endswith(".pyc"):
                yield (Path(folder) / name).relative_to(out).as_posix()


def _remove_empty_folders(out: Path, removed: list[str]) -> None:
    for path in removed:
        for parent in PurePosixPath(path).parents:
            if parent.parts:
                with suppress(OSError):
                    (out / parent).rmdir()


def _diff(path: str, have: bytes | None, want: bytes | None) -> str:
    """Return a unified diff from the disk to the wanted text; a carriage return is made visible."""
    before, after = (_lines(text or b"") for text in (have, want))
    lines = difflib.unified_diff(
        before,
        after,
        "/dev/null" if have is None else f"a/{path}",
        "/dev/null" if want is None else f"b/{path}",
        lineterm="",
    )
    return "".join(f"{line}\n" for line in lines)


def _lines(content: bytes) -> list[str]:
    """Lines without their ends; the last one says so where it has none."""
    *lines, rest = content.decode("utf-8", "backslashreplace").replace("\r", "\\r").split("\n")
    return [*lines, f"{rest}\n\\ No newline at end of file"] if rest else lines
