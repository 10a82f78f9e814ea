// nan_to_num: x with numbers for NaN and the infinities; inf for these stands for the largest number of the dtype.
//   top = max_value if for_inf == inf else for_inf
//   bottom = min_value if for_minus_inf == -inf else for_minus_inf
//   y = for_nan if isnan(x) else top if x == inf else bottom if x == -inf else x
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A for_inf;
    A for_minus_inf;
    A for_nan;
    bool flag0;  // for_inf == inf
    bool flag1;  // for_minus_inf == -inf

    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const A top = flag0 ? A(baracuda::limits<T>::max_value) : for_inf;
        const A bottom = flag1 ? A(baracuda::limits<T>::min_value) : for_minus_inf;
        out[0] = baracuda::isnan(x) ? for_nan : (x == baracuda::inf<A> ? top : (x == -baracuda::inf<A> ? bottom : x));
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
BARACUDA_KERNEL(nan_to_num, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(nan_to_num, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(nan_to_num, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(nan_to_num, tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
