"""The resolved spec: every reference followed, every formula parsed. What codegen, tests and docs read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from baracuda.codegen.formula import Expr, free_names
from baracuda.codegen.spec.names import struct_name
from baracuda.codegen.spec.schema import DescriptorField, Tensor
from baracuda.codegen.yaml_remarks import Remark

#: The default of a descriptor's number that the op's attribute gives.
OF_KIND = "kind"

#: Dtypes of integers and of truth values: their arithmetic is exact, and there are no gradients.
WHOLE_DTYPES = ("i8", "i16", "i32", "i64", "u8", "bool")
#: The dtype that formulas of a dtype compute and accumulate in.
COMPUTE = {
    "f16": "f32",
    "bf16": "f32",
    "f32": "f32",
    "f64": "f64",
    **{dtype: dtype for dtype in WHOLE_DTYPES},
}


@dataclass(frozen=True)
class StateField:
    """A field of a state: its kind (compute or i64, in a run also i32) and initial value."""

    name: str
    kind: str
    initial: Expr


@dataclass(frozen=True)
class Statement:
    """A named value of a formula, computed once: `kind` is compute, whole, wide, bool or i64."""

    name: str
    kind: str
    value: Expr


@dataclass(frozen=True)
class Transition:
    """How a state's fields come about: named sub-expressions, then a value a field, in the fields' order."""

    lets: tuple[Statement, ...]
    values: tuple[Expr, ...]


@dataclass(frozen=True)
class UsualStep:
    """A cheaper step with equal bits, tried on a pack: `fields` are what a trial has beyond the run."""

    fields: tuple[StateField, ...]
    push: Transition
    fits: Expr
    settle: Transition | None


@dataclass(frozen=True)
class RunState:
    """A lane's own state: its fields, the step for one element, and the state that it amounts to."""

    fields: tuple[StateField, ...]
    begin: Mapping[str, Expr]
    push: Transition
    close: Transition
    usual: UsualStep | None


@dataclass(frozen=True)
class Monoid:
    """An aggregate, ready to render. It has a lift or a run."""

    name: str
    doc: str
    of: str
    constants: Mapping[str, Mapping[str, float]]
    fields: tuple[StateField, ...]
    lift: Transition | None
    run: RunState | None
    merge: Transition
    derived: tuple[Statement, ...]
    value: Statement | None
    numpy: str | None

    @property
    def struct(self) -> str:
        """The name of its C++ struct."""
        return struct_name(self.name)

    def readable(self) -> dict[str, str]:
        """What formulas read of a state by name, with its kind: fields, constants and derived values."""
        return {
            **{field.name: field.kind for field in self.fields},
            **dict.fromkeys(self.constants, "compute"),
            **{statement.name: statement.kind for statement in self.derived},
        }


@dataclass(frozen=True)
class Aggregate:
    """One aggregate of a row: `monoid` over the values of `operand`, known to formulas as `name`.

    `fields` are the parts of its state that formulas read, by the names under which they do.
    """

    name: str
    monoid: Monoid
    operand: Expr
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AttributeValue:
    """A value that the host folds in double precision and hands to the kernel: made of attributes.

    `kind` is compute, f64, wide (a double that formulas compute with in double), i64 or bool.
    """

    name: str
    kind: str
    value: Expr


@dataclass(frozen=True)
class Attribute:
    """A run-time scalar of an op: the descriptor's field that holds it, and what its value must satisfy.

    One that is `wide` stays a double in the kernel.
    """

    name: str
    source: str
    require: Expr | None
    default: float | None = None
    wide: bool = False


@dataclass(frozen=True)
class Program:
    """The formulas of one direction of an op with its options decided.

    Attributes:
        stem: name of its file and of its symbols.
        options: the options and their values.
        inputs: tensors read at each element.
        row_inputs: tensors read once a row.
        outputs: tensors written at each element.
        row_outputs: tensors written once a row.
        attributes: what the host folds, in the order of the kernel's struct.
        folded_lets: named values that the kernel lacks and that several of these follow from.
        known_lets: named values that follow from what is read once a row alone.
        known_values: those of them, and of `row_inputs`, that the aggregates' operands read, by kind.
        lift_lets: named values of the element that the aggregates' operands follow from.
        aggregates: the row's aggregates.
        row_lets: named values of the row.
        row_values: row values that the element formulas read, by kind.
        lets: named values of the element.
        results: formulas of `outputs`.
        row_results: formulas of `row_outputs`.
        takes: saved tensors that the contract asks for.
        require: what the descriptor must satisfy.
        source: every formula as the spec writes it.
        column_inputs: those of `inputs` that have an element a column, the last ones.
        flags: those of `inputs` that are bool, the last ones.
        absent: the value of each of `inputs` that may be None.
        column_outputs: tensors with an element a column, each the sum of its formula over the rows.
        column_lets: named values of the element that their formulas need.
        column_results: formulas of `column_outputs`.
        ulp: error bounds a dtype, where they are not the op's.
        packs: of 16 bytes that a thread of a contiguous map takes.
        half_packs: the same for elements of 16 bits.
        number: what formulas see of elements: compute, or whole where all dtypes are those of integers.
        remarks: the spec's comments of formulas, by their names, and of the direction, by no name.
    """

    direction: str
    stem: str
    options: tuple[tuple[str, str], ...]
    inputs: tuple[str, ...]
    row_inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    row_outputs: tuple[str, ...]
    attributes: tuple[AttributeValue, ...]
    lift_lets: tuple[Statement, ...]
    aggregates: tuple[Aggregate, ...]
    row_lets: tuple[Statement, ...]
    row_values: Mapping[str, str]
    lets: tuple[Statement, ...]
    results: tuple[Statement, ...]
    row_results: tuple[Statement, ...]
    takes: Mapping[str, str]
    require: tuple[Expr, ...]
    source: Mapping[str, str]
    folded_lets: tuple[AttributeValue, ...] = ()
    column_inputs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    absent: Mapping[str, float] = field(default_factory=dict)
    column_outputs: tuple[str, ...] = ()
    column_lets: tuple[Statement, ...] = ()
    column_results: tuple[Statement, ...] = ()
    known_lets: tuple[Statement, ...] = ()
    known_values: Mapping[str, str] = field(default_factory=dict)
    ulp: Mapping[str, float] = field(default_factory=dict)
    packs: int = 1
    half_packs: int = 1
    number: str = "compute"
    remarks: Mapping[str, Remark] = field(default_factory=dict)

    @property
    def written(self) -> tuple[str, ...]:
        """Every tensor that it writes."""
        return self.outputs + self.row_outputs + self.column_outputs

    @property
    def read(self) -> tuple[str, ...]:
        """Every tensor that it reads."""
        return self.inputs + self.row_inputs


@dataclass(frozen=True)
class HostFormulas:
    """What the host computes for one choice of the options that it depends on.

    Attributes:
        options: the options and their values.
        lets: named values that are the same for every pair.
        scalars: the numbers that a kernel gets, by name.
        pair_lets: named values of a pair.
        of_pair: each pair's values that a kernel gets, by the name of the tensor that replaces them.
        require: what the descriptor must satisfy.
        source: every formula as the spec writes it.
    """

    options: tuple[tuple[str, str], ...]
    lets: Mapping[str, Expr]
    scalars: Mapping[str, Expr]
    pair_lets: Mapping[str, Expr]
    of_pair: Mapping[str, Expr]
    require: tuple[Expr, ...]
    source: Mapping[str, str]


@dataclass(frozen=True)
class Pairs:
    """Which elements of the innermost axis are pairs: the descriptor's extent of them, and where they lie."""

    extent: str
    place: str


@dataclass(frozen=True)
class SumTileSet:
    """The tiles of attention's sums: rows, depth and stages, and the warps by rows, columns and depth."""

    rows: int
    depth: int
    stages: int
    down: int
    across: int
    split: int


@dataclass(frozen=True)
class Halves:
    """The descriptor's fields with the axis along which tensors hold two others, and with their order."""

    axis: str
    swapped: str


@dataclass(frozen=True)
class TileSet:
    """The tiles of attention, of one dtype: head sizes with a kernel each, queries, keys, rows of a warp.

    `scores` are the keys that a block takes at once where it sums nothing over them, `sums` the tiles of
    sums.
    """

    heads: tuple[int, ...]
    queries: int
    keys: int
    rows: int
    scores: int
    sums: SumTileSet


@dataclass(frozen=True)
class Family:
    """A kernel shape with its plan classes.

    `template` names the shipped template whose variants and launches its kernels have; `own_template` is the
    file of another text for them, where the spec brings one.
    """

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
    own_template: Path | None = None
    default_kind: str | None = None
    pairs: Pairs | None = None
    shapes: Mapping[str, tuple[Expr, ...]] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ()
    ulp: Mapping[str, float] = field(default_factory=dict)
    sum_ulp: Mapping[str, float] = field(default_factory=dict)
    tiles: Mapping[str, TileSet] = field(default_factory=dict)
    halves: Halves | None = None

    def class_stem(self, direction: str) -> str:
        """What the names of a direction's classes begin with."""
        return self.plan if direction == "forward" else f"{self.plan}Backward"

    def tensors(self, direction: str) -> Mapping[str, Tensor]:
        """The tensor arguments of a direction, in order."""
        return self.forward if direction == "forward" else self.backward

    def fields(self, direction: str) -> Mapping[str, DescriptorField]:
        """The fields that the descriptor of a direction has."""
        return {name: rule for name, rule in self.descriptor.items() if rule.only in (None, direction)}

    def numbers_of_kinds(self) -> tuple[str, ...]:
        """The descriptor's fields that only some kinds have, each with a default of its own."""
        return tuple(name for name, rule in self.descriptor.items() if rule.default == OF_KIND)

    def requirements(self, direction: str) -> list[Expr]:
        """The conditions on the descriptor of a direction: those about fields that it has."""
        fields = self.fields(direction)
        return [rule for rule in self.require if {*free_names(rule)} <= {*fields}]

    def result(self, direction: str) -> str | None:
        """What decides the dtype of a map's outputs: None for the element's, their own, or a target field."""
        return next((t.dtype for t in self.tensors(direction).values() if t.io == "out"), None)

    def target(self) -> str | None:
        """The descriptor's field that decides the dtype of the outputs, if it has one."""
        return next((name for name, rule in self.descriptor.items() if rule.type == "target"), None)

    def plan_class(self, direction: str) -> str:
        """The name of the plan class of a direction."""
        return f"{self.class_stem(direction)}Plan"


@dataclass(frozen=True)
class Op:
    """One op with its programs and its independent reference.

    `programs` holds one a direction, with every option at its default; `alternatives` those of other values.
    """

    name: str
    doc: str
    family: Family
    kind: str
    dtypes: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    options: Mapping[str, tuple[str, ...]]
    samples: Mapping[str, tuple[float, ...]]
    programs: Mapping[str, Program]
    alternatives: tuple[Program, ...]
    ref_lets: Mapping[str, str]
    ref: Mapping[str, str]
    ulp: Mapping[str, float]
    scale: Mapping[str, Expr]
    holds: Mapping[str, Expr]
    line: int = field(default=0, compare=False)
    names: Mapping[str, str] = field(default_factory=dict)
    host: tuple[HostFormulas, ...] = ()
    tiles: Mapping[str, TileSet] = field(default_factory=dict)

    def requirements(self, direction: str) -> list[Expr]:
        """The conditions that this op adds to its family's in a direction."""
        fields = self.family.fields(direction)
        of_attributes = [a.require for a in self.attributes if a.require is not None and a.source in fields]
        return [*of_attributes, *self.programs[direction].require]

    def dtypes_of(self, direction: str) -> tuple[str, ...]:
        """The dtypes that a direction has: a gradient those of floats alone."""
        return tuple(d for d in self.dtypes if direction == "forward" or d not in WHOLE_DTYPES)

    def bounds(self, direction: str) -> dict[str, float]:
        """The error bounds of a direction, a dtype."""
        return {**self.ulp, **self.programs[direction].ulp}

    def folded_attributes(self, program: Program) -> tuple[Attribute, ...]:
        """The attributes that what the host folds for a program's kernel follows from."""
        values = (*program.folded_lets, *program.attributes)
        read = {name for value in values for name in free_names(value.value)}
        return tuple(attribute for attribute in self.attributes if attribute.name in read)

    def is_narrowed(self, attribute: Attribute, program: Program) -> bool:
        """Whether formulas take a number of the descriptor in the compute type."""
        is_number = self.family.descriptor[attribute.source].type == "f64" and not attribute.wide
        return is_number and attribute in self.folded_attributes(program)

    def host_options(self) -> tuple[str, ...]:
        """The options on which no kernel depends: the host decides by them what it computes or launches."""
        of_kernels = {name for program in self.all_programs() for name, _ in program.options}
        return tuple(name for name in self.options if name not in of_kernels)

    def all_programs(self) -> tuple[Program, ...]:
        """Every program, those of default options first."""
        return (*self.programs.values(), *self.alternatives)

    def stem(self, direction: str) -> str:
        """The name that a direction's file and symbols carry."""
        return self.programs[direction].stem if direction in self.programs else stem_of(self.name, direction)


def stem_of(op: str, direction: str, options: tuple[str, ...] = ()) -> str:
    """The name of a program's file and symbols; `options` are the values that are not the defaults."""
    return "_".join((op, *(("backward",) if direction == "backward" else ()), *options))


@dataclass(frozen=True)
class Spec:
    """A whole spec. One that extends another has its dtype sets, monoids and families too, not its ops."""

    path: Path
    monoids: Mapping[str, Monoid]
    families: Mapping[str, Family]
    ops: Mapping[str, Op]
    dtypes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: The file's text; a pipe cannot be read a second time.
    text: str = ""

    def categories(self) -> dict[str, list[Family]]:
        """Families that have ops, by category, in the order of the file."""
        found: dict[str, list[Family]] = {}
        used = {op.family.name for op in self.ops.values()}
        for family in self.families.values():
            if family.name in used:
                found.setdefault(family.category, []).append(family)
        return found
