"""Ops that formulas call by name: what each computes, as texts that take the place of the call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from baracuda.codegen.formula import FormulaError, free_names, parse
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.model import Family, Op, stem_of
from baracuda.codegen.spec.tensors import MAPS


@dataclass(frozen=True)
class OpFormula:
    """What a direction of an op computes at an element: named values in order, then the result.

    `inputs` are the tensors that it reads, in the order of the plan: the arguments of a call.
    """

    inputs: tuple[str, ...]
    lets: Mapping[str, str]
    result: str


def callable_ops(
    entries: Mapping[str, schema.Op], families: Mapping[str, Family], others: Iterable[Op]
) -> dict[str, OpFormula]:
    """The formulas that others may call, by name: `silu` of a forward, `silu_backward` of its gradient.

    An op of maps can be called that has one output, no attributes, no options and no conditions among its
    tensors. `entries` are those of the file, `others` those of the spec that it extends.
    """
    found: dict[str, OpFormula] = {}
    for op in others:
        for direction, program in op.programs.items():
            lets = {name: text for name, text in program.source.items() if name not in program.written}
            results = [program.source[name] for name in program.written]
            plain = not op.attributes and not op.options
            _add(found, stem_of(op.name, direction), op.family, direction, lets, results, plain)
    for name, entry in entries.items():
        for direction, block in (("forward", entry.forward), ("backward", entry.backward)):
            if block is None or entry.family not in families:
                continue
            lets = {key: str(text) for key, text in block.let.items()}
            results = [str(text) for text in block.outputs.values()]
            plain = not entry.attrs and not entry.options
            _add(found, stem_of(name, direction), families[entry.family], direction, lets, results, plain)
    return found


def _add(
    found: dict[str, OpFormula],
    stem: str,
    family: Family,
    direction: str,
    lets: Mapping[str, str],
    results: list[str],
    plain: bool,
) -> None:
    tensors = family.tensors(direction)
    plain = plain and all(tensor.dtype is None for tensor in tensors.values())
    if family.template != MAPS or not plain or len(results) != 1:
        return
    try:
        read = {name for text in (*lets.values(), *results) for name in free_names(parse(text))}
    except FormulaError:
        read = set()  # reported where it is written
    inputs = tuple(name for name, tensor in tensors.items() if tensor.io == "in" and name in read)
    found[stem] = OpFormula(inputs, lets, results[0])
