// rms_norm: x over the root of its mean square, times gamma; torch.nn.functional.rms_norm.
//   offset = 1 if unit_offset and has_gamma else -0.0
//   root = sqrt(eps)
//   h = stored(x + residual)
//   # As of nearly every row: nothing can overflow. Beside an eps of 1 and more, squares that are scaled up are
//   # nothing.
//   near = s.factor == 1 or s.factor > 1 and eps >= 1
//   edge = root * s.factor
//   # The rest is written out, so that a row that is near does not work it out: r times s.factor, and 1 / r in two
//   # parts, where it would overflow.
//   r = sqrt((s.scaled if s.factor == 1 else 0) / extent + eps) if near else max(sqrt(s.scaled) / sqrt(extent), edge) *
//       sqrt(1 + square( min(sqrt(s.scaled) / sqrt(extent), edge) / max(sqrt(s.scaled) / sqrt(extent), edge))) if
//       max(s.scaled, edge) > 0 else s.scaled / extent
//   scale = 1 if near else 0 if r == inf else mantissa(r) / r * s.factor if isfinite(mantissa(r) / r * s.factor) else
//       s.factor
//   factor = 1 / r if near or r == inf else s.factor / scale / r
//   s = squares(h)
//   y = h * scale * factor * (gamma + offset)
//   summed = h
//   rms = r if near else r / s.factor
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

// BARE_: residual is not there.
template <bool BARE_> struct FormulaOf : baracuda::RowFormula {
    static constexpr bool BARE = BARE_;
    static constexpr bool AGGREGATES = true;
    static constexpr bool USUAL = true;
    static constexpr bool ROWS_CHOOSE = true;
    static constexpr int COLUMN_INPUTS = 1;
    BARACUDA_FN static constexpr bool may_lack(int input) { return input == 1 || input == 2; }
    BARACUDA_FN static constexpr double absent(int input) { return input == 1 ? -0.0 : input == 2 ? 1.0 : 0.0; }
    struct State {  // what a row is merged into
        Squares s;
    };
    struct Run {  // what a lane takes its elements into
        Squares::Run s;
    };
    struct Row {  // what the elements of a row share
        A scale;
        A factor;
        A new_rms;
    };
    A offset;  // 1 if unit_offset and has_gamma else -0.0
    A root;  // sqrt(eps)
    A eps;
    bool flag0;  // eps >= 1

    BARACUDA_FN void push(Run& run, const A (&in)[3], const Known& known, i64 index) const {
        const A x = in[0];
        const A residual = in[1];
        const A h = BARE ? x : baracuda::stored<T>(x + residual);
        Squares::push(run.s, h, index);
    }
    struct Trial {  // a pack of elements that is taken in by a cheaper step
        Squares::Trial s;
    };
    BARACUDA_FN static Trial attempt(const Run& run) {
        return {Squares::attempt(run.s)};
    }
    BARACUDA_FN void push(Trial& trial, const A (&in)[3], const Known& known, i64 index) const {
        const A x = in[0];
        const A residual = in[1];
        const A h = BARE ? x : baracuda::stored<T>(x + residual);
        Squares::push(trial.s, h, index);
    }
    BARACUDA_FN static bool fits(const Trial& trial) {
        return Squares::fits(trial.s);
    }
    BARACUDA_FN static Run settle(const Trial& trial) {
        return {Squares::settle(trial.s)};
    }
    BARACUDA_FN static State close(const Run& run) {
        return {Squares::close(run.s)};
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Squares::merge(a.s, b.s)};
    }

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A s_factor = state.s.factor();
        const A s_scaled = state.s.scaled();
        const bool near = (s_factor == A(1)) | ((s_factor > A(1)) & flag0);
        const A edge = root * s_factor;
        const A r = near ? baracuda::sqrt((s_factor == A(1) ? s_scaled : A(0)) / A(extent) + eps)
            : (baracuda::max(s_scaled, edge) > A(0)
                ? baracuda::max(baracuda::sqrt(s_scaled) / baracuda::sqrt(A(extent)), edge)
                    * baracuda::sqrt(A(1) + baracuda::square(baracuda::min(baracuda::sqrt(s_scaled)
                        / baracuda::sqrt(A(extent)), edge)
                            / baracuda::max(baracuda::sqrt(s_scaled) / baracuda::sqrt(A(extent)), edge))) : s_scaled
                                / A(extent));
        const A scale = near ? A(1) : (r == baracuda::inf<A> ? A(0)
            : (baracuda::isfinite(baracuda::mantissa(r) / r * s_factor) ? baracuda::mantissa(r) / r * s_factor
                : s_factor));
        const A factor = (near | (r == baracuda::inf<A>)) ? A(1) / r : s_factor / scale / r;
        const A new_rms = near ? r : r / s_factor;
        return {scale, factor, new_rms};
    }
    BARACUDA_FN void finish(const Row& row, A (&out)[1]) const {
        out[0] = row.new_rms;
    }
    BARACUDA_FN void map(const Row& row, const A (&in)[3], i64 index, A (&out)[2]) const {
        const A x = in[0];
        const A residual = in[1];
        const A gamma = in[2];
        const A h = BARE ? x : baracuda::stored<T>(x + residual);
        out[0] = h * row.scale * row.factor * (gamma + offset);
        out[1] = h;
    }
};
using Formula = FormulaOf<false>;

template <class Offset> struct Params {
    baracuda::Rows<Offset, 3, 0, 2, 1> operands;
    Formula formula;
};
using Narrow = Params<baracuda::i32>;
using Wide = Params<i64>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(rms_norm, contig, 256, Wide) { baracuda::aggregate_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm, long, 256, Wide) { baracuda::aggregate_long_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm, strided, 256, Narrow) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm, columns, 256, Wide) { baracuda::aggregate_columns<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm, kept, 256, Wide) { baracuda::aggregate_kept_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm, kept_short, 256, Wide) { baracuda::aggregate_kept_short_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm, map_contig, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm, map_strided, 256, Narrow) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm, map_columns, 256, Wide) { baracuda::map_columns<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(rms_norm, strided64, 256, Wide) { baracuda::aggregate_strided_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rms_norm, map_strided64, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
