"""What blocks that hold rows may have of shared memory; nothing here changes a bit."""

from __future__ import annotations

from baracuda.tensor import Device

__all__ = ["fit_warps", "largest_block"]

#: Warps of a block, unless a row takes more.
WARPS_OF_BLOCK = 4
#: Bytes to leave for what is static.
STATIC_BYTES = 1024
#: What the host executor's blocks have: as much as those of an H100.
HOST_BYTES = 227 * 1024


def largest_block(device: Device, static: int = STATIC_BYTES) -> int:
    """Bytes of dynamic shared memory that a block may have beside `static` bytes."""
    if device.kind == "host":
        return HOST_BYTES - static
    from baracuda import driver

    return driver.max_shared_memory(device.index) - static


def fit_warps(device: Device, team: int, a_warp: int, a_block: int) -> int:
    """Warps of a block, in whole teams of a power of two; 0 where not even one team fits.

    Args:
        device: where they run.
        team: warps that belong together.
        a_warp: bytes that a warp needs.
        a_block: bytes that a block needs beside.
    """
    room = largest_block(device) - a_block
    warps = max(WARPS_OF_BLOCK, team)
    while warps >= team and warps * a_warp > room:
        warps //= 2
    return warps if warps >= team else 0
