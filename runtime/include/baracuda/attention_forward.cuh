// Scaled dot-product attention: y = softmax(score(q k^T, mask)) v, and the weights where they are asked for.
#pragma once
#include <baracuda/attention_tiles.cuh>

namespace baracuda {

struct AttentionForward {
    const void *q, *k, *v, *mask;
    void *y, *attn;
    AttentionShape shape;
    HeadRows q_rows, k_rows, v_rows, y_rows;
    i64 mask_stride[4];
    i64 parts;       // of a row of y, HEAD elements each
    i32 mask_is_bool;
};

// The term that a mask gives a score; -inf: the query does not see the key.
template <class T> BARACUDA_FN compute_t<T> mask_term(const AttentionForward& p, i64 at) {
    if (p.mask_is_bool) return static_cast<const u8*>(p.mask)[at] != 0 ? 0 : -inf<compute_t<T>>;
    return widen(static_cast<const T*>(p.mask)[at]);
}

// exp(x) for x <= 0, to more digits than T has.
template <class T> BARACUDA_FN compute_t<T> weight_of(compute_t<T> x) {
    // 2^64 times as large on the way, where no power is subnormal.
    if constexpr (sizeof(T) == 2) return exp2_normal(x * 1.44269504f + 64.0f) * 0x1p-64f;
    else return exp(x);
}

// What a block does. In shared memory: q, two stages of k, two of v, and weights, which where they are operands without
// shared memory are only there to be written, in the place of v.
template <class Tiles, class Formula> struct ForwardOfBlock {
    using T = typename Tiles::T;
    using A = typename Tiles::A;
    static constexpr bool TAKES_SUMS = Tiles::Product::TAKES_SUMS;
    static constexpr int KEY_TILE = Tiles::KEYS * Tiles::HEAD_STRIDE, ROWS = Tiles::LANE_ROWS;
    // Scores wait for the sums of their rows in the place of the weights, where that loses no digit.
    static constexpr bool KEEPS = sizeof(T) == sizeof(A);
    using OfRow = A[ROWS];

    const AttentionForward& p;
    const Formula& formula;
    AttentionPlace place;
    RowsByKeys<Tiles> products;
    T *weights, *stages, *attn;  // weights: the warp's own rows of their tile; attn: from the warp's first row on
    const T* v;
    i64 tiles;                   // of keys that a query of the block sees
    int warp_row, columns;       // columns: of y
    bool works;

    // Tiles of k and v. The walks go on in turn, so that the stage of a first tile is free.
    template <bool VALUES> BARACUDA_FN T* k_tile(i64 number) const {
        return stages + ((VALUES ? number : tiles + number) & 1) * KEY_TILE;
    }
    BARACUDA_FN T* v_tile(i64 number) const { return k_tile<true>(number) + 2 * KEY_TILE; }
    BARACUDA_FN int rows_of_warp() const { return at_most(products.rows - warp_row, Tiles::ROWS); }
    BARACUDA_FN int keys_at(i64 first_key) const { return at_most(p.shape.keys - first_key, Tiles::KEYS); }
    BARACUDA_FN TileView<T, true> weight_view() const { return {weights, Tiles::KEY_STRIDE}; }
    BARACUDA_FN T* weight_at(int lane, int r, int unit) const {
        return weights + lane_row(lane, r) * Tiles::KEY_STRIDE + unit * UNIT_COLUMNS + unit_column(lane, 0);
    }

    template <bool VALUES> BARACUDA_FN void load(i64 number) const {
        const i64 first_key = number * Tiles::KEYS, v_stride = p.v_rows.stride[2];
        products.load_right(k_tile<VALUES>(number), first_key, 0);
        if (VALUES)
            load_tile<Tiles::KEYS, Tiles::HEAD, Tiles::THREADS>(v_tile(number), Tiles::HEAD_STRIDE, v + first_key * v_stride,
                                                                v_stride, keys_at(first_key), columns,
                                                                p.shape.is_aligned(2));
    }
    // The first keys and, VALUES, values; the queries where they are not there.
    template <bool VALUES> BARACUDA_FN void begin(bool queries) const {
        if (tiles == 0) return;  // nobody would wait for the copies
        if (queries) products.load_left(0);
        else products.load_left_again();
        load<VALUES>(0);
        commit_copies();
    }
    // Waits for a tile, and begins to copy the next.
    template <bool VALUES> BARACUDA_FN void reach(i64 number) const {
        wait_for_copies<0>();
        __syncthreads();
        if (number + 1 < tiles) load<VALUES>(number + 1);
        commit_copies();
    }

    // The scores of a tile of keys, from the products: -inf where a query does not see a key.
    BARACUDA_FN void find_scores(typename Tiles::KeySum& sum, i64 first_key) const {
        const int lane = int(threadIdx.x % 32);
        const i64 first_row = place.first + warp_row;
        if (p.mask == nullptr && p.shape.keys_of(first_row) >= first_key + Tiles::KEYS) {  // all see all
            BARACUDA_UNROLL
            for (int r = 0; r < ROWS; ++r)
                BARACUDA_UNROLL
                for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit)
                    BARACUDA_UNROLL
                    for (int c = 0; c < 2; ++c) {
                        A& score = sum[r / 2][unit][r % 2 * 2 + c];
                        score = formula.score(score, A(0));
                    }
            return;
        }
        BARACUDA_UNROLL
        for (int r = 0; r < ROWS; ++r) {
            const i64 row = first_row + lane_row(lane, r);
            const i64 end = row < p.shape.queries ? p.shape.keys_of(row) : first_key;
            const int limit = at_most(end - first_key, Tiles::KEYS);
            const i64 step = p.mask_stride[3];
            i64 at = place.batch * p.mask_stride[0] + place.head * p.mask_stride[1] + row * p.mask_stride[2]
                + (first_key + unit_column(lane, 0)) * step;
            BARACUDA_UNROLL
            for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit, at += UNIT_COLUMNS * step)
                BARACUDA_UNROLL
                for (int c = 0; c < 2; ++c) {
                    A& score = sum[r / 2][unit][r % 2 * 2 + c];
                    A mask = unit * UNIT_COLUMNS + unit_column(lane, c) < limit ? A(0) : -inf<A>;
                    if (p.mask != nullptr && mask == 0) mask = mask_term<T>(p, at + c * step);
                    score = mask == -inf<A> ? mask : formula.score(score, mask);
                }
        }
    }

    // y, times the sum of the weights. They are exp(score - base) with the largest score so far for a base; what was
    // summed before is rescaled. A lane sums its own weights in `total`.
    template <bool CAREFUL> BARACUDA_FN void find_y(typename Tiles::HeadSum& y, OfRow& base, OfRow& total) const {
        const int lane = int(threadIdx.x % 32);
        A top[ROWS];
        clear(y);
        BARACUDA_UNROLL
        for (int r = 0; r < ROWS; ++r) {
            top[r] = -inf<A>;
            base[r] = total[r] = A(0);
        }
        begin<true>(!CAREFUL);
        BARACUDA_KEEP_LOOP
        for (i64 number = 0; number < tiles; ++number) {
            reach<true>(number);
            typename Tiles::KeySum sum;
            products.multiply(sum, k_tile<true>(number), number * Tiles::KEYS, warp_row, works, number + 1 < tiles);
            if (CAREFUL) {
                keep_finite<Tiles::KEYS, Tiles::HEAD, Tiles::THREADS>(v_tile(number), Tiles::HEAD_STRIDE);
                __syncthreads();
            }
            if (!works) continue;
            find_scores(sum, number * Tiles::KEYS);
            if constexpr (KEEPS && !CAREFUL)
                if (attn != nullptr) store_kept(sum, number * Tiles::KEYS);
            BARACUDA_UNROLL
            for (int r = 0; r < ROWS; ++r) {
                A most = top[r];
                BARACUDA_UNROLL
                for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit)
                    most = larger(larger(most, sum[r / 2][unit][r % 2 * 2]), sum[r / 2][unit][r % 2 * 2 + 1]);
                most = largest_of_row(most);
                base[r] = most == -inf<A> ? A(0) : most;
                const A rescale = weight_of<T>(top[r] - base[r]);
                top[r] = most;
                total[r] *= rescale;
                BARACUDA_UNROLL
                for (int unit = 0; unit < Tiles::HEAD_UNITS; ++unit)
                    BARACUDA_UNROLL
                    for (int c = 0; c < 2; ++c) y[r / 2][unit][r % 2 * 2 + c] *= rescale;
                BARACUDA_UNROLL
                for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit) {
                    A* const weight = sum[r / 2][unit] + r % 2 * 2;
                    BARACUDA_UNROLL
                    for (int c = 0; c < 2; ++c) {
                        weight[c] = weight_of<T>(weight[c] - base[r]);
                        total[r] += weight[c];
                    }
                    if (!TAKES_SUMS) store_two(weight_at(lane, r, unit), weight[0], weight[1]);
                }
            }
            const TileView<T, false> values = {v_tile(number), Tiles::HEAD_STRIDE};
            if constexpr (TAKES_SUMS) {
                multiply_sums<typename Tiles::Product>(y, sum, values);
            } else {
                __syncwarp();
                multiply_tiles<typename Tiles::Product>(y, weight_view(), 0, values, 0, Tiles::KEYS);
                __syncwarp();  // the weights are free
            }
        }
    }

    // CAREFUL: the row may be NaN. What it does not see has no weight all the same.
    template <bool CAREFUL> BARACUDA_FN A weight_at_last(A score, A base, A total, A share) const {
        if (CAREFUL && score == -inf<A> && !(total == 0)) return A(0);
        return total == 0 ? formula.nothing() : weight_of<T>(score - base) * share;
    }
    // The weights themselves, where they are asked for, and what care has left out of y. The products are found anew.
    template <bool CAREFUL>
    BARACUDA_FN void find_attn(typename Tiles::HeadSum& y, const OfRow& base, const OfRow& total, const OfRow& share) const {
        const int lane = int(threadIdx.x % 32);
        begin<false>(!CAREFUL);
        BARACUDA_KEEP_LOOP
        for (i64 number = 0; number < tiles; ++number) {
            reach<false>(number);
            const i64 first_key = number * Tiles::KEYS;
            typename Tiles::KeySum sum;
            products.multiply(sum, k_tile<false>(number), first_key, warp_row, works, number + 1 < tiles);
            if (!works) continue;
            find_scores(sum, first_key);
            BARACUDA_UNROLL
            for (int r = 0; r < ROWS; ++r)
                BARACUDA_UNROLL
                for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit) {
                    A weight[2];
                    BARACUDA_UNROLL
                    for (int c = 0; c < 2; ++c)
                        weight[c] = weight_at_last<CAREFUL>(sum[r / 2][unit][r % 2 * 2 + c], base[r], total[r], share[r]);
                    store_two(weight_at(lane, r, unit), weight[0], weight[1]);
                }
            __syncwarp();
            if (attn != nullptr) store_weights(first_key);
            if (CAREFUL)
                add_not_finite<typename Tiles::Product>(y, weight_view(), 0, columns, 0, keys_at(first_key), [&](int key, int column) {
                    return v[(first_key + key) * p.v_rows.stride[2] + column];
                });
            __syncwarp();  // the weights are free
        }
        if (works && attn != nullptr) store_unseen(total);
    }
    // The weights in the place of the scores that find_y has left there, the last ones first.
    BARACUDA_FN void change_kept(const OfRow& base, const OfRow& total, const OfRow& share) const {
        BARACUDA_KEEP_LOOP
        for (i64 first_key = (tiles - 1) * Tiles::KEYS; first_key >= 0; first_key -= Tiles::KEYS) {
            typename Tiles::KeySum kept;
            load_own<Tiles>(kept, attn + first_key, p.shape.keys, rows_of_warp(), keys_at(first_key),
                            p.shape.is_aligned(5));
            BARACUDA_UNROLL
            for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit)
                BARACUDA_UNROLL
                for (int i = 0; i < ROWS * 2; ++i) {
                    A& item = kept[i / 4][unit][i % 4];
                    item = weight_at_last<false>(item, base[i / 2], total[i / 2], share[i / 2]);
                }
            store_kept(kept, first_key);
        }
        store_unseen(total);
    }
    BARACUDA_FN void store_kept(const typename Tiles::KeySum& kept, i64 first_key) const {
        store_own<Tiles>(attn + first_key, p.shape.keys, kept, rows_of_warp(), keys_at(first_key), p.shape.is_aligned(5));
    }
    // The weights of keys that nobody sees.
    BARACUDA_FN void store_unseen(const OfRow& total) const {
        const int lane = int(threadIdx.x % 32);
        BARACUDA_UNROLL
        for (int r = 0; r < ROWS; ++r)
            BARACUDA_UNROLL
            for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit) {
                const A weight = total[r] == 0 ? formula.nothing() : A(0);
                store_two(weight_at(lane, r, unit), weight, weight);
            }
        __syncwarp();
        BARACUDA_KEEP_LOOP
        for (i64 first_key = tiles * Tiles::KEYS; first_key < p.shape.keys; first_key += Tiles::KEYS) store_weights(first_key);
    }
    // What follows on the sums. Without care y is written first: its registers are free then.
    template <bool CAREFUL> BARACUDA_FN void finish(typename Tiles::HeadSum& y, const OfRow& base, OfRow& total) const {
        OfRow share;
        BARACUDA_UNROLL
        for (int r = 0; r < ROWS; ++r) {
            total[r] = sum_of_row(total[r]);
            share[r] = A(1) / total[r];
            BARACUDA_UNROLL
            for (int unit = 0; unit < Tiles::HEAD_UNITS; ++unit)
                BARACUDA_UNROLL
                for (int c = 0; c < 2; ++c) y[r / 2][unit][r % 2 * 2 + c] *= share[r];
        }
        if (!CAREFUL) {
            store_y(y, total);
            if (attn == nullptr) return;
            if constexpr (KEEPS) {
                if (works) change_kept(base, total, share);
                return;
            }
            __syncthreads();  // the tile of q is free
        }
        find_attn<CAREFUL>(y, base, total, share);
        if (CAREFUL) store_y(y, total);
    }
    BARACUDA_FN void store_y(const typename Tiles::HeadSum& y, const OfRow& total) const {
        if (!works) return;
        const i64 stride = p.y_rows.stride[2];
        store_sum<typename Tiles::Product, true>(
            rows_of<T>(p.y, p.y_rows, place.batch, place.head) + (place.first + warp_row) * stride + i64(place.part) * Tiles::HEAD,
            stride, products.left_tile + warp_row * Tiles::HEAD_STRIDE, Tiles::HEAD_STRIDE, y, rows_of_warp(), columns,
            p.shape.is_aligned(4), [&](A value, int r) {
                return total[r] == 0 && p.shape.keys > 0 ? formula.nothing() : total[r] == 0 ? A(0) : value;
            });
    }
    // All of it with care. It is no part of the usual way, so that it takes none of its registers.
    BARACUDA_RARE void run_carefully() const {
        typename Tiles::HeadSum y;
        OfRow base, total;
        find_y<true>(y, base, total);
        finish<true>(y, base, total);
    }
    BARACUDA_FN void store_weights(i64 first_key) const {
        store_rows<Tiles::ROWS, Tiles::KEYS>(attn + first_key, p.shape.keys, weights, Tiles::KEY_STRIDE, rows_of_warp(),
                                             keys_at(first_key), p.shape.is_aligned(5));
    }
};

template <class Tiles, class Formula>
BARACUDA_FN void attention_forward(const AttentionForward& p, const Formula& formula) {
    using T = typename Tiles::T;
    using A = typename Tiles::A;
    const AttentionShape& shape = p.shape;
    const AttentionPlace place =
        place_of(tile_of_block(shape.first_block + blockIdx.x, shape.blocks, shape.queries, Tiles::QUERIES,
                               shape.causal != CAUSAL_NONE, true), p.parts, shape.heads);
    const int warp_row = int(threadIdx.x / 32) * Tiles::ROWS, rows = at_most(shape.queries - place.first, Tiles::QUERIES);
    const i64 first_column = i64(place.part) * Tiles::HEAD, first_row = place.first + warp_row;
    const int columns = at_most(shape.d_v - first_column, Tiles::HEAD);
    const bool works = warp_row < rows;
    const i64 kv_head = shape.kv_head(place.head), end = shape.keys_of(place.first + rows - 1);
    using Block = ForwardOfBlock<Tiles, Formula>;
    T *const q_tile = reinterpret_cast<T*>(dynamic_shared()), *const stages = q_tile + Tiles::QUERIES * Tiles::HEAD_STRIDE,
      *const weights = stages + (Block::TAKES_SUMS ? 2 : 4) * Block::KEY_TILE;
    T* const attn = p.attn == nullptr || place.part > 0 ? nullptr
        : static_cast<T*>(p.attn) + ((place.batch * shape.heads + place.head) * shape.queries + first_row) * shape.keys;
    const Block block = {
        p, formula, place,
        {q_tile, rows_of<T>(p.q, p.q_rows, place.batch, place.head) + place.first * p.q_rows.stride[2],
         rows_of<T>(p.k, p.k_rows, place.batch, kv_head), p.q_rows.stride[2], p.k_rows.stride[2], shape.d_k, shape.keys,
         rows, shape.is_aligned(0), shape.is_aligned(1)},
        weights + warp_row * Tiles::KEY_STRIDE, stages, attn,
        rows_of<T>(p.v, p.v_rows, place.batch, kv_head) + first_column, (end + Tiles::KEYS - 1) / Tiles::KEYS, warp_row,
        columns, works};

    typename Tiles::HeadSum y;
    A base[Tiles::LANE_ROWS], total[Tiles::LANE_ROWS];
    block.template find_y<false>(y, base, total);
    if (!__syncthreads_or(works && !all_finite(y))) {
        block.template finish<false>(y, base, total);
    } else {
        const Block in_memory = block;
        in_memory.run_carefully();
    }
}

}  // namespace baracuda
