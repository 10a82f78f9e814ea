"""The disk cache: what it keeps, where, and how much."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from cache_entries import ARTIFACT, KEY, WHOLE, entry, files, put, unexpected

from baracuda.compile import cache as cache_module
from baracuda.compile.cache import DiskCache, cache_folder, cache_limit, decode, disk_cache, encode
from baracuda.compile.nvrtc import Artifact


@pytest.fixture(autouse=True)
def _may_warn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_warned", set())


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache")


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
    monkeypatch.setenv("HOME", "relative/home")
    assert cache_folder() is None


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
