// mish_backward: gradients of x times tanh(softplus(x)); Misra 2019.
//   h = max(exp(min(x, 25) / 2), smallest_subnormal)
//   e = h * h
//   m = e * (e + 2) + 2
//   z = max(x, -2000)
//   dx = dy if x > 25 else dy * (e * (((e + 2) * m + 4 * z * (1 + e)) / m / m)) if x > 0 else dy * h * (((e + 2) * m +
//       4 * z * (1 + e)) / m / m) * h
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
        const A h = baracuda::max(baracuda::exp(baracuda::min(x, A(25)) / A(2)),
            A(baracuda::limits<A>::smallest_subnormal));
        const A e = h * h;
        const A m = e * (e + A(2)) + A(2);
        const A z = baracuda::max(x, A(-2000));
        out[0] = x > A(25) ? dy : (x > A(0) ? dy * (e * (((e + A(2)) * m + A(4) * z * (A(1) + e)) / m / m)) : dy * h
            * (((e + A(2)) * m + A(4) * z * (A(1) + e)) / m / m) * h);
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
BARACUDA_KERNEL(mish_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(mish_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(mish_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL(mish_backward, tiled, 256, Tiled) { baracuda::map_tiled<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
