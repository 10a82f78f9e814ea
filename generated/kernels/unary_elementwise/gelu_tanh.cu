// gelu_tanh: gelu by way of tanh, as GPT-2 has it; Hendrycks and Gimpel 2016.
//   a = min(abs(x), 40)
//   t = a * a
//   p = fma(t, 0.07135481387376785, 1.5957691669464111)
//   u = p - 1.5957691669464111
//   rest = fma(t, 0.07135481387376785, -u) - (p - u - 1.5957691669464111) + fma(fma(a, a, -t), 0.07135481387376785,
//       fma(t, 2.3988323959931355e-09, -4.5340680421052719e-08))
//   v = a * p
//   low = fma(a, rest, fma(a, p, -v))
//   z = element_exp_addend(-v, -low)
//   r = element_inverse(1 + z)
//   y = (x if x >= 0 else element_exp_times(-a, -v, -low)) * r
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const A a = baracuda::min(baracuda::abs(x), A(40));
        const A t = a * a;
        const A p = baracuda::fma(t, A(0.07135481387376785), A(1.5957691669464111));
        const A u = p - A(1.5957691669464111);
        const A rest = baracuda::fma(t, A(0.07135481387376785), -u) - (p - u - A(1.5957691669464111))
            + baracuda::fma(baracuda::fma(a, a, -t), A(0.07135481387376785),
                baracuda::fma(t, A(2.3988323959931355e-09), A(-4.534068042105272e-08)));
        const A v = a * p;
        const A low = baracuda::fma(a, rest, baracuda::fma(a, p, -v));
        const A z = baracuda::element_exp_addend<T>(-v, -low);
        const A r = baracuda::element_inverse<T>(A(1) + z);
        out[0] = (x >= A(0) ? x : baracuda::element_exp_times<T>(-a, -v, -low)) * r;
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
BARACUDA_KERNEL(gelu_tanh, contig, 256, Contig) {
    baracuda::map_contig_packs<sizeof(T) == 2 ? 1 : 4, T>(p.operands, p.formula);
}
BARACUDA_KERNEL(gelu_tanh, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(gelu_tanh, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(gelu_tanh, tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
