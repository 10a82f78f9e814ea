// Aggregates: every row of elements is merged into one state, and the state is turned into the row's outputs.
//
// A Formula gives
//   State                                   the identity when default-constructed
//   void push(State&, const A (&x)[IN])     takes in one element: its values of the inputs
//   static State merge(const State&, const State&)
//   void finish(const State&, i64 extent, A (&y)[OUT])
// The loops below own every access and keep to the tree of tree.cuh, whatever the mapping to threads.
// An output whose pointer is null is not wanted and not written.
#pragma once
#include <baracuda/tree.cuh>
#include <baracuda/view.cuh>

namespace baracuda {

constexpr int AGGREGATE_THREADS = 256;
constexpr int WARPS = AGGREGATE_THREADS / LANES;

// `lanes` of a warp and `warps` of a block share a row; `splits` blocks do, where the state of each goes to
// `nodes` ([row][split]) and aggregate_nodes merges them. All three are powers of two or, for splits, any
// number of groups of `chunks` (a power of two) a warp.
template <class Offset, int IN, int OUT> struct Aggregate {
    const void* in[IN];
    void* out[OUT];
    void* nodes;
    i64 rows;
    i64 extent;
    i64 splits;
    i64 chunks;
    i32 lanes;
    i32 warps;
    i32 packed;  // the inputs' rows are contiguous and 16-byte aligned
    Axes<i64, IN + OUT> kept;
    Axes<Offset, IN> reduced;
};

template <class T, class Offset, int IN, int OUT, class Formula> struct RowReader {
    using A = compute_t<T>;
    using State = typename Formula::State;
    static constexpr int SIZE = Pack<T>::SIZE;
    static constexpr int STEPS = CHUNK / (LANES * SIZE);

    const Aggregate<Offset, IN, OUT>& p;
    const Formula& formula;
    const T* row[IN];
    i64 extent;  // 0 for a row that is not there

    BARACUDA_FN void push_packs(State& state, const Pack<T> (&pack)[IN]) const {
        BARACUDA_UNROLL
        for (int s = 0; s < SIZE; ++s) {
            A x[IN];
            for (int i = 0; i < IN; ++i) x[i] = widen(pack[i].item[s]);
            formula.push(state, x);
        }
    }

    BARACUDA_FN void push_scalar(State& state, i64 element) const {
        Offset offset[IN] = {};
        p.reduced.add(Offset(element), offset);
        A x[IN];
        for (int i = 0; i < IN; ++i) x[i] = widen(row[i][offset[i]]);
        formula.push(state, x);
    }

    // The state of one chunk, in every lane.
    BARACUDA_FN State chunk(i64 number, int lane) const {
        State state;
        const i64 first = number * CHUNK + lane * SIZE;
        if (p.packed && (number + 1) * CHUNK <= extent) {
            Pack<T> pack[STEPS][IN];
            BARACUDA_UNROLL
            for (int k = 0; k < STEPS; ++k)
                for (int i = 0; i < IN; ++i) pack[k][i] = load_pack(row[i] + first + k * LANES * SIZE);
            BARACUDA_UNROLL
            for (int k = 0; k < STEPS; ++k) push_packs(state, pack[k]);
        } else {
            for (int k = 0; k < STEPS; ++k) {
                const i64 element = first + k * LANES * SIZE;
                if (p.packed && element + SIZE <= extent) {
                    Pack<T> pack[IN];
                    for (int i = 0; i < IN; ++i) pack[i] = load_pack(row[i] + element);
                    push_packs(state, pack);
                } else {
                    for (int s = 0; s < SIZE && element + s < extent; ++s) push_scalar(state, element + s);
                }
            }
        }
        return merge_lanes<Formula>(state, lane, p.lanes);
    }

    // The state of `count` chunks from `first` on, in every lane of the warp.
    BARACUDA_FN State group(i64 first, i64 count, int lane) const {
        if (count == 1) return chunk(first, lane);
        Fold<Formula> fold;
        const i64 last = (extent + CHUNK - 1) / CHUNK;
        i64 number = 0;
        for (; number < count && first + number < last; ++number) fold.push(chunk(first + number, lane), number, lane);
        return number ? fold.total(number, lane) : State();
    }
};

template <class T, class Offset, int IN, int OUT, class Formula>
BARACUDA_FN void write_row(const Aggregate<Offset, IN, OUT>& p, const Formula& formula, const typename Formula::State& state,
                           const i64 (&offset)[IN + OUT]) {
    compute_t<T> y[OUT];
    formula.finish(state, p.extent, y);
    for (int o = 0; o < OUT; ++o)
        if (p.out[o]) static_cast<T*>(p.out[o])[offset[IN + o]] = rounded<T>(y[o]);
}

template <class T, class Offset, int IN, int OUT, class Formula>
BARACUDA_FN void aggregate_rows(const Aggregate<Offset, IN, OUT>& p, const Formula& formula) {
    using State = typename Formula::State;
    const int sharing = p.lanes * p.warps;
    const int lane = threadIdx.x % p.lanes;
    const int warp = threadIdx.x / LANES;
    const i64 split = blockIdx.x % p.splits;
    const i64 row = i64(blockIdx.x / p.splits) * (AGGREGATE_THREADS / sharing) + threadIdx.x / sharing;
    const bool there = row < p.rows;

    i64 offset[IN + OUT] = {};
    if (there) p.kept.add(row, offset);
    RowReader<T, Offset, IN, OUT, Formula> reader{p, formula, {}, there ? p.extent : 0};
    for (int i = 0; i < IN; ++i) reader.row[i] = static_cast<const T*>(p.in[i]) + offset[i];

    const i64 group = split * p.warps + warp % p.warps;
    State state = reader.group(group * p.chunks, p.chunks, lane);
    if (p.warps > 1) {
        BARACUDA_SHARED(State, warp_states, WARPS);
        if (lane == 0) warp_states[warp] = state;
        __syncthreads();
        state = lane < p.warps ? warp_states[warp / p.warps * p.warps + lane] : State();
        state = merge_lanes<Formula>(state, lane, p.warps);
    }
    if (!there || threadIdx.x % sharing != 0) return;
    if (p.splits > 1) static_cast<State*>(p.nodes)[row * p.splits + split] = state;
    else write_row<T>(p, formula, state, offset);
}

// The second stage of a split row: one warp merges its nodes.
template <class T, class Offset, int IN, int OUT, class Formula>
BARACUDA_FN void aggregate_nodes(const Aggregate<Offset, IN, OUT>& p, const Formula& formula) {
    using State = typename Formula::State;
    const int lane = threadIdx.x % LANES;
    const i64 row = i64(blockIdx.x) * WARPS + threadIdx.x / LANES;
    if (row >= p.rows) return;

    const State* nodes = static_cast<const State*>(p.nodes) + row * p.splits;
    Fold<Formula> fold;
    i64 number = 0;
    for (; number * LANES < p.splits; ++number) {
        const i64 node = number * LANES + lane;
        const State state = node < p.splits ? nodes[node] : State();
        fold.push(merge_lanes<Formula>(state, lane, LANES), number, lane);
    }
    const State state = fold.total(number, lane);
    if (lane != 0) return;
    i64 offset[IN + OUT] = {};
    p.kept.add(row, offset);
    write_row<T>(p, formula, state, offset);
}

}  // namespace baracuda
