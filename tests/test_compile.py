"""NVRTC: artifacts, faults, architectures. No GPU is needed: NVRTC compiles without one."""

from __future__ import annotations

import logging
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from probe_unit import UNIT

from baracuda.compile import loader, nvrtc, source
from baracuda.compile.cache import disk_cache
from baracuda.compile.unit import Unit
from baracuda.errors import CompileError, Unsupported

pytestmark = pytest.mark.usefixtures("nothing_loaded")


def ptx(unit: Unit) -> str:
    return nvrtc.compile_cubin(unit, "compute_90").data.decode()


# Artifacts


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_90a"])
def test_cubin(arch: str) -> None:
    artifact = nvrtc.compile_cubin(UNIT, arch)
    assert (artifact.kind, artifact.arch) == ("cubin", arch)
    assert artifact.data[:4] == b"\x7fELF"
    assert b"probe" in artifact.data
    assert artifact.seconds > 0


def test_cubin_is_as_long_as_its_elf_header_says() -> None:
    data = nvrtc.compile_cubin(UNIT, "sm_90").data
    programs, sections = struct.unpack_from("<QQ", data, 32)
    program_size, program_count, section_size, section_count = struct.unpack_from("<HHHH", data, 54)
    assert len(data) == max(programs + program_size * program_count, sections + section_size * section_count)


def test_ptx() -> None:
    artifact = nvrtc.compile_cubin(UNIT, "compute_80")
    assert (artifact.kind, artifact.arch) == ("ptx", "compute_80")
    assert ".target sm_80" in artifact.data.decode()
    assert ".entry probe" in artifact.data.decode()


def test_arithmetic_is_ieee() -> None:
    text = ptx(UNIT)
    assert ".ftz" not in text
    assert "mul.rn.f32" in text
    assert "add.rn.f32" in text
    assert "fma" not in text
    assert "div.rn.f32" in text
    assert "sqrt.rn.f32" in text


def test_a_units_flag_replaces_the_default() -> None:
    contracted = replace(UNIT, flags=("-fmad=true",))
    assert nvrtc.options(contracted).count("-fmad=true") == 1
    assert "-fmad=false" not in nvrtc.options(contracted)
    assert "fma.rn.f32" in ptx(contracted)
    assert ".ftz" in ptx(replace(UNIT, flags=("--ftz=true",)))


def test_bundled_headers_are_found_without_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    header = "#pragma once\n#include <baracuda/deep/inner.cuh>\n"
    bundled = {"baracuda/outer.cuh": header, "baracuda/deep/inner.cuh": "// ä\n#define BARACUDA_INNER 7\n"}
    monkeypatch.setattr(source, "headers", lambda: bundled)
    text = '#include <baracuda/outer.cuh>\nextern "C" __global__ void k(int* x) { *x = BARACUDA_INNER; }\n'
    assert ", 7;" in ptx(Unit("k.cu", text, ()))


def test_headers_are_those_of_the_package() -> None:
    names = list(source.headers())
    assert names == sorted(names)
    assert all(name.startswith("baracuda/") and name.endswith(".cuh") for name in names)
    assert "baracuda/target.cuh" in names
    folder = source.include_folder()
    assert source.headers()["baracuda/target.cuh"] == (folder / "baracuda/target.cuh").read_text()


def test_a_compile_is_logged_with_its_duration(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "baracuda.compile"):
        nvrtc.compile_cubin(UNIT, "sm_90")
    started, ended = (record.getMessage() for record in caplog.records)
    assert started == "compiling probe/probe.cu (f32) for sm_90"
    assert ended.startswith("compiled probe/probe.cu (f32) for sm_90 in ")
    assert ended.endswith(" ms")


# Faults


def test_compile_error_carries_log_and_source(fresh_cache: Path) -> None:
    broken = replace(UNIT, text='// first\nextern "C" __global__ void broken() { undeclared = 1; }\n')
    with pytest.raises(CompileError, match=r"undeclared") as caught:
        loader.compile_only(broken, "sm_90")
    error = caught.value
    assert str(error).startswith("probe/probe.cu: ")
    assert 'identifier "undeclared" is undefined' in str(error).splitlines()[0]
    assert 'identifier "undeclared" is undefined' in error.log
    assert error.source_path is not None
    path = Path(error.source_path)
    assert path.parent == fresh_cache / "failed"
    assert str(path) in str(error)
    written = path.read_text()
    assert '2 | extern "C" __global__ void broken() { undeclared = 1; }' in written
    assert "-ftz=false" in written
    assert disk_cache().info().entries == 0


def test_failed_source_goes_to_a_temporary_file_where_the_cache_cannot_be_written(fresh_cache: Path) -> None:
    fresh_cache.write_text("a file in the place of the folder")
    path = source.write_failed_source(UNIT, fresh_cache / "failed", "-std=c++17", "log")
    assert path is not None
    assert "BARACUDA_PROBE" in Path(path).read_text()
    Path(path).unlink()


def test_an_error_without_a_log_still_says_what_failed() -> None:
    with pytest.raises(CompileError, match=r"probe/probe\.cu: .*-nonsense"):
        nvrtc.compile_cubin(replace(UNIT, flags=("-nonsense",)), "sm_90")


def test_never_jit_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARACUDA_JIT", "never")
    with pytest.raises(CompileError) as caught:
        loader.compile_only(UNIT, "sm_90")
    for part in ("probe/probe.cu", "f32", "sm_90", "BARACUDA_JIT=never", "baracuda-gen compile"):
        assert part in str(caught.value)


def test_never_jit_serves_what_was_compiled_before(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = loader.compile_only(UNIT, "sm_90")
    monkeypatch.setenv("BARACUDA_JIT", "never")
    cached = loader.compile_only(UNIT, "sm_90")
    assert cached.data == compiled.data
    assert (cached.kind, cached.arch, cached.seconds) == ("cubin", "sm_90", 0.0)


# Architectures


@pytest.fixture
def _knows_up_to_sm_90(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "supported_archs", lambda: (50, 75, 80, 86, 90))
    monkeypatch.setattr(nvrtc, "version", lambda: (12, 3))


@pytest.mark.usefixtures("_knows_up_to_sm_90")
@pytest.mark.parametrize(
    ("arch", "target"),
    [
        ("sm_80", "sm_80"),
        ("sm_90a", "sm_90a"),
        ("compute_86", "compute_86"),
        ("sm_120", "compute_90"),
        ("sm_89", "compute_86"),  # between two that are known: never PTX for a newer one
    ],
)
def test_resolved_architecture(arch: str, target: str) -> None:
    assert nvrtc.resolve_arch(arch) == target


@pytest.mark.usefixtures("_knows_up_to_sm_90")
def test_too_new_a_gpu_gets_ptx() -> None:
    artifact = loader.compile_only(UNIT, "sm_120")
    assert (artifact.kind, artifact.arch) == ("ptx", "compute_90")
    assert ".target sm_90" in artifact.data.decode()


@pytest.mark.usefixtures("_knows_up_to_sm_90")
@pytest.mark.parametrize("arch", ["sm_30", "sm_75", "compute_75"])
def test_too_old_a_gpu(arch: str) -> None:
    with pytest.raises(Unsupported) as caught:
        loader.compile_only(UNIT, arch)
    for part in (arch, "sm_80 or newer", "NVRTC 12.3", "sm_80, sm_86, sm_90"):
        assert part in str(caught.value)


@pytest.mark.usefixtures("_knows_up_to_sm_90")
def test_no_fallback_for_features_of_one_architecture() -> None:
    with pytest.raises(Unsupported, match=r"NVRTC 12\.3 does not know sm_120a; it compiles for sm_80, sm_86"):
        nvrtc.resolve_arch("sm_120a")


@pytest.mark.parametrize("arch", ["90", "sm90", "sm_", "hopper", "sm_90 -I/", "sm_90\n", "sm_\uff19\uff10"])
def test_no_architecture(arch: str) -> None:
    with pytest.raises(Unsupported, match="write sm_90"):
        nvrtc.resolve_arch(arch)


def test_a_binding_without_a_list_of_architectures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "_nvrtc", lambda: SimpleNamespace(getVersion=lambda: (12, 0)))
    assert nvrtc.resolve_arch("sm_90") == "sm_90"
    assert nvrtc.resolve_arch("sm_120") == "compute_90"


# A missing compiler


@pytest.fixture
def _fresh_binding() -> object:
    nvrtc._nvrtc.cache_clear()
    yield
    nvrtc._nvrtc.cache_clear()


@pytest.mark.usefixtures("_fresh_binding")
def test_missing_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy_backends.cuda.libs.nvrtc", None)
    with pytest.raises(CompileError) as caught:
        loader.compile_only(UNIT, "sm_90")
    assert 'pip install "baracuda[cuda' in str(caught.value)


@pytest.mark.usefixtures("_fresh_binding")
def test_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_found() -> None:
        raise RuntimeError("CuPy failed to load libnvrtc.so.12: OSError: libnvrtc.so.12: cannot open")

    binding = SimpleNamespace(getVersion=not_found)
    monkeypatch.setitem(sys.modules, "cupy_backends.cuda.libs.nvrtc", binding)
    monkeypatch.setenv("CUDA_PATH", "/opt/no-cuda-here")
    with pytest.raises(CompileError) as caught:
        nvrtc.compile_cubin(UNIT, "sm_90")
    for part in ("libnvrtc.so.12: cannot open", "CUDA_PATH=/opt/no-cuda-here", 'pip install "baracuda[cuda'):
        assert part in str(caught.value)


def test_missing_builtins(monkeypatch: pytest.MonkeyPatch) -> None:
    log = "nvrtc: error: failed to open libnvrtc-builtins.so.12.9.\n"

    def fail(program: int, command: list[str]) -> None:
        raise RuntimeError("NVRTC_ERROR_BUILTIN_OPERATION_FAILURE (7)")

    destroyed: list[int] = []
    binding = SimpleNamespace(
        getVersion=lambda: (12, 9),
        getSupportedArchs=lambda: (90,),
        createProgram=lambda *_: 1,
        compileProgram=fail,
        getProgramLog=lambda _: log,
        destroyProgram=destroyed.append,
    )
    monkeypatch.setattr(nvrtc, "_nvrtc", lambda: binding)
    with pytest.raises(CompileError, match=r"failed to open libnvrtc-builtins(.|\n)*pip install"):
        nvrtc.compile_cubin(UNIT, "sm_90")
    assert destroyed == [1]


def test_importing_needs_no_cupy() -> None:
    script = (
        "import sys\nsys.modules['cupy'] = sys.modules['cupy_backends'] = None\n"
        "import baracuda.driver, baracuda.compile.loader\n"
        "assert baracuda.driver.device_count() == 0\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
