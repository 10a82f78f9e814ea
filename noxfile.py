"""Every developer task is a session; `nox` alone runs most of those that a change must pass, `.ci/run` all.

`nox` alone leaves out `tests_torch`, which downloads PyTorch, and `matrix`, which takes many minutes.

Sessions run under the Python that runs nox, so one of 3.10 to 3.13 is enough. Arguments after `--` go to the
tool: `nox -s tests -- -k lerp`, `nox -s tests -- --device cuda`, `nox -s demo -- --all`.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "types", "check", "tests", "demo"]
nox.options.reuse_venv = "yes"
nox.options.error_on_external_run = True

# Pinned, so that no release changes what a commit is compared with. PyPI's build for Linux brings gigabytes
# of CUDA libraries; PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu offers pip one without.
TORCH = "torch==2.13.0"
# Another version formats or complains differently; pyproject.toml names the same ones for `dev`.
RUFF = "ruff~=0.17.6"
MYPY = "mypy~=2.4"

# What the compiled matrix may cost, an architecture a line; `nox -s matrix` fails beyond, naming the unit.
# Sizes depend on the kernels and a little on NVRTC's version: raise one only with the kernels that need it.
# Seconds are the processor's, about twice what was measured: some machines are slower.
MATRIX_BUDGETS = {
    "sm_90": {"max-kib": 330_000, "max-unit-kib": 1_000, "max-seconds": 5_400, "max-unit-seconds": 38},
    "compute_80": {"max-kib": 500_000, "max-unit-kib": 2_400, "max-seconds": 2_500, "max-unit-seconds": 20},
}

#: Of so many parts of the matrix, `nox -s matrix` compiles one for each architecture.
MATRIX_PARTS = 7


def remove_build_folder() -> None:
    """Remove setuptools' build/, whose stale files would get into the next wheel."""
    shutil.rmtree("build", ignore_errors=True)


def wants_cuda(session: nox.Session) -> bool:
    """Whether the arguments ask for a CUDA device."""
    text = " ".join(session.posargs)
    return "--device cuda" in text or "--device=cuda" in text


def install(session: nox.Session, *extras: str) -> None:
    """Install the checkout with extras, editable, so that the tests see the very files that are edited."""
    # What is imported is compiled once, then, and kept: most of what is installed never is.
    session.env["PYTHONDONTWRITEBYTECODE"] = ""
    session.install("--no-compile", "-e", f".[{','.join(extras)}]" if extras else ".")


def has_driver() -> bool:
    """Whether NVIDIA's driver is here; without it CuPy's 200 MB would bring nothing to the demo."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def nvrtc(session: nox.Session) -> list[str]:
    """Return the extra that brings NVRTC, which compiles without a GPU; NVIDIA has none for macOS."""
    return ["cuda12"] if sys.platform == "linux" or wants_cuda(session) else []


def workers(session: nox.Session) -> list[str]:
    """Return the option for parallel work: one process a core, and one in all on a GPU."""
    return [] if wants_cuda(session) else ["-n", str(min(4, os.cpu_count() or 1))]


def parallel(session: nox.Session) -> list[str]:
    """Return pytest's options: a process takes neighbours, which share kernels, fixtures and references."""
    return [*workers(session), "--dist", "worksteal"] if workers(session) else []


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests on the host executor (or `-- --device cuda`), and compile a sample with NVRTC."""
    install(session, "test", *nvrtc(session))
    if not session.posargs:
        session.run("python", "tests/warm_cache.py", *workers(session))
    session.run("pytest", *parallel(session), "--ignore=tests/torch", *session.posargs)


@nox.session
def tests_torch(session: nox.Session) -> None:
    """Compare with PyTorch, and hand its tensors over."""
    install(session, "test", *nvrtc(session))
    session.install(TORCH)
    session.run("pytest", *parallel(session), "tests/torch", *session.posargs)


@nox.session
def demo(session: nox.Session) -> None:
    """Run every plan class on real data, on the GPU where there is one, else on the host executor."""
    install(session, "demo", *(["cuda12"] if wants_cuda(session) or has_driver() else []))
    session.run("baracuda-gen", "demo", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format."""
    session.install(RUFF)
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check")


@nox.session
def types(session: nox.Session) -> None:
    """Check types strictly, on the package as a user gets it."""
    remove_build_folder()
    session.install(".", MYPY, "types-PyYAML")
    session.run(
        "mypy", "--config-file", str(Path("pyproject.toml").resolve()), "-p", "baracuda", *session.posargs
    )


@nox.session
def generate(session: nox.Session) -> None:
    """Write generated/ from ops.yaml."""
    install(session)
    session.run("baracuda-gen", "generate", *session.posargs)


@nox.session
def check(session: nox.Session) -> None:
    """Check that generated/ is what ops.yaml gives."""
    install(session)
    session.run("baracuda-gen", "check", *session.posargs)


@nox.session
def matrix(session: nox.Session) -> None:
    """Compile a seventh of the matrix with NVRTC for each architecture, or all (`-- --whole`); needs no GPU.

    Units come in groups of 16 (narrow and wide, four dtypes, two directions): a seventh has some of each.
    """
    install(session, "cuda12")
    whole = "--whole" in session.posargs
    options = [option for option in session.posargs if option != "--whole"]
    for number, (arch, budget) in enumerate(MATRIX_BUDGETS.items(), 1):
        bounds = [
            word
            for name, bound in budget.items()
            for word in (f"--{name}", str(bound if whole or "unit" in name else bound / MATRIX_PARTS))
        ]
        share = [] if whole else ["--part", f"{number}/{MATRIX_PARTS}"]
        report = Path(session.create_tmp()) / f"{arch}.csv"
        command = ["baracuda-gen", "compile", "--arch", arch, "--fresh", "--report", str(report)]
        session.run(*command, *share, *bounds, *options)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the wheel into dist/."""
    remove_build_folder()
    session.install("build")
    session.run("python", "-m", "build", "--wheel", "--outdir", "dist", *session.posargs)
