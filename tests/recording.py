"""Plans whose kernels note what they are launched with; nothing is compiled or run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from small_problems import Problem

import baracuda as bc

HOST = bc.Device("host")


class Recorder:
    """A kernel whose launches note their parameters instead of running."""

    def __init__(self, variant: str, log: list[tuple[Any, ...]]) -> None:
        self.variant = variant
        self.log = log

    def shared_to_hold(self, blocks: int, threads: int) -> int:
        del blocks, threads
        return 0

    def pack(self, grid: tuple[int, int, int], threads: int, shared: int, params: bytes) -> RecordedLaunch:
        return RecordedLaunch(self, (grid, threads, shared), bytearray(params))


class RecordedLaunch:
    def __init__(self, kernel: Recorder, shape: tuple[Any, ...], params: bytearray) -> None:
        self.kernel = kernel
        self.shape = shape
        self.params = params

    def __call__(self, stream_handle: int) -> None:
        before = bytes(self.params)
        time.sleep(0)  # another thread's turn, as while the driver works
        assert before == self.params, "the parameters changed under a launch"
        self.kernel.log.append((self.kernel.variant, self.shape, before))


def recorded(problem: Problem, device: bc.Device = HOST) -> tuple[Any, list[tuple[Any, ...]]]:
    """A plan that records; nothing is compiled."""
    plan = problem.plan._planned(device, problem.desc, None)
    log: list[tuple[Any, ...]] = []
    plan._kernels = {
        variant: Recorder(variant, log) for variants in plan._units().values() for variant in variants
    }
    return plan, log


def expected(
    problem: Problem, args: Any, workspace: bc.Workspace, device: bc.Device = HOST
) -> list[tuple[Any, ...]]:
    """What a plan that remembers nothing launches."""
    plan, _ = recorded(problem, device)
    tensors = plan._rules.validated(args)
    pointers = {name: tensor.pointer for name, tensor in tensors.items() if tensor is not None}
    pointers["workspace"] = workspace.pointer
    return [
        (step.variant, ((step.grid, 1, 1), step.threads, step.shared), step.parameters(pointers))
        for step in plan._engine.steps(tensors)
    ]


def outcome(run: Callable[[], object]) -> tuple[type[BaseException], str] | None:
    """The error that a call ends with, and its words."""
    try:
        run()
    except (bc.BaracudaError, TypeError) as error:
        return type(error), str(error)
    return None


def each(problems: Iterable[Problem]) -> Any:
    """Parametrise a test over problems."""
    return pytest.mark.parametrize("problem", list(problems), ids=lambda problem: f"{problem.desc!r}"[:80])


class Case:
    """A plan that records, its log, and a workspace where it wants one."""

    device = HOST
    stream: bc.Stream | None = None

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.plan, self.log = recorded(problem, self.device)
        nbytes = self.plan.workspace_size()
        self.workspace = self.room(nbytes) if nbytes else None

    def room(self, nbytes: int) -> bc.Workspace:
        """A workspace on the device."""
        return bc.Workspace.host(nbytes)

    def run(self, args: Any, workspace: Any = None) -> list[Any]:
        """What a run launches."""
        self.log.clear()
        self.plan.run(self.stream, workspace if workspace is not None else self.workspace, args)
        return self.log

    def expected(self, args: Any) -> list[Any]:
        """What a plan that remembers nothing launches."""
        return expected(self.problem, args, self.workspace or bc.Workspace.none(), self.device)

    def knows(self, args: Any, workspace: Any = None) -> bool:
        """Whether the plan remembers this call."""
        workspace = workspace if workspace is not None else self.workspace
        return any(find(args, workspace) is not None for find in self.plan._known.finders)

    def outcomes_agree(self, args: Any, what: Any) -> bool:
        """Whether this plan does and says what a fresh one does; the result: whether that is a launch."""
        fresh = type(self)(self.problem)
        fresh.workspace = self.workspace
        want = outcome(lambda: fresh.run(args))
        for _ in range(3):
            self.log.clear()
            assert outcome(lambda: self.run(args)) == want, what
            assert self.log == fresh.log, what
        return want is None
