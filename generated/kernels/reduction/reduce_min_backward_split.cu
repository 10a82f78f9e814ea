// reduce_min_backward_split: gradients of smallest element, NaN if any is; torch.amin, jnp.min. ties=split.
//   hit = x == y or isnan(x) and isnan(y)
//   n = count(hit)
//   dx = dy / n if hit else 0
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
#include <baracuda/kept_rows.cuh>
#include <baracuda/math.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;
using baracuda::i64;

// Count: how many x are true.
struct Count {
    i64 n = 0;

    using Run = Count;
    BARACUDA_FN static void push(Run& run, bool x, i64 index) {
        run = merge(run, {x ? 1 : 0});
    }
    BARACUDA_FN static Count close(const Run& run) { return run; }
    BARACUDA_FN static Count merge(const Count& a, const Count& b) {
        return {a.n + b.n};
    }
    BARACUDA_FN i64 value() const { return n; }
};

struct Formula : baracuda::RowFormula {
    static constexpr bool AGGREGATES = true;
    struct State {  // what a row is merged into
        Count n;
    };
    struct Run {  // what a lane takes its elements into
        Count::Run n;
    };
    struct Known {  // what follows from the row's inputs alone
        A y;
        bool of_row0;
    };
    struct Row {  // what the elements of a row share
        A y;
        bool of_row0;
        A of_row1;
    };

    BARACUDA_FN Known known(const A (&row_in)[2]) const {
        const A y = row_in[1];
        const bool of_row0 = baracuda::isnan(y);
        return {y, of_row0};
    }

    BARACUDA_FN void push(Run& run, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        const bool hit = (x == known.y) | (baracuda::isnan(x) & known.of_row0);
        Count::push(run.n, hit, index);
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Count::close(run.n)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Count::merge(a.n, b.n)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[2], i64 extent) const {
        const A dy = row_in[0];
        const A y = row_in[1];
        const i64 n = state.n.value();
        const bool of_row0 = baracuda::isnan(y);
        const A of_row1 = dy / A(n);
        return {y, of_row0, of_row1};
    }
    BARACUDA_FN void map(const Row& row, const A (&in)[1], i64 index, A (&out)[1]) const {
        const A x = in[0];
        const bool hit = (x == row.y) | (baracuda::isnan(x) & row.of_row0);
        out[0] = hit ? row.of_row1 : A(0);
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
BARACUDA_KERNEL(reduce_min_backward_split, contig, 256, Wide) {
    baracuda::aggregate_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_min_backward_split, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_min_backward_split, strided, 256, Narrow) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_min_backward_split, columns, 256, Wide) {
    baracuda::aggregate_columns<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_min_backward_split, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_min_backward_split, kept, 256, Wide) { baracuda::aggregate_kept_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_min_backward_split, kept_short, 256, Wide) {
    baracuda::aggregate_kept_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_min_backward_split, map_contig, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_min_backward_split, map_strided, 256, Narrow) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_min_backward_split, map_columns, 256, Wide) { baracuda::map_columns<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_min_backward_split, strided64, 256, Wide) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_min_backward_split, map_strided64, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
