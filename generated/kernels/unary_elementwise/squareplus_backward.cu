// squareplus_backward: gradients of half of x + sqrt(x * x + b), a smooth relu; Barron 2021.
//   usual = 1.0e-30 < b < 1.0e+30
//   square = fma(x, x, b)
//   plain = usual and square < 1.0e+27 * min(b, 1.0e+8)
//   root = element_sqrt(square)
//   share = element_quotient(b / 2, fma(abs(x), root, square))
//   slope = share if x < 0 else 1 - share
//   r = hypot(x, sqrt(b))
//   half = max(r / 2 - x / 2, smallest_subnormal)
//   c = sqrt(b) / 2
//   t = c / x * (c / x)
//   far = scaled_ratio(dy, b / 4, x) * fma(t, fma(t, 10, -3), 1)
//   rare = scaled_product(dy, max(c / half, smallest_subnormal), max(c / r, smallest_subnormal))
//   left = far if usual else rare if b > 0 else 0 * dy if x < 0 else x
//   right = dy * (((1 if isinf(x) else x / r) + 1) / 2)
//   dx = dy * slope if plain else right if x >= 0 else left
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A b;
    A factor0;  // 1e27 * min(b, 100000000.0)
    A factor1;  // b / 2
    A factor2;  // sqrt(b)
    A c;  // sqrt(b) / 2
    A factor3;  // b / 4
    bool usual;  // 1e-30 < b < 1e30
    bool flag0;  // b > 0

    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A square = baracuda::fma(x, x, b);
        const bool plain = usual & (square < factor0);
        const A root = baracuda::element_sqrt<T>(square);
        const A share = baracuda::element_quotient<T>(factor1, baracuda::fma(baracuda::abs(x), root, square));
        const A slope = x < A(0) ? share : A(1) - share;
        const A r = baracuda::hypot(x, factor2);
        const A half = baracuda::max(r / A(2) - x / A(2), A(baracuda::limits<A>::smallest_subnormal));
        const A t = c / x * (c / x);
        const A far = baracuda::scaled_ratio(dy, factor3, x) * baracuda::fma(t, baracuda::fma(t, A(10), A(-3)), A(1));
        const A rare = baracuda::scaled_product(dy, baracuda::max(c / half, A(baracuda::limits<A>::smallest_subnormal)),
            baracuda::max(c / r, A(baracuda::limits<A>::smallest_subnormal)));
        const A left = usual ? far : (flag0 ? rare : (x < A(0) ? A(0) * dy : x));
        const A right = dy * (((baracuda::isinf(x) ? A(1) : x / r) + A(1)) / A(2));
        out[0] = plain ? dy * slope : (x >= A(0) ? right : left);
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
