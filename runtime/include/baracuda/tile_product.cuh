// Products of tiles in shared memory, a warp at a time: sum += left * right.
//
// A sum is made of units of 16 rows and 8 columns, four elements a lane. Matrix instructions say which: rows g and
// g + 8, columns 2 t and 2 t + 1, where g = lane / 4 and t = lane % 4. f32 has the same, but where the rows or columns of
// an operand lie side by side: there a lane has four neighbours, which are one access. `row_of_lane` and
// `column_of_lane` know, so that what is done with a sum is written once; columns come in pairs of neighbours always.
// Depth, the axis that is summed over, goes in steps of up to 16, AHEAD of them in a turn of a loop; a tile is zero where
// its operand ends.
//
//   f16, bf16   mma.m16n8k16, sums in f32
//   f64         mma.m16n8k16, before sm_90 m8n8k4, sums in f64
//   f32         fused multiply-adds; mma.m16n8k8 on operands rounded to TF32 where that is asked for
//
// Matrix instructions take a fragment from every lane. The host does what they do: a lane finds what the others hold
// and computes its own elements, so that what is tested there is the very map from lanes to elements.
#pragma once
#include <baracuda/storage.cuh>

namespace baracuda {

constexpr int UNIT_ROWS = 16, UNIT_COLUMNS = 8, DEPTH_STEP = 16;

// Where element i of a lane's four lies in its unit.
BARACUDA_FN constexpr int unit_row(int lane, int i) { return lane / 4 + i / 2 * 8; }
BARACUDA_FN constexpr int unit_column(int lane, int i) { return lane % 4 * 2 + i % 2; }

// The distance of a tile's rows: padded, so that eight rows side by side lie in different banks.
template <class T> BARACUDA_FN constexpr int tile_stride(int columns) {
    return columns + (sizeof(T) == 8 ? 4 : 16 / int(sizeof(T)));
}

// An operand in shared memory. Its outer axis is the sum's row or column; INNER says that depth lies side by side.
template <class T, bool INNER> struct TileView {
    const T* data;
    int stride;
    BARACUDA_FN int place(int outer, int depth) const { return INNER ? outer * stride + depth : depth * stride + outer; }
    BARACUDA_FN const T* at(int outer, int depth) const { return data + place(outer, depth); }
    BARACUDA_FN TileView from(int depth) const { return {at(0, depth), stride}; }
};

struct ElementPlace { int outer, depth; };

// Row r of those that a lane has elements of, sum[r / 2][unit][r % 2 * 2 + c], and column c of its two in a unit.
template <class Product, bool LEFT_INNER> BARACUDA_FN constexpr int row_of_lane(int lane, int r) {
    return Product::IN_FOURS && !LEFT_INNER ? r / 4 * 32 + lane / 4 * 4 + r % 4 : r / 2 * UNIT_ROWS + unit_row(lane, r % 2 * 2);
}
template <class Product, bool RIGHT_INNER> BARACUDA_FN constexpr int column_of_lane(int lane, int unit, int c) {
    return Product::IN_FOURS && !RIGHT_INNER ? unit / 2 * 16 + lane % 4 * 4 + unit % 2 * 2 + c
                                             : unit * UNIT_COLUMNS + unit_column(lane, c);
}

#if !BARACUDA_ON_DEVICE
// Lets each lane see what all lanes of its warp hold: `use` gets them by lane.
template <class Held, class Use> inline void with_whole_warp(const Held& held, Use use) {
    BARACUDA_SHARED(const Held*, others, 1024);
    const Held** const own = others + threadIdx.x / 32 * 32;
    own[threadIdx.x % 32] = &held;
    __syncwarp();
    use(own);
    __syncwarp();
}
#endif

// What the kinds with matrix instructions share on the host: LEFT and RIGHT elements a lane, at the places of the map.
template <class Kind, int UNITS> struct HeldByLane {
    using Sum = typename Kind::Sum;
    Sum left[Kind::LEFT], right[UNITS][Kind::RIGHT];
};
#if !BARACUDA_ON_DEVICE
template <class Kind, int UNITS>
inline void multiply_by_map(typename Kind::Sum (&sum)[UNITS][4], const HeldByLane<Kind, UNITS>& held) {
    using Sum = typename Kind::Sum;
    const int lane = int(threadIdx.x % 32);
    with_whole_warp(held, [&](const HeldByLane<Kind, UNITS>* const* warp) {
        Sum left[UNIT_ROWS][DEPTH_STEP];
        for (int other = lane / 4 * 4; other < lane / 4 * 4 + 4; ++other)
            for (int i = 0; i < Kind::LEFT; ++i) {
                const ElementPlace place = Kind::left_place(other, i);
                left[place.outer][place.depth] = warp[other]->left[i];
            }
        for (int column = lane % 4 * 2; column < lane % 4 * 2 + 2; ++column)
            for (int unit = 0; unit < UNITS; ++unit) {
                Sum right[DEPTH_STEP];
                for (int other = column * 4; other < column * 4 + 4; ++other)
                    for (int i = 0; i < Kind::RIGHT; ++i)
                        right[Kind::right_place(other, i).depth] = warp[other]->right[unit][i];
                for (int half = 0; half < 2; ++half) {
                    Sum& element = sum[unit][half * 2 + column % 2];
                    for (int depth = 0; depth < DEPTH_STEP; ++depth)
                        element += left[lane / 4 + half * 8][depth] * right[depth];
                }
            }
    });
}
#endif

// f16 and bf16: registers of two elements each.
template <class T> struct HalfProduct {
    using Sum = float;
    static constexpr bool IN_FOURS = false, TAKES_SUMS = true;
    static constexpr int DEPTH = DEPTH_STEP, AHEAD = 4, LEFT = 8, RIGHT = 4;
    struct Left { u32 pair[4]; };
    struct Right { u32 pair[2]; };

    BARACUDA_FN static constexpr ElementPlace left_place(int lane, int i) {
        return {lane / 4 + i / 2 % 2 * 8, lane % 4 * 2 + i % 2 + i / 4 * 8};
    }
    BARACUDA_FN static constexpr ElementPlace right_place(int lane, int i) {
        return {lane / 4, lane % 4 * 2 + i % 2 + i / 2 * 8};
    }

    // Four matrices of 8 x 8 elements, one a register; `row_of(l)` is where row l % 8 of matrix l / 8 lies, from `first`
    // on. A lane gets elements 2 t and 2 t + 1 of row g, or those of column g where depth is what the rows lie along.
    // The address is a sum with what all lanes share last, so that the instruction holds it.
    template <bool INNER, class RowOf>
    BARACUDA_FN static void load_matrices(u32 (&pair)[4], int lane, const T* tile, int first, RowOf row_of) {
#if BARACUDA_ON_DEVICE
        const u32 address = u32(__cvta_generic_to_shared(tile)) + u32(row_of(lane)) * u32(sizeof(T)) + u32(first) * u32(sizeof(T));
        if constexpr (INNER)
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(pair[0]), "=r"(pair[1]), "=r"(pair[2]), "=r"(pair[3]) : "r"(address) : "memory");
        else
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(pair[0]), "=r"(pair[1]), "=r"(pair[2]), "=r"(pair[3]) : "r"(address) : "memory");
#else
        const int g = lane / 4, t = lane % 4;
        const T* const from = tile + first;
        for (int m = 0; m < 4; ++m) {
            const T low = INNER ? from[row_of(m * 8 + g) + t * 2] : from[row_of(m * 8 + t * 2) + g];
            const T high = INNER ? from[row_of(m * 8 + g) + t * 2 + 1] : from[row_of(m * 8 + t * 2 + 1) + g];
            pair[m] = low.bits | u32(high.bits) << 16;
        }
#endif
    }
    // Matrices in the order of the registers: rows 0-7 and 8-15 of depths 0-7, then of depths 8-15.
    template <bool INNER, int UNITS>
    BARACUDA_FN static void load_left(Left (&left)[UNITS], const TileView<T, INNER>& tile, int outer, int depth, int lane) {
        BARACUDA_UNROLL
        for (int unit = 0; unit < UNITS; ++unit)
            load_matrices<INNER>(left[unit].pair, lane, tile.data, tile.place(outer + unit * UNIT_ROWS, depth), [&](int l) {
                const int m = l / 8, row = l % 8;
                return INNER ? tile.place(row + m % 2 * 8, m / 2 * 8) : tile.place(m % 2 * 8, row + m / 2 * 8);
            });
    }
    // What a lane has of two units of a sum is its part of an operand whose depth are their columns.
    BARACUDA_FN static Left left_of_sums(const Sum (&first)[4], const Sum (&second)[4]) {
        return {{pair_of(first[0], first[1]), pair_of(first[2], first[3]), pair_of(second[0], second[1]),
                 pair_of(second[2], second[3])}};
    }
    BARACUDA_FN static u32 pair_of(Sum low, Sum high) {
        struct alignas(4) Two { T item[2]; };
        return bit_cast<u32>(Two{{rounded<T>(low), rounded<T>(high)}});
    }
    // Two units at once: depths 0-7 and 8-15 of the first, then of the second.
    template <bool INNER, int UNITS>
    BARACUDA_FN static void load_right(Right (&right)[UNITS], const TileView<T, INNER>& tile, int outer, int depth,
        int lane) {
        static_assert(UNITS % 2 == 0, "units are loaded in pairs");
        BARACUDA_UNROLL
        for (int unit = 0; unit < UNITS; unit += 2) {
            u32 pair[4];
            load_matrices<INNER>(pair, lane, tile.data, tile.place(outer + unit * UNIT_COLUMNS, depth), [&](int l) {
                const int m = l / 8, row = l % 8, column = m / 2 * UNIT_COLUMNS;
                return INNER ? tile.place(column + row, m % 2 * 8) : tile.place(column, row + m % 2 * 8);
            });
            right[unit] = {{pair[0], pair[1]}};
            right[unit + 1] = {{pair[2], pair[3]}};
        }
    }

    template <int UNITS> BARACUDA_FN static void multiply(Sum (&sum)[UNITS][4], const Left& left,
        const Right (&right)[UNITS], int lane) {
#if BARACUDA_ON_DEVICE
        (void)lane;
        BARACUDA_UNROLL
        for (int unit = 0; unit < UNITS; ++unit) instruction(sum[unit], left, right[unit], T{});
#else
        (void)lane;
        HeldByLane<HalfProduct, UNITS> held;
        for (int i = 0; i < LEFT; ++i) held.left[i] = widen(T{u16(left.pair[i / 2] >> i % 2 * 16)});
        for (int unit = 0; unit < UNITS; ++unit)
            for (int i = 0; i < RIGHT; ++i) held.right[unit][i] = widen(T{u16(right[unit].pair[i / 2] >> i % 2 * 16)});
        multiply_by_map(sum, held);
#endif
    }

#if BARACUDA_ON_DEVICE
private:
    BARACUDA_FN static void instruction(float (&sum)[4], const Left& a, const Right& b, f16) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a.pair[0]), "r"(a.pair[1]), "r"(a.pair[2]), "r"(a.pair[3]), "r"(b.pair[0]), "r"(b.pair[1]));
    }
    BARACUDA_FN static void instruction(float (&sum)[4], const Left& a, const Right& b, bf16) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a.pair[0]), "r"(a.pair[1]), "r"(a.pair[2]), "r"(a.pair[3]), "r"(b.pair[0]), "r"(b.pair[1]));
    }
#endif
};

// Kinds whose registers hold one element: loads by the map.
template <class Kind, class T> struct SingleLoads {
    static constexpr bool IN_FOURS = false, TAKES_SUMS = false;
    static constexpr int DEPTH = DEPTH_STEP, AHEAD = 4, LEFT = 8, RIGHT = 4;
    struct Left { T item[LEFT]; };
    struct Right { T item[RIGHT]; };
    template <bool INNER, int UNITS>
    BARACUDA_FN static void load_left(Left (&left)[UNITS], const TileView<T, INNER>& tile, int outer, int depth, int lane) {
        BARACUDA_UNROLL
        for (int unit = 0; unit < UNITS; ++unit)
            BARACUDA_UNROLL
            for (int i = 0; i < LEFT; ++i) {
                const ElementPlace place = Kind::left_place(lane, i);
                left[unit].item[i] = Kind::operand(*tile.at(outer + unit * UNIT_ROWS + place.outer, depth + place.depth));
            }
    }
    template <bool INNER, int UNITS>
    BARACUDA_FN static void load_right(Right (&right)[UNITS], const TileView<T, INNER>& tile, int outer, int depth,
        int lane) {
        BARACUDA_UNROLL
        for (int unit = 0; unit < UNITS; ++unit)
            BARACUDA_UNROLL
            for (int i = 0; i < RIGHT; ++i) {
                const ElementPlace place = Kind::right_place(lane, i);
                right[unit].item[i] = Kind::operand(*tile.at(outer + unit * UNIT_COLUMNS + place.outer,
                    depth + place.depth));
            }
    }
};

// f64: a unit is one m16n8k16, or two m8n8k4, one below the other, for each of four parts of its depth.
struct DoubleProduct : SingleLoads<DoubleProduct, f64> {
    using Sum = double;

    BARACUDA_FN static constexpr ElementPlace left_place(int lane, int i) {
        return {lane / 4 + i % 2 * 8, lane % 4 + i / 2 * 4};
    }
    BARACUDA_FN static constexpr ElementPlace right_place(int lane, int i) { return {lane / 4, lane % 4 + i * 4}; }
    BARACUDA_FN static double operand(double x) { return x; }

    template <int UNITS> BARACUDA_FN static void multiply(Sum (&sum)[UNITS][4], const Left& left,
        const Right (&right)[UNITS], int lane) {
        (void)lane;
#if BARACUDA_ON_DEVICE && __CUDA_ARCH__ >= 900
        BARACUDA_UNROLL
        for (int unit = 0; unit < UNITS; ++unit) {
            const double *const a = left.item, *const b = right[unit].item;
            asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
                "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
                : "+d"(sum[unit][0]), "+d"(sum[unit][1]), "+d"(sum[unit][2]), "+d"(sum[unit][3])
                : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
                  "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
        }
#elif BARACUDA_ON_DEVICE
        BARACUDA_UNROLL
        for (int unit = 0; unit < UNITS; ++unit)
            BARACUDA_UNROLL
            for (int i = 0; i < LEFT; ++i)
                asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                    : "+d"(sum[unit][i % 2 * 2]), "+d"(sum[unit][i % 2 * 2 + 1])
                    : "d"(left.item[i]), "d"(right[unit].item[i / 2]));
#else
        HeldByLane<DoubleProduct, UNITS> held;
        for (int i = 0; i < LEFT; ++i) held.left[i] = left.item[i];
        for (int unit = 0; unit < UNITS; ++unit)
            for (int i = 0; i < RIGHT; ++i) held.right[unit][i] = right[unit].item[i];
        multiply_by_map(sum, held);
#endif
    }
};

// The nearest number with the 11 digits of TF32, ties away from zero as cvt.rna does it.
BARACUDA_FN float round_to_tf32(float x) {
    const u32 bits = bit_cast<u32>(x);
    return (bits & 0x7f800000u) == 0x7f800000u ? x : bit_cast<float>((bits + 0x1000u) & 0xffffe000u);
}

struct Tf32Product : SingleLoads<Tf32Product, f32> {
    using Sum = float;
    static constexpr int AHEAD = 2;  // what is rounded on the way takes registers too

    BARACUDA_FN static constexpr ElementPlace left_place(int lane, int i) {
        return {lane / 4 + i % 2 * 8, lane % 4 + i / 2 * 4};
    }
    BARACUDA_FN static constexpr ElementPlace right_place(int lane, int i) { return {lane / 4, lane % 4 + i * 4}; }
    BARACUDA_FN static float operand(float x) { return round_to_tf32(x); }

    template <int UNITS> BARACUDA_FN static void multiply(Sum (&sum)[UNITS][4], const Left& left,
        const Right (&right)[UNITS], int lane) {
        (void)lane;
#if BARACUDA_ON_DEVICE
        BARACUDA_UNROLL
        for (int unit = 0; unit < UNITS; ++unit)
            BARACUDA_UNROLL
            for (int part = 0; part < 2; ++part) {
                const float *const a = left.item + part * 4, *const b = right[unit].item + part * 2;
                asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                    : "+f"(sum[unit][0]), "+f"(sum[unit][1]), "+f"(sum[unit][2]), "+f"(sum[unit][3])
                    : "r"(bit_cast<u32>(a[0])), "r"(bit_cast<u32>(a[1])), "r"(bit_cast<u32>(a[2])),
                      "r"(bit_cast<u32>(a[3])), "r"(bit_cast<u32>(b[0])), "r"(bit_cast<u32>(b[1])));
            }
#else
        HeldByLane<Tf32Product, UNITS> held;
        for (int i = 0; i < LEFT; ++i) held.left[i] = left.item[i];
        for (int unit = 0; unit < UNITS; ++unit)
            for (int i = 0; i < RIGHT; ++i) held.right[unit][i] = right[unit].item[i];
        multiply_by_map(sum, held);
#endif
    }
};

// f32 as it is: a lane multiplies what its own four elements need, and no fragment goes to another lane. Four elements
// side by side are one access, be they a line of depth or neighbours that share it.
struct FloatProduct {
    using Sum = float;
    static constexpr bool IN_FOURS = true, TAKES_SUMS = false;
    static constexpr int DEPTH = 4, AHEAD = 2;
    struct Left { float row[2][DEPTH]; };
    struct Right { float column[2][DEPTH]; };

    template <bool INNER, int UNITS>
    BARACUDA_FN static void load_left(Left (&left)[UNITS], const TileView<f32, INNER>& tile, int outer, int depth, int lane) {
        static_assert(INNER || UNITS % 2 == 0, "neighbours come in fours");
        const f32* const from = tile.at(row_of_lane<FloatProduct, INNER>(lane, 0), 0) + tile.place(outer, depth);
        BARACUDA_UNROLL
        for (int four = 0; four < UNITS * 2; four += 4)
            BARACUDA_UNROLL
            for (int d = 0; d < DEPTH; ++d) {
                if (INNER && four + d >= UNITS * 2) continue;
                // A row's line of depth, or a depth's line of rows.
                const Pack<f32> line = load_pack(
                    from + (INNER ? tile.place(row_of_lane<FloatProduct, INNER>(0, four + d), 0)
                                  : tile.place(row_of_lane<FloatProduct, INNER>(0, four), d)));
                BARACUDA_UNROLL
                for (int s = 0; s < 4; ++s) {
                    const int r = four + (INNER ? d : s);
                    left[r / 2].row[r % 2][INNER ? s : d] = line.item[s];
                }
            }
    }
    template <bool INNER, int UNITS>
    BARACUDA_FN static void load_right(Right (&right)[UNITS], const TileView<f32, INNER>& tile, int outer, int depth,
        int lane) {
        static_assert(UNITS % 2 == 0, "neighbours come in fours");
        const f32* const from = tile.at(column_of_lane<FloatProduct, INNER>(lane, 0, 0), 0) + tile.place(outer, depth);
        BARACUDA_UNROLL
        for (int unit = 0; unit < UNITS; unit += 2)
            BARACUDA_UNROLL
            for (int d = 0; d < DEPTH; ++d) {
                const Pack<f32> line = load_pack(
                    from + (INNER ? tile.place(column_of_lane<FloatProduct, INNER>(0, unit + d / 2, d % 2), 0)
                                  : tile.place(column_of_lane<FloatProduct, INNER>(0, unit, 0), d)));
                BARACUDA_UNROLL
                for (int s = 0; s < 4; ++s) {
                    const int c = INNER ? d : s;
                    right[unit + c / 2].column[c % 2][INNER ? s : d] = line.item[s];
                }
            }
    }
    template <int UNITS> BARACUDA_FN static void multiply(Sum (&sum)[UNITS][4], const Left& left,
        const Right (&right)[UNITS], int) {
        BARACUDA_UNROLL
        for (int depth = 0; depth < DEPTH; ++depth)
            BARACUDA_UNROLL
            for (int unit = 0; unit < UNITS; ++unit)
                BARACUDA_UNROLL
                for (int i = 0; i < 4; ++i) sum[unit][i] += left.row[i / 2][depth] * right[unit].column[i % 2][depth];
    }
};

template <class T, bool TF32> struct ProductOf { using type = HalfProduct<T>; };
template <> struct ProductOf<f64, false> { using type = DoubleProduct; };
template <> struct ProductOf<f32, false> { using type = FloatProduct; };
template <> struct ProductOf<f32, true> { using type = Tf32Product; };

// Units whose right fragments are in registers at once.
template <int UNITS> constexpr int UNITS_AT_ONCE = UNITS % 4 == 0 ? 4 : 2;

// One step of depth: what is read of right serves all units of rows.
template <class Product, int ROW_UNITS, int UNITS, class T, bool RIGHT_INNER>
BARACUDA_FN void multiply_step(typename Product::Sum (&sum)[ROW_UNITS][UNITS][4],
                               const typename Product::Left (&of_rows)[ROW_UNITS], const TileView<T, RIGHT_INNER>& right,
                               int column, int depth, int lane) {
    constexpr int AT_ONCE = UNITS_AT_ONCE<UNITS>;
    static_assert(UNITS % AT_ONCE == 0, "units go in whole groups");
    BARACUDA_UNROLL
    for (int unit = 0; unit < UNITS; unit += AT_ONCE) {
        typename Product::Right of_columns[AT_ONCE];
        Product::load_right(of_columns, right, column + unit * UNIT_COLUMNS, depth, lane);
        BARACUDA_UNROLL
        for (int rows = 0; rows < ROW_UNITS; ++rows)
            Product::multiply(reinterpret_cast<typename Product::Sum(&)[AT_ONCE][4]>(sum[rows][unit]), of_rows[rows],
                              of_columns, lane);
    }
}
// sum += left * right over `depth` elements, for the rows of left from `row` on and the columns of right from `column`
// on. Depth goes in whole steps, AHEAD of them in a loop's turn: the tiles are zero behind their operand.
template <class Product, int AHEAD = Product::AHEAD, int ROW_UNITS, int UNITS, class T, bool LEFT_INNER, bool RIGHT_INNER>
BARACUDA_FN void multiply_tiles(typename Product::Sum (&sum)[ROW_UNITS][UNITS][4], const TileView<T, LEFT_INNER>& left,
                                int row, const TileView<T, RIGHT_INNER>& right, int column, int depth) {
    const int lane = int(threadIdx.x % 32);
    BARACUDA_UNROLL_BY(AHEAD)
    for (int step = 0; step < depth; step += Product::DEPTH) {
        typename Product::Left of_rows[ROW_UNITS];
        Product::load_left(of_rows, left, row, step, lane);
        multiply_step<Product>(sum, of_rows, right, column, step, lane);
    }
}
// Rows of a left operand in registers, for many products with them.
template <class Product, int ROW_UNITS, int DEPTH> struct HeldRows {
    typename Product::Left step[DEPTH / Product::DEPTH][ROW_UNITS];

    template <class T> BARACUDA_FN void load(const TileView<T, true>& left, int row) {
        BARACUDA_UNROLL
        for (int number = 0; number < DEPTH / Product::DEPTH; ++number)
            Product::load_left(step[number], left, row, number * Product::DEPTH, int(threadIdx.x % 32));
    }
    template <int UNITS, class T, bool RIGHT_INNER>
    BARACUDA_FN void multiply(typename Product::Sum (&sum)[ROW_UNITS][UNITS][4], const TileView<T, RIGHT_INNER>& right) const {
        BARACUDA_UNROLL
        for (int number = 0; number < DEPTH / Product::DEPTH; ++number)
            multiply_step<Product>(sum, step[number], right, 0, number * Product::DEPTH, int(threadIdx.x % 32));
    }
};
// The same with sums for the left operand, rounded to its type, where the product takes them: no lane needs another's.
template <class Product, int ROW_UNITS, int UNITS, int DEPTH_UNITS, class T>
BARACUDA_FN void multiply_sums(typename Product::Sum (&sum)[ROW_UNITS][UNITS][4],
                               const typename Product::Sum (&left)[ROW_UNITS][DEPTH_UNITS][4], const TileView<T, false>& right) {
    static_assert(DEPTH_UNITS * UNIT_COLUMNS % Product::DEPTH == 0, "depth goes in whole steps");
    const int lane = int(threadIdx.x % 32);
    BARACUDA_UNROLL
    for (int step = 0; step < DEPTH_UNITS; step += 2) {
        typename Product::Left of_rows[ROW_UNITS];
        BARACUDA_UNROLL
        for (int rows = 0; rows < ROW_UNITS; ++rows) of_rows[rows] = Product::left_of_sums(left[rows][step], left[rows][step + 1]);
        multiply_step<Product>(sum, of_rows, right, 0, step * UNIT_COLUMNS, lane);
    }
}

}  // namespace baracuda
