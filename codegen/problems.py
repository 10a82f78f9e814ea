"""What is wrong with a spec, collected: every mistake of a file is reported at once, each with its line."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""Where something stands in a YAML file: mapping keys and list indices from the root."""


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake. Ordered by file and line; `line` counts from 1."""

    file: str
    line: int
    path: str
    what: str
    right: str | None = None

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: "
        key = f"{self.path}: " if self.path else ""
        right = f" ({self.right})" if self.right else ""
        return f"{where}{key}{self.what}{right}"


class SpecError(ValueError):
    """A spec with mistakes; `problems` lists them by line, and the text has one line for each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[SpecError], tuple[list[Problem]]]:
        return type(self), (self.problems,)


class Problems:
    """Collects the mistakes of one file.

    `line_of` maps a path to its line; `add` never raises, `raise_if_any` raises all at once.
    """

    def __init__(self, file: str, line_of: Callable[[Path], int] | None = None) -> None:
        self.file = file
        self._line_of = line_of or (lambda path: 1)
        self._found: list[Problem] = []
        self._closed: set[Path] = set()
        self._paths: set[Path] = set()

    def add(
        self, path: Path, what: str, right: str | None = None, *, line: int | None = None, final: bool = False
    ) -> None:
        """Note that `what` is wrong at `path`, and what would be right; a repetition is dropped.

        With `final`, what is found at this very path later is a consequence and is dropped too.
        """
        if path in self._closed:
            return
        if final:
            self._closed.add(path)
        self._paths.update(path[:length] for length in range(len(path) + 1))
        at = self._line_of(path) if line is None else line
        problem = Problem(self.file, at, _one_line(dotted(path)), _one_line(what), right and _one_line(right))
        if problem not in self._found:
            self._found.append(problem)

    def inside(self, path: Path) -> bool:
        """Whether something is wrong at `path` or below it."""
        return path in self._paths

    def extend(self, other: Problems) -> None:
        """Take over the problems of another file."""
        self._found.extend(problem for problem in other._found if problem not in self._found)
        self._paths |= other._paths

    def __len__(self) -> int:
        return len(self._found)

    def sorted(self) -> list[Problem]:
        """The problems by file and line; those of one line in the order in which they were found."""
        return sorted(self._found, key=lambda problem: (problem.file, problem.line))

    def raise_if_any(self) -> None:
        """Raise `SpecError` with everything found, or return."""
        if self._found:
            raise SpecError(self.sorted())


def dotted(path: Path) -> str:
    """`("ops", "silu", "args", 0)` as `ops.silu.args[0]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def suggest(name: str, known: Iterable[str], prefix: str = "") -> str | None:
    """`did you mean 'exp'?` when a known name is close to `name`, else None; `prefix` stands before it."""
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f"did you mean {prefix + close[0]!r}?" if close else None


def _one_line(text: str) -> str:
    return " ".join(text.split())
