"""What is shipped, and what importing it costs."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from importlib.metadata import metadata
from pathlib import Path

import pytest
from wheels import ROOT, SOURCES, build_wheel

LIMIT_SECONDS = 0.050


def package_name(folder: Path) -> str:
    """Return the import name of a folder of the checkout."""
    top, *rest = folder.relative_to(ROOT).parts
    return ".".join(["baracuda", *([] if top == "runtime" else [top]), *rest])


def package_folders() -> dict[str, Path]:
    return {
        package_name(path.parent): path.parent
        for source in SOURCES
        for path in (ROOT / source).rglob("__init__.py")
    }


def listed_packages() -> set[str]:
    """Return the package list of pyproject.toml; tomllib is not there before Python 3.11."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^packages = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    return set(re.findall(r'"([^"]+)"', block[1]))


def run_python(code: str) -> str:
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return shown.stdout


def test_the_package_list_is_complete() -> None:
    assert listed_packages() == set(package_folders())


def test_every_folder_with_python_files_is_a_package() -> None:
    folders = {path.parent for source in SOURCES for path in (ROOT / source).rglob("*.py")}
    assert folders == set(package_folders().values())


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return the names of the files in a wheel that is built from a copy of the checkout."""
    wheel = build_wheel(tmp_path_factory.mktemp("wheel"))
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.slow
def test_the_wheel_holds_every_file(wheel_names: set[str]) -> None:
    expected = set()
    for package, folder in package_folders().items():
        prefix = package.replace(".", "/")
        nested = {
            other for other in package_folders().values() if other != folder and folder in other.parents
        }
        for path in folder.rglob("*"):
            mine = not any(other in path.parents for other in nested)
            if path.is_file() and mine and "__pycache__" not in path.parts:
                expected.add(f"{prefix}/{path.relative_to(folder).as_posix()}")
    shipped = {name for name in wheel_names if ".dist-info/" not in name}
    assert shipped == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    [
        r"baracuda/py\.typed",
        r"baracuda/include/baracuda/\w+\.cuh",
        r"baracuda/generated/kernels/\w+/\w+\.cu",
        r"baracuda/generated/plans/\w+\.py",
        r"baracuda/generated/matrix\.csv",
        r"baracuda/generated/manifest\.json",
        r"baracuda/templates/\w+\.cu\.j2",
        r"baracuda/templates/\w+\.py\.j2",
        r"baracuda-[\d.]+\.dist-info/licenses/LICENSE",
    ],
)
def test_the_wheel_holds_each_kind_of_file(wheel_names: set[str], pattern: str) -> None:
    assert any(re.fullmatch(pattern, name) for name in wheel_names)


def test_base_dependencies_stay_light() -> None:
    required = metadata("baracuda").get_all("Requires-Dist") or []
    base = {re.split(r"[^\w-]", line)[0].replace("_", "-") for line in required if "extra ==" not in line}
    assert base == {"numpy", "ml-dtypes", "jinja2", "pyyaml", "click", "pydantic"}


def test_import_costs_little_beyond_numpy() -> None:
    # Processor time, so that tests that run beside this one do not count.
    code = (
        "import numpy, time; start = time.process_time(); import baracuda; print(time.process_time() - start)"
    )
    run_python(code)
    # The least: what else a machine does only adds.
    seconds = [float(run_python(code)) for _ in range(5)]
    assert min(seconds) <= LIMIT_SECONDS, seconds


def test_import_works_without_cupy_and_torch() -> None:
    code = (
        "import sys\n"
        "for name in ('cupy', 'cupy_backends', 'torch'): sys.modules[name] = None\n"
        "import baracuda, numpy\n"
        "print(baracuda.__name__)"
    )
    assert run_python(code) == "baracuda\n"


def test_import_loads_nothing_heavy() -> None:
    code = "import sys, baracuda; print(sorted(sys.modules))"
    loaded = run_python(code)
    for name in (
        "cupy",
        "torch",
        "ml_dtypes",
        "jinja2",
        "yaml",
        "click",
        "pydantic",
        "scipy",
        "baracuda.codegen",
    ):
        assert f"'{name}'" not in loaded


# The README's commands


def nox_sessions() -> set[str]:
    text = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    return set(re.findall(r"^@nox\.session\ndef (\w+)\(", text, re.MULTILINE))


def test_the_readme_names_sessions_that_exist() -> None:
    named = set(re.findall(r"nox -s (\w+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert {"demo", "tests"} <= named <= nox_sessions()


def test_ci_runs_what_the_readme_names() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    sessions = re.search(r"set -- (.*)", script)
    assert sessions is not None
    assert {"lint", "types", "check", "tests", "tests_torch", "demo", "matrix"} == set(sessions[1].split())
    assert set(sessions[1].split()) <= nox_sessions()
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111 == 0o111
