"""Looking at plans as they work: a log, NVTX ranges, and a debug mode.

``baracuda.plan`` logs each `select`; the logger of one plan class is ``baracuda.plan.<class>``. With
``BARACUDA_NVTX=1`` each run is a range in a profiler's timeline. With ``BARACUDA_DEBUG=1`` each run waits for
the device, reports what failed there with the plan that met it, and looks for NaN. Both variables are read
when the first plan class is imported; without them nothing is wrapped, so a run costs what it did.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from baracuda import driver
from baracuda.dtypes import ElementKind
from baracuda.errors import BaracudaError, DriverError
from baracuda.ordering import numbered
from baracuda.tensor import Device, TensorRef

__all__ = ["NaNFound", "install", "selected"]

DEBUG_VARIABLE = "BARACUDA_DEBUG"
NVTX_VARIABLE = "BARACUDA_NVTX"

# Errors of a kernel (cudaErrorIllegalAddress to cudaErrorLaunchFailure): the context does not recover.
_STICKY = range(700, 720)
# The bits of infinity, by element kind; without the sign, every larger pattern is a NaN.
_INFINITY = {
    ElementKind.F16: 0x7C00,
    ElementKind.BF16: 0x7F80,
    ElementKind.F32: 0x7F800000,
    ElementKind.F64: 0x7FF0000000000000,
}


class NaNFound(BaracudaError, FloatingPointError):
    """The debug mode found NaN in an output of a plan whose inputs held none."""


def selected(plan: Any, started: float) -> None:
    """Log that a plan was selected; `started` is the `time.perf_counter` of the beginning."""
    logger = _logger(plan)
    if logger.isEnabledFor(logging.INFO):
        milliseconds = (time.perf_counter() - started) * 1e3
        logger.info("%s: selected %s in %.1f ms: %r", type(plan).__name__, plan.sku, milliseconds, plan.desc)


def install(
    plans: type[Any], bound: type[Any], *, nvtx: bool | None = None, debug: bool | None = None
) -> Callable[[], None]:
    """Wrap `plans.run` and the call of `bound` as the environment asks for; the result takes that back.

    `nvtx` and `debug` stand in for the environment's variables.
    """
    push_pop = _nvtx() if (_is_set(NVTX_VARIABLE) if nvtx is None else nvtx) else None
    check = _is_set(DEBUG_VARIABLE) if debug is None else debug
    if push_pop is None and not check:
        return lambda: None
    run, call = plans.run, bound.__call__

    @functools.wraps(run)
    def observed_run(self: Any, stream: Any, workspace: Any, args: Any) -> None:
        def launch() -> None:
            run(self, stream, workspace, args)

        with _range(push_pop, self):
            if not check:
                launch()
                return
            handle = self._handle_first(stream, args)
            tensors = self._rules.validated(args, numbered(handle, self.device))
            _check_run(self, handle, tensors, launch)

    @functools.wraps(call)
    def observed_call(self: Any, stream: Any = None) -> None:
        with _range(push_pop, self.plan):
            if not check:
                call(self, stream)
                return
            handle = self._handle(stream)
            tensors = self.plan._rules.validated(self.args, numbered(handle, self.plan.device))
            _check_run(self.plan, handle, tensors, lambda: call(self, stream))

    # Not assignments, which a type checker takes for a mistake.
    setattr(plans, "run", observed_run)  # noqa: B010
    setattr(bound, "__call__", observed_call)  # noqa: B010

    def undo() -> None:
        setattr(plans, "run", run)  # noqa: B010
        setattr(bound, "__call__", call)  # noqa: B010

    return undo


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "").strip().lower() not in ("", "0", "false", "no", "off")


def _logger(plan: Any) -> logging.Logger:
    return logging.getLogger(f"baracuda.plan.{type(plan).__name__}")


# NVTX


def _nvtx() -> Any:
    """CuPy's binding of NVTX; None, with a warning in the log, where there is none."""
    try:
        binding = importlib.import_module("cupy_backends.cuda.libs.nvtx")
    except ImportError as error:
        logging.getLogger("baracuda.plan").warning("%s is set, but NVTX is CuPy's: %s", NVTX_VARIABLE, error)
        return None
    return binding


@contextlib.contextmanager
def _range(binding: Any, plan: Any) -> Iterator[None]:
    """A range by the plan's name; nothing without a binding."""
    if binding is None:
        yield
        return
    binding.RangePush(f"{type(plan).__name__} {plan.sku}")
    try:
        yield
    finally:
        binding.RangePop()


# The debug mode


def _check_run(
    plan: Any, stream: int, tensors: Mapping[str, TensorRef | None], launch: Callable[[], None]
) -> None:
    """Launch, wait, and look at what came of it. While the stream captures a graph it only launches."""
    device: Device = plan.device
    name = type(plan).__name__
    with _blaming(f"{name}: the device had failed before this run, by whatever ran there earlier"):
        capturing = device.kind == "cuda" and driver.is_capturing(stream)
        if not capturing:
            _wait(device, stream)
    if capturing:
        launch()
        return
    outputs = [rule.name for rule in plan.TENSORS if rule.io == "out"]
    inputs = {key: tensor for key, tensor in tensors.items() if tensor is not None and key not in outputs}
    # Before the launch, which may overwrite an input in place.
    spoilt = [key for key, tensor in inputs.items() if _nans(tensor)[0]]
    started = time.perf_counter()
    with _blaming(repr(plan)):
        launch()
    with _blaming(f"{plan!r}: failed on the device"):
        _wait(device, stream)
    _logger(plan).debug("%s: ran %s in %.3f ms", name, plan.sku, (time.perf_counter() - started) * 1e3)
    for key in outputs:
        tensor = tensors[key]
        if tensor is None:
            continue
        count, where = _nans(tensor)
        if not count:
            continue
        numel = math.prod(tensor.shape)
        found = f"{name}: {key} holds NaN in {count} of {numel} elements, the first at {where}"
        if not spoilt:
            raise NaNFound(f"{found}, and no input held any: {plan!r}")
        _logger(plan).warning("%s; so did the input %s", found, ", ".join(spoilt))


def _wait(device: Device, stream: int) -> None:
    if device.kind == "cuda":
        driver.synchronize(stream, device.index)


@contextlib.contextmanager
def _blaming(what: str) -> Iterator[None]:
    """Say `what` before a `DriverError`, and behind it whether CUDA is lost."""
    try:
        yield
    except DriverError as error:
        lost = ". CUDA can no longer be used in this process" if error.status in _STICKY else ""
        raise DriverError(f"{what}: {error}{lost}", status=error.status) from error


def _nans(tensor: TensorRef) -> tuple[int, tuple[int, ...]]:
    """How many elements of a tensor are NaN, and the index of the first."""
    infinity = _INFINITY.get(tensor.element)
    if infinity is None or 0 in tensor.shape:
        return 0, ()
    if tensor.device.kind == "host":
        return _look(np, tensor, infinity)
    cupy = importlib.import_module("cupy")
    with cupy.cuda.Device(tensor.device.index):
        return _look(cupy, tensor, infinity)


def _look(library: Any, tensor: TensorRef, infinity: int) -> tuple[int, tuple[int, ...]]:
    """`_nans` with NumPy or CuPy."""
    found = (_bits(library, tensor) & (2 ** (8 * tensor.element.itemsize - 1) - 1)) > infinity
    count = int(found.sum())
    if not count:
        return 0, ()
    return count, tuple(int(at) for at in np.unravel_index(int(found.argmax()), tensor.shape))


def _bits(library: Any, tensor: TensorRef) -> Any:
    """The tensor as an array of unsigned integers, without a copy."""
    itemsize = tensor.element.itemsize
    # CuPy takes no negative strides from outside: the axis is read forwards, then turned round.
    lowest = sum(s * (n - 1) for s, n in zip(tensor.strides, tensor.shape, strict=True) if s < 0)
    interface = {
        "data": (tensor.pointer + lowest * itemsize, True),
        "shape": tensor.shape,
        "strides": tuple(abs(stride) * itemsize for stride in tensor.strides),
        "typestr": f"<u{itemsize}",
        "version": 3,
    }
    name = "__array_interface__" if library is np else "__cuda_array_interface__"
    memory = library.asarray(type("Memory", (), {name: interface})())
    return memory[tuple(slice(None, None, -1 if stride < 0 else 1) for stride in tensor.strides)]
