"""The errors that baracuda raises.

Every one is a `BaracudaError`, and also the built-in kind (`ValueError` or `RuntimeError`) that a Python
user expects, so that either can be caught. All of them can be pickled. A message names the plan, the
argument, what it got and what it wants.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = [
    "BaracudaError",
    "BufferTooSmall",
    "CompileError",
    "DriverError",
    "InvalidProblem",
    "MisalignedOperand",
    "Unsupported",
    "WorkspaceTooSmall",
]


class BaracudaError(Exception):
    """The base of every error that baracuda raises, `TypeError` for an object that is no array excepted."""


class Unsupported(BaracudaError, ValueError):
    """A request that makes sense and that no kernel here serves: a dtype, a rank, a memory kind."""


class InvalidProblem(BaracudaError, ValueError):
    """A request that makes no sense: shapes that do not fit, an axis out of range, overlapping outputs."""


class MisalignedOperand(BaracudaError, ValueError):
    """A pointer, or a byte stride, that is no multiple of what the kernel needs."""


def said_by(plan: str, error: Exception) -> Exception:
    """An error with a message that begins with the name of the plan that was asked."""
    text = str(error)
    if not text.startswith(f"{plan}: "):
        error.args = (f"{plan}: {text}", *error.args[1:])
    return error


class _TooSmall(BaracudaError, ValueError):
    """What `WorkspaceTooSmall` and `BufferTooSmall` share: the sizes, in bytes."""

    def __init__(self, needed: int, got: int, message: str = "") -> None:
        super().__init__(message or f"needs {needed} bytes, got {got}")
        self.needed = needed
        self.got = got

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.needed, self.got, str(self))


class WorkspaceTooSmall(_TooSmall):
    """The workspace holds fewer bytes than the plan asks for.

    Attributes:
        needed: the bytes that the plan asks for.
        got: the bytes that the workspace holds; 0 where none was given.
    """


class BufferTooSmall(_TooSmall):
    """Shape and strides reach outside of the memory that a tensor's buffer owns, in either direction.

    Attributes:
        needed: the bytes from the lowest to the end of the highest element that shape and strides reach.
        got: how many of these bytes the buffer holds.
    """


class CompileError(BaracudaError, RuntimeError):
    """A kernel did not compile.

    Attributes:
        log: what the compiler wrote.
        source_path: where the source lies, or None where it was never a file.
    """

    def __init__(self, message: str, log: str = "", source_path: str | None = None) -> None:
        super().__init__(message)
        self.log = log
        self.source_path = source_path

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.log, self.source_path)


class DriverError(BaracudaError, RuntimeError):
    """The CUDA driver refused a call.

    Attributes:
        status: the driver's status code (`CUresult`); 0 where there was none.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.status)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """What a misspelt word was meant to be, of names in small letters; None where none is near."""
    import difflib

    close = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.7)
    return close[0] if close else None
