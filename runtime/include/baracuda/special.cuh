// What the headers of special functions are made of.
//
// They call no library but for log, log1p and tanh, so that most of them give equal bits on device and host. Their
// polynomials are interpolants at Chebyshev nodes, computed with 50 digits; float and double have their own.
#pragma once
#include <baracuda/math.cuh>

namespace baracuda {

// c0 + c1 t + c2 t^2 + ...
template <class F> BARACUDA_FN F polynomial(F, F last) { return last; }
template <class F, class... More> BARACUDA_FN F polynomial(F t, F first, F second, More... more) {
    return fma(t, polynomial(t, second, more...), first);
}

// What times_exp needs of a type: log(2) in two parts, the first with few bits (Cody and Waite, 1980); a number whose
// last bits, when another is added, are that one rounded to an integer; 2^n.
template <class F> struct ExpOf;
template <> struct ExpOf<float> {
    static constexpr float high = 0.693145751953125f, low = 1.4286068e-06f, shift = 0x1.8p23f;
    BARACUDA_FN static i32 bits(float x) { return __builtin_bit_cast(i32, x); }
    BARACUDA_FN static float power(i32 n) { return __builtin_bit_cast(float, u32(n + 127) << 23); }
};
template <> struct ExpOf<double> {
    static constexpr double high = 0.6931471803691238, low = 1.9082149292705877e-10, shift = 0x1.8p52;
    BARACUDA_FN static i32 bits(double x) { return i32(u32(__builtin_bit_cast(u64, x))); }
    BARACUDA_FN static double power(i32 n) { return __builtin_bit_cast(double, u64(n + 1023) << 52); }
};

// (exp(x) - 1 - x) / x^2 for |x| <= 0.35
BARACUDA_FN float exp_curve(float x) {
    return polynomial(x, 0.5f, 0.16666667f, 0.041666456f, 0.0083333105f, 0.0013934532f, 0.0001989197f);
}
BARACUDA_FN double exp_curve(double x) {
    return polynomial(
        x, 0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333325551, 0.0013888888888883332,
        0.00019841269876840357, 2.480158732699005e-05, 2.755725286336732e-06, 2.755727183153613e-07,
        2.5106262550879078e-08, 2.0915433598076003e-09);
}

// exp(high + low) as (1 + less_one) * 2^power, where |low| is far below 1 and |high| below 170 (f64: 1480).
template <class F> struct Exponential {
    F less_one;
    i32 power;
};
template <class F> BARACUDA_FN Exponential<F> exponential(F high, F low) {
    using Of = ExpOf<F>;
    const F shifted = fma(high, F(1.4426950408889634), Of::shift);
    const F count = shifted - Of::shift;
    const F rest = fma(count, -Of::high, high) + fma(count, -Of::low, low);
    return {fma(rest * rest, exp_curve(rest), rest), i32(u32(Of::bits(shifted)) - u32(Of::bits(Of::shift)))};
}

// The power of two comes last, so that no result is lost on the way, and a subnormal one is rounded in one place only.
template <class F> BARACUDA_FN F times_power(F x, i32 power) {
    const i32 half = power >> 1;
    return x * ExpOf<F>::power(half) * ExpOf<F>::power(power - half);
}

// factor * exp(high + low); the factor is no extreme.
template <class F> BARACUDA_FN F times_exp(F factor, F high, F low) {
    const Exponential<F> e = exponential(high, low);
    return times_power(fma(factor, e.less_one, factor), e.power);
}

// A number and what rounding took from it.
template <class F> struct Rounded {
    F value, rest;
};
template <class F> BARACUDA_FN Rounded<F> sum_of_larger(F larger, F smaller) {
    const F sum = larger + smaller;
    return {sum, smaller - (sum - larger)};
}
template <class F> BARACUDA_FN F times_exp(Rounded<F> factor, F high, F low) {
    const Exponential<F> e = exponential(high, low);
    return times_power(factor.value + fma(factor.value, e.less_one, factor.rest), e.power);
}

// 1 / x for an x between 2^-125 and 2^125: within a last place, by one instruction, and by the division's own steps on the
// device, without its branches.
BARACUDA_FN float rough_inverse(float x) {
#if BARACUDA_ON_DEVICE
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / x;
#endif
}
BARACUDA_FN float inverse_of_normal(float x) {
#if BARACUDA_ON_DEVICE
    const float y = rough_inverse(x);
    return fma(y, fma(-x, y, 1.0f), y);
#else
    return 1.0f / x;
#endif
}
BARACUDA_FN double inverse_of_normal(double x) { return 1.0 / x; }

// (a - k) / (a + k) for a >= 0, where polynomials cover the half line; a small a keeps its digits.
template <class F> BARACUDA_FN F folded(F a, F k) {
    const F finite = min(a, F(1e18));
    return F(2) * finite / (finite + k) - F(1);
}

// What a rounded square lacks of the square.
template <class F> BARACUDA_FN F square_error(F x, F rounded) { return fma(x, x, -rounded); }

}  // namespace baracuda
