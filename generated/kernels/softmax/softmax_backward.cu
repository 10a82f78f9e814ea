// softmax_backward: gradients of exp(x) over its sum; torch.softmax, jax.nn.softmax.
//   s = sum(dy * y)
//   top = maximum(y)
//   dx = 0 if top == 0 else dy * y - s * y  # a masked row has no gradient; dy - s may overflow
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
#include <baracuda/kept_rows.cuh>
#include <baracuda/math.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;
using baracuda::i64;

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

// Maximum: largest x; NaN if any is.
struct Maximum {
    A m = -baracuda::inf<A>;

    using Run = Maximum;
    BARACUDA_FN static void push(Run& run, A x, i64 index) {
        run = merge(run, {x});
    }
    BARACUDA_FN static Maximum close(const Run& run) { return run; }
    BARACUDA_FN static Maximum merge(const Maximum& a, const Maximum& b) {
        return {baracuda::max(a.m, b.m)};
    }
    BARACUDA_FN A value() const { return m; }
};

struct Formula : baracuda::RowFormula {
    static constexpr bool AGGREGATES = true;
    struct State {  // what a row is merged into
        Sum s;
        Maximum top;
    };
    struct Run {  // what a lane takes its elements into
        Sum::Run s;
        Maximum::Run top;
    };
    struct Row {  // what the elements of a row share
        A s;
        bool of_row0;
    };

    BARACUDA_FN void push(Run& run, const A (&in)[2], const Known& known, i64 index) const {
        const A dy = in[0];
        const A y = in[1];
        Sum::push(run.s, dy * y, index);
        Maximum::push(run.top, y, index);
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Sum::close(run.s), Maximum::close(run.top)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Sum::merge(a.s, b.s), Maximum::merge(a.top, b.top)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A s = state.s.value();
        const A top = state.top.value();
        const bool of_row0 = top == A(0);
        return {s, of_row0};
    }
    BARACUDA_FN void map(const Row& row, const A (&in)[2], i64 index, A (&out)[1]) const {
        const A dy = in[0];
        const A y = in[1];
        out[0] = row.of_row0 ? A(0) : dy * y - row.s * y;
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
BARACUDA_KERNEL(softmax_backward, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(softmax_backward, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(softmax_backward, strided, 256, Narrow) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(softmax_backward, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(softmax_backward, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
BARACUDA_KERNEL(softmax_backward, kept, 256, Wide) { baracuda::aggregate_kept_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(softmax_backward, kept_short, 256, Wide) {
    baracuda::aggregate_kept_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(softmax_backward, map_contig, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(softmax_backward, map_strided, 256, Narrow) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(softmax_backward, map_columns, 256, Wide) { baracuda::map_columns<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(softmax_backward, strided64, 256, Wide) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(softmax_backward, map_strided64, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
