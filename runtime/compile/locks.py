"""One lock a key, so that threads do a piece of work once without blocking each other's."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Hashable, Iterator

_all: weakref.WeakSet[KeyedLocks] = weakref.WeakSet()


class KeyedLocks:
    """Locks by key, each made when first wanted and dropped when nobody holds or awaits it.

    A forked child begins without any: the threads that held them are not there to give them back.
    """

    def __init__(self) -> None:
        self._begin()
        _all.add(self)

    def _begin(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[Hashable, tuple[threading.Lock, int]] = {}

    @contextlib.contextmanager
    def holding(self, key: Hashable) -> Iterator[None]:
        """Hold the lock of ``key``; other keys are not blocked."""
        with self._guard:
            lock, users = self._locks.get(key, (threading.Lock(), 0))
            self._locks[key] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                kept, users = self._locks.get(key, (None, 0))
                # Another one, or none, where the process forked meanwhile.
                if kept is lock:
                    if users == 1:
                        del self._locks[key]
                    else:
                        self._locks[key] = lock, users - 1


def _begin_all() -> None:
    for locks in _all:
        locks._begin()


os.register_at_fork(after_in_child=_begin_all)
