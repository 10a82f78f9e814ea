// The derivatives of log gamma: digamma and trigamma.
//
// Up to 2 a polynomial, beyond it one of u = 1 / x, as the asymptotic series is; below 0 the reflection formula. The
// centers of the polynomials are such that the first coefficients are exact.
#pragma once
#include <baracuda/half_turns.cuh>

namespace baracuda {

// digamma(1 + y) / (y - root) for 0 <= y <= 1, and (log(x) - digamma(x)) * x for x >= 2.
BARACUDA_FN float digamma_curve(float y) {
    return polynomial(
        y - 0.50097656f, 0.9506424f, -0.42315805f, 0.24010842f, -0.1480346f, 0.09467907f, -0.061677795f, 0.040709f,
        -0.026932493f, 0.016816853f, -0.011137828f, 0.011142839f, -0.007476843f);
}
BARACUDA_FN double digamma_curve(double y) {
    return polynomial(
        y - 0.523681640625, 0.9411566431779236, -0.4124792746957256, 0.23031066179671564, -0.13974370213219683,
        0.08798737228038112, -0.05643527174996564, 0.03655743390391519, -0.02381152815777199, 0.015558201757890161,
        -0.010184057160213141, 0.006673388911559521, -0.0043756297369851775, 0.0028699163302203182,
        -0.0018834085753221001, 0.0012376033867031449, -0.0008083827663245861, 0.0005213434107347723,
        -0.0003605938830297188, 0.0002662154608813385, -0.00011764276453380142, 2.3297721400371698e-05,
        -0.00011631809554291396, 0.00011881232908510335);
}
BARACUDA_FN float digamma_tail_curve(float u) {
    return polynomial(
        u - 0.21875f, 0.51814383f, 0.082179606f, -0.0050914073f, -0.0067147175f, 0.0031519425f, 0.0013361681f,
        -0.0022369467f);
}
BARACUDA_FN double digamma_tail_curve(double u) {
    return polynomial(
        u - 0.265380859375, 0.5219642006342942, 0.0816622515982644, -0.005988285980740235, -0.006098692361031548,
        0.0033843444116154566, 0.0005833378900855461, -0.002200102862135346, 0.0014003346776277291,
        0.0005560439624281286, -0.002108254822215774, 0.002045911105347416, -2.0991763534791168e-05,
        -0.0030976465756236333, 0.005499967655842456, -0.005013469643805563, -0.004350306986124139,
        0.025335213367316454, -0.015000048088485093, -0.0356862006028065);
}

// trigamma(1 + y) for 0 <= y <= 1, and trigamma(x) * x for x >= 2.
BARACUDA_FN float trigamma_curve(float y) {
    return polynomial(
        y - 0.4572754f, 0.97154504f, -0.89232117f, 0.7841326f, -0.66525126f, 0.5486316f, -0.4421451f, 0.35026115f,
        -0.27393305f, 0.20615111f, -0.14803194f, 0.1300897f, -0.13124149f, 0.06891263f);
}
BARACUDA_FN double trigamma_curve(double y) {
    return polynomial(
        y - 0.49609375, 0.9380504725693656, -0.8343275233348258, 0.7113737728504546, -0.5863326138103446,
        0.4702018438477802, -0.36873480228234046, 0.2838991594642515, -0.21528214143506805, 0.16119171431016738,
        -0.11941221588459806, 0.0876671339097355, -0.0638681515648474, 0.04622303289489706, -0.03325988681441055,
        0.02381576506859681, -0.01699629470704947, 0.012062138580925173, -0.008428322409526968, 0.005979425563918806,
        -0.004632555353587882, 0.003159470866007634, -0.0011393784387947843, 0.0009422887292203318,
        -0.0022226259811341776, 0.0014459090369969415);
}
BARACUDA_FN float trigamma_tail_curve(float u) {
    return polynomial(
        u - 0.29174805f, 1.1598319f, 0.59420115f, 0.15178448f, -0.029925007f, -0.013834142f, 0.017341457f,
        -0.004094973f, -0.011144751f);
}
BARACUDA_FN double trigamma_tail_curve(double u) {
    return polynomial(
        u - 0.220458984375, 1.118253679096945, 0.5721261217767859, 0.15769822881794981, -0.02508497291949427,
        -0.020149662657862822, 0.018143703967191293, 0.00031257095293786823, -0.01413018932433606, 0.01286162405907737,
        0.0026447192301975093, -0.02122871900136817, 0.02572402504233156, -0.00185846111964796, -0.0489811421881912,
        0.09514607865600895, -0.06129979162586486, -0.130548437044286, 0.36054741218454633, -0.28163603379614444);
}

// Where digamma(1 + y) is 0, in two parts.
BARACUDA_FN float from_digamma_root(float y) { return (y - 0.46163213f) - 1.243815006546356e-08f; }
BARACUDA_FN double from_digamma_root(double y) { return (y - 0.46163214496836236) - -1.5522348162858677e-17; }

// digamma(a) of a >= 1, and digamma(1 + a) of 0 <= a < 1, for which 1 + a is not rounded.
template <class F> BARACUDA_FN F digamma_of_positive(F a) {
    if (a < F(2)) {
        const F y = a < F(1) ? a : a - F(1);
        return from_digamma_root(y) * digamma_curve(y);
    }
    const F u = F(1) / a;
    return log(a) - u * digamma_tail_curve(u);
}
template <class F> BARACUDA_FN F trigamma_of_positive(F a) {
    if (a < F(2)) return trigamma_curve(a < F(1) ? a : a - F(1));
    const F u = F(1) / a;
    return u * trigamma_tail_curve(u);
}

// (pi / sin(pi r))^2 - 1 / r^2 as a polynomial of z = r^2 for |r| <= 1/2.
BARACUDA_FN float cosecant_curve(float z) {
    return polynomial(
        z, 3.289868f, 6.4939365f, 10.173733f, 14.044874f, 18.262506f, 19.291983f, 43.268974f, -31.164074f, 137.84215f);
}
BARACUDA_FN double cosecant_curve(double z) {
    return polynomial(
        z, 3.289868133696453, 6.4939394022668155, 10.173430619849595, 14.05708298599876, 18.017902413715294,
        22.005410948633255, 26.001685989219716, 29.998407210918167, 34.032367580944616, 37.62927832325335,
        45.154221100724605, 26.118179416201528, 142.06612562348388, -252.4360718439089, 759.9464401283193,
        -951.6419999428362, 808.3435697604666);
}

// a less the nearest integer, and pi cot(pi r) for |r| <= 1/2.
template <class F> BARACUDA_FN F from_integer(F a) { return a - round(a); }
template <class F> BARACUDA_FN F pi_cotangent(F r) {
    const F size = abs(r);
    const bool far = size > F(0.25);
    const F q = far ? F(0.5) - size : size;
    const F sine = small_sine_over_pi(q), cosine = small_cosine(q);
    return copysign(far ? times_pi(times_pi(sine)) / cosine : cosine / sine, r);
}

// Derivative of log(|gamma(x)|): an infinity of the sign of -x at zero, NaN at the negative integers.
template <class F> BARACUDA_FN F digamma(F x) {
    const F a = abs(x);
    const F value = digamma_of_positive(a);
    if (x > F(0)) return a < F(1) ? value - F(1) / a : value;
    const F r = from_integer(a);
    if (r == F(0)) return x == F(0) ? -F(1) / x : nan<F>;
    return (a < F(1) ? value : value + F(1) / a) + pi_cotangent(r);
}

// 1 / r^2 and what rounding took from it; where the square is an extreme, nothing is known of that.
template <class F> BARACUDA_FN Rounded<F> inverse_square(F r) {
    const F inverse = F(1) / r, value = inverse * inverse;
    const F rest = fma(inverse, inverse, -value) + F(2) * value * fma(-inverse, r, F(1));
    return {value, abs(r) > F(1e-15) ? rest : F(0)};
}

// Derivative of digamma: infinite at zero and at the negative integers.
template <class F> BARACUDA_FN F trigamma(F x) {
    const F a = abs(x);
    const F value = trigamma_of_positive(a);
    if (a >= F(1) && x > F(0)) return value;
    const F r = x > F(0) ? a : from_integer(a);
    const Rounded<F> pole = inverse_square(r);
    if (x > F(0)) return pole.value + (pole.rest + value);
    return pole.value + (pole.rest + (cosecant_curve(r * r) - (a < F(1) ? value : value - square(F(1) / a))));
}

}  // namespace baracuda
