"""The command line under bad input and bad machines: the exit code, a message in words, never a traceback."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli_runner import run
from devices import compiled_at, each_kind
from small_spec import SMALL_SPEC

from baracuda import host, host_compile
from baracuda.compile import cache, loader

COMMAND = [sys.executable, "-m", "baracuda.codegen.cli"]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="takes Linux's /dev and /proc")
#: What no message may hold: Python's own way of saying it.
RAW = re.compile(r"Traceback|\[Errno|this is a bug|Error\(|PosixPath|<stdin>")
ARCH = ("--arch", "sm_90", "--op", "lerp", "--dtype", "f32")
#: Of what is compiled indeed: PTX of few kernels.
QUICK = ("--arch", "compute_80", "--op", "isnan", "--dtype", "f32")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_cache: Path) -> Path:
    """Return the current folder of the test, full of traps."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("a file")
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "nul.yaml").write_bytes(b"\0")
    (tmp_path / "latin.yaml").write_bytes("version: 1\n# für\n".encode("latin-1"))
    (tmp_path / "number.yaml").write_text("3")
    (tmp_path / "my_ops.yaml").write_text(SMALL_SPEC, encoding="utf-8")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def process(
    *arguments: str | bytes, stdout: int | None = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments],
        env={**os.environ, **environment},
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=600,
        check=False,
    )


# Each line: what is typed, how it ends, what is said. One message may not do for two mistakes.
SPECS = {
    "no-such.yaml": "no-such.yaml: there is no such file or folder",
    "my_op.yaml": "my_op.yaml: there is no such file or folder; did you mean my_ops.yaml?",
    "folder": "folder: is a folder, want a file",
    "file/below": "file/below: a part of this path is a file, want folders",
    "loop": "loop: its links lead in a circle",
    "n" * 300: "the name is too long",
    "": "the path is empty",
    "empty.yaml": "empty.yaml:1: the file is empty",
    "nul.yaml": "nul.yaml:1: character U+0000 is not allowed",
    "latin.yaml": "latin.yaml:2: the byte 0xfc is no UTF-8 (save the file as UTF-8)",
    "number.yaml": "number.yaml:1: ",
}
REST = {
    "lint": (),
    "list": (),
    "show": ("lerp",),
    "generate": ("--out", "ours"),
    "check": ("--out", "ours"),
    "compile": ARCH,
}


@pytest.mark.parametrize("command", REST)
@pytest.mark.parametrize("spec", SPECS, ids=[name[:12] or "nothing" for name in SPECS])
def test_a_spec_that_cannot_be_read(places: Path, command: str, spec: str) -> None:
    result = run(command, "--spec", spec, *REST[command])
    assert (result.exit_code, SPECS[spec] in result.stderr) == (2, True), result.stderr
    assert not RAW.search(result.stderr)
    assert not (places / "ours").exists()


@dataclass(frozen=True)
class Refused:
    """A command line that is refused before anything is done."""

    arguments: tuple[str, ...]
    message: str
    code: int = 2


REFUSED = [
    Refused(("show", "lerb"), "no op 'lerb' here; did you mean lerp?"),
    Refused(("show", "LERP"), "did you mean lerp?"),
    Refused(("show", "sum"), "did you mean reduce_sum?"),
    Refused(("show", ""), "no op '' here; `baracuda-gen list` shows all"),
    Refused(("show", "zzzz"), "no op 'zzzz' here; `baracuda-gen list` shows all"),
    Refused(("list", "--plan", "Lerp"), "no plan 'Lerp' here; `baracuda-gen list` shows all"),
    Refused(("list", "--dtype", "complex"), "no dtype 'complex' here; there are bf16, bool, f16, "),
    Refused(("list", "--op", "lerb"), "did you mean lerp?"),
    Refused(("list", "--dtype", "float32"), "did you mean f32?"),
    Refused(("list", "--dtype", "F32"), "did you mean f32?"),
    Refused(("list", "--plan", "ReducPlan"), "did you mean ReducePlan?"),
    Refused(("cach",), "Did you mean"),
    Refused(("compile",), "Missing option '--arch'"),
    Refused(("compile", "--arch", "sm_35"), "sm_35 is too old: baracuda needs sm_80 or newer"),
    Refused(("compile", "--arch", "sm90"), "'sm90' is no architecture; write sm_90"),
    Refused(("compile", "--arch", "sm_9000"), "'sm_9000' is no architecture"),
    Refused(("compile", "--arch", ""), "'' is no architecture"),
    Refused(("compile", "--arch", "host"), "--arch host: libraries of the host executor go into a pack"),
    Refused(("compile", "--arch", "sm_90", "--op", "lerb"), "did you mean lerp?"),
    Refused(("compile", "--arch", "sm_90", "--dtype", "fp16"), "did you mean f16?"),
    Refused(("compile", "--arch", "sm_90", "--jobs", "0"), "'--jobs'"),
    Refused(("compile", *ARCH, "--max-unit-kib", "much"), "'--max-unit-kib'"),
    Refused(("compile", *ARCH, "--part", "3/2"), "'--part': '3/2' is no share"),
    Refused(("compile", *ARCH, "--part", "0/2"), "'--part': '0/2' is no share"),
    Refused(("compile", *ARCH, "--part", "half"), "'--part': 'half' is no share"),
    Refused(("compile", *ARCH, "--pack", "x", "--report", "x"), "--pack x and --report x are one file"),
    Refused(("compile", *ARCH, "--pack", "folder/../x", "--report", "x"), "are one file; name two"),
    Refused(("compile", *ARCH, "--op", "lerp", "--part", "900/999"), "--part 900/999: there are "),
    Refused(("compile", *ARCH, "--max-kib", "nan"), "'--max-kib': 'nan' bounds nothing"),
    Refused(("compile", *ARCH, "--max-unit-kib", "inf"), "'--max-unit-kib': 'inf' bounds nothing"),
    Refused(("compile", *ARCH, "--max-seconds", "-1"), "'--max-seconds': -1.0 is not in the range"),
    Refused(
        ("compile", *ARCH, "--max-unit-seconds", "-0.5"), "'--max-unit-seconds': -0.5 is not in the range"
    ),
    *(
        Refused(("compile", *ARCH, option, path), message)
        for option in ("--pack", "--report")
        for path, message in {
            "": "the path is empty",
            "folder": "is a directory",
            "nowhere/x": f"{option} nowhere/x: there is no folder",
            "file/x": f"{option} file/x: there is no folder",
        }.items()
    ),
    Refused(("schema", "--out", "folder"), "folder: is a folder, want a file"),
    Refused(("schema", "--out", "nowhere/x"), "nowhere/x: there is no such file or folder"),
    Refused(("schema", "--out", ""), "the path is empty"),
    Refused(("generate", "--spec", "my_ops.yaml"), "name its folder: --out DIR"),
    Refused(("generate", "--spec", "my_ops.yaml", "--out", ""), "the path is empty"),
    Refused(("generate", "--spec", "my_ops.yaml", "--out", "file"), "file: want a folder"),
    Refused(("generate", "--spec", "my_ops.yaml", "--out", "file/below"), "a part of this path is a file"),
    Refused(("check", "--spec", "my_ops.yaml", "--out", "file"), "file: is a file, want a folder"),
    Refused(("generate", "--spec", "my_ops.yaml", "--out", "my-ops"), "write my_ops"),
    Refused(("generate", "--spec", "my_ops.yaml", "--out", "x/mein päckchen"), "write x/mein_paeckchen"),
    Refused(("generate", "--spec", "my_ops.yaml", "--out", "1ops"), "write my_1ops"),
    Refused(("generate", "--spec", "my_ops.yaml", "--out", "class"), "'class' is a word of Python"),
    Refused(("generate", "--spec", "my_ops.yaml", "--out", "baracuda"), "would hide baracuda"),
    Refused(("demo", "--device", "abacus"), "'--device'"),
    Refused(("demo", "--op", "lurp"), "no op 'lurp' here; did you mean lerp?"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: " ".join(case.arguments)[:60])
def test_a_mistake_on_the_command_line(places: Path, fresh_cache: Path, case: Refused) -> None:
    before = sorted(places.iterdir())
    result = run(*case.arguments)
    assert (result.exit_code, case.message in result.stderr) == (case.code, True), result.stderr
    assert not RAW.search(result.stderr)
    assert sorted(places.iterdir()) == before


@LINUX
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("lint", "--spec", "/dev/zero"), 2, "zero:1: the file is larger than"),
        (("lint", "--spec", "/proc/self/mem"), 1, "/proc/self/mem: Input/output error"),
        (("generate", "--out", "/proc/ours"), 2, "/proc/ours: there is no such file or folder"),
        (("schema", "--out", "/dev/full"), 1, "/dev/full: No space left on device; free some"),
        (("compile", *QUICK, "--report", "/dev/full"), 1, "/dev/full: No space left on device"),
        (
            ("compile", *ARCH, "--pack", "/dev/null"),
            2,
            "/dev/null: is no file, so no pack can take its place",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_devices_in_the_place_of_files(
    fresh_cache: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    result = run(*arguments)
    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr
    assert not RAW.search(result.stderr)
    assert Path("/dev/null").is_char_device()


# Where everything is printed: much at once, line by line, by click itself. Each is a process.

PRINTING = each_kind([("list", "--json"), ("schema",), ("doctor",), ("cache", "info"), ("--help",),
    ("--version",)], [("list",), ("show", "lerp"), ("lint",), ("check",), ("compile", "--help")])  # fmt: skip


@LINUX
@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_full_disk_under_the_output(fresh_cache: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = process(*arguments, stdout=full.fileno())
    assert done.returncode == 1
    reason = b"No space left on device; free some, or name a place elsewhere"
    assert done.stderr == b"Error: the output cannot be written: " + reason + b"\n"


@pytest.mark.parametrize(
    "arguments", each_kind([("schema",), ("--help",)], [("list", "--json"), ("show", "lerp")]), ids=" ".join
)
def test_a_pipe_whose_reader_has_gone(arguments: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = process(*arguments, stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("closed", [(1,), (2,), (1, 2)], ids=str)
def test_output_that_the_caller_closed(tmp_path: Path, fresh_cache: Path, closed: tuple[int, ...]) -> None:
    """As of a service that has none: exit codes and files are what they are elsewhere."""
    written = tmp_path / "schema.json"
    cases: list[tuple[tuple[str, ...], int]] = [
        (("--help",), 0),
        (("schema", "--out", str(written)), 0),
        (("lint", "--spec", "no-such.yaml"), 2),
        (("list", "--frob"), 2),
    ]
    if len(closed) == 2:  # the rest, which takes longer, where least is left
        cases += each_kind(
            [(("check", "--out", str(tmp_path / "none")), 1)], [(("list",), 0), (("doctor",), 0)]
        )
    for arguments, code in cases:
        command = f"{shlex.join([*COMMAND, *arguments])} {' '.join(f'{number}>&-' for number in closed)}"
        done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
        assert done.returncode == code, (arguments, done.stderr)
        assert b"Traceback" not in done.stderr, arguments
        assert not done.stdout or 1 not in closed
    assert json.loads(written.read_text("utf-8"))


@LINUX
def test_an_error_that_cannot_be_told_keeps_its_exit_code() -> None:
    with Path("/dev/full").open("wb") as full:
        command = [*COMMAND, "lint", "--spec", "no-such.yaml"]
        done = subprocess.run(command, stderr=full.fileno(), stdout=subprocess.PIPE, check=False)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize(
    "environment",
    each_kind(
        [
            {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"PYTHONIOENCODING": "latin-1"},
            {"PYTHONIOENCODING": "utf-8:strict"},
        ],
        [{"PYTHONIOENCODING": "ascii"}],
    ),
    ids=str,
)
def test_letters_that_the_terminal_lacks(tmp_path: Path, environment: dict[str, str]) -> None:
    """In a spec, in its name, which need not even be text, and in what is written."""
    text = SMALL_SPEC.replace("    doc: sum of x", "    doc: μ ∂ é of x")
    path = os.fsencode(tmp_path) + b"/l\xe4tin \xce\xbc.yaml"
    Path(os.fsdecode(path)).write_text(text, encoding="utf-8")
    out = tmp_path / "ours"
    for arguments in each_kind(
        [("show", "total", "--spec", path), ("generate", "--spec", path, "--out", str(out))],
        [("lint", "--spec", path), ("check", "--spec", path, "--out", str(out))],
    ):
        done = process(*arguments, **environment)
        assert (done.returncode, done.stderr) == (0, b""), arguments
    assert "μ ∂ é" in (out / "OP-MATRIX.md").read_text(encoding="utf-8") + (out / "ops.yaml").read_text(
        "utf-8"
    )
    done = process("lint", "--spec", path + b".not", **environment)
    assert done.returncode == 2
    assert b"there is no such file or folder; did you mean" in done.stderr
    assert not RAW.search(done.stderr.decode("latin-1"))


# The environment


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("CXX", "no-such-compiler", "CXX='no-such-compiler' is not on the path"),
        ("CXX", "c++ '", "is no command: No closing quotation"),
        ("CXX", "false", "does not run"),
        ("BARACUDA_SANITIZE", "thread", "BARACUDA_SANITIZE='thread': want 'address' or nothing"),
        ("BARACUDA_HOST_THREADS", "many", "BARACUDA_HOST_THREADS='many': want a number"),
        ("BARACUDA_HOST_ORDER", "sideways", "BARACUDA_HOST_ORDER='sideways': want forward"),
        ("BARACUDA_PACK", "no-such.pack", "no-such.pack cannot be read: No such file or directory"),
        ("BARACUDA_JIT", "never", "BARACUDA_JIT=never forbids compiling it; make it ahead"),
        ("BARACUDA_JIT", "no", "BARACUDA_JIT='no': want 'never' or nothing"),
        ("BARACUDA_CACHE_MAX_BYTES", "1GB", "BARACUDA_CACHE_MAX_BYTES='1GB' is no number of bytes"),
        ("BARACUDA_CACHE_DIR", "/dev/null/x", "/dev/null/x/host cannot be made: Not a directory"),
    ],
)
def test_variables_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, no_packs: None, tmp_path: Path, variable: str, value: str, message: str
) -> None:
    # What runs kernels is the same for all, and the generated code.
    monkeypatch.setattr(importlib.import_module("baracuda.codegen.cli.demo"), "check_current", lambda: None)
    executor = host._executor()
    monkeypatch.setattr(host, "_executor", lambda: executor)
    if variable not in ("BARACUDA_HOST_THREADS", "BARACUDA_HOST_ORDER"):  # those are found in any launch
        monkeypatch.setattr(loader, "_modules", {})
        monkeypatch.setattr(host_compile, "_loaded", {})
    if variable != "BARACUDA_CACHE_MAX_BYTES":
        monkeypatch.setenv("BARACUDA_CACHE_DIR", str(tmp_path / "cache"))
    # As in a new process; the command turns warnings into words.
    monkeypatch.setattr(host_compile, "_warned", [])
    monkeypatch.setattr(cache, "_warned", set())
    monkeypatch.setenv(variable, value)
    with warnings.catch_warnings(), compiled_at("-O0"):
        warnings.simplefilter("default")
        done = run("demo", "--op", "clz", "--device", "host")
    assert message in done.output
    assert not RAW.search(done.output)
    harmless = variable.startswith("BARACUDA_CACHE")
    assert (done.exit_code == 0) == harmless, done.output


# Ctrl-C


@pytest.mark.parametrize(
    ("arguments", "started"),
    [
        (("compile", "--arch", "sm_90", "--jobs", "2", "--pack", "kernels.pack"), "kernels"),
        (("compile", "--arch", "host", "--jobs", "2", "--pack", "kernels.pack"), "baracuda-host-*"),
    ],
    ids=["nvrtc", "host"],
)
def test_an_interrupt_ends_in_a_word_and_leaves_nothing(
    places: Path, fresh_cache: Path, arguments: tuple[str, ...], started: str
) -> None:
    temporary = places / "tmp"
    temporary.mkdir()
    child = subprocess.Popen(
        [*COMMAND, *arguments],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What runs in the background of a shell ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    try:
        until(lambda: any((*fresh_cache.glob(f"{started}/*"), *temporary.glob(started))), child)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=300)
    finally:
        child.kill()
    assert (child.returncode, said.strip()) == (1, "Aborted!")
    assert not list(places.glob("*pack*"))
    assert not list(fresh_cache.rglob("*.tmp"))
    assert not list(temporary.iterdir())


def until(happened: Callable[[], bool], child: subprocess.Popen[str], seconds: float = 300.0) -> None:
    """Wait until something has happened, while the child lives."""
    end = time.monotonic() + seconds
    while not happened():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
