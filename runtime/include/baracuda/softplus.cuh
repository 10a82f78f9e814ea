// Logarithms of sums with an exponential.
#pragma once
#include <baracuda/math.cuh>

namespace baracuda {

// log(1 + exp(x)): the exponential never overflows, and the negative tail keeps its subnormals.
template <class F> BARACUDA_FN F log1pexp(F x) {
    const F rest = log1p(exp(-abs(x)));
    return x > F(0) ? x + rest : rest;
}

template <class F> BARACUDA_FN F log_sigmoid(F x) { return -log1pexp(-x); }

}  // namespace baracuda
