// sdpa_nan: scaled dot-product attention; torch.nn.functional.scaled_dot_product_attention,
// jax.nn.dot_product_attention. masked_row=nan.
//   score = scale * dot(q, k) + mask
//   nothing = nan
//   attn = softmax(score, nothing)
//   y = dot(attn, v)
// Generated from ops.yaml by templates/attention.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/attention_forward.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;

struct Formula {
    A scale;

    BARACUDA_FN A score(A product, A mask) const { return scale * product + mask; }
    BARACUDA_FN A nothing() const { return baracuda::nan<A>; }
};

// The spec's tiles: a block has QUERIES, of which a warp has ROWS, and meets KEYS keys at a time,
// or SCORES keys where it sums nothing over them.
template <class Element> struct Shape;
template <> struct Shape<baracuda::f16> {
    using T = baracuda::f16;
    static constexpr int QUERIES = 128, KEYS = 64, ROWS = 32, SCORES = 64;
};
template <> struct Shape<baracuda::bf16> {
    using T = baracuda::bf16;
    static constexpr int QUERIES = 128, KEYS = 64, ROWS = 32, SCORES = 64;
};
template <> struct Shape<baracuda::f32> {
    using T = baracuda::f32;
    static constexpr int QUERIES = 128, KEYS = 32, ROWS = 32, SCORES = 64;
};
template <> struct Shape<baracuda::f64> {
    using T = baracuda::f64;
    static constexpr int QUERIES = 64, KEYS = 32, ROWS = 16, SCORES = 32;
};
template <int HEAD, bool TF32 = false, bool SCORES = false>
using Tiles = baracuda::AttentionTiles<Shape<T>, HEAD, TF32, SCORES>;
constexpr int THREADS = Shape<T>::QUERIES / Shape<T>::ROWS * 32;

struct Params {
    baracuda::AttentionForward operands;
    Formula formula;
};

#ifdef BARACUDA_HEAD_64
BARACUDA_KERNEL(sdpa_nan, head64, THREADS, Params) {
    baracuda::attention_forward<Tiles<64, false>>(p.operands, p.formula);
}
#endif
#ifdef BARACUDA_HEAD_128
BARACUDA_KERNEL(sdpa_nan, head128, THREADS, Params) {
    baracuda::attention_forward<Tiles<128, false>>(p.operands, p.formula);
}
#endif
#ifdef BARACUDA_TF32_HEAD_64
BARACUDA_KERNEL(sdpa_nan, tf32_head64, THREADS, Params) {
    baracuda::attention_forward<Tiles<64, true>>(p.operands, p.formula);
}
#endif
#ifdef BARACUDA_TF32_HEAD_128
BARACUDA_KERNEL(sdpa_nan, tf32_head128, THREADS, Params) {
    baracuda::attention_forward<Tiles<128, true>>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
