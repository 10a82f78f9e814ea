// reduce_logsumexp_backward: gradients of log(sum(exp(x))), -inf of no elements; torch.logsumexp, jax.nn.logsumexp.
// From the row itself: exp(x - y) with a rounded y would be off by the rounding of y.
//   share = 1 / l.s
//   h = exp(0.5 * (x - l.m))  # in halves: what a large dy brings back may not have underflowed
//   l = logsumexp(x)
//   dx = 0 if isinf(l.m) else dy * h * h * share
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
        A dy;
        A l_m;
        A share;
        bool of_row0;
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
        const A dy = row_in[0];
        const A l_s = state.l.s;
        const A l_m = state.l.m;
        const A share = A(1) / l_s;
        const bool of_row0 = baracuda::isinf(l_m);
        return {dy, l_m, share, of_row0};
    }
    BARACUDA_FN void map(const Row& row, const A (&in)[1], i64 index, A (&out)[1]) const {
        const A x = in[0];
        const A h = baracuda::exp(A(0.5) * (x - row.l_m));
        out[0] = row.of_row0 ? A(0) : row.dy * h * h * row.share;
    }
};

template <class Offset> struct Params {
    baracuda::Rows<Offset, 1, 1, 1, 0> operands;
    Formula formula;
};
using Narrow = Params<baracuda::i32>;
using Wide = Params<i64>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(reduce_logsumexp_backward, contig, 256, Wide) {
    baracuda::aggregate_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_logsumexp_backward, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_logsumexp_backward, strided, 256, Narrow) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_logsumexp_backward, columns, 256, Wide) {
    baracuda::aggregate_columns<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_logsumexp_backward, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_logsumexp_backward, kept, 256, Wide) { baracuda::aggregate_kept_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_logsumexp_backward, kept_short, 256, Wide) {
    baracuda::aggregate_kept_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_logsumexp_backward, map_contig, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_logsumexp_backward, map_strided, 256, Narrow) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_logsumexp_backward, map_columns, 256, Wide) { baracuda::map_columns<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_logsumexp_backward, strided64, 256, Wide) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_logsumexp_backward, map_strided64, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
