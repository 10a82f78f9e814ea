// reduce_prod_backward: gradients of product over the reduced axes; torch.prod, jnp.prod.
// The product of the others: without x's mantissa and exponent, and 0 where another element is 0, NaN where a further
// one is not finite.
//   zero = x == 0
//   others = t.zeros - (1 if zero else 0)
//   wild = n - (0 if isfinite(x) else 1)
//   ratio = t.m / (copysign(1, x) if zero else mantissa(x))
//   t = product(x)
//   n = count(not isfinite(x))
//   dx = ldexp(mantissa(dy) * ratio, t.e - exponent(x) + exponent(dy)) if others == 0 else dy * 0 if wild == 0 else nan
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
#include <baracuda/kept_rows.cuh>
#include <baracuda/math.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;
using baracuda::i32;
using baracuda::i64;

// Product: product of x.
struct Product {
    A m = A(1);
    A c = A(0);
    i64 e = 0;
    i64 zeros = 0;

    struct Run {
        A m = A(1);
        A c = A(0);
        i32 e = 0;
        i32 zeros = 0;
    };
    BARACUDA_FN static void push(Run& run, A x, i64 index) {
        const Run r = run;
        const A factor = x != A(0) ? baracuda::mantissa(x) : baracuda::copysign(A(1), x);
        const A both = r.m * factor;
        const A rest = baracuda::fma(r.c, factor, baracuda::fma(r.m, factor, -both));
        run = {baracuda::mantissa(both), !baracuda::isfinite(both) ? A(0)
            : (baracuda::abs(both) < A(0.5) ? rest * A(2) : rest),
                i32(r.e + baracuda::exponent(x) + baracuda::exponent(both)), i32(r.zeros + (x == A(0) ? 1 : 0))};
    }
    struct Trial {  // a pack that is taken in by a cheaper step
        A m;
        A c;
        i32 e;
        i32 zeros;
        A w;
    };
    BARACUDA_FN static Trial attempt(const Run& r) { return {r.m, r.c, r.e, r.zeros, A(0)}; }
    BARACUDA_FN static void push(Trial& trial, A x, i64 index) {
        const Trial r = trial;
        const A both = r.m * x;
        trial = {both, baracuda::fma(r.c, x, baracuda::fma(r.m, x, -both)), i32(r.e), i32(r.zeros),
            baracuda::fma(x, x, r.w)};
    }
    BARACUDA_FN static bool fits(const Trial& r) {
        return (r.w < A(256)) & (baracuda::abs(r.m) >= A(6e-08)) & (baracuda::abs(r.m) < A(10000000000.0));
    }
    BARACUDA_FN static Run settle(const Trial& r) {
        return {baracuda::normal_mantissa(r.m), r.c * baracuda::normal_scale(r.m),
            i32(r.e + baracuda::normal_exponent(r.m)), i32(r.zeros)};
    }
    BARACUDA_FN static Product close(const Run& r) {
        const A top = r.m + r.c;
        return {top, baracuda::isfinite(top) ? r.m - top + r.c : A(0), r.e, r.zeros};
    }
    BARACUDA_FN static Product merge(const Product& a, const Product& b) {
        const A both = a.m * b.m;
        const A rest = baracuda::fma(a.m, b.m, -both) + (a.m * b.c + a.c * b.m);
        const A top = baracuda::isfinite(both) ? both + rest : both;
        return {baracuda::isfinite(top) ? baracuda::normal_mantissa(top) : top,
            baracuda::isfinite(top) ? (both - top + rest) * baracuda::normal_scale(top) : A(0),
                a.e + b.e + (baracuda::isfinite(top) ? baracuda::normal_exponent(top) : 0), a.zeros + b.zeros};
    }
    BARACUDA_FN A value() const { return zeros > 0 ? m * A(0) : baracuda::ldexp(m, e); }
};

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
    static constexpr bool USUAL = true;
    struct State {  // what a row is merged into
        Product t;
        Count n;
    };
    struct Run {  // what a lane takes its elements into
        Product::Run t;
        Count::Run n;
    };
    struct Row {  // what the elements of a row share
        i64 t_zeros;
        A t_m;
        i64 t_e;
        i64 n;
        A of_row0;
        i64 of_row1;
        A of_row2;
    };

    BARACUDA_FN void push(Run& run, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Product::push(run.t, x, index);
        Count::push(run.n, !baracuda::isfinite(x), index);
    }
    struct Trial {  // a pack of elements that is taken in by a cheaper step
        Product::Trial t;
        Count::Run n;
    };
    BARACUDA_FN static Trial attempt(const Run& run) {
        return {Product::attempt(run.t), run.n};
    }
    BARACUDA_FN void push(Trial& trial, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Product::push(trial.t, x, index);
        Count::push(trial.n, !baracuda::isfinite(x), index);
    }
    BARACUDA_FN static bool fits(const Trial& trial) {
        return Product::fits(trial.t);
    }
    BARACUDA_FN static Run settle(const Trial& trial) {
        return {Product::settle(trial.t), trial.n};
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Product::close(run.t), Count::close(run.n)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Product::merge(a.t, b.t), Count::merge(a.n, b.n)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A dy = row_in[0];
        const i64 t_zeros = state.t.zeros;
        const A t_m = state.t.m;
        const i64 t_e = state.t.e;
        const i64 n = state.n.value();
        const A of_row0 = baracuda::mantissa(dy);
        const i64 of_row1 = baracuda::exponent(dy);
        const A of_row2 = dy * A(0);
        return {t_zeros, t_m, t_e, n, of_row0, of_row1, of_row2};
    }
    BARACUDA_FN void map(const Row& row, const A (&in)[1], i64 index, A (&out)[1]) const {
        const A x = in[0];
        const bool zero = x == A(0);
        const i64 others = row.t_zeros - (zero ? 1 : 0);
        const A ratio = row.t_m / (zero ? baracuda::copysign(A(1), x) : baracuda::mantissa(x));
        const i64 wild = row.n - (baracuda::isfinite(x) ? 0 : 1);
        out[0] = others == 0 ? baracuda::ldexp(row.of_row0 * ratio, row.t_e - baracuda::exponent(x) + row.of_row1)
            : (wild == 0 ? row.of_row2 : baracuda::nan<A>);
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
BARACUDA_KERNEL(reduce_prod_backward, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_prod_backward, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_prod_backward, strided, 256, Narrow) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_prod_backward, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_prod_backward, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_prod_backward, kept, 256, Wide) { baracuda::aggregate_kept_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_prod_backward, kept_short, 256, Wide) {
    baracuda::aggregate_kept_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_prod_backward, map_contig, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_prod_backward, map_strided, 256, Narrow) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_prod_backward, map_columns, 256, Wide) { baracuda::map_columns<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_prod_backward, strided64, 256, Wide) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_prod_backward, map_strided64, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
