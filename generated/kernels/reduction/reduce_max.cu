// reduce_max: largest element, NaN if any is; torch.amax, jnp.max.
//   y = maximum(x)
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
#include <baracuda/math.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;
using baracuda::i64;

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
        Maximum maximum_x;
    };
    struct Run {  // what a lane takes its elements into
        Maximum::Run maximum_x;
    };
    struct Row {  // what the elements of a row share
        A new_y;
    };

    BARACUDA_FN void push(Run& run, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Maximum::push(run.maximum_x, x, index);
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Maximum::close(run.maximum_x)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Maximum::merge(a.maximum_x, b.maximum_x)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A maximum_x = state.maximum_x.value();
        const A new_y = maximum_x;
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
BARACUDA_KERNEL(reduce_max, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_max, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_max, strided, 256, Narrow) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_max, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_max, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_max, strided64, 256, Wide) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
