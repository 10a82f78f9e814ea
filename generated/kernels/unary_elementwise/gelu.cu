// gelu: x times ndtr(x); Hendrycks and Gimpel 2016.
//   h = gaussian(x / 2)
//   y = x * ndtr(x) if x >= 0 else max(x, -1000) * h * (erfcx(-x * 0.7071067811865476) / 2) * h
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/normal.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const A h = baracuda::gaussian(x / A(2));
        out[0] = x >= A(0) ? x * baracuda::ndtr(x) : baracuda::max(x, A(-1000)) * h
            * (baracuda::erfcx(-x * A(0.7071067811865476)) / A(2)) * h;
    }
};

template <class Operands> struct Params {
    Operands operands;
    Formula formula;
};
using Contig = Params<baracuda::ContigMap<1, 1>>;
using Strided = Params<baracuda::StridedMap<baracuda::i32, 1, 1>>;
using Strided64 = Params<baracuda::StridedMap<baracuda::i64, 1, 1>>;
using Tiled = Params<baracuda::TiledMap<1, 1>>;

#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(gelu, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(gelu, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(gelu, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL(gelu, tiled, 256, Tiled) { baracuda::map_tiled<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
