// sdpa_backward: gradients of scaled dot-product attention; torch.nn.functional.scaled_dot_product_attention,
// jax.nn.dot_product_attention.
//   dattn = dot(dy, v)
//   dscores = 0 if attn == 0 else attn * (dattn - sum(attn * dattn))
//   dq = scale * dot(dscores, k)
//   dk = scale * dot(dscores, q)
//   dv = dot(attn, dy)
// Generated from ops.yaml by templates/attention.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/attention_backward.cuh>

namespace BARACUDA_NAMESPACE {

using T = baracuda::BARACUDA_DTYPE;
using A = baracuda::compute_t<T>;

struct Formula {
    A scale;

    BARACUDA_FN A delta(A attn, A dattn) const { return attn * dattn; }
    BARACUDA_FN A dscores(A attn, A dattn, A delta) const { return attn == A(0) ? A(0) : attn * (dattn - delta); }
    BARACUDA_FN A dq(A product) const { return scale * product; }
    BARACUDA_FN A dk(A product) const { return scale * product; }
    BARACUDA_FN A dv(A product) const { return product; }
};

// Queries of a tile, the keys that it meets at once, and the queries of a warp.
template <class Element> struct Shape;
template <> struct Shape<baracuda::f16> { static constexpr int QUERIES = 128, KEYS = 32, ROWS = 32; };
template <> struct Shape<baracuda::bf16> { static constexpr int QUERIES = 128, KEYS = 32, ROWS = 32; };
template <> struct Shape<baracuda::f32> { static constexpr int QUERIES = 128, KEYS = 32, ROWS = 32; };
template <> struct Shape<baracuda::f64> { static constexpr int QUERIES = 64, KEYS = 32, ROWS = 16; };
template <int HEAD, bool TF32 = false>
using Tiles = baracuda::AttentionTiles<T, HEAD, Shape<T>::QUERIES, Shape<T>::KEYS, Shape<T>::ROWS, TF32>;
constexpr int THREADS = Shape<T>::QUERIES / Shape<T>::ROWS * 32;

struct ScoreParams {
    baracuda::AttentionScoreGradients operands;
    Formula formula;
};
struct SumParams {
    baracuda::AttentionKeySums operands;
    Formula formula;
};

#ifdef BARACUDA_HEAD_64
BARACUDA_KERNEL(sdpa_backward, scores64, THREADS, ScoreParams) {
    baracuda::attention_score_gradients<Tiles<64>>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, sums64, THREADS, SumParams) {
    baracuda::attention_key_sums<Tiles<64>>(p.operands, p.formula);
}
#endif
#ifdef BARACUDA_HEAD_128
BARACUDA_KERNEL(sdpa_backward, scores128, THREADS, ScoreParams) {
    baracuda::attention_score_gradients<Tiles<128>>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, sums128, THREADS, SumParams) {
    baracuda::attention_key_sums<Tiles<128>>(p.operands, p.formula);
}
#endif
#ifdef BARACUDA_TF32_HEAD_64
BARACUDA_KERNEL(sdpa_backward, tf32_scores64, THREADS, ScoreParams) {
    baracuda::attention_score_gradients<Tiles<64, true>>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, tf32_sums64, THREADS, SumParams) {
    baracuda::attention_key_sums<Tiles<64, true>>(p.operands, p.formula);
}
#endif
#ifdef BARACUDA_TF32_HEAD_128
BARACUDA_KERNEL(sdpa_backward, tf32_scores128, THREADS, ScoreParams) {
    baracuda::attention_score_gradients<Tiles<128, true>>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, tf32_sums128, THREADS, SumParams) {
    baracuda::attention_key_sums<Tiles<128, true>>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
