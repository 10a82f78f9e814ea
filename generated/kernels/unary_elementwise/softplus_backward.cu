// softplus_backward: gradients of log(1 + exp(beta * x)) / beta, and x where beta * x is above a threshold; inf for
// none.
//   # No difference underflows; beyond 1e23, none would.
//   lift = (2 ** 110 if abs(bound) < 1.0e-290 else 2 ** 48) if abs(bound) < 1.0e-30 and beta < 1.0e+23 else 1
//   factor = 1 if bound == 0 else beta * lift
//   above = fma(x, factor, -min(bound, 2000) * lift) > 0
//   v = x * beta
//   low = 0 if is_half or abs(v) > 2000 else fma(-abs(x), beta, abs(v))
//   r = element_inverse(1 + element_exp_product(1, 1, -abs(v), low))
//   dx = dy if above else dy * r if x >= 0 else element_exp_product(dy, r, -abs(v), low)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A factor;  // 1 if bound == 0 else beta * lift
    A factor0;  // -min(bound, 2000) * lift
    A beta;

    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const bool above = baracuda::fma(x, factor, factor0) > A(0);
        const A v = x * beta;
        const A low = (baracuda::limits<T>::is_half | (baracuda::abs(v) > A(2000))) ? A(0)
            : baracuda::fma(-baracuda::abs(x), beta, baracuda::abs(v));
        const A r = baracuda::element_inverse<T>(A(1)
            + baracuda::element_exp_product<T>(A(1), A(1), -baracuda::abs(v), low));
        out[0] = above ? dy : (x >= A(0) ? dy * r : baracuda::element_exp_product<T>(dy, r, -baracuda::abs(v), low));
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
BARACUDA_KERNEL(softplus_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(softplus_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(softplus_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(softplus_backward, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
