// swiglu_backward: gradients of a times silu(b); Shazeer 2020.
//   da = dy * silu(b)
//   db = silu_backward(dy * a, b)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[3], A (&out)[2]) const {
        const A dy = in[0];
        const A a = in[1];
        const A b = in[2];
        const A silu_h = baracuda::exp(-baracuda::abs(b) / A(2));
        const A silu_q = A(1) + silu_h * silu_h;
        const A silu_value = b >= A(0) ? b / silu_q : baracuda::max(b, A(-2000)) * silu_h / silu_q * silu_h;
        const A silu_backward_dy = dy * a;
        const A silu_backward_h = baracuda::max(baracuda::exp(-baracuda::abs(b) / A(2)),
            A(baracuda::limits<A>::smallest_subnormal));
        const A silu_backward_q = A(1) + silu_backward_h * silu_backward_h;
        const A silu_backward_z = baracuda::clamp(b, A(-2000), A(2000));
        const A silu_backward_value = b >= A(0) ? silu_backward_dy
            * ((A(1) + silu_backward_z * silu_backward_h * silu_backward_h / silu_backward_q) / silu_backward_q)
                : silu_backward_dy * silu_backward_h * (A(1) + silu_backward_z / silu_backward_q) / silu_backward_q
                    * silu_backward_h;
        out[0] = dy * silu_value;
        out[1] = silu_backward_value;
    }
};

template <class Operands> struct Params {
    Operands operands;
    Formula formula;
};
using Contig = Params<baracuda::ContigMap<3, 2>>;
using Strided = Params<baracuda::StridedMap<baracuda::i32, 3, 2>>;
using Strided64 = Params<baracuda::StridedMap<baracuda::i64, 3, 2>>;
using Tiled = Params<baracuda::TiledMap<3, 2>>;

#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(swiglu_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(swiglu_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(swiglu_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL(swiglu_backward, tiled, 256, Tiled) { baracuda::map_tiled<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
