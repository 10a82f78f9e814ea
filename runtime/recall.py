"""Calls that a plan has found valid before, recognised without reading their arrays as `TensorRef`.

Reading and checking arrays costs more than a launch does. A call whose arrays are what those of an earlier
call were, in type, dtype, device, layout, place and bounds, passes the same checks, so that the launches that
were packed then go out again. None of that is taken on trust: all of it is read at every call (forms.py says
how). What is not recognised gets the full checks; arrays of a known layout at new places get those of their
places alone.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from baracuda.compile.loader import Launch
from baracuda.forms import Finder, Form, KnownCall, form_of, maker_of
from baracuda.remembered import Buffer, RememberedLayout
from baracuda.stream import current_handle
from baracuda.tensor import Device
from baracuda.torch_guard import tensor_guard
from baracuda.workspace import Workspace

__all__ = ["KnownCalls", "Sighting"]

#: Calls that are remembered, a form; one that meets more starts over.
_MOST_CALLS = 1024
#: Combinations of types that are remembered, a plan; likewise.
_MOST_FORMS = 8


class _FormCalls:
    """The known calls of one form.

    Attributes:
        known: the calls by the places of their arrays.
        seen: hashes of the places that were asked for.
        latest: the layout of the latest valid call, and what compares others with it; changed as one, for
            other threads' sake.
        current: gives the handle of the library's current stream.
    """

    def __init__(self, form: Form, names: Sequence[str], args: type[Any], device: Device) -> None:
        self.known: dict[tuple[int, ...], KnownCall] = {}
        self.seen: set[int] = set()
        self.latest: tuple[RememberedLayout, Callable[..., bool]] | None = None
        self.current = current_handle(form.producer, device)
        self.describe, self.find = maker_of(form)(self.known, device, args, Workspace)
        guard = tensor_guard() if form.reads == "torch guarded" else None
        self.same_as = guard or functools.partial(functools.partial, operator.eq)
        self.slots = [names.index(name) for name in form.given]
        self.count = len(names)


class Sighting(NamedTuple):
    """A call of a known form, with what tells it apart.

    Attributes:
        calls: those of its form.
        places: where its arrays lie.
        looks: all else about them.
        pointers: the addresses of their first elements.
    """

    calls: _FormCalls
    places: tuple[int, ...]
    looks: tuple[Any, ...]
    pointers: tuple[int, ...]

    def locate(self) -> tuple[RememberedLayout, list[int]] | None:
        """Its layout and a pointer for each tensor, if nothing but its places is new and these are valid."""
        latest = self.calls.latest
        if latest is None or not latest[1](*self.looks):
            return None
        pointers = [0] * self.calls.count
        buffers: list[Buffer] = [None] * self.calls.count
        for at, slot in enumerate(self.calls.slots):
            _, lowest, nbytes = self.places[3 * at : 3 * at + 3]
            pointers[slot] = self.pointers[at]
            buffers[slot] = (lowest, lowest + nbytes)
        return (latest[0], pointers) if latest[0].fits(pointers, buffers) else None

    def comes_again(self) -> bool:
        """Whether its places were asked for before: keeping calls that never recur would cost for nothing."""
        mark, seen = hash(self.places), self.calls.seen
        if mark in seen:
            return True
        if len(seen) >= _MOST_CALLS:
            seen.clear()
        seen.add(mark)
        return False

    def learn(self, layout: RememberedLayout) -> Callable[..., bool]:
        """Take its layout for the latest, now that it is valid; what compares other arrays with its own."""
        latest = self.calls.latest
        # One comparison serves all calls that differ in nothing but their places.
        if latest is None or latest[0] is not layout or not latest[1](*self.looks):
            self.calls.latest = latest = layout, self.calls.same_as(*self.looks)
        return latest[1]

    def keep(self, layout: RememberedLayout, launches: tuple[Launch, ...]) -> None:
        """Remember it, now that it is valid, with launches that are nobody else's."""
        if len(self.calls.known) >= _MOST_CALLS:
            self.calls.known.clear()
        self.calls.known[self.places] = KnownCall(self.learn(layout), launches, self.calls.current)


class KnownCalls:
    """The calls that one plan has found valid, for any number of threads.

    Attributes:
        finders: what to try, the newest form first.
    """

    def __init__(self, args: type[Any], names: Sequence[str], device: Device) -> None:
        """`args` is the plan's class of arguments, `names` are its tensors."""
        self.finders: tuple[Finder, ...] = ()
        self._args = args
        self._names = tuple(names)
        self._device = device
        self._forms: dict[tuple[type, ...], _FormCalls | None] = {}

    def sight(self, args: Any, workspace: Any) -> Sighting | None:
        """Take a look at a call that no finder knows; None where it could not be recognised later either."""
        if type(args) is not self._args:
            return None
        types = (*[type(getattr(args, name)) for name in self._names], type(workspace))
        try:
            calls = self._forms[types] if types in self._forms else self._begin(types)
            return None if calls is None else Sighting(calls, *calls.describe(args, workspace))
        except Exception:  # The full checks say what is wrong.
            return None

    def _begin(self, types: tuple[type, ...]) -> _FormCalls | None:
        """Begin to remember the calls with these types, the workspace's last."""
        form = form_of(dict(zip(self._names, types, strict=False)), types[-1])
        calls = None if form is None else _FormCalls(form, self._names, self._args, self._device)
        others = self._forms if len(self._forms) < _MOST_FORMS else {}
        self._forms = {types: calls, **others}
        self.finders = tuple(one.find for one in self._forms.values() if one is not None)
        return calls
