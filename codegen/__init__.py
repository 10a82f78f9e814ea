"""Generation: the spec, the formula language, the matrix, and rendering. Never needed at run time."""

from __future__ import annotations

import importlib
from typing import Any

# Loaded when first asked for: `baracuda-gen --help` needs none of it.
_HOMES = {
    "load_spec": "spec",
    "SpecError": "problems",
    "render": "rendering",
    "render_kernels": "rendering",
    "kernels": "matrix",
    "describe": "description",
}

__all__ = ["SpecError", "describe", "kernels", "load_spec", "render", "render_kernels"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
