// gelu_backward: gradients of x times ndtr(x); Hendrycks and Gimpel 2016.
//   h = max(gaussian(x / 2), smallest_subnormal)
//   z = clamp(x, -1000, 1000)
//   part = z * 0.3989422804014327
//   dx = dy * (ndtr(x) + part * h * h) if x >= 0 else dy * h * (erfcx(-z * 0.7071067811865476) / 2 + part) * h
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
        const A h = baracuda::max(baracuda::gaussian(x / A(2)), A(baracuda::limits<A>::smallest_subnormal));
        const A z = baracuda::clamp(x, A(-1000), A(1000));
        const A part = z * A(0.3989422804014327);
        out[0] = x >= A(0) ? dy * (baracuda::ndtr(x) + part * h * h) : dy * h
            * (baracuda::erfcx(-z * A(0.7071067811865476)) / A(2) + part) * h;
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
BARACUDA_KERNEL(gelu_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(gelu_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(gelu_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL(gelu_backward, tiled, 256, Tiled) { baracuda::map_tiled<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
