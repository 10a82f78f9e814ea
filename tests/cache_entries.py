"""Entries of a disk cache."""

from __future__ import annotations

import os
import time
from pathlib import Path

from baracuda.compile.cache import DiskCache, encode
from baracuda.compile.nvrtc import Artifact

KEY = "ab" * 32
ARTIFACT = Artifact(bytes(range(256)) * 8, "cubin", "sm_90")


def entry(cache: DiskCache, key: str = KEY) -> Path:
    assert cache.folder is not None
    return cache.folder / "kernels" / f"{key}.bin"


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def unexpected() -> Artifact:
    raise AssertionError("compiled although the cache has it")


WHOLE = encode(KEY, ARTIFACT)


def put(cache: DiskCache, name: str, age: float) -> str:
    """An entry of about 2.2 kB, last read ``age`` seconds ago."""
    key = name * 64
    cache.put(key, ARTIFACT)
    then = time.time() - age
    os.utime(entry(cache, key), (then, then))
    return key
