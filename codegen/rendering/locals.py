"""How names of formulas are spelled as local variables of generated Python."""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from baracuda.codegen.spec.host import FUNCTIONS as HOST_FUNCTIONS

__all__ = ["local_names"]

#: What the functions of plan modules read beside built-ins: hidden by a local variable, it would be lost.
_READ = frozenset(["desc", "math", "numbers", "radians", "wide", *HOST_FUNCTIONS.values()])


def local_names(names: Iterable[str]) -> dict[str, str]:
    """Each name with its spelling: itself, or with underscores behind it where that means something."""
    wanted = list(names)
    taken = {*dir(builtins), *_READ}
    spelled: dict[str, str] = {}
    for name in wanted:
        local = name
        while local in taken or (local != name and local in wanted):
            local += "_"
        spelled[name] = local
    return spelled
