"""Functions of integers and truth values, comparisons and predicates beside PyTorch on the CPU, exactly."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
import torch

import baracuda as bc
from baracuda.codegen import load_spec, verify

FAMILIES = ("unary", "binary", "ternary", "where", "unary_predicate", "binary_cmp")
KINDS = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
    "bool": torch.bool,
}  # fmt: skip
#: PyTorch refuses these on the CPU where b is 0.
DIVISIONS = ("floor_divide", "remainder", "fmod")
#: In these it divides the smallest integer by -1, which traps, and takes the magnitude of what wrapped.
EUCLID = ("gcd", "lcm")
#: What it has on CUDA alone.
NOT_ON_THE_CPU = {("abs", "bool")}

CASES = [
    pytest.param(op, dtype, id=f"{op.name}-{dtype}")
    for op in load_spec().ops.values()
    if op.family.name in FAMILIES and "torch" in op.names
    for dtype in op.dtypes
    # Of floats, what has a truth value; other tests have the rest.
    if verify.is_whole(dtype) or op.family.result("forward") == "bool"
    if (op.name, dtype) not in NOT_ON_THE_CPU
]


def values_of(dtype: str) -> Any:
    if dtype in ("i8", "u8", "bool"):
        return verify.all_patterns(dtype)
    return verify.rounded(verify.special_values(dtype), dtype)


def tensor_of(values: Any) -> torch.Tensor:
    if values.dtype.name == "bfloat16":
        return torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(values)


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_beside_pytorch(op: Any, dtype: str) -> None:
    values = values_of(dtype)
    first, second = (np.ascontiguousarray(part.ravel()) for part in np.meshgrid(values, values))
    names = [name for name, rule in op.family.forward.items() if rule.io == "in"]
    given = {"condition": first != second, "x": first, "a": first, "b": second, "c": first[::-1].copy()}
    if op.name in DIVISIONS:
        given["b"] = np.where(second == 0, second.dtype.type(3), second)
    if op.name in EUCLID:
        most = 2 ** (4 * second.itemsize - 1)
        given["a"], given["b"] = (
            np.clip(part, -most if first.min() < 0 else 0, most) for part in (first, second)
        )
    inputs = {name: tensor_of(given[name]) for name in names}
    want = operator.attrgetter(op.names["torch"])(torch)(*inputs.values())
    y = torch.empty(first.shape, dtype=torch.bool if op.family.result("forward") else KINDS[dtype])
    desc = getattr(bc, f"{op.family.plan}Descriptor")(kind=op.kind.lower(), shape=first.shape, element=dtype)
    getattr(bc, f"{op.family.plan}Plan").select(bc.Stream.host(), desc)(**inputs, y=y)
    assert torch.equal(y, want.to(y.dtype)), np.flatnonzero(y.numpy() != want.to(y.dtype).numpy())[:5]


#: Numbers of ops whose results with integers are PyTorch's.
NUMBERS: dict[str, tuple[tuple[int, ...], ...]] = {
    "clamp_scalar": ((-3, 5), (2, 100), (4, 1)),
    "hardtanh": ((-1, 1), (-100, 7)),
    "threshold": ((0, 7), (-5, 100)),
    "powi": ((0,), (1,), (2,), (3,), (7,)),
}


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64", "u8"])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_beside_pytorch(name: str, dtype: str) -> None:
    op = load_spec().ops[name]
    x = tensor_of(values_of(dtype))
    for numbers in NUMBERS[name]:
        if dtype not in op.dtypes or (dtype == "u8" and min(numbers) < 0):
            continue
        want = operator.attrgetter(op.names["torch"])(torch)(x, *numbers)
        y = torch.empty_like(x)
        fields = dict(zip(("param", "param2"), numbers, strict=False))
        desc = bc.UnaryParamDescriptor(kind=op.kind.lower(), shape=tuple(x.shape), element=dtype, **fields)
        bc.UnaryParamPlan.select(bc.Stream.host(), desc)(x=x, y=y)
        assert torch.equal(y, want), numbers


def test_they_are_the_ops_of_integers_with_numbers() -> None:
    """All that PyTorch has beside `addcmul`, whose number has another place there."""
    found = {
        op.name for op in load_spec().ops.values() if op.family.name == "unary_param" and "i64" in op.dtypes
    }
    assert found == {*NUMBERS}


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64", "u8"])
def test_addcmul_beside_pytorch(dtype: str) -> None:
    values = values_of(dtype)
    a, b = (tensor_of(np.ascontiguousarray(part.ravel())) for part in np.meshgrid(values, values))
    for factor in (1, 3):
        y = torch.empty_like(a)
        desc = bc.TernaryDescriptor(kind="addcmul", shape=tuple(a.shape), element=dtype, param=factor)
        bc.TernaryPlan.select(bc.Stream.host(), desc)(a=a, b=b, c=a.flip(0), y=y)
        assert torch.equal(y, torch.addcmul(a, b, a.flip(0), value=factor))


@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
def test_casts_beside_pytorch(source: str, target: str) -> None:
    """Of numbers that fit the target: PyTorch leaves open what others become."""
    values = values_of(source)
    if not verify.is_whole(source) and verify.is_whole(target) and target != "bool":
        limits = np.iinfo(verify.numpy_dtype(target))
        wide = values.astype(np.float64)
        values = values[(wide > float(limits.min) - 1) & (wide < float(limits.max)) & np.isfinite(wide)]
    x = tensor_of(values)
    y = torch.empty(x.shape, dtype=KINDS[target])
    desc = bc.CastDescriptor(shape=tuple(x.shape), element=source, target=target)
    bc.CastPlan.select(bc.Stream.host(), desc)(x=x, y=y)
    # PyTorch itself goes by way of a float from f64 and i64 to 16 bits, which here changes no value.
    assert torch.equal(y.nan_to_num(), x.to(KINDS[target]).nan_to_num())
