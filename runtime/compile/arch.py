"""Names of GPU architectures: what they mean, and which compiled code runs on which GPU."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable
from typing import NamedTuple

from baracuda.errors import Unsupported

__all__ = ["Arch", "host_target", "parse_arch", "runnable"]

_NAME = re.compile(r"(sm|compute)_([0-9]{2,3})([af]?)\Z")


class Arch(NamedTuple):
    """An architecture: ``"sm"`` (machine code) or ``"compute"`` (PTX), capability (90), suffix (``"a"``)."""

    kind: str
    capability: int
    suffix: str


def parse_arch(name: str) -> Arch:
    """``"sm_90a"`` as its parts. Raises `Unsupported` for what is no architecture."""
    match = _NAME.match(name)
    if not match:
        raise Unsupported(f"{name!r} is no architecture; write sm_90, sm_90a or compute_90")
    return Arch(match[1], int(match[2]), match[3])


def host_target() -> str:
    """What a pack calls the host executor's libraries for machines like this one: ``"host-linux-x86_64"``."""
    return f"host-{sys.platform}-{platform.machine()}"


def runnable(name: str, available: Iterable[str]) -> list[str]:
    """Which of the ``available`` targets serve ``name``, the best first.

    The very target comes first; for a GPU (``"sm_90"``) PTX of its own or a lower capability follows, the
    highest first. PTX with a suffix runs on its own architecture alone, so it is never a substitute.
    """
    there = {target for target in available if not target.startswith("host-")}
    wanted = parse_arch(name)
    best = [name] if name in there else []
    if wanted.kind != "sm" or wanted.suffix:
        return best
    ptx = [
        (arch.capability, target)
        for target in there
        for arch in [parse_arch(target)]
        if arch.kind == "compute" and not arch.suffix and arch.capability <= wanted.capability
    ]
    return best + [target for _, target in sorted(ptx, reverse=True)]
