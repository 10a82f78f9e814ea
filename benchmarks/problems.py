"""Problems for any plan class: descriptors, tensors and launches from what a plan class says about itself."""

from __future__ import annotations

import dataclasses
import enum
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import baracuda as bc
from baracuda.contract import TensorRule
from baracuda.generated import plans as generated_plans
from baracuda.plan import Plan
from baracuda.shapes import numel

__all__ = [
    "Run",
    "describe",
    "forward_of",
    "given",
    "plan_classes",
    "prepare",
    "shape_fields",
    "stored",
    "stream_for",
]

#: Values of required descriptor fields that are neither shape, axes, element nor the op's kind.
ANY_VALUE = {"f64": 0.3, "i64": 1, "bool": False}


def plan_classes() -> Iterator[type[Plan]]:
    """Every plan class that was generated, in the order of the spec's categories."""
    for name, module in generated_plans.MODULES.items():
        found = getattr(importlib.import_module(f"{generated_plans.__name__}.{module}"), name)
        if isinstance(found, type) and issubclass(found, Plan):
            yield found


def forward_of(plan: type[Plan]) -> type[Plan] | None:
    """The forward's plan class of a backward's; None for one that is no backward's."""
    name = plan.__name__.removesuffix("BackwardPlan") + "Plan"
    return next((other for other in plan_classes() if other is not plan and other.__name__ == name), None)


def describe(
    plan: type[Plan],
    kind: Any,
    element: str,
    domain: tuple[int, ...],
    axes: tuple[int, ...] = (),
    **fields: Any,
) -> Any:
    """A descriptor of a plan class: the domain, the axes and `fields` as given, the rest at its default.

    Operands that may be halves of one tensor are so, along the last axis.

    Where the domain is made of extents, missing ones are 1, surplus ones join the first, the last is even.
    """
    cls = plan.DESCRIPTOR
    values = {**_extents(plan, domain), **fields}
    for field in dataclasses.fields(cls):
        if field.name in values or field.name not in cls.RULES:  # a mask follows from its axes
            continue
        name, rule = field.name, cls.RULES[field.name]
        if name == plan.DOMAIN:
            values[name] = domain
        elif plan.AXES is not None and name == plan.AXES:
            values[name] = axes
        elif plan.HALVES is not None and name == plan.HALVES[0]:
            values[name] = len(domain) - 1
        elif rule == "element":
            values[name] = element
        elif rule == "target" and field.default is dataclasses.MISSING:
            values[name] = "bf16" if element == "f32" else "f32"
        elif isinstance(rule, type) and isinstance(kind, rule):
            values[name] = kind
        elif field.default is dataclasses.MISSING:
            is_enum = isinstance(rule, type) and issubclass(rule, enum.Enum)
            values[name] = next(iter(rule)) if is_enum else ANY_VALUE[rule]
    return cls(**values)


def _extents(plan: type[Plan], domain: tuple[int, ...]) -> dict[str, int]:
    """The extents of a domain that is no field of the descriptor."""
    cls = plan.DESCRIPTOR
    if plan.DOMAIN in cls.RULES:
        return {}
    names = [
        field.name
        for field in dataclasses.fields(cls)
        if cls.RULES[field.name] == "extent" and field.default is dataclasses.MISSING
    ]
    padded = (1,) * (len(names) - len(domain)) + domain
    surplus = len(padded) - len(names)
    whole = (numel(padded[: surplus + 1]), *padded[surplus + 1 : -1], padded[-1] + padded[-1] % 2)
    return dict(zip(names, whole, strict=True))


def shape_fields(plan: type[Plan]) -> list[str]:
    """Descriptor fields with the shape of one operand, which may be broadcast to the domain."""
    return [name for name, other in plan.DESCRIPTOR.DEFAULTS.items() if other == plan.DOMAIN]


def given(plan: type[Plan], desc: Any) -> tuple[str, ...]:
    """The tensors that a caller hands over who wants what every caller wants.

    These are the ones that the op or the descriptor requires; where that is no output, all outputs too.
    """
    op = plan._op_of(desc)
    outputs = {rule.name for rule in plan.TENSORS if rule.io == "out"}
    optional = {rule.name for rule in plan.TENSORS if rule.optional}
    asked = {name for name, (holds, _) in plan.conditions(desc).items() if holds and name not in optional}
    if asked:
        return tuple(rule.name for rule in plan.TENSORS if rule.name in op.required | asked)
    wanted = op.required if op.required & outputs else op.required | (op.accepted & outputs)
    return tuple(rule.name for rule in plan.TENSORS if rule.name in wanted)


def stored(rule: TensorRule, desc: Any, element: bc.ElementKind) -> bc.ElementKind:
    """The element kind of a tensor: its own, one that the descriptor names, or the problem's."""
    if rule.element in {str(kind) for kind in bc.ElementKind}:
        return bc.ElementKind.parse(rule.element)
    chosen = getattr(desc, rule.element or "", None)
    if desc.RULES.get(rule.element) == "target" or isinstance(chosen, bc.ElementKind):
        return bc.ElementKind.parse(chosen)
    return element.compute if chosen == "compute" else element


@dataclass(frozen=True)
class Run:
    """A plan with its tensors packed.

    Attributes:
        plan: the plan.
        tensors: its arguments by name.
        launch: runs it on the stream that it was prepared for.
        nbytes: the fewest bytes that it must move: each tensor once, and no more of it than lies in memory.
    """

    plan: Any
    tensors: Mapping[str, Any]
    launch: Callable[[], object]
    nbytes: int


def stream_for(torch: Any, device: str) -> Any:
    """PyTorch's current stream, or the host's."""
    return torch.cuda.current_stream() if device == "cuda" else bc.Stream.host()


def prepare(torch: Any, device: str, plan_class: type[Plan], desc: Any, tensors: Mapping[str, Any]) -> Run:
    """Select a plan and pack its launch on these tensors, with a workspace of its own."""
    stream = stream_for(torch, device)
    plan = plan_class.select(stream, desc)
    nbytes = plan.workspace_size()
    workspace: Any = None
    if nbytes:
        if device == "cuda":
            workspace = torch.empty(nbytes, dtype=torch.uint8, device="cuda")
        else:
            workspace = bc.Workspace.host(nbytes)
    bound = plan.bind(plan_class.ARGS(**tensors), workspace)
    moved = sum(_elements(tensor) * tensor.element_size() for tensor in tensors.values())
    return Run(plan, tensors, lambda: bound(stream), moved)


def _elements(tensor: Any) -> int:
    """Elements that a tensor has in memory: an axis of stride 0 counts once."""
    return numel(
        tuple(
            1 if stride == 0 else extent for extent, stride in zip(tensor.shape, tensor.stride(), strict=True)
        )
    )
