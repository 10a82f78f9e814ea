// Columns: rows whose elements lie side by side, so that a thread walks down and a warp reads across.
//
// The elements of a row lie at one stride. The same formulas and the same tree as in aggregate.cuh, spread otherwise:
// a block takes one chunk of a tile of neighbouring rows (here: columns), a thread one lane of VC columns, or four
// lanes of one column.
#pragma once
#include <baracuda/aggregate.cuh>

namespace baracuda {

// A block's tile: ACROSS threads with VC columns each, and 32 lanes down.
template <class T, class Formula, int VC, int ACROSS, class Operands> struct ColumnTile {
    using A = compute_t<T>;
    using State = typename Formula::State;
    using Run = typename Formula::Run;
    static constexpr int EI = Operands::EI, RI = Operands::RI, EO = Operands::EO;
    static constexpr int SIZE = Pack<T>::SIZE;
    static constexpr int STEPS = CHUNK<T> / (LANES * SIZE);
    static constexpr int COLUMNS = ACROSS * VC;
    static constexpr int IN_WARP = LANES / ACROSS;                // lanes of the tree that a warp holds side by side
    static constexpr int IN_THREAD = LANES / WARPS / IN_WARP;     // and those that a thread takes one after another
    struct alignas(VC * sizeof(T)) Across { T item[VC]; };
    using Loaded = Bytes<VC * int(sizeof(T))>;

    const Operands& p;
    const Formula& formula;
    int warp, across, down;
    i64 outer, first_column, chunk;
    bool there;
    i64 offset[at_least_one(Operands::IN + Operands::OUT)];
    A row_in[VC][at_least_one(RI)];
    typename Formula::Known known[VC];

    BARACUDA_FN ColumnTile(const Operands& operands, const Formula& f) : p(operands), formula(f) {
        const i64 tiles = (p.columns + COLUMNS - 1) / COLUMNS;
        const i64 block = blockIdx.x;
        chunk = block / tiles % p.splits;
        outer = block / tiles / p.splits;
        warp = threadIdx.x / LANES;
        across = threadIdx.x % ACROSS;
        down = threadIdx.x % LANES / ACROSS;
        first_column = block % tiles * COLUMNS + across * VC;
        there = first_column < p.columns;
        for (int o = 0; o < Operands::IN + Operands::OUT; ++o) offset[o] = 0;
        if (there) p.kept.add(row(0), offset);
        BARACUDA_UNROLL
        for (int v = 0; v < VC; ++v) {
            i64 place[Operands::IN + Operands::OUT] = {};
            if (RI > 0 && there) p.kept.add(row(v), place);
            for (int r = 0; r < RI; ++r)
                row_in[v][r] = there ? row_input<T, Formula>(p, r, place[EI + r]) : A(0);
            known[v] = formula.known(row_in[v]);
        }
    }

    BARACUDA_FN i64 row(int v) const { return outer * p.columns + first_column + v; }

    BARACUDA_FN const T* at(int i, i64 element) const {
        return static_cast<const T*>(p.in[i]) + offset[i] + element * p.reduced.stride[0][i];
    }
    BARACUDA_FN void load(i64 element, Loaded (&x)[at_least_one(EI)]) const {
        for (int i = 0; i < EI; ++i)
            x[i] = is_flag(i) ? flags_at(i, element) : is_there<Formula>(p, i) ? load_whole<Loaded>(at(i, element)) : absent(i);
    }
    BARACUDA_FN static constexpr bool is_flag(int i) { return Formula::FLAGS > 0 && i >= EI - Formula::FLAGS; }
    BARACUDA_FN Loaded flags_at(int i, i64 element) const {
        Across across;
        for (int v = 0; v < VC; ++v) across.item[v] = flag_at<T>(p.in[i], offset[i] + element * p.reduced.stride[0][i] + v);
        return bit_cast<Loaded>(across);
    }
    BARACUDA_FN static Loaded absent(int i) {
        Across across;
        for (int v = 0; v < VC; ++v) across.item[v] = rounded<T>(A(Formula::absent(i)));
        return bit_cast<Loaded>(across);
    }
    BARACUDA_FN void store(i64 element, int o, const Across& y) const {
        T* to = static_cast<T*>(p.out[o]) + offset[Operands::IN + o] + element * p.reduced.stride[0][EI + o];
        store_whole(to, y);
    }

    template <int COUNT> BARACUDA_FN static void widen_all(const Loaded (&x)[COUNT][at_least_one(EI)], A (&in)[VC][COUNT][at_least_one(EI)]) {
        BARACUDA_UNROLL
        for (int s = 0; s < COUNT; ++s)
            for (int i = 0; i < EI; ++i) {
                const Across across = bit_cast<Across>(x[s][i]);
                for (int v = 0; v < VC; ++v) in[v][s][i] = widen_at(across, v);
            }
    }

    // COUNT neighbouring elements of each column, which `read` gives again where the cheaper step does not fit: so they
    // need no registers until then.
    template <int COUNT, class Read> BARACUDA_FN void push(Run (&run)[VC], const Read& read, i64 first, bool begins) const {
        Loaded x[COUNT][at_least_one(EI)];
        A in[VC][COUNT][at_least_one(EI)];
        read(x);
        widen_all(x, in);
        if constexpr (Formula::BEGINS) {
            if (begins)
                for (int v = 0; v < VC; ++v) formula.begin(run[v], in[v][0], known[v], first);
        }
        if (push_usual<COUNT>(formula, run, in, known, first)) return;
        forget_memory();
        read(x);
        widen_all(x, in);
        BARACUDA_UNROLL
        for (int v = 0; v < VC; ++v) push_copies<COUNT>(formula, run[v], in[v], known[v], first);
    }

    // Elements are taken in by parts of a lane's SIZE. Those that come next are on their way meanwhile, into memory of
    // the thread's own: registers would be too few. A single column goes without.
    static constexpr bool AHEAD = VC > 1;
    static constexpr int MOST = EI > 2 ? 1 : EI == 2 && VC > 2 ? 2 : 8 / at_least_one(EI);
    static constexpr int PART = SIZE < MOST ? SIZE : MOST;
    static constexpr int PARTS = SIZE / PART;
    static constexpr int STAGES = AHEAD ? power_of_two_to(128 / (PART * at_least_one(EI) * int(sizeof(Loaded)))) : 1;
    static constexpr int SLOTS = AHEAD ? STAGES * PART * at_least_one(EI) * AGGREGATE_THREADS : 0;

    BARACUDA_FN static Loaded* slot(Loaded* slots, int stage, int s, int i) {
        return slots + ((stage * PART + s) * EI + i) * AGGREGATE_THREADS + threadIdx.x;
    }
    BARACUDA_FN void fetch(Loaded* slots, int stage, i64 element) const {
        BARACUDA_UNROLL
        for (int s = 0; s < PART; ++s)
            for (int i = 0; i < EI; ++i)
                if (is_there<Formula>(p, i) && !is_flag(i)) copy_async(slot(slots, stage, s, i), at(i, element + s));
    }

    // What one lane takes in of the thread's columns.
    BARACUDA_FN void lane(int number, Loaded* slots, State (&state)[VC]) const {
        Run run[VC];
        const i64 first = chunk * CHUNK<T> + number * SIZE;
        const auto place = [first](int part) { return first + (part / PARTS * LANES * SIZE + part % PARTS * PART); };
        const int whole = whole_packs<T>(there ? p.extent - first : 0);
        const int parts = whole * PARTS;
        if constexpr (AHEAD) {
            BARACUDA_UNROLL
            for (int stage = 0; stage < STAGES; ++stage) {
                if (stage < parts) fetch(slots, stage, place(stage));
                commit_copies();
            }
        }
        BARACUDA_KEEP_LOOP
        for (int part = 0; part < parts; ++part) {
            if constexpr (AHEAD) wait_for_copies<STAGES - 1>();
            const auto read = [&](Loaded (&x)[PART][at_least_one(EI)]) {
                BARACUDA_UNROLL
                for (int s = 0; s < PART; ++s)
                    for (int i = 0; i < EI; ++i)
                        x[s][i] = is_flag(i) ? flags_at(i, place(part) + s) : !is_there<Formula>(p, i) ? absent(i) : load_whole<Loaded>(AHEAD ? static_cast<const void*>(slot(slots, part % STAGES, s, i)) : at(i, place(part) + s));
            };
            push<PART>(run, read, place(part), part == 0);
            if constexpr (AHEAD) {
                if (part + STAGES < parts) fetch(slots, part % STAGES, place(part + STAGES));
                commit_copies();
            }
        }
        const i64 rest = place(parts);
        BARACUDA_KEEP_LOOP
        for (int s = 0; there && whole < STEPS && s < SIZE && rest + s < p.extent; ++s) {
            const auto read = [&](Loaded (&x)[1][at_least_one(EI)]) { load(rest + s, x[0]); };
            push<1>(run, read, rest + s, whole == 0 && s == 0);
        }
        BARACUDA_UNROLL
        for (int v = 0; v < VC; ++v) state[v] = Formula::close(run[v]);
    }

    // The states of the block's columns; the result is that of column threadIdx.x, for threads below COLUMNS.
    BARACUDA_FN State aggregate() const {
        static_assert(IN_THREAD <= 4, "two levels hold a thread's lanes");
        constexpr int COPIES = SLOTS * int(sizeof(Loaded)), STATES = WARPS * COLUMNS * int(sizeof(State));
        constexpr int BYTES = ((COPIES > STATES ? COPIES : STATES) + 15) / 16 * 16;
        BARACUDA_SHARED(Bytes<16>, shared, BYTES / 16);
        Loaded* const slots = reinterpret_cast<Loaded*>(shared);
        State state[VC], single[VC], pair[VC];
        BARACUDA_KEEP_LOOP
        for (int n = 0; n < IN_THREAD; ++n) {
            lane((warp * IN_WARP + down) * IN_THREAD + n, slots, state);
            BARACUDA_UNROLL
            for (int v = 0; v < VC; ++v) {
                if (n & 1) state[v] = Formula::merge(single[v], state[v]);
                else single[v] = state[v];
                if (n == 1) pair[v] = state[v];
                if (n == 3) state[v] = Formula::merge(pair[v], state[v]);
            }
        }
        BARACUDA_UNROLL
        for (int v = 0; v < VC; ++v) state[v] = merge_lanes<Formula>(state[v], down, IN_WARP, ACROSS);
        if (AHEAD) { __syncthreads(); }  // the states take the place of the copies
        // Last in the bytes, where other warps still copy: a missing barrier shows in the host executor's order "ahead".
        State* const of_warp = reinterpret_cast<State*>(reinterpret_cast<char*>(shared) + (BYTES - STATES) / 16 * 16);
        if (down == 0)
            for (int v = 0; v < VC; ++v) of_warp[warp * COLUMNS + across * VC + v] = state[v];
        __syncthreads();
        const int column = threadIdx.x;
        if (column >= COLUMNS) return State();
        return pairwise<WARPS>(of_warp + column, COLUMNS);
    }

    // A balanced tree over COUNT states, a power of two, that lie `stride` states apart.
    template <int COUNT> BARACUDA_FN static State pairwise(const State* states, int stride) {
        if constexpr (COUNT == 1) {
            return *states;
        } else {
            const State left = pairwise<COUNT / 2>(states, stride);
            return Formula::merge(left, pairwise<COUNT / 2>(states + COUNT / 2 * stride, stride));
        }
    }

    BARACUDA_FN void write() const {
        const State state = aggregate();
        const i64 column = first_column - across * VC + threadIdx.x;
        if (threadIdx.x >= COLUMNS || column >= p.columns) return;
        const i64 number = outer * p.columns + column;
        if (p.splits > 1) {
            static_cast<State*>(p.nodes)[number * p.splits + chunk] = state;
            return;
        }
        if (EO > 0) static_cast<State*>(p.states)[number] = state;
        if constexpr (Operands::RO > 0) {
            const RowCursor<T, Formula, i64, EI, RI, EO, Operands::RO> cursor(p, formula, number);
            cursor.write_row(formula.values(state, cursor.row_in, p.extent));
        }
    }

    BARACUDA_FN void map() const {
        typename Formula::Row value[VC];
        BARACUDA_UNROLL
        for (int v = 0; v < VC; ++v) {
            State state;
            if (Formula::AGGREGATES && there) state = static_cast<const State*>(p.states)[row(v)];
            value[v] = formula.values(state, row_in[v], p.extent);
        }
        if (!there) return;
        constexpr int AT_ONCE = WARPS * IN_WARP;
        for (int k = 0; k < CHUNK<T> / AT_ONCE; ++k) {
            const i64 element = chunk * CHUNK<T> + k * AT_ONCE + warp * IN_WARP + down;
            if (element >= p.extent) return;
            Loaded x[at_least_one(EI)];
            A y[at_least_one(EO)][VC];
            load(element, x);
            BARACUDA_UNROLL
            for (int v = 0; v < VC; ++v) {
                A in[at_least_one(EI)], result[at_least_one(EO)];
                for (int i = 0; i < EI; ++i) in[i] = widen_at(bit_cast<Across>(x[i]), v);
                formula.map(value[v], in, element, result);
                for (int o = 0; o < EO; ++o) y[o][v] = result[o];
            }
            for (int o = 0; o < EO; ++o)
                if (p.out[o]) store(element, o, rounded_items<Across, T>(y[o]));
        }
    }
};

// A row of a tile is 128 bytes. A map has 16 bytes a thread, an aggregate fewer columns: their states cost registers, and
// so blocks.
template <class T, class Formula> constexpr int A_THREAD =
    Pack<T>::SIZE < 4 || (Pack<T>::SIZE == 4 && sizeof(typename Formula::State) > 16) ? 2 : 4;
template <class T, class Formula, class Operands>
using PackedColumns = ColumnTile<T, Formula, A_THREAD<T, Formula>, 128 / (A_THREAD<T, Formula> * int(sizeof(T))), Operands>;
template <class T, class Formula, class Operands> using ScalarColumns = ColumnTile<T, Formula, 1, LANES, Operands>;

// The states of one chunk of a tile's columns, and where a row has no other chunk its outputs too.
template <class T, class Formula, class Operands>
BARACUDA_FN void aggregate_columns(const Operands& p, const Formula& formula) {
    if (p.packed) PackedColumns<T, Formula, Operands>(p, formula).write();
    else ScalarColumns<T, Formula, Operands>(p, formula).write();
}

// The element outputs, from the states of the rows where there are some.
template <class T, class Formula, class Operands>
BARACUDA_FN void map_columns(const Operands& p, const Formula& formula) {
    if (p.packed) ColumnTile<T, Formula, Pack<T>::SIZE, 8, Operands>(p, formula).map();
    else ScalarColumns<T, Formula, Operands>(p, formula).map();
}

}  // namespace baracuda
