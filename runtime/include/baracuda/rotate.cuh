// Rotations: the leading elements of a row in pairs, and each pair turned by the angle position * frequency.
//
// A Formula gives
//   Turn turn(const Angle& angle) const                              what a position and a pair give
//   void rotate(const Turn&, const Pair<A>& x, A (&out)[2]) const    the turned pair
// and the loop below owns every access. The elements are rows (the places that have a position of their own) of
// planes (heads, and the batch where it shares the positions). A block finds the sine and cosine of each of its
// rows and pairs once, in double, and turns the same places of many planes with them. Elements behind the pairs are
// copied. Each element is read before it is written by the same thread, so the output may be exactly the input.
#pragma once
#include <baracuda/angle.cuh>
#include <baracuda/storage.cuh>
#include <baracuda/view.cuh>

namespace baracuda {

constexpr int ROTATE_THREADS = 256;
constexpr int ROTATE_ACCESSES = 8;  // accesses that one thread keeps in flight
constexpr int TABLE_PAIRS = 128;    // pairs of one launch: their frequencies travel as parameters

template <class A> struct Pair { A first, second; };

// One launch: the units [first_unit, first_unit + units) of every row. A unit is what a thread holds of a row:
// the elements of one or two accesses. Strides count elements; axes are [outer, inner].
struct Rotate {
    const void* in;
    const i64* positions;  // null: 0, 1, 2, ... along the inner rows
    const f64* inv_freq;   // radians a position; null: the table
    void* out;
    i64 inner_rows, rows;
    i64 position_stride[2], inv_freq_stride;
    i64 row_stride_in[2], row_stride_out[2];
    i64 plane_stride_in[2], plane_stride_out[2];
    i64 first_plane[2];
    i64 extent;            // elements of a row
    i64 pairs;             // pairs of a row
    i64 first_unit, units;
    Divisor<i32> inner_planes;
    i32 planes;
    // A block's threads are [planes at a time, rows at a time, units at a time], or rows before planes; blocks
    // are [groups of planes, groups of rows, groups of units].
    Divisor<i32> lanes, beside;
    i32 rows_beside, rows_a_block, planes_at_once, planes_a_block;
    u32 unit_groups, row_groups;
};

struct Table { Frequency pair[TABLE_PAIRS]; };

// Where the elements of a pair lie. A unit has two runs of WIDTH elements; `place` says where they begin. A pair's
// elements are those with numbers first(k) and second(k) in the unit.
template <int WIDTH> struct Interleaved {  // 2 i and 2 i + 1
    static constexpr int RUNS = WIDTH > 1 ? 1 : 2, PAIRS = RUNS * WIDTH / 2;
    BARACUDA_FN static constexpr int first(int k) { return 2 * k; }
    BARACUDA_FN static constexpr int second(int k) { return 2 * k + 1; }
    BARACUDA_FN static void place(const Rotate&, i64 unit, i64 (&begin)[RUNS]) {
        for (int run = 0; run < RUNS; ++run) begin[run] = unit * (RUNS * WIDTH) + run;
    }
};
template <int WIDTH> struct Half {  // i and i + pairs
    static constexpr int RUNS = 2, PAIRS = WIDTH;
    BARACUDA_FN static constexpr int first(int k) { return k; }
    BARACUDA_FN static constexpr int second(int k) { return WIDTH + k; }
    BARACUDA_FN static void place(const Rotate& p, i64 unit, i64 (&begin)[RUNS]) {
        const i64 first = unit * WIDTH;
        const bool paired = first < p.pairs;
        begin[0] = paired ? first : 2 * first;
        begin[1] = begin[0] + (paired ? p.pairs : WIDTH);
    }
};

template <class T, int WIDTH> struct alignas(WIDTH * sizeof(T)) Items { T item[WIDTH]; };

template <class T, template <int> class Places, int WIDTH, class Formula>
BARACUDA_FN void rotate(const Rotate& p, const Table& given, const Formula& formula) {
    using A = compute_t<T>;
    using Unit = Places<WIDTH>;
    using Access = Items<T, WIDTH>;
    using Turn = typename Formula::Turn;
    constexpr int PLANES = ROTATE_ACCESSES / Unit::RUNS, PAIRS = Unit::PAIRS;

    // What a thread has: a unit of a row, and every planes_at_once-th of the block's planes.
    const i32 place = i32(threadIdx.x), beside = p.lanes.quotient(place);
    const u32 rest = blockIdx.x / p.unit_groups, plane_group = rest / p.row_groups;
    const i32 unit_lane = place - beside * i32(p.lanes.divisor);
    const i64 unit_group = i64(blockIdx.x - rest * p.unit_groups) * p.lanes.divisor;
    const i64 row_group = i64(rest - plane_group * p.row_groups) * p.rows_a_block;
    const i32 slow = p.beside.quotient(beside), fast = beside - slow * i32(p.beside.divisor);
    const i32 row_lane = p.rows_beside ? fast : slow, plane_lane = p.rows_beside ? slow : fast;
    const i64 unit = unit_group + unit_lane, row = row_group + row_lane;
    const i32 first_plane = i32(plane_group) * p.planes_a_block;
    const i32 end = p.planes - first_plane < p.planes_a_block ? p.planes : first_plane + p.planes_a_block;
    i32 plane = first_plane + plane_lane;
    const bool works = unit < p.units && row < p.rows && row_lane < p.rows_a_block &&
                       plane_lane < p.planes_at_once && plane < end;

    const auto outer_of = [&](i64 number) { return p.rows > p.inner_rows ? number / p.inner_rows : 0; };
    const i64 outer_row = outer_of(row), inner_row = row - outer_row * p.inner_rows;
    i64 begin[Unit::RUNS];
    Unit::place(p, p.first_unit + unit, begin);
    const T* const in = static_cast<const T*>(p.in) + outer_row * p.row_stride_in[0] + inner_row * p.row_stride_in[1];
    T* const out = static_cast<T*>(p.out) + outer_row * p.row_stride_out[0] + inner_row * p.row_stride_out[1];
    const auto plane_offset = [&](i32 number, const i64 (&stride)[2]) {
        const i32 outer = p.inner_planes.quotient(number);
        const i32 inner = number - outer * i32(p.inner_planes.divisor);
        return (p.first_plane[0] + outer) * stride[0] + (p.first_plane[1] + inner) * stride[1];
    };

    Bytes<int(sizeof(Access))> x[PLANES][Unit::RUNS];
    const auto load = [&] {
        BARACUDA_UNROLL
        for (int u = 0; u < PLANES; ++u) {
            const i32 number = plane + u * p.planes_at_once;
            if (number >= end) continue;
            const T* const from = in + plane_offset(number, p.plane_stride_in);
            BARACUDA_UNROLL
            for (int run = 0; run < Unit::RUNS; ++run)
                if (begin[run] < p.extent) x[u][run] = load_whole<Bytes<int(sizeof(Access))>>(from + begin[run]);
        }
    };
    // The first loads are under way while the angles are found.
    if (works) load();

    const i64 first_pair = p.first_unit * PAIRS, pairs = p.pairs - first_pair;
    BARACUDA_SHARED(Frequency, table, TABLE_PAIRS);
    if (place < TABLE_PAIRS) {
        if (p.inv_freq == nullptr)
            table[place] = given.pair[place];
        else if (place < pairs)
            table[place] = quarter_turns(p.inv_freq[(first_pair + place) * p.inv_freq_stride]);
    }
    __syncthreads();

    // The block's angles, each once: [row][unit][pair].
    BARACUDA_SHARED(Turn, turns, ROTATE_THREADS * PAIRS);
    const i32 angles = p.rows_a_block * i32(p.lanes.divisor) * PAIRS;
    for (i32 number = place; number < angles; number += ROTATE_THREADS) {
        const i32 of_row = p.lanes.quotient(number / PAIRS);
        const i64 pair = unit_group * PAIRS + (number - of_row * (i32(p.lanes.divisor) * PAIRS));
        const i64 here = row_group + of_row;
        if (pair >= pairs || pair >= TABLE_PAIRS || here >= p.rows) continue;
        const i64 outer = outer_of(here), inner = here - outer * p.inner_rows;
        const i64 position =
            p.positions == nullptr ? inner : p.positions[outer * p.position_stride[0] + inner * p.position_stride[1]];
        turns[number] = formula.turn(angle_of(position, table[pair]));
    }
    __syncthreads();
    if (!works) return;

    const i64 left = pairs - unit * PAIRS;  // pairs from this unit on
    const int paired = left < 0 ? 0 : left < PAIRS ? int(left) : PAIRS;
    Turn turn[PAIRS];
    BARACUDA_UNROLL
    for (int k = 0; k < PAIRS; ++k) turn[k] = turns[(row_lane * i32(p.lanes.divisor) + unit_lane) * PAIRS + k];

    for (;;) {
        BARACUDA_UNROLL
        for (int u = 0; u < PLANES; ++u) {
            const i32 number = plane + u * p.planes_at_once;
            if (number >= end) break;
            Access from[Unit::RUNS], to_store[Unit::RUNS];
            A turned[Unit::RUNS][WIDTH];
            BARACUDA_UNROLL
            for (int run = 0; run < Unit::RUNS; ++run) from[run] = bit_cast<Access>(x[u][run]);
            BARACUDA_UNROLL
            for (int k = 0; k < PAIRS; ++k) {
                const int first = Unit::first(k), second = Unit::second(k);
                A pair[2];
                formula.rotate(turn[k], Pair<A>{widen_at(from[first / WIDTH], first % WIDTH), widen_at(from[second / WIDTH], second % WIDTH)}, pair);
                turned[first / WIDTH][first % WIDTH] = pair[0];
                turned[second / WIDTH][second % WIDTH] = pair[1];
            }
            BARACUDA_UNROLL
            for (int run = 0; run < Unit::RUNS; ++run) to_store[run] = rounded_items<Access, T>(turned[run]);
            if (paired < PAIRS) {  // what is behind the pairs is copied
                BARACUDA_UNROLL
                for (int k = 0; k < PAIRS; ++k) {
                    if (k < paired) continue;
                    const int first = Unit::first(k), second = Unit::second(k);
                    to_store[first / WIDTH].item[first % WIDTH] = from[first / WIDTH].item[first % WIDTH];
                    to_store[second / WIDTH].item[second % WIDTH] = from[second / WIDTH].item[second % WIDTH];
                }
            }
            T* const to = out + plane_offset(number, p.plane_stride_out);
            BARACUDA_UNROLL
            for (int run = 0; run < Unit::RUNS; ++run)
                if (begin[run] < p.extent) store_whole(to + begin[run], to_store[run]);
        }
        plane += PLANES * p.planes_at_once;
        if (plane >= end) return;
        load();
    }
}

}  // namespace baracuda
