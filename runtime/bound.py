"""Bound launches: a plan's launches with their arguments packed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from baracuda.compile.loader import Launch
from baracuda.stream import Stream, handle_on

if TYPE_CHECKING:
    from baracuda.plan import Plan

__all__ = ["BoundLaunch"]


class BoundLaunch:
    """A plan's launches with tensors and workspace packed: call it with a stream, or with None.

    It keeps what it was given alive. The tensors' contents may change between calls, their places may not.
    A copy of it is itself, and it cannot be pickled.

    Attributes:
        plan: the plan.
        args: the tensors as they were given.
    """

    def __init__(
        self, plan: Plan, args: Any, launches: tuple[Launch, ...], current: Callable[[], int], alive: Any
    ) -> None:
        """`current` gives the handle of the current stream, `alive` is what else must live as long."""
        self.plan = plan
        self.args = args
        self._device = plan.device
        self._launches = launches
        self._current = current
        self._alive = alive

    def __call__(self, stream: Any = None) -> None:
        """Launch on the stream; None: the current stream of the first output's library."""
        if type(stream) is Stream and stream.device is self._device:
            handle = stream.handle
        else:
            handle = self._handle(stream)
        for launch in self._launches:
            launch(handle)

    def _handle(self, stream: Any) -> int:
        if stream is None:
            return self._current()
        return handle_on(stream, self._device, type(self.plan).__name__)

    def __copy__(self) -> BoundLaunch:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self.plan).__name__}: a bound launch holds the places of its arrays and can be neither "
            "pickled nor copied deeply; pickle the plan, and bind it where it is loaded"
        )

    def __repr__(self) -> str:
        return f"<BoundLaunch of {self.plan!r}>"
