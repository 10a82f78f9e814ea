"""The host executor: blocks, threads and barriers on NumPy arrays, and what it finds in wrong kernels."""

from __future__ import annotations

import ctypes
import platform
import struct
import threading

import numpy as np
import pytest
from host_probes import CORRECT, ORDERS, PRELUDE, WRONG, run, tree, unit, values

import baracuda as bc
from baracuda.compile.unit import Unit
from baracuda.errors import DriverError, InvalidProblem, Unsupported
from baracuda.host import HostModule, compile_units


@pytest.fixture(scope="module")
def module() -> HostModule:
    """Two texts, one of them in three dtypes, in one C++ file."""
    texts = [unit(CORRECT, dtype) for dtype in ("f32", "f64", "i32")]
    return compile_units([*texts, unit(WRONG, name="probe/wrong.cu")])


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


@pytest.mark.parametrize("workers", [1, 3])
def test_a_caller_that_rounds_otherwise_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """Nor does one that flushes subnormal numbers: both are in one register."""
    downwards = {"x86_64": 0x400, "AMD64": 0x400, "aarch64": 0x800000, "arm64": 0x800000}.get(
        platform.machine()
    )
    if downwards is None:
        pytest.skip("unknown how this processor rounds downwards")
    monkeypatch.setenv("BARACUDA_HOST_THREADS", str(workers))
    libm = ctypes.CDLL(None)
    x = np.full(1 << 16, 3, np.float32)
    y = np.empty_like(x)
    desc = bc.UnaryDescriptor(kind="reciprocal", shape=x.shape, element="f32")
    plan = bc.UnaryPlan.select(bc.Stream.host(), desc)
    before = libm.fegetround()
    libm.fesetround(downwards)
    try:
        plan(x=x, y=y)
        assert libm.fegetround() == downwards
    finally:
        libm.fesetround(before)
    third = np.float32(1) / np.float32(3)
    assert float(third) > 1 / 3
    np.testing.assert_array_equal(y, third)


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


@pytest.mark.parametrize("order", ["forward", "ahead"])
def test_copies_that_nobody_waits_for_are_reported(module: HostModule, order: str) -> None:
    x = values(64)
    with pytest.raises(DriverError, match="thread 0 ends with copies that it has not waited for"):
        run(module, "forgotten_copy_f32", x, x.copy(), order=order, os_threads=1)


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
