// Rows that are read once: all packs of a row are sent for together, and stay in shared memory until their elements are
// mapped. Memory would else be read twice where the rows under way are more than the caches hold.
//
// For rows made of whole packs, of which a warp takes a chunk at most. Formulas and tree are those of aggregate.cuh.
#pragma once
#include <baracuda/columns.cuh>

namespace baracuda {

// Dynamic shared memory holds `steps` packs of every thread for each input of elements, those apart that are the same
// for all rows: caches hold these.
template <class T, class Formula, class Offset, int EI, int RI, int EO, int RO>
BARACUDA_FN void aggregate_kept_rows(const Rows<Offset, EI, RI, EO, RO>& p, const Formula& formula) {
    using Cursor = RowCursor<T, Formula, Offset, EI, RI, EO, RO>;
    constexpr int SIZE = Cursor::SIZE, KEPT = EI - Formula::COLUMN_INPUTS;
    constexpr int TOGETHER = SIZE < 8 ? 8 / SIZE : 1;  // packs of a cheaper step
    const int threads = blockDim.x, lane = threadIdx.x & (p.lanes() - 1);
    const int warp = threadIdx.x / LANES, warp_of_row = warp & (p.warps() - 1);
    const Cursor cursor(p, formula, (i64(blockIdx.x) * threads + threadIdx.x) >> (p.lane_bits + p.warp_bits));

    const i64 first = warp_of_row * CHUNK + lane * SIZE;
    const int packs = whole_packs<T>(cursor.extent - first), steps = whole_packs<T>(p.extent);
    const auto element = [first](int k) { return first + k * LANES * SIZE; };
    Bytes<16>* const own = reinterpret_cast<Bytes<16>*>(dynamic_shared()) + threadIdx.x;
    const auto slot = [=](int i, int k) { return own + (i * steps + k) * threads; };
    BARACUDA_KEEP_LOOP
    for (int k = 0; k < packs; ++k)
        for (int i = 0; i < KEPT; ++i)
            if (is_there<Formula>(p, i)) copy_async(slot(i, k), cursor.from[i] + element(k));
    commit_copies();
    wait_for_copies<0>();
    const auto read = [&](int k, Pack<T> (&pack)[at_least_one(EI)]) {
        for (int i = 0; i < EI; ++i)
            pack[i] = pack_at<T, Formula>(p, i, i < KEPT ? reinterpret_cast<const T*>(slot(i, k)) : cursor.from[i] + element(k));
    };

    typename Formula::Run run[1];
    if constexpr (Formula::BEGINS) {
        if (packs > 0) {
            Pack<T> pack[at_least_one(EI)];
            read(0, pack);
            cursor.begin(run[0], pack, first);
        }
    }
    int k = 0;
    if constexpr (TOGETHER > 1) {
        BARACUDA_KEEP_LOOP
        for (; k + TOGETHER <= packs; k += TOGETHER) {
            Pack<T> pack[TOGETHER][at_least_one(EI)];
            BARACUDA_UNROLL
            for (int j = 0; j < TOGETHER; ++j) read(k + j, pack[j]);
            cursor.template push_packs<TOGETHER>(run, pack, element(k));
        }
    }
    BARACUDA_KEEP_LOOP
    for (; k < packs; ++k) {
        Pack<T> pack[at_least_one(EI)];
        read(k, pack);
        cursor.template push_packs<1>(run, &pack, element(k));
    }
    typename Formula::State state = merge_lanes<Formula>(Formula::close(run[0]), lane, p.lanes());
    if (p.warps() > 1) state = merge_warps<Formula>(state, lane, warp, p.warps());
    if (cursor.row >= p.rows) return;

    const typename Formula::Row row = formula.values(state, cursor.row_in[0], p.extent);
    if constexpr (RO > 0) {
        if (lane == 0 && warp_of_row == 0) cursor.write_row(row);
    }
    BARACUDA_KEEP_LOOP
    for (k = 0; k < packs; ++k) {
        Pack<T> pack[at_least_one(EI)];
        read(k, pack);
        cursor.map_packs(row, pack, element(k));
    }
}

}  // namespace baracuda
