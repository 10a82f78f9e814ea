"""Families of attention (template attention): what their tensors must be, and their programs.

The kernels own the products and the softmax; formulas say what happens to each score, weight and sum.
`dot(a, b)` stands for a product of tiles, `softmax(score, nothing)` for the weights of a row whose scores are
`score`, and are `nothing` where it has no key.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from baracuda.codegen.formula import (
    COMPUTE,
    Call,
    Expr,
    FormulaError,
    Name,
    Type,
    free_names,
    infer,
    rewrite,
    to_text,
)
from baracuda.codegen.problems import Path, Problems
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.model import (
    Attribute,
    AttributeValue,
    Family,
    Program,
    Statement,
    SumTileSet,
    TileSet,
)
from baracuda.codegen.spec.rules import condition, parse_at
from baracuda.codegen.spec.scope import ATTRIBUTE_TYPES, kind_of

TEMPLATE = "attention"

#: The tensors that the kernels take, by direction, in the order of the plan's arguments.
TENSORS = {
    "forward": ("q", "k", "v", "mask", "y", "attn"),
    "backward": ("q", "k", "v", "attn", "dy", "dscores_ws", "dq", "dk", "dv"),
}
#: What the formulas of a direction give a kernel, and what each sees beside the op's attributes.
METHODS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "forward": {"score": ("product", "mask"), "nothing": ()},
    "backward": {
        "delta": ("attn", "dattn"),
        "dscores": ("attn", "dattn", "delta"),
        "dq": ("product",),
        "dk": ("product",),
        "dv": ("product",),
    },
}
#: The products that formulas may speak of, by direction: the operands, and what a formula sees of each.
_PRODUCTS = {
    "forward": {("q", "k"): "product"},
    "backward": {
        ("dy", "v"): "dattn",
        ("dscores", "k"): "product",
        ("dscores", "q"): "product",
        ("attn", "dy"): "product",
    },
}
#: Formulas that the kernels have themselves.
_OWN = {
    "forward": {"attn": "softmax(score, nothing)", "y": "dot(attn, v)"},
    "backward": {"dattn": "dot(dy, v)"},
}

_RANK = 4
_STEP = 16


def check_family(entry: schema.Family, path: Path, problems: Problems) -> None:
    """Note what is wrong with the tiles and tensors of a family of attention, and what others have of it."""
    attends = TEMPLATE in (entry.template, entry.engine)
    if attends != bool(entry.tiles):
        right = "tiles: {DTYPES: {heads: [...], queries: ..., keys: ...}}" if attends else "leave them out"
        problems.add((*path, "tiles"), f"tiles belong to the template {TEMPLATE}, and it needs them", right)
        return
    for key, tiles in entry.tiles.items():
        _check_tiles(tiles, (*path, "tiles", key), problems)
    if attends and len(entry.shapes.get(entry.domain, ())) != _RANK:
        right = "the batch, the heads, the queries, the keys"
        problems.add((*path, "domain"), f"the template {TEMPLATE} walks four extents", right)
    for direction, tensors in (("forward", entry.forward), ("backward", entry.backward)):
        if attends and tensors and tuple(tensors) != TENSORS[direction]:
            what = f"the template {TEMPLATE} is given {', '.join(tensors)}"
            problems.add((*path, direction), what, ", ".join(TENSORS[direction]))
        for key, tensor in tensors.items():
            where = (*path, direction, key)
            for word, strange in (
                ("io", tensor.io == "scratch"),
                ("role", tensor.role == "mask"),
                ("shares", tensor.shares is not None),
            ):
                if strange and not attends:
                    problems.add((*where, word), f"belongs to the template {TEMPLATE}", "leave it out")
            if tensor.shares is not None and tensor.shares not in tensors:
                problems.add((*where, "shares"), f"no tensor {tensor.shares!r}", "an input of the direction")


def tile_set(tiles: schema.Tiles) -> TileSet:
    """The tiles of a dtype as they stand in the spec."""
    return TileSet(
        tuple(tiles.heads),
        tiles.queries,
        tiles.keys,
        tiles.rows,
        tiles.keys if tiles.scores is None else tiles.scores,
        SumTileSet(**tiles.sums.model_dump()),
    )


def _check_tiles(tiles: schema.Tiles, path: Path, problems: Problems) -> None:
    sums = tiles.sums
    least = {"stages": 2, "down": 1, "across": 1, "split": 1}
    few = [word for word, number in least.items() if getattr(sums, word) < number]
    for word in few:
        problems.add((*path, "sums", word), f"is {getattr(sums, word)}", f"at least {least[word]}")
    steps: list[tuple[str, list[int], int]] = [
        ("heads", tiles.heads, math.lcm(2 * _STEP, _STEP * max(sums.across, 1))),
        ("rows", [tiles.rows], _STEP),
        ("queries", [tiles.queries], max(tiles.rows, _STEP)),
        ("keys", [tiles.keys], 2 * _STEP),
    ]
    if tiles.scores is not None:
        steps.append(("scores", [tiles.scores], 2 * _STEP))
    if not few:
        steps.append(("sums.rows", [sums.rows], 2 * _STEP * sums.down))
        steps.append(("sums.depth", [sums.depth], _STEP * sums.split))
    for word, numbers, step in steps:
        if (
            not numbers
            or any(number <= 0 or number % step for number in numbers)
            or numbers != sorted(numbers)
        ):
            problems.add((*path, *word.split(".")), f"is {numbers}", f"multiples of {step}, ascending")


@dataclass
class AttentionBuilder:
    """Collects one program of a family of attention; `build` is the way in."""

    family: Family
    direction: str
    attributes: tuple[Attribute, ...]
    problems: Problems
    path: Path
    places: Mapping[Path, Path] = field(default_factory=dict)

    def build(
        self, block: schema.Direction, stem: str, options: tuple[tuple[str, str], ...]
    ) -> Program | None:
        """The program of a block, or None with every reason noted."""
        before = len(self.problems)
        methods, own = METHODS[self.direction], _OWN[self.direction]
        tensors = self.family.tensors(self.direction)
        fields = self.family.fields(self.direction)
        numbers: dict[str, Type] = {
            a.name: ATTRIBUTE_TYPES[fields[a.source].type] for a in self.attributes if a.source in fields
        }
        for word in ("row", "takes"):
            if getattr(block, word):
                self.problems.add(self._at(word), f"no {word} in a family of attention", "leave it out")
        formulas: dict[tuple[str, ...], object] = {("let", name): text for name, text in block.let.items()}
        formulas |= {(name,): text for name, text in block.outputs.items()}
        results: dict[str, Statement] = {}
        for steps, text in formulas.items():
            name, where = steps[-1], self._at(*steps)
            if name in own:
                if " ".join(str(text).split()) != own[name]:
                    self.problems.add(where, f"{text}: the kernels have it themselves", own[name])
                continue
            if name not in methods:
                known = ", ".join((*methods, *own))
                self.problems.add(where, f"unknown formula {name!r}", f"the {self.direction} has {known}")
                continue
            expr = parse_at(text, where, self.problems)
            if expr is not None:
                self._method(name, expr, numbers, where, results)
        for name in (*own, *methods):
            if name not in block.let and name not in block.outputs and name != "delta":
                self.problems.add(self.path, f"no formula for {name!r}", f"the {self.direction} has one")
        if len(self.problems) > before:
            return None
        read = {name for s in results.values() for name in free_names(s.value)}
        outputs = tuple(name for name, tensor in tensors.items() if tensor.io == "out")
        return Program(
            direction=self.direction,
            stem=stem,
            options=options,
            inputs=tuple(name for name, tensor in tensors.items() if tensor.io == "in"),
            row_inputs=(),
            outputs=outputs,
            row_outputs=(),
            attributes=tuple(
                AttributeValue(name, kind_of(type_), Name(name))
                for name, type_ in numbers.items()
                if name in read
            ),
            lift_lets=(),
            aggregates=(),
            row_lets=(),
            row_values={},
            lets=(),
            results=tuple(results[name] for name in methods),
            row_results=(),
            takes={name: "optional" for name, tensor in tensors.items() if tensor.io == "scratch"},
            require=self._required(block),
            source={name: str(text) for name, text in (*block.let.items(), *block.outputs.items())},
        )

    def _at(self, *steps: str | int) -> Path:
        return self.places.get(steps, (*self.path, *steps))

    def _required(self, block: schema.Direction) -> tuple[Expr, ...]:
        found = [
            condition(text, self.family.descriptor, self._at("require", place), self.problems)
            for place, text in enumerate(block.require)
        ]
        return tuple(rule for rule in found if rule is not None)

    def _method(
        self, name: str, expr: Expr, numbers: Mapping[str, Type], path: Path, results: dict[str, Statement]
    ) -> None:
        """A formula with what the kernels find in the place of products, and of the sum over a row."""
        sums: list[Expr] = []

        def visit(node: Expr) -> Expr:
            if isinstance(node, Call) and node.name == "dot":
                operands = tuple(arg.name if isinstance(arg, Name) else "" for arg in node.args)
                known = _PRODUCTS[self.direction]
                if len(operands) != 2 or operands not in known:
                    right = " or ".join(f"dot({a}, {b})" for a, b in known)
                    self.problems.add(path, f"{to_text(node)}: the kernels have no such product", right)
                    return Name("product")
                return Name(known[operands])
            if isinstance(node, Call) and node.name == "sum" and name == "dscores":
                sums.append(node.args[0])
                return Name("delta")
            return node

        whole = rewrite(expr, visit)
        self._add(name, whole, expr, numbers, path, results)
        if name == "dscores":
            if len(sums) != 1:
                self.problems.add(path, f"{to_text(expr)}: {len(sums)} sums over the row", "sum(...), once")
            else:
                self._add("delta", sums[0], expr, numbers, path, results)

    def _add(
        self,
        name: str,
        expr: Expr,
        written: Expr,
        numbers: Mapping[str, Type],
        path: Path,
        results: dict[str, Statement],
    ) -> None:
        seen = dict.fromkeys(METHODS[self.direction][name], COMPUTE)
        try:
            infer(expr, {**numbers, **seen}, COMPUTE)
        except FormulaError as error:
            self.problems.add(path, f"{to_text(written)}: {error}")
        results[name] = Statement(name, "compute", expr)
