"""A small problem for each plan class and kind, made from the generated classes alone."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import baracuda
from baracuda.dtypes import ElementKind

# A value for each rule of a descriptor's field that has no default.
VALUES: dict[str, Any] = {
    "shape": (3, 20), "axes": (1,), "extent": 4, "f64": 0.5, "i64": 1, "bool": False,
    "target": ElementKind.F16,
}  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """A plan class with a descriptor; `tensors` makes fresh arrays for it."""

    plan: Any
    desc: Any

    def select(self, stream: Any = None) -> Any:
        return self.plan.select(stream or baracuda.Stream.host(), self.desc)

    def tensors(self, seed: int = 0) -> dict[str, Any]:
        """Inputs in (0.5, 1.5), outputs full of NaN; only what the op takes."""
        random = np.random.default_rng(seed)
        op = self.plan.OPS[self.desc.kind]
        element = next(
            getattr(self.desc, name) for name, rule in self.desc.RULES.items() if rule == "element"
        )
        arrays, conditions = {}, self.plan.conditions(self.desc)
        for rule in self.plan.TENSORS:
            needed, _ = conditions.get(rule.name, (rule.name in op.required, ""))
            if rule.name not in op.accepted or (not needed and (rule.io == "in" or rule.name in conditions)):
                continue
            shape = self.plan.shapes(self.desc)[rule.name][0]
            fill = random.uniform(0.5, 1.5, shape) if rule.io == "in" else np.full(shape, np.nan)
            kind = element if rule.element in (None, *self.desc.RULES) else ElementKind(rule.element)
            if self.desc.RULES.get(rule.element) == "target":
                kind = getattr(self.desc, rule.element)
            if getattr(self.desc, rule.element or "", "") == "compute":
                kind = element.compute
            arrays[rule.name] = fill.astype(kind.numpy)
        return arrays

    def outputs(self) -> list[str]:
        given = self.tensors()
        op = self.plan.OPS[self.desc.kind]
        return [
            rule.name
            for rule in self.plan.TENSORS
            if rule.io == "out" and rule.name in given and (rule.halves or rule.name in op.outputs)
        ]

    def workspace(self, plan: Any) -> Any:
        return baracuda.Workspace.host(plan.workspace_size())


def problems(element: str = "f32", *, every_kind: bool = False, **values: Any) -> Iterator[Problem]:
    """A problem for each plan class, of each of its forms of kernels the first kind with this element kind.

    `every_kind` takes all kinds. `values` replace VALUES, by rule. Plans that refuse them have none.
    """
    modules = importlib.import_module("baracuda.generated.plans").MODULES
    for name in sorted(name for name in modules if name.endswith("Plan")):
        plan = getattr(baracuda, name)
        fields = dataclasses.fields(plan.DESCRIPTOR)
        forms = set()
        for kind, op in plan.OPS.items():
            form = (op.inputs, op.row_inputs, op.outputs, op.row_outputs, op.accepted, op.state, op.pairs)
            if element not in op.dtypes or (form in forms and not every_kind):
                continue
            forms.add(form)
            wanted = {
                field.name: {**VALUES, "element": ElementKind(element), **values}[
                    plan.DESCRIPTOR.RULES[field.name]
                ]
                for field in fields
                if field.name in plan.DESCRIPTOR.MASKS
                or (field.default is dataclasses.MISSING and field.name != "kind")
            }
            desc = plan.DESCRIPTOR(kind=kind, **wanted)
            if next(plan.violations(desc), None) is None:
                yield Problem(plan, desc)


def first_problem(element: str = "f32", **values: Any) -> Problem:
    return next(problems(element, **values))
