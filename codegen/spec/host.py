"""The `host` block of an op: values that the host computes once a problem, in 40 digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from baracuda.codegen.formula import (
    BOOL,
    F64,
    INT,
    Expr,
    FormulaError,
    Type,
    calls,
    free_names,
    infer,
    parse,
    to_text,
)
from baracuda.codegen.problems import Path, Problems
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.model import Family, HostFormulas
from baracuda.codegen.spec.rules import condition, parse_at

#: The number of the pair, in values of a pair.
PAIR_NUMBER = "pair"

#: Functions that `baracuda.wide` or Python has for such numbers, and their spelling in a plan's module.
FUNCTIONS = {
    "abs": "abs", "max": "max", "min": "min", "pow": "power", "exp": "exp", "log": "log", "sqrt": "sqrt",
    "floor": "floor", "ceil": "ceil", "clamp": "clamp",
}  # fmt: skip

_NUMBERS: dict[str, Type] = {"f64": F64, "i64": INT, "extent": INT, "bool": BOOL}


def numbers_of(family: Family) -> dict[str, Type]:
    """The descriptor's numbers, which the formulas of the host see, with their types."""
    return {key: _NUMBERS[rule.type] for key, rule in family.descriptor.items() if rule.type in _NUMBERS}


@dataclass
class HostBuilder:
    """Collects what the host computes for one choice of options; `build` is the way in."""

    family: Family
    problems: Problems
    path: Path
    places: Mapping[Path, Path] = field(default_factory=dict)

    def build(self, block: schema.Direction, options: tuple[tuple[str, str], ...]) -> HostFormulas | None:
        """The formulas of a block, or None with every reason noted."""
        before = len(self.problems)
        replaced = [name for name, tensor in self.family.forward.items() if tensor.role == "pair"]
        types = {**numbers_of(self.family), PAIR_NUMBER: INT}
        of_pair = {PAIR_NUMBER}
        lets: dict[str, Expr] = {}
        values: dict[str, Expr] = {}
        for word in ("row", "takes", "ulp"):
            if getattr(block, word):
                self.problems.add(self._at(word), f"no {word} in what the host computes", "leave it out")
        for name, text in _in_order(block.let):
            expr = self._expr(name, text, types, self._at("let", name))
            if expr is not None:
                lets[name] = expr
                if of_pair & set(free_names(expr)):
                    of_pair.add(name)
        for name, text in block.outputs.items():
            expr = self._expr(name, text, types, self._at(name))
            if expr is None:
                continue
            values[name] = expr
            if name not in replaced and of_pair & set(free_names(expr)):
                right = "a value for each pair replaces a tensor of role pair: " + ", ".join(replaced)
                self.problems.add(self._at(name), f"{text}: follows from the number of the pair", right)
        for name in replaced:
            if name not in block.outputs:
                self.problems.add(self.path, f"no formula for {name!r}", "a value for each pair")
        require = tuple(
            rule
            for place, text in enumerate(block.require)
            if (rule := condition(text, self.family.descriptor, self._at("require", place), self.problems))
            is not None
        )
        if len(self.problems) > before:
            return None
        return HostFormulas(
            options=options,
            lets={name: expr for name, expr in lets.items() if name not in of_pair},
            scalars={name: expr for name, expr in values.items() if name not in replaced},
            pair_lets={name: expr for name, expr in lets.items() if name in of_pair},
            of_pair={name: expr for name, expr in values.items() if name in replaced},
            require=require,
            source={name: str(text) for name, text in (*block.let.items(), *block.outputs.items())},
        )

    def _at(self, *steps: str | int) -> Path:
        return self.places.get(steps, (*self.path, *steps))

    def _expr(self, name: str, text: object, types: dict[str, Type], path: Path) -> Expr | None:
        """A formula whose name is new and whose functions the host has, its type noted in `types`."""
        if name in types:
            self.problems.add(path, f"{name!r} is already a name here", "another name")
            return None
        types[name] = F64
        expr = parse_at(text, path, self.problems)
        if expr is None:
            return None
        unknown = [function for function in calls(expr) if function not in FUNCTIONS]
        if unknown:
            what = f"{to_text(expr)}: the host has no {unknown[0]} in 40 digits"
            self.problems.add(path, what, "it has " + ", ".join(FUNCTIONS))
            return None
        try:
            types[name] = infer(expr, types)
        except FormulaError as error:
            self.problems.add(path, f"{to_text(expr)}: {error}")
            return None
        return expr


def _in_order(lets: Mapping[str, object]) -> list[tuple[str, object]]:
    """Named values, each behind those that it needs: an option's stand behind those of all options."""
    waiting, ordered = dict(lets), []
    while waiting:
        ready = next(
            (name for name, text in waiting.items() if not _names(text) & (set(waiting) - {name})),
            next(iter(waiting)),
        )
        ordered.append((ready, waiting.pop(ready)))
    return ordered


def _names(text: object) -> set[str]:
    try:
        return set(free_names(parse(str(text))))
    except FormulaError:
        return set()
