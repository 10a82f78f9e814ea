"""The special functions of the formula language against mpmath, where they are hard, and as device code."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import mpmath
import numpy as np
import pytest
from host_cpp import compile_library
from math_kernel import SPECIAL_FUNCTIONS, TYPES, Apply, applying, unit
from special_cases import CASES, Case

from baracuda.codegen.formula import FUNCTIONS
from baracuda.compile import nvrtc

if TYPE_CHECKING:
    from baracuda.tensor import Device

needs_nvrtc = pytest.mark.skipif(sys.platform != "linux", reason="NVRTC for Linux alone is among the extras")


@pytest.fixture(scope="module", params=["f32", "f64"])
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def apply(dtype: str, device: Device) -> Apply:
    """Return a function that runs one special function on arrays."""
    return applying(dtype, device, SPECIAL_FUNCTIONS)


def exactly(function: Any, x: Any) -> tuple[Any, Any]:
    """Values of far more digits than the type of x has, as the sum of two doubles."""
    with mpmath.workdps(20 if x.dtype == np.float32 else 34):
        values = [function(mpmath.mpf(value)) for value in x.tolist()]
        heads = [float(value) for value in values]
        rests = [float(v - h) if np.isfinite(h) else 0.0 for v, h in zip(values, heads, strict=True)]
    return np.array(heads), np.array(rests)


def last_place(values: Any, kind: Any) -> Any:
    """The distance of a float type's numbers around some values."""
    info = np.finfo(kind)
    return np.ldexp(1.0, np.maximum(np.frexp(np.abs(values))[1] - 1, info.minexp) - info.nmant)


def worst(got: Any, head: Any, rest: Any, scale: Any) -> Any:
    """The errors in last places of `scale`; numbers that the type does not hold are to be infinities."""
    kind = got.dtype.type
    with np.errstate(all="ignore"):
        # The subtraction of neighbours is exact, and the division is one by a power of two.
        error = np.abs((got.astype(np.float64) - head) - rest) / last_place(scale, kind)
        rounded = head.astype(kind)
    beyond = np.isinf(rounded)
    return np.where(beyond | np.isinf(got), np.where(got == rounded, 0.0, np.inf), error)


def assert_close(case: Case, x: Any, got: Any) -> None:
    head, rest = exactly(case.exact, x)
    scale = head if case.scale is None else exactly(case.scale, x)[0]
    errors = worst(got, head, rest, scale)
    errors[np.isnan(got) & np.isnan(head)] = 0
    place = int(np.argmax(np.nan_to_num(errors, nan=np.inf)))
    assert errors[place] <= case.ulp, (
        f"{x[place]!r}: {got[place]!r}, want {head[place]!r}, off by {errors[place]:.2f}"
    )


@pytest.mark.parametrize("name", CASES)
def test_values(apply: Apply, dtype: str, name: str) -> None:
    case = CASES[name]
    x = case.arguments(TYPES[dtype])
    assert_close(case, x, apply(name, x))


@pytest.mark.parametrize("name", CASES)
def test_special_values(apply: Apply, dtype: str, name: str) -> None:
    points, values = CASES[name].special
    some = [(point, value) for point, value in zip(points, values, strict=True) if value is not None]
    x, want = (np.array(column, dtype=TYPES[dtype]) for column in zip(*some, strict=True))
    got = apply(name, x)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_max_ulp(got[~np.isnan(want)], want[~np.isnan(want)], 2)
    zero = want == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


@pytest.mark.parametrize("name", CASES)
def test_all_numbers_of_16_bits(device: Device, name: str) -> None:
    """The function in NumPy, which comes from SciPy, is the reference: it is checked at the same time."""
    case, run = CASES[name], applying("f32", device, SPECIAL_FUNCTIONS)
    bits = np.arange(2**16, dtype=np.uint16)
    for kind in (np.float16, ml_dtypes.bfloat16):
        with np.errstate(all="ignore"):
            x = bits.view(kind).astype(np.float32)
            want = FUNCTIONS[name].numpy(np, x.astype(np.float64))
        got = run(name, x)
        off = np.isnan(got) != np.isnan(want)
        assert not off.any(), (x[off], got[off], want[off])
        number = ~np.isnan(want)
        errors = worst(got[number], want[number], 0.0, want[number])
        if case.scale is not None:
            # Where terms cancel, only these are looked at.
            far = np.argsort(errors)[np.searchsorted(np.sort(errors), case.ulp + 1) :]
            head, rest = exactly(case.exact, x[number][far])
            scale = exactly(case.scale, x[number][far])[0]
            errors[far] = worst(got[number][far], head, rest, scale)
        place = int(np.argmax(errors))
        assert errors[place] <= case.ulp + 1, (x[number][place], got[number][place], want[number][place])


def test_every_function_is_tested() -> None:
    assert set(CASES) == set(SPECIAL_FUNCTIONS)


def test_the_host_compiler_has_no_remarks(tmp_path: Path) -> None:
    headers = sorted({FUNCTIONS[name].header for name in SPECIAL_FUNCTIONS})
    text = "".join(f"#include <baracuda/{header}>\n" for header in headers)
    total = " + ".join(f"baracuda::{name}(x)" for name in SPECIAL_FUNCTIONS)
    text += f"template <class A> A all(A x) {{ return {total}; }}\n"
    text += 'extern "C" double probe(double x) { return all(x) + double(all(float(x))); }\n'
    compile_library(text, tmp_path, "-pedantic", "-Wconversion", "-Wno-float-conversion")


@needs_nvrtc
@pytest.mark.parametrize("name", SPECIAL_FUNCTIONS)
def test_device_code_keeps_to_registers(dtype: str, name: str) -> None:
    verbose = replace(unit(dtype, (name,)), flags=("--ptxas-options=-v",))
    log = nvrtc.compile_cubin(verbose, "sm_90").log
    assert "warning" not in log
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in log
    (registers,) = re.findall(r"Used (\d+) registers", log)
    assert int(registers) <= 64
