// Modified Bessel functions of the first kind, orders 0 and 1; those with an e are scaled: times exp(-|x|).
//
// As in Cephes, a polynomial gives the function below a split, here 3.5, one of 1 / x the scaled function beyond it.
// Each gets the exponential that it lacks. The centers of the polynomials are such that first coefficients are exact.
#pragma once
#include <baracuda/special.cuh>

namespace baracuda {

template <class F> constexpr F bessel_split = F(3.5);
// Where i0 and i1 are infinite for certain.
template <class F> constexpr F bessel_limit = F(sizeof(F) == 4 ? 100 : 725);

// (i0 - 1) / y and (i1 / x - 1/2) / y with y = x^2 / 4, and i0 - i1.
BARACUDA_FN float i0_small_curve(float y) {
    return polynomial(y, 1.0f, 0.25f, 0.027777813f, 0.0017360406f, 6.950976e-05f, 1.8981132e-06f, 4.651886e-08f);
}
BARACUDA_FN double i0_small_curve(double y) {
    return polynomial(
        y, 1.0, 0.24999999999999997, 0.027777777777778304, 0.0017361111111084317, 6.944444445143626e-05,
        1.929012335041812e-06, 3.9367608972419565e-08, 6.151126042358323e-10, 7.596447035245801e-12,
        7.536469841944491e-14, 7.053331169366054e-16);
}
BARACUDA_FN float i1_small_curve(float y) {
    return polynomial(
        y, 0.25f, 0.041666668f, 0.003472224f, 0.00017360724f, 5.7906227e-06f, 1.3608822e-07f, 2.8545353e-09f);
}
BARACUDA_FN double i1_small_curve(double y) {
    return polynomial(
        y, 0.25, 0.041666666666666664, 0.0034722222222222424, 0.00017361111111100877, 5.787037037304096e-06,
        1.3778659571358513e-07, 2.4604753158732224e-09, 3.417302872404568e-11, 3.7979423768229706e-13,
        3.4298146262470585e-15, 2.91275310005408e-17);
}
BARACUDA_FN float i0_less_i1_small(float a) {
    return polynomial(
        a - 1.8212890625f, 0.6737088f, 0.06432809f, 0.11658048f, 0.0024760843f, 0.0059646973f, -1.8685183e-05f,
        0.0001452363f, -1.9512354e-06f, 2.05775e-06f, -4.14354e-08f, 2.066953e-08f);
}
BARACUDA_FN double i0_less_i1_small(double a) {
    return polynomial(
        a - 1.8046875, 0.6726729698002688, 0.060459189881531566, 0.11646702008605103, 0.00207991721944091,
        0.005966856610620383, -3.314780921492092e-05, 0.00014546944045496526, -2.2366821346767796e-06,
        2.0696482976283128e-06, -4.113567789255983e-08, 1.92766421576399e-08, -4.2255505045274145e-10,
        1.2658033524141223e-10, -2.876394680486801e-12, 6.166588386004013e-13, -1.400480697806912e-14,
        2.4166326240732217e-15, -6.186190815150323e-17);
}

// Scaled i0 times x^(1/2), scaled i1 times x^(1/2), and scaled i0 - i1, which loses nothing here, times x^(3/2).
BARACUDA_FN float i0_tail(float u) {
    return polynomial(
        u - 0.167724609375f, 0.4082927f, 0.06343321f, 0.06246576f, 0.1382503f, 0.06658276f, -2.7166917f, -7.6148243f,
        69.5582f, 216.37424f, -1984.0177f, -6088.0815f, 31581.295f, 114135.12f);
}
BARACUDA_FN double i0_tail(double u) {
    if (u < 1.0 / 9.0) {
        return polynomial(
            u - 0.0283203125, 0.4003777436382943, 0.05153127991091252, 0.030771535638524205, 0.035136794921313365,
            0.06100501104149244, 0.14516559333456022, 0.44665250568987763, 1.7122813179846355, 7.964332034445156,
            48.2846750127209, 304.38532360834665, -5398.472705087066, 155616.93445249295, 7939664.711736805,
            -287923678.21494615, -1273574336.100398, 225857210092.56104, -3279840227004.2163, -34340169959139.36,
            1618497338962029.5, -2.2226700722166936e+16, 1.5869772195582125e+17, -6.000341623380444e+17,
            9.564868507648732e+17);
    }
    return polynomial(
        u - 0.195556640625, 0.41010954716858977, 0.06722863951142119, 0.07368625508235732, 0.12290847167292082,
        -0.33934517353422733, -2.7415012105211796, 5.458745866995691, 44.56273296353664, -215.15896396082428,
        -204.65831908075842, 5330.143846228422, -19821.259328271168, -17011.797221252196, 530406.6918971648,
        -2665137.832703946, 4365308.460807729, 32207642.12626079, -348201103.08979535, 1715009626.4799066,
        -475608164.9993715, -42704154725.23041, 154291312942.12476);
}
BARACUDA_FN float i1_tail(float u) {
    return polynomial(
        u - 0.125732421875f, 0.3792922f, -0.1639975f, -0.072311155f, -0.12143386f, -0.38894826f, -0.5314613f,
        10.922494f, 62.33822f, -275.94214f, -1979.0991f, 7619.1846f, 28706.91f, -121083.766f);
}
BARACUDA_FN double i1_tail(double u) {
    if (u < 1.0 / 9.0) {
        return polynomial(
            u - 0.079345703125, 0.38675441176900394, -0.15793904625012878, -0.059461973525764, -0.07093868880916748,
            -0.1606976581364759, -0.6313762847241122, -3.788191423539874, -20.22892811891831, 86.12854826556884,
            3575.8426812881216, 21568.189570733517, -333560.21726586804, -3859020.4374301382, 43893297.82990392,
            458200716.628457, -11151352330.947796, -74830278134.04274, 3348877011073.0605, 42863626285334.03,
            -347105007892273.4, -1.2103214170787134e+16, -1.1736799456434627e+17, -5.350257737979134e+17,
            -9.82656648012728e+17);
    }
    return polynomial(
        u - 0.17431640625, 0.3711377909352401, -0.17205535297057983, -0.09499738903290081, -0.1779509948223064,
        -0.02910770581476919, 3.178174406657586, 5.091860402373575, -75.03881861075675, 12.521285664845571,
        1858.8707928257331, -7286.27431848738, -17233.16096548119, 285278.48134424374, -1100616.9596066414,
        -1481493.1443139326, 40912964.795475565, -225772285.40092927, 320019738.7396949, 4126383911.398028,
        -33386089567.76542, 112452578421.25412, -153258007057.28546);
}
BARACUDA_FN float i0_less_i1_tail(float u) {
    return polynomial(
        u - 0.147216796875f, 0.21249473f, 0.10756024f, 0.19022325f, 0.59610933f, 0.26934525f, -20.051579f, -70.682076f,
        765.3924f, 2428.1787f, -39625.523f, -36585.113f, 1887962.0f, -894629.9f, -65365308.0f, 53955212.0f,
        1384058600.0f, -774615300.0f, -13216325000.0f);
}
BARACUDA_FN double i0_less_i1_tail(double u) {
    if (u < 1.0 / 9.0) {
        return polynomial(
            u - 0.0546875, 0.2037904066251867, 0.08354900636003805, 0.09160810917996987, 0.1686035177126123,
            0.4575134108350313, 1.736576133679505, 9.128305787162, 67.8220992194781, 687.0883576650509,
            7242.753783925062, 26333.962122780853, -1516337.0698045976, -38997769.62923512, -163118616.41838795,
            9588157259.507, 133424667445.54584, -1793691551669.081, -43694823740897.19, 300325324400856.06,
            1.0671137471105298e+16, -4.413317195361877e+16, -1.996814658306531e+18, 5.101610640509332e+18,
            2.6736513763843182e+20, -3.9120013073395424e+20, -2.2491835862233878e+22, 1.4392033617302685e+22,
            8.840789769604463e+23);
    }
    return polynomial(
        u - 0.208984375, 0.21998933064552442, 0.1365934893508935, 0.2582431593784686, -0.07228021540376119,
        -4.533721957166997, -1.170235726595562, 86.97538707118512, -181.1160454191058, -1145.3981404548422,
        8196.411569250757, -13453.806350247893, -103285.62874475637, 834873.7926245747, -2564471.93447057,
        -2442409.1212292407, 70484026.44210817, -397923385.3599023, 991435292.293859, 1229947954.2055213,
        -17142812492.771019, 210447556357.08154, -1818470327029.4243, -1341589500959.614, 50128717186760.86);
}

template <class F> BARACUDA_FN F i0_small(F a) {
    const F y = F(0.25) * a * a;
    return fma(y, i0_small_curve(y), F(1));
}
template <class F> BARACUDA_FN F i1_over_x_small(F a) {
    const F y = F(0.25) * a * a;
    return fma(y, i1_small_curve(y), F(0.5));
}
template <class F> BARACUDA_FN F scaled_i0_tail(F a) {
    const F u = F(1) / a;
    return sqrt(u) * i0_tail(u);
}
template <class F> BARACUDA_FN F scaled_i1_tail(F a) {
    const F u = F(1) / a;
    return sqrt(u) * i1_tail(u);
}

template <class F> BARACUDA_FN F i0(F x) {
    const F a = min(abs(x), bessel_limit<F>);
    return a < bessel_split<F> ? i0_small(a) : times_exp(scaled_i0_tail(a), a, F(0));
}
template <class F> BARACUDA_FN F i0e(F x) {
    const F a = abs(x);
    return a < bessel_split<F> ? times_exp(i0_small(a), -a, F(0)) : scaled_i0_tail(a);
}
template <class F> BARACUDA_FN F i1(F x) {
    const F a = min(abs(x), bessel_limit<F>);
    return a < bessel_split<F> ? x * i1_over_x_small(a) : times_exp(copysign(scaled_i1_tail(a), x), a, F(0));
}
template <class F> BARACUDA_FN F i1e(F x) {
    const F a = abs(x);
    return copysign(a < bessel_split<F> ? times_exp(a * i1_over_x_small(a), -a, F(0)) : scaled_i1_tail(a), x);
}

// Scaled i0 - i1 of a >= 0.
template <class F> BARACUDA_FN F scaled_i0_less_i1(F a) {
    if (a < bessel_split<F>) return times_exp(i0_less_i1_small(a), -a, F(0));
    return i0_less_i1_tail(F(1) / a) / a / sqrt(a);
}

// Derivatives. That of i0 is i1; that of i0e at 0, where it has a kink, is 0.
template <class F> BARACUDA_FN F i0e_slope(F x) { return -sign(x) * scaled_i0_less_i1(abs(x)); }
template <class F> BARACUDA_FN F i1_slope(F x) {
    const F a = min(abs(x), bessel_limit<F>);
    if (a < bessel_split<F>) return i0_small(a) - i1_over_x_small(a);
    return times_exp(scaled_i0_tail(a) - scaled_i1_tail(a) / a, a, F(0));
}
template <class F> BARACUDA_FN F i1e_slope(F x) {
    const F a = abs(x);
    if (a < bessel_split<F>) return times_exp(i0_less_i1_small(a) - i1_over_x_small(a), -a, F(0));
    const F u = F(1) / a;
    return (i0_less_i1_tail(u) - i1_tail(u)) / a / sqrt(a);
}

}  // namespace baracuda
