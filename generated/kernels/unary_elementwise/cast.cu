// cast: x in another dtype; floats are rounded to even, integers of floats saturate and are 0 for NaN, a bool is
// whether x is not 0.
//   y = x
// Generated from ops.yaml by templates/map.cu.j2. Do not edit: run `baracuda-gen generate`.
#include <baracuda/cast.cuh>
#include <baracuda/math.cuh>
#include <baracuda/tiled_map.cuh>

namespace BARACUDA_NAMESPACE {

using T = BARACUDA_ELEMENT;
using A = baracuda::compute_t<T>;

struct Formula {
    BARACUDA_FN void operator()(const A (&in)[1], A (&out)[1]) const {
        const A x = in[0];
        out[0] = x;
    }
};

template <class Operands> struct Params {
    Operands operands;
    Formula formula;
};
using Contig = Params<baracuda::ContigMap<1, 1>>;
using Strided = Params<baracuda::StridedMap<baracuda::i32, 1, 1>>;
using Strided64 = Params<baracuda::StridedMap<baracuda::i64, 1, 1>>;
using Tiled = Params<baracuda::TiledMap<1, 1>>;

// Each compile unit defines one of the names that #ifdef asks for, and has the kernels behind it.
#ifdef BARACUDA_NARROW
BARACUDA_KERNEL(cast, to_f16, 256, Contig) { baracuda::map_contig<T, baracuda::f16>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_f16_strided, 256, Strided) { baracuda::map_strided<T, baracuda::f16>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_bf16, 256, Contig) { baracuda::map_contig<T, baracuda::bf16>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_bf16_strided, 256, Strided) {
    baracuda::map_strided<T, baracuda::bf16>(p.operands, p.formula);
}
BARACUDA_KERNEL(cast, to_f32, 256, Contig) { baracuda::map_contig<T, baracuda::f32>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_f32_strided, 256, Strided) { baracuda::map_strided<T, baracuda::f32>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_f64, 256, Contig) { baracuda::map_contig<T, baracuda::f64>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_f64_strided, 256, Strided) { baracuda::map_strided<T, baracuda::f64>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_i8, 256, Contig) { baracuda::map_contig<T, baracuda::i8>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_i8_strided, 256, Strided) { baracuda::map_strided<T, baracuda::i8>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_i16, 256, Contig) { baracuda::map_contig<T, baracuda::i16>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_i16_strided, 256, Strided) { baracuda::map_strided<T, baracuda::i16>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_i32, 256, Contig) { baracuda::map_contig<T, baracuda::i32>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_i32_strided, 256, Strided) { baracuda::map_strided<T, baracuda::i32>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_i64, 256, Contig) { baracuda::map_contig<T, baracuda::i64>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_i64_strided, 256, Strided) { baracuda::map_strided<T, baracuda::i64>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_u8, 256, Contig) { baracuda::map_contig<T, baracuda::u8>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_u8_strided, 256, Strided) { baracuda::map_strided<T, baracuda::u8>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_bool, 256, Contig) { baracuda::map_contig<T, baracuda::boolean>(p.operands, p.formula); }
BARACUDA_KERNEL(cast, to_bool_strided, 256, Strided) {
    baracuda::map_strided<T, baracuda::boolean>(p.operands, p.formula);
}
#endif
#ifdef BARACUDA_WIDE
BARACUDA_KERNEL(cast, to_f16_strided64, 256, Strided64) {
    baracuda::map_strided<T, baracuda::f16>(p.operands, p.formula);
}
BARACUDA_KERNEL_AT_ONCE(cast, to_f16_tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T, baracuda::f16>(p.operands, p.formula);
}
BARACUDA_KERNEL(cast, to_bf16_strided64, 256, Strided64) {
    baracuda::map_strided<T, baracuda::bf16>(p.operands, p.formula);
}
BARACUDA_KERNEL_AT_ONCE(cast, to_bf16_tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T, baracuda::bf16>(p.operands, p.formula);
}
BARACUDA_KERNEL(cast, to_f32_strided64, 256, Strided64) {
    baracuda::map_strided<T, baracuda::f32>(p.operands, p.formula);
}
BARACUDA_KERNEL_AT_ONCE(cast, to_f32_tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T, baracuda::f32>(p.operands, p.formula);
}
BARACUDA_KERNEL(cast, to_f64_strided64, 256, Strided64) {
    baracuda::map_strided<T, baracuda::f64>(p.operands, p.formula);
}
BARACUDA_KERNEL_AT_ONCE(cast, to_f64_tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T, baracuda::f64>(p.operands, p.formula);
}
BARACUDA_KERNEL(cast, to_i8_strided64, 256, Strided64) {
    baracuda::map_strided<T, baracuda::i8>(p.operands, p.formula);
}
BARACUDA_KERNEL_AT_ONCE(cast, to_i8_tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T, baracuda::i8>(p.operands, p.formula);
}
BARACUDA_KERNEL(cast, to_i16_strided64, 256, Strided64) {
    baracuda::map_strided<T, baracuda::i16>(p.operands, p.formula);
}
BARACUDA_KERNEL_AT_ONCE(cast, to_i16_tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T, baracuda::i16>(p.operands, p.formula);
}
BARACUDA_KERNEL(cast, to_i32_strided64, 256, Strided64) {
    baracuda::map_strided<T, baracuda::i32>(p.operands, p.formula);
}
BARACUDA_KERNEL_AT_ONCE(cast, to_i32_tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T, baracuda::i32>(p.operands, p.formula);
}
BARACUDA_KERNEL(cast, to_i64_strided64, 256, Strided64) {
    baracuda::map_strided<T, baracuda::i64>(p.operands, p.formula);
}
BARACUDA_KERNEL_AT_ONCE(cast, to_i64_tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T, baracuda::i64>(p.operands, p.formula);
}
BARACUDA_KERNEL(cast, to_u8_strided64, 256, Strided64) {
    baracuda::map_strided<T, baracuda::u8>(p.operands, p.formula);
}
BARACUDA_KERNEL_AT_ONCE(cast, to_u8_tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T, baracuda::u8>(p.operands, p.formula);
}
BARACUDA_KERNEL(cast, to_bool_strided64, 256, Strided64) {
    baracuda::map_strided<T, baracuda::boolean>(p.operands, p.formula);
}
BARACUDA_KERNEL_AT_ONCE(cast, to_bool_tiled, 256, baracuda::tiled_at_once(2, sizeof(T)), Tiled) {
    baracuda::map_tiled<T, baracuda::boolean>(p.operands, p.formula);
}
#endif

}  // namespace BARACUDA_NAMESPACE
