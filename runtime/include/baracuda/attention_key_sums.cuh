// The gradients of k and v, sums over the queries of every head that shares them:
// out[key] = factor * (sum over heads of a group, queries: weights[query, key] * item[query]).
//
// Here the rows of a tile are keys, QUERIES of them, and depth is KEYS queries at a time. A warp has a part of the rows
// and, where there are two or more, half of the columns, so that what it reads of either serves more of the other.
#pragma once
#include <baracuda/attention_tiles.cuh>

namespace baracuda {

struct AttentionKeySums {
    const void *weights, *items;
    void* out;
    AttentionShape shape;  // kv_heads: how many groups of heads have a sum of their own
    HeadRows item_rows, out_rows;
    i64 parts, extent;     // of a row of items
    i32 of_keys;           // whether it is the gradient of k, else of v
};

template <class Tiles> struct KeySumsOfBlock {
    using T = typename Tiles::T;
    static constexpr int STAGES = 3, DEPTH = Tiles::KEYS;
    static constexpr int COLUMN_WARPS = Tiles::WARPS % 2 == 0 ? 2 : 1, ROW_WARPS = Tiles::WARPS / COLUMN_WARPS;
    static constexpr int ROWS = Tiles::QUERIES / ROW_WARPS, COLUMNS = Tiles::HEAD / COLUMN_WARPS;  // of a warp
    static_assert(ROWS % UNIT_ROWS == 0 && COLUMNS % (2 * UNIT_COLUMNS) == 0, "warps share the tile");
    static constexpr int WEIGHT_TILE = DEPTH * Tiles::ROW_STRIDE, STAGE = WEIGHT_TILE + DEPTH * Tiles::HEAD_STRIDE;
    using Sum = typename Tiles::A[ROWS / UNIT_ROWS][COLUMNS / UNIT_COLUMNS][4];

    const AttentionKeySums& p;
    AttentionPlace place;
    T* stages;
    i64 first_query, group;
    int rows, columns, warp_row, warp_column;
    bool works;

    // The walk: tiles of queries of one head after another; queries that see no key of the tile are left out.
    struct Step { i64 head, query; };
    BARACUDA_FN Step begin() const {
        return {first_query < p.shape.queries ? place.head * group : (place.head + 1) * group, first_query};
    }
    BARACUDA_FN bool is_there(const Step& step) const { return step.head < (place.head + 1) * group; }
    BARACUDA_FN void advance(Step& step) const {
        step.query += DEPTH;
        if (step.query < p.shape.queries) return;
        step.query = first_query;
        ++step.head;
    }
    BARACUDA_FN int depth_of(const Step& step) const { return at_most(p.shape.queries - step.query, DEPTH); }
    BARACUDA_FN const T* items_of(const Step& step) const {
        return rows_of<T>(p.items, p.item_rows, place.batch, step.head) + step.query * p.item_rows.stride[2]
            + i64(place.part) * Tiles::HEAD;
    }

    // Copies what a step needs into a stage, and goes on to the next step.
    BARACUDA_FN void load(T* stage, Step& step) const {
        if (is_there(step)) {
            const T* const weights = static_cast<const T*>(p.weights) + place.first
                + ((place.batch * p.shape.heads + step.head) * p.shape.queries + step.query) * p.shape.keys;
            load_tile<DEPTH, Tiles::QUERIES, Tiles::THREADS>(stage, Tiles::ROW_STRIDE, weights, p.shape.keys,
                                                             depth_of(step), rows, p.shape.is_aligned(0));
            load_tile<DEPTH, Tiles::HEAD, Tiles::THREADS>(stage + WEIGHT_TILE, Tiles::HEAD_STRIDE, items_of(step),
                                                          p.item_rows.stride[2], depth_of(step), columns,
                                                          p.shape.is_aligned(1));
            advance(step);
        }
        commit_copies();
    }

    template <bool CAREFUL> BARACUDA_FN void walk(Sum& sum) const {
        clear(sum);
        Step ahead = begin();
        for (int slot = 0; slot < STAGES - 1; ++slot) load(stages + slot * STAGE, ahead);
        int slot = 0;
        BARACUDA_KEEP_LOOP
        for (Step step = begin(); is_there(step); advance(step)) {
            wait_for_copies<STAGES - 2>();
            __syncthreads();
            load(stages + (slot == 0 ? STAGES - 1 : slot - 1) * STAGE, ahead);
            T *const stage = stages + slot * STAGE, *const items = stage + WEIGHT_TILE;
            slot = slot == STAGES - 1 ? 0 : slot + 1;
            if (CAREFUL) {
                keep_finite<DEPTH, Tiles::HEAD, Tiles::THREADS>(items, Tiles::HEAD_STRIDE);
                __syncthreads();
            }
            if (!works) continue;
            const TileView<T, false> weights = {stage, Tiles::ROW_STRIDE};
            multiply_tiles<typename Tiles::Product>(sum, weights, warp_row, TileView<T, false>{items, Tiles::HEAD_STRIDE},
                                                    warp_column, DEPTH);
            if (CAREFUL) {
                const T* const given = items_of(step) + warp_column;
                add_not_finite<T>(sum, weights, warp_row, columns - warp_column, depth_of(step), [&](int query, int column) {
                    return given[query * p.item_rows.stride[2] + column];
                });
            }
        }
        wait_for_copies<0>();
    }
};

template <class Tiles, class Formula>
BARACUDA_FN void attention_key_sums(const AttentionKeySums& p, const Formula& formula) {
    using Block = KeySumsOfBlock<Tiles>;
    using T = typename Tiles::T;
    using A = typename Tiles::A;
    const AttentionShape& shape = p.shape;
    const AttentionPlace place =
        place_of_block(shape.first_block, shape.keys, Tiles::QUERIES, p.parts, shape.kv_heads, false);
    const int warp = int(threadIdx.x / 32), warp_row = warp / Block::COLUMN_WARPS * Block::ROWS,
              warp_column = warp % Block::COLUMN_WARPS * Block::COLUMNS;
    const i64 first_column = i64(place.part) * Tiles::HEAD, before = shape.queries_before(place.first);
    const i64 first_query = before < shape.queries ? before / Block::DEPTH * Block::DEPTH : before;
    const int rows = at_most(shape.keys - place.first, Tiles::QUERIES), columns = at_most(p.extent - first_column, Tiles::HEAD);
    T* const stages = reinterpret_cast<T*>(dynamic_shared());
    const Block block = {p, place, stages, first_query, shape.heads / shape.kv_heads, rows, columns, warp_row, warp_column,
                         warp_row < rows && warp_column < columns};
    typename Block::Sum sum;
    block.template walk<false>(sum);
    if (__syncthreads_or(block.works && !all_finite(sum))) {
        block.template walk<true>(sum);
        __syncthreads();  // the stages are free
    }
    if (block.works)
        store_sum<T>(rows_of<T>(p.out, p.out_rows, place.batch, place.head) + (place.first + warp_row) * p.out_rows.stride[2]
                         + first_column + warp_column,
                     p.out_rows.stride[2], stages + warp_row * Tiles::HEAD_STRIDE + warp_column, Tiles::HEAD_STRIDE, sum,
                     at_most(rows - warp_row, Block::ROWS), at_most(columns - warp_column, Block::COLUMNS),
                     shape.is_aligned(2),
                     [&](A value, int) { return p.of_keys ? formula.dk(value) : formula.dv(value); });
}

}  // namespace baracuda
