"""Generated folders as packages of their own, so that plans run kernels other than the checkout's."""

from __future__ import annotations

import functools
import importlib.resources
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from baracuda.codegen import verify
from baracuda.compile.source import headers


@functools.cache
def generated_files() -> Mapping[str, str]:
    """The checkout's generated files: relative path to text."""
    root = Path(str(importlib.resources.files(verify.GENERATED)))
    paths = [path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def write_package(folder: Path, name: str, files: Mapping[str, str]) -> str:
    """Write files as a package that can be imported in this process, and return its name."""
    for path, text in files.items():
        target = folder / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    importlib.invalidate_caches()
    return name


def with_header(source: str, header: str, text: str) -> str:
    """A kernel's source with another text of one bundled header, for it alone.

    Headers that include the changed one are written out too; the others stay includes.
    """
    known = {**headers(), header: text}
    done: set[str] = set()

    def reaches(name: str) -> bool:
        return name == header or any(reaches(inner) for inner in includes(known[name]))

    def expand(part: str) -> str:
        lines = []
        for line in part.splitlines():
            found = re.fullmatch(r"\s*#include <(baracuda/[a-z0-9_]+\.cuh)>.*", line)
            if line.strip() == "#pragma once":
                continue
            if found is None or not reaches(found[1]):
                lines.append(line)
            elif found[1] not in done:
                done.add(found[1])
                lines.append(expand(known[found[1]]))
        return "\n".join(lines)

    expanded = expand(source)
    assert header in done, f"the source does not include {header}"
    return expanded + "\n"


def includes(text: str) -> list[str]:
    """The bundled headers that a text includes."""
    return re.findall(r"#include <(baracuda/[a-z0-9_]+\.cuh)>", text)
