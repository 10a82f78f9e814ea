// Rows: aggregate, then map. The elements of a row are merged into one state; the state and what else is read
// once a row make the row's values; those give the row's outputs, and with each element the element's outputs.
//
// A Formula has, with EI, RI inputs and EO, RO outputs of elements and of rows,
//   State, Run                                         identities when default-constructed
//   void push(Run&, const A (&x)[EI], const Known&, i64 index)            takes in one element of a lane
//   Trial attempt(const Run&), void push(Trial&, x, known, index), bool fits(const Trial&), Run settle(const Trial&)
//                                                      a cheaper step, tried on a pack of elements, if USUAL
//   void begin(Run&, x, known, index)                  what a run takes from its first element, if BEGINS
//   static State close(const Run&)                     what a lane took in
//   static State merge(const State&, const State&)
//   Row  values(const State&, const A (&row)[RI], i64 extent)
//   void finish(const Row&, A (&y)[RO])                the row's outputs
//   void map(const Row&, const A (&x)[EI], i64 index, A (&y)[EO])         an element's outputs
// and what RowFormula has, where it is otherwise. The loops own every access and keep to the tree of tree.cuh, whatever
// the mapping to threads. An output whose pointer is null is not wanted and not written.
#pragma once
#include <baracuda/tree.cuh>
#include <baracuda/view.cuh>

namespace baracuda {

constexpr int AGGREGATE_THREADS = 256;
constexpr int WARPS = AGGREGATE_THREADS / LANES;

BARACUDA_FN constexpr int at_least_one(int count) { return count > 0 ? count : 1; }
// The largest power of two that is not above `count`.
BARACUDA_FN constexpr int power_of_two_to(int count) { return count < 2 ? 1 : 2 * power_of_two_to(count / 2); }

// What is true of a Formula that does not say otherwise.
struct RowFormula {
    static constexpr bool AGGREGATES = false;    // whether the row's values need a state
    static constexpr bool USUAL = false, BEGINS = false;
    static constexpr bool ROWS_CHOOSE = false;   // whether row operands may be stored in the compute type
    static constexpr bool BARE = false;          // whether none of the inputs that may lack is there, those of columns apart
    static constexpr int COLUMN_INPUTS = 0;      // how many inputs of elements, the last ones, are the same for all rows
    static constexpr int FLAGS = 0;              // how many inputs of elements, the last ones, are bool: see flag_at
    struct Known {};                             // what elements are told of a row before it is aggregated
    template <class In> BARACUDA_FN static Known known(const In&) { return {}; }
    BARACUDA_FN static constexpr bool may_lack(int) { return false; }  // whether an input's pointer may be null
    BARACUDA_FN static constexpr double absent(int) { return 0; }      // and which value its elements have then
};

// How the rows lie in memory and how they are spread over threads: 2^lane_bits lanes of a warp and 2^warp_bits warps
// of a block share a row, `splits` blocks do, each warp taking `chunks` chunks, a power of two.
// Blocks that share rows leave their states in `nodes` ([row][split]); merged states lie in `states` ([row]).
template <class Offset, int EI_, int RI_, int EO_, int RO_> struct Rows {
    static constexpr int EI = EI_, RI = RI_, EO = EO_, RO = RO_;
    static constexpr int IN = EI + RI, OUT = EO + RO;
    const void* in[at_least_one(IN)];   // elements first, then rows
    void* out[at_least_one(OUT)];
    void* nodes;
    void* states;
    i64 rows;
    i64 extent;
    i64 splits;
    i64 chunks;
    i64 columns;  // columns.cuh: neighbouring rows whose elements lie side by side
    i32 lane_bits;
    i32 warp_bits;
    i32 packed;  // 16-byte accesses: rows (or, in columns.cuh, columns) are contiguous and aligned
    i32 compute_rows;  // a bit for each row operand that is stored in the compute type, if ROWS_CHOOSE
    i32 columns_kept;  // kept_rows.cuh: inputs of columns lie in shared memory
    Axes<i64, IN + OUT> kept;
    Axes<Offset, EI + EO> reduced;

    BARACUDA_FN int lanes() const { return 1 << lane_bits; }
    BARACUDA_FN int warps() const { return 1 << warp_bits; }
};

// The formula where none of these is there, of one that is a template of BARE.
template <class Formula> struct BareOf;
template <template <bool> class FormulaOf> struct BareOf<FormulaOf<false>> { using type = FormulaOf<true>; };
// How many of the inputs that differ from row to row may lack: of a formula with some, BARE is a template parameter.
template <class Formula, int EI> BARACUDA_FN constexpr int optional_inputs() {
    int count = 0;
    for (int i = 0; i < EI - Formula::COLUMN_INPUTS; ++i) count += Formula::may_lack(i);
    return count;
}
template <class Formula, class Operands> BARACUDA_FN constexpr bool is_absent(int i) {
    return Formula::BARE && Formula::may_lack(i) && i < Operands::EI - Formula::COLUMN_INPUTS;
}

// Whether input i is there.
template <class Formula, class Operands> BARACUDA_FN bool is_there(const Operands& p, int i) {
    return !is_absent<Formula, Operands>(i) && (!Formula::may_lack(i) || p.in[i]);
}
// Element s of a pack of input i.
template <class Formula, class Operands, class Pack> BARACUDA_FN auto widen_of(const Pack& pack, int i, int s) {
    const auto x = widen_at(pack, s);
    return is_absent<Formula, Operands>(i) ? decltype(widen_at(pack, s))(Formula::absent(i)) : x;
}
// An element of input i at some place, or the value that stands in for it.
template <class T, class Formula, class Operands> BARACUDA_FN compute_t<T> element_at(const Operands& p, int i, const T* place) {
    return is_there<Formula>(p, i) ? widen(*place) : compute_t<T>(Formula::absent(i));
}
// A pack of the values that stand in for the elements of input i.
template <class T, class Formula> BARACUDA_FN Pack<T> absent_pack(int i) {
    Pack<T> pack;
    for (int s = 0; s < pack.SIZE; ++s) pack.item[s] = rounded<T>(compute_t<T>(Formula::absent(i)));
    return pack;
}
// A pack of input i, or one of the values that stand in for its elements. As words until it is known which: the compiler
// would choose each item.
template <class T, class Formula, class Operands> BARACUDA_FN Pack<T> pack_at(const Operands& p, int i, const T* place) {
    Bytes<16> words = bit_cast<Bytes<16>>(absent_pack<T, Formula>(i));
    if (is_there<Formula>(p, i)) words = load_whole<Bytes<16>>(place);
    return bit_cast<Pack<T>>(words);
}
// Row operands: of T, or of the compute type where the launch says so. The number counts inputs first, then outputs.
template <class T, class Formula, class Operands> BARACUDA_FN compute_t<T> row_input(const Operands& p, int r, i64 offset) {
    const void* from = p.in[Operands::EI + r];
    if (Formula::ROWS_CHOOSE && p.compute_rows >> r & 1) return static_cast<const compute_t<T>*>(from)[offset];
    return widen(static_cast<const T*>(from)[offset]);
}
template <class T, class Formula, class Operands> BARACUDA_FN void row_output(const Operands& p, int r, i64 offset, compute_t<T> y) {
    void* to = p.out[Operands::EO + r];
    if (!to) return;
    if (Formula::ROWS_CHOOSE && p.compute_rows >> (Operands::RI + r) & 1) static_cast<compute_t<T>*>(to)[offset] = y;
    else static_cast<T*>(to)[offset] = rounded<T>(y);
}

// The number of a lane's element s, of packs of SIZE that lie a warp's packs apart.
template <int SIZE> BARACUDA_FN i64 number_in_lane(i64 first, int s) { return first + s / SIZE * LANES * SIZE + s % SIZE; }

// Elements of a lane one after another; not inlined, so that its registers are not the common path's.
template <int COUNT, int SIZE, class Formula, class A, int EI>
BARACUDA_RARE void push_each(const Formula& formula, typename Formula::Run& run, const A (&x)[COUNT][EI], const typename Formula::Known& known, i64 first) {
    BARACUDA_KEEP_LOOP
    for (int s = 0; s < COUNT; ++s) formula.push(run, x[s], known, number_in_lane<SIZE>(first, s));
}

// The same for registers: copies, so that run and x stay there where this does not happen.
template <int SIZE, int COUNT, class Formula, class A, int EI>
BARACUDA_FN void push_copies(const Formula& formula, typename Formula::Run& run, const A (&x)[COUNT][EI], const typename Formula::Known& known, i64 first) {
    typename Formula::Run changed = run;
    const typename Formula::Known known_copy = known;
    A copy[COUNT][EI];
    for (int s = 0; s < COUNT; ++s)
        for (int i = 0; i < EI; ++i) copy[s][i] = x[s][i];
    push_each<COUNT, SIZE>(formula, changed, copy, known_copy, first);
    run = changed;
}

// Elements of a lane of several rows into their runs, by the formula's cheaper step where there is one, with equal
// bits. False where that does not fit them all: then the runs are as they were.
template <int SIZE, int COUNT, int ROWS, class Formula, class A, int EI>
BARACUDA_FN bool push_usual(const Formula& formula, typename Formula::Run (&run)[ROWS], const A (&x)[ROWS][COUNT][EI], const typename Formula::Known (&known)[ROWS], i64 first) {
    if constexpr (Formula::USUAL) {
        typename Formula::Trial trial[ROWS];
        bool fits = true;
        BARACUDA_UNROLL
        for (int r = 0; r < ROWS; ++r) {
            trial[r] = Formula::attempt(run[r]);
            for (int s = 0; s < COUNT; ++s) formula.push(trial[r], x[r][s], known[r], number_in_lane<SIZE>(first, s));
            fits &= Formula::fits(trial[r]);
        }
        BARACUDA_UNROLL
        for (int r = 0; r < ROWS; ++r)
            if (fits) run[r] = Formula::settle(trial[r]);
        return fits;
    } else {
        BARACUDA_UNROLL
        for (int r = 0; r < ROWS; ++r)
            for (int s = 0; s < COUNT; ++s) formula.push(run[r], x[r][s], known[r], number_in_lane<SIZE>(first, s));
        return true;
    }
}

// The places of one row's elements, and its row inputs. AHEAD: whole chunks are read by way of shared memory, where the
// packs that come next are on their way while a thread computes: registers would be too few.
template <class T, class Formula, class Offset, int EI, int RI, int EO, int RO, bool AHEAD = false> struct RowCursor {
    using Operands = Rows<Offset, EI, RI, EO, RO>;
    using A = compute_t<T>;
    using State = typename Formula::State;
    using Run = typename Formula::Run;
    static constexpr int SIZE = Pack<T>::SIZE;
    static constexpr int OF_CHUNK = CHUNK<T>;  // elements
    static constexpr int STEPS = OF_CHUNK / (LANES * SIZE);
    static constexpr int AT_ONCE = EI > 2 ? 2 : 4;  // packs of an operand that a map keeps in flight
    // Packs that are fetched together, and how many such groups are on their way: what shared memory has room for.
    static constexpr int GROUP = (EI > 2 || sizeof(State) > 48) ? 1 : (EI > 1 || sizeof(State) > 24) ? 2 : 4;
    static constexpr int STAGES = 2;
    static constexpr int TOGETHER = SIZE * GROUP < 8 ? GROUP : SIZE < 8 ? 8 / SIZE : 1;  // packs of a cheaper step
    static constexpr int SLOTS = AHEAD ? STAGES * GROUP * at_least_one(EI) * AGGREGATE_THREADS : 1;

    const Operands& p;
    const Formula& formula;
    i64 row, extent;  // the extent is 0 for a row that is not there
    const T* from[at_least_one(EI)];
    T* to[at_least_one(EO)];
    A row_in[at_least_one(RI)];
    typename Formula::Known known[1];  // of one row, as `push_usual` takes several
    Bytes<16>* slots;

    BARACUDA_FN RowCursor(const Operands& operands, const Formula& f, i64 number, Bytes<16>* shared = nullptr)
        : p(operands), formula(f), row(number), slots(shared) {
        const bool there = row < p.rows;
        extent = there ? p.extent : 0;
        i64 offset[Operands::IN + Operands::OUT] = {};
        if (there) p.kept.add(row, offset);
        for (int i = 0; i < EI; ++i)
            from[i] = is_flag(i) ? reinterpret_cast<const T*>(static_cast<const u8*>(p.in[i]) + offset[i])
                                 : static_cast<const T*>(p.in[i]) + offset[i];
        for (int o = 0; o < EO; ++o) to[o] = static_cast<T*>(p.out[o]) + offset[Operands::IN + o];
        for (int r = 0; r < RI; ++r)
            row_in[r] = there ? row_input<T, Formula>(p, r, offset[EI + r]) : A(0);
        known[0] = formula.known(row_in);
    }

    BARACUDA_FN static constexpr bool is_flag(int i) { return Formula::FLAGS > 0 && i >= EI - Formula::FLAGS; }
    BARACUDA_FN A element_of(int i, Offset place) const {
        return is_flag(i) ? widen(flag_at<T>(from[i], place)) : element_at<T, Formula>(p, i, from[i] + place);
    }
    BARACUDA_FN Pack<T> flags_at(int i, i64 element) const {
        Pack<T> pack;
        for (int s = 0; s < SIZE; ++s) pack.item[s] = flag_at<T>(from[i], element + s);
        return pack;
    }

    BARACUDA_FN void places(i64 element, Offset (&place)[EI + EO]) const {
        for (int o = 0; o < EI + EO; ++o) place[o] = 0;
        p.reduced.add(Offset(element), place);
    }

    BARACUDA_FN void load(i64 element, Pack<T> (&pack)[at_least_one(EI)]) const {
        for (int i = 0; i < EI; ++i)
            pack[i] = is_flag(i) ? flags_at(i, element) : pack_at<T, Formula>(p, i, from[i] + element);
    }

    // Packs of a lane, a warp's packs apart.
    template <int COUNT> BARACUDA_FN void push_packs(Run (&run)[1], const Pack<T> (*pack)[at_least_one(EI)], i64 element) const {
        A x[1][COUNT * SIZE][at_least_one(EI)];
        BARACUDA_UNROLL
        for (int s = 0; s < COUNT * SIZE; ++s)
            for (int i = 0; i < EI; ++i) x[0][s][i] = widen_of<Formula, Operands>(pack[s / SIZE][i], i, s % SIZE);
        if (!push_usual<SIZE>(formula, run, x, known, element)) push_copies<SIZE>(formula, run[0], x[0], known[0], element);
    }

    BARACUDA_FN void push_scalar(Run& run, i64 element) const {
        Offset place[EI + EO];
        places(element, place);
        A x[at_least_one(EI)];
        for (int i = 0; i < EI; ++i) x[i] = element_of(i, place[i]);
        formula.push(run, x, known[0], element);
    }

    // What a run takes from its first element before it takes in any.
    BARACUDA_FN void begin(Run& run, i64 element) const {
        Offset place[EI + EO];
        places(element, place);
        A x[at_least_one(EI)];
        for (int i = 0; i < EI; ++i) x[i] = element_of(i, place[i]);
        formula.begin(run, x, known[0], element);
    }
    BARACUDA_FN void begin(Run& run, const Pack<T> (&pack)[at_least_one(EI)], i64 element) const {
        A x[at_least_one(EI)];
        for (int i = 0; i < EI; ++i) x[i] = widen_of<Formula, Operands>(pack[i], i, 0);
        formula.begin(run, x, known[0], element);
    }

    BARACUDA_FN bool is_whole(i64 number) const { return AHEAD && p.packed && number >= 0 && (number + 1) * CHUNK<T> <= extent; }

    BARACUDA_FN Bytes<16>* slot(int group, int k, int i) const {
        return slots + ((group % STAGES * GROUP + k) * EI + i) * AGGREGATE_THREADS + threadIdx.x;
    }
    BARACUDA_FN void fetch(int group, i64 element) const {
        BARACUDA_UNROLL
        for (int k = 0; k < GROUP; ++k)
            for (int i = 0; i < EI; ++i)
                if (is_there<Formula>(p, i) && !is_flag(i)) copy_async(slot(group, k, i), from[i] + element + k * LANES * SIZE);
    }
    // Sends for the first groups of a chunk, if it is whole.
    BARACUDA_FN void send_for(i64 number, int lane) const {
        const bool whole = is_whole(number);
        BARACUDA_UNROLL
        for (int group = 0; group < STAGES; ++group) {
            if (whole) fetch(group, number * CHUNK<T> + (group * GROUP * LANES + lane) * SIZE);
            commit_copies();
        }
    }

    // What a lane takes in of a chunk, which was sent for; on the way it sends for the chunk `next`, -1 for none.
    BARACUDA_FN State of_lane(i64 number, i64 next, int lane) const {
        Run run[1];
        const i64 first = number * CHUNK<T> + lane * SIZE;
        if (is_whole(number)) {
            constexpr int GROUPS = STEPS / GROUP;
            static_assert(GROUPS % STAGES == 0, "a chunk begins at the first stage");
            const bool next_whole = is_whole(next);
            BARACUDA_KEEP_LOOP
            for (int group = 0; group < GROUPS; ++group) {
                wait_for_copies<STAGES - 1>();
                const i64 element = first + group * GROUP * LANES * SIZE;
                Pack<T> pack[GROUP][at_least_one(EI)];
                BARACUDA_UNROLL
                for (int k = 0; k < GROUP; ++k)
                    for (int i = 0; i < EI; ++i)
                        pack[k][i] = is_flag(i) ? flags_at(i, element + k * LANES * SIZE)
                                                : pack_at<T, Formula>(p, i, reinterpret_cast<const T*>(slot(group, k, i)));
                if constexpr (Formula::BEGINS) {
                    if (group == 0) begin(run[0], pack[0], first);
                }
                BARACUDA_UNROLL
                for (int k = 0; k < GROUP; k += TOGETHER) push_packs<TOGETHER>(run, pack + k, element + k * LANES * SIZE);
                const bool here = group + STAGES < GROUPS;
                const i64 coming = here ? element + STAGES * GROUP * LANES * SIZE
                                        : next * CHUNK<T> + ((group + STAGES - GROUPS) * GROUP * LANES + lane) * SIZE;
                if (here || next_whole) fetch(group, coming);
                commit_copies();
            }
        } else {
            if constexpr (Formula::BEGINS) {
                if (first < extent) begin(run[0], first);
            }
            BARACUDA_KEEP_LOOP
            for (int k = 0; k < STEPS; ++k) {
                const i64 element = first + k * LANES * SIZE;
                if (p.packed && element + SIZE <= extent) {
                    Pack<T> pack[at_least_one(EI)];
                    load(element, pack);
                    push_packs<1>(run, &pack, element);
                } else {
                    BARACUDA_KEEP_LOOP
                    for (int s = 0; s < SIZE && element + s < extent; ++s) push_scalar(run[0], element + s);
                }
            }
            send_for(next, lane);
        }
        return Formula::close(run[0]);
    }

    // The state of one chunk, in every lane that shares the row; as `of_lane`.
    BARACUDA_FN State chunk(i64 number, i64 next, int lane) const {
        return merge_lanes<Formula>(of_lane(number, next, lane), lane, p.lanes());
    }

    BARACUDA_FN void map_packs(const typename Formula::Row& row, const Pack<T> (&pack)[at_least_one(EI)], i64 element) const {
        A y[at_least_one(EO)][SIZE];
        BARACUDA_UNROLL
        for (int s = 0; s < SIZE; ++s) {
            A x[at_least_one(EI)], result[at_least_one(EO)];
            for (int i = 0; i < EI; ++i) x[i] = widen_of<Formula, Operands>(pack[i], i, s);
            formula.map(row, x, element + s, result);
            for (int o = 0; o < EO; ++o) y[o][s] = result[o];
        }
        for (int o = 0; o < EO; ++o)
            if (p.out[o]) store_pack(to[o] + element, rounded_pack<T>(y[o]));
    }

    BARACUDA_FN void map_scalar(const typename Formula::Row& row, i64 element) const {
        Offset place[EI + EO];
        places(element, place);
        A x[at_least_one(EI)], result[at_least_one(EO)];
        for (int i = 0; i < EI; ++i) x[i] = element_of(i, place[i]);
        formula.map(row, x, element, result);
        for (int o = 0; o < EO; ++o)
            if (p.out[o]) to[o][place[EI + o]] = rounded<T>(result[o]);
    }

    // The element outputs of one chunk.
    BARACUDA_FN void map_chunk(const typename Formula::Row& row, i64 number, int lane) const {
        const i64 first = number * CHUNK<T> + lane * SIZE;
        if (p.packed && (number + 1) * CHUNK<T> <= extent) {
            BARACUDA_KEEP_LOOP
            for (int step = 0; step < STEPS; step += AT_ONCE) {
                const i64 element = first + step * LANES * SIZE;
                Pack<T> pack[AT_ONCE][at_least_one(EI)];
                BARACUDA_UNROLL
                for (int k = 0; k < AT_ONCE; ++k) load(element + k * LANES * SIZE, pack[k]);
                BARACUDA_UNROLL
                for (int k = 0; k < AT_ONCE; ++k) map_packs(row, pack[k], element + k * LANES * SIZE);
            }
        } else if (p.packed) {
            BARACUDA_KEEP_LOOP
            for (int k = 0; k < STEPS; ++k) {
                const i64 element = first + k * LANES * SIZE;
                if (element + SIZE <= extent) {
                    Pack<T> pack[at_least_one(EI)];
                    load(element, pack);
                    map_packs(row, pack, element);
                } else {
                    BARACUDA_KEEP_LOOP
                    for (int s = 0; s < SIZE && element + s < extent; ++s) map_scalar(row, element + s);
                }
            }
        } else {
            // Without packs neighbouring lanes take neighbouring elements; where an element is mapped changes no bit.
            BARACUDA_KEEP_LOOP
            for (i64 element = number * CHUNK<T> + lane; element < (number + 1) * CHUNK<T> && element < extent; element += p.lanes())
                map_scalar(row, element);
        }
    }

    BARACUDA_FN void write_row(const typename Formula::Row& row) const {
        A y[at_least_one(RO)];
        formula.finish(row, y);
        i64 offset[Operands::IN + Operands::OUT] = {};
        p.kept.add(this->row, offset);  // again: it is not worth registers until here
        for (int r = 0; r < RO; ++r) row_output<T, Formula>(p, r, offset[Operands::IN + EO + r], y[r]);
    }
};

// Which row, lane and warp a thread of a row kernel is.
struct RowThread {
    int lane, warp, warp_of_row;
    i64 row, split;
    bool leads;  // the row's first thread in the block

    template <class Operands> BARACUDA_FN explicit RowThread(const Operands& p) : RowThread(p, u32(p.splits)) {}

    // `splits`: how many blocks share a row. A grid has fewer than 2^31.
    template <class Operands> BARACUDA_FN RowThread(const Operands& p, u32 splits) {
        const int bits = p.lane_bits + p.warp_bits;  // of a thread's number in its row
        lane = threadIdx.x & (p.lanes() - 1);
        warp = threadIdx.x / LANES;
        warp_of_row = warp & (p.warps() - 1);
        split = splits == 1 ? 0 : blockIdx.x % splits;
        row = (i64(splits == 1 ? blockIdx.x : blockIdx.x / splits) * AGGREGATE_THREADS + threadIdx.x) >> bits;
        leads = (threadIdx.x & ((1 << bits) - 1)) == 0;
    }
};

// The states of `count` neighbouring warps of a block, a power of two, merged; every lane gets the result.
template <class Formula, class State> BARACUDA_FN State merge_warps(State state, int lane, int warp, int count) {
    BARACUDA_SHARED(State, of_warp, WARPS);
    if (lane == 0) of_warp[warp] = state;
    __syncthreads();
    state = lane < count ? of_warp[warp / count * count + lane] : State();
    state = merge_lanes<Formula>(state, lane, count);
    return shuffle_from(state, 0);  // only the lanes below `count` took part
}

// Up to 32 rounds in which the `warps` warps of a row took neighbouring chunks: lane r of each holds its state of
// round r. Merged as the tree wants it, the warps of a round first; every lane gets the result.
template <class Formula, class State>
BARACUDA_FN State merge_rounds(const State& held, const RowThread& t, int warps, int rounds) {
    BARACUDA_SHARED(State, of_warp, LANES * WARPS);
    BARACUDA_SHARED(State, of_round, LANES * WARPS / 2);  // two warps a row, or more
    State* const states = of_warp + (t.warp - t.warp_of_row) * LANES;
    State* const merged = of_round + (t.warp - t.warp_of_row) / warps * LANES;
    if (t.lane < rounds) states[t.lane * warps + t.warp_of_row] = held;
    __syncthreads();
    const int place = t.warp_of_row * LANES + t.lane;
    const bool there = place < rounds * warps;
    State state = there ? states[place] : State();
    state = merge_lanes<Formula>(state, t.lane % warps, warps);
    if (there && place % warps == 0) merged[place / warps] = state;
    __syncthreads();
    state = t.lane < rounds ? merged[t.lane] : State();
    return shuffle_from(merge_lanes<Formula>(state, t.lane, rounds), 0);
}

// The state of a row's part that a block takes, in every thread of the row: in each of `p.chunks` rounds its warps
// take neighbouring chunks, so that memory is read in order.
template <class Formula, class Operands, class Cursor>
BARACUDA_FN typename Formula::State aggregate_block(const Operands& p, const Cursor& cursor, const RowThread& t) {
    using State = typename Formula::State;
    const int warps = p.warps();
    const i64 first = t.split * warps * p.chunks + t.warp_of_row;
    cursor.send_for(first, t.lane);
    if (warps == 1) return cursor.chunk(0, -1, t.lane);
    const i64 end = first + p.chunks * warps;
    Fold<Formula> fold;
    State state;
    BARACUDA_KEEP_LOOP
    for (i64 done = 0; done < p.chunks; done += LANES) {
        const int rounds = int(p.chunks - done < LANES ? p.chunks - done : LANES);
        State held;
        BARACUDA_KEEP_LOOP
        for (int round = 0; round < rounds; ++round) {
            const i64 number = first + (done + round) * warps;
            if (number * Cursor::OF_CHUNK >= cursor.extent) break;
            const State of_chunk = cursor.chunk(number, number + warps < end ? number + warps : -1, t.lane);
            if (t.lane == round) held = of_chunk;
        }
        state = merge_rounds<Formula>(held, t, warps, rounds);
        if (p.chunks > LANES) fold.push(state, done / LANES, t.lane);
    }
    return p.chunks > LANES ? fold.total(p.chunks / LANES, t.lane) : state;
}

// The outputs of a row whose state is known, by the threads of a block that share it.
template <class Cursor, class Formula> BARACUDA_FN void finish_row(const Cursor& cursor, const Formula& formula, const RowThread& t, const typename Formula::State& state) {
    const auto& p = cursor.p;
    const typename Formula::Row row = formula.values(state, cursor.row_in, p.extent);
    if constexpr (Cursor::Operands::RO > 0) {
        if (t.leads) cursor.write_row(row);
    }
    if constexpr (Cursor::Operands::EO > 0) {
        for (i64 round = 0; round < p.chunks; ++round) cursor.map_chunk(row, round * p.warps() + t.warp_of_row, t.lane);
    }
}

// Rows of one chunk: a warp or a part of it takes each.
template <class T, class Formula, class Offset, int EI, int RI, int EO, int RO>
BARACUDA_FN void aggregate_short_rows(const Rows<Offset, EI, RI, EO, RO>& p, const Formula& formula) {
    using Cursor = RowCursor<T, Formula, Offset, EI, RI, EO, RO, true>;
    BARACUDA_SHARED(Bytes<16>, slots, Cursor::SLOTS);
    const RowThread t(p, 1);
    const Cursor cursor(p, formula, t.row, slots);
    cursor.send_for(0, t.lane);
    const typename Formula::State state = cursor.chunk(0, -1, t.lane);
    if (t.row < p.rows) finish_row(cursor, formula, t, state);
}

// Rows of any length: their states, and where no block shares them the outputs too.
template <class T, bool AHEAD, class Formula, class Offset, int EI, int RI, int EO, int RO>
BARACUDA_FN void aggregate_any_rows(const Rows<Offset, EI, RI, EO, RO>& p, const Formula& formula) {
    using State = typename Formula::State;
    using Cursor = RowCursor<T, Formula, Offset, EI, RI, EO, RO, AHEAD>;
    BARACUDA_SHARED(Bytes<16>, slots, Cursor::SLOTS);
    const RowThread t(p);
    const Cursor cursor(p, formula, t.row, slots);

    const State state = aggregate_block<Formula>(p, cursor, t);
    if (t.row >= p.rows) return;
    if (p.splits > 1) {
        if (t.leads) static_cast<State*>(p.nodes)[t.row * p.splits + t.split] = state;
        return;
    }
    finish_row(cursor, formula, t, state);
}

template <class T, class Formula, class Operands> BARACUDA_FN void aggregate_long_rows(const Operands& p, const Formula& formula) {
    aggregate_any_rows<T, true>(p, formula);
}
template <class T, class Formula, class Operands> BARACUDA_FN void aggregate_strided_rows(const Operands& p, const Formula& formula) {
    aggregate_any_rows<T, false>(p, formula);
}

// The second stage of rows that blocks share. A few nodes lie side by side in a part of a warp; of many, each of a row's
// warps merges `chunks` times 32.
template <class T, class Formula, class Offset, int EI, int RI, int EO, int RO>
BARACUDA_FN void aggregate_nodes(const Rows<Offset, EI, RI, EO, RO>& p, const Formula& formula) {
    using State = typename Formula::State;
    const RowThread t(p, 1);
    const i64 splits = t.row < p.rows ? p.splits : 0;
    const State* nodes = static_cast<const State*>(p.nodes) + t.row * p.splits;
    const i64 first = t.warp_of_row * p.chunks;
    Fold<Formula> fold;
    State state;
    i64 number = 0;
    BARACUDA_KEEP_LOOP
    for (; number < p.chunks && (first + number) * LANES < p.splits; ++number) {
        const i64 node = (first + number) * LANES + t.lane;
        state = merge_lanes<Formula>(node < splits ? nodes[node] : State(), t.lane, p.lanes());
        if (p.chunks > 1) fold.push(state, number, t.lane);
    }
    if (p.chunks > 1 && number) state = fold.total(number, t.lane);
    if (p.warps() > 1) state = merge_warps<Formula>(state, t.lane, t.warp, p.warps());
    if (t.row >= p.rows || !t.leads) return;
    if (EO > 0) static_cast<State*>(p.states)[t.row] = state;
    if constexpr (RO > 0) {
        const RowCursor<T, Formula, Offset, EI, RI, EO, RO> cursor(p, formula, t.row);
        cursor.write_row(formula.values(state, cursor.row_in, p.extent));
    }
}

// The last stage: the element outputs, from the states of the rows where there are some.
template <class T, class Formula, class Offset, int EI, int RI, int EO, int RO>
BARACUDA_FN void map_rows(const Rows<Offset, EI, RI, EO, RO>& p, const Formula& formula) {
    using State = typename Formula::State;
    const RowThread t(p);
    if (t.row >= p.rows) return;
    const RowCursor<T, Formula, Offset, EI, RI, EO, RO> cursor(p, formula, t.row);
    State state;
    if (Formula::AGGREGATES) state = static_cast<const State*>(p.states)[t.row];
    const typename Formula::Row row = formula.values(state, cursor.row_in, p.extent);
    const i64 first = (t.split * p.warps() + t.warp_of_row) * p.chunks;
    for (i64 c = first; c < first + p.chunks && c * CHUNK<T> < p.extent; ++c) cursor.map_chunk(row, c, t.lane);
}

}  // namespace baracuda
