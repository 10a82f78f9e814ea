// i0_backward: gradients of modified Bessel function of the first kind, order 0.
//   # The term with 1e-30 counts where i1e is 0 alone, at infinities, so that no 0 meets the power there.
//   dx = dy * x / 2 if abs(x) < 1.0e-10 else dy * i1(x) if abs(x) < 20 else scaled_exp_product(dy, fma(x, 1.0e-30,
//       i1e(x)), abs(x))
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/bessel.cuh>
#include <baracuda/exp_product.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        out[0] = baracuda::abs(x) < A(1e-10) ? dy * x / A(2)
            : (baracuda::abs(x) < A(20) ? dy * baracuda::i1(x)
                : baracuda::scaled_exp_product(dy, baracuda::fma(x, A(1e-30), baracuda::i1e(x)), baracuda::abs(x)));
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
BARACUDA_KERNEL(i0_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(i0_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(i0_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(i0_backward, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
