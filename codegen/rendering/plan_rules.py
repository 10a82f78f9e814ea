"""What a plan refuses: conditions of a descriptor with their messages, and when tensors are there."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from baracuda.codegen.formula import Call, Expr, Name, Unary, free_names, parse, to_python
from baracuda.codegen.rendering.width import TEXT_WIDTH
from baracuda.codegen.spec.halves import parts
from baracuda.codegen.spec.model import Family, Halves, Op
from baracuda.codegen.spec.rules import SHAPE_FUNCTIONS, wanted


def family_rules(family: Family, direction: str) -> list[dict[str, str]]:
    """Conditions of a descriptor under which every op of a family refuses it."""
    fields = {field: f"desc.{field}" for field in family.fields(direction)}
    functions = {key: key for key in SHAPE_FUNCTIONS}
    rules = family.requirements(direction)
    found = [_rule(rule, to_python(rule, fields, functions)) for rule in rules]
    return [*found, *([_halves_rule(family.halves)] if family.halves else [])]


def _halves_rule(halves: Halves) -> dict[str, str]:
    """Tensors of their own have no order."""
    return {
        "condition": f"desc.{halves.swapped} and not desc.{halves.axis}",
        "message": f'"{halves.swapped} is True, want False where {halves.axis} is ()"',
    }


def conditions(family: Family, direction: str) -> list[dict[str, str]]:
    """When tensors are there that are so only on a condition, and the fields that decide it."""
    found, held = [], parts(family.tensors(direction))
    for name, tensor in family.tensors(direction).items():
        if tensor.given is not None:
            rule = parse(str(tensor.given))
            names = free_names(rule)
            code = to_python(rule, {key: f"desc.{key}" for key in names})
        elif family.halves is not None and (tensor.halves or name in held):
            names = [family.halves.axis]
            code = f"bool(desc.{names[0]})" if tensor.halves else f"not desc.{names[0]}"
        else:
            continue
        why = " and ".join(f"{key} is {{desc.{key}}}" for key in names)
        found.append({"name": name, "code": code, "why": why})
    return found


def op_rules(op: Op, direction: str) -> list[dict[str, str]]:
    """Those under which one op does."""
    fields = {field: f"desc.{field}" for field in op.family.fields(direction)}
    functions = {key: key for key in SHAPE_FUNCTIONS}
    found = []
    for requirement in op.requirements(direction):
        rule = _rule(requirement, to_python(requirement, fields, functions))
        found.append(_under([_is_kind(op)], rule))
    return found


def host_rules(op: Op) -> list[dict[str, str]]:
    """Conditions of what the host computes, each under the options that it belongs to."""
    fields = {field: f"desc.{field}" for field in op.family.descriptor}
    functions = {key: key for key in SHAPE_FUNCTIONS}
    found = []
    for item in op.host:
        under = [_is_kind(op), *(f'desc.{name} == "{value}"' for name, value in item.options)]
        found += [_under(under, _rule(rule, to_python(rule, fields, functions))) for rule in item.require]
    return found


def _is_kind(op: Op) -> str:
    return f'desc.kind.value == "{op.kind.lower()}"'


def _under(conditions: Sequence[str], rule: dict[str, str]) -> dict[str, str]:
    """A rule that holds under conditions, broken where they are long as the formatter breaks them."""
    parts = [*conditions, rule["condition"]]
    text = " and ".join(parts)
    if len(text) + len("        if :") > TEXT_WIDTH:
        first, last = parts[0], parts[-1]
        if len(parts) == 2 and last.startswith("not ("):
            text = f"{first} and not (\n            {last[len('not (') : -1]}\n        )"
        else:
            text = "(\n            " + "\n            and ".join(parts) + "\n        )"
    return {**rule, "condition": text}


def _rule(rule: Expr, code: str) -> dict[str, str]:
    names = free_names(rule)
    got = ", ".join(f"{name} is {{desc.{name}}}" for name in names)
    simple = isinstance(rule, Name | Call)
    message = f'f"{got}, want {wanted(rule)}"'
    if len(message) > TEXT_WIDTH - len("            yield "):
        lines = textwrap.wrap(f"{got}, ", TEXT_WIDTH - len('                f" "'), drop_whitespace=False)
        parts = [f'f"{line}"' for line in lines] + [f'"want {wanted(rule)}"']
        message = "(" + "".join(f"\n                {part}" for part in parts) + "\n            )"
    if isinstance(rule, Unary) and rule.op == "not":
        condition = code.removeprefix("not ")
    else:
        condition = f"not {code}" if simple else f"not ({code})"
    return {"condition": condition, "message": message}
