"""Integers of formulas: nothing in `baracuda/integer.cuh` and `baracuda/cast.cuh` is undefined behaviour."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from host_cpp import compiler

import baracuda as bc
from baracuda.codegen.formula import COMPUTE, INT, WHOLE, WIDE, FormulaError, Type, infer, parse, to_cuda

#: Every operator and function on every pair of a type's hard values, of bytes on all; and every cast of them.
PROGRAM = r"""
#include <baracuda/cast.cuh>
#include <baracuda/math.cuh>
namespace baracuda {

template <class A> u64 cast_all(A x) {
    u64 sum = 0;
    sum += Cast<f16, A>::of(x).bits + Cast<bf16, A>::of(x).bits;
    sum += (Cast<f32, A>::of(x) > 0) + (Cast<f64, A>::of(x) > 0);
    sum += u64(Cast<i8, A>::of(x)) + u64(Cast<i16, A>::of(x));
    sum += u64(Cast<i32, A>::of(x)) + u64(Cast<i64, A>::of(x));
    return sum + Cast<u8, A>::of(x) + Cast<boolean, A>::of(x).byte;
}
template <class I> u64 use_all(Integer<I> a, Integer<I> b) {
    const Integer<I> results[] = {
        a + b, a - b, a * b, a & b, a | b, a ^ b, -a, ~a,
        abs(a), sign(a), square(a), floor(a), ceil(a), trunc(a), round(a), fma(a, b, a),
        max(a, b), min(a, b), fmax(a, b), fmin(a, b), clamp(a, b, a + b),
        fmod(a, b), remainder(a, b), floor_divide(a, b), shift_left(a, b), shift_right(a, b),
        gcd(a, b), lcm(a, b), pow(a, b), popcount(a), leading_zeros(a), trailing_zeros(a),
    };
    u64 sum = cast_all(a);
    for (const Integer<I>& result : results) sum = sum * 31 + u64(result.value);
    return sum + signbit(a) + isnan(a) + (a < b) + (a == b) + (distance(a, b) > 1.0);
}
template <class I> u64 run(const i64* values, int count) {
    u64 sum = 0;
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j) sum += use_all(Integer<I>(values[i]), Integer<I>(values[j]));
    return sum;
}
u64 run_all() {
    i64 bytes[256];
    for (int i = 0; i < 256; ++i) bytes[i] = i - 128;
    i64 hard[64 * 6];
    int count = 0;
    for (int power = 0; power < 64; ++power)
        for (int step = -1; step <= 1; ++step) {
            hard[count++] = i64((u64(1) << power) + u64(i64(step)));
            hard[count++] = i64(u64(0) - u64(hard[count - 1]));
        }
    u64 sum = run<i8>(bytes, 256) + run<u8>(bytes, 256);
    sum += run<i16>(hard, count) + run<i32>(hard, count) + run<i64>(hard, count);
    const double specials[] = {
        0.0, -0.0, 0.5, -1.5, 1e300, -1e300, 1e-320, inf<double>, -inf<double>, nan<double>, -0.5,
        127.5, 128.0, -128.5, 255.5, 256.0, 0x1p31, 0x1p63, -0x1p63, -0x1.0000000000001p63,
    };
    for (double x : specials) sum += cast_all(x) + cast_all(x > 1e38 || x < -1e38 ? 0.0f : float(x));
    sum += cast_all(inf<float>) + cast_all(-inf<float>) + cast_all(nan<float>) + cast_all(0x1.fffffep127f);
    return sum;
}

}  // namespace baracuda
int main() { return baracuda::run_all() == 42; }
"""


def test_nothing_is_undefined(tmp_path: Path) -> None:
    """A sanitizer's trap would end the program."""
    program = tmp_path / "integers"
    flags = ["-O1", "-ffp-contract=off", "-fsanitize=undefined,float-cast-overflow"]
    built = compiler(*flags, "-fsanitize-undefined-trap-on-error", "-o", str(program), text=PROGRAM)
    assert built.returncode == 0, built.stderr
    assert subprocess.run([program], check=False, timeout=120).returncode == 0


def test_a_trap_would_be_seen(tmp_path: Path) -> None:
    program = tmp_path / "overflow"
    text = "int main(int count, char**) { volatile int most = 0x7fffffff; return most + count; }"
    flags = ["-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
    assert compiler(*flags, "-o", str(program), text=text).returncode == 0
    assert subprocess.run([program], check=False).returncode < 0


def test_one_text_for_floats_and_integers() -> None:
    for text in (
        "a + b * 2",
        "1 if a > 0 else 0 if a < b else b",
        "clamp(a, b, 3)",
        "a // b % 7",
        "pow(a, b)",
        "fma(a, b, 2) + floor(a)",
    ):
        names = {"a": COMPUTE, "b": COMPUTE}, {"a": WHOLE, "b": WHOLE}
        floats, integers = (to_cuda(parse(text), types) for types in names)
        assert floats == integers
        assert infer(parse(text), names[1]) == WHOLE
    assert to_cuda(parse("a & ~b | 3"), names[1]) == "(a & ~b) | A(3)"
    assert to_cuda(parse("a << 3"), names[1]) == "baracuda::shift_left(a, A(3))"


@pytest.mark.parametrize("kind", [COMPUTE, WHOLE])
def test_a_distance_is_a_double_of_both(kind: Type) -> None:
    """So it meets what is wide, and what is computed with it is the same text for floats and integers."""
    names = {"a": kind, "b": kind, "w": WIDE}
    assert infer(parse("distance(a, b)"), names) == WIDE
    assert to_cuda(parse("distance(a, b) / 2 <= w * distance(b, 0) + 1"), names) == (
        "baracuda::distance(a, b) / 2.0 <= w * baracuda::distance(b, A(0)) + 1.0"
    )


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64", "u8"])
def test_a_distance_does_not_wrap_around(kind: str) -> None:
    """Through the one op that is made of it: every tolerance below the distance of the ends is too small."""
    low, high = np.iinfo(bc.ElementKind(kind).numpy).min, np.iinfo(bc.ElementKind(kind).numpy).max
    a, b = (np.array([end], bc.ElementKind(kind).numpy) for end in (low, high))
    y = np.empty(1, bool)
    for most, close in ((float(high - low) * 0.999, False), (float(high - low), True)):
        fields = {"kind": "isclose", "shape": (1,), "element": kind, "rtol": 0, "atol": most}
        plan = bc.BinaryCmpPlan.select(bc.Stream.host(), bc.BinaryCmpDescriptor(**fields))
        for first, second in ((a, b), (b, a)):
            plan(a=first, b=second, y=y)
            assert y.tolist() == [close]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a / b", "`/` wants floats, got an integer of the element dtype (use `//`)"),
        ("a * 0.5", "`*` wants numbers of one kind, got an integer of the element dtype and a float"),
        ("a + n", "`+` wants numbers of one kind, got an integer of the element dtype and an integer"),
        ("n + a", "`+` wants numbers of one kind, got an integer of the element dtype and an integer"),
        ("a & n", "`&` wants numbers of one kind, got an integer of the element dtype and an integer"),
        ("a < x", "`<` wants numbers of one kind, got an integer of the element dtype and a float"),
        (
            "a if a > 0 else inf",
            "`if` wants numbers of one kind, got an integer of the element dtype and a float",
        ),
        ("exp(a)", "`exp` wants floats, got an integer of the element dtype"),
        ("ldexp(x, a)", "`ldexp` wants a float and an integer, got an integer of the element dtype"),
        ("gcd(x, x)", "`gcd` wants integers of the element dtype, got a float"),
        ("popcount(n)", "`popcount` wants integers of the element dtype, got an integer"),
        ("max_value + a", "`+` wants numbers of one kind, got an integer of the element dtype and a float"),
        ("~x", "`~` wants integers, got a float"),
    ],
)
def test_what_integers_of_elements_do_not_meet(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as error:
        infer(parse(text), {"a": WHOLE, "b": WHOLE, "x": COMPUTE, "n": INT})
    assert str(error.value).startswith(message)


def test_a_float_is_no_integer_of_the_elements() -> None:
    for text, types in (("x", {"x": COMPUTE}), ("n", {"n": INT})):
        with pytest.raises(FormulaError, match="an integer of the element dtype is wanted, got"):
            infer(parse(text), types, WHOLE)
    with pytest.raises(FormulaError, match="a float is wanted, got an integer of the element dtype"):
        infer(parse("a"), {"a": WHOLE}, COMPUTE)


def test_a_result_of_bytes_may_lie_over_an_operand_of_bytes() -> None:
    """And nowhere else: elements of different sizes do not lie over each other."""
    host = bc.Stream.host()
    memory = np.arange(-8, 8, dtype=np.int8)
    want = memory < 3
    plan = bc.BinaryCmpPlan.select(host, bc.BinaryCmpDescriptor(kind="lt", shape=(16,), element="i8"))
    plan(a=memory, b=np.full(16, 3, np.int8), y=memory.view(bool))
    np.testing.assert_array_equal(memory.view(bool), want)
    numbers = np.arange(16, dtype=np.float32)
    plan = bc.BinaryCmpPlan.select(host, bc.BinaryCmpDescriptor(kind="lt", shape=(16,), element="f32"))
    with pytest.raises(bc.InvalidProblem, match="y overlaps a part of a"):
        plan(a=numbers, b=numbers, y=numbers.view(bool)[:16])


def test_a_target_out_of_scope() -> None:
    host = bc.Stream.host()
    desc = bc.CastDescriptor(shape=(4,), element="f32", target="u32")
    with pytest.raises(bc.Unsupported, match=r"^CastPlan: target is u32, want one of f16, .*bool for cast"):
        bc.CastPlan.select(host, desc)
    plan = bc.CastPlan.select(host, bc.CastDescriptor(shape=(4,), element="f32", target=np.int16))
    with pytest.raises(bc.Unsupported, match="y has dtype i32, want i16"):
        plan(x=np.ones(4, np.float32), y=np.empty(4, np.int32))
    assert plan.sku.aux_element is bc.ElementKind.I16
    assert plan.precision_guarantee.ulp == 0
