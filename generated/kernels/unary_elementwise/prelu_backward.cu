// prelu_backward: gradients of x where it is positive, else x times a slope, which is a tensor.
//   dx = dy if x > 0 else dy * slope
//   dslope = 0 if x > 0 else dy * x
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/output_sum.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[3], A (&out)[2]) const {
        const A dy = in[0];
        const A x = in[1];
        const A slope = in[2];
        out[0] = x > A(0) ? dy : dy * slope;
        out[1] = x > A(0) ? A(0) : dy * x;
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

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(prelu_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(prelu_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(prelu_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(prelu_backward, tiled, 256, baracuda::tiled_at_once(5, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

// dslope of a broadcast operand: the sum over the axes where it is broadcast.
#ifdef BARACUDA_SUM_dslope
using Sum_dslope = baracuda::OutputSum<A, Formula, 3, 2, 1, baracuda::Reads<0, 1>>;
using Narrow_dslope = Params<baracuda::Rows<baracuda::i32, 2, 0, 0, 1>>;
using Wide_dslope = Params<baracuda::Rows<baracuda::i64, 2, 0, 0, 1>>;
BARACUDA_KERNEL(prelu_backward, sum_dslope_contig, 256, Wide_dslope) {
    baracuda::aggregate_short_rows<T>(p.operands, Sum_dslope{p.formula});
}
BARACUDA_KERNEL(prelu_backward, sum_dslope_long, 256, Wide_dslope) {
    baracuda::aggregate_long_rows<T>(p.operands, Sum_dslope{p.formula});
}
BARACUDA_KERNEL(prelu_backward, sum_dslope_strided, 256, Narrow_dslope) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_dslope{p.formula});
}
BARACUDA_KERNEL(prelu_backward, sum_dslope_columns, 256, Wide_dslope) {
    baracuda::aggregate_columns<T>(p.operands, Sum_dslope{p.formula});
}
BARACUDA_KERNEL(prelu_backward, sum_dslope_nodes, 256, Wide_dslope) {
    baracuda::aggregate_nodes<T>(p.operands, Sum_dslope{p.formula});
}
BARACUDA_KERNEL(prelu_backward, sum_dslope_strided64, 256, Wide_dslope) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_dslope{p.formula});
}
#endif

}  // namespace BARACUDA_NAMESPACE
