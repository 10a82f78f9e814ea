"""Functions of two and three numbers beside PyTorch on the CPU, on special values in every combination."""

from __future__ import annotations

import itertools
import operator
import re
from typing import Any

import numpy as np
import pytest
import torch

import baracuda as bc
from baracuda.codegen import load_spec
from baracuda.codegen.formula import reference

INF, NAN = np.inf, np.nan
OPS = {
    op.name: op
    for op in load_spec().ops.values()
    if op.family.name in ("binary", "ternary", "where") and "torch" in op.names and "f64" in op.dtypes
}
VALUES = (NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -3.0, 2.0**-10, 700.25)
FEW = (NAN, INF, -INF, 0.0, 1.0, -1.0, 0.25, 2.5, -3.0)

#: What is not compared with PyTorch, by op and tensor: where, of the operands, and why.
OURS: dict[str, dict[str, Any]] = {
    "copysign": {"da": lambda a, b: np.isinf(a)},  # inf / inf is no sign
    "fmod": {"db": lambda a, b: np.isinf(a) | (b == 0)},  # y is NaN, and so is its gradient
    "pow": {"da": lambda a, b: np.isnan(a)},  # NaN for NaN, also at b = 1
    "hypot": {name: lambda a, b: (a == 0) & (b == 0) for name in ("da", "db")},  # 0 at the origin
    # An infinite b is a number beyond all, which leaves 0 and infinities as they are.
    "ldexp": {name: lambda a, b: np.isinf(b) & ((a == 0) | np.isinf(a)) for name in ("y", "db")},
    # Equal infinities share the gradient.
    **{
        op: {name: lambda a, b: np.isinf(a) & (a == b) for name in ("da", "db")}
        for op in ("logaddexp", "logaddexp2")
    },
    "xlogy": {"db": lambda a, b: (a == 0) & (b == 0)},  # 0 is constant in b
    "xlog1py": {"db": lambda a, b: (a == 0) & (b == -1)},
    "heaviside": {"y": lambda a, b: np.isnan(a)},  # NaN goes through
    # Exact at both ends whatever the other is, and infinities as the exact result has them.
    "lerp_tensor": {"y": lambda a, b, c: ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c))},
}


def operands(names: tuple[str, ...]) -> dict[str, Any]:
    """Special values in every combination, and ordinary ones; a condition has both truth values."""
    numbers = [name for name in names if name != "condition"]
    grid = np.array(list(itertools.product(VALUES if len(numbers) == 2 else FEW, repeat=len(numbers))))
    normal = np.random.default_rng(len(numbers)).standard_normal((300, len(numbers))) * 3
    found: dict[str, Any] = dict(zip(numbers, np.vstack([grid, normal]).T.copy(), strict=True))
    if "condition" in names:
        found["condition"] = np.arange(len(found["a"])) % 3 == 0
    return {name: found[name] for name in names}


def run(op: Any, direction: str, shape: tuple[int, ...], **tensors: Any) -> None:
    stem = op.family.plan + ("" if direction == "forward" else "Backward")
    desc = getattr(bc, f"{stem}Descriptor")(kind=op.kind.lower(), shape=shape, element="f64")
    getattr(bc, f"{stem}Plan").select(bc.Stream.host(), desc)(**tensors)


def compare(op: Any, name: str, values: dict[str, Any], got: Any, want: Any) -> None:
    want = want.detach().numpy()
    ours = OURS.get(op.name, {}).get(name, lambda *numbers: np.zeros(got.shape, bool))
    with np.errstate(all="ignore"):
        alike = (
            (np.isnan(got) & np.isnan(want)) | (got == want) | (abs(got - want) <= 1e-12 * abs(want) + 1e-15)
        )
        wrong = ~alike & ~ours(*values.values())
    at = {key: value[wrong][:3] for key, value in values.items()}
    assert not wrong.any(), (name, at, got[wrong][:3], want[wrong][:3])


def theirs(want: Any, inputs: list[Any], dy: Any) -> Any:
    """PyTorch's gradients; None where this version has none, for our reference to stand in."""
    try:
        return torch.autograd.grad(want, inputs, dy)
    except RuntimeError as error:
        if re.search("derivative for .* not implemented", str(error)):
            return None
        raise


@pytest.mark.parametrize("name", OPS)
def test_forward_and_backward(name: str) -> None:
    op = OPS[name]
    values = operands(tuple(key for key, tensor in op.family.forward.items() if tensor.io == "in"))
    inputs = [torch.tensor(value, requires_grad=value.dtype != bool) for value in values.values()]
    want = operator.attrgetter(op.names["torch"])(torch)(*inputs)
    (shape,) = {value.shape for value in values.values()}
    y = np.empty(shape)
    run(op, "forward", shape, **values, y=y)
    compare(op, "y", values, y, want)
    if "backward" not in op.programs:
        with pytest.raises(RuntimeError, match="not implemented"):
            torch.autograd.grad(want.sum(), [tensor for tensor in inputs if tensor.requires_grad])
        return
    dy = np.linspace(-2, 3, *shape)
    gradients = {f"d{key}": np.empty(shape) for key, value in values.items() if value.dtype != bool}
    asked = [tensor for tensor in inputs if tensor.requires_grad]
    expected = theirs(want, asked, torch.tensor(dy))
    if expected is None:
        known = {**values, "dy": dy}
        expected = [torch.as_tensor(reference(op.ref[key], known) + 0 * dy) for key in gradients]
    saved = {key: value for key, value in values.items() if key in op.programs["backward"].inputs}
    run(op, "backward", shape, dy=dy, **saved, **gradients)
    for (key, got), gradient in zip(gradients.items(), expected, strict=True):
        compare(op, key, values, got, gradient)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("name", OPS)
def test_other_dtypes(name: str, dtype: str) -> None:
    """Beside PyTorch in double precision on the same numbers, within the bound of the spec."""
    op, kind = OPS[name], {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[dtype]
    names = tuple(key for key, tensor in op.family.forward.items() if tensor.io == "in")
    values = {
        key: torch.tensor(value[-300:]) if value.dtype == bool else torch.tensor(value[-300:]).to(kind)
        for key, value in operands(names).items()
    }
    wide = [value if value.dtype == torch.bool else value.double() for value in values.values()]
    want = operator.attrgetter(op.names["torch"])(torch)(*wide)
    if name == "nextafter":  # of the dtype itself
        want = torch.nextafter(*values.values()).double()
    y = torch.empty(300, dtype=kind)
    desc = getattr(bc, f"{op.family.plan}Descriptor")(kind=op.kind.lower(), shape=(300,), element=dtype)
    getattr(bc, f"{op.family.plan}Plan").select(bc.Stream.host(), desc)(**values, y=y)
    bound = (op.bounds("forward")[dtype] + 1) * torch.finfo(kind).eps
    terms = torch.stack([value.abs() for value in wide if value.dtype != torch.bool]).amax(0)
    fits = want.abs() < torch.finfo(kind).max / 2
    error = (y.double() - want).abs()[fits]
    assert (error <= bound * torch.maximum(want.abs(), terms if op.scale else want.abs())[fits] + 1e-37).all()
    assert torch.equal(y.isnan(), want.isnan())


def test_clamp_with_numbers() -> None:
    """Its gradients too, beside bounds that are crossed or NaN."""
    x = torch.tensor(VALUES, dtype=torch.float64, requires_grad=True)
    for low, high in itertools.product((NAN, -INF, -1.0, 0.5, INF), repeat=2):
        fields: dict[str, Any] = {"kind": "clamp", "shape": tuple(x.shape), "element": "f64"}
        fields |= {"param": low, "param2": high}
        y, dx = torch.empty_like(x), torch.empty_like(x)
        forward = bc.UnaryParamPlan.select(bc.Stream.host(), bc.UnaryParamDescriptor(**fields))
        forward(x=x.detach(), y=y.detach())
        backward = bc.UnaryParamBackwardPlan.select(
            bc.Stream.host(), bc.UnaryParamBackwardDescriptor(**fields)
        )
        backward(dy=torch.ones_like(x), x=x.detach(), dx=dx.detach())
        want = torch.clamp(x, low, high)
        (gradient,) = torch.autograd.grad(want.sum(), x)
        torch.testing.assert_close(y.detach(), want.detach(), rtol=0, atol=0, equal_nan=True)
        torch.testing.assert_close(dx.detach(), gradient, rtol=0, atol=0)
