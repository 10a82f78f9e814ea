// A map's output summed over axes that it lacks: the gradient of a broadcast operand.
#pragma once
#include <baracuda/columns.cuh>

namespace baracuda {

// The row formula that sums output PLACE of a map formula, whose last inputs are bool.
template <class A, class Formula, int IN, int OUT, int PLACE, int OF_BOOL = 0> struct OutputSum : RowFormula {
    struct State { A sum = A(0); };
    using Run = State;
    struct Row { A sum; };
    static constexpr bool AGGREGATES = true;
    static constexpr int FLAGS = OF_BOOL;
    Formula formula;

    BARACUDA_FN explicit OutputSum(const Formula& of_element) : formula(of_element) {}
    BARACUDA_FN void push(Run& run, const A (&in)[IN], const Known&, i64) const {
        A out[OUT];
        formula(in, out);
        run.sum += out[PLACE];
    }
    BARACUDA_FN void begin(Run&, const A (&)[IN], const Known&, i64) const {}
    BARACUDA_FN static State close(const Run& run) { return run; }
    BARACUDA_FN static State merge(const State& a, const State& b) { return {a.sum + b.sum}; }
    BARACUDA_FN Row values(const State& state, const A (&)[1], i64) const { return {state.sum}; }
    BARACUDA_FN void finish(const Row& row, A (&out)[1]) const { out[0] = row.sum; }
    BARACUDA_FN void map(const Row&, const A (&)[IN], i64, A (&)[1]) const {}
};

}  // namespace baracuda
