"""What the arguments of a plan must satisfy before anything is launched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from baracuda import checks
from baracuda.contract import OpRecord, TensorRule
from baracuda.dtypes import ElementKind
from baracuda.engines import Engine
from baracuda.errors import InvalidProblem
from baracuda.ordering import UNORDERED
from baracuda.shapes import broadcast_shapes
from baracuda.tensor import Device, TensorRef, as_tensor

__all__ = ["ArgumentRules", "Tensors", "Wanted"]

Tensors = dict[str, "TensorRef | None"]
#: Name, shapes and element kinds of each tensor, the usual ones first.
Wanted = tuple[tuple[str, tuple[tuple[int, ...], ...], tuple[ElementKind, ...]], ...]

#: The axis of heads in a tensor of heads.
_HEADS = 1


@dataclass(frozen=True)
class ArgumentRules:
    """The rules of a plan: what each tensor must be on its own, and beside the others.

    Attributes:
        plan: the name of the plan, for messages.
        cls: the class of the arguments.
        op: which tensors are required, and which accepted.
        device: where every tensor lies.
        engine: which outputs may be an input.
        tensors: the rules of the plan's class.
        wanted: what the problem wants of each of `tensors`.
        shapes: where the shape of each tensor comes from.
        conditions: whether the descriptor asks for a tensor, and how it says so.
    """

    plan: str
    cls: type[Any]
    op: OpRecord
    device: Device
    engine: Engine
    tensors: tuple[TensorRule, ...]
    wanted: Wanted
    shapes: Mapping[str, tuple[tuple[int, ...], str]]
    conditions: Mapping[str, tuple[bool, str]]

    def validated(self, args: Any, stream: int | None = UNORDERED) -> Tensors:
        """The tensors by name, each checked on its own and against the others.

        `stream` reads them next, as `as_tensor` has it.
        """
        name, op = self.plan, self.op
        if type(args) is not self.cls:
            raise TypeError(f"{name}: args is a {type(args).__name__}, want {self.cls.__name__}")
        tensors: Tensors = {}
        # What must not be there has no shape that would be right; what is wrong with it is said below.
        surplus = {key for key, (holds, _) in self.conditions.items() if not holds}
        for rule, (_, shapes, elements) in zip(self.tensors, self.wanted, strict=True):
            given = getattr(args, rule.name)
            if given is None:
                tensors[rule.name] = None
                continue
            tensor = as_tensor(given, rule.name, name, stream)
            if tensor.element not in elements:
                checks.check_element(tensor, rule.name, name, *elements)
            checks.check_device(tensor, rule.name, name, self.device)
            if tensor.shape not in shapes and rule.name not in surplus:
                shape, why = self.shapes[rule.name]
                others: tuple[object, ...] = shapes[1:]
                if others and others == broadcast_shapes(shape):
                    others = ("a shape that broadcasts to it",)
                why += "".join(f", or {other}" for other in others)
                checks.check_shape(tensor, rule.name, name, shape, why)
            tensors[rule.name] = tensor
        for rule in self.tensors:
            present = tensors[rule.name]
            if present is not None and rule.name not in surplus:
                _check_layout(present, rule, name)
        for rule in self.tensors:
            if tensors[rule.name] is None and rule.name in op.required:
                raise InvalidProblem(f"{name}: {rule.name} is None, want a tensor: {op.name} requires it")
            if tensors[rule.name] is not None and rule.name not in op.accepted:
                raise InvalidProblem(f"{name}: {rule.name} is given, want None: {op.name} takes none")
        for rule in self.tensors:
            holds, why = self.conditions.get(rule.name, (True, ""))
            if tensors[rule.name] is not None and not holds:
                raise InvalidProblem(f"{name}: {rule.name} is given, want None: {why}")
            if tensors[rule.name] is None and holds and why and not rule.optional:
                raise InvalidProblem(f"{name}: {rule.name} is None, want a tensor: {why}")
        self._check_results(tensors, surplus)
        self.check_memory(tensors)
        return tensors

    def _check_results(self, tensors: Tensors, surplus: set[str]) -> None:
        """Refuse a call for nothing: of results that may each be left out, one is wanted."""
        results = [
            rule.name
            for rule in self.tensors
            if rule.io == "out" and rule.name in self.op.accepted and rule.name not in surplus
        ]
        if all(tensors[name] is None for name in results):
            *others, last = results
            names = f"{', '.join(others)} and {last} are" if others else f"{last} is"
            raise InvalidProblem(f"{self.plan}: {names} None, want a tensor for one of them at least")

    def check_memory(self, tensors: Tensors) -> None:
        """Bounds, alignment and overlaps: what depends on the addresses."""
        name = self.plan
        outputs = [rule.name for rule in self.tensors if rule.io != "in"]
        shares = {rule.name: rule.shares for rule in self.tensors if rule.shares is not None}
        for key, tensor in tensors.items():
            if tensor is None:
                continue
            checks.check_bounds(tensor, key, name)
            checks.check_aligned(tensor, key, name)
            if key in outputs:
                checks.check_writable(tensor, key, name)
                source = tensors[shares[key]] if key in shares else None
                shared = source is not None and source.strides[_HEADS] == 0
                unless = f", or heads of {shares[key]} at a zero stride too" if key in shares else ""
                checks.check_no_self_overlap(tensor, key, name, (_HEADS,) if shared else (), unless)
        for place, key in enumerate(outputs):
            out = tensors[key]
            if out is None:
                continue
            for other, tensor in tensors.items():
                if tensor is None or other == key or other in outputs[:place]:
                    continue
                may_alias = other not in outputs and self.engine.may_alias(key, other)
                why = "" if other in outputs else self.engine.why_apart(key, other)
                checks.check_no_partial_overlap(out, tensor, key, other, name, inplace=may_alias, why=why)


def _check_layout(tensor: TensorRef, rule: TensorRule, plan: str) -> None:
    if rule.layout == "inner":
        checks.check_unit_stride(tensor, rule.name, plan)
    elif rule.layout == "contiguous":
        checks.check_contiguous(tensor, rule.name, plan)
