"""The one seam to the CUDA driver: devices, contexts, modules, launches. Importable without CuPy.

Launches go through CuPy's thin binding of ``cuLaunchKernel`` with everything but the stream packed
beforehand; what that binding lacks can be added here without a change elsewhere.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import os
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from baracuda.errors import DriverError, InvalidProblem, Unsupported

# Values of the CUDA headers, which never change.
_FUNCTION_MAX_THREADS = 0  # CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
_FUNCTION_STATIC_SHARED = 1  # CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
_FUNCTION_REGISTERS = 4  # CU_FUNC_ATTRIBUTE_NUM_REGS
_FUNCTION_MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_DEVICE_MULTIPROCESSORS = 16  # cudaDevAttrMultiProcessorCount
_DEVICE_MAJOR = 75  # cudaDevAttrComputeCapabilityMajor
_DEVICE_MINOR = 76  # cudaDevAttrComputeCapabilityMinor
_DEVICE_REGISTERS = 82  # cudaDevAttrMaxRegistersPerMultiprocessor
_DEVICE_MAX_SHARED = 97  # cudaDevAttrMaxSharedMemoryPerBlockOptin
_EVENT_DISABLE_TIMING = 2  # cudaEventDisableTiming: such events are the cheapest
_NOT_INITIALIZED = 3  # CUDA_ERROR_NOT_INITIALIZED
_CAPTURE_IMPLICIT = 906  # cudaErrorStreamCaptureImplicit

# Bytes of shared memory: what the driver takes of each block's, and the steps in which it is given.
_SHARED_RESERVED = 1024
_SHARED_STEP = 128
# A thread's registers are handed out in steps of so many.
_REGISTERS_STEP = 8
# What a block gets without asking, in bytes.
_SHARED_WITHOUT_OPT_IN = 48 * 1024
_GRID_LIMITS = (2**31 - 1, 65535, 65535)


class _Binding(NamedTuple):
    """CuPy's modules of the driver API and of the runtime API."""

    driver: Any
    runtime: Any


@functools.cache
def _cuda() -> _Binding:
    """CuPy's bindings; raises `DriverError` where CuPy is missing."""
    _process()
    try:
        return _Binding(
            importlib.import_module("cupy_backends.cuda.api.driver"),
            importlib.import_module("cupy_backends.cuda.api.runtime"),
        )
    except ImportError as error:
        raise DriverError(
            f'a CUDA device needs CuPy, which cannot be imported ({error}): pip install "baracuda[cuda12]" '
            'or "baracuda[cuda13]"'
        ) from error


@functools.cache
def _process() -> int:
    """The process that used CUDA first: this one, or one that forked it."""
    return os.getpid()


def _fail(what: str, error: Exception) -> NoReturn:
    """Raise `DriverError` for a failed call: what was tried, then the driver's name and text of the error."""
    status = getattr(error, "status", 0)
    forked = status == _NOT_INITIALIZED and _process() != os.getpid()
    hint = "; CUDA does not survive a fork: start processes by the method 'spawn'" if forked else ""
    raise DriverError(f"{what}: {error}{hint}", status=status) from error


# Devices


@functools.cache
def device_count() -> int:
    """The number of CUDA devices; 0 without CuPy, a driver or a device."""
    try:
        return int(_cuda().runtime.getDeviceCount())
    except Exception:
        return 0


@functools.cache
def _device_attribute(attribute: int, index: int) -> int:
    runtime = _cuda().runtime
    try:
        count = int(runtime.getDeviceCount())
    except Exception as error:
        _fail("no CUDA device can be used", error)
    if not 0 <= index < count:
        raise DriverError(f"there is no CUDA device {index}: this machine has {count}")
    try:
        return int(runtime.deviceGetAttribute(attribute, index))
    except Exception as error:
        _fail(f"CUDA device {index}", error)


def device_arch(index: int) -> str:
    """The architecture of device ``index``, such as ``"sm_90"``; `DriverError` without such a device."""
    return f"sm_{_device_attribute(_DEVICE_MAJOR, index)}{_device_attribute(_DEVICE_MINOR, index)}"


def multiprocessor_count(index: int) -> int:
    """The number of multiprocessors of device ``index``."""
    return _device_attribute(_DEVICE_MULTIPROCESSORS, index)


def max_shared_memory(index: int) -> int:
    """The bytes of shared memory that one block may have on device ``index``, static and dynamic together."""
    return _device_attribute(_DEVICE_MAX_SHARED, index)


# Contexts


def _current_context(driver: Any) -> int:
    """The calling thread's context; 0 where it has none, or where CUDA was not used yet."""
    try:
        return int(driver.ctxGetCurrent())
    except Exception as error:
        if getattr(error, "status", 0) == _NOT_INITIALIZED:
            return 0
        _fail("no CUDA context can be had", error)


def context_of(index: int) -> int:
    """The context to use on device ``index``: the thread's own if it is of that device, else the primary one.

    Initialises CUDA on the device if need be. The thread's current context is the same afterwards.
    """
    driver, runtime = _cuda()
    _device_attribute(_DEVICE_MAJOR, index)  # a clear error where there is no such device
    before = _current_context(driver)
    try:
        if before and driver.ctxGetDevice() == index:
            return before
        device_before = runtime.getDevice()
        runtime.setDevice(index)
        try:
            runtime.free(0)  # makes the primary context, which setDevice alone leaves for later in CUDA 11
            return int(driver.ctxGetCurrent())
        finally:
            if before:
                driver.ctxSetCurrent(before)
            elif device_before != index:
                runtime.setDevice(device_before)
    except DriverError:
        raise
    except Exception as error:
        _fail(f"CUDA device {index} cannot be initialised", error)


@contextlib.contextmanager
def _current(driver: Any, context: int) -> Iterator[None]:
    """Make ``context`` the thread's own for a while; nothing but a comparison where it already is."""
    before = _current_context(driver)
    if before == context:
        yield
        return
    driver.ctxSetCurrent(context)
    try:
        yield
    finally:
        driver.ctxSetCurrent(before)


def is_capturing(stream_handle: int) -> bool:
    """Whether the stream records a CUDA graph. Raises `DriverError` where its capture was invalidated."""
    try:
        return bool(_cuda().runtime.streamIsCapturing(stream_handle))
    except Exception as error:
        # The legacy stream cannot be asked while another one captures: loading would break that too.
        if getattr(error, "status", 0) == _CAPTURE_IMPLICIT:
            return True
        _fail(f"stream {stream_handle:#x}", error)


def synchronize(stream_handle: int, index: int) -> None:
    """Wait until everything on the stream of device ``index`` has ended.

    Raises `DriverError` with the driver's status where a kernel failed there, on this or any other stream:
    such an error stays for the rest of the process.
    """
    driver, runtime = _cuda()
    try:
        with _current(driver, context_of(index)):
            runtime.streamSynchronize(stream_handle)
    except DriverError:
        raise
    except Exception as error:
        _fail(f"stream {stream_handle:#x} of device {index}", error)


# Events that no wait is being made with, by context: a wait keeps what it needs of one.
_spare_events: dict[int, list[int]] = {}


def wait_for(stream_handle: int, other_handle: int, index: int) -> None:
    """Make a stream wait for what another of device ``index`` was given so far. The host does not wait."""
    driver, runtime = _cuda()
    try:
        context = context_of(index)
        spare = _spare_events.setdefault(context, [])
        with _current(driver, context):
            try:
                event = spare.pop()
            except IndexError:
                event = int(runtime.eventCreateWithFlags(_EVENT_DISABLE_TIMING))
            runtime.eventRecord(event, other_handle)
            runtime.streamWaitEvent(stream_handle, event, 0)
        spare.append(event)
    except DriverError:
        raise
    except Exception as error:
        _fail(f"stream {stream_handle:#x} cannot wait for stream {other_handle:#x} of device {index}", error)


# Modules, kernels, launches


def load_module(image: bytes, index: int, name: str) -> CudaModule:
    """Load a cubin or PTX on device ``index``, into the context of `context_of`. ``name`` is for messages."""
    context = context_of(index)
    driver = _cuda().driver
    try:
        with _current(driver, context):
            handle = int(driver.moduleLoadData(image))
    except Exception as error:
        _fail(f"{name}: the compiled kernel cannot be loaded on device {index} ({device_arch(index)})", error)
    return CudaModule(handle, context, index, name)


class CudaModule:
    """A module loaded in one context; its kernels are looked up once."""

    def __init__(self, handle: int, context: int, index: int, name: str) -> None:
        self.context = context
        self.index = index
        self.name = name
        self._handle = handle
        self._kernels: dict[str, CudaKernel] = {}
        self._guard = threading.Lock()

    def kernel(self, symbol: str) -> CudaKernel:
        """The kernel ``symbol``. Raises `DriverError`, naming symbol and module, where there is none."""
        found = self._kernels.get(symbol)
        if found is None:
            with self._guard:
                found = self._kernels.get(symbol) or CudaKernel(self._function(symbol), symbol, self)
                self._kernels[symbol] = found
        return found

    def _function(self, symbol: str) -> int:
        driver = _cuda().driver
        try:
            with _current(driver, self.context):
                return int(driver.moduleGetFunction(self._handle, symbol))
        except Exception as error:
            _fail(f"{self.name} has no kernel {symbol}", error)


class CudaKernel:
    """One ``__global__`` function of a module."""

    def __init__(self, function: int, symbol: str, module: CudaModule) -> None:
        self.symbol = symbol
        self.function = function
        self.context = module.context
        self.index = module.index
        # Asking makes the driver load the code now, not in the first launch, which a graph may record.
        self.static_shared, self.max_threads = self._attributes(
            _FUNCTION_STATIC_SHARED, _FUNCTION_MAX_THREADS
        )
        self._dynamic_shared = _SHARED_WITHOUT_OPT_IN - self.static_shared
        self._guard = threading.Lock()
        # A module is never unloaded while one of its kernels lives.
        self._module = module

    def _attributes(self, *attributes: int) -> list[int]:
        driver = _cuda().driver
        try:
            with _current(driver, self.context):
                return [int(driver.funcGetAttribute(attribute, self.function)) for attribute in attributes]
        except Exception as error:
            _fail(self.symbol, error)

    def shared_to_hold(self, blocks: int, threads: int) -> int:
        """Bytes of dynamic shared memory with which a multiprocessor holds at most `blocks` of a kernel.

        Where its registers do not suffice for so many, the largest power of two that they suffice for: else
        the last wave of a grid leaves most multiprocessors idle.
        """
        (registers,) = self._attributes(_FUNCTION_REGISTERS)
        a_thread = -(-registers // _REGISTERS_STEP) * _REGISTERS_STEP
        fit = max(_device_attribute(_DEVICE_REGISTERS, self.index) // max(a_thread * threads, 1), 1)
        if fit < blocks:
            blocks = 1 << (fit.bit_length() - 1)
        all_of_it = max_shared_memory(self.index) + _SHARED_RESERVED
        too_many = all_of_it // (blocks + 1) // _SHARED_STEP * _SHARED_STEP
        return max(too_many + _SHARED_STEP - _SHARED_RESERVED - self.static_shared, 0)

    def pack(self, grid: tuple[int, int, int], threads: int, shared_bytes: int, params: bytes) -> CudaLaunch:
        """A launch of ``grid`` blocks of ``threads`` threads with ``shared_bytes`` of dynamic shared memory.

        ``params`` are the bytes of the kernel's one parameter; they are copied. Raises `InvalidProblem` for
        a grid or block that the device cannot run and `Unsupported` for more shared memory than it has.
        """
        x, y, z = grid
        if not (1 <= x <= _GRID_LIMITS[0] and 1 <= y <= _GRID_LIMITS[1] and 1 <= z <= _GRID_LIMITS[2]):
            raise InvalidProblem(
                f"{self.symbol}: a grid of {grid} blocks; each extent is 1 to {_GRID_LIMITS}"
            )
        if not 1 <= threads <= self.max_threads:
            raise InvalidProblem(
                f"{self.symbol}: {threads} threads a block; this kernel runs 1 to {self.max_threads}"
            )
        if shared_bytes > self._dynamic_shared:
            self._allow_shared(shared_bytes)
        return CudaLaunch(self, grid, threads, shared_bytes, params)

    def _allow_shared(self, shared_bytes: int) -> None:
        """Raise the function's bound of dynamic shared memory; never lower it, for launches packed before."""
        limit = max_shared_memory(self.index) - self.static_shared
        if shared_bytes > limit:
            raise Unsupported(
                f"{self.symbol}: {shared_bytes} bytes of dynamic shared memory; device {self.index} "
                f"({device_arch(self.index)}) has {limit} for this kernel"
            )
        driver = _cuda().driver
        with self._guard:
            if shared_bytes <= self._dynamic_shared:
                return
            try:
                with _current(driver, self.context):
                    driver.funcSetAttribute(self.function, _FUNCTION_MAX_DYNAMIC_SHARED, shared_bytes)
            except Exception as error:
                _fail(f"{self.symbol}: {shared_bytes} bytes of dynamic shared memory", error)
            self._dynamic_shared = shared_bytes


class CudaLaunch:
    """A kernel with its grid and parameters, ready to go on any stream of its device, from any thread."""

    __slots__ = ("_driver", "_go", "_keep", "_kernel", "_params", "params")

    def __init__(
        self, kernel: CudaKernel, grid: tuple[int, int, int], threads: int, shared_bytes: int, params: bytes
    ) -> None:
        self._driver = _cuda().driver
        self._kernel = kernel
        self._go = functools.partial(
            self._driver.launchKernel, kernel.function, *grid, threads, 1, 1, shared_bytes
        )
        block = ctypes.create_string_buffer(params, max(len(params), 1))
        pointers = (ctypes.c_void_p * 1)(ctypes.addressof(block))
        self._params = ctypes.addressof(pointers)
        # The driver reads both at every launch.
        self.params = block
        self._keep = pointers

    def __call__(self, stream_handle: int) -> None:
        """Enqueue the kernel on the stream; `DriverError`, naming the kernel, where the driver refuses."""
        try:
            self._go(stream_handle, self._params, 0)
        except Exception as error:
            self._go_elsewhere(stream_handle, error)

    def _go_elsewhere(self, stream_handle: int, refusal: Exception) -> None:
        """The same where another context than the kernel's is current, which the driver refuses.

        So the context need not be asked for at every launch.
        """
        try:
            if _current_context(self._driver) == self._kernel.context:
                raise refusal
            with _current(self._driver, self._kernel.context):
                self._go(stream_handle, self._params, 0)
        except DriverError:
            raise
        except Exception as error:
            _fail(f"{self._kernel.symbol} on stream {stream_handle:#x} of device {self._kernel.index}", error)
