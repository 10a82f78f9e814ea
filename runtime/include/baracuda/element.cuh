// Functions to the precision of an element type T: of f16 and bf16 the compute type holds many more digits than a result
// shows, so that they get shorter polynomials and one instruction where one is.
//
// In 16 bits they are within 2^-13 of the exact value, relatively, in bf16 some within 2^-10; in f32 and f64 within two last
// places, of erfc three, of log_ndtr four. Nothing branches.
#pragma once
#include <baracuda/normal.cuh>
#include <baracuda/storage.cuh>

namespace baracuda {

template <class T> constexpr bool is_short = is_same<T, f16> || is_same<T, bf16>;
// exp(power + low) in f32 as (1 + less_one) * 2^count: of an integer the device's instruction gives the power of two exactly.
struct WholeExponential {
    float less_one, count;
};
// exp(rest) - 1 for |rest| <= 0.3475, to 0.2 last places of 1.
BARACUDA_FN float short_expm1(float rest) {
    return fma(rest * rest, polynomial(rest, 0.5f, 0.16666576f, 0.041666552f, 0.0083633335f, 0.0013926376f), rest);
}
// For a power of at most 80; from where on it leaves nothing of any product, it is that of this power.
BARACUDA_FN WholeExponential whole_exponential(float power, float low) {
    using Of = ExpOf<float>;
    const float near = max(power, -200.0f), count = fma(near, 1.442695f, Of::shift) - Of::shift;
    return {short_expm1(fma(count, -Of::low, fma(count, -Of::high, near)) + low), count};
}
BARACUDA_FN Exponential<double> whole_exponential(double power, double low) {
    return exponential(max(power, -1480.0), low);
}
// 2^(count + 60), which is a normal number down to where what is multiplied by it and 2^-60 has become 0.
BARACUDA_FN float lifted_power(float count) { return exp2_normal(count + 60.0f); }

// 1 / x, in 16 bits to within some last places of f32, for an x between 2^-120 and 2^120 in magnitude.
template <class T> BARACUDA_FN compute_t<T> element_inverse(compute_t<T> x) {
    if constexpr (is_short<T>) return rough_inverse(x);
    else return inverse_of_normal(x);
}

// x / y of two finite numbers, with the same range of y: Newton's step on the quotient spares a rounding.
template <class T> BARACUDA_FN compute_t<T> element_quotient(compute_t<T> x, compute_t<T> y) {
#if BARACUDA_ON_DEVICE
    if constexpr (sizeof(compute_t<T>) == 4) {
        const float inverse = rough_inverse(y), near = x * inverse;
        return is_short<T> ? near : fma(fma(-y, near, x), inverse, near);
    }
#endif
    return x / y;
}

// The same in f32 as a near value and what it lacks.
BARACUDA_FN Rounded<float> parted_quotient(float x, float y) {
    const float inverse = rough_inverse(y), near = x * inverse;
    return {near, fma(-y, near, x) * inverse};
}

// x * y * exp(power + low) for a power of at most 0, or of at most 25 beside an x that is no extreme. The exponential comes in
// parts, so that the product is right where it alone is no normal number, for any x and a y that is no extreme; an infinite x
// stays so. A low is small beside its power, and does not count in 16 bits; where there is none it is -0, which adds nothing.
template <class T>
BARACUDA_FN compute_t<T> element_exp_product(compute_t<T> x, compute_t<T> y, compute_t<T> power, compute_t<T> low = -0.0f) {
    using F = compute_t<T>;
    if constexpr (is_short<T>) {
        const float quarter = exp2_normal(max(power, -200.0f) * 0.36067376f);
        const float half = quarter * quarter;
        return (x * half) * (y * half);
    } else if constexpr (sizeof(F) == 4) {
        const WholeExponential e = whole_exponential(power, low);
        const float shifted = fma(e.count, 0.33333334f, ExpOf<F>::shift), third = shifted - ExpOf<F>::shift;
        const float part = bit_cast<float>((bit_cast<u32>(shifted) << 23) + 0x3f800000u);
        return (x * part) * part * (fma(y, e.less_one, y) * exp2_normal(fma(third, -2.0f, e.count)));
    } else {
        const Exponential<F> e = whole_exponential(power, low);
        const i32 quarter = e.power >> 2;
        const F part = ExpOf<F>::power(quarter);
        const F power_of_y = (y * part) * ExpOf<F>::power(e.power - 3 * quarter);
        return (x * part) * part * fma(power_of_y, e.less_one, power_of_y);
    }
}

// exp(power + low) for a power of at most 25, beside larger numbers: below the normal numbers it may be anything that small.
template <class T> BARACUDA_FN compute_t<T> element_exp_addend(compute_t<T> power, compute_t<T> low = -0.0f) {
    using F = compute_t<T>;
    if constexpr (is_short<T>) {
        const float half = exp2_normal(power * 0.72134752f);
        return half * half;
    } else if constexpr (sizeof(F) == 4) {
        const WholeExponential e = whole_exponential(power, low);
        const float lifted = lifted_power(e.count);
        return fma(lifted, e.less_one, lifted) * 0x1p-60f;
    } else {
        const Exponential<F> e = whole_exponential(power, low);
        const F whole = ExpOf<F>::power(max(e.power, -1022));
        return fma(whole, e.less_one, whole);
    }
}

// x * exp(power + low) for a power of at most 25 and an |x| of at most 2^36 (f64: 2^900; in 16 bits 2^12), right where the
// exponential alone is no normal number. In 16 bits it is element_exp_addend's: what that lacks below 2^-149 no result shows.
template <class T>
BARACUDA_FN compute_t<T> element_exp_times(compute_t<T> x, compute_t<T> power, compute_t<T> low = -0.0f) {
    using F = compute_t<T>;
    if constexpr (is_short<T>) {
        return x * element_exp_addend<T>(power);
    } else if constexpr (sizeof(F) == 4) {
        const WholeExponential e = whole_exponential(power, low);
        return fma(x, e.less_one, x) * lifted_power(e.count) * 0x1p-60f;
    } else {
        const Exponential<F> e = whole_exponential(power, low);
        return times_power(fma(x, e.less_one, x), max(e.power, -2044));
    }
}

// x * 2^(power + low) likewise, of which the whole part of the power is exact.
template <class T>
BARACUDA_FN compute_t<T> element_exp2_times(compute_t<T> x, compute_t<T> power, compute_t<T> low = -0.0f) {
    using F = compute_t<T>;
    if constexpr (is_short<T>) {
        const float half = exp2_normal(power * 0.5f);
        return x * (half * half);
    } else {
        const F near = max(power, F(sizeof(F) == 4 ? -200 : -2000)), shifted = near + ExpOf<F>::shift;
        const F count = shifted - ExpOf<F>::shift, rest = (near - count + low) * F(0.6931471805599453);
        if constexpr (sizeof(F) == 4) return fma(x, short_expm1(rest), x) * lifted_power(count) * 0x1p-60f;
        else return times_power(fma(x, fma(rest * rest, exp_curve(rest), rest), x), i32(count));
    }
}

// exp(-a * b) for a, b >= 0 and rate = b * log2(e), beside numbers that are not tiny, and x times it, lifted by 2^60 but in 16 bits: nothing
// is lost that a large factor brings back. The product is at most 2000, in 16 bits any, and its rounding is not magnified.
BARACUDA_FN WholeExponential whole_decay(float a, float b, float rate) {
    using Of = ExpOf<float>;
    const float count = fma(-a, rate, Of::shift) - Of::shift;
    return {short_expm1(fma(count, -Of::low, fma(-a, b, count * -Of::high))), count};
}
template <class T> BARACUDA_FN compute_t<T> element_decay(compute_t<T> a, compute_t<T> b, compute_t<T> rate) {
    if constexpr (is_short<T>) {
        const float half = exp2_normal(a * (rate * -0.5f));
        return half * half;
    } else if constexpr (sizeof(a) == 4) {
        const WholeExponential e = whole_decay(a, b, rate);
        const float lifted = lifted_power(e.count);
        return fma(lifted, e.less_one, lifted) * 0x1p-60f;
    } else {
        const double power = -a * b;
        return element_exp_addend<T>(power, fma(-a, b, -power));
    }
}
template <class T>
BARACUDA_FN compute_t<T> element_lifted_decay(compute_t<T> x, compute_t<T> a, compute_t<T> b, compute_t<T> rate) {
    if constexpr (is_short<T>) {
        return x * element_decay<T>(a, b, rate);
    } else if constexpr (sizeof(a) == 4) {
        const WholeExponential e = whole_decay(a, b, rate);
        return fma(x, e.less_one, x) * lifted_power(e.count);
    } else {
        const double power = -a * b;
        const Exponential<double> e = whole_exponential(power, fma(-a, b, -power));
        return times_power(fma(x, e.less_one, x), max(e.power, -2044) + 60);
    }
}

// x * exp(-a^2 / 2) for an |x| below 2^36, as element_exp_times has it, and an |a| of at most 60.
BARACUDA_FN float bell_times(float x, float a) {
    using Of = ExpOf<float>;
    const float half = a * -0.5f, count = fma(a * half, 1.442695f, Of::shift) - Of::shift;
    const float rest = fma(count, -Of::low, fma(a, half, count * -Of::high));  // the product is exact where it counts
    return fma(x, short_expm1(rest), x) * lifted_power(count) * 0x1p-60f;
}
BARACUDA_FN double bell_times(double x, double a) {
    const double half = a * -0.5, power = a * half;
    return element_exp_times<double>(x, power, fma(a, half, -power));
}

// x * y * exp(-a^2 / 2), as element_exp_product has it, for an |a| of at most 60.
template <class T> BARACUDA_FN compute_t<T> element_bell_product(compute_t<T> x, compute_t<T> y, compute_t<T> a) {
    using F = compute_t<T>;
    if constexpr (is_short<T>) {
        const float quarter = exp2_normal(max(a * (a * -0.18033688f), -72.0f)), half = quarter * quarter;
        return (x * half) * (y * half);
    } else {
        const F half = a * F(-0.5), power = a * half;
        return element_exp_product<T>(x, y, power, fma(a, half, -power));
    }
}

// exp(x) - 1; in 16 bits the difference has digits enough but near 0, where the series takes three terms.
template <class T> BARACUDA_FN compute_t<T> element_expm1(compute_t<T> x) {
    if constexpr (is_short<T>) {
        const float near = x * polynomial(x, 1.0f, 0.5f, 0.16666667f);
        return abs(x) < 0.0625f ? near : exp2_normal(x * 1.442695f) - 1.0f;
    }
    return expm1(x);
}

// The hyperbolic tangent; one instruction is within 2^-11 of it, relatively, which bf16 does not show.
template <class T> BARACUDA_FN compute_t<T> element_tanh(compute_t<T> x) {
#if BARACUDA_ON_DEVICE
    if constexpr (is_same<T, bf16>) {
        float y;
        asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
        return y;
    }
#endif
    return tanh(x);
}

// The angle of the point (b, a). In 16 bits the inverse tangent of the lesser size over the greater, whose places its
// polynomial in the square has; scaled, so that the quotient has a range that suffices.
template <class T> BARACUDA_FN compute_t<T> element_atan2(compute_t<T> a, compute_t<T> b) {
    if constexpr (is_short<T>) {
        const float up = abs(a), along = abs(b), greater = max(up, along), lesser = min(up, along);
        const float scale = limits<T>::max_value < 0x1p60f ? 1.0f : greater > 0x1p60f ? 0x1p-64f : 0x1p64f;
        const float quotient = element_quotient<T>(lesser * scale, max(greater * scale, 0x1p-100f));
        const float t = lesser == inf<float> ? 1.0f : quotient;
        const float curve =
            polynomial(t * t, 0.99999565f, -0.3329946f, 0.19563593f, -0.12123909f, 0.057477325f, -0.013480471f);
        const float acute = up > along ? 1.5707964f - t * curve : t * curve;
        return copysign(signbit(b) ? 3.1415927f - acute : acute, a);
    }
    return atan2(a, b);
}

// The square root; in 16 bits by one approximation, in the others the nearest.
template <class T> BARACUDA_FN compute_t<T> element_sqrt(compute_t<T> x) {
#if BARACUDA_ON_DEVICE
    if constexpr (is_short<T>) {
        float y;
        asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
        return y;
    }
#endif
    return sqrt(x);
}

// The square root of a normal number. In f32 the nearest one's step, without its branch for other numbers.
template <class T> BARACUDA_FN compute_t<T> element_root(compute_t<T> x) {
#if BARACUDA_ON_DEVICE
    if constexpr (sizeof(compute_t<T>) == 4) {
        float y;
        if constexpr (is_short<T>) {
            asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
            return y;
        }
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
        const float near = x * y;
        return fma(fma(-near, near, x), y * 0.5f, near);
    }
#endif
    return sqrt(x);
}

// 1 / sqrt(x)
template <class T> BARACUDA_FN compute_t<T> element_rsqrt(compute_t<T> x) {
#if BARACUDA_ON_DEVICE
    if constexpr (sizeof(compute_t<T>) == 4) return ::rsqrtf(x);
#endif
    return rsqrt(x);
}

// The error function; from 3.2 on it is 1 in 16 bits.
template <class T> BARACUDA_FN compute_t<T> element_erf(compute_t<T> x) {
    if constexpr (is_short<T>) {
        const float near = clamp(x, -3.2f, 3.2f), z = near * near;
        const float over = polynomial(z, 1.128381f, 0.15397435f, 0.043281276f, 7.540514e-4f);
        return element_quotient<T>(near * over, polynomial(z, 1.0f, 0.46982786f, 0.094817065f, 0.009328844f));
    }
    return erf(x);
}

// 1 - erf(x); in 16 bits exp(x^2) times the tail is a minimax fraction, as far as the tail is a number. In f32 half its inverse
// is a + over / under, as one fraction, whose parts share the rounding of one polynomial; 0.85 keeps them below a power of two.
template <class T> BARACUDA_FN compute_t<T> element_erfc(compute_t<T> x) {
    if constexpr (is_short<T>) {
        const float a = min(abs(x), is_same<T, bf16> ? 10.4f : 4.1f);
        float over, under;
        if constexpr (is_same<T, bf16>) {
            over = polynomial(a, 0.99937047f, 0.45478149f, 0.0009722457f);
            under = polynomial(a, 1.0f, 1.5669f, 0.83833917f);
        } else {
            over = polynomial(a, 1.0000065f, 0.7177628f, 0.21150914f);
            under = polynomial(a, 1.0f, 1.8464801f, 1.2922198f, 0.37337954f);
        }
        const float tail = element_exp_times<T>(element_quotient<T>(over, under), -a * a);
        return x < 0.0f ? 2.0f - tail : tail;
    } else if constexpr (sizeof(x) == 4) {
        const float a = min(abs(x), 11.0f);
        const float over =
            polynomial(a, 0.4273165f, 0.15575807f, -0.032088142f, -0.05876695f, -0.022156466f, -0.0031623712f);
        const float under = polynomial(a, 0.854633f, 1.0564318f, 0.6231182f, 0.19484441f, 0.02779272f);
        const float twice = element_quotient<T>(under, fma(a, under, over));
        const float tail = element_lifted_decay<T>(twice, a, a, a * 1.442695f) * 0x1p-61f;
        return x < 0.0f ? 2.0f - tail : tail;
    } else {
        return erfc(x);
    }
}

// Mills' ratio, ndtr(-a) exp(a^2 / 2), times a constant, in 16 bits: a minimax fraction for a <= 14.6, where the exponential
// has left nothing of the tail.
struct Fraction {
    float over, under;
};
template <class T> BARACUDA_FN Fraction short_mills(float a, float factor) {
    if constexpr (is_same<T, bf16>) {
        return {polynomial(a, 0.4996879f * factor, 0.16058276f * factor, 2.4550306e-4f * factor),
                polynomial(a, 1.0f, 1.1076185f, 0.41874012f)};
    } else {
        return {polynomial(a, 0.50001255f * factor, 0.27912911f * factor, 0.06288861f * factor),
                polynomial(a, 1.0f, 1.3569188f, 0.70460833f, 0.15747062f)};
    }
}

// x - a * ndtr(-a) for 0 <= a <= 60: less exp(-a^2 / 2) times a times Mills' ratio, which changes slowly. In 16 bits 2^8 lifts
// the exponential to a normal number wherever there is a result. In f32 the ratio's inverse is sqrt(2 pi) a and a quotient that
// is ever less beside it, written as one fraction, whose parts share the rounding of one polynomial; 7/8 keeps both below a
// power of two for a small a.
template <class T> BARACUDA_FN compute_t<T> element_less_tail_moment(compute_t<T> x, compute_t<T> a) {
    if constexpr (is_short<T>) {
        const Fraction mills = short_mills<T>(a, 0x1p-8f);
        return fma(-element_quotient<T>(a * mills.over, mills.under), exp2_normal(fma(a, a * -0.72134752f, 8.0f)), x);
    } else if constexpr (sizeof(a) == 4) {
        const float over = polynomial(a, 1.75f, 1.1041527f, 0.36497396f, 0.065614894f, 0.0054929634f);
        const float under = polynomial(a, 0.875f, 0.95057726f, 0.49586505f, 0.14975172f, 0.026187226f, 0.0021911638f);
        return x - bell_times(element_quotient<T>(a * under, fma(a * under, 2.5066283f, over)), a);
    } else {
        return x - bell_times(a * mills_ratio(a), a);
    }
}

// (ndtr(-a) - a exp(-a^2 / 2) / sqrt(2 pi)) exp(a^2 / 2), whose other factor is the derivative of a * ndtr(-a). Its root is
// taken out.
template <class T> BARACUDA_FN compute_t<T> element_mills_excess(compute_t<T> a) {
    if constexpr (sizeof(a) == 8) return mills_ratio(a) - a * 0.3989422804014327;
    else {
        const float to_root = 0.75179154f - a - 1.2114449e-08f;
        float over, under;
        if constexpr (is_short<T>) {
            over = polynomial(a, 0.66504745f, 0.48204958f, 0.11968343f);
            under = polynomial(a, 1.0f, 0.98936466f, 0.29973676f);
        } else {
            over = polynomial(a, 0.665078f, 0.7533147f, 0.37765247f, 0.095542304f, 0.010416643f);
            under = polynomial(a, 1.0f, 1.3982838f, 0.7925461f, 0.21986668f, 0.026110498f);
        }
        return to_root * over * element_inverse<T>(under);
    }
}

}  // namespace baracuda
