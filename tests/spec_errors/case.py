"""What a case is, and what the cases of several sections replace or expect."""

from __future__ import annotations

from dataclasses import dataclass

from small_spec import SMALL_ATTENTION, SMALL_HALVES, SMALL_PAIRS, SMALL_SPEC

Edit = tuple[str, str]
Expected = tuple[str, str]
MIX_LET = "      let: {rest: 1 - weight}\n      y:"
MIX_Y = "      y: a * rest + b * weight\n"
MIX_KIND = "    kind: MIX\n"
MIX_FORWARD = f"    forward:\n      let: {{rest: 1 - weight}}\n{MIX_Y}"
SECOND = "      b: {io: in, shape: shape, doc: second}"
NUMBER = "      number: {type: f64"
SHAPES = (
    "in a call: broadcasts(shape, shape) or reduces_elements(shape, axes) or is_suffix(shape, axes) "
    "or at_most_one(axes) or is_even(extent) or divides(extent, extent)"
)


@dataclass(frozen=True)
class Case:
    """A broken spec: the small one after edits, or a text of its own."""

    name: str
    edits: tuple[Edit, ...]
    expected: tuple[Expected, ...]
    whole: str | None = None
    most_nodes: int | None = None

    def text(self) -> str:
        text = SMALL_SPEC if self.whole is None else self.whole
        for old, new in self.edits:
            assert old in text, f"{self.name}: the small spec has no {old!r}"
            text = text.replace(old, new, 1)
        return text


class Cases(list[Case]):
    """The cases of a section, in the order of their definition."""

    def case(self, name: str, *edits: Edit, errors: list[Expected]) -> None:
        """Add the small spec with some edits."""
        self.append(Case(name, edits, tuple(errors)))

    def pairs(self, name: str, *edits: Edit, errors: list[Expected]) -> None:
        """Add the small spec of pairs with some edits."""
        self.append(Case(name, edits, tuple(errors), SMALL_PAIRS))

    def halves(self, name: str, *edits: Edit, errors: list[Expected]) -> None:
        """Add the small spec of halves with some edits."""
        self.append(Case(name, edits, tuple(errors), SMALL_HALVES))

    def attention(self, name: str, *edits: Edit, errors: list[Expected]) -> None:
        """Add the small spec of attention with some edits."""
        self.append(Case(name, edits, tuple(errors), SMALL_ATTENTION))

    def whole(self, name: str, text: str, *errors: Expected, most_nodes: int | None = None) -> None:
        """Add a text of its own."""
        self.append(Case(name, (), errors, text, most_nodes))
