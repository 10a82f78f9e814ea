// The gradients of q, k and v from weights: those of the forward, or the gradients of the scores.
//   of a query   out[query] = factor * (sum over keys: weights[query, key] * item[key])
//   of a key     out[key] = factor * (sum over heads of a group, queries: weights[query, key] * item[query])
//
// A block has a tile of rows, and walks depth, what is summed over, some steps at a time. Its warps share the tile's rows
// (DOWN) and columns (ACROSS). Of sums over queries, SPLIT groups of warps have a part of every stage's depth each, and
// their sums are added at the end: few keys are enough for many warps.
#pragma once
#include <baracuda/attention_tiles.cuh>

namespace baracuda {

// dq.
struct AttentionQuerySums {
    static constexpr bool OF_KEYS = false;
    const void *weights, *items;
    void* out;
    AttentionShape shape;
    HeadRows item_rows, out_rows;
    i64 parts;  // of a row of items, HEAD elements each
};
// dk and dv, of which either may be absent: it has no groups then.
struct AttentionKeySums {
    static constexpr bool OF_KEYS = true;
    const void *weights[2], *items[2];
    void* out[2];
    AttentionShape shape;
    HeadRows item_rows[2], out_rows[2];
    i64 groups[2], parts[2], extent[2];  // groups: of heads that have a sum of their own
};
// One of them.
struct AttentionSum {
    const void *weights, *items;
    void* out;
    HeadRows item_rows, out_rows;
    i64 extent;
    bool weights_aligned, items_aligned, out_aligned;
};

template <class Shape, int HEAD_, bool TF32, bool OF_KEYS_> struct SumTiles {
    using T = typename Shape::T;
    using A = compute_t<T>;
    using Product = typename ProductOf<T, TF32>::type;
    static constexpr bool OF_KEYS = OF_KEYS_;
    static constexpr int HEAD = HEAD_, ROWS = Shape::SUM_ROWS, DEPTH = Shape::SUM_DEPTH, STAGES = Shape::SUM_STAGES;
    static constexpr int DOWN = Shape::SUM_DOWN, ACROSS = Shape::SUM_ACROSS, SPLIT = OF_KEYS ? Shape::SUM_SPLIT : 1;
    static constexpr int GROUP = DOWN * ACROSS, THREADS = GROUP * SPLIT * 32;
    // Of a warp.
    static constexpr int WARP_ROWS = ROWS / DOWN, WARP_COLUMNS = HEAD / ACROSS, WARP_DEPTH = DEPTH / SPLIT;
    static_assert(WARP_ROWS % UNIT_ROWS == 0 && WARP_COLUMNS % (2 * UNIT_COLUMNS) == 0 && WARP_DEPTH % Product::DEPTH == 0,
                  "warps share a stage in whole units");
    using Sum = A[WARP_ROWS / UNIT_ROWS][WARP_COLUMNS / UNIT_COLUMNS][4];
    static constexpr int ITEMS = sizeof(Sum) / sizeof(A);
    // In shared memory: weights as they lie, rows of depth for keys, and items.
    static constexpr int HEAD_STRIDE = tile_stride<T>(HEAD), WEIGHT_STRIDE = tile_stride<T>(OF_KEYS ? ROWS : DEPTH);
    static constexpr int WEIGHT_TILE = (OF_KEYS ? DEPTH : ROWS) * WEIGHT_STRIDE, STAGE = WEIGHT_TILE + DEPTH * HEAD_STRIDE;
};

template <class Tiles> struct SumsOfBlock {
    using T = typename Tiles::T;
    using A = typename Tiles::A;
    using Sum = typename Tiles::Sum;
    static constexpr bool OF_KEYS = Tiles::OF_KEYS;
    static constexpr int DEPTH = Tiles::DEPTH, STAGES = Tiles::STAGES;

    const AttentionSum& p;
    const AttentionShape& shape;
    AttentionPlace place;
    T* stages;
    i64 first_head, end_head, first, end;  // depth: of these heads, from `first` on
    int rows, columns, warp_row, warp_column, warp_depth;
    bool works;

    struct Step { i64 head, depth; };
    BARACUDA_FN Step begin() const { return {first < end ? first_head : end_head, first}; }
    BARACUDA_FN bool is_there(const Step& step) const { return step.head < end_head; }
    BARACUDA_FN void advance(Step& step) const {
        step.depth += DEPTH;
        if (step.depth < end) return;
        step.depth = first;
        ++step.head;
    }
    BARACUDA_FN int depth_of(const Step& step) const {
        return at_most((OF_KEYS ? shape.queries : shape.keys) - step.depth, DEPTH);
    }
    BARACUDA_FN const T* items_of(const Step& step) const {
        return rows_of<T>(p.items, p.item_rows, place.batch, OF_KEYS ? step.head : shape.kv_head(step.head))
            + step.depth * p.item_rows.stride[2] + i64(place.part) * Tiles::HEAD;
    }

    // Copies what a step needs into a stage, and goes on to the next step.
    BARACUDA_FN void load(T* stage, Step& step) const {
        if (is_there(step)) {
            const i64 query = OF_KEYS ? step.depth : place.first, key = OF_KEYS ? place.first : step.depth;
            const T* const weights = static_cast<const T*>(p.weights) + key
                + ((place.batch * shape.heads + step.head) * shape.queries + query) * shape.keys;
            const int depth = depth_of(step);
            load_tile<OF_KEYS ? DEPTH : Tiles::ROWS, OF_KEYS ? Tiles::ROWS : DEPTH, Tiles::THREADS>(
                stage, Tiles::WEIGHT_STRIDE, weights, shape.keys, OF_KEYS ? depth : rows, OF_KEYS ? rows : depth,
                p.weights_aligned);
            load_tile<DEPTH, Tiles::HEAD, Tiles::THREADS>(stage + Tiles::WEIGHT_TILE, Tiles::HEAD_STRIDE, items_of(step),
                                                          p.item_rows.stride[2], depth, columns, p.items_aligned);
            advance(step);
        }
        commit_copies();
    }

    template <bool CAREFUL> BARACUDA_FN void walk(Sum& sum) const {
        clear(sum);
        Step ahead = begin();
        for (int slot = 0; slot < STAGES - 1; ++slot) load(stages + slot * Tiles::STAGE, ahead);
        int slot = 0;
        BARACUDA_KEEP_LOOP
        for (Step step = begin(); is_there(step); advance(step)) {
            wait_for_copies<STAGES - 2>();
            __syncthreads();
            load(stages + (slot == 0 ? STAGES - 1 : slot - 1) * Tiles::STAGE, ahead);
            T *const stage = stages + slot * Tiles::STAGE, *const items = stage + Tiles::WEIGHT_TILE;
            slot = slot == STAGES - 1 ? 0 : slot + 1;
            if (CAREFUL) {
                keep_finite<DEPTH, Tiles::HEAD, Tiles::THREADS>(items, Tiles::HEAD_STRIDE);
                keep_seen<OF_KEYS ? DEPTH : Tiles::ROWS, OF_KEYS ? Tiles::ROWS : DEPTH, Tiles::THREADS>(
                    stage, Tiles::WEIGHT_STRIDE, shape, OF_KEYS ? step.depth : place.first,
                    OF_KEYS ? place.first : step.depth);
                __syncthreads();
            }
            if (!works) continue;
            const TileView<T, !OF_KEYS> weights = {stage, Tiles::WEIGHT_STRIDE};
            using Product = typename Tiles::Product;
            multiply_tiles<Product, 2 * Product::AHEAD>(sum, weights.from(warp_depth), warp_row,
                                                              TileView<T, false>{items, Tiles::HEAD_STRIDE}.from(warp_depth),
                                                              warp_column, Tiles::WARP_DEPTH);
            if (CAREFUL) {
                const T* const given = items_of(step) + warp_column;
                add_not_finite<typename Tiles::Product>(
                    sum, weights, warp_row, columns - warp_column, warp_depth,
                    at_most(depth_of(step), warp_depth + Tiles::WARP_DEPTH),
                    [&](int depth, int column) { return given[depth * p.item_rows.stride[2] + column]; });
            }
        }
        wait_for_copies<0>();
        if (Tiles::SPLIT > 1) join(sum);
    }
    // The first group's sums become those of all groups, in their order. The stages are free after the next barrier.
    BARACUDA_FN void join(Sum& sum) const {
        const int warp = int(threadIdx.x / 32), group = warp / Tiles::GROUP;
        A* const own = reinterpret_cast<A*>(stages) + warp % Tiles::GROUP * (Tiles::ITEMS * 32) + threadIdx.x % 32;
        A* const all = &sum[0][0][0];
        __syncthreads();  // the stages are free
        if (group > 0)
            BARACUDA_UNROLL
            for (int i = 0; i < Tiles::ITEMS; ++i) own[((group - 1) * Tiles::GROUP * Tiles::ITEMS + i) * 32] = all[i];
        __syncthreads();
        if (group == 0)
            BARACUDA_UNROLL
            for (int i = 0; i < Tiles::ITEMS; ++i)
                BARACUDA_UNROLL
                for (int other = 0; other < Tiles::SPLIT - 1; ++other)
                    all[i] += own[(other * Tiles::GROUP * Tiles::ITEMS + i) * 32];
    }
};

// `factor` of what is summed; `extent` elements of a row.
template <class Tiles, class Factor>
BARACUDA_FN void attention_sum(const AttentionSum& p, const AttentionShape& shape, const AttentionPlace& place, i64 groups,
                               Factor factor) {
    using Block = SumsOfBlock<Tiles>;
    using T = typename Tiles::T;
    constexpr bool OF_KEYS = Tiles::OF_KEYS;
    const int warp = int(threadIdx.x / 32), warp_row = warp % Tiles::GROUP / Tiles::ACROSS * Tiles::WARP_ROWS,
              warp_column = warp % Tiles::ACROSS * Tiles::WARP_COLUMNS;
    const i64 first_column = i64(place.part) * Tiles::HEAD, group = shape.heads / groups;
    const int rows = at_most((OF_KEYS ? shape.keys : shape.queries) - place.first, Tiles::ROWS);
    const int columns = at_most(p.extent - first_column, Tiles::HEAD);
    const i64 before = OF_KEYS ? shape.queries_before(place.first) : 0;
    T* const stages = reinterpret_cast<T*>(dynamic_shared());
    const Block block = {
        p, shape, place, stages, OF_KEYS ? place.head * group : place.head, OF_KEYS ? (place.head + 1) * group : place.head + 1,
        before < shape.queries ? before / Tiles::DEPTH * Tiles::DEPTH : before,
        OF_KEYS ? shape.queries : shape.keys_of(place.first + rows - 1), rows, columns, warp_row, warp_column,
        warp / Tiles::GROUP * Tiles::WARP_DEPTH, warp_row < rows && warp_column < columns};
    typename Tiles::Sum sum;
    block.template walk<false>(sum);
    const bool writes = block.works && warp < Tiles::GROUP;
    if (__syncthreads_or(writes && !all_finite(sum))) {
        block.template walk<true>(sum);
        __syncthreads();  // the stages are free
    }
    if (writes)
        store_sum<typename Tiles::Product, !OF_KEYS>(
            rows_of<T>(p.out, p.out_rows, place.batch, place.head) + (place.first + warp_row) * p.out_rows.stride[2]
                + first_column + warp_column,
            p.out_rows.stride[2], stages + warp_row * Tiles::HEAD_STRIDE + warp_column, Tiles::HEAD_STRIDE, sum,
            at_most(rows - warp_row, Tiles::WARP_ROWS), at_most(columns - warp_column, Tiles::WARP_COLUMNS), p.out_aligned,
            [&](typename Tiles::A value, int) { return factor(value); });
}

template <class Tiles, class Formula>
BARACUDA_FN void attention_query_sums(const AttentionQuerySums& p, const Formula& formula) {
    const AttentionShape& shape = p.shape;
    const TilePlace tile = tile_of_block(shape.first_block + blockIdx.x, shape.blocks, shape.queries, Tiles::ROWS,
                                         shape.causal != CAUSAL_NONE, true);
    const AttentionSum sum = {p.weights, p.items, p.out, p.item_rows, p.out_rows, shape.d_k, shape.is_aligned(0),
                              shape.is_aligned(1), shape.is_aligned(2)};
    attention_sum<Tiles>(sum, shape, place_of(tile, p.parts, shape.heads), 1,
                         [&](typename Tiles::A value) { return formula.dq(value); });
}

template <class Tiles, class Formula>
BARACUDA_FN void attention_key_sums(const AttentionKeySums& p, const Formula& formula) {
    const AttentionShape& shape = p.shape;
    TilePlace tile = tile_of_block(shape.first_block + blockIdx.x, shape.blocks, shape.keys, Tiles::ROWS,
                                   shape.causal != CAUSAL_NONE, false);
    // dk has the first blocks of a tile.
    const i64 of_first = p.groups[0] == 0 ? 0 : shape.batches * p.groups[0] * p.parts[0];
    const int n = tile.rest >= of_first;
    if (n == 1) tile.rest -= of_first;
    const AttentionSum sum = {p.weights[n], p.items[n], p.out[n], p.item_rows[n], p.out_rows[n], p.extent[n],
                              shape.is_aligned(3 * n), shape.is_aligned(3 * n + 1), shape.is_aligned(3 * n + 2)};
    attention_sum<Tiles>(sum, shape, place_of(tile, p.parts[n], p.groups[n]), p.groups[n],
                         [&](typename Tiles::A value) { return n == 0 ? formula.dk(value) : formula.dv(value); });
}

}  // namespace baracuda
