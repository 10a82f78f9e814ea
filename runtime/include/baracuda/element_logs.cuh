// Logarithms and the inverses of hyperbolic functions to the precision of an element type T, as element.cuh has it. One instruction
// gives a logarithm within 2^-22, absolutely where it is small: near their roots the others take a series, which costs a selection.
#pragma once
#include <baracuda/element.cuh>

namespace baracuda {

// Logarithms to the bases 2, e and 10.
template <class T> BARACUDA_FN compute_t<T> element_log2(compute_t<T> x) {
#if BARACUDA_ON_DEVICE
    if constexpr (is_short<T>) {
        float y;
        asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
        return y;
    }
#endif
    return log2(x);
}
template <class T> BARACUDA_FN compute_t<T> element_log(compute_t<T> x) {
#if BARACUDA_ON_DEVICE
    if constexpr (is_short<T>) return element_log2<T>(x) * 0.6931472f;
#endif
    return log(x);
}
template <class T> BARACUDA_FN compute_t<T> element_log10(compute_t<T> x) {
#if BARACUDA_ON_DEVICE
    if constexpr (is_short<T>) return element_log2<T>(x) * 0.30103f;
#endif
    return log10(x);
}

// log(1 + x)
template <class T> BARACUDA_FN compute_t<T> element_log1p(compute_t<T> x) {
    if constexpr (is_short<T>) {
        const float near = x * polynomial(x, 1.0f, -0.5f, 0.33333334f, -0.25f);
        return abs(x) < 0.0625f ? near : element_log<T>(1.0f + x);
    }
    return log1p(x);
}

// log(1 + z) / z for 0 <= z <= 1
template <class T> BARACUDA_FN compute_t<T> element_log1p_ratio(compute_t<T> z) {
    if constexpr (is_same<T, bf16>) {
        return polynomial(z, 0.99956537f, -0.48574237f, 0.25231858f, -0.073237405f);
    } else if constexpr (is_short<T>) {
        return polynomial(z, 0.9999916f, -0.49936149f, 0.32520735f, -0.21005023f, 0.10122380f, -0.023869701f);
    } else if constexpr (sizeof(z) == 4) {
        const float over = polynomial(z, -0.5f, -0.33169842f, -0.0064959987f, 0.00053704984f);
        return fma(element_quotient<T>(over, polynomial(z, 1.0f, 1.3300569f, 0.39977744f)), z, 1.0f);  // the nearest at 1
    } else {
        return z > 0x1p-60 ? log1p(z) / z : 1.0;
    }
}

// log(x / (1 - x)); around 1/2, where it is near 0, what the roundings of the difference and the quotient took is given back.
// In f32 the quotient is 2^e m, and log(m) is 2 atanh((m - 1) / (m + 1)) of a denominator and a numerator that is exact.
template <class T> BARACUDA_FN compute_t<T> element_log_odds(compute_t<T> x) {
    using F = compute_t<T>;
    const F rest = F(1) - x;
    if constexpr (is_short<T>) {
        return element_log<T>(x) - element_log<T>(rest);
    } else if constexpr (sizeof(F) == 4) {
        const bool tiny = x < 0x1p-100f;
        const u32 bits = bit_cast<u32>(tiny ? x * 0x1p64f : x);
        const u32 power = (bits - bit_cast<u32>(rest) + 0x400000u) & 0xff800000u;
        const float part = bit_cast<float>(bits - power);
        const float t = element_quotient<T>(part - rest - (1.0f - rest - x), part + rest), square = t * t;
        const float curve = fma(t * square, polynomial(square, 0.66666955f, 0.39956996f, 0.3037937f), t + t);
        const float y = fma(float(i32(power)), 0x1.62e43p-24f, tiny ? curve - 44.361419f : curve);
        return x > 0.0f && rest > 0.0f ? y : x == 0.0f ? -inf<float> : rest == 0.0f ? inf<float> : nan<float>;
    } else {
        const F odds = x / rest, missed = fma(-odds, rest, x) - odds * (F(1) - rest - x);
        const F y = fma(missed, F(1) / max(x, F(0.25)), log(odds));
        return abs(x - F(0.5)) > F(0.5) ? nan<F> : rest == F(0) ? inf<F> : y;
    }
}

// The inverse hyperbolic tangent, sine and cosine. In 16 bits the root is infinite from 2^64 on, and 1 no longer counts far below.
template <class T> BARACUDA_FN compute_t<T> element_atanh(compute_t<T> x) {
    if constexpr (is_short<T>) {
        const float near = x * polynomial(x * x, 1.0f, 0.33333334f, 0.2f);
        return abs(x) < 0.125f ? near : 0.5f * (element_log<T>(1.0f + x) - element_log<T>(1.0f - x));
    }
    return atanh(x);
}
template <class T> BARACUDA_FN compute_t<T> element_asinh(compute_t<T> x) {
    if constexpr (is_short<T>) {
        const float a = abs(x), near = x * polynomial(x * x, 1.0f, -0.16666667f, 0.075f);
        const float root = a < 0x1p60f ? element_sqrt<T>(fma(a, a, 1.0f)) : 0.0f;
        const float far = element_log<T>(a + root) + (a < 0x1p60f ? 0.0f : 0.6931472f);
        return a < 0.125f ? near : copysign(far, x);
    }
    return asinh(x);
}
template <class T> BARACUDA_FN compute_t<T> element_acosh(compute_t<T> x) {
    if constexpr (is_short<T>) {
        const float root = x < 0x1p60f ? element_sqrt<T>((x - 1.0f) * (x + 1.0f)) : 0.0f;
        const float far = element_log<T>(x + root) + (x < 0x1p60f ? 0.0f : 0.6931472f);
        return x < 1.0f ? nan<float> : far;
    }
    return acosh(x);
}

}  // namespace baracuda
