// Integers and truth values as formulas see them: arithmetic wraps around, and nothing traps or is undefined.
//
// A result is the exact one modulo 2^width, as NumPy and PyTorch have it; of bool it is whether the exact one is not 0, so
// that + is "or" and * is "and". C++ makes numbers of fewer bits an int, whose overflow is undefined: all is done unsigned.
#pragma once
#include <baracuda/target.cuh>

namespace baracuda {

template <class I> struct Unsigned { using type = u32; };
template <> struct Unsigned<i64> { using type = u64; };
template <class I> using unsigned_t = typename Unsigned<I>::type;

template <class I> struct Integer {
    static constexpr bool IS_SIGNED = I(-1) < I(0);
    static constexpr int WIDTH = int(sizeof(I)) * 8;

    I value;

    Integer() = default;
    template <class N> BARACUDA_FN constexpr explicit Integer(N number) : value(I(number)) {}
    BARACUDA_FN unsigned_t<I> bits() const { return unsigned_t<I>(value); }
};

#define BARACUDA_INTEGER(sign)                                                           \
    template <class I> BARACUDA_FN Integer<I> operator sign(Integer<I> a, Integer<I> b) { \
        return Integer<I>(a.bits() sign b.bits());                                       \
    }
BARACUDA_INTEGER(+)
BARACUDA_INTEGER(-)
BARACUDA_INTEGER(*)
BARACUDA_INTEGER(&)
BARACUDA_INTEGER(|)
BARACUDA_INTEGER(^)
#undef BARACUDA_INTEGER
#define BARACUDA_INTEGER(sign) \
    template <class I> BARACUDA_FN bool operator sign(Integer<I> a, Integer<I> b) { return a.value sign b.value; }
BARACUDA_INTEGER(==)
BARACUDA_INTEGER(!=)
BARACUDA_INTEGER(<)
BARACUDA_INTEGER(<=)
BARACUDA_INTEGER(>)
BARACUDA_INTEGER(>=)
#undef BARACUDA_INTEGER
template <class I> BARACUDA_FN Integer<I> operator-(Integer<I> x) { return Integer<I>(unsigned_t<I>(0) - x.bits()); }
template <class I> BARACUDA_FN Integer<I> operator~(Integer<I> x) { return Integer<I>(~x.bits()); }
BARACUDA_FN Integer<bool> operator~(Integer<bool> x) { return Integer<bool>(!x.value); }

// In whole registers, which have an instruction for each.
template <class I> using whole_t = decltype(I() + 0);
template <class I> BARACUDA_FN Integer<I> max(Integer<I> a, Integer<I> b) {
    const whole_t<I> x = a.value, y = b.value;
    return Integer<I>(x > y ? x : y);
}
template <class I> BARACUDA_FN Integer<I> min(Integer<I> a, Integer<I> b) {
    const whole_t<I> x = a.value, y = b.value;
    return Integer<I>(x < y ? x : y);
}

template <class I> BARACUDA_FN Integer<I> abs(Integer<I> x) { return x.value < I(0) ? -x : x; }
template <class I> BARACUDA_FN bool isnan(Integer<I>) { return false; }
template <class I> BARACUDA_FN bool isinf(Integer<I>) { return false; }
template <class I> BARACUDA_FN bool isfinite(Integer<I>) { return true; }
template <class I> BARACUDA_FN bool signbit(Integer<I> x) { return x.value < I(0); }

template <class I> BARACUDA_FN Integer<I> floor(Integer<I> x) { return x; }
template <class I> BARACUDA_FN Integer<I> ceil(Integer<I> x) { return x; }
template <class I> BARACUDA_FN Integer<I> trunc(Integer<I> x) { return x; }
template <class I> BARACUDA_FN Integer<I> round(Integer<I> x) { return x; }
template <class I> BARACUDA_FN Integer<I> fma(Integer<I> a, Integer<I> b, Integer<I> c) { return a * b + c; }
// The difference of two integers is no more than an unsigned one of their width.
template <class I> BARACUDA_FN double distance(Integer<I> a, Integer<I> b) {
    return double(a.value < b.value ? b.bits() - a.bits() : a.bits() - b.bits());
}

// Quotients by 0 and what is left of them are 0, as in NumPy. The smallest integer divided by -1 is itself; some processors
// trap there.
template <class I> BARACUDA_FN bool is_minus_one(Integer<I> x) { return Integer<I>::IS_SIGNED && x.value == I(-1); }
template <class I> BARACUDA_FN Integer<I> fmod(Integer<I> a, Integer<I> b) {
    return Integer<I>(b.value == I(0) || is_minus_one(b) ? I(0) : I(a.value % b.value));
}
template <class I> BARACUDA_FN Integer<I> remainder(Integer<I> a, Integer<I> b) {
    const Integer<I> rest = fmod(a, b);
    return rest.value != I(0) && signbit(rest) != signbit(b) ? rest + b : rest;
}
template <class I> BARACUDA_FN Integer<I> floor_divide(Integer<I> a, Integer<I> b) {
    if (b.value == I(0)) return b;
    if (is_minus_one(b)) return -a;
    const I quotient = I(a.value / b.value);
    const bool has_rest = Integer<I>(quotient) * b != a;
    return Integer<I>(has_rest && signbit(a) != signbit(b) ? I(quotient - I(1)) : quotient);
}

// A count that is negative or not below the width leaves what is left when every bit is gone.
template <class I> BARACUDA_FN Integer<I> shift_left(Integer<I> x, Integer<I> count) {
    return Integer<I>(count.bits() < unsigned_t<I>(Integer<I>::WIDTH) ? x.bits() << count.bits() : unsigned_t<I>(0));
}
template <class I> BARACUDA_FN Integer<I> shift_right(Integer<I> x, Integer<I> count) {
    constexpr unsigned_t<I> most = sizeof(unsigned_t<I>) * 8 - 1;  // of the number as it is shifted
    return Integer<I>(x.value >> (count.bits() < most ? count.bits() : most));
}

// The number of bits that are set, and of zeros above the highest and below the lowest of them: the width where there is none.
// As unsigned numbers of the width itself.
template <class I> BARACUDA_FN u64 own_bits(Integer<I> x) {
    return Integer<I>::WIDTH == 64 ? u64(x.bits()) : u64(x.bits()) & ((u64(1) << Integer<I>::WIDTH % 64) - 1);
}
#if BARACUDA_ON_DEVICE
BARACUDA_FN int bit_count(u64 x) { return __popcll(x); }
BARACUDA_FN int zeros_above(u64 x) { return __clzll(i64(x)); }
#else
BARACUDA_FN int bit_count(u64 x) { return __builtin_popcountll(x); }
BARACUDA_FN int zeros_above(u64 x) { return x == 0 ? 64 : __builtin_clzll(x); }
#endif
template <class I> BARACUDA_FN Integer<I> popcount(Integer<I> x) { return Integer<I>(bit_count(own_bits(x))); }
template <class I> BARACUDA_FN Integer<I> leading_zeros(Integer<I> x) {
    return Integer<I>(zeros_above(own_bits(x)) - (64 - Integer<I>::WIDTH));
}
template <class I> BARACUDA_FN Integer<I> trailing_zeros(Integer<I> x) {
    // All bits below the lowest one.
    return Integer<I>(bit_count(own_bits(Integer<I>(~x.bits() & (x.bits() - 1u)))));
}

// Euclid's algorithm, unsigned, so that the smallest integer has a magnitude. One copy a kernel: it is a loop of divisions.
template <class U> BARACUDA_RARE U gcd_of(U a, U b) {
    while (b != U(0)) {
        const U rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
template <class I> BARACUDA_FN unsigned_t<I> magnitude(Integer<I> x) {
    return signbit(x) ? unsigned_t<I>(0) - x.bits() : x.bits();
}
template <class I> BARACUDA_FN Integer<I> gcd(Integer<I> a, Integer<I> b) {
    return Integer<I>(gcd_of(magnitude(a), magnitude(b)));
}
template <class I> BARACUDA_FN Integer<I> lcm(Integer<I> a, Integer<I> b) {
    const unsigned_t<I> divisor = gcd_of(magnitude(a), magnitude(b));
    return Integer<I>(divisor == 0 ? unsigned_t<I>(0) : magnitude(a) / divisor * magnitude(b));
}

// a to the power of b. A negative power is that of the exact quotient without its fraction: 0 but for a of 1 and -1.
template <class U> BARACUDA_RARE U power_of(U a, U b) {
    U power = 1;
    for (; b != U(0); b >>= 1) {
        if (b & 1) power *= a;
        a *= a;
    }
    return power;
}
template <class I> BARACUDA_FN Integer<I> pow(Integer<I> a, Integer<I> b) {
    const bool is_unit = a.value == I(1) || is_minus_one(a);
    return signbit(b) && !is_unit ? Integer<I>(0) : Integer<I>(power_of(a.bits(), magnitude(b)));
}

}  // namespace baracuda
