"""The whole way, from an empty cache to a result, on machines and in processes that make it hard."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from devices import each_kind
from small_problems import Problem, first_problem, problems

import baracuda
from baracuda.compile import loader
from baracuda.host_compiler import find_compiler

TESTS = str(Path(__file__).parent)

# What a process of its own does: select a plan, run it, and say whether the result is right.
PRELUDE = """
import os, sys, warnings
sys.path.insert(0, sys.argv[1])
import numpy as np
from small_problems import first_problem
problem = first_problem()

def use(plan):
    arrays = problem.tensors()
    plan.run(None, problem.workspace(plan), problem.plan.ARGS(**arrays))
    return b"".join(arrays[name].tobytes() for name in problem.outputs())
"""


def process(
    code: str, *flags: str, arguments: tuple[str, ...] = (), **environment: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *flags, "-c", PRELUDE + code, TESTS, *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output_of(child: subprocess.Popen[str]) -> str:
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    return out


def expected() -> str:
    """The bits of the result, from this process."""
    problem = first_problem()
    return results(problem, problem.select()).hex()


def results(problem: Problem, plan: Any, seed: int = 0) -> bytes:
    arrays = problem.tensors(seed)
    plan.run(None, problem.workspace(plan), problem.plan.ARGS(**arrays))
    return b"".join(arrays[name].tobytes() for name in problem.outputs())


def at_once(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What `work(i)` gives in threads that start together."""
    barrier = threading.Barrier(count)
    found: list[Any] = [None] * count

    def body(i: int) -> None:
        barrier.wait()
        try:
            found[i] = work(i)
        except BaseException as error:
            found[i] = error

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


# Threads


def test_sixteen_threads_on_one_plan() -> None:
    different = 0
    for problem in problems():
        plan = problem.select()
        alone = [results(problem, plan, seed) for seed in range(16)]
        different += len(set(alone)) == 16
        for _ in range(5):
            assert at_once(16, lambda i: results(problem, plan, i)) == alone  # noqa: B023
    assert different >= 3


def test_sixteen_threads_on_one_bound_launch() -> None:
    problem = first_problem()
    plan = problem.select()
    arrays = problem.tensors()
    bound = plan.bind(problem.plan.ARGS(**arrays), problem.workspace(plan))
    assert at_once(16, lambda _: bound()) == [None] * 16
    assert b"".join(arrays[name].tobytes() for name in problem.outputs()) == results(problem, plan)


def test_sixteen_threads_select_one_plan_on_an_empty_cache(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "_modules", {})
    problem = first_problem()
    plans = at_once(16, lambda _: problem.select())
    assert len({results(problem, plan) for plan in plans}) == 1
    # Each kernel was compiled once, so there is one of each.
    assert len({frozenset(map(id, plan._kernels.values())) for plan in plans}) == 1


def test_sixteen_threads_with_many_layouts_of_one_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each layout that is forgotten is worked out again, so threads forget and remember at the same time.
    problem = first_problem()
    plan = problem.select()
    monkeypatch.setattr(type(plan), "REMEMBERED", 2)
    right = results(problem, plan)

    def run(i: int) -> bytes:
        arrays = problem.tensors()
        strided = {}
        for name, array in arrays.items():
            wide = np.full((*array.shape[:-1], array.shape[-1] + i % 8), np.nan).astype(array.dtype)
            strided[name] = wide[..., : array.shape[-1]]
            strided[name][...] = array
        plan.run(None, problem.workspace(plan), problem.plan.ARGS(**strided))
        return b"".join(strided[name].tobytes() for name in problem.outputs())

    for _ in range(10):
        assert at_once(16, run) == [right] * 16


# Processes


def test_eight_processes_on_an_empty_cache(fresh_cache: Path) -> None:
    code = "print('ready', flush=True); sys.stdin.readline(); print(use(problem.select()).hex())"
    children = [process(code, "-W", "error") for _ in range(8)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    assert {output_of(child) for child in children} == {f"{expected()}\n"}
    assert list(fresh_cache.rglob("*.tmp")) == []


FORK = """
plan = problem.select()
before = use(plan)
children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        try:
            # The plan of before, and one that is selected after the fork.
            good = use(plan) == before and use(problem.select()) == before
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            good = False
        os._exit(not good)
    children.append(child)
    assert use(plan) == before
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
print(codes)
"""


@pytest.mark.parametrize("threads", ["1", "4"])
def test_a_fork_after_plans_were_used(threads: str) -> None:
    assert output_of(process(FORK, BARACUDA_HOST_THREADS=threads)) == "[0, 0, 0]\n"


FORK_WHILE_COMPILING = """
import signal, threading, time
from pathlib import Path
began = Path(sys.argv[2])
other = threading.Thread(target=problem.select)
other.start()
while not began.exists():
    time.sleep(0.01)
child = os.fork()
if child == 0:
    signal.alarm(100)
    try:
        print(use(problem.select()).hex(), flush=True)
    finally:
        os._exit(0)
other.join()
os.waitpid(child, 0)
"""


def test_a_fork_while_another_thread_compiles(fresh_cache: Path, tmp_path: Path) -> None:
    """The thread is not there in the child, which may not wait for it for ever."""
    began = tmp_path / "began"
    # Python itself may not fork in the very moment in which a process is started.
    slow = f'[ "$1" = --version ] || {{ sleep 0.5; touch {shlex.quote(str(began))}; sleep 1; }}'
    script = tmp_path / "slow-c++"
    script.write_text(f'#!/bin/sh\n{slow}\nexec {shlex.join(find_compiler().command)} "$@"\n')
    script.chmod(0o755)
    child = process(FORK_WHILE_COMPILING, arguments=(str(began),), CXX=shlex.quote(str(script)))
    assert output_of(child) == f"{expected()}\n"


FORK_OF_CUDA = """
import cupy
import baracuda
from baracuda.errors import DriverError
host, cuda = baracuda.Stream.host(), baracuda.Stream(0, baracuda.Device("cuda"))
plan = problem.select(cuda)
arrays = {name: cupy.asarray(array) for name, array in problem.tensors().items()}
space = cupy.empty(max(plan.workspace_size(), 1), cupy.uint8)

def on_gpu():
    plan.run(cuda, space, problem.plan.ARGS(**arrays))
    cupy.cuda.runtime.deviceSynchronize()

on_gpu()
before = use(problem.select(host))
child = os.fork()
if child == 0:
    good = False
    try:
        try:
            on_gpu()
        except DriverError as error:
            good = "does not survive a fork" in str(error)
            print(error, file=sys.stderr, flush=True)
        good = good and use(problem.select(host)) == before
    finally:
        os._exit(not good)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
on_gpu()
print(b"".join(arrays[name].get().tobytes() for name in problem.outputs()) == before)
"""


@pytest.mark.cuda
def test_a_fork_after_cuda_was_used_is_an_error_in_the_child_and_harmless_to_the_parent() -> None:
    """The host executor works on in the child."""
    assert output_of(process(FORK_OF_CUDA)) == "0\nTrue\n"


def test_descriptors_and_errors_cross_to_a_spawned_process(tmp_path: Path) -> None:
    import pickle

    problem = first_problem()
    (tmp_path / "problem").write_bytes(pickle.dumps(problem.desc))
    code = (
        "import pickle\n"
        f"desc = pickle.loads(open({str(tmp_path / 'problem')!r}, 'rb').read())\n"
        "assert desc == problem.desc and hash(desc) == hash(problem.desc)\n"
        "print(use(problem.plan.select(__import__('baracuda').Stream.host(), desc)).hex())"
    )
    assert output_of(process(code)) == f"{expected()}\n"


# Folders


@pytest.mark.parametrize(
    "name", each_kind(["für Kernel: ß 核", "quote ' and \" and $HOME", "-O3"], ["a b", "a,b;c&d"])
)
def test_paths_that_a_shell_would_trip_over(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    home.mkdir()
    code = "print(use(problem.select()).hex())"
    environment = {"BARACUDA_CACHE_DIR": str(home / "cache"), "HOME": str(home), "TMPDIR": str(home)}
    for _ in range(2):
        assert output_of(process(code, "-W", "error", **environment)) == f"{expected()}\n"
    assert (home / "cache").is_dir()


def test_a_c_locale_and_a_path_of_another_encoding(tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/l\xe4tin")
    environment = {"BARACUDA_CACHE_DIR": folder, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert output_of(process("print(use(problem.select()).hex())", **environment)) == f"{expected()}\n"


WARNED = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(use(problem.select()).hex())
    use(problem.select())
ours = [str(warning.message) for warning in caught if "baracuda" in str(warning.message)]
print(len(ours), "BARACUDA_CACHE_DIR" in "".join(ours))
"""


# Without this privilege root, too, is held to the modes of its own folders.
WITHOUT_PRIVILEGE = """
import ctypes
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
sets = (ctypes.c_uint32 * 6)()
libc = ctypes.CDLL(None, use_errno=True)
assert libc.capget(header, sets) == 0
sets[0] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
assert libc.capset(header, sets) == 0
folder = os.environ["BARACUDA_CACHE_DIR"]
try:
    open(folder + "/probe", "w")
except PermissionError:
    pass
else:
    sys.exit("this process may write everywhere")
"""
NVRTC_TOO = """
from baracuda.compile import loader
from baracuda.compile.unit import Unit
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        loader.compile_only(Unit("a.cu", 'extern "C" __global__ void a(float* x) { *x = 1; }', ()), "sm_90")
print(len(caught), "BARACUDA_CACHE_DIR" in str(caught[0].message))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="gives up a privilege of Linux")
@pytest.mark.parametrize("depth", ["all of it", "its folders"])
def test_a_cache_folder_that_is_read_only_costs_one_warning(fresh_cache: Path, depth: str) -> None:
    """For libraries of the host and for kernels of a GPU."""
    inner = [fresh_cache / name for name in ("host", "kernels")]
    for folder in [fresh_cache, *(inner if depth == "its folders" else ())]:
        folder.mkdir(mode=0o700)
    for folder in [*(inner if depth == "its folders" else ()), fresh_cache]:
        folder.chmod(0o500)
    try:
        found = output_of(process(WITHOUT_PRIVILEGE + WARNED + NVRTC_TOO))
    finally:
        fresh_cache.chmod(0o700)
    assert found == f"{expected()}\n1 True\n1 True\n"
    assert [path for path in fresh_cache.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("place", each_kind(["below a file", "kernel's own", "no home"], ["file"]))
def test_a_cache_folder_that_cannot_be_used_costs_one_warning(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("in the way")
    folders = {
        "no home": "",
        "file": tmp_path / "file",
        "below a file": tmp_path / "file" / "x",
        "kernel's own": Path("/proc/x"),
    }
    if place in ("kernel's own", "no home") and not Path("/proc").is_dir():
        pytest.skip("no /proc here")
    home = {"HOME": "/proc/nonexistent", "XDG_CACHE_HOME": ""} if place == "no home" else {}
    found = output_of(process(WARNED, BARACUDA_CACHE_DIR=str(folders[place]), **home))
    assert found == f"{expected()}\n1 True\n"
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_cache_of_no_bytes_is_no_cache_and_no_warning(tmp_path: Path) -> None:
    environment = {"BARACUDA_CACHE_DIR": str(tmp_path / "cache"), "BARACUDA_CACHE_MAX_BYTES": "0"}
    assert (
        output_of(process("print(use(problem.select()).hex())", "-W", "error", **environment))
        == f"{expected()}\n"
    )
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("damage", each_kind(["flipped"], ["emptied", "truncated"]))
def test_a_damaged_library_is_compiled_anew(fresh_cache: Path, damage: str) -> None:
    code = "print(use(problem.select()).hex())"
    assert output_of(process(code)) == f"{expected()}\n"
    libraries = sorted(fresh_cache.rglob("*.so"))
    assert libraries
    for library in libraries:
        content = library.read_bytes()
        middle = len(content) // 2
        library.write_bytes(
            {
                "truncated": content[:middle],
                "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
                "emptied": b"",
            }[damage]
        )
    assert output_of(process(code, "-W", "error")) == f"{expected()}\n"


FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from baracuda.compile.cache import DiskCache
from baracuda.compile.nvrtc import Artifact
from baracuda.compile.pack import write_pack
from baracuda.compile.unit import Unit
from pathlib import Path
artifact = Artifact(os.urandom(5000), "cubin", "sm_90")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    cache = DiskCache(Path(os.environ["BARACUDA_CACHE_DIR"]))
    assert cache.get_or_make("ab" * 32, lambda: artifact) is artifact
    assert cache.get_or_make("ab" * 32, None) is artifact
assert len(caught) == 1, caught
pack = Path(os.environ["BARACUDA_CACHE_DIR"]) / "kernels.pack"
try:
    write_pack(pack, [(Unit("a.cu", "", ()), artifact)], "nvrtc 12.9")
except OSError as error:
    print(error.errno)
print(sorted(path.name for path in pack.parent.rglob("*") if path.is_file()))
try:
    use(problem.select())
except Exception as error:
    print(type(error).__name__, "File too large" in str(error))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="takes Linux's limit of the size of a file")
def test_a_disk_that_takes_no_more(fresh_cache: Path) -> None:
    import errno

    out = output_of(process(FULL)).splitlines()
    assert out == [str(errno.EFBIG), "[]", "CompileError True"]


def test_there_are_problems_to_test_with() -> None:
    assert len(list(problems())) >= 3
    assert baracuda.Stream.host().device.kind == "host"
