"""Plans whose kernels note what they are launched with; nothing is compiled or run."""

from __future__ import annotations

import time
from typing import Any

from small_problems import Problem

import baracuda as bc

HOST = bc.Device("host")


class Recorder:
    """A kernel whose launches note their parameters instead of running."""

    def __init__(self, variant: str, log: list[tuple[Any, ...]]) -> None:
        self.variant = variant
        self.log = log

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
    tensors = plan._validated(args)
    pointers = {name: tensor.pointer for name, tensor in tensors.items() if tensor is not None}
    pointers["workspace"] = workspace.pointer
    return [
        (step.variant, ((step.grid, 1, 1), step.threads, 0), step.parameters(pointers))
        for step in plan._engine.steps(tensors)
    ]
