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

// The spec's tiles: a block has QUERIES, of which a warp has ROWS, and meets KEYS keys at a time,
// or SCORES keys where it sums nothing over them.
// Of sums a block has SUM_ROWS and meets SUM_DEPTH at a time; its warps share rows, columns and depth.
template <class Element> struct Shape;
template <> struct Shape<baracuda::f16> {
    using T = baracuda::f16;
    static constexpr int QUERIES = 128, KEYS = 64, ROWS = 32, SCORES = 64;
    static constexpr int SUM_ROWS = 128, SUM_DEPTH = 64, SUM_STAGES = 2;
    static constexpr int SUM_DOWN = 2, SUM_ACROSS = 2, SUM_SPLIT = 1;
};
template <> struct Shape<baracuda::bf16> {
    using T = baracuda::bf16;
    static constexpr int QUERIES = 128, KEYS = 64, ROWS = 32, SCORES = 64;
    static constexpr int SUM_ROWS = 128, SUM_DEPTH = 64, SUM_STAGES = 2;
    static constexpr int SUM_DOWN = 2, SUM_ACROSS = 2, SUM_SPLIT = 1;
};
template <> struct Shape<baracuda::f32> {
    using T = baracuda::f32;
    static constexpr int QUERIES = 128, KEYS = 32, ROWS = 32, SCORES = 64;
    static constexpr int SUM_ROWS = 64, SUM_DEPTH = 64, SUM_STAGES = 2;
    static constexpr int SUM_DOWN = 1, SUM_ACROSS = 2, SUM_SPLIT = 2;
};
template <> struct Shape<baracuda::f64> {
    using T = baracuda::f64;
    static constexpr int QUERIES = 64, KEYS = 32, ROWS = 16, SCORES = 32;
    static constexpr int SUM_ROWS = 64, SUM_DEPTH = 32, SUM_STAGES = 2;
    static constexpr int SUM_DOWN = 2, SUM_ACROSS = 2, SUM_SPLIT = 1;
};
template <int HEAD, bool TF32 = false, bool SCORES = false>
using Tiles = baracuda::AttentionTiles<Shape<T>, HEAD, TF32, SCORES>;
constexpr int THREADS = Shape<T>::QUERIES / Shape<T>::ROWS * 32;
template <int HEAD, bool TF32, bool OF_KEYS> using Sums = baracuda::SumTiles<Shape<T>, HEAD, TF32, OF_KEYS>;
constexpr int QUERY_SUM_THREADS = Shape<T>::SUM_DOWN * Shape<T>::SUM_ACROSS * 32;
constexpr int KEY_SUM_THREADS = QUERY_SUM_THREADS * Shape<T>::SUM_SPLIT;

// scores: the gradients of the scores, kept for rows (dq) and keys (dk, dv); alone: dq where they cannot be kept.
struct ScoreParams {
    baracuda::AttentionScoreGradients operands;
    Formula formula;
};
struct QueryParams {
    baracuda::AttentionQuerySums operands;
    Formula formula;
};
struct KeyParams {
    baracuda::AttentionKeySums operands;
    Formula formula;
};

#ifdef BARACUDA_HEAD_64
BARACUDA_KERNEL(sdpa_backward, scores64, THREADS, ScoreParams) {
    baracuda::attention_score_gradients<Tiles<64, false, true>, Sums<64, false, true>, false>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, alone64, THREADS, ScoreParams) {
    baracuda::attention_score_gradients<Tiles<64, false>, Sums<64, false, true>, true>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, rows64, QUERY_SUM_THREADS, QueryParams) {
    baracuda::attention_query_sums<Sums<64, false, false>>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, keys64, KEY_SUM_THREADS, KeyParams) {
    baracuda::attention_key_sums<Sums<64, false, true>>(p.operands, p.formula);
}
#endif
#ifdef BARACUDA_HEAD_128
BARACUDA_KERNEL(sdpa_backward, scores128, THREADS, ScoreParams) {
    baracuda::attention_score_gradients<Tiles<128, false, true>, Sums<128, false, true>, false>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, alone128, THREADS, ScoreParams) {
    baracuda::attention_score_gradients<Tiles<128, false>, Sums<128, false, true>, true>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, rows128, QUERY_SUM_THREADS, QueryParams) {
    baracuda::attention_query_sums<Sums<128, false, false>>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, keys128, KEY_SUM_THREADS, KeyParams) {
    baracuda::attention_key_sums<Sums<128, false, true>>(p.operands, p.formula);
}
#endif
#ifdef BARACUDA_TF32_HEAD_64
BARACUDA_KERNEL(sdpa_backward, tf32_scores64, THREADS, ScoreParams) {
    baracuda::attention_score_gradients<Tiles<64, true, true>, Sums<64, true, true>, false>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, tf32_alone64, THREADS, ScoreParams) {
    baracuda::attention_score_gradients<Tiles<64, true>, Sums<64, true, true>, true>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, tf32_rows64, QUERY_SUM_THREADS, QueryParams) {
    baracuda::attention_query_sums<Sums<64, true, false>>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, tf32_keys64, KEY_SUM_THREADS, KeyParams) {
    baracuda::attention_key_sums<Sums<64, true, true>>(p.operands, p.formula);
}
#endif
#ifdef BARACUDA_TF32_HEAD_128
BARACUDA_KERNEL(sdpa_backward, tf32_scores128, THREADS, ScoreParams) {
    baracuda::attention_score_gradients<Tiles<128, true, true>, Sums<128, true, true>, false>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, tf32_alone128, THREADS, ScoreParams) {
    baracuda::attention_score_gradients<Tiles<128, true>, Sums<128, true, true>, true>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, tf32_rows128, QUERY_SUM_THREADS, QueryParams) {
    baracuda::attention_query_sums<Sums<128, true, false>>(p.operands, p.formula);
}
BARACUDA_KERNEL(sdpa_backward, tf32_keys128, KEY_SUM_THREADS, KeyParams) {
    baracuda::attention_key_sums<Sums<128, true, true>>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
