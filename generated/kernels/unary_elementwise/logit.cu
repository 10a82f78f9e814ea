// logit: log(x / (1 - x)), the inverse of sigmoid, of x between eps and 1 - eps where eps is not negative.
//   low = eps if eps >= 0 else -inf
//   below = x < low
//   # From 1 - eps on, which rounds, it is what it is at eps with the other sign.
//   above = 1 - x < low and not below
//   z = eps if below or above else x
//   v = element_log_odds(z)
//   y = -v if above else v
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element_logs.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A low;  // eps if eps >= 0 else -inf
    A eps;

    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const bool below = x < low;
        const bool above = (A(1) - x < low) & !below;
        const A z = (below | above) ? eps : x;
        const A v = baracuda::element_log_odds<T>(z);
        out[0] = above ? -v : v;
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

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(logit, contig, 256, Contig) { baracuda::map_contig_packs<4, T>(p.operands, p.formula); }
BARACUDA_KERNEL(logit, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(logit, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(logit, tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
