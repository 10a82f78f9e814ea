"""Kernels that probe the host executor, right ones and wrong ones, and how to run them."""

from __future__ import annotations

import struct

import numpy as np

from baracuda.compile.unit import Unit
from baracuda.host import HostModule

ORDERS = ["forward", "reverse", "ahead", "shuffle:0", "shuffle:7"]
PRELUDE = """
#include <baracuda/target.cuh>
namespace BARACUDA_NAMESPACE {
using T = PROBE_TYPE;
using baracuda::i64;
struct Params { const T* x; T* y; i64 n; };
"""
CORRECT = (
    PRELUDE
    + """
// The sum of a block's part, by a tree in shared memory. `tile` holds blockDim.x values.
BARACUDA_FN T tree_sum(T* tile, T value) {
    tile[threadIdx.x] = value;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
        __syncthreads();
    }
    return tile[0];
}

BARACUDA_KERNEL(scale, contig, 256, Params) {
    const i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= p.n) return;
    p.y[i] = p.x[i] * T(2);
}

BARACUDA_KERNEL(sum, contig, 128, Params) {
    BARACUDA_SHARED(T, tile, 128);
    const i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    const T total = tree_sum(tile, i < p.n ? p.x[i] : T(0));
    if (threadIdx.x != 0) return;
    p.y[blockIdx.x] = total;
}

BARACUDA_KERNEL(sum, dynamic, 128, Params) {
    T* const tile = reinterpret_cast<T*>(baracuda::dynamic_shared());
    const i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    const T total = tree_sum(tile, i < p.n ? p.x[i] : T(0));
    if (threadIdx.x == 0) p.y[blockIdx.x] = total;
}

// One array a declaration: `second` neither is nor touches `first`.
BARACUDA_KERNEL(sum, twice, 128, Params) {
    BARACUDA_SHARED(T, first, 128);
    BARACUDA_SHARED(T, second, 128);
    const T value = p.x[i64(blockIdx.x) * blockDim.x + threadIdx.x];
    const T a = tree_sum(first, value), b = tree_sum(second, value * T(3));
    if (threadIdx.x == 0) p.y[blockIdx.x] = b - a;
}

BARACUDA_KERNEL(sum, warp, 128, Params) {
    BARACUDA_SHARED(T, partial, 4);
    T value = p.x[i64(blockIdx.x) * blockDim.x + threadIdx.x];
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 4) {
        value = partial[threadIdx.x];
        value += __shfl_down_sync(0xfu, value, 2);
        value += __shfl_down_sync(0xfu, value, 1);
        if (threadIdx.x == 0) p.y[blockIdx.x] = value;
    }
}

// Rows: shfl, up, down and xor of a lane's value by `n`, in segments of 8 lanes.
BARACUDA_KERNEL(shuffles, contig, 64, Params) {
    const unsigned full = 0xffffffffu, i = threadIdx.x, threads = blockDim.x;
    const T value = p.x[i];
    p.y[i] = __shfl_sync(full, value, int(p.n), 8);
    p.y[i + threads] = __shfl_up_sync(full, value, unsigned(p.n), 8);
    p.y[i + 2 * threads] = __shfl_down_sync(full, value, unsigned(p.n), 8);
    p.y[i + 3 * threads] = __shfl_xor_sync(full, value, int(p.n), 8);
    struct Wide { double a; i64 b; };
    const Wide wide = __shfl_xor_sync(full, Wide{double(value), i64(i)}, 1);
    p.y[i + 4 * threads] = T(wide.a) + T(wide.b);
}

BARACUDA_KERNEL(votes, contig, 64, Params) {
    const unsigned full = 0xffffffffu;
    const int odd = p.x[threadIdx.x] != T(0);
    __syncwarp();
    T* const y = p.y + threadIdx.x * 8;
    y[0] = T(__syncthreads_count(odd));
    y[1] = T(__syncthreads_or(odd));
    y[2] = T(__syncthreads_and(odd));
    y[3] = T(__popc(__ballot_sync(full, odd)));
    y[4] = T(__any_sync(full, odd));
    y[5] = T(__all_sync(full, odd));
    y[6] = T(__syncthreads_and(1));
    y[7] = T(__all_sync(full, 1));
}

BARACUDA_KERNEL(position, contig, 64, Params) {
    const i64 block = blockIdx.x + i64(gridDim.x) * (blockIdx.y + i64(gridDim.y) * blockIdx.z);
    p.y[block * blockDim.x + threadIdx.x] = T(block * 1000 + threadIdx.x);
}

// Adds up in the bytes of y: a counter of each integer type that atomicAdd takes.
BARACUDA_KERNEL(count, contig, 256, Params) {
    char* const counters = reinterpret_cast<char*>(p.y);
    atomicAdd(reinterpret_cast<int*>(counters), 1);
    atomicAdd(reinterpret_cast<unsigned*>(counters + 4), 2u);
    __threadfence();
    atomicAdd(reinterpret_cast<baracuda::u64*>(counters + 8), baracuda::u64(1) << 33);
}
}
"""
)
WRONG = (
    PRELUDE
    + """
BARACUDA_KERNEL(missing_barrier, contig, 64, Params) {
    BARACUDA_SHARED(T, tile, 64);
    tile[threadIdx.x] = p.x[threadIdx.x];
    p.y[threadIdx.x] = threadIdx.x == 0 ? T(0) : tile[threadIdx.x - 1];
}

BARACUDA_KERNEL(overtaken, contig, 64, Params) {
    BARACUDA_SHARED(T, tile, 64);
    T sum = T(0);
    for (int round = 0; round < 3; ++round) {
        tile[threadIdx.x] = p.x[threadIdx.x] * T(round);
        __syncthreads();
        sum = sum + tile[63 - threadIdx.x];
        __syncwarp();  // too little: the other warp may not have read yet
    }
    p.y[threadIdx.x] = sum;
}

BARACUDA_KERNEL(unwritten, contig, 64, Params) {
    BARACUDA_SHARED(T, tile, 64);
    T* const dynamic = reinterpret_cast<T*>(baracuda::dynamic_shared());
    p.y[threadIdx.x] = tile[threadIdx.x];
    p.y[64 + threadIdx.x] = dynamic[threadIdx.x];
    tile[threadIdx.x] = dynamic[threadIdx.x] = T(1);  // must not show in the next block
}

BARACUDA_KERNEL(divergent, contig, 64, Params) {
    if (threadIdx.x < 40) {
        __syncthreads();  // one side
    } else {
        __syncthreads();  // other side
    }
}

BARACUDA_KERNEL(left_early, contig, 64, Params) {
    __syncthreads();
    if (threadIdx.x == 5) return;
    __syncthreads();  // after the exit
}

BARACUDA_KERNEL(incomplete_shuffle, contig, 64, Params) {
    T value = p.x[threadIdx.x];
    if (threadIdx.x != 33) value = __shfl_xor_sync(0xffffffffu, value, 1);  // not all
    p.y[threadIdx.x] = value;
}

BARACUDA_KERNEL(different_shuffles, contig, 64, Params) {
    const T value = p.x[threadIdx.x];
    if (threadIdx.x % 2 == 0) {
        p.y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, value, 1);  // even
    } else {
        p.y[threadIdx.x] = __shfl_down_sync(0xffffffffu, value, 1);  // odd
    }
}

BARACUDA_KERNEL(mixed, contig, 64, Params) {
    if (threadIdx.x < 7) __syncwarp();  // seven
    __syncthreads();
}

BARACUDA_KERNEL(foreign_mask, contig, 64, Params) {
    p.y[threadIdx.x] = __shfl_sync(0xfffffffeu, p.x[0], 1);  // lane 0
}

BARACUDA_KERNEL(absent_source, contig, 64, Params) {
    if (threadIdx.x < 4) p.y[threadIdx.x] = __shfl_sync(0xfu, p.x[threadIdx.x], 9);
}

BARACUDA_KERNEL(forgotten_copy, contig, 64, Params) {
    BARACUDA_SHARED(T, tile, 64);
    baracuda::copy_async(tile + threadIdx.x, p.x + threadIdx.x);
    baracuda::commit_copies();
    tile[threadIdx.x] = T(0);  // the copy may come later still
    p.y[threadIdx.x] = tile[threadIdx.x];
}

BARACUDA_KERNEL(past_the_end, contig, 64, Params) { p.y[threadIdx.x + p.n] = T(1); }

BARACUDA_KERNEL(past_shared, contig, 64, Params) {
    BARACUDA_SHARED(T, tile, 64);
    BARACUDA_SHARED(T, other, 64);
    tile[threadIdx.x + p.n] = other[threadIdx.x] = T(1);
    __syncthreads();
    p.y[threadIdx.x] = tile[threadIdx.x];
}
}
"""
)


def unit(text: str, dtype: str = "f32", name: str = "probe/probe.cu") -> Unit:
    types = {"f32": "float", "f64": "double", "i32": "int"}
    return Unit(name, text, (("BARACUDA_DTYPE", dtype), ("PROBE_TYPE", types[dtype])))


def run(
    module: HostModule,
    symbol: str,
    x: np.ndarray,
    y: np.ndarray,
    *,
    grid: int | tuple[int, int, int] = 1,
    threads: int = 64,
    shared: int = 0,
    n: int | None = None,
    order: str | None = None,
    os_threads: int | None = None,
) -> np.ndarray:
    """Run a kernel on ``x`` and ``y``, which is returned."""
    params = struct.pack("<QQq", x.ctypes.data, y.ctypes.data, x.size if n is None else n)
    grid = grid if isinstance(grid, tuple) else (grid, 1, 1)
    kernel = module.kernel(f"baracuda_{symbol}")
    kernel.pack(grid, threads, shared, params, order=order, os_threads=os_threads)(0)
    return y


def values(size: int, dtype: str = "f4") -> np.ndarray:
    return (np.random.default_rng(1).standard_normal(size) * 100).astype(dtype)


def tree(rows: np.ndarray) -> np.ndarray:
    """The sums of rows in the order of the kernel's tree."""
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        rows = rows[:, :half] + rows[:, half:]
    return rows[:, 0]
