// reduce_var: variance with n - correction degrees of freedom, NaN where there are none; torch.var, jnp.var.
//   freedom = extent - correction
//   v = moments(x)
//   y = v.m2 / freedom if freedom > 0 else nan
//   mean = v.mean if extent > 0 else nan
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
#include <baracuda/math.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;
using baracuda::i32;
using baracuda::i64;

// Moments: count, mean and sum of squared deviations from the mean of x.
struct Moments {
    A n = A(0);
    A origin = A(0);
    A shift = A(0);
    A m2 = A(0);

    struct Run {
        i32 n = 0;
        i32 left = 8;
        A origin = A(0);
        A s = A(0);
        A q = A(0);
    };
    BARACUDA_FN static void begin(Run& run, A x, i64 index) {
        run.origin = baracuda::isfinite(x) ? x : A(0);
    }
    BARACUDA_FN static void push(Run& run, A x, i64 index) {
        const Run r = run;
        const A d = x - r.origin;
        const A total = r.s + d;
        const A squares = r.q + d * d;
        const A step = ((r.left == 1) & baracuda::isfinite(total)) ? total / A(r.n + 1) : A(0);
        const A nearer = r.origin + step;
        const A moved = nearer - r.origin;
        const A rest = total - A(r.n + 1) * moved;
        run = {i32(r.n + 1), i32(r.left == 1 ? 8 : r.left - 1), nearer, rest,
            squares == baracuda::inf<A> ? squares : baracuda::max(squares - moved * (total + rest), A(0))};
    }
    struct Trial {  // a pack that is taken in by a cheaper step
        i32 n;
        i32 left;
        A origin;
        A s;
        A q;
    };
    BARACUDA_FN static Trial attempt(const Run& r) { return {r.n, r.left, r.origin, r.s, r.q}; }
    BARACUDA_FN static void push(Trial& trial, A x, i64 index) {
        const Trial r = trial;
        const A d = x - r.origin;
        trial = {i32(r.n + 1), i32(r.left - 1), r.origin, r.s + d, r.q + d * d};
    }
    BARACUDA_FN static bool fits(const Trial& r) { return r.left >= 0; }
    BARACUDA_FN static Run settle(const Trial& r) {
        const A step = ((r.left == 0) & baracuda::isfinite(r.s)) ? r.s / A(r.n) : A(0);
        const A nearer = r.origin + step;
        const A moved = nearer - r.origin;
        const A rest = r.s - A(r.n) * moved;
        return {i32(r.n), i32(r.left == 0 ? 8 : r.left), nearer, rest,
            r.q == baracuda::inf<A> ? r.q : baracuda::max(r.q - moved * (r.s + rest), A(0))};
    }
    BARACUDA_FN static Moments close(const Run& r) {
        const A shift = r.n == 0 ? A(0) : r.s / A(r.n);
        return {A(r.n), r.origin, shift, !baracuda::isfinite(r.s) ? baracuda::nan<A>
            : (r.q == baracuda::inf<A> ? baracuda::inf<A> : baracuda::max(r.q - r.s * shift, A(0)))};
    }
    BARACUDA_FN static Moments merge(const Moments& a, const Moments& b) {
        const A n = a.n + b.n;
        const A d = b.origin - a.origin + (b.shift - a.shift);
        const A share = a.n == b.n ? A(0.5) : b.n / n;
        const A of_a = b.n == A(0) ? a.shift : a.shift + d * share;
        const A of_b = a.n == A(0) ? b.shift : b.shift - d * (A(1) - share);
        const bool takes_b = (a.n == A(0)) | ((b.n > A(0)) & (baracuda::abs(of_b) < baracuda::abs(of_a)));
        return {n, takes_b ? b.origin : a.origin,
            (baracuda::isinf(a.shift) | baracuda::isinf(b.shift)) ? a.shift + b.shift : (takes_b ? of_b : of_a),
                b.n == A(0) ? a.m2 : (a.n == A(0) ? b.m2 : a.m2 + b.m2 + d * share * (d * a.n))};
    }
    BARACUDA_FN A mean() const { return origin + shift; }
    BARACUDA_FN A value() const { return mean(); }
};

struct Formula : baracuda::RowFormula {
    static constexpr bool AGGREGATES = true;
    static constexpr bool USUAL = true;
    static constexpr bool BEGINS = true;
    struct State {  // what a row is merged into
        Moments v;
    };
    struct Run {  // what a lane takes its elements into
        Moments::Run v;
    };
    struct Row {  // what the elements of a row share
        A new_y;
        A new_mean;
    };
    A correction;

    BARACUDA_FN void push(Run& run, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Moments::push(run.v, x, index);
    }
    BARACUDA_FN void begin(Run& run, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Moments::begin(run.v, x, index);
    }
    struct Trial {  // a pack of elements that is taken in by a cheaper step
        Moments::Trial v;
    };
    BARACUDA_FN static Trial attempt(const Run& run) {
        return {Moments::attempt(run.v)};
    }
    BARACUDA_FN void push(Trial& trial, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Moments::push(trial.v, x, index);
    }
    BARACUDA_FN static bool fits(const Trial& trial) {
        return Moments::fits(trial.v);
    }
    BARACUDA_FN static Run settle(const Trial& trial) {
        return {Moments::settle(trial.v)};
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Moments::close(run.v)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Moments::merge(a.v, b.v)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A v_m2 = state.v.m2;
        const A v_mean = state.v.mean();
        const A freedom = A(extent) - correction;
        const A new_y = freedom > A(0) ? v_m2 / freedom : baracuda::nan<A>;
        const A new_mean = extent > 0 ? v_mean : baracuda::nan<A>;
        return {new_y, new_mean};
    }
    BARACUDA_FN void finish(const Row& row, A (&out)[2]) const {
        out[0] = row.new_y;
        out[1] = row.new_mean;
    }
};

template <class Offset> struct Params {
    baracuda::Rows<Offset, 1, 0, 0, 2> operands;
    Formula formula;
};
using Narrow = Params<baracuda::i32>;
using Wide = Params<i64>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(reduce_var, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_var, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_var, strided, 256, Narrow) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_var, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_var, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_var, strided64, 256, Wide) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
