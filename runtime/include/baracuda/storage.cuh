// Storage types, the compute type of each, and 16-byte accesses.
//
// f16 and bf16 are 16 bits of storage: every formula computes in compute_t<T>, loads widen exactly, and
// the one rounding (to nearest, ties to even) happens in the store. Device and host give equal bits. Integers compute in
// themselves, and so does a bool, which is a byte, true where that is not 0.
#pragma once
#include <baracuda/integer.cuh>
#include <baracuda/target.cuh>

namespace baracuda {

struct f16 { u16 bits; };
struct bf16 { u16 bits; };
using f32 = float;
using f64 = double;
struct boolean { u8 byte; };

// The storage type of BARACUDA_DTYPE, whose name may be a word of C++.
#define BARACUDA_ELEMENT BARACUDA_ELEMENT_1(BARACUDA_DTYPE)
#define BARACUDA_ELEMENT_1(dtype) BARACUDA_ELEMENT_2(dtype)
#define BARACUDA_ELEMENT_2(dtype) baracuda::element_##dtype
using element_f16 = f16;
using element_bf16 = bf16;
using element_f32 = f32;
using element_f64 = f64;
using element_i8 = i8;
using element_i16 = i16;
using element_i32 = i32;
using element_i64 = i64;
using element_u8 = u8;
using element_bool = boolean;

template <class T> struct Compute { using type = T; };
template <> struct Compute<f16> { using type = float; };
template <> struct Compute<bf16> { using type = float; };
template <> struct Compute<i8> { using type = Integer<i8>; };
template <> struct Compute<i16> { using type = Integer<i16>; };
template <> struct Compute<i32> { using type = Integer<i32>; };
template <> struct Compute<i64> { using type = Integer<i64>; };
template <> struct Compute<u8> { using type = Integer<u8>; };
template <> struct Compute<boolean> { using type = Integer<bool>; };
template <class T> using compute_t = typename Compute<T>::type;

// A constant that depends on the compute type.
template <class A> BARACUDA_FN constexpr A by_compute(float of_f32, double of_f64) {
    return sizeof(A) == sizeof(double) ? A(of_f64) : A(of_f32);
}

template <class To, class From> BARACUDA_FN To bit_cast(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
    return __builtin_bit_cast(To, from);
}

BARACUDA_FN float widen(f32 x) { return x; }
BARACUDA_FN double widen(f64 x) { return x; }
BARACUDA_FN float widen(bf16 x) { return bit_cast<float>(u32(x.bits) << 16); }
template <class I> BARACUDA_FN Integer<I> widen(I x) { return Integer<I>(x); }
BARACUDA_FN Integer<bool> widen(boolean x) { return Integer<bool>(x.byte != 0); }

#if BARACUDA_ON_DEVICE

BARACUDA_FN float widen(f16 x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    // The instruction drops the sign of a NaN.
    return bit_cast<float>(bit_cast<u32>(y) | u32(x.bits & 0x8000u) << 16);
}
BARACUDA_FN void narrow(float x, f16& y) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); }
BARACUDA_FN void narrow(float x, bf16& y) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); }
// Two at once, the first in the lower half.
BARACUDA_FN void narrow_pair(float x, float y, u32& word, f16) { asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(y), "f"(x)); }
BARACUDA_FN void narrow_pair(float x, float y, u32& word, bf16) { asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(y), "f"(x)); }

#else

BARACUDA_FN float widen(f16 x) {
    const u32 sign = u32(x.bits & 0x8000u) << 16;
    const u32 magnitude = x.bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    // 2^-24 is the value of a subnormal's last bit; the product is exact.
    if (magnitude < 0x400u) return bit_cast<float>(sign | bit_cast<u32>(float(magnitude) * 0x1p-24f));
    return bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}
BARACUDA_FN void narrow(float x, f16& y) {
    const u32 bits = bit_cast<u32>(x);
    const u32 sign = bits >> 16 & 0x8000u;
    const u32 magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) { y.bits = 0x7fffu; return; }                        // NaN, as PTX writes it
    if (magnitude >= 0x477ff000u) { y.bits = u16(sign | 0x7c00u); return; }           // rounds to infinity
    if (magnitude < 0x38800000u) {
        // Adding 0.5 puts f16's last subnormal bit at f32's last bit, so that the addition rounds.
        const u32 rounded = bit_cast<u32>(bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
        y.bits = u16(sign | rounded);
        return;
    }
    const u32 odd = magnitude >> 13 & 1u;
    y.bits = u16(sign | (magnitude - 0x38000000u + 0xfffu + odd) >> 13);
}
BARACUDA_FN void narrow(float x, bf16& y) {
    const u32 bits = bit_cast<u32>(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) { y.bits = 0x7fffu; return; }             // NaN, as PTX writes it
    y.bits = u16((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

template <class T> BARACUDA_FN void narrow_pair(float x, float y, u32& word, T) {
    T first, second;
    narrow(x, first);
    narrow(y, second);
    word = u32(first.bits) | u32(second.bits) << 16;
}

#endif

BARACUDA_FN void narrow(float x, f32& y) { y = x; }
BARACUDA_FN void narrow(double x, f64& y) { y = x; }
template <class I> BARACUDA_FN void narrow(Integer<I> x, I& y) { y = x.value; }
BARACUDA_FN void narrow(Integer<bool> x, boolean& y) { y.byte = x.value; }

template <class T> BARACUDA_FN T rounded(compute_t<T> x) {
    T y;
    narrow(x, y);
    return y;
}

// A value as it is read again after a store.
template <class T> BARACUDA_FN compute_t<T> stored(compute_t<T> x) { return widen(rounded<T>(x)); }
#if BARACUDA_ON_DEVICE
// As the upper half of a pair: a pair's conversion is faster than that of a single number.
template <> BARACUDA_FN float stored<bf16>(float x) {
    u32 pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(x), "f"(0.0f));
    return bit_cast<float>(pair);
}
#endif

template <class T, class O> constexpr bool is_same = false;
template <class T> constexpr bool is_same<T, T> = true;

// A result of inputs T as an output's element O; <baracuda/cast.cuh> has what leads from one kind to another.
template <class O, class A> struct Cast;
template <class T, class O, class A> BARACUDA_FN O converted(A x) {
    if constexpr (is_same<T, O>) return rounded<O>(x);
    else return Cast<O, A>::of(x);
}

// A bool beside numbers: formulas get it as one, 1 or 0.
template <class T> BARACUDA_FN T flag_at(const void* from, i64 place) {
    return rounded<T>(compute_t<T>(static_cast<const u8*>(from)[place] != 0));
}

// Elements that one instruction reads or writes: sixteen bytes of T, or fewer beside an output of larger elements.
template <class T, int COUNT = 16 / int(sizeof(T))> struct alignas(COUNT * sizeof(T)) Pack {
    static constexpr int SIZE = COUNT;
    T item[SIZE];
};

// The bytes of a load that is used later: as words, because the compiler would give each part of a struct a register.
template <int BYTES> struct alignas(BYTES) Bytes { u32 word[BYTES / 4]; };
template <> struct alignas(2) Bytes<2> { u16 word; };

// Item s of several that lie together, widened. Of a word of two bf16 each takes one instruction.
template <class Items, class T> BARACUDA_FN compute_t<T> widen_item(const Items&, int, const T& item) { return widen(item); }
template <class Items> BARACUDA_FN float widen_item(const Items& items, int s, const bf16& item) {
    if constexpr (sizeof(Items) % 4 != 0) return widen(item);
    else {
        const u32 word = bit_cast<Bytes<int(sizeof(Items))>>(items).word[s / 2];
        return bit_cast<float>(s % 2 ? word & 0xffff0000u : word << 16);
    }
}
template <class Items> BARACUDA_FN auto widen_at(const Items& items, int s) { return widen_item(items, s, items.item[s]); }

// Several items that lie together, rounded. Of 16 bits two take one instruction.
template <class Items, class T, int COUNT> BARACUDA_FN Items rounded_items(const compute_t<T> (&x)[COUNT]) {
    if constexpr ((is_same<T, f16> || is_same<T, bf16>) && COUNT % 2 == 0) {
        Bytes<int(sizeof(Items))> words;
        BARACUDA_UNROLL
        for (int s = 0; s < COUNT; s += 2) narrow_pair(x[s], x[s + 1], words.word[s / 2], T());
        return bit_cast<Items>(words);
    } else {
        Items items;
        for (int s = 0; s < COUNT; ++s) items.item[s] = rounded<T>(x[s]);
        return items;
    }
}
template <class T> BARACUDA_FN Pack<T> rounded_pack(const compute_t<T> (&x)[Pack<T>::SIZE]) { return rounded_items<Pack<T>, T>(x); }

// As many flags as a pack has items, in words.
template <int BYTES> struct FlagWord { using type = u32; };
template <> struct FlagWord<2> { using type = u16; };
template <class T> struct alignas(Pack<T>::SIZE) FlagPack {
    using Word = typename FlagWord<Pack<T>::SIZE>::type;
    static constexpr int WIDTH = int(sizeof(Word));
    Word word[Pack<T>::SIZE / WIDTH];
    BARACUDA_FN bool is_set(int s) const { return (word[s / WIDTH] & u32(0xffu) << s % WIDTH * 8) != 0; }
};
template <class T> BARACUDA_FN FlagPack<T> load_flag_pack(const void* from) { return load_whole<FlagPack<T>>(from); }
template <class T> BARACUDA_FN FlagPack<T> spread_flag_pack(u8 flag) {
    FlagPack<T> pack;
    for (auto& word : pack.word) word = typename FlagPack<T>::Word(flag * 0x01010101u);
    return pack;
}
template <class T, int COUNT = Pack<T>::SIZE> BARACUDA_FN Pack<T, COUNT> spread_pack(T item) {
    Pack<T, COUNT> pack;
    for (int s = 0; s < pack.SIZE; ++s) pack.item[s] = item;
    return pack;
}

template <class T, int COUNT = Pack<T>::SIZE> BARACUDA_FN Pack<T, COUNT> load_pack(const T* from) {
    return load_whole<Pack<T, COUNT>>(from);
}
template <class T, int COUNT> BARACUDA_FN void store_pack(T* to, const Pack<T, COUNT>& pack) { store_whole(to, pack); }

}  // namespace baracuda
