"""`baracuda-gen doctor` and `demo`: what they say of a machine, and how they end."""

from __future__ import annotations

import errno
import importlib
import logging
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pytest
from cli_runner import run, run_process

from baracuda import codegen
from baracuda.codegen.cli import installation
from baracuda.codegen.cli import machine as machine_module
from baracuda.codegen.cli.machine import Driver, Gpu
from baracuda.codegen.problems import Problem, SpecError
from baracuda.codegen.verify import cases
from baracuda.compile.nvrtc import Artifact
from baracuda.compile.pack import write_pack
from baracuda.compile.unit import Unit
from baracuda.errors import CompileError
from baracuda.host_compiler import _find_compiler as find_compiler

demo_module = importlib.import_module("baracuda.codegen.cli.demo")


# doctor


def test_doctor_names_what_is_there() -> None:
    result = run_process("doctor")
    assert result.returncode == 0, result.stdout
    names = re.findall(r"^(?:ok     |missing)  (\S+(?: \S+)?)  ", result.stdout, re.MULTILINE)
    machine = ["Python", "NumPy", "ml_dtypes", "C++ compiler", "CuPy", "NVRTC", "CUDA driver"]
    assert names == [*machine, "cache folder", "generated code"]
    assert "on the host executor: yes" in result.stdout


def test_doctor_without_a_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    fact = machine_module.cxx_fact()
    assert not fact.found
    assert fact.remedy
    monkeypatch.setenv("CXX", str(tmp_path / "no-such-compiler"))
    fact = machine_module.cxx_fact()
    assert not fact.found
    assert "no-such-compiler" in fact.detail
    assert "CXX" in fact.remedy
    monkeypatch.setenv("CXX", "c++ '")
    fact = machine_module.cxx_fact()
    assert (fact.found, "is no command: No closing quotation" in fact.detail) == (False, True)


def test_doctor_tries_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    works = shutil.which("c++")
    assert works
    for text, detail in (
        ("exit 0", "ends well and writes no library"),
        (
            'case "$1" in --version) echo ten;; *) echo "x.cpp: fatal error: no cmath" >&2; exit 1;; esac',
            "no cmath",
        ),
        (f'case "$1" in --version) echo ten;; *) exec {works} -x c++ -E "$@";; esac', "cannot be loaded"),
    ):
        compiler = tmp_path / "compiler"
        compiler.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        compiler.chmod(0o755)
        monkeypatch.setenv("CXX", str(compiler))
        find_compiler.cache_clear()
        fact = machine_module.cxx_fact()
        assert (fact.found, fact.absence) == (False, "broken")
        assert detail in fact.detail
        assert "\n" not in fact.detail
        assert "CXX" in fact.remedy
    monkeypatch.setenv("CXX", works)
    assert machine_module.cxx_fact().found
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "no such folder"))
    fact = machine_module.cxx_fact()
    assert (fact.found, "cannot be tried" in fact.detail) == (False, True)


def test_doctor_says_what_may_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def facts(word: str) -> dict[str, machine_module.Fact]:
        monkeypatch.setenv("BARACUDA_JIT", word)
        return {fact.name: fact for fact in [*machine_module.facts(), *installation.facts()]}

    assert "BARACUDA_JIT" not in facts("")
    fact = facts(" Never ")["BARACUDA_JIT"]
    assert fact.found
    assert fact.detail.startswith("never: ")
    for word in ("0", "no", "always"):
        found = facts(word)
        fact = found["BARACUDA_JIT"]
        assert (fact.found, fact.remedy) == (False, "unset BARACUDA_JIT")
        assert fact.detail == f"BARACUDA_JIT='{word}': want 'never' or nothing"
        assert machine_module.can_run(list(found.values())) == (False, False)


def test_doctor_without_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    from baracuda.compile import nvrtc

    def missing() -> tuple[int, int]:
        raise CompileError("compiling a CUDA kernel needs NVRTC, which cannot be loaded\nmore")

    monkeypatch.setattr(nvrtc, "version", missing)
    fact = machine_module.nvrtc_fact("cuda12", None)
    assert not fact.found
    assert fact.remedy == f"{sys.executable} -m pip install 'baracuda[cuda12]'"


def test_doctor_with_a_gpu_newer_than_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    from baracuda.compile import nvrtc

    monkeypatch.setattr(nvrtc, "version", lambda: (12, 4))
    monkeypatch.setattr(nvrtc, "supported_archs", lambda: (80, 90))
    driver = machine_module.Driver((13, 0), (machine_module.Gpu(0, "B200", 100),))
    fact = machine_module.nvrtc_fact(machine_module.extra_for(driver), driver)
    assert fact.found
    assert "B200 (sm_100) is newer and gets PTX" in fact.detail
    assert "baracuda[cuda13]" in fact.remedy
    assert fact.remedy.endswith("--upgrade")


def distributions(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let only these distributions of CuPy be installed."""
    versions = dict.fromkeys(names, "14.0")
    monkeypatch.setattr(machine_module, "_version_of", versions.get)


def driver_of(*version: int, capability: int = 90) -> Driver:
    return Driver(version, (Gpu(0, "H100", capability),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("installed", "driver", "detail", "remedy"),
    [
        ((), None, "not installed", "pip install 'baracuda[cuda12]'"),
        ((), driver_of(13, 0), "not installed", "pip install 'baracuda[cuda13]'"),
        (
            ("cupy-cuda12x", "cupy-cuda13x"),
            None,
            "overwrite each other",
            "uninstall --yes cupy-cuda12x cupy-cuda13x &&",
        ),
        (
            ("cupy-cuda13x",),
            driver_of(12, 4),
            "the driver serves CUDA 12.4 only",
            "pip install 'baracuda[cuda12]'",
        ),
    ],
)
def test_doctor_on_cupy(
    monkeypatch: pytest.MonkeyPatch,
    installed: tuple[str, ...],
    driver: Driver | None,
    detail: str,
    remedy: str,
) -> None:
    distributions(monkeypatch, *installed)
    fact = machine_module.cupy_fact(machine_module.extra_for(driver), driver)
    assert not fact.found
    assert detail in fact.detail
    assert remedy in fact.remedy


def test_doctor_on_a_cupy_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    distributions(monkeypatch, "cupy-cuda12x")
    monkeypatch.setitem(sys.modules, "cupy_backends.cuda.api.driver", None)
    fact = machine_module.cupy_fact("cuda12", None)
    assert (fact.found, fact.absence) == (False, "broken")
    assert "14.0 (cupy-cuda12x) cannot be imported" in fact.detail


@pytest.mark.parametrize("installed", ["cupy-cuda12x", "cupy"])
def test_doctor_on_a_good_cupy(monkeypatch: pytest.MonkeyPatch, installed: str) -> None:
    distributions(monkeypatch, installed)
    fact = machine_module.cupy_fact("cuda12", driver_of(12, 4))
    assert (fact.found, fact.detail, fact.remedy) == (True, f"14.0 ({installed})", "")


def test_doctor_without_a_driver_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda path: False)
    monkeypatch.setattr(
        machine_module.shutil, "which", lambda name: "/usr/bin/dnf" if name == "dnf" else None
    )
    fact = machine_module.driver_fact(None, "no CUDA driver (libcuda.so.1) on this machine")
    assert not fact.found
    assert "dnf install nvidia-open" in fact.remedy
    assert "the host executor does the work" in fact.remedy
    monkeypatch.setattr(Path, "exists", lambda path: str(path) == "/.dockerenv")
    assert "--gpus all" in machine_module.driver_fact(None, "none").remedy


def test_doctor_on_gpus() -> None:
    assert "sees no GPU" in machine_module.driver_fact(Driver((12, 9), ()), "").detail
    old = machine_module.driver_fact(driver_of(12, 9, capability=75), "")
    assert (old.found, old.absence) == (False, "too old")
    assert "sm_80 or newer" in old.remedy
    good = machine_module.driver_fact(driver_of(12, 9), "")
    assert (good.found, good.detail) == (True, "serves CUDA 12.9; 0: H100 (sm_90)")


def test_doctor_on_a_cache_folder_that_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fresh_cache: Path
) -> None:
    fact = installation.cache_fact()
    assert (fact.found, fact.detail) == (True, str(fresh_cache))
    assert [path for path in fresh_cache.rglob("*") if path.is_file()] == []
    (fresh_cache / "kernels").chmod(0o777)
    fact = installation.cache_fact()
    assert (fact.found, fact.remedy) == (False, f"chmod go-w {fresh_cache / 'kernels'}")
    (tmp_path / "file").write_text("in the way")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        monkeypatch.setenv("BARACUDA_CACHE_DIR", str(place))
        fact = installation.cache_fact()
        assert not fact.found
        assert str(place) in fact.detail
        assert "export BARACUDA_CACHE_DIR=" in fact.remedy

    def no_space(**options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(tmp_path / "full"))
    monkeypatch.setattr(tempfile, "TemporaryFile", no_space)
    assert "No space left on device" in installation.cache_fact().detail
    monkeypatch.setenv("BARACUDA_CACHE_MAX_BYTES", "0")
    assert installation.cache_fact().found


def test_doctor_on_packs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert installation.pack_facts() == []
    unit, artifact = Unit("a.cu", "text", ()), Artifact(b"code", "cubin", "sm_90")
    write_pack(tmp_path / "good.pack", [(unit, artifact)], "nvrtc 12.9")
    (tmp_path / "bad.pack").write_text("no pack")
    monkeypatch.setenv("BARACUDA_PACK", f"{tmp_path / 'good.pack'}")
    [fact] = installation.pack_facts()
    assert (fact.found, fact.detail) == (True, f"{tmp_path / 'good.pack'}: 1 units for sm_90")
    assert fact.serves == {"gpu"}
    monkeypatch.setenv("BARACUDA_PACK", f"{tmp_path / 'good.pack'}:{tmp_path / 'bad.pack'}")
    [fact] = installation.pack_facts()
    assert not fact.found
    assert f"{tmp_path / 'bad.pack'} is no pack" in fact.detail
    assert "baracuda-gen compile" in fact.remedy
    (tmp_path / "bad.pack").write_bytes((tmp_path / "good.pack").read_bytes()[:-3])
    [fact] = installation.pack_facts()
    assert (fact.found, f"{tmp_path / 'bad.pack'} is truncated: it has" in fact.detail) == (False, True)
    (tmp_path / "bad.pack").unlink()
    [fact] = installation.pack_facts()
    assert (fact.found, "bad.pack cannot be read: No such file" in fact.detail) == (False, True)
    monkeypatch.setenv("BARACUDA_PACK", f"{tmp_path / 'good.pack'}")
    monkeypatch.setattr("baracuda.compile.source.all_headers_digest", lambda: "other")
    [fact] = installation.pack_facts()
    assert (fact.found, "good.pack was made by baracuda" in fact.detail) == (False, True)


def test_a_pack_stands_in_for_a_compiler() -> None:
    there = dict.fromkeys(["NumPy", "ml_dtypes", "CuPy", "CUDA driver", "C++ compiler"], True)

    def can_run(*serves: str, **facts: bool) -> tuple[bool, bool]:
        found = [machine_module.Fact(name, found, "") for name, found in (there | facts).items()]
        packs = machine_module.Fact("packs", True, "", serves=frozenset(serves))
        return machine_module.can_run([*found, packs])

    assert can_run(NVRTC=False) == (False, True)
    assert can_run("gpu", NVRTC=False) == (True, True)
    assert can_run("host", NVRTC=False) == (False, True)
    assert can_run(CuPy=False, NVRTC=True) == (False, True)
    no_compiler = {"C++ compiler": False}
    assert can_run("gpu", NVRTC=False, **no_compiler) == (True, False)
    assert can_run("host", NVRTC=False, **no_compiler) == (False, True)


def test_doctor_on_stale_code(monkeypatch: pytest.MonkeyPatch) -> None:
    real = codegen.render
    monkeypatch.setattr(
        codegen, "render", lambda spec: {**real(spec), "plans/kinds.py": "edited\n"}, raising=False
    )
    fact = installation.generated_fact()
    assert (fact.found, fact.absence, fact.remedy) == (False, "stale", "baracuda-gen generate")
    assert "files are not what the spec gives: plans/kinds.py" in fact.detail
    result = run("doctor")
    assert result.exit_code == 1
    assert "the generated code is not what the spec gives" in result.stderr

    def broken(spec: object) -> None:
        raise SpecError([Problem("ops.yaml", 3, "ops.x", "is wrong"), Problem("ops.yaml", 4, "ops.y", "too")])

    monkeypatch.setattr(codegen, "load_spec", broken, raising=False)
    fact = installation.generated_fact()
    assert (fact.found, fact.remedy) == (False, "baracuda-gen lint")
    assert fact.detail == "the spec has mistakes: ops.yaml:3: ops.x: is wrong, ..."


def test_doctor_fails_where_nothing_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [machine_module.Fact(fact.name, False, "gone", "mend it") for fact in machine_module.facts()]
    monkeypatch.setattr(machine_module, "facts", lambda: facts)
    result = run("doctor")
    assert result.exit_code == 1
    assert result.output.count("to mend it: mend it") == len(facts)


# demo


@dataclass
class Case:
    plan: str
    error: float
    tolerance: float = 2.0

    def run(self, device: str) -> SimpleNamespace:
        logging.getLogger("test").debug("on %s", device)
        return SimpleNamespace(
            sku="lerp f32 contig", ulp=self.error, first_seconds=0.2, median_seconds=1.5e-5
        )


def test_the_demo_has_a_case_for_every_plan() -> None:
    """Small images instead of scikit-learn's: each plan class runs and keeps its bound."""
    spec = codegen.load_spec()
    images = np.random.default_rng(0).uniform(0, 16, (6, 16))
    ran = set()
    for case in cases(spec, images):
        if case.problem.dtype == "f32":
            assert case.run("host").ulp <= case.tolerance, case.problem
            ran.add(case.plan)
    assert ran == {op.family.plan_class(direction) for op in spec.ops.values() for direction in op.programs}


@pytest.mark.parametrize(
    ("errors", "code", "last"),
    [
        ([0.0, 2.0], 0, "demo: 2 plans ran on host, all within tolerance"),
        ([0.0, 2.1], 1, "demo: 2 plans ran on host, 1 failed"),
        ([float("nan")], 1, "demo: 1 plans ran on host, 1 failed"),
    ],
)
def test_demo_reports(monkeypatch: pytest.MonkeyPatch, errors: list[float], code: int, last: str) -> None:
    cases = [Case("BinaryParamPlan", error) for error in errors]
    verify = SimpleNamespace(cases=lambda spec, images, **chosen: cases)
    monkeypatch.setattr(codegen, "verify", verify, raising=False)
    monkeypatch.setattr(codegen, "load_spec", lambda spec: None, raising=False)
    monkeypatch.setattr(demo_module, "check_current", lambda: None)
    monkeypatch.setattr(demo_module, "digits", lambda: None)
    result = run("demo", "--device", "host")
    assert result.exit_code == code
    assert result.stdout.splitlines()[-1] == last
    assert "200 ms" in result.stdout
    assert "0.0150 ms" in result.stdout


def test_demo_without_its_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(click.ClickException, match=r"pip install 'baracuda\[demo\]'"):
        demo_module.digits()


@pytest.mark.parametrize(
    ("wanted", "possible", "chosen"),
    [
        ("auto", (True, True), "cuda"),
        ("auto", (False, True), "host"),
        ("host", (True, True), "host"),
        ("auto", (False, False), None),
        ("cuda", (False, True), None),
        ("host", (True, False), None),
    ],
)
def test_demo_chooses_a_device(wanted: str, possible: tuple[bool, bool], chosen: str | None) -> None:
    if chosen is None:
        with pytest.raises(click.ClickException, match="cannot run on"):
            demo_module.choose_device(wanted, possible)
    else:
        assert demo_module.choose_device(wanted, possible) == chosen
