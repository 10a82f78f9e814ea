// gelu_tanh_backward: gradients of gelu by way of tanh, as GPT-2 has it; Hendrycks and Gimpel 2016.
//   a = min(abs(x), 40)
//   t = a * a
//   p = fma(t, 0.07135481387376785, 1.5957691669464111)
//   u = p - 1.5957691669464111
//   rest = fma(t, 0.07135481387376785, -u) - (p - u - 1.5957691669464111) + fma(fma(a, a, -t), 0.07135481387376785,
//       fma(t, 2.3988323959931355e-09, -4.5340680421052719e-08))
//   v = a * p
//   low = fma(a, rest, fma(a, p, -v))
//   z = element_exp_product(1, 1, -v, -low)  # shares its steps with that of dx
//   r = element_inverse(1 + z)
//   slope = 1.5957691216057308 + t * 0.21406444881780075
//   s = fma(a * slope * (z if x >= 0 else -1), r, 1) * r
//   dx = dy * s if x >= 0 else element_exp_product(dy, s, -v, -low)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A a = baracuda::min(baracuda::abs(x), A(40));
        const A t = a * a;
        const A p = baracuda::fma(t, A(0.07135481387376785), A(1.5957691669464111));
        const A u = p - A(1.5957691669464111);
        const A rest = baracuda::fma(t, A(0.07135481387376785), -u) - (p - u - A(1.5957691669464111))
            + baracuda::fma(baracuda::fma(a, a, -t), A(0.07135481387376785),
                baracuda::fma(t, A(2.3988323959931355e-09), A(-4.534068042105272e-08)));
        const A v = a * p;
        const A low = baracuda::fma(a, rest, baracuda::fma(a, p, -v));
        const A z = baracuda::element_exp_product<T>(A(1), A(1), -v, -low);
        const A r = baracuda::element_inverse<T>(A(1) + z);
        const A slope = A(1.5957691216057308) + t * A(0.21406444881780076);
        const A s = baracuda::fma(a * slope * (x >= A(0) ? z : A(-1)), r, A(1)) * r;
        out[0] = x >= A(0) ? dy * s : baracuda::element_exp_product<T>(dy, s, -v, -low);
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
BARACUDA_KERNEL(gelu_tanh_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(gelu_tanh_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(gelu_tanh_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(gelu_tanh_backward, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
