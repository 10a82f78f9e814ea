"""A kernel that applies any function of `baracuda/math.cuh`, and how its results are compared."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from baracuda.codegen.formula import FUNCTIONS
from baracuda.compile.loader import load
from baracuda.compile.unit import Unit

if TYPE_CHECKING:
    from baracuda.tensor import Device


TYPES = {"f32": np.float32, "f64": np.float64}
INT_FUNCTIONS = ("abs", "sign", "square", "max", "min", "clamp", "remainder", "floor_divide")
# What needs an element dtype is a storage header's, what integers alone have is the integers'.
FLOAT_FUNCTIONS = tuple(
    name
    for name, function in FUNCTIONS.items()
    if not function.of_element
    and (function.header is None or function.least > 1)
    and function.rule != "whole"
)
SPECIAL_FUNCTIONS = tuple(
    name
    for name, function in FUNCTIONS.items()
    if function.header is not None and not function.of_element and function.least == 1
)


def unit(dtype: str, functions: tuple[str, ...] = FLOAT_FUNCTIONS) -> Unit:
    """One kernel that applies any of some functions to arrays of values."""
    cases = []
    for which, name in enumerate(functions):
        function = FUNCTIONS[name]
        args = "x, k" if function.rule == "ldexp" else ", ".join("xyzuv"[: function.least])
        kind = {"test": "bool", "exponent": "i64", "wide": "double"}.get(function.rule, "A")
        cases.append(f"case {which}: static_cast<{kind}*>(p.out)[j] = baracuda::{name}({args}); break;")
    if functions is FLOAT_FUNCTIONS:
        for which, name in enumerate(INT_FUNCTIONS, 100):
            args = ", ".join("klm"[: FUNCTIONS[name].least])
            cases.append(f"case {which}: static_cast<i64*>(p.out)[j] = baracuda::{name}({args}); break;")
        cases.append("case 200: static_cast<i64*>(p.out)[j] = baracuda::shift_left(k, l); break;")
        cases.append("case 201: static_cast<i64*>(p.out)[j] = baracuda::shift_right(k, l); break;")
    loads = "const A x = p.x[j];"
    if functions is FLOAT_FUNCTIONS:
        loads += " const A y = p.y[j], z = p.z[j], u = p.u[j], v = p.v[j];"
        loads += " const i64 k = p.k[j], l = p.l[j], m = p.m[j];"
    body = "\n        ".join(cases)
    headers = sorted({FUNCTIONS[name].header or "math.cuh" for name in functions})
    includes = "\n".join(f"#include <baracuda/{header}>" for header in headers)
    text = f"""
{includes}
#include <baracuda/storage.cuh>
namespace BARACUDA_NAMESPACE {{
using baracuda::i64;
using A = baracuda::BARACUDA_DTYPE;
struct Params {{ i64 which, count; const A *x, *y, *z, *u, *v; const i64 *k, *l, *m; void* out; }};
BARACUDA_KERNEL(math, contig, 128, Params) {{
    const i64 j = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (j >= p.count) return;
    {loads}
    switch (p.which) {{
        {body}
    }}
}}
}}
"""
    return Unit(f"test/math_{dtype}.cu", text, (("BARACUDA_DTYPE", dtype),))


Apply = Callable[..., Any]


def applying(dtype: str, device: Device, functions: tuple[str, ...] = FLOAT_FUNCTIONS) -> Apply:
    """Return a function that runs one of some functions of the headers on arrays."""
    kernel = load(unit(dtype, functions), device).kernel(f"baracuda_math_{dtype}")

    def run(name: str, *args: Any, integers: bool = False) -> Any:
        rule = FUNCTIONS[name].rule if name in FUNCTIONS else "number"
        which = {"shift_left": 200, "shift_right": 201}.get(name, -1)
        if which < 0:
            which = 100 + INT_FUNCTIONS.index(name) if integers else functions.index(name)
        results = {"test": np.bool_, "exponent": np.int64, "wide": np.float64}
        result = np.int64 if integers else results.get(rule, TYPES[dtype])
        arrays = [np.asarray(arg) for arg in args]
        count = len(arrays[0])
        floats, ints = [np.zeros(count, TYPES[dtype])] * 5, [np.zeros(count, np.int64)] * 3
        for index, array in enumerate(arrays):
            if integers or (rule == "ldexp" and index == 1):
                ints[index if integers else 0] = array.astype(np.int64)
            else:
                floats[index] = array.astype(TYPES[dtype])
        return _launch(kernel, device, which, [*floats, *ints], np.zeros(count, result))

    return run


def _launch(kernel: Any, device: Device, which: int, inputs: list[Any], out: Any) -> Any:
    count = len(out)
    if device.kind == "host":
        pointers = [array.ctypes.data for array in (*inputs, out)]
        params = struct.pack("<11q", which, count, *pointers)
        kernel.pack((-(-count // 128), 1, 1), 128, 0, params)(0)
        return out
    import cupy

    arrays = [cupy.asarray(array) for array in (*inputs, out)]
    params = struct.pack("<2q9Q", which, count, *(array.data.ptr for array in arrays))
    kernel.pack((-(-count // 128), 1, 1), 128, 0, params)(0)
    return cupy.asnumpy(arrays[-1])


def ordered(values: Any) -> Any:
    """Floats as integers that count the places between them."""
    bits = values.view(np.int64 if values.dtype == np.float64 else np.int32).astype(object)
    low = -(2 ** (8 * values.dtype.itemsize - 1))
    return np.where(bits < 0, low - bits, bits)


def assert_within(got: Any, want: Any, ulp: int, inputs: Any) -> None:
    """`want` has the dtype of `got`; zeros agree in sign, and NaN is NaN."""
    nan = np.isnan(want)
    assert np.array_equal(np.isnan(got), nan), inputs[np.isnan(got) != nan]
    distance = np.abs(ordered(got[~nan]) - ordered(want[~nan]))
    zero = want[~nan] == 0
    assert not np.any(distance[zero] > ulp), "the sign of a zero"
    worst = int(np.argmax(distance))
    assert distance[worst] <= ulp, (
        f"{inputs[~nan][worst]!r}: {got[~nan][worst]!r}, want {want[~nan][worst]!r}"
    )


def same(got: Any, want: Any) -> None:
    assert_within(np.asarray(got), np.asarray(want, dtype=np.asarray(got).dtype), 0, np.arange(len(got)))
