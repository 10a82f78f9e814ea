"""The command line: exit codes, messages, help."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cli_runner import run, run_process

from baracuda import codegen
from baracuda.codegen.cli import main
from baracuda.codegen.cli.common import table
from baracuda.codegen.problems import Problem, SpecError
from baracuda.errors import CompileError, InvalidProblem

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = ["cache", "check", "compile", "demo", "doctor", "generate", "lint", "list", "schema", "show"]


@pytest.fixture
def small_spec(tmp_path: Path) -> Path:
    """Return the checkout's spec, copied to where a test may break it."""
    path = tmp_path / "my_ops.yaml"
    path.write_text((ROOT / "ops.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    return path


def walk(group: click.Group, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield prefix
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from walk(command, (*prefix, name))
        else:
            yield (*prefix, name)


# Help


def test_every_command_is_there() -> None:
    assert sorted(main.commands) == COMMANDS


@pytest.mark.parametrize("path", list(walk(main)), ids=" ".join)
def test_help_has_an_example_of_the_command(path: tuple[str, ...]) -> None:
    result = run(*path, "--help")
    assert result.exit_code == 0
    example = result.output.split("Example", 1)[1]
    assert " ".join(["baracuda-gen", *path]).strip() in example


def test_examples_name_options_that_exist() -> None:
    for path in walk(main):
        command: click.Command = main
        for name in path:
            assert isinstance(command, click.Group)
            command = command.commands[name]
        known = {
            option for parameter in command.params for option in parameter.opts + parameter.secondary_opts
        }
        words = (command.epilog or "").split()
        assert {word for word in words if word.startswith("--")} <= known | {
            "--allow-empty",
            "--directory",
        }, path


def test_examples_name_ops_that_exist() -> None:
    ops = codegen.load_spec(None).ops.keys()
    named = set()
    for path in walk(main):
        example = run(*path, "--help").output.partition("Example")[2]
        named |= set(re.findall(r"--op (\w+)|baracuda-gen show (\w+)", example))
    assert {a or b for a, b in named} <= ops
    assert len(named) >= 3


def test_help_does_not_import_the_generator() -> None:
    code = (
        "import sys; from baracuda.codegen.cli import main\n"
        "try: main(['generate', '--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'jinja2', 'yaml', 'pydantic', 'ml_dtypes', 'cupy'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.rstrip().endswith("[]")


def test_version() -> None:
    from importlib.metadata import version

    assert run("--version").output.strip() == f"baracuda-gen, version {version('baracuda')}"


# generate and check, on the checkout's own spec


def test_generate_then_check(small_spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "my folder" / "my_package"
    first = run("generate", "--spec", small_spec, "--out", out)
    assert first.exit_code == 0
    assert f"wrote {out / 'manifest.json'}" in first.output
    assert run("check", "--spec", small_spec, "--out", out).exit_code == 0
    again = run("generate", "--spec", small_spec, "--out", out)
    assert again.exit_code == 0
    assert "0 written, 0 removed" in again.output
    assert "wrote" not in again.output


def test_check_prints_a_diff_and_exits_1(small_spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("generate", "--spec", small_spec, "--out", out)
    kernel = next(out.rglob("*.cu"))
    name = kernel.relative_to(out).as_posix()
    kernel.write_text(kernel.read_text() + "// edited by hand\n")
    (out / "notes.txt").write_text("mine")
    result = run("check", "--spec", small_spec, "--out", out)
    assert result.exit_code == 1
    assert f"--- a/{name}\n+++ b/{name}\n" in result.stdout
    assert "\n-// edited by hand\n" in result.stdout
    assert f"changed: {kernel}" in result.stderr
    assert f"foreign: {out / 'notes.txt'}" in result.stderr
    assert f"baracuda-gen generate --spec {small_spec} --out {out}" in result.stderr


def test_generate_does_not_overwrite_a_file_of_the_user(small_spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "manifest.json").write_text("mine")
    result = run("generate", "--spec", small_spec, "--out", out)
    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert [path.name for path in out.iterdir()] == ["manifest.json"]
    assert (out / "manifest.json").read_text() == "mine"
    assert run("generate", "--spec", small_spec, "--out", out, "--force").exit_code == 0


def test_another_spec_needs_its_own_folder(small_spec: Path) -> None:
    for command in ("generate", "check"):
        result = run(command, "--spec", small_spec)
        assert result.exit_code == 2
        assert "--out DIR" in result.stderr


def test_the_checkouts_generated_folder_is_current() -> None:
    result = run_process("check")
    assert (result.returncode, result.stderr) == (0, "")


# Bad input


@pytest.mark.parametrize("command", ["lint", "list", "generate", "check", "show", "compile"])
def test_a_spec_that_is_not_there_is_bad_input(command: str, tmp_path: Path) -> None:
    missing = tmp_path / "no such.yaml"
    extra = {
        "generate": ["--out", tmp_path / "out"],
        "check": ["--out", tmp_path / "out"],
        "show": ["lerp"],
        "compile": ["--arch", "sm_90"],
    }
    result = run(command, "--spec", missing, *extra.get(command, []))
    assert result.exit_code == 2
    assert str(missing) in result.stderr
    assert not (tmp_path / "out").exists()


def test_lint_prints_every_problem_and_exits_2(small_spec: Path) -> None:
    text = small_spec.read_text(encoding="utf-8")
    small_spec.write_text(text + "\nno_such_key: 1\nneither_this: 2\n", encoding="utf-8")
    result = run_process("lint", "--spec", small_spec)
    assert result.returncode == 2
    lines = [line for line in result.stderr.splitlines() if f"{small_spec.name}:" in line]
    assert any("no_such_key" in line for line in lines)
    assert any("neither_this" in line for line in lines)
    assert "Traceback" not in result.stderr


def test_lint_of_a_good_spec_names_the_file_that_it_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder, shown in ((ROOT, "ops.yaml"), (tmp_path, str(ROOT / "ops.yaml"))):
        monkeypatch.chdir(folder)
        result = run_process("lint")
        assert (result.returncode, result.stderr) == (0, "")
        assert re.fullmatch(rf"{re.escape(shown)}: \d+ ops, \d+ kernels, no problems\n", result.stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-command",),
        ("generate", "--no-such-option"),
        ("show",),
        ("compile", "--arch", "sm_90", "--jobs", "0"),
        ("demo", "--device", "abacus"),
    ],
)
def test_a_wrong_command_line_is_bad_input(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage: " in result.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SpecError([Problem("ops.yaml", 3, "ops.x", "is wrong"), Problem("ops.yaml", 9, "ops.y", "too")]), 2),
        (InvalidProblem("ReducePlan: no such axis"), 2),
        (CompileError("unit.cu: error: no"), 1),
    ],
)
def test_errors_become_messages(monkeypatch: pytest.MonkeyPatch, error: Exception, code: int) -> None:
    def fail(spec: Path | None) -> None:
        raise error

    monkeypatch.setattr(codegen, "load_spec", fail, raising=False)
    result = run("lint")
    assert result.exit_code == code
    assert str(error) in result.stderr


def test_an_interrupt_within_a_lock_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C may come while a lock is not taken yet that is given back then, which is an error of its own."""

    def fail(spec: Path | None) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            threading.Lock().release()

    monkeypatch.setattr(codegen, "load_spec", fail, raising=False)
    result = run("lint")
    assert (result.exit_code, result.stderr.strip()) == (1, "Aborted!")


def test_a_bug_is_a_message_too_and_keeps_its_traceback_for_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(spec: Path | None) -> None:
        raise ZeroDivisionError("no such number")

    monkeypatch.setattr(codegen, "load_spec", fail, raising=False)
    monkeypatch.delenv("BARACUDA_DEBUG", raising=False)
    result = run("lint")
    assert result.exit_code == 1
    assert "this is a bug in baracuda-gen: ZeroDivisionError: no such number (test_cli.py:" in result.stderr
    assert "BARACUDA_DEBUG=1" in result.stderr
    monkeypatch.setenv("BARACUDA_DEBUG", "1")
    with pytest.raises(ZeroDivisionError, match="no such number"):
        run("lint")


def test_warnings_are_lines_without_a_place_in_the_source() -> None:
    code = (
        "import warnings\nfrom baracuda import codegen\nfrom baracuda.codegen.cli import main\n"
        "def fail(spec): warnings.warn('the disk is old'); raise FileNotFoundError(2, 'gone', 'gone.txt')\n"
        "codegen.load_spec = fail\nmain(['lint'])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert shown.returncode == 2
    assert shown.stderr == "warning: the disk is old\nError: gone.txt: there is no such file or folder\n"


# list and show


def test_list_json_has_one_object_a_kernel() -> None:
    result = run_process("list", "--json")
    assert result.returncode == 0
    rows = json.loads(result.stdout)
    symbols = [row["symbol"] for row in rows]
    assert len(symbols) == len(set(symbols))
    assert {"baracuda_lerp_f32", "baracuda_lerp_bf16_strided"} <= set(symbols)
    for row in rows:
        assert {"op", "family", "category", "kind", "plan", "direction", "dtype", "variant"} <= row.keys()


def test_list_filters_agree_with_the_whole_list() -> None:
    rows = json.loads(run("list", "--json").stdout)
    some = json.loads(run("list", "--json", "--op", "lerp", "--dtype", "f16", "--dtype", "f64").stdout)
    assert some == [row for row in rows if row["op"] == "lerp" and row["dtype"] in ("f16", "f64")]
    assert some
    plan = rows[-1]["plan"]
    by_plan = json.loads(run("list", "--json", "--plan", plan).stdout)
    assert by_plan == [row for row in rows if row["plan"] == plan]


def test_list_as_a_table() -> None:
    rows = json.loads(run("list", "--json", "--op", "lerp").stdout)
    head, *lines, total = run("list", "--op", "lerp").stdout.splitlines()
    assert head.split()[:3] == ["op", "family", "category"]
    assert [line.split()[-1] for line in lines] == [row["symbol"] for row in rows]
    assert total == f"{len(rows)} kernels of 1 ops"


def test_show_prints_formula_kernels_and_source() -> None:
    result = run("show", "lerp")
    assert result.exit_code == 0
    assert "baracuda_lerp_bf16_strided" in result.stdout
    assert "BARACUDA_KERNEL(lerp" in result.stdout
    for part in (
        "BinaryParamPlan: forward",
        "BinaryParamBackwardPlan: backward",
        "db = dy * weight",
        "da  out  optional  a_shape",
        "isfinite(param)",
        "param    f64",
        "error at most",
        "batch-invariant in the forward: y",
        "Independent reference, in longdouble",
    ):
        assert part in result.stdout
    without = run("show", "lerp", "--no-source").stdout
    assert "BARACUDA_KERNEL" not in without
    assert result.stdout.startswith(without.rstrip("\n"))


def test_show_describes_every_op() -> None:
    spec = codegen.load_spec(None)
    for name, op in spec.ops.items():
        text = codegen.describe(spec, name)
        assert text.startswith(f"{name}: {op.doc}\n")
        for program in op.all_programs():
            assert f"{op.family.plan_class(program.direction)}: {program.direction}" in text
            for tensor in (*program.read, *program.written, *program.takes):
                assert re.search(rf"^    {tensor} +(in|out|scratch) ", text, re.MULTILINE), (name, tensor)
            for name_of, tensor in op.family.tensors(program.direction).items():
                if tensor.given is not None and name_of in {*program.read, *program.written}:
                    words = " ".join(text.split())
                    assert f"(there if {tensor.given}, else None)" in words
        for field in op.family.descriptor.values():
            assert field.only is None or f"({field.only} only)" in " ".join(text.split())
        if any(program.column_outputs for program in op.all_programs()):
            assert "not batch-invariant, as sums over the rows" in text
        for options in op.options.values():
            assert " ".join(options) in text
        assert not re.search(r"[ \t]$", text, re.MULTILINE)


# Output


def test_tables_are_aligned_and_have_no_trailing_blanks() -> None:
    text = table(("name", "ms"), [("a", 1), ("longer", 100)], right=("ms",))
    assert text == "name     ms\na         1\nlonger  100"


def test_what_a_pipe_gave_is_generated_whole(small_spec: Path, tmp_path: Path) -> None:
    """A pipe can be read once."""
    out = tmp_path / "piped"
    command = [sys.executable, "-m", "baracuda.codegen.cli", "generate", "--spec", "/dev/stdin", "--out", out]
    subprocess.run(command, input=small_spec.read_bytes(), check=True, capture_output=True)
    assert (out / "ops.yaml").read_bytes() == small_spec.read_bytes()
