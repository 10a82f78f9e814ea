// squareplus_backward: gradients of half of x + sqrt(x * x + b), a smooth relu; Barron 2021.
//   places = 0 if b == 0 else floor(log2(b) / 2)
//   below = 2 ** places  # half of the root of b, or more
//   scale = 2 ** (-24 - places)
//   z = min(abs(x) * scale, 1.0e+36 if epsilon > 1.0e-10 else 1.7e+308)  # p is not 0 beside an infinite dy
//   square = fma(z, z, b * scale * scale)
//   near = z < 1.0e+10  # farther off, the root is z
//   over = b * scale * scale / 2 if near else below * scale
//   p = element_quotient(over, fma(z, element_root(square), square) if near else z)
//   again = b / below / below / 4 * p if abs(x) < inf else 0
//   slope = p if x < 0 else 1 - p
//   rest = 1 if near or x >= 0 else again
//   bent = dy if x > 0 else 0 * dy if x < 0 else dy / 2 + x
//   dx = dy * slope * rest if b > 0 else bent
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A scale;  // 2 ** (-24 - places)
    A factor0;  // b * scale * scale
    A factor1;  // b * scale * scale / 2
    A factor2;  // below * scale
    A factor3;  // b / below / below / 4
    bool flag0;  // b > 0

    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A z = baracuda::min(baracuda::abs(x) * scale,
            A(baracuda::limits<T>::epsilon) > A(1e-10) ? A(1e+36) : A(1.7e+308));
        const A square = baracuda::fma(z, z, factor0);
        const bool near = z < A(10000000000.0);
        const A over = near ? factor1 : factor2;
        const A p = baracuda::element_quotient<T>(over,
            near ? baracuda::fma(z, baracuda::element_root<T>(square), square) : z);
        const A again = baracuda::abs(x) < baracuda::inf<A> ? factor3 * p : A(0);
        const A slope = x < A(0) ? p : A(1) - p;
        const A rest = (near | (x >= A(0))) ? A(1) : again;
        const A bent = x > A(0) ? dy : (x < A(0) ? A(0) * dy : dy / A(2) + x);
        out[0] = flag0 ? dy * slope * rest : bent;
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
BARACUDA_KERNEL(squareplus_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(squareplus_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(squareplus_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(squareplus_backward, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
