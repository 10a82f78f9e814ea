// softplus: log(1 + exp(beta * x)) / beta, and x where beta * x is above a threshold; inf for none.
//   # No difference underflows; beyond 1e23, none would.
//   lift = (2 ** 110 if abs(bound) < 1.0e-290 else 2 ** 48) if abs(bound) < 1.0e-30 and beta < 1.0e+23 else 1
//   factor = 1 if bound == 0 else beta * lift
//   above = fma(x, factor, -min(bound, 2000) * lift) > 0
//   size = abs(x) if is_half else min(abs(x), 2000 / beta)
//   rate = beta * 1.4426950408889634
//   z = element_decay(size, beta, rate)
//   tail = element_lifted_decay(element_log1p_ratio(z), size, beta, rate)
//   down = 1 if beta <= 1 else 2 ** -60  # 2^-60 in all, where no product is subnormal
//   rest = 2 ** -60 / down / beta
//   more = 1 / beta if is_half else rest
//   y = x if above else fma(tail if is_half else tail * down, more, max(x, 0))
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>
#include <baracuda/element_logs.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A factor;  // 1 if bound == 0 else beta * lift
    A factor0;  // -min(bound, 2000) * lift
    A factor1;  // 2000 / beta
    A rate;  // beta * 1.4426950408889634
    A beta;
    A down;  // 1 if beta <= 1 else 2 ** -60
    A rest;  // 2 ** -60 / down / beta
    A factor2;  // 1 / beta

    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const bool above = baracuda::fma(x, factor, factor0) > A(0);
        const A size = baracuda::limits<T>::is_half ? baracuda::abs(x) : baracuda::min(baracuda::abs(x), factor1);
        const A z = baracuda::element_decay<T>(size, beta, rate);
        const A tail = baracuda::element_lifted_decay<T>(baracuda::element_log1p_ratio<T>(z), size, beta, rate);
        const A more = baracuda::limits<T>::is_half ? factor2 : rest;
        out[0] = above ? x : baracuda::fma(baracuda::limits<T>::is_half ? tail : tail * down, more,
            baracuda::max(x, A(0)));
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
BARACUDA_KERNEL(softplus, contig, 256, Contig) {
    baracuda::map_contig_packs<sizeof(T) == 2 ? 1 : 4, T>(p.operands, p.formula);
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
