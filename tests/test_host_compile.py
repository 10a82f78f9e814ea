"""Compiling for the host executor: what fails, what is kept, who waits for whom; and AddressSanitizer."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from host_probes import CORRECT, PRELUDE, tree, unit, values

from baracuda import host_compile, host_compiler
from baracuda.compile import source
from baracuda.errors import CompileError
from baracuda.host import asan_environment, compile_units


def test_a_text_that_does_not_compile() -> None:
    text = PRELUDE + "BARACUDA_KERNEL(probe, contig, 1, Params) { p.y[0] = no_such_name; }\n}\n"
    with pytest.raises(CompileError, match=r"odd/broken\.cu does not compile: .*no_such_name") as caught:
        compile_units([unit(text, name="odd/broken.cu")])
    assert "error" in caught.value.log
    assert "broken.cu" in caught.value.log
    assert caught.value.source_path
    assert "odd/broken.cu" in Path(caught.value.source_path).read_text()


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(CompileError, match=r"none of c\+\+, g\+\+, clang\+\+ is on the path: "):
        host_compiler.find_compiler()
    monkeypatch.setenv("CXX", "no-such-compiler -x")
    with pytest.raises(CompileError, match="CXX='no-such-compiler -x' is not on the path"):
        host_compiler.find_compiler()


@pytest.mark.parametrize(
    ("version", "is_gcc"),
    [
        ("g++ 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.", True),
        ("Apple clang version 15.0.0\nTarget: arm64-apple-darwin23.6.0", False),
    ],
)
def test_flags_that_only_gcc_knows(version: str, is_gcc: bool) -> None:
    compiler = host_compiler.Compiler(("c++",), "\0".join(("c++", "/usr/bin/c++", version)))
    assert compiler.flags[: len(host_compiler.FLAGS)] == host_compiler.FLAGS
    assert ({*host_compiler.GCC_FLAGS} <= {*compiler.flags}) == is_gcc


SMALL = {"main.cpp": 'extern "C" __attribute__((visibility("default"))) int seven() { return 7; }\n'}


def libraries(cache: Path) -> list[Path]:
    return sorted((cache / "host").glob("*/*.so"))


def compiles(caplog: pytest.LogCaptureFixture, files: dict[str, str] = SMALL) -> int:
    """Load ``files`` as a new process would; how many compiles it took."""
    host_compile._loaded.clear()
    caplog.clear()
    with caplog.at_level(logging.INFO, "baracuda.compile"):
        assert host_compile.load_library(files, "seven").seven() == 7
    return sum(record.message.startswith("compiling seven") for record in caplog.records)


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process has loaded is forgotten, and remembered when the test ends."""
    monkeypatch.setattr(host_compile, "_loaded", {})
    monkeypatch.setattr(host_compile, "_warned", [])


@pytest.mark.usefixtures("forgetful")
def test_the_cache(
    fresh_cache: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compiles(caplog) == 1
    assert compiles(caplog) == 0
    assert len(libraries(fresh_cache)) == 1
    assert (fresh_cache / "host").stat().st_mode & 0o777 == 0o700
    assert not list(fresh_cache.rglob("*.tmp"))

    # What is not what its name says is compiled again; so is what does not load.
    (whole,) = libraries(fresh_cache)
    damage(whole, whole.read_bytes()[:-100], whole.stem)
    assert compiles(caplog) == 1
    (whole,) = libraries(fresh_cache)
    whole.unlink()
    damage(whole, b"no library", "4e1ae4d4d3df3f1ee2b0fa9d3e3e3e3e")
    assert compiles(caplog) == 1

    monkeypatch.setenv("BARACUDA_JIT", "never")
    assert compiles(caplog) == 0
    with pytest.raises(CompileError, match="BARACUDA_JIT=never forbids compiling it"):
        host_compile.load_library({"main.cpp": "int other;\n"}, "other")


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize("ahead", [False, True], ids=["cache", "pack"])
def test_headers_that_change_while_a_process_runs(
    ahead: bool, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler reads the new text, the key has the old one: who goes back to that would get the new."""
    files = {"main.cpp": "#include <baracuda/target.cuh>\n" + SMALL["main.cpp"]}
    read = source._read
    monkeypatch.setattr(source, "_read", lambda name: (read(name) or b"") + b"// edited\n")
    with pytest.raises(CompileError, match=r"^seven: .*baracuda/target\.cuh.* changed since this process"):
        host_compile.build_library(files, "seven") if ahead else host_compile.load_library(files, "seven")
    assert not libraries(fresh_cache)
    assert not list(fresh_cache.rglob("*.tmp"))
    monkeypatch.undo()
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(fresh_cache))
    assert host_compile.load_library(files, "seven").seven() == 7


def test_a_forked_child_holds_no_lock_of_an_entry(tmp_path: Path) -> None:
    """It lives on, a worker say, when its parent has compiled: nobody may have to wait for its end."""
    fcntl = pytest.importorskip("fcntl")
    reading, writing = os.pipe()
    with host_compile._only_process(tmp_path):
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)  # Until the parent lets it go, or ends.
            os._exit(0)
    try:
        with (tmp_path / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(writing)
        os.close(reading)
        os.waitpid(child, 0)


def damage(path: Path, content: bytes, stem: str) -> None:
    """Put ``content`` where ``path`` is. Replaced and not overwritten: this process has the file mapped."""
    temporary = path.with_suffix(".new")
    temporary.write_bytes(content)
    temporary.replace(path.with_name(f"{stem}.so"))


@pytest.mark.usefixtures("forgetful")
def test_a_library_that_does_not_load_is_compiled_again(
    fresh_cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert compiles(caplog) == 1
    (whole,) = libraries(fresh_cache)
    whole.unlink()
    damage(whole, b"no library", hashlib.sha256(b"no library").hexdigest())
    assert compiles(caplog) == 1


@pytest.mark.usefixtures("forgetful")
def test_a_cache_that_cannot_be_used_costs_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match="anew in each process: .*file/cache"):
        assert compiles(caplog) == 1
    other = {"main.cpp": SMALL["main.cpp"] + "// other\n"}
    assert compiles(caplog, other) == 1  # another warning would be an error


FAULTS = [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG]


def failing_compiler(script: Path, where: str, fault: int) -> str:
    """Write a compiler that a disk fails while it links in a folder of the pattern `where`."""
    real = host_compiler.find_compiler().command[0]
    says = f"ld: final link failed: {os.strerror(fault)}\\ncollect2: error: ld returned 1 exit status\\n"
    script.write_text(
        f'#!/bin/sh\ncase "$PWD:$*" in {where}:*-o*) printf \'{says}\' >&2; exit 1;; esac\nexec {real} "$@"\n'
    )
    script.chmod(0o700)
    return str(script)


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize("fault", FAULTS, ids=os.strerror)
def test_a_disk_that_fails_the_compiler_costs_one_warning(
    tmp_path: Path,
    fresh_cache: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    fault: int,
) -> None:
    """A library that did not fit is no mistake of the source: it is compiled elsewhere."""
    monkeypatch.setenv("CXX", failing_compiler(tmp_path / "c++", f"'{fresh_cache}'/*", fault))
    with pytest.warns(
        RuntimeWarning, match=f"anew in each process: .* cannot be written: {os.strerror(fault)}"
    ):
        compiles(caplog)
    assert libraries(fresh_cache) == []
    assert list(fresh_cache.rglob("*.tmp")) == []


@pytest.mark.usefixtures("forgetful")
def test_disks_that_fail_the_compiler_everywhere(
    tmp_path: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", failing_compiler(tmp_path / "c++", "*", errno.ENOSPC))
    with (
        pytest.warns(RuntimeWarning, match="anew in each process"),
        pytest.raises(CompileError, match=f"no place to compile it in: {os.strerror(errno.ENOSPC)}"),
    ):
        host_compile.load_library(SMALL, "a small program")


def test_a_folder_that_others_can_write_is_not_used(
    fresh_cache: Path, caplog: pytest.LogCaptureFixture, forgetful: None
) -> None:
    (fresh_cache / "host").mkdir(parents=True)
    (fresh_cache / "host").chmod(0o777)
    with pytest.warns(RuntimeWarning, match="could place code there"):
        compiles(caplog)
    assert not libraries(fresh_cache)


@pytest.mark.usefixtures("forgetful")
def test_the_cache_is_bounded(
    fresh_cache: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiles(caplog)
    (first,) = libraries(fresh_cache)
    os.utime(first.parent, (1, 1))
    stranger = fresh_cache / "host" / "stranger"
    stranger.mkdir()
    (stranger / "work.tmp").write_bytes(bytes(first.stat().st_size * 2))
    for path in (stranger / "work.tmp", stranger):
        os.utime(path, (0, 0))
    monkeypatch.setenv("BARACUDA_CACHE_MAX_BYTES", str(first.stat().st_size + 100))
    compiles(caplog, {"main.cpp": SMALL["main.cpp"] + "// other\n"})
    (second,) = libraries(fresh_cache)
    assert second.parent != first.parent
    # Nor is what somebody else laid there, however old and large it is.
    assert (stranger / "work.tmp").exists()


PROCESS = """
import logging, struct, sys
import numpy as np
sys.path.insert(0, {tests!r})
import host_probes as probes
from baracuda.errors import DriverError
from baracuda.host import compile_units
logging.basicConfig(level=logging.INFO, format="%(message)s")
module = compile_units([probes.unit(probes.{text})])
x = probes.values(128)
y = np.zeros({size}, "f4")
"""


def process(text: str, body: str, size: int = 1, **environment: str) -> subprocess.Popen[str]:
    """Start a Python process that compiles ``text`` into `module`, then does ``body`` with arrays x and y."""
    code = PROCESS.format(tests=str(Path(__file__).parent), text=text, size=size) + body
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_that_race(fresh_cache: Path) -> None:
    body = "print(probes.run(module, 'sum_f32', x, y, threads=128).tobytes().hex())"
    racing = [process("CORRECT", body) for _ in range(4)]
    done = [(*other.communicate(timeout=120), other.returncode) for other in racing]
    want = tree(values(128).reshape(1, 128)).tobytes().hex()
    assert [(out, status) for out, _, status in done] == [(f"{want}\n", 0)] * 4, done
    logs = "".join(log for _, log, _ in done)
    assert [logs.count(f"compiling {what}") for what in ("probe", "the host executor")] == [1, 1]
    assert len(libraries(fresh_cache)) == 2
    assert not list(fresh_cache.rglob("*.tmp"))


# AddressSanitizer


def test_address_sanitizer_needs_a_process_made_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARACUDA_SANITIZE", "address")
    with pytest.raises(
        CompileError, match=r"start it with the variables of baracuda\.host\.asan_environment"
    ):
        compile_units([unit(CORRECT)])
    monkeypatch.setenv("BARACUDA_SANITIZE", "thread")
    with pytest.raises(ValueError, match="BARACUDA_SANITIZE='thread': want 'address' or nothing"):
        compile_units([unit(CORRECT)])


CHECKED = """
for order in probes.ORDERS:
    for kernel in ("sum_f32", "sum_f32_warp"):
        y = probes.run(module, kernel, x, np.zeros(1, "f4"), threads=128, order=order)
        assert abs(y[0] - x.sum()) < 0.01, y
print("passed")
"""


def test_address_sanitizer(tmp_path: Path) -> None:
    """It passes kernels that switch stacks, even after a deadlock, and catches accesses out of bounds."""
    environment = {**asan_environment(), "BARACUDA_CACHE_DIR": str(tmp_path)}
    # Wide enough that NumPy takes the memory from malloc.
    deadlock = """
try:
    probes.run(module, "left_early_f32", x, y)
except DriverError:
    print("reported")
probes.run(module, "past_shared_f32", x, y, n=0)
print("passed", flush=True)
"""
    good = process("CORRECT", CHECKED, **environment)
    global_write = process(
        "WRONG", f"{deadlock}probes.run(module, 'past_the_end_f32', x, y, n=4096 - 63)", 4096, **environment
    )
    out, err = good.communicate(timeout=120)
    assert (out, good.returncode) == ("passed\n", 0), err
    out, err = global_write.communicate(timeout=120)
    assert out == "reported\npassed\n", err
    assert global_write.returncode != 0
    assert "heap-buffer-overflow" in err
    assert "wrong.cu" in err or "probe.cu" in err
    shared_write = process("WRONG", "probes.run(module, 'past_shared_f32', x, y, n=1)", 4096, **environment)
    out, err = shared_write.communicate(timeout=120)
    assert shared_write.returncode != 0
    assert "use-after-poison" in err
