"""How many blocks a device has at once, by the shared memory that they ask for; nothing here changes a bit."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from baracuda.tensor import Device

__all__ = ["Blocks", "fit_blocks", "largest_block"]

#: Warps of a multiprocessor beyond which more hide no more of memory's latency.
BUSY_WARPS = 32
#: Shared memory of a block that is not its own: what the driver takes, and what is static.
TAKEN_BYTES = 2 * 1024


@dataclass(frozen=True)
class _Room:
    """A device's multiprocessors; bytes of shared memory that one has, and that a block may have of it."""

    multiprocessors: int
    shared: int
    shared_of_block: int


@dataclass(frozen=True)
class Blocks:
    """Blocks that a device has at once: how many in all, and the warps of each."""

    count: int
    warps: int


@functools.cache
def _room(device: Device) -> _Room:
    if device.kind == "host":
        return _Room(4, 228 * 1024, 227 * 1024)
    from baracuda import driver

    index = device.index
    return _Room(
        driver.multiprocessor_count(index),
        driver.shared_memory_of_multiprocessor(index),
        driver.max_shared_memory(index),
    )


def largest_block(device: Device, static: int) -> int:
    """Dynamic shared memory of a block that has a multiprocessor for itself, `static` bytes beside."""
    return _room(device).shared_of_block - static


@functools.cache
def fit_blocks(device: Device, team: int, most: int, a_warp: int, a_block: int) -> Blocks | None:
    """The blocks with the most warps at once, in whole teams; None where not even one fits.

    Args:
        device: where they run.
        team: warps that belong together.
        most: warps of a block.
        a_warp: bytes of dynamic shared memory that a warp needs.
        a_block: bytes that a block needs beside.
    """
    room = _room(device)
    best = Blocks(0, 0)
    for blocks in range(1, BUSY_WARPS + 1):
        own = min(room.shared // blocks, room.shared_of_block) - TAKEN_BYTES - a_block
        warps = min(own // a_warp, most, max(BUSY_WARPS // blocks, team)) // team * team
        if warps > 0 and blocks * warps > best.count * best.warps:
            best = Blocks(blocks, warps)
    return Blocks(best.count * room.multiprocessors, best.warps) if best.count else None
