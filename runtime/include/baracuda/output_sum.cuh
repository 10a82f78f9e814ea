// A map's output summed over axes that it lacks: the gradient of a broadcast operand.
#pragma once
#include <baracuda/aggregate.cuh>

namespace baracuda {

// The aggregate formula that sums output PLACE of a map formula.
template <class A, class Formula, int IN, int OUT, int PLACE> struct OutputSum {
    struct State { A sum = A(0); };
    Formula formula;

    BARACUDA_FN void push(State& state, const A (&in)[IN]) const {
        A out[OUT];
        formula(in, out);
        state.sum += out[PLACE];
    }
    BARACUDA_FN static State merge(const State& a, const State& b) { return {a.sum + b.sum}; }
    BARACUDA_FN void finish(const State& state, i64, A (&out)[1]) const { out[0] = state.sum; }
};

}  // namespace baracuda
