// erfcx_backward: gradients of exp(x * x) * erfc(x), the scaled complementary error function.
//   t = max(x, -105)  # beyond, the result is infinite
//   s = t * t
//   dx = scaled_exp_product(dy, x, s, fma(t, t, -s)) * 4 if x < -6.5 else dy / x / x * -0.5641895835477563 if x >
//       1.0e+10 else dy * erfcx_slope(x)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/exp_product.cuh>
#include <baracuda/normal.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A t = baracuda::max(x, A(-105));
        const A s = t * t;
        out[0] = x < A(-6.5) ? baracuda::scaled_exp_product(dy, x, s, baracuda::fma(t, t, -s)) * A(4)
            : (x > A(10000000000.0) ? dy / x / x * A(-0.5641895835477563) : dy * baracuda::erfcx_slope(x));
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
BARACUDA_KERNEL(erfcx_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(erfcx_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(erfcx_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(erfcx_backward, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
