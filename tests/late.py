"""A kernel that copies after a while: what does not wait for it reads what was there before."""

from __future__ import annotations

import struct
from typing import Any

from baracuda.compile import loader
from baracuda.compile.unit import Unit

LATE = Unit(
    "probe/late.cu",
    """
struct Params { unsigned char* to; const unsigned char* from; long long n; long long nanoseconds; };

extern "C" __global__ void late(const __grid_constant__ Params p) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); } while (now - begin < p.nanoseconds);
    for (long long i = threadIdx.x; i < p.n; i += blockDim.x) { p.to[i] = p.from[i]; }
}
""",
    (),
)
DELAY = 50_000_000


def late_copy(device: Any, to: Any, source: Any) -> Any:
    """Pack a launch that copies bytes after `DELAY` nanoseconds."""
    params = struct.pack("@PPqq", to.data.ptr, source.data.ptr, to.size, DELAY)
    return loader.load(LATE, device).kernel("late").pack((1, 1, 1), 256, 0, params)
