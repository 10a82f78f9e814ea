// squareplus_backward: gradients of half of x + sqrt(x * x + b), a smooth relu; Barron 2021.
//   places = 0 if b == 0 else floor(log2(b) / 2)
//   below = 2 ** places
//   scale = 2 ** (-24 - places)
//   z = abs(x) * scale
//   far = epsilon < 0.0001 and z > 2.5e-10 / smallest_subnormal
//   square = fma(z, z, b * scale * scale)
//   root = element_root(square) if isfinite(square) else z
//   q = 0 if far else element_quotient(b / below / 2 * scale, root + z)
//   p = element_quotient(below * scale, 1 if far else root)
//   slope = p if x < 0 else fma(-p, q, 1)
//   rest = q if x < 0 else 1
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
    A factor1;  // b / below / 2 * scale
    A factor2;  // below * scale
    bool flag0;  // b > 0

    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A dy = in[0];
        const A x = in[1];
        const A z = baracuda::abs(x) * scale;
        const bool far = (A(baracuda::limits<T>::epsilon) < A(0.0001)) & (z > A(2.5e-10)
            / A(baracuda::limits<A>::smallest_subnormal));
        const A square = baracuda::fma(z, z, factor0);
        const A root = baracuda::isfinite(square) ? baracuda::element_root<T>(square) : z;
        const A q = far ? A(0) : baracuda::element_quotient<T>(factor1, root + z);
        const A p = baracuda::element_quotient<T>(factor2, far ? A(1) : root);
        const A slope = x < A(0) ? p : baracuda::fma(-p, q, A(1));
        const A rest = x < A(0) ? q : A(1);
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
