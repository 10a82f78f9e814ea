// hypot_backward: gradients of length of the vector (a, b), with gradient 0 at the origin.
//   # The square of the length neither over- nor underflows.
//   scale = normal_scale(clamp(max(abs(a), abs(b)), 2 * smallest_normal, max_value / 4))
//   p = a * scale
//   q = b * scale
//   square = p * p + q * q
//   at_origin = a == 0 and b == 0
//   inverse = element_rsqrt(square)
//   da = 0 if at_origin else product_at_scale(dy, a, scale, inverse, 1)
//   db = 0 if at_origin else product_at_scale(dy, b, scale, inverse, 1)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/output_sum.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/element.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[3], A (&out)[2]) const {
        const A dy = in[0];
        const A a = in[1];
        const A b = in[2];
        const A scale = baracuda::normal_scale(baracuda::clamp(baracuda::max(baracuda::abs(a), baracuda::abs(b)),
            A(2) * A(baracuda::limits<T>::smallest_normal), A(baracuda::limits<T>::max_value) / A(4)));
        const A p = a * scale;
        const A q = b * scale;
        const A square = p * p + q * q;
        const bool at_origin = (a == A(0)) & (b == A(0));
        const A inverse = baracuda::element_rsqrt<T>(square);
        out[0] = at_origin ? A(0) : baracuda::product_at_scale(dy, a, scale, inverse, A(1));
        out[1] = at_origin ? A(0) : baracuda::product_at_scale(dy, b, scale, inverse, A(1));
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
BARACUDA_KERNEL(hypot_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(hypot_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(hypot_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(hypot_backward, tiled, 256, baracuda::tiled_at_once(5, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

// da of a broadcast operand: the sum over the axes where it is broadcast.
#ifdef BARACUDA_SUM_da
using Sum_da = baracuda::OutputSum<A, Formula, 3, 2, 0, baracuda::Reads<0, 1, 2>>;
using Narrow_da = Params<baracuda::Rows<baracuda::i32, 3, 0, 0, 1>>;
using Wide_da = Params<baracuda::Rows<baracuda::i64, 3, 0, 0, 1>>;
BARACUDA_KERNEL(hypot_backward, sum_da_contig, 256, Wide_da) {
    baracuda::aggregate_short_rows<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(hypot_backward, sum_da_long, 256, Wide_da) {
    baracuda::aggregate_long_rows<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(hypot_backward, sum_da_strided, 256, Narrow_da) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(hypot_backward, sum_da_columns, 256, Wide_da) {
    baracuda::aggregate_columns<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(hypot_backward, sum_da_nodes, 256, Wide_da) {
    baracuda::aggregate_nodes<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(hypot_backward, sum_da_strided64, 256, Wide_da) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_da{p.formula});
}
#endif

// db of a broadcast operand: the sum over the axes where it is broadcast.
#ifdef BARACUDA_SUM_db
using Sum_db = baracuda::OutputSum<A, Formula, 3, 2, 1, baracuda::Reads<0, 1, 2>>;
using Narrow_db = Params<baracuda::Rows<baracuda::i32, 3, 0, 0, 1>>;
using Wide_db = Params<baracuda::Rows<baracuda::i64, 3, 0, 0, 1>>;
BARACUDA_KERNEL(hypot_backward, sum_db_contig, 256, Wide_db) {
    baracuda::aggregate_short_rows<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(hypot_backward, sum_db_long, 256, Wide_db) {
    baracuda::aggregate_long_rows<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(hypot_backward, sum_db_strided, 256, Narrow_db) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(hypot_backward, sum_db_columns, 256, Wide_db) {
    baracuda::aggregate_columns<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(hypot_backward, sum_db_nodes, 256, Wide_db) {
    baracuda::aggregate_nodes<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(hypot_backward, sum_db_strided64, 256, Wide_db) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_db{p.formula});
}
#endif

}  // namespace BARACUDA_NAMESPACE
