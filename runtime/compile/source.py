"""The text side of a compile: the bundled headers, the numbered source of a failed unit."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from baracuda.compile.unit import Unit, digest
from baracuda.errors import CompileError

_INCLUDE = Path(__file__).resolve().parent.parent / "include"


def include_folder() -> Path:
    """The folder of the bundled headers, for compilers that want a search path (the host executor's)."""
    return _INCLUDE


# The rest of a line that includes something, and the name in it where that is written out. Comments may match
# as well: a pattern that begins with one character is found fifteen times as fast as one at a line's start.
_INCLUDES = re.compile(rb"#[ \t]*include\b(.*)")
_NAME = re.compile(rb"[ \t]*[<\"]([^>\"]+)[>\"]")
# The word in other lines that count too: with `%:include`, `__has_include`, a comment before it.
_WORD = re.compile(rb"include(?![a-z])")
# Where a line goes on in the next one, as compilers see it, perhaps within a word.
_SPLICE = re.compile(rb"\\[ \t\r\f\v]*\n")
# Includes of what compilers may read from the disk: a name in quotes, an absolute path, what a macro says.
_FILES = re.compile(
    r"^[ \t]*(?:#|%:)[ \t]*(?:include|include_next|import)\b[ \t]*"
    r"(?:\"([^\"\n]+)\"|<(/[^>\n]+)>|([^\s<\"][^\n]*))",
    re.MULTILINE,
)
_STRING_OR_COMMENT = re.compile(r"(\"(?:[^\"\\\n]|\\.)*\")|//[^\n]*|/\*.*?\*/", re.DOTALL)


def _read(name: str) -> bytes | None:
    """A bundled header as it lies on the disk now; None for what is none, as <cmath>."""
    # Not by pathlib, which takes twice as long: reading headers is much of a process's first `select`.
    # A name with a null character is a ValueError.
    path, none = f"{_INCLUDE}/{name}", (OSError, ValueError)
    with contextlib.suppress(*none), open(path, "rb", buffering=0) as file:  # noqa: PTH123
        return file.read()
    return None


@functools.cache
def _content(name: str) -> bytes | None:
    """A bundled header, read once a process."""
    return _read(name)


@functools.cache
def _names() -> tuple[str, ...]:
    """The include names of all bundled headers, sorted."""
    root = str(_INCLUDE)
    found = [f"{folder}/{name}" for folder, _, names in os.walk(root) for name in names]
    return tuple(sorted(path[len(root) + 1 :] for path in found if path.endswith(".cuh")))


@functools.cache
def _included(content: bytes) -> tuple[str, ...]:
    """The bundled headers that a text itself names; all of them where one may be named in another way."""
    if b"\\" in content:
        content = _SPLICE.sub(b"", content)
    named = [_NAME.match(rest) for rest in _INCLUDES.findall(content)]
    # Counting bytes is faster than finding words, of which there are no more.
    others = content.count(b"include") > len(named) and len(_WORD.findall(content)) > len(named)
    if None in named or others:
        return _names()
    return tuple(found[1].decode("utf-8", "replace") for found in named if found)


@functools.cache
def _headers_behind(*direct: str) -> tuple[str, ...]:
    """The bundled headers among these names and all that they include in turn, sorted."""
    found: dict[str, None] = {}
    names = list(direct)
    while names:
        name = names.pop()
        content = None if name in found else _content(name)
        if content is not None:
            found[name] = None
            names.extend(_included(content))
    return tuple(sorted(found))


@functools.cache
def _digest_of(*names: str) -> str:
    return digest(*(part for name in names for part in (name, _content(name) or b"")))


def headers() -> dict[str, str]:
    """The bundled headers: include name (``"baracuda/map.cuh"``) to text, sorted."""
    return {name: (_content(name) or b"").decode() for name in _names()}


def headers_digest(*texts: str) -> str:
    """SHA-256 over names and contents of the bundled headers that texts include, themselves or by a header.

    Includes that a macro switches off count too. A text that names what it includes by a macro, or in another
    unusual way, has all.
    """
    return _digest_of(*_headers_of(*texts))


def _headers_of(*texts: str) -> tuple[str, ...]:
    direct = [name for text in texts for name in _included(text.encode("utf-8", "surrogatepass"))]
    return _headers_behind(*direct)


def all_headers_digest() -> str:
    """SHA-256 over names and contents of all bundled headers."""
    return _digest_of(*_names())


def check_includes(name: str, text: str, beside: Iterable[str] = ()) -> None:
    """Raise `CompileError` for a text that includes a file of the disk, whose content would be in no key.

    That is what is in quotes or an absolute path, and neither a bundled header nor a file `beside` it; and
    what a macro names, which may be one.
    """
    joined = _SPLICE.sub(b"", text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    for quoted, *others in _FILES.findall(_STRING_OR_COMMENT.sub(lambda found: found[1] or " ", joined)):
        if any(others) or (quoted not in beside and _content(quoted) is None):
            what = next(filter(None, [quoted, *others])).strip()
            raise CompileError(
                f"{name} includes {what!r}, want headers of baracuda by their names alone: a cached kernel "
                "would still be found when another file has changed. A template takes text in by "
                "{% include %}"
            )


def check_unchanged(name: str, *texts: str) -> None:
    """Raise `CompileError` where headers that texts include were changed since this process read them.

    For compilers that read them from the disk: the result would be kept under the old headers' key.
    """
    changed = [header for header in _headers_of(*texts) if _read(header) != _content(header)]
    if changed:
        raise CompileError(f"{name}: {', '.join(changed)} changed since this process began; start it anew")


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
