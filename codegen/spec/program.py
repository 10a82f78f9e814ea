"""From the formulas of one direction to a `Program`: parsed, typed, split by where each value is computed.

A value that follows from attributes alone is folded on the host in double precision. A value of the row
follows from aggregates, from tensors that are read once a row, and from the row's extent. Everything else
belongs to the element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from baracuda.codegen.formula import (
    BOOL,
    COMPUTE,
    F64,
    FUNCTIONS,
    INT,
    WHOLE,
    WIDE,
    Binary,
    BoolOp,
    Call,
    Expr,
    Field,
    FormulaError,
    IfElse,
    Name,
    Type,
    Unary,
    calls,
    children,
    free_names,
    infer,
    of_element_type,
    parse,
    rewrite,
    substitute,
    to_python,
    to_text,
    with_children,
)
from baracuda.codegen.problems import Path, Problems, suggest
from baracuda.codegen.spec import schema, vocabulary
from baracuda.codegen.spec.calls import OpFormula
from baracuda.codegen.spec.model import (
    Aggregate,
    Attribute,
    AttributeValue,
    Family,
    Monoid,
    Program,
    Statement,
)
from baracuda.codegen.spec.reading import check_reading
from baracuda.codegen.spec.rules import condition, parse_at
from baracuda.codegen.spec.tensors import FLAG

#: The number of elements of a row, and an element's number in its row, in families that have axes.
EXTENT, INDEX = "extent", "index"

#: The types of attributes in formulas, by the type of the descriptor's field.
ATTRIBUTE_TYPES: dict[str, Type] = {"f64": F64, "i64": INT, "bool": BOOL}


def kind_of(type_: Type) -> str:
    """The C++ kind of a value of a type."""
    return {BOOL: "bool", INT: "i64", WHOLE: "whole", WIDE: "wide"}.get(type_, "compute")


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
    places: Mapping[Path, Path] = field(default_factory=dict)  # where what an option adds is written
    formulas: Mapping[str, OpFormula] = field(default_factory=dict)  # ops that a formula may call
    number: Type = COMPUTE  # of the elements

    types: dict[str, Type] = field(default_factory=dict)
    folded: dict[str, AttributeValue] = field(default_factory=dict)
    lets: dict[str, Statement] = field(default_factory=dict)
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    states: dict[str, Aggregate] = field(default_factory=dict)
    called: dict[tuple[str, tuple[Expr, ...]], str] = field(default_factory=dict)
    own: str = ""
    told: Problems = field(default_factory=lambda: Problems(""))
    inside: tuple[str, ...] = ()  # the ops whose formulas are being put in place of calls
    misled: bool = False  # an op that a formula calls is wrong, which is said where that one is written

    def build(
        self, block: schema.Direction, stem: str, options: tuple[tuple[str, str], ...]
    ) -> Program | None:
        """The program of a block, or None with every reason noted."""
        self.own, self.told = stem, self.problems
        before = len(self.problems)
        tensors = self.family.tensors(self.direction)
        inputs = [name for name, tensor in tensors.items() if tensor.io == "in" and not tensor.halves]
        self.types = {name: BOOL if tensors[name].dtype == FLAG else self.number for name in inputs}
        fields = self.family.fields(self.direction)
        for attribute in self.attributes:
            if attribute.source in fields:
                own = ATTRIBUTE_TYPES[fields[attribute.source].type]
                if own == F64 and self.number == WHOLE:
                    own = WHOLE
                self.types[attribute.name] = WIDE if attribute.wide else own
        if self.family.axes is not None:
            self.types |= {EXTENT: INT, INDEX: INT}
        for word, name, text in self._in_order(block):
            self._name(name, text, self._at(word, name))
        results = [
            statement
            for name, text in block.outputs.items()
            if (statement := self._output(name, text, tensors))
        ]
        wanted = outputs_of(tensors)
        for name in wanted:
            if name not in block.outputs and not self._may_lack(name, tensors):
                right = f"the {self.direction} gives {', '.join(wanted)}"
                self.problems.add(self.path, f"no formula for {name!r}", right)
        for name in block.takes:
            if name not in inputs:
                self.problems.add(
                    self._at("takes", name), f"unknown tensor {name!r}", "one of " + ", ".join(inputs)
                )
        self._check_folded(block)
        if len(self.problems) > before or self.misled:
            return None
        results.sort(key=lambda statement: wanted.index(statement.name))
        program = self._program(block, stem, options, results, inputs)
        check_reading(program, self.family, inputs, self._at, self.problems)
        return program if len(self.problems) == before else None

    def _in_order(self, block: schema.Direction) -> list[tuple[str, str, object]]:
        """The named values of `let` and `row`, each behind those of the other block that it needs."""
        waiting = [("let", name, text) for name, text in block.let.items()]
        waiting += [("row", name, text) for name, text in block.row.items()]
        ordered: list[tuple[str, str, object]] = []
        while waiting:
            names = {name for _, name, _ in waiting}
            ready = [item for item in waiting if not names & _mentioned(item[2])] or waiting
            ordered += ready[:1]
            waiting.remove(ready[0])
        return ordered

    def _at(self, *steps: str | int) -> Path:
        """Where a part of the block is written."""
        return self.places.get(steps, (*self.path, *steps))

    def _check_folded(self, block: schema.Direction) -> None:
        names = {name: name for name in self.types}
        for name, value in self.folded.items():
            try:
                to_python(value.value, names)
            except FormulaError as error:
                path = self._at("let", name) if name in block.let else self.path
                what = f"{to_text(value.value)}, which the host computes: {error}"
                self.problems.add(path, what, "docs/spec.md lists what the host has")

    def _may_lack(self, name: str, tensors: Mapping[str, schema.Tensor]) -> bool:
        # A gradient may not be forgotten: only a forward's optional output may have no formula.
        return self.direction == "forward" and tensors[name].optional

    def _program(
        self,
        block: schema.Direction,
        stem: str,
        options: tuple[tuple[str, str], ...],
        results: list[Statement],
        inputs: list[str],
    ) -> Program:
        tensors = self.family.tensors(self.direction)
        of_row = [statement for statement in results if tensors[statement.name].role == "row"]
        of_column = [statement for statement in results if tensors[statement.name].role == "column"]
        of_element = [
            statement for statement in results if tensors[statement.name].role not in ("row", "column")
        ]
        known_names = self._known_names(inputs, tensors)
        self._hoist_operands(known_names)
        operands = [aggregate.operand for aggregate in self.aggregates.values()]
        lift_lets = tuple(
            self._hoisted(s, known_names) for s in self._needed(operands) if s.name not in known_names
        )
        read_by_lifts = _names([*operands, *(s.value for s in lift_lets)])
        known_values = {name: kind_of(self.types[name]) for name in known_names if name in read_by_lifts}
        known_lets = self._needed(Name(name) for name in known_values)
        row_names = self._row_names(inputs, tensors)
        of_element = [self._hoisted(statement, row_names) for statement in of_element]
        element_lets = tuple(
            self._hoisted(s, row_names)
            for s in self._needed(s.value for s in of_element)
            if s.name not in row_names
        )
        of_column = [self._hoisted(statement, row_names) for statement in of_column]
        column_lets = tuple(
            self._hoisted(s, row_names)
            for s in self._needed(s.value for s in of_column)
            if s.name not in row_names
        )
        read_by_elements = _names([s.value for s in (*element_lets, *of_element, *column_lets, *of_column)])
        row_values = {name: kind_of(self.types[name]) for name in row_names if name in read_by_elements}
        asked_of_row = [Name(name) for name in row_values]
        row_lets = self._needed([*asked_of_row, *(s.value for s in of_row)])
        read_by_rows = _names([*asked_of_row, *(s.value for s in (*row_lets, *of_row))])
        read = read_by_elements | read_by_rows | read_by_lifts | _names(s.value for s in known_lets)
        shared = self._shared_folds(block, read)
        # Those of a column stand behind those of an element, and those of bool behind the others.
        element_inputs = sorted(
            (name for name in inputs if tensors[name].role != "row"),
            key=lambda name: (tensors[name].role == "column", tensors[name].dtype == FLAG),
        )
        return Program(
            direction=self.direction,
            stem=stem,
            options=options,
            inputs=tuple(name for name in element_inputs if name in read),
            row_inputs=tuple(name for name in inputs if name in read and name not in element_inputs),
            outputs=tuple(statement.name for statement in of_element),
            row_outputs=tuple(statement.name for statement in of_row),
            attributes=self._expanded_values(read, read | shared),
            folded_lets=self._expanded_values(shared, shared),
            known_lets=known_lets,
            known_values=known_values,
            lift_lets=lift_lets,
            aggregates=tuple(
                replace(a, fields={n: f for n, f in a.fields.items() if n in read})
                for a in self.aggregates.values()
            ),
            row_lets=row_lets,
            row_values=row_values,
            lets=element_lets,
            results=tuple(of_element),
            row_results=tuple(of_row),
            takes=dict(block.takes),
            require=tuple(
                expr
                for place, text in enumerate(block.require)
                if (
                    expr := condition(text, self.family.descriptor, self._at("require", place), self.problems)
                )
                is not None
            ),
            source={
                name: str(text)
                for name, text in (*block.let.items(), *block.row.items(), *block.outputs.items())
            },
            column_inputs=tuple(
                name for name in element_inputs if name in read and tensors[name].role == "column"
            ),
            flags=tuple(name for name in element_inputs if name in read and tensors[name].dtype == FLAG),
            absent={
                name: float(absent)
                for name in element_inputs
                if name in read and (absent := tensors[name].absent) is not None
            },
            column_outputs=tuple(statement.name for statement in of_column),
            column_lets=column_lets,
            column_results=tuple(of_column),
            number=kind_of(self.number),
        )

    def _hoisted(self, statement: Statement, row_names: list[str]) -> Statement:
        """The statement with its largest parts that are the same for a whole row computed once a row."""

        def hoist(expr: Expr) -> Expr:
            names = set(free_names(expr))
            if isinstance(expr, Name) or not names & set(row_names):
                return expr
            if not names <= {*row_names, *self.folded}:
                return _with_folded_children(expr, hoist)
            for known in self.lets.values():
                if known.value == expr:
                    return Name(known.name)
            type_ = infer(expr, self.types)
            name = self._fresh("of_row")
            self.lets[name] = Statement(name, kind_of(type_), expr)
            self.types[name] = COMPUTE if type_ == F64 else type_
            row_names.append(name)
            return Name(name)

        return replace(statement, value=hoist(statement.value)) if row_names else statement

    def _expanded(self, expr: Expr, kept: set[str]) -> Expr:
        """A folded expression without the folded names that are not kept."""
        own = {attribute.name for attribute in self.attributes}
        hidden = [name for name in free_names(expr) if name in self.folded and name not in {*kept, *own}]
        if not hidden:
            return expr
        return self._expanded(substitute(expr, {name: self.folded[name].value for name in hidden}), kept)

    def _expanded_values(self, wanted: set[str], kept: set[str]) -> tuple[AttributeValue, ...]:
        found = [value for name, value in self.folded.items() if name in wanted]
        return tuple(replace(value, value=self._expanded(value.value, kept)) for value in found)

    def _shared_folds(self, block: schema.Direction, read: set[str]) -> set[str]:
        """The folded names of `let` that the kernel lacks and that several of its attributes follow from.

        One that is read on conditions alone stays behind these: it may have no value where they do not hold.
        """
        found = set()
        for name in self.folded:
            if name not in block.let or name in read:
                continue
            values = [value.value for value in self._expanded_values(read, read | {name})]
            readers = sum(name in free_names(value) for value in values)
            if readers > 1 and any(name in _always_read(value) for value in values):
                found.add(name)
        return found

    def _row_names(self, inputs: list[str], tensors: Mapping[str, schema.Tensor]) -> list[str]:
        """The names of values that are the same for a whole row, attributes apart."""
        if self.family.axes is None:
            return []
        names = [*(name for name in inputs if tensors[name].role == "row"), EXTENT]
        for aggregate in self.aggregates.values():
            names += [aggregate.name, *aggregate.fields]
        for statement in self.lets.values():
            if all(name in names or name in self.folded for name in free_names(statement.value)):
                names.append(statement.name)
        return names

    def _known_names(self, inputs: list[str], tensors: Mapping[str, schema.Tensor]) -> list[str]:
        """The names of values that follow from what is read once a row, no aggregate among it."""
        names = [name for name in inputs if tensors[name].role == "row"]
        for statement in self.lets.values():
            read = free_names(statement.value)
            if set(read) & set(names) and all(name in names or name in self.folded for name in read):
                names.append(statement.name)
        return names

    def _hoist_operands(self, known_names: list[str]) -> None:
        """Let what aggregates take in know a row's values instead of working them out at each element."""
        for name, aggregate in self.aggregates.items():
            operand = self._hoisted(Statement(name, "compute", aggregate.operand), known_names).value
            self.aggregates[name] = replace(aggregate, operand=operand)

    def _needed(self, values: Iterable[Expr]) -> tuple[Statement, ...]:
        """The lets that some values follow from, in the order in which they are written."""
        names = _names(values)
        kept: list[Statement] = []
        for statement in reversed(self.lets.values()):
            if statement.name in names:
                kept.append(statement)
                names.update(free_names(statement.value))
        return tuple(reversed(kept))

    def _name(self, name: str, text: object, path: Path) -> None:
        """A named sub-expression or aggregate."""
        if name in self.types:
            self.problems.add(path, f"{name!r} is already a name here", "another name")
            return
        self.types[name] = self.number  # one mistake, one message
        parsed = parse_at(text, path, self.problems)
        if parsed is None:
            return
        if isinstance(parsed, Call) and parsed.name in self.monoids:
            del self.types[name]
            made = self._aggregate(parsed, path, name)
            if made is None:
                self.types[name] = self.number
            elif made != name:
                self.lets[name] = Statement(name, kind_of(self.types[made]), Name(made))
                self.types[name] = self.types[made]
            return
        expr = self._lowered(parsed, path)
        del self.types[name]
        type_ = None if expr is None else self._typed(expr, path, shown=parsed)
        if expr is None or type_ is None:
            self.types[name] = self.number
            return
        if self._follows_from_attributes(expr):
            self.folded[name] = AttributeValue(name, kind_of(type_), expr)
            self.types[name] = type_ if type_ in (BOOL, INT, WIDE, WHOLE) else F64
            return
        self.lets[name] = Statement(name, kind_of(type_), self._fold(expr, type_ == INT))
        self.types[name] = COMPUTE if type_ == F64 else type_

    def _output(self, name: str, text: object, tensors: Mapping[str, schema.Tensor]) -> Statement | None:
        path = self._at(name)
        outputs = outputs_of(tensors)
        if name not in outputs:
            words = [*outputs, *vocabulary.keys(schema.Direction)]
            self.problems.add(
                path, f"unknown output {name!r}", suggest(name, words) or "one of " + ", ".join(outputs)
            )
            return None
        parsed = parse_at(text, path, self.problems)
        expr = None if parsed is None else self._lowered(parsed, path)
        want = BOOL if tensors[name].dtype == FLAG else self.number
        if expr is None or self._typed(expr, path, want, parsed) is None:
            return None
        if tensors[name].role == "column" and self._follows_from_aggregates(expr):
            what = f"{text}: the sum over the rows of what follows from an aggregate"
            self.problems.add(path, what, "a formula of tensors, those of role row among them")
            return None
        return Statement(name, kind_of(want), self._fold(expr))

    def _lowered(self, expr: Expr, path: Path) -> Expr | None:
        """The expression with aggregates and fields of states replaced by names."""
        for name in calls(expr):
            if name not in FUNCTIONS and name not in self.monoids and name not in self.formulas:
                known = [*FUNCTIONS, *self.monoids, *self.formulas]
                right = suggest(name, known) or "docs/spec.md lists them"
                self.problems.add(path, f"{to_text(expr)}: unknown function {name!r}", right)
                return None
        failed = False

        def visit(node: Expr) -> Expr:
            nonlocal failed
            replaced: str | None = None
            if isinstance(node, Call) and node.name in self.monoids:
                replaced = self._aggregate(node, path)
            elif isinstance(node, Call) and node.name not in FUNCTIONS:
                replaced = self._result_of(node, path)
            elif isinstance(node, Field) and isinstance(node.value, Name) and node.value.name in self.states:
                replaced = self._field(self.states[node.value.name], node, path)
            else:
                return node
            failed = failed or replaced is None
            return node if replaced is None else Name(replaced)

        lowered = rewrite(expr, visit)
        return None if failed else lowered

    def _aggregate(self, call: Call, path: Path, name: str | None = None) -> str | None:
        """The name of the aggregate that a call of a monoid asks for."""
        monoid = self.monoids[call.name]
        if self.family.axes is None:
            self.problems.add(path, f"{to_text(call)}: an aggregate needs axes", "a family with axes")
            return None
        if len(call.args) != 1:
            self.problems.add(path, f"{monoid.name} aggregates one value, got {len(call.args)}")
            return None
        operand = self._lowered(call.args[0], path)
        if operand is not None and self._follows_from_aggregates(operand):
            self.problems.add(
                path, f"{to_text(call)}: an aggregate within an aggregate", "an aggregate of tensors"
            )
            return None
        if operand is not None and EXTENT in _names([operand, *(s.value for s in self._needed([operand]))]):
            right = "an aggregate without it, and its value with it"
            self.problems.add(path, f"{to_text(call)}: elements do not know the row's {EXTENT}", right)
            return None
        if operand is None or self._typed(operand, path, BOOL if monoid.of == "bool" else COMPUTE) is None:
            return None
        operand = self._fold(operand)
        for known in self.aggregates.values():
            if known.monoid is monoid and known.operand == operand:
                if name is not None:
                    self.states[name] = known
                return known.name
        if name is None:
            stem = f"{monoid.name}_{operand.name}" if isinstance(operand, Name) else f"{monoid.name}_of_row"
            name = stem if stem not in self.types else self._fresh(stem)
        aggregate = Aggregate(name, monoid, operand)
        self.aggregates[name] = aggregate
        self.states[name] = aggregate
        self.types[name] = INT if monoid.value is not None and monoid.value.kind == "i64" else COMPUTE
        return name

    def _result_of(self, call: Call, path: Path) -> str | None:
        """The name of what another op's formula gives for the arguments of a call; equal calls share it."""
        formula, given = self.formulas[call.name], call.args
        if len(given) != len(formula.inputs):
            what = f"{to_text(call)}: {call.name} is given {len(given)} numbers"
            self.problems.add(path, what, f"{call.name}({', '.join(formula.inputs)})")
            return None
        if call.name == self.own:
            self.told.add(path, f"{call.name} calls itself", "a formula without it")
            return None
        if call.name in self.inside:
            return None  # as it says itself
        if (call.name, given) in self.called:
            return self.called[call.name, given]
        names: dict[str, Expr] = {}
        for name, value in zip(formula.inputs, given, strict=True):
            if self._typed(value, path, COMPUTE) is None:
                return None
            known = value if isinstance(value, Name) else self._let_of(f"{call.name}_{name}", value, path)
            if known is None:
                return None
            names[name] = known
        problems, inside = self.problems, self.inside
        # What is wrong with an op's own formula is said there.
        self.problems, self.inside = Problems(""), (*inside, call.name)
        result: Name | None = None
        for name, text in (*formula.lets.items(), ("value", formula.result)):
            own = parse_at(text, path, self.problems)
            result = None
            if own is not None:
                result = self._let_of(f"{call.name}_{name}", substitute(own, names), path)
            if result is None:
                self.misled = True
                break
            names[name] = result
        self.problems, self.inside = problems, inside
        if result is None:
            return None
        self.called[call.name, given] = result.name
        return result.name

    def _let_of(self, name: str, value: Expr, path: Path) -> Name | None:
        """A named value that no formula of the spec names; one that is there already where it is equal."""
        expr = self._lowered(value, path)
        type_ = None if expr is None else self._typed(expr, path)
        if expr is None or type_ is None:
            return None
        folded, kind = self._fold(expr, type_ == INT), kind_of(type_)
        for known in self.lets.values():
            if known.value == folded and known.kind == kind:
                return Name(known.name)
        own = name if name not in self.types else self._fresh(f"{name}_")
        self.lets[own] = Statement(own, kind, folded)
        self.types[own] = COMPUTE if type_ == F64 else type_
        return Name(own)

    def _follows_from_aggregates(self, operand: Expr) -> bool:
        names = _names([operand, *(statement.value for statement in self._needed([operand]))])
        return any(a.name in names or names & set(a.fields) for a in self.aggregates.values())

    def _field(self, aggregate: Aggregate, node: Field, path: Path) -> str | None:
        if node.name == "value" and aggregate.monoid.value is not None:
            return aggregate.name
        kinds = aggregate.monoid.readable()
        if node.name not in kinds:
            right = suggest(node.name, kinds) or "fields: " + ", ".join(kinds)
            self.problems.add(path, f"{aggregate.monoid.name} has no field {node.name!r}", right)
            return None
        name = next((n for n, f in aggregate.fields.items() if f == node.name), None)
        if name is None:
            stem = f"{aggregate.name}_{node.name}"
            name = stem if stem not in self.types else self._fresh(stem)
            fields = {**aggregate.fields, name: node.name}
            changed = replace(aggregate, fields=fields)
            self.aggregates[aggregate.name] = changed
            for key, state in self.states.items():
                if state is aggregate:
                    self.states[key] = changed
            self.types[name] = INT if kinds[node.name] == "i64" else COMPUTE
        return name

    def _typed(
        self, expr: Expr, path: Path, want: Type | None = None, shown: Expr | None = None
    ) -> Type | None:
        """The type of an expression, which a message says as `shown`."""
        try:
            return infer(expr, self.types, want)
        except FormulaError as error:
            self.problems.add(path, f"{to_text(shown or expr)}: {error}")
            return None

    def _follows_from_attributes(self, expr: Expr) -> bool:
        known = {attribute.name for attribute in self.attributes} | set(self.folded)
        names = free_names(expr)
        return bool(names) and set(names) <= known and not of_element_type(expr)

    def _fold(self, expr: Expr, whole: bool = False) -> Expr:
        """The expression with its largest attribute-only parts replaced by values that the host computes.

        Args:
            expr: the expression.
            whole: whether it counts: a choice of literals is an integer then, no number of the compute type.
        """
        if isinstance(expr, Name):
            if expr.name not in self.folded and any(a.name == expr.name for a in self.attributes):
                self.folded[expr.name] = AttributeValue(expr.name, kind_of(self.types[expr.name]), expr)
            return expr
        if self._follows_from_attributes(expr):
            for value in self.folded.values():
                if value.value == expr:
                    return Name(value.name)
            type_ = infer(expr, self.types, INT if whole else None)
            name = self._fresh({"bool": "flag", "i64": "count"}.get(kind_of(type_), "factor"))
            self.folded[name] = AttributeValue(name, kind_of(type_), expr)
            self.types[name] = type_
            return Name(name)
        if isinstance(expr, Call) and FUNCTIONS[expr.name].rule == "ldexp":
            return with_children(expr, (self._fold(expr.args[0]), self._fold(expr.args[1], True)))
        if whole and isinstance(expr, IfElse):
            then, condition, other = children(expr)
            parts = (self._fold(then, True), self._fold(condition), self._fold(other, True))
            return with_children(expr, parts)
        counts = whole and isinstance(expr, (Unary, Binary))
        return _with_folded_children(expr, lambda child: self._fold(child, counts))

    def _fresh(self, stem: str) -> str:
        number = 0
        while f"{stem}{number}" in self.types:
            number += 1
        return f"{stem}{number}"


def outputs_of(tensors: Mapping[str, schema.Tensor]) -> list[str]:
    """The tensors that formulas give."""
    return [name for name, tensor in tensors.items() if tensor.io == "out" and not tensor.halves]


def _mentioned(text: object) -> set[str]:
    """The names in a formula, as far as it can be read."""
    try:
        return set(free_names(parse(str(text))))
    except FormulaError:
        return set()


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


def _names(values: Iterable[Expr]) -> set[str]:
    return {name for value in values for name in free_names(value)}


def _with_folded_children(expr: Expr, fold: Callable[[Expr], Expr]) -> Expr:
    return with_children(expr, tuple(fold(child) for child in children(expr)))
