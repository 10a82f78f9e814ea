// The gradients of scaled dot-product attention, from the weights that the forward saved: first those of the scores, then,
// as sums of items with these and with the weights, dq, dk and dv (attention_sums.cuh). Where there is no memory for the
// scores' gradients, dq is summed where they are found.
#pragma once
#include <baracuda/attention_sums.cuh>

namespace baracuda {

// The gradients of the scores, or of q.
struct AttentionScoreGradients {
    const void *k, *v, *attn, *dy;
    void *dscores, *dq;
    AttentionShape shape;
    HeadRows k_rows, v_rows, dy_rows, dq_rows;
    i64 parts;  // of a row of dq, HEAD elements each; 1 where the scores' gradients are kept
};

// What a block does; DQ: dq is summed, else the scores' gradients are kept. In shared memory: dy, and two stages of v, k
// for dq, and the weights. DIRECT: the scores' gradients are kept in the type of sums. A lane reads its own weights from
// memory then: two of 4 bytes or more are parts of memory that four lanes read whole. HOLDS: rows of dy are in registers.
template <class Tiles, class Formula, bool DQ> struct ScoreGradientsOfBlock {
    using T = typename Tiles::T;
    using A = typename Tiles::A;
    using Product = typename Tiles::Product;
    static constexpr bool DIRECT = sizeof(T) >= 4 && !DQ, HOLDS = Product::TAKES_SUMS && !DQ;
    static constexpr int KEY_TILE = Tiles::KEYS * Tiles::HEAD_STRIDE, WEIGHTS_AT = (DQ ? 2 : 1) * KEY_TILE,
                         STAGE = WEIGHTS_AT + (DIRECT ? 0 : Tiles::QUERIES * Tiles::KEY_STRIDE);

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
    BARACUDA_FN static T* attn_tile(T* stage) { return stage + WEIGHTS_AT; }
    BARACUDA_FN int rows_of_warp() const { return at_most(products.rows - warp_row, Tiles::ROWS); }
    BARACUDA_FN int keys_at(i64 first_key) const { return at_most(p.shape.keys - first_key, Tiles::KEYS); }

    // The second walk goes back, unless it sums: what the first has read last, it reads first.
    template <bool SUMS> BARACUDA_FN i64 key_of(i64 number) const {
        return (SUMS || DQ ? number : tiles - 1 - number) * Tiles::KEYS;
    }
    template <bool SUMS> BARACUDA_FN void load(i64 number) const {
        const i64 first_key = key_of<SUMS>(number), k_stride = p.k_rows.stride[2];
        T* const tile = stage<SUMS>(number);
        products.load_right(tile, first_key, 0);
        if (!DIRECT)
            load_tile<Tiles::QUERIES, Tiles::KEYS, Tiles::THREADS>(attn_tile(tile), Tiles::KEY_STRIDE, attn + first_key,
                                                                   p.shape.keys, products.rows, keys_at(first_key),
                                                                   p.shape.is_aligned(2));
        if (!SUMS && DQ)
            load_tile<Tiles::KEYS, Tiles::HEAD, Tiles::THREADS>(k_tile(tile), Tiles::HEAD_STRIDE,
                                                                k + first_key * k_stride, k_stride, keys_at(first_key),
                                                                columns, p.shape.is_aligned(0));
    }

    // A walk over the keys: for the sums over rows, or for what needs them. Both find the products anew, which costs less
    // than memory for them, unless that of the scores' gradients has room for them (DIRECT).
    template <bool SUMS, bool CAREFUL>
    BARACUDA_FN void walk(A (&delta)[Tiles::LANE_ROWS], typename Tiles::HeadSum& dq) const {
        if (tiles == 0) return;  // nobody would wait for the copies
        if (SUMS) products.load_left(0);
        else products.load_left_again();
        load<SUMS>(0);
        commit_copies();
        typename RowsByKeys<Tiles>::Held held;
        BARACUDA_KEEP_LOOP
        for (i64 number = 0; number < tiles; ++number) {
            const i64 first_key = key_of<SUMS>(number);
            typename Tiles::KeySum own;
            if constexpr (DIRECT)
                if (works) load_weights(own, first_key);
            wait_for_copies<0>();
            __syncthreads();
            if (number + 1 < tiles) load<SUMS>(number + 1);
            commit_copies();
            if constexpr (HOLDS)
                if (number == 0) held.load(products.left_view(), warp_row);
            T* const tile = stage<SUMS>(number);
            typename Tiles::KeySum dattn;
            products.multiply(dattn, tile, first_key, warp_row, works, number + 1 < tiles, HOLDS ? &held : nullptr);
            if (CAREFUL) {
                keep_finite<Tiles::KEYS, Tiles::HEAD, Tiles::THREADS>(k_tile(tile), Tiles::HEAD_STRIDE);
                __syncthreads();
            }
            if (!works) continue;
            T* const weights = attn_tile(tile) + warp_row * Tiles::KEY_STRIDE;  // then the gradients of the scores
            if constexpr (DIRECT) {
                BARACUDA_UNROLL
                for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit)
                    BARACUDA_UNROLL
                    for (int i = 0; i < Tiles::LANE_ROWS * 2; ++i)
                        add(delta[i / 2], own[i / 4][unit][i % 4], dattn[i / 4][unit][i % 4]);
                store_kept(dattn, first_key);
                continue;
            }
            change<SUMS>(weights, dattn, delta);
            if (SUMS) continue;
            __syncwarp();
            if constexpr (!DQ) {
                store_scores(weights, first_key);
            } else {
                const TileView<T, true> view = {weights, Tiles::KEY_STRIDE};
                multiply_tiles<Product>(dq, view, 0, TileView<T, false>{k_tile(tile), Tiles::HEAD_STRIDE}, 0, Tiles::KEYS);
                if (CAREFUL)
                    add_not_finite<Product>(dq, view, 0, columns, 0, keys_at(first_key), [&](int key, int column) {
                        return k[(first_key + key) * p.k_rows.stride[2] + column];
                    });
            }
        }
    }
    BARACUDA_FN void add(A& delta, A weight, A product) const {
        if (!(weight == 0)) delta += formula.delta(weight, product);
    }
    // Of the weights in shared memory: their part of the sums over rows, or the scores' gradients in their place.
    template <bool SUMS>
    BARACUDA_FN void change(T* weights, const typename Tiles::KeySum& dattn, A (&delta)[Tiles::LANE_ROWS]) const {
        const int lane = int(threadIdx.x % 32);
        BARACUDA_UNROLL
        for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit)
            BARACUDA_UNROLL
            for (int r = 0; r < Tiles::LANE_ROWS; ++r) {
                T* const at = weights + lane_row(lane, r) * Tiles::KEY_STRIDE + unit * UNIT_COLUMNS + unit_column(lane, 0);
                const Two<T> items = load_whole<Two<T>>(at);
                const A first = widen_at(items, 0), second = widen_at(items, 1);
                const A* const product = dattn[r / 2][unit] + r % 2 * 2;
                if (SUMS) {
                    add(delta[r], first, product[0]);
                    add(delta[r], second, product[1]);
                } else {
                    store_two(at, formula.dscores(first, product[0], delta[r]),
                              formula.dscores(second, product[1], delta[r]));
                }
            }
    }
    BARACUDA_FN void load_weights(typename Tiles::KeySum& own, i64 first_key) const {
        load_own<Tiles>(own, attn + warp_row * p.shape.keys + first_key, p.shape.keys, rows_of_warp(), keys_at(first_key),
                        p.shape.is_aligned(2));
    }
    // The scores' gradients in the place of the products that the first walk has left there, the last ones first.
    BARACUDA_FN void change_kept(const A (&delta)[Tiles::LANE_ROWS]) const {
        BARACUDA_KEEP_LOOP
        for (i64 first_key = (tiles - 1) * Tiles::KEYS; first_key >= 0; first_key -= Tiles::KEYS) {
            typename Tiles::KeySum own, kept;
            load_weights(own, first_key);
            load_own<Tiles>(kept, dscores + first_key, p.shape.keys, rows_of_warp(), keys_at(first_key),
                            p.shape.is_aligned(5));
            BARACUDA_UNROLL
            for (int unit = 0; unit < Tiles::KEY_UNITS; ++unit)
                BARACUDA_UNROLL
                for (int i = 0; i < Tiles::LANE_ROWS * 2; ++i) {
                    A& item = kept[i / 4][unit][i % 4];
                    item = formula.dscores(own[i / 4][unit][i % 4], item, delta[i / 2]);
                }
            store_kept(kept, first_key);
        }
    }
    BARACUDA_FN void store_kept(const typename Tiles::KeySum& kept, i64 first_key) const {
        store_own<Tiles>(dscores + first_key, p.shape.keys, kept, rows_of_warp(), keys_at(first_key), p.shape.is_aligned(5));
    }
    BARACUDA_FN void store_scores(const T* tile, i64 first_key) const {
        store_rows<Tiles::ROWS, Tiles::KEYS>(dscores + first_key, p.shape.keys, tile, Tiles::KEY_STRIDE, rows_of_warp(),
                                             keys_at(first_key), p.shape.is_aligned(5));
    }
    BARACUDA_FN void store_dq(const typename Tiles::HeadSum& dq, const AttentionPlace& place, i64 first_column) const {
        if (!works) return;
        const i64 stride = p.dq_rows.stride[2];
        T* const rows = rows_of<T>(p.dq, p.dq_rows, place.batch, place.head) + (place.first + warp_row) * stride;
        store_sum<Product, true>(rows + first_column, stride, products.left_tile + warp_row * Tiles::HEAD_STRIDE,
                                 Tiles::HEAD_STRIDE, dq, rows_of_warp(), columns, p.shape.is_aligned(4),
                                 [&](A value, int) { return formula.dq(value); });
    }
    // dq with care. It is no part of the usual way, so that it takes none of its registers.
    struct Delta { A row[Tiles::LANE_ROWS]; };
    BARACUDA_RARE void sum_carefully(Delta delta, AttentionPlace place, i64 first_column) const {
        typename Tiles::HeadSum dq;
        clear(dq);
        walk<false, true>(delta.row, dq);
        // Causal leaves these rows no key: what their weights are does not matter, be it NaN.
        BARACUDA_UNROLL
        for (int r = 0; r < Tiles::LANE_ROWS; ++r) {
            if (p.shape.keys_of(place.first + warp_row + lane_row(int(threadIdx.x % 32), r)) > 0) continue;
            BARACUDA_UNROLL
            for (int unit = 0; unit < Tiles::HEAD_UNITS; ++unit)
                BARACUDA_UNROLL
                for (int c = 0; c < 2; ++c) dq[r / 2][unit][r % 2 * 2 + c] = A(0);
        }
        store_dq(dq, place, first_column);
    }
    // Of the keys that nobody sees, those that the sums over queries read: of a tile of `sum_keys`, from the first query on
    // that sees one of them, in whole steps of `depth`.
    BARACUDA_FN void store_unseen(i64 end, int sum_keys, int depth) const {
        const i64 read = end + sum_keys + depth, stop = read < p.shape.keys ? read : p.shape.keys;
        const int lane = int(threadIdx.x % 32), rows = rows_of_warp();
        for (int row = 0; row < rows; ++row)
            for (i64 key = tiles * Tiles::KEYS + lane; key < stop; key += 32) dscores[row * p.shape.keys + key] = T{};
    }
};

// The scores' gradients for sums in tiles of Sums.
template <class Tiles, class Sums, bool DQ, class Formula>
BARACUDA_FN void attention_score_gradients(const AttentionScoreGradients& p, const Formula& formula) {
    using T = typename Tiles::T;
    using A = typename Tiles::A;
    const AttentionShape& shape = p.shape;
    const AttentionPlace place =
        place_of(tile_of_block(shape.first_block + blockIdx.x, shape.blocks, shape.queries, Tiles::QUERIES,
                               shape.causal != CAUSAL_NONE, true), p.parts, shape.heads);
    const int warp_row = int(threadIdx.x / 32) * Tiles::ROWS, rows = at_most(shape.queries - place.first, Tiles::QUERIES);
    const i64 first_column = i64(place.part) * Tiles::HEAD;
    const int columns = DQ ? at_most(shape.d_k - first_column, Tiles::HEAD) : 0;
    const bool works = warp_row < rows;
    const i64 kv_head = shape.kv_head(place.head), end = shape.keys_of(place.first + rows - 1);
    const i64 first_weight = ((place.batch * shape.heads + place.head) * shape.queries + place.first) * shape.keys;
    T* const dy_tile = reinterpret_cast<T*>(dynamic_shared());
    T* const dscores = static_cast<T*>(p.dscores) + (DQ ? 0 : first_weight + warp_row * shape.keys);
    using Block = ScoreGradientsOfBlock<Tiles, Formula, DQ>;
    const Block block = {
        p, formula,
        {dy_tile, rows_of<T>(p.dy, p.dy_rows, place.batch, place.head) + place.first * p.dy_rows.stride[2],
         rows_of<T>(p.v, p.v_rows, place.batch, kv_head), p.dy_rows.stride[2], p.v_rows.stride[2], shape.d_v, shape.keys,
         rows, shape.is_aligned(3), shape.is_aligned(1)},
        dy_tile + Tiles::QUERIES * Tiles::HEAD_STRIDE, dscores, static_cast<const T*>(p.attn) + first_weight,
        DQ ? rows_of<T>(p.k, p.k_rows, place.batch, kv_head) + first_column : nullptr,
        (end + Tiles::KEYS - 1) / Tiles::KEYS, warp_row, columns, works};

    typename Tiles::HeadSum dq;
    A delta[Tiles::LANE_ROWS] = {};
    block.template walk<true, false>(delta, dq);
    BARACUDA_UNROLL
    for (int r = 0; r < Tiles::LANE_ROWS; ++r) delta[r] = sum_of_row(delta[r]);
    if constexpr (Block::DIRECT) {
        if (works) block.change_kept(delta);
    } else {
        if (DQ) clear(dq);
        block.template walk<false, false>(delta, dq);
    }
    if constexpr (!DQ) {
        if (works) block.store_unseen(end, Sums::ROWS, Sums::DEPTH);
    } else if (!__syncthreads_or(works && !all_finite(dq))) {
        block.store_dq(dq, place, first_column);
    } else {
        const Block in_memory = block;
        typename Block::Delta of_rows;
        BARACUDA_UNROLL
        for (int r = 0; r < Tiles::LANE_ROWS; ++r) of_rows.row[r] = delta[r];
        in_memory.sum_carefully(of_rows, place, first_column);
    }
}

}  // namespace baracuda
