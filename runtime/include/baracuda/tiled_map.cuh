// Maps of inputs that do not lie side by side along the axis on which the outputs do: tiles pass through shared memory.
//
// X is the outputs' fast axis, Y that of the inputs that are `turned`. A tile is EDGE elements along each; a block takes
// several, side by side along one of the two. It reads each input along the input's own fast axis, and when all have
// come it maps and writes along X: so an output may be exactly an input that is not turned.
#pragma once
#include <baracuda/map.cuh>

namespace baracuda {

enum { X, Y };

// Blocks that a multiprocessor is to have at once, so that some compute while others wait for memory; fewer where a thread
// has more under way than their registers hold, and 0 where the compiler may choose.
BARACUDA_FN constexpr int tiled_at_once(int operands, int bytes) {
    return operands == 2 && bytes < 8 ? bytes == 4 ? 8 : 6 : operands <= 4 || bytes == 4 ? 4 : 0;
}

// Bit i of `packed`: input i takes 16-byte packs along its fast axis; bit IN: all outputs do.
template <int IN, int OUT, int FLAGS = 0> struct TiledMap {
    const void* in[IN];
    void* out[OUT];
    u32 turned, packed;
    i32 step[2];             // from one of a block's tiles to the next: EDGE and 0, or 0 and EDGE
    Divisor<i32> blocks[2];  // along each axis
    i32 extent[2];
    i32 stride[2][IN + OUT];
    i64 next_tile[OUT];  // from an element of an output to that at the same place of the next of a block's tiles
    Axes<i64, IN + OUT, i32> outer;
};

template <class T, class O, int IN, int OUT, int FLAGS> struct MapTiles {
    static constexpr u32 SIZE = PACKED<T, O>;
    static constexpr u32 ACROSS = 8;  // packs of a tile's row: 128 bytes
    using Packs = InputPacks<T, int(SIZE), IN, FLAGS>;
    static constexpr u32 EDGE = ACROSS * SIZE;
    static constexpr u32 ROWS = 128;  // of all tiles of a block
    static constexpr u32 PACKS = ROWS * ACROSS;
    static constexpr u32 STEPS = PACKS / MAP_THREADS;
    static constexpr u32 AT_ONCE = 4;
    // Neighbouring lines of small elements that a thread takes, so that it stores whole words where they are turned.
    static constexpr u32 WORD = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
    static constexpr u32 LINES = WORD < SIZE ? WORD : SIZE;
    struct alignas(LINES * sizeof(T)) Across { T item[LINES]; };

    const TiledMap<IN, OUT, FLAGS>& p;
    T* held;
    i32 left[2];  // elements from the block's corner on, as many as its tiles hold at most
    i64 offset[IN + OUT];

    BARACUDA_FN explicit MapTiles(const TiledMap<IN, OUT, FLAGS>& operands) : p(operands), held(reinterpret_cast<T*>(dynamic_shared())) {
        const i32 number = i32(blockIdx.x);
        const i32 line = p.blocks[X].quotient(number), far = p.blocks[Y].quotient(line);
        const i32 block[2] = {number - line * i32(p.blocks[X].divisor), line - far * i32(p.blocks[Y].divisor)};
        for (int o = 0; o < IN + OUT; ++o) offset[o] = 0;
        p.outer.add(far, offset);
        BARACUDA_UNROLL
        for (int axis = X; axis <= Y; ++axis) {
            const i32 first = block[axis] * (i32(EDGE) + i32(ROWS / EDGE - 1) * p.step[axis]);
            left[axis] = at_most(p.extent[axis] - first, i32(ROWS));
            for (int o = 0; o < IN + OUT; ++o) offset[o] += i64(first) * p.stride[axis][o];
        }
    }

    BARACUDA_FN static i32 at_most(i32 number, i32 most) { return number < most ? number : most; }

    // Part `number` of the block's tiles, of `width` elements along the fast axis of an operand. Unsigned, so that divisions
    // are shifts.
    struct Part {
        u32 tile, x, y;
        BARACUDA_FN Part(u32 number, u32 width, bool turned) {
            const u32 fast = number % (EDGE / width) * width, line = number / (EDGE / width);
            tile = line / EDGE;
            x = turned ? line % EDGE : fast;
            y = turned ? fast : line % EDGE;
        }
    };
    BARACUDA_FN i32 at_x(const Part& part) const { return i32(part.x) + i32(part.tile) * p.step[X]; }
    BARACUDA_FN i32 at_y(const Part& part) const { return i32(part.y) + i32(part.tile) * p.step[Y]; }
    BARACUDA_FN bool has(const Part& part) const { return at_x(part) < left[X] && at_y(part) < left[Y]; }
    BARACUDA_FN i64 place(const Part& part, int o) const {
        return offset[o] + i64(at_x(part)) * p.stride[X][o] + i64(at_y(part)) * p.stride[Y][o];
    }
    BARACUDA_FN bool is_turned(int i) const { return p.turned >> i & 1; }
    BARACUDA_FN bool is_packed(int o) const { return p.packed >> o & 1; }

    // Where an element of input i is held. A row's packs change places from row to row, so that banks do not conflict,
    // whichever way a warp walks.
    BARACUDA_FN static u32 slot(int i, const Part& part) {
        const u32 row = part.tile * EDGE + part.y;
        const u32 pack = (part.x / SIZE ^ row / SIZE ^ row) % ACROSS;
        return (i * ROWS + row) * EDGE + pack * SIZE + part.x % SIZE;
    }
    // The same s rows further down, from a row on whose number is a multiple of a power of two above s.
    BARACUDA_FN static u32 below(u32 slot, u32 s) { return slot ^ (s % ACROSS * SIZE + s * EDGE); }

    // A thread takes LINES neighbouring lines of a tile, then those at the same place FURTHER tiles on.
    static constexpr u32 GROUPS = STEPS / LINES;
    static constexpr u32 FURTHER = MAP_THREADS / ACROSS * LINES / EDGE;
    static_assert(GROUPS * LINES == STEPS && FURTHER * EDGE == MAP_THREADS / ACROSS * LINES, "groups begin at the same place of a tile");
    static constexpr u32 HELD_INPUT = ROWS * EDGE, HELD_FURTHER = FURTHER * EDGE * EDGE;

    BARACUDA_FN static Part first_part(bool turned) {
        const u32 thread = threadIdx.x % MAP_THREADS;
        return Part(thread / ACROSS * LINES * ACROSS + thread % ACROSS, SIZE, turned);
    }
    // Whether tiles lie side by side along an operand's slow axis, across which its lines lie.
    BARACUDA_FN bool is_deep(bool turned) const { return (p.step[X] != 0) == turned; }

    // The thread's packs of an input. Beyond the operands' extents it reads the last pack or line again: without a branch, for
    // what is there is not mapped.
    BARACUDA_FN void load(int i, Packs (&x)[STEPS]) const {
        const bool turned = is_turned(i), deep = is_deep(turned);
        const Part part = first_part(turned);
        const u32 pack = turned ? part.y : part.x, line = turned ? part.x : part.y;
        const i32 last_pack = (turned ? left[Y] : left[X]) - i32(SIZE), last_line = (turned ? left[X] : left[Y]) - 1;
        const i32 across = turned ? p.stride[X][i] : p.stride[Y][i], bytes = Packs::bytes(i);
        const char* const corner = static_cast<const char*>(p.in[i]) + offset[i] * bytes;
        const auto bytes_to = [&](u32 place, bool steps, u32 further, i32 last) {
            return at_most(i32(place + (steps ? (part.tile + further) * EDGE : 0)) * bytes, last * bytes);
        };
        BARACUDA_UNROLL
        for (u32 group = 0; group < GROUPS; ++group) {
            const char* const from = settled(corner + bytes_to(pack, !deep, group * FURTHER, last_pack));
            BARACUDA_UNROLL
            for (u32 l = 0; l < LINES; ++l)
                x[group * LINES + l].load(i, from + i64(bytes_to(line + l, deep, group * FURTHER, last_line)) * across);
        }
    }
    BARACUDA_FN void read_packs() const {
        Packs x[STEPS];
        BARACUDA_UNROLL
        for (int i = 0; i < IN; ++i)
            if (is_packed(i)) load(i, x);
        BARACUDA_UNROLL
        for (int i = 0; i < IN; ++i) {
            if (!is_packed(i)) continue;
            if (is_turned(i)) turn(i, x);
            else keep(i, x);
        }
    }
    BARACUDA_FN void keep(int i, const Packs (&x)[STEPS]) const {
        const u32 corner = slot(0, first_part(false));
        BARACUDA_UNROLL
        for (u32 line = 0; line < LINES; ++line) {
            T* const at = held + below(corner, line) + i * HELD_INPUT;
            BARACUDA_UNROLL
            for (u32 group = 0; group < GROUPS; ++group)
                store_pack(at + group * HELD_FURTHER, x[group * LINES + line].items(i));
        }
    }
    BARACUDA_FN void turn(int i, const Packs (&x)[STEPS]) const {
        const u32 corner = slot(0, first_part(true));
        Pack<T, int(SIZE)> lines[STEPS];
        for (u32 u = 0; u < STEPS; ++u) lines[u] = x[u].items(i);
        BARACUDA_UNROLL
        for (u32 group = 0; group < GROUPS; ++group)  // by the packs that came first
            BARACUDA_UNROLL
            for (u32 s = 0; s < SIZE; ++s) {
                Across across;
                for (u32 line = 0; line < LINES; ++line) across.item[line] = lines[group * LINES + line].item[s];
                store_whole(held + below(corner, s) + i * HELD_INPUT + group * HELD_FURTHER, across);
            }
    }

    BARACUDA_FN void read_elements(int i) const {
        BARACUDA_KEEP_LOOP
        for (u32 first = threadIdx.x; first < PACKS * SIZE; first += AT_ONCE * MAP_THREADS) {
            T x[AT_ONCE];
            BARACUDA_UNROLL
            for (u32 u = 0; u < AT_ONCE; ++u) {
                const Part part(first + u * MAP_THREADS, 1, is_turned(i));
                if (has(part)) x[u] = input_at<T, IN, FLAGS>(p.in, i, place(part, i));
            }
            BARACUDA_UNROLL
            for (u32 u = 0; u < AT_ONCE; ++u) {
                const Part part(first + u * MAP_THREADS, 1, is_turned(i));
                if (has(part)) held[slot(i, part)] = x[u];
            }
        }
    }

    template <class Formula> BARACUDA_FN void map_packs(const Formula& formula) const {
        const Part part = first_part(false);
        const u32 corner = slot(0, part);
        const bool deep = is_deep(false);
        const i32 x_left = left[X] - i32(part.x), y_left = left[Y] - i32(part.y);
        i64 line_at[OUT];
        for (int o = 0; o < OUT; ++o)
            line_at[o] = offset[IN + o] + i64(part.x) + i64(part.y) * p.stride[Y][IN + o] + part.tile * p.next_tile[o];
        BARACUDA_KEEP_LOOP
        for (u32 line = 0; line < LINES; ++line) {
            const T* from = held + below(corner, line);
            i64 at[OUT];
            for (int o = 0; o < OUT; ++o) at[o] = line_at[o];
            const i32 along = deep ? y_left - i32(line) : x_left, beside = deep ? x_left : y_left - i32(line);
            i32 ahead = beside > 0 ? along - i32(part.tile * EDGE) : 0;  // elements from the thread's tile on
            BARACUDA_KEEP_LOOP
            for (u32 group = 0; group < GROUPS && ahead > 0; ++group) {
                InputPacks<T, int(SIZE), IN, 0> x;
                for (int i = 0; i < IN; ++i)
                    x.number[i] = load_whole<typename InputPacks<T, int(SIZE), IN, 0>::Words>(from + i * HELD_INPUT);
                map_pack<T, O>(x, p.out, [&](int o) { return at[o]; }, formula);
                from += HELD_FURTHER;
                ahead -= i32(FURTHER * EDGE);
                for (int o = 0; o < OUT; ++o) at[o] += i64(FURTHER) * p.next_tile[o];
            }
            for (int o = 0; o < OUT; ++o) line_at[o] += p.stride[Y][IN + o];
        }
    }

    template <class Formula> BARACUDA_FN void map_elements(const Formula& formula) const {
        BARACUDA_KEEP_LOOP
        for (u32 number = threadIdx.x; number < PACKS * SIZE; number += MAP_THREADS) {
            const Part part(number, 1, false);
            if (!has(part)) continue;
            compute_t<T> in[IN], out[OUT];
            for (int i = 0; i < IN; ++i) in[i] = widen(held[slot(i, part)]);
            formula(in, out);
            for (int o = 0; o < OUT; ++o)
                if (OUT == 1 || p.out[o]) static_cast<O*>(p.out[o])[place(part, IN + o)] = converted<T, O>(out[o]);
        }
    }
};

template <class T, class O = T, int IN, int OUT, int FLAGS, class Formula>
BARACUDA_FN void map_tiled(const TiledMap<IN, OUT, FLAGS>& p, const Formula& formula) {
    const MapTiles<T, O, IN, OUT, FLAGS> tiles(p);
    tiles.read_packs();
    BARACUDA_UNROLL
    for (int i = 0; i < IN; ++i)
        if (!tiles.is_packed(i)) tiles.read_elements(i);
    __syncthreads();
    if (tiles.is_packed(IN)) tiles.map_packs(formula);
    else tiles.map_elements(formula);
}

}  // namespace baracuda
