"""The spec: `ops.yaml` read, checked and resolved. All mistakes of a file are reported at once."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

from baracuda.codegen.problems import Problems, SpecError
from baracuda.codegen.spec.model import Op, Program, Spec
from baracuda.codegen.spec.resolve import resolve
from baracuda.codegen.spec.schema import SpecFile
from baracuda.codegen.spec.structure import read_structure
from baracuda.codegen.yaml_source import parse_yaml

__all__ = ["Op", "Program", "Spec", "SpecError", "default_spec_path", "from_here", "load_spec"]


# No spec comes near it; a device that never ends would fill the memory.
_LARGEST = 16 << 20


def default_spec_path() -> Path:
    """`ops.yaml` of the checkout that this package runs from, else the copy that the package ships."""
    root = Path(__file__).resolve().parents[2]
    checkout = root / "ops.yaml"
    return checkout if checkout.is_file() else Path(_generated_folder()) / "ops.yaml"


def load_spec(path: Path | None = None) -> Spec:
    """The spec in a file.

    Args:
        path: the file, which messages name as it is given here; None: baracuda's own spec.

    Raises:
        SpecError: with every mistake, each with its line.
        OSError: the file cannot be read.
    """
    if path is not None:
        return _resolved(path, str(path), _text(path, str(path)), trusted=False)
    own = default_spec_path()
    shown = from_here(own)
    return _own(own, shown, _text(own, shown))


def _resolved(path: Path, shown: str, text: str, *, trusted: bool) -> Spec:
    """The spec that a text gives."""
    source = parse_yaml(text, shown, trusted=trusted)
    file = read_structure(source)
    spec = resolve(file, source, path, _base(file, path, source.problems)) if file is not None else None
    source.problems.raise_if_any()
    assert spec is not None
    return replace(spec, text=text.replace("\r\n", "\n").replace("\r", "\n"))


#: Of baracuda's own spec, which one process reads again and again, equal texts are resolved once.
_own = functools.lru_cache(maxsize=2)(functools.partial(_resolved, trusted=True))


def _base(file: SpecFile, path: Path, problems: Problems) -> Spec:
    """What a spec builds on: baracuda's own spec where it says so, else nothing."""
    nothing = Spec(path, {}, {}, {})
    if file.extends is None:
        return nothing
    shipped = default_spec_path()
    if path.resolve() == shipped.resolve():
        problems.add(("extends",), "this is the spec of baracuda itself", "leave it out")
        return nothing
    return load_spec()


def from_here(path: Path) -> str:
    """The path as somebody in the current folder writes it, if it lies below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):  # Elsewhere, or the current folder is gone.
        return str(path)


def _text(path: Path, shown: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        # Reading, unlike opening, does not say what it read.
        error.filename = error.filename or str(path)
        raise
    if len(data) > _LARGEST:
        problems = Problems(shown)
        problems.add((), f"the file is larger than {_LARGEST >> 20} MiB", "the path of a spec", line=1)
        raise SpecError(problems.sorted())
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        problems = Problems(shown)
        what = f"the byte 0x{data[error.start]:02x} is no UTF-8"
        problems.add((), what, "save the file as UTF-8", line=data.count(b"\n", 0, error.start) + 1)
        raise SpecError(problems.sorted()) from None


def _generated_folder() -> str:
    import baracuda.generated

    return str(Path(str(baracuda.generated.__file__)).parent)
