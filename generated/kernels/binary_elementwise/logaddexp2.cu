// logaddexp2: log2(2**a + 2**b); equal infinities get half of the gradient each.
//   far = max(a, b)
//   near = min(a, b)
//   d = 0 if a == b else far - near
//   rest = 0 if d == 0 or d > 1.0e+4 else far - d - near if abs(far) >= abs(near) else far - (d + near)
//   z = element_exp2_times(1, -d, -rest)
//   y = far + element_log1p(z) * 1.4426950408889634
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>
#include <baracuda/element_logs.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A a = in[0];
        const A b = in[1];
        const A far = baracuda::max(a, b);
        const A near = baracuda::min(a, b);
        const A d = a == b ? A(0) : far - near;
        const A rest = ((d == A(0)) | (d > A(10000.0))) ? A(0)
            : (baracuda::abs(far) >= baracuda::abs(near) ? far - d - near : far - (d + near));
        const A z = baracuda::element_exp2_times<T>(A(1), -d, -rest);
        out[0] = far + baracuda::element_log1p<T>(z) * A(1.4426950408889634);
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
BARACUDA_KERNEL(logaddexp2, contig, 256, Contig) { baracuda::map_contig_packs<2, T>(p.operands, p.formula); }
BARACUDA_KERNEL(logaddexp2, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(logaddexp2, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(logaddexp2, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
