// The functions of the formula language, for float and double, some for i64 too.
//
// One text for device and host. Functions made of IEEE operations only (+ - * / sqrt fma, comparisons, rounding,
// fmod, ldexp, ...) give equal bits on both; those that call the C library or CUDA's agree within a few ulp.
// NaN propagates unless a function says otherwise, and -0 is smaller than +0.
#pragma once
#include <baracuda/target.cuh>

#if !BARACUDA_ON_DEVICE
#include <math.h>
#endif

namespace baracuda {

struct f16;
struct bf16;

#if BARACUDA_ON_DEVICE
template <class F> constexpr F inf = F(__builtin_bit_cast(double, 0x7ff0000000000000ull));
template <class F> constexpr F nan = F(__builtin_bit_cast(double, 0x7ff8000000000000ull));
#else
template <class F> constexpr F inf = F(__builtin_huge_val());
template <class F> constexpr F nan = F(__builtin_nan(""));
#endif

// What an element type can hold, as values of its compute type.
template <class T> struct limits;
template <> struct limits<double> {
    static constexpr double max_value = 0x1.fffffffffffffp+1023;
    static constexpr double min_value = -max_value;
    static constexpr double smallest_normal = 0x1p-1022;
    static constexpr double smallest_subnormal = 0x1p-1074;
    static constexpr double epsilon = 0x1p-52;
    static constexpr bool is_half = false;
};
template <> struct limits<float> {
    static constexpr float max_value = 0x1.fffffep+127f;
    static constexpr float min_value = -max_value;
    static constexpr float smallest_normal = 0x1p-126f;
    static constexpr float smallest_subnormal = 0x1p-149f;
    static constexpr float epsilon = 0x1p-23f;
    static constexpr bool is_half = false;
};
template <> struct limits<f16> {
    static constexpr float max_value = 65504.0f;
    static constexpr float min_value = -max_value;
    static constexpr float smallest_normal = 0x1p-14f;
    static constexpr float smallest_subnormal = 0x1p-24f;
    static constexpr float epsilon = 0x1p-10f;
    static constexpr bool is_half = true;
};
template <> struct limits<bf16> {
    static constexpr float max_value = 0x1.fep+127f;
    static constexpr float min_value = -max_value;
    static constexpr float smallest_normal = 0x1p-126f;
    static constexpr float smallest_subnormal = 0x1p-133f;
    static constexpr float epsilon = 0x1p-7f;
    static constexpr bool is_half = true;
};

// The GNU C library reduces doubles beyond 105414350 to some 28 decimal places, which leaves few digits to results near 0;
// what it does for long double is right everywhere.
namespace detail {
#if BARACUDA_ON_DEVICE
#define BARACUDA_TURNED(name, long_name) \
    BARACUDA_FN double name(double x) { return ::name(x); }
#else
#define BARACUDA_TURNED(name, long_name) \
    BARACUDA_FN double name(double x) { return ::fabs(x) < 1e8 ? ::name(x) : double(::long_name(x)); }
#endif
BARACUDA_TURNED(sin, sinl)
BARACUDA_TURNED(cos, cosl)
BARACUDA_TURNED(tan, tanl)
#undef BARACUDA_TURNED
// The GNU C library's is off by up to 4 last places, but for long double.
#if BARACUDA_ON_DEVICE
BARACUDA_FN double cbrt(double x) { return ::cbrt(x); }
#else
BARACUDA_FN double cbrt(double x) { return double(::cbrtl(x)); }
#endif
// Of a signalling NaN the GNU C library's power of 0 is no 1.
#if BARACUDA_ON_DEVICE
#define BARACUDA_POWER(F, name) \
    BARACUDA_FN F pow(F x, F y) { return ::name(x, y); }
#else
#define BARACUDA_POWER(F, name) \
    BARACUDA_FN F pow(F x, F y) { return x == F(1) || y == F(0) ? F(1) : ::name(x, y); }
#endif
BARACUDA_POWER(float, powf)
BARACUDA_POWER(double, pow)
#undef BARACUDA_POWER
}  // namespace detail

// Functions that CUDA and the C library both have.
#define BARACUDA_MATH_1(name, float_name, double_name)             \
    BARACUDA_FN float name(float x) { return ::float_name(x); }    \
    BARACUDA_FN double name(double x) { return ::double_name(x); }
#define BARACUDA_MATH_2(name, float_name, double_name)                         \
    BARACUDA_FN float name(float x, float y) { return ::float_name(x, y); }    \
    BARACUDA_FN double name(double x, double y) { return ::double_name(x, y); }

BARACUDA_MATH_1(abs, fabsf, fabs)
BARACUDA_MATH_1(sqrt, sqrtf, sqrt)
BARACUDA_MATH_1(cbrt, cbrtf, baracuda::detail::cbrt)
BARACUDA_MATH_1(exp, expf, exp)
BARACUDA_MATH_1(exp2, exp2f, exp2)
BARACUDA_MATH_1(expm1, expm1f, expm1)
BARACUDA_MATH_1(log, logf, log)
BARACUDA_MATH_1(log2, log2f, log2)
BARACUDA_MATH_1(log10, log10f, log10)
BARACUDA_MATH_1(log1p, log1pf, log1p)
BARACUDA_MATH_1(sin, sinf, baracuda::detail::sin)
BARACUDA_MATH_1(cos, cosf, baracuda::detail::cos)
BARACUDA_MATH_1(tan, tanf, baracuda::detail::tan)
BARACUDA_MATH_1(asin, asinf, asin)
BARACUDA_MATH_1(acos, acosf, acos)
BARACUDA_MATH_1(atan, atanf, atan)
BARACUDA_MATH_1(sinh, sinhf, sinh)
BARACUDA_MATH_1(cosh, coshf, cosh)
BARACUDA_MATH_1(tanh, tanhf, tanh)
BARACUDA_MATH_1(asinh, asinhf, asinh)
BARACUDA_MATH_1(acosh, acoshf, acosh)
BARACUDA_MATH_1(atanh, atanhf, atanh)
BARACUDA_MATH_1(erf, erff, erf)
BARACUDA_MATH_1(tgamma, tgammaf, tgamma)
BARACUDA_MATH_1(floor, floorf, floor)
BARACUDA_MATH_1(ceil, ceilf, ceil)
BARACUDA_MATH_1(trunc, truncf, trunc)
BARACUDA_MATH_1(round, rintf, rint)
BARACUDA_MATH_2(atan2, atan2f, atan2)
BARACUDA_MATH_2(pow, baracuda::detail::pow, baracuda::detail::pow)
BARACUDA_MATH_2(fmod, fmodf, fmod)
BARACUDA_MATH_2(copysign, copysignf, copysign)
BARACUDA_MATH_2(nextafter, nextafterf, nextafter)
BARACUDA_FN float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
BARACUDA_FN double fma(double x, double y, double z) { return ::fma(x, y, z); }
BARACUDA_FN double distance(double x, double y) { return ::fabs(x - y); }

BARACUDA_FN float hypot(float x, float y) { return ::hypotf(x, y); }
// CUDA's double version is a last place too large where the result is nearly the largest number. This one takes from the
// root what the squares and the root lost (Borges 2021, "Algorithm 1014"), at a scale where none over- or underflows.
BARACUDA_FN double hypot(double x, double y) {
    const double size = ::fabs(x), other = ::fabs(y);
    const double longer = size < other ? other : size, shorter = size < other ? size : other;
    if (longer == inf<double> || shorter == inf<double>) return inf<double>;
    if (!(longer > 0.0)) return longer + shorter;  // zeros, or NaN
    const double scale = longer > 0x1p500 ? 0x1p-600 : longer < 0x1p-400 ? 0x1p600 : 1.0;
    const double a = longer * scale, b = shorter * scale;
    const double root = ::sqrt(::fma(a, a, b * b));
    const double root_square = root * root, square = a * a;
    const double excess = ::fma(-b, b, root_square - square) + ::fma(root, root, -root_square) - ::fma(a, a, -square);
    const double result = root - excess / (root + root);
    return scale < 1.0 ? result * 0x1p600 : scale > 1.0 ? result * 0x1p-600 : result;
}

#undef BARACUDA_MATH_1
#undef BARACUDA_MATH_2

BARACUDA_FN i64 abs(i64 x) { return x < 0 ? i64(0 - u64(x)) : x; }

template <class F> constexpr bool is_float = false;
template <> constexpr bool is_float<float> = true;
template <> constexpr bool is_float<double> = true;

template <class F> BARACUDA_FN bool isnan(F x) { return x != x; }
template <class F> BARACUDA_FN bool isinf(F x) { return abs(x) == inf<F>; }
template <class F> BARACUDA_FN bool isfinite(F x) { return abs(x) < inf<F>; }
template <class F> BARACUDA_FN bool signbit(F x) { return copysign(F(1), x) < F(0); }

// -1, 0 or 1; NaN for NaN, +0 for both zeros.
template <class F> BARACUDA_FN F sign(F x) { return x > F(0) ? F(1) : x < F(0) ? F(-1) : x == F(0) ? F(0) : x; }
template <class F> BARACUDA_FN F square(F x) { return x * x; }
template <class F> BARACUDA_FN F reciprocal(F x) { return F(1) / x; }
template <class F> BARACUDA_FN F rsqrt(F x) { return F(1) / sqrt(x); }

template <class F> BARACUDA_FN F max(F a, F b) {
    if constexpr (is_float<F>) {
        return a > b || isnan(a) || (a == b && !signbit(a)) ? a : b;
    } else {
        return a > b ? a : b;
    }
}
template <class F> BARACUDA_FN F min(F a, F b) {
    if constexpr (is_float<F>) {
        return a < b || isnan(a) || (a == b && signbit(a)) ? a : b;
    } else {
        return a < b ? a : b;
    }
}
// These two ignore NaN: it comes out only when there is nothing else.
#if BARACUDA_ON_DEVICE
// One instruction of sm_80 and later has the same meaning.
BARACUDA_FN float max(float a, float b) {
    float c;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
}
BARACUDA_FN float min(float a, float b) {
    float c;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
}
#endif
// 2^x within some last places, by one instruction; a result below 2^-126 may be 0.
BARACUDA_FN float exp2_normal(float x) {
#if BARACUDA_ON_DEVICE
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return ::exp2f(x);
#endif
}
template <class F> BARACUDA_FN F fmax(F a, F b) { return isnan(a) ? b : isnan(b) ? a : max(a, b); }
template <class F> BARACUDA_FN F fmin(F a, F b) { return isnan(a) ? b : isnan(b) ? a : min(a, b); }

template <class F, class... Rest> BARACUDA_FN F max(F a, F b, F c, Rest... rest) { return max(max(a, b), c, rest...); }
template <class F, class... Rest> BARACUDA_FN F min(F a, F b, F c, Rest... rest) { return min(min(a, b), c, rest...); }
template <class F, class... Rest> BARACUDA_FN F fmax(F a, F b, F c, Rest... rest) {
    return fmax(fmax(a, b), c, rest...);
}
template <class F, class... Rest> BARACUDA_FN F fmin(F a, F b, F c, Rest... rest) {
    return fmin(fmin(a, b), c, rest...);
}
template <class F> BARACUDA_FN F clamp(F x, F low, F high) { return min(max(x, low), high); }

// a % b with the sign of b, as Python has it; an integer modulo 0 is 0.
template <class F> BARACUDA_FN F remainder(F a, F b) {
    if constexpr (is_float<F>) {
        const F rest = fmod(a, b);  // NaN where b is 0
        if (rest == F(0)) return copysign(rest, b);
        return (b < F(0)) != (rest < F(0)) ? rest + b : rest;
    } else {
        // The smallest integer divided by -1 overflows, and some processors trap.
        if (b == F(0) || b == F(-1)) return F(0);
        const F rest = a % b;
        return rest != F(0) && (b < F(0)) != (rest < F(0)) ? rest + b : rest;
    }
}

// a // b, so that a == b * (a // b) + a % b, as Python has it; an integer divided by 0 is 0.
template <class F> BARACUDA_FN F floor_divide(F a, F b) {
    if constexpr (is_float<F>) {
        if (b == F(0)) return a / b;
        const F rest = fmod(a, b);
        F quotient = (a - rest) / b;
        if (rest != F(0) && (b < F(0)) != (rest < F(0))) quotient -= F(1);
        if (quotient == F(0)) return copysign(F(0), a / b);
        const F whole = floor(quotient);
        return quotient - whole > F(0.5) ? whole + F(1) : whole;
    } else {
        if (b == F(0)) return F(0);
        if (b == F(-1)) return F(0 - u64(a));
        const F quotient = a / b;
        return a % b != F(0) && (a < F(0)) != (b < F(0)) ? quotient - F(1) : quotient;
    }
}

BARACUDA_FN i64 shift_left(i64 x, i64 count) { return count < 0 || count > 63 ? 0 : i64(u64(x) << count); }
BARACUDA_FN i64 shift_right(i64 x, i64 count) { return x >> (count < 0 || count > 63 ? 63 : count); }

// x = mantissa(x) * 2^exponent(x) with 0.5 <= |mantissa| < 1; zeros, infinities and NaN are their own mantissa.
// On the bits: the C library's frexp costs several times as much, and products call it for every element.
BARACUDA_FN float mantissa(float x) {
    u32 bits = __builtin_bit_cast(u32, x);
    if ((bits & 0x7f800000u) == 0) bits = __builtin_bit_cast(u32, x * 0x1p24f);  // a subnormal, or still zero
    const u32 biased = bits >> 23 & 0xffu;
    return biased - 1 < 254 ? __builtin_bit_cast(float, (bits & 0x807fffffu) | 0x3f000000u) : x;
}
BARACUDA_FN double mantissa(double x) {
    u64 bits = __builtin_bit_cast(u64, x);
    if ((bits & 0x7ff0000000000000u) == 0) bits = __builtin_bit_cast(u64, x * 0x1p54);
    const u64 biased = bits >> 52 & 0x7ffu;
    return biased - 1 < 2046 ? __builtin_bit_cast(double, (bits & 0x800fffffffffffffu) | 0x3fe0000000000000u) : x;
}
BARACUDA_FN i64 exponent(float x) {
    u32 bits = __builtin_bit_cast(u32, x);
    const bool small = (bits & 0x7f800000u) == 0;
    if (small) bits = __builtin_bit_cast(u32, x * 0x1p24f);
    const u32 biased = bits >> 23 & 0xffu;
    return biased - 1 < 254 ? i64(biased) - (small ? 150 : 126) : 0;
}
BARACUDA_FN i64 exponent(double x) {
    u64 bits = __builtin_bit_cast(u64, x);
    const bool small = (bits & 0x7ff0000000000000u) == 0;
    if (small) bits = __builtin_bit_cast(u64, x * 0x1p54);
    const u64 biased = bits >> 52 & 0x7ffu;
    return biased - 1 < 2046 ? i64(biased) - (small ? 1076 : 1022) : 0;
}
// The same of a number that is known to be normal: not zero, subnormal, infinite or NaN.
BARACUDA_FN float normal_mantissa(float x) {
    return __builtin_bit_cast(float, (__builtin_bit_cast(u32, x) & 0x807fffffu) | 0x3f000000u);
}
BARACUDA_FN double normal_mantissa(double x) {
    return __builtin_bit_cast(double, (__builtin_bit_cast(u64, x) & 0x800fffffffffffffu) | 0x3fe0000000000000u);
}
BARACUDA_FN i64 normal_exponent(float x) { return i32(__builtin_bit_cast(u32, x) >> 23 & 0xffu) - 126; }
BARACUDA_FN i64 normal_exponent(double x) { return i32(__builtin_bit_cast(u64, x) >> 52 & 0x7ffu) - 1022; }
// 2^-exponent(x), for an x between 2^-125 and 2^126 (f64: 2^-1021 and 2^1022), where it is normal too.
BARACUDA_FN float normal_scale(float x) {
    return __builtin_bit_cast(float, 0x7e800000u - (__builtin_bit_cast(u32, x) & 0x7f800000u));
}
BARACUDA_FN double normal_scale(double x) {
    return __builtin_bit_cast(double, 0x7fd0000000000000u - (__builtin_bit_cast(u64, x) & 0x7ff0000000000000u));
}
// The nearest integer, ties to even; 0 for NaN, and at most 2^62 in magnitude, so that a few add up.
template <class F> BARACUDA_FN i64 integer(F x) { return isnan(x) ? 0 : i64(round(clamp(x, F(-0x1p62), F(0x1p62)))); }
// x * 2^power, rounded once. Beyond the clamp every number is infinite or zero.
BARACUDA_FN float ldexp(float x, i64 power) { return ::ldexpf(x, int(clamp<i64>(power, -4096, 4096))); }
BARACUDA_FN double ldexp(double x, i64 power) { return ::ldexp(x, int(clamp<i64>(power, -4096, 4096))); }

// x * y * z and x * y / z^2 with the factors' exponents apart.
template <class F> BARACUDA_RARE F product_apart(F x, F y, F z) {
    return ldexp(mantissa(x) * mantissa(y) * mantissa(z), exponent(x) + exponent(y) + exponent(z));
}
template <class F> BARACUDA_RARE F ratio_apart(F x, F y, F z) {
    return ldexp(mantissa(x) * mantissa(y) / mantissa(z) / mantissa(z), exponent(x) + exponent(y) - 2 * exponent(z));
}
// The same: where what is made on the way is normal, or zero because a factor is, the factors as they are give it.
template <class F> BARACUDA_FN bool is_whole(F product, F factor) {
    return (abs(product) >= limits<F>::smallest_normal && abs(product) < inf<F>) || factor == F(0);
}
template <class F> BARACUDA_FN F scaled_product(F x, F y, F z) {
    const F first = x * y;
    return is_whole(first, x) || y == F(0) ? first * z : product_apart(x, y, z);
}
template <class F> BARACUDA_FN F scaled_ratio(F x, F y, F z) {
    const F first = x / z, second = y / z;
    return is_whole(first, x) && is_whole(second, y) ? first * second : ratio_apart(x, y, z);
}

// x * (y * scale) * z * last for powers of two `scale` and `last`, and a z from 2^-6 to 2^100: as it is where what is made
// on the way is normal, else with the exponents apart.
template <class F> BARACUDA_RARE F scaled_apart(F x, F y, F scale, F z, F last) {
    return ldexp(
        mantissa(x) * mantissa(y) * z, exponent(x) + exponent(y) + exponent(scale) - 1 + exponent(last) - 1);
}
template <class F> BARACUDA_FN F product_at_scale(F x, F y, F scale, F z, F last) {
    const F scaled = y * scale, part = scaled * z, product = x * part;
    if (x == F(0) || y == F(0)) return x * y * z;
    const bool whole = min(abs(scaled), abs(part), abs(product)) >= limits<F>::smallest_normal && abs(product) < inf<F>;
    return whole ? product * last : scaled_apart(x, y, scale, z, last);
}

// 1 / (1 + exp(-x)); exp never overflows, and the negative tail keeps its subnormals.
template <class F> BARACUDA_FN F sigmoid(F x) {
    const F z = exp(-abs(x));
    return (x >= F(0) ? F(1) : z) / (F(1) + z);
}

// x * exp(y), the power in factors where it is no normal number: nothing is lost that the product holds. A power that
// rounds to zero is the smallest number instead, so that an infinite x stays one. Three factors are beyond every number:
// what a finite y has more than they hold is cut off, so that a zero stays one, too.
#define BARACUDA_SCALED(name, power, most_of_f32, most_of_f64)                                        \
    template <class F> BARACUDA_FN F name(F x, F y) {                                                 \
        const F most = F(sizeof(F) == 4 ? most_of_f32 : most_of_f64);                                 \
        if (abs(y) <= most) return x * power(y);                                                      \
        const F first = clamp(y, -most, most), second = clamp(y - first, -most, most);                \
        const F rest = isinf(y) ? y : clamp(y - first - second, -most, most);                         \
        const F last = max(power(rest), limits<F>::smallest_subnormal);                               \
        return x * power(first) * power(second) * last;                                               \
    }
BARACUDA_SCALED(scaled_exp, exp, 87.0, 708.0)
BARACUDA_SCALED(scaled_exp2, exp2, 126.0, 1022.0)
#undef BARACUDA_SCALED

#if BARACUDA_ON_DEVICE

BARACUDA_FN float exp10(float x) { return ::exp10f(x); }
BARACUDA_FN double exp10(double x) { return ::exp10(x); }
BARACUDA_FN float erfinv(float x) { return ::erfinvf(x); }
BARACUDA_FN double erfinv(double x) { return ::erfinv(x); }

#else

// The C library has neither of these two.
BARACUDA_FN float exp10(float x) { return ::powf(10.0f, x); }
BARACUDA_FN double exp10(double x) { return ::pow(10.0, x); }

// Winitzki's approximation (2008) is right to 0.2 percent; Halley steps on erf, in the tail on erfc, do the rest.
BARACUDA_FN double erfinv(double x) {
    const double half_root_pi = 0.886226925452758;
    const double size = abs(x);
    if (!(size < 1.0)) return size == 1.0 ? copysign(inf<double>, x) : nan<double>;
    if (size < 1e-8) return x * half_root_pi;  // the next term is below half a last place
    const double log_term = ::log1p(-size) + ::log1p(size);
    const double part = -log_term / 0.147;
    const double half = 4.330746750799873 + 0.5 * log_term;  // 2 / (0.147 pi)
    double y = ::sqrt(part / (::sqrt(half * half + part) + half));
    for (int step = 0; step < 3; ++step) {
        const double error = size < 0.5 ? ::erf(y) - size : (1.0 - size) - ::erfc(y);
        const double newton = error * half_root_pi * ::exp(y * y);
        y -= newton / (1.0 + y * newton);
    }
    return copysign(y, x);
}
BARACUDA_FN float erfinv(float x) { return float(erfinv(double(x))); }

#endif

}  // namespace baracuda
