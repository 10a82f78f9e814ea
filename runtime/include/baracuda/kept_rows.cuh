// Rows that are read once: all packs of a row are sent for together, and stay in shared memory until their elements are
// mapped. Memory would else be read twice where the rows under way are more than the caches hold.
//
// For rows made of whole packs, of which a warp takes a chunk at most. A block takes rows in turns, as many at a time as
// its warps make up teams: the packs of a team's next row take the places of those that are mapped. Inputs of columns,
// which are the same for all rows, stay in shared memory too where there is room. Formulas and tree are those of
// aggregate.cuh.
//
// A lane keeps its packs of a short row in registers instead, and no block takes a second row: what is the same for all
// rows is read again by each, from the caches.
#pragma once
#include <baracuda/columns.cuh>

namespace baracuda {

template <class T, class Formula, class Operands> struct KeptRows {
    static constexpr int EI = Operands::EI, EO = Operands::EO, RO = Operands::RO;
    static constexpr int COLUMN_INPUTS = Formula::COLUMN_INPUTS, KEPT = EI - COLUMN_INPUTS;
    using Cursor = RowCursor<T, Formula, i64, EI, Operands::RI, EO, RO>;
    using Packs = Pack<T>[at_least_one(EI)];
    static constexpr int SIZE = Cursor::SIZE;
    static constexpr int TOGETHER = SIZE < 8 ? 8 / SIZE : 1;                     // packs of a cheaper step
    static constexpr int AT_ONCE = SIZE < 8 && EI < 3 ? 4 : 2;                   // packs that are mapped side by side

    static constexpr int IN_REGISTERS = 4;                                       // packs of a lane of a short row

    const Operands& p;
    const Formula& formula;
    int lane, warp, warp_of_row, steps, packs;
    i64 first;            // the thread's first element of a row
    Bytes<16>* own;       // [input][step][thread]
    const T* column[at_least_one(COLUMN_INPUTS)];

    BARACUDA_FN KeptRows(const Operands& operands, const Formula& f) : p(operands), formula(f) {
        lane = threadIdx.x & (p.lanes() - 1);
        warp = threadIdx.x / LANES;
        warp_of_row = warp & (p.warps() - 1);
        first = warp_of_row * CHUNK<T> + lane * SIZE;
        steps = whole_packs<T>(p.extent);
        packs = whole_packs<T>(p.extent - first);
    }

    // Finds the places in shared memory, and sends for what all rows share.
    BARACUDA_FN void prepare() {
        own = reinterpret_cast<Bytes<16>*>(dynamic_shared()) + threadIdx.x;
        int held = KEPT;
        while (held > 0 && !is_there<Formula>(p, held - 1)) --held;
        T* kept = reinterpret_cast<T*>(dynamic_shared()) + held * steps * int(blockDim.x) * SIZE;
        for (int i = 0; i < COLUMN_INPUTS; ++i, kept += p.extent) {
            column[i] = static_cast<const T*>(p.in[KEPT + i]);
            if (!p.columns_kept || !is_there<Formula>(p, KEPT + i)) continue;
            for (i64 element = threadIdx.x * SIZE; element < p.extent; element += blockDim.x * SIZE)
                copy_async(reinterpret_cast<Bytes<16>*>(kept + element), column[i] + element);
            column[i] = kept;
        }
    }

    BARACUDA_FN Bytes<16>* slot(int i, int k) const { return own + (i * steps + k) * blockDim.x; }
    BARACUDA_FN i64 element(int k) const { return first + k * (LANES * SIZE); }

    // Where the elements of a row lie.
    BARACUDA_FN void places(i64 row, const T* (&from)[at_least_one(KEPT)]) const {
        i64 offset[Operands::IN + Operands::OUT] = {};
        p.kept.add_seldom(row, offset);
        for (int i = 0; i < KEPT; ++i) from[i] = static_cast<const T*>(p.in[i]) + offset[i] + first;
    }
    BARACUDA_FN void fetch(const T* const (&from)[at_least_one(KEPT)], int k) const {
        for (int i = 0; i < KEPT; ++i)
            if (is_there<Formula>(p, i)) copy_async(slot(i, k), from[i] + k * (LANES * SIZE));
    }
    BARACUDA_FN void read(int k, Packs& pack) const {
        for (int i = 0; i < EI; ++i)
            pack[i] = pack_at<T, Formula>(p, i, i < KEPT ? reinterpret_cast<const T*>(slot(i, k)) : column[i < KEPT ? 0 : i - KEPT] + element(k));
    }

    // What a lane takes in of its row.
    BARACUDA_FN typename Formula::State aggregate(const Cursor& cursor, int count) const {
        typename Formula::Run run[1];
        if constexpr (Formula::BEGINS) {
            if (count > 0) {
                Packs pack;
                read(0, pack);
                cursor.begin(run[0], pack, first);
            }
        }
        int k = 0;
        if constexpr (TOGETHER > 1) {
            BARACUDA_KEEP_LOOP
            for (; k + TOGETHER <= count; k += TOGETHER) {
                Packs pack[TOGETHER];
                BARACUDA_UNROLL
                for (int j = 0; j < TOGETHER; ++j) read(k + j, pack[j]);
                cursor.template push_packs<TOGETHER>(run, pack, element(k));
            }
        }
        BARACUDA_KEEP_LOOP
        for (; k < count; ++k) {
            Packs pack;
            read(k, pack);
            cursor.template push_packs<1>(run, &pack, element(k));
        }
        return Formula::close(run[0]);
    }

    // A short row: what differs from row to row stays in registers.
    BARACUDA_FN void run_short() const {
        const Cursor cursor(p, formula, (i64(blockIdx.x) * blockDim.x + threadIdx.x) >> p.lane_bits);
        const int count = cursor.row < p.rows ? packs : 0;
        Bytes<16> kept[IN_REGISTERS][at_least_one(KEPT)];
        BARACUDA_UNROLL
        for (int k = 0; k < IN_REGISTERS; ++k)
            for (int i = 0; i < KEPT; ++i)
                if (k < count && is_there<Formula>(p, i)) kept[k][i] = load_whole<Bytes<16>>(cursor.from[i] + element(k));
        const auto read = [&](int k, Packs& pack) {
            for (int i = 0; i < EI; ++i) {
                if (i < KEPT) pack[i] = is_there<Formula>(p, i) ? bit_cast<Pack<T>>(kept[k][i]) : absent_pack<T, Formula>(i);
                else pack[i] = pack_at<T, Formula>(p, i, cursor.from[i] + element(k));
            }
        };
        typename Formula::Run run[1];
        BARACUDA_UNROLL
        for (int k = 0; k < IN_REGISTERS; ++k) {
            if (k >= count) break;
            Packs pack;
            read(k, pack);
            if constexpr (Formula::BEGINS) {
                if (k == 0) cursor.begin(run[0], pack, first);
            }
            cursor.template push_packs<1>(run, &pack, element(k));
        }
        const typename Formula::State state = merge_lanes<Formula>(Formula::close(run[0]), lane, p.lanes());
        if (cursor.row >= p.rows) return;
        const typename Formula::Row row = formula.values(state, cursor.row_in, p.extent);
        if constexpr (RO > 0) {
            if (lane == 0) cursor.write_row(row);
        }
        BARACUDA_UNROLL
        for (int k = 0; k < IN_REGISTERS; ++k) {
            if (k >= count) break;
            Packs pack;
            read(k, pack);
            cursor.map_packs(row, pack, element(k));
        }
    }

    // COUNT packs of a lane from k on; packs of the next row, if there is one, take their places.
    template <int COUNT>
    BARACUDA_FN void map(const Cursor& cursor, const typename Formula::Row& row, int k, const T* const (&coming)[at_least_one(KEPT)], bool more) const {
        Packs pack[COUNT];
        BARACUDA_UNROLL
        for (int j = 0; j < COUNT; ++j) read(k + j, pack[j]);
        BARACUDA_UNROLL
        for (int j = 0; j < COUNT; ++j) {
            cursor.map_packs(row, pack[j], element(k + j));
            if (more) fetch(coming, k + j);
        }
    }

    BARACUDA_FN void run() {
        prepare();
        const int threads_a_row = p.lanes() * p.warps(), teams = int(blockDim.x) / threads_a_row;
        const i64 team = threadIdx.x / threads_a_row, stride = i64(gridDim.x) * teams;
        const T* coming[at_least_one(KEPT)];
        if (blockIdx.x * i64(teams) + team < p.rows) {
            places(blockIdx.x * i64(teams) + team, coming);
            BARACUDA_KEEP_LOOP
            for (int k = 0; k < packs; ++k) fetch(coming, k);
        }
        commit_copies();
        bool others_wait = COLUMN_INPUTS > 0;  // for what this thread copied or merged
        BARACUDA_KEEP_LOOP
        for (i64 first_row = blockIdx.x * i64(teams); first_row < p.rows; first_row += stride) {
            const Cursor cursor(p, formula, first_row + team);
            const bool there = cursor.row < p.rows;
            wait_for_copies<0>();
            if (others_wait) __syncthreads();
            others_wait = p.warps() > 1;
            typename Formula::State state = merge_lanes<Formula>(aggregate(cursor, there ? packs : 0), lane, p.lanes());
            if (p.warps() > 1) state = merge_warps<Formula>(state, lane, warp, p.warps());
            if (!there) continue;

            const typename Formula::Row row = formula.values(state, cursor.row_in, p.extent);
            if constexpr (RO > 0) {
                if (lane == 0 && warp_of_row == 0) cursor.write_row(row);
            }
            const bool more = cursor.row + stride < p.rows;
            if (more) places(cursor.row + stride, coming);
            int k = 0;
            BARACUDA_KEEP_LOOP
            for (; k + AT_ONCE <= packs; k += AT_ONCE) map<AT_ONCE>(cursor, row, k, coming, more);
            BARACUDA_KEEP_LOOP
            for (; k < packs; ++k) map<1>(cursor, row, k, coming, more);
            commit_copies();
        }
    }
};

// By the formula, or by the one that knows that none of the inputs that may lack is there.
template <bool SHORT, class T, class Operands, class Formula> BARACUDA_FN void run_kept(const Operands& p, const Formula& formula) {
    KeptRows<T, Formula, Operands> rows(p, formula);
    if constexpr (SHORT) rows.run_short();
    else rows.run();
}
template <bool SHORT, class T, class Operands, class Formula> BARACUDA_FN void run_kept_or_bare(const Operands& p, const Formula& formula) {
    if constexpr (optional_inputs<Formula, Operands::EI>() > 0) {
        using Bare = typename BareOf<Formula>::type;
        bool bare = true;
        for (int i = 0; i < Operands::EI - Formula::COLUMN_INPUTS; ++i) bare &= !Formula::may_lack(i) || !p.in[i];
        if (bare) return run_kept<SHORT, T>(p, bit_cast<Bare>(formula));
    }
    run_kept<SHORT, T>(p, formula);
}
template <class T, class Formula, class Operands> BARACUDA_FN void aggregate_kept_rows(const Operands& p, const Formula& formula) {
    run_kept_or_bare<false, T>(p, formula);
}
template <class T, class Formula, class Operands> BARACUDA_FN void aggregate_kept_short_rows(const Operands& p, const Formula& formula) {
    run_kept_or_bare<true, T>(p, formula);
}

}  // namespace baracuda
