// squareplus: half of x + sqrt(x * x + b), a smooth relu; Barron 2021.
//   usual = 1.0e-30 < b < 1.0e+30
//   square = fma(x, x, b)
//   plain = usual and square < 1.0e+35
//   half = element_sqrt(square) / 2 + abs(x) / 2
//   size = max(hypot(x, sqrt(b)) / 2 + abs(x) / 2, smallest_subnormal)
//   c = sqrt(b) / 2
//   rare = size if x >= 0 else b / 4 / size if b > 1.0e-30 else c / size * c
//   y = rare if not plain else half if x >= 0 else element_quotient(b / 4, half)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A b;
    A factor0;  // sqrt(b)
    A c;  // sqrt(b) / 2
    A factor1;  // b / 4
    bool usual;  // 1e-30 < b < 1e30
    bool flag0;  // b > 1e-30

    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const A square = baracuda::fma(x, x, b);
        const bool plain = usual & (square < A(1e+35));
        const A half = baracuda::element_sqrt<T>(square) / A(2) + baracuda::abs(x) / A(2);
        const A size = baracuda::max(baracuda::hypot(x, factor0) / A(2) + baracuda::abs(x) / A(2),
            A(baracuda::limits<A>::smallest_subnormal));
        const A rare = x >= A(0) ? size : (flag0 ? factor1 / size : c / size * c);
        out[0] = !plain ? rare : (x >= A(0) ? half : baracuda::element_quotient<T>(factor1, half));
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

#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(squareplus, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(squareplus, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(squareplus, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(squareplus, tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
