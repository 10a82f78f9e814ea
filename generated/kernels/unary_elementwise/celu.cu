// celu: x, below 0 alpha times exp(x / alpha) - 1; Barron 2017.
// The rest is what the quotient lost to rounding, which exp would magnify.
//   lift = 2 ** 60 if alpha < 1.0e-30 else 2 ** -60 if alpha > 1.0e+30 else 1
//   lifted = alpha * lift
//   each = 1 / lifted
//   q = x * each * lift
//   rest = 0 if is_half or abs(q) > 2000 else fma(-q, lifted, x * lift) * each
//   e = element_expm1(q)
//   y = x if q > -1.0e-20 else alpha * (e + (e + 1) * rest)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A lift;  // 2 ** 60 if alpha < 1e-30 else 2 ** -60 if alpha > 1e30 else 1
    A lifted;  // alpha * lift
    A each;  // 1 / lifted
    A alpha;

    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const A q = x * each * lift;
        const A rest = (baracuda::limits<T>::is_half | (baracuda::abs(q) > A(2000))) ? A(0)
            : baracuda::fma(-q, lifted, x * lift) * each;
        const A e = baracuda::element_expm1<T>(q);
        out[0] = q > A(-1e-20) ? x : alpha * (e + (e + A(1)) * rest);
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
BARACUDA_KERNEL(celu, contig, 256, Contig) {
    baracuda::map_contig_packs<sizeof(T) == 2 ? 1 : 2, T>(p.operands, p.formula);
}
BARACUDA_KERNEL(celu, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(celu, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(celu, tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
