// Activations that their formula would lose digits of.
#pragma once
#include <baracuda/special.cuh>

namespace baracuda {

// log(1 + exp(x)): the exponential never overflows, and the negative tail keeps its subnormals.
template <class F> BARACUDA_FN F log1pexp(F x) {
    const F size = min(abs(x), F(sizeof(F) == 4 ? 110 : 760));  // far beyond, the exponential is zero
    const F rest = log1p(times_exp(F(1), -size, F(0)));
    return x > F(0) ? x + rest : rest;
}

template <class F> BARACUDA_FN F log_sigmoid(F x) { return -log1pexp(-x); }

// (x - tanh(x)) / x^3 as a polynomial of z = x^2 <= 2.25; its center makes the first coefficient exact.
BARACUDA_FN float tanhshrink_curve(float z) {
    return polynomial(
        z - 0.853515625f, 0.24874337f, -0.07367693f, 0.022139242f, -0.0066648023f, 0.002007044f, -0.00060381286f,
        0.00018101657f, -5.52709e-05f, 1.7950018e-05f, -5.2611545e-06f, 8.341446e-07f);
}
BARACUDA_FN double tanhshrink_curve(double z) {
    return polynomial(
        z - 1.1181640625, 0.23068107550978567, -0.06322378431285411, 0.017591227076963593, -0.004904411482851179,
        0.0013677486554876178, -0.0003814566243725208, 0.00010638661768183235, -2.9670802981387944e-05,
        8.275070544387334e-06, -2.3078843877156867e-06, 6.436572379954963e-07, -1.7951396591283794e-07,
        5.0071779569605046e-08, -1.3963964764677373e-08, 3.885568435214131e-09, -1.0845990638854538e-09,
        3.1096330269432257e-10, -8.611067652901853e-11, 1.902148797871386e-11, -5.532740651002034e-12,
        3.2069647295363528e-12, -8.584054286785728e-13);
}

// x - tanh(x)
template <class F> BARACUDA_FN F tanhshrink(F x) {
    const F z = x * x;
    return z <= F(2.25) ? x * (z * tanhshrink_curve(z)) : x - tanh(x);
}

}  // namespace baracuda
