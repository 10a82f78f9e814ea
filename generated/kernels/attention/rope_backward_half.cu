// rope_backward_half: gradients of rotary position embedding of queries or keys; transformers' apply_rotary_pos_emb.
// layout=half.
// by the negative angle: the matrix is orthogonal up to its amplitude
//   angle = positions * inv_freq
//   c = amplitude * cos(angle)
//   s = amplitude * sin(angle)
//   dx = pair(gain * fma(dy.first, c, dy.second * s), gain * fma(dy.second, c, -(dy.first * s)))
//   gain, amplitude, inv_freq: from the host, see `baracuda-gen show rope`
// Generated from ops.yaml by templates/rotate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/rotate.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;
using baracuda::f64;
using baracuda::i64;

struct Formula {
    struct Turn {  // what a position and a pair give to every plane
        A c;
        A s;
    };
    f64 gain;
    f64 amplitude;

    BARACUDA_FN Turn turn(const baracuda::Angle& angle) const {
        const f64 c = amplitude * baracuda::cos(angle);
        const f64 s = amplitude * baracuda::sin(angle);
        return {A(c), A(s)};
    }
    BARACUDA_FN void rotate(const Turn& row, const baracuda::Pair<A>& dy, A (&out)[2]) const {
        out[0] = A(gain) * baracuda::fma(dy.first, row.c, dy.second * row.s);
        out[1] = A(gain) * baracuda::fma(dy.second, row.c, -(dy.first * row.s));
    }
};

struct Params {
    baracuda::Rotate operands;
    baracuda::Table table;
    Formula formula;
};

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(rope_backward_half, contig, 256, Params) {
    baracuda::rotate<T, baracuda::Half, baracuda::Pack<T>::SIZE>(p.operands, p.table, p.formula);
}
BARACUDA_KERNEL(rope_backward_half, scalar, 256, Params) {
    baracuda::rotate<T, baracuda::Half, 1>(p.operands, p.table, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
