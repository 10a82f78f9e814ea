"""The logic of the driver seam, against a driver that records calls (the real one: `test_driver_gpu.py`)."""

from __future__ import annotations

import ctypes
import pickle
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from baracuda import driver
from baracuda.errors import DriverError, InvalidProblem, Unsupported

PRIMARY = {0: 1000, 1: 1001}
OTHER_CONTEXT_OF_0 = 2000
PARAMS = bytes(range(24))
ATTRIBUTES = {75: 9, 76: 0, 16: 132, 82: 65536, 97: 232448}


class FakeError(RuntimeError):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class FakeCuda(threading.local):
    """Two devices. What a thread has current is its own, as with CUDA; the log is shared."""

    log: ClassVar[list[tuple[Any, ...]]] = []
    owner: ClassVar[list[int]] = []  # the context of the module

    def __init__(self) -> None:
        self.initialised = False
        self.context = 0
        self.device = 0
        self.registers = 32

    # The driver API

    def ctxGetCurrent(self) -> int:
        if not self.initialised:
            raise FakeError(3, "CUDA_ERROR_NOT_INITIALIZED: initialization error")
        return self.context

    def ctxSetCurrent(self, context: int) -> None:
        self.context = context

    def ctxGetDevice(self) -> int:
        return {1000: 0, 1001: 1, OTHER_CONTEXT_OF_0: 0}[self.context]

    def moduleLoadData(self, image: bytes) -> int:
        if not image.startswith(b"\x7fELF"):
            raise FakeError(200, "CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid")
        self.log.append(("load", self.context))
        self.owner[:] = [self.context]
        return 77

    def moduleGetFunction(self, module: int, symbol: str) -> int:
        if symbol != "kernel":
            raise FakeError(500, "CUDA_ERROR_NOT_FOUND: named symbol not found")
        self.log.append(("function", self.context))
        return 88

    def funcGetAttribute(self, attribute: int, function: int) -> int:
        return {0: 256, 1: 1024, 4: self.registers}[attribute]

    def funcSetAttribute(self, function: int, attribute: int, value: int) -> None:
        self.log.append(("attribute", self.context, function, attribute, value))

    def launchKernel(self, *args: int) -> None:
        function, *shape, stream, pointers, extra = args
        if self.context == 0:
            raise FakeError(201, "CUDA_ERROR_INVALID_CONTEXT: invalid device context")
        if [self.context] != self.owner:
            raise FakeError(400, "CUDA_ERROR_INVALID_HANDLE: invalid resource handle")
        if stream == 666:
            raise FakeError(700, "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered")
        block = ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p))[0]
        assert block is not None
        params = ctypes.string_at(block, len(PARAMS))
        self.log.append(("launch", self.context, function, tuple(shape), stream, params, extra))

    # The runtime API

    def getDeviceCount(self) -> int:
        return 2

    def getDevice(self) -> int:
        return self.ctxGetDevice() if self.context else self.device

    def setDevice(self, index: int) -> None:
        self.initialised = True
        self.device = index
        self.context = PRIMARY[index]

    def free(self, pointer: int) -> None:
        assert pointer == 0

    def deviceGetAttribute(self, attribute: int, index: int) -> int:
        self.log.append(("device attribute", attribute, index))
        return ATTRIBUTES[attribute]

    def streamIsCapturing(self, stream: int) -> bool:
        if stream == 906:
            raise FakeError(906, "cudaErrorStreamCaptureImplicit")
        if stream == 901:
            raise RuntimeError("the stream was capturing, but an error has invalidated the capture sequence")
        return stream == 5

    def eventCreateWithFlags(self, flags: int) -> int:
        self.log.append(("event", self.context, flags))
        return sum(call[0] == "event" for call in self.log)

    def eventRecord(self, event: int, stream: int) -> None:
        if stream == 901:
            raise FakeError(901, "cudaErrorStreamCaptureInvalidated")
        self.log.append(("record", self.context, event, stream))

    def streamWaitEvent(self, stream: int, event: int, flags: int) -> None:
        self.log.append(("wait", self.context, stream, event, flags))


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCuda]:
    fake = FakeCuda()
    monkeypatch.setattr(FakeCuda, "log", [])
    monkeypatch.setattr(driver, "_cuda", lambda: driver._Binding(fake, fake))
    for cached in (driver.device_count, driver._device_attribute):
        cached.cache_clear()
    yield fake
    for cached in (driver.device_count, driver._device_attribute):
        cached.cache_clear()


def launches(cuda: FakeCuda) -> list[tuple[Any, ...]]:
    return [call[1:] for call in cuda.log if call[0] == "launch"]


def load(index: int = 0) -> driver.CudaModule:
    return driver.load_module(b"\x7fELF...", index, "probe.cu")


def test_device_queries_are_asked_once(cuda: FakeCuda) -> None:
    for _ in range(3):
        assert driver.device_count() == 2
        assert driver.device_arch(1) == "sm_90"
        assert driver.multiprocessor_count(1) == 132
        assert driver.max_shared_memory(1) == 232448
    assert len(cuda.log) == len(set(cuda.log)) == 4


def test_no_such_device(cuda: FakeCuda) -> None:
    with pytest.raises(DriverError, match="no CUDA device 2: this machine has 2"):
        driver.device_arch(2)
    with pytest.raises(DriverError, match="no CUDA device 9"):
        load(9)


def test_the_parameters_are_copied_and_survive(cuda: FakeCuda) -> None:
    params = bytearray(PARAMS)
    launch = load().kernel("kernel").pack((3, 2, 1), 128, 512, bytes(params))
    params[:] = bytes(24)
    launch(17)
    launch(18)
    shape = (3, 2, 1, 128, 1, 1, 512)
    assert launches(cuda) == [(1000, 88, shape, 17, PARAMS, 0), (1000, 88, shape, 18, PARAMS, 0)]


def test_a_kernel_is_looked_up_once(cuda: FakeCuda) -> None:
    module = load()
    assert module.kernel("kernel") is module.kernel("kernel")
    assert [call for call in cuda.log if call[0] == "function"] == [("function", 1000)]


def test_a_first_use_leaves_the_default_device_alone(cuda: FakeCuda) -> None:
    assert load(1).context == PRIMARY[1]
    assert cuda.getDevice() == 0


@pytest.mark.parametrize("current", [0, 1])
def test_the_current_device_is_restored(cuda: FakeCuda, current: int) -> None:
    other = 1 - current
    cuda.setDevice(current)
    launch = load(other).kernel("kernel").pack((1, 1, 1), 32, 100 * 1024, PARAMS)
    launch(0)
    assert cuda.ctxGetCurrent() == PRIMARY[current]
    assert cuda.getDevice() == current
    assert {call[1] for call in cuda.log if call[0] != "device attribute"} == {PRIMARY[other]}
    assert [call[0] for call in cuda.log if call[0] != "device attribute"] == [
        "load",
        "function",
        "attribute",
        "launch",
    ]


def test_the_current_device_is_restored_after_a_failure(cuda: FakeCuda) -> None:
    cuda.setDevice(0)
    launch = load(1).kernel("kernel").pack((1, 1, 1), 32, 0, PARAMS)
    with pytest.raises(DriverError):
        launch(666)
    assert cuda.ctxGetCurrent() == PRIMARY[0]


def test_a_thread_without_a_context_can_launch(cuda: FakeCuda) -> None:
    launch = load().kernel("kernel").pack((1, 1, 1), 32, 0, PARAMS)
    after = []

    def work() -> None:
        cuda.initialised = True
        launch(3)
        after.append(cuda.context)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [call[0] for call in launches(cuda)] == [PRIMARY[0]]
    assert after == [0]


def test_a_context_of_the_callers_own_is_used(cuda: FakeCuda) -> None:
    cuda.setDevice(0)
    cuda.ctxSetCurrent(OTHER_CONTEXT_OF_0)
    assert driver.context_of(0) == OTHER_CONTEXT_OF_0
    assert driver.context_of(1) == PRIMARY[1]
    assert cuda.ctxGetCurrent() == OTHER_CONTEXT_OF_0
    assert load(0).context == OTHER_CONTEXT_OF_0


def shared_calls(cuda: FakeCuda) -> list[int]:
    return [call[-1] for call in cuda.log if call[0] == "attribute"]


def test_much_shared_memory_is_asked_for_once_and_never_lowered(cuda: FakeCuda) -> None:
    kernel = load().kernel("kernel")
    kernel.pack((1, 1, 1), 32, 47 * 1024, PARAMS)
    assert shared_calls(cuda) == []  # with the static kilobyte just 48 KiB
    kernel.pack((1, 1, 1), 32, 47 * 1024 + 16, PARAMS)
    kernel.pack((1, 1, 1), 32, 100 * 1024, PARAMS)
    kernel.pack((1, 1, 1), 32, 64 * 1024, PARAMS)
    kernel.pack((1, 1, 1), 32, 100 * 1024, PARAMS)
    assert shared_calls(cuda) == [47 * 1024 + 16, 100 * 1024]
    assert ("attribute", 1000, 88, 8, 100 * 1024) in cuda.log


@pytest.mark.parametrize(
    ("registers", "wanted", "held"),
    [(64, 4, 4), (65, 4, 2), (77, 4, 2), (77, 2, 2), (32, 2, 2), (128, 4, 2), (129, 4, 1), (255, 4, 1)],
)
def test_few_blocks_are_held_by_shared_memory(cuda: FakeCuda, registers: int, wanted: int, held: int) -> None:
    """As many as wanted where registers suffice, else the largest power of two that they suffice for."""
    cuda.registers = registers
    shared = load().kernel("kernel").shared_to_hold(wanted, 256)
    a_block = shared + 1024 + 1024  # what is static, and what the driver takes
    assert (232448 + 1024) // a_block == held


def test_more_shared_memory_than_there_is(cuda: FakeCuda) -> None:
    kernel = load().kernel("kernel")
    kernel.pack((1, 1, 1), 32, 232448 - 1024, PARAMS)
    with pytest.raises(Unsupported, match=r"kernel: 231425 bytes .* device 0 \(sm_90\) has 231424"):
        kernel.pack((1, 1, 1), 32, 232448 - 1023, PARAMS)


@pytest.mark.parametrize("grid", [(0, 1, 1), (1, 65536, 1), (1, 1, 65536), (2**31, 1, 1), (-1, 1, 1)])
def test_an_impossible_grid(cuda: FakeCuda, grid: tuple[int, int, int]) -> None:
    with pytest.raises(InvalidProblem, match="kernel: a grid of"):
        load().kernel("kernel").pack(grid, 32, 0, PARAMS)


@pytest.mark.parametrize("threads", [0, 257])
def test_an_impossible_block(cuda: FakeCuda, threads: int) -> None:
    with pytest.raises(InvalidProblem, match=f"kernel: {threads} threads"):
        load().kernel("kernel").pack((1, 1, 1), threads, 0, PARAMS)


def test_the_largest_grid_and_block(cuda: FakeCuda) -> None:
    load().kernel("kernel").pack((2**31 - 1, 65535, 65535), 256, 0, PARAMS)(1)
    assert launches(cuda)[0][2] == (2**31 - 1, 65535, 65535, 256, 1, 1, 0)


def test_errors_name_kernel_and_status(cuda: FakeCuda) -> None:
    launch = load().kernel("kernel").pack((1, 1, 1), 32, 0, PARAMS)
    with pytest.raises(
        DriverError, match=r"kernel on stream 0x29a of device 0: CUDA_ERROR_ILLEGAL_ADDRESS"
    ) as caught:
        launch(666)
    assert caught.value.status == 700
    assert pickle.loads(pickle.dumps(caught.value)).status == 700
    with pytest.raises(DriverError, match=r"probe\.cu has no kernel wrong: CUDA_ERROR_NOT_FOUND"):
        load().kernel("wrong")
    with pytest.raises(DriverError, match=r"probe\.cu: .* device 0 \(sm_90\): CUDA_ERROR_INVALID_IMAGE"):
        driver.load_module(b"text", 0, "probe.cu")


def test_a_forked_child_is_told_why_nothing_works(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*args: int) -> None:
        raise FakeError(3, "CUDA_ERROR_NOT_INITIALIZED: initialization error")

    launch = load().kernel("kernel").pack((1, 1, 1), 32, 0, PARAMS)
    monkeypatch.setattr(launch, "_go", gone)
    for parent, told in ((driver.os.getpid(), False), (driver.os.getppid(), True)):
        monkeypatch.setattr(driver, "_process", lambda parent=parent: parent)
        with pytest.raises(DriverError, match="CUDA_ERROR_NOT_INITIALIZED") as caught:
            launch(0)
        assert ("does not survive a fork: start processes by the method 'spawn'" in str(caught.value)) == told
        assert caught.value.status == 3


def test_capture_status(cuda: FakeCuda) -> None:
    assert driver.is_capturing(5) is True
    assert driver.is_capturing(6) is False
    assert driver.is_capturing(906) is True
    with pytest.raises(DriverError, match="invalidated"):
        driver.is_capturing(901)


# Waits between streams


def test_a_wait_is_an_event_of_the_context_that_serves_again(cuda: FakeCuda) -> None:
    driver._spare_events.clear()
    driver.wait_for(0x70, 0x50, 1)
    driver.wait_for(0x70, 0x51, 1)
    driver.wait_for(0x70, 0x50, 0)
    assert [entry for entry in cuda.log if entry[0] in ("event", "record", "wait")] == [
        ("event", PRIMARY[1], 2),
        ("record", PRIMARY[1], 1, 0x50),
        ("wait", PRIMARY[1], 0x70, 1, 0),
        ("record", PRIMARY[1], 1, 0x51),
        ("wait", PRIMARY[1], 0x70, 1, 0),
        ("event", PRIMARY[0], 2),
        ("record", PRIMARY[0], 2, 0x50),
        ("wait", PRIMARY[0], 0x70, 2, 0),
    ]
    assert driver._spare_events == {PRIMARY[1]: [1], PRIMARY[0]: [2]}


def test_a_wait_leaves_the_current_context_alone(cuda: FakeCuda) -> None:
    cuda.setDevice(0)
    driver.wait_for(0x70, 0x50, 1)
    assert cuda.context == PRIMARY[0]


def test_a_refused_wait_names_both_streams_and_its_event_serves_no_more(cuda: FakeCuda) -> None:
    driver._spare_events.clear()
    with pytest.raises(DriverError, match=r"stream 0x70 cannot wait for stream 0x385 of device 0: .*Capture"):
        driver.wait_for(0x70, 901, 0)
    assert driver._spare_events == {PRIMARY[0]: []}
    with pytest.raises(DriverError, match="there is no CUDA device 7"):
        driver.wait_for(0x70, 0x50, 7)
