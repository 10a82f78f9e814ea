// ndtri_backward: gradients of inverse of ndtr, NaN outside of 0 to 1.
// 1 / density(y) by way of erfcx, as erfinv's.
//   tail = x if x < 0.5 else 1 - x
//   e = erfcx(abs(ndtri(x)) * 0.7071067811865476)
//   dx = (dy * inf if tail == 0 else dy / tail * e if abs(dy) < 1.0e-30 else dy * e / tail) * 1.2533141373155003
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/normal.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A tail = x < A(0.5) ? x : A(1) - x;
        const A e = baracuda::erfcx(baracuda::abs(baracuda::ndtri(x)) * A(0.7071067811865476));
        out[0] = (tail == A(0) ? dy * baracuda::inf<A> : (baracuda::abs(dy) < A(1e-30) ? dy / tail * e : dy * e / tail))
            * A(1.2533141373155003);
    }
};

template <class Operands> struct Params {
    Operands operands;
    Formula formula;
};
using Contig = Params<baracuda::ContigMap<2, 1>>;
using Strided = Params<baracuda::StridedMap<baracuda::i32, 2, 1>>;
using Strided64 = Params<baracuda::StridedMap<baracuda::i64, 2, 1>>;
using Tiled = Params<baracuda::TiledMap<2, 1>>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(ndtri_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(ndtri_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(ndtri_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(ndtri_backward, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
