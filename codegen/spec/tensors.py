"""What a family says of its tensors beyond their shapes: when they are there, and how they are stored."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from baracuda.codegen.problems import Path, Problems
from baracuda.codegen.spec import schema
from baracuda.codegen.spec.rules import Fields, condition

#: The template whose kernels know inputs that are not there, columns, and row values in the compute type.
TEMPLATE = "aggregate"

#: The template whose kernels read truth values.
MAPS = "map"

#: Dtypes that a tensor may have of its own.
FLAG = "bool"
OWN_DTYPES = ("f64", "i64", FLAG)


def fields_of(direction: str, fields: Fields) -> Fields:
    """The fields that the descriptor of a direction has."""
    return {name: field for name, field in fields.items() if field.only in (None, direction)}


def outputs_of(tensors: Mapping[str, schema.Tensor]) -> list[str]:
    """The tensors that formulas give."""
    return [name for name, tensor in tensors.items() if tensor.io == "out" and not tensor.halves]


def may_be_none(tensor: schema.Tensor) -> bool:
    """Whether a caller may, or must sometimes, leave a tensor out."""
    return tensor.optional or tensor.given is not None


def check_presence(
    tensor: schema.Tensor, fields: Fields, template: str, path: Path, problems: Problems
) -> None:
    """Note what is wrong with a tensor's condition, its value where it is None, and its dtype."""
    aggregates, maps = template == TEMPLATE, template == MAPS
    if tensor.given is not None:
        condition(tensor.given, fields, (*path, "given"), problems)
    if aggregates:
        _check_absent(tensor, path, problems)
    elif tensor.absent is not None:
        problems.add((*path, "absent"), f"belongs to the template {TEMPLATE}", "leave it out")
    if tensor.dtype == FLAG and not (maps and tensor.role == "element"):
        problems.add((*path, "dtype"), f"{FLAG} is for elements of the template {MAPS}", "leave it out")
    if tensor.dtype in OWN_DTYPES or tensor.dtype is None:
        return
    if tensor.dtype in fields and fields[tensor.dtype].type == "target":
        if not maps or tensor.io != "out":
            what = f"{tensor.dtype!r} is the dtype of outputs of the template {MAPS}"
            problems.add((*path, "dtype"), what, "leave it out")
        return
    if tensor.dtype not in fields or fields[tensor.dtype].type != "storage":
        deciding = (key for key, field in fields.items() if field.type in ("storage", "target"))
        right = ", ".join((*OWN_DTYPES, *deciding))
        problems.add((*path, "dtype"), f"{tensor.dtype!r} is no dtype of a tensor", f"one of {right}")
    elif tensor.role != "row" or not aggregates:
        problems.add((*path, "dtype"), "only what is read or written once a row has a choice", "role: row")


def check_results(
    tensors: Mapping[str, schema.Tensor], template: str, path: Path, problems: Problems
) -> None:
    """Note outputs of a map that differ in what decides their dtype."""
    outputs = {name: tensor.dtype for name, tensor in tensors.items() if tensor.io == "out"}
    if template == MAPS and len({*outputs.values()}) > 1:
        first, *others = outputs
        odd = next(name for name in others if outputs[name] != outputs[first])
        problems.add((*path, odd, "dtype"), f"{odd} has another dtype than {first}", "one for all outputs")


def _check_absent(tensor: schema.Tensor, path: Path, problems: Problems) -> None:
    wants = tensor.io == "in" and may_be_none(tensor)
    if wants and tensor.role == "row":
        problems.add(path, "an input of role row cannot be None", "leave out `optional` and `given`")
    elif wants is (tensor.absent is None):
        what = "an input that may be None has a value then, and no other tensor"
        problems.add((*path, "absent") if not wants else path, what, "absent: 0, or another number")
    elif tensor.absent is not None and not _fits_every_dtype(float(tensor.absent)):
        what = f"{tensor.absent} is not a number of every dtype"
        problems.add((*path, "absent"), what, "a number of at most 8 bits")


def _fits_every_dtype(number: float) -> bool:
    try:
        half = struct.unpack("e", struct.pack("e", number))[0]
    except OverflowError:
        return False
    # bfloat16 is the upper half of a float.
    return bool(half == number) and struct.pack(">f", number)[2:] == b"\0\0"


def check_fields(
    fields: Mapping[str, schema.DescriptorField], shared: Mapping[str, str], path: Path, problems: Problems
) -> None:
    """Note what is wrong with masks, and with fields that one direction has; `shared` are for both."""
    for name, field in fields.items():
        where = (*path, "descriptor", name)
        if field.mask is not None and field.type != "axes":
            problems.add((*where, "mask"), "belongs to axes alone", "leave it out")
        elif field.mask in fields:
            problems.add((*where, "mask"), f"{field.mask!r} is a field of the descriptor", "another name")
        if field.only is not None and (name in shared or field.type == "element"):
            problems.add((*where, "only"), "both directions need it", "leave it out")
