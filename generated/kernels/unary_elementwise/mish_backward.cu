// mish_backward: gradients of x times tanh(softplus(x)); Misra 2019.
//   z = element_exp_addend(-abs(x))
//   p = 1 + 2 * z if x >= 0 else z + 2
//   q = p + 2 * z * z if x >= 0 else fma(z, p, 2)
//   r = element_inverse(q)
//   c = 4 * clamp(x, -2000, 2000) * (1 + z)
//   s = fma(c * z * z if x >= 0 else c, r, p) * r
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
        const A z = baracuda::element_exp_addend<T>(-baracuda::abs(x));
        const A p = x >= A(0) ? A(1) + A(2) * z : z + A(2);
        const A q = x >= A(0) ? p + A(2) * z * z : baracuda::fma(z, p, A(2));
        const A r = baracuda::element_inverse<T>(q);
        const A c = A(4) * baracuda::clamp(x, A(-2000), A(2000)) * (A(1) + z);
        const A s = baracuda::fma(x >= A(0) ? c * z * z : c, r, p) * r;
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

#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(mish_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(mish_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(mish_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(mish_backward, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
