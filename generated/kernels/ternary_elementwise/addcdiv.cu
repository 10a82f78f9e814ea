// addcdiv: a + factor * b / c.
//   y = a + factor * b / c
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A factor;

    BARACUDA_FN void operator()(const A (&in)[3], A (&out)[1]) const {
        const A a = in[0];
        const A b = in[1];
        const A c = in[2];
        out[0] = a + factor * b / c;
    }
};

template <class Operands> struct Params {
    Operands operands;
    Formula formula;
};
using Contig = Params<baracuda::ContigMap<3, 1>>;
using Strided = Params<baracuda::StridedMap<baracuda::i32, 3, 1>>;
using Strided64 = Params<baracuda::StridedMap<baracuda::i64, 3, 1>>;
using Tiled = Params<baracuda::TiledMap<3, 1>>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(addcdiv, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(addcdiv, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(addcdiv, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(addcdiv, tiled, 256, baracuda::tiled_at_once(4, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
