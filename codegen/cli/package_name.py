"""The generated folder is a Python package, so its name must be one that `import` takes."""

from __future__ import annotations

import keyword
import re
import unicodedata
from pathlib import Path

from baracuda.codegen.cli.common import BadInput

#: What the generated modules import themselves.
_TAKEN = frozenset({"baracuda", "numpy"})


def check_package_name(folder: Path) -> None:
    """Raise `BadInput`, with a name that would do, where the folder's own cannot be imported everywhere.

    Letters beyond ASCII are refused too: file systems disagree on how they are composed, and `import` finds
    one form alone.
    """
    name = folder.resolve().name
    if name in _TAKEN:
        what = f"the package would hide {name} from itself"
    elif keyword.iskeyword(name):
        what = f"{name!r} is a word of Python, so `import {name}` is no statement"
    elif not (name.isascii() and name.isidentifier()):
        what = f"Python cannot import a package named {name!r} everywhere: want letters a-z, digits and _"
    else:
        return
    raise BadInput(f"--out {folder}: {what}; write {folder.parent / _importable(name)}")


def _importable(name: str) -> str:
    """The nearest name that is an ASCII identifier."""
    spelled = name.translate(
        {ord(a): b for a, b in zip("äöüÄÖÜß", ["ae", "oe", "ue", "Ae", "Oe", "Ue", "ss"], strict=True)}
    )
    plain = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    words = re.sub(r"\W+", "_", plain).strip("_") or "ops"
    good = words.isidentifier() and not keyword.iskeyword(words) and words not in _TAKEN
    return words if good else f"my_{words}"
