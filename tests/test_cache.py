"""The disk cache: what it keeps, what it refuses to read, what it does when the disk fails."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from baracuda.compile import cache as cache_module
from baracuda.compile.cache import DiskCache, cache_folder, cache_limit, decode, disk_cache, encode
from baracuda.compile.locks import KeyedLocks
from baracuda.compile.nvrtc import Artifact

KEY = "ab" * 32
ARTIFACT = Artifact(bytes(range(256)) * 8, "cubin", "sm_90")


@pytest.fixture(autouse=True)
def _may_warn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_warned", set())


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache")


def entry(cache: DiskCache, key: str = KEY) -> Path:
    assert cache.folder is not None
    return cache.folder / "kernels" / f"{key}.bin"


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def unexpected() -> Artifact:
    raise AssertionError("compiled although the cache has it")


# What is kept


def test_an_entry_comes_back(cache: DiskCache) -> None:
    assert cache.get(KEY) is None
    assert cache.get_or_make(KEY, lambda: ARTIFACT) is ARTIFACT
    assert cache.get(KEY) == ARTIFACT
    # Another process, as it were: nothing but the disk knows it.
    assert DiskCache(cache.folder).get_or_make(KEY, unexpected) == ARTIFACT
    assert files(entry(cache).parent) == [f"{KEY}.bin"]


def test_kind_and_architecture_are_kept(cache: DiskCache) -> None:
    text = Artifact(b".version 8.0\n\n.target sm_80\n", "ptx", "compute_80")
    cache.put(KEY, text)
    assert cache.get(KEY) == text


def test_an_empty_artifact_and_one_full_of_newlines_come_back() -> None:
    for data in (b"", b"\n", b"\n" * 1000):
        assert decode(KEY, encode(KEY, Artifact(data, "cubin", "sm_90"))) == Artifact(data, "cubin", "sm_90")


def test_the_folders_are_the_users_alone(cache: DiskCache) -> None:
    before = os.umask(0)
    try:
        cache.put(KEY, ARTIFACT)
    finally:
        os.umask(before)
    assert cache.folder is not None
    assert cache.folder.stat().st_mode & 0o777 == 0o700
    assert entry(cache).parent.stat().st_mode & 0o777 == 0o700
    assert entry(cache).stat().st_mode & 0o077 == 0


def test_a_failed_compile_leaves_nothing_and_is_tried_again(cache: DiskCache) -> None:
    def fail() -> Artifact:
        raise ValueError("does not compile")

    with pytest.raises(ValueError, match="does not compile"):
        cache.get_or_make(KEY, fail)
    assert cache.get_or_make(KEY, lambda: ARTIFACT) is ARTIFACT


def test_spaces_and_umlauts_in_the_path(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "für kernel: ß 核" / "a b")
    cache.put(KEY, ARTIFACT)
    assert cache.get(KEY) == ARTIFACT


# The environment


def test_folder_by_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.setenv("BARACUDA_CACHE_DIR", "")
    assert cache_folder() == tmp_path / "xdg" / "baracuda"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/invalid")
    assert cache_folder() == tmp_path / "home" / ".cache" / "baracuda"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == tmp_path / "home" / ".cache" / "baracuda"


def test_the_process_has_one_cache_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(tmp_path / "a"))
    first = disk_cache()
    assert disk_cache() is first
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(tmp_path / "b"))
    assert disk_cache().folder == tmp_path / "b"


def test_limit_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BARACUDA_CACHE_MAX_BYTES", raising=False)
    assert cache_limit() == 1 << 30
    monkeypatch.setenv("BARACUDA_CACHE_MAX_BYTES", "1000")
    assert cache_limit() == 1000
    monkeypatch.setenv("BARACUDA_CACHE_MAX_BYTES", "1GB")
    with pytest.warns(RuntimeWarning, match="BARACUDA_CACHE_MAX_BYTES='1GB' is no number of bytes"):
        assert cache_limit() == 1 << 30
    assert cache_limit() == 1 << 30


def test_a_limit_of_zero_keeps_nothing_on_disk(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", limit=0)
    cache.get_or_make(KEY, lambda: ARTIFACT)
    assert cache.get_or_make(KEY, unexpected) is ARTIFACT
    assert not (tmp_path / "cache").exists()


# Damaged entries


def flipped(content: bytes, position: int) -> bytes:
    return content[:position] + bytes([content[position] ^ 0x10]) + content[position + 1 :]


WHOLE = encode(KEY, ARTIFACT)
HEADER = WHOLE.index(b"\n") + 1


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(WHOLE[: HEADER // 2], id="half a header"),
        pytest.param(WHOLE[:HEADER], id="header only"),
        pytest.param(WHOLE[: len(WHOLE) // 2], id="half"),
        pytest.param(WHOLE[:-1], id="a byte short"),
        pytest.param(WHOLE + b"\0", id="a byte long"),
        pytest.param(flipped(WHOLE, len(WHOLE) - 1), id="last byte flipped"),
        pytest.param(flipped(WHOLE, HEADER), id="first byte flipped"),
        pytest.param(flipped(WHOLE, HEADER - 3), id="checksum flipped"),
        pytest.param(WHOLE.replace(b"baracuda-kernel-1", b"baracuda-kernel-0"), id="wrong magic"),
        pytest.param(WHOLE.replace(b" cubin ", b" fatbin "), id="unknown kind"),
        pytest.param(encode("cd" * 32, ARTIFACT), id="entry of another key"),
        pytest.param(bytes(4096), id="zeros"),
        pytest.param(b"\xff\xfe \xff \xff \xff \xff \xff\n", id="no text"),
    ],
)
def test_a_damaged_entry_is_compiled_anew_and_replaced(cache: DiskCache, content: bytes) -> None:
    cache.put(KEY, ARTIFACT)
    entry(cache).write_bytes(content)
    assert cache.get(KEY) is None
    assert not entry(cache).exists()
    entry(cache).write_bytes(content)
    assert cache.get_or_make(KEY, lambda: ARTIFACT) is ARTIFACT
    assert entry(cache).read_bytes() == WHOLE


def test_every_single_flipped_bit_of_the_header_is_noticed_or_harmless() -> None:
    for position in range(HEADER):
        found = decode(KEY, flipped(WHOLE, position))
        assert found is None or found.data == ARTIFACT.data


@pytest.mark.parametrize("error", [PermissionError, FileNotFoundError, OSError(errno.ESTALE, "stale handle")])
def test_an_entry_that_cannot_be_read_for_now(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch, error: Any
) -> None:
    cache.put(KEY, ARTIFACT)
    read_bytes = Path.read_bytes
    failures = iter([error])

    def fail_once(path: Path) -> bytes:
        for failure in failures:
            raise failure
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", fail_once)
    compiled = []
    cache.get_or_make(KEY, lambda: compiled.append(1) or ARTIFACT)  # type: ignore[func-returns-value]
    assert compiled == [1]
    assert cache.get_or_make(KEY, unexpected) == ARTIFACT
    assert files(entry(cache).parent) == [f"{KEY}.bin"]


# Disks that do not play along


def works_from_memory(cache: DiskCache, naming: str) -> None:
    """The cache works, compiles once, and warns once: with the path and the variable."""
    compiled = []

    def make() -> Artifact:
        compiled.append(1)
        return ARTIFACT

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert cache.get_or_make(KEY, make) == ARTIFACT
        assert cache.get_or_make(KEY, make) == ARTIFACT
        cache.get_or_make("cd" * 32, lambda: ARTIFACT)
    assert compiled == [1]
    assert [warning.category for warning in caught] == [RuntimeWarning]
    assert "BARACUDA_CACHE_DIR" in str(caught[0].message)
    assert naming in str(caught[0].message)


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    works_from_memory(DiskCache(tmp_path / "cache"), str(tmp_path / "cache"))
    assert (tmp_path / "cache").read_text() == "a file"


def test_a_file_in_the_place_of_the_inner_folder(tmp_path: Path) -> None:
    (tmp_path / "kernels").write_text("a file")
    works_from_memory(DiskCache(tmp_path), str(tmp_path / "kernels"))


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def mkdir(path: Path, *args: Any, **options: Any) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(Path, "mkdir", mkdir)
    works_from_memory(DiskCache(tmp_path / "cache"), str(tmp_path / "cache"))


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_folder_that_cannot_be_written(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def mkstemp(**options: Any) -> tuple[int, str]:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(tempfile, "mkstemp", mkstemp)
    works_from_memory(cache, str(cache.folder))


class FullDisk(io.FileIO):
    """A file that takes ten bytes and then no more."""

    def write(self, data: Any) -> int:
        super().write(data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_that_fills_up_midway(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fdopen", FullDisk)
    works_from_memory(cache, "No space left on device")
    assert files(entry(cache).parent) == []


@pytest.mark.parametrize(("owner", "function"), [(os, "fsync"), (Path, "replace")])
def test_a_write_that_fails_at_the_end(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch, owner: Any, function: str
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(owner, function, fail)
    works_from_memory(cache, "Disk quota exceeded")
    assert files(entry(cache).parent) == []


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for variable in ("BARACUDA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert cache_folder() is None
    works_from_memory(disk_cache(), "HOME")
    assert disk_cache().info().entries == 0


def test_a_folder_that_others_can_write_is_not_trusted(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    cache.put(KEY, ARTIFACT)
    (tmp_path / "kernels").chmod(0o777)
    works_from_memory(cache, "other users")


def test_a_folder_of_somebody_else_is_not_trusted(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, ARTIFACT)
    if os.geteuid() == 0:
        os.chown(entry(cache).parent, 12345, 12345)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    works_from_memory(cache, "other users")


def test_reading_from_a_read_only_folder_costs_no_warning(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.put(KEY, ARTIFACT)

    def fail(*args: Any, **options: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "utime", fail)
    monkeypatch.setattr(tempfile, "mkstemp", fail)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.get_or_make(KEY, unexpected) == ARTIFACT


# Size


def put(cache: DiskCache, name: str, age: float) -> str:
    """An entry of about 2.2 kB, last read ``age`` seconds ago."""
    key = name * 64
    cache.put(key, ARTIFACT)
    then = time.time() - age
    os.utime(entry(cache, key), (then, then))
    return key


def test_the_least_recently_read_entries_go_first(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, limit=3 * len(WHOLE))
    oldest, middle, newest = put(cache, "1", 300), put(cache, "2", 200), put(cache, "3", 100)
    assert cache.get(oldest) is not None  # reading makes it the most recent
    put(cache, "4", 0)
    assert cache.get(middle) is None
    assert all(cache.get(key) for key in (oldest, newest, "4" * 64))
    info = cache.info()
    assert (info.entries, info.nbytes, info.limit) == (3, 3 * len(WHOLE), cache.limit)


def test_an_entry_beyond_the_bound_alone(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, limit=100)
    assert cache.get_or_make(KEY, lambda: ARTIFACT) is ARTIFACT
    assert cache.info().nbytes <= 100


def test_abandoned_temporary_files_are_removed(cache: DiskCache) -> None:
    cache.put(KEY, ARTIFACT)
    folder = entry(cache).parent
    for name, age in (("dead.tmp", 4000.0), ("alive.tmp", 60.0)):
        (folder / name).write_bytes(b"half")
        then = time.time() - age
        os.utime(folder / name, (then, then))
    cache.put("cd" * 32, ARTIFACT)
    assert files(folder) == ["ab" * 32 + ".bin", "alive.tmp", "cd" * 32 + ".bin"]


def test_clear_removes_what_the_cache_wrote_and_nothing_else(cache: DiskCache) -> None:
    for key in (KEY, "cd" * 32):
        cache.put(key, ARTIFACT)
    assert cache.folder is not None
    assert cache.failed_folder is not None
    cache.failed_folder.mkdir()
    (cache.failed_folder / "broken.txt").write_text("source")
    (cache.folder / "mine.doc").write_text("keep")
    (cache.folder / "kernels" / "mine.doc").write_text("keep")
    assert cache.info().entries == 2
    assert cache.clear() == 2
    assert cache.info().entries == 0
    assert files(cache.folder) == ["mine.doc", "mine.doc"]
    assert cache.get(KEY) is None


def test_info_and_clear_of_an_empty_cache_make_no_folder(cache: DiskCache) -> None:
    assert (cache.info().entries, cache.info().nbytes) == (0, 0)
    assert cache.clear() == 0
    assert cache.folder is not None
    assert not cache.folder.exists()


# Many at once


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
    elsewhere = {"CUDA_PATH": str(fresh_cache)}
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
