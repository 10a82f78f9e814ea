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

#if BARACUDA_ON_DEVICE
BARACUDA_FN i32 size_of(i32 x) { return ::abs(x); }  // one instruction
// The quotient of integers below 2^16 without its fraction, and nothing of use for a divisor of 0. That of a + 1/2 is further
// from every whole number than the reciprocal's error moves it; beside 3 * 2^22 a float is whole.
BARACUDA_FN u32 short_quotient(u32 a, u32 b) {
    constexpr u32 power = 0x4b000000u, whole = 0x4b400000u;
    const float past_a = __builtin_bit_cast(float, power | a) - 8388607.5f, divisor = __builtin_bit_cast(float, power | b) - 8388608.0f;
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(divisor));
    return __builtin_bit_cast(u32, __fmaf_rn(past_a, inverse, -0.5f) + 12582912.0f) - whole;
}
#else
BARACUDA_FN i32 size_of(i32 x) { return x < 0 ? -x : x; }
BARACUDA_FN u32 short_quotient(u32 a, u32 b) { return b == 0 ? 0u : a / b; }
#endif

// Quotients by 0 and what is left of them are 0, as in NumPy. The smallest integer divided by -1 is itself; some processors
// trap there.
template <class I> BARACUDA_FN bool is_minus_one(Integer<I> x) { return Integer<I>::IS_SIGNED && x.value == I(-1); }

// Of fewer bits the magnitudes are divided, in whole registers and without a branch: a divisor of 0 becomes 1, which leaves
// nothing either.
template <class I> struct ShortDivision {
    const i32 a, b;
    const u32 size, divisor, quotient, rest;  // of magnitudes

    BARACUDA_FN ShortDivision(Integer<I> x, Integer<I> y)
        : a(x.value), b(y.value), size(size_of(a)), divisor(size_of(b) > 1 ? size_of(b) : 1),
          quotient(short_quotient(size, divisor)), rest(size - quotient * divisor) {}
    BARACUDA_FN bool signs_differ() const { return (a ^ b) < 0; }
};

template <class I> BARACUDA_FN Integer<I> fmod(Integer<I> a, Integer<I> b) {
    if constexpr (Integer<I>::WIDTH <= 16) {
        const ShortDivision<I> d(a, b);
        return Integer<I>(d.a < 0 ? 0u - d.rest : d.rest);
    }
    return Integer<I>(b.value == I(0) || is_minus_one(b) ? I(0) : I(a.value % b.value));
}
template <class I> BARACUDA_FN Integer<I> remainder(Integer<I> a, Integer<I> b) {
    if constexpr (Integer<I>::WIDTH <= 16) {
        const ShortDivision<I> d(a, b);
        const u32 size = d.signs_differ() && d.rest != 0 ? d.divisor - d.rest : d.rest;
        return Integer<I>(d.b < 0 ? 0u - size : size);
    }
    const Integer<I> rest = fmod(a, b);
    return rest.value != I(0) && signbit(rest) != signbit(b) ? rest + b : rest;
}
template <class I> BARACUDA_FN Integer<I> floor_divide(Integer<I> a, Integer<I> b) {
    if constexpr (Integer<I>::WIDTH <= 16) {
        const ShortDivision<I> d(a, b);
        // ~quotient is one less than -quotient.
        const u32 below = d.rest == 0 ? 0u - d.quotient : ~d.quotient;
        return Integer<I>(d.b == 0 ? 0u : d.signs_differ() ? below : d.quotient);
    }
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
BARACUDA_FN int zeros_below(u32 x) { return __clz(i32(__brev(x))); }
BARACUDA_FN int zeros_below(u64 x) { return __clzll(i64(__brevll(x))); }
#else
BARACUDA_FN int bit_count(u64 x) { return __builtin_popcountll(x); }
BARACUDA_FN int zeros_above(u64 x) { return x == 0 ? 64 : __builtin_clzll(x); }
BARACUDA_FN int zeros_below(u32 x) { return __builtin_ctz(x); }
BARACUDA_FN int zeros_below(u64 x) { return __builtin_ctzll(x); }
#endif
template <class I> BARACUDA_FN Integer<I> popcount(Integer<I> x) { return Integer<I>(bit_count(own_bits(x))); }
template <class I> BARACUDA_FN Integer<I> leading_zeros(Integer<I> x) {
    return Integer<I>(zeros_above(own_bits(x)) - (64 - Integer<I>::WIDTH));
}
template <class I> BARACUDA_FN Integer<I> trailing_zeros(Integer<I> x) {
    // All bits below the lowest one.
    return Integer<I>(bit_count(own_bits(Integer<I>(~x.bits() & (x.bits() - 1u)))));
}

// Stein's algorithm, which takes no division; unsigned, so that the smallest integer has a magnitude. One copy a kernel.
template <class U> BARACUDA_RARE U gcd_of(U a, U b) {
    if (a == U(0) || b == U(0)) return a | b;
    const int shared = zeros_below(a | b);
    a >>= zeros_below(a);
    while (b != U(0)) {
        b >>= zeros_below(b);
        const U less = a < b ? a : b;
        b = a < b ? b - a : a - b;
        a = less;
    }
    return a << shared;
}
template <class I> BARACUDA_FN unsigned_t<I> magnitude(Integer<I> x) {
    return signbit(x) ? unsigned_t<I>(0) - x.bits() : x.bits();
}
template <class I> BARACUDA_FN Integer<I> gcd(Integer<I> a, Integer<I> b) {
    return Integer<I>(gcd_of(magnitude(a), magnitude(b)));
}
template <class I> BARACUDA_FN Integer<I> lcm(Integer<I> a, Integer<I> b) {
    const unsigned_t<I> size = magnitude(a), divisor = gcd_of(size, magnitude(b));
    if constexpr (Integer<I>::WIDTH <= 16) return Integer<I>(short_quotient(size, divisor > 1 ? divisor : 1) * magnitude(b));
    return Integer<I>(divisor == 0 ? unsigned_t<I>(0) : size / divisor * magnitude(b));
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
