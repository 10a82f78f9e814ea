// Products with a power of e whose parts may over- or underflow.
#pragma once
#include <baracuda/special.cuh>

namespace baracuda {

// x * y * exp(power + low) for a small `low`, the exponents apart and rounded in one place only. From the clamp on every
// product is infinite or zero.
template <class F> BARACUDA_FN F scaled_exp_product(F x, F y, F power, F low = F(-0.0)) {
    const Exponential<F> e = exponential(clamp(power, F(-4000), F(4000)), low);
    const F product = mantissa(x) * mantissa(y);
    if (!isfinite(product) || !isfinite(power)) return product * exp(power);
    if (product == F(0)) return product;  // with its sign
    return ldexp(fma(product, e.less_one, product), exponent(x) + exponent(y) + e.power);
}

}  // namespace baracuda
