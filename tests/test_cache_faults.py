"""The disk cache where entries are damaged and disks do not play along."""

from __future__ import annotations

import errno
import io
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest
from cache_entries import ARTIFACT, KEY, WHOLE, entry, files, unexpected

from baracuda.compile import cache as cache_module
from baracuda.compile.cache import DiskCache, cache_folder, decode, disk_cache, encode
from baracuda.compile.nvrtc import Artifact


@pytest.fixture(autouse=True)
def _may_warn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_warned", set())


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache")


# Damaged entries


def flipped(content: bytes, position: int) -> bytes:
    return content[:position] + bytes([content[position] ^ 0x10]) + content[position + 1 :]


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
