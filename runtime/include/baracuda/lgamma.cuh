// The logarithm of |gamma(x)|: polynomials, in f32 a fraction, up to 8 that keep the digits at its roots 1 and 2, Stirling's
// series beyond, the reflection formula below 0. The centers of the polynomials are such that the first coefficients are exact.
#pragma once
#include <baracuda/element_logs.cuh>
#include <baracuda/half_turns.cuh>

namespace baracuda {

// lgamma(a) / (1 - a) for 1/2 <= a <= 1.
BARACUDA_FN double lgamma_below_1(double a) {
    return polynomial(
        a - 0.73388671875, 0.8308922802806019, -1.1146722074923532, 0.7527195550939998, -0.7005801523790024,
        0.7355697400770458, -0.8207054663846175, 0.9495624110010041, -1.1256766665822977, 1.3581249990481377,
        -1.6607317491419873, 2.0525380791268657, -2.559024791847644, 3.213811654519671, -4.059082211063895,
        5.151620072987771, -6.6162168845863185, 8.584962152292404, -10.446355470201258, 11.90733382968497,
        -20.090513133401227, 38.89275298908829, -34.64325505271053);
}

// lgamma(1 + y) / (y (y - 1)) for 0 <= y <= 1.
BARACUDA_FN double lgamma_from_1(double y) {
    return polynomial(
        y - 0.46630859375, 0.4881191755102211, -0.150308290562907, 0.06619399436261518, -0.03368346576581568,
        0.01848212546836026, -0.010607497969485478, 0.006269051450891722, -0.003781404057969929, 0.002315284359392733,
        -0.0014339277515865007, 0.0008961603917985728, -0.0005642317366845055, 0.00035743993289676725,
        -0.00022750505717851447, 0.00014540633308722685, -9.399723499996744e-05, 6.128985113975537e-05,
        -3.740914718092722e-05, 2.154739526421032e-05, -1.838528876669866e-05, 1.7630826717270273e-05,
        -7.760660152513446e-06);
}

// lgamma(a) / (a - 2) for 2 <= a <= 4.
BARACUDA_FN double lgamma_from_2(double a) {
    return polynomial(
        a - 3.01220703125, 0.69594558652133, 0.22885463890333624, -0.031934011747384194, 0.006410426176535998,
        -0.0015049204927009437, 0.0003853995198165098, -0.00010424745313381876, 2.9263890553309662e-05,
        -8.435382669877151e-06, 2.4797857486247244e-06, -7.400276413138196e-07, 2.2345734206386492e-07,
        -6.812314894976735e-08, 2.092832081777619e-08, -6.45213373747113e-09, 2.0009266695548402e-09,
        -6.456035372281466e-10, 2.0592437126120026e-10, -4.908762656303583e-11, 1.3808952950791885e-11,
        -1.1005988220946184e-11, 3.824237590538785e-12);
}

// lgamma(a) for 4 <= a <= 8.
BARACUDA_FN double lgamma_from_4(double a) {
    return polynomial(
        a - 6.046875, 4.867664655332942, 1.714581359868849, 0.0898994114087553, -0.005373706291975392,
        0.00048056583261319434, -5.1440528947048036e-05, 6.102836157357943e-06, -7.738616735372965e-07,
        1.0279070990877326e-07, -1.4126552265133092e-08, 1.9924125872125237e-09, -2.867965162496882e-10,
        4.1963230291248135e-11, -6.2102549839639565e-12, 9.281443963720866e-13, -1.4384707286965456e-13,
        2.2518895116238577e-14, -2.7551913170491615e-15, 3.513883433016265e-16, -1.3399095877067672e-16,
        2.4778489873963067e-17);
}

// What Stirling's formula lacks, times a, for u = 1 / a <= 1/8.
BARACUDA_FN float lgamma_tail(float u) {
    return polynomial(
        u - 0.084228516f, 0.08331367f, -0.00046605433f, -0.0027444842f, 0.0002603306f, 0.0007571745f);
}
BARACUDA_FN double lgamma_tail(double u) {
    return polynomial(
        u - 0.10205078125, 0.08330448996598333, -0.0005636136118276965, -0.0027291283057995683, 0.0003118152124349952,
        0.0007066353389189943, -0.0003191941359753807, -0.0003876623707980589, 0.0004885274205391087,
        0.00019159649307904413, -0.0011297647407736897, -0.0006454281703108555);
}

// lgamma(1 + y) for 0 <= y <= 1; +0 at the roots
BARACUDA_FN double lgamma_of_1_and(double y) { return 0.0 - y * (1.0 - y) * lgamma_from_1(y); }

// lgamma(a) for a >= 8
template <class F> BARACUDA_FN F lgamma_from_8(F a) {
    const F u = F(1) / a;
    return fma(a - F(0.5), log(a) - F(1), fma(u, lgamma_tail(u), F(0.4189385332046727)));
}
BARACUDA_FN double lgamma_of_positive(double a) {
    if (a < 0.5) return lgamma_of_1_and(a) - log(a);
    if (a < 1.0) return (1.0 - a) * lgamma_below_1(a);
    if (a < 2.0) return lgamma_of_1_and(a - 1.0);
    if (a < 4.0) return (a - 2.0) * lgamma_from_2(a);
    if (a < 8.0) return lgamma_from_4(a);
    return lgamma_from_8(a);
}

// Infinite at zero and at the negative integers.
BARACUDA_FN double lgamma(double x) {
    const double a = abs(x);
    if (x > 0.0) return lgamma_of_positive(a);
    const double size = abs(a - round(a));
    if ((size == 0.0) | (a == inf<double>)) return inf<double>;
    const double sine_over_pi = size > 0.25 ? small_cosine(0.5 - size) * 0.3183098861837907 : small_sine_over_pi(size);
    // A tiny number has no square: the factor a and gamma(a) become gamma(1 + a).
    if (a < 0.5) return -(log(sine_over_pi) + lgamma_of_1_and(a));
    return -(log(a * sine_over_pi) + lgamma_of_positive(a));
}

// sin(pi r) / pi for |r| <= 1/2
BARACUDA_FN float wide_sine_over_pi(float r) {
    const float z = r * r;
    return r * fma(z, wide_sine_curve(z), 1.0f);
}

// log(x) of a positive normal number, within 1.6 last places.
BARACUDA_FN float log_of_normal(float x) {
    const u32 bits = bit_cast<u32>(x), power = (bits - 0x3f2aaaabu) & 0xff800000u;
    const float past = bit_cast<float>(bits - power) - 1.0f;
    const float curve = polynomial(
        past, -0.4999988f, 0.33332995f, -0.25011006f, 0.20020442f, -0.16365282f, 0.13867141f, -0.15629005f,
        0.14584683f);
    return fma(float(i32(power)), 8.262958e-08f, fma(past * past, curve, past));
}

// Of an |x| of at least 8, a subnormal number or a pole.
BARACUDA_RARE float far_lgamma(float x) {
    const float a = abs(x);
    if (a < 8.0f) return a < 0.5f ? -log(a) : inf<float>;
    const float of_positive = lgamma_from_8(a), rest = abs(a - round(a));
    if (x > 0.0f) return of_positive;
    return (rest == 0.0f) | (a == inf<float>) ? inf<float> : -(log(a * wide_sine_over_pi(rest)) + of_positive);
}

// Of an |x| below 8 without a branch: lgamma(1 + y) over y (y - 1) less 1/4, which spares digits, is a minimax fraction for
// -3/8 <= y <= 7, and one logarithm has all that a small x and the reflection formula multiply gamma by.
BARACUDA_FN float lgamma(float x) {
    const float a = abs(x), rest = abs(a - round(a));
    const bool has_formula = (a < 8.0f) & (max(x, rest) >= limits<float>::smallest_normal);
    if (!has_formula) return far_lgamma(x);
    const bool positive = x > 0.0f, small = a < 0.625f;
    const float sine_over_pi = wide_sine_over_pi(rest), y = small ? a : a - 1.0f, roots = fma(y, y, -y);
    const float factor = positive ? (small ? a : 1.0f) : (small ? sine_over_pi : a * sine_over_pi);
    const float over = polynomial(y, 0.4014578f, 0.46485856f, 0.08515511f, -0.026941592f, -0.00403333f, -5.453899e-06f);
    const float under = polynomial(y, 1.2268904f, 2.3402147f, 1.4314591f, 0.3106548f, 0.018179687f);
    const float curve = element_quotient<float>(over, under) + 0.25f;
    return fma(positive ? roots : -roots, curve, -log_of_normal(factor));
}

// The same to the precision of an element type, as element.cuh has it. In 16 bits, of all x without a branch: Stirling's formula at
// a or, of what is not large, at a + 2; and Euler's reflection, whose factor a meets that of gamma(a + 2) = a (a + 1) gamma(a).
template <class T> BARACUDA_FN compute_t<T> element_lgamma(compute_t<T> x) {
    if constexpr (is_short<T>) {
        const float a = abs(x), rest = abs(a - round(a)), sine_over_pi = wide_sine_over_pi(rest);
        const bool positive = x > 0.0f, far = a > 8.0f;
        const float b = far ? a : a + 2.0f, u = element_inverse<T>(b);
        const float tail = u * polynomial(u * u, 0.083333336f, -0.0027777778f, 7.936508e-4f);
        const float stirling = fma(b - 0.5f, element_log<T>(b) - 1.0f, tail + 0.41893854f);
        const float less = stirling - element_log<T>(far ? 1.0f : a + 1.0f);
        const float factor = positive ? (far ? 1.0f : a) : (far ? a * sine_over_pi : sine_over_pi);
        const float y = (positive ? less : -less) - element_log<T>(factor);
        if ((!positive & (rest == 0.0f)) | (a == inf<float>)) return inf<float>;
        if constexpr (is_same<T, bf16>) return positive & ((a == 1.0f) | (a == 2.0f)) ? 0.0f : y;
        // The difference has too few digits for f16 around the roots.
        const float t = a - 1.5f, near = polynomial(
            t, 0.48314211f, -0.14598767f, 0.062322404f, -0.030754629f, 0.020596725f, -0.012095595f);
        return positive & (abs(t) < 0.625f) ? (a - 1.0f) * (a - 2.0f) * near : y;
    }
    return lgamma(x);
}

}  // namespace baracuda
