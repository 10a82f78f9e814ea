// The normal distribution and what belongs to erfc.
#pragma once
#include <baracuda/special.cuh>

namespace baracuda {

// (a + 1/2) exp(a^2) erfc(a) for a >= 0, as a polynomial of t = (a - k) / (a + k), k = 4.3720703125.
// Shepherd and Laframboise (1981): one polynomial for the whole half line. This k makes the first coefficient exact.
BARACUDA_FN float erfcx_curve(float t) {
    return polynomial(
        t, 0.61341304f, -0.068806f, 0.014681648f, 0.024615217f, -0.044070758f, 0.045912188f, -0.036850154f,
        0.024198381f, -0.01311864f, 0.0058071576f, -0.0020073694f, 0.00040891257f, 4.7027752e-05f, -4.1062416e-05f);
}
BARACUDA_FN double erfcx_curve(double t) {
    return polynomial(
        t, 0.613413036243142, -0.06880600353973838, 0.014681761209557652, 0.024615231453324973, -0.04407258164596854,
        0.04591195387224654, -0.03683905226115301, 0.02419976647165706, -0.013151202371730862, 0.005803337235856728,
        -0.0019573249075797877, 0.00041413019693349606, 7.02746883895942e-06, -4.420919473878682e-05,
        1.4791761345493961e-05, 2.2838164359948179e-07, -1.789081489898379e-06, 4.281786935354217e-07,
        1.2978449751113456e-07, -8.151881180109555e-08, -3.950726008458925e-09, 1.1467915153072173e-08,
        -5.570819889723695e-10, -1.3271448398553442e-09, 8.222659860882783e-11, 9.604087510310965e-11);
}

// The same of Mills' ratio: (1 + 3/2 a) exp(a^2/2) ndtr(-a), k = 3.9365234375.
BARACUDA_FN float mills_curve(float t) {
    return polynomial(
        t, 0.66135055f, -0.059178438f, -0.04357222f, 0.08010423f, -0.063035525f, 0.029465089f, -0.0064896233f,
        -0.0011650897f, 0.0010811652f, -2.8323053e-05f, -0.00014195967f, 9.24451e-06f, 1.4330845e-05f);
}
BARACUDA_FN double mills_curve(double t) {
    return polynomial(
        t, 0.6613505466854155, -0.05917844435907269, -0.043572228807766074, 0.08010438050202025, -0.06303529981809781,
        0.02946387020139757, -0.006491482259148423, -0.0011608567659981755, 0.0010877507909464754,
        -3.553575822932098e-05, -0.00015362286304932977, 1.523180934647682e-05, 2.491829770449706e-05,
        -1.93974745928724e-06, -4.624757390381368e-06, -1.1343738579656395e-07, 8.880755616676983e-07,
        1.7150875962367354e-07, -1.5251847126577414e-07, -6.956370516970529e-08, 1.7589824354610652e-08,
        1.9093416260267934e-08, 4.767576084027161e-10, -3.5103316142916084e-09, -6.962969519338557e-10,
        3.2831639262845775e-10, 1.0508466700787052e-10);
}

template <class F> BARACUDA_FN F erfcx_of_positive(F a) {
    return erfcx_curve(folded(a, F(4.3720703125))) / (a + F(0.5));
}

// exp(x^2) erfc(x)
template <class F> BARACUDA_FN F erfcx(F x) {
    const F positive = erfcx_of_positive(abs(x));
    if (!(x < F(0))) return positive;
    const F a = max(x, F(sizeof(F) == 4 ? -12 : -28));  // far beyond, the result is infinite
    const F high = a * a;
    return times_exp(F(2), high, square_error(a, high)) - positive;
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
    const F below = x + F(0.75);
    return -(erfcx_slope_curve(folded(x, F(3.91015625))) / below) / below;
}

// ndtr(-a) / exp(-a^2/2) for a >= 0
template <class F> BARACUDA_FN F mills_ratio(F a) {
    return mills_curve(folded(a, F(3.9365234375))) / fma(a, F(1.5), F(1));
}
// normal_density(a) / ndtr(-a) for a >= 0; nothing overflows before it does.
template <class F> BARACUDA_FN F inverse_mills_ratio(F a) {
    return F(4 * 0.3989422804014327) * fma(a, F(0.375), F(0.25)) / mills_curve(folded(a, F(3.9365234375)));
}

// factor * exp(-a^2/2) for a >= 0
template <class F> BARACUDA_FN F times_bell(F factor, F a) {
    const F size = min(a, F(sizeof(F) == 4 ? 16 : 40));  // far beyond, the result is zero
    const F high = F(-0.5) * size * size;
    return times_exp(factor, high, fma(F(-0.5) * size, size, -high));
}

// exp(-x^2/2) / sqrt(2 pi)
template <class F> BARACUDA_FN F normal_density(F x) { return times_bell(F(0.3989422804014327), abs(x)); }

// exp(-x^2)
template <class F> BARACUDA_FN F gaussian(F x) {
    const F size = min(abs(x), F(sizeof(F) == 4 ? 11 : 28));  // far beyond, the result is zero
    const F high = size * size;
    return times_exp(F(1), -high, -square_error(size, high));
}

// (ndtr(x) - 1/2) / x as a polynomial of z = x^2 for |x| <= 3/4.
BARACUDA_FN float ndtr_curve(float z) {
    return polynomial(z, 0.3989423f, -0.0664903f, 0.009972361f, -0.0011813189f, 0.000102970516f);
}
BARACUDA_FN double ndtr_curve(double z) {
    return polynomial(
        z, 0.3989422804014327, -0.06649038006690544, 0.009973557010035243, -0.0011873282154673639,
        0.00011543468746461614, -9.444655251026647e-06, 6.659652604009616e-07, -4.121637794475137e-08,
        2.257799209608136e-09, -9.955441369415454e-11);
}

// The probability that a normal variable is at most x.
template <class F> BARACUDA_FN F ndtr(F x) {
    const F z = x * x;
    if (z <= F(0.5625)) return fma(x, ndtr_curve(z), F(0.5));
    const F tail = times_bell(mills_ratio(abs(x)), abs(x));
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
    const double off = (fma(-0.5 * a, a, -log_probability) + log(ratio)) * inverse_slope;
    return a + off / (1.0 + 0.5 * off * (1.0 / inverse_slope - a));
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
