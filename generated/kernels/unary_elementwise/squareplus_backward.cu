// squareplus_backward: gradients of half of x + sqrt(x * x + b), a smooth relu; Barron 2021.
//   near = min(x, 1.0e+30)
//   r = hypot(near, sqrt(b))
//   other = b / 4
//   dx = dy * ((near / r + 1) / 2) if x >= 0 else dy / (r / 2 - x / 2) * other / r
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A factor0;  // sqrt(b)
    A other;  // b / 4

    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A near = baracuda::min(x, A(1e+30));
        const A r = baracuda::hypot(near, factor0);
        out[0] = x >= A(0) ? dy * ((near / r + A(1)) / A(2)) : dy / (r / A(2) - x / A(2)) * other / r;
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
BARACUDA_KERNEL(squareplus_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(squareplus_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(squareplus_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(squareplus_backward, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
