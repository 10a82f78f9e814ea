// rsqrt_backward: gradients of 1 / sqrt(x).
//   r = element_rsqrt(x)
//   p = dy * (0.5 * r)
//   apart = ldexp(mantissa(dy) * (0.5 * r) / mantissa(x), exponent(dy) - exponent(x))
//   wide = p / x if abs(p) >= smallest_normal else apart
//   dx = -(dy * 0.5 * abs(r) * r * r if epsilon > 0.0001 else wide)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A r = baracuda::element_rsqrt<T>(x);
        const A p = dy * (A(0.5) * r);
        const A apart = baracuda::ldexp(baracuda::mantissa(dy) * (A(0.5) * r) / baracuda::mantissa(x),
            baracuda::exponent(dy) - baracuda::exponent(x));
        const A wide = baracuda::abs(p) >= A(baracuda::limits<T>::smallest_normal) ? p / x : apart;
        out[0] = -(A(baracuda::limits<T>::epsilon) > A(0.0001) ? dy * A(0.5) * baracuda::abs(r) * r * r : wide);
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
BARACUDA_KERNEL(rsqrt_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(rsqrt_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(rsqrt_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(rsqrt_backward, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
