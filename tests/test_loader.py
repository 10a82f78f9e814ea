"""The loader: threads, contexts, captures, batches. No GPU is needed."""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from probe_unit import TEXT, UNIT

from baracuda import driver
from baracuda.compile import loader, nvrtc
from baracuda.compile.nvrtc import Artifact
from baracuda.compile.unit import Unit
from baracuda.errors import CompileError, DriverError
from baracuda.tensor import Device

pytestmark = pytest.mark.usefixtures("nothing_loaded")


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
