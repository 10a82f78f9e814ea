// isclose: whether a and b are equal, or finite with a difference of at most atol + rtol * abs(b), in double.
// In double: integers do not wrap around there, and a difference beyond f32 is no infinity.
//   gap = distance(a, b)
//   near = gap <= atol + rtol * distance(b, 0)
//   both_nan = isnan(a) and isnan(b)
//   y = a == b or isfinite(gap) and near or equal_nan and both_nan
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/cast.cuh>
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    double atol;
    double rtol;
    bool equal_nan;

    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A a = in[0];
        const A b = in[1];
        const double gap = baracuda::distance(a, b);
        const bool near = gap <= atol + rtol * baracuda::distance(b, A(0));
        const bool both_nan = baracuda::isnan(a) & baracuda::isnan(b);
        out[0] = A((a == b) | (baracuda::isfinite(gap) & near) | (equal_nan & both_nan));
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

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(isclose, contig, 256, Contig) { baracuda::map_contig<T, baracuda::boolean>(p.operands, p.formula); }
BARACUDA_KERNEL(isclose, strided, 256, Strided) { baracuda::map_strided<T, baracuda::boolean>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(isclose, strided64, 256, Strided64) {
    baracuda::map_strided<T, baracuda::boolean>(p.operands, p.formula);
}
BARACUDA_KERNEL_AT_ONCE(isclose, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T, baracuda::boolean>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
