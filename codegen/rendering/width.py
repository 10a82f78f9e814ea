"""Lines that are not too long: what is rendered is read by people."""

from __future__ import annotations

import re
import textwrap

#: The longest line of generated C++, and the longest that text in generated Python is wrapped to.
CPP_WIDTH = 120
TEXT_WIDTH = 110

_BODY = re.compile(r"(?P<head>\s*\S.*\)(?: const)?) \{ (?P<body>.+) \}")
# Where C++ may go on in the next line: behind a comma, before an operator.
_BREAK = re.compile(r"(?<=,) | (?=(?:[?:+*/-]|&&|\|\|) )")


def fold_cpp(text: str) -> str:
    """C++ with its long lines folded; a comment behind a long line goes before it."""
    return "\n".join(folded for line in text.split("\n") for folded in _fold(line))


def hang(text: str, column: int) -> str:
    """Text that starts at a column, wrapped, its further lines indented by four more."""
    lines = textwrap.wrap(text, TEXT_WIDTH - column - 4, break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * (column + 4)).join(lines)


def _fold(line: str) -> list[str]:
    indent = len(line) - len(line.lstrip())
    if len(line) <= CPP_WIDTH or line[indent:].startswith("#"):
        return [line]
    code, comment, remark = line.partition("// ")
    if comment:
        lead = " " * indent + "// "
        above = textwrap.wrap(remark, CPP_WIDTH, initial_indent=lead, subsequent_indent=lead + "    ")
        return [*above, *(_fold(code.rstrip()) if code.strip() else [])]
    body = _BODY.fullmatch(line)
    if body is not None:
        inner = _fold(" " * (indent + 4) + body["body"])
        return [*_fold(body["head"] + " {"), *inner, " " * indent + "}"]
    at = _best_break(line, indent)
    if at is None:
        return [line]
    return [line[:at], *_fold(" " * (indent + 4) + line[at + 1 :])]


def _best_break(line: str, indent: int) -> int | None:
    """Where a long line is broken: outside most brackets, rather behind a comma, rather late."""
    depth = 0
    best: tuple[int, bool, int] | None = None
    places = {match.start() for match in _BREAK.finditer(line)}
    for at, letter in enumerate(line[: CPP_WIDTH + 1]):
        depth += (letter in "([{") - (letter in ")]}")
        if at in places and at > indent + (CPP_WIDTH - indent) // 3:
            found = (depth, line[at - 1] != ",", -at)
            best = found if best is None else min(best, found)
    return None if best is None else -best[2]
