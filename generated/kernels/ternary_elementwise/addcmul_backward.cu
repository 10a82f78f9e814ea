// addcmul_backward: gradients of a + factor * b * c.
//   da = dy
//   db = scaled_product(dy, c, factor)
//   dc = scaled_product(dy, b, factor)
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/output_sum.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    A factor;

    BARACUDA_FN void operator()(const A (&in)[3], A (&out)[3]) const {
        const A dy = in[0];
        const A b = in[1];
        const A c = in[2];
        out[0] = dy;
        out[1] = baracuda::scaled_product(dy, c, factor);
        out[2] = baracuda::scaled_product(dy, b, factor);
    }
};

template <class Operands> struct Params {
    Operands operands;
    Formula formula;
};
using Contig = Params<baracuda::ContigMap<3, 3>>;
using Strided = Params<baracuda::StridedMap<baracuda::i32, 3, 3>>;
using Strided64 = Params<baracuda::StridedMap<baracuda::i64, 3, 3>>;
using Tiled = Params<baracuda::TiledMap<3, 3>>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(addcmul_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(addcmul_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(addcmul_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(addcmul_backward, tiled, 256, baracuda::tiled_at_once(6, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

// da of a broadcast operand: the sum over the axes where it is broadcast.
#ifdef BARACUDA_SUM_da
using Sum_da = baracuda::OutputSum<A, Formula, 3, 3, 0, baracuda::Reads<0>>;
using Narrow_da = Params<baracuda::Rows<baracuda::i32, 1, 0, 0, 1>>;
using Wide_da = Params<baracuda::Rows<baracuda::i64, 1, 0, 0, 1>>;
BARACUDA_KERNEL(addcmul_backward, sum_da_contig, 256, Wide_da) {
    baracuda::aggregate_short_rows<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_da_long, 256, Wide_da) {
    baracuda::aggregate_long_rows<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_da_strided, 256, Narrow_da) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_da_columns, 256, Wide_da) {
    baracuda::aggregate_columns<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_da_nodes, 256, Wide_da) {
    baracuda::aggregate_nodes<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_da_strided64, 256, Wide_da) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_da{p.formula});
}
#endif

// db of a broadcast operand: the sum over the axes where it is broadcast.
#ifdef BARACUDA_SUM_db
using Sum_db = baracuda::OutputSum<A, Formula, 3, 3, 1, baracuda::Reads<0, 2>>;
using Narrow_db = Params<baracuda::Rows<baracuda::i32, 2, 0, 0, 1>>;
using Wide_db = Params<baracuda::Rows<baracuda::i64, 2, 0, 0, 1>>;
BARACUDA_KERNEL(addcmul_backward, sum_db_contig, 256, Wide_db) {
    baracuda::aggregate_short_rows<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_db_long, 256, Wide_db) {
    baracuda::aggregate_long_rows<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_db_strided, 256, Narrow_db) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_db_columns, 256, Wide_db) {
    baracuda::aggregate_columns<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_db_nodes, 256, Wide_db) {
    baracuda::aggregate_nodes<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_db_strided64, 256, Wide_db) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_db{p.formula});
}
#endif

// dc of a broadcast operand: the sum over the axes where it is broadcast.
#ifdef BARACUDA_SUM_dc
using Sum_dc = baracuda::OutputSum<A, Formula, 3, 3, 2, baracuda::Reads<0, 1>>;
using Narrow_dc = Params<baracuda::Rows<baracuda::i32, 2, 0, 0, 1>>;
using Wide_dc = Params<baracuda::Rows<baracuda::i64, 2, 0, 0, 1>>;
BARACUDA_KERNEL(addcmul_backward, sum_dc_contig, 256, Wide_dc) {
    baracuda::aggregate_short_rows<T>(p.operands, Sum_dc{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_dc_long, 256, Wide_dc) {
    baracuda::aggregate_long_rows<T>(p.operands, Sum_dc{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_dc_strided, 256, Narrow_dc) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_dc{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_dc_columns, 256, Wide_dc) {
    baracuda::aggregate_columns<T>(p.operands, Sum_dc{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_dc_nodes, 256, Wide_dc) {
    baracuda::aggregate_nodes<T>(p.operands, Sum_dc{p.formula});
}
BARACUDA_KERNEL(addcmul_backward, sum_dc_strided64, 256, Wide_dc) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_dc{p.formula});
}
#endif

}  // namespace BARACUDA_NAMESPACE
