// reduce_max_backward_first: gradients of largest element, NaN if any is; torch.amax, jnp.max. ties=first.
//   hit = x == y or isnan(x) and isnan(y)
//   i = first(hit)
//   dx = dy if index == i else 0
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
#include <baracuda/kept_rows.cuh>
#include <baracuda/math.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;
using baracuda::i64;

// First: number of the first true x.
struct First {
    i64 i = 9223372036854775807;

    using Run = First;
    BARACUDA_FN static void push(Run& run, bool x, i64 index) {
        run = merge(run, {x ? index : 9223372036854775807});
    }
    BARACUDA_FN static First close(const Run& run) { return run; }
    BARACUDA_FN static First merge(const First& a, const First& b) {
        return {baracuda::min(a.i, b.i)};
    }
    BARACUDA_FN i64 value() const { return i; }
};

struct Formula : baracuda::RowFormula {
    static constexpr bool AGGREGATES = true;
    struct State {  // what a row is merged into
        First i;
    };
    struct Run {  // what a lane takes its elements into
        First::Run i;
    };
    struct Known {  // what follows from the row's inputs alone
        A y;
        bool of_row0;
    };
    struct Row {  // what the elements of a row share
        A dy;
        i64 i;
    };

    BARACUDA_FN Known known(const A (&row_in)[2]) const {
        const A y = row_in[1];
        const bool of_row0 = baracuda::isnan(y);
        return {y, of_row0};
    }

    BARACUDA_FN void push(Run& run, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        const bool hit = (x == known.y) | (baracuda::isnan(x) & known.of_row0);
        First::push(run.i, hit, index);
    }
    BARACUDA_FN static State close(const Run& run) {
        return {First::close(run.i)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {First::merge(a.i, b.i)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[2], i64 extent) const {
        const A dy = row_in[0];
        const i64 i = state.i.value();
        return {dy, i};
    }
    BARACUDA_FN void map(const Row& row, const A (&in)[1], i64 index, A (&out)[1]) const {
        out[0] = index == row.i ? row.dy : A(0);
    }
};

template <class Offset> struct Params {
    baracuda::Rows<Offset, 1, 2, 1, 0> operands;
    Formula formula;
};
using Narrow = Params<baracuda::i32>;
using Wide = Params<i64>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(reduce_max_backward_first, contig, 256, Wide) {
    baracuda::aggregate_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_max_backward_first, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_max_backward_first, strided, 256, Narrow) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_max_backward_first, columns, 256, Wide) {
    baracuda::aggregate_columns<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_max_backward_first, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_max_backward_first, kept, 256, Wide) { baracuda::aggregate_kept_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_max_backward_first, kept_short, 256, Wide) {
    baracuda::aggregate_kept_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_max_backward_first, map_contig, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_max_backward_first, map_strided, 256, Narrow) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_max_backward_first, map_columns, 256, Wide) { baracuda::map_columns<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_max_backward_first, strided64, 256, Wide) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_max_backward_first, map_strided64, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
