"""The generated tree: current, the same everywhere, readable, complete."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import hashlib
import io
import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli_runner import run
from host_cpp import compiler
from small_spec import SMALL_SPEC

from baracuda.codegen import kernels, load_spec, render
from baracuda.codegen.matrix import KernelRow
from baracuda.codegen.rendering.width import CPP_WIDTH, fold_cpp, hang
from baracuda.codegen.spec import Spec
from baracuda.codegen.tree import check_tree

ROOT = Path(__file__).resolve().parents[1]
GENERATED = ROOT / "generated"
TEMPLATES = ROOT / "templates"
#: The longest line of generated files that people read.
WIDTH = 120
ENTRY_LINES = 20
TEMPLATE_LINES = 130  # about 120
MEDIAN_KERNEL_LINES = 60
#: Entries that are longer than ENTRY_LINES, each with the reason.
LONG_ENTRIES = {
    "lerp": "exact at both ends, monotonic and without overflow: every condition is a line",
    "logaddexp": "what rounding takes from the difference would be magnified, and nothing underflows early",
    "logaddexp2": "what rounding takes from the difference would be magnified, and nothing underflows early",
    "lerp_tensor": "exact at both ends, monotonic and without overflow, and three gradients",
    "gelu_tanh": "its exponent in two parts, so that exp magnifies no rounding",
    "mish": "two signs of x in both directions, so that neither tail underflows early",
    "softplus": "two signs of x in both directions, so that neither tail underflows early; two parameters",
    "logit": "the sign at the upper end, where 1 - eps rounds, in the formula and in its reference",
    "celu": "its quotient in two parts, at a scale where neither is subnormal",
    "squareplus": "a root whose square may over- or underflow, scaled by a power of two for any b",
    "reduce_max": "three rules for ties",
    "reduce_prod": "the gradient at zeros and beyond the range of the dtype",
    "reduce_norm2": "a gradient that keeps what is small beside the norm",
    "reduce_logsumexp": "a reference that neither overflows nor cancels, in named parts",
    "reduce_var": "two outputs, each with formula, reference and scale, and where the bound holds",
    "reduce_std": "two outputs, each with formula, reference and scale, and where the bound holds",
    "softmax": "masked rows, and a reference in named parts",
    "log_softmax": "masked rows in both directions",
    "rms_norm": "nothing over- or underflows: powers of two go apart, and the scale says what is left",
    "layer_norm": "six outputs, each with formula, reference and scale",
    "rope": "five scalings of the frequencies in two layouts, and the reference of each",
    "sdpa": "an independent reference of six results, with masks, shared heads and what roundings spread to",
}
#: Of these, the ones that may be longer than twice ENTRY_LINES.
LONGEST_ENTRIES = {"rms_norm", "layer_norm", "rope", "sdpa"}

DEVICE_KERNEL = re.compile(r'extern "C" __global__ void __launch_bounds__\([\w:, ()]+\) (\w+)\(')


@pytest.fixture(scope="module")
def spec() -> Spec:
    return load_spec()


@pytest.fixture(scope="module")
def texts(spec: Spec) -> dict[str, str]:
    return render(spec)


@pytest.fixture(scope="module")
def rows(spec: Spec) -> list[KernelRow]:
    return kernels(spec)


# Current, and the same everywhere


def test_the_tree_is_what_the_spec_gives(texts: dict[str, str]) -> None:
    assert [(item.path, item.kind) for item in check_tree(texts, GENERATED)] == []


def test_rendering_twice_gives_the_same(spec: Spec, texts: dict[str, str]) -> None:
    assert render(spec) == texts
    assert list(render(load_spec())) == list(texts)


def test_the_order_of_a_folder_changes_nothing(
    texts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, scanned = os.listdir, os.scandir
    monkeypatch.setattr(os, "listdir", lambda *path: sorted(listed(*path), reverse=True))

    def scandir(*path: Any) -> Any:
        with scanned(*path) as entries:
            return contextlib.nullcontext(iter(sorted(entries, key=lambda entry: entry.name, reverse=True)))

    monkeypatch.setattr(os, "scandir", scandir)
    assert digest(render(load_spec())) == digest(texts)


def digest(texts: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(list(texts.items())).encode()).hexdigest()


@pytest.mark.parametrize(
    "changes",
    [
        {"PYTHONHASHSEED": "0", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONHASHSEED": "1", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "de_DE.ISO-8859-1", "PYTHONWARNDEFAULTENCODING": "1"},
    ],
    ids=["C", "Turkish", "Latin-1"],
)
def test_every_environment_gives_the_same_bytes(
    changes: dict[str, str], texts: dict[str, str], tmp_path: Path
) -> None:
    code = (
        "import hashlib, json, sys\nfrom baracuda.codegen import load_spec, render\n"
        "texts = list(render(load_spec()).items())\n"
        "sys.stdout.write(hashlib.sha256(json.dumps(texts).encode()).hexdigest())"
    )
    command = [sys.executable, "-W", "error::EncodingWarning:baracuda", "-c", code]
    shown = subprocess.run(
        command, env=os.environ | changes, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert shown.stdout == digest(texts)


def test_a_spec_with_other_letters_is_written_as_utf8(tmp_path: Path) -> None:
    """Also where the system's encoding is another."""
    path = tmp_path / "ops.yaml"
    path.write_text(SMALL_SPEC.replace("a and b, weighed", "μ of ∂ and é, weighed"), encoding="utf-8")
    out = tmp_path / "out"
    command = [sys.executable, "-X", "utf8=0", "-m", "baracuda.codegen.cli", "generate"]
    plain = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    shown = subprocess.run(
        [*command, "--spec", str(path), "--out", str(out)],
        env=plain,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "μ of ∂ and é, weighed" in (out / "kernels/pairs/mix.cu").read_text(encoding="utf-8")
    assert "μ of ∂ and é, weighed" in (out / "plans/pairs.py").read_text(encoding="utf-8")


def test_nothing_volatile_is_in_it(texts: dict[str, str]) -> None:
    """No path of a machine, no date: a file changes with its op alone."""
    for path, text in texts.items():
        assert str(ROOT) not in text, path
        assert "/home/" not in text, path
        assert not re.search(r"\b20\d\d-\d\d-\d\d\b", text), path


def test_a_new_op_touches_its_own_kernels_and_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(SMALL_SPEC, encoding="utf-8")
    before = render(load_spec(path))
    start, end = SMALL_SPEC.index("  mix:\n"), SMALL_SPEC.index("  total:\n")
    second = SMALL_SPEC[start:end].replace("  mix:\n", "  blend:\n").replace("kind: MIX", "kind: BLEND")
    path.write_text(SMALL_SPEC[:end] + second + SMALL_SPEC[end:], encoding="utf-8")
    after = render(load_spec(path))
    changed = {name for name, text in after.items() if before.get(name) != text}
    assert changed == {
        "OP-MATRIX.md",
        "kernels/pairs/blend.cu",
        "kernels/pairs/blend_backward.cu",
        "manifest.json",
        "matrix.csv",
        "ops.yaml",
        "plans/kinds.py",
        "plans/pairs.py",
    }


# Readable


def entry_lines(text: str) -> dict[str, int]:
    """How many lines each op of a spec takes, without comments and empty lines."""
    counts: Counter[str] = Counter()
    name = ""
    for line in text[text.index("\nops:\n") + len("\nops:\n") :].splitlines():
        found = re.match(r"  (\w+):", line)
        name = found[1] if found else name
        counts[name] += bool(line.strip()) and not line.strip().startswith("#")
    return dict(counts)


def test_an_entry_is_short(spec: Spec) -> None:
    counts = entry_lines((ROOT / "ops.yaml").read_text(encoding="utf-8"))
    assert list(counts) == list(spec.ops)
    too_long = {name: count for name, count in counts.items() if count > ENTRY_LINES}
    assert sorted(too_long) == sorted(LONG_ENTRIES), too_long
    assert max(count for name, count in counts.items() if name not in LONGEST_ENTRIES) <= 2 * ENTRY_LINES


def test_a_bound_beyond_four_has_its_reason() -> None:
    """Of functions element by element: beside the bound, as docs/numerics.md says."""
    text = (ROOT / "ops.yaml").read_text(encoding="utf-8")
    maps = re.split(r"\n(?=  \w+:\n)", text)
    plain = {name for name, family in load_spec().families.items() if family.template == "map"}
    found = 0
    for entry in maps:
        own = re.match(r"  (\w+):\n", entry)
        used = re.search(r"^    family: (\w+)$", entry, re.MULTILINE)
        if own is None or (used[1] if used else own[1]) not in plain:
            continue
        for line in re.findall(r"^.*\bulp:.*$", entry, re.MULTILINE):
            bounds = re.findall(r"(?:f32|f64|float): ([\d.]+)", line)
            if max(map(float, bounds), default=0) > 4:
                found += 1
                assert "#" in line, f"{own[1]}: {line.strip()}"
    assert found > 10


def test_a_template_is_short() -> None:
    counts = {
        path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in TEMPLATES.glob("*.j2")
    }
    assert counts
    assert {name: count for name, count in counts.items() if count > TEMPLATE_LINES} == {}


def test_the_median_kernel_is_short(texts: dict[str, str]) -> None:
    counts = [len(text.splitlines()) for path, text in texts.items() if path.endswith(".cu")]
    assert statistics.median(counts) < MEDIAN_KERNEL_LINES


def test_no_line_is_long(texts: dict[str, str]) -> None:
    long = [
        f"{path}:{number}"
        for path, text in texts.items()
        if path.endswith((".cu", ".py"))
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > WIDTH
    ]
    assert long == []


def test_lines_have_no_trailing_blanks_and_files_end_with_one_break(texts: dict[str, str]) -> None:
    for path, text in texts.items():
        assert "\r" not in text, path
        assert text.endswith("\n"), path
        assert not text.endswith("\n\n"), path
        if path != "ops.yaml":
            assert not re.search(r"[ \t]$", text, re.MULTILINE), path
            assert "\n\n\n\n" not in text, path


def test_generated_python_compiles_without_a_warning(texts: dict[str, str]) -> None:
    for path, text in texts.items():
        if path.endswith(".py"):
            compile(text, path, "exec")  # a warning is an error in these tests


def test_long_cpp_is_folded_where_it_may_be() -> None:
    name = "a_name_that_is_rather_long"
    long = f"    const A y = f({', '.join([name] * 6)}) + {name} * {name};  // what it is for"
    folded = fold_cpp(
        f"// {long}\n#define X {long}\n{long}\n    void f() const {{ return {' + '.join([name] * 5)}; }}"
    )
    lines = folded.split("\n")
    assert max(len(line) for line in lines if not line.startswith("#")) <= CPP_WIDTH
    assert f"#define X {long}" in lines
    assert "    // what it is for" in lines
    assert "    void f() const {" in lines
    code = [line for line in lines if "//" not in line]
    assert "".join("".join(code).split()).count(name) == 8 + 5
    assert fold_cpp("short;\n") == "short;\n"


def test_text_hangs_below_its_first_line() -> None:
    first, *more = hang("word " * 60, 8).split("\n")
    assert more
    assert all(line.startswith(" " * 12 + "word") for line in more)
    assert all(8 + len(first) <= 110 >= len(line) for line in more)


# Complete: the tables, the list and the kernels agree


def test_matrix_csv_agrees_with_the_kernels(texts: dict[str, str], rows: list[KernelRow]) -> None:
    table = list(csv.DictReader(io.StringIO(texts["matrix.csv"])))
    listed = [
        (line["op"], line["direction"], line["options"], line["plan"], line["kind"], dtype, variant)
        for line in table
        for dtype in line["dtypes"].split()
        for variant in line["variants"].split()
    ]
    assert listed == [(r.op, r.direction, r.options, r.plan, r.kind, r.dtype, r.variant) for r in rows]


def test_matrix_csv_states_the_bounds(texts: dict[str, str], spec: Spec) -> None:
    for line in csv.DictReader(io.StringIO(texts["matrix.csv"])):
        op = spec.ops[line["op"]]
        bounds = dict(zip(line["dtypes"].split(), map(float, line["ulp"].split()), strict=True))
        assert bounds == {dtype: op.bounds(line["direction"])[dtype] for dtype in bounds}
        assert line["deterministic"] == "yes"
        assert set(line["batch_invariant"].split()) <= set(op.family.tensors(line["direction"]))


def test_the_document_agrees_with_the_kernels(
    texts: dict[str, str], rows: list[KernelRow], spec: Spec
) -> None:
    lines = texts["OP-MATRIX.md"].splitlines()
    assert any(line.startswith(f"{len(spec.ops)} ops, {len(rows)} kernels.") for line in lines)
    table = [line.strip("|").split(" | ") for line in lines if line.startswith("| ")][2:]
    shown = Counter(cells[0].strip() for cells in table)
    programs = [program.stem for op in spec.ops.values() for program in op.all_programs()]
    assert list(shown) == programs
    for stem in programs:
        row_of = [row for row in rows if row.unit.endswith(f"/{stem}.cu")]
        lines_of = [cells for cells in table if cells[0].strip() == stem]
        listed = [(d, v) for cells in lines_of for d in cells[4].split() for v in cells[5].split()]
        assert listed == [(r.dtype, r.variant) for r in row_of]
        assert {cells[1] for cells in lines_of} == {row_of[0].plan}
    cells_of = {cells[0].strip(): cells for cells in table}
    for op in spec.ops.values():
        for program in op.all_programs():
            cells, taken = cells_of[program.stem], {*program.read, *program.takes}
            backward = program.direction == "backward"
            assert {*cells[6].split()} == (taken & {*op.family.forward} if backward else set())
            assert all(name.rpartition(".")[2] in cells[10] for name in op.names.values())
            undefined = [name for name in program.source if f"`{name} = " not in cells[3]]
            assert not undefined, program.stem


def test_the_document_is_a_page_of_the_docs(texts: dict[str, str]) -> None:
    """A link, so that `check` covers the page and it lies there once."""
    page = ROOT / "docs" / "OP-MATRIX.md"
    assert page.resolve() == (GENERATED / "OP-MATRIX.md").resolve()
    assert page.read_text(encoding="utf-8") == texts["OP-MATRIX.md"]


def test_the_cells_of_the_document_are_whole(texts: dict[str, str]) -> None:
    """A bar in a formula would end its cell."""
    table = [line for line in texts["OP-MATRIX.md"].splitlines() if line.startswith("| ")]
    assert {len(re.split(r"(?<!\\)\|", line)) for line in table} == {13}


def test_every_op_says_what_others_call_it(spec: Spec) -> None:
    """All but what has no name elsewhere."""
    assert [op.name for op in spec.ops.values() if not op.names] == ["geglu_tanh"]


def test_the_document_explains_every_variant(texts: dict[str, str], rows: list[KernelRow]) -> None:
    words = set(re.findall(r"`(\w+)`[,:]", texts["OP-MATRIX.md"].partition("| op |")[0]))
    whole = {re.sub(r"^to_[a-z0-9]+$", "contig", row.variant) for row in rows}
    stems = {re.sub(r"^(map|sum_[a-z]+|to_[a-z0-9]+)_", "", variant) for variant in whole}
    assert stems == words


def test_list_agrees_with_the_kernels(rows: list[KernelRow]) -> None:
    listed = json.loads(run("list", "--json").stdout)
    assert listed == [json.loads(json.dumps(dataclasses.asdict(row))) for row in rows]


def test_symbols_are_unique_and_follow_the_rule(rows: list[KernelRow]) -> None:
    assert [name for name, count in Counter(row.symbol for row in rows).items() if count > 1] == []
    for row in rows:
        stem = Path(row.unit).stem
        tail = "" if row.variant == "contig" else f"_{row.variant}"
        assert row.symbol == f"baracuda_{stem}_{row.dtype}{tail}"
        assert stem.startswith(row.op)


def test_every_kernel_file_is_of_the_matrix(texts: dict[str, str], rows: list[KernelRow]) -> None:
    assert {row.unit for row in rows} == {path for path in texts if path.endswith(".cu")}


def by_unit(
    rows: list[KernelRow],
) -> dict[tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]], list[str]]:
    units: dict[tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]], list[str]] = {}
    for row in rows:
        units.setdefault((row.unit, row.defines, row.flags), []).append(row.symbol)
    return units


def test_every_symbol_is_in_its_unit_once(texts: dict[str, str], rows: list[KernelRow]) -> None:
    """Preprocessed as NVRTC does, a unit has the kernels of the matrix and no others.

    One of each file, whose dtypes and parts take turns.
    """
    units: dict[str, list[Any]] = {}
    for unit, symbols in by_unit(rows).items():
        units.setdefault(unit[0], []).append((unit, symbols))
    some = [own[place % len(own)] for place, own in enumerate(units.values())]
    taken = [dict(defines) for (_, defines, _), _ in some]
    assert {defines["BARACUDA_DTYPE"] for defines in taken} == {row.dtype for row in rows}
    assert {name for defines in taken for name in defines} >= {"BARACUDA_NARROW", "BARACUDA_WIDE"}
    for (path, defines, _), symbols in some:
        macros = [f"-D{name}={value}" for name, value in (*defines, ("BARACUDA_NAMESPACE", "kernels"))]
        shown = compiler("-E", "-P", "-D__CUDACC_RTC__", *macros, text=texts[path])
        assert shown.returncode == 0, shown.stderr
        assert sorted(DEVICE_KERNEL.findall(shown.stdout)) == sorted(symbols), (path, defines)


def test_a_choice_that_counts_is_an_integer(tmp_path: Path) -> None:
    """The host computes what follows from numbers: as the integer that `ldexp` wants where it is one."""
    path = tmp_path / "ops.yaml"
    choice = "let: {n: exponent(b) + (3 if weight > 1 else 0)}\n      y: "
    choice += "ldexp(ldexp(a, n), 2 if weight > 5 else 1)"
    edited = SMALL_SPEC.replace("let: {rest: 1 - weight}\n      y: a * rest + b * weight", choice)
    path.write_text(edited, encoding="utf-8")
    texts = render(load_spec(path))
    kernel, plans = texts["kernels/pairs/mix.cu"], texts["plans/pairs.py"]
    assert re.findall(r"\w+ count\d;.*", kernel) == [
        "i64 count0;  // 3 if weight > 1 else 0",
        "i64 count1;  // 2 if weight > 5 else 1",
    ]
    assert "baracuda::exponent(b) + count0" in kernel
    assert "return (3 if weight > 1 else 0, 2 if weight > 5 else 1)" in plans


def test_what_the_host_computes_may_need_what_the_kernel_does_not_get(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    edited = SMALL_SPEC.replace(
        "let: {rest: 1 - weight}\n      y: a * rest + b * weight", "let: LET\n      y: a * (half * 2) + b"
    )
    path.write_text(edited.replace("LET", "{rest: 1 - weight, half: rest / 2}"), encoding="utf-8")
    texts = render(load_spec(path))
    assert "A factor0;  // (1 - weight) / 2 * 2\n" in texts["kernels/pairs/mix.cu"]
    assert _fold_of_mix(texts)(SimpleNamespace(number=0.25)) == (0.75,)


def test_what_several_numbers_follow_from_is_computed_once(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    edited = SMALL_SPEC.replace(
        "let: {rest: 1 - weight}\n      y: a * rest + b * weight",
        "let: {rest: 1 - weight, half: rest / 2}\n      y: a * (half * 2) + b * (half + 1)",
    )
    path.write_text(edited, encoding="utf-8")
    texts = render(load_spec(path))
    assert "A factor0;  // half * 2\n    A factor1;  // half + 1\n" in texts["kernels/pairs/mix.cu"]
    assert (
        "    rest = 1 - weight\n    half = rest / 2\n    return (half * 2, half + 1)\n"
        in texts["plans/pairs.py"]
    )
    assert _fold_of_mix(texts)(SimpleNamespace(number=0.25)) == (0.75, 1.375)


def test_what_is_computed_on_a_condition_alone_stays_there(tmp_path: Path) -> None:
    """A quotient that two numbers follow from, where its divisor is not 0."""
    path = tmp_path / "ops.yaml"
    edited = SMALL_SPEC.replace(
        "let: {rest: 1 - weight}\n      y: a * rest + b * weight",
        "let: {rest: 1 / weight, half: rest / 2 if weight > 0 else 3, other: rest if weight > 0 else 4}\n"
        "      y: a * half + b * other",
    )
    path.write_text(edited, encoding="utf-8")
    fold = _fold_of_mix(render(load_spec(path)))
    assert sorted(fold(SimpleNamespace(number=0.0))) == [3, 4]
    assert sorted(fold(SimpleNamespace(number=0.25))) == [2, 4]


def _fold_of_mix(texts: dict[str, str]) -> Any:
    found: dict[str, Any] = {}
    start = texts["plans/pairs.py"].index("def _mix_scalars(")
    text = texts["plans/pairs.py"][start:].partition("\n\n\n")[0]
    exec(text.replace("desc: PairDescriptor", "desc"), found)
    return found["_mix_scalars"]
