"""The spec: `ops.yaml` read, checked and resolved. All mistakes of a file are reported at once."""

from __future__ import annotations

from pathlib import Path

from baracuda.codegen.problems import Problems, SpecError
from baracuda.codegen.spec.model import Op, Program, Spec
from baracuda.codegen.spec.resolve import resolve
from baracuda.codegen.spec.schema import SpecFile
from baracuda.codegen.spec.structure import read_structure
from baracuda.codegen.yaml_source import parse_yaml

__all__ = ["Op", "Program", "Spec", "SpecError", "default_spec_path", "load_spec"]


def default_spec_path() -> Path:
    """`ops.yaml` of the checkout that this package runs from, else the copy that the package ships."""
    root = Path(__file__).resolve().parents[2]
    checkout = root / "ops.yaml"
    return checkout if checkout.is_file() else Path(_generated_folder()) / "ops.yaml"


def load_spec(path: Path | None = None) -> Spec:
    """The spec in a file.

    Raises:
        SpecError: with every mistake, each with its line.
        OSError: the file cannot be read.
    """
    path = path or default_spec_path()
    source = parse_yaml(_text(path), path.name)
    file = read_structure(source)
    spec = resolve(file, source, path, _base(file, path, source.problems)) if file is not None else None
    source.problems.raise_if_any()
    assert spec is not None
    return spec


def _base(file: SpecFile, path: Path, problems: Problems) -> Spec:
    """What a spec builds on: baracuda's own spec where it says so, else nothing."""
    nothing = Spec(path, {}, {}, {})
    if file.extends is None:
        return nothing
    shipped = default_spec_path()
    if path.resolve() == shipped.resolve():
        problems.add(("extends",), "this is the spec of baracuda itself", "leave it out")
        return nothing
    return load_spec(shipped)


def _text(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        problems = Problems(path.name)
        what = f"the byte 0x{data[error.start]:02x} is no UTF-8"
        problems.add((), what, "save the file as UTF-8", line=data.count(b"\n", 0, error.start) + 1)
        raise SpecError(problems.sorted()) from None


def _generated_folder() -> str:
    import baracuda.generated

    return str(Path(str(baracuda.generated.__file__)).parent)
