"""The wheel, built from a copy of the checkout, so that no build folder is left in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ["runtime", "codegen", "templates", "generated"]


def build_wheel(folder: Path) -> Path:
    """Build the wheel below `folder`, offline."""
    copy = folder / "checkout"
    copy.mkdir()
    for name in [*SOURCES, "pyproject.toml", "README.md", "LICENSE"]:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy)
    pip("wheel", "--no-deps", "--no-build-isolation", "-w", folder, copy)
    [wheel] = folder.glob("*.whl")
    return wheel


def install_wheel(wheel: Path, target: Path) -> Path:
    """Unpack the wheel as pip installs it; its folder goes on `PYTHONPATH`."""
    pip("install", "--no-deps", "--no-index", "--target", target, wheel)
    return target


def pip(*arguments: object) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
