"""The tensors of a plan: their shapes, layouts and which ops need them, as Python text and for a reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from baracuda.codegen.formula import Call, Expr, Name, parse, to_python, to_text
from baracuda.codegen.rendering.literals import listed, plain_tuple, tuple_of_names
from baracuda.codegen.spec.halves import parts, with_wholes
from baracuda.codegen.spec.model import Family, Op
from baracuda.codegen.spec.rules import SHAPE_FUNCTIONS
from baracuda.codegen.spec.schema import Tensor
from baracuda.codegen.spec.tensors import may_be_none


def tensor_entry(
    name: str, tensor: Tensor, family: Family, ops: Iterable[Op], direction: str
) -> dict[str, Any]:
    """What the template says of a tensor: its field of the arguments, and what it must be."""
    first, *others = (parse(text) for text in shape_texts(tensor))
    rule = first
    fields = own_fields(family, "desc")
    if isinstance(rule, Name) and rule.name in family.shapes:
        parts = plain_tuple([to_text(part) for part in family.shapes[rule.name]])
        reason = f'"{parts} of the descriptor"'
    elif isinstance(rule, Name):
        reason = f'"the {rule.name} of the descriptor"'
    elif isinstance(rule, Call) and SHAPE_FUNCTIONS[rule.name].gives:
        reason = f'"{SHAPE_FUNCTIONS[rule.name].gives.format(*map(to_text, rule.args))}"'
    else:
        assert isinstance(rule, Call)
        shown = [f'"{arg.name}", desc.{arg.name}' for arg in rule.args if isinstance(arg, Name)]
        reason = f"{rule.name}_reason({', '.join(shown)})"
    needed = [name in required_tensors(op, direction) for op in ops]
    return {
        "name": name,
        "doc": tensor.doc,
        "io": tensor.io,
        "optional": tensor.optional,
        "layout": tensor.layout,
        "may_lack": may_be_none(tensor) or bool(tensor.halves) or not all(needed),
        "halves": tuple_of_names(tensor.halves) if tensor.halves else "",
        "dtype": tensor.dtype,
        "others": tuple_of_names(["bool"]) if tensor.role == "mask" else "",
        "shares": tensor.shares,
        "needed": "" if tensor.optional else _needed_text(name, ops, direction),
        "dtype_text": f"dtype {tensor.dtype}, " if tensor.dtype else "",
        "shape_text": " or ".join(_shape_text(family, shape) for shape in (rule, *others))
        + (" or one that broadcasts to it" if tensor.role == "mask" else ""),
        "shape_code": to_python(rule, fields, {key: key for key in SHAPE_FUNCTIONS}),
        "shape_reason": reason,
    }


def other_shapes(family: Family, direction: str) -> list[dict[str, str]]:
    """Tensors that may have several shapes, with those behind the first."""
    fields = own_fields(family, "desc")
    found = []
    for name, tensor in family.tensors(direction).items():
        texts = shape_texts(tensor)[1:]
        if tensor.role == "mask":
            whole = to_python(parse(shape_texts(tensor)[0]), fields)
            found.append({"name": name, "code": f"broadcast_shapes({whole})"})
        elif texts:
            shapes = [to_python(parse(text), fields, {key: key for key in SHAPE_FUNCTIONS}) for text in texts]
            found.append({"name": name, "code": plain_tuple(shapes)})
    return found


def layouts_text(tensors: Mapping[str, Tensor]) -> str:
    """How the tensors of a plan may lie, for a reader."""
    text = "tensors with any strides, zero and negative ones included"
    inner = [name for name, tensor in tensors.items() if tensor.layout == "inner"]
    contiguous = [name for name, tensor in tensors.items() if tensor.layout == "contiguous"]
    if inner:
        text += f"; the innermost stride of {listed(inner)} must be 1"
    if contiguous:
        text += f"{',' if inner else ';'} {listed(contiguous)} must be contiguous"
    return text


def _needed_text(name: str, ops: Iterable[Op], direction: str) -> str:
    """Which ops want a tensor, for a reader, where they differ: whichever list is shorter."""
    wanted = {
        op.kind: (name in required_tensors(op, direction), name in accepted_tensors(op, direction))
        for op in ops
    }
    needing = [kind for kind, (needed, _) in wanted.items() if needed]
    sparing = [kind for kind, (needed, taken) in wanted.items() if taken and not needed]
    refusing = [kind for kind, (_, taken) in wanted.items() if not taken]
    if not refusing or not needing:
        return ""
    if len(refusing) <= len(needing):
        text = f"None for {', '.join(refusing)}"
    else:
        text = f"for {', '.join(needing)} alone"
    return f"; {text}" + (f"; may be None for {', '.join(sparing)}" if sparing else "")


def required_tensors(op: Op, direction: str) -> list[str]:
    """Tensors that a caller must give: what the kernel reads, what the contract asks for, what is written."""
    program = op.programs[direction]
    tensors = op.family.tensors(direction)
    asked = [name for name, word in program.takes.items() if word == "required"]
    held = parts(tensors)
    return [
        name
        for name, tensor in tensors.items()
        if not may_be_none(tensor) and name not in held and name in {*program.read, *program.written, *asked}
    ]


def accepted_tensors(op: Op, direction: str) -> list[str]:
    """Tensors that a caller may give."""
    program = op.programs[direction]
    tensors = op.family.tensors(direction)
    known = with_wholes({*program.read, *program.written, *program.takes}, tensors)
    return [name for name in tensors if name in known]


def _shape_text(family: Family, rule: Expr) -> str:
    """A shape for a reader: a named one as its extents."""
    if isinstance(rule, Name) and rule.name in family.shapes:
        return plain_tuple([to_text(part) for part in family.shapes[rule.name]])
    return to_text(rule)


def shape_texts(tensor: Tensor) -> list[str]:
    """The shapes that a tensor may have, as the spec writes them."""
    return [tensor.shape] if isinstance(tensor.shape, str) else tensor.shape


def own_fields(family: Family, owner: str) -> dict[str, str]:
    """How the descriptor's fields and named shapes are read from `owner`."""
    return {name: f"{owner}.{name}" for name in (*family.descriptor, *family.shapes)}
