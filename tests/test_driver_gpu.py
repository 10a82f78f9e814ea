"""The driver seam and the loader on a real device. Run with ``--device cuda``."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from baracuda import driver
from baracuda.compile import loader
from baracuda.compile.unit import Unit
from baracuda.errors import CompileError, DriverError, InvalidProblem, Unsupported

if TYPE_CHECKING:
    from baracuda.tensor import Device

pytestmark = pytest.mark.cuda

TEXT = """
struct Params { float* x; long long n; float w; };

extern "C" __global__ void __launch_bounds__(256) scale(const __grid_constant__ Params p) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < p.n; i += gridDim.x * 256ll) {
        p.x[i] = p.x[i] * p.w;
    }
}

// Writes through the far end of the dynamic shared memory, which faults where less was allowed.
extern "C" __global__ void far(const __grid_constant__ Params p) {
    extern __shared__ float room[];
    float* last = room + p.n - 1;
    if (threadIdx.x == 0) { *last = p.w; }
    __syncthreads();
    if (threadIdx.x == 1) { p.x[0] = *last; }
}

extern "C" __global__ void blocks(const __grid_constant__ Params p) {
    if (threadIdx.x == 0) { atomicAdd(p.x, 1.0f); }
}
"""
UNIT = Unit("probe/gpu.cu", TEXT, ())


@pytest.fixture(autouse=True)
def _isolated(fresh_cache: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "_modules", {})


@pytest.fixture
def cupy() -> Any:
    import cupy

    return cupy


def params(x: Any, n: int, w: float) -> bytes:
    # Padded to the struct's size, which is a multiple of its pointer's.
    return struct.pack("@PqfI", x.data.ptr, n, w, 0)


def scale(device: Device, x: Any, w: float) -> Callable[[int], None]:
    kernel = loader.load(UNIT, device).kernel("scale")
    return kernel.pack((max(1, -(-x.size // 256)), 1, 1), 256, 0, params(x, x.size, w))


def test_launch(device: Device, cupy: Any) -> None:
    x = cupy.arange(1000, dtype="f4")
    launch = scale(device, x, 3.0)
    launch(0)
    launch(0)
    cupy.cuda.runtime.deviceSynchronize()
    assert (x.get() == cupy.arange(1000, dtype="f4").get() * 9).all()


def test_subnormal_numbers_are_kept(device: Device, cupy: Any) -> None:
    x = cupy.asarray([1.17549435e-38, 2.8e-45, -1.17549435e-38], dtype="f4")
    scale(device, x, 0.5)(0)
    cupy.cuda.runtime.deviceSynchronize()
    assert x.get().tobytes() == struct.pack("<3I", 0x00400000, 1, 0x80400000)


def test_second_load_needs_no_compiler(device: Device, cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loader.load(UNIT, device)
    loader._modules.clear()
    monkeypatch.setenv("BARACUDA_JIT", "never")
    x = cupy.ones(5, dtype="f4")
    scale(device, x, 2.0)(0)
    assert x.get().tolist() == [2.0] * 5
    with pytest.raises(CompileError, match="BARACUDA_JIT=never"):
        loader.load(Unit("other.cu", TEXT + "// other\n", ()), device)


def test_ptx_is_taken_too(device: Device, cupy: Any) -> None:
    image = loader.compile_only(UNIT, "compute_80").data
    x = cupy.ones(5, dtype="f4")
    kernel = driver.load_module(image, device.index, UNIT.name).kernel("scale")
    kernel.pack((1, 1, 1), 256, 0, params(x, 5, 2.0))(0)
    assert x.get().tolist() == [2.0] * 5


@pytest.mark.parametrize("kilobytes", [1, 48, 49, 99, 100_000])
def test_much_shared_memory(device: Device, cupy: Any, kilobytes: int) -> None:
    nbytes = min(kilobytes * 1024, driver.max_shared_memory(device.index))
    x = cupy.zeros(1, dtype="f4")
    kernel = loader.load(UNIT, device).kernel("far")
    launch = kernel.pack((1, 1, 1), 32, nbytes, params(x, nbytes // 4, 7.0))
    kernel.pack((1, 1, 1), 32, 1024, params(x, 256, 5.0))
    launch(0)
    assert x.get().tolist() == [7.0]


def test_more_shared_memory_than_there_is(device: Device, cupy: Any) -> None:
    kernel = loader.load(UNIT, device).kernel("far")
    with pytest.raises(Unsupported, match="bytes of dynamic shared memory"):
        kernel.pack((1, 1, 1), 32, driver.max_shared_memory(device.index) + 1, bytes(24))


def test_wrong_symbol(device: Device) -> None:
    with pytest.raises(
        DriverError, match=r"probe/gpu\.cu has no kernel scales: CUDA_ERROR_NOT_FOUND"
    ) as caught:
        loader.load(UNIT, device).kernel("scales")
    assert caught.value.status == 500


def test_too_large_a_block(device: Device) -> None:
    with pytest.raises(InvalidProblem, match="257 threads"):
        loader.load(UNIT, device).kernel("scale").pack((1, 1, 1), 257, 0, bytes(24))


def test_no_image(device: Device) -> None:
    with pytest.raises(DriverError, match="CUDA_ERROR_"):
        driver.load_module(b"neither cubin nor PTX", device.index, "nonsense")


def test_large_grid(device: Device, cupy: Any) -> None:
    x = cupy.zeros(1, dtype="f4")
    loader.load(UNIT, device).kernel("blocks").pack((65536, 2, 3), 32, 0, params(x, 1, 0.0))(0)
    assert x.get().tolist() == [65536 * 6.0]


def test_two_streams(device: Device, cupy: Any) -> None:
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    arrays = [cupy.full(1 << 20, value, dtype="f4") for value in (1.0, 10.0)]
    cupy.cuda.runtime.deviceSynchronize()
    launches = [scale(device, x, 2.0) for x in arrays]
    for _ in range(5):
        for launch, stream in zip(launches, streams, strict=True):
            launch(stream.ptr)
    for stream in streams:
        stream.synchronize()
    assert (arrays[0].get() == 32.0).all()
    assert (arrays[1].get() == 320.0).all()


def test_graph_capture(device: Device, cupy: Any) -> None:
    x = cupy.ones(1000, dtype="f4")
    launch = scale(device, x, 2.0)
    cupy.cuda.runtime.deviceSynchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        assert driver.is_capturing(stream.ptr)
        for _ in range(3):
            launch(stream.ptr)
        graph = stream.end_capture()
        assert not driver.is_capturing(stream.ptr)
        for _ in range(2):
            graph.launch(stream=stream)
        stream.synchronize()
    assert (x.get() == 64.0).all()


def test_first_launch_of_a_loaded_kernel_may_be_captured(device: Device, cupy: Any) -> None:
    x = cupy.zeros(1, dtype="f4")
    nbytes = 60 * 1024
    launch = loader.load(UNIT, device).kernel("far").pack((1, 1, 1), 32, nbytes, params(x, nbytes // 4, 7.0))
    cupy.cuda.runtime.deviceSynchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        launch(stream.ptr)
        graph = stream.end_capture()
        graph.launch(stream=stream)
        stream.synchronize()
    assert x.get().tolist() == [7.0]


def test_a_cold_load_leaves_the_capture_alone(device: Device, cupy: Any) -> None:
    x = cupy.ones(10, dtype="f4")
    launch = scale(device, x, 2.0)
    cupy.cuda.runtime.deviceSynchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        with pytest.raises(DriverError, match="select the plan before the capture"):
            loader.load(Unit("cold.cu", TEXT + "// cold\n", ()), device, stream_handle=stream.ptr)
        launch(stream.ptr)
        graph = stream.end_capture()
        graph.launch(stream=stream)
        stream.synchronize()
    assert (x.get() == 2.0).all()


def test_sixteen_threads(device: Device, cupy: Any) -> None:
    arrays = [cupy.full(5000, float(i), dtype="f4") for i in range(16)]
    cupy.cuda.runtime.deviceSynchronize()
    barrier = threading.Barrier(16)
    modules: list[object] = [None] * 16
    errors: list[BaseException] = []

    def work(i: int) -> None:
        barrier.wait()
        try:
            modules[i] = loader.load(UNIT, device)
            launch = scale(device, arrays[i], 2.0)
            for _ in range(10):
                launch(0)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cupy.cuda.runtime.deviceSynchronize()
    assert not errors
    assert len({id(module) for module in modules}) == 1
    for i, x in enumerate(arrays):
        assert (x.get() == i * 1024.0).all()


def test_one_launch_from_many_threads(device: Device, cupy: Any) -> None:
    x = cupy.zeros(1, dtype="f4")
    launch = loader.load(UNIT, device).kernel("blocks").pack((10, 1, 1), 32, 0, params(x, 1, 0.0))

    def work() -> None:
        for _ in range(50):
            launch(0)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cupy.cuda.runtime.deviceSynchronize()
    assert x.get().tolist() == [8 * 50 * 10.0]


def test_preload(device: Device) -> None:
    units = [Unit(f"probe/{i}.cu", f"{TEXT}// {i}\n", ()) for i in range(6)]
    modules = loader.preload(units, device, jobs=4)
    assert all(module is loader.load(unit, device) for module, unit in zip(modules, units, strict=True))


def test_device_queries(device: Device, cupy: Any) -> None:
    properties = cupy.cuda.runtime.getDeviceProperties(device.index)
    assert driver.device_arch(device.index) == f"sm_{properties['major']}{properties['minor']}"
    assert driver.multiprocessor_count(device.index) == properties["multiProcessorCount"]
    assert driver.max_shared_memory(device.index) == properties["sharedMemPerBlockOptin"]
    assert driver.device_count() == cupy.cuda.runtime.getDeviceCount()
    with pytest.raises(DriverError, match="there is no CUDA device 99"):
        driver.device_arch(99)


def test_every_other_device(device: Device, cupy: Any) -> None:
    """Launching on another device leaves the current one alone."""
    from baracuda.tensor import Device

    before = cupy.cuda.runtime.getDevice()
    for index in range(driver.device_count()):
        with cupy.cuda.Device(index):
            x = cupy.ones(10, dtype="f4")
            cupy.cuda.runtime.deviceSynchronize()
        launch = scale(Device("cuda", index), x, 2.0)
        assert cupy.cuda.runtime.getDevice() == before
        launch(0)
        assert cupy.cuda.runtime.getDevice() == before
        assert x.get().tolist() == [2.0] * 10


def test_a_thread_that_never_used_cuda(device: Device, cupy: Any) -> None:
    x = cupy.ones(10, dtype="f4")
    launch = scale(device, x, 2.0)
    cupy.cuda.runtime.deviceSynchronize()
    thread = threading.Thread(target=launch, args=(0,))
    thread.start()
    thread.join()
    cupy.cuda.runtime.deviceSynchronize()
    assert x.get().tolist() == [2.0] * 10
