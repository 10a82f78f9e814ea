// The gradients of scaled dot-product attention, from the weights that the forward saved: first those of the scores
// together with dq, then, as sums over queries, dk and dv.
#pragma once
#include <baracuda/attention_tiles.cuh>

namespace baracuda {

// The gradients of the scores, and of q.
struct AttentionScoreGradients {
    const void *k, *v, *attn, *dy;
    void *dscores, *dq;
    AttentionShape shape;
    HeadRows k_rows, v_rows, dy_rows, dq_rows;
    i64 parts;  // of a row of dq, HEAD elements each; 1 where dq is not wanted
};

template <class Tiles, class Formula> BARACUDA_FN void attention_score_gradients(const AttentionScoreGradients& p,
    const Formula& formula) {
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
    T* const dscores = p.dscores == nullptr || place.part > 0 ? nullptr : static_cast<T*>(p.dscores) + first_weight
        + warp_row * shape.keys;
    const T* const k = rows_of<T>(p.k, p.k_rows, place.batch, kv_head) + first_column;
    const RowsByKeys<Tiles> products = {
        dy_tile, v_tile, rows_of<T>(p.dy, p.dy_rows, place.batch, place.head) + place.first * p.dy_rows.stride[2],
        rows_of<T>(p.v, p.v_rows, place.batch, kv_head), p.dy_rows.stride[2], p.v_rows.stride[2], shape.d_v, shape.keys,
            rows,
        shape.is_aligned(3), shape.is_aligned(1)};
    const auto weight_at = [&](int unit, int i) { return weights + unit_row(lane, i) * Tiles::KEY_STRIDE + unit
        * UNIT_COLUMNS + unit_column(lane, i); };

    // First the sums over rows, then what needs them. Both find the products anew: that costs less than memory for
    // them.
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
            load_tile<Tiles::QUERIES, Tiles::KEYS,
                Tiles::THREADS>(attn_tile, Tiles::KEY_STRIDE, attn + first_key, shape.keys, rows, key_count,
                    shape.is_aligned(2));
            if (!sums && columns > 0)
                load_tile<Tiles::KEYS, Tiles::HEAD,
                    Tiles::THREADS>(k_tile, Tiles::HEAD_STRIDE, k + first_key * p.k_rows.stride[2], p.k_rows.stride[2],
                        key_count,
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
                            const A weight = unit * UNIT_COLUMNS + unit_column(lane, c) < key_count
                                ? widen(items.item[c]) : A(0);
                            const A product = dattn[unit][2 * r + c];
                            if (sums) delta[r] += weight == 0 ? A(0) : formula.delta(weight, product);
                            else change[c] = formula.dscores(weight, product, delta[r]);
                        }
                        if (!sums) store_two(at, change[0], change[1]);
                    }
                __syncwarp();
                if (!sums && dscores != nullptr)
                    store_rows<Tiles::KEYS>(dscores + first_key, shape.keys, weights, Tiles::KEY_STRIDE,
                        at_most(rows - warp_row, UNIT_ROWS), key_count, shape.is_aligned(5));
            }
            if (careful) {
                keep_finite<Tiles::KEYS, Tiles::THREADS>(k_tile, Tiles::HEAD_STRIDE, columns);
                __syncthreads();
            }
            if (!sums && works && columns > 0) {
                multiply_tiles<typename Tiles::Product>(dq, weight_view, 0, TileView<T,
                    false>{k_tile, Tiles::HEAD_STRIDE}, columns, key_count);
                if (careful)
                    add_not_finite<T>(dq, weight_view, 0, columns, key_count,
                                      [&](int key, int column) { return k[(first_key + key) * p.k_rows.stride[2]
                                          + column]; });
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
    store_sum<Tiles>(rows_of<T>(p.dq, p.dq_rows, place.batch, place.head) + first_row * p.dq_rows.stride[2]
        + first_column, p.dq_rows.stride[2],
                     dy_tile + warp_row * Tiles::HEAD_STRIDE, dq, at_most(rows - warp_row, UNIT_ROWS), columns,
                         shape.is_aligned(4),
                     [&](A value, int) { return formula.dq(value); });
}

// The gradients of k and v, sums over the queries of every head that shares them:
// out[key] = factor * (sum over heads of a group, queries: weights[query, key] * item[query]).
struct AttentionKeySums {
    const void *weights, *items;
    void* out;
    AttentionShape shape;  // kv_heads: how many groups of heads have a sum of their own
    HeadRows item_rows, out_rows;
    i64 parts, extent;     // of a row of items
    i32 of_keys;           // whether it is the gradient of k, else of v
};

template <class Tiles, class Formula> BARACUDA_FN void attention_key_sums(const AttentionKeySums& p,
    const Formula& formula) {
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
        return rows_of<T>(p.items, p.item_rows, place.batch, head_of(number)) + query_of(number) * p.item_rows.stride[2]
            + first_column;
    };
    const auto load = [&](i64 number) {
        T* const tile = stages + number % 2 * STAGE;
        const int depth = at_most(shape.queries - query_of(number), DEPTH);
        const T* const weights = static_cast<const T*>(p.weights) +
            ((place.batch * shape.heads + head_of(number)) * shape.queries + query_of(number)) * shape.keys
                + place.first;
        load_tile<DEPTH, ROWS, Tiles::THREADS>(tile, Tiles::ROW_STRIDE, weights, shape.keys, depth, rows,
            shape.is_aligned(0));
        load_tile<DEPTH, Tiles::HEAD, Tiles::THREADS>(tile + DEPTH * Tiles::ROW_STRIDE, Tiles::HEAD_STRIDE,
            items_of(number), p.item_rows.stride[2], depth, columns,
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
            const TileView<T, false> weights = {tile, Tiles::ROW_STRIDE},
                items = {tile + DEPTH * Tiles::ROW_STRIDE, Tiles::HEAD_STRIDE};
            if (careful) {
                keep_finite<DEPTH, Tiles::THREADS>(tile + DEPTH * Tiles::ROW_STRIDE, Tiles::HEAD_STRIDE, columns);
                __syncthreads();
            }
            if (works) {
                multiply_tiles<typename Tiles::Product>(sum, weights, warp_row, items, columns, depth);
                if (careful) {
                    const T* const given = items_of(number);
                    add_not_finite<T>(sum, weights, warp_row, columns, depth,
                                      [&](int query, int column) { return given[query * p.item_rows.stride[2]
                                          + column]; });
                }
            }
            __syncthreads();  // the stage is free
        }
        if (careful || !__syncthreads_or(works && !all_finite(sum, columns))) break;
    }
    if (!works) return;
    store_sum<Tiles>(rows_of<T>(p.out, p.out_rows, place.batch, place.head) + (place.first + warp_row)
        * p.out_rows.stride[2] + first_column,
                     p.out_rows.stride[2], stages + warp_row * Tiles::HEAD_STRIDE, sum,
                         at_most(rows - warp_row, UNIT_ROWS), columns,
                     shape.is_aligned(2), [&](A value, int) { return p.of_keys ? formula.dk(value)
                         : formula.dv(value); });
}

}  // namespace baracuda
