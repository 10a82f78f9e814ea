"""Where each value of a direction is computed: on the host, once a row, or at each element.

A value that follows from attributes alone is folded on the host in double precision. A value of the row
follows from aggregates, from tensors that are read once a row, and from the row's extent. Everything else
belongs to the element.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from baracuda.codegen.formula import (
    BoolOp,
    Expr,
    IfElse,
    Name,
    Type,
    children,
    free_names,
    infer,
    substitute,
)
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.model import AttributeValue, Program, Statement
from baracuda.codegen.spec.scope import EXTENT, Scope, kind_of, names_in, with_changed_children
from baracuda.codegen.spec.tensors import FLAG


@dataclass
class Placement:
    """Splits what a scope holds into the parts of a program.

    Attributes:
        scope: the values; those of a row that elements need get names in it.
        direction: of the program.
        tensors: those of the direction.
        inputs: the tensors that formulas may read.
        rows: whether the family walks rows.
        number: the type of the elements.
    """

    scope: Scope
    direction: str
    tensors: Mapping[str, schema.Tensor]
    inputs: Sequence[str]
    rows: bool
    number: Type

    def program(
        self,
        block: schema.Direction,
        stem: str,
        options: tuple[tuple[str, str], ...],
        results: Sequence[Statement],
        require: tuple[Expr, ...],
    ) -> Program:
        """The program of a block, whose outputs have the formulas `results`."""
        of_row, of_column, of_element = (
            [statement for statement in results if self._place(statement.name) == place]
            for place in ("row", "column", "element")
        )
        known_names = self._known_names()
        self._hoist_operands(known_names)
        operands = [aggregate.operand for aggregate in self.scope.aggregates.values()]
        lift_lets = self._hoisted_lets(operands, known_names)
        read_by_lifts = names_in([*operands, *(s.value for s in lift_lets)])
        known_values = self._kinds(name for name in known_names if name in read_by_lifts)
        known_lets = self.scope.needed(Name(name) for name in known_values)
        row_names = self._row_names()
        of_element = [self._hoisted(statement, row_names) for statement in of_element]
        element_lets = self._hoisted_lets((s.value for s in of_element), row_names)
        of_column = [self._hoisted(statement, row_names) for statement in of_column]
        column_lets = self._hoisted_lets((s.value for s in of_column), row_names)
        read_by_elements = names_in(s.value for s in (*element_lets, *of_element, *column_lets, *of_column))
        row_values = self._kinds(name for name in row_names if name in read_by_elements)
        asked_of_row = [Name(name) for name in row_values]
        row_lets = self.scope.needed([*asked_of_row, *(s.value for s in of_row)])
        read_by_rows = names_in([*asked_of_row, *(s.value for s in (*row_lets, *of_row))])
        read = read_by_elements | read_by_rows | read_by_lifts | names_in(s.value for s in known_lets)
        shared = self._shared_folds(block, read)
        # Those of a column stand behind those of an element, and those of bool behind the others.
        element_inputs = sorted(
            (name for name in self.inputs if name in read and self.tensors[name].role != "row"),
            key=lambda name: (self.tensors[name].role == "column", self.tensors[name].dtype == FLAG),
        )
        return Program(
            direction=self.direction,
            stem=stem,
            options=options,
            inputs=tuple(element_inputs),
            row_inputs=tuple(
                name for name in self.inputs if name in read and self.tensors[name].role == "row"
            ),
            outputs=tuple(statement.name for statement in of_element),
            row_outputs=tuple(statement.name for statement in of_row),
            attributes=self._expanded_values(read, read | shared),
            folded_lets=self._expanded_values(shared, shared),
            known_lets=known_lets,
            known_values=known_values,
            lift_lets=lift_lets,
            aggregates=tuple(
                replace(a, fields={n: f for n, f in a.fields.items() if n in read})
                for a in self.scope.aggregates.values()
            ),
            row_lets=row_lets,
            row_values=row_values,
            lets=element_lets,
            results=tuple(of_element),
            row_results=tuple(of_row),
            takes=dict(block.takes),
            require=require,
            source={
                name: str(text)
                for name, text in (*block.let.items(), *block.row.items(), *block.outputs.items())
            },
            column_inputs=tuple(name for name in element_inputs if self.tensors[name].role == "column"),
            flags=tuple(name for name in element_inputs if self.tensors[name].dtype == FLAG),
            absent={
                name: float(absent)
                for name in element_inputs
                if (absent := self.tensors[name].absent) is not None
            },
            column_outputs=tuple(statement.name for statement in of_column),
            column_lets=column_lets,
            column_results=tuple(of_column),
            number=kind_of(self.number),
        )

    def _place(self, output: str) -> str:
        role = self.tensors[output].role
        return role if role in ("row", "column") else "element"

    def _kinds(self, names: Iterable[str]) -> dict[str, str]:
        return {name: kind_of(self.scope.types[name]) for name in names}

    def _hoisted_lets(self, values: Iterable[Expr], row_names: list[str]) -> tuple[Statement, ...]:
        """The lets behind some values, without those of the row and with what is one in them named."""
        needed = self.scope.needed(values)
        return tuple(self._hoisted(let, row_names) for let in needed if let.name not in row_names)

    def _known_names(self) -> list[str]:
        """The names of values that follow from what is read once a row, no aggregate among it."""
        names = [name for name in self.inputs if self.tensors[name].role == "row"]
        for statement in self.scope.lets.values():
            read = free_names(statement.value)
            if set(read) & set(names) and all(name in names or name in self.scope.folded for name in read):
                names.append(statement.name)
        return names

    def _row_names(self) -> list[str]:
        """The names of values that are the same for a whole row, attributes apart."""
        if not self.rows:
            return []
        names = [*(name for name in self.inputs if self.tensors[name].role == "row"), EXTENT]
        for aggregate in self.scope.aggregates.values():
            names += [aggregate.name, *aggregate.fields]
        for statement in self.scope.lets.values():
            if all(name in names or name in self.scope.folded for name in free_names(statement.value)):
                names.append(statement.name)
        return names

    def _hoist_operands(self, known_names: list[str]) -> None:
        """Let what aggregates take in know a row's values instead of working them out at each element."""
        for name, aggregate in self.scope.aggregates.items():
            operand = self._hoisted(Statement(name, "compute", aggregate.operand), known_names).value
            self.scope.aggregates[name] = replace(aggregate, operand=operand)

    def _hoisted(self, statement: Statement, row_names: list[str]) -> Statement:
        """The statement with its largest parts that are the same for a whole row computed once a row."""

        def hoist(expr: Expr) -> Expr:
            names = set(free_names(expr))
            if isinstance(expr, Name) or not names & set(row_names):
                return expr
            if not names <= {*row_names, *self.scope.folded}:
                return with_changed_children(expr, hoist)
            for known in self.scope.lets.values():
                if known.value == expr:
                    return Name(known.name)
            type_ = infer(expr, self.scope.types)
            name = self.scope.numbered("of_row")
            self.scope.let(name, type_, expr)
            row_names.append(name)
            return Name(name)

        return replace(statement, value=hoist(statement.value)) if row_names else statement

    def _shared_folds(self, block: schema.Direction, read: set[str]) -> set[str]:
        """The folded names of `let` that the kernel lacks and that several of its attributes follow from.

        One that is read on conditions alone stays behind these: it may have no value where they do not hold.
        """
        found = set()
        for name in self.scope.folded:
            if name not in block.let or name in read:
                continue
            values = [value.value for value in self._expanded_values(read, read | {name})]
            readers = sum(name in free_names(value) for value in values)
            if readers > 1 and any(name in _always_read(value) for value in values):
                found.add(name)
        return found

    def _expanded_values(self, wanted: set[str], kept: set[str]) -> tuple[AttributeValue, ...]:
        found = [value for name, value in self.scope.folded.items() if name in wanted]
        return tuple(replace(value, value=self._expanded(value.value, kept)) for value in found)

    def _expanded(self, expr: Expr, kept: set[str]) -> Expr:
        """A folded expression without the folded names that are not kept."""
        folded = self.scope.folded
        shown = {*kept, *(attribute.name for attribute in self.scope.attributes)}
        hidden = [name for name in free_names(expr) if name in folded and name not in shown]
        if not hidden:
            return expr
        return self._expanded(substitute(expr, {name: folded[name].value for name in hidden}), kept)


def _always_read(expr: Expr) -> set[str]:
    """The names that an expression reads whatever its conditions say."""
    if isinstance(expr, Name):
        return {expr.name}
    parts = children(expr)
    if isinstance(expr, IfElse):
        _, condition, _ = parts
        return _always_read(condition)
    if isinstance(expr, BoolOp):
        return _always_read(parts[0])
    return {name for part in parts for name in _always_read(part)}
