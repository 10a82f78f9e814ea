"""Monoids: typed states, checked."""

from __future__ import annotations

from collections.abc import Mapping

from baracuda.codegen.formula import BOOL, COMPUTE, INT, STATE, Expr, FormulaError, Type, infer
from baracuda.codegen.problems import Path, Problems
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.model import Monoid, RunState, StateField, Statement, Transition, UsualStep
from baracuda.codegen.spec.rules import parse_at
from baracuda.codegen.spec.scope import kind_of

Block = Mapping[str, object]

STATE_KINDS: dict[str, Type] = {"compute": COMPUTE, "i64": INT}
# A run takes in a lane's share of one chunk, so that 32 bits hold whatever it counts.
RUN_KINDS: dict[str, Type] = {**STATE_KINDS, "i32": INT}


def resolve_monoid(name: str, entry: schema.Monoid, problems: Problems) -> Monoid | None:
    """The monoid, or None with every reason noted."""
    return _Resolver(name, entry, problems).resolve()


class _Resolver:
    def __init__(self, name: str, entry: schema.Monoid, problems: Problems) -> None:
        self.name = name
        self.entry = entry
        self.problems = problems
        self.path: Path = ("monoids", name)
        self.constants: dict[str, Type] = dict.fromkeys(entry.constants, COMPUTE)

    def resolve(self) -> Monoid | None:
        entry, before = self.entry, len(self.problems)
        for name, values in entry.constants.items():
            for dtype in ("f32", "f64"):
                if dtype not in values:
                    self.problems.add(
                        (*self.path, "constants", name), f"no value for {dtype}", "{f32: ..., f64: ...}"
                    )
        fields, types = self.state(entry.state, (*self.path, "state"))
        element = {"x": BOOL if entry.of == "bool" else COMPUTE, "index": INT}
        lift = run = None
        if entry.run is None:
            if not entry.lift:
                self.problems.add(self.path, "neither lift nor run", "lift: the state of one element x")
                return None
            lift = self.transition(entry.lift, types, element, (*self.path, "lift"))
        else:
            if entry.lift:
                self.problems.add((*self.path, "lift"), "lift and run exclude each other", "one of them")
            run = self.run(entry.run, types, element, (*self.path, "run"))
        merge = self.transition(
            entry.merge, types, {"a": STATE(types), "b": STATE(types)}, (*self.path, "merge")
        )
        known = {**types, **self.constants}
        derived: list[Statement] = []
        for name, text in entry.derived.items():
            expr = self.checked(text, known, None, (*self.path, "derived", name))
            known[name] = COMPUTE if expr is None else infer(expr, known)
            if expr is not None:
                derived.append(Statement(name, kind_of(known[name]), expr))
        value = None
        if entry.value is not None:
            expr = self.checked(entry.value, known, None, (*self.path, "value"))
            if expr is not None:
                value = Statement("value", kind_of(infer(expr, known)), expr)
        if len(self.problems) > before:
            return None
        constants = {
            key: {str(name): number for name, number in item.items()} for key, item in entry.constants.items()
        }
        return Monoid(
            self.name, entry.doc, entry.of, constants,
            fields, lift, run, merge, tuple(derived), value, entry.numpy,
        )  # fmt: skip

    def run(
        self, entry: schema.Run, types: dict[str, Type], element: dict[str, Type], path: Path
    ) -> RunState:
        fields, own = self.state(entry.state, (*path, "state"), RUN_KINDS)
        push = self.transition(entry.push, own, {"r": STATE(own), **element}, (*path, "push"))
        close = self.transition(entry.close, types, {"r": STATE(own)}, (*path, "close"))
        usual = None if entry.usual is None else self.usual(entry.usual, own, element, (*path, "usual"))
        begin = {}
        for name, text in entry.begin.items():
            if name not in own:
                self.problems.add(
                    (*path, "begin", name), f"unknown field {name!r}", "fields: " + ", ".join(own)
                )
                continue
            expr = self.checked(text, {**element, **self.constants}, own[name], (*path, "begin", name))
            if expr is not None:
                begin[name] = expr
        return RunState(fields, begin, push, close, usual)

    def usual(
        self, entry: schema.Usual, own: dict[str, Type], element: dict[str, Type], path: Path
    ) -> UsualStep | None:
        fields, further = self.state(entry.state, (*path, "state"), RUN_KINDS, {"r": STATE(own)})
        for name in set(further) & set(own):
            self.problems.add((*path, "state", name), f"the run has a field {name!r} already", "another name")
        trial = {**own, **further}
        push = self.transition(entry.push, trial, {"r": STATE(trial), **element}, (*path, "push"))
        fits = self.checked(entry.fits, {"r": STATE(trial), **self.constants}, BOOL, (*path, "fits"))
        settle = None
        if entry.settle:
            settle = self.transition(entry.settle, own, {"r": STATE(trial)}, (*path, "settle"))
        return None if fits is None else UsualStep(fields, push, fits, settle)

    def state(
        self,
        block: Mapping[str, str],
        path: Path,
        kinds: Mapping[str, Type] = STATE_KINDS,
        known: Mapping[str, Type] | None = None,
    ) -> tuple[tuple[StateField, ...], dict[str, Type]]:
        """The fields and their types; initial values may read the names in `known`."""
        fields: list[StateField] = []
        types: dict[str, Type] = {}
        for name, text in block.items():
            kind, equals, initial = (part.strip() for part in text.partition("="))
            types[name] = kinds.get(kind, COMPUTE)
            if not equals or kind not in kinds:
                wanted = " or ".join(f"`{known} = VALUE`" for known in kinds)
                self.problems.add((*path, name), f"is {text!r}", wanted)
                continue
            expr = self.checked(initial, known or {}, types[name], (*path, name))
            if expr is not None:
                fields.append(StateField(name, kind, expr))
        return tuple(fields), types

    def transition(
        self, block: Block, fields: Mapping[str, Type], names: Mapping[str, Type], path: Path
    ) -> Transition:
        types = {**names, **self.constants}
        lets: list[Statement] = []
        named = block.get("let", {})
        assert isinstance(named, Mapping)
        for name, text in named.items():
            expr = self.checked(text, types, None, (*path, "let", name))
            type_ = COMPUTE if expr is None else infer(expr, types)
            types[name] = type_
            if expr is not None:
                lets.append(Statement(name, kind_of(type_), expr))
        values: list[Expr] = []
        for name, type_ in fields.items():
            if name not in block:
                self.problems.add(path, f"no value for the field {name!r}", "a value for each field of state")
                continue
            expr = self.checked(block[name], types, type_, (*path, name))
            if expr is not None:
                values.append(expr)
        for name in block:
            if name != "let" and name not in fields:
                self.problems.add((*path, name), f"unknown field {name!r}", "fields: " + ", ".join(fields))
        return Transition(tuple(lets), tuple(values))

    def checked(self, text: object, types: Mapping[str, Type], want: Type | None, path: Path) -> Expr | None:
        expr = parse_at(text, path, self.problems)
        if expr is None:
            return None
        try:
            infer(expr, types, want)
        except FormulaError as error:
            self.problems.add(path, f"{text}: {error}")
            return None
        return expr
