// mish: x times tanh(softplus(x)); Misra 2019.
//   z = element_exp_addend(-abs(x))
//   p = 1 + 2 * z if x >= 0 else z + 2
//   q = p + 2 * z * z if x >= 0 else fma(z, p, 2)
//   y = (x if x >= 0 else element_exp_times(max(x, -2000), -abs(x))) * element_quotient(p, q)
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
        const A z = baracuda::element_exp_addend<T>(-baracuda::abs(x));
        const A p = x >= A(0) ? A(1) + A(2) * z : z + A(2);
        const A q = x >= A(0) ? p + A(2) * z * z : baracuda::fma(z, p, A(2));
        out[0] = (x >= A(0) ? x : baracuda::element_exp_times<T>(baracuda::max(x, A(-2000)), -baracuda::abs(x)))
            * baracuda::element_quotient<T>(p, q);
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
BARACUDA_KERNEL(mish, contig, 256, Contig) { baracuda::map_contig_packs<2, T>(p.operands, p.formula); }
BARACUDA_KERNEL(mish, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(mish, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(mish, tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
