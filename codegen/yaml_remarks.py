"""Comments of a YAML text, which parsers drop: what is said of a key in the lines before it and behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

import yaml

__all__ = ["Comments", "Remark"]

# Where a parser sees a new line.
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
# Behind a value, and brackets that it ends; behind a key whose value follows in other lines.
_BEHIND_VALUE = re.compile(r"[\s}\]]*\s#\s*(\S.*)")
_BEHIND_KEY = re.compile(r"\s*:\s*(?:&\S+\s+)?#\s*(\S.*)")


class Remark(NamedTuple):
    """What is said before a key, in paragraphs, and behind it or its value; empty where nothing is."""

    before: tuple[str, ...] = ()
    behind: str = ""


@dataclass
class Comments:
    """The lines of a text, of which a parser tells where keys and values are."""

    text: str
    _rows: list[str] = field(init=False)
    _within: set[int] = field(default_factory=set)  # a value: what looks like a comment there is none

    def __post_init__(self) -> None:
        self._rows = _BREAK.split(self.text)

    def skip(self, value: yaml.ScalarNode) -> None:
        """Note the lines that a value goes on in."""
        first, last = value.start_mark.line + 1, value.end_mark.line
        self._within.update(range(first, last if value.style in ("|", ">") else last + 1))

    def of(self, key: yaml.Node, value: yaml.Node) -> Remark:
        """The comments of a key and its value.

        One with a backslash is none: at the end of a line of C++ it would take in the next.
        """
        before, behind = (
            "" if "\\" in text else text for text in (self._before(key), self._behind(key, value))
        )
        return Remark((before,) if before else (), behind)

    def _before(self, key: yaml.Node) -> str:
        line, column = key.start_mark.line, key.start_mark.column
        if self._rows[line][:column].strip():
            return ""
        lead = self._rows[line][:column] + "#"
        first = line
        while first > 0 and self._rows[first - 1].startswith(lead) and first - 1 not in self._within:
            first -= 1
        return " ".join(" ".join(row[len(lead) :] for row in self._rows[first:line]).split())

    def _behind(self, key: yaml.Node, value: yaml.Node) -> str:
        end, pattern = key.end_mark, _BEHIND_KEY
        if isinstance(value, yaml.ScalarNode):
            if value.style in ("|", ">"):
                return ""
            end, pattern = value.end_mark, _BEHIND_VALUE
        found = pattern.fullmatch(self._rows[end.line][end.column :])
        return " ".join(found[1].split()) if found else ""
