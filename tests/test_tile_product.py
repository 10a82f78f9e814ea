"""Products of tiles by one warp, for every kind of arithmetic, and the maps from lanes to elements."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from baracuda.codegen import verify
from baracuda.compile.unit import Unit
from baracuda.host import HostModule, compile_units

ROWS, COLUMNS, DEPTH = 32, 32, 48

TEXT = """
#include <baracuda/tile_product.cuh>
namespace BARACUDA_NAMESPACE {
using T = baracuda::BARACUDA_DTYPE;
using Product = baracuda::ProductOf<T, PROBE_TF32>::type;
using Sum = Product::Sum;
struct Params { const T *left, *right; Sum* sum; int depth; };

// One warp; the operands come as [outer, depth] (INNER) or [depth, outer], and stay so in shared memory.
template <bool LEFT_INNER, bool RIGHT_INNER> BARACUDA_FN void product(const Params& p) {
    constexpr int ROWS = 32, COLUMNS = 32, DEPTH = 48;
    constexpr int LEFT = baracuda::tile_stride<T>(LEFT_INNER ? DEPTH : ROWS);
    constexpr int RIGHT = baracuda::tile_stride<T>(RIGHT_INNER ? DEPTH : COLUMNS);
    BARACUDA_SHARED(T, left, 2048);
    BARACUDA_SHARED(T, right, 2048);
    const int lane = int(threadIdx.x);
    for (int i = lane; i < ROWS * DEPTH; i += 32)
        left[LEFT_INNER ? i / DEPTH * LEFT + i % DEPTH : i / ROWS * LEFT + i % ROWS] = p.left[i];
    for (int i = lane; i < COLUMNS * DEPTH; i += 32)
        right[RIGHT_INNER ? i / DEPTH * RIGHT + i % DEPTH : i / COLUMNS * RIGHT + i % COLUMNS] = p.right[i];
    __syncwarp();
    // Two units of rows at once, and two groups of columns one after the other.
    Sum sum[ROWS / 16][2][4];
    for (int column = 0; column < COLUMNS; column += 16) {
        for (int unit = 0; unit < ROWS / 16 * 2; ++unit)
            for (int i = 0; i < 4; ++i) sum[unit / 2][unit % 2][i] = 0;
        baracuda::multiply_tiles<Product>(sum, baracuda::TileView<T, LEFT_INNER>{left, LEFT}, 0,
                                          baracuda::TileView<T, RIGHT_INNER>{right, RIGHT}, column, p.depth);
        for (int r = 0; r < ROWS / 8; ++r)
            for (int unit = 0; unit < 2; ++unit)
                for (int c = 0; c < 2; ++c)
                    p.sum[baracuda::row_of_lane<Product, LEFT_INNER>(lane, r) * COLUMNS
                          + column + baracuda::column_of_lane<Product, RIGHT_INNER>(lane, unit, c)]
                        = sum[r / 2][unit][r % 2 * 2 + c];
    }
}
BARACUDA_KERNEL(probe, nn, 32, Params) { product<true, false>(p); }
BARACUDA_KERNEL(probe, nt, 32, Params) { product<true, true>(p); }
BARACUDA_KERNEL(probe, tn, 32, Params) { product<false, false>(p); }
BARACUDA_KERNEL(probe, tt, 32, Params) { product<false, true>(p); }
}
"""

MATMUL = """
#include <baracuda/tile_product.cuh>
namespace BARACUDA_NAMESPACE {
using T = baracuda::BARACUDA_DTYPE;
using Product = baracuda::ProductOf<T, PROBE_TF32>::type;
using Sum = Product::Sum;
struct Params { const T *left, *right; Sum* out; int rows, columns, depth, across; };

// Matrices of any size, a tile a block: 2 x 2 warps have 32 x 16 elements each.
template <bool LEFT_INNER, bool RIGHT_INNER> BARACUDA_FN void matmul(const Params& p) {
    constexpr int ROWS = 64, COLUMNS = 32, DEPTH = 32, THREADS = 128;
    constexpr int LEFT = baracuda::tile_stride<T>(LEFT_INNER ? DEPTH : ROWS);
    constexpr int RIGHT = baracuda::tile_stride<T>(RIGHT_INNER ? DEPTH : COLUMNS);
    BARACUDA_SHARED(T, left, 2560);
    BARACUDA_SHARED(T, right, 1280);
    const int lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
    const int first_row = int(blockIdx.x) / p.across * ROWS;
    const int first_column = int(blockIdx.x) % p.across * COLUMNS;
    const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 16;
    Sum sum[2][2][4] = {};
    for (int begin = 0; begin < p.depth; begin += DEPTH) {
        __syncthreads();
        for (int i = int(threadIdx.x); i < ROWS * DEPTH; i += THREADS) {
            const int row = i / DEPTH, step = i % DEPTH, from = first_row + row, at = begin + step;
            const int place = LEFT_INNER ? from * p.depth + at : at * p.rows + from;
            left[LEFT_INNER ? row * LEFT + step : step * LEFT + row]
                = from < p.rows && at < p.depth ? p.left[place] : T{};
        }
        for (int i = int(threadIdx.x); i < COLUMNS * DEPTH; i += THREADS) {
            const int column = i / DEPTH, step = i % DEPTH, from = first_column + column, at = begin + step;
            const int place = RIGHT_INNER ? from * p.depth + at : at * p.columns + from;
            right[RIGHT_INNER ? column * RIGHT + step : step * RIGHT + column]
                = from < p.columns && at < p.depth ? p.right[place] : T{};
        }
        __syncthreads();
        baracuda::multiply_tiles<Product>(sum, baracuda::TileView<T, LEFT_INNER>{left, LEFT}, warp_row,
                                          baracuda::TileView<T, RIGHT_INNER>{right, RIGHT}, warp_column,
                                          DEPTH);
    }
    for (int r = 0; r < 4; ++r)
        for (int unit = 0; unit < 2; ++unit)
            for (int c = 0; c < 2; ++c) {
                const int row = first_row + warp_row + baracuda::row_of_lane<Product, LEFT_INNER>(lane, r);
                const int column = first_column + warp_column
                    + baracuda::column_of_lane<Product, RIGHT_INNER>(lane, unit, c);
                if (row < p.rows && column < p.columns)
                    p.out[row * p.columns + column] = sum[r / 2][unit][r % 2 * 2 + c];
            }
}
BARACUDA_KERNEL(matmul, nn, 128, Params) { matmul<true, false>(p); }
BARACUDA_KERNEL(matmul, nt, 128, Params) { matmul<true, true>(p); }
BARACUDA_KERNEL(matmul, tn, 128, Params) { matmul<false, false>(p); }
BARACUDA_KERNEL(matmul, tt, 128, Params) { matmul<false, true>(p); }

// Rows that stay in registers, and sums that are an operand, by one warp: the product of 32 x 32 matrices,
// and, where sums are taken, this times the right one again.
BARACUDA_KERNEL(matmul, twice, 32, Params) {
    constexpr int SIZE = 32, STRIDE = baracuda::tile_stride<T>(SIZE);
    BARACUDA_SHARED(T, left, 1280);
    BARACUDA_SHARED(T, right, 1280);
    const int lane = int(threadIdx.x);
    for (int i = lane; i < SIZE * SIZE; i += 32) {
        left[i / SIZE * STRIDE + i % SIZE] = p.left[i];
        right[i / SIZE * STRIDE + i % SIZE] = p.right[i];
    }
    __syncwarp();
    const baracuda::TileView<T, false> view = {right, STRIDE};
    baracuda::HeldRows<Product, 2, SIZE> held;
    held.load(baracuda::TileView<T, true>{left, STRIDE}, 0);
    Sum once[2][4][4] = {}, sum[2][4][4] = {};
    held.multiply(once, view);
    if constexpr (Product::TAKES_SUMS) baracuda::multiply_sums<Product>(sum, once, view);
    for (int i = 0; i < 32; ++i) {
        const int r = i / 8, unit = i / 2 % 4, c = i % 2;
        const int row = baracuda::row_of_lane<Product, true>(lane, r);
        const int column = baracuda::column_of_lane<Product, false>(lane, unit, c);
        p.out[row * SIZE + column] = (Product::TAKES_SUMS ? sum : once)[r / 2][unit][r % 2 * 2 + c];
    }
}
}
"""

MAPS = """
#include <baracuda/tile_product.cuh>
namespace BARACUDA_NAMESPACE {
struct Params { int* places; };
template <class Kind> BARACUDA_FN void places(const Params& p) {
    const int lane = int(threadIdx.x);
    int* to = p.places + lane * 2 * (Kind::LEFT + Kind::RIGHT);
    for (int i = 0; i < Kind::LEFT + Kind::RIGHT; ++i) {
        const baracuda::ElementPlace place =
            i < Kind::LEFT ? Kind::left_place(lane, i) : Kind::right_place(lane, i - Kind::LEFT);
        *to++ = place.outer;
        *to++ = place.depth;
    }
}
BARACUDA_KERNEL(maps, half, 32, Params) { places<baracuda::HalfProduct<baracuda::f16>>(p); }
BARACUDA_KERNEL(maps, double, 32, Params) { places<baracuda::DoubleProduct>(p); }
BARACUDA_KERNEL(maps, tf32, 32, Params) { places<baracuda::Tf32Product>(p); }
}
"""

DTYPES = ["f16", "bf16", "f32", "f64", "tf32"]


@pytest.fixture(scope="module")
def modules() -> dict[str, HostModule]:
    """A library a kind of arithmetic, and that of the maps."""
    units = {}
    for dtype in DTYPES:
        element, tf32 = ("f32", "true") if dtype == "tf32" else (dtype, "false")
        defines = (("BARACUDA_DTYPE", element), ("PROBE_TF32", tf32))
        units[dtype] = Unit(f"probe/{dtype}.cu", TEXT, defines, ("-fmad=true",))
        units[f"matmul {dtype}"] = Unit(f"probe/matmul_{dtype}.cu", MATMUL, defines, ("-fmad=true",))
    units["maps"] = Unit("probe/maps.cu", MAPS, (("BARACUDA_DTYPE", "f32"),))
    return {name: compile_units([unit]) for name, unit in units.items()}


def aligned(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array)


@pytest.mark.parametrize("depth", [16, 48])
@pytest.mark.parametrize("form", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_product(modules: dict[str, HostModule], dtype: str, form: str, depth: int) -> None:
    element = "f32" if dtype == "tf32" else dtype
    rng = np.random.default_rng(3)
    left = verify.rounded(rng.standard_normal((ROWS, DEPTH)), element)
    right = verify.rounded(rng.standard_normal((DEPTH, COLUMNS)), element)
    given = (
        aligned(left if form[0] == "n" else left.T),
        aligned(right if form[1] == "n" else right.T),
    )
    wide = np.float64 if dtype == "f64" else np.float32
    got = np.full((ROWS, COLUMNS), np.nan, wide)
    params = struct.pack("<QQQiI", *(a.ctypes.data for a in (*given, got)), depth, 0)
    kernel = modules[dtype].kernel(f"baracuda_probe_{element}_{form}")
    kernel.pack((1, 1, 1), 32, 0, params)(0)
    a, b = (verify.widened(array) for array in (left[:, :depth], right[:depth]))
    if dtype == "tf32":
        a, b = (tf32(array) for array in (a, b))
    size = np.abs(a) @ np.abs(b)
    assert np.all(np.abs(got - a @ b) <= depth * np.finfo(wide).eps * size)


def multiplied(
    modules: dict[str, HostModule],
    dtype: str,
    variant: str,
    given: tuple[np.ndarray, ...],
    extents: tuple[int, ...],
) -> np.ndarray:
    """What a kernel of `MATMUL` makes of two matrices, for rows, columns and depth."""
    element, (rows, columns, _) = "f32" if dtype == "tf32" else dtype, extents
    got = np.full((rows, columns), np.nan, np.float64 if dtype == "f64" else np.float32)
    across = -(-columns // 32)
    params = struct.pack("<QQQiiii", *(a.ctypes.data for a in (*given, got)), *extents, across)
    kernel = modules[f"matmul {dtype}"].kernel(f"baracuda_matmul_{element}_{variant}")
    blocks, threads = (1, 32) if variant == "twice" else (-(-rows // 64) * across, 128)
    kernel.pack((blocks, 1, 1), threads, 0, params)(0)
    return got


@pytest.mark.parametrize("extents", [(1, 1, 1), (64, 32, 32), (70, 33, 45), (130, 65, 100)])
@pytest.mark.parametrize("form", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices_of_any_size(
    modules: dict[str, HostModule], dtype: str, form: str, extents: tuple[int, int, int]
) -> None:
    """Blocks of several warps, many stages of depth, operands that end within a tile."""
    rows, columns, depth = extents
    rng, element = np.random.default_rng(5), "f32" if dtype == "tf32" else dtype
    left = verify.rounded(rng.standard_normal((rows, depth)), element)
    right = verify.rounded(rng.standard_normal((depth, columns)), element)
    given = (
        aligned(left if form[0] == "n" else left.T),
        aligned(right if form[1] == "n" else right.T),
    )
    got = multiplied(modules, dtype, form, given, extents)
    a, b = (verify.widened(array) for array in (left, right))
    if dtype == "tf32":
        a, b = (tf32(array) for array in (a, b))
    assert np.all(np.abs(got - a @ b) <= depth * np.finfo(got.dtype).eps * (np.abs(a) @ np.abs(b)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_in_registers_and_sums_as_operands(modules: dict[str, HostModule], dtype: str) -> None:
    rng, element = np.random.default_rng(6), "f32" if dtype == "tf32" else dtype
    left, right = (verify.rounded(rng.standard_normal((32, 32)), element) for _ in range(2))
    got = multiplied(modules, dtype, "twice", (left, right), (32, 32, 32))
    a, b = (verify.widened(array) for array in (left, right))
    if dtype == "tf32":
        a, b = (tf32(array) for array in (a, b))
    want, size = a @ b, np.abs(a) @ np.abs(b)
    error = 32 * np.finfo(got.dtype).eps
    if dtype in ("f16", "bf16"):  # the first product is rounded before it meets the second
        error += 2.0 ** (-10 if dtype == "f16" else -7)
        want, size = want @ b, size @ np.abs(b)
    assert np.all(np.abs(got - want) <= error * size)


def tf32(values: np.ndarray) -> np.ndarray:
    """Eleven digits, ties away from zero."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.sign(mantissa) * np.floor(np.abs(mantissa) * 2048 + 0.5), exponent - 11)


def instruction_places(kind: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Row or column and depth of each register's element, lane by lane, as the PTX manual has them."""
    left, right = [], []
    for lane in range(32):
        group, thread = lane >> 2, lane % 4
        if kind == "half":  # m16n8k16
            for i in range(8):
                row = group if i < 2 or 4 <= i < 6 else group + 8
                left.append((row, thread * 2 + (i & 1) + (0 if i < 4 else 8)))
            right += [(group, thread * 2 + (i & 1) + (0 if i < 2 else 8)) for i in range(4)]
        elif kind == "tf32":  # two m16n8k8
            for part in range(2):
                left += [(group + 8 * (i in (1, 3)), thread + 4 * (i >= 2) + 8 * part) for i in range(4)]
                right += [(group, thread + 4 * i + 8 * part) for i in range(2)]
        else:  # m8n8k4: four of depth 4, each for the rows from 0 and from 8
            for part in range(4):
                left += [(group + 8 * half, thread + 4 * part) for half in range(2)]
                right.append((group, thread + 4 * part))
    return left, right


@pytest.mark.parametrize("kind", ["half", "double", "tf32"])
def test_maps_are_those_of_the_instructions(modules: dict[str, HostModule], kind: str) -> None:
    left, right = instruction_places(kind)
    places = np.full((32, 12, 2), -1, np.int32)
    kernel = modules["maps"].kernel(f"baracuda_maps_f32_{kind}")
    kernel.pack((1, 1, 1), 32, 0, struct.pack("<Q", places.ctypes.data))(0)
    np.testing.assert_array_equal(places[:, :8], np.reshape(left, (32, 8, 2)))
    np.testing.assert_array_equal(places[:, 8:], np.reshape(right, (32, 4, 2)))
    # Each element of a unit's operands is some lane's, once.
    assert len({tuple(place) for place in left}) == 16 * 16
    assert len({tuple(place) for place in right}) == 8 * 16
