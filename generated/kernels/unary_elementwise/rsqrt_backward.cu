// rsqrt_backward: gradients of 1 / sqrt(x).
//   r = element_rsqrt(x)
//   scale = 4 / epsilon if abs(dy) < smallest_normal else 1  # so that the product loses nothing
//   # In 16 bits powers of r, in an order in which none of them is lost; |r|, because 1 / x keeps the sign of zero.
//   dx = -(dy * 0.5 * abs(r) * r * r if is_half else dy * scale * (0.5 * r) / (x * scale))
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
        const A r = baracuda::element_rsqrt<T>(x);
        const A scale = baracuda::abs(dy) < A(baracuda::limits<T>::smallest_normal) ? A(4)
            / A(baracuda::limits<T>::epsilon) : A(1);
        out[0] = -(baracuda::limits<T>::is_half ? dy * A(0.5) * baracuda::abs(r) * r * r : dy * scale * (A(0.5) * r)
            / (x * scale));
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
BARACUDA_KERNEL(rsqrt_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rsqrt_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(rsqrt_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(rsqrt_backward, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
