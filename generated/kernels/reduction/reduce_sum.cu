// reduce_sum: sum over the reduced axes; torch.sum, jnp.sum.
//   y = sum(x)
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
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

struct Formula : baracuda::RowFormula {
    static constexpr bool AGGREGATES = true;
    struct State {  // what a row is merged into
        Sum sum_x;
    };
    struct Run {  // what a lane takes its elements into
        Sum::Run sum_x;
    };
    struct Row {  // what the elements of a row share
        A new_y;
    };

    BARACUDA_FN void push(Run& run, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Sum::push(run.sum_x, x, index);
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Sum::close(run.sum_x)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Sum::merge(a.sum_x, b.sum_x)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A sum_x = state.sum_x.value();
        const A new_y = sum_x;
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
BARACUDA_KERNEL(reduce_sum, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_sum, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_sum, strided, 256, Narrow) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_sum, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_sum, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_sum, strided64, 256, Wide) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
