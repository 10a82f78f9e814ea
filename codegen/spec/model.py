"""The resolved spec: every reference followed, every formula parsed. What codegen, tests and docs read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from baracuda.codegen.formula import Expr
from baracuda.codegen.spec.schema import DescriptorField, Tensor

#: The dtype that formulas of a dtype compute and accumulate in.
COMPUTE = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64"}

#: C++ kinds of a value in a kernel: the compute type, a truth value, a 64-bit integer.
VALUE_KINDS = ("compute", "bool", "i64")


@dataclass(frozen=True)
class StateField:
    """A field of a monoid's state: its kind (compute or i64), identity, lift and merge."""

    name: str
    kind: str
    identity: Expr
    lift: Expr
    merge: Expr


@dataclass(frozen=True)
class Statement:
    """A named value of a formula, computed once: `kind` is one of VALUE_KINDS."""

    name: str
    kind: str
    value: Expr


@dataclass(frozen=True)
class Monoid:
    """An aggregate, ready to render."""

    name: str
    doc: str
    fields: tuple[StateField, ...]
    lift_lets: tuple[Statement, ...]
    merge_lets: tuple[Statement, ...]
    value: Expr | None

    @property
    def struct(self) -> str:
        """The name of its C++ struct."""
        return "".join(part.capitalize() for part in self.name.split("_"))


@dataclass(frozen=True)
class Aggregate:
    """One aggregate of a row: `monoid` over the values of `operand`, known to formulas as `name`."""

    name: str
    monoid: Monoid
    operand: Expr


@dataclass(frozen=True)
class AttributeValue:
    """A value that the host folds in double precision and hands to the kernel: an attribute or what follows from some."""

    name: str
    kind: str
    value: Expr


@dataclass(frozen=True)
class Attribute:
    """A run-time scalar of an op: the descriptor's field that holds it, and what its value must satisfy."""

    name: str
    source: str
    require: Expr | None


@dataclass(frozen=True)
class Program:
    """The formulas of one direction of an op, in the order in which they are computed."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[AttributeValue, ...]
    lift_lets: tuple[Statement, ...]
    aggregates: tuple[Aggregate, ...]
    lets: tuple[Statement, ...]
    results: tuple[Statement, ...]
    takes: Mapping[str, str]
    source: Mapping[str, str]


@dataclass(frozen=True)
class Family:
    """A kernel shape with its plan classes."""

    name: str
    doc: str
    template: str
    category: str
    plan: str
    kind: str
    domain: str
    axes: str | None
    descriptor: Mapping[str, DescriptorField]
    require: tuple[Expr, ...]
    contraction: bool
    forward: Mapping[str, Tensor]
    backward: Mapping[str, Tensor]

    def tensors(self, direction: str) -> Mapping[str, Tensor]:
        """The tensor arguments of a direction, in order."""
        return self.forward if direction == "forward" else self.backward

    def plan_class(self, direction: str) -> str:
        """The name of the plan class of a direction."""
        return f"{self.plan}Plan" if direction == "forward" else f"{self.plan}BackwardPlan"


@dataclass(frozen=True)
class Op:
    """One op with its programs and its independent reference."""

    name: str
    doc: str
    family: Family
    kind: str
    dtypes: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    programs: Mapping[str, Program]
    ref: Mapping[str, str]
    ulp: Mapping[str, float]
    scale: Mapping[str, Expr]
    line: int = field(default=0, compare=False)

    def stem(self, direction: str) -> str:
        """The name that a direction's file and symbols carry."""
        return self.name if direction == "forward" else f"{self.name}_backward"


@dataclass(frozen=True)
class Spec:
    """A whole spec."""

    path: Path
    monoids: Mapping[str, Monoid]
    families: Mapping[str, Family]
    ops: Mapping[str, Op]

    def categories(self) -> dict[str, list[Family]]:
        """Families that have ops, by category, in the order of the file."""
        found: dict[str, list[Family]] = {}
        used = {op.family.name for op in self.ops.values()}
        for family in self.families.values():
            if family.name in used:
                found.setdefault(family.category, []).append(family)
        return found
