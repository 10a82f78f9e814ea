// The gradients of scaled dot-product attention, from the weights that the forward saved: first those of the scores
// together with dq, then, as sums over queries, dk and dv (attention_key_sums.cuh).
#pragma once
#include <baracuda/attention_key_sums.cuh>

namespace baracuda {

// The gradients of the scores, and of q.
struct AttentionScoreGradients {
    const void *k, *v, *attn, *dy;
    void *dscores, *dq;
    AttentionShape shape;
    HeadRows k_rows, v_rows, dy_rows, dq_rows;
    i64 parts;  // of a row of dq, HEAD elements each; 1 where dq is not wanted
};

// What a block does. In shared memory: dy, and two stages of v, k and attn.
template <class Tiles, class Formula> struct ScoreGradientsOfBlock {
    using T = typename Tiles::T;
    using A = typename Tiles::A;
    static constexpr int KEY_TILE = Tiles::KEYS * Tiles::HEAD_STRIDE,
                         STAGE = 2 * KEY_TILE + Tiles::QUERIES * Tiles::KEY_STRIDE;

    const AttentionScoreGradients& p;
    const Formula& formula;
    RowsByKeys<Tiles> products;
    T *stages, *dscores;      // dscores: from the warp's first row on
    const T *attn, *k;
    i64 tiles;                // of keys that a query of the block sees
    int warp_row, columns;    // columns: of dq
    bool works;

    // Tiles of v, k and attn. The walks go on in turn, so that the stage of a first tile is free.
    template <bool SUMS> BARACUDA_FN T* stage(i64 number) const {
        return stages + ((SUMS ? number : tiles + number) & 1) * STAGE;
    }
    BARACUDA_FN static T* k_tile(T* stage) { return stage + KEY_TILE; }
    BARACUDA_FN static T* attn_tile(T* stage) { return stage + 2 * KEY_TILE; }
    BARACUDA_FN int rows_of_warp() const { return at_most(products.rows - warp_row, Tiles::ROWS); }
    BARACUDA_FN int keys_at(i64 first_key) const { return at_most(p.shape.keys - first_key, Tiles::KEYS); }

    // The sums over rows walk backwards, so that what they have read last, the other walk reads first.
    template <bool SUMS> BARACUDA_FN i64 key_of(i64 number) const {
        return (SUMS ? tiles - 1 - number : number) * Tiles::KEYS;
    }
    template <bool SUMS> BARACUDA_FN void load(i64 number) const {
        const i64 first_key = key_of<SUMS>(number), k_stride = p.k_rows.stride[2];
        T* const tile = stage<SUMS>(number);
        products.load_right(tile, first_key, 0);
        load_tile<Tiles::QUERIES, Tiles::KEYS, Tiles::THREADS>(attn_tile(tile), Tiles::KEY_STRIDE, attn + first_key,
                                                               p.shape.keys, products.rows, keys_at(first_key),
                                                               p.shape.is_aligned(2));
        if (!SUMS && columns > 0)
            load_tile<Tiles::KEYS, Tiles::HEAD, Tiles::THREADS>(k_tile(tile), Tiles::HEAD_STRIDE,
                                                                k + first_key * k_stride, k_stride, keys_at(first_key),
                                                                columns, p.shape.is_aligned(0));
    }

    // A walk over the keys: for the sums over rows, or for what needs them. Both find the products anew: that costs less
    // than memory for them.
    template <bool SUMS, bool CAREFUL>
    BARACUDA_FN void walk(A (&delta)[Tiles::LANE_ROWS], typename Tiles::HeadSum& dq) const {
        if (tiles == 0) return;  // nobody would wait for the copies
        if (SUMS) products.load_left(0);
        else products.load_left_again();
        load<SUMS>(0);
        commit_copies();
        BARACUDA_KEEP_LOOP
        for (i64 number = 0; number < tiles; ++number) {
            wait_for_copies<0>();
            __syncthreads();
            if (number + 1 < tiles) load<SUMS>(number + 1);
            commit_copies();
            const i64 first_key = key_of<SUMS>(number);
            T* const tile = stage<SUMS>(number);
            typename Tiles::KeySum dattn;
            products.multiply(dattn, tile, first_key, warp_row, works, number + 1 < tiles);
            if (CAREFUL) {
                keep_finite<Tiles::KEYS, Tiles::HEAD, Tiles::THREADS>(k_tile(tile), Tiles::HEAD_STRIDE);
                __syncthreads();
            }
            if (!works) continue;
            T* const weights = attn_tile(tile) + warp_row * Tiles::KEY_STRIDE;  // then the gradients of the scores
            change<SUMS>(weights, dattn, delta);
            if (SUMS) continue;
            __syncwarp();
            if (!CAREFUL && dscores != nullptr) store_scores(weights, first_key);
            if (columns == 0) continue;
            const TileView<T, true> view = {weights, Tiles::KEY_STRIDE};
            multiply_tiles<typename Tiles::Product>(dq, view, 0, TileView<T, false>{k_tile(tile), Tiles::HEAD_STRIDE},
                                                    0, Tiles::KEYS);
            if (CAREFUL)
                add_not_finite<T>(dq, view, 0, columns, keys_at(first_key), [&](int key, int column) {
                    return k[(first_key + key) * p.k_rows.stride[2] + column];
                });
        }
    }
    template <bool SUMS>
    BARACUDA_FN void change(T* weights, const typename Tiles::KeySum& dattn, A (&delta)[Tiles::LANE_ROWS]) const {
        const int lane = int(threadIdx.x % 32);
        BARACUDA_UNROLL
        for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit)
            BARACUDA_UNROLL
            for (int r = 0; r < Tiles::LANE_ROWS; ++r) {
                T* const at = weights + lane_row(lane, r) * Tiles::KEY_STRIDE + unit * UNIT_COLUMNS + unit_column(lane, 0);
                const Two<T> items = load_whole<Two<T>>(at);
                A changed[2];
                BARACUDA_UNROLL
                for (int c = 0; c < 2; ++c) {
                    const A weight = widen_at(items, c), product = dattn[r / 2][unit][r % 2 * 2 + c];
                    if (!SUMS) changed[c] = formula.dscores(weight, product, delta[r]);
                    else if (!(weight == 0)) delta[r] += formula.delta(weight, product);
                }
                if (!SUMS) store_two(at, changed[0], changed[1]);
            }
    }
    BARACUDA_FN void store_scores(const T* tile, i64 first_key) const {
        store_rows<Tiles::ROWS, Tiles::KEYS>(dscores + first_key, p.shape.keys, tile, Tiles::KEY_STRIDE, rows_of_warp(),
                                             keys_at(first_key), p.shape.is_aligned(5));
    }
    // Of the keys that nobody sees, those that the sums over queries read: of a tile of keys, from the first query on
    // that sees one of them, in whole steps.
    BARACUDA_FN void store_unseen(i64 end) const {
        T* const weights = attn_tile(stages) + warp_row * Tiles::KEY_STRIDE;
        const i64 read = end + Tiles::QUERIES + Tiles::KEYS, stop = read < p.shape.keys ? read : p.shape.keys;
        if (tiles * Tiles::KEYS >= stop) return;
        __syncwarp();  // the last products have read the tile
        for (int number = int(threadIdx.x % 32); number < Tiles::ROWS * Tiles::KEY_STRIDE; number += 32)
            weights[number] = T{};
        __syncwarp();
        for (i64 first_key = tiles * Tiles::KEYS; first_key < stop; first_key += Tiles::KEYS)
            store_scores(weights, first_key);
    }
};

template <class Tiles, class Formula>
BARACUDA_FN void attention_score_gradients(const AttentionScoreGradients& p, const Formula& formula) {
    using T = typename Tiles::T;
    using A = typename Tiles::A;
    const AttentionShape& shape = p.shape;
    const AttentionPlace place =
        place_of_block(shape.first_block, shape.queries, Tiles::QUERIES, p.parts, shape.heads, true);
    const int warp_row = int(threadIdx.x / 32) * Tiles::ROWS, rows = at_most(shape.queries - place.first, Tiles::QUERIES);
    const i64 first_column = i64(place.part) * Tiles::HEAD, first_row = place.first + warp_row;
    const int columns = p.dq == nullptr ? 0 : at_most(shape.d_k - first_column, Tiles::HEAD);
    const bool works = warp_row < rows;
    const i64 kv_head = shape.kv_head(place.head), end = shape.keys_of(place.first + rows - 1);
    const i64 first_weight = ((place.batch * shape.heads + place.head) * shape.queries + place.first) * shape.keys;
    T* const dy_tile = reinterpret_cast<T*>(dynamic_shared());
    T* const dscores = p.dscores == nullptr || place.part > 0
        ? nullptr : static_cast<T*>(p.dscores) + first_weight + warp_row * shape.keys;
    const ScoreGradientsOfBlock<Tiles, Formula> block = {
        p, formula,
        {dy_tile, rows_of<T>(p.dy, p.dy_rows, place.batch, place.head) + place.first * p.dy_rows.stride[2],
         rows_of<T>(p.v, p.v_rows, place.batch, kv_head), p.dy_rows.stride[2], p.v_rows.stride[2], shape.d_v, shape.keys,
         rows, shape.is_aligned(3), shape.is_aligned(1)},
        dy_tile + Tiles::QUERIES * Tiles::HEAD_STRIDE, dscores, static_cast<const T*>(p.attn) + first_weight,
        rows_of<T>(p.k, p.k_rows, place.batch, kv_head) + first_column, (end + Tiles::KEYS - 1) / Tiles::KEYS, warp_row,
        columns, works};

    typename Tiles::HeadSum dq;
    A delta[Tiles::LANE_ROWS] = {};
    block.template walk<true, false>(delta, dq);
    BARACUDA_UNROLL
    for (int r = 0; r < Tiles::LANE_ROWS; ++r) delta[r] = sum_of_row(delta[r]);
    clear(dq);
    block.template walk<false, false>(delta, dq);
    if (works && dscores != nullptr) block.store_unseen(end);
    if (columns == 0) return;
    if (__syncthreads_or(works && !all_finite(dq))) {
        clear(dq);
        block.template walk<false, true>(delta, dq);
    }
    if (works)
        store_sum<T>(rows_of<T>(p.dq, p.dq_rows, place.batch, place.head) + first_row * p.dq_rows.stride[2] + first_column,
                     p.dq_rows.stride[2], dy_tile + warp_row * Tiles::HEAD_STRIDE, Tiles::HEAD_STRIDE, dq,
                     block.rows_of_warp(), columns, shape.is_aligned(4), [&](A value, int) { return formula.dq(value); });
}

}  // namespace baracuda
