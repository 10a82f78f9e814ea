// softplus: log(1 + exp(beta * x)) / beta, and x where beta * x is above a threshold; inf for none.
//   v = x * beta
//   z = element_exp_addend(-abs(v))
//   tail = element_exp_times(element_log1p_ratio(z), -abs(v))
//   each = 1 / beta
//   far = min(bound, 800)
//   y = x if v > far else (max(v, 0) + tail) * each
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A beta;
    A each;  // 1 / beta
    A far;  // min(bound, 800)

    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const A v = x * beta;
        const A z = baracuda::element_exp_addend<T>(-baracuda::abs(v));
        const A tail = baracuda::element_exp_times<T>(baracuda::element_log1p_ratio<T>(z), -baracuda::abs(v));
        out[0] = v > far ? x : (baracuda::max(v, A(0)) + tail) * each;
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
BARACUDA_KERNEL(softplus, contig, 256, Contig) {
    baracuda::map_contig_packs<sizeof(T) == 2 ? 1 : 2, T>(p.operands, p.formula);
}
BARACUDA_KERNEL(softplus, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(softplus, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(softplus, tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
