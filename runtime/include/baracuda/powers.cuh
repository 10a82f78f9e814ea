// Powers a^b to the precision of an element type T, as element.cuh has it, and what their gradients are made of.
//
// |a|^b is 2^(b log2(|a|)). In f16 the logarithm is right relatively, beside 1 too, where a large b magnifies its error.
// In f32 it comes in two parts, for a normal a whose power is a normal number; others call the library, in a branch that a warp
// without them does not take, and so does f64.
#pragma once
#include <baracuda/element.cuh>

namespace baracuda {

// log2(x), relatively right where it is far from 1; NaN for a negative x.
template <class T> BARACUDA_FN float log2_far_from_one(float x) {
#if BARACUDA_ON_DEVICE
    float log2;
    if constexpr (limits<T>::smallest_subnormal < limits<float>::smallest_normal)
        return ::__log2f(x);  // not as assembly, of which the compiler would keep a copy a use
    else asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log2) : "f"(x));
    return log2;
#else
    return ::log2f(x);
#endif
}

// The same in 16 bits. Beside 1, where a large exponent magnifies its error, it is in f16 a polynomial, within 2^-21 relatively.
// The instruction is within 2^-22 absolutely there: of 1 - 2^-8, the number of bf16 next to 1, a power that is still a number is
// within 2^-8 then, which is less than a last place.
template <class T> BARACUDA_FN float short_log2(float x) {
    const float far = log2_far_from_one<T>(x);
    if constexpr (limits<T>::epsilon >= 0x1p-7f) return far;
    const float past = x - 1.0f;
    const float beside = past * polynomial(past, 1.442695f, -0.7213289f, 0.48088238f, -0.36542572f, 0.2926139f);
#if BARACUDA_ON_DEVICE
    // The compiler would move what one side needs to where the logarithm is used, again each time.
    float log2;
    asm("{ .reg .pred is_beside; setp.lt.f32 is_beside, %1, 0f3E000000; selp.f32 %0, %2, %3, is_beside; }"
        : "=f"(log2) : "f"(abs(past)), "f"(beside), "f"(far));
    return log2;
#else
    return abs(past) < 0.125f ? beside : far;
#endif
}

// Whether b has a fraction, and its last bit, as a sign: beside 2^23 a fraction is rounded away. In f32 an |b| of at most 2^23.
template <class T> struct Parity {
    bool has_fraction;
    u32 odd_sign;
    BARACUDA_FN explicit Parity(float b) {
        // Beyond 2^22 the numbers of bf16 are even, and those of f16 infinite.
        const float size = is_same<T, bf16> ? min(abs(b), 0x1p22f) : abs(b), shifted = size + 0x1p23f;
        has_fraction = shifted - 0x1p23f != size;
        odd_sign = bit_cast<u32>(shifted) << 31;
    }
    // |a|^b with the sign of a^b, which is that of a where b is odd.
    BARACUDA_FN float signed_as(float size_power, float a) const {
        return bit_cast<float>(bit_cast<u32>(size_power) ^ (bit_cast<u32>(a) & odd_sign));
    }
    // A power of |a| for a b with a fraction: NaN where a^b is, which is of a negative number.
    BARACUDA_FN static float of_fraction(float size_power, float a) {
        return bool((a < 0.0f) & (a > -inf<float>)) ? nan<float> : size_power;
    }
};
// 2^(b log2), of f16 a normal number wherever it counts; of bf16 a root, squared, which underflows no sooner than the result.
template <class T> BARACUDA_FN float short_exp2_product(float b, float log2) {
    if constexpr (limits<T>::smallest_subnormal >= limits<float>::smallest_normal) return exp2_normal(b * log2);
    const float root = exp2_normal(b * 0.5f * log2);
    return root * root;
}

// log2(size) of a normal number in f32, within 2^-29 of it relatively: its exponent, and 2 atanh(t) / log(2) with
// t = (m - 1) / (m + 1) for what is left, an m between sqrt(1/2) and sqrt(2). The rest is at most 1 % of the value.
BARACUDA_FN Rounded<float> split_log2(float size) {
    const u32 bits = bit_cast<u32>(size), power = (bits - 0x3f3504f3u) & 0xff800000u;
    const float exponent = float(i32(power)), m = bit_cast<float>(bits - power);
    // The inverse of 16 bits is one instruction: what t is off for that too is in its rest.
    const float past = m - 1.0f, sum = m + 1.0f, inverse = element_inverse<f16>(sum), t = past * inverse;
    const float t_rest = fma(-t, m - (sum - 1.0f), fma(-t, sum, past)) * inverse;
    const float first = t * 2.88539f, square = t * t, slope = fma(square, 2.88539f, 2.88539f);
    const float first_rest = fma(t_rest, slope, fma(t, 3.851926e-08f, -fma(-t, 2.88539f, first)));
    const float curve = polynomial(square, 0.9617967f, 0.57707977f, 0.41190128f, 0.3365875f);
    const float value = fma(exponent, 0x1p-23f, first), value_rest = first - fma(exponent, -0x1p-23f, value);
    return {value, fma(t * square, curve, first_rest) + value_rest};
}

// 2^exponent; the exponent shows whether that is a normal number.
struct Power {
    float value, exponent;
};
BARACUDA_FN Power split_power(float size, float b) {
    constexpr float shift = ExpOf<float>::shift;
    const Rounded<float> log2 = split_log2(size);
    const float most = b * log2.value, rest = fma(b, log2.rest, fma(b, log2.value, -most)), exponent = most + rest;
    const float count = exponent + shift - shift, near = exp2_normal(count), part = most - count + rest;
    // 2^part - 1 over part
    const float over = polynomial(part, 0.6931472f, 0.24022651f, 0.055503577f, 0.00961806f, 0.0013392067f, 1.5464136e-4f);
    return {fma(near, part * over, near), exponent};
}
BARACUDA_FN bool is_positive_normal(float a) { return bit_cast<u32>(a) - 0x800000u < 0x7f000000u; }
BARACUDA_RARE float pow_of_any(float a, float b) { return pow(a, b); }

// a^b
template <class T> BARACUDA_FN compute_t<T> element_pow(compute_t<T> a, compute_t<T> b) {
    if constexpr (!is_same<compute_t<T>, float>) return pow(a, b);
    else if constexpr (is_short<T>) {
        const Parity<T> parity(b);
        const float log2 = short_log2<T>(abs(a)), power = short_exp2_product<T>(b, log2);
        const float size = bool((b == 0.0f) | (log2 == 0.0f)) ? 1.0f : power;
        const float of_whole = parity.signed_as(size, a), of_fraction = parity.of_fraction(size, a);
        return parity.has_fraction ? of_fraction : of_whole;
    } else {
        const Power size = split_power(abs(a), b);
        const Parity<T> parity(b);
        const float power = bool((a < 0.0f) & parity.has_fraction) ? nan<float> : parity.signed_as(size.value, a);
        // The conditions without a branch between them: each element asks.
        const bool has_formula = is_positive_normal(abs(a)) & (abs(size.exponent) <= 124.0f) & (abs(b) <= 0x1p23f);
        return has_formula ? power : pow_of_any(a, b);
    }
}

// The natural logarithm of a number of at least 0, in two parts of which the first is best taken before other functions are
// called: in f32 it is all of it, for the compiler gives what it shares with a power to it.
template <class T> BARACUDA_FN compute_t<T> element_early_log(compute_t<T> size) {
    if constexpr (!is_same<T, float>) return size;
    else {
        const Rounded<float> log2 = split_log2(size);
        const float near = fma(log2.value, 0.6931472f, log2.rest * 0.6931472f);
        const float far = fma(log2_far_from_one<f16>(size * 0x1p24f), 0.6931472f, -24.0f * 0.6931472f);
        return is_positive_normal(size) ? near : far;
    }
}
template <class T> BARACUDA_FN compute_t<T> element_late_log(compute_t<T> early) {
    if constexpr (sizeof(early) == 8) return log(early);
    else if constexpr (is_short<T>) return short_log2<T>(early) * 0.6931472f;
    else return early;
}

// |a|^(b - 1). The rest is what b - 1 lost to rounding, which the power would magnify.
template <class F> BARACUDA_FN F pow_of_one_less(F a, F b) {
    const F size = abs(a), e = b - F(1);
    const F rest = isinf(b) ? F(0) : abs(b) < F(1) ? b - (e + F(1)) : b - e - F(1);
    const F log_size = log(clamp(size, limits<F>::smallest_subnormal, limits<F>::max_value));
    return pow(size, e) * (F(1) + clamp(rest * log_size, F(-0.001), F(0.001)));
}
// a^(b - 1) for power = a^b where a or the power is no normal number, or an extreme one.
template <class F> BARACUDA_RARE F pow_slope_of_any(F a, F b, F power) {
    const F size = b == F(0) ? F(1) : pow_of_one_less(a, b);
    return isnan(power) ? power : b != trunc(b) || signbit(power) == signbit(a) ? size : -size;
}

// a^(b - 1) for power = a^b, whose quotient it is: NaN where the power is, and any finite number where b is 0.
template <class T> BARACUDA_FN compute_t<T> element_pow_slope(compute_t<T> a, compute_t<T> b, compute_t<T> power) {
    using F = compute_t<T>;
    if constexpr (is_short<T>) {
        const Parity<T> parity(b);
        const float log2 = short_log2<T>(abs(a));
        // b - 1 is 0 or at least 2^-11: beside the bounds its power is 0, infinite or, of 0, 1, as beside infinities.
        const float slope = short_exp2_product<T>(b - 1.0f, clamp(log2, -0x1p20f, 0x1p20f));
        const float size = bool((b == 0.0f) | (log2 == 0.0f)) ? 1.0f : slope;
        // One less is odd where b is even.
        const float of_whole = bit_cast<float>(bit_cast<u32>(size) ^ (bit_cast<u32>(a) & ~parity.odd_sign & 0x80000000u));
        const float of_fraction = parity.of_fraction(size, a);
        return parity.has_fraction ? of_fraction : of_whole;
    } else {
        constexpr F high = sizeof(F) == 4 ? F(0x1p62) : F(0x1p510), low = F(1) / high;
        const F size = abs(a), power_size = abs(power);
        // As conditions for the rare case: a power that is NaN, which a negative a may bring to every other element, is none.
        const bool is_rare = !(size >= low) | (size > high) | (power_size < low) | (power_size > high);
        return is_rare ? pow_slope_of_any(a, b, power) : element_quotient<T>(power, a);
    }
}

}  // namespace baracuda
