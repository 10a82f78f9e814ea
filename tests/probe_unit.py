"""A compile unit whose code shows what flags do."""

from __future__ import annotations

from baracuda.compile.unit import Unit

# Every operation that a flag could change: product, sum of a product, quotient, square root.
TEXT = """
extern "C" __global__ void probe(float* x, float w) {
    float v = x[threadIdx.x];
    x[threadIdx.x] = v * w + sqrtf(v) / w + BARACUDA_PROBE;
}
"""
UNIT = Unit("probe/probe.cu", TEXT, (("BARACUDA_DTYPE", "f32"), ("BARACUDA_PROBE", "1")))
