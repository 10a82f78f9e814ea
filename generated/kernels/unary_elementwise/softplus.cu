// softplus: log(1 + exp(beta * x)) / beta, and x where beta * x is above a threshold; inf for none.
//   v = x * beta
//   low = 0 if epsilon > 0.0001 or abs(v) > 2000 else fma(-abs(x), beta, abs(v))
//   z = element_exp_addend(-abs(v), low)
//   lift = 68719476736 if beta <= 0.5 else 1
//   tail = element_exp_times(element_log1p_ratio(z) * (1 if epsilon > 0.0001 else lift), -abs(v), low)
//   more = 1 / beta if epsilon > 0.0001 else 1 / beta / lift
//   y = x if v > bound else fma(tail, more, max(x, 0))
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>
#include <baracuda/element_logs.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A beta;
    A lift;  // 68719476736 if beta <= 0.5 else 1
    A factor0;  // 1 / beta
    A factor1;  // 1 / beta / lift
    A bound;

    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const A v = x * beta;
        const A low = ((A(baracuda::limits<T>::epsilon) > A(0.0001)) | (baracuda::abs(v) > A(2000))) ? A(0)
            : baracuda::fma(-baracuda::abs(x), beta, baracuda::abs(v));
        const A z = baracuda::element_exp_addend<T>(-baracuda::abs(v), low);
        const A tail = baracuda::element_exp_times<T>(baracuda::element_log1p_ratio<T>(z)
            * (A(baracuda::limits<T>::epsilon) > A(0.0001) ? A(1) : lift), -baracuda::abs(v), low);
        const A more = A(baracuda::limits<T>::epsilon) > A(0.0001) ? factor0 : factor1;
        out[0] = v > bound ? x : baracuda::fma(tail, more, baracuda::max(x, A(0)));
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
