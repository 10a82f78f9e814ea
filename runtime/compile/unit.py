"""What is compiled: a generated source file with the macros and flags that make it one dtype and variant set.

A unit is pure data. Its key is a digest of everything that can change the binary and of nothing else, so an
entry of the disk cache is never stale: there is nothing to invalidate.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

# Raise it when the meaning of an entry changes in a way that the other fields of the key do not show.
SCHEMA = 2

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# Flags that read or write files outside the key, or that are decided elsewhere (architecture, macros).
_REFUSED_FLAGS = re.compile(
    r"-[IDU]|--?(include|include-path|pre-include|define-macro|undefine-macro|gpu-architecture|arch|pch|create-pch|"
    r"use-pch|pch-dir|time|fdevice-time-trace|dlto|dlink-time-opt|relocatable-device-code|rdc|device-c|dc)(=|\s|\Z)"
)


@dataclass(frozen=True)
class Unit:
    """One translation unit, for the device and for the host.

    ``name`` is for people (``"reduction/reduce_sum.cu"``) and is not part of the key. ``defines`` are macro
    names and values, in any order. ``flags`` are NVRTC-style flags such as ``"-fmad=true"``; each replaces
    the default flag of the same name. Raises ``ValueError`` for a macro given twice, a macro name that is no
    identifier, and a flag whose effect the key could not see.
    """

    name: str
    text: str
    defines: tuple[tuple[str, str], ...]
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [name for name, _ in self.defines]
        for name, value in self.defines:
            if not _IDENTIFIER.match(name):
                raise ValueError(f"{self.name}: the macro name {name!r} is not a C identifier")
            if "\n" in value or "\0" in value:
                raise ValueError(
                    f"{self.name}: the value of macro {name} holds a line break or a NUL: {value!r}"
                )
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"{self.name}: these macros are defined twice: {', '.join(repeated)}")
        for flag in self.flags:
            if not flag.startswith("-"):
                raise ValueError(f"{self.name}: the flag {flag!r} does not start with '-'")
            if _REFUSED_FLAGS.match(flag):
                raise ValueError(
                    f"{self.name}: the flag {flag!r} is refused: macros go into `defines`, the architecture "
                    "is the device's, and what a flag reads or writes elsewhere cannot be in the cache key"
                )

    def define(self, name: str, default: str = "") -> str:
        """The value of macro ``name``, or ``default``."""
        return dict(self.defines).get(name, default)


def digest(*fields: str | bytes) -> str:
    """SHA-256 over length-prefixed fields, text as UTF-8, as 64 hexadecimal digits.

    The length makes the split unambiguous: ("ab", "c") and ("a", "bc") differ.
    """
    state = hashlib.sha256()
    for field in fields:
        data = field if isinstance(field, bytes) else field.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()


def unit_key(unit: Unit, options: tuple[str, ...], arch: str, compiler: str, headers: str) -> str:
    """The cache key of ``unit`` compiled for ``arch``, as 64 hexadecimal digits.

    ``options`` are the flags as the compiler gets them (the defaults and the unit's own), without macros and
    architecture; ``arch`` is ``"sm_90"`` or ``"compute_90"``; ``compiler`` names the compiler and its
    version; ``headers`` is the digest of its headers (`baracuda.compile.source.headers_digest`). The
    package's version is left out on purpose: what it could change in a binary is in the other fields.
    """
    macros = [part for name, value in sorted(unit.defines) for part in (name, value)]
    return digest(
        "baracuda unit",
        str(SCHEMA),
        compiler,
        arch,
        headers,
        str(len(options)),
        *options,
        str(len(unit.defines)),
        *macros,
        unit.text,
    )
