// Maps: every output element is a formula of the input elements at the same place.
//
// A Formula gives   void operator()(const A (&in)[IN], A (&out)[OUT]) const   on values in the compute
// type; the loops below own every access. The last FLAGS inputs are bool. Of several outputs, one whose pointer is null is
// not wanted and not written.
// Each element is read before it is written by the same thread, so an output may be exactly an input.
#pragma once
#include <baracuda/storage.cuh>
#include <baracuda/view.cuh>

namespace baracuda {

constexpr int MAP_THREADS = 256;
constexpr int MAP_UNROLL = 4;  // elements of strided operands that one thread takes
// And those that it takes at once: where 64-bit offsets would fill the registers, fewer.
template <class Offset> BARACUDA_FN constexpr int strided_unroll(int operands) {
    return sizeof(Offset) == 8 && operands > 2 ? MAP_UNROLL / 2 : MAP_UNROLL;
}

// Operands that are all contiguous: `packs` 16-byte packs, then scalars up to `count`. A pointer that is
// not 16-byte aligned, of a bool to the bytes of a pack's flags, makes `packs` zero.
template <int IN, int OUT, int FLAGS = 0> struct ContigMap {
    const void* in[IN];
    void* out[OUT];
    i64 count;
    i64 packs;
};

// An element of input i, of IN of which the last FLAGS are bool.
template <class T, int IN, int FLAGS> BARACUDA_FN T input_at(const void* const (&in)[IN], int i, i64 index) {
    return i < IN - FLAGS ? static_cast<const T*>(in[i])[index] : flag_at<T>(in[i], index);
}

// Elements of a pack.
template <class T, class O> constexpr int PACKED = 16 / int(sizeof(T) < sizeof(O) ? sizeof(O) : sizeof(T));

template <class T, class O, int FLAGS, int IN, int OUT, class Formula>
BARACUDA_FN void map_element(const void* const (&in)[IN], void* const (&out)[OUT], i64 index, const Formula& formula) {
    compute_t<T> x[IN], y[OUT];
    for (int i = 0; i < IN; ++i) x[i] = widen(input_at<T, IN, FLAGS>(in, i, index));
    formula(x, y);
    for (int o = 0; o < OUT; ++o)
        if (OUT == 1 || out[o]) static_cast<O*>(out[o])[index] = converted<T, O>(y[o]);
}

// A pack of each input, as bytes that nothing waits for before they are used.
template <class T, int SIZE, int IN, int FLAGS> struct InputPacks {
    static_assert(FLAGS == 0 || SIZE == Pack<T>::SIZE, "beside bools, outputs are as large as inputs");
    using Items = Pack<T, SIZE>;
    using Words = Bytes<int(sizeof(Items))>;
    Words number[IN > FLAGS ? IN - FLAGS : 1];
    FlagPack<T> flag[FLAGS > 0 ? FLAGS : 1];

    BARACUDA_FN static constexpr int bytes(int i) { return i < IN - FLAGS ? int(sizeof(T)) : 1; }  // of an element
    BARACUDA_FN void load(int i, const void* from) {
        if (i < IN - FLAGS) number[i] = load_whole<Words>(from);
        else flag[i - (IN - FLAGS)] = load_flag_pack<T>(from);
    }
    BARACUDA_FN void load(const void* const (&from)[IN], int i, i64 index) {
        load(i, static_cast<const char*>(from[i]) + index * bytes(i));
    }
    // Every item the element at a place.
    BARACUDA_FN void spread(const void* const (&from)[IN], int i, i64 index) {
        if (i < IN - FLAGS) number[i] = bit_cast<Words>(spread_pack<T, SIZE>(static_cast<const T*>(from[i])[index]));
        else flag[i - (IN - FLAGS)] = spread_flag_pack<T>(static_cast<const u8*>(from[i])[index]);
    }
    BARACUDA_FN compute_t<T> at(int i, int s) const {
        return i < IN - FLAGS ? widen_at(bit_cast<Items>(number[i]), s) : compute_t<T>(flag[i - (IN - FLAGS)].is_set(s));
    }
    // All of input i, a bool as 1 or 0.
    BARACUDA_FN Items items(int i) const {
        if (i < IN - FLAGS) return bit_cast<Items>(number[i]);
        Items numbers;
        for (int s = 0; s < SIZE; ++s) numbers.item[s] = rounded<T>(compute_t<T>(flag[i - (IN - FLAGS)].is_set(s)));
        return numbers;
    }
};

template <class T, class O> BARACUDA_FN Pack<O, PACKED<T, O>> converted_pack(const compute_t<T> (&x)[PACKED<T, O>]) {
    if constexpr (is_same<T, O>) return rounded_pack<T>(x);
    else {
        Pack<O, PACKED<T, O>> y;
        for (int s = 0; s < y.SIZE; ++s) y.item[s] = converted<T, O>(x[s]);
        return y;
    }
}

// The formula of each item of the inputs' packs; `place(o)` is where output o's pack begins.
template <class T, class O, int IN, int FLAGS, int OUT, class Formula, class Place>
BARACUDA_FN void map_pack(
    const InputPacks<T, PACKED<T, O>, IN, FLAGS>& x, void* const (&to)[OUT], const Place& place, const Formula& formula) {
    compute_t<T> y[OUT][PACKED<T, O>];
    BARACUDA_UNROLL
    for (int s = 0; s < PACKED<T, O>; ++s) {
        compute_t<T> in[IN], out[OUT];
        for (int i = 0; i < IN; ++i) in[i] = x.at(i, s);
        formula(in, out);
        for (int o = 0; o < OUT; ++o) y[o][s] = out[o];
    }
    for (int o = 0; o < OUT; ++o)
        if (OUT == 1 || to[o]) store_global(static_cast<O*>(to[o]) + place(o), converted_pack<T, O>(y[o]));
}

// PACKS a thread, all read before the first is mapped: for formulas whose instructions count more than memory.
template <int PACKS, class T, class O = T, int IN, int OUT, int FLAGS, class Formula>
BARACUDA_FN void map_contig_packs(const ContigMap<IN, OUT, FLAGS>& p, const Formula& formula) {
    constexpr int SIZE = PACKED<T, O>;
    const i64 tile = i64(blockIdx.x) * (MAP_THREADS * PACKS) + threadIdx.x;
    InputPacks<T, SIZE, IN, FLAGS> x[PACKS];
    BARACUDA_UNROLL
    for (int u = 0; u < PACKS; ++u) {
        const i64 pack = tile + u * MAP_THREADS;
        BARACUDA_UNROLL
        for (int i = 0; i < IN; ++i)
            if (pack < p.packs) x[u].load(p.in, i, pack * SIZE);
    }
    BARACUDA_UNROLL
    for (int u = 0; u < PACKS; ++u) {
        const i64 pack = tile + u * MAP_THREADS;
        // Behind the packs' threads, one each for the elements that fill none.
        const i64 scalar = p.packs * SIZE + (pack - p.packs);
        if (pack < p.packs) map_pack<T, O>(x[u], p.out, [&](int) { return pack * SIZE; }, formula);
        else if (scalar < p.count) map_element<T, O, FLAGS>(p.in, p.out, scalar, formula);
    }
}

// A pack a thread: memory is faster with more threads than with more packs for each.
template <class T, class O = T, int IN, int OUT, int FLAGS, class Formula>
BARACUDA_FN void map_contig(const ContigMap<IN, OUT, FLAGS>& p, const Formula& formula) {
    map_contig_packs<1, T, O>(p, formula);
}

// Operands of any strides, zero and negative ones included. Where `packs`, the innermost axis counts 16-byte packs, a thread
// takes so many, `step` apart, and `count` and the axes count threads: each operand's items lie side by side there, or are
// one element, if its bit in `spread` is set.
template <class Offset, int IN, int OUT, int FLAGS = 0> struct StridedMap {
    const void* in[IN];
    void* out[OUT];
    i64 count;
    i32 packs;
    u32 spread;
    Offset step[IN + OUT];
    Axes<Offset, IN + OUT> axes;
};

// Finding a place costs as much as a short formula, so a thread finds one for all its packs, which it takes one by one: the
// code of each formula is there once.
template <class T, class O, class Offset, int IN, int OUT, int FLAGS, class Formula>
BARACUDA_FN void map_strided_packs(const StridedMap<Offset, IN, OUT, FLAGS>& p, const Formula& formula) {
    const i64 index = i64(blockIdx.x) * MAP_THREADS + threadIdx.x;
    if (index >= p.count) return;
    Offset offset[IN + OUT] = {};
    p.axes.add(Offset(index), offset);
    BARACUDA_KEEP_LOOP
    for (i32 left = p.packs; left > 0; --left) {
        InputPacks<T, PACKED<T, O>, IN, FLAGS> x;
        BARACUDA_UNROLL
        for (int i = 0; i < IN; ++i) {
            if (p.spread >> i & 1) x.spread(p.in, i, offset[i]);
            else x.load(p.in, i, offset[i]);
        }
        map_pack<T, O>(x, p.out, [&](int o) { return offset[IN + o]; }, formula);
        for (int o = 0; o < IN + OUT; ++o) offset[o] += p.step[o];
    }
}

// AT_ONCE elements a thread, from `first` on.
template <int AT_ONCE, class T, class O, class Offset, int IN, int OUT, int FLAGS, class Formula>
BARACUDA_FN void map_strided_elements(const StridedMap<Offset, IN, OUT, FLAGS>& p, i64 first, const Formula& formula) {
    Offset offset[AT_ONCE][IN + OUT] = {};
    T x[AT_ONCE][IN];
    BARACUDA_UNROLL
    for (int u = 0; u < AT_ONCE; ++u) {
        const i64 index = first + u * MAP_THREADS;
        if (index >= p.count) continue;
        p.axes.add(Offset(index), offset[u]);
        for (int i = 0; i < IN; ++i) x[u][i] = input_at<T, IN, FLAGS>(p.in, i, offset[u][i]);
    }
    BARACUDA_UNROLL
    for (int u = 0; u < AT_ONCE; ++u) {
        if (first + u * MAP_THREADS >= p.count) continue;
        compute_t<T> in[IN], out[OUT];
        for (int i = 0; i < IN; ++i) in[i] = widen(x[u][i]);
        formula(in, out);
        for (int o = 0; o < OUT; ++o)
            if (OUT == 1 || p.out[o]) static_cast<O*>(p.out[o])[offset[u][IN + o]] = converted<T, O>(out[o]);
    }
}

template <class T, class O = T, class Offset, int IN, int OUT, int FLAGS, class Formula>
BARACUDA_FN void map_strided(const StridedMap<Offset, IN, OUT, FLAGS>& p, const Formula& formula) {
    if (p.packs) return map_strided_packs<T, O>(p, formula);
    constexpr int AT_ONCE = strided_unroll<Offset>(IN + OUT);
    const i64 tile = i64(blockIdx.x) * (MAP_THREADS * MAP_UNROLL) + threadIdx.x;
    BARACUDA_KEEP_LOOP
    for (int done = 0; done < MAP_UNROLL; done += AT_ONCE)
        map_strided_elements<AT_ONCE, T, O>(p, tile + done * MAP_THREADS, formula);
}

}  // namespace baracuda
