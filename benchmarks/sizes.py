"""Bytes of the wheel, built from a copy of the checkout so that no build folder is left in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["wheel_bytes"]

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("runtime", "codegen", "templates", "generated", "pyproject.toml", "README.md", "LICENSE")


def wheel_bytes() -> int | None:
    """The size of the wheel; None where it cannot be built here: pip and setuptools are needed."""
    with tempfile.TemporaryDirectory(prefix="baracuda-wheel-") as folder:
        copy = Path(folder, "checkout")
        copy.mkdir()
        for part in PARTS:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / part, copy)
        command = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--no-deps",
            "--no-build-isolation",
            "-w",
            folder,
            copy,
        ]
        done = subprocess.run(command, capture_output=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        return wheels[0].stat().st_size if done.returncode == 0 and wheels else None
