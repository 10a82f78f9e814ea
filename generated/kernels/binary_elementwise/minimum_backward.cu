// minimum_backward: gradients of the smaller of a and b, NaN if either is; equals get half of the gradient each.
//   da = dy / 2 if a == b else 0 if a > b else dy
//   db = dy / 2 if a == b else 0 if b > a else dy
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
        const A a = in[1];
        const A b = in[2];
        out[0] = a == b ? dy / A(2) : (a > b ? A(0) : dy);
        out[1] = a == b ? dy / A(2) : (b > a ? A(0) : dy);
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
BARACUDA_KERNEL(minimum_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(minimum_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(minimum_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(minimum_backward, tiled, 256, baracuda::tiled_at_once(5, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

// da of a broadcast operand: the sum over the axes where it is broadcast.
#ifdef BARACUDA_SUM_da
using Sum_da = baracuda::OutputSum<A, Formula, 3, 2, 0, baracuda::Reads<0, 1, 2>>;
using Narrow_da = Params<baracuda::Rows<baracuda::i32, 3, 0, 0, 1>>;
using Wide_da = Params<baracuda::Rows<baracuda::i64, 3, 0, 0, 1>>;
BARACUDA_KERNEL(minimum_backward, sum_da_contig, 256, Wide_da) {
    baracuda::aggregate_short_rows<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(minimum_backward, sum_da_long, 256, Wide_da) {
    baracuda::aggregate_long_rows<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(minimum_backward, sum_da_strided, 256, Narrow_da) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(minimum_backward, sum_da_columns, 256, Wide_da) {
    baracuda::aggregate_columns<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(minimum_backward, sum_da_nodes, 256, Wide_da) {
    baracuda::aggregate_nodes<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(minimum_backward, sum_da_strided64, 256, Wide_da) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_da{p.formula});
}
#endif

// db of a broadcast operand: the sum over the axes where it is broadcast.
#ifdef BARACUDA_SUM_db
using Sum_db = baracuda::OutputSum<A, Formula, 3, 2, 1, baracuda::Reads<0, 1, 2>>;
using Narrow_db = Params<baracuda::Rows<baracuda::i32, 3, 0, 0, 1>>;
using Wide_db = Params<baracuda::Rows<baracuda::i64, 3, 0, 0, 1>>;
BARACUDA_KERNEL(minimum_backward, sum_db_contig, 256, Wide_db) {
    baracuda::aggregate_short_rows<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(minimum_backward, sum_db_long, 256, Wide_db) {
    baracuda::aggregate_long_rows<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(minimum_backward, sum_db_strided, 256, Narrow_db) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(minimum_backward, sum_db_columns, 256, Wide_db) {
    baracuda::aggregate_columns<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(minimum_backward, sum_db_nodes, 256, Wide_db) {
    baracuda::aggregate_nodes<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(minimum_backward, sum_db_strided64, 256, Wide_db) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_db{p.formula});
}
#endif

}  // namespace BARACUDA_NAMESPACE
