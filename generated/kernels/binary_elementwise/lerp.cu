// lerp: linear interpolation from a (weight 0) to b (weight 1); torch.lerp with a scalar weight.
// Exact at both ends, monotonic in weight, and never overflows between finite ends. Where a and b share a sign, it
// starts from the end nearer to zero, so that nothing cancels, and stops at the farther one.
//   rest = 1 - weight
//   toward_b = abs(a) <= abs(b)
//   near = a if toward_b else b
//   far = b if toward_b else a
//   t = weight if toward_b else rest
//   z = fma(t, far - near, near)
//   beyond = z > far if far > 0 else z < far
//   kept = t != 1 and beyond == (t > 1)
//   between = z if is_half or kept or isnan(z) else far  # 16 bits round both to one number
//   mixed = a * rest + b * weight
//   y = b if weight == 1 else a if weight == 0 or a == b else mixed if (a < 0) != (b < 0) else between
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A rest;  // 1 - weight
    A weight;
    bool flag0;  // weight == 1
    bool flag1;  // weight == 0

    BARACUDA_FN void operator()(const A (&in)[2], A (&out)[1]) const {
        const A a = in[0];
        const A b = in[1];
        const bool toward_b = baracuda::abs(a) <= baracuda::abs(b);
        const A near = toward_b ? a : b;
        const A far = toward_b ? b : a;
        const A t = toward_b ? weight : rest;
        const A z = baracuda::fma(t, far - near, near);
        const bool beyond = far > A(0) ? z > far : z < far;
        const bool kept = (t != A(1)) & (beyond == (t > A(1)));
        const A between = (baracuda::limits<T>::is_half | kept | baracuda::isnan(z)) ? z : far;
        const A mixed = a * rest + b * weight;
        out[0] = flag0 ? b : ((flag1 | (a == b)) ? a : ((a < A(0)) != (b < A(0)) ? mixed : between));
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
BARACUDA_KERNEL(lerp, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(lerp, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(lerp, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(lerp, tiled, 256, baracuda::tiled_at_once(3, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
