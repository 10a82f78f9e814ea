// Scaled dot-product attention and its gradients, made of products of tiles (tile_product.cuh).
//
// A block has the QUERIES of a tile of one head, 16 a warp, and walks the keys KEYS at a time. HEAD is the number of
// elements of a head that it holds at once: longer rows of q and k go in several parts for each tile of keys, longer rows
// of what is written in a block each. The order of every sum follows from the extents of its own row alone.
//
// What a weight of zero leaves out is never in a result, whatever it holds: a product takes 0 * NaN for NaN, so where a
// result is not finite, a block does its work again "with care": numbers that are not finite are zero in the products, and
// are then added one by one where their weight is not zero. Finite numbers get the very same bits either way.
//
// A Formula gives, for the forward, `score(product, mask)` and `nothing()`, the result of a row without a key; for the
// backward `delta(attn, dattn)`, whose sum a row's `dscores(attn, dattn, delta)` get, and `dq`, `dk`, `dv`
// of the products.
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
    static constexpr int HEAD_STRIDE = tile_stride<T>(HEAD), KEY_STRIDE = tile_stride<T>(KEYS), ROW_STRIDE = tile_stride<T>(QUERIES);
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
BARACUDA_FN void add_not_finite(compute_t<T> (&sum)[UNITS][4], const TileView<T, INNER>& weights, int row, int columns, int depth, ItemOf item_of) {
    const int lane = int(threadIdx.x % 32);
    BARACUDA_KEEP_LOOP
    for (int step = 0; step < depth; ++step)
        BARACUDA_UNROLL
        for (int unit = 0; unit < UNITS; ++unit)
            BARACUDA_UNROLL
            for (int i = 0; i < 4; ++i) {
                const int column = unit * UNIT_COLUMNS + unit_column(lane, i);
                if (column >= columns) continue;
                const compute_t<T> weight = widen(*weights.at(row + unit_row(lane, i), step)), item = widen(item_of(step, column));
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
template <int COLUMNS, class T> BARACUDA_FN void store_rows(T* to, i64 row_stride, const T* tile, int stride, int rows, int columns, bool aligned) {
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
BARACUDA_FN void store_sum(typename Tiles::T* to, i64 row_stride, typename Tiles::T* tile, const typename Tiles::HeadSum& sum, int rows, int columns,
                           bool aligned, Value value) {
    const int lane = int(threadIdx.x % 32);
    BARACUDA_UNROLL
    for (int unit = 0; unit < Tiles::HEAD_UNITS; ++unit)
        BARACUDA_UNROLL
        for (int i = 0; i < 4; i += 2)
            store_two(tile + unit_row(lane, i) * Tiles::HEAD_STRIDE + unit * UNIT_COLUMNS + unit_column(lane, i), value(sum[unit][i], i),
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
        load_tile<Tiles::QUERIES, Tiles::HEAD, Tiles::THREADS>(left_tile, Tiles::HEAD_STRIDE, left + part, left_stride, rows, at_most(extent - part, Tiles::HEAD), left_aligned);
    }
    BARACUDA_FN void load_right(i64 first_key, i64 part) const {
        load_tile<Tiles::KEYS, Tiles::HEAD, Tiles::THREADS>(right_tile, Tiles::HEAD_STRIDE, right + first_key * right_stride + part, right_stride,
                                               at_most(keys - first_key, Tiles::KEYS), at_most(extent - part, Tiles::HEAD), right_aligned);
    }
    // What a loop over keys begins with: a group of copies that `multiply` waits for.
    BARACUDA_FN void begin(i64 first_key) const {
        load_left(0);
        load_right(first_key, 0);
        commit_copies();
    }
    // Behind `begin` or `next`, and LATER groups of other copies.
    template <int LATER> BARACUDA_FN void multiply(typename Tiles::KeySum& sum, i64 first_key, int warp_row, bool works) const {
        clear(sum);
        wait_for_copies<LATER>();
        __syncthreads();
        const int columns = at_most(keys - first_key, Tiles::KEYS);
        for (i64 part = 0;;) {
            if (works)
                multiply_tiles<typename Tiles::Product>(sum, TileView<T, true>{left_tile, Tiles::HEAD_STRIDE}, warp_row,
                                                        TileView<T, true>{right_tile, Tiles::HEAD_STRIDE}, columns, at_most(extent - part, Tiles::HEAD));
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

// Forward.
struct AttentionForward {
    const void *q, *k, *v, *mask;
    void *y, *attn;
    AttentionShape shape;
    HeadRows q_rows, k_rows, v_rows, y_rows;
    i64 mask_stride[4];
    i64 parts;       // of a row of y, HEAD elements each
    i32 mask_is_bool;
};

template <class Tiles> BARACUDA_FN constexpr int forward_elements() {
    return Tiles::QUERIES * (Tiles::HEAD_STRIDE + Tiles::KEY_STRIDE) + 2 * Tiles::KEYS * Tiles::HEAD_STRIDE;
}

// The term that a mask gives a score; -inf: the query does not see the key.
template <class T> BARACUDA_FN compute_t<T> mask_term(const AttentionForward& p, i64 at) {
    if (p.mask_is_bool) return static_cast<const u8*>(p.mask)[at] != 0 ? 0 : -inf<compute_t<T>>;
    return widen(static_cast<const T*>(p.mask)[at]);
}

// The scores of a tile of keys, from the products: -inf where a query does not see a key.
template <class Tiles, class Formula>
BARACUDA_FN void find_scores(typename Tiles::KeySum& sum, const AttentionForward& p, const Formula& formula, const AttentionPlace& place, i64 first_row,
                             i64 first_key) {
    using A = typename Tiles::A;
    const int lane = int(threadIdx.x % 32);
    BARACUDA_UNROLL
    for (int r = 0; r < 2; ++r) {
        const i64 row = first_row + unit_row(lane, 2 * r);
        const i64 seen = (row < p.shape.queries ? p.shape.keys_of(row) : 0) - first_key;
        const int limit = at_most(seen, Tiles::KEYS);
        const i64 step = p.mask_stride[3];
        i64 at = place.batch * p.mask_stride[0] + place.head * p.mask_stride[1] + row * p.mask_stride[2] + (first_key + unit_column(lane, 0)) * step;
        BARACUDA_UNROLL
        for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit, at += UNIT_COLUMNS * step)
            BARACUDA_UNROLL
            for (int c = 0; c < 2; ++c) {
                A& score = sum[unit][2 * r + c];
                A mask = unit * UNIT_COLUMNS + unit_column(lane, c) < limit ? A(0) : -inf<A>;
                if (p.mask != nullptr && mask == 0) mask = mask_term<typename Tiles::T>(p, at + c * step);
                score = mask == -inf<A> ? mask : formula.score(score, mask);
            }
    }
}

template <class Tiles, class Formula> BARACUDA_FN void attention_forward(const AttentionForward& p, const Formula& formula) {
    using T = typename Tiles::T;
    using A = typename Tiles::A;
    T* const q_tile = reinterpret_cast<T*>(dynamic_shared());
    T* const k_tile = q_tile + Tiles::QUERIES * Tiles::HEAD_STRIDE;
    T* const v_tile = k_tile + Tiles::KEYS * Tiles::HEAD_STRIDE;
    const AttentionShape& shape = p.shape;
    const AttentionPlace place = place_of_block(shape.first_block, shape.queries, Tiles::QUERIES, p.parts, shape.heads);
    const int lane = int(threadIdx.x % 32), warp_row = int(threadIdx.x / 32) * UNIT_ROWS;
    const int rows = at_most(shape.queries - place.first, Tiles::QUERIES);
    const i64 first_column = i64(place.part) * Tiles::HEAD, first_row = place.first + warp_row;
    const int columns = at_most(shape.d_v - first_column, Tiles::HEAD);
    const bool works = warp_row < rows;
    T* const weights = v_tile + Tiles::KEYS * Tiles::HEAD_STRIDE + warp_row * Tiles::KEY_STRIDE;  // the warp's own rows
    const TileView<T, true> weight_view = {weights, Tiles::KEY_STRIDE};
    const i64 kv_head = shape.kv_head(place.head), end = shape.keys_of(place.first + rows - 1);
    const T* const v = rows_of<T>(p.v, p.v_rows, place.batch, kv_head) + first_column;
    const RowsByKeys<Tiles> scores = {
        q_tile, k_tile, rows_of<T>(p.q, p.q_rows, place.batch, place.head) + place.first * p.q_rows.stride[2],
        rows_of<T>(p.k, p.k_rows, place.batch, kv_head), p.q_rows.stride[2], p.k_rows.stride[2], shape.d_k, shape.keys, rows,
        shape.is_aligned(0), shape.is_aligned(1)};

    T* const attn = p.attn == nullptr || place.part > 0 ? nullptr
        : static_cast<T*>(p.attn) + ((place.batch * shape.heads + place.head) * shape.queries + first_row) * shape.keys;
    const auto weight_at = [&](int unit, int i) { return weights + unit_row(lane, i) * Tiles::KEY_STRIDE + unit * UNIT_COLUMNS + unit_column(lane, i); };

    // First y. Its weights are exp(score - base) with the largest score so far for a base; what was summed before is
    // rescaled. Then, where they are asked for, the weights themselves, and what care has left out of y.
    A top[2], total[2], base[2], share[2];
    typename Tiles::HeadSum y;
    typename Tiles::KeySum sum;
    bool careful = false;
    for (bool sums = true;;) {
        if (sums) {
            clear(y);
            top[0] = top[1] = -inf<A>;
            total[0] = total[1] = base[0] = base[1] = A(0);
        }
        if (end > 0) scores.begin(0);
        const i64 stop = sums ? end : shape.keys;
        BARACUDA_KEEP_LOOP
        for (i64 first_key = 0; first_key < stop; first_key += Tiles::KEYS) {
            const int key_count = at_most(shape.keys - first_key, Tiles::KEYS);
            const bool more = first_key + Tiles::KEYS < end, seen = first_key < end;
            if (sums)
                load_tile<Tiles::KEYS, Tiles::HEAD, Tiles::THREADS>(v_tile, Tiles::HEAD_STRIDE, v + first_key * p.v_rows.stride[2], p.v_rows.stride[2], key_count,
                                                       columns, shape.is_aligned(2));
            commit_copies();
            if (seen) scores.template multiply<1>(sum, first_key, warp_row, works);
            if (more) scores.next(first_key + Tiles::KEYS);
            if (works) {
                if (seen) find_scores<Tiles>(sum, p, formula, place, first_row, first_key);
                if (sums) {
                    BARACUDA_UNROLL
                    for (int r = 0; r < 2; ++r) {
                        A most = top[r];
                        BARACUDA_UNROLL
                        for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit) most = larger(larger(most, sum[unit][2 * r]), sum[unit][2 * r + 1]);
                        most = largest_of_row(most);
                        base[r] = most == -inf<A> ? A(0) : most;
                        const A rescale = exp(top[r] - base[r]);
                        top[r] = most;
                        total[r] *= rescale;
                        BARACUDA_UNROLL
                        for (int unit = 0; unit < Tiles::HEAD_UNITS; ++unit)
                            BARACUDA_UNROLL
                            for (int i = 2 * r; i < 2 * r + 2; ++i) y[unit][i] *= rescale;
                    }
                }
                BARACUDA_UNROLL
                for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit)
                    BARACUDA_UNROLL
                    for (int r = 0; r < 2; ++r) {
                        A weight[2];
                        BARACUDA_UNROLL
                        for (int c = 0; c < 2; ++c) {
                            weight[c] = seen ? exp(sum[unit][2 * r + c] - base[r]) : A(0);
                            if (sums) total[r] += weight[c];
                            else weight[c] = total[r] == 0 ? formula.nothing() : weight[c] * share[r];
                        }
                        store_two(weight_at(unit, 2 * r), weight[0], weight[1]);
                    }
                __syncwarp();
            }
            if (!sums) {
                if (!works) continue;
                if (attn != nullptr)
                    store_rows<Tiles::KEYS>(attn + first_key, shape.keys, weights, Tiles::KEY_STRIDE, at_most(rows - warp_row, UNIT_ROWS), key_count, shape.is_aligned(5));
                if (careful)
                    add_not_finite<T>(y, weight_view, 0, columns, at_most(end - first_key, key_count),
                                      [&](int key, int column) { return v[(first_key + key) * p.v_rows.stride[2] + column]; });
                __syncwarp();
                continue;
            }
            if (more) wait_for_copies<1>();
            else wait_for_copies<0>();
            __syncthreads();
            if (careful) {
                keep_finite<Tiles::KEYS, Tiles::THREADS>(v_tile, Tiles::HEAD_STRIDE, columns);
                __syncthreads();
            }
            if (works)
                multiply_tiles<typename Tiles::Product>(y, weight_view, 0, TileView<T, false>{v_tile, Tiles::HEAD_STRIDE}, columns, key_count);
            __syncthreads();  // the tile of v is free
        }
        if (!sums) break;
        if (!careful && __syncthreads_or(works && !all_finite(y, columns))) {
            careful = true;
            continue;
        }
        BARACUDA_UNROLL
        for (int r = 0; r < 2; ++r) {
            total[r] = sum_of_row(total[r]);
            share[r] = A(1) / total[r];
        }
        BARACUDA_UNROLL
        for (int unit = 0; unit < Tiles::HEAD_UNITS; ++unit)
            BARACUDA_UNROLL
            for (int i = 0; i < 4; ++i) y[unit][i] *= share[i / 2];
        if (attn == nullptr && !careful) break;
        sums = false;
    }
    __syncthreads();
    if (works)
        store_sum<Tiles>(rows_of<T>(p.y, p.y_rows, place.batch, place.head) + first_row * p.y_rows.stride[2] + first_column, p.y_rows.stride[2],
                         q_tile + warp_row * Tiles::HEAD_STRIDE, y, at_most(rows - warp_row, UNIT_ROWS), columns, shape.is_aligned(4),
                         [&](A value, int i) { return total[i / 2] == 0 && shape.keys > 0 ? formula.nothing() : total[i / 2] == 0 ? A(0) : value; });
}

// Backward, first: the gradients of the scores, and of q.
struct AttentionScoreGradients {
    const void *k, *v, *attn, *dy;
    void *dscores, *dq;
    AttentionShape shape;
    HeadRows k_rows, v_rows, dy_rows, dq_rows;
    i64 parts;  // of a row of dq, HEAD elements each; 1 where dq is not wanted
};

template <class Tiles> BARACUDA_FN constexpr int score_gradient_elements() { return forward_elements<Tiles>(); }

template <class Tiles, class Formula> BARACUDA_FN void attention_score_gradients(const AttentionScoreGradients& p, const Formula& formula) {
    using T = typename Tiles::T;
    using A = typename Tiles::A;
    T* const dy_tile = reinterpret_cast<T*>(dynamic_shared());
    T* const v_tile = dy_tile + Tiles::QUERIES * Tiles::HEAD_STRIDE;
    T* const k_tile = v_tile + Tiles::KEYS * Tiles::HEAD_STRIDE;
    T* const attn_tile = k_tile + Tiles::KEYS * Tiles::HEAD_STRIDE;
    const AttentionShape& shape = p.shape;
    const AttentionPlace place = place_of_block(shape.first_block, shape.queries, Tiles::QUERIES, p.parts, shape.heads);
    const int lane = int(threadIdx.x % 32), warp_row = int(threadIdx.x / 32) * UNIT_ROWS;
    const int rows = at_most(shape.queries - place.first, Tiles::QUERIES);
    const i64 first_column = i64(place.part) * Tiles::HEAD, first_row = place.first + warp_row;
    const int columns = p.dq == nullptr ? 0 : at_most(shape.d_k - first_column, Tiles::HEAD);
    const bool works = warp_row < rows;
    T* const weights = attn_tile + warp_row * Tiles::KEY_STRIDE;  // the warp's own rows: of attn, then of dscores
    const TileView<T, true> weight_view = {weights, Tiles::KEY_STRIDE};
    const i64 kv_head = shape.kv_head(place.head), end = shape.keys_of(place.first + rows - 1);
    const i64 first_weight = ((place.batch * shape.heads + place.head) * shape.queries + place.first) * shape.keys;
    const T* const attn = static_cast<const T*>(p.attn) + first_weight;
    T* const dscores = p.dscores == nullptr || place.part > 0 ? nullptr : static_cast<T*>(p.dscores) + first_weight + warp_row * shape.keys;
    const T* const k = rows_of<T>(p.k, p.k_rows, place.batch, kv_head) + first_column;
    const RowsByKeys<Tiles> products = {
        dy_tile, v_tile, rows_of<T>(p.dy, p.dy_rows, place.batch, place.head) + place.first * p.dy_rows.stride[2],
        rows_of<T>(p.v, p.v_rows, place.batch, kv_head), p.dy_rows.stride[2], p.v_rows.stride[2], shape.d_v, shape.keys, rows,
        shape.is_aligned(3), shape.is_aligned(1)};
    const auto weight_at = [&](int unit, int i) { return weights + unit_row(lane, i) * Tiles::KEY_STRIDE + unit * UNIT_COLUMNS + unit_column(lane, i); };

    // First the sums over rows, then what needs them. Both find the products anew: that costs less than memory for them.
    typename Tiles::KeySum dattn;
    typename Tiles::HeadSum dq;
    A delta[2] = {A(0), A(0)};
    clear(dq);
    bool careful = false;
    for (bool sums = true;;) {
        if (end > 0) products.begin(0);
        const i64 stop = sums || dscores == nullptr ? end : shape.keys;
        BARACUDA_KEEP_LOOP
        for (i64 first_key = 0; first_key < stop; first_key += Tiles::KEYS) {
            const int key_count = at_most(shape.keys - first_key, Tiles::KEYS);
            if (first_key >= end) {  // nobody sees these keys
                for (int number = lane; works && number < at_most(rows - warp_row, UNIT_ROWS) * key_count; number += 32)
                    dscores[number / key_count * shape.keys + first_key + number % key_count] = T{};
                continue;
            }
            const bool more = first_key + Tiles::KEYS < end;
            load_tile<Tiles::QUERIES, Tiles::KEYS, Tiles::THREADS>(attn_tile, Tiles::KEY_STRIDE, attn + first_key, shape.keys, rows, key_count, shape.is_aligned(2));
            if (!sums && columns > 0)
                load_tile<Tiles::KEYS, Tiles::HEAD, Tiles::THREADS>(k_tile, Tiles::HEAD_STRIDE, k + first_key * p.k_rows.stride[2], p.k_rows.stride[2], key_count,
                                                       columns, shape.is_aligned(0));
            commit_copies();
            products.template multiply<1>(dattn, first_key, warp_row, works);
            if (more) {
                products.next(first_key + Tiles::KEYS);
                wait_for_copies<1>();
            } else {
                wait_for_copies<0>();
            }
            __syncthreads();
            if (works) {
                BARACUDA_UNROLL
                for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit)
                    BARACUDA_UNROLL
                    for (int r = 0; r < 2; ++r) {
                        T* const at = weight_at(unit, 2 * r);
                        const Two<T> items = load_whole<Two<T>>(at);
                        A change[2];
                        BARACUDA_UNROLL
                        for (int c = 0; c < 2; ++c) {
                            const A weight = unit * UNIT_COLUMNS + unit_column(lane, c) < key_count ? widen(items.item[c]) : A(0);
                            const A product = dattn[unit][2 * r + c];
                            if (sums) delta[r] += weight == 0 ? A(0) : formula.delta(weight, product);
                            else change[c] = formula.dscores(weight, product, delta[r]);
                        }
                        if (!sums) store_two(at, change[0], change[1]);
                    }
                __syncwarp();
                if (!sums && dscores != nullptr)
                    store_rows<Tiles::KEYS>(dscores + first_key, shape.keys, weights, Tiles::KEY_STRIDE, at_most(rows - warp_row, UNIT_ROWS), key_count, shape.is_aligned(5));
            }
            if (careful) {
                keep_finite<Tiles::KEYS, Tiles::THREADS>(k_tile, Tiles::HEAD_STRIDE, columns);
                __syncthreads();
            }
            if (!sums && works && columns > 0) {
                multiply_tiles<typename Tiles::Product>(dq, weight_view, 0, TileView<T, false>{k_tile, Tiles::HEAD_STRIDE}, columns, key_count);
                if (careful)
                    add_not_finite<T>(dq, weight_view, 0, columns, key_count,
                                      [&](int key, int column) { return k[(first_key + key) * p.k_rows.stride[2] + column]; });
            }
            __syncthreads();  // the tiles of attn and k are free
        }
        if (sums) {
            BARACUDA_UNROLL
            for (int r = 0; r < 2; ++r) delta[r] = sum_of_row(delta[r]);
            sums = false;
            continue;
        }
        if (careful || columns == 0 || !__syncthreads_or(works && !all_finite(dq, columns))) break;
        clear(dq);
        careful = true;
    }
    if (!works || columns == 0) return;
    store_sum<Tiles>(rows_of<T>(p.dq, p.dq_rows, place.batch, place.head) + first_row * p.dq_rows.stride[2] + first_column, p.dq_rows.stride[2],
                     dy_tile + warp_row * Tiles::HEAD_STRIDE, dq, at_most(rows - warp_row, UNIT_ROWS), columns, shape.is_aligned(4),
                     [&](A value, int) { return formula.dq(value); });
}

// Backward, then: the gradients of k and v, sums over the queries of every head that shares them:
// out[key] = factor * (sum over heads of a group, queries: weights[query, key] * item[query]).
struct AttentionKeySums {
    const void *weights, *items;
    void* out;
    AttentionShape shape;  // kv_heads: how many groups of heads have a sum of their own
    HeadRows item_rows, out_rows;
    i64 parts, extent;     // of a row of items
    i32 of_keys;           // whether it is the gradient of k, else of v
};

// Two stages of weights and items.
template <class Tiles> BARACUDA_FN constexpr int key_sum_elements() { return 2 * Tiles::KEYS * (Tiles::ROW_STRIDE + Tiles::HEAD_STRIDE); }

template <class Tiles, class Formula> BARACUDA_FN void attention_key_sums(const AttentionKeySums& p, const Formula& formula) {
    // Here the rows of a tile are keys, QUERIES of them, and depth is KEYS queries at a time.
    using T = typename Tiles::T;
    using A = typename Tiles::A;
    constexpr int ROWS = Tiles::QUERIES, DEPTH = Tiles::KEYS, STAGE = DEPTH * (Tiles::ROW_STRIDE + Tiles::HEAD_STRIDE);
    T* const stages = reinterpret_cast<T*>(dynamic_shared());
    const AttentionShape& shape = p.shape;
    const AttentionPlace place = place_of_block(shape.first_block, shape.keys, ROWS, p.parts, shape.kv_heads);
    const int warp_row = int(threadIdx.x / 32) * UNIT_ROWS, rows = at_most(shape.keys - place.first, ROWS);
    const i64 first_column = i64(place.part) * Tiles::HEAD, group = shape.heads / shape.kv_heads;
    const int columns = at_most(p.extent - first_column, Tiles::HEAD);
    const bool works = warp_row < rows;
    // The walk: tiles of queries of one head after another; queries that see no key of the tile are left out.
    const i64 first_query = shape.queries_before(place.first) / DEPTH * DEPTH;
    const i64 tiles = (shape.queries - first_query + DEPTH - 1) / DEPTH, count = tiles * group;
    const auto query_of = [&](i64 number) { return first_query + number % tiles * DEPTH; };
    const auto head_of = [&](i64 number) { return place.head * group + number / tiles; };
    const auto items_of = [&](i64 number) {
        return rows_of<T>(p.items, p.item_rows, place.batch, head_of(number)) + query_of(number) * p.item_rows.stride[2] + first_column;
    };
    const auto load = [&](i64 number) {
        T* const tile = stages + number % 2 * STAGE;
        const int depth = at_most(shape.queries - query_of(number), DEPTH);
        const T* const weights = static_cast<const T*>(p.weights) +
            ((place.batch * shape.heads + head_of(number)) * shape.queries + query_of(number)) * shape.keys + place.first;
        load_tile<DEPTH, ROWS, Tiles::THREADS>(tile, Tiles::ROW_STRIDE, weights, shape.keys, depth, rows, shape.is_aligned(0));
        load_tile<DEPTH, Tiles::HEAD, Tiles::THREADS>(tile + DEPTH * Tiles::ROW_STRIDE, Tiles::HEAD_STRIDE, items_of(number), p.item_rows.stride[2], depth, columns,
                                         shape.is_aligned(1));
        commit_copies();
    };

    typename Tiles::HeadSum sum;
    for (bool careful = false;; careful = true) {
        clear(sum);
        if (count > 0) load(0);
        for (i64 number = 0; number < count; ++number) {
            if (number + 1 < count) {
                load(number + 1);
                wait_for_copies<1>();
            } else {
                wait_for_copies<0>();
            }
            __syncthreads();
            T* const tile = stages + number % 2 * STAGE;
            const int depth = at_most(shape.queries - query_of(number), DEPTH);
            const TileView<T, false> weights = {tile, Tiles::ROW_STRIDE}, items = {tile + DEPTH * Tiles::ROW_STRIDE, Tiles::HEAD_STRIDE};
            if (careful) {
                keep_finite<DEPTH, Tiles::THREADS>(tile + DEPTH * Tiles::ROW_STRIDE, Tiles::HEAD_STRIDE, columns);
                __syncthreads();
            }
            if (works) {
                multiply_tiles<typename Tiles::Product>(sum, weights, warp_row, items, columns, depth);
                if (careful) {
                    const T* const given = items_of(number);
                    add_not_finite<T>(sum, weights, warp_row, columns, depth,
                                      [&](int query, int column) { return given[query * p.item_rows.stride[2] + column]; });
                }
            }
            __syncthreads();  // the stage is free
        }
        if (careful || !__syncthreads_or(works && !all_finite(sum, columns))) break;
    }
    if (!works) return;
    store_sum<Tiles>(rows_of<T>(p.out, p.out_rows, place.batch, place.head) + (place.first + warp_row) * p.out_rows.stride[2] + first_column,
                     p.out_rows.stride[2], stages + warp_row * Tiles::HEAD_STRIDE, sum, at_most(rows - warp_row, UNIT_ROWS), columns,
                     shape.is_aligned(2), [&](A value, int) { return p.of_keys ? formula.dk(value) : formula.dv(value); });
}

}  // namespace baracuda
