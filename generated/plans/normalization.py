"""Normalization plans.

RMSNormPlan, RMSNormBackwardPlan, LayerNormPlan, LayerNormBackwardPlan.

Generated from ops.yaml by templates/plans.py.j2. Do not edit: run `baracuda-gen generate`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from baracuda.contract import OpRecord, TensorRule, no_scalars
from baracuda.descriptor import Descriptor
from baracuda.dtypes import ElementKind
from baracuda.plan import Plan
from baracuda.shapes import extents, flat, is_suffix, keepdim, keepdim_reason

from .kinds import NormalizationKind

__all__ = [
    "LayerNormArgs",
    "LayerNormBackwardArgs",
    "LayerNormBackwardDescriptor",
    "LayerNormBackwardPlan",
    "LayerNormDescriptor",
    "LayerNormPlan",
    "RMSNormArgs",
    "RMSNormBackwardArgs",
    "RMSNormBackwardDescriptor",
    "RMSNormBackwardPlan",
    "RMSNormDescriptor",
    "RMSNormPlan",
]


@dataclass(frozen=True, kw_only=True)
class RMSNormDescriptor(Descriptor):
    """The problem of a RMSNormPlan: y = x over the root of its mean square, times gamma, over the last axes.

    Attributes:
        kind: which op (RMS_NORM unless given).
        input_shape: extents of x, y and their gradients.
        norm_axes: the axes that are normalised together, a suffix of all.
        norm_axes_mask: norm_axes as a number with bit i set for axis i; one of the two is enough.
        has_gamma: whether there is a gamma.
        element: dtype of every tensor, of rms with a choice.
        eps: what is added to the mean square.
        unit_offset: whether gamma + 1 takes the place of gamma, as in Gemma.
        has_residual: whether a residual is added to x first.
        rms_dtype: dtype of rms: element, or compute: f32, f64 for f64, with which the gradients of f16
            and bf16 are better.
    """

    kind: NormalizationKind | str = NormalizationKind.RMS_NORM
    input_shape: tuple[int, ...]
    norm_axes: int | tuple[int, ...] | None = None
    norm_axes_mask: int | None = None
    has_gamma: bool = True
    element: ElementKind | str
    eps: float = 1e-06
    unit_offset: bool = False
    has_residual: bool = False
    rms_dtype: str = "element"

    RULES: ClassVar = {
        "kind": NormalizationKind,
        "input_shape": "shape",
        "norm_axes": "axes",
        "has_gamma": "bool",
        "element": "element",
        "eps": "f64",
        "unit_offset": "bool",
        "has_residual": "bool",
        "rms_dtype": "storage",
    }
    DEFAULTS: ClassVar = {}
    MASKS: ClassVar = {"norm_axes": "norm_axes_mask"}


@dataclass(frozen=True, kw_only=True)
class RMSNormBackwardDescriptor(Descriptor):
    """The problem of a RMSNormBackwardPlan.

    Attributes:
        kind: which op (RMS_NORM unless given).
        input_shape: extents of x, y and their gradients.
        norm_axes: the axes that are normalised together, a suffix of all.
        norm_axes_mask: norm_axes as a number with bit i set for axis i; one of the two is enough.
        has_gamma: whether there is a gamma.
        element: dtype of every tensor, of rms with a choice.
        unit_offset: whether gamma + 1 takes the place of gamma, as in Gemma.
        rms_dtype: dtype of rms: element, or compute: f32, f64 for f64, with which the gradients of f16
            and bf16 are better.
        want_dx: whether dx is wanted.
        want_dgamma: whether dgamma is wanted, if there is a gamma.
    """

    kind: NormalizationKind | str = NormalizationKind.RMS_NORM
    input_shape: tuple[int, ...]
    norm_axes: int | tuple[int, ...] | None = None
    norm_axes_mask: int | None = None
    has_gamma: bool = True
    element: ElementKind | str
    unit_offset: bool = False
    rms_dtype: str = "element"
    want_dx: bool = True
    want_dgamma: bool = True

    RULES: ClassVar = {
        "kind": NormalizationKind,
        "input_shape": "shape",
        "norm_axes": "axes",
        "has_gamma": "bool",
        "element": "element",
        "unit_offset": "bool",
        "rms_dtype": "storage",
        "want_dx": "bool",
        "want_dgamma": "bool",
    }
    DEFAULTS: ClassVar = {}
    MASKS: ClassVar = {"norm_axes": "norm_axes_mask"}


@dataclass(frozen=True, kw_only=True)
class RMSNormArgs:
    """The tensors of a RMSNormPlan.

    Attributes:
        x: input; of shape input_shape.
        residual: what is added to x; of shape input_shape.
        gamma: factors, one an element of a row; of shape extents(input_shape, norm_axes) or
            flat(input_shape, norm_axes).
        y: result; of shape input_shape.
        summed: x + residual as the backward's x; None: not wanted; of shape input_shape.
        rms: root of the mean square plus eps, for the backward; None: not wanted; of dtype rms_dtype,
            shape keepdim(input_shape, norm_axes).
    """

    x: Any
    residual: Any = None
    gamma: Any = None
    y: Any
    summed: Any = None
    rms: Any = None


@dataclass(frozen=True, kw_only=True)
class RMSNormBackwardArgs:
    """The tensors of a RMSNormBackwardPlan.

    Attributes:
        dy: gradient of y; of shape input_shape.
        x: the forward's x, or its summed; of shape input_shape.
        gamma: factors, one an element of a row; of shape extents(input_shape, norm_axes) or
            flat(input_shape, norm_axes).
        rms: the forward's; of dtype rms_dtype, shape keepdim(input_shape, norm_axes).
        dx: gradient of x; of shape input_shape.
        dgamma: gradient of gamma; of shape extents(input_shape, norm_axes) or flat(input_shape,
            norm_axes).
    """

    dy: Any
    x: Any
    gamma: Any = None
    rms: Any
    dx: Any = None
    dgamma: Any = None


def _rms_norm_scalars(desc: RMSNormDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of rms_norm, folded in double precision."""
    eps = desc.eps
    unit_offset = desc.unit_offset
    has_gamma = desc.has_gamma
    offset = 1 if unit_offset and has_gamma else -0.0
    root = math.sqrt(eps)
    return (offset, root, eps, eps >= 1)


def _rms_norm_backward_scalars(desc: RMSNormBackwardDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of rms_norm_backward, folded in double precision."""
    unit_offset = desc.unit_offset
    has_gamma = desc.has_gamma
    offset = 1 if unit_offset and has_gamma else -0.0
    return (offset,)


class RMSNormPlan(Plan):
    """y = x over the root of its mean square, times gamma, over the last axes.

    RMS_NORM (f16, bf16, f32, f64): x over the root of its mean square, times gamma;
        torch.nn.functional.rms_norm
        offset = 1 if unit_offset and has_gamma else -0.0
        root = sqrt(eps)
        h = stored(x + residual)
        near = s.factor == 1 or s.factor > 1 and eps >= 1
        edge = root * s.factor
        r = sqrt((s.scaled if s.factor == 1 else 0) / extent + eps) if near else max(sqrt(s.scaled) /
            sqrt(extent), edge) * sqrt(1 + square( min(sqrt(s.scaled) / sqrt(extent), edge) /
            max(sqrt(s.scaled) / sqrt(extent), edge))) if max(s.scaled, edge) > 0 else s.scaled / extent
        scale = 1 if near else 0 if r == inf else mantissa(r) / r * s.factor if isfinite(mantissa(r) / r *
            s.factor) else s.factor
        factor = 1 / r if near or r == inf else s.factor / scale / r
        s = squares(h)
        y = h * scale * factor * (gamma + offset)
        summed = h
        rms = r if near else r / s.factor

    `select` checks a RMSNormDescriptor and compiles or loads its kernels.
    `run` takes RMSNormArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "aggregate"
    CATEGORY = "Normalization"
    DESCRIPTOR = RMSNormDescriptor
    ARGS = RMSNormArgs
    DOMAIN = "input_shape"
    AXES = "norm_axes"
    TENSORS = (
        TensorRule("x", "in"),
        TensorRule("residual", "in"),
        TensorRule("gamma", "in"),
        TensorRule("y", "out"),
        TensorRule("summed", "out", optional=True),
        TensorRule("rms", "out", optional=True, element="rms_dtype"),
    )
    OPS: ClassVar = {
        NormalizationKind.RMS_NORM: OpRecord(
            name="rms_norm",
            source="normalization/rms_norm.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x", "residual", "gamma"),
            row_inputs=(),
            outputs=("y", "summed"),
            row_outputs=("rms",),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "residual", "gamma", "y", "summed", "rms"}),
            batch_invariant=("y", "summed", "rms"),
            attributes="aaab",
            fold=_rms_norm_scalars,
            state="aaa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 20.0, "f64": 20.0},
            contraction=False,
            scale={"y": "abs(exact) + abs(weight) * smallest_normal"},
            holds={"y": "maximum(abs(weight)) < inf"},
            column_inputs=("gamma",),
            narrowed=("eps",),
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "x": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "residual": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "gamma": (
                extents(desc.input_shape, desc.norm_axes),
                "the extents of input_shape along norm_axes",
            ),
            "y": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "summed": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "rms": (
                keepdim(desc.input_shape, desc.norm_axes),
                keepdim_reason("input_shape", desc.input_shape, "norm_axes", desc.norm_axes),
            ),
        }

    @staticmethod
    def other_shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], ...]]:
        """Further shapes that a tensor may have."""
        return {
            "gamma": (flat(desc.input_shape, desc.norm_axes),),
        }

    @staticmethod
    def conditions(desc: Any) -> dict[str, tuple[bool, str]]:
        """Tensors that are there only on a condition: whether it holds, and which fields decide it."""
        return {
            "residual": (
                desc.has_residual,
                f"has_residual is {desc.has_residual}",
            ),
            "gamma": (
                desc.has_gamma,
                f"has_gamma is {desc.has_gamma}",
            ),
            "summed": (
                desc.has_residual,
                f"has_residual is {desc.has_residual}",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not is_suffix(desc.input_shape, desc.norm_axes):
            yield (
                f"input_shape is {desc.input_shape}, norm_axes is {desc.norm_axes}, "
                "want the last axes of input_shape, one at least, in norm_axes"
            )
        if desc.kind.value == "rms_norm" and not (math.isfinite(desc.eps) and desc.eps >= 0):
            yield f"eps is {desc.eps}, want isfinite(eps) and eps >= 0"
        yield from ()

    def __call__(
        self,
        *,
        x: Any,
        residual: Any = None,
        gamma: Any = None,
        y: Any,
        summed: Any = None,
        rms: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = RMSNormArgs(
            x=x,
            residual=residual,
            gamma=gamma,
            y=y,
            summed=summed,
            rms=rms,
        )
        self.run(stream, workspace, args)


class RMSNormBackwardPlan(Plan):
    """Gradients of RMSNormPlan.

    RMS_NORM (f16, bf16, f32, f64): x over the root of its mean square, times gamma;
        torch.nn.functional.rms_norm
        offset = 1 if unit_offset and has_gamma else -0.0
        power = mantissa(rms) / rms
        scale = 0 if rms == inf else power if isfinite(power) else ldexp(1, -exponent(rms) // 2)
        factor = 1 / (rms * scale) if rms < inf else 1 / rms
        u = x * scale * factor
        g = dy * (gamma + offset)
        m = c * factor / extent
        c = sum(g * (x * scale))
        dx = (g - u * m) * scale * factor
        dgamma = dy * u

    `select` checks a RMSNormBackwardDescriptor and compiles or loads its kernels.
    `run` takes RMSNormBackwardArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "aggregate"
    CATEGORY = "Normalization"
    DESCRIPTOR = RMSNormBackwardDescriptor
    ARGS = RMSNormBackwardArgs
    DOMAIN = "input_shape"
    AXES = "norm_axes"
    TENSORS = (
        TensorRule("dy", "in"),
        TensorRule("x", "in"),
        TensorRule("gamma", "in"),
        TensorRule("rms", "in", element="rms_dtype"),
        TensorRule("dx", "out"),
        TensorRule("dgamma", "out"),
    )
    OPS: ClassVar = {
        NormalizationKind.RMS_NORM: OpRecord(
            name="rms_norm_backward",
            source="normalization/rms_norm_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x", "gamma"),
            row_inputs=("rms",),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "rms"}),
            accepted=frozenset({"dy", "x", "gamma", "rms", "dx", "dgamma"}),
            batch_invariant=("dx", "dgamma"),
            attributes="a",
            fold=_rms_norm_backward_scalars,
            state="a",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 36.0, "f64": 36.0},
            contraction=False,
            scale={
                "dx": (
                    "abs(gradient) + abs(unit) * sum(abs(gradient * unit)) / extent + "
                    "((maximum(abs(gradient)) + 1 / rms) * smallest_normal if maximum(abs(dy * weight)) * "
                    "extent < max(max_value, 3e38) else 2 * extent * maximum(abs(dy * weight)))"
                ),
                "dgamma": "abs(exact) + abs(dy) * smallest_normal",
            },
            holds={
                "dx": (
                    "maximum(abs(weight)) < inf and (not rms < smallest_normal or maximum(abs(dy * weight)) "
                    ">= 1)"
                ),
            },
            column_inputs=("gamma",),
            column_outputs=("dgamma",),
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "dy": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "x": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "gamma": (
                extents(desc.input_shape, desc.norm_axes),
                "the extents of input_shape along norm_axes",
            ),
            "rms": (
                keepdim(desc.input_shape, desc.norm_axes),
                keepdim_reason("input_shape", desc.input_shape, "norm_axes", desc.norm_axes),
            ),
            "dx": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "dgamma": (
                extents(desc.input_shape, desc.norm_axes),
                "the extents of input_shape along norm_axes",
            ),
        }

    @staticmethod
    def other_shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], ...]]:
        """Further shapes that a tensor may have."""
        return {
            "gamma": (flat(desc.input_shape, desc.norm_axes),),
            "dgamma": (flat(desc.input_shape, desc.norm_axes),),
        }

    @staticmethod
    def conditions(desc: Any) -> dict[str, tuple[bool, str]]:
        """Tensors that are there only on a condition: whether it holds, and which fields decide it."""
        return {
            "gamma": (
                desc.has_gamma,
                f"has_gamma is {desc.has_gamma}",
            ),
            "dx": (
                desc.want_dx,
                f"want_dx is {desc.want_dx}",
            ),
            "dgamma": (
                desc.has_gamma and desc.want_dgamma,
                f"has_gamma is {desc.has_gamma} and want_dgamma is {desc.want_dgamma}",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not is_suffix(desc.input_shape, desc.norm_axes):
            yield (
                f"input_shape is {desc.input_shape}, norm_axes is {desc.norm_axes}, "
                "want the last axes of input_shape, one at least, in norm_axes"
            )
        if not (desc.want_dx or (desc.has_gamma and desc.want_dgamma)):
            yield (
                f"want_dx is {desc.want_dx}, has_gamma is {desc.has_gamma}, want_dgamma is "
                f"{desc.want_dgamma}, "
                "want want_dx or has_gamma and want_dgamma"
            )
        yield from ()

    def __call__(
        self,
        *,
        dy: Any,
        x: Any,
        gamma: Any = None,
        rms: Any,
        dx: Any = None,
        dgamma: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = RMSNormBackwardArgs(
            dy=dy,
            x=x,
            gamma=gamma,
            rms=rms,
            dx=dx,
            dgamma=dgamma,
        )
        self.run(stream, workspace, args)


@dataclass(frozen=True, kw_only=True)
class LayerNormDescriptor(Descriptor):
    """The problem of a LayerNormPlan: y = (x - mean) * rstd * gamma + beta, over the last axes.

    Attributes:
        kind: which op (LAYER_NORM unless given).
        input_shape: extents of x, y and their gradients.
        norm_axes: the axes that are normalised together, a suffix of all.
        norm_axes_mask: norm_axes as a number with bit i set for axis i; one of the two is enough.
        has_gamma: whether there is a gamma.
        has_beta: whether there is a beta.
        element: dtype of every tensor, of mean and rstd with a choice.
        eps: what is added to the variance.
        stats_dtype: dtype of mean and rstd: compute, that is f32, f64 for f64, or element.
    """

    kind: NormalizationKind | str = NormalizationKind.LAYER_NORM
    input_shape: tuple[int, ...]
    norm_axes: int | tuple[int, ...] | None = None
    norm_axes_mask: int | None = None
    has_gamma: bool = True
    has_beta: bool = True
    element: ElementKind | str
    eps: float = 1e-05
    stats_dtype: str = "compute"

    RULES: ClassVar = {
        "kind": NormalizationKind,
        "input_shape": "shape",
        "norm_axes": "axes",
        "has_gamma": "bool",
        "has_beta": "bool",
        "element": "element",
        "eps": "f64",
        "stats_dtype": "storage",
    }
    DEFAULTS: ClassVar = {}
    MASKS: ClassVar = {"norm_axes": "norm_axes_mask"}


@dataclass(frozen=True, kw_only=True)
class LayerNormBackwardDescriptor(Descriptor):
    """The problem of a LayerNormBackwardPlan.

    Attributes:
        kind: which op (LAYER_NORM unless given).
        input_shape: extents of x, y and their gradients.
        norm_axes: the axes that are normalised together, a suffix of all.
        norm_axes_mask: norm_axes as a number with bit i set for axis i; one of the two is enough.
        has_gamma: whether there is a gamma.
        has_beta: whether there is a beta.
        element: dtype of every tensor, of mean and rstd with a choice.
        stats_dtype: dtype of mean and rstd: compute, that is f32, f64 for f64, or element.
        want_dx: whether dx is wanted.
        want_dgamma: whether dgamma is wanted, if there is a gamma.
        want_dbeta: whether dbeta is wanted, if there is a beta.
    """

    kind: NormalizationKind | str = NormalizationKind.LAYER_NORM
    input_shape: tuple[int, ...]
    norm_axes: int | tuple[int, ...] | None = None
    norm_axes_mask: int | None = None
    has_gamma: bool = True
    has_beta: bool = True
    element: ElementKind | str
    stats_dtype: str = "compute"
    want_dx: bool = True
    want_dgamma: bool = True
    want_dbeta: bool = True

    RULES: ClassVar = {
        "kind": NormalizationKind,
        "input_shape": "shape",
        "norm_axes": "axes",
        "has_gamma": "bool",
        "has_beta": "bool",
        "element": "element",
        "stats_dtype": "storage",
        "want_dx": "bool",
        "want_dgamma": "bool",
        "want_dbeta": "bool",
    }
    DEFAULTS: ClassVar = {}
    MASKS: ClassVar = {"norm_axes": "norm_axes_mask"}


@dataclass(frozen=True, kw_only=True)
class LayerNormArgs:
    """The tensors of a LayerNormPlan.

    Attributes:
        x: input; of shape input_shape.
        gamma: factors, one an element of a row; of shape extents(input_shape, norm_axes) or
            flat(input_shape, norm_axes).
        beta: what is added, one an element of a row; of shape extents(input_shape, norm_axes) or
            flat(input_shape, norm_axes).
        y: result; of shape input_shape.
        mean: mean of x, for the backward; None: not wanted; of dtype stats_dtype, shape
            keepdim(input_shape, norm_axes).
        rstd: 1 over the root of the variance plus eps, for the backward; None: not wanted; of dtype
            stats_dtype, shape keepdim(input_shape, norm_axes).
    """

    x: Any
    gamma: Any = None
    beta: Any = None
    y: Any
    mean: Any = None
    rstd: Any = None


@dataclass(frozen=True, kw_only=True)
class LayerNormBackwardArgs:
    """The tensors of a LayerNormBackwardPlan.

    Attributes:
        dy: gradient of y; of shape input_shape.
        x: the forward's input; of shape input_shape.
        gamma: factors, one an element of a row; of shape extents(input_shape, norm_axes) or
            flat(input_shape, norm_axes).
        mean: the forward's; of dtype stats_dtype, shape keepdim(input_shape, norm_axes).
        rstd: the forward's; of dtype stats_dtype, shape keepdim(input_shape, norm_axes).
        dx: gradient of x; of shape input_shape.
        dgamma: gradient of gamma; of shape extents(input_shape, norm_axes) or flat(input_shape,
            norm_axes).
        dbeta: gradient of beta; of shape extents(input_shape, norm_axes) or flat(input_shape, norm_axes).
    """

    dy: Any
    x: Any
    gamma: Any = None
    mean: Any
    rstd: Any
    dx: Any = None
    dgamma: Any = None
    dbeta: Any = None


def _layer_norm_scalars(desc: LayerNormDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of layer_norm, folded in double precision."""
    eps = desc.eps
    return (eps,)


class LayerNormPlan(Plan):
    """y = (x - mean) * rstd * gamma + beta, over the last axes.

    LAYER_NORM (f16, bf16, f32, f64): x minus its mean, over its standard deviation, times gamma, plus
        beta; torch.nn.functional.layer_norm
        r = 1 / sqrt(v.m2 / extent + eps)
        v = moments(x)
        y = (x - v.origin - v.shift) * r * gamma + beta
        mean = v.mean if extent > 0 else nan
        rstd = r

    `select` checks a LayerNormDescriptor and compiles or loads its kernels.
    `run` takes LayerNormArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "aggregate"
    CATEGORY = "Normalization"
    DESCRIPTOR = LayerNormDescriptor
    ARGS = LayerNormArgs
    DOMAIN = "input_shape"
    AXES = "norm_axes"
    TENSORS = (
        TensorRule("x", "in"),
        TensorRule("gamma", "in"),
        TensorRule("beta", "in"),
        TensorRule("y", "out"),
        TensorRule("mean", "out", optional=True, element="stats_dtype"),
        TensorRule("rstd", "out", optional=True, element="stats_dtype"),
    )
    OPS: ClassVar = {
        NormalizationKind.LAYER_NORM: OpRecord(
            name="layer_norm",
            source="normalization/layer_norm.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x", "gamma", "beta"),
            row_inputs=(),
            outputs=("y",),
            row_outputs=("mean", "rstd"),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "gamma", "beta", "y", "mean", "rstd"}),
            batch_invariant=("y", "mean", "rstd"),
            attributes="a",
            fold=_layer_norm_scalars,
            state="aaaa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 24.0, "f64": 24.0},
            contraction=False,
            scale={
                "y": (
                    "abs(centred / deviation * weight) + abs(bias) + abs(weight) * (maximum(x) - minimum(x)) "
                    "/ deviation * min(1, 1e-06 / epsilon)"
                ),
                "mean": "sum(abs(x)) / extent",
            },
            holds={
                "y": (
                    "maximum(abs(weight)) < inf and (not isfinite(maximum(x) - minimum(x)) or maximum(x) == "
                    "minimum(x) or square(maximum(x) - minimum(x)) * extent < max_value and square(maximum(x)"
                    " - minimum(x)) * epsilon > smallest_normal * extent)"
                ),
                "mean": (
                    "maximum(abs(weight)) < inf and (not isfinite(maximum(x) - minimum(x)) or maximum(x) == "
                    "minimum(x) or square(maximum(x) - minimum(x)) * extent < max_value and square(maximum(x)"
                    " - minimum(x)) * epsilon > smallest_normal * extent)"
                ),
                "rstd": (
                    "maximum(abs(weight)) < inf and (not isfinite(maximum(x) - minimum(x)) or maximum(x) == "
                    "minimum(x) or square(maximum(x) - minimum(x)) * extent < max_value and square(maximum(x)"
                    " - minimum(x)) * epsilon > smallest_normal * extent)"
                ),
            },
            column_inputs=("gamma", "beta"),
            narrowed=("eps",),
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "x": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "gamma": (
                extents(desc.input_shape, desc.norm_axes),
                "the extents of input_shape along norm_axes",
            ),
            "beta": (
                extents(desc.input_shape, desc.norm_axes),
                "the extents of input_shape along norm_axes",
            ),
            "y": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "mean": (
                keepdim(desc.input_shape, desc.norm_axes),
                keepdim_reason("input_shape", desc.input_shape, "norm_axes", desc.norm_axes),
            ),
            "rstd": (
                keepdim(desc.input_shape, desc.norm_axes),
                keepdim_reason("input_shape", desc.input_shape, "norm_axes", desc.norm_axes),
            ),
        }

    @staticmethod
    def other_shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], ...]]:
        """Further shapes that a tensor may have."""
        return {
            "gamma": (flat(desc.input_shape, desc.norm_axes),),
            "beta": (flat(desc.input_shape, desc.norm_axes),),
        }

    @staticmethod
    def conditions(desc: Any) -> dict[str, tuple[bool, str]]:
        """Tensors that are there only on a condition: whether it holds, and which fields decide it."""
        return {
            "gamma": (
                desc.has_gamma,
                f"has_gamma is {desc.has_gamma}",
            ),
            "beta": (
                desc.has_beta,
                f"has_beta is {desc.has_beta}",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not is_suffix(desc.input_shape, desc.norm_axes):
            yield (
                f"input_shape is {desc.input_shape}, norm_axes is {desc.norm_axes}, "
                "want the last axes of input_shape, one at least, in norm_axes"
            )
        if desc.kind.value == "layer_norm" and not (math.isfinite(desc.eps) and desc.eps >= 0):
            yield f"eps is {desc.eps}, want isfinite(eps) and eps >= 0"
        yield from ()

    def __call__(
        self,
        *,
        x: Any,
        gamma: Any = None,
        beta: Any = None,
        y: Any,
        mean: Any = None,
        rstd: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = LayerNormArgs(
            x=x,
            gamma=gamma,
            beta=beta,
            y=y,
            mean=mean,
            rstd=rstd,
        )
        self.run(stream, workspace, args)


class LayerNormBackwardPlan(Plan):
    """Gradients of LayerNormPlan.

    LAYER_NORM (f16, bf16, f32, f64): x minus its mean, over its standard deviation, times gamma, plus
        beta; torch.nn.functional.layer_norm
        u = (x - mean) * rstd
        g = dy * gamma
        a = sum(g)
        b = sum(g * u)
        dx = (g - a / extent - u * (b / extent)) * rstd
        dgamma = dy * u
        dbeta = dy

    `select` checks a LayerNormBackwardDescriptor and compiles or loads its kernels.
    `run` takes LayerNormBackwardArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "aggregate"
    CATEGORY = "Normalization"
    DESCRIPTOR = LayerNormBackwardDescriptor
    ARGS = LayerNormBackwardArgs
    DOMAIN = "input_shape"
    AXES = "norm_axes"
    TENSORS = (
        TensorRule("dy", "in"),
        TensorRule("x", "in"),
        TensorRule("gamma", "in"),
        TensorRule("mean", "in", element="stats_dtype"),
        TensorRule("rstd", "in", element="stats_dtype"),
        TensorRule("dx", "out"),
        TensorRule("dgamma", "out"),
        TensorRule("dbeta", "out"),
    )
    OPS: ClassVar = {
        NormalizationKind.LAYER_NORM: OpRecord(
            name="layer_norm_backward",
            source="normalization/layer_norm_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("dy", "x", "gamma"),
            row_inputs=("mean", "rstd"),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "mean", "rstd"}),
            accepted=frozenset({"dy", "x", "gamma", "mean", "rstd", "dx", "dgamma", "dbeta"}),
            batch_invariant=("dx", "dgamma", "dbeta"),
            attributes="",
            fold=no_scalars,
            state="aa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 36.0, "f64": 36.0},
            contraction=False,
            scale={
                "dx": (
                    "abs(gradient) + sum(abs(gradient)) / extent + abs(unit) * sum(abs(gradient * unit)) / "
                    "extent + ((maximum(abs(gradient)) + rstd) * smallest_normal if maximum(abs(dy * weight))"
                    " * extent < max(max_value, 3e38) else 2 * extent * maximum(abs(dy * weight)))"
                ),
                "dgamma": "abs(exact) + abs(dy) * smallest_normal",
            },
            holds={
                "dx": (
                    "maximum(abs(weight)) < inf and (not isfinite(maximum(x) - minimum(x)) or maximum(x) == "
                    "minimum(x) or square(maximum(x) - minimum(x)) * extent < max_value and square(maximum(x)"
                    " - minimum(x)) * epsilon > smallest_normal * extent)"
                ),
                "dgamma": (
                    "maximum(abs(weight)) < inf and (not isfinite(maximum(x) - minimum(x)) or maximum(x) == "
                    "minimum(x) or square(maximum(x) - minimum(x)) * extent < max_value and square(maximum(x)"
                    " - minimum(x)) * epsilon > smallest_normal * extent)"
                ),
                "dbeta": (
                    "maximum(abs(weight)) < inf and (not isfinite(maximum(x) - minimum(x)) or maximum(x) == "
                    "minimum(x) or square(maximum(x) - minimum(x)) * extent < max_value and square(maximum(x)"
                    " - minimum(x)) * epsilon > smallest_normal * extent)"
                ),
            },
            column_inputs=("gamma",),
            column_outputs=("dgamma", "dbeta"),
        ),
    }

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "dy": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "x": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "gamma": (
                extents(desc.input_shape, desc.norm_axes),
                "the extents of input_shape along norm_axes",
            ),
            "mean": (
                keepdim(desc.input_shape, desc.norm_axes),
                keepdim_reason("input_shape", desc.input_shape, "norm_axes", desc.norm_axes),
            ),
            "rstd": (
                keepdim(desc.input_shape, desc.norm_axes),
                keepdim_reason("input_shape", desc.input_shape, "norm_axes", desc.norm_axes),
            ),
            "dx": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "dgamma": (
                extents(desc.input_shape, desc.norm_axes),
                "the extents of input_shape along norm_axes",
            ),
            "dbeta": (
                extents(desc.input_shape, desc.norm_axes),
                "the extents of input_shape along norm_axes",
            ),
        }

    @staticmethod
    def other_shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], ...]]:
        """Further shapes that a tensor may have."""
        return {
            "gamma": (flat(desc.input_shape, desc.norm_axes),),
            "dgamma": (flat(desc.input_shape, desc.norm_axes),),
            "dbeta": (flat(desc.input_shape, desc.norm_axes),),
        }

    @staticmethod
    def conditions(desc: Any) -> dict[str, tuple[bool, str]]:
        """Tensors that are there only on a condition: whether it holds, and which fields decide it."""
        return {
            "gamma": (
                desc.has_gamma,
                f"has_gamma is {desc.has_gamma}",
            ),
            "dx": (
                desc.want_dx,
                f"want_dx is {desc.want_dx}",
            ),
            "dgamma": (
                desc.has_gamma and desc.want_dgamma,
                f"has_gamma is {desc.has_gamma} and want_dgamma is {desc.want_dgamma}",
            ),
            "dbeta": (
                desc.has_beta and desc.want_dbeta,
                f"has_beta is {desc.has_beta} and want_dbeta is {desc.want_dbeta}",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if not is_suffix(desc.input_shape, desc.norm_axes):
            yield (
                f"input_shape is {desc.input_shape}, norm_axes is {desc.norm_axes}, "
                "want the last axes of input_shape, one at least, in norm_axes"
            )
        if not (desc.want_dx or (desc.has_gamma and desc.want_dgamma) or (desc.has_beta and desc.want_dbeta)):
            yield (
                f"want_dx is {desc.want_dx}, has_gamma is {desc.has_gamma}, want_dgamma is "
                f"{desc.want_dgamma}, has_beta is {desc.has_beta}, want_dbeta is {desc.want_dbeta}, "
                "want want_dx or has_gamma and want_dgamma or has_beta and want_dbeta"
            )
        yield from ()

    def __call__(
        self,
        *,
        dy: Any,
        x: Any,
        gamma: Any = None,
        mean: Any,
        rstd: Any,
        dx: Any = None,
        dgamma: Any = None,
        dbeta: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = LayerNormBackwardArgs(
            dy=dy,
            x=x,
            gamma=gamma,
            mean=mean,
            rstd=rstd,
            dx=dx,
            dgamma=dgamma,
            dbeta=dbeta,
        )
        self.run(stream, workspace, args)
