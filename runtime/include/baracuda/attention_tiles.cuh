// What the kernels of attention share, which are made of products of tiles (tile_product.cuh): a block's place, its
// tiles in shared memory, and what care it takes.
//
// A block has the QUERIES of a tile of one head, 16 a warp, and walks the keys KEYS at a time. HEAD is the number of
// elements of a head that it holds at once: longer rows of q and k go in several parts for each tile of keys, longer
// rows of what is written in a block each. The order of every sum follows from the extents of its own row alone.
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

namespace baracuda {

// Tile shapes come from the spec.
template <class T_, int HEAD_, int QUERIES_, int KEYS_, bool TF32 = false> struct AttentionTiles {
    using T = T_;
    using A = compute_t<T>;
    using Product = typename ProductOf<T, TF32>::type;
    static constexpr int HEAD = HEAD_, QUERIES = QUERIES_, KEYS = KEYS_;
    static constexpr int WARPS = QUERIES / UNIT_ROWS, THREADS = WARPS * 32;
    static constexpr int HEAD_UNITS = HEAD / UNIT_COLUMNS, KEY_UNITS = KEYS / UNIT_COLUMNS;
    // Tiles in shared memory: elements of queries, of keys, and weights.
    static constexpr int HEAD_STRIDE = tile_stride<T>(HEAD), KEY_STRIDE = tile_stride<T>(KEYS),
        ROW_STRIDE = tile_stride<T>(QUERIES);
    using HeadSum = A[HEAD_UNITS][4];
    using KeySum = A[KEY_UNITS][4];
};

// The rows of an operand [batch, head, row, element] with innermost stride 1.
struct HeadRows { i64 stride[3]; };

template <class T> BARACUDA_FN T* rows_of(const void* data, const HeadRows& rows, i64 batch, i64 head) {
    return const_cast<T*>(static_cast<const T*>(data)) + batch * rows.stride[0] + head * rows.stride[1];
}

BARACUDA_FN int at_most(i64 left, int most) { return left < most ? int(left) : most; }
BARACUDA_FN constexpr int whole_steps(int size) { return (size + DEPTH_STEP - 1) / DEPTH_STEP * DEPTH_STEP; }

// Copies `rows` x `columns` elements, at most ROWS x COLUMNS, into a tile in the background, and zeros up to the next
// multiple of 16 columns and to ROWS. `aligned` says that every row begins at a multiple of 16 bytes.
template <int ROWS, int COLUMNS, int THREADS, class T>
BARACUDA_FN void load_tile(T* tile, int stride, const T* from, i64 row_stride, int rows, int columns, bool aligned) {
    constexpr int SIZE = Pack<T>::SIZE, PACKS = COLUMNS / SIZE;
    const int whole = whole_steps(columns);
    BARACUDA_KEEP_LOOP
    for (int number = int(threadIdx.x); number < ROWS * PACKS; number += THREADS) {
        const int row = number / PACKS, column = number % PACKS * SIZE;
        if (column >= whole) continue;
        T* const to = tile + row * stride + column;
        const int left = row < rows ? columns - column : 0;
        const T* const source = from + row * row_stride + column;
        if (aligned && left >= SIZE) {
            copy_async(reinterpret_cast<Pack<T>*>(to), source);
        } else {
            BARACUDA_UNROLL
            for (int s = 0; s < SIZE; ++s) to[s] = s < left ? source[s] : T{};
        }
    }
}
BARACUDA_FN bool is_finite(f16 x) { return (x.bits & 0x7c00u) != 0x7c00u; }
BARACUDA_FN bool is_finite(bf16 x) { return (x.bits & 0x7f80u) != 0x7f80u; }
BARACUDA_FN bool is_finite(f32 x) { return isfinite(x); }
BARACUDA_FN bool is_finite(f64 x) { return isfinite(x); }

// Puts zeros in the place of what is not finite.
template <int ROWS, int THREADS, class T> BARACUDA_FN void keep_finite(T* tile, int stride, int columns) {
    const int count = whole_steps(columns);
    BARACUDA_KEEP_LOOP
    for (int number = int(threadIdx.x); number < ROWS * count; number += THREADS) {
        T& item = tile[number / count * stride + number % count];
        if (!is_finite(item)) item = T{};
    }
}
// What these zeros left out: weight * item for the items of a row that are not finite, and whose weight is not zero.
template <class T, int UNITS, bool INNER, class ItemOf>
BARACUDA_FN void add_not_finite(compute_t<T> (&sum)[UNITS][4], const TileView<T, INNER>& weights, int row, int columns,
    int depth, ItemOf item_of) {
    const int lane = int(threadIdx.x % 32);
    BARACUDA_KEEP_LOOP
    for (int step = 0; step < depth; ++step)
        BARACUDA_UNROLL
        for (int unit = 0; unit < UNITS; ++unit)
            BARACUDA_UNROLL
            for (int i = 0; i < 4; ++i) {
                const int column = unit * UNIT_COLUMNS + unit_column(lane, i);
                if (column >= columns) continue;
                const compute_t<T> weight = widen(*weights.at(row + unit_row(lane, i), step)),
                    item = widen(item_of(step, column));
                if (!isfinite(item) && !(weight == 0)) sum[unit][i] += weight * item;
            }
}
template <class A, int UNITS> BARACUDA_FN bool all_finite(const A (&sum)[UNITS][4], int columns) {
    bool finite = true;
    BARACUDA_UNROLL
    for (int unit = 0; unit < UNITS; ++unit)
        BARACUDA_UNROLL
        for (int i = 0; i < 4; ++i)
            finite &= isfinite(sum[unit][i]) || unit * UNIT_COLUMNS + unit_column(int(threadIdx.x % 32), i) >= columns;
    return finite;
}
template <class A, int UNITS> BARACUDA_FN void clear(A (&sum)[UNITS][4]) {
    BARACUDA_UNROLL
    for (int unit = 0; unit < UNITS; ++unit)
        BARACUDA_UNROLL
        for (int i = 0; i < 4; ++i) sum[unit][i] = A(0);
}

// Neighbours in a tile, which one lane has of a unit's row, by one access.
template <class T> struct alignas(2 * sizeof(T)) Two { T item[2]; };
template <class T> BARACUDA_FN void store_two(T* to, compute_t<T> first, compute_t<T> second) {
    store_whole(to, Two<T>{{rounded<T>(first), rounded<T>(second)}});
}

// A warp writes its 16 rows of a tile, at most COLUMNS wide; neighbouring lanes write neighbours.
template <int COLUMNS, class T> BARACUDA_FN void store_rows(T* to, i64 row_stride, const T* tile, int stride, int rows,
    int columns, bool aligned) {
    constexpr int SIZE = Pack<T>::SIZE;
    const int lane = int(threadIdx.x % 32);
    if (aligned && columns % SIZE == 0) {
        BARACUDA_KEEP_LOOP
        for (int number = lane; number < rows * (COLUMNS / SIZE); number += 32) {
            const int row = number / (COLUMNS / SIZE), column = number % (COLUMNS / SIZE) * SIZE;
            if (column < columns) store_pack(to + row * row_stride + column, load_pack(tile + row * stride + column));
        }
    } else {
        BARACUDA_KEEP_LOOP
        for (int number = lane; number < rows * COLUMNS; number += 32) {
            const int row = number / COLUMNS, column = number % COLUMNS;
            if (column < columns) to[row * row_stride + column] = tile[row * stride + column];
        }
    }
}
// A warp writes its sums, times a factor, through its own rows of a tile.
template <class Tiles, class Value>
BARACUDA_FN void store_sum(typename Tiles::T* to, i64 row_stride, typename Tiles::T* tile,
    const typename Tiles::HeadSum& sum, int rows, int columns,
                           bool aligned, Value value) {
    const int lane = int(threadIdx.x % 32);
    BARACUDA_UNROLL
    for (int unit = 0; unit < Tiles::HEAD_UNITS; ++unit)
        BARACUDA_UNROLL
        for (int i = 0; i < 4; i += 2)
            store_two(tile + unit_row(lane, i) * Tiles::HEAD_STRIDE + unit * UNIT_COLUMNS + unit_column(lane, i),
                value(sum[unit][i], i),
                      value(sum[unit][i + 1], i + 1));
    __syncwarp();
    store_rows<Tiles::HEAD>(to, row_stride, tile, Tiles::HEAD_STRIDE, rows, columns, aligned);
}

// Sums over the lanes that share a row; all of them get it.
template <class A> BARACUDA_FN A sum_of_row(A value) {
    value += __shfl_xor_sync(0xffffffffu, value, 1);
    return value + __shfl_xor_sync(0xffffffffu, value, 2);
}
template <class A> BARACUDA_FN A larger(A a, A b) { return b > a ? b : a; }  // a NaN is left to the sum of the weights
template <class A> BARACUDA_FN A largest_of_row(A value) {
    value = larger(value, __shfl_xor_sync(0xffffffffu, value, 1));
    return larger(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

enum : i32 { CAUSAL_NONE = 0, CAUSAL_TOP_LEFT = 1, CAUSAL_BOTTOM_RIGHT = 2 };

// Extents, and which keys a query sees.
struct AttentionShape {
    i64 heads, kv_heads, queries, keys, d_k, d_v;
    i64 first_block;
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

// What a block has: a tile of rows of one head, and a part of what is written.
struct AttentionPlace { i64 batch, head, first; int part; };

BARACUDA_FN AttentionPlace place_of_block(i64 first_block, i64 rows, int tile, i64 parts, i64 heads) {
    i64 rest = first_block + blockIdx.x;
    const i64 tiles = (rows + tile - 1) / tile;
    AttentionPlace place;
    place.first = (tiles - 1 - rest % tiles) * tile;  // the last first: causal ones have most to do
    rest /= tiles;
    place.part = int(rest % parts);
    rest /= parts;
    place.head = rest % heads;
    place.batch = rest / heads;
    return place;
}

// The products of a block's queries with tiles of keys. Rows that fit HEAD stay in shared memory.
template <class Tiles> struct RowsByKeys {
    using T = typename Tiles::T;
    T *left_tile, *right_tile;
    const T *left, *right;
    i64 left_stride, right_stride, extent, keys;
    int rows;
    bool left_aligned, right_aligned;

    BARACUDA_FN bool resident() const { return extent <= Tiles::HEAD; }
    BARACUDA_FN void load_left(i64 part) const {
        load_tile<Tiles::QUERIES, Tiles::HEAD,
            Tiles::THREADS>(left_tile, Tiles::HEAD_STRIDE, left + part, left_stride, rows,
                at_most(extent - part, Tiles::HEAD), left_aligned);
    }
    BARACUDA_FN void load_right(i64 first_key, i64 part) const {
        load_tile<Tiles::KEYS, Tiles::HEAD, Tiles::THREADS>(right_tile, Tiles::HEAD_STRIDE,
            right + first_key * right_stride + part, right_stride,
                                               at_most(keys - first_key, Tiles::KEYS),
                                                   at_most(extent - part, Tiles::HEAD), right_aligned);
    }
    // What a loop over keys begins with: a group of copies that `multiply` waits for.
    BARACUDA_FN void begin(i64 first_key) const {
        load_left(0);
        load_right(first_key, 0);
        commit_copies();
    }
    // Behind `begin` or `next`, and LATER groups of other copies.
    template <int LATER> BARACUDA_FN void multiply(typename Tiles::KeySum& sum, i64 first_key, int warp_row,
        bool works) const {
        clear(sum);
        wait_for_copies<LATER>();
        __syncthreads();
        const int columns = at_most(keys - first_key, Tiles::KEYS);
        for (i64 part = 0;;) {
            if (works)
                multiply_tiles<typename Tiles::Product>(sum, TileView<T, true>{left_tile, Tiles::HEAD_STRIDE}, warp_row,
                                                        TileView<T, true>{right_tile, Tiles::HEAD_STRIDE}, columns,
                                                            at_most(extent - part, Tiles::HEAD));
            __syncthreads();  // the tiles are free
            part += Tiles::HEAD;
            if (part >= extent) return;
            load_left(part);
            load_right(first_key, part);
            commit_copies();
            wait_for_copies<0>();
            __syncthreads();
        }
    }
    // Copies for the next tile of keys; true: it is a group of its own.
    BARACUDA_FN void next(i64 first_key) const {
        if (!resident()) load_left(0);
        load_right(first_key, 0);
        commit_copies();
    }
};

}  // namespace baracuda
