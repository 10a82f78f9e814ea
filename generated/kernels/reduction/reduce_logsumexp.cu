// reduce_logsumexp: log(sum(exp(x))), -inf of no elements; torch.logsumexp, jax.nn.logsumexp.
//   y = logsumexp(x)
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
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
        Logsumexp logsumexp_x;
    };
    struct Run {  // what a lane takes its elements into
        Logsumexp::Run logsumexp_x;
    };
    struct Row {  // what the elements of a row share
        A new_y;
    };

    BARACUDA_FN void push(Run& run, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Logsumexp::push(run.logsumexp_x, x, index);
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Logsumexp::close(run.logsumexp_x)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Logsumexp::merge(a.logsumexp_x, b.logsumexp_x)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A logsumexp_x = state.logsumexp_x.value();
        const A new_y = logsumexp_x;
        return {new_y};
    }
    BARACUDA_FN void finish(const Row& row, A (&out)[1]) const {
        out[0] = row.new_y;
    }
};

template <class Offset> struct Params {
    baracuda::Rows<Offset, 1, 0, 0, 1> operands;
    Formula formula;
};
using Narrow = Params<baracuda::i32>;
using Wide = Params<i64>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(reduce_logsumexp, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_logsumexp, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_logsumexp, strided, 256, Narrow) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_logsumexp, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_logsumexp, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_logsumexp, strided64, 256, Wide) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
