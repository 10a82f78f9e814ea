"""From the formulas of one direction to a `Program`: parsed, typed, split by where each value is computed.

A value that follows from attributes alone is folded on the host in double precision. A value of the row
follows from aggregates and from tensors that are read once a row. Everything else belongs to the element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from baracuda.codegen.formula import (
    BOOL,
    COMPUTE,
    F64,
    INT,
    Call,
    Expr,
    FormulaError,
    Name,
    Type,
    calls,
    children,
    free_names,
    infer,
    parse,
    rewrite,
    to_text,
    with_children,
)
from baracuda.codegen.problems import Path, Problems, suggest
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.model import Aggregate, Attribute, AttributeValue, Family, Monoid, Program, Statement

#: The number of elements of a row, in formulas of families that have axes.
EXTENT = "extent"


def kind_of(type_: Type) -> str:
    """The C++ kind of a value of a type."""
    return {BOOL: "bool", INT: "i64"}.get(type_, "compute")


def parse_at(text: object, path: Path, problems: Problems) -> Expr | None:
    """The parsed formula, or None with the reason noted."""
    try:
        return parse(str(text))
    except FormulaError as error:
        problems.add(path, f"{text}: {error}")
        return None


def parse_rule(text: str) -> Expr:
    """A shape rule that `resolve_family` has checked."""
    return parse(text)


@dataclass
class Builder:
    """Collects one program; `build` is the way in."""

    family: Family
    direction: str
    monoids: Mapping[str, Monoid]
    attributes: tuple[Attribute, ...]
    problems: Problems
    path: Path

    types: dict[str, Type] = field(default_factory=dict)
    folded: dict[str, AttributeValue] = field(default_factory=dict)
    lets: dict[str, Statement] = field(default_factory=dict)
    aggregates: dict[str, Aggregate] = field(default_factory=dict)

    def build(self, block: schema.Direction) -> Program | None:
        """The program of a block, or None with every reason noted."""
        before = len(self.problems)
        tensors = self.family.tensors(self.direction)
        inputs = [name for name, tensor in tensors.items() if tensor.io == "in"]
        self.types = dict.fromkeys(inputs, COMPUTE) | {a.name: F64 for a in self.attributes}
        if self.family.axes is not None:
            self.types[EXTENT] = INT
        for name, text in block.let.items():
            self._let(name, text)
        results = [
            statement
            for name, text in block.outputs.items()
            if (statement := self._output(name, text, tensors)) is not None
        ]
        wanted = [name for name, tensor in tensors.items() if tensor.io == "out"]
        for name in wanted:
            if name not in block.outputs and not self._may_lack(name, tensors):
                self.problems.add(self.path, f"no formula for {name!r}", f"the {self.direction} gives {', '.join(wanted)}")
        for name in block.takes:
            if name not in inputs:
                self.problems.add((*self.path, "takes", name), f"unknown tensor {name!r}", "one of " + ", ".join(inputs))
        if len(self.problems) > before:
            return None
        results.sort(key=lambda statement: wanted.index(statement.name))
        return self._program(block, tuple(results), inputs)

    def _may_lack(self, name: str, tensors: Mapping[str, schema.Tensor]) -> bool:
        # A gradient may not be forgotten: only a forward's optional output may have no formula.
        return self.direction == "forward" and tensors[name].optional

    def _program(self, block: schema.Direction, results: tuple[Statement, ...], inputs: list[str]) -> Program:
        lift_lets = self._needed([aggregate.operand for aggregate in self.aggregates.values()])
        lets = self._needed([statement.value for statement in results])
        read = {
            name
            for value in (
                *(statement.value for statement in (*lift_lets, *lets, *results)),
                *(aggregate.operand for aggregate in self.aggregates.values()),
            )
            for name in free_names(value)
        }
        used = {*read} & {*self.folded}
        order = list(self.folded)
        return Program(
            inputs=tuple(name for name in inputs if name in read),
            outputs=tuple(statement.name for statement in results),
            attributes=tuple(self.folded[name] for name in order if name in used),
            lift_lets=lift_lets,
            aggregates=tuple(self.aggregates.values()),
            lets=lets,
            results=results,
            takes=dict(block.takes),
            source={name: str(text) for name, text in (*block.let.items(), *block.outputs.items())},
        )

    def _needed(self, values: list[Expr]) -> tuple[Statement, ...]:
        """The lets that some values follow from, in the order in which they are written."""
        names = {name for value in values for name in free_names(value)}
        kept: list[Statement] = []
        for statement in reversed(self.lets.values()):
            if statement.name in names:
                kept.append(statement)
                names.update(free_names(statement.value))
        return tuple(reversed(kept))

    def _let(self, name: str, text: object) -> None:
        path = (*self.path, "let", name)
        if name in self.types:
            self.problems.add(path, f"{name!r} is already a name here", "another name")
            return
        expr = parse_at(text, path, self.problems)
        type_ = self._typed(expr, path) if expr is not None else None
        if expr is None or type_ is None:
            self.types[name] = COMPUTE  # one mistake, one message
            return
        if self._follows_from_attributes(expr):
            self.folded[name] = AttributeValue(name, kind_of(type_), expr)
            self.types[name] = F64 if type_ not in (BOOL, INT) else type_
            return
        expr = self._fold(expr)
        type_ = infer(expr, self._kernel_types())
        self.lets[name] = Statement(name, kind_of(type_), expr)
        self.types[name] = type_

    def _output(self, name: str, text: object, tensors: Mapping[str, schema.Tensor]) -> Statement | None:
        path = (*self.path, name)
        outputs = [key for key, tensor in tensors.items() if tensor.io == "out"]
        if name not in outputs:
            words = [*outputs, *(word for word in schema.Direction.model_fields if word != "outputs")]
            self.problems.add(path, f"unknown output {name!r}", suggest(name, words) or "one of " + ", ".join(outputs))
            return None
        expr = parse_at(text, path, self.problems)
        if expr is None:
            return None
        expr = self._extract_aggregates(expr, path)
        if expr is None or self._typed(expr, path, COMPUTE) is None:
            return None
        return Statement(name, "compute", self._fold(expr))

    def _typed(self, expr: Expr, path: Path, want: Type | None = None) -> Type | None:
        try:
            return infer(expr, self.types, want)
        except FormulaError as error:
            self.problems.add(path, f"{to_text(expr)}: {error}")
            return None

    def _follows_from_attributes(self, expr: Expr) -> bool:
        known = {attribute.name for attribute in self.attributes} | set(self.folded)
        names = free_names(expr)
        return bool(names) and set(names) <= known

    def _fold(self, expr: Expr) -> Expr:
        """The expression with its largest attribute-only parts replaced by values that the host computes."""
        if isinstance(expr, Name):
            if expr.name not in self.folded and any(a.name == expr.name for a in self.attributes):
                self.folded[expr.name] = AttributeValue(expr.name, "compute", expr)
            return expr
        if self._follows_from_attributes(expr):
            for value in self.folded.values():
                if value.value == expr:
                    return Name(value.name)
            type_ = infer(expr, self.types)
            stem = {"bool": "flag", "i64": "count"}.get(kind_of(type_), "factor")
            name = self._fresh(stem)
            self.folded[name] = AttributeValue(name, kind_of(type_), expr)
            self.types[name] = type_
            return Name(name)
        return _with_folded_children(expr, self._fold)

    def _fresh(self, stem: str) -> str:
        number = 0
        while f"{stem}{number}" in self.types:
            number += 1
        return f"{stem}{number}"

    def _kernel_types(self) -> dict[str, Type]:
        """The types inside the kernel, where an attribute has the compute type."""
        return {name: COMPUTE if type_ == F64 else type_ for name, type_ in self.types.items()}

    def _extract_aggregates(self, expr: Expr, path: Path) -> Expr | None:
        """The expression with each call of a monoid replaced by the aggregate's name."""
        if not set(calls(expr)) & set(self.monoids):
            return expr
        if self.family.axes is None:
            self.problems.add(path, f"{to_text(expr)}: an aggregate needs axes", "a family with axes")
            return None
        failed = False

        def visit(node: Expr) -> Expr:
            nonlocal failed
            if not (isinstance(node, Call) and node.name in self.monoids):
                return node
            if len(node.args) != 1:
                self.problems.add(path, f"{node.name} aggregates one value, got {len(node.args)}")
                failed = True
                return node
            operand = node.args[0]
            if self._typed(operand, path, COMPUTE) is None:
                failed = True
                return node
            return Name(self._aggregate(self.monoids[node.name], self._fold(operand)))

        replaced = rewrite(expr, visit)
        return None if failed else replaced

    def _aggregate(self, monoid: Monoid, operand: Expr) -> str:
        for aggregate in self.aggregates.values():
            if aggregate.monoid is monoid and aggregate.operand == operand:
                return aggregate.name
        stem = f"{monoid.name}_{operand.name}" if isinstance(operand, Name) else f"{monoid.name}_of_row"
        name = stem if stem not in self.types else self._fresh(stem)
        self.aggregates[name] = Aggregate(name, monoid, operand)
        self.types[name] = COMPUTE
        return name


def _with_folded_children(expr: Expr, fold: Callable[[Expr], Expr]) -> Expr:
    """One level of `rewrite`: the children are folded, the node itself stays."""
    return with_children(expr, tuple(fold(child) for child in children(expr)))


