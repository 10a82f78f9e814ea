// geglu_backward: gradients of a times gelu(b); Shazeer 2020.
//   da = dy * gelu(b)
//   db = gelu_backward(dy * a, b)
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
        const A gelu_a = baracuda::min(baracuda::abs(b), A(60));
        const A gelu_value = baracuda::element_less_tail_moment<T>(baracuda::max(b, A(-0.0)), gelu_a);
        const A gelu_backward_dy = dy * a;
        const A gelu_backward_tail = baracuda::element_bell_product<T>(b >= A(0) ? A(1) : gelu_backward_dy,
            baracuda::element_mills_excess<T>(gelu_a), gelu_a);
        const A gelu_backward_value = b >= A(0) ? gelu_backward_dy * (A(1) - gelu_backward_tail) : gelu_backward_tail;
        out[0] = dy * gelu_value;
        out[1] = gelu_backward_value;
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
BARACUDA_KERNEL(geglu_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(geglu_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(geglu_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(geglu_backward, tiled, 256, baracuda::tiled_at_once(5, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
