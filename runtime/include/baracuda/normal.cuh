// The normal distribution and what belongs to erfc.
#pragma once
#include <baracuda/special.cuh>

namespace baracuda {

// (a + s) exp(a^2) erfc(a) for a >= 0 as middle + t * steepness, a polynomial of t = (a - k) / (a + k).
// Shepherd and Laframboise (1981): one polynomial for the whole half line. This s, nearly sqrt(pi) / 2, makes it level at
// a = 0, where t is rounded most, and s sqrt(2) is nearly a number of either type; this k makes the middle one.
template <class F> constexpr F erfcx_middle = F(0.6704998609381518);
BARACUDA_FN float erfcx_steepness(float t) {
    return polynomial(
        t, -0.17104469f, 0.09162699f, -0.027987013f, -0.009712616f, 0.023067577f, -0.020944014f, 0.013132655f,
        -0.006061737f, 0.0019189345f, -0.00024403905f, -0.00010791088f, 4.5585683e-05f);
}
BARACUDA_FN double erfcx_steepness(double t) {
    return polynomial(
        t, -0.17104469260751612, 0.09162697155668578, -0.02798681305835302, -0.009712209338223983,
        0.023065892263206676, -0.02094728240935433, 0.013138993314810884, -0.006050407734235776, 0.0019065684173550797,
        -0.000263301126289863, -9.475106333325402e-05, 6.164119290486817e-05, -7.5517995087547036e-06,
        -5.558831312565724e-06, 2.224655416028038e-06, 3.130724187572633e-07, -3.576419570086663e-07,
        2.4375820331125664e-09, 5.072475699249605e-08, -4.33686665876829e-09, -6.300378174293061e-09,
        7.982646904313484e-10, 4.943788259825728e-10, -7.084665018600571e-11);
}

// k and s of erfcx, and those of Mills' ratio, which is erfcx(a / sqrt(2)) / 2.
template <class F> struct ErfcxOf {
    static constexpr F k = F(3.94921875), s = F(0.88623046875);
    static constexpr F mills_k = F(5.585038717028121), mills_s = F(1.2533191482945154);
};

// The curve at an a of at most 1e18, and 1 / (a + s); both by one division.
template <class F> struct ErfcxParts {
    Rounded<F> curve;
    F inverse;
};
template <class F> BARACUDA_FN ErfcxParts<F> erfcx_parts(F a, F k, F s) {
    const F far = a + k, near = a + s, inverse = inverse_of_normal(far * near);
    const F t = (a - k) * (near * inverse);
    return {sum_of_larger(erfcx_middle<F>, t * erfcx_steepness(t)), far * inverse};
}
// x - value * (a + s) for a value near x / (a + s), where the rounding of neither factor counts.
template <class F> BARACUDA_FN F quotient_error(F x, F value, F a, F s) { return fma(-value, s, fma(-value, a, x)); }

template <class F> BARACUDA_FN Rounded<F> erfcx_of_positive(F a) {
    constexpr F s = ErfcxOf<F>::s;
    const ErfcxParts<F> parts = erfcx_parts(a, ErfcxOf<F>::k, s);
    const F curve = parts.curve.value, value = curve * parts.inverse;
    return {value, (quotient_error(curve, value, a, s) + parts.curve.rest) * parts.inverse};
}

// exp(x^2) erfc(x)
template <class F> BARACUDA_FN F erfcx(F x) {
    const F size = abs(x);
    if (size > F(1e18)) return x > F(0) ? F(0.5641895835477563) / x : inf<F>;
    const Rounded<F> split = erfcx_of_positive(size);
    const F positive = split.value + split.rest;
    if (!(x < F(0))) return positive;
    const F a = max(x, F(sizeof(F) == 4 ? -12 : -28));  // far beyond, the result is infinite
    const F high = a * a;
    return times_exp(F(2), high, square_error(a, high)) - positive;
}

// 1 - erf(x)
template <class F> BARACUDA_FN F erfc(F x) {
    const F a = min(abs(x), F(sizeof(F) == 4 ? 11 : 28));  // far beyond, the tail is zero
    const F high = a * a;
    const F tail = times_exp(erfcx_of_positive(a), -high, -square_error(a, high));
    return x < F(0) ? F(2) - tail : tail;
}

// The same of -erfcx'(a) (a + 3/4)^2, k = 3.91015625: 2 a erfcx(a) - 2 / sqrt(pi) has no digits left for a large a.
BARACUDA_FN float erfcx_slope_curve(float t) {
    return polynomial(
        t, 0.7333147f, -0.2347971f, 0.037557885f, 0.10242456f, -0.14453936f, 0.1096919f, -0.04866702f, 0.0026305409f,
        0.015472003f, -0.014130993f, 0.006696374f, -0.0012958678f, -0.00036962645f, 0.00021511187f, -1.3519913e-05f);
}
BARACUDA_FN double erfcx_slope_curve(double t) {
    return polynomial(
        t, 0.7333146944786585, -0.23479708101699276, 0.03755787697510656, 0.1024236734446653, -0.1445390746427427,
        0.10970153882017328, -0.0486701246954749, 0.00258421545582154, 0.015487140724417044, -0.014015891816485744,
        0.006657870404644615, -0.0014509439414535036, -0.0003155347577906857, 0.00032470622693212583,
        -5.5123148848897374e-05, -3.4452762408533456e-05, 1.6300956492999838e-05, 2.4522000418857924e-06,
        -3.0383838691901282e-06, -4.629212126326661e-08, 5.189698056556135e-07, -2.3888991486725996e-08,
        -8.53249014943663e-08, 5.048742935880752e-09, 1.1956966575010124e-08, -4.496585336547126e-10,
        -9.929730099723663e-10);
}

// The derivative of erfcx.
template <class F> BARACUDA_FN F erfcx_slope(F x) {
    if (x < F(0)) return F(2) * x * erfcx(x) - F(1.1283791670955126);
    const Rounded<F> below = sum_of_larger(max(x, F(0.75)), min(x, F(0.75)));
    const F value = erfcx_slope_curve(folded(x, F(3.91015625))) / below.value / below.value;
    return x < F(1e18) ? fma(value, F(2) * below.rest / below.value, -value) : -value;
}

// ndtr(-a) / exp(-a^2/2) for 0 <= a <= 1e18
template <class F> BARACUDA_FN Rounded<F> split_mills_ratio(F a) {
    constexpr F s = ErfcxOf<F>::mills_s, root = F(0.7071067811865476);
    constexpr F root_rest = F(sizeof(F) == 4 ? 1.2101617104478969e-8 : -4.833646656726457e-17);
    const ErfcxParts<F> parts = erfcx_parts(a, ErfcxOf<F>::mills_k, s);
    const F curve = parts.curve.value, product = curve * root, value = product * parts.inverse;
    const F rest = fma(parts.curve.rest, root, fma(curve, root_rest, fma(curve, root, -product)));
    return {value, (quotient_error(product, value, a, s) + rest) * parts.inverse};
}
template <class F> BARACUDA_FN F mills_ratio(F a) {
    const Rounded<F> split = split_mills_ratio(min(a, F(1e18)));
    return split.value + split.rest;
}
// normal_density(a) / ndtr(-a) for a >= 0; beyond 1e18 it rounds to a.
template <class F> BARACUDA_FN F inverse_mills_ratio(F a) {
    const F t = (a - ErfcxOf<F>::mills_k) / (a + ErfcxOf<F>::mills_k);
    const F curve = fma(t, erfcx_steepness(t), erfcx_middle<F>);
    return a > F(1e18) ? a : (a + ErfcxOf<F>::mills_s) / curve * F(0.5641895835477563);
}

// |x|, or a size from where on nothing is left of exp(-x^2/2).
template <class F> BARACUDA_FN F bell_size(F x) { return min(abs(x), F(sizeof(F) == 4 ? 16 : 40)); }
// factor * exp(-a^2/2) for an a of bell_size
template <class F, class Factor> BARACUDA_FN F times_bell(Factor factor, F a) {
    const F high = F(-0.5) * a * a;
    return times_exp(factor, high, fma(F(-0.5) * a, a, -high));
}

// exp(-x^2/2) / sqrt(2 pi)
template <class F> BARACUDA_FN F normal_density(F x) { return times_bell(F(0.3989422804014327), bell_size(x)); }

// exp(-x^2)
template <class F> BARACUDA_FN F gaussian(F x) {
    const F size = min(abs(x), F(sizeof(F) == 4 ? 11 : 28));  // far beyond, the result is zero
    const F high = size * size;
    return times_exp(F(1), -high, -square_error(size, high));
}

// (ndtr(x) - 1/2) / x as a polynomial of z = x^2 for |x| <= 1.
BARACUDA_FN float ndtr_curve(float z) {
    return polynomial(z, 0.3989423f, -0.06649036f, 0.009973329f, -0.001186344f, 0.0001135023f, -7.660538e-06f);
}
BARACUDA_FN double ndtr_curve(double z) {
    return polynomial(
        z, 0.3989422804014327, -0.06649038006690544, 0.009973557010035806, -0.001187328215480253,
        0.00011543468761421087, -9.444656248413156e-06, 6.659693114915888e-07, -4.122657837266453e-08,
        2.2733770173468317e-09, -1.1285002144059668e-10, 5.003033458919368e-12, -1.6878231631896875e-13);
}

// The probability that a normal variable is at most x.
template <class F> BARACUDA_FN F ndtr(F x) {
    const F z = x * x;
    if (z <= F(1)) return fma(x, ndtr_curve(z), F(0.5));
    const F a = bell_size(x);
    const F tail = times_bell(split_mills_ratio(a), a);
    return x > F(0) ? F(1) - tail : tail;
}

template <class F> BARACUDA_FN F log_ndtr(F x) {
    if (x < F(-0.75)) return fma(F(-0.5) * x, x, log(mills_ratio(-x)));
    return x < F(0) ? log(ndtr(x)) : log1p(-ndtr(-x));
}

// The derivative of log_ndtr: normal_density(x) / ndtr(x).
template <class F> BARACUDA_FN F log_ndtr_slope(F x) {
    return x < F(-0.75) ? inverse_mills_ratio(-x) : normal_density(x) / ndtr(x);
}

// As Wichura's AS 241 (1988) does, ndtri is odd around 1/2 in the middle, and in the tails a function of sqrt(-log(p)).
// ndtri(q + 1/2) / q as a polynomial of u = q^2 - 0.109130859375 for q^2 <= 0.180625 (f64: 0.051025390625, 1/8).
BARACUDA_FN float ndtri_curve(float u) {
    return polynomial(
        u, 2.8925347f, 4.8767967f, 18.359848f, 86.87404f, 458.1007f, 2570.568f, 15028.586f, 91791.53f, 575892.25f,
        3251172.2f, 16674091.0f, 149677340.0f, 1623575600.0f, 9685597000.0f, 22297004000.0f);
}
BARACUDA_FN double ndtri_curve(double u) {
    return polynomial(
        u, 2.6580586255037955, 3.367767348663784, 9.171199431726919, 31.04341208541168, 116.57678771685148,
        465.23098105585103, 1932.2478451323666, 8254.756135922848, 36012.53177157693, 159676.67373099667,
        717183.1479862487, 3254602.8817420914, 14899857.080784013, 69040841.20191719, 319371409.8841629,
        1387250304.3388894, 7364959360.113149, 51586506067.9198, 11510874621.077553, -631790216401.6349,
        19807463725824.44);
}

// With p = exp(-r^2), float: -ndtri(p) / r as a polynomial of 1 / r - 0.3515625 for r >= 1.6. Double, and only a
// millionth right: -ndtri(p) / (r + 2) as one of 2 / (r + 2) - 0.3125 for r >= 1.38.
BARACUDA_FN float ndtri_tail_curve(float u) {
    return polynomial(
        u, 1.2044361f, -0.9693179f, -0.77356255f, 0.49007732f, -0.44865867f, 0.52561045f, -0.766576f, 1.4501159f,
        -2.312333f, 0.034055762f, -4.355694f, 59.734886f, -104.32107f);
}
BARACUDA_FN double ndtri_tail_curve(double u) {
    return polynomial(
        u, 0.9019279482055698, -1.8573930716509586, -0.7785087142747702, -0.44789241502978366, -0.6080857001963683,
        -0.39918717176568186, -0.7918688533380563, 0.10097374817214984, -3.092570539735692);
}
// -ndtri of the tail's probability
BARACUDA_FN float ndtri_tail(float probability) {
    const float r = sqrt(-log(probability));
    return r * ndtri_tail_curve(1.0f / r - 0.3515625f);
}
BARACUDA_FN double ndtri_tail(double probability) {
    const double log_probability = log(probability);
    const double r = sqrt(-log_probability);
    const double a = (r + 2.0) * ndtri_tail_curve(2.0 / (r + 2.0) - 0.3125);
    // Halley's step on the logarithm, which no tail loses.
    const double ratio = mills_ratio(a);
    const double inverse_slope = 2.5066282746310007 * ratio;
    const double missed = (fma(-0.5 * a, a, -log_probability) + log(ratio)) * inverse_slope;
    return a + missed / (1.0 + 0.5 * missed * (1.0 / inverse_slope - a));
}

// The inverse of ndtr.
template <class F> BARACUDA_FN F ndtri(F p) {
    const F q = p - F(0.5);
    constexpr bool narrow = sizeof(F) == 4;
    if (q * q <= F(narrow ? 0.180625 : 0.125)) {
        return q * ndtri_curve(fma(q, q, F(narrow ? -0.109130859375 : -0.051025390625)));
    }
    const F size = q < F(0) ? p : F(1) - p;
    if (!(size > F(0))) return size == F(0) ? copysign(inf<F>, q) : nan<F>;
    return copysign(ndtri_tail(size), q);
}

}  // namespace baracuda
