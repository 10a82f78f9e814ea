// squareplus: half of x + sqrt(x * x + b), a smooth relu; Barron 2021.
//   r = hypot(x, sqrt(b))
//   half = max(r / 2 - x / 2, smallest_subnormal)
//   c = sqrt(b) / 2
//   y = x / 2 + r / 2 if x >= 0 else b / 4 / half if b > 1.0e-30 else c / half * c
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A factor0;  // sqrt(b)
    A c;  // sqrt(b) / 2
    A factor1;  // b / 4
    bool flag0;  // b > 1e-30

    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const A r = baracuda::hypot(x, factor0);
        const A half = baracuda::max(r / A(2) - x / A(2), A(baracuda::limits<A>::smallest_subnormal));
        out[0] = x >= A(0) ? x / A(2) + r / A(2) : (flag0 ? factor1 / half : c / half * c);
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
BARACUDA_KERNEL(squareplus, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(squareplus, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(squareplus, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(squareplus, tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
