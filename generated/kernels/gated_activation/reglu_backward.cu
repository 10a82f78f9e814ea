// reglu_backward: gradients of a times relu(b); Shazeer 2020.
//   da = dy * relu(b)
//   db = relu_backward(dy * a, b)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[3], A (&out)[2]) const {
        const A dy = in[0];
        const A a = in[1];
        const A b = in[2];
        const A relu_value = baracuda::max(b, A(0));
        const A relu_backward_dy = dy * a;
        const A relu_backward_value = b <= A(0) ? A(0) : relu_backward_dy;
        out[0] = dy * relu_value;
        out[1] = relu_backward_value;
    }
};

template <class Operands> struct Params {
    Operands operands;
    Formula formula;
};
using Contig = Params<baracuda::ContigMap<3, 2>>;
using Strided = Params<baracuda::StridedMap<baracuda::i32, 3, 2>>;
using Strided64 = Params<baracuda::StridedMap<baracuda::i64, 3, 2>>;
using Tiled = Params<baracuda::TiledMap<3, 2>>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(reglu_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reglu_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reglu_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(reglu_backward, tiled, 256, baracuda::tiled_at_once(5, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
