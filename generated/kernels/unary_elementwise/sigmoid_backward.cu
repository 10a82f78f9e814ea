// sigmoid_backward: gradients of 1 / (1 + exp(-x)), the logistic function.
//   z = exp(-abs(x))
//   h = max(exp(-abs(x) / 2), smallest_subnormal)
//   dx = dy * (z / ((1 + z) * (1 + z))) if abs(x) < 40 else dy * h * h
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A z = baracuda::exp(-baracuda::abs(x));
        const A h = baracuda::max(baracuda::exp(-baracuda::abs(x) / A(2)), A(baracuda::limits<A>::smallest_subnormal));
        out[0] = baracuda::abs(x) < A(40) ? dy * (z / ((A(1) + z) * (A(1) + z))) : dy * h * h;
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
BARACUDA_KERNEL(sigmoid_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(sigmoid_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(sigmoid_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL(sigmoid_backward, tiled, 256, Tiled) { baracuda::map_tiled<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
