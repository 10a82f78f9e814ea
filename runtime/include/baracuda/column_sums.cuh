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
                p.kept.add_seldom(row + k, offset);
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

    // Each warp's groups, and then the warps. `sum_of(number, sum)` gives the sums of a group; so many are asked for at once.
    template <int SUMS, class SumOf> BARACUDA_FN void total(const SumOf& sum_of) const {
        BARACUDA_SHARED(A, of_warp, WARPS * CO * COLUMNS);
        RunningSum<A> running[CO][WIDTH];
        if (column < p.extent) {
            i64 count = 0;
            BARACUDA_KEEP_LOOP
            for (i64 number = warp; number < p.groups; number += SUMS * WARPS) {
                A sum[SUMS][CO][WIDTH];
                BARACUDA_UNROLL
                for (int k = 0; k < SUMS; ++k)
                    if (number + k * WARPS < p.groups) sum_of(number + k * WARPS, sum[k]);
                BARACUDA_UNROLL
                for (int k = 0; k < SUMS && number + k * WARPS < p.groups; ++k, ++count)
                    for (int o = 0; o < CO; ++o)
                        for (int s = 0; s < WIDTH; ++s) running[o][s].add(sum[k][o][s], count);
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
        if (!p.partial) return total<1>([this](i64 number, A (&sum)[CO][WIDTH]) { sum_group(number, sum); });
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
    tile.template total<8>([&](i64 number, compute_t<T> (&sum)[Operands::CO][1]) {
        for (int o = 0; o < Operands::CO; ++o) sum[o][0] = p.out[Operands::EO + o] ? *tile.partial(o, number) : compute_t<T>(0);
    });
}

BARACUDA_FN constexpr int units_kept(int room) { return room < 1 ? 1 : room < 5 ? room : 5; }

// All at once: a block walks the rows of a group, each read a single time. Some rows lie in shared memory while the next
// are on their way. Warps aggregate them, a chunk each; then each thread maps its columns down the rows and adds up their
// terms. Rows keep to the tree of tree.cuh, sums to the one above.
template <class T, class Formula, class Operands> struct GroupWalk {
    using A = compute_t<T>;
    using State = typename Formula::State;
    using Row = typename Formula::Row;
    using Known = typename Formula::Known;
    static constexpr int EI = Operands::EI, RI = Operands::RI, EO = Operands::EO, CO = Operands::CO;
    static constexpr int VI = EI - Formula::COLUMN_INPUTS;  // inputs that differ from row to row
    static constexpr int PLACES = VI + EO;
    static constexpr int SIZE = Pack<T>::SIZE;
    static constexpr int AT_ONCE = 4;      // packs of an operand that an aggregating lane reads ahead
    static constexpr bool AHEAD = SIZE < 4;  // whether inputs of columns, of long rows, are read before they are needed
    static constexpr int MOST = 64;        // chunks of a batch, and rows
    static constexpr int MOST_ROWS = 128;  // of a group
    // Packs of columns whose sums a thread keeps: 128 bytes of registers, and few copies of the code.
    static constexpr int UNITS = units_kept(128 / int(SIZE * CO * sizeof(A)));

    // What is static: of the rows of a group, and of a batch.
    struct Static {
        A* row_in;      // [row of the group][input]
        Known* known;   // [row of the group]
        i64* place;     // [row of the group][operand], where its elements lie
        State* states;  // [row of the batch][chunk]
        Row* values;    // [two batches][row of the batch]
    };

    const Operands& p;
    const Formula& formula;
    Static of;
    i64 first;  // row of the group
    int rows, batches, chunks, warps, warp, lane;
    Pack<T>* held;  // [stage][row of the batch][input][pack]
    A* sums;        // [output][element of a pack][pack]

    BARACUDA_FN int packs() const { return p.packs.divisor; }
    BARACUDA_FN Pack<T>* row_of(int stage, int k, int i) const {
        return held + ((stage * p.batch + k) * VI + i) * packs();
    }
    BARACUDA_FN int rows_of(int batch) const {
        const int left = rows - batch * p.batch;
        return left < p.batch ? left : p.batch;
    }

    // Sends for a batch of rows.
    BARACUDA_FN void fetch(int batch) const {
        const int count = rows_of(batch) * packs();
        BARACUDA_KEEP_LOOP
        for (int t = threadIdx.x; t < count; t += blockDim.x) {
            const int k = p.packs.quotient(t), pack = t - k * packs();
            const i64* const place = of.place + (batch * p.batch + k) * PLACES;
            Pack<T>* const to = row_of(batch % p.stages, k, 0) + pack;
            for (int i = 0; i < VI; ++i)
                if (is_there<Formula>(p, i)) copy_async(to + i * packs(), static_cast<const T*>(p.in[i]) + place[i] + pack * SIZE);
        }
    }

    // A pack of input i at row k of a stage.
    BARACUDA_FN Pack<T> pack_of(int i, int stage, int k, int pack) const {
        const T* from = i < VI ? reinterpret_cast<const T*>(row_of(stage, k, i)) : static_cast<const T*>(p.in[i]);
        return pack_at<T, Formula>(p, i, from + pack * SIZE);
    }

    // What a lane takes in of a chunk of row k.
    BARACUDA_FN State of_lane(int stage, int k, const Known& of_row, int chunk) const {
        typename Formula::Run run[1];
        const Known known[1] = {of_row};
        const int begin = chunk * (CHUNK<T> / SIZE) + lane;
        const int end = begin - lane + CHUNK<T> / SIZE < packs() ? begin - lane + CHUNK<T> / SIZE : packs();
        Bytes<16> coming[AT_ONCE][at_least_one(EI - VI)];
        const auto send_for_columns = [&](int start) {
            BARACUDA_UNROLL
            for (int n = 0; n < AT_ONCE; ++n)
                for (int i = VI; i < EI; ++i)
                    if (start + n * LANES < end) coming[n][i - VI] = bit_cast<Bytes<16>>(pack_of(i, stage, k, start + n * LANES));
        };
        if (AHEAD) send_for_columns(begin);
        BARACUDA_KEEP_LOOP
        for (int start = begin; start < end; start += AT_ONCE * LANES) {
            Bytes<16> items[AT_ONCE][EI];
            BARACUDA_UNROLL
            for (int n = 0; n < AT_ONCE; ++n)
                for (int i = 0; i < EI; ++i) {
                    if (start + n * LANES >= end) continue;
                    if (AHEAD && i >= VI) items[n][i] = coming[n][i < VI ? 0 : i - VI];
                    else items[n][i] = bit_cast<Bytes<16>>(pack_of(i, stage, k, start + n * LANES));
                }
            if (AHEAD) send_for_columns(start + AT_ONCE * LANES);
            BARACUDA_UNROLL
            for (int n = 0; n < AT_ONCE; ++n) {
                const int pack = start + n * LANES;
                if (pack >= end) break;
                A x[1][SIZE][EI];
                for (int s = 0; s < SIZE; ++s)
                    for (int i = 0; i < EI; ++i) x[0][s][i] = widen_at(bit_cast<Pack<T>>(items[n][i]), s);
                if constexpr (Formula::BEGINS) {
                    if (pack == begin) formula.begin(run[0], x[0][0], known[0], i64(pack) * SIZE);
                }
                if (!push_usual<SIZE>(formula, run, x, known, i64(pack) * SIZE)) push_copies<SIZE>(formula, run[0], x[0], known[0], i64(pack) * SIZE);
            }
        }
        return Formula::close(run[0]);
    }

    BARACUDA_FN int items(int batch) const { return rows_of(batch) * chunks; }
    BARACUDA_FN Row* value_of(int batch, int k) const { return of.values + batch % 2 * MOST + k; }

    // The states of the chunks of a batch, and where a row has no other chunk its values.
    BARACUDA_FN void aggregate(int batch) const {
        BARACUDA_KEEP_LOOP
        for (int item = warp; item < items(batch); item += warps) {
            const int k = chunks == 1 ? item : item / chunks;
            const State state = merge_lanes<Formula>(of_lane(batch % p.stages, k, of.known[batch * p.batch + k], item - k * chunks), lane, LANES);
            if (lane != 0) continue;
            if (chunks == 1) set_values(batch, k, state);
            else of.states[item] = state;
        }
    }

    BARACUDA_FN void set_values(int batch, int k, const State& state) const {
        A row_in[at_least_one(RI)];
        for (int r = 0; r < RI; ++r) row_in[r] = of.row_in[(batch * p.batch + k) * RI + r];
        *value_of(batch, k) = formula.values(state, row_in, p.extent);
    }

    // The values of a batch's rows of several chunks, which merge by a balanced tree; identities, which change no bit,
    // are left out.
    BARACUDA_FN void finish(int batch) const {
        const int k = threadIdx.x;
        if (k >= rows_of(batch)) return;
        State* const own = of.states + k * chunks;
        for (int span = 1; span < chunks; span *= 2)
            for (int c = 0; c + span < chunks; c += 2 * span) own[c] = Formula::merge(own[c], own[c + span]);
        set_values(batch, k, own[0]);
    }

    // The element outputs of a batch at a lane's columns, whose terms are added to `sum`.
    BARACUDA_FN void map(int batch, int pack, A (&sum)[CO][SIZE]) const {
        const int count = rows_of(batch);
        Pack<T> column[at_least_one(EI - VI)];
        for (int i = VI; i < EI; ++i) column[i - VI] = pack_of(i, 0, 0, pack);
        BARACUDA_KEEP_LOOP
        for (int k = 0; k < count; ++k) {
            const Row row = *value_of(batch, k);
            Pack<T> x[EI];
            A y[at_least_one(EO)][SIZE];
            for (int i = 0; i < EI; ++i) x[i] = i < VI ? pack_of(i, batch % p.stages, k, pack) : column[i < VI ? 0 : i - VI];
            BARACUDA_UNROLL
            for (int s = 0; s < SIZE; ++s) {
                A in[EI], result[at_least_one(EO)], term[CO];
                for (int i = 0; i < EI; ++i) in[i] = widen_at(x[i], s);
                formula.map(row, in, i64(pack) * SIZE + s, result);
                formula.columns(row, in, i64(pack) * SIZE + s, term);
                for (int o = 0; o < EO; ++o) y[o][s] = result[o];
                for (int o = 0; o < CO; ++o) sum[o][s] += term[o];
            }
            for (int o = 0; o < EO; ++o)
                if (p.out[o]) store_pack(static_cast<T*>(p.out[o]) + of.place[(batch * p.batch + k) * PLACES + VI + o] + pack * SIZE, rounded_pack<T>(y[o]));
        }
    }

    // The sums of the group at a lane's columns, to memory.
    BARACUDA_FN void write(int pack, const A (&sum)[CO][SIZE]) const {
        for (int o = 0; o < CO; ++o) {
            if (!p.out[EO + o]) continue;
            A* const to = static_cast<A*>(p.partial) + (o * p.groups + blockIdx.x) * p.extent + pack * SIZE;
            for (int s = 0; s < SIZE; ++s) to[s] = sum[o][s];
        }
    }

    // Maps a batch where a thread has more columns than registers: their sums lie in shared memory meanwhile.
    BARACUDA_FN void map_shared(int batch, int pack, bool last) const {
        A sum[CO][SIZE];
        for (int o = 0; o < CO; ++o)
            for (int s = 0; s < SIZE; ++s) sum[o][s] = batch ? sums[(o * SIZE + s) * packs() + pack] : A(0);
        map(batch, pack, sum);
        if (last) return write(pack, sum);
        for (int o = 0; o < CO; ++o)
            for (int s = 0; s < SIZE; ++s) sums[(o * SIZE + s) * packs() + pack] = sum[o][s];
    }

    BARACUDA_FN GroupWalk(const Operands& operands, const Formula& f, const Static& memory) : p(operands), formula(f), of(memory) {
        first = blockIdx.x * p.group;
        rows = int(p.rows - first < p.group ? p.rows - first : p.group);
        chunks = int((p.extent + CHUNK<T> - 1) / CHUNK<T>);
        batches = (rows + p.batch - 1) / p.batch;
        warps = int(blockDim.x) / LANES;
        warp = threadIdx.x / LANES;
        lane = threadIdx.x % LANES;
        held = reinterpret_cast<Pack<T>*>(dynamic_shared());
        sums = reinterpret_cast<A*>(row_of(p.stages, 0, 0));
        for (int k = threadIdx.x; k < rows; k += blockDim.x) {
            i64 offset[EI + RI + EO] = {};
            p.kept.add_seldom(first + k, offset);
            for (int i = 0; i < VI; ++i) of.place[k * PLACES + i] = offset[i];
            for (int o = 0; o < EO; ++o) of.place[k * PLACES + VI + o] = offset[EI + RI + o];
            A row_in[at_least_one(RI)];
            for (int r = 0; r < RI; ++r) of.row_in[k * RI + r] = row_in[r] = row_input<T, Formula>(p, r, offset[EI + r]);
            of.known[k] = formula.known(row_in);
        }
        __syncthreads();  // what others read here are addresses
    }

    // One batch after the other, while the next is on its way.
    BARACUDA_FN void in_turns() const {
        BARACUDA_KEEP_LOOP
        for (int batch = 0; batch < batches; ++batch) {
            const int coming = batch + p.stages - 1;
            if (p.stages > 1 && batch == 0) fetch(0);
            commit_copies();
            if (coming < batches) fetch(coming);
            commit_copies();
            if (p.stages > 1) wait_for_copies<1>();
            else wait_for_copies<0>();
            __syncthreads();
            aggregate(batch);
            __syncthreads();
            if (chunks > 1) {
                finish(batch);
                __syncthreads();
            }
            BARACUDA_KEEP_LOOP
            for (int pack = threadIdx.x; pack < packs(); pack += blockDim.x) map_shared(batch, pack, batch == batches - 1);
            __syncthreads();  // before others take the place of these rows
        }
    }

    // A batch is mapped while the next is aggregated and the one after it is on its way. The warps that have nothing to
    // aggregate map, if they are enough; each its own columns, whose sums stay in registers.
    BARACUDA_FN void side_by_side() const {
        const int units = (packs() + LANES - 1) / LANES, most = p.batch * chunks;
        const int first = (warps - most) * UNITS < units ? 0 : most;
        A sum[UNITS][CO][SIZE] = {};
        fetch(0);
        BARACUDA_KEEP_LOOP
        for (int batch = 0; batch <= batches; ++batch) {
            commit_copies();
            wait_for_copies<0>();
            __syncthreads();
            if (batch + 1 < batches) fetch(batch + 1);
            if (chunks > 1) {
                if (batch > 0) finish(batch - 1);
                __syncthreads();
            }
            if (batch < batches) aggregate(batch);
            if (batch == 0 || warp < first) continue;
            BARACUDA_UNROLL
            for (int u = 0; u < UNITS; ++u) {
                const int pack = (warp - first + u * (warps - first)) * LANES + lane;
                if (pack < packs()) map(batch - 1, pack, sum[u]);
            }
        }
        if (warp < first) return;
        BARACUDA_UNROLL
        for (int u = 0; u < UNITS; ++u) {
            const int pack = (warp - first + u * (warps - first)) * LANES + lane;
            if (pack < packs()) write(pack, sum[u]);
        }
    }

    BARACUDA_FN void run() const {
        if (p.stages > 2) side_by_side();
        else in_turns();
    }
};

template <class T, class Formula, class Operands> BARACUDA_FN void walk_groups(const Operands& p, const Formula& formula) {
    using Walk = GroupWalk<T, Formula, Operands>;
    BARACUDA_SHARED(compute_t<T>, row_in, Walk::MOST_ROWS * at_least_one(Operands::RI));
    BARACUDA_SHARED(typename Walk::Known, known, Walk::MOST_ROWS);
    BARACUDA_SHARED(i64, place, Walk::MOST_ROWS * Walk::PLACES);
    BARACUDA_SHARED(typename Walk::State, states, Walk::MOST);
    BARACUDA_SHARED(typename Walk::Row, values, 2 * Walk::MOST);
    Walk(p, formula, {row_in, known, place, states, values}).run();
}

}  // namespace baracuda
