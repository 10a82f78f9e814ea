"""YAML with locations: plain data, the line of every key, and none of YAML 1.1's surprises.

Everything that PyYAML would silently read as something else is a problem with a line and a remedy;
nothing here raises, so that one run reports every mistake of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import yaml

from .problems import Path, Problems
from .yaml_remarks import Comments, Remark

_Found = TypeVar("_Found")
_CORE = "tag:yaml.org,2002:"
_MAX_NODES = 500_000  # aliases of aliases grow exponentially
_KINDS = {
    _CORE + "int": "a number",
    _CORE + "float": "a number",
    _CORE + "bool": "a boolean",
    _CORE + "null": "null",
}
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?|[-+]?\.inf|\.nan")
_TEXT_NUMBER = re.compile(r"([-+]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))[eE]([-+]?)([0-9]+)")
_OTHER_NUMBER = re.compile(r"[-+]?0[obOBX][0-9a-fA-F_]+|[-+]?[0-9.]*[0-9]_[0-9_.]*([eE][-+]?[0-9]+)?")


@dataclass
class Source:
    """A YAML file as plain data.

    `data` is made of dict, list, str, int, float, bool and None; `problems` holds what was wrong with the
    text, and later checks add theirs to it. `remarks` has the comments of keys and their values.
    """

    filename: str
    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    remarks: dict[Path, Remark] = field(default_factory=dict)
    problems: Problems = field(init=False)

    def __post_init__(self) -> None:
        self.problems = Problems(self.filename, self.line)

    def line(self, path: Path) -> int:
        """The line (from 1) of `path`, or of its longest known prefix."""
        for length in range(len(path), 0, -1):
            found = self.lines.get(tuple(path[:length]))
            if found is not None:
                return found
        return self.lines.get((), 1)


def parse_yaml(text: str, filename: str, *, trusted: bool = False) -> Source:
    """Read one YAML document. Never raises: look at `.problems`; `data` is None if nothing could be read.

    A text that is `trusted` not to be made to break parsers is read several times faster, where libyaml is.
    """
    source = Source(filename)
    try:
        root = (_composed_fast(text) if trusted else None) or yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        _syntax_problem(source, text, error)
        return source
    except RecursionError:
        source.problems.add((), "is nested too deeply to be read", line=1)
        return source
    if root is None:
        source.problems.add((), "the file is empty", line=1)
        return source
    reader = _Reader(source, Comments(text))
    data = reader.read(root, ())
    source.data = None if reader.nodes >= _MAX_NODES else data
    return source


def _composed_fast(text: str) -> yaml.Node | None:
    """The nodes as libyaml finds them; None without it, or for a mistake: the other parser tells more."""
    loader = getattr(yaml, "CSafeLoader", None)
    try:
        return None if loader is None else yaml.compose(text, Loader=loader)
    except yaml.YAMLError:
        return None


def _syntax_problem(source: Source, text: str, error: yaml.YAMLError) -> None:
    problems = source.problems
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        character = error.character if isinstance(error.character, int) else ord(str(error.character)[:1])
        problems.add((), f"character U+{character:04X} is not allowed in YAML", line=line)
        return
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = mark.line + 1 if mark is not None else 1
    what = str(getattr(error, "problem", None) or "cannot be read as YAML")
    if r"'\t'" in what:
        # The parser stops at the first tab; the author wants to hear of every one.
        tabs = [n for n, row in enumerate(text.split("\n"), 1) if "\t" in row[: len(row) - len(row.lstrip())]]
        for at in tabs or [line]:
            problems.add((), "a tab in the indentation", "indent with spaces", line=at)
        return
    context = getattr(error, "context", None)
    problems.add((), f"YAML syntax: {context + ': ' if context else ''}{what}", line=line)


def _below(prefix: Path, found: Mapping[Path, _Found]) -> dict[Path, _Found]:
    return {path: value for path, value in found.items() if path[: len(prefix)] == prefix}


class _Reader:
    """Turns composed nodes into plain data and notes lines and problems on the way."""

    def __init__(self, source: Source, comments: Comments) -> None:
        self.lines = source.lines
        self.remarks = source.remarks
        self.comments = comments
        self.problems = source.problems
        self.nodes = 0
        self.open: list[yaml.Node] = []

    def read(self, node: yaml.Node, path: Path) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        self.nodes += 1
        if self.nodes == _MAX_NODES:
            self.problems.add(path[:1], f"anchors and aliases expand to more than {_MAX_NODES} values")
        if self.nodes >= _MAX_NODES:
            return None
        if any(node is outer for outer in self.open):
            self.problems.add(path, "an alias stands inside its own anchor", final=True)
            return None
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, path)
        self.open.append(node)
        try:
            if isinstance(node, yaml.SequenceNode) and node.tag == _CORE + "seq":
                # An alias's own place is not kept; the list that holds it is nearer than the anchor.
                places = {(*path, index): item.start_mark.line + 1 for index, item in enumerate(node.value)}
                self.lines.update({place: max(at, line) for place, at in places.items()})
                return [self.read(item, (*path, index)) for index, item in enumerate(node.value)]
            if isinstance(node, yaml.MappingNode) and node.tag == _CORE + "map":
                return self.mapping(node, path)
        finally:
            self.open.pop()
        self.problems.add(
            path, f"tag {_shown_tag(node.tag)} is not supported", "leave the tag out", line=line, final=True
        )
        return None

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        merged_lines: dict[Path, int] = {}
        own: list[tuple[str, yaml.Node, yaml.Node]] = []
        first_line: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == _CORE + "merge":
                self.merge(value_node, path, line, merged, merged_lines)
                continue
            key = self.key(key_node, path, line)
            if key is None:
                continue
            if key in first_line:
                what = f"this key was given already, in line {first_line[key]}"
                self.problems.add((*path, key), what, "keep one of the two", line=line)
                continue
            first_line[key] = line
            own.append((key, key_node, value_node))
        result = dict(merged)
        own_keys = {key for key, _, _ in own}
        for key, key_node, value_node in own:
            where = (*path, key)
            self.lines[where] = key_node.start_mark.line + 1
            self.remarks[where] = self.comments.of(key_node, value_node)
            if node.flow_style and _is_empty(value_node) and key.count("(") != key.count(")"):
                what, right = "a comma ended this value inside { }", "put the whole formula in quotes"
                self.problems.add(where, what, right, final=True)
                result[key] = None
            else:
                result[key] = self.read(value_node, where)
        for merged_path, line in merged_lines.items():
            if merged_path[len(path)] not in own_keys:
                self.lines.setdefault(merged_path, line)
        return result

    def merge(
        self, node: yaml.Node, path: Path, line: int, into: dict[str, Any], lines: dict[Path, int]
    ) -> None:
        """`<<: *base` or `<<: [*first, *second]`; of two bases the first wins, as YAML says."""
        bases = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for base in bases:
            if not isinstance(base, yaml.MappingNode):
                self.problems.add(
                    (*path, "<<"), "merges something that is not a mapping", line=base.start_mark.line + 1
                )
                continue
            aside = _Reader(Source(self.problems.file), self.comments)
            aside.open = list(self.open)
            aside.nodes = self.nodes
            data = aside.read(base, path)
            self.nodes = aside.nodes
            for problem in aside.problems.sorted():
                # The anchor's own place already reported what is wrong inside it.
                if problem.what.startswith("an alias"):
                    self.problems.add((*path, "<<"), problem.what, line=line)
            for key, value in (data or {}).items():
                if key not in into:
                    into[key] = value
                    prefix = (*path, key)
                    lines.update(_below(prefix, aside.lines))
                    self.remarks.update(_below(prefix, aside.remarks))

    def key(self, node: yaml.Node, path: Path, line: int) -> str | None:
        if not isinstance(node, yaml.ScalarNode):
            self.problems.add(path, "a key is a list or a mapping", "keys are text", line=line)
            return None
        text = str(node.value)
        surprise = _surprise(node)
        if not text and not node.style:
            self.problems.add(path, "a key is missing before the colon", line=line)
            return None
        if surprise is not None:
            what = f"the key {text} {surprise[0]}"
            self.problems.add((*path, text), what, "quote it", line=line, final=True)
        elif node.tag != _CORE + "str":
            kind = _KINDS.get(node.tag, f"tag {_shown_tag(node.tag)}")
            what = f"the key {text} is read as {kind}"
            self.problems.add((*path, text), what, "quote it", line=line, final=True)
        return text

    def scalar(self, node: yaml.ScalarNode, path: Path) -> Any:
        text = str(node.value)
        self.comments.skip(node)
        surprise = _surprise(node)
        if surprise is not None:
            what, right = surprise
            self.problems.add(path, f"{text} {what}" if text else what, right, final=True)
            return text or None
        kind = node.tag
        if kind == _CORE + "str":
            return text
        if kind == _CORE + "bool":
            return text == "true"
        if kind == _CORE + "int":
            return int(text, 16) if text.startswith("0x") else int(text)
        if kind == _CORE + "float":
            return float(text.replace(".inf", "inf").replace(".nan", "nan"))
        if kind == _CORE + "null":
            return None
        self.problems.add(path, f"tag {_shown_tag(kind)} is not supported", "leave the tag out")
        return text


def _surprise(node: yaml.ScalarNode) -> tuple[str, str] | None:
    """What YAML 1.1 makes of a scalar that its author did not mean: (what is wrong, what is right)."""
    text, kind = str(node.value), node.tag
    quoted = bool(node.style)
    if kind == _CORE + "null" and text != "null":
        if text:
            return "means null in YAML", "write null, or quote it if text is meant"
        return "nothing was written here", "write a value, or null"
    if kind == _CORE + "bool" and text not in ("true", "false"):
        return "is a boolean in YAML 1.1", f"quote it, or write {_truth(text)}"
    if kind == _CORE + "int" and not _INT.fullmatch(text):
        return _odd_number(text)
    if kind == _CORE + "float" and not _FLOAT.fullmatch(text):
        return _odd_number(text)
    if kind == _CORE + "timestamp":
        return "is a date in YAML", "quote it"
    if kind == _CORE + "value":
        return "is a special value in YAML", "quote it"
    if kind == _CORE + "str" and not quoted:
        match = _TEXT_NUMBER.fullmatch(text)
        if match:
            sign, whole, fraction, bare, exponent_sign, exponent = match.groups()
            digits = bare or fraction or "0"
            right = f"{sign}{whole or '0'}.{digits}e{exponent_sign or '+'}{exponent}"
            return "is read as text, not as a number", f"write {right}"
        if re.fullmatch("[-+]?0[0-9]+", text):
            plain = int(text, 10)
            return "is read as text, not as a number", f"write {plain}, or quote it if text is meant"
        if _OTHER_NUMBER.fullmatch(text):
            return "is read as text, not as a number", "write it in decimal digits, or quote it"
    return None


def _odd_number(text: str) -> tuple[str, str]:
    plain = text.replace("_", "")
    if ":" in text:
        return "is a number in base 60 in YAML 1.1", "quote it"
    if "_" in text and (_INT.fullmatch(plain) or _FLOAT.fullmatch(plain)):
        return "has underscores", f"write {plain}, or quote it if text is meant"
    if re.fullmatch(r"[-+]?0[0-7_]+", text):
        return "is an octal number in YAML 1.1", f"write {int(plain, 8)}, or quote it if text is meant"
    if re.fullmatch(r"[-+]?0b[01_]+", text):
        return "is a binary number in YAML 1.1", f"write {int(plain, 2)}, or quote it if text is meant"
    lower = text.lower()
    if lower.endswith((".inf", ".nan")):
        return "is spelled in capitals", f"write {lower}"
    return "is an unusual spelling of a number", "write it in decimal digits, or quote it"


def _truth(text: str) -> str:
    return "true" if text.lower() in ("yes", "on", "true") else "false"


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == _CORE + "null" and not node.value


def _shown_tag(tag: str) -> str:
    return tag.replace(_CORE, "!!")
