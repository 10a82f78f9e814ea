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

// The scores of a tile of keys, from the products: -inf where a query does not see a key.
template <class Tiles, class Formula>
BARACUDA_FN void find_scores(typename Tiles::KeySum& sum, const AttentionForward& p, const Formula& formula,
    const AttentionPlace& place, i64 first_row,
                             i64 first_key) {
    using A = typename Tiles::A;
    const int lane = int(threadIdx.x % 32);
    BARACUDA_UNROLL
    for (int r = 0; r < 2; ++r) {
        const i64 row = first_row + unit_row(lane, 2 * r);
        const i64 seen = (row < p.shape.queries ? p.shape.keys_of(row) : 0) - first_key;
        const int limit = at_most(seen, Tiles::KEYS);
        const i64 step = p.mask_stride[3];
        i64 at = place.batch * p.mask_stride[0] + place.head * p.mask_stride[1] + row * p.mask_stride[2]
            + (first_key + unit_column(lane, 0)) * step;
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

template <class Tiles, class Formula> BARACUDA_FN void attention_forward(const AttentionForward& p,
    const Formula& formula) {
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
        rows_of<T>(p.k, p.k_rows, place.batch, kv_head), p.q_rows.stride[2], p.k_rows.stride[2], shape.d_k, shape.keys,
            rows,
        shape.is_aligned(0), shape.is_aligned(1)};

    T* const attn = p.attn == nullptr || place.part > 0 ? nullptr
        : static_cast<T*>(p.attn) + ((place.batch * shape.heads + place.head) * shape.queries + first_row) * shape.keys;
    const auto weight_at = [&](int unit, int i) { return weights + unit_row(lane, i) * Tiles::KEY_STRIDE + unit
        * UNIT_COLUMNS + unit_column(lane, i); };

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
                load_tile<Tiles::KEYS, Tiles::HEAD,
                    Tiles::THREADS>(v_tile, Tiles::HEAD_STRIDE, v + first_key * p.v_rows.stride[2], p.v_rows.stride[2],
                        key_count,
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
                        for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit) most = larger(larger(most,
                            sum[unit][2 * r]), sum[unit][2 * r + 1]);
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
                    store_rows<Tiles::KEYS>(attn + first_key, shape.keys, weights, Tiles::KEY_STRIDE,
                        at_most(rows - warp_row, UNIT_ROWS), key_count, shape.is_aligned(5));
                if (careful)
                    add_not_finite<T>(y, weight_view, 0, columns, at_most(end - first_key, key_count),
                                      [&](int key, int column) { return v[(first_key + key) * p.v_rows.stride[2]
                                          + column]; });
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
                multiply_tiles<typename Tiles::Product>(y, weight_view, 0, TileView<T,
                    false>{v_tile, Tiles::HEAD_STRIDE}, columns, key_count);
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
    // The tile of q has been free since the last product with keys.
    if (works)
        store_sum<Tiles>(rows_of<T>(p.y, p.y_rows, place.batch, place.head) + first_row * p.y_rows.stride[2]
            + first_column, p.y_rows.stride[2],
                         q_tile + warp_row * Tiles::HEAD_STRIDE, y, at_most(rows - warp_row, UNIT_ROWS), columns,
                             shape.is_aligned(4),
                         [&](A value, int i) { return total[i / 2] == 0 && shape.keys > 0 ? formula.nothing()
                             : total[i / 2] == 0 ? A(0) : value; });
}

}  // namespace baracuda
