// reduce_norm2_backward: gradients of Euclidean norm; torch.linalg.vector_norm, jnp.linalg.norm.
//   # whichever order does not underflow
//   share = x * n.factor / n.length if n.factor > 1 else x / n.length * n.factor
//   grown = x * (1 / smallest_normal) / n.length * n.factor
//   fits = abs(share) >= smallest_normal or n.length == inf
//   n = squares(x)
//   dx = 0 if n.length == 0 else dy * share if fits else dy * grown * smallest_normal
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
#include <baracuda/kept_rows.cuh>
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
        Squares n;
    };
    struct Run {  // what a lane takes its elements into
        Squares::Run n;
    };
    struct Row {  // what the elements of a row share
        A dy;
        A n_factor;
        A n_length;
        bool of_row0;
        bool of_row1;
        bool of_row2;
    };

    BARACUDA_FN void push(Run& run, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Squares::push(run.n, x, index);
    }
    struct Trial {  // a pack of elements that is taken in by a cheaper step
        Squares::Trial n;
    };
    BARACUDA_FN static Trial attempt(const Run& run) {
        return {Squares::attempt(run.n)};
    }
    BARACUDA_FN void push(Trial& trial, const A (&in)[1], const Known& known, i64 index) const {
        const A x = in[0];
        Squares::push(trial.n, x, index);
    }
    BARACUDA_FN static bool fits(const Trial& trial) {
        return Squares::fits(trial.n);
    }
    BARACUDA_FN static Run settle(const Trial& trial) {
        return {Squares::settle(trial.n)};
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Squares::close(run.n)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Squares::merge(a.n, b.n)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A dy = row_in[0];
        const A n_factor = state.n.factor();
        const A n_length = state.n.length();
        const bool of_row0 = n_length == A(0);
        const bool of_row1 = n_factor > A(1);
        const bool of_row2 = n_length == baracuda::inf<A>;
        return {dy, n_factor, n_length, of_row0, of_row1, of_row2};
    }
    BARACUDA_FN void map(const Row& row, const A (&in)[1], i64 index, A (&out)[1]) const {
        const A x = in[0];
        const A share = row.of_row1 ? x * row.n_factor / row.n_length : x / row.n_length * row.n_factor;
        const A grown = x * (A(1) / A(baracuda::limits<T>::smallest_normal)) / row.n_length * row.n_factor;
        const bool fits = (baracuda::abs(share) >= A(baracuda::limits<T>::smallest_normal)) | row.of_row2;
        out[0] = row.of_row0 ? A(0) : (fits ? row.dy * share : row.dy * grown
            * A(baracuda::limits<T>::smallest_normal));
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
BARACUDA_KERNEL(reduce_norm2_backward, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_norm2_backward, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_norm2_backward, strided, 256, Narrow) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_norm2_backward, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_norm2_backward, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_norm2_backward, kept, 256, Wide) { baracuda::aggregate_kept_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_norm2_backward, kept_short, 256, Wide) {
    baracuda::aggregate_kept_short_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_norm2_backward, map_contig, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_norm2_backward, map_strided, 256, Narrow) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_norm2_backward, map_columns, 256, Wide) { baracuda::map_columns<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_norm2_backward, strided64, 256, Wide) {
    baracuda::aggregate_strided_rows<T>(p.operands, p.formula);
}
BARACUDA_KERNEL(reduce_norm2_backward, map_strided64, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
