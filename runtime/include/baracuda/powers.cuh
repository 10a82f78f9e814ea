// Powers a^b to the precision of an element type T, as element.cuh has it, and what their gradients are made of.
//
// In 16 bits |a|^b is 4^(b log4(|a|)): the logarithm is right relatively, beside 1 too, where a large b magnifies its error.
#pragma once
#include <baracuda/element.cuh>

namespace baracuda {

// log4(|x|) in 16 bits, within 2^-21 of it relatively; -inf of zero. x = m 2^n with m from sqrt(1/2) to sqrt(2), and the
// logarithm of m is 2 atanh(t) with t = (m - 1) / (m + 1).
template <class T> BARACUDA_FN float short_log4(float x) {
    constexpr bool has_subnormals = limits<T>::smallest_subnormal < limits<float>::smallest_normal;
    constexpr u32 root_of_half = 0x3f3504f3u, count_of_zero = 0x4ac00000u;  // 3 * 2^21, whose last bit is 1/2
    const float size = abs(x);
    float normal = size, zero = 0x1.8p22f;
    if (has_subnormals && size < limits<float>::smallest_normal) {
        normal *= 0x1p24f;
        zero += 12.0f;
    }
    const u32 bits = bit_cast<u32>(normal), above = bits - root_of_half;
    const float m = bit_cast<float>(bits - (above & 0xff800000u));
    const float half_count = bit_cast<float>(count_of_zero + u32(i32(above) >> 23)) - zero;
    const float t = element_quotient<T>(m - 1.0f, m + 1.0f), z = t * t;
    const float log4 = fma(t, polynomial(z, 1.4426953f, 0.48079416f, 0.29789037f), half_count);
    return size == 0.0f ? -inf<float> : size < inf<float> ? log4 : size;
}

// The natural logarithm of a number of at least 0, in 16 bits beside 1 as well.
template <class T> BARACUDA_FN compute_t<T> element_log_of_size(compute_t<T> size) {
    if constexpr (is_short<T>) return short_log4<T>(size) * 1.3862944f;
    else return log(size);
}

// |a|^b in 16 bits.
template <class T> BARACUDA_FN float short_power_of_size(float a, float b) {
    const float root = exp2_normal(b * short_log4<T>(a));
    return b == 0.0f || abs(a) == 1.0f ? 1.0f : root * root;
}

// a^b. A negative a has a power where b is whole, which has its sign where b is odd; from 2^24 on every b is even.
template <class T> BARACUDA_FN compute_t<T> element_pow(compute_t<T> a, compute_t<T> b) {
    if constexpr (!is_short<T>) return pow(a, b);
    else {
        const float count = min(abs(b), 0x1p24f), shifted = count + 0x1p23f;
        const bool whole = shifted - 0x1p23f == count;
        const u32 sign = whole ? bit_cast<u32>(a) & bit_cast<u32>(shifted) << 31 : 0u;
        const float power = bit_cast<float>(bit_cast<u32>(short_power_of_size<T>(a, b)) | sign);
        return a < 0.0f && abs(a) < inf<float> && !whole ? nan<float> : power;
    }
}

// |a|^(b - 1). The rest is what b - 1 lost to rounding, which the power would magnify.
template <class F> BARACUDA_RARE F pow_of_one_less(F a, F b) {
    const F size = abs(a), e = b - F(1);
    const F rest = isinf(b) ? F(0) : abs(b) < F(1) ? b - (e + F(1)) : b - e - F(1);
    const F log_size = log(clamp(size, limits<F>::smallest_subnormal, limits<F>::max_value));
    return pow(size, e) * (F(1) + clamp(rest * log_size, F(-0.001), F(0.001)));
}

// power / a for power = a^b, also where the power is no normal number: its size is that of a^(b - 1).
template <class T> BARACUDA_FN compute_t<T> element_pow_slope(compute_t<T> a, compute_t<T> b, compute_t<T> power) {
    using F = compute_t<T>;
    if constexpr (is_short<T>) {
        const u32 sign = (bit_cast<u32>(power) ^ bit_cast<u32>(a)) & 0x80000000u;
        return bit_cast<float>(bit_cast<u32>(short_power_of_size<T>(a, b - 1.0f)) ^ sign);
    } else {
        const F ratio = power / a, least = min(abs(power), abs(ratio));
        if (least >= limits<F>::smallest_normal && max(abs(power), abs(ratio)) < inf<F>) return ratio;
        const F size = pow_of_one_less(a, b);
        return signbit(power) == signbit(a) ? size : -size;
    }
}

}  // namespace baracuda
