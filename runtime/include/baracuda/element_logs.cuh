// Logarithms and the inverses of hyperbolic functions to the precision of an element type T, as element.cuh has it. One instruction
// gives a logarithm within 2^-22, absolutely where it is small: near their roots the others take a series, which costs a selection.
#pragma once
#include <baracuda/element.cuh>

namespace baracuda {

// log2(x) of a normal number by the instruction.
BARACUDA_FN float log2_normal(float x) {
#if BARACUDA_ON_DEVICE
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return ::log2f(x);
#endif
}

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

// log(ndtr(x)): below 0 log(m) - x^2 / 2 for Mills' ratio m, elsewhere log(1 - tail). In f32 both are log(whole + part) for a whole
// of 0 or 1, the part not rounded to their sum's places. From -2^15 on down no logarithm counts beside the square.
template <class T> BARACUDA_FN compute_t<T> element_log_ndtr(compute_t<T> x) {
    if constexpr (sizeof(x) == 8) return log_ndtr(x);
    else {
        const bool is_below = x < 0.0f;
        const float a = min(abs(x), 0x1p15f);
        if constexpr (is_short<T>) {
            // 2^8 keeps the exponential a normal number; far up, where the instruction's error shows, the series takes two terms.
            const Fraction mills = short_mills<T>(a, 1.0f);
            const float ratio = element_quotient<T>(mills.over, mills.under);
            const float tail = ratio * exp2_normal(fma(a, a * -0.72134752f, 8.0f)) * 0x1p-8f;
            const float log = log2_normal(is_below ? ratio : 1.0f - tail) * 0.6931472f;
            const float y = is_below ? fma(x * -0.5f, x, log) : log;
            return x > 2.5f ? fma(tail, tail * -0.5f, -tail) : y;
        } else {
            // Twice the ratio, the inverse of a + over / under as one fraction; whole and part are twice theirs, too.
            const float over = polynomial(a, 0.738255f, 0.4916127f, 0.2371049f, 0.07450079f, 0.014788211f, 0.0014760965f);
            const float under = polynomial(a, 0.738255f, 0.6408253f, 0.2657674f, 0.058356937f, 0.0058275596f);
            const Rounded<float> parts = parted_quotient(under, fma(a, under, over));
            const float ratio = parts.value + parts.rest;
            const WholeExponential e = whole_decay(a, a * 0.5f, a * 0.72134752f);
            const float tail = parts.value + fma(ratio, e.less_one, parts.rest);
            const float part = is_below ? ratio : tail * lifted_power(e.count) * -0x1p-60f;
            const float whole = is_below ? 0.0f : 2.0f;
            // Their sum is 2^(power + 1) (1 + rest) for a rest from -0.395 to 0.21.
            const u32 power = (bit_cast<u32>(whole + part) - 0x3f9ae148u) & 0xff800000u;
            const float scale = bit_cast<float>(0x3f000000u - power);
            const float rest = fma(part, scale, fma(whole, scale, -1.0f));
            const float curve = polynomial(
                rest, -0.50000066f, 0.3333313f, -0.24988875f, 0.20030081f, -0.17105813f, 0.12880985f, -0.07897359f,
                0.30744085f);
            const float log = fma(rest * rest, curve, fma(float(i32(power)), 0x1.62e43p-24f, rest));
            return is_below ? fma(x * -0.5f, x, log) : min(log, -0.0f);  // the zero that a negative number rounds to
        }
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
