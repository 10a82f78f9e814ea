// reduce_norm2: Euclidean norm; torch.linalg.vector_norm, jnp.linalg.norm.
//   y = squares(x)
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
#include <baracuda/math.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;
using baracuda::i64;

// Squares: sum of the squares of x, in three ranges.
struct Squares {
    static constexpr A huge = baracuda::by_compute<A>(17592186044416.0f, 1.997919072202235e+146);
    static constexpr A shrink = baracuda::by_compute<A>(5.169878828456423e-26f, 1.1113793747425387e-162);
    static constexpr A grow = baracuda::by_compute<A>(1.2676506002282294e+30f, 5.260135901548374e+210);
    static constexpr A ample = baracuda::by_compute<A>(1.925929944387236e-34f, 1.4582244039112795e-303);
    A big = A(0);
    A mid = A(0);
    A small = A(0);

    struct Run {
        A big = A(0);
        A mid = A(0);
        A small = A(0);
    };
    BARACUDA_FN static void push(Run& run, A x, i64 index) {
        const Run r = run;
        const bool is_big = baracuda::abs(x) > huge;
        run = {r.big + (is_big ? baracuda::square(x * shrink) : A(0)), r.mid + (is_big ? A(0) : baracuda::square(x)),
            r.small + (r.mid < ample ? baracuda::square(x * grow) : A(0))};
    }
    struct Trial {  // a pack that is taken in by a cheaper step
        A big;
        A mid;
        A small;
        A total;
    };
    BARACUDA_FN static Trial attempt(const Run& r) { return {r.big, r.mid, r.small, A(0)}; }
    BARACUDA_FN static void push(Trial& trial, A x, i64 index) {
        const Trial r = trial;
        trial = {r.big, r.mid + baracuda::square(x), r.small, r.total + baracuda::abs(x)};
    }
    BARACUDA_FN static bool fits(const Trial& r) {
        return (r.mid < huge * huge) & ((r.mid >= ample) | (r.total == A(0)));
    }
    BARACUDA_FN static Run settle(const Trial& r) {
        return {r.big, r.mid, r.small};
    }
    BARACUDA_FN static Squares close(const Run& r) {
        const bool scant = r.mid < ample;
        return {r.big, scant ? A(0) : r.mid, scant ? r.small : A(0)};
    }
    BARACUDA_FN static Squares merge(const Squares& a, const Squares& b) {
        return {a.big + b.big, a.mid + b.mid, a.small + b.small};
    }
    BARACUDA_FN A factor() const { return big > A(0) ? shrink : (mid == A(0) ? grow : A(1)); }
    BARACUDA_FN A scaled() const {
        return big > A(0) ? big + mid * shrink * shrink : (mid == A(0) ? small : mid + small / grow / grow);
    }
    BARACUDA_FN A length() const { return baracuda::sqrt(scaled()); }
    BARACUDA_FN A value() const { return length() / factor(); }
};

struct Formula : baracuda::RowFormula {
    static constexpr bool AGGREGATES = true;
    static constexpr bool USUAL = true;
    struct State {  // what a row is merged into
        Squares squares_x;
    };
    struct Run {  // what a lane takes its elements into
        Squares::Run squares_x;
    };
    struct Row {  // what the elements of a row share
        A new_y;
    };

    BARACUDA_FN void push(Run& run, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Squares::push(run.squares_x, x, index);
    }
    struct Trial {  // a pack of elements that is taken in by a cheaper step
        Squares::Trial squares_x;
    };
    BARACUDA_FN static Trial attempt(const Run& run) {
        return {Squares::attempt(run.squares_x)};
    }
    BARACUDA_FN void push(Trial& trial, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Squares::push(trial.squares_x, x, index);
    }
    BARACUDA_FN static bool fits(const Trial& trial) {
        return Squares::fits(trial.squares_x);
    }
    BARACUDA_FN static Run settle(const Trial& trial) {
        return {Squares::settle(trial.squares_x)};
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Squares::close(run.squares_x)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Squares::merge(a.squares_x, b.squares_x)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A squares_x = state.squares_x.value();
        const A new_y = squares_x;
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
BARACUDA_KERNEL(reduce_norm2, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_norm2, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_norm2, strided, 256, Narrow) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_norm2, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_norm2, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_norm2, strided64, 256, Wide) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
