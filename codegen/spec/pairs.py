"""Families of pairs (template rotate): what their tensors must be, and their programs.

A formula of such a family sees the elements of a pair as `x.first` and `x.second`, gives an output as
`pair(FIRST, SECOND)`, and takes the sine and cosine of an angle, which is the product of the position with a
value of the pair. What follows from angles and numbers alone is computed in double, once for a position and a
pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from baracuda.codegen.formula import (
    COMPUTE,
    F64,
    STATE,
    Binary,
    Call,
    Expr,
    FormulaError,
    Name,
    Type,
    calls,
    free_names,
    infer,
    to_text,
    walk,
)
from baracuda.codegen.problems import Path, Problems, suggest
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.model import Attribute, AttributeValue, Family, HostFormulas, Program, Statement
from baracuda.codegen.spec.rules import condition, parse_at
from baracuda.codegen.spec.scope import ATTRIBUTE_TYPES, kind_of

TEMPLATE = "rotate"

#: Where the elements of a pair may lie: values of the option that `pairs` names.
PLACES = ("interleaved", "half")

#: The dtype that a tensor of a role must have; others have the descriptor's.
ROLE_DTYPES = {"position": "i64", "pair": "f64"}

#: What makes an output of two formulas.
PAIR = "pair"

_RANK = 4


def check_tensors(entry: schema.Family, path: Path, problems: Problems) -> None:
    """Note what is wrong with the roles, dtypes and numbers of a family's tensors."""
    rotates = TEMPLATE in (entry.template, entry.engine)
    if rotates != (entry.pairs is not None):
        right = "pairs: {extent: ..., place: ...}" if rotates else f"template: {TEMPLATE}"
        problems.add((*path, "pairs"), f"pairs belong to the template {TEMPLATE}, and it needs them", right)
        return
    for direction, tensors in (("forward", entry.forward), ("backward", entry.backward)):
        for key, tensor in tensors.items():
            _check_tensor(tensor, rotates, (*path, direction, key), problems)
        if rotates and tensors:
            _check_numbers(tensors, (*path, direction), problems)


def _check_tensor(tensor: schema.Tensor, rotates: bool, path: Path, problems: Problems) -> None:
    if tensor.role in ROLE_DTYPES and not rotates:
        problems.add(
            (*path, "role"), f"{tensor.role} is a role in families of pairs", "element, row or column"
        )
    wanted = ROLE_DTYPES.get(tensor.role)
    if tensor.dtype != wanted and (rotates or wanted or tensor.dtype in ROLE_DTYPES.values()):
        right = f"dtype: {wanted}" if wanted else "leave it out: it has the descriptor's"
        problems.add((*path, "dtype"), f"a tensor of role {tensor.role} has the dtype {tensor.dtype}", right)
    if wanted and not (tensor.io == "in" and tensor.optional):
        problems.add(path, f"a tensor of role {tensor.role} is an input that may lack", "optional: true")
    if isinstance(tensor.shape, list) and tensor.role not in ("position", "column"):
        problems.add(
            (*path, "shape"),
            "several shapes",
            "one: only a tensor of role position or column may have others",
        )
    if rotates and wanted is None and tensor.layout != "inner":
        problems.add((*path, "layout"), f"the template {TEMPLATE} takes layout inner alone", "layout: inner")


def _check_numbers(tensors: Mapping[str, schema.Tensor], path: Path, problems: Problems) -> None:
    kinds = [tensor.role if tensor.role in ROLE_DTYPES else tensor.io for tensor in tensors.values()]
    if sorted(kinds) != ["in", "out", "pair", "position"]:
        right = "one input, one output, one tensor of role position and one of role pair"
        problems.add(path, f"the template {TEMPLATE} is given {', '.join(kinds)}", right)


def check_domain(entry: schema.Family, path: Path, problems: Problems) -> None:
    """Note a domain that the kernels of pairs do not walk."""
    parts = entry.shapes.get(entry.domain)
    names = [part for part in parts or () if part in entry.descriptor]
    if entry.pairs is not None and (parts is None or len(parts) != _RANK or len(names) != _RANK):
        right = "the batch, the planes of a position, the positions, the elements"
        problems.add((*path, "domain"), f"the template {TEMPLATE} walks four extents", right)


@dataclass
class PairBuilder:
    """Collects one program of a family of pairs; `build` is the way in."""

    family: Family
    direction: str
    attributes: tuple[Attribute, ...]
    host: tuple[HostFormulas, ...]
    problems: Problems
    path: Path
    places: Mapping[Path, Path] = field(default_factory=dict)

    def build(
        self, block: schema.Direction, stem: str, options: tuple[tuple[str, str], ...]
    ) -> Program | None:
        """The program of a block, or None with every reason noted."""
        before = len(self.problems)
        tensors = self.family.tensors(self.direction)
        roles: dict[str, str] = {
            tensor.role if tensor.role in ROLE_DTYPES else tensor.io: name for name, tensor in tensors.items()
        }
        given, result = roles["in"], roles["out"]
        shared: dict[str, Type] = dict.fromkeys(self.host[0].scalars, F64)
        shared |= {a.name: ATTRIBUTE_TYPES[self.family.descriptor[a.source].type] for a in self.attributes}
        numbers = list(shared)
        angles: list[str] = []
        types: dict[str, Type] = {given: STATE({"first": COMPUTE, "second": COMPUTE})}
        lets: list[Statement] = []
        shared_lets: list[Statement] = []
        for word in ("row", "takes"):
            if getattr(block, word):
                self.problems.add(self._at(word), f"no {word} in a family of pairs", "leave it out")
        for name, text in block.let.items():
            where = self._at("let", name)
            if name in {*types, *shared, *angles, *roles.values()}:
                self.problems.add(where, f"{name!r} is already a name here", "another name")
                continue
            expr = parse_at(text, where, self.problems)
            if expr is None or self._is_angle(expr, roles):
                angles.append(name)
            elif set(free_names(expr)) <= {*shared, *angles}:
                type_ = self._typed(expr, {**shared, **dict.fromkeys(angles, F64)}, angles, where)
                shared[name] = type_ or F64
                shared_lets.append(
                    Statement(name, "f64" if shared[name] == F64 else kind_of(shared[name]), expr)
                )
            else:
                types[name] = (
                    self._typed(expr, _of_elements(types, shared, numbers), angles, where) or COMPUTE
                )
                lets.append(Statement(name, kind_of(types[name]), expr))
        element = _of_elements(types, shared, numbers)
        results: list[Statement] = []
        for name, text in block.outputs.items():
            where = self._at(name)
            if name != result:
                right = suggest(name, [result]) or f"one of {result}"
                self.problems.add(where, f"unknown output {name!r}", right)
                continue
            expr = parse_at(text, where, self.problems)
            if expr is None:
                continue
            if not (isinstance(expr, Call) and expr.name == PAIR and len(expr.args) == 2):
                self.problems.add(where, f"{to_text(expr)}: an output is a pair", "pair(FIRST, SECOND)")
                continue
            for part, value in zip(("first", "second"), expr.args, strict=True):
                self._typed(value, element, angles, where, COMPUTE)
                results.append(Statement(f"{result}.{part}", "compute", value))
        if result not in block.outputs:
            self.problems.add(self.path, f"no formula for {result!r}", f"the {self.direction} gives {result}")
        if len(self.problems) > before:
            return None
        if not angles:
            self.problems.add(self.path, "no angle", f"let: {{angle: {roles['position']} * {roles['pair']}}}")
            return None
        # Only what a formula of the element reads is kept for it.
        read = {name for s in (*lets, *results) for name in free_names(s.value)}
        used = {*read, *(name for s in shared_lets for name in free_names(s.value))}
        kept = {
            name: "f64" if kind == F64 else kind_of(kind)
            for name, kind in shared.items()
            if name in read and name not in numbers
        }
        attributes = tuple(
            AttributeValue(name, "f64" if shared[name] == F64 else "i64", Name(name))
            for name in numbers
            if name in used and name not in self.host[0].scalars
        )
        return Program(
            direction=self.direction,
            stem=stem,
            options=options,
            inputs=(given,),
            row_inputs=(roles["position"], roles["pair"]),
            outputs=(result,),
            row_outputs=(),
            attributes=attributes,
            lift_lets=(),
            aggregates=(),
            row_lets=tuple(shared_lets),
            row_values=kept,
            lets=tuple(lets),
            results=tuple(results),
            row_results=(),
            takes={},
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

    @staticmethod
    def _is_angle(expr: Expr, roles: Mapping[str, str]) -> bool:
        return expr == Binary("*", Name(roles["position"]), Name(roles["pair"]))

    def _typed(
        self,
        expr: Expr,
        types: Mapping[str, Type],
        angles: Sequence[str],
        path: Path,
        want: Type | None = None,
    ) -> Type | None:
        """The type of a formula in which angles stand in their sine and cosine alone; None: noted."""
        allowed = [
            node.args[0] for node in walk(expr) if isinstance(node, Call) and node.name in ("sin", "cos")
        ]
        for node in walk(expr):
            if isinstance(node, Name) and node.name in angles and not any(node is arg for arg in allowed):
                right = f"sin({node.name}) or cos({node.name})"
                self.problems.add(path, f"{to_text(expr)}: {node.name!r} is an angle", right)
                return None
        try:
            return infer(expr, types, want)
        except FormulaError as error:
            self.problems.add(path, f"{to_text(expr)}: {error}")
            return None


def _of_elements(
    types: Mapping[str, Type], shared: Mapping[str, Type], numbers: Sequence[str]
) -> dict[str, Type]:
    """The types of names in formulas of elements, where what positions share has the compute type."""
    rounded = {
        name: COMPUTE if type_ == F64 and name not in numbers else type_ for name, type_ in shared.items()
    }
    return {**rounded, **types}


def angle_names(program: Program) -> list[str]:
    """What the formulas call the angle."""
    texts = {name: text.replace(" ", "") for name, text in program.source.items()}
    return [name for name, text in texts.items() if text == "*".join(program.row_inputs)]


def uses_own_trigonometry(program: Program) -> bool:
    """Whether sines and cosines are those of angles alone, which are made of IEEE operations."""
    return all(not {"sin", "cos"} & set(calls(s.value)) for s in (*program.lets, *program.results))
