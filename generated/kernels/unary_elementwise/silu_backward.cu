// silu_backward: gradients of x times sigmoid(x), called swish elsewhere.
//   z = element_exp_product(1, 1, -abs(x))
//   r = element_inverse(1 + z)
//   c = clamp(x, -2000, 2000)  # no infinity meets the z that vanished
//   s = fma(c * z if x >= 0 else c, r, 1) * r
//   dx = dy * s if x >= 0 else element_exp_product(dy, s, -abs(x))
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A z = baracuda::element_exp_product<T>(A(1), A(1), -baracuda::abs(x));
        const A r = baracuda::element_inverse<T>(A(1) + z);
        const A c = baracuda::clamp(x, A(-2000), A(2000));
        const A s = baracuda::fma(x >= A(0) ? c * z : c, r, A(1)) * r;
        out[0] = x >= A(0) ? dy * s : baracuda::element_exp_product<T>(dy, s, -baracuda::abs(x));
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
BARACUDA_KERNEL(silu_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(silu_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(silu_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(silu_backward, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
