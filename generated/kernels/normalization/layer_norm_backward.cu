// layer_norm_backward: gradients of x minus its mean, over its standard deviation, times gamma, plus beta;
// torch.nn.functional.layer_norm.
//   u = (x - mean) * rstd
//   g = dy * gamma
//   a = sum(g)
//   b = sum(g * u)
//   dx = (g - a / extent - u * (b / extent)) * rstd
//   dgamma = dy * u
//   dbeta = dy
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/column_sums.cuh>
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

struct Formula : baracuda::RowFormula {
    static constexpr bool AGGREGATES = true;
    static constexpr bool ROWS_CHOOSE = true;
    static constexpr int COLUMN_INPUTS = 1;
    BARACUDA_FN static constexpr bool may_lack(int input) { return input == 2; }
    BARACUDA_FN static constexpr double absent(int input) { return input == 2 ? 1.0 : 0.0; }
    struct State {  // what a row is merged into
        Sum a;
        Sum b;
    };
    struct Run {  // what a lane takes its elements into
        Sum::Run a;
        Sum::Run b;
    };
    struct Known {  // what follows from the row's inputs alone
        A mean;
        A rstd;
    };
    struct Row {  // what the elements of a row share
        A mean;
        A rstd;
        A of_row0;
        A of_row1;
    };

    BARACUDA_FN Known known(const A (&row_in)[2]) const {
        const A mean = row_in[0];
        const A rstd = row_in[1];
        return {mean, rstd};
    }

    BARACUDA_FN void push(Run& run, const A (&in)[3], const Known& known, i64 index) const {
        const A dy = in[0];
        const A x = in[1];
        const A gamma = in[2];
        const A u = (x - known.mean) * known.rstd;
        const A g = dy * gamma;
        Sum::push(run.a, g, index);
        Sum::push(run.b, g * u, index);
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Sum::close(run.a), Sum::close(run.b)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Sum::merge(a.a, b.a), Sum::merge(a.b, b.b)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[2], i64 extent) const {
        const A mean = row_in[0];
        const A rstd = row_in[1];
        const A a = state.a.value();
        const A b = state.b.value();
        const A of_row0 = a / A(extent);
        const A of_row1 = b / A(extent);
        return {mean, rstd, of_row0, of_row1};
    }
    BARACUDA_FN void map(const Row& row, const A (&in)[3], i64 index, A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A gamma = in[2];
        const A u = (x - row.mean) * row.rstd;
        const A g = dy * gamma;
        out[0] = (g - row.of_row0 - u * row.of_row1) * row.rstd;
    }
    BARACUDA_FN void columns(const Row& row, const A (&in)[3], i64 index, A (&out)[2]) const {
        const A dy = in[0];
        const A x = in[1];
        const A u = (x - row.mean) * row.rstd;
        out[0] = dy * u;
        out[1] = dy;
    }
};

template <class Offset> struct Params {
    baracuda::Rows<Offset, 3, 2, 1, 0> operands;
    Formula formula;
};
using Narrow = Params<baracuda::i32>;
using Wide = Params<i64>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(layer_norm_backward, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(layer_norm_backward, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(layer_norm_backward, strided, 256, Narrow) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(layer_norm_backward, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(layer_norm_backward, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
BARACUDA_KERNEL(layer_norm_backward, kept, 256, Wide) { baracuda::aggregate_kept_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(layer_norm_backward, kept_short, 256, Wide) {
    baracuda::aggregate_kept_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(layer_norm_backward, map_contig, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(layer_norm_backward, map_strided, 256, Narrow) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(layer_norm_backward, map_columns, 256, Wide) { baracuda::map_columns<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(layer_norm_backward, strided64, 256, Wide) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(layer_norm_backward, map_strided64, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
#endif

// dgamma, dbeta: sums over the rows.
#ifdef BARACUDA_SUMS
struct Sums {
    baracuda::ColumnSums<3, 2, 1, 2> operands;
    Formula formula;
};
BARACUDA_KERNEL(layer_norm_backward, walk_groups, 512, Sums) { baracuda::walk_groups<T>(p.operands, p.formula); }
BARACUDA_KERNEL(layer_norm_backward, sum_columns, 256, Sums) { baracuda::sum_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(layer_norm_backward, total_columns, 256, Sums) { baracuda::total_columns<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
