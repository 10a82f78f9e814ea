// squareplus_backward: gradients of half of x + sqrt(x * x + b), a smooth relu; Barron 2021.
//   near = min(x, 1.0e+30)
//   square = fma(x, x, b)
//   plain = 1.0e-30 < b < 1.0e+30 and square < 1.0e+6 * b
//   r = sqrt(square) if plain else hypot(near, sqrt(b))
//   half = r / 2 - x / 2
//   c = sqrt(b) / 2
//   far = dy / half * (b / 4) / r if b > 1.0e-30 else dy * (c / half) * (c / r)
//   left = dy * (b / 2 / fma(-x, r, square)) if plain else far
//   dx = dy * ((near / r + 1) / 2) if x >= 0 else left
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A b;
    A factor0;  // 1000000.0 * b
    A factor1;  // sqrt(b)
    A c;  // sqrt(b) / 2
    A factor2;  // b / 4
    A factor3;  // b / 2
    bool flag0;  // 1e-30 < b < 1e30
    bool flag1;  // b > 1e-30

    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A near = baracuda::min(x, A(1e+30));
        const A square = baracuda::fma(x, x, b);
        const bool plain = flag0 & (square < factor0);
        const A r = plain ? baracuda::sqrt(square) : baracuda::hypot(near, factor1);
        const A half = r / A(2) - x / A(2);
        const A far = flag1 ? dy / half * factor2 / r : dy * (c / half) * (c / r);
        const A left = plain ? dy * (factor3 / baracuda::fma(-x, r, square)) : far;
        out[0] = x >= A(0) ? dy * ((near / r + A(1)) / A(2)) : left;
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
