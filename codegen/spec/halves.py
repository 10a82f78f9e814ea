"""Tensors that hold two operands of a map side by side: what a family may say of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from baracuda.codegen.formula import Call, Name
from baracuda.codegen.problems import Path, Problems
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.rules import fields_of_type, parse_at
from baracuda.codegen.spec.tensors import MAPS, may_be_none


def wholes(tensors: Mapping[str, schema.Tensor]) -> dict[str, tuple[str, ...]]:
    """The tensors that hold others, with these in order."""
    return {name: tuple(tensor.halves) for name, tensor in tensors.items() if tensor.halves}


def parts(tensors: Mapping[str, schema.Tensor]) -> dict[str, str]:
    """The tensors that another one may hold, each with that one."""
    return {part: whole for whole, held in wholes(tensors).items() for part in held}


def with_wholes(names: Iterable[str], tensors: Mapping[str, schema.Tensor]) -> set[str]:
    """Tensors, with those that hold any of them."""
    known, held = {*names}, parts(tensors)
    return known | {held[name] for name in known if name in held}


def check_halves(entry: schema.Family, template: str, path: Path, problems: Problems) -> None:
    """Note what is wrong with a family's halves and with the tensors that have some."""
    if entry.halves is not None:
        where = (*path, "halves")
        if template != MAPS:
            problems.add(where, f"belongs to the template {MAPS}", "leave it out")
        for key, name, type_ in (
            ("axis", entry.halves.axis, "axes"),
            ("swapped", entry.halves.swapped, "bool"),
        ):
            if name not in entry.descriptor or entry.descriptor[name].type != type_:
                right = fields_of_type(type_, entry.descriptor)
                problems.add((*where, key), f"{name!r} is no field of type {type_}", right)
    for direction, tensors in (("forward", entry.forward), ("backward", entry.backward)):
        for name, held in wholes(tensors).items():
            _check_whole(entry, tensors, name, held, (*path, direction, name), problems)


def _check_whole(
    entry: schema.Family,
    tensors: Mapping[str, schema.Tensor],
    name: str,
    held: tuple[str, ...],
    path: Path,
    problems: Problems,
) -> None:
    if entry.halves is None:
        right = "halves: {axis: ..., swapped: ...} in the family"
        problems.add((*path, "halves"), "nothing says along which axis", right)
        return
    others = [part for part, tensor in tensors.items() if _may_be_half(entry, tensor, tensors[name].io)]
    if len(set(held)) != 2 or not {*held} <= {*others}:
        right = f"two tensors with io: {tensors[name].io} and the shape {entry.domain}"
        problems.add((*path, "halves"), f"[{', '.join(held)}] are no halves", right)
    if may_be_none(tensors[name]) or any(tensors[part].given for part in held if part in tensors):
        problems.add(path, "is there where its axis is given, and its halves where not", "no other condition")
    wanted = Call("doubled", (Name(entry.domain), Name(entry.halves.axis)))
    if parse_at(tensors[name].shape, path, problems) != wanted:
        right = f"doubled({entry.domain}, {entry.halves.axis})"
        problems.add((*path, "shape"), f"{tensors[name].shape} is not that of two halves", right)


def _may_be_half(entry: schema.Family, tensor: schema.Tensor, io: str) -> bool:
    return tensor.io == io and tensor.shape == entry.domain and not tensor.halves and tensor.dtype is None
