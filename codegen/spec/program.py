"""From the formulas of one direction to a `Program`: parsed, lowered to names, typed, and placed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from baracuda.codegen.formula import (
    BOOL,
    COMPUTE,
    F64,
    FUNCTIONS,
    INT,
    WHOLE,
    WIDE,
    Call,
    Expr,
    Field,
    FormulaError,
    Name,
    Type,
    calls,
    free_names,
    infer,
    of_element_type,
    parse,
    rewrite,
    substitute,
    to_python,
    to_text,
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
from baracuda.codegen.spec.placing import Placement
from baracuda.codegen.spec.reading import check_reading
from baracuda.codegen.spec.rules import condition, parse_at
from baracuda.codegen.spec.scope import ATTRIBUTE_TYPES, EXTENT, INDEX, Scope, kind_of
from baracuda.codegen.spec.tensors import FLAG, outputs_of


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

    scope: Scope = field(init=False)
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
        types = {name: BOOL if tensors[name].dtype == FLAG else self.number for name in inputs}
        fields = self.family.fields(self.direction)
        for attribute in self.attributes:
            if attribute.source in fields:
                own = ATTRIBUTE_TYPES[fields[attribute.source].type]
                if own == F64 and self.number == WHOLE:
                    own = WHOLE
                types[attribute.name] = WIDE if attribute.wide else own
        if self.family.axes is not None:
            types |= {EXTENT: INT, INDEX: INT}
        self.scope = Scope(self.attributes, types)
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
        placement = Placement(
            self.scope, self.direction, tensors, inputs, self.family.axes is not None, self.number
        )
        program = placement.program(block, stem, options, results, self._required(block))
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
        names = {name: name for name in self.scope.types}
        for name, value in self.scope.folded.items():
            try:
                to_python(value.value, names)
            except FormulaError as error:
                path = self._at("let", name) if name in block.let else self.path
                what = f"{to_text(value.value)}, which the host computes: {error}"
                self.problems.add(path, what, "docs/spec.md lists what the host has")

    def _required(self, block: schema.Direction) -> tuple[Expr, ...]:
        read = (
            condition(text, self.family.descriptor, self._at("require", place), self.problems)
            for place, text in enumerate(block.require)
        )
        return tuple(expr for expr in read if expr is not None)

    def _may_lack(self, name: str, tensors: Mapping[str, schema.Tensor]) -> bool:
        # A gradient may not be forgotten: only a forward's optional output may have no formula.
        return self.direction == "forward" and tensors[name].optional

    def _name(self, name: str, text: object, path: Path) -> None:
        """A named sub-expression or aggregate."""
        if name in self.scope.types:
            self.problems.add(path, f"{name!r} is already a name here", "another name")
            return
        self.scope.types[name] = self.number  # one mistake, one message
        parsed = parse_at(text, path, self.problems)
        if parsed is None:
            return
        if isinstance(parsed, Call) and parsed.name in self.monoids:
            del self.scope.types[name]
            made = self._aggregate(parsed, path, name)
            if made is None:
                self.scope.types[name] = self.number
            elif made != name:
                self.scope.let(name, self.scope.types[made], Name(made))
            return
        expr = self._lowered(parsed, path)
        del self.scope.types[name]
        type_ = None if expr is None else self._typed(expr, path, shown=parsed)
        if expr is None or type_ is None:
            self.scope.types[name] = self.number
            return
        if self.scope.follows_from_attributes(expr):
            self.scope.folded[name] = AttributeValue(name, kind_of(type_), expr)
            self.scope.types[name] = type_ if type_ in (BOOL, INT, WIDE, WHOLE) else F64
            return
        self.scope.let(name, type_, self.scope.fold(expr, type_ == INT))

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
        if tensors[name].role == "column" and self.scope.follows_from_aggregates(expr):
            what = f"{text}: the sum over the rows of what follows from an aggregate"
            self.problems.add(path, what, "a formula of tensors, those of role row among them")
            return None
        return Statement(name, kind_of(want), self.scope.fold(expr))

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
        if operand is not None and self.scope.follows_from_aggregates(operand):
            self.problems.add(
                path, f"{to_text(call)}: an aggregate within an aggregate", "an aggregate of tensors"
            )
            return None
        if operand is not None and EXTENT in self.scope.all_names([operand]):
            right = "an aggregate without it, and its value with it"
            self.problems.add(path, f"{to_text(call)}: elements do not know the row's {EXTENT}", right)
            return None
        if operand is None or self._typed(operand, path, BOOL if monoid.of == "bool" else COMPUTE) is None:
            return None
        operand = self.scope.fold(operand)
        for known in self.scope.aggregates.values():
            if known.monoid is monoid and known.operand == operand:
                if name is not None:
                    self.states[name] = known
                return known.name
        if name is None:
            stem = f"{monoid.name}_{operand.name}" if isinstance(operand, Name) else f"{monoid.name}_of_row"
            name = self.scope.unused(stem)
        aggregate = Aggregate(name, monoid, operand)
        self.scope.aggregates[name] = aggregate
        self.states[name] = aggregate
        self.scope.types[name] = INT if monoid.value is not None and monoid.value.kind == "i64" else COMPUTE
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
        folded, kind = self.scope.fold(expr, type_ == INT), kind_of(type_)
        for known in self.scope.lets.values():
            if known.value == folded and known.kind == kind:
                return Name(known.name)
        own = self.scope.unused(name, f"{name}_")
        self.scope.let(own, type_, folded)
        return Name(own)

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
            name = self.scope.unused(stem)
            fields = {**aggregate.fields, name: node.name}
            changed = replace(aggregate, fields=fields)
            self.scope.aggregates[aggregate.name] = changed
            for key, state in self.states.items():
                if state is aggregate:
                    self.states[key] = changed
            self.scope.types[name] = INT if kinds[node.name] == "i64" else COMPUTE
        return name

    def _typed(
        self, expr: Expr, path: Path, want: Type | None = None, shown: Expr | None = None
    ) -> Type | None:
        """The type of an expression, which a message says as `shown`."""
        if self.number == WHOLE and of_element_type(expr):
            what = f"{to_text(shown or expr)}: limits of the element type are those of floats"
            self.problems.add(path, what, "a formula of integers without them")
            return None
        try:
            return infer(expr, self.scope.types, want)
        except FormulaError as error:
            self.problems.add(path, f"{to_text(shown or expr)}: {error}")
            return None


def _mentioned(text: object) -> set[str]:
    """The names in a formula, as far as it can be read."""
    try:
        return set(free_names(parse(str(text))))
    except FormulaError:
        return set()
