// reduce_sum: sum over the reduced axes; torch.sum, jnp.sum.
//   y = sum(x)
// Generated from ops.yaml by templates/aggregate.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/aggregate.cuh>
#include <baracuda/math.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;

// Sum: sum of x.
struct Sum {
    A s = A(0);

    BARACUDA_FN static Sum of(A x) {
        return {x};
    }
    BARACUDA_FN static Sum merge(const Sum& a, const Sum& b) {
        return {a.s + b.s};
    }
    BARACUDA_FN A value() const { return s; }
};

struct Formula {
    struct State {
        Sum sum_x;
    };

    BARACUDA_FN void push(State& state, const A (&in)[1]) const {
        const A x = in[0];
        state.sum_x = Sum::merge(state.sum_x, Sum::of(x));
    }
    BARACUDA_FN static State merge(const State& a, const State& b) {
        return {Sum::merge(a.sum_x, b.sum_x)};
    }
    BARACUDA_FN void finish(const State& state, baracuda::i64 extent, A (&out)[1]) const {
        const A sum_x = state.sum_x.value();
        out[0] = sum_x;
    }
};

template <class Offset> struct Params {
    baracuda::Aggregate<Offset, 1, 1> operands;
    Formula formula;
};
using Narrow = Params<baracuda::i32>;
using Wide = Params<baracuda::i64>;

#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(reduce_sum, contig, 256, Wide) { baracuda::aggregate_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_sum, strided, 256, Narrow) { baracuda::aggregate_rows<T>(p.operands, p.formula); }
BARACUDA_KERNEL(reduce_sum, nodes, 256, Wide) { baracuda::aggregate_nodes<T>(p.operands, p.formula); }
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(reduce_sum, strided64, 256, Wide) { baracuda::aggregate_rows<T>(p.operands, p.formula); }
#endif

}  // namespace BARACUDA_NAMESPACE
