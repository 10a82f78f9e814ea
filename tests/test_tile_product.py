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
        units[dtype] = Unit(
            f"probe/{dtype}.cu", TEXT, (("BARACUDA_DTYPE", element), ("PROBE_TF32", tf32)), ("-fmad=true",)
        )
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
