"""What the host computes in 40 digits, as Python text of a plan module and as lines of documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from baracuda.codegen.formula import Expr, free_names, to_decimal
from baracuda.codegen.rendering.literals import plain_tuple
from baracuda.codegen.rendering.locals import local_names
from baracuda.codegen.rendering.width import TEXT_WIDTH
from baracuda.codegen.spec.host import FUNCTIONS as HOST_FUNCTIONS
from baracuda.codegen.spec.host import PAIR_NUMBER, numbers_of
from baracuda.codegen.spec.model import HostFormulas, Op


def host_functions(op: Op) -> dict[str, Any]:
    """The functions that compute what a kernel gets from the host, one a choice of options."""
    assert op.family.pairs is not None
    extent = op.family.pairs.extent
    return {
        "name": f"_{op.name}_host",
        "op": op.name,
        "extent": local_names(numbers_of(op.family))[extent],
        "choices": [_host_choice(op, item, extent) for item in op.host],
    }


def _host_choice(op: Op, formulas: HostFormulas, extent: str) -> dict[str, Any]:
    known = numbers_of(op.family)
    own = local_names([*known, *formulas.lets, *formulas.pair_lets, *formulas.scalars, PAIR_NUMBER])
    names = {name: local for name, local in own.items() if name not in formulas.scalars}

    def code(expr: Expr) -> str:
        return to_decimal(expr, names, HOST_FUNCTIONS)

    # A let that another option's formulas need is left out.
    names |= {name: own[name] for name in formulas.scalars}
    results = [*formulas.scalars.values(), *formulas.of_pair.values()]
    read = {extent, *(name for expr in results for name in free_names(expr))}
    for name, expr in reversed([*formulas.lets.items(), *formulas.pair_lets.items()]):
        if name in read:
            read |= set(free_names(expr))
    lets = [f"{own[name]} = {code(expr)}" for name, expr in formulas.lets.items() if name in read]
    pair_lets = [f"{own[name]} = {code(expr)}" for name, expr in formulas.pair_lets.items() if name in read]
    (value,) = formulas.of_pair.values()
    lets += [f"{own[name]} = {code(expr)}" for name, expr in formulas.scalars.items()]
    scalars = plain_tuple([own[name] for name in formulas.scalars])
    function = "_".join((f"_{op.name}_host", *(value for _, value in formulas.options)))
    numbers = [name for name in known if name in read]
    return {
        "name": function,
        "condition": " and ".join(f'desc.{name} == "{value}"' for name, value in formulas.options),
        "text": ", ".join(f"{name}={value}" for name, value in formulas.options),
        "numbers": [own[name] for name in numbers],
        "call": _call([function, *(f"desc.{name}" for name in numbers)], 8 if formulas.options else 4),
        "lets": lets,
        "pair_lets": pair_lets,
        "value": code(value),
        "scalars": scalars,
        "code": [*lets, *pair_lets, code(value), scalars],
    }


def _call(arguments: Sequence[str], indent: int) -> str:
    """The call that computes one choice, on lines of their own where it is long."""
    text = f"computed({', '.join(arguments)})"
    if len(text) + indent + len("return ") <= TEXT_WIDTH:
        return text
    lines = "".join(f"{' ' * (indent + 4)}{argument},\n" for argument in arguments)
    return f"computed(\n{lines}{' ' * indent})"


def wide_names(families: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the host formulas need of `baracuda.wide`."""
    hosts = [host for family in families for host in family["hosts"]]
    if not hosts:
        return []
    lines = [line for host in hosts for choice in host["choices"] for line in choice["code"]]
    known = [*(name for name in HOST_FUNCTIONS.values() if name not in ("abs", "max", "min")), "PI", "wide"]
    used = {name for name in known for line in lines if re.search(rf"\b{name}\b", line)}
    return sorted(
        {"HostValues", "computed", "numbers", *used},
        key=lambda name: (not name.isupper(), name.islower(), name),
    )


def host_lines(op: Op) -> list[str]:
    """What the host computes, as the spec writes it: what all options share, then what each adds."""
    if not op.host:
        return []
    common = {k: v for k, v in op.host[0].source.items() if all(item.source.get(k) == v for item in op.host)}
    lines = [f"{name} = {text}" for name, text in common.items()]
    for item in op.host:
        options = ", ".join(f"{name}={value}" for name, value in item.options)
        own = [f"{name} = {text}" for name, text in item.source.items() if name not in common]
        lines += [f"{line}  ({options})" if options else line for line in own]
    return lines
