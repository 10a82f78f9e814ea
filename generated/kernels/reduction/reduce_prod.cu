// reduce_prod: product over the reduced axes; torch.prod, jnp.prod.
//   y = product(x)
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
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

struct Formula : baracuda::RowFormula {
    static constexpr bool AGGREGATES = true;
    static constexpr bool USUAL = true;
    struct State {  // what a row is merged into
        Product product_x;
    };
    struct Run {  // what a lane takes its elements into
        Product::Run product_x;
    };
    struct Row {  // what the elements of a row share
        A new_y;
    };

    BARACUDA_FN void push(Run& run, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Product::push(run.product_x, x, index);
    }
    struct Trial {  // a pack of elements that is taken in by a cheaper step
        Product::Trial product_x;
    };
    BARACUDA_FN static Trial attempt(const Run& run) {
        return {Product::attempt(run.product_x)};
    }
    BARACUDA_FN void push(Trial& trial, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Product::push(trial.product_x, x, index);
    }
    BARACUDA_FN static bool fits(const Trial& trial) {
        return Product::fits(trial.product_x);
    }
    BARACUDA_FN static Run settle(const Trial& trial) {
        return {Product::settle(trial.product_x)};
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Product::close(run.product_x)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Product::merge(a.product_x, b.product_x)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A product_x = state.product_x.value();
        const A new_y = product_x;
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
BARACUDA_KERNEL(reduce_prod, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_prod, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_prod, strided, 256, Narrow) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_prod, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_prod, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_prod, strided64, 256, Wide) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
