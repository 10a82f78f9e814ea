// Sums over rows: outputs with an element a column, each the sum of a formula over every row.
//
// The tree depends on the number of rows, their length and the dtype, and on nothing else:
//   group   `group` neighbouring rows, summed in order
//   warp    one of 8; warp w takes the sums of the groups w, w + 8, ... in order, 32 to a run, and then the runs
//   block   the 8 warps by a balanced binary tree
// The sums of groups may go by way of memory, so that many blocks share the work. That changes no bit.
//
// Beside what aggregate.cuh asks for, a Formula has, with CO such outputs,
//   void columns(const Row&, const A (&x)[EI], i64 index, A (&y)[CO])     an element's terms; of the row, only what
//                                                                         follows from its inputs
#pragma once
#include <baracuda/columns.cuh>

namespace baracuda {

template <int EI_, int RI_, int EO_, int CO_> struct ColumnSums {
    static constexpr int EI = EI_, RI = RI_, EO = EO_, CO = CO_;
    const void* in[EI + RI];  // elements first, then rows
    void* out[EO + CO];       // elements first, then columns
    void* partial;  // the sums of groups, [output][group][column] in the compute type; null: they stay in registers
    i64 rows;
    i64 extent;
    i64 group;
    i64 groups;
    i32 packed;  // 16-byte accesses: rows are contiguous and aligned, and made of whole packs
    i32 compute_rows;
    i32 batch;   // walk_groups: rows that a block holds in shared memory
    i32 stages;  // and how many such batches it has room for
    Divisor<i32> packs;  // of a row
    Axes<i64, EI + RI + EO> kept;
    Axes<i64, EI + CO> reduced;
};

// A sum in two levels: 32 terms to a run.
template <class A> struct RunningSum {
    A run = A(0), total = A(0);
    BARACUDA_FN void add(A term, i64 number) {
        run += term;
        if (number % LANES == LANES - 1) {
            total += run;
            run = A(0);
        }
    }
    BARACUDA_FN A value() const { return total + run; }
};

// A balanced tree over COUNT numbers, a power of two, that lie `stride` apart.
template <int COUNT, class A> BARACUDA_FN A pairwise_sum(const A* numbers, int stride) {
    if constexpr (COUNT == 1) return *numbers;
    else return pairwise_sum<COUNT / 2>(numbers, stride) + pairwise_sum<COUNT / 2>(numbers + COUNT / 2 * stride, stride);
}

// The columns of a block: WIDTH neighbouring ones a lane. The warps take groups of rows.
template <class T, class Formula, int WIDTH, class Operands> struct SumTile {
    using A = compute_t<T>;
    static constexpr int EI = Operands::EI, RI = Operands::RI, EO = Operands::EO, CO = Operands::CO;
    static constexpr int COLUMNS = WIDTH * LANES;
    static constexpr int AT_ONCE = WIDTH == 1 ? 8 : CO > 1 ? 2 : 4;  // rows of an operand that are in flight
    struct alignas(WIDTH * sizeof(T)) Across { T item[WIDTH]; };

    const Operands& p;
    const Formula& formula;
    int warp, lane;
    i64 split, first, column;
    i64 place[EI + CO];

    BARACUDA_FN SumTile(const Operands& operands, const Formula& f) : p(operands), formula(f) {
        const i64 tiles = (p.extent + COLUMNS - 1) / COLUMNS;
        warp = threadIdx.x / LANES;
        lane = threadIdx.x % LANES;
        split = blockIdx.x / tiles;
        first = blockIdx.x % tiles * COLUMNS;
        column = first + lane * WIDTH;
        for (int o = 0; o < EI + CO; ++o) place[o] = 0;
        if (column < p.extent) p.reduced.add(column, place);
    }

    BARACUDA_FN Across load(int i, i64 offset) const {
        Across across;
        if (is_there<Formula>(p, i)) return load_whole<Across>(static_cast<const T*>(p.in[i]) + place[i] + offset);
        for (int s = 0; s < WIDTH; ++s) across.item[s] = rounded<T>(A(Formula::absent(i)));
        return across;
    }

    // The sums of one group, its rows in order.
    BARACUDA_FN void sum_group(i64 number, A (&sum)[CO][WIDTH]) const {
        for (int o = 0; o < CO; ++o)
            for (int s = 0; s < WIDTH; ++s) sum[o][s] = A(0);
        const i64 begin = number * p.group;
        const i64 end = begin + p.group < p.rows ? begin + p.group : p.rows;
        BARACUDA_KEEP_LOOP
        for (i64 row = begin; row < end; row += AT_ONCE) {
            Across x[AT_ONCE][EI];
            A row_in[AT_ONCE][at_least_one(RI)];
            BARACUDA_UNROLL
            for (int k = 0; k < AT_ONCE; ++k) {
                if (row + k >= end) continue;
                i64 offset[EI + RI + EO] = {};
                p.kept.add(row + k, offset);
                for (int i = 0; i < EI; ++i) x[k][i] = load(i, offset[i]);
                for (int r = 0; r < RI; ++r) row_in[k][r] = row_input<T, Formula>(p, r, offset[EI + r]);
            }
            BARACUDA_UNROLL
            for (int k = 0; k < AT_ONCE; ++k) {
                if (row + k >= end) continue;
                const typename Formula::Row value = formula.values(typename Formula::State(), row_in[k], p.extent);
                BARACUDA_UNROLL
                for (int s = 0; s < WIDTH; ++s) {
                    A in[EI], term[CO];
                    for (int i = 0; i < EI; ++i) in[i] = widen_at(x[k][i], s);
                    formula.columns(value, in, column + s, term);
                    for (int o = 0; o < CO; ++o) sum[o][s] += term[o];
                }
            }
        }
    }

    BARACUDA_FN A* partial(int o, i64 number) const {
        return static_cast<A*>(p.partial) + (o * p.groups + number) * p.extent + column;
    }

    // Each warp's groups, and then the warps. `sum_of(number, sum)` gives the sums of a group.
    template <class SumOf> BARACUDA_FN void total(const SumOf& sum_of) const {
        BARACUDA_SHARED(A, of_warp, WARPS * CO * COLUMNS);
        RunningSum<A> running[CO][WIDTH];
        if (column < p.extent) {
            i64 count = 0;
            BARACUDA_KEEP_LOOP
            for (i64 number = warp; number < p.groups; number += WARPS, ++count) {
                A sum[CO][WIDTH];
                sum_of(number, sum);
                for (int o = 0; o < CO; ++o)
                    for (int s = 0; s < WIDTH; ++s) running[o][s].add(sum[o][s], count);
            }
        }
        for (int o = 0; o < CO; ++o)
            for (int s = 0; s < WIDTH; ++s) of_warp[(warp * CO + o) * COLUMNS + lane * WIDTH + s] = running[o][s].value();
        __syncthreads();
        for (int t = threadIdx.x; t < COLUMNS && first + t < p.extent; t += AGGREGATE_THREADS) {
            i64 where[EI + CO] = {};
            p.reduced.add(first + t, where);
            BARACUDA_UNROLL
            for (int o = 0; o < CO; ++o)
                if (p.out[EO + o])
                    static_cast<T*>(p.out[EO + o])[where[EI + o]] = rounded<T>(pairwise_sum<WARPS>(of_warp + o * COLUMNS + t, CO * COLUMNS));
        }
    }

    // The sums of one group a warp, to memory; or those of all groups, to the outputs.
    BARACUDA_FN void run() const {
        if (!p.partial) return total([this](i64 number, A (&sum)[CO][WIDTH]) { sum_group(number, sum); });
        const i64 number = split * WARPS + warp;
        if (number >= p.groups || column >= p.extent) return;
        A sum[CO][WIDTH];
        sum_group(number, sum);
        for (int o = 0; o < CO; ++o)
            for (int s = 0; s < WIDTH && p.out[EO + o]; ++s) partial(o, number)[s] = sum[o][s];
    }
};

template <class T, class Formula, class Operands> BARACUDA_FN void sum_columns(const Operands& p, const Formula& formula) {
    if (p.packed) SumTile<T, Formula, Pack<T>::SIZE, Operands>(p, formula).run();
    else SumTile<T, Formula, 1, Operands>(p, formula).run();
}

// The last stage: the outputs, from the sums of groups in memory.
template <class T, class Formula, class Operands> BARACUDA_FN void total_columns(const Operands& p, const Formula& formula) {
    const SumTile<T, Formula, 1, Operands> tile(p, formula);
    tile.total([&](i64 number, compute_t<T> (&sum)[Operands::CO][1]) {
        for (int o = 0; o < Operands::CO; ++o) sum[o][0] = p.out[Operands::EO + o] ? *tile.partial(o, number) : compute_t<T>(0);
    });
}

// All at once: a block walks the rows of a group, each read a single time. Some rows lie in shared memory while the next
// are on their way. Warps aggregate them, a chunk each; then each thread maps its columns down the rows and adds up their
// terms. Rows keep to the tree of tree.cuh, sums to the one above.
template <class T, class Formula, class Operands> struct GroupWalk {
    using A = compute_t<T>;
    using State = typename Formula::State;
    using Row = typename Formula::Row;
    static constexpr int EI = Operands::EI, RI = Operands::RI, EO = Operands::EO, CO = Operands::CO;
    static constexpr int VI = EI - Formula::COLUMN_INPUTS;  // inputs that differ from row to row
    static constexpr int SIZE = Pack<T>::SIZE;
    static constexpr int AT_ONCE = 4;      // packs of an operand that an aggregating lane reads ahead
    static constexpr int MOST = 64;        // chunks of a batch, and rows
    static constexpr int MOST_ROWS = 128;  // of a group

    const Operands& p;
    const Formula& formula;
    i64 first;  // row of the group
    int rows, chunks;
    Pack<T>* held;  // [stage][row of the batch][input][pack]
    A* sums;        // [output][column]
    A* row_in;      // [row of the group][input]

    BARACUDA_FN Pack<T>* row_of(int stage, int k, int i) const {
        return held + (i64(stage * p.batch + k) * VI + i) * p.packs.divisor;
    }
    BARACUDA_FN int rows_of(int batch) const {
        const int left = rows - batch * p.batch;
        return left < p.batch ? left : p.batch;
    }

    // Sends for a batch of rows.
    BARACUDA_FN void fetch(int batch) const {
        const int packs = p.packs.divisor, count = rows_of(batch) * packs;
        BARACUDA_KEEP_LOOP
        for (int t = threadIdx.x; t < count; t += AGGREGATE_THREADS) {
            const int k = p.packs.quotient(t), pack = t - k * packs;
            i64 offset[EI + RI + EO] = {};
            p.kept.add(first + batch * p.batch + k, offset);
            for (int i = 0; i < VI; ++i)
                if (is_there<Formula>(p, i))
                    copy_async(row_of(batch % p.stages, k, i) + pack, static_cast<const T*>(p.in[i]) + offset[i] + pack * SIZE);
        }
    }

    // A pack of input i at row k of a stage.
    BARACUDA_FN Pack<T> pack_of(int i, int stage, int k, int pack) const {
        const T* from = i < VI ? reinterpret_cast<const T*>(row_of(stage, k, i)) : static_cast<const T*>(p.in[i]);
        return pack_at<T, Formula>(p, i, from + pack * SIZE);
    }

    // What a lane takes in of a chunk of row k.
    BARACUDA_FN State of_lane(int stage, int k, const A (&row)[1][at_least_one(RI)], int chunk, int lane) const {
        typename Formula::Run run[1];
        const int begin = chunk * (CHUNK / SIZE) + lane;
        const int end = begin - lane + CHUNK / SIZE < p.packs.divisor ? begin - lane + CHUNK / SIZE : p.packs.divisor;
        BARACUDA_KEEP_LOOP
        for (int start = begin; start < end; start += AT_ONCE * LANES) {
            Pack<T> items[AT_ONCE][EI];
            BARACUDA_UNROLL
            for (int n = 0; n < AT_ONCE; ++n)
                for (int i = 0; i < EI; ++i)
                    if (start + n * LANES < end) items[n][i] = pack_of(i, stage, k, start + n * LANES);
            BARACUDA_UNROLL
            for (int n = 0; n < AT_ONCE; ++n) {
                const int pack = start + n * LANES;
                if (pack >= end) break;
                A x[1][SIZE][EI];
                for (int s = 0; s < SIZE; ++s)
                    for (int i = 0; i < EI; ++i) x[0][s][i] = widen_at(items[n][i], s);
                if constexpr (Formula::BEGINS) {
                    if (pack == begin) formula.begin(run[0], x[0][0], row[0], i64(pack) * SIZE);
                }
                if (!push_usual<SIZE>(formula, run, x, row, i64(pack) * SIZE)) push_copies<SIZE>(formula, run[0], x[0], row[0], i64(pack) * SIZE);
            }
        }
        return Formula::close(run[0]);
    }

    BARACUDA_FN void row_inputs(int number, A (&row)[1][at_least_one(RI)]) const {
        for (int r = 0; r < RI; ++r) row[0][r] = row_in[number * RI + r];
    }

    // The states of the chunks of a batch. The warps take turns, since there may be fewer chunks than warps.
    BARACUDA_FN void aggregate(int batch, State* states) const {
        const int lane = threadIdx.x % LANES, items = rows_of(batch) * chunks;
        BARACUDA_KEEP_LOOP
        for (int item = (threadIdx.x / LANES + batch * items) % WARPS; item < items; item += WARPS) {
            const int k = chunks == 1 ? item : item / chunks;
            A row[1][at_least_one(RI)];
            row_inputs(batch * p.batch + k, row);
            const State state = merge_lanes<Formula>(of_lane(batch % p.stages, k, row, item - k * chunks, lane), lane, LANES);
            if (lane == 0) states[item] = state;
        }
    }

    // The values of a batch's rows, and where their outputs go. Chunks merge by a balanced tree; identities, which change
    // no bit, are left out.
    BARACUDA_FN void finish(int batch, State* states, Row* values, i64* places) const {
        const int k = threadIdx.x;
        if (k >= rows_of(batch)) return;
        State* const own = states + k * chunks;
        for (int span = 1; span < chunks; span *= 2)
            for (int c = 0; c + span < chunks; c += 2 * span) own[c] = Formula::merge(own[c], own[c + span]);
        A row[1][at_least_one(RI)];
        row_inputs(batch * p.batch + k, row);
        values[k] = formula.values(own[0], row[0], p.extent);
        i64 offset[EI + RI + EO] = {};
        p.kept.add(first + batch * p.batch + k, offset);
        BARACUDA_UNROLL
        for (int o = 0; o < EO; ++o) places[k * EO + o] = offset[EI + RI + o];
    }

    // The element outputs of a batch, and the columns' sums so far.
    BARACUDA_FN void map(int batch, const Row* values, const i64* places, bool last) const {
        const int count = rows_of(batch);
        BARACUDA_KEEP_LOOP
        for (int pack = threadIdx.x; pack < p.packs.divisor; pack += AGGREGATE_THREADS) {
            A sum[CO][SIZE];
            Pack<T> column[at_least_one(EI - VI)];
            for (int i = VI; i < EI; ++i) column[i - VI] = pack_of(i, 0, 0, pack);
            for (int o = 0; o < CO; ++o)
                for (int s = 0; s < SIZE; ++s) sum[o][s] = batch ? sums[o * p.extent + pack * SIZE + s] : A(0);
            BARACUDA_KEEP_LOOP
            for (int k = 0; k < count; ++k) {
                const Row row = values[k];
                Pack<T> x[EI], y[at_least_one(EO)];
                for (int i = 0; i < EI; ++i) x[i] = i < VI ? pack_of(i, batch % p.stages, k, pack) : column[i < VI ? 0 : i - VI];
                BARACUDA_UNROLL
                for (int s = 0; s < SIZE; ++s) {
                    A in[EI], result[at_least_one(EO)], term[CO];
                    for (int i = 0; i < EI; ++i) in[i] = widen_at(x[i], s);
                    formula.map(row, in, i64(pack) * SIZE + s, result);
                    formula.columns(row, in, i64(pack) * SIZE + s, term);
                    for (int o = 0; o < EO; ++o) y[o].item[s] = rounded<T>(result[o]);
                    for (int o = 0; o < CO; ++o) sum[o][s] += term[o];
                }
                for (int o = 0; o < EO; ++o)
                    if (p.out[o]) store_pack(static_cast<T*>(p.out[o]) + places[k * EO + o] + pack * SIZE, y[o]);
            }
            for (int o = 0; o < CO; ++o) {
                A* const to = last ? static_cast<A*>(p.partial) + (o * p.groups + blockIdx.x) * p.extent : sums + o * p.extent;
                for (int s = 0; s < SIZE && p.out[EO + o]; ++s) to[pack * SIZE + s] = sum[o][s];
            }
        }
    }

    BARACUDA_FN GroupWalk(const Operands& operands, const Formula& f, A* inputs) : p(operands), formula(f), row_in(inputs) {
        first = blockIdx.x * p.group;
        rows = int(p.rows - first < p.group ? p.rows - first : p.group);
        chunks = int((p.extent + CHUNK - 1) / CHUNK);
        held = reinterpret_cast<Pack<T>*>(dynamic_shared());
        sums = reinterpret_cast<A*>(row_of(p.stages, 0, 0));
        for (int t = threadIdx.x; t < rows * RI; t += AGGREGATE_THREADS) {
            i64 offset[EI + RI + EO] = {};
            p.kept.add(first + t / at_least_one(RI), offset);
            const int r = t % at_least_one(RI);
            BARACUDA_UNROLL
            for (int o = 0; o < RI; ++o)  // a place that is known when this is compiled
                if (o == r) row_in[t] = row_input<T, Formula>(p, o, offset[EI + o]);
        }
    }

    BARACUDA_FN void run(State* states, Row* values, i64* places) const {
        const int batches = (rows + p.batch - 1) / p.batch;
        if (p.stages > 1) fetch(0);
        commit_copies();
        BARACUDA_KEEP_LOOP
        for (int batch = 0; batch < batches; ++batch) {
            const int coming = batch + p.stages - 1;
            if (coming < batches) fetch(coming);
            commit_copies();
            if (p.stages > 1) wait_for_copies<1>();
            else wait_for_copies<0>();
            __syncthreads();
            aggregate(batch, states);
            __syncthreads();
            finish(batch, states, values, places);
            __syncthreads();
            map(batch, values, places, batch == batches - 1);
            __syncthreads();  // before others take the place of these rows
        }
    }
};

template <class T, class Formula, class Operands> BARACUDA_FN void walk_groups(const Operands& p, const Formula& formula) {
    using Walk = GroupWalk<T, Formula, Operands>;
    BARACUDA_SHARED(typename Walk::State, states, Walk::MOST);
    BARACUDA_SHARED(typename Walk::Row, values, Walk::MOST);
    BARACUDA_SHARED(compute_t<T>, row_in, Walk::MOST_ROWS * at_least_one(Operands::RI));
    BARACUDA_SHARED(i64, places, Walk::MOST * at_least_one(Operands::EO));
    Walk(p, formula, row_in).run(states, values, places);
}

}  // namespace baracuda
