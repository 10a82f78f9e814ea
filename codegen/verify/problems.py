"""Problems of an op: descriptors made from the types of their fields, whatever the op is called."""

from __future__ import annotations

import functools
import hashlib
import importlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from baracuda.codegen.formula import Name, to_text
from baracuda.codegen.spec.halves import wholes, with_wholes
from baracuda.codegen.spec.idle import idle_fields, idle_with, read_on_host
from baracuda.codegen.spec.model import COMPUTE, Attribute, Op, Program, Spec
from baracuda.codegen.verify.floats import integer_range, is_whole

Shape = tuple[int, ...]

#: The package of the generated plans; a user's own spec has another.
GENERATED = "baracuda.generated"

#: Of domains with four extents: rows, elements of a row at most, and elements of a longer one, folded.
_MOST_ROWS, _LONGEST, _FOLDED = 64, 1200, 600

#: Elements of a head: no multiples of anything, one, several parts, none.
HEAD_SIZES: Sequence[Mapping[str, int]] = (
    {"d_k": 8, "d_v": 16},
    {"d_k": 5, "d_v": 3},
    {"d_k": 33, "d_v": 70},
    {"d_k": 1, "d_v": 1},
    {"d_k": 20, "d_v": 7},
)
#: The same for domains of few elements, where numerical derivatives move every one.
SMALL_HEAD_SIZES: Sequence[Mapping[str, int]] = (
    {"d_k": 2, "d_v": 3},
    {"d_k": 3, "d_v": 1},
    {"d_k": 1, "d_v": 2},
    {"d_k": 2, "d_v": 2},
)
_FEW = 64

#: Values of numeric fields for ops that name none in `samples`, by the field's type.
SAMPLES: Mapping[str, tuple[float, ...]] = {"f64": (0.25, 0.0, 1.0, -0.5, 1.7), "i64": (1, 0, 2)}


@dataclass(frozen=True)
class Problem:
    """One descriptor of one op, in one direction and dtype.

    Attributes:
        op: the op.
        direction: "forward" or "backward".
        dtype: the element kind.
        fields: every field of the descriptor but its kind and element.
        package: the package of the generated plans.
    """

    op: Op
    direction: str
    dtype: str
    fields: Mapping[str, Any] = field(hash=False)
    package: str = GENERATED

    def __str__(self) -> str:
        fields = ",".join(f"{name}={value}" for name, value in self.fields.items())
        return f"{self.op.stem(self.direction)}/{self.dtype} {fields}".replace(" ", "")

    @functools.cached_property
    def domain(self) -> Shape:
        """The extents that the kernels run over."""
        domain = self.op.family.domain
        shape: Shape = self.fields[domain] if domain in self.fields else getattr(self.descriptor(), domain)
        return shape

    @property
    def axes(self) -> Shape:
        """The aggregated axes, ascending; none where the family has none."""
        axes: Shape = self.fields[self.op.family.axes] if self.op.family.axes else ()
        return axes

    @property
    def options(self) -> dict[str, str]:
        """The op's options and their values here."""
        return {name: str(self.fields.get(name, values[0])) for name, values in self.op.options.items()}

    @functools.cached_property
    def program(self) -> Program:
        """The formulas that serve it."""
        return program_of(self.op, self.direction, self.options)

    @property
    def ulp(self) -> dict[str, float]:
        """The error bounds of its direction, a dtype; wider where it sums over broadcast axes."""
        bounds = self.op.bounds(self.direction)
        more = self.op.family.sum_ulp if self.op.family.template == "map" and self.summed() else {}
        return {dtype: bound + more.get(dtype, 0) for dtype, bound in bounds.items()}

    @property
    def plan_class(self) -> Any:
        """The generated plan class."""
        return plan_class(self.op.family.plan_class(self.direction), self.package)

    def descriptor(self, **changes: Any) -> Any:
        """The descriptor, with fields changed by name."""
        return self._described(changes) if changes else self._descriptor

    @functools.cached_property
    def _descriptor(self) -> Any:
        return self._described({})

    def _described(self, changes: Mapping[str, Any]) -> Any:
        fields = {"kind": self.op.kind.lower(), "element": self.dtype, **self.fields, **changes}
        names = self.plan_class.DESCRIPTOR.RULES
        return self.plan_class.DESCRIPTOR(**{name: fields[name] for name in names if name in fields})

    def with_domain(self, shape: Shape) -> Problem:
        """The problem over another domain; what follows from an extent follows again."""
        extents = _domain_extents(self.op)
        if not extents:
            return self.with_fields(**{self.op.family.domain: shape})
        return self.with_fields(**dict(zip(extents, shape, strict=True)))

    def dtype_of(self, name: str) -> str:
        """The element kind of a tensor: its own where the spec gives it one."""
        for direction in (self.direction, "forward"):
            tensor = self.op.family.tensors(direction).get(name)
            if tensor is None:
                continue
            rule = self.op.family.descriptor.get(str(tensor.dtype))
            if rule is None:
                return tensor.dtype or self.dtype
            if rule.type == "target":
                return str(self.fields[str(tensor.dtype)])
            storage = self.fields.get(str(tensor.dtype), rule.default)
            return COMPUTE[self.dtype] if storage == "compute" else self.dtype
        return self.dtype

    def takes_inner(self, name: str) -> bool:
        """Whether a tensor's innermost stride must be 1."""
        return self.op.family.tensors(self.direction)[name].layout == "inner"

    def takes_contiguous(self, name: str) -> bool:
        """Whether a tensor must lie in C order without gaps."""
        return self.op.family.tensors(self.direction)[name].layout == "contiguous"

    def bound_axes(self) -> Shape:
        """Domain axes along which a result depends on other elements, or on how many there are."""
        if self.op.family.tiles:
            # Heads share keys; which keys a query sees may follow from its number.
            return (1, 3) if self.fields.get("causal", "none") == "none" else (1, 2, 3)
        if self.halved_axis is not None:
            return (self.halved_axis,)
        return (len(self.domain) - 1,) if self.op.family.pairs is not None else self.axes

    def place_of(self, name: str, shape: Shape, axis: int) -> int | None:
        """The axis of a tensor of this shape that is the domain's `axis`; None where it has none."""
        rules = {**self.op.family.forward, **self.op.family.tensors(self.direction)}
        texts, extents = rules[name].shape, _domain_extents(self.op)
        if not extents or rules[name].role == "mask":
            own = axis - (len(self.domain) - len(shape))
            return own if own >= 0 and shape[own] == self.domain[axis] else None
        for text in [texts] if isinstance(texts, str) else texts:
            parts = [to_text(part) for part in self.op.family.shapes[text]]
            if len(parts) == len(shape):
                return parts.index(extents[axis]) if extents[axis] in parts else None
        return None

    def other_shapes(self) -> dict[str, tuple[Shape, ...]]:
        """Further shapes that a tensor may have."""
        found: dict[str, tuple[Shape, ...]] = self.plan_class.other_shapes(self.descriptor())
        return found

    def with_direction(self, direction: str) -> Problem:
        """The same problem in the other direction."""
        return self if direction == self.direction else self._turned

    @functools.cached_property
    def _turned(self) -> Problem:
        return replace(self, direction="backward" if self.direction == "forward" else "forward")

    def numbers(self) -> dict[str, Any]:
        """The op's numbers by the names that formulas have for them, as the compute type has them."""
        return {a.name: self.as_computed(a, self.fields[a.source]) for a in self.op.attributes}

    def as_computed(self, attribute: Attribute, value: Any) -> Any:
        """The value of an attribute as kernels take it."""
        program = self.op.programs[self.direction]
        if COMPUTE[self.dtype] != "f32" or not self.op.is_narrowed(attribute, program):
            return value
        if not isinstance(value, float | np.longdouble):
            return value
        with np.errstate(over="ignore"):  # what is beyond f32 is an infinity
            return type(value)(np.float32(value))

    def with_fields(self, **changes: Any) -> Problem:
        """The problem with fields changed by name."""
        return replace(self, fields={**self.fields, **changes})

    def shapes(self, direction: str | None = None) -> dict[str, Shape]:
        """The shapes of the tensors of a direction, this problem's own by default."""
        problem = self if direction is None else self.with_direction(direction)
        return dict(problem._shapes)

    @functools.cached_property
    def _shapes(self) -> dict[str, Shape]:
        found = self.plan_class.shapes(self.descriptor())
        return {name: shape for name, (shape, _) in found.items()}

    def tensors(self, direction: str | None = None) -> tuple[str, ...]:
        """The tensors that the op's plan takes in a direction, required and optional, in the plan's order."""
        return self._tensors if direction is None else self.with_direction(direction)._tensors

    @functools.cached_property
    def _tensors(self) -> tuple[str, ...]:
        program, tensors = self.program, self.op.family.tensors(self.direction)
        known = with_wholes({*program.read, *program.takes, *program.written}, tensors)
        # Without those whose condition does not hold.
        found = self.plan_class.conditions(self.descriptor())
        known -= {name for name, (holds, _) in found.items() if not holds}
        return tuple(name for name in tensors if name in known)

    def halves(self) -> dict[str, tuple[str, ...]]:
        """The tensors of both directions that hold two others, with these in the order of their places."""
        family = self.op.family
        if family.halves is None or not self.fields[family.halves.axis]:
            return {}
        found = wholes({**family.forward, **family.backward})
        swapped = self.fields.get(family.halves.swapped, False)
        return {name: held[::-1] if swapped else held for name, held in found.items()}

    @property
    def halved_axis(self) -> int | None:
        """The axis along which tensors hold two others; None where none do."""
        return self.fields[self.op.family.halves.axis][0] if self.op.family.halves and self.halves() else None

    def inputs(self, direction: str | None = None) -> tuple[str, ...]:
        """Those of `tensors` that are read."""
        rules = self.op.family.tensors(direction or self.direction)
        return tuple(name for name in self.tensors(direction) if rules[name].io == "in")

    def outputs(self, direction: str | None = None) -> tuple[str, ...]:
        """Those of `tensors` that are written."""
        rules = self.op.family.tensors(direction or self.direction)
        return tuple(name for name in self.tensors(direction) if rules[name].io == "out")

    def optional(self) -> tuple[str, ...]:
        """Those of `tensors` that a caller may leave out."""
        rules, takes = self.op.family.tensors(self.direction), self.program.takes
        return tuple(
            name
            for name in self.tensors()
            if takes.get(name) == "optional" or (rules[name].optional and name not in takes)
        )

    def summed(self) -> tuple[str, ...]:
        """Outputs that lack some of the domain's elements: gradients of broadcast operands, or of columns."""
        if self.op.family.template != "map":
            return tuple(name for name in self.program.column_outputs if name in self.outputs())
        return tuple(name for name in self.outputs() if self.lacking(name))

    def lacking(self, name: str) -> Shape:
        """Axes of the domain that a tensor lacks, or has with extent 1."""
        if name in self.program.column_outputs:
            return tuple(axis for axis in range(len(self.domain)) if axis not in self.axes)
        if name in self.halves():
            return ()
        shape = self.shapes()[name]
        padded = (1,) * (len(self.domain) - len(shape)) + shape
        return tuple(axis for axis, extent in enumerate(self.domain) if padded[axis] != extent)

    def is_valid(self) -> bool:
        """Whether `select` would take the descriptor."""
        from baracuda.errors import BaracudaError

        try:
            desc = self.descriptor()
            desc.check()
        except BaracudaError:
            return False
        return next(iter(self.plan_class.violations(desc)), None) is None


@functools.lru_cache(maxsize=512)
def plan_class(name: str, package: str = GENERATED) -> Any:
    """A generated class by its name."""
    module = importlib.import_module(f"{package}.plans").MODULES[name]
    return getattr(importlib.import_module(f"{package}.plans.{module}"), name)


def program_of(op: Op, direction: str, options: Mapping[str, str]) -> Program:
    """The program of an op for a direction and values of its options."""
    for program in op.all_programs():
        if program.direction == direction and all(
            options.get(key) == value for key, value in program.options
        ):
            return program
    raise KeyError(f"{op.name} has no {direction} for {dict(options)}")


def directions(op: Op) -> tuple[str, ...]:
    """The directions that an op has."""
    return tuple(op.programs)


def each_op(spec: Spec) -> Iterator[tuple[Op, str, str]]:
    """Every op with each of its directions and dtypes, in the order of the file."""
    for op in spec.ops.values():
        for direction in op.programs:
            for dtype in op.dtypes_of(direction):
                yield op, direction, dtype


def problems(
    op: Op,
    direction: str,
    dtype: str,
    shapes: Sequence[Shape],
    *,
    broadcast: bool = False,
    every_option: bool = True,
    package: str = GENERATED,
) -> list[Problem]:
    """Problems over some domains: every choice of axes and options, numbers in turn.

    Args:
        op: the op.
        direction: "forward" or "backward".
        dtype: the element kind.
        shapes: extents of the domain.
        broadcast: whether operands that may have fewer extents than the domain have them.
        every_option: whether each value of each option gets problems; else the defaults alone.
        package: the package of the generated plans.
    """
    found = []
    counter, reads = itertools.count(), _Reads.of(op)
    for shape in shapes:
        for axes in _axes_choices(op, len(shape)):
            for operands in _operand_shapes(op, shape) if broadcast else [{}]:
                for options in _options(op, direction, every_option):
                    turn = next(counter)
                    chosen = options | _host_options(op, turn)
                    fields = _fields(op, direction, dtype, shape, axes, operands, chosen, turn, reads)
                    if (target := op.family.target()) is not None and target not in fields:
                        # Without a choice: the next kind, so that each has its turn.
                        fields[target] = op.dtypes[(op.dtypes.index(dtype) + 1 + turn) % len(op.dtypes)]
                    problem = Problem(op, direction, dtype, fields, package)
                    if problem.is_valid():
                        found.append(problem)
    if not found and shapes:
        raise ValueError(
            f"{op.name}: no descriptor over {list(shapes)} is valid; "
            "give values that are in `samples` of the op"
        )
    return found


def axes_of(rank: int) -> list[Shape]:
    """Axes to aggregate, of every position: the last, the first, the middle, several, all and none."""
    every = tuple(range(rank))
    chosen = [every[-1:], every[:1], every[1:-1], every[::2], every, ()]
    return list(dict.fromkeys(chosen))


def _axes_choices(op: Op, rank: int) -> Sequence[Shape | None]:
    """Values of the descriptor's axes: aggregated ones, those along which halves lie, or none at all."""
    if op.family.halves is not None:
        return list(dict.fromkeys([(), tuple(range(rank))[-1:], tuple(range(rank))[:1]]))
    return axes_of(rank) if op.family.axes else [None]


def with_numbers(problem: Problem) -> list[Problem]:
    """The problem with each combination of its numbers' samples that makes sense."""
    fields, idle = problem.op.family.descriptor, idle_with(problem.op, problem.options)
    own = [name for name in fields if name in problem.fields and name not in idle]
    numbers = [name for name in own if fields[name].type in SAMPLES]
    choices = itertools.product(
        *(_samples(problem.op, problem.dtype, name, fields[name].type) for name in numbers)
    )
    found = [problem.with_fields(**dict(zip(numbers, values, strict=True))) for values in choices]
    return [changed for changed in found if changed.is_valid()]


def _samples(op: Op, dtype: str, name: str, type_: str) -> tuple[Any, ...]:
    usual = tuple(a.default for a in op.attributes if a.source == name and a.default is not None)
    values = op.samples.get(name) or usual or SAMPLES[type_]
    if type_ == "i64":
        return tuple(int(value) for value in values)
    wide = any(attribute.wide for attribute in op.attributes if attribute.source == name)
    if not is_whole(dtype) or wide:
        return tuple(float(value) for value in values)
    low, high = integer_range(dtype)
    fitting = [value for value in values if low <= value <= high and float(value).is_integer()]
    return tuple(int(value) for value in fitting or SAMPLES["i64"])


def _host_options(op: Op, turn: int) -> dict[str, str]:
    """Options that no kernel depends on take turns."""
    return {name: op.options[name][turn % len(op.options[name])] for name in op.host_options()}


def _options(op: Op, direction: str, every: bool) -> list[dict[str, str]]:
    known = {*op.family.fields(direction)} - {*op.host_options()}
    names = [name for name in op.options if name in known]
    found = [op.options[name] if every else op.options[name][:1] for name in names]
    target = op.family.target()
    if target is not None and every:
        names, found = [*names, target], [*found, op.dtypes]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*found)]


@dataclass(frozen=True)
class _Reads:
    """What of a descriptor an op reads: looked for once for all of its problems."""

    numbers: frozenset[str]
    idle: Mapping[Any, tuple[str, ...]]

    @classmethod
    def of(cls, op: Op) -> _Reads:
        on_host = (name for item in op.host for name in read_on_host(item))
        return cls(frozenset([*(attribute.source for attribute in op.attributes), *on_host]), idle_fields(op))


def _fields(
    op: Op,
    direction: str,
    dtype: str,
    shape: Shape,
    axes: Shape | None,
    operands: Mapping[str, Shape],
    options: Mapping[str, str],
    turn: int,
    reads: _Reads,
) -> dict[str, Any]:
    """The fields of a descriptor; `turn` picks the sample of each number."""
    family = op.family
    folded = _attention_extents(shape) if family.tiles else _four_extents(shape)
    fields: dict[str, Any] = dict(zip(_domain_extents(op), folded, strict=False))
    for name, rule in family.fields(direction).items():
        if name == family.domain:
            fields[name] = shape
        elif name == family.axes or (family.halves is not None and name == family.halves.axis):
            fields[name] = axes
        elif rule.type == "shape":
            if rule.default is None:
                raise ValueError(f"{op.name}: the shape {name} follows from nothing")
            fields[name] = operands.get(name, shape)
        elif rule.type in SAMPLES and (name in reads.numbers or rule.default is None):
            values = _samples(op, dtype, name, rule.type)
            fields[name] = values[turn % len(values)]
        elif family.tiles and rule.type == "extent" and name not in fields:
            known = HEAD_SIZES if math.prod(folded) > _FEW else SMALL_HEAD_SIZES
            sizes = known[turn % len(known)]
            fields[name] = sizes[name] if name in sizes else _divisor(fields[str(rule.default)], turn)
        elif family.pairs is not None and name == family.pairs.extent:
            # All elements in pairs, then half of them.
            whole = fields[_domain_extents(op)[-1]]
            fields[name] = whole // 4 * 2 if turn % 3 == 2 else whole
        elif rule.type == "bool":
            # Tensors of their own have no order.
            whole = family.halves is not None and name == family.halves.swapped and not axes
            fields[name] = bool(rule.default) if turn == 0 or whole else _coin(f"{name}{turn}")
        elif rule.type == "storage":
            fields[name] = ("element", "compute")[turn % 2]
        elif name in options:
            fields[name] = options[name]
    # What nothing reads keeps its default, as `select` asks.
    return fields | {
        name: family.descriptor[name].default for name in idle_with(op, options, reads.idle) if name in fields
    }


def _coin(text: str) -> bool:
    """The same at every run; CRCs of names that end in neighbouring digits would go together."""
    return bool(hashlib.blake2b(text.encode(), digest_size=1).digest()[0] & 1)


def _domain_extents(op: Op) -> tuple[str, ...]:
    """The descriptor's extents that make the domain, where it is no field of its own."""
    parts = op.family.shapes.get(op.family.domain, ())
    return tuple(part.name for part in parts if isinstance(part, Name))


def _four_extents(shape: Shape) -> Shape:
    """A domain of batch, planes, rows and an even number of elements that is about as large as `shape`.

    Few rows, since each has angles of its own that a reference computes in many digits; long rows are folded.
    """
    *outer, last = shape or (1,)
    last += last % 2
    planes = 1
    if last > _LONGEST:
        planes, last = -(-last // _FOLDED), _FOLDED
    rows = outer[-1] if outer else 1
    if rows > _MOST_ROWS:
        few = max(size for size in range(1, _MOST_ROWS + 1) if rows % size == 0)
        planes, rows = planes * (rows // few), few
    batch = math.prod(outer[:-2])
    return (batch, planes * (outer[-2] if len(outer) > 1 else 1), rows, last)


def _attention_extents(shape: Shape) -> Shape:
    """A domain of batch, heads, queries and keys, like `shape` and not larger than a tile or two."""
    *outer, keys = shape or (1,)
    queries = outer[-1] if outer else 1
    heads = outer[-2] if len(outer) > 1 else 1
    batch = math.prod(outer[:-2])
    return min(batch, 3), min(heads, 6), _at_most(queries, 70), _at_most(keys, 150)


def _at_most(extent: int, most: int) -> int:
    """An extent as odd as the given one that is not larger than about `most`."""
    return extent if extent <= most else most - 7 + extent % 8


def _divisor(number: int, turn: int) -> int:
    """A divisor of a number: itself, the largest other one, 1, in turns."""
    others = [size for size in range(number - 1, 0, -1) if number % size == 0]
    return (number, others[0] if others else number, others[-1] if others else number)[turn % 3]


def _operand_shapes(op: Op, shape: Shape) -> list[dict[str, Shape]]:
    """Shapes of the operands that are broadcast to the domain: each alone, then several in different ways."""
    names = [
        name
        for name, rule in op.family.descriptor.items()
        if rule.type == "shape" and rule.default == op.family.domain
    ]
    if not names:
        return [{}]
    rank = len(shape)
    smaller = [
        shape[1:],
        (1, *shape[1:]),
        (*shape[:-1], 1),
        tuple(1 if axis % 2 else extent for axis, extent in enumerate(shape)),
        (1,) * rank,
        (),
    ]
    smaller = [one for one in dict.fromkeys(smaller) if len(one) <= rank]
    found = [{name: one} for name in names for one in smaller]
    for place in range(len(smaller)):
        found.append({name: smaller[(place + 2 * turn) % len(smaller)] for turn, name in enumerate(names)})
    return found
