"""Launches of one kernel with nothing around them: what the driver alone takes, through each binding."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["BARE", "bare_calls"]

#: Names of bare launches begin with it.
BARE = "cuLaunchKernel"

SOURCE = r"""
extern "C" __global__ void add(const float* a, const float* b, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i];
}
"""
THREADS = 256


def bare_calls(size: int) -> dict[str, Callable[[], object]]:
    """`cupy.RawKernel`, and the same kernel with its arguments packed beforehand, on the default stream."""
    cupy = importlib.import_module("cupy")
    a, b, y = (cupy.ones(size, "f4") for _ in range(3))
    kernel = cupy.RawKernel(SOURCE, "add")
    blocks = size // THREADS
    arguments = (a, b, y, np.int32(size))
    kernel((blocks,), (THREADS,), arguments)  # compiles
    function = int(kernel.kernel.ptr)

    values = (ctypes.c_void_p(a.data.ptr), ctypes.c_void_p(b.data.ptr), ctypes.c_void_p(y.data.ptr))
    packed = (*values, ctypes.c_int(size))
    pointers = (ctypes.c_void_p * len(packed))(*(ctypes.addressof(value) for value in packed))
    address = ctypes.addressof(pointers)

    def keeping_alive(launch: Callable[[], object]) -> Callable[[], object]:
        launch.__dict__["alive"] = (arguments, kernel, packed, pointers)
        return launch

    launch = importlib.import_module("cupy_backends.cuda.api.driver").launchKernel
    calls: dict[str, Callable[[], object]] = {
        "cupy.RawKernel": lambda: kernel((blocks,), (THREADS,), arguments),
        f"{BARE} (CuPy's binding)": keeping_alive(
            lambda: launch(function, blocks, 1, 1, THREADS, 1, 1, 0, 0, address, 0)
        ),
    }
    binding = _cuda_bindings()
    if binding is not None:
        handle, stream = binding.CUfunction(function), binding.CUstream(0)
        calls[f"{BARE} (cuda.bindings)"] = keeping_alive(
            lambda: binding.cuLaunchKernel(handle, blocks, 1, 1, THREADS, 1, 1, 0, stream, address, 0)
        )
    return calls


def _cuda_bindings() -> Any:
    """NVIDIA's own Python binding of the driver; None where it is not installed."""
    for name in ("cuda.bindings.driver", "cuda.cuda"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None
