// geglu_tanh: a times gelu_tanh(b).
//   y = a * gelu_tanh(b)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A a = in[0];
        const A b = in[1];
        const A gelu_tanh_a = baracuda::min(baracuda::abs(b), A(40));
        const A gelu_tanh_t = gelu_tanh_a * gelu_tanh_a;
        const A gelu_tanh_p = baracuda::fma(gelu_tanh_t, A(0.07135481387376785), A(1.5957691669464111));
        const A gelu_tanh_u = gelu_tanh_p - A(1.5957691669464111);
        const A gelu_tanh_rest = baracuda::fma(gelu_tanh_t, A(0.07135481387376785), -gelu_tanh_u)
            - (gelu_tanh_p - gelu_tanh_u - A(1.5957691669464111))
                + baracuda::fma(baracuda::fma(gelu_tanh_a, gelu_tanh_a, -gelu_tanh_t), A(0.07135481387376785),
                    baracuda::fma(gelu_tanh_t, A(2.3988323959931355e-09), A(-4.534068042105272e-08)));
        const A gelu_tanh_v = gelu_tanh_a * gelu_tanh_p;
        const A gelu_tanh_low = baracuda::fma(gelu_tanh_a, gelu_tanh_rest,
            baracuda::fma(gelu_tanh_a, gelu_tanh_p, -gelu_tanh_v));
        const A gelu_tanh_z = baracuda::element_exp_addend<T>(-gelu_tanh_v, -gelu_tanh_low);
        const A gelu_tanh_r = baracuda::element_inverse<T>(A(1) + gelu_tanh_z);
        const A gelu_tanh_value = (b >= A(0) ? b
            : baracuda::element_exp_times<T>(-gelu_tanh_a, -gelu_tanh_v, -gelu_tanh_low)) * gelu_tanh_r;
        out[0] = a * gelu_tanh_value;
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
BARACUDA_KERNEL(geglu_tanh, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(geglu_tanh, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(geglu_tanh, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(geglu_tanh, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
