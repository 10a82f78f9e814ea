"""Equal inputs give equal bits: from run to run, in any order of threads, and whatever the other rows are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from devices import aggregating, each_kernel, each_kernel_program, half, share, small_problems, turn

from baracuda.codegen import verify
from baracuda.engines import aggregate, shared_memory
from baracuda.host import ORDER_VARIABLE
from baracuda.sku import PlanPreference

# Rows of one chunk, of several, and so long that several blocks share one.
SHAPES = [(37, 5), (5, 130), (3, 1100), (1100, 3), (3, 20000), (20000, 3), (9, 10, 11)]


def assert_same_bits(got, want, what):
    assert got.keys() == want.keys()
    for name, value in want.items():
        np.testing.assert_array_equal(
            verify.bits_of(got[name]), verify.bits_of(value), err_msg=f"{what}: {name}"
        )


def some_problems(op, direction, dtype, shapes, among, *, halved=True):
    """A few problems a shape: all axes, broadcast operands and options have their turn; dtypes share them."""
    found = []
    for shape in shapes:
        several = small_problems(op, direction, dtype, shape)
        found += several[:: max(1, len(several) // 4)]
    return share(half(found, op, direction) if halved else found, op, direction, dtype, among)


@each_kernel(dtypes=["f16", "f32"])
def test_many_runs_are_equal(backend, op, direction, dtype):
    """Twenty on a GPU, whose threads never run in the same order twice; the host's do."""
    for problem in some_problems(op, direction, dtype, [(37, 5), (3, 1100), (40000,)], ["f16", "f32"]):
        values = verify.inputs_for(problem)
        prepared = verify.prepare(backend, problem, values)
        prepared.launch()
        want = prepared.outputs()
        for _ in range(19 if backend.kind == "cuda" else 2):
            prepared.launch()
            assert_same_bits(prepared.outputs(), want, problem)


@each_kernel(dtypes=["bf16", "f32"])
def test_the_order_of_threads_changes_nothing(device, backend, op, direction, dtype, monkeypatch):
    """A barrier that is missing shows: threads between two barriers run in other orders."""
    if device.kind != "host":
        pytest.skip("the order of a GPU's threads cannot be asked for")
    for problem in some_problems(op, direction, dtype, [(37, 5), (3, 1100), (20000,)], ["bf16", "f32"]):
        values = verify.inputs_for(problem)
        results = {}
        for order in ("forward", "reverse", "ahead", "shuffle:1"):
            monkeypatch.setenv(ORDER_VARIABLE, order)
            results[order] = verify.run(backend, problem, values)
        for order, got in results.items():
            assert_same_bits(got, results["forward"], f"{problem} {order}")


def cut(problem, values, axis, keep):
    """The problem and its values with only some places of a domain axis left."""

    domain = tuple(len(keep) if place == axis else extent for place, extent in enumerate(problem.domain))
    fewer = problem.with_domain(domain)
    rank, extent = len(problem.domain), problem.domain[axis]
    for name, rule in problem.op.family.descriptor.items():
        if rule.type == "shape" and name in problem.fields and name != problem.op.family.domain:
            shape = problem.fields[name]
            own = axis - (rank - len(shape))
            if own >= 0 and shape[own] == extent:
                fewer = fewer.with_fields(**{name: (*shape[:own], len(keep), *shape[own + 1 :])})

    def pick(name, array):
        own = problem.place_of(name, array.shape, axis)
        return array if own is None else np.ascontiguousarray(np.take(array, keep, axis=own))

    return fewer, pick


@each_kernel(dtypes=["f16", "f32"])
def test_batch_invariance(backend, op, direction, dtype):
    """A row's bits depend neither on the other rows nor on their number, for every position of an axis."""
    invariant = set()
    problems = some_problems(op, direction, dtype, SHAPES, ["f16", "f32"], halved=False)
    for number, problem in enumerate(problems):
        values = verify.inputs_for(problem, every=True)
        prepared = verify.prepare(backend, problem, values)
        prepared.launch()
        full = prepared.outputs()
        promised = prepared.plan.precision_guarantee.batch_invariant
        invariant |= set(promised)
        for axis, extent in enumerate(problem.domain):
            if axis in problem.bound_axes() or extent < 2:
                continue
            ends, parts = ([0], [extent - 1]), (list(range(extent // 2)), list(range(1, extent, 3)))
            pairs = [*zip(ends, parts, strict=True)]
            for keep in itertools.chain(*turn(pairs, op, direction, number)):
                fewer, pick = cut(problem, values, axis, keep)
                got = verify.run(backend, fewer, {name: pick(name, value) for name, value in values.items()})
                for name in promised:
                    np.testing.assert_array_equal(
                        verify.bits_of(got[name]),
                        verify.bits_of(pick(name, full[name])),
                        err_msg=f"{problem}: {name} with axis {axis} cut to {len(keep)}",
                    )
    assert invariant


def may_split(op, direction):
    """Whether there are long rows that several blocks may share."""
    return any(
        problem.summed() or problem.program.aggregates
        for problem in small_problems(op, direction, "bf16", (20000,))
    )


@each_kernel(dtypes=["bf16", "f64"], where=may_split)
def test_split_rows_have_the_bits_of_whole_ones(backend, op, direction, dtype):
    """Without a workspace one block walks a long row that many share otherwise."""
    for problem in some_problems(op, direction, dtype, [(20000, 1), (2, 3, 9000), (20000,)], ["bf16", "f64"]):
        values = verify.inputs_for(problem)
        fast = verify.prepare(backend, problem, values)
        plain = verify.prepare(backend, problem, values, preference=PlanPreference(max_workspace=0))
        assert plain.plan.workspace_size() == 0
        if not fast.plan.workspace_size():  # both are one way
            continue
        fast.launch()
        plain.launch()
        assert_same_bits(plain.outputs(), fast.outputs(), problem)


@each_kernel_program(where=aggregating)
def test_some_rows_are_split(backend, op, direction):
    """The test above compares two ways only where there are two."""
    assert any(
        verify.prepare(backend, problem, verify.inputs_for(problem)).plan.workspace_size()
        for problem in aggregating(op, direction)
    )


@each_kernel(dtypes=["f32"], where=aggregating)
def test_what_the_workspace_holds_does_not_matter(backend, op, direction, dtype):
    for problem in aggregating(op, direction, dtype):
        values = verify.inputs_for(problem)
        prepared = verify.prepare(backend, problem, values)
        size = prepared.plan.workspace_size()
        if not size:
            continue
        results = []
        for fill in (0x00, 0xFF, 0x3F):
            workspace = backend.memory(np.full(size, fill, np.uint8))
            prepared.plan.run(backend.stream, workspace, prepared.args())
            results.append(prepared.outputs())
        for got in results:
            assert_same_bits(got, results[0], problem)


@each_kernel()
def test_the_layout_of_rows_changes_nothing(backend, op, direction, dtype):
    """Aligned and unaligned rows are summed along one and the same tree."""
    for problem in some_problems(op, direction, dtype, [(3, 1100), (5, 1027)], ()):
        values = verify.inputs_for(problem)
        want = verify.run(backend, problem, values)
        for layout in ("misaligned", "sliced rows", "all axes permuted", "reversed"):
            got = verify.run(backend, problem, values, layouts=dict.fromkeys(problem.inputs(), layout))
            assert_same_bits(got, want, f"{problem} {layout}")


def of_all_magnitudes(shape, dtype):
    """Numbers whose neighbours are alike, but whose packs lie anywhere from the smallest to the largest."""
    info = np.finfo(np.float64 if dtype == "f64" else np.float16 if dtype == "f16" else np.float32)
    rng = np.random.default_rng(5)
    exponents = np.repeat(rng.uniform(info.minexp - info.nmant, info.maxexp, np.prod(shape) // 16 + 1), 16)
    x = np.exp2(exponents[: np.prod(shape)].reshape(shape)) * rng.uniform(-1, 1, shape)
    x[rng.random(shape) < 0.02] = 0
    for value in (np.inf, np.nan):  # in one row each, which they spoil
        x[tuple(rng.integers(0, extent) for extent in shape)] = value
    return x


def has_a_cheaper_step(op, direction):
    programs = [program for program in op.all_programs() if program.direction == direction]
    monoids = [aggregate.monoid for program in programs for aggregate in program.aggregates]
    return any(monoid.run is not None and monoid.run.usual is not None for monoid in monoids)


@each_kernel(where=has_a_cheaper_step)
def test_a_cheaper_step_changes_no_bit(backend, op, direction, dtype):
    """Packs that a formula takes in at once have the bits of elements taken in one by one."""
    for problem in some_problems(op, direction, dtype, [(5, 1100), (1100, 16)], ()):
        values = verify.inputs_for(problem)
        like = values["x"]
        values["x"] = of_all_magnitudes(like.shape, dtype).astype(like.dtype)
        want = verify.run(backend, problem, values)
        for layout in ("misaligned", "reversed"):
            got = verify.run(backend, problem, values, layouts=dict.fromkeys(problem.inputs(), layout))
            assert_same_bits(got, want, f"{problem} {layout}")


def held(op, direction):
    """Aggregates that also map elements: a block may hold a row between the two."""
    return any(
        program.aggregates and program.outputs
        for program in op.all_programs()
        if program.direction == direction
    )


def no_columns_kept(device, team, a_warp, a_block):
    return 0 if a_block else shared_memory.fit_warps(device, team, a_warp, a_block)


def nothing_fits(*_):
    return 0


@each_kernel(dtypes=["bf16", "f32", "f64"], where=held)
def test_rows_that_a_block_holds_have_the_same_bits(backend, op, direction, dtype, monkeypatch):
    """Rows of a part of a warp, of a warp, and of several, the last of them not full."""
    taken = 0
    for shape in [(5, 8), (37, 136), (3, 4096), (2, 12296)]:
        for problem in small_problems(op, direction, dtype, shape):
            values = verify.inputs_for(problem)
            prepared = verify.prepare(backend, problem, values)
            steps = prepared.plan._engine.steps(prepared.plan._rules.validated(prepared.args()))
            if not any(step.variant.startswith("kept") for step in steps):
                continue
            taken += 1
            prepared.launch()
            want = prepared.outputs()
            others = {
                "nothing fits": ("fit_warps", nothing_fits),
                "no columns": ("fit_warps", no_columns_kept),
                "one block": ("TURN_BYTES", 1 << 30),
                "no turns": ("TURN_BYTES", 0),
                "no registers": ("IN_REGISTERS", 0),
            }
            for name, change in others.items():
                with monkeypatch.context() as otherwise:
                    otherwise.setattr(aggregate, *change)
                    assert_same_bits(verify.run(backend, problem, values), want, f"{problem} {name}")
    assert taken >= 2
