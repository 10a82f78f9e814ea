// lerp_tensor: linear interpolation from a (c = 0) to b (c = 1); torch.lerp with a tensor as weight.
// As lerp: exact at both ends, monotonic, without overflow between finite ends.
//   rest = 1 - c
//   toward_b = abs(a) <= abs(b)
//   near = a if toward_b else b
//   far = b if toward_b else a
//   t = c if toward_b else rest
//   z = near if near == far or t == 0 else far if t == 1 and not isnan(near) else fma(t, far - near, near)
//   beyond = z > far if far > 0 else z < far
//   between = z if is_half or beyond == (t > 1) or isnan(z) else far  # 16 bits round both to one number
//   mixed = a * rest + b * c
//   y = a + c * (b - a) if not isfinite(c) else a if c == 0 else b if c == 1 else mixed if (a < 0) != (b < 0) else
//       between
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[3], A (&out)[1]) const {
        const A a = in[0];
        const A b = in[1];
        const A c = in[2];
        const A rest = A(1) - c;
        const bool toward_b = baracuda::abs(a) <= baracuda::abs(b);
        const A near = toward_b ? a : b;
        const A far = toward_b ? b : a;
        const A t = toward_b ? c : rest;
        const A z = ((near == far) | (t == A(0))) ? near
            : (((t == A(1)) & !baracuda::isnan(near)) ? far : baracuda::fma(t, far - near, near));
        const bool beyond = far > A(0) ? z > far : z < far;
        const A between = (baracuda::limits<T>::is_half | (beyond == (t > A(1))) | baracuda::isnan(z)) ? z : far;
        const A mixed = a * rest + b * c;
        out[0] = !baracuda::isfinite(c) ? a + c * (b - a)
            : (c == A(0) ? a : (c == A(1) ? b : ((a < A(0)) != (b < A(0)) ? mixed : between)));
    }
};

template <class Operands> struct Params {
    Operands operands;
    Formula formula;
};
using Contig = Params<baracuda::ContigMap<3, 1>>;
using Strided = Params<baracuda::StridedMap<baracuda::i32, 3, 1>>;
using Strided64 = Params<baracuda::StridedMap<baracuda::i64, 3, 1>>;
using Tiled = Params<baracuda::TiledMap<3, 1>>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(lerp_tensor, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(lerp_tensor, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(lerp_tensor, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(lerp_tensor, tiled, 256, baracuda::tiled_at_once(4, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
