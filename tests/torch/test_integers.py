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
