"""The kernels behind a plan: which units hold them, and loading these."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path

from baracuda.compile.loader import Kernel, preload
from baracuda.compile.unit import Unit
from baracuda.contract import OpRecord
from baracuda.dtypes import ElementKind
from baracuda.engines import Engine
from baracuda.stream import Stream

__all__ = ["load_kernels", "units_of"]


def units_of(plans: str, op: OpRecord, element: ElementKind, engine: Engine) -> dict[Unit, tuple[str, ...]]:
    """The units with every kernel that the engine may launch, and the variants in each.

    ``plans`` is the module of the plan class, which stands beside its kernels' sources.
    """
    text = _source(plans.rpartition(".plans.")[0], op.source)
    flags = ("-fmad=true",) if op.contraction else ()
    return {
        Unit(op.source, text, (("BARACUDA_DTYPE", element.value), (define, "1")), flags): variants
        for define, variants in engine.units().items()
    }


def _source(package: str, name: str) -> str:
    """The text of a kernel file of a package with plans."""
    path = Path(sys.modules[package].__file__ or "").parent / "kernels" / name
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8")
    # No folder, such as a package in a zip file.
    import importlib.resources

    return importlib.resources.files(package).joinpath("kernels", *name.split("/")).read_text("utf-8")


def load_kernels(
    units: Mapping[Unit, tuple[str, ...]], op: OpRecord, element: ElementKind, stream: Stream
) -> dict[str, Kernel]:
    """The kernels of `units_of` by variant, compiled or loaded for the stream's device."""
    handle = stream.handle if stream.device.kind == "cuda" else None
    modules = preload(units, stream.device, stream_handle=handle)
    stem = f"baracuda_{op.name}_{element.value}"
    return {
        variant: module.kernel(stem if variant == "contig" else f"{stem}_{variant}")
        for module, variants in zip(modules, units.values(), strict=True)
        for variant in variants
    }
