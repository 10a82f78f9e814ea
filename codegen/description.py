"""What the spec says of one op, as text: formulas, contract, guarantees."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from baracuda.codegen.formula import to_text
from baracuda.codegen.matrix import summed_outputs, variants
from baracuda.codegen.rendering.host import host_lines
from baracuda.codegen.rendering.kernel import formula_lines
from baracuda.codegen.rendering.literals import plain_tuple
from baracuda.codegen.rendering.plan_ops import attribute_lines
from baracuda.codegen.spec.halves import with_wholes
from baracuda.codegen.spec.model import COMPUTE, Family, Op, Program, Spec
from baracuda.codegen.spec.schema import Tensor

_WIDTH = 110


def describe(spec: Spec, name: str) -> str:
    """The description of the op called `name`; lines end with LF. `KeyError` for an op that there is not."""
    op = spec.ops[name]
    place = f"{spec.path.name}:{op.line}" if op.line else spec.path.name
    lines = [
        f"{op.name}: {op.doc}",
        f"  {op.family.kind}.{op.kind} of the family {op.family.name} ({op.family.category}), {place}",
        f"  dtypes {' '.join(op.dtypes)}",
    ]
    lines += [
        f"  option {key}: {' '.join(values)} (default {values[0]})" for key, values in op.options.items()
    ]
    for direction, program in op.programs.items():
        others = [other for other in op.alternatives if other.direction == direction]
        lines += ["", *_plan(op, program, others)]
    if op.host:
        lines += ["", "Computed by the host in 40 digits, once a problem", *_wrapped(host_lines(op))]
    lines += ["", "Descriptor", *_columns(_fields(op.family))]
    lines += ["", *_guarantees(op), "", "Independent reference, in longdouble"]
    lines += _wrapped(
        f"{output} = {' '.join(text.split())}" for output, text in (*op.ref_lets.items(), *op.ref.items())
    )
    return "\n".join(lines) + "\n"


def _plan(op: Op, program: Program, others: Iterable[Program]) -> Iterator[str]:
    family = op.family
    yield f"{family.plan_class(program.direction)}: {program.direction}"
    for choice in (program, *others):
        options = ", ".join(f"{name}={value}" for name, value in choice.options)
        yield f"  Formula{f' with {options}' if options else ''}"
        yield from _wrapped([*attribute_lines(op, choice), *formula_lines(choice)], "    ")
    yield "  Tensors"
    tensors = family.tensors(program.direction)
    written = {key for key in tensors if key in program.written}
    known = with_wholes({*program.read, *program.takes, *written}, tensors)
    yield from _columns(_tensor(key, tensors[key], op, program) for key in tensors if key in known)
    rules = [*family.requirements(program.direction), *op.requirements(program.direction)]
    if rules:
        yield "  Requires"
        yield from _wrapped(map(to_text, rules), "    ")
    yield f"  Kernels: {program.stem}.cu"
    yield from _wrapped([" ".join(variants(op, program))], "    ")


def _tensor(name: str, tensor: Tensor, op: Op, program: Program) -> tuple[str, ...]:
    """Name, direction, whether it may be left out, shape, meaning."""
    reads = name in program.read or tensor.io != "in" or bool(tensor.halves)
    if tensor.optional:
        need = "optional"
    elif program.takes.get(name) == "optional":
        need = "accepted"
    else:
        need = "required"
    layout = {"any": "", "inner": ", innermost stride 1", "contiguous": ", contiguous"}[tensor.layout]
    note = "" if reads else " (the contract asks for it, the kernel does not read it)"
    if tensor.given is not None:
        note += f" (there if {tensor.given}, else None)"
    shapes = [tensor.shape] if isinstance(tensor.shape, str) else tensor.shape
    shape = " or ".join(_shape(text, op.family) for text in shapes)
    dtype = f", {tensor.dtype}" if tensor.dtype else ", or bool" if tensor.role == "mask" else ""
    return name, tensor.io, need, f"{shape}{layout}{dtype}", f"{tensor.doc}{note}"


def _shape(text: str, family: Family) -> str:
    """A shape as the spec writes it, a named one by its extents."""
    parts = family.shapes.get(text)
    return text if parts is None else plain_tuple([to_text(part) for part in parts])


def _fields(family: Family) -> Iterator[tuple[str, ...]]:
    yield "kind", "enum", "", f"which op: a member of {family.kind} or its name"
    for name, field in family.descriptor.items():
        default = "" if field.default is None else f"default {field.default}"
        notes = [f"{field.only} only"] if field.only else []
        notes += [f"or {field.mask}, a bit an axis"] if field.mask else []
        yield name, field.type, default, field.doc + (f" ({'; '.join(notes)})" if notes else "")


def _guarantees(op: Op) -> Iterator[str]:
    yield "Guarantees"
    by_bounds: dict[str, list[str]] = {}
    for direction in op.programs:
        bounds = op.bounds(direction)
        own = ", ".join(f"{dtype} {bounds[dtype]:g}" for dtype in op.dtypes_of(direction))
        by_bounds.setdefault(own, []).append(direction)
    for text, directions in by_bounds.items():
        where = "" if len(by_bounds) == 1 else f"{' and '.join(directions)}: "
        yield f"  {where}error at most, in units in the last place of the output's dtype: {text}"
    if op.scale:
        yield "  measured against a magnitude, because the formula may cancel:"
        yield from _wrapped((f"{output}: {to_text(scale)}" for output, scale in op.scale.items()), "    ")
    if op.holds:
        yield "  where this holds, with the limits of the compute type:"
        yield from _wrapped((f"{output}: {to_text(holds)}" for output, holds in op.holds.items()), "    ")
    computed: dict[str, list[str]] = {}
    for dtype in op.dtypes:
        computed.setdefault(COMPUTE.get(dtype, dtype), []).append(dtype)
    computing = ", ".join(f"{' '.join(dtypes)} in {compute}" for compute, dtypes in computed.items())
    yield f"  computed and accumulated: {computing}; {_rounding(op)}"
    yield "  deterministic, and the same bits on the same hardware"
    for program in op.programs.values():
        summed = summed_outputs(op, program)
        invariant = [name for name in program.written if name not in summed]
        if invariant:
            yield f"  batch-invariant in the {program.direction}: {' '.join(invariant)}"
        if summed:
            over_rows = "not batch-invariant, as sums over the rows"
            what = over_rows if op.family.template != "map" else "batch-invariant where it is not broadcast"
            yield f"  {what}: {' '.join(summed)}"


def _rounding(op: Op) -> str:
    return "a * b + c may round once" if op.family.contraction else "each operation rounds on its own"


def _wrapped(texts: Iterable[str], indent: str = "  ") -> Iterator[str]:
    for text in texts:
        yield from textwrap.wrap(
            text, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}    ", break_long_words=False
        )


def _columns(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Rows with their columns aligned; the last is wrapped below itself."""
    table = list(rows)
    widths = (
        [max((len(row[column]) for row in table), default=0) for column in range(len(table[0]) - 1)]
        if table
        else []
    )
    for row in table:
        head = "    " + "".join(
            f"{cell.ljust(width)}  " for cell, width in zip(row, widths, strict=False) if width
        )
        yield from (
            line.rstrip()
            for line in textwrap.wrap(
                row[-1], max(_WIDTH, len(head) + 40), initial_indent=head, subsequent_indent=" " * len(head)
            )
        )
