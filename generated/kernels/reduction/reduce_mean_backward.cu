// reduce_mean_backward: gradients of mean over the reduced axes, NaN of no elements; torch.mean, jnp.mean.
//   dx = dy / extent
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/columns.cuh>
#include <baracuda/math.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;
using baracuda::i64;

struct Formula : baracuda::RowFormula {
    struct State {};
    struct Run {};
    struct Row {  // what the elements of a row share
        A of_row0;
    };

    BARACUDA_FN Row values(const State& state, const A (&row_in)[1], i64 extent) const {
        const A dy = row_in[0];
        const A of_row0 = dy / A(extent);
        return {of_row0};
    }
    BARACUDA_FN void map(const Row& row, const A (&in)[1], i64 index, A (&out)[1]) const {
        out[0] = row.of_row0;
    }
};

template <class Offset> struct Params {
    baracuda::Rows<Offset, 0, 1, 1, 0> operands;
    Formula formula;
};
using Narrow = Params<baracuda::i32>;
using Wide = Params<i64>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(reduce_mean_backward, contig, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_mean_backward, strided, 256, Narrow) { baracuda::map_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_mean_backward, columns, 256, Wide) { baracuda::map_columns<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_mean_backward, strided64, 256, Wide) { baracuda::map_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
