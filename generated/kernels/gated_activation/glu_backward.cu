// glu_backward: gradients of a times sigmoid(b); Dauphin et al. 2017.
//   da = dy * sigmoid(b)
//   db = sigmoid_backward(dy * a, b)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[3], A (&out)[2]) const {
        const A dy = in[0];
        const A a = in[1];
        const A b = in[2];
        const A sigmoid_backward_dy = dy * a;
        const A sigmoid_backward_z = baracuda::element_exp_product<T>(A(1), A(1), -baracuda::abs(b));
        const A sigmoid_backward_value = baracuda::element_exp_product<T>(sigmoid_backward_dy,
            baracuda::element_inverse<T>(baracuda::fma(sigmoid_backward_z, sigmoid_backward_z + A(2), A(1))),
                -baracuda::abs(b));
        out[0] = dy * baracuda::sigmoid(b);
        out[1] = sigmoid_backward_value;
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
BARACUDA_KERNEL(glu_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(glu_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(glu_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(glu_backward, tiled, 256, baracuda::tiled_at_once(5, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
