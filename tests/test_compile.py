"""Units, their keys, NVRTC and the loader. No GPU is needed: NVRTC compiles without one."""

from __future__ import annotations

import ctypes
import logging
import os
import struct
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from baracuda import driver
from baracuda.compile import loader, nvrtc, source
from baracuda.compile.cache import disk_cache
from baracuda.compile.nvrtc import Artifact
from baracuda.compile.unit import Unit, digest, unit_key
from baracuda.errors import CompileError, DriverError, Unsupported
from baracuda.tensor import Device

# Every operation that a flag could change: product, sum of a product, quotient, square root.
TEXT = """
extern "C" __global__ void probe(float* x, float w) {
    float v = x[threadIdx.x];
    x[threadIdx.x] = v * w + sqrtf(v) / w + BARACUDA_PROBE;
}
"""
UNIT = Unit("probe/probe.cu", TEXT, (("BARACUDA_DTYPE", "f32"), ("BARACUDA_PROBE", "1")))


@pytest.fixture(autouse=True)
def _isolated(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BARACUDA_JIT", raising=False)
    monkeypatch.setattr(loader, "_modules", {})


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


# Units and keys


def key(unit: Unit = UNIT, arch: str = "sm_90", compiler: str = "nvrtc 12.9", headers: str = "h") -> str:
    return unit_key(unit, nvrtc.options(unit), arch, compiler, headers)


@pytest.mark.parametrize(
    "other",
    [
        key(replace(UNIT, text=TEXT + " ")),
        key(replace(UNIT, defines=(("BARACUDA_DTYPE", "f16"), ("BARACUDA_PROBE", "1")))),
        key(replace(UNIT, defines=(*UNIT.defines, ("BARACUDA_WIDE", "")))),
        key(replace(UNIT, defines=UNIT.defines[:1])),
        key(replace(UNIT, flags=("-fmad=true",))),
        key(replace(UNIT, flags=("-ftz=true",))),
        key(replace(UNIT, flags=("-std=c++20",))),
        key(replace(UNIT, flags=("-lineinfo",))),
        key(arch="sm_80"),
        key(arch="compute_90"),
        key(compiler="nvrtc 13.0"),
        key(headers="g"),
    ],
)
def test_key_changes_with_every_ingredient(other: str) -> None:
    assert other != key()


def test_key_changes_with_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key()
    monkeypatch.setattr("baracuda.compile.unit.SCHEMA", 2)
    assert key() != before


def test_key_does_not_change_otherwise() -> None:
    assert key(replace(UNIT, defines=UNIT.defines[::-1])) == key()
    assert key(replace(UNIT, name="elsewhere/probe.cu")) == key()
    assert key(replace(UNIT, flags=("-fmad=false",))) == key()
    assert len(key()) == 64


def test_digest_keeps_fields_apart() -> None:
    assert (
        len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("abc", ""), digest("a\0b", "c")})
        == 5
    )


def test_key_is_the_same_in_another_process() -> None:
    script = (
        "from baracuda.compile import loader\nfrom baracuda.compile.unit import Unit\n"
        f"print(loader.artifact_key(Unit{(UNIT.name, UNIT.text, UNIT.defines)!r}, 'sm_90'))"
    )
    keys = {loader.artifact_key(UNIT, "sm_90")}
    for seed, locale in (("1", "C"), ("4711", "C.UTF-8")):
        environment = os.environ | {"PYTHONHASHSEED": seed, "LC_ALL": locale}
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            cwd="/",
        )
        keys.add(done.stdout.strip())
    assert len(keys) == 1


def test_one_byte_of_a_header_is_a_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    before = loader.artifact_key(UNIT, "sm_90")
    edited = dict(source.headers())
    edited["baracuda/target.cuh"] += "\n"
    monkeypatch.setattr(source, "headers", lambda: edited)
    source.headers_digest.cache_clear()
    try:
        assert loader.artifact_key(UNIT, "sm_90") != before
    finally:
        source.headers_digest.cache_clear()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"defines": (("A", "1"), ("A", "2"))}, "defined twice: A"),
        ({"defines": (("A B", "1"),)}, "'A B' is not a C identifier"),
        ({"defines": (("A", "1\n#include <x>"),)}, "line break"),
        ({"flags": ("-I/usr/include",)}, "refused"),
        ({"flags": ("-DX=1",)}, "refused"),
        ({"flags": ("--include-path=/usr",)}, "refused"),
        ({"flags": ("-arch=sm_80",)}, "refused"),
        ({"flags": ("--pch",)}, "refused"),
        ({"flags": ("fmad=true",)}, "does not start with '-'"),
    ],
)
def test_a_unit_refuses_what_its_key_cannot_see(fields: dict[str, tuple[str, ...]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(UNIT, **fields)  # type: ignore[arg-type]


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


@pytest.mark.parametrize("arch", ["90", "sm90", "sm_", "hopper", "sm_90 -I/"])
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


# Threads and the loader


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count real compiles, by the text of the unit."""
    compiled: list[str] = []
    original = nvrtc.compile_cubin

    def compile_cubin(unit: Unit, arch: str, failed_folder: Path | None = None) -> Artifact:
        compiled.append(unit.text)
        return original(unit, arch, failed_folder)

    monkeypatch.setattr(nvrtc, "compile_cubin", compile_cubin)
    return compiled


def at_once(count: int, work: object) -> list[object]:
    """Run ``work(i)`` in ``count`` threads that start together; results, or the exceptions, in order."""
    barrier = threading.Barrier(count)
    results: list[object] = [None] * count

    def body(i: int) -> None:
        barrier.wait()
        try:
            results[i] = work(i)  # type: ignore[operator]
        except Exception as error:
            results[i] = error

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_sixteen_threads_compile_one_unit_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = counted(monkeypatch)
    results = at_once(16, lambda i: loader.compile_only(UNIT, "sm_90").data)
    assert len(set(results)) == 1
    assert results[0][:4] == b"\x7fELF"  # type: ignore[index]
    assert compiled == [TEXT]


def test_sixteen_threads_compile_sixteen_units(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = counted(monkeypatch)
    units = [replace(UNIT, text=TEXT.replace("probe", f"probe{i}")) for i in range(16)]
    results = at_once(16, lambda i: loader.compile_only(units[i], "sm_90").data)
    assert all(f"probe{i}".encode() in data for i, data in enumerate(results))  # type: ignore[operator]
    assert sorted(compiled) == sorted(unit.text for unit in units)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A driver that loads nothing: two contexts on one device, and a capture that can be switched on."""
    state = SimpleNamespace(context=100, capturing=False, loaded=[])

    def load_module(image: bytes, index: int, name: str) -> object:
        state.loaded.append((index, state.context, image[:4]))
        return SimpleNamespace(image=image)

    monkeypatch.setattr(driver, "context_of", lambda index: state.context)
    monkeypatch.setattr(driver, "device_arch", lambda index: "sm_90")
    monkeypatch.setattr(driver, "is_capturing", lambda stream: state.capturing)
    monkeypatch.setattr(driver, "load_module", load_module)
    return state


def test_a_module_is_loaded_once_a_context(gpu: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = counted(monkeypatch)
    first = loader.load(UNIT, Device("cuda", 0))
    assert loader.load(replace(UNIT), Device("cuda", 0)) is first
    gpu.context = 200
    assert loader.load(UNIT, Device("cuda", 0)) is not first
    assert gpu.loaded == [(0, 100, b"\x7fELF"), (0, 200, b"\x7fELF")]
    assert compiled == [TEXT]


def test_sixteen_threads_load_one_module(gpu: SimpleNamespace) -> None:
    results = at_once(16, lambda i: loader.load(UNIT, Device("cuda", 0)))
    assert len({id(module) for module in results}) == 1
    assert len(gpu.loaded) == 1


def test_a_cold_load_during_a_capture_says_what_to_do(gpu: SimpleNamespace) -> None:
    gpu.capturing = True
    with pytest.raises(DriverError, match=r"probe/probe\.cu .* cuda:0 .* select the plan before the capture"):
        loader.load(UNIT, Device("cuda", 0), stream_handle=7)
    gpu.capturing = False
    module = loader.load(UNIT, Device("cuda", 0), stream_handle=7)
    gpu.capturing = True
    assert loader.load(UNIT, Device("cuda", 0), stream_handle=7) is module


def test_a_cold_preload_during_a_capture_starts_no_thread(
    gpu: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look of a new thread at a device would end a capture that forbids it to all threads."""
    threads = []
    monkeypatch.setattr(driver, "context_of", lambda index: threads.append(threading.get_ident()) or 100)
    gpu.capturing = True
    units = [replace(UNIT, text=f"{TEXT}// {i}") for i in range(4)]
    with pytest.raises(DriverError, match="select the plan before the capture begins"):
        loader.preload(units, Device("cuda", 0), stream_handle=7)
    assert set(threads) == {threading.get_ident()}
    assert gpu.loaded == []


def test_preload_keeps_the_order_and_passes_errors_on(gpu: SimpleNamespace) -> None:
    units = [replace(UNIT, text=TEXT.replace("probe", f"probe{i}")) for i in range(4)]
    modules = loader.preload([*units, units[0]], Device("cuda", 0), jobs=3)
    assert [f"probe{i}".encode() in module.image for i, module in enumerate(modules[:4])] == [True] * 4  # type: ignore[attr-defined]
    assert modules[4] is modules[0]
    with pytest.raises(CompileError, match="no storage class"):
        loader.preload([units[0], replace(UNIT, text="nonsense")], Device("cuda", 0))


def test_host_units_are_compiled_in_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[list[Unit]] = []

    def compile_units(units: list[Unit]) -> object:
        batches.append(list(units))
        return SimpleNamespace(unit=lambda unit: SimpleNamespace(name=unit.text))

    host = SimpleNamespace(compile_units=compile_units, find_packed=lambda unit: None)
    monkeypatch.setitem(sys.modules, "baracuda.host", host)
    units = [replace(UNIT, text=f"{TEXT}// {i}") for i in range(3)]
    alone = loader.load(units[0], Device("host"))
    modules = loader.preload([*units, units[1]], Device("host"))
    assert batches == [[units[0]], [units[1], units[2]]]
    assert modules[0] is alone
    assert modules[1] is modules[3] is not modules[2]


def test_units_with_the_same_symbol_share_a_host_batch() -> None:
    text = """
        #include <baracuda/target.cuh>
        namespace BARACUDA_NAMESPACE {
        struct Params { float* x; };
        BARACUDA_KERNEL(fill, contig, 1, Params) { p.x[0] = BARACUDA_PROBE; }
        }
    """
    units = [
        Unit("fill.cu", text, (("BARACUDA_DTYPE", "f32"), ("BARACUDA_PROBE", value))) for value in ("3", "5")
    ]
    x = ctypes.c_float()
    params = struct.pack("P", ctypes.addressof(x))
    for module, value in zip(loader.preload(units, Device("host")), (3.0, 5.0), strict=True):
        module.kernel("baracuda_fill_f32").pack((1, 1, 1), 1, 0, params)(0)
        assert x.value == value
