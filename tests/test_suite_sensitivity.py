"""The suite is itself tested: a kernel with a small fault must not pass the checks of the other files."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from devices import all_rows, checkout_spec, compiled_at, each_kernel_program, each_kind, late, turn
from packages import generated_files, with_header, write_package

from baracuda import kernels as kernels_of_plans
from baracuda.codegen import verify
from baracuda.codegen.verify.problems import HEAD_SIZES
from baracuda.compile.source import headers
from baracuda.engines import column_sums
from baracuda.errors import DriverError
from baracuda.host import ORDER_VARIABLE
from baracuda.sku import PlanPreference

DTYPE = "f32"
SHAPES = [(5, 7), (3, 1100), (1100, 3), (20000,), (4, 6, 10), (2, 3, 4, 12), (1100, 16)]
# So long that a warp takes more than 32 chunks in turn where one block has the row, and that several warps
# merge the states of the blocks where many have it.
LONG_SHAPES = [(1_200_000,)]
# Rows of which a block holds a few of a group at once: some mapped while the next are aggregated, or, where a
# thread has more columns than registers, batch by batch, a row or (of two sums) two; each a chunk or several.
HELD = [(DTYPE, (9, 2600)), ("f16", (9, 5000)), (DTYPE, (9, 10400)), ("f16", (9, 8200))]
# The first comes again in another order of threads.
LAYOUTS = ["contiguous", "misaligned", "every second column", "all axes permuted", "reversed", "contiguous"]
# Of tiles: 16 bits, where matrix instructions take other paths.
HALF = "f16"
# Of maps: the layouts of inputs and outputs, for extents of several tiles.
TURNED = ["contiguous", *[("transposed", "contiguous")] * 4]
TURNED_SHAPES = [(72, 136), (35, 141)]
ORDERS = ["forward", "ahead", "reverse", "shuffle:1"]
PROFILES = ["normal", "extreme", "ties"]


@pytest.fixture(scope="module")
def tree():
    return generated_files()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mutants")


class Case(NamedTuple):
    """A problem in several layouts of tensors, each with an order of threads.

    Attributes:
        problem: the problem.
        layouts: of all tensors, or pairs: of inputs, of outputs.
        preference: a `PlanPreference`.
        spoiled: an input in whose last row NaNs are.
        unwanted: arguments that are left out.
    """

    problem: Any
    layouts: list
    preference: Any = None
    spoiled: str | None = None
    unwanted: tuple[str, ...] = ()


def bring_near(problem, values):
    """Every other pair of the numbers that truth values tell of: close to each other, and not equal."""
    names = problem.inputs()
    if len(names) != 2 or any(problem.dtype_of(name) != "bool" for name in problem.outputs()):
        return
    first, second = (values[name] for name in names)
    if first.shape == second.shape and first.ndim:
        with np.errstate(all="ignore"):
            second[..., ::2] = first[..., ::2] * (1 + 2**-18)


def cases_of(monkeypatch, op, direction, package, *, long=False):
    """The problems that an op's kernels are judged by."""
    options = {"every_option": False, "broadcast": True, "package": package}
    problems = verify.problems(op, direction, DTYPE, SHAPES, **options)
    problems = problems[::2] if len(problems) > len(SHAPES) else problems
    cases = [Case(problem, LAYOUTS) for problem in problems]
    if long:
        problem = verify.problems(op, direction, DTYPE, LONG_SHAPES, **options)[0]
        cases += [Case(problem, LAYOUTS[:2], PlanPreference(max_workspace=most)) for most in (None, 0)]
        cases += tiled(op, direction, options) if op.family.tiles else []
        if op.family.template == "map":
            turned = verify.problems(op, direction, DTYPE, TURNED_SHAPES, **options | {"broadcast": False})
            cases += [Case(problem, TURNED) for problem in turned]
    if long and has_column_sums(op, direction):
        monkeypatch.setattr(column_sums, "LEAST_ROWS", 8)  # so that a few rows are several batches of a group
        held = [verify.problems(op, direction, dtype, [shape], **options)[0] for dtype, shape in HELD]
        cases += [Case(problem, ["contiguous"] * len(ORDERS)) for problem in held]
    return cases


def faults(spec, backend, monkeypatch, case, number):
    """What the checks find in a case: the reference, layouts, guards, orders of threads."""
    orders = ORDERS if backend.kind == "host" else ORDERS[:1]
    problem, several, preference, _, unwanted = case
    values = values_of(case, number)
    try:
        results = []
        for place, layout in enumerate(several):
            monkeypatch.setenv(ORDER_VARIABLE, orders[place % len(orders)])
            of_inputs, of_outputs = layout if isinstance(layout, tuple) else (layout, layout)
            layouts = dict.fromkeys(problem.tensors(), of_outputs)
            layouts |= dict.fromkeys(problem.inputs(), of_inputs)
            prepared = verify.prepare(
                backend, problem, values, layouts=layouts, unwanted=unwanted, preference=preference
            )
            prepared.launch()
            got = prepared.outputs()
            if place == 0 and largest_error(spec, prepared, case, got) > problem.ulp[problem.dtype]:
                yield "a large error"
            results.append({name: verify.bits_of(value).tobytes() for name, value in got.items()})
            if results[-1] != results[0]:
                yield "layouts or orders of threads differ"
    # A write out of place, or threads that wait for ever.
    except (verify.GuardError, DriverError) as error:
        yield str(error)


def values_of(case, number):
    """The inputs of a case; its number chooses their profile."""
    problem, spoiled = case.problem, case.spoiled
    profile = PROFILES[number % len(PROFILES)] if spoiled is None else "normal"
    values = verify.inputs_for(problem, profile, every=number % 3 > 0)
    bring_near(problem, values)
    if spoiled in values:
        values[spoiled][..., -1, :] = np.nan
    return values


EXPECTED = {}


def largest_error(spec, prepared, case, outputs):
    """The largest error of all outputs; what is expected is computed once for all mutants of an op."""
    known = tuple((name, value.shape, value.tobytes()) for name, value in sorted(prepared.known.items()))
    key = str(case.problem), hash(known)
    if key not in EXPECTED:
        EXPECTED[key] = prepared.expected(spec)
    return max(prepared.errors(spec, outputs, EXPECTED[key]).values(), default=0)


def tiled(op, direction, options):
    """Several tiles along each axis, rows longer than a tile, and in each input a NaN that few rows see.

    In 16 bits again; and without scratch memory and the outputs that need it, which has a kernel of its own.
    """
    several = ["contiguous"] * len(ORDERS)
    # Options that no kernel depends on take turns. All warps of the last tile of queries have work.
    found = verify.problems(op, direction, DTYPE, [(2, 70, 150)] * 3, **options)
    turns = [problem.with_domain((1, 2, 128, 150)) for problem in found]
    long_rows = turns[0].with_fields(**dict.fromkeys(HEAD_SIZES[0], 150))
    half = replace(long_rows.with_domain((1, 2, 128, 70)), dtype=HALF)
    short_rows, unwanted = turns[-1].with_fields(**HEAD_SIZES[0]), left_out(turns[-1])
    return [
        *(Case(problem, several) for problem in (*turns, long_rows)),
        *(Case(problem, several, spoiled=name) for problem in turns[1:] for name in problem.inputs()),
        Case(half, several),
        *(
            Case(short_rows, several, spoiled=name, unwanted=unwanted)
            for name in short_rows.inputs()
            if unwanted
        ),
    ]


def left_out(problem):
    """Scratch memory, and the sums over rows that it is for."""
    rules = problem.op.family.tensors(problem.direction)
    return tuple(
        name for name in problem.tensors() if rules[name].io == "scratch" or rules[name].role == "column"
    )


CLEAN = {}


#: Elements of the domains of small cases.
FEW = 40_000


def shows(spec, backend, monkeypatch, op, direction, package, *, long=False, small=(True, False)):
    """Whether a package's kernel fails in a case, small or not, in which the checkout's own passes."""
    # Kernels that no case launches are not compiled.
    monkeypatch.setattr(kernels_of_plans, "preload", late(kernels_of_plans.preload))
    cases = cases_of(monkeypatch, op, direction, package, long=long)
    own = cases_of(monkeypatch, op, direction, verify.GENERATED, long=long)
    sizes = [math.prod(case.problem.domain) for case in cases]
    # The smaller ones first, as any of them may show it.
    for number, case in sorted(enumerate(cases), key=lambda pair: sizes[pair[0]]):
        if (sizes[number] <= FEW) not in small:
            continue
        for fault in faults(spec, backend, monkeypatch, case, number):
            key = op.stem(direction), long, number
            if key not in CLEAN:
                CLEAN[key] = [*faults(spec, backend, monkeypatch, own[number], number)]
            if fault not in CLEAN[key]:
                return True
    return False


def source_of(op, direction):
    return next(row.unit for row in all_rows() if (row.op, row.direction) == (op.name, direction))


def has_column_sums(op, direction):
    return any(program.column_outputs for program in op.all_programs() if program.direction == direction)


def variants_of(op, direction):
    return frozenset(row.variant for row in all_rows() if (row.op, row.direction) == (op.name, direction))


def mutant(tree, folder, op, direction, change, name):
    """A package whose kernel of one op is changed."""
    source = source_of(op, direction)
    text = change(tree[source])
    assert text != tree[source], "the change found nothing to change"
    return write_package(folder, name, {**tree, source: text})


def formula_faults(op, direction):
    """Which of the two faults a formula gets, in turns: one alone shows that its numbers are looked at."""
    return turn(["off", "flipped"], op, direction) if has_operator(op, direction) else ["off"]


FLIPS = [("+", "-"), ("-", "+"), ("*", "/"), ("/", "*")]


def flip(text):
    """The first arithmetic operator of the formulas, turned into its opposite."""
    begin = text.index("struct ")
    end = re.compile(r"template <class|struct Params").search(text).start()
    lines = text[begin:end].split("\n")
    for place, line in enumerate(lines):
        if "=" not in line and "return" not in line:
            continue
        for old, new in FLIPS:
            if f" {old} " in line:
                lines[place] = line.replace(f" {old} ", f" {new} ", 1)
                return text[:begin] + "\n".join(lines) + text[end:]
    return text


def has_operator(op, direction):
    text = generated_files()[source_of(op, direction)]
    return flip(text) != text


@each_kernel_program(where=lambda op, direction: "off" in formula_faults(op, direction))
def test_an_output_that_is_a_little_off(tree, folder, spec, backend, monkeypatch, op, direction):
    """Every output of every op by a hundredth; what is 0 or infinite cannot show it, so not all may be.

    Truth values are turned over.
    """
    problem = verify.problems(op, direction, DTYPE, SHAPES[:1])[0]
    truth = all(problem.dtype_of(name) == "bool" for name in problem.outputs())

    def change(text):
        off = r"A(1) - (\2)" if truth else r"(\2) * A(1.01)"
        changed = re.sub(r"\bout\[(\d)\] =\s([^;]+);", rf"out[\1] = {off};", text)
        if changed != text:
            return changed
        # Attention's formulas return what becomes of scores and of sums.
        return re.sub(r"(FN A \w+\(.*\) const \{ return )(.+)(; \})", r"\1(\2) * A(1.01)\3", text)

    package = mutant(tree, folder, op, direction, change, f"off_{op.stem(direction)}")
    with compiled_at("-O0"):  # the first runs show it
        assert shows(spec, backend, monkeypatch, op, direction, package)


@each_kernel_program(where=lambda op, direction: "flipped" in formula_faults(op, direction))
def test_an_operator_that_is_flipped(tree, folder, spec, backend, monkeypatch, op, direction):
    package = mutant(tree, folder, op, direction, flip, f"flip_{op.stem(direction)}")
    with compiled_at("-O0"):  # the first runs show it
        assert shows(spec, backend, monkeypatch, op, direction, package)


def occurrences(header, pattern):
    return [(header, match.start(), match.group()) for match in re.finditer(pattern, headers()[header])]


# Of these the first barrier took longest to show when it was measured: the second stands for it.
SECOND = ("baracuda/aggregate.cuh", "baracuda/attention_tiles.cuh", "baracuda/columns.cuh")


def some_places(header, pattern):
    """With their numbers, one of five places in a header, or its only one; `--full` takes all."""
    places = [*enumerate(occurrences(header, pattern))]
    some = places[header in SECOND :: 5] or places
    return each_kind(some, [place for place in places if place not in some])


# Without a barrier before addresses the process dies, which shows it too.
DROPPED = r"__syncthreads\(\);(?!  // what others read here are addresses)"
# Of headers: each barrier dropped, and indices that are off by one, which stay within the memory.
HEADER_FAULTS = [
    *(
        pytest.param(header, start, old, "", id=f"{header.split('/')[1]}-barrier-{number}")
        for header in headers()
        if not header.startswith("baracuda/host")
        for number, (_, start, old) in some_places(header, DROPPED)
    ),
    *(
        pytest.param(header, start, old, new, id=f"{header.split('/')[1]}-index-{number}")
        for header, pattern, new in (
            ("baracuda/view.cuh", r"inner \* stride", "(inner ? inner - 1 : 0) * stride"),
            ("baracuda/view.cuh", r"index \* stride", "(index ? index - 1 : 0) * stride"),
            ("baracuda/map.cuh", r"p\.in\[i\]\) \+ pack \* SIZE", "p.in[i]) + (pack ? pack - 1 : 0) * SIZE"),
            ("baracuda/tiled_map.cuh", r"i64\(first\) \* p\.stride", "i64(first / 2) * p.stride"),
            ("baracuda/tiled_map.cuh", r"SIZE \^ row\) % ACROSS", "SIZE ^ row) % ACROSS / 2"),
            ("baracuda/tree.cuh", r"mask <<= 1", "mask <<= 2"),
            ("baracuda/rotate.cuh", r"\+ inner\) \* stride\[1\]", "+ inner / 2) * stride[1]"),
            ("baracuda/rotate.cuh", r"first_pair \+ place\)", "first_pair + place / 2)"),
            ("baracuda/rotate.cuh", r"inner_row \* p\.row_stride", "(inner_row / 2) * p.row_stride"),
            ("baracuda/angle.cuh", r"fma\(p, frequency.high, -quarters\)", "0.0"),
        )
        for number, (_, start, old) in some_places(header, pattern)
    ),
]


def reaching(tree, header):
    """Ops and directions whose kernels include a header, however indirectly; one a set of kernel variants.

    Kernels that read flags, or what all rows share, or sum over rows more than once, are another set.
    """

    def reaches(name, seen=()):
        return name == header or any(
            reaches(inner, (*seen, name))
            for inner in re.findall(r"#include <(baracuda/\w+\.cuh)>", headers()[name])
        )

    found = {}
    for op in checkout_spec().ops.values():
        for direction in op.programs:
            text = tree[source_of(op, direction)]
            if any(reaches(name) for name in re.findall(r"#include <(baracuda/\w+\.cuh)>", text)):
                programs = [p for p in op.all_programs() if p.direction == direction]
                own = (
                    any(p.flags for p in programs),
                    any(p.column_inputs for p in programs),
                    max(len(p.column_outputs) for p in programs),
                )
                found.setdefault((direction, variants_of(op, direction), own), (op, direction))
    return list(found.values())


@pytest.mark.parametrize(("header", "start", "old", "new"), HEADER_FAULTS)
def test_a_header_with_a_fault(tree, folder, device, spec, backend, monkeypatch, header, start, old, new):
    """Some op of those that use the header must show it."""
    if not new and device.kind == "cuda":
        pytest.skip(
            "the threads of a GPU may be in step without a barrier: compute-sanitizer's racecheck sees it"
        )
    text = headers()[header]
    assert text[start:].startswith(old)
    broken = text[:start] + new + text[start + len(old) :]
    packages = {}
    for op, direction in reaching(tree, header):
        name = f"header_{op.stem(direction)}_{header.split('/')[1].split('.')[0]}_{start}"
        source = source_of(op, direction)
        files = {**tree, source: with_header(tree[source], header, broken)}
        packages[op.stem(direction)] = op, direction, write_package(folder, name, files)
    with compiled_at("-Og"):
        for small, (op, direction, package) in itertools.product((True, False), packages.values()):
            if shows(spec, backend, monkeypatch, op, direction, package, long=True, small=(small,)):
                return
    pytest.fail(f"nothing showed the fault {old!r} -> {new!r} in {header}")


@pytest.mark.parametrize(
    "header", each_kind(["baracuda/map.cuh"], ["baracuda/aggregate.cuh", "baracuda/rotate.cuh"])
)
def test_a_copy_without_a_fault_passes(tree, folder, spec, backend, monkeypatch, header):
    """What the tests above find is the fault, not the way in which it came in."""
    op, direction = reaching(tree, header)[0]
    source = source_of(op, direction)
    name = f"clean_{op.stem(direction)}_{header.split('/')[1].split('.')[0]}"
    text = with_header(tree[source], header, headers()[header])
    package = write_package(folder, name, {**tree, source: text})
    assert not shows(spec, backend, monkeypatch, op, direction, package, long=True)


@pytest.mark.parametrize("index", [0, 7, -1])
def test_the_guards_see_a_write_outside(backend, index):
    """A write before, between and behind the elements of a tensor."""
    tensor = verify.place(backend, "y", "f32", (4, 3), layout="every second column")
    flat = backend.read(tensor.memory, tensor.dtype)
    flat[{0: tensor.place.offset - 1, 7: tensor.place.offset + 7, -1: tensor.place.length - 1}[index]] = 0
    tensor.memory = backend.memory(flat)
    with pytest.raises(verify.GuardError, match="1 elements outside"):
        tensor.check_surroundings(backend)
