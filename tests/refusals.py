"""Calls that work, for tests that spoil one thing of them, and what a refusal must be."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from devices import overwrite, small_problems

from baracuda.codegen import verify
from baracuda.dtypes import ElementKind
from baracuda.plan import Plan
from baracuda.tensor import as_tensor


@dataclass
class Good:
    """A call that works; the tests spoil one thing of it."""

    problem: Any
    run: Any

    @property
    def name(self):
        return type(self.run.plan).__name__

    def refs(self):
        return {name: as_tensor(tensor.array) for name, tensor in self.run.tensors.items()}


def good_problem(op, direction):
    """A problem over (4, 6) in which no operand is broadcast."""
    problem = small_problems(op, direction, "f32", (4, 6))[0]
    return problem.with_fields(
        **{name: (4, 6) for name, rule in op.family.descriptor.items() if rule.type == "shape"}
    )


@contextmanager
def good_call(backend, op, direction, known):
    """A call over (4, 6), all tensors contiguous, whose plan ran before or not.

    Nothing is launched in the context, and leaving it, no tensor has been written.
    """
    problem = good_problem(op, direction)
    prepared = verify.prepare(backend, problem, verify.inputs_for(problem))
    if known:
        args, space = prepared.args(), backend.workspace(prepared.plan.workspace_size())
        for _ in range(3):
            prepared.plan.run(backend.stream, space, args)
        backend.synchronize()
        for name in set(prepared.tensors) - set(problem.inputs()):
            overwrite(backend, prepared.tensors[name])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Plan, "_pack", None)
        yield Good(problem, prepared)
    for tensor in prepared.tensors.values():
        tensor.check_untouched(backend)


def refused(good, kind, *words, workspace="enough", **changes):
    """Both `can_implement` and `run` refuse the arguments; the message says what they got and want."""
    plan, backend = good.run.plan, good.run.backend
    args = good.run.args(**changes)
    space = backend.workspace(plan.workspace_size()) if workspace == "enough" else workspace
    with pytest.raises(kind) as first:
        plan.can_implement(args)
    with pytest.raises(kind) as second:
        plan.run(backend.stream, space, args)
    assert type(first.value) is type(second.value) is kind
    assert str(first.value) == str(second.value)
    message = str(first.value)
    assert message.startswith(f"{good.name}: "), message
    assert "want" in message
    for word in words:
        assert word in message, f"{word!r} is not in {message!r}"
    return first.value


def with_element(ref, element):
    kind = ElementKind.parse(element)
    return replace(ref, element=kind, buffer=None)
