// mish_backward: gradients of x times tanh(softplus(x)); Misra 2019.
//   low = max(x, -2000)
//   e = element_exp_product(1, 1, x)  # shares its steps with that of dx
//   p = e + 2
//   q = fma(e, p, 2)
//   r = element_inverse(q)
//   c = 4 * low * (1 + e)
//   s = fma(p, q, c) * r * r
//   t = s * e if is_half else fma(r, fma(c * e, r, -2), 1)  # the same, of fewer roundings
//   dx = dy if x > 25 else dy * t if x >= -0.5 else element_exp_product(dy, s, x)
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
        const A low = baracuda::max(x, A(-2000));
        const A e = baracuda::element_exp_product<T>(A(1), A(1), x);
        const A p = e + A(2);
        const A q = baracuda::fma(e, p, A(2));
        const A r = baracuda::element_inverse<T>(q);
        const A c = A(4) * low * (A(1) + e);
        const A s = baracuda::fma(p, q, c) * r * r;
        const A t = baracuda::limits<T>::is_half ? s * e : baracuda::fma(r, baracuda::fma(c * e, r, A(-2)), A(1));
        out[0] = x > A(25) ? dy : (x >= A(-0.5) ? dy * t : baracuda::element_exp_product<T>(dy, s, x));
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
