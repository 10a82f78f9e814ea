"""Plan classes, descriptors, arguments and enums of ops.yaml, each loaded when first asked for.

Generated from ops.yaml by templates/package_init.py.j2. Do not edit: run `baracuda-gen generate`.
"""

from __future__ import annotations

import importlib
from typing import Any

from .plans import MODULES


def __getattr__(name: str) -> Any:
    module = MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.plans.{module}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *MODULES])
