// log_softmax_nan: x minus the logarithm of the sum of exp(x); torch.log_softmax, jax.nn.log_softmax. masked_row=nan.
//   l = logsumexp(x)
//   y = x - l.m - log(l.total)
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

struct Formula : baracuda::RowFormula {
    static constexpr bool AGGREGATES = true;
    struct State {  // what a row is merged into
        Logsumexp l;
    };
    struct Run {  // what a lane takes its elements into
        Logsumexp::Run l;
    };
    struct Row {  // what the elements of a row share
        A l_m;
        A of_row0;
    };

    BARACUDA_FN void push(Run& run, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Logsumexp::push(run.l, x, index);
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Logsumexp::close(run.l)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Logsumexp::merge(a.l, b.l)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A l_m = state.l.m;
        const A l_total = state.l.total();
        const A of_row0 = baracuda::log(l_total);
        return {l_m, of_row0};
    }
    BARACUDA_FN void map(const Row& row, const A (&in)[1], i64 index, A (&out)[1]) const {
        const A x = in[0];
        out[0] = x - row.l_m - row.of_row0;
    }
};

template <class Offset> struct Params {
    baracuda::Rows<Offset, 1, 0, 1, 0> operands;
    Formula formula;
};
using Narrow = Params<baracuda::i32>;
using Wide = Params<i64>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(log_softmax_nan, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_nan, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_nan, strided, 256, Narrow) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_nan, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_nan, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_nan, kept, 256, Wide) { baracuda::aggregate_kept_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_nan, kept_short, 256, Wide) {
    baracuda::aggregate_kept_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(log_softmax_nan, map_contig, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_nan, map_strided, 256, Narrow) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_nan, map_columns, 256, Wide) { baracuda::map_columns<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(log_softmax_nan, strided64, 256, Wide) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_softmax_nan, map_strided64, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
