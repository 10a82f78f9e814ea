// What the kernels of attention share, which are made of products of tiles (tile_product.cuh): a block's place, its
// tiles in shared memory, and what care it takes.
//
// A block has the QUERIES of a tile of one head, ROWS a warp, and walks the keys KEYS at a time. HEAD is the number of
// elements of a head that it holds at once: longer rows of q and k go in several parts for each tile of keys, longer
// rows of what is written in a block each. The order of every sum follows from the extents of its own row alone.
//
// What walks comes in stages: while a block works on one, the next is copied. A stage begins with a wait for its copies
// and a barrier, which also says that the one before is free. Tiles are zero behind their operand, so that nothing but
// the scores asks where a tile ends.
//
// What a weight of zero leaves out is never in a result, whatever it holds: a product takes 0 * NaN for NaN, so where a
// result is not finite, a block does its work again "with care": numbers that are not finite are zero in the products,
// and are then added one by one where their weight is not zero. Finite numbers get the very same bits either way.
//
// A Formula gives, for the forward, `score(product, mask)` and `nothing()`, the result of a row without a key; for the
// backward `delta(attn, dattn)`, whose sum a row's `dscores(attn, dattn, delta)` get, and `dq`, `dk`, `dv` of the
// products.
#pragma once
#include <baracuda/math.cuh>
#include <baracuda/tile_product.cuh>

// A warp's sums take most of the registers that a thread can have.
#undef BARACUDA_BOUNDS
#define BARACUDA_BOUNDS(threads) __launch_bounds__(threads, 1)

namespace baracuda {

// Tile shapes come from the spec. SCORES: a block sums nothing over the keys, and meets more of them at once.
template <class Shape, int HEAD_, bool TF32 = false, bool SCORES = false> struct AttentionTiles {
    using T = typename Shape::T;
    using A = compute_t<T>;
    using Product = typename ProductOf<T, TF32>::type;
    static constexpr int HEAD = HEAD_, QUERIES = Shape::QUERIES, KEYS = SCORES ? Shape::SCORES : Shape::KEYS,
                         ROWS = Shape::ROWS;
    static constexpr int WARPS = QUERIES / ROWS, THREADS = WARPS * 32;
    static constexpr int ROW_UNITS = ROWS / UNIT_ROWS, HEAD_UNITS = HEAD / UNIT_COLUMNS, KEY_UNITS = KEYS / UNIT_COLUMNS;
    static constexpr int LANE_ROWS = 2 * ROW_UNITS;  // of a warp, how many a lane has elements of
    // Tiles in shared memory: elements of queries, of keys, and weights.
    static constexpr int HEAD_STRIDE = tile_stride<T>(HEAD), KEY_STRIDE = tile_stride<T>(KEYS);
    using HeadSum = A[ROW_UNITS][HEAD_UNITS][4];
    using KeySum = A[ROW_UNITS][KEY_UNITS][4];
};

// Where in a warp row r of those that a lane has elements of lies: sum[r / 2][unit][r % 2 * 2 + c] for two columns c.
BARACUDA_FN constexpr int lane_row(int lane, int r) { return r / 2 * UNIT_ROWS + unit_row(lane, r % 2 * 2); }

// The rows of an operand [batch, head, row, element] with innermost stride 1.
struct HeadRows { i64 stride[3]; };

template <class T> BARACUDA_FN T* rows_of(const void* data, const HeadRows& rows, i64 batch, i64 head) {
    return const_cast<T*>(static_cast<const T*>(data)) + batch * rows.stride[0] + head * rows.stride[1];
}

BARACUDA_FN int at_most(i64 left, int most) { return left < most ? int(left) : most; }
BARACUDA_FN constexpr int whole_steps(int size) { return (size + DEPTH_STEP - 1) / DEPTH_STEP * DEPTH_STEP; }

// Copies `rows` x `columns` elements, at most ROWS x COLUMNS, into a tile in the background, with zeros behind them.
// `aligned` says that every row begins at a multiple of 16 bytes. A thread has one column of packs.
template <int ROWS, int COLUMNS, int THREADS, class T>
BARACUDA_FN void load_tile(T* tile, int stride, const T* from, i64 row_stride, int rows, int columns, bool aligned) {
    constexpr int SIZE = Pack<T>::SIZE, PACKS = COLUMNS / SIZE;
    constexpr int TOGETHER = PACKS < THREADS ? THREADS / PACKS : 1;  // rows
    BARACUDA_KEEP_LOOP  // addresses that are found ahead of many tiles would take registers
    for (int number = int(threadIdx.x); number < TOGETHER * PACKS; number += THREADS) {
        const int first = number / PACKS, column = number % PACKS * SIZE;
        T* const to = tile + first * stride + column;
        const T* source = from + first * row_stride + column;
        if (aligned && rows == ROWS && column + SIZE <= columns) {
            BARACUDA_UNROLL
            for (int row = 0; row < ROWS; row += TOGETHER, source += TOGETHER * row_stride)
                if (ROWS % TOGETHER == 0 || first + row < ROWS)
                    copy_of_line(reinterpret_cast<Pack<T>*>(to + row * stride), source);
            continue;
        }
        BARACUDA_KEEP_LOOP
        for (int row = 0; first + row < ROWS; row += TOGETHER, source += TOGETHER * row_stride) {
            const int left = first + row < rows ? columns - column : 0;
            if (aligned && left >= SIZE) {
                copy_of_line(reinterpret_cast<Pack<T>*>(to + row * stride), source);
            } else {
                BARACUDA_UNROLL
                for (int s = 0; s < SIZE; ++s) to[row * stride + s] = s < left ? source[s] : T{};
            }
        }
    }
}
BARACUDA_FN bool is_finite(f16 x) { return (x.bits & 0x7c00u) != 0x7c00u; }
BARACUDA_FN bool is_finite(bf16 x) { return (x.bits & 0x7f80u) != 0x7f80u; }
BARACUDA_FN bool is_finite(f32 x) { return isfinite(x); }
BARACUDA_FN bool is_finite(f64 x) { return isfinite(x); }

// Puts zeros in the place of what is not finite.
template <int ROWS, int COLUMNS, int THREADS, class T> BARACUDA_FN void keep_finite(T* tile, int stride) {
    BARACUDA_KEEP_LOOP
    for (int number = int(threadIdx.x); number < ROWS * COLUMNS; number += THREADS) {
        T& item = tile[number / COLUMNS * stride + number % COLUMNS];
        if (!is_finite(item)) item = T{};
    }
}
// What these zeros left out: weight * item for the items of a row that are not finite, and whose weight is not zero.
template <class Product, class T, int ROW_UNITS, int UNITS, bool INNER, class ItemOf>
BARACUDA_FN void add_not_finite(compute_t<T> (&sum)[ROW_UNITS][UNITS][4], const TileView<T, INNER>& weights, int row,
                                int columns, int begin, int end, ItemOf item_of) {
    const int lane = int(threadIdx.x % 32);
    BARACUDA_KEEP_LOOP
    for (int step = begin; step < end; ++step)
        BARACUDA_UNROLL
        for (int unit = 0; unit < UNITS; ++unit)
            BARACUDA_UNROLL
            for (int c = 0; c < 2; ++c) {
                const int column = column_of_lane<Product, false>(lane, unit, c);
                if (column >= columns) continue;
                const compute_t<T> item = widen(item_of(step, column));
                if (isfinite(item)) continue;
                BARACUDA_UNROLL
                for (int r = 0; r < 2 * ROW_UNITS; ++r) {
                    const compute_t<T> weight = widen(*weights.at(row + row_of_lane<Product, INNER>(lane, r), step));
                    if (!(weight == 0)) sum[r / 2][unit][r % 2 * 2 + c] += weight * item;
                }
            }
}
template <class A, int ROW_UNITS, int UNITS> BARACUDA_FN bool all_finite(const A (&sum)[ROW_UNITS][UNITS][4]) {
    bool finite = true;
    BARACUDA_UNROLL
    for (int number = 0; number < ROW_UNITS * UNITS * 4; ++number)
        finite &= isfinite(sum[number / 4 / UNITS][number / 4 % UNITS][number % 4]);
    return finite;
}
template <class A, int ROW_UNITS, int UNITS> BARACUDA_FN void clear(A (&sum)[ROW_UNITS][UNITS][4]) {
    BARACUDA_UNROLL
    for (int number = 0; number < ROW_UNITS * UNITS * 4; ++number)
        sum[number / 4 / UNITS][number / 4 % UNITS][number % 4] = A(0);
}

// Neighbours in a tile, which one lane has of a unit's row, by one access.
template <class T> struct alignas(2 * sizeof(T)) Two { T item[2]; };
template <class T> BARACUDA_FN void store_two(T* to, compute_t<T> first, compute_t<T> second) {
    store_whole(to, Two<T>{{rounded<T>(first), rounded<T>(second)}});
}

// A warp writes its rows of a tile, at most ROWS x COLUMNS; neighbouring lanes write neighbours.
template <int ROWS, int COLUMNS, class T>
BARACUDA_FN void store_rows(T* to, i64 row_stride, const T* tile, int stride, int rows, int columns, bool aligned) {
    constexpr int SIZE = Pack<T>::SIZE, PACKS = COLUMNS / SIZE, TOGETHER = PACKS < 32 ? 32 / PACKS : 1;
    const int lane = int(threadIdx.x % 32);
    if (aligned && columns % SIZE == 0) {
        BARACUDA_UNROLL
        for (int number = lane; number < TOGETHER * PACKS; number += 32) {
            const int first = number / PACKS, column = number % PACKS * SIZE;
            if (column >= columns) continue;
            T* target = to + first * row_stride + column;
            BARACUDA_UNROLL
            for (int row = 0; row < ROWS; row += TOGETHER, target += TOGETHER * row_stride)
                if (first + row < rows) store_pack(target, load_pack(tile + (first + row) * stride + column));
        }
    } else {
        BARACUDA_KEEP_LOOP
        for (int number = lane; number < rows * COLUMNS; number += 32) {
            const int row = number / COLUMNS, column = number % COLUMNS;
            if (column < columns) to[row * row_stride + column] = tile[row * stride + column];
        }
    }
}
// A warp writes its sums of weights times items, as `value(sum, r)` of row r, through a part of a tile that is its own:
// it has the rows and columns of the sums. Of both, `rows` and `columns` are there. INNER: of the weights.
template <class Product, bool INNER, class T, int ROW_UNITS, int UNITS, class Value>
BARACUDA_FN void store_sum(T* to, i64 row_stride, T* tile, int stride, const compute_t<T> (&sum)[ROW_UNITS][UNITS][4],
                           int rows, int columns, bool aligned, Value value) {
    const int lane = int(threadIdx.x % 32);
    BARACUDA_UNROLL
    for (int unit = 0; unit < UNITS; ++unit)
        BARACUDA_UNROLL
        for (int r = 0; r < 2 * ROW_UNITS; ++r) {
            const compute_t<T>* const pair = sum[r / 2][unit] + r % 2 * 2;
            store_two(tile + row_of_lane<Product, INNER>(lane, r) * stride + column_of_lane<Product, false>(lane, unit, 0),
                      value(pair[0], r), value(pair[1], r));
        }
    __syncwarp();
    store_rows<ROW_UNITS * UNIT_ROWS, UNITS * UNIT_COLUMNS>(to, row_stride, tile, stride, rows, columns, aligned);
}

// Sums over the lanes that share a row; all of them get it.
template <class A> BARACUDA_FN A sum_of_row(A value) {
    value += __shfl_xor_sync(0xffffffffu, value, 1);
    return value + __shfl_xor_sync(0xffffffffu, value, 2);
}
BARACUDA_FN float larger(float a, float b) { return ::fmaxf(a, b); }  // a NaN is left to the sum of the weights
BARACUDA_FN double larger(double a, double b) { return ::fmax(a, b); }
template <class A> BARACUDA_FN A largest_of_row(A value) {
    value = larger(value, __shfl_xor_sync(0xffffffffu, value, 1));
    return larger(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

// The pairs of elements of a tile of KEYS columns that a lane has of a sum: `whole(r, unit, at)` gets each of them by one
// access, where rows begin at a multiple of 16 bytes and the tile is full, else `single(r, unit, c, at, there)` each
// element. `data` is the tile's first row.
template <class Tiles, class Pointer, class Whole, class Single>
BARACUDA_FN void each_own(Pointer data, i64 row_stride, int rows, int keys, bool aligned, Whole whole, Single single) {
    const int lane = int(threadIdx.x % 32);
    const bool all = aligned && rows == Tiles::ROWS && keys == Tiles::KEYS;
    BARACUDA_UNROLL
    for (int r = 0; r < Tiles::LANE_ROWS; ++r) {
        const Pointer row = data + lane_row(lane, r) * row_stride + unit_column(lane, 0);
        if (all) {
            BARACUDA_UNROLL
            for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit) whole(r, unit, row + unit * UNIT_COLUMNS);
        } else {
            BARACUDA_UNROLL
            for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit)
                BARACUDA_UNROLL
                for (int c = 0; c < 2; ++c)
                    single(r, unit, c, row + unit * UNIT_COLUMNS + c,
                           lane_row(lane, r) < rows && unit * UNIT_COLUMNS + unit_column(lane, c) < keys);
        }
    }
}
// A lane's own elements from memory, 0 where there are none, and back. Only where T is what sums are of.
template <class Tiles, class T>
BARACUDA_FN void load_own(T (&sum)[Tiles::ROW_UNITS][Tiles::KEY_UNITS][4], const T* from, i64 row_stride, int rows, int keys,
                          bool aligned) {
    each_own<Tiles>(from, row_stride, rows, keys, aligned,
        [&](int r, int unit, const T* at) {
            const Two<T> both = load_whole<Two<T>>(at);
            sum[r / 2][unit][r % 2 * 2] = both.item[0];
            sum[r / 2][unit][r % 2 * 2 + 1] = both.item[1];
        },
        [&](int r, int unit, int c, const T* at, bool there) { sum[r / 2][unit][r % 2 * 2 + c] = there ? *at : T{}; });
}
template <class Tiles, class T>
BARACUDA_FN void store_own(T* to, i64 row_stride, const T (&sum)[Tiles::ROW_UNITS][Tiles::KEY_UNITS][4], int rows, int keys,
                           bool aligned) {
    each_own<Tiles>(to, row_stride, rows, keys, aligned,
        [&](int r, int unit, T* at) { store_two(at, sum[r / 2][unit][r % 2 * 2], sum[r / 2][unit][r % 2 * 2 + 1]); },
        [&](int r, int unit, int c, T* at, bool there) {
            if (there) *at = sum[r / 2][unit][r % 2 * 2 + c];
        });
}

enum : i32 { CAUSAL_NONE = 0, CAUSAL_TOP_LEFT = 1, CAUSAL_BOTTOM_RIGHT = 2 };

// Extents, and which keys a query sees.
struct AttentionShape {
    i64 batches, heads, kv_heads, queries, keys, d_k, d_v;
    i64 first_block, blocks;  // of this launch, and of all that share the work
    i32 causal;
    i32 aligned;  // bits by operand: every row begins at a multiple of 16 bytes

    // The first key behind those that the query sees.
    BARACUDA_FN i64 keys_of(i64 query) const {
        if (causal == CAUSAL_NONE) return keys;
        const i64 end = query + 1 + (causal == CAUSAL_BOTTOM_RIGHT ? keys - queries : 0);
        return end < 0 ? 0 : end < keys ? end : keys;
    }
    // The first query that sees the key.
    BARACUDA_FN i64 queries_before(i64 key) const {
        if (causal == CAUSAL_NONE) return 0;
        const i64 first = key - (causal == CAUSAL_BOTTOM_RIGHT ? keys - queries : 0);
        return first < 0 ? 0 : first < queries ? first : queries;
    }
    BARACUDA_FN i64 kv_head(i64 head) const { return head / (heads / kv_heads); }
    BARACUDA_FN bool is_aligned(int operand) const { return aligned >> operand & 1; }
};

// Puts zeros in the place of weights that causal hides, in a tile of queries by keys: its place alone says whether it is
// read at all, so that what is there must not matter.
template <int QUERIES, int KEYS, int THREADS, class T>
BARACUDA_FN void keep_seen(T* tile, int stride, const AttentionShape& shape, i64 first_query, i64 first_key) {
    if (shape.causal == CAUSAL_NONE) return;
    BARACUDA_KEEP_LOOP
    for (int number = int(threadIdx.x); number < QUERIES * KEYS; number += THREADS) {
        const int query = number / KEYS, key = number % KEYS;
        if (first_key + key >= shape.keys_of(first_query + query)) tile[query * stride + key] = T{};
    }
}

// What a block has: a tile of rows of one head, and a part of what is written.
struct AttentionPlace { i64 batch, head, first; int part; };

// Where the tile of a block of `blocks` begins, and the block's number `rest` among those of that tile. Tiles of a head
// are neighbours, which share what they read; causal ones come by how much they have to do, most first: of queries the
// later see more keys (`last_first`), of keys the earlier more queries.
struct TilePlace { i64 first, rest; };
BARACUDA_FN TilePlace tile_of_block(i64 block, i64 blocks, i64 rows, int tile, bool causal, bool last_first) {
    const i64 tiles = (rows + tile - 1) / tile, others = blocks / tiles;
    const i64 number = causal ? block / others : block % tiles;
    return {(last_first ? tiles - 1 - number : number) * tile, causal ? block % others : block / tiles};
}
BARACUDA_FN AttentionPlace place_of(const TilePlace& tile, i64 parts, i64 heads) {
    AttentionPlace place;
    place.first = tile.first;
    i64 rest = tile.rest;
    place.part = int(rest % parts);
    rest /= parts;
    place.head = rest % heads;
    place.batch = rest / heads;
    return place;
}

// The products of a block's queries with tiles of keys. Rows that fit HEAD stay in shared memory; of longer ones the first
// part is there where a tile begins. A warp reads its own rows of the left tile alone.
template <class Tiles> struct RowsByKeys {
    using T = typename Tiles::T;
    T* left_tile;
    const T *left, *right;
    i64 left_stride, right_stride, extent, keys;
    int rows;
    bool left_aligned, right_aligned;

    BARACUDA_FN void load_left(i64 part) const {
        load_tile<Tiles::QUERIES, Tiles::HEAD, Tiles::THREADS>(left_tile, Tiles::HEAD_STRIDE, left + part, left_stride,
                                                               rows, at_most(extent - part, Tiles::HEAD), left_aligned);
    }
    // For another walk.
    BARACUDA_FN void load_left_again() const {
        if (extent <= Tiles::HEAD) return;
        __syncthreads();  // the last part is free
        load_left(0);
    }
    BARACUDA_FN void load_right(T* tile, i64 first_key, i64 part) const {
        load_tile<Tiles::KEYS, Tiles::HEAD, Tiles::THREADS>(
            tile, Tiles::HEAD_STRIDE, right + first_key * right_stride + part, right_stride,
            at_most(keys - first_key, Tiles::KEYS), at_most(extent - part, Tiles::HEAD), right_aligned);
    }
    // The warp's rows of left, where they are in registers: of the only part.
    using Held = HeldRows<typename Tiles::Product, Tiles::ROW_UNITS, Tiles::HEAD>;
    BARACUDA_FN bool are_whole() const { return extent <= Tiles::HEAD && whole_steps(int(extent)) == Tiles::HEAD; }
    BARACUDA_FN TileView<T, true> left_view() const { return {left_tile, Tiles::HEAD_STRIDE}; }

    // `more`: another tile follows. `held`: rows of left in registers, or none.
    BARACUDA_FN void multiply(typename Tiles::KeySum& sum, T* right_tile, i64 first_key, int warp_row, bool works,
                              bool more, const Held* held = nullptr) const {
        clear(sum);
        for (i64 part = 0;;) {
            const int depth = whole_steps(at_most(extent - part, Tiles::HEAD));
            const TileView<T, true> right_view = {right_tile, Tiles::HEAD_STRIDE};
            if (works && held != nullptr && are_whole())
                held->multiply(sum, right_view);
            else if (works && held == nullptr && depth == Tiles::HEAD)  // a number that the compiler knows
                multiply_tiles<typename Tiles::Product>(sum, left_view(), warp_row, right_view, 0, Tiles::HEAD);
            else if (works)
                multiply_tiles<typename Tiles::Product>(sum, left_view(), warp_row, right_view, 0, depth);
            part += Tiles::HEAD;
            if (part >= extent && (extent <= Tiles::HEAD || !more)) return;
            __syncthreads();  // the tiles are free
            load_left(part < extent ? part : 0);
            if (part < extent) load_right(right_tile, first_key, part);
            commit_copies();
            if (part >= extent) return;
            wait_for_copies<0>();
            __syncthreads();
        }
    }
};

}  // namespace baracuda
