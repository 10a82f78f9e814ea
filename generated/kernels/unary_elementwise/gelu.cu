// gelu: x times ndtr(x); Hendrycks and Gimpel 2016.
//   a = min(abs(x), 60)
//   t = a * a
//   low = fma(a, a, -t)
//   tail = element_exp_product(1, element_mills_moment(a), -t / 2, -low / 2)
//   y = x - tail if x >= 0 else -tail
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const A a = baracuda::min(baracuda::abs(x), A(60));
        const A t = a * a;
        const A low = baracuda::fma(a, a, -t);
        const A tail = baracuda::element_exp_product<T>(A(1), baracuda::element_mills_moment<T>(a), -t / A(2),
            -low / A(2));
        out[0] = x >= A(0) ? x - tail : -tail;
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
BARACUDA_KERNEL(gelu, contig, 256, Contig) { baracuda::map_contig_packs<2, T>(p.operands, p.formula); }
BARACUDA_KERNEL(gelu, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(gelu, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL(gelu, tiled, 256, Tiled) { baracuda::map_tiled<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
