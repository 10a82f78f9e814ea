// A map's output summed over axes that it lacks: the gradient of a broadcast operand.
#pragma once
#include <baracuda/columns.cuh>

namespace baracuda {

// The inputs of a map formula, by number, that one of its outputs depends on.
template <int... INPUTS> struct Reads {};

// The row formula that sums output PLACE of a map formula. It has the inputs that this one depends on, of which the last
// OF_BOOL are bool.
template <class A, class Formula, int IN, int OUT, int PLACE, class Inputs, int OF_BOOL = 0> struct OutputSum;
template <class A, class Formula, int IN, int OUT, int PLACE, int... INPUTS, int OF_BOOL>
struct OutputSum<A, Formula, IN, OUT, PLACE, Reads<INPUTS...>, OF_BOOL> : RowFormula {
    static constexpr int EI = sizeof...(INPUTS);
    struct State { A sum = A(0); };
    using Run = State;
    struct Row { A sum; };
    static constexpr bool AGGREGATES = true;
    static constexpr int FLAGS = OF_BOOL;
    Formula formula;

    BARACUDA_FN explicit OutputSum(const Formula& of_element) : formula(of_element) {}
    BARACUDA_FN void push(Run& run, const A (&x)[EI], const Known&, i64) const {
        A in[IN] = {}, out[OUT];
        int place = 0;
        ((in[INPUTS] = x[place++]), ...);
        formula(in, out);
        run.sum += out[PLACE];
    }
    BARACUDA_FN void begin(Run&, const A (&)[EI], const Known&, i64) const {}
    BARACUDA_FN static State close(const Run& run) { return run; }
    BARACUDA_FN static State merge(const State& a, const State& b) { return {a.sum + b.sum}; }
    BARACUDA_FN Row values(const State& state, const A (&)[1], i64) const { return {state.sum}; }
    BARACUDA_FN void finish(const Row& row, A (&out)[1]) const { out[0] = row.sum; }
    BARACUDA_FN void map(const Row&, const A (&)[EI], i64, A (&)[1]) const {}
};

}  // namespace baracuda
