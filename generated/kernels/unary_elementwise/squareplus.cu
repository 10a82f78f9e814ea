// squareplus: half of x + sqrt(x * x + b), a smooth relu; Barron 2021.
// Scaled by a power of two, b is about 2^-48: no square, root or quotient leaves its range too early.
//   places = 0 if b == 0 else floor(log2(b) / 2)
//   below = 2 ** places  # half of the root of b, or more
//   scale = 2 ** (-24 - places)
//   z = abs(x) * scale
//   far = not is_half and z > 2.5e-10 / smallest_subnormal  # beyond 2^117 in f32, where q is 0
//   square = fma(z, z, b * scale * scale)
//   root = element_root(square) if isfinite(square) else z
//   q = 0 if far else element_quotient(b / below / 2 * scale, root + z)
//   size = fma(root, 0.5 / scale, abs(x) / 2) if isfinite(square) else abs(x)
//   wide = size if x >= 0 else q * below
//   y = max(x, 0) if b == 0 else wide
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A below;  // 2 ** places
    A scale;  // 2 ** (-24 - places)
    A factor0;  // b * scale * scale
    A factor1;  // b / below / 2 * scale
    A factor2;  // 0.5 / scale
    bool flag0;  // b == 0

    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        const A z = baracuda::abs(x) * scale;
        const bool far = !baracuda::limits<T>::is_half & (z > A(2.5e-10) / A(baracuda::limits<A>::smallest_subnormal));
        const A square = baracuda::fma(z, z, factor0);
        const A root = baracuda::isfinite(square) ? baracuda::element_root<T>(square) : z;
        const A q = far ? A(0) : baracuda::element_quotient<T>(factor1, root + z);
        const A size = baracuda::isfinite(square) ? baracuda::fma(root, factor2, baracuda::abs(x) / A(2))
            : baracuda::abs(x);
        const A wide = x >= A(0) ? size : q * below;
        out[0] = flag0 ? baracuda::max(x, A(0)) : wide;
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
