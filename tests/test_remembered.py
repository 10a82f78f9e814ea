"""A remembered layout launches what a fresh plan would, and refuses what a fresh plan refuses."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from recording import each, expected, outcome, recorded
from small_problems import Problem, problems

import baracuda as bc
from baracuda.arguments import ArgumentRules
from baracuda.shapes import numel

HOST = bc.Device("host")
PLACES = (1 << 20, 1 << 21, 3 << 20, 1 << 22)


def strides_of(shape: tuple[int, ...], layout: str, inner: bool) -> tuple[int, ...]:
    """With `inner` the innermost axis keeps stride 1, and the layout is that of the others."""
    if inner:
        outer = strides_of(shape[:-1], layout, False)
        return (*(stride * shape[-1] for stride in outer), 1)
    strides, step = [0] * len(shape), 2 if layout == "gaps" else 1
    for axis in range(len(shape)) if layout == "transposed" else reversed(range(len(shape))):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def arguments(problem: Problem, base: int, layout: str = "contiguous", shift: int = 0) -> Any:
    """Tensors at made-up addresses from `base` on, which nobody reads."""
    tensors: dict[str, Any] = {rule.name: None for rule in problem.plan.TENSORS}
    inner = {rule.name for rule in problem.plan.TENSORS if rule.layout == "inner"}
    whole = {rule.name for rule in problem.plan.TENSORS if rule.layout == "contiguous"}
    for name, array in problem.tensors().items():
        shape = array.shape
        nbytes = 4 * 2 * max(numel(shape), 1) + 64
        pointer = base + 4 * shift
        strides = strides_of(shape, "contiguous" if name in whole else layout, name in inner)
        buffer = (base, base + nbytes)
        element = bc.ElementKind.parse(array.dtype)
        tensors[name] = bc.TensorRef(pointer, shape, strides, element, HOST, buffer=buffer)
        base += 4096 + nbytes // 256 * 256
    return problem.plan.ARGS(**tensors)


def workspace_for(plan: Any, address: int = 1 << 30) -> bc.Workspace:
    return bc.Workspace(address, plan.workspace_size(), HOST)


PROBLEMS = [*problems(), *problems(shape=(40, 70), axes=(0,)), *problems(shape=(1, 20_000))]


@each(PROBLEMS)
def test_the_launches_are_those_of_a_fresh_plan(problem: Problem) -> None:
    plan, log = recorded(problem)
    for turn in range(3):
        for layout in ("contiguous", "transposed", "gaps"):
            for shift in (0, 1):
                args = arguments(problem, PLACES[turn], layout, shift)
                workspace = workspace_for(plan, 1 << (30 + turn))
                log.clear()
                plan.run(None, workspace, args)
                assert log == expected(problem, args, workspace)
                log.clear()
                plan.bind(args, workspace)()
                assert log == expected(problem, args, workspace)
    assert len(plan._layouts) <= 6


def test_an_output_left_out_is_another_layout() -> None:
    for problem in problems():
        plan, log = recorded(problem)
        args = arguments(problem, PLACES[0])
        optional = [r.name for r in plan.TENSORS if r.optional and getattr(args, r.name) is not None]
        for name in optional[1:]:
            fewer = dataclasses.replace(args, **{name: None})
            for chosen in (args, fewer, args, fewer):
                log.clear()
                plan.run(None, workspace_for(plan), chosen)
                assert log == expected(problem, chosen, workspace_for(plan))


def spoilt(args: Any) -> Iterator[tuple[str, Any]]:
    """Arguments in which one tensor is wrong, each in another way."""
    names = [field.name for field in dataclasses.fields(args) if getattr(args, field.name) is not None]
    for name in names:
        tensor: bc.TensorRef = getattr(args, name)
        low, end = tensor.buffer or (0, 0)
        changes = {
            "dtype": {"element": bc.ElementKind.F64},
            "rank": {"shape": (*tensor.shape, 1), "strides": (*tensor.strides, 1)},
            "shape": {"shape": (*tensor.shape[:-1], tensor.shape[-1] + 1)},
            "device": {"device": bc.Device("cuda", 0)},
            "beyond its end": {"buffer": (low, low + 4 * numel(tensor.shape) - 1)},
            "below its beginning": {"buffer": (low + 4, end)},
            "misaligned": {"pointer": tensor.pointer + 1},
            "read-only": {"readonly": True},
            "a zero stride": {"strides": (0,) * len(tensor.strides)},
            "no array": None,
        }
        for what, change in changes.items():
            wrong = object() if change is None else dataclasses.replace(tensor, **change)
            yield f"{name}: {what}", dataclasses.replace(args, **{name: wrong})
        yield f"{name}: missing", dataclasses.replace(args, **{name: None})
        for other in names:
            if other != name:
                for distance in (0, 4, -4):
                    near = getattr(args, other).pointer + distance
                    moved = dataclasses.replace(tensor, pointer=near, buffer=None)
                    yield f"{name} at {other} + {distance}", dataclasses.replace(args, **{name: moved})


@each(PROBLEMS)
def test_what_is_refused_is_what_a_fresh_plan_refuses(problem: Problem) -> None:
    plan, log = recorded(problem)
    args = arguments(problem, PLACES[0])
    workspace = workspace_for(plan)
    plan.run(None, workspace, args)
    refused = 0
    for what, wrong in spoilt(args):
        fresh, _ = recorded(problem)
        want = outcome(lambda fresh=fresh, wrong=wrong: fresh.run(None, workspace, wrong))
        for _ in range(2):
            log.clear()
            got = outcome(lambda wrong=wrong: plan.run(None, workspace, wrong))
            # An object's address is in no message, so the messages are the same too.
            assert got == want, what
            assert bool(log) == (want is None), what
            assert outcome(lambda wrong=wrong: plan.can_implement(wrong)) == want, what
        refused += want is not None
    assert refused > 10


def test_an_allowed_overlap_does_not_allow_another() -> None:
    """Exactly in place is remembered; the same tensors an element apart are refused all the same."""
    found = 0
    for problem in problems():
        plan, _ = recorded(problem)
        args = arguments(problem, PLACES[0])
        for output in (r.name for r in plan.TENSORS if r.io == "out"):
            for name in (r.name for r in plan.TENSORS if r.io == "in"):
                inner, outer = getattr(args, name), getattr(args, output)
                if inner is None or outer is None or inner.shape != outer.shape:
                    continue
                if inner.element is not outer.element:
                    continue
                if not plan._engine.may_alias(output, name):
                    continue
                found += 1
                same = dataclasses.replace(args, **{output: inner})
                shifted = dataclasses.replace(inner, pointer=inner.pointer + 4, buffer=None)
                apart = dataclasses.replace(args, **{output: shifted})
                for _ in range(3):
                    plan.run(None, workspace_for(plan), same)
                    with pytest.raises(bc.InvalidProblem, match="overlaps a part of"):
                        plan.run(None, workspace_for(plan), apart)
    assert found


def test_tensors_apart_need_no_slow_check(monkeypatch: pytest.MonkeyPatch) -> None:
    for problem in problems():
        plan, log = recorded(problem)
        plan.run(None, workspace_for(plan), arguments(problem, PLACES[0]))
        with monkeypatch.context() as patch:
            for name in ("check_memory", "validated"):
                patch.setattr(
                    ArgumentRules, name, lambda *_: pytest.fail("a remembered layout was checked again")
                )
            plan.run(None, workspace_for(plan), arguments(problem, PLACES[1]))
        assert log


def test_threads_share_no_parameters() -> None:
    problem = next(problems())
    plan, log = recorded(problem)
    args = [arguments(problem, PLACES[0] + (1 << 16) * number) for number in range(8)]
    workspace = workspace_for(plan)
    want = [expected(problem, one, workspace) for one in args]
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(200):
                plan.run(None, workspace, args[number])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for launches in want:
        for launch in launches:
            assert log.count(launch) == 200


def test_pointers_come_first_in_every_launch() -> None:
    """What a template writes over a parameter block: so many P at its beginning, and nothing else is one."""
    for problem in problems():
        plan, _ = recorded(problem)
        args = arguments(problem, PLACES[0])
        for step in plan._engine.steps(plan._rules.validated(args)):
            count = len(step.pointers)
            assert all(isinstance(value, int) for value in step.values[count:])
            names = {"workspace", *(rule.name for rule in plan.TENSORS)}
            filled = step.parameters(dict.fromkeys(names, 2**64 - 2**16))
            blank = step.parameters(None)
            assert blank[: 8 * count] == bytes(8 * count)
            assert filled[8 * count :] == blank[8 * count :]
