// rms_norm_backward: gradients of x over the root of its mean square, times gamma; torch.nn.functional.rms_norm.
//   offset = 1 if unit_offset and has_gamma else -0.0
//   power = mantissa(rms) / rms
//   scale = 0 if rms == inf else power if isfinite(power) else ldexp(1, -exponent(rms) // 2)
//   factor = 1 / (rms * scale) if rms < inf else 1 / rms
//   u = x * scale * factor
//   g = dy * (gamma + offset)
//   m = c * factor / extent
//   c = sum(g * (x * scale))
//   dx = (g - u * m) * scale * factor
//   dgamma = dy * u
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
        Sum c;
    };
    struct Run {  // what a lane takes its elements into
        Sum::Run c;
    };
    struct Known {  // what follows from the row's inputs alone
        A scale;
    };
    struct Row {  // what the elements of a row share
        A scale;
        A factor;
        A m;
    };
    A offset;  // 1 if unit_offset and has_gamma else -0.0

    BARACUDA_FN Known known(const A (&row_in)[1]) const {
        const A rms = row_in[0];
        const A power = baracuda::mantissa(rms) / rms;
        const A scale = rms == baracuda::inf<A> ? A(0)
            : (baracuda::isfinite(power) ? power : baracuda::ldexp(A(1),
                baracuda::floor_divide(-baracuda::exponent(rms), baracuda::i64(2))));
        return {scale};
    }

    BARACUDA_FN void push(Run& run, const A (&in)[3], const Known& known, i64 index) const {
        const A dy = in[0];
        const A x = in[1];
        const A gamma = in[2];
        const A g = dy * (gamma + offset);
        Sum::push(run.c, g * (x * known.scale), index);
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Sum::close(run.c)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Sum::merge(a.c, b.c)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A rms = row_in[0];
        const A c = state.c.value();
        const A power = baracuda::mantissa(rms) / rms;
        const A scale = rms == baracuda::inf<A> ? A(0)
            : (baracuda::isfinite(power) ? power : baracuda::ldexp(A(1),
                baracuda::floor_divide(-baracuda::exponent(rms), baracuda::i64(2))));
        const A factor = rms < baracuda::inf<A> ? A(1) / (rms * scale) : A(1) / rms;
        const A m = c * factor / A(extent);
        return {scale, factor, m};
    }
    BARACUDA_FN void map(const Row& row, const A (&in)[3], i64 index, A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A gamma = in[2];
        const A u = x * row.scale * row.factor;
        const A g = dy * (gamma + offset);
        out[0] = (g - u * row.m) * row.scale * row.factor;
    }
    BARACUDA_FN void columns(const Row& row, const A (&in)[3], i64 index, A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A u = x * row.scale * row.factor;
        out[0] = dy * u;
    }
};

template <class Offset> struct Params {
    baracuda::Rows<Offset, 3, 1, 1, 0> operands;
    Formula formula;
};
using Narrow = Params<baracuda::i32>;
using Wide = Params<i64>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(rms_norm_backward, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm_backward, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm_backward, strided, 256, Narrow) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm_backward, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm_backward, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm_backward, kept, 256, Wide) { baracuda::aggregate_kept_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm_backward, kept_short, 256, Wide) {
    baracuda::aggregate_kept_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(rms_norm_backward, map_contig, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm_backward, map_strided, 256, Narrow) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm_backward, map_columns, 256, Wide) { baracuda::map_columns<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(rms_norm_backward, strided64, 256, Wide) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm_backward, map_strided64, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
#endif

// dgamma: a sum over the rows.
#ifdef BARACUDA_SUMS
struct Sums {
    baracuda::ColumnSums<3, 1, 1, 1> operands;
    Formula formula;
};
BARACUDA_KERNEL(rms_norm_backward, walk_groups, 512, Sums) { baracuda::walk_groups<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm_backward, sum_columns, 256, Sums) { baracuda::sum_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm_backward, total_columns, 256, Sums) { baracuda::total_columns<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
