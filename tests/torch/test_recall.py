"""A known call launches what a fresh plan would, and what changed since is judged as by a fresh plan."""

from __future__ import annotations

import dataclasses
import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from recording import Case, each
from small_problems import Problem, problems

import baracuda as bc
from baracuda import forms, recall, torch_guard


@pytest.fixture(params=["guarded", "by attributes"], autouse=True)
def comparison(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of comparing tensors."""
    if request.param == "by attributes":
        monkeypatch.setattr(forms, "tensor_guard", lambda: None)
    return str(request.param)


def arguments(problem: Problem) -> Any:
    tensors: dict[str, Any] = {rule.name: None for rule in problem.plan.TENSORS}
    tensors |= {name: torch.from_numpy(array) for name, array in problem.tensors().items()}
    # Storages with room behind, and a tensor that does not begin where its storage does.
    for name, tensor in tensors.items():
        if tensor is not None:
            room = torch.zeros(tensor.numel() + 200, dtype=tensor.dtype)
            tensors[name] = room[16 : 16 + tensor.numel()].view(tensor.shape).copy_(tensor)
    return problem.plan.ARGS(**tensors)


def given(args: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(args) if getattr(args, field.name) is not None]


def test_this_version_has_a_guard_that_can_be_trusted() -> None:
    assert torch_guard.tensor_guard() is not None


@each(problems())
def test_the_third_run_is_recognised_and_launches_the_same(problem: Problem) -> None:
    case = Case(problem)
    for args in (arguments(problem), arguments(problem)):
        for turn in range(4):
            assert case.run(args) == case.expected(args)
            assert case.knows(args) == (turn >= 1)
        case.log.clear()
        case.plan.bind(args, case.workspace)()
        assert case.log == case.expected(args)
    assert not case.knows(dataclasses.replace(args, **{given(args)[0]: None}))
    assert not case.knows(args, bc.Workspace.host(1 << 16))


@each(problems())
def test_new_places_need_no_full_check(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(problem)
    case.run(arguments(problem))
    monkeypatch.setattr(case.plan, "_checked", lambda *_: pytest.fail("a known layout was read anew"))
    args = arguments(problem)
    assert case.run(args) == case.expected(args)


def changes(args: Any, name: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Ways to change a tensor of the arguments under a plan that knows them."""
    tensor: torch.Tensor = getattr(args, name)
    others = [o for o in given(args) if o != name and getattr(args, o).dtype == tensor.dtype]
    transposed = tensor.new_zeros(tensor.shape[::-1]).t() if tensor.dim() == 2 else tensor
    yield "shape", lambda: tensor.set_(tensor.new_zeros(tensor.numel() + 1))
    yield "reshaped in place", lambda: tensor.unsqueeze_(0)
    yield "strides", lambda: tensor.set_(transposed)
    yield "zero stride", lambda: tensor.as_strided_(tensor.shape, (0,) * tensor.dim())
    yield "moved by an element", lambda: tensor.as_strided_(tensor.shape, tensor.stride(), 17)
    yield "another dtype", lambda: setattr(tensor, "data", tensor.double())
    if tensor.is_floating_point():
        yield "a neg bit", lambda: setattr(tensor, "data", torch._neg_view(tensor.detach()))
        yield "a gradient is wanted", tensor.requires_grad_
    yield "storage freed", lambda: tensor.untyped_storage().resize_(0)
    yield "storage shrunk", lambda: tensor.untyped_storage().resize_(68)
    for other in others:
        source = getattr(args, other)
        if source.shape == tensor.shape:
            yield f"exactly {other}", lambda source=source: tensor.set_(source)
        storage, shape, strides = source.untyped_storage(), tensor.shape, tensor.stride()
        yield (
            f"an element behind {other}",
            lambda storage=storage, shape=shape, strides=strides: tensor.set_(storage, 17, shape, strides),
        )


@each(problems())
def test_what_changes_under_a_plan_is_noticed(problem: Problem) -> None:
    case = Case(problem)
    refused = set()
    for name in given(arguments(problem)):
        for number, (what, _) in enumerate(changes(arguments(problem), name)):
            args = arguments(problem)
            for _ in range(2):
                case.run(args)
            assert case.knows(args)
            list(changes(args, name))[number][1]()
            if not case.outcomes_agree(args, (name, what)):
                refused.add(what)
    assert {"shape", "another dtype", "a neg bit", "storage freed", "storage shrunk"} <= refused


def replacements(tensor: torch.Tensor) -> Iterator[tuple[str, Any]]:
    class Logged(torch.Tensor):
        pass

    yield "a parameter", torch.nn.Parameter(tensor.clone(), requires_grad=tensor.is_floating_point())
    yield "a subclass", tensor.clone().as_subclass(Logged)
    yield "sparse", tensor.to_sparse()
    yield "meta", tensor.to("meta")
    yield "an array", tensor.numpy()
    yield "f64", tensor.double()
    yield "a number", 1.0
    yield "no tensor", None


@each(problems())
def test_other_arrays_in_a_known_place_are_judged_anew(problem: Problem) -> None:
    case = Case(problem)
    args = arguments(problem)
    for _ in range(2):
        case.run(args)
    for name in given(args):
        for what, other in replacements(getattr(args, name)):
            case.outcomes_agree(dataclasses.replace(args, **{name: other}), (name, what))


def test_arguments_of_another_class_are_refused() -> None:
    case = Case(next(problems()))
    args = arguments(case.problem)
    for _ in range(2):
        case.run(args)
    alike = type("Alike", (), {name: getattr(args, name) for name in given(args)})()
    with pytest.raises(TypeError, match="args is a Alike"):
        case.run(alike)


def test_a_smaller_storage_at_a_known_address_is_another_call() -> None:
    case = Case(next(problems()))
    args = arguments(case.problem)
    for _ in range(2):
        case.run(args)
    (calls,) = case.plan._known._forms.values()
    (known,) = calls.known
    for place in range(0, len(known), 3):
        offset, lowest, nbytes = known[place : place + 3]
        for other in ((offset, lowest, nbytes - 4), (offset + 1, lowest - 4, nbytes), (offset, lowest, 0)):
            assert (*known[:place], *other, *known[place + 3 :]) not in calls.known
    for name in given(args):
        storage = getattr(args, name).untyped_storage()
        place = 3 * given(args).index(name)
        assert known[place : place + 3] == (16, storage.data_ptr(), storage.nbytes())


@pytest.mark.parametrize(
    "mode", [torch.no_grad, torch.inference_mode, lambda: torch.autocast("cpu", torch.bfloat16)]
)
def test_modes_of_pytorch_change_nothing(mode: Callable[[], Any]) -> None:
    case = Case(next(problems()))
    args = arguments(case.problem)
    want = case.expected(args)
    for _ in range(4):
        assert case.run(args) == want
        with mode():
            assert case.run(args) == want
            assert case.run(args) == want


def test_a_workspace_is_part_of_a_call() -> None:
    found = 0
    for problem in problems(shape=(1, 200_000)):
        case = Case(problem)
        if case.workspace is None:
            continue
        found += 1
        scratch = {rule.name: None for rule in problem.plan.TENSORS if rule.io == "scratch"}
        args = dataclasses.replace(arguments(problem), **scratch)
        nbytes = case.workspace.nbytes
        room = torch.empty(nbytes + 512, dtype=torch.uint8)
        array = room[-room.data_ptr() % 256 :][:nbytes]
        borrowed = case.workspace = bc.Workspace.borrowed(array)
        for space in (array, borrowed):
            for _ in range(3):
                assert case.run(args, space) == case.expected(args)
            assert case.knows(args, space)
        for wrong in (
            array[:-1],
            room[-room.data_ptr() % 256 + 8 :][:nbytes],
            array.expand(2, nbytes),
            dataclasses.replace(borrowed, device=bc.Device("cuda", 1)),
            dataclasses.replace(borrowed, nbytes=1),
            getattr(args, given(args)[0]),
            "no workspace",
        ):
            case.workspace = wrong
            assert not case.outcomes_agree(args, wrong)
    assert found


def test_threads_launch_their_own_calls() -> None:
    case = Case(next(problems()))
    args = [arguments(case.problem) for _ in range(8)]
    want = [case.expected(one) for one in args]
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(100):
                case.plan.run(None, case.workspace, args[(number * turn) % len(args)])
                case.plan.run(None, case.workspace, args[number])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    turns = [(number * turn) % len(args) for number in range(8) for turn in range(100)]
    for number, launches in enumerate(want):
        for launch in launches:
            assert case.log.count(launch) == 100 + turns.count(number)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "_MOST_CALLS", 3)
    case = Case(next(problems()))
    calls = [arguments(case.problem) for _ in range(10)]
    for args in calls * 3:
        for _ in range(2):
            assert case.run(args) == case.expected(args)
    for form in case.plan._known._forms.values():
        assert len(form.known) <= 3
        assert len(form.seen) <= 3


def test_a_plan_keeps_no_tensor_alive() -> None:
    case = Case(next(problems()))
    args = arguments(case.problem)
    for _ in range(3):
        case.run(args)
    tensors = [weakref.ref(getattr(args, name)) for name in given(args)]
    assert case.knows(args)
    del args
    gc.collect()
    assert [tensor() for tensor in tensors] == [None] * len(tensors)


@pytest.mark.cuda
def test_known_calls_on_a_gpu() -> None:
    """Right results on the current stream, on another one, bound, and in a graph."""
    desc = bc.BinaryParamDescriptor(kind="lerp", shape=(64, 33), element="f32", param=0.25)
    a, b, y = (torch.rand(64, 33, device="cuda") for _ in range(3))
    want = torch.lerp(a, b, 0.25)
    plan = bc.BinaryParamPlan.select(torch.cuda.current_stream(), desc)
    args = bc.BinaryParamArgs(a=a, b=b, y=y)

    def check(launch: Callable[[], object]) -> None:
        y.zero_()
        torch.cuda.synchronize()
        launch()
        torch.cuda.synchronize()
        torch.testing.assert_close(y, want)

    for _ in range(3):
        check(lambda: plan.run(None, None, args))
    assert any(find(args, None) is not None for find in plan._known.finders)
    check(lambda: plan.run(torch.cuda.current_stream(), None, args))
    check(lambda: plan(a=a, b=b, y=y))
    check(plan.bind(args))
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        assert plan._known._forms[next(iter(plan._known._forms))].current() == side.cuda_stream
        check(lambda: plan.run(None, None, args))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        plan.run(None, None, args)
    check(graph.replay)
    a.untyped_storage().resize_(0)
    with pytest.raises(bc.BaracudaError):
        plan.run(None, None, args)
