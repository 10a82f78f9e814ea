// pow_backward: gradients of a to the power of b; of integers with a negative b the quotient without its fraction.
//   # The logarithm first: in f32 the power shares it, and may call a function then.
//   early = element_early_log(abs(a))
//   power = element_pow(a, b)
//   da = (0 if b == 0 else dy) * (element_pow_slope(a, b, power) * b)
//   db = 0 if a == 0 and b >= 0 else nan if a < 0 else dy * (power * element_late_log(early))
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/math.cuh>
#include <baracuda/output_sum.cuh>
#include <baracuda/tiled_map.cuh>
#include <baracuda/powers.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[3], A (&out)[2]) const {
        const A dy = in[0];
        const A a = in[1];
        const A b = in[2];
        const A early = baracuda::element_early_log<T>(baracuda::abs(a));
        const A power = baracuda::element_pow<T>(a, b);
        out[0] = (b == A(0) ? A(0) : dy) * (baracuda::element_pow_slope<T>(a, b, power) * b);
        out[1] = ((a == A(0)) & (b >= A(0))) ? A(0)
            : (a < A(0) ? baracuda::nan<A> : dy * (power * baracuda::element_late_log<T>(early)));
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
BARACUDA_KERNEL(pow_backward, contig, 256, Contig) { baracuda::map_contig<T>(p.operands, p.formula); }
BARACUDA_KERNEL(pow_backward, strided, 256, Strided) { baracuda::map_strided<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(pow_backward, strided64, 256, Strided64) { baracuda::map_strided<T>(p.operands, p.formula); }
BARACUDA_KERNEL_AT_ONCE(pow_backward, tiled, 256, baracuda::tiled_at_once(5, sizeof(T)), Tiled) {
    baracuda::map_tiled<T>(p.operands, p.formula);
}
#endif

// da of a broadcast operand: the sum over the axes where it is broadcast.
#ifdef BARACUDA_SUM_da
using Sum_da = baracuda::OutputSum<A, Formula, 3, 2, 0, baracuda::Reads<0, 1, 2>>;
using Narrow_da = Params<baracuda::Rows<baracuda::i32, 3, 0, 0, 1>>;
using Wide_da = Params<baracuda::Rows<baracuda::i64, 3, 0, 0, 1>>;
BARACUDA_KERNEL(pow_backward, sum_da_contig, 256, Wide_da) {
    baracuda::aggregate_short_rows<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(pow_backward, sum_da_long, 256, Wide_da) {
    baracuda::aggregate_long_rows<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(pow_backward, sum_da_strided, 256, Narrow_da) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(pow_backward, sum_da_columns, 256, Wide_da) {
    baracuda::aggregate_columns<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(pow_backward, sum_da_nodes, 256, Wide_da) {
    baracuda::aggregate_nodes<T>(p.operands, Sum_da{p.formula});
}
BARACUDA_KERNEL(pow_backward, sum_da_strided64, 256, Wide_da) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_da{p.formula});
}
#endif

// db of a broadcast operand: the sum over the axes where it is broadcast.
#ifdef BARACUDA_SUM_db
using Sum_db = baracuda::OutputSum<A, Formula, 3, 2, 1, baracuda::Reads<0, 1, 2>>;
using Narrow_db = Params<baracuda::Rows<baracuda::i32, 3, 0, 0, 1>>;
using Wide_db = Params<baracuda::Rows<baracuda::i64, 3, 0, 0, 1>>;
BARACUDA_KERNEL(pow_backward, sum_db_contig, 256, Wide_db) {
    baracuda::aggregate_short_rows<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(pow_backward, sum_db_long, 256, Wide_db) {
    baracuda::aggregate_long_rows<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(pow_backward, sum_db_strided, 256, Narrow_db) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(pow_backward, sum_db_columns, 256, Wide_db) {
    baracuda::aggregate_columns<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(pow_backward, sum_db_nodes, 256, Wide_db) {
    baracuda::aggregate_nodes<T>(p.operands, Sum_db{p.formula});
}
BARACUDA_KERNEL(pow_backward, sum_db_strided64, 256, Wide_db) {
    baracuda::aggregate_strided_rows<T>(p.operands, Sum_db{p.formula});
}
#endif

}  // namespace BARACUDA_NAMESPACE
