"""The host executor: blocks, threads and barriers on NumPy arrays, and what it finds in wrong kernels."""

from __future__ import annotations

import hashlib
import logging
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from baracuda import host_compile, host_compiler
from baracuda.compile.unit import Unit
from baracuda.errors import CompileError, DriverError, InvalidProblem, Unsupported
from baracuda.host import HostModule, asan_environment, compile_units

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


@pytest.fixture(scope="module")
def module() -> HostModule:
    """Two texts, one of them in three dtypes, in one C++ file."""
    texts = [unit(CORRECT, dtype) for dtype in ("f32", "f64", "i32")]
    return compile_units([*texts, unit(WRONG, name="probe/wrong.cu")])


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


# Correct kernels


@pytest.mark.parametrize(("dtype", "numpy_dtype"), [("f32", "f4"), ("f64", "f8"), ("i32", "i4")])
def test_two_dtypes_of_one_text(module: HostModule, dtype: str, numpy_dtype: str) -> None:
    x = values(1000, numpy_dtype)
    y = np.full(1000, 9, numpy_dtype)
    run(module, f"scale_{dtype}", x, y, grid=4, threads=256, n=997)
    np.testing.assert_array_equal(y[:997], x[:997] * 2)
    assert (y[997:] == 9).all()  # threads beyond n have returned early


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("os_threads", [1, 3])
@pytest.mark.parametrize("variant", ["", "_dynamic", "_twice", "_warp"])
def test_reductions_do_not_depend_on_order_or_thread_count(
    module: HostModule, variant: str, os_threads: int, order: str
) -> None:
    x = values(300 * 128)
    shared = 128 * 4 if variant == "_dynamic" else 0
    y = run(
        module,
        f"sum_f32{variant}",
        x,
        np.zeros(300, "f4"),
        grid=300,
        threads=128,
        shared=shared,
        order=order,
        os_threads=os_threads,
    )
    rows = x.reshape(300, 128)
    if variant == "_warp":
        lanes = rows.reshape(300, 4, 32)
        for step in (16, 8, 4, 2, 1):
            lanes = lanes + lanes[..., np.arange(32) ^ step]
        first = lanes[..., 0]
        want = (first[:, 0] + first[:, 2]) + (first[:, 1] + first[:, 3])
    else:
        want = tree(rows * np.float32(3)) - tree(rows) if variant == "_twice" else tree(rows)
    assert y.tobytes() == want.tobytes()


def tree(rows: np.ndarray) -> np.ndarray:
    """The sums of rows in the order of the kernel's tree."""
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        rows = rows[:, :half] + rows[:, half:]
    return rows[:, 0]


def test_partial_block_and_partial_tail(module: HostModule) -> None:
    x = values(100)
    y = run(module, "sum_f32", x, np.zeros(2, "f4"), grid=2, threads=64)
    padded = np.zeros(128, "f4")
    padded[:100] = x
    assert y.tobytes() == tree(padded.reshape(2, 64)).tobytes()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("threads", [64, 40])
@pytest.mark.parametrize("n", [1, 3, 9])
def test_shuffles(module: HostModule, n: int, threads: int, order: str) -> None:
    x = values(threads, "f8")
    y = run(module, "shuffles_f64", x, np.zeros(5 * threads), threads=threads, n=n, order=order)
    got = y.reshape(5, threads)
    lane = np.arange(threads)
    segment, last = lane & ~7, lane | 7
    np.testing.assert_array_equal(got[0], x[segment + n % 8])
    np.testing.assert_array_equal(got[1], x[np.where(lane - n < segment, lane, lane - n)])
    np.testing.assert_array_equal(got[2], x[np.where(lane + n > last, lane, lane + n)])
    np.testing.assert_array_equal(got[3], x[np.where(lane ^ n > last, lane, lane ^ n)])
    np.testing.assert_array_equal(got[4], x[lane ^ 1] + (lane ^ 1))


@pytest.mark.parametrize("order", ORDERS)
def test_votes(module: HostModule, order: str) -> None:
    x = np.zeros(64, "i4")
    x[[3, 4, 60]] = 1
    y = run(module, "votes_i32", x, np.zeros(64 * 8, "i4"), order=order).reshape(64, 8)
    assert (y[:32] == [3, 1, 0, 2, 1, 0, 1, 1]).all()
    assert (y[32:] == [3, 1, 0, 1, 1, 0, 1, 1]).all()


@pytest.mark.parametrize("order", ORDERS)
def test_grid_of_three_dimensions(module: HostModule, order: str) -> None:
    blocks, threads = 5 * 3 * 2, 33
    y = np.zeros(blocks * threads, "f8")
    run(module, "position_f64", y, y, grid=(5, 3, 2), threads=threads, order=order)
    want = np.arange(blocks)[:, None] * 1000 + np.arange(threads)
    np.testing.assert_array_equal(y.reshape(blocks, threads), want)


def test_atomics_across_os_threads(module: HostModule) -> None:
    y = np.zeros(2, "f8")
    run(module, "count_f64", y, y, grid=10000, threads=256, os_threads=4)
    total = 10000 * 256
    signed, unsigned, wide = struct.unpack("<iIQ", y.tobytes())
    assert (signed, unsigned, wide) == (total, 2 * total, total << 33)


def test_one_launch_from_many_threads(module: HostModule) -> None:
    x = values(50 * 128)
    y = np.zeros(50, "f4")
    kernel = module.kernel("baracuda_sum_f32")
    launch = kernel.pack((50, 1, 1), 128, 0, struct.pack("<QQq", x.ctypes.data, y.ctypes.data, x.size))
    workers = [threading.Thread(target=lambda: [launch(0) for _ in range(20)]) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert y.tobytes() == tree(x.reshape(50, 128)).tobytes()


# Wrong kernels


def test_a_missing_barrier_shows_in_another_order(module: HostModule) -> None:
    x = values(64)
    results = {
        order: run(module, "missing_barrier_f32", x, np.zeros(64, "f4"), order=order) for order in ORDERS
    }
    np.testing.assert_array_equal(results["forward"], np.concatenate([[0], x[:-1]]))
    assert np.isnan(results["reverse"][1:]).all()
    for order in ORDERS[3:]:
        assert 8 < np.isnan(results[order]).sum() < 56
    assert results["shuffle:0"].tobytes() != results["shuffle:7"].tobytes()
    again = run(module, "missing_barrier_f32", x, np.zeros(64, "f4"), order="shuffle:7")
    assert again.tobytes() == results["shuffle:7"].tobytes()


def test_a_warp_that_overtakes_another_shows_in_the_order_ahead(module: HostModule) -> None:
    """In the others, warps go from shuffle to shuffle side by side."""
    x = values(64)
    results = {order: run(module, "overtaken_f32", x, np.zeros(64, "f4"), order=order) for order in ORDERS}
    want = x[::-1] * np.float32(1) + x[::-1] * np.float32(2)
    np.testing.assert_array_equal(results["forward"], want)
    np.testing.assert_array_equal(results["reverse"], want)
    assert (results["ahead"] != want).sum() == 32


def test_the_order_comes_from_the_environment(module: HostModule, monkeypatch: pytest.MonkeyPatch) -> None:
    x = values(64)
    monkeypatch.setenv("BARACUDA_HOST_ORDER", "reverse")
    assert np.isnan(run(module, "missing_barrier_f32", x, np.zeros(64, "f4"))[1:]).all()
    monkeypatch.setenv("BARACUDA_HOST_ORDER", "sideways")
    with pytest.raises(ValueError, match="want forward, reverse, ahead or shuffle:SEED"):
        run(module, "missing_barrier_f32", x, x)
    monkeypatch.setenv("BARACUDA_HOST_ORDER", "")
    monkeypatch.setenv("BARACUDA_HOST_THREADS", "0")
    with pytest.raises(ValueError, match="BARACUDA_HOST_THREADS='0': want a number"):
        run(module, "missing_barrier_f32", x, x)


def test_shared_memory_that_was_not_written_reads_as_nan(module: HostModule) -> None:
    y = np.zeros(128, "f4")
    run(module, "unwritten_f32", y, y, grid=3, shared=256, os_threads=1)
    assert np.isnan(y).all()


def place(comment: str) -> str:
    """File and line of the statement in `WRONG` that has this comment, as messages name it."""
    (line,) = (n for n, text in enumerate(WRONG.splitlines(), 1) if text.endswith(f"// {comment}"))
    return f"wrong.cu:{line}"


DEADLOCKS = {
    "divergent": ["divergent barriers: thread", "while thread", place("one side"), place("other side")],
    "left_early": [
        f"thread 0 and 62 others wait at __syncthreads ({place('after the exit')}) after 1 block barriers",
        "thread 5 has returned after 1 block barriers",
    ],
    "incomplete_shuffle": [
        f"thread 32 and 30 others wait at __shfl_xor_sync ({place('not all')}, mask 0xffffffff) after 0",
        "have returned after 0",
    ],
    "different_shuffles": [
        f"31 others wait at __shfl_xor_sync ({place('even')}, mask 0xffffffff)",
        f"31 others wait at __shfl_down_sync ({place('odd')}, mask 0xffffffff)",
    ],
    "mixed": [
        f"thread 0 and 6 others wait at __syncwarp ({place('seven')}, mask 0xffffffff)",
        "thread 7 and 56 others wait at __syncthreads (",
    ],
    "foreign_mask": [
        f"calls __shfl_sync ({place('lane 0')}, mask 0xfffffffe), a mask without its own lane 0"
    ],
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("symbol", "parts"), DEADLOCKS.items(), ids=DEADLOCKS)
def test_threads_that_wait_for_ever_are_reported(
    module: HostModule, symbol: str, parts: list[str], order: str
) -> None:
    x = values(64)
    with pytest.raises(DriverError) as caught:
        run(module, f"{symbol}_f32", x, np.zeros(64, "f4"), grid=(1, 2, 1), order=order, os_threads=1)
    message = str(caught.value)
    first_block = "(0, 1, 0)" if order == "reverse" else "(0, "
    assert message.startswith(f"kernel baracuda_{symbol}_f32, block {first_block}")
    for part in parts:
        assert part in message
    # The executor is as good as new.
    y = run(module, "sum_f32", x, np.zeros(1, "f4"), order=order)
    assert y.tobytes() == tree(x.reshape(1, 64)).tobytes()


def test_one_failing_block_ends_a_launch_on_several_os_threads(module: HostModule) -> None:
    x = values(64)
    with pytest.raises(DriverError, match="left_early_f32, block"):
        run(module, "left_early_f32", x, x.copy(), grid=3000, os_threads=4)


def test_a_shuffle_from_a_lane_that_takes_no_part_gives_nan(module: HostModule) -> None:
    x = values(64)
    y = run(module, "absent_source_f32", x, np.zeros(64, "f4"))
    assert np.isnan(y[:4]).all()


# Launches that a GPU would refuse


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"grid": (1, 65536, 1)}, InvalidProblem, r"a grid of \(1, 65536, 1\) blocks"),
        ({"grid": (0, 1, 1)}, InvalidProblem, r"a grid of \(0, 1, 1\) blocks"),
        ({"threads": 129}, InvalidProblem, "129 threads a block; this kernel runs 1 to 128"),
        ({"shared_bytes": 1 << 20}, Unsupported, "1048576 bytes of dynamic shared memory"),
        ({"params": b"1234"}, DriverError, "got 4 bytes of Params, want 24"),
    ],
)
def test_pack_refuses(
    module: HostModule, change: dict[str, object], error: type[Exception], message: str
) -> None:
    good = {"grid": (1, 1, 1), "threads": 128, "shared_bytes": 0, "params": bytes(24)}
    with pytest.raises(error, match=f"baracuda_sum_f32: .*{message}"):
        module.kernel("baracuda_sum_f32").pack(**{**good, **change})


def test_static_and_dynamic_shared_memory_together(module: HostModule) -> None:
    y = np.zeros(128, "f4")
    with pytest.raises(DriverError, match=r"asks for 232704 bytes of shared memory .* has 232448"):
        run(module, "unwritten_f32", y, y, shared=227 * 1024)


# Units and symbols


def test_units_that_define_one_symbol() -> None:
    text = PRELUDE + "BARACUDA_KERNEL(probe, contig, 1, Params) { p.y[0] = PROBE_VALUE; }\n}\n"
    units = [Unit("a.cu", text, (*unit("").defines, ("PROBE_VALUE", value))) for value in ("1", "2")]
    both = compile_units(units)
    with pytest.raises(DriverError, match="2 units have a kernel baracuda_probe_f32"):
        both.kernel("baracuda_probe_f32")
    y = np.zeros(1, "f4")
    assert [run(both.unit(u), "probe_f32", y, y, threads=1)[0] for u in units] == [1, 2]
    with pytest.raises(DriverError, match=r"no kernel baracuda_nothing in a\.cu"):
        both.kernel("baracuda_nothing")
    with pytest.raises(KeyError, match="is not in this module"):
        both.unit(unit(text))


# Compiling


def test_a_text_that_does_not_compile() -> None:
    text = PRELUDE + "BARACUDA_KERNEL(probe, contig, 1, Params) { p.y[0] = no_such_name; }\n}\n"
    with pytest.raises(CompileError, match=r"odd/broken\.cu does not compile: .*no_such_name") as caught:
        compile_units([unit(text, name="odd/broken.cu")])
    assert "error" in caught.value.log
    assert "broken.cu" in caught.value.log
    assert caught.value.source_path
    assert "odd/broken.cu" in Path(caught.value.source_path).read_text()


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(CompileError, match=r"none of c\+\+, g\+\+, clang\+\+ is on the path: "):
        host_compiler.find_compiler()
    monkeypatch.setenv("CXX", "no-such-compiler -x")
    with pytest.raises(CompileError, match="CXX='no-such-compiler -x' is not on the path"):
        host_compiler.find_compiler()


SMALL = {"main.cpp": 'extern "C" __attribute__((visibility("default"))) int seven() { return 7; }\n'}


def libraries(cache: Path) -> list[Path]:
    return sorted((cache / "host").glob("*/*.so"))


def compiles(caplog: pytest.LogCaptureFixture, files: dict[str, str] = SMALL) -> int:
    """Load ``files`` as a new process would; how many compiles it took."""
    host_compile._loaded.clear()
    caplog.clear()
    with caplog.at_level(logging.INFO, "baracuda.compile"):
        assert host_compile.load_library(files, "seven").seven() == 7
    return sum(record.message.startswith("compiling seven") for record in caplog.records)


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process has loaded is forgotten, and remembered when the test ends."""
    monkeypatch.setattr(host_compile, "_loaded", {})
    monkeypatch.setattr(host_compile, "_warned", [])


@pytest.mark.usefixtures("forgetful")
def test_the_cache(
    fresh_cache: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compiles(caplog) == 1
    assert compiles(caplog) == 0
    assert len(libraries(fresh_cache)) == 1
    assert (fresh_cache / "host").stat().st_mode & 0o777 == 0o700
    assert not list(fresh_cache.rglob("*.tmp"))

    # What is not what its name says is compiled again; so is what does not load.
    (whole,) = libraries(fresh_cache)
    damage(whole, whole.read_bytes()[:-100], whole.stem)
    assert compiles(caplog) == 1
    (whole,) = libraries(fresh_cache)
    whole.unlink()
    damage(whole, b"no library", "4e1ae4d4d3df3f1ee2b0fa9d3e3e3e3e")
    assert compiles(caplog) == 1

    monkeypatch.setenv("BARACUDA_JIT", "never")
    assert compiles(caplog) == 0
    with pytest.raises(CompileError, match="BARACUDA_JIT=never forbids compiling it"):
        host_compile.load_library({"main.cpp": "int other;\n"}, "other")


def damage(path: Path, content: bytes, stem: str) -> None:
    """Put ``content`` where ``path`` is. Replaced and not overwritten: this process has the file mapped."""
    temporary = path.with_suffix(".new")
    temporary.write_bytes(content)
    temporary.replace(path.with_name(f"{stem}.so"))


@pytest.mark.usefixtures("forgetful")
def test_a_library_that_does_not_load_is_compiled_again(
    fresh_cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert compiles(caplog) == 1
    (whole,) = libraries(fresh_cache)
    whole.unlink()
    damage(whole, b"no library", hashlib.sha256(b"no library").hexdigest())
    assert compiles(caplog) == 1


@pytest.mark.usefixtures("forgetful")
def test_a_cache_that_cannot_be_used_costs_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match="anew in each process: .*file/cache"):
        assert compiles(caplog) == 1
    other = {"main.cpp": SMALL["main.cpp"] + "// other\n"}
    assert compiles(caplog, other) == 1  # another warning would be an error


def test_a_folder_that_others_can_write_is_not_used(
    fresh_cache: Path, caplog: pytest.LogCaptureFixture, forgetful: None
) -> None:
    (fresh_cache / "host").mkdir(parents=True)
    (fresh_cache / "host").chmod(0o777)
    with pytest.warns(RuntimeWarning, match="could place code there"):
        compiles(caplog)
    assert not libraries(fresh_cache)


@pytest.mark.usefixtures("forgetful")
def test_the_cache_is_bounded(
    fresh_cache: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiles(caplog)
    (first,) = libraries(fresh_cache)
    os.utime(first.parent, (1, 1))
    stranger = fresh_cache / "host" / "stranger"
    stranger.mkdir()
    (stranger / "work.tmp").write_bytes(bytes(first.stat().st_size * 2))
    for path in (stranger / "work.tmp", stranger):
        os.utime(path, (0, 0))
    monkeypatch.setenv("BARACUDA_CACHE_MAX_BYTES", str(first.stat().st_size + 100))
    compiles(caplog, {"main.cpp": SMALL["main.cpp"] + "// other\n"})
    (second,) = libraries(fresh_cache)
    assert second.parent != first.parent
    # Nor is what somebody else laid there, however old and large it is.
    assert (stranger / "work.tmp").exists()


PROCESS = """
import logging, struct, sys
import numpy as np
sys.path.insert(0, {tests!r})
import test_host_executor as tests
logging.basicConfig(level=logging.INFO, format="%(message)s")
module = tests.compile_units([tests.unit(tests.{text})])
x = tests.values(128)
y = np.zeros({size}, "f4")
"""


def process(text: str, body: str, size: int = 1, **environment: str) -> subprocess.Popen[str]:
    """Start a Python process that compiles ``text`` into `module`, then does ``body`` with arrays x and y."""
    code = PROCESS.format(tests=str(Path(__file__).parent), text=text, size=size) + body
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_that_race(fresh_cache: Path) -> None:
    body = "print(tests.run(module, 'sum_f32', x, y, threads=128).tobytes().hex())"
    racing = [process("CORRECT", body) for _ in range(4)]
    done = [(*other.communicate(timeout=120), other.returncode) for other in racing]
    want = tree(values(128).reshape(1, 128)).tobytes().hex()
    assert [(out, status) for out, _, status in done] == [(f"{want}\n", 0)] * 4, done
    logs = "".join(log for _, log, _ in done)
    assert [logs.count(f"compiling {what}") for what in ("probe", "the host executor")] == [1, 1]
    assert len(libraries(fresh_cache)) == 2
    assert not list(fresh_cache.rglob("*.tmp"))


# AddressSanitizer


def test_address_sanitizer_needs_a_process_made_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARACUDA_SANITIZE", "address")
    with pytest.raises(
        CompileError, match=r"start it with the variables of baracuda\.host\.asan_environment"
    ):
        compile_units([unit(CORRECT)])
    monkeypatch.setenv("BARACUDA_SANITIZE", "thread")
    with pytest.raises(ValueError, match="BARACUDA_SANITIZE='thread': want 'address' or nothing"):
        compile_units([unit(CORRECT)])


CHECKED = """
for order in tests.ORDERS:
    for kernel in ("sum_f32", "sum_f32_warp"):
        y = tests.run(module, kernel, x, np.zeros(1, "f4"), threads=128, order=order)
        assert abs(y[0] - x.sum()) < 0.01, y
print("passed")
"""


def test_address_sanitizer(tmp_path: Path) -> None:
    """It passes kernels that switch stacks, even after a deadlock, and catches accesses out of bounds."""
    environment = {**asan_environment(), "BARACUDA_CACHE_DIR": str(tmp_path)}
    # Wide enough that NumPy takes the memory from malloc.
    deadlock = """
try:
    tests.run(module, "left_early_f32", x, y)
except tests.DriverError:
    print("reported")
tests.run(module, "past_shared_f32", x, y, n=0)
print("passed", flush=True)
"""
    good = process("CORRECT", CHECKED, **environment)
    global_write = process(
        "WRONG", f"{deadlock}tests.run(module, 'past_the_end_f32', x, y, n=4096 - 63)", 4096, **environment
    )
    out, err = good.communicate(timeout=120)
    assert (out, good.returncode) == ("passed\n", 0), err
    out, err = global_write.communicate(timeout=120)
    assert out == "reported\npassed\n", err
    assert global_write.returncode != 0
    assert "heap-buffer-overflow" in err
    assert "wrong.cu" in err or "probe.cu" in err
    shared_write = process("WRONG", "tests.run(module, 'past_shared_f32', x, y, n=1)", 4096, **environment)
    out, err = shared_write.communicate(timeout=120)
    assert shared_write.returncode != 0
    assert "use-after-poison" in err
