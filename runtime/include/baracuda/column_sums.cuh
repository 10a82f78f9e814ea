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

template <int EI_, int RI_, int CO_> struct ColumnSums {
    static constexpr int EI = EI_, RI = RI_, CO = CO_;
    const void* in[EI + RI];  // elements first, then rows
    void* out[CO];
    void* partial;  // the sums of groups, [output][group][column] in the compute type; null: they stay in registers
    i64 rows;
    i64 extent;
    i64 group;
    i64 groups;
    i32 packed;  // 16-byte accesses: rows are contiguous and aligned, and made of whole packs
    i32 compute_rows;
    Axes<i64, EI + RI> kept;
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

// The columns of a block: WIDTH neighbouring ones a lane. The warps take groups of rows.
template <class T, class Formula, int WIDTH, class Operands> struct SumTile {
    using A = compute_t<T>;
    static constexpr int EI = Operands::EI, RI = Operands::RI, CO = Operands::CO;
    static constexpr int COLUMNS = WIDTH * LANES;
    static constexpr int AT_ONCE = WIDTH > 1 ? 4 : 8;  // rows of an operand that are in flight
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
                i64 offset[EI + RI] = {};
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
        for (int t = threadIdx.x; t < CO * COLUMNS; t += AGGREGATE_THREADS) {
            const i64 own = first + t % COLUMNS;
            const int o = t / COLUMNS;
            if (own >= p.extent || !p.out[o]) continue;
            A sum[WARPS];
            for (int w = 0; w < WARPS; ++w) sum[w] = of_warp[w * CO * COLUMNS + t];
            for (int count = WARPS / 2; count > 0; count /= 2)
                for (int w = 0; w < count; ++w) sum[w] = sum[2 * w] + sum[2 * w + 1];
            i64 where[EI + CO] = {};
            p.reduced.add(own, where);
            static_cast<T*>(p.out[o])[where[EI + o]] = rounded<T>(sum[0]);
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
            for (int s = 0; s < WIDTH && p.out[o]; ++s) partial(o, number)[s] = sum[o][s];
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
        for (int o = 0; o < Operands::CO; ++o) sum[o][0] = p.out[o] ? *tile.partial(o, number) : compute_t<T>(0);
    });
}

}  // namespace baracuda
