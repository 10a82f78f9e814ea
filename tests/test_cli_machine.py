"""`baracuda-gen doctor` and `demo`: what they say of a machine, and how they end."""

from __future__ import annotations

import importlib
import logging
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from cli_runner import run, run_process

from baracuda import codegen
from baracuda.codegen.cli import machine as machine_module
from baracuda.errors import CompileError

demo_module = importlib.import_module("baracuda.codegen.cli.demo")


# doctor


def test_doctor_names_what_is_there() -> None:
    result = run_process("doctor")
    assert result.returncode == 0, result.stdout
    names = re.findall(r"^(?:ok     |missing)  (\S+(?: \S+)?)  ", result.stdout, re.MULTILINE)
    assert names == ["Python", "NumPy", "ml_dtypes", "C++ compiler", "CuPy", "NVRTC", "CUDA driver"]
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
    verify = SimpleNamespace(cases=lambda spec, images, *, everything: cases)
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
