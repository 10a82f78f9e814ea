// Powers a^b to the precision of an element type T, as element.cuh has it, and what their gradients are made of.
//
// |a|^b is 2^(b log2(|a|)). In 16 bits the logarithm is right relatively, beside 1 too, where a large b magnifies its error.
// In f32 it comes in two parts, for a normal a whose power is a normal number; others call the library, in a branch that a warp
// without them does not take, and so does f64.
#pragma once
#include <baracuda/element.cuh>

namespace baracuda {

// log2(size) of any size of at least 0, relatively right where that is far from 1.
template <class T> BARACUDA_FN float log2_far_from_one(float size) {
#if BARACUDA_ON_DEVICE
    float log2;
    if constexpr (limits<T>::smallest_subnormal < limits<float>::smallest_normal)
        asm("lg2.approx.f32 %0, %1;" : "=f"(log2) : "f"(size));
    else asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log2) : "f"(size));
    return log2;
#else
    return ::log2f(size);
#endif
}

// The same in 16 bits, within 2^-21 of it relatively: beside 1 it is a polynomial.
template <class T> BARACUDA_FN float short_log2(float size) {
    const float past = size - 1.0f, far = log2_far_from_one<T>(size);
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

// |a|^b in 16 bits: a root, squared, so that neither leaves the normal numbers before the other.
template <class T> BARACUDA_FN float short_power(float size, float b) {
    const float root = exp2_normal(b * 0.5f * short_log2<T>(size));
    return b == 0.0f || size == 1.0f ? 1.0f : root * root;
}

// log2(size) of a normal number in f32, within 2^-29 of it relatively: its exponent, and 2 atanh(t) / log(2) with
// t = (m - 1) / (m + 1) for what is left, an m between sqrt(1/2) and sqrt(2).
BARACUDA_FN Rounded<float> split_log2(float size) {
    const u32 bits = bit_cast<u32>(size), power = (bits - 0x3f3504f3u) & 0xff800000u;
    const float exponent = float(i32(power)) * 0x1p-23f, m = bit_cast<float>(bits - power);
    // The inverse of 16 bits is one instruction: what t is off for that too is in its rest.
    const float past = m - 1.0f, sum = m + 1.0f, inverse = element_inverse<f16>(sum), t = past * inverse;
    const float t_rest = fma(-t, m - (sum - 1.0f), fma(-t, sum, past)) * inverse;
    const float first = t * 2.88539f, square = t * t, slope = fma(square, 2.88539f, 2.88539f);
    const float first_rest = fma(t_rest, slope, fma(t, 3.851926e-08f, -fma(-t, 2.88539f, first)));
    const float curve = polynomial(square, 0.9617967f, 0.57707977f, 0.41190128f, 0.3365875f);
    const Rounded<float> whole = sum_of_larger(exponent, first);
    return sum_of_larger(whole.value, fma(t * square, curve, first_rest) + whole.rest);
}

// 2^exponent; the exponent shows whether that is a normal number.
struct Power {
    float value, exponent;
};
BARACUDA_FN Power split_power(float size, float b) {
    using Of = ExpOf<float>;
    const Rounded<float> log2 = split_log2(size);
    const float exponent = b * log2.value, rest = fma(b, log2.rest, fma(b, log2.value, -exponent));
    const float count = exponent + Of::shift - Of::shift, near = exp2_normal(count);
    return {fma(near, short_expm1((exponent - count + rest) * 0.6931472f), near), exponent};
}
// On the bits, and both conditions of the next without a branch: each element asks.
BARACUDA_FN bool is_positive_normal(float a) { return bit_cast<u32>(a) - 0x800000u < 0x7f000000u; }
BARACUDA_FN bool has_formula(float size, float exponent) { return bool(is_positive_normal(size) & (abs(exponent) <= 124.0f)); }
BARACUDA_RARE float pow_of_any(float a, float b) { return pow(a, b); }

// a^b given |a|^b. A negative a has a power where b is whole, with its sign where b is odd; from 2^24 on every b is even.
BARACUDA_FN float signed_power(float a, float b, float size_power) {
    const float count = min(abs(b), 0x1p24f), odd = abs(fma(fma(count, 0.5f, 0x1p23f) - 0x1p23f, -2.0f, count));
    const float power = bit_cast<float>(bit_cast<u32>(size_power) ^ (bit_cast<u32>(a) & (odd == 1.0f ? 0x80000000u : 0u)));
    return a < 0.0f && a > -inf<float> && odd != 0.0f && odd != 1.0f ? nan<float> : power;
}

// a^b
template <class T> BARACUDA_FN compute_t<T> element_pow(compute_t<T> a, compute_t<T> b) {
    if constexpr (!is_same<compute_t<T>, float>) return pow(a, b);
    else if constexpr (is_short<T>) return signed_power(a, b, short_power<T>(abs(a), b));
    else {
        const Power size = split_power(abs(a), b);
        const float power = signed_power(a, b, size.value);
        return has_formula(abs(a), size.exponent) ? power : pow_of_any(a, b);
    }
}

// The natural logarithm of a number of at least 0, in 16 bits beside 1 as well.
template <class T> BARACUDA_FN compute_t<T> element_log_of_size(compute_t<T> size) {
    if constexpr (sizeof(size) == 8) return log(size);
    else if constexpr (is_short<T>) return short_log2<T>(size) * 0.6931472f;
    else {
        const Rounded<float> log2 = split_log2(size);
        const float value = is_positive_normal(size) ? log2.value : log2_far_from_one<T>(size);
        return fma(value, 0.6931472f, log2.rest * 0.6931472f);
    }
}

// |a|^(b - 1). The rest is what b - 1 lost to rounding, which the power would magnify.
template <class F> BARACUDA_FN F pow_of_one_less(F a, F b) {
    const F size = abs(a), e = b - F(1);
    const F rest = isinf(b) ? F(0) : abs(b) < F(1) ? b - (e + F(1)) : b - e - F(1);
    const F log_size = log(clamp(size, limits<F>::smallest_subnormal, limits<F>::max_value));
    return pow(size, e) * (F(1) + clamp(rest * log_size, F(-0.001), F(0.001)));
}
// power / a for power = a^b where one of the three is no normal number, or an extreme one.
template <class F> BARACUDA_RARE F pow_slope_of_any(F a, F b, F power) {
    const F size = pow_of_one_less(a, b);
    return signbit(power) == signbit(a) ? size : -size;
}

// power / a for power = a^b, which is no NaN, also where it is no normal number: its size is that of a^(b - 1).
template <class T> BARACUDA_FN compute_t<T> element_pow_slope(compute_t<T> a, compute_t<T> b, compute_t<T> power) {
    using F = compute_t<T>;
    if constexpr (is_short<T>) {
        const u32 sign = (bit_cast<u32>(power) ^ bit_cast<u32>(a)) & 0x80000000u;
        return bit_cast<float>(bit_cast<u32>(short_power<T>(abs(a), b - 1.0f)) ^ sign);
    } else {
        constexpr F low = limits<F>::smallest_normal * F(64), high = F(1) / low;
        const F ratio = element_quotient<T>(power, a);
        const F least = min(abs(power), abs(ratio), abs(a)), most = max(abs(power), abs(ratio), abs(a));
        return least >= low && most <= high ? ratio : pow_slope_of_any(a, b, power);
    }
}

}  // namespace baracuda
