"""Reduction plans.

ReducePlan, ReduceBackwardPlan.

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
from baracuda.shapes import keepdim, keepdim_reason, reduces_elements

from .kinds import ReduceKind

__all__ = [
    "ReduceArgs",
    "ReduceBackwardArgs",
    "ReduceBackwardDescriptor",
    "ReduceBackwardPlan",
    "ReduceDescriptor",
    "ReducePlan",
]


@dataclass(frozen=True, kw_only=True)
class ReduceDescriptor(Descriptor):
    """The problem of a ReducePlan: y = aggregate of x over one or several axes, which stay with extent 1.

    Attributes:
        kind: which op.
        input_shape: extents of x.
        reduce_axis: the axis to reduce, or a tuple of axes.
        element: dtype of every tensor.
        correction: what VAR and STD subtract from the number of elements: 1 sample, 0 population.
        ties: who gets the gradient of MAX and MIN among equals: all, each its share (split), or the
            first.
    """

    kind: ReduceKind | str
    input_shape: tuple[int, ...]
    reduce_axis: int | tuple[int, ...]
    element: ElementKind | str
    correction: float = 1.0
    ties: str = "all"

    RULES: ClassVar = {
        "kind": ReduceKind,
        "input_shape": "shape",
        "reduce_axis": "axes",
        "element": "element",
        "correction": "f64",
        "ties": "option",
    }
    DEFAULTS: ClassVar = {}
    IDLE: ClassVar = (
        ({"kind": "sum"}, ("correction", "ties")),
        ({"kind": "mean"}, ("correction", "ties")),
        ({"kind": "max"}, ("correction",)),
        ({"kind": "min"}, ("correction",)),
        ({"kind": "prod"}, ("correction", "ties")),
        ({"kind": "norm2"}, ("correction", "ties")),
        ({"kind": "logsumexp"}, ("correction", "ties")),
        ({"kind": "var"}, ("ties",)),
        ({"kind": "std"}, ("ties",)),
    )


@dataclass(frozen=True, kw_only=True)
class ReduceBackwardDescriptor(ReduceDescriptor):
    """The problem of a ReduceBackwardPlan: the fields of the forward's descriptor."""


@dataclass(frozen=True, kw_only=True)
class ReduceArgs:
    """The tensors of a ReducePlan.

    Attributes:
        x: input; of shape input_shape.
        y: result; of shape keepdim(input_shape, reduce_axis).
        mean: mean of x, for VAR and STD; None: not wanted; of shape keepdim(input_shape, reduce_axis).
    """

    x: Any
    y: Any
    mean: Any = None


@dataclass(frozen=True, kw_only=True)
class ReduceBackwardArgs:
    """The tensors of a ReduceBackwardPlan.

    Attributes:
        dy: gradient of y; of shape keepdim(input_shape, reduce_axis).
        x: the forward's input; None for SUM, MEAN; of shape input_shape.
        y: the forward's result; None for SUM, MEAN; may be None for VAR; of shape keepdim(input_shape,
            reduce_axis).
        dx: gradient of x; of shape input_shape.
    """

    dy: Any
    x: Any = None
    y: Any = None
    dx: Any


def _reduce_var_scalars(desc: ReduceDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of reduce_var, folded in double precision."""
    correction = desc.correction
    return (correction,)


def _reduce_var_backward_scalars(desc: ReduceDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of reduce_var_backward, folded in double precision."""
    correction = desc.correction
    return (correction,)


def _reduce_std_scalars(desc: ReduceDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of reduce_std, folded in double precision."""
    correction = desc.correction
    return (correction,)


def _reduce_std_backward_scalars(desc: ReduceDescriptor) -> tuple[float | bool | int, ...]:
    """Scalars of reduce_std_backward, folded in double precision."""
    correction = desc.correction
    return (correction,)


class ReducePlan(Plan):
    """y = aggregate of x over one or several axes, which stay with extent 1.

    SUM (f16, bf16, f32, f64): sum over the reduced axes; torch.sum, jnp.sum
        y = sum(x)

    MEAN (f16, bf16, f32, f64): mean over the reduced axes, NaN of no elements; torch.mean, jnp.mean
        y = sum(x) / extent

    MAX (f16, bf16, f32, f64): largest element, NaN if any is; torch.amax, jnp.max
        y = maximum(x)

    MIN (f16, bf16, f32, f64): smallest element, NaN if any is; torch.amin, jnp.min
        y = minimum(x)

    PROD (f16, bf16, f32, f64): product over the reduced axes; torch.prod, jnp.prod
        y = product(x)

    NORM2 (f16, bf16, f32, f64): Euclidean norm; torch.linalg.vector_norm, jnp.linalg.norm
        y = squares(x)

    LOGSUMEXP (f16, bf16, f32, f64): log(sum(exp(x))), -inf of no elements; torch.logsumexp,
        jax.nn.logsumexp
        y = logsumexp(x)

    VAR (f16, bf16, f32, f64): variance with n - correction degrees of freedom, NaN where there are none;
        torch.var, jnp.var
        freedom = extent - correction
        v = moments(x)
        y = v.m2 / freedom if freedom > 0 else nan
        mean = v.mean if extent > 0 else nan

    STD (f16, bf16, f32, f64): square root of the variance, with gradient 0 where it is 0; torch.std,
        jnp.std
        freedom = extent - correction
        v = moments(x)
        y = sqrt(v.m2 / freedom) if freedom > 0 else nan
        mean = v.mean if extent > 0 else nan

    `select` checks a ReduceDescriptor and compiles or loads its kernels.
    `run` takes ReduceArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "aggregate"
    CATEGORY = "Reduction"
    DESCRIPTOR = ReduceDescriptor
    ARGS = ReduceArgs
    DOMAIN = "input_shape"
    AXES = "reduce_axis"
    TENSORS = (
        TensorRule("x", "in"),
        TensorRule("y", "out"),
        TensorRule("mean", "out", optional=True),
    )
    OPS: ClassVar = {
        ReduceKind.SUM: OpRecord(
            name="reduce_sum",
            source="reduction/reduce_sum.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=(),
            row_outputs=("y",),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="a",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 32.0, "f64": 32.0},
            contraction=False,
            scale={"y": "sum(abs(x))"},
            holds={"y": "sum(abs(x)) < max_value"},
        ),
        ReduceKind.MEAN: OpRecord(
            name="reduce_mean",
            source="reduction/reduce_mean.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=(),
            row_outputs=("y",),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="a",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 32.0, "f64": 32.0},
            contraction=False,
            scale={"y": "sum(abs(x)) / extent"},
            holds={"y": "sum(abs(x)) < max_value"},
        ),
        ReduceKind.MAX: OpRecord(
            name="reduce_max",
            source="reduction/reduce_max.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=(),
            row_outputs=("y",),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="a",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
            choices={"ties": ("all", "split", "first")},
        ),
        ReduceKind.MIN: OpRecord(
            name="reduce_min",
            source="reduction/reduce_min.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=(),
            row_outputs=("y",),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="a",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
            choices={"ties": ("all", "split", "first")},
        ),
        ReduceKind.PROD: OpRecord(
            name="reduce_prod",
            source="reduction/reduce_prod.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=(),
            row_outputs=("y",),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="aaii",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 3.0},
            contraction=False,
        ),
        ReduceKind.NORM2: OpRecord(
            name="reduce_norm2",
            source="reduction/reduce_norm2.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=(),
            row_outputs=("y",),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="aaa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 16.0, "f64": 16.0},
            contraction=False,
        ),
        ReduceKind.LOGSUMEXP: OpRecord(
            name="reduce_logsumexp",
            source="reduction/reduce_logsumexp.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=(),
            row_outputs=("y",),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y"}),
            batch_invariant=("y",),
            attributes="",
            fold=no_scalars,
            state="aa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 8.0, "f64": 8.0},
            contraction=False,
            scale={"y": "abs(exact) + 1"},
        ),
        ReduceKind.VAR: OpRecord(
            name="reduce_var",
            source="reduction/reduce_var.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=(),
            row_outputs=("y", "mean"),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y", "mean"}),
            batch_invariant=("y", "mean"),
            attributes="a",
            fold=_reduce_var_scalars,
            state="aaaa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 32.0, "f64": 32.0},
            contraction=False,
            scale={"mean": "sum(abs(x)) / extent"},
            holds={
                "y": (
                    "not isfinite(maximum(x) - minimum(x)) or maximum(x) == minimum(x) or square(maximum(x) -"
                    " minimum(x)) * extent < max_value and square(maximum(x) - minimum(x)) * epsilon > "
                    "smallest_normal * extent"
                ),
                "mean": (
                    "not isfinite(maximum(x) - minimum(x)) or maximum(x) == minimum(x) or square(maximum(x) -"
                    " minimum(x)) * extent < max_value and square(maximum(x) - minimum(x)) * epsilon > "
                    "smallest_normal * extent"
                ),
            },
            narrowed=("correction",),
        ),
        ReduceKind.STD: OpRecord(
            name="reduce_std",
            source="reduction/reduce_std.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=(),
            outputs=(),
            row_outputs=("y", "mean"),
            required=frozenset({"x", "y"}),
            accepted=frozenset({"x", "y", "mean"}),
            batch_invariant=("y", "mean"),
            attributes="a",
            fold=_reduce_std_scalars,
            state="aaaa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 16.0, "f64": 16.0},
            contraction=False,
            scale={"mean": "sum(abs(x)) / extent"},
            holds={
                "y": (
                    "not isfinite(maximum(x) - minimum(x)) or maximum(x) == minimum(x) or square(maximum(x) -"
                    " minimum(x)) * extent < max_value and square(maximum(x) - minimum(x)) * epsilon > "
                    "smallest_normal * extent"
                ),
                "mean": (
                    "not isfinite(maximum(x) - minimum(x)) or maximum(x) == minimum(x) or square(maximum(x) -"
                    " minimum(x)) * extent < max_value and square(maximum(x) - minimum(x)) * epsilon > "
                    "smallest_normal * extent"
                ),
            },
            narrowed=("correction",),
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
            "y": (
                keepdim(desc.input_shape, desc.reduce_axis),
                keepdim_reason("input_shape", desc.input_shape, "reduce_axis", desc.reduce_axis),
            ),
            "mean": (
                keepdim(desc.input_shape, desc.reduce_axis),
                keepdim_reason("input_shape", desc.input_shape, "reduce_axis", desc.reduce_axis),
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if desc.kind.value == "max" and not reduces_elements(desc.input_shape, desc.reduce_axis):
            yield (
                f"input_shape is {desc.input_shape}, reduce_axis is {desc.reduce_axis}, "
                "want an element of input_shape to reduce for every result"
            )
        if desc.kind.value == "min" and not reduces_elements(desc.input_shape, desc.reduce_axis):
            yield (
                f"input_shape is {desc.input_shape}, reduce_axis is {desc.reduce_axis}, "
                "want an element of input_shape to reduce for every result"
            )
        if desc.kind.value == "var" and not math.isfinite(desc.correction):
            yield f"correction is {desc.correction}, want isfinite(correction)"
        if desc.kind.value == "std" and not math.isfinite(desc.correction):
            yield f"correction is {desc.correction}, want isfinite(correction)"
        yield from ()

    def __call__(
        self,
        *,
        x: Any,
        y: Any,
        mean: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = ReduceArgs(
            x=x,
            y=y,
            mean=mean,
        )
        self.run(stream, workspace, args)


class ReduceBackwardPlan(Plan):
    """Gradients of ReducePlan.

    SUM (f16, bf16, f32, f64): sum over the reduced axes; torch.sum, jnp.sum
        dx = dy

    MEAN (f16, bf16, f32, f64): mean over the reduced axes, NaN of no elements; torch.mean, jnp.mean
        dx = dy / extent

    MAX (f16, bf16, f32, f64, ties=all): largest element, NaN if any is; torch.amax, jnp.max
        hit = x == y or isnan(x) and isnan(y)
        dx = dy if hit else 0

    MIN (f16, bf16, f32, f64, ties=all): smallest element, NaN if any is; torch.amin, jnp.min
        hit = x == y or isnan(x) and isnan(y)
        dx = dy if hit else 0

    PROD (f16, bf16, f32, f64): product over the reduced axes; torch.prod, jnp.prod
        zero = x == 0
        others = t.zeros - (1 if zero else 0)
        wild = n - (0 if isfinite(x) else 1)
        ratio = t.m / (copysign(1, x) if zero else mantissa(x))
        t = product(x)
        n = count(not isfinite(x))
        dx = ldexp(mantissa(dy) * ratio, t.e - exponent(x) + exponent(dy)) if others == 0 else dy * 0 if wild
            == 0 else nan

    NORM2 (f16, bf16, f32, f64): Euclidean norm; torch.linalg.vector_norm, jnp.linalg.norm
        share = x * n.factor / n.length if n.factor > 1 else x / n.length * n.factor
        grown = x * (1 / smallest_normal) / n.length * n.factor
        fits = abs(share) >= smallest_normal or n.length == inf
        n = squares(x)
        dx = 0 if n.length == 0 else dy * share if fits else dy * grown * smallest_normal

    LOGSUMEXP (f16, bf16, f32, f64): log(sum(exp(x))), -inf of no elements; torch.logsumexp,
        jax.nn.logsumexp
        share = 1 / l.s
        h = exp(0.5 * (x - l.m))
        l = logsumexp(x)
        dx = 0 if isinf(l.m) else dy * h * h * share

    VAR (f16, bf16, f32, f64): variance with n - correction degrees of freedom, NaN where there are none;
        torch.var, jnp.var
        freedom = extent - correction
        factor = 2 / (freedom if freedom > 0 else 1)
        v = moments(x)
        dx = dy * ((x - v.origin - v.shift) * factor)

    STD (f16, bf16, f32, f64): square root of the variance, with gradient 0 where it is 0; torch.std,
        jnp.std
        freedom = extent - correction
        factor = nan if freedom <= 0 or v.m2 == inf else 0 if v.m2 == 0 else 1 / (sqrt(v.m2 / freedom) *
            freedom)
        v = moments(x)
        dx = dy * ((x - v.origin - v.shift) * factor)

    `select` checks a ReduceBackwardDescriptor and compiles or loads its kernels.
    `run` takes ReduceBackwardArgs: tensors with any strides, zero and negative ones included.
    """

    TEMPLATE = "aggregate"
    CATEGORY = "Reduction"
    DESCRIPTOR = ReduceBackwardDescriptor
    ARGS = ReduceBackwardArgs
    DOMAIN = "input_shape"
    AXES = "reduce_axis"
    TENSORS = (
        TensorRule("dy", "in"),
        TensorRule("x", "in"),
        TensorRule("y", "in"),
        TensorRule("dx", "out"),
    )
    OPS: ClassVar = {
        ReduceKind.SUM: OpRecord(
            name="reduce_sum_backward",
            source="reduction/reduce_sum_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=(),
            row_inputs=("dy",),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "dx"}),
            accepted=frozenset({"dy", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        ReduceKind.MEAN: OpRecord(
            name="reduce_mean_backward",
            source="reduction/reduce_mean_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=(),
            row_inputs=("dy",),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "dx"}),
            accepted=frozenset({"dy", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        ReduceKind.MAX: OpRecord(
            name="reduce_max_backward",
            source="reduction/reduce_max_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=("dy", "y"),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "y", "dx"}),
            accepted=frozenset({"dy", "x", "y", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
        ),
        ReduceKind.MIN: OpRecord(
            name="reduce_min_backward",
            source="reduction/reduce_min_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=("dy", "y"),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "y", "dx"}),
            accepted=frozenset({"dy", "x", "y", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
            contraction=False,
        ),
        ReduceKind.PROD: OpRecord(
            name="reduce_prod_backward",
            source="reduction/reduce_prod_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=("dy",),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "y", "dx"}),
            accepted=frozenset({"dy", "x", "y", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="aaiii",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 3.0, "f64": 3.0},
            contraction=False,
        ),
        ReduceKind.NORM2: OpRecord(
            name="reduce_norm2_backward",
            source="reduction/reduce_norm2_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=("dy",),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "y", "dx"}),
            accepted=frozenset({"dy", "x", "y", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="aaa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0},
            contraction=False,
        ),
        ReduceKind.LOGSUMEXP: OpRecord(
            name="reduce_logsumexp_backward",
            source="reduction/reduce_logsumexp_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=("dy",),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "y", "dx"}),
            accepted=frozenset({"dy", "x", "y", "dx"}),
            batch_invariant=("dx",),
            attributes="",
            fold=no_scalars,
            state="aa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 8.0, "f64": 8.0},
            contraction=False,
            scale={"dx": "abs(exact) * min(1 + maximum(x) - x, 800)"},
        ),
        ReduceKind.VAR: OpRecord(
            name="reduce_var_backward",
            source="reduction/reduce_var_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=("dy",),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "dx"}),
            accepted=frozenset({"dy", "x", "y", "dx"}),
            batch_invariant=("dx",),
            attributes="a",
            fold=_reduce_var_backward_scalars,
            state="aaaa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 32.0, "f64": 32.0},
            contraction=False,
            scale={"dx": "abs(dy) * 2 * (maximum(x) - minimum(x)) / (freedom if freedom > 0 else 1)"},
            holds={
                "dx": (
                    "not isfinite(maximum(x) - minimum(x)) or maximum(x) == minimum(x) or square(maximum(x) -"
                    " minimum(x)) * extent < max_value and square(maximum(x) - minimum(x)) * epsilon > "
                    "smallest_normal * extent"
                ),
            },
            narrowed=("correction",),
        ),
        ReduceKind.STD: OpRecord(
            name="reduce_std_backward",
            source="reduction/reduce_std_backward.cu",
            dtypes=("f16", "bf16", "f32", "f64"),
            inputs=("x",),
            row_inputs=("dy",),
            outputs=("dx",),
            row_outputs=(),
            required=frozenset({"dy", "x", "y", "dx"}),
            accepted=frozenset({"dy", "x", "y", "dx"}),
            batch_invariant=("dx",),
            attributes="a",
            fold=_reduce_std_backward_scalars,
            state="aaaa",
            ulp={"f16": 1.0, "bf16": 1.0, "f32": 16.0, "f64": 16.0},
            contraction=False,
            scale={"dx": "abs(dy) / sqrt(freedom if freedom > 0 else 1)"},
            holds={
                "dx": (
                    "not isfinite(maximum(x) - minimum(x)) or maximum(x) == minimum(x) or square(maximum(x) -"
                    " minimum(x)) * extent < max_value and square(maximum(x) - minimum(x)) * epsilon > "
                    "smallest_normal * extent"
                ),
            },
            narrowed=("correction",),
        ),
    }
    ALTERNATIVES = (
        (
            ReduceKind.MAX,
            {"ties": "split"},
            OpRecord(
                name="reduce_max_backward_split",
                source="reduction/reduce_max_backward_split.cu",
                dtypes=("f16", "bf16", "f32", "f64"),
                inputs=("x",),
                row_inputs=("dy", "y"),
                outputs=("dx",),
                row_outputs=(),
                required=frozenset({"dy", "x", "y", "dx"}),
                accepted=frozenset({"dy", "x", "y", "dx"}),
                batch_invariant=("dx",),
                attributes="",
                fold=no_scalars,
                state="i",
                ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
                contraction=False,
            ),
        ),
        (
            ReduceKind.MAX,
            {"ties": "first"},
            OpRecord(
                name="reduce_max_backward_first",
                source="reduction/reduce_max_backward_first.cu",
                dtypes=("f16", "bf16", "f32", "f64"),
                inputs=("x",),
                row_inputs=("dy", "y"),
                outputs=("dx",),
                row_outputs=(),
                required=frozenset({"dy", "x", "y", "dx"}),
                accepted=frozenset({"dy", "x", "y", "dx"}),
                batch_invariant=("dx",),
                attributes="",
                fold=no_scalars,
                state="i",
                ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
                contraction=False,
            ),
        ),
        (
            ReduceKind.MIN,
            {"ties": "split"},
            OpRecord(
                name="reduce_min_backward_split",
                source="reduction/reduce_min_backward_split.cu",
                dtypes=("f16", "bf16", "f32", "f64"),
                inputs=("x",),
                row_inputs=("dy", "y"),
                outputs=("dx",),
                row_outputs=(),
                required=frozenset({"dy", "x", "y", "dx"}),
                accepted=frozenset({"dy", "x", "y", "dx"}),
                batch_invariant=("dx",),
                attributes="",
                fold=no_scalars,
                state="i",
                ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
                contraction=False,
            ),
        ),
        (
            ReduceKind.MIN,
            {"ties": "first"},
            OpRecord(
                name="reduce_min_backward_first",
                source="reduction/reduce_min_backward_first.cu",
                dtypes=("f16", "bf16", "f32", "f64"),
                inputs=("x",),
                row_inputs=("dy", "y"),
                outputs=("dx",),
                row_outputs=(),
                required=frozenset({"dy", "x", "y", "dx"}),
                accepted=frozenset({"dy", "x", "y", "dx"}),
                batch_invariant=("dx",),
                attributes="",
                fold=no_scalars,
                state="i",
                ulp={"f16": 1.0, "bf16": 1.0, "f32": 1.0, "f64": 1.0},
                contraction=False,
            ),
        ),
    )

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        return {
            "dy": (
                keepdim(desc.input_shape, desc.reduce_axis),
                keepdim_reason("input_shape", desc.input_shape, "reduce_axis", desc.reduce_axis),
            ),
            "x": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
            "y": (
                keepdim(desc.input_shape, desc.reduce_axis),
                keepdim_reason("input_shape", desc.input_shape, "reduce_axis", desc.reduce_axis),
            ),
            "dx": (
                desc.input_shape,
                "the input_shape of the descriptor",
            ),
        }

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        if desc.kind.value == "var" and not math.isfinite(desc.correction):
            yield f"correction is {desc.correction}, want isfinite(correction)"
        if desc.kind.value == "std" and not math.isfinite(desc.correction):
            yield f"correction is {desc.correction}, want isfinite(correction)"
        yield from ()

    def __call__(
        self,
        *,
        dy: Any,
        x: Any = None,
        y: Any = None,
        dx: Any,
        stream: Any = None,
        workspace: Any = None,
    ) -> None:
        """Run on tensors by name; `stream` None is the current stream of the first output's library."""
        args = ReduceBackwardArgs(
            dy=dy,
            x=x,
            y=y,
            dx=dx,
        )
        self.run(stream, workspace, args)
