// log_ndtr_backward: gradients of logarithm of ndtr, accurate in both tails.
//   a = min(x, 60)  # beyond, the result is 0
//   t = a * a
//   upper = element_exp_product(dy, 0.3989422804014327 / ndtr(x), -t / 2, -fma(a, a, -t) / 2)
//   dx = upper if x > 0 else dy * -x if x < -1.0e+10 else dy * log_ndtr_slope(x)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>
#include <baracuda/normal.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A a = baracuda::min(x, A(60));
        const A t = a * a;
        const A upper = baracuda::element_exp_product<T>(dy, A(0.3989422804014327) / baracuda::ndtr(x), -t / A(2),
            -baracuda::fma(a, a, -t) / A(2));
        out[0] = x > A(0) ? upper : (x < A(-10000000000.0) ? dy * (-x) : dy * baracuda::log_ndtr_slope(x));
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
BARACUDA_KERNEL(log_ndtr_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(log_ndtr_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(log_ndtr_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(log_ndtr_backward, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
