"""How the benchmarks measure: device time between events behind a queued delay, and host time a call.

PyTorch is handed in rather than imported, so that a test can put a recording one in its place.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["CudaTimer", "HostTimer", "Timing", "buffer_sets", "host_microseconds", "timer_for"]

Call = Callable[[], object]

#: A working set of this many L2 caches leaves nothing in the cache from one call to the next.
CACHES = 4
#: Rotating among more buffers than this only costs memory.
MOST_SETS = 64
#: Device time that a sample waits, so that the host has queued all of it before it begins.
DELAY_SECONDS = 1e-3
LONGEST_DELAY_SECONDS = 64e-3
#: Part of the delay that queueing may take before the samples are thrown away and taken with a longer one.
SAFE_PART = 0.8


@dataclass(frozen=True)
class Timing:
    """Samples of one call, in seconds.

    Attributes:
        median: the middle of the samples.
        low: the first quartile.
        high: the third quartile.
        samples: how many there were.
    """

    median: float
    low: float
    high: float
    samples: int

    @staticmethod
    def of(samples: Sequence[float]) -> Timing:
        """Median and quartiles of at least two samples."""
        low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
        return Timing(statistics.median(samples), low, high, len(samples))

    @property
    def spread(self) -> float:
        """Distance of the quartiles, as a part of the median."""
        return (self.high - self.low) / self.median if self.median > 0 else math.nan

    def gbps(self, nbytes: int) -> float:
        """Gigabytes (1e9) a second, for the bytes that one call must move."""
        return nbytes / self.median / 1e9 if self.median > 0 else math.nan

    def to_json(self) -> dict[str, float | int]:
        """Microseconds, as plain data."""
        return {
            "median_us": self.median * 1e6,
            "low_us": self.low * 1e6,
            "high_us": self.high * 1e6,
            "samples": self.samples,
        }


def buffer_sets(nbytes: int, cache: int) -> int:
    """How many sets of buffers to rotate among, so that no call finds its data in a cache of `cache` bytes.

    Args:
        nbytes: what one call touches.
        cache: the size of the last cache before memory; 0 where that is not known.
    """
    if nbytes <= 0 or nbytes >= CACHES * cache:
        return 1
    return min(-(-CACHES * cache // nbytes), MOST_SETS)


class CudaTimer:
    """Device time of calls on the current stream, between two events each.

    Each sample is queued behind a delay on the device. When the first event is reached, the host has long
    since queued the call and the second event, so launch gaps stay out. Samples whose queueing took nearly
    as long as the delay are taken again behind a longer one.
    """

    def __init__(self, torch: Any) -> None:
        self._cuda = torch.cuda
        self.cache = int(torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size)
        self._cycles_a_second = self._calibrate()

    def _calibrate(self) -> float:
        cycles = 10_000_000
        self._cuda._sleep(cycles)
        begin, end = self._events()
        begin.record()
        self._cuda._sleep(cycles)
        end.record()
        self._cuda.synchronize()
        return cycles / (float(begin.elapsed_time(end)) * 1e-3)

    def _events(self) -> tuple[Any, Any]:
        return self._cuda.Event(enable_timing=True), self._cuda.Event(enable_timing=True)

    def measure(self, calls: Sequence[Call], repeats: int = 30, warm_up: int = 3) -> Timing:
        """Time `repeats` calls, taking those of `calls` in turn: one a set of buffers.

        Raises:
            RuntimeError: a call takes the host so long to queue that no delay hides it.
        """
        for index in range(max(warm_up, len(calls))):
            calls[index % len(calls)]()
        self._cuda.synchronize()
        delay = DELAY_SECONDS
        while True:
            samples, queueing = self._samples(calls, repeats, delay)
            if queueing <= SAFE_PART * delay:
                return Timing.of(samples)
            if delay >= LONGEST_DELAY_SECONDS:
                raise RuntimeError(f"a call takes {queueing * 1e3:.1f} ms to queue: no delay hides that")
            delay = min(max(4 * delay, 2 * queueing), LONGEST_DELAY_SECONDS)

    def _samples(self, calls: Sequence[Call], repeats: int, delay: float) -> tuple[list[float], float]:
        """Seconds of each call, and the median of what queueing one took."""
        cycles = int(delay * self._cycles_a_second)
        events = []
        queueing = []
        for index in range(repeats):
            begin, end = self._events()
            call = calls[index % len(calls)]
            self._cuda._sleep(cycles)
            begin.record()
            started = time.perf_counter()
            call()
            end.record()
            queueing.append(time.perf_counter() - started)
            events.append((begin, end))
            # One sample in flight at a time: a full launch queue would make the host wait inside a sample.
            end.synchronize()
        return [begin.elapsed_time(end) * 1e-3 for begin, end in events], statistics.median(queueing)

    def synchronize(self) -> None:
        """Wait for the device."""
        self._cuda.synchronize()


class HostTimer:
    """Wall-clock time of calls that run on the host: what the benchmarks use where there is no GPU."""

    cache = 0

    def measure(self, calls: Sequence[Call], repeats: int = 30, warm_up: int = 3) -> Timing:
        """Time `repeats` calls, taking those of `calls` in turn."""
        for index in range(max(min(warm_up, repeats), len(calls))):
            calls[index % len(calls)]()
        samples = []
        for index in range(repeats):
            started = time.perf_counter()
            calls[index % len(calls)]()
            samples.append(time.perf_counter() - started)
        return Timing.of(samples)

    def synchronize(self) -> None:
        """Nothing to wait for."""


Timer = CudaTimer | HostTimer


def timer_for(torch: Any, device: str) -> Timer:
    """The timer of a device: "cuda" or "host"."""
    return CudaTimer(torch) if device == "cuda" else HostTimer()


def host_microseconds(
    calls: Mapping[str, Call], synchronize: Call, batch: int = 200, rounds: int = 100
) -> dict[str, float]:
    """Microseconds of host time that each call takes to return: the best mean of its batches.

    A round has one batch of each call, every second round in reverse, so that a clock that goes up or down
    favours none. The device is idle when a batch begins and is not waited for inside one. A batch is far
    shorter than the driver's launch queue (1,024 entries), which would make the host wait once it is full.
    """
    for call in calls.values():
        for _ in range(min(20, batch)):
            call()
    best = dict.fromkeys(calls, math.inf)
    for number in range(rounds):
        order = list(calls.items())
        for name, call in reversed(order) if number % 2 else order:
            synchronize()
            started = time.perf_counter()
            for _ in range(batch):
                call()
            best[name] = min(best[name], time.perf_counter() - started)
    synchronize()
    return {name: seconds / batch * 1e6 for name, seconds in best.items()}
