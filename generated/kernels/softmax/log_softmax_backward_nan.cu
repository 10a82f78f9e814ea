// log_softmax_backward_nan: gradients of x minus the logarithm of the sum of exp(x); torch.log_softmax,
// jax.nn.log_softmax. masked_row=nan.
// From x itself: exp(y) of a rounded y would be off by the rounding of y.
//   l = logsumexp(x)
//   g = sum(dy)
//   dx = dy - g * (exp(x - l.m) / l.total)
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
#include <baracuda/kept_rows.cuh>
#include <baracuda/math.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;
using baracuda::i64;

// Logsumexp: logarithm of the sum of exp(x), as m + log(s).
struct Logsumexp {
    A m = -baracuda::inf<A>;
    A s = A(0);

    using Run = Logsumexp;
    BARACUDA_FN static void push(Run& run, A x, i64 index) {
        run = merge(run, {x, A(1)});
    }
    BARACUDA_FN static Logsumexp close(const Run& run) { return run; }
    BARACUDA_FN static Logsumexp merge(const Logsumexp& a, const Logsumexp& b) {
        const A e = baracuda::exp(a.m == b.m ? A(0) : -baracuda::abs(a.m - b.m));
        return {baracuda::max(a.m, b.m), a.m >= b.m ? a.s + b.s * e : a.s * e + b.s};
    }
    BARACUDA_FN A total() const { return m == baracuda::inf<A> ? baracuda::nan<A> : s; }
    BARACUDA_FN A value() const { return m + baracuda::log(s); }
};

// Sum: sum of x.
struct Sum {
    A s = A(0);

    using Run = Sum;
    BARACUDA_FN static void push(Run& run, A x, i64 index) {
        run = merge(run, {x});
    }
    BARACUDA_FN static Sum close(const Run& run) { return run; }
    BARACUDA_FN static Sum merge(const Sum& a, const Sum& b) {
        return {a.s + b.s};
    }
    BARACUDA_FN A value() const { return s; }
};

struct Formula : baracuda::RowFormula {
    static constexpr bool AGGREGATES = true;
    struct State {  // what a row is merged into
        Logsumexp l;
        Sum g;
    };
    struct Run {  // what a lane takes its elements into
        Logsumexp::Run l;
        Sum::Run g;
    };
    struct Row {  // what the elements of a row share
        A l_m;
        A l_total;
        A g;
    };

    BARACUDA_FN void push(Run& run, const A (&in)[2], const Known& known, i64 index) const {
        const A dy = in[0];
        const A x = in[1];
        Logsumexp::push(run.l, x, index);
        Sum::push(run.g, dy, index);
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Logsumexp::close(run.l), Sum::close(run.g)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Logsumexp::merge(a.l, b.l), Sum::merge(a.g, b.g)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A l_m = state.l.m;
        const A l_total = state.l.total();
        const A g = state.g.value();
        return {l_m, l_total, g};
    }
    BARACUDA_FN void map(const Row& row, const A (&in)[2], i64 index, A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        out[0] = dy - row.g * (baracuda::exp(x - row.l_m) / row.l_total);
    }
};

template <class Offset> struct Params {
    baracuda::Rows<Offset, 2, 0, 1, 0> operands;
    Formula formula;
};
using Narrow = Params<baracuda::i32>;
using Wide = Params<i64>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(log_softmax_backward_nan, contig, 256, Wide) {
    baracuda::aggregate_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(log_softmax_backward_nan, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_backward_nan, strided, 256, Narrow) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(log_softmax_backward_nan, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_backward_nan, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_backward_nan, kept, 256, Wide) { baracuda::aggregate_kept_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_backward_nan, kept_short, 256, Wide) {
    baracuda::aggregate_kept_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(log_softmax_backward_nan, map_contig, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_backward_nan, map_strided, 256, Narrow) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_backward_nan, map_columns, 256, Wide) { baracuda::map_columns<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(log_softmax_backward_nan, strided64, 256, Wide) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(log_softmax_backward_nan, map_strided64, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
