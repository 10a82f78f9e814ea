// Sine and cosine of half turns: their argument is reduced without an error, however large it is.
#pragma once
#include <baracuda/special.cuh>

namespace baracuda {

// (sin(pi r) / (pi r) - 1) / r^2 and (cos(pi r) - 1) / r^2 as polynomials of z = r^2 for |r| <= 1/4.
BARACUDA_FN float sine_curve(float z) { return polynomial(z, -1.644934f, 0.8117423f, -0.19074045f, 0.025856176f); }
BARACUDA_FN double sine_curve(double z) {
    return polynomial(
        z, -1.6449340668482264, 0.8117424252833535, -0.19075182412203828, 0.026147847813245743, -0.002346080833832126,
        0.0001484240587594755, -6.920714981184485e-06);
}
BARACUDA_FN float cosine_curve(float z) { return polynomial(z, -4.934802f, 4.0587106f, -1.3351378f, 0.23212542f); }
BARACUDA_FN double cosine_curve(double z) {
    return polynomial(
        z, -4.934802200544679, 4.058712126416765, -1.3352627688538095, 0.23533063028399223, -0.025806887964701878,
        0.001929493874894941, -0.00010370082971594626);
}

// pi * x, rounded about once
BARACUDA_FN float times_pi(float x) { return fma(x, 3.1415927f, x * -8.742278e-08f); }
BARACUDA_FN double times_pi(double x) { return fma(x, 3.141592653589793, x * 1.2246467991473532e-16); }

// sin(pi r) / pi and cos(pi r) for |r| <= 1/4
template <class F> BARACUDA_FN F small_sine_over_pi(F r) {
    const F z = r * r;
    return fma(r, z * sine_curve(z), r);
}
template <class F> BARACUDA_FN F small_cosine(F r) {
    const F z = r * r;
    return fma(z, cosine_curve(z), F(1));
}

// |x| less its whole turns of 2, as rest + quarters / 2 with |rest| <= 1/4.
template <class F> struct Turn {
    F rest, quarters;
};
template <class F> BARACUDA_FN Turn<F> turn_of(F x) {
    const F size = abs(x);
    const F inside = size - F(2) * floor(size * F(0.5));
    const F quarters = round(F(2) * inside);
    return {inside - F(0.5) * quarters, quarters};
}

// sin(pi x); a zero has the sign of x
template <class F> BARACUDA_FN F sinpi(F x) {
    const Turn<F> t = turn_of(x);
    const bool odd = (t.quarters == F(1)) | (t.quarters == F(3));
    const F size = odd ? small_cosine(t.rest) : times_pi(small_sine_over_pi(t.rest));
    const F upper = (t.quarters == F(2)) | (t.quarters == F(3)) ? -size : size;
    return upper == F(0) ? copysign(F(0), x) : x < F(0) ? -upper : upper;
}

// cos(pi x); a zero is +0
template <class F> BARACUDA_FN F cospi(F x) {
    const Turn<F> t = turn_of(x);
    const bool odd = (t.quarters == F(1)) | (t.quarters == F(3));
    const F size = odd ? times_pi(small_sine_over_pi(t.rest)) : small_cosine(t.rest);
    return ((t.quarters == F(1)) | (t.quarters == F(2)) ? -size : size) + F(0);
}

// (sin(pi r) / (pi r) - 1) / r^2 as a polynomial of z = r^2 for |r| <= 1/2.
BARACUDA_FN float wide_sine_curve(float z) { return polynomial(z, -1.6449333f, 0.81171644f, -0.19044738f, 0.02472503f); }
BARACUDA_FN double wide_sine_curve(double z) {
    return polynomial(
        z, -1.6449340668482264, 0.8117424252833401, -0.19075182412150138, 0.02614784780546318,
        -0.002346080893798891, 0.0001484278305762654, -6.972067660716921e-06, 2.4499341678022267e-07);
}

// sin(pi x) / (pi x), 1 at 0: that of what x has beyond a whole number, times that over x. Nothing branches.
template <class F> BARACUDA_FN F sinc(F x) {
    const F whole = round(x), rest = x - whole, z = rest * rest;
    const F near = fma(z, wide_sine_curve(z), F(1)), over = near * rest, inverse = inverse_of_normal(x);
    const F quotient = over * inverse, far = fma(fma(-x, quotient, over), inverse, quotient);
    const bool odd = whole != F(2) * floor(F(0.5) * whole);
    return abs(x) < F(0.5) ? near : (odd ? -far : far) + F(0);  // a zero is +0
}

// The derivative of sinc over x, as a polynomial of z = x^2 for |x| <= 1/2.
BARACUDA_FN float sinc_slope_curve(float z) {
    return polynomial(z, -3.289868f, 3.246969f, -1.1444899f, 0.2089463f, -0.022372048f);
}
BARACUDA_FN double sinc_slope_curve(double z) {
    return polynomial(
        z, -3.289868133696453, 3.2469697011334144, -1.1445109447324986, 0.2091827825409614, -0.023460810348857115,
        0.0017811454504394063, -9.766178312858364e-05, 4.0481709751848996e-06, -1.2767649554481102e-07);
}

// The derivative of sinc.
template <class F> BARACUDA_FN F sinc_slope(F x) {
    const F z = x * x;
    return z <= F(0.25) ? x * sinc_slope_curve(z) : (cospi(x) - sinc(x)) / x;
}

}  // namespace baracuda
