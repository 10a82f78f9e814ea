// swiglu_backward: gradients of a times silu(b); Shazeer 2020.
//   da = dy * silu(b)
//   db = silu_backward(dy * a, b)
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
        const A silu_r = baracuda::element_inverse<T>(A(1) + baracuda::element_exp_addend<T>(-baracuda::abs(b)));
        const A silu_tail = baracuda::element_exp_times<T>(baracuda::max(b, A(-2000)), -baracuda::abs(b));
        const A silu_value = (b >= A(0) ? b : silu_tail) * silu_r;
        const A silu_backward_dy = dy * a;
        const A silu_backward_z = baracuda::element_exp_product<T>(A(1), A(1), -baracuda::abs(b));
        const A silu_backward_r = baracuda::element_inverse<T>(A(1) + silu_backward_z);
        const A silu_backward_c = baracuda::clamp(b, A(-2000), A(2000));
        const A silu_backward_s = baracuda::fma(b >= A(0) ? silu_backward_c * silu_backward_z : silu_backward_c,
            silu_backward_r, A(1)) * silu_backward_r;
        const A silu_backward_value = b >= A(0) ? silu_backward_dy * silu_backward_s
            : baracuda::element_exp_product<T>(silu_backward_dy, silu_backward_s, -baracuda::abs(b));
        out[0] = dy * silu_value;
        out[1] = silu_backward_value;
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
BARACUDA_KERNEL(swiglu_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(swiglu_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(swiglu_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(swiglu_backward, tiled, 256, baracuda::tiled_at_once(5, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
