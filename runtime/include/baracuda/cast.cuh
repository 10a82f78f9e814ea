// Results as elements of another kind than the inputs.
//
// A float is rounded once, to nearest, ties to even. As an integer it loses its fraction and stays within the integer's range;
// NaN gives 0. An integer keeps its last bits as a narrower one. As a bool everything is true but 0: NaN is.
#pragma once
#include <baracuda/storage.cuh>

namespace baracuda {

BARACUDA_FN float number_of(float x) { return x; }
BARACUDA_FN double number_of(double x) { return x; }
template <class I> BARACUDA_FN I number_of(Integer<I> x) { return x.value; }

// A float that rounds on to 16 bits as the number does: it has the first digits, and an odd last one where others are lost.
BARACUDA_FN float rounded_to_odd(double x) {
    u32 bits = bit_cast<u32>(float(x));
    const double size = x < 0.0 ? -x : x;
    if (double(bit_cast<float>(bits & 0x7fffffffu)) > size) --bits;
    return bit_cast<float>(double(bit_cast<float>(bits)) == x ? bits : bits | 1u);
}
// Of a long one the last 16 digits become one, so that a double holds it.
BARACUDA_FN float rounded_to_odd(i64 x) {
    const bool is_long = x >= i64(1) << 48 || x < -(i64(1) << 48);
    return rounded_to_odd(double(is_long ? (x & ~i64(0xffff)) | (x & 0xffff ? 0x8000 : 0) : x));
}
BARACUDA_FN float rounded_to_odd(i32 x) { return rounded_to_odd(double(x)); }
// All others are floats.
template <class N> BARACUDA_FN float rounded_to_odd(N x) { return float(x); }

template <class I, class F> BARACUDA_FN I saturated(F x) {
    constexpr bool IS_SIGNED = Integer<I>::IS_SIGNED;
    constexpr u64 BEYOND = u64(1) << (Integer<I>::WIDTH - IS_SIGNED);  // of no 64-bit unsigned integer
    if (x != x) return I(0);
    if (x >= F(BEYOND)) return I(BEYOND - 1);
    if (x < (IS_SIGNED ? -F(BEYOND) : F(0))) return IS_SIGNED ? I(BEYOND) : I(0);
    return I(x);
}

template <class O, class A> struct Cast {
    BARACUDA_FN static O of(A x) {
        constexpr bool OF_FLOAT = is_same<A, float> || is_same<A, double>;
        if constexpr (is_same<O, boolean>) return boolean{x != A(0)};
        else if constexpr (is_same<O, f16> || is_same<O, bf16>) return rounded<O>(rounded_to_odd(number_of(x)));
        else if constexpr (is_same<O, f32> || is_same<O, f64> || !OF_FLOAT) return O(number_of(x));
        else return saturated<O>(x);
    }
};

}  // namespace baracuda
