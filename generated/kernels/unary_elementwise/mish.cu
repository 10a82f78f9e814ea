// mish: x times tanh(softplus(x)); Misra 2019.
//   h = exp(min(x, 25) / 2)
//   e = h * h
//   n = e * (e + 2)
//   y = x if x > 25 else max(x, -2000) * h * (e + 2) / (n + 2) * h
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const A h = baracuda::exp(baracuda::min(x, A(25)) / A(2));
        const A e = h * h;
        const A n = e * (e + A(2));
        out[0] = x > A(25) ? x : baracuda::max(x, A(-2000)) * h * (e + A(2)) / (n + A(2)) * h;
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
BARACUDA_KERNEL(mish, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(mish, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(mish, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL(mish, tiled, 256, Tiled) { baracuda::map_tiled<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
