"""The disk cache with many threads and processes at once, and what a warm process loads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from cache_entries import ARTIFACT, KEY, files

from baracuda.compile.cache import DiskCache
from baracuda.compile.locks import KeyedLocks
from baracuda.compile.nvrtc import Artifact


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache")


def run_threads(count: int, work: Any) -> None:
    barrier = threading.Barrier(count)
    errors: list[BaseException] = []

    def body(i: int) -> None:
        barrier.wait()
        try:
            work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_sixteen_threads_make_one_key_once(cache: DiskCache) -> None:
    made = []

    def make() -> Artifact:
        made.append(threading.get_ident())
        time.sleep(0.05)
        return ARTIFACT

    run_threads(16, lambda _: cache.get_or_make(KEY, make))
    assert len(made) == 1


def test_different_keys_do_not_wait_for_each_other(cache: DiskCache) -> None:
    # Each maker waits until all are in theirs, which one lock for all would never allow.
    together = threading.Barrier(16)

    def make() -> Artifact:
        together.wait(timeout=30)
        return ARTIFACT

    run_threads(16, lambda i: cache.get_or_make(f"{i:064x}", make))
    assert cache.info().entries == 16


def test_a_forked_child_waits_for_no_thread_of_its_parent() -> None:
    locks = KeyedLocks()
    with locks.holding("a"):
        child = os.fork()
        if child == 0:
            with locks.holding("a"):
                pass
    if child == 0:
        os._exit(locks._locks != {})
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert locks._locks == {}


def test_locks_are_dropped_when_nobody_holds_them() -> None:
    locks = KeyedLocks()
    inside = [0, 0]

    def work(i: int) -> None:
        with locks.holding(i % 2):
            inside[i % 2] += 1
            time.sleep(0.001)
            assert inside[i % 2] == 1
            inside[i % 2] -= 1

    run_threads(8, work)
    with locks.holding("a"), locks.holding("b"):
        assert set(locks._locks) == {"a", "b"}
    with pytest.raises(KeyError), locks.holding("a"):
        raise KeyError
    assert locks._locks == {}


def test_readers_see_whole_entries_while_writers_replace_them(cache: DiskCache) -> None:
    cache.put(KEY, ARTIFACT)
    done = threading.Event()
    seen: list[Artifact | None] = []

    def read() -> None:
        while not done.is_set():
            seen.append(cache.get(KEY))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(50):
        cache.put(KEY, ARTIFACT)
    done.set()
    reader.join()
    assert seen
    assert all(artifact == ARTIFACT for artifact in seen)


PROCESS = """
import sys, time
from baracuda.compile import loader
from baracuda.compile.unit import Unit
unit = Unit("shared.cu", 'extern "C" __global__ void shared_kernel(float* x) { *x = 1; }', ())
loader.nvrtc.version()
print("ready", flush=True)
sys.stdin.readline()
artifact = loader.compile_only(unit, "sm_90")
assert artifact.data[:4] == b"\\x7fELF" and b"shared_kernel" in artifact.data
print(loader.artifact_key(unit, "sm_90"))
"""


def test_eight_processes_on_an_empty_cache(fresh_cache: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", PROCESS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    keys = set()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        keys.add(output.strip())
    (key,) = keys
    cache = DiskCache(fresh_cache)
    assert files(fresh_cache / "kernels") == [f"{key}.bin"]
    assert cache.get(key) is not None
    [(compiler, arch)] = cache.made()
    assert compiler.startswith("nvrtc ")
    assert arch == "sm_90"


WARM = """
from baracuda.compile import loader, nvrtc
from baracuda.compile.unit import Unit
unit = Unit("warm.cu", 'extern "C" __global__ void warm_kernel(float* x) { *x = 1; }', ())
assert b"warm_kernel" in loader.compile_only(unit, "sm_90").data
print(nvrtc.is_loaded())
"""


def loads_nvrtc(**environment: str) -> bool:
    """Whether a process that wants one kernel loads NVRTC."""
    command = [sys.executable, "-W", "error", "-c", WARM]
    output = subprocess.check_output(command, env={**os.environ, **environment}, text=True)
    return output.strip() == "True"


@pytest.mark.skipif(sys.platform != "linux", reason="where a library was loaded from is told by /proc")
def test_a_warm_process_does_not_load_the_compiler(fresh_cache: Path) -> None:
    assert loads_nvrtc()
    assert not loads_nvrtc()
    # Another place to look in may hold another NVRTC, so it is asked once.
    elsewhere = dict.fromkeys(("CUDA_PATH", "CUDA_HOME"), str(fresh_cache))
    assert loads_nvrtc(**elsewhere)
    assert not loads_nvrtc(**elsewhere)
    (note,) = (fresh_cache / "compilers").iterdir()
    compiler, library, fingerprint = note.read_text().split("\n")
    assert compiler.startswith("nvrtc ")
    assert "libnvrtc.so" in library
    for damaged in ("", compiler, f"{compiler}\n{library}\n", f"{compiler}\n/nowhere\n{fingerprint}", "\n\n"):
        note.write_text(damaged)
        assert loads_nvrtc(**elsewhere)
        assert not loads_nvrtc(**elsewhere)
    DiskCache(fresh_cache).clear()
    assert not list((fresh_cache / "compilers").iterdir())
    assert loads_nvrtc(**elsewhere)
