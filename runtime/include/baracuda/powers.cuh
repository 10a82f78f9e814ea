// Powers a^b to the precision of an element type T, as element.cuh has it, and what their gradients are made of.
//
// In 16 bits |a|^b is 2^(b log2(|a|)): the logarithm is right relatively, beside 1 too, where a large b magnifies its error.
#pragma once
#include <baracuda/element.cuh>

namespace baracuda {

// log2(size) of a size of at least 0 in 16 bits, within 2^-19 of it relatively. The instruction is right absolutely alone; so
// beside 1 it is 2 atanh(t) / log(2) with t = (size - 1) / (size + 1), of which two terms are left.
template <class T> BARACUDA_FN float short_log2(float size) {
    const float past = size - 1.0f, t = element_quotient<T>(past, size + 1.0f);
    const float beside = t * fma(t * t, 0.96436667f, 2.8853887f);
#if BARACUDA_ON_DEVICE
    float far, log2;
    if constexpr (limits<T>::smallest_subnormal < limits<float>::smallest_normal)
        asm("lg2.approx.f32 %0, %1;" : "=f"(far) : "f"(size));
    else asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(far) : "f"(size));
    // The compiler would move what one side needs to where the logarithm is used, again each time.
    asm("{ .reg .pred is_beside; setp.lt.f32 is_beside, %1, 0f3E000000; selp.f32 %0, %2, %3, is_beside; }"
        : "=f"(log2) : "f"(abs(past)), "f"(beside), "f"(far));
    return log2;
#else
    return abs(past) < 0.125f ? beside : ::log2f(size);
#endif
}

// The natural logarithm of a number of at least 0, in 16 bits beside 1 as well.
template <class T> BARACUDA_FN compute_t<T> element_log_of_size(compute_t<T> size) {
    if constexpr (is_short<T>) return short_log2<T>(size) * 0.6931472f;
    else return log(size);
}

// |a|^b in 16 bits.
template <class T> BARACUDA_FN float short_power_of_size(float a, float b) {
    const float size = abs(a), root = exp2_normal(b * 0.5f * short_log2<T>(size));
    return b == 0.0f || size == 1.0f ? 1.0f : root * root;
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
