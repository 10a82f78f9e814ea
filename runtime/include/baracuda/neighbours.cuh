// Neighbours among the numbers of an element type.
#pragma once
#include <baracuda/math.cuh>
#include <baracuda/storage.cuh>

namespace baracuda {

template <int BYTES> struct Pattern;
template <> struct Pattern<2> { using type = u16; };
template <> struct Pattern<4> { using type = u32; };
template <> struct Pattern<8> { using type = u64; };

// The number of T after x toward y, as C's nextafter: y where they are equal. Both are numbers of T.
template <class T> BARACUDA_FN compute_t<T> next_stored(compute_t<T> x, compute_t<T> y) {
    using Bits = typename Pattern<int(sizeof(T))>::type;
    if (isnan(x) || isnan(y)) return x + y;
    if (x == y) return y;
    if (x == 0) return copysign(limits<T>::smallest_subnormal, y);
    const Bits bits = bit_cast<Bits>(rounded<T>(x));
    const bool away = (x < y) == (x > 0);  // from zero
    return widen(bit_cast<T>(Bits(away ? bits + 1 : bits - 1)));
}

}  // namespace baracuda
