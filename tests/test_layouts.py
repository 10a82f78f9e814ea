"""Any memory layout of any argument gives the bits of contiguous tensors, and touches nothing else."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from devices import (
    checkout_spec,
    each_kernel,
    each_kernel_program,
    half,
    possible_problems,
    repeated,
    share,
    small_problems,
    thinned,
    turn,
)

import baracuda as bc
from baracuda.codegen import verify
from baracuda.engines import map as map_engine
from baracuda.engines.tiles import Operand, tiles_for
from baracuda.errors import InvalidProblem
from baracuda.layout import Walk
from baracuda.packing import compiled

# Three axes; an odd row; a size-1 axis; rows of several chunks; and what has no axes.
SHAPES = [(4, 6, 10), (5, 7), (3, 1, 9), (2050,), ()]


def assert_same_bits(got, want, problem, layouts):
    for name, value in want.items():
        bits, wanted = verify.bits_of(got[name]), verify.bits_of(value)
        if not np.array_equal(bits, wanted):
            np.testing.assert_array_equal(bits, wanted, err_msg=f"{problem} {layouts}: {name}")


def contiguous(backend, plan, problem, known):
    """What contiguous copies of the same values give."""
    prepared = verify.prepare(backend, problem, known, plan=plan)
    prepared.launch()
    return prepared.outputs()


def compare(backend, plan, problem, values, layouts, want=None):
    prepared = verify.prepare(backend, problem, values, layouts=layouts, plan=plan)
    prepared.launch()
    want = want or contiguous(backend, plan, problem, prepared.known)
    assert_same_bits(prepared.outputs(), want, problem, layouts)


def layout_problems(op, direction, dtype):
    return _layout_problems(op.name, direction, dtype)


@functools.cache
def _layout_problems(name, direction, dtype):
    """Two problems a shape; each dtype has others, so that all axes, options and operands have their turn."""
    op, found = checkout_spec().ops[name], []
    for shape in SHAPES:
        several = possible_problems(op, direction, dtype, shape)
        step = max(1, len(several) // 2)
        found += several[op.dtypes.index(dtype) % step :: step]
    return found


def check_layouts(backend, op, direction, dtype, problems, layouts_of, *, halved=True, turns=1):
    """Pairs of a problem and layouts of its arguments against contiguous tensors: this dtype's share.

    Of many layouts a problem has every second one, and the next problem and op the others; or, with turns,
    one of so many problems has the same layouts.
    """
    pairs = []
    for place, problem in enumerate(problems):
        found = [*layouts_of(problem)]
        some = half(found, op, direction, place) if halved else found
        pairs += [(place, layouts) for layouts in some]
    pairs = thinned(pairs, lambda pair: tuple(pair[1].items()), turns)
    known = {}
    for place, layouts in share(pairs, op, direction, dtype):
        problem = problems[place]
        if place not in known:
            values = verify.inputs_for(problem)
            plan = verify.prepare(backend, problem, values).plan
            known[place] = values, plan, contiguous(backend, plan, problem, values)
        values, plan, want = known[place]
        shared = not set(layouts.values()).isdisjoint(verify.EXPANDED)
        compare(backend, plan, problem, values, layouts, None if shared else want)


@each_kernel()
def test_one_argument_in_each_layout(backend, op, direction, dtype):
    def alone(problem):
        return [{name: layout} for name in problem.tensors() for layout in verify.LAYOUTS]

    # There are most of these.
    problems = layout_problems(op, direction, dtype)
    check_layouts(backend, op, direction, dtype, problems, alone, halved=False, turns=4)


@each_kernel()
def test_all_arguments_in_the_same_layout(backend, op, direction, dtype):
    def same(problem):
        return [dict.fromkeys(problem.tensors(), layout) for layout in verify.LAYOUTS]

    check_layouts(backend, op, direction, dtype, layout_problems(op, direction, dtype), same)


@each_kernel()
def test_every_argument_in_another_layout(backend, op, direction, dtype):
    """Layouts in turn, each argument a few places further than the one before."""
    names = list(verify.LAYOUTS)

    def others(problem):
        return [
            {name: names[(first + 5 * place) % len(names)] for place, name in enumerate(problem.tensors())}
            for first in range(len(names))
        ]

    check_layouts(backend, op, direction, dtype, layout_problems(op, direction, dtype), others)


@each_kernel()
def test_expanded_inputs(backend, op, direction, dtype):
    """Zero strides, such as the gradient that `loss.sum()` hands down."""

    def expanded(problem):
        inputs = problem.inputs()
        return [
            dict.fromkeys(names, layout)
            for names in (*([name] for name in inputs), inputs)
            for layout in verify.EXPANDED
        ]

    check_layouts(backend, op, direction, dtype, layout_problems(op, direction, dtype), expanded)


@each_kernel()
def test_odd_lengths_at_odd_addresses(backend, op, direction, dtype):
    """Vector loads need an aligned pointer and leave a tail: each combination over a flat tensor."""
    lengths = [(length,) for length in (1, 2, 3, 5, 7, 63, 64, 67, 1023, 4099)]

    def misaligned(problem):
        names = problem.tensors()
        return [*({name: "misaligned"} for name in names), dict.fromkeys(names, "misaligned")]

    problems = verify.problems(op, direction, dtype, lengths, every_option=False)
    check_layouts(backend, op, direction, dtype, problems, misaligned)


# Extents and a layout whose fast axis is not the last: tiles along either axis, several blocks, edges,
# odd extents, outer axes, and lines shorter than a tile.
TURNED = [
    ((72, 136), "transposed"),
    ((24, 264), "transposed"),
    ((35, 141), "transposed"),
    ((40, 3, 72), "rotated axes"),
    ((24, 2, 3, 88), "all axes permuted"),
    ((3, 68, 70), "transposed"),
    ((144, 272), "transposed"),  # packs of 8-bit elements too
]
#: Layouts of which the strided kernel takes packs, where rows are whole packs.
IN_PACKS = ["sliced rows, aligned", "first axis expanded", "last axis expanded"]


def is_map(op, direction):
    del direction
    return op.family.template == "map"


def check_variant(backend, plan, problem, values, layouts, want, contiguous_outputs):
    """The variant that a call takes, and that it gives what contiguous tensors do."""
    prepared = verify.prepare(backend, problem, values, layouts=layouts, plan=plan)
    variant = prepared.plan.sku_for(prepared.args()).variant
    assert variant.rpartition("_")[2] == want, f"{problem} {layouts}"
    prepared.launch()
    assert_same_bits(prepared.outputs(), contiguous_outputs, problem, layouts)


@each_kernel(where=is_map)
def test_permuted_inputs(backend, op, direction, dtype):
    """Inputs with another fast axis than the outputs: all, each alone, and beside a misaligned tensor."""
    for shape, layout in share(TURNED, op, direction, dtype):
        problem = verify.problems(op, direction, dtype, [shape], every_option=False)[0]
        values = verify.inputs_for(problem)
        plan = verify.prepare(backend, problem, values).plan
        want = contiguous(backend, plan, problem, values)
        inputs = [name for name in problem.inputs() if name in problem.program.read]
        first = {inputs[0]: layout}
        for layouts in (
            dict.fromkeys(inputs, layout),
            *({name: layout} for name in inputs[1:]),
            first | dict.fromkeys([*inputs[1:], *problem.outputs()], "misaligned"),
            first | dict.fromkeys(inputs[1:], "last axis expanded"),
        ):
            known = verify.prepare(backend, problem, values, layouts=layouts, plan=plan).known
            same = contiguous(backend, plan, problem, known) if "expanded" in str(layouts) else want
            check_variant(backend, plan, problem, known, layouts, "tiled", same)


@each_kernel(where=is_map)
def test_packs_at_strides(backend, op, direction, dtype, monkeypatch):
    """Rows of whole packs that do not lie together, and one where the last pack is not whole.

    A thread takes one pack of the first, four of the second, two of the third.
    """
    monkeypatch.setattr(map_engine, "THREADS_ENOUGH", 1)

    def in_packs(problem):
        inputs = problem.inputs()
        for place, layout in enumerate(IN_PACKS):
            others = dict.fromkeys([*inputs[1:], *problem.outputs()], IN_PACKS[0])
            if place:
                others[inputs[-1]] = IN_PACKS[place % 2 + 1]
            yield others | {inputs[0]: layout}
            yield others | {problem.outputs()[0]: "misaligned"}

    shapes = [(3, 5, 16), (300, 24), (6, 5, 16), (3, 5, 17)]
    problems = [verify.problems(op, direction, dtype, [shape], every_option=False)[0] for shape in shapes]
    check_layouts(backend, op, direction, dtype, problems, in_packs, halved=False)


def test_how_many_packs_a_thread_takes(monkeypatch):
    """Those of the innermost axis whose extent they divide, if enough threads are left."""
    far = Walk((12, 6, 5, 16), ((700, 480), (90, 80), (17, 16), (4, 4)))
    monkeypatch.setattr(map_engine, "THREADS_ENOUGH", 12 * 6 * 5 * 4)
    four = Walk((3, 6, 5, 16), ((2800, 1920), (90, 80), (17, 16), (4, 4)))
    assert map_engine.several_packs(far) == (4, (700, 480), four)
    monkeypatch.setattr(map_engine, "THREADS_ENOUGH", 12 * 6 * 5 * 4 + 1)
    two = Walk((12, 3, 5, 16), ((700, 480), (180, 160), (17, 16), (4, 4)))
    assert map_engine.several_packs(far) == (2, (90, 80), two)
    monkeypatch.setattr(map_engine, "THREADS_ENOUGH", 12 * 6 * 5 * 8 + 1)
    assert map_engine.several_packs(far) == (1, (0, 0), far)
    row = Walk((16,), ((4, 4),))
    monkeypatch.setattr(map_engine, "THREADS_ENOUGH", 1)
    assert map_engine.several_packs(row) == (1, (0, 0), row)


def test_a_permuted_tensor_in_place(backend):
    """An output that is exactly a transposed input, while another input is turned against both."""
    op = next(op for op in maps() if len(op.programs["forward"].inputs) > 1)
    problem = verify.problems(op, "forward", "f32", [(72, 136)], every_option=False)[0]
    values = verify.inputs_for(problem)
    want = verify.run(backend, problem, values)
    (output,) = problem.outputs()
    for source in problem.inputs():
        prepared = verify.prepare(backend, problem, values, layouts={source: "transposed"})
        shared = prepared.tensors[source]
        args = prepared.args(**{output: shared.array})
        assert prepared.plan.sku_for(args).variant == "tiled"
        prepared.plan.run(backend.stream, None, args)
        shared.check_surroundings(backend)
        np.testing.assert_array_equal(verify.bits_of(shared.values(backend)), verify.bits_of(want[output]))


def test_tiles_of_far_elements():
    """Strides of tiles have 32 bits, offsets 64; too few elements, or outputs that differ, get none."""
    operands = [Operand(True, False, True), Operand(True, True, True)]
    far = Walk((200, 300), ((1, 2**31 - 1), (1 - 2**31, 1)))
    found = tiles_for(far, operands, 4)
    compiled(f"2P {found.layout}").pack(0, 0, *found.values)
    assert found.grid == 2 * 10
    assert tiles_for(Walk((200, 300), ((1, 2**31), (300, 1))), operands, 4) is None
    assert tiles_for(Walk((200, 2**31), ((1, 300), (300, 1))), operands, 4) is None
    assert tiles_for(Walk((3, 20), ((1, 20), (3, 1))), operands, 4) is None
    outputs = [*operands, Operand(True, True, True)]
    assert tiles_for(Walk((200, 300), ((1, 300, 1), (200, 1, 200))), outputs, 4) is None


def test_tiles_lie_along_the_axis_that_takes_fewer_blocks():
    """Of 32 x 32 elements of four bytes, four side by side."""
    operands = [Operand(True, False, True), Operand(True, True, True)]
    for rows, columns, step, blocks in (
        (256, 128, (0, 32), 2 * 4),
        (128, 256, (0, 32), 1 * 8),
        (33, 140, (32, 0), 2 * 2),
        (140, 33, (0, 32), 2 * 2),
    ):
        found = tiles_for(Walk((3, rows, columns), ((70000, 70000), (1, columns), (rows, 1))), operands, 4)
        assert found.values[2:4] == step
        assert found.grid == 3 * blocks


def keeps_dtype(op, direction):
    return op.family.template != "map" or op.family.result(direction) is None


def maps():
    """Ops whose outputs may be exactly their inputs, one for each form of kernel."""
    return [
        op
        for op in checkout_spec().ops.values()
        if op.family.template in ("map", "rotate") and not repeated(op, "forward")
        # Of results of a byte, operands of one.
        if keeps_dtype(op, "forward") or "u8" in op.dtypes
    ]


#: Layouts of an output that is its input.
IN_PLACE = ["contiguous", "transposed", "every second column", "reversed"]


@pytest.mark.parametrize("op", maps(), ids=lambda op: op.name)
def test_in_place(backend, op):
    """A map's output may be exactly an input of its shape, whatever the length and the strides."""
    for direction in op.programs:
        lengths = [*((length, length + 1) for length in range(1, 68, 2)), (1025, 5000)]
        for length in itertools.chain(*half(lengths, op, direction)):
            # One row and two, so that flat lengths of every remainder occur.
            shape = (1 + length % 2, length)
            problem = in_place_problem(op, direction, shape)
            values = verify.inputs_for(problem)
            want = verify.run(backend, problem, values)
            # In turns of 5, as a pack has a power of two of elements.
            for layout in turn(IN_PLACE, op, direction, length // 5):
                for source in problem.inputs():
                    for output in problem.outputs():
                        if problem.dtype_of(source) != problem.dtype:
                            continue
                        check_in_place(backend, problem, values, {source: layout}, output, want[output])


def test_in_place_beside_a_sum():
    """What is refused for another gradient that is a sum says so, though that gradient is not asked for."""
    known = {"kind": "mul", "shape": (4, 3), "b_shape": (3,), "element": "f32"}
    plan = bc.BinaryBackwardPlan.select(bc.Stream.host(), bc.BinaryBackwardDescriptor(**known))
    dy, a, b = np.ones((4, 3), np.float32), np.ones((4, 3), np.float32), np.ones(3, np.float32)
    why = "as db of this problem is a sum over broadcast axes, wanted or not: "
    with pytest.raises(
        InvalidProblem, match=f"^BinaryBackwardPlan: da is exactly dy, want memory apart, {why}"
    ):
        plan.can_implement(plan.ARGS(dy=dy, a=a, b=b, da=dy))
    with pytest.raises(InvalidProblem, match="da overlaps a part of dy, want memory apart: "):
        plan.can_implement(plan.ARGS(dy=dy, a=a, b=b, da=dy[::-1]))


def check_in_place(backend, problem, values, layouts, output, want):
    """A run whose output lies where the input with a layout is."""
    prepared = verify.prepare(backend, problem, values, layouts=layouts)
    (source,) = layouts
    shared = over(backend, prepared.tensors[source], problem.dtype_of(output))
    workspace = backend.workspace(prepared.plan.workspace_size())
    prepared.plan.run(backend.stream, workspace, prepared.args(**{output: shared.array}))
    shared.check_surroundings(backend)
    np.testing.assert_array_equal(verify.bits_of(shared.values(backend)), verify.bits_of(want))


def in_place_problem(op, direction, shape):
    """A problem of which no operand is broadcast, and whose outputs have elements as large as the inputs'."""
    fields = {name: shape for name, rule in op.family.descriptor.items() if rule.type == "shape"}
    return plain_problem(op.name, direction).with_fields(**fields)


@functools.cache
def plain_problem(name, direction):
    op = checkout_spec().ops[name]
    shape = (2, 7)
    fields = {name: shape for name, rule in op.family.descriptor.items() if rule.type == "shape"}
    found = [
        problem.with_fields(**fields)
        for dtype in ("f32", "u8")
        if dtype in op.dtypes_of(direction)
        for problem in small_problems(op, direction, dtype, shape)
    ]
    fitting = [p for p in found if itemsize(p.dtype_of(p.outputs()[0])) == itemsize(p.dtype)]
    return max(fitting, key=lambda problem: problem.dtype_of(problem.outputs()[0]) != problem.dtype)


def itemsize(dtype):
    return verify.numpy_dtype(dtype).itemsize


def over(backend, tensor, dtype):
    """The tensor's memory as one of another dtype, whose elements are as large."""
    kind = verify.numpy_dtype(dtype)
    array = backend.view(tensor.memory, kind, tensor.shape, tensor.place)
    return replace(tensor, array=array, dtype=kind, before=tensor.before.view(kind))


def interleaved(shape, first, inner):
    """Every second element of a buffer, from `first` on; with `inner`, every second row."""
    strides, running = [], 1 if inner else 2
    for place, extent in enumerate(reversed(shape)):
        strides.append(running)
        running *= 2 * extent if inner and place == 0 else extent
    return verify.Placement(200, 32 + first * (shape[-1] if inner else 1), tuple(reversed(strides)))


def neighbours(op, direction):
    """A problem with an input and an output that can lie in turns: of one shape where rows do."""
    problems = small_problems(op, direction, "f32", (6, 9), (6, 8), (5, 9))
    pairs = [
        (problem, (given, out))
        for problem in problems
        for given in reversed(problem.inputs())
        for out in problem.outputs()
        if problem.dtype_of(given) == problem.dtype
        and (not problem.takes_inner(out) or problem.shapes()[given] == problem.shapes()[out])
        and problem.takes_inner(given) == problem.takes_inner(out)
        and not problem.takes_contiguous(out)
        and not problem.takes_contiguous(given)
    ]
    return pairs[0]


@each_kernel_program(where=keeps_dtype)
def test_interleaved_tensors(backend, op, direction):
    """Tensors that share a buffer and no element are no overlap: even elements are one's, odd the other's."""
    problem, names = neighbours(op, direction)
    values = verify.inputs_for(problem)
    want = verify.run(backend, problem, values)
    prepared = verify.prepare(backend, problem, values)
    flat, places = np.full(200, np.nan, np.float32), {}
    for first, name in enumerate(names):
        place = places[name] = interleaved(problem.shapes()[name], first, problem.takes_inner(name))
        if name in values:
            seen(flat, problem.shapes()[name], place)[...] = values[name]
    memory = backend.memory(flat)
    arrays = {
        name: backend.view(memory, flat.dtype, problem.shapes()[name], place)
        for name, place in places.items()
    }
    workspace = backend.workspace(prepared.plan.workspace_size())
    prepared.plan.run(backend.stream, workspace, prepared.args(**arrays))
    after = backend.read(memory, flat.dtype)
    for name, right in ((names[0], values[names[0]]), (names[1], want[names[1]])):
        got = seen(after, problem.shapes()[name], places[name])
        np.testing.assert_array_equal(verify.bits_of(got), verify.bits_of(right))
        got[...] = np.nan
    assert np.isnan(after).all()


def seen(flat, shape, place):
    strides = tuple(flat.itemsize * stride for stride in place.strides)
    return np.ndarray(shape, flat.dtype, flat, place.offset * flat.itemsize, strides)


@pytest.mark.parametrize("name", verify.ANY_LAYOUT)
def test_the_layouts_are_what_they_say(name):
    """Elements lie between the guards, each at its own address unless the layout is an expanded one."""
    for shape in [(4, 6, 10), (5,), (), (3, 1, 9), (1, 1), (0, 3)]:
        place = verify.ANY_LAYOUT[name](shape)
        offsets = [
            place.offset + sum(index * stride for index, stride in zip(indices, place.strides, strict=True))
            for indices in np.ndindex(*shape)
        ]
        assert all(16 <= offset < place.length - 16 for offset in offsets)
        if name in verify.LAYOUTS:
            assert len(set(offsets)) == len(offsets)
        elif shape == (4, 6, 10):
            assert len(set(offsets)) < len(offsets)


def test_a_guard_that_changes_is_reported(backend):
    tensor = verify.place(backend, "y", "f32", (2, 3), layout="every second column")
    memory = backend.read(tensor.memory, tensor.dtype)
    tensor.check_surroundings(backend)
    memory[tensor.place.offset + 1] = 1.0
    tensor.memory = backend.memory(memory)
    with pytest.raises(
        verify.GuardError, match=r"y \(2, 3\).* 1 elements outside of its elements changed.* 1$"
    ):
        tensor.check_surroundings(backend)


@each_kernel_program()
def test_an_output_may_not_be_expanded(backend, op, direction):
    problem = small_problems(op, direction, "f32", (4, 6))[0]
    values = verify.inputs_for(problem)
    for name, shape in problem.shapes().items():
        if name not in problem.outputs() or max(shape, default=1) < 2 or problem.takes_contiguous(name):
            continue
        prepared = verify.prepare(backend, problem, values, layouts={name: "all axes expanded"})
        with pytest.raises(InvalidProblem, match=rf"{name} is an output and has a zero stride"):
            prepared.launch()
        prepared.tensors[name].check_untouched(backend)
