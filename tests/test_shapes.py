"""Extents and ranks: none, one, odd, many, too many, and too large for 32 bits."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import pytest
from devices import each_kernel, each_kernel_program, half, possible_problems, share, small_problems, turn

from baracuda.codegen import verify
from baracuda.dtypes import ElementKind
from baracuda.engines.base import LaunchStep
from baracuda.errors import Unsupported
from baracuda.layout import INT32_MAX, Walk, fits_int32, merge
from baracuda.packing import MAX_RANK
from baracuda.tensor import TensorRef

SIZE_ONE = [(1,), (1, 1), (1, 1, 1, 1, 1, 1, 1, 1), (1, 5, 1), (1, 1, 3), (4, 1)]
EMPTY = [(0,), (3, 0), (0, 3), (2, 0, 3), (0, 0)]
ODD = [(7,), (3, 5), (31, 33), (127,), (1, 1023), (1025,), (13, 1, 17), (257, 3)]


def check(spec, backend, problem, **options):
    values = verify.inputs_for(problem)
    prepared = verify.prepare(backend, problem, values, **options)
    prepared.launch()
    outputs = prepared.outputs()
    errors = prepared.errors(spec, outputs)
    for name, error in errors.items():
        assert error <= problem.ulp[problem.dtype], f"{problem}: {name} is off by {error:.3f} ulp"
    return outputs


@each_kernel()
def test_no_axes(spec, backend, op, direction, dtype):
    for problem in possible_problems(op, direction, dtype, ()):
        outputs = check(spec, backend, problem)
        assert all(output.shape == problem.shapes()[name] for name, output in outputs.items())


@each_kernel()
def test_size_one(spec, backend, op, direction, dtype):
    problems = half(small_problems(op, direction, dtype, *SIZE_ONE), op, direction)
    for problem in share(problems, op, direction, dtype):
        check(spec, backend, problem)
        check(spec, backend, problem, layouts=dict.fromkeys(problem.tensors(), "odd strides of size-1 axes"))


@each_kernel()
def test_odd_extents(spec, backend, op, direction, dtype):
    problems = half(small_problems(op, direction, dtype, *ODD), op, direction)
    for problem in share(problems, op, direction, dtype):
        check(spec, backend, problem)


@each_kernel()
def test_empty(spec, backend, op, direction, dtype):
    """An aggregate of nothing is its identity: outputs that are not empty are written even so."""
    problems = [problem for shape in EMPTY for problem in possible_problems(op, direction, dtype, shape)]
    for problem in share(half(problems, op, direction), op, direction, dtype):
        check(spec, backend, problem)


@each_kernel_program()
def test_nothing_is_launched_for_empty_outputs(backend, op, direction, monkeypatch):
    empty = [
        problem
        for problem in small_problems(op, direction, "f32", (0, 3), (0, 1, 2, 3))
        if not any(math.prod(problem.shapes()[name]) for name in problem.outputs())
    ]
    assert empty
    for problem in empty:
        prepared = verify.prepare(backend, problem, verify.inputs_for(problem))
        with monkeypatch.context() as patch:
            patch.setattr(LaunchStep, "parameters", None)
            prepared.launch()
        prepared.outputs()


@each_kernel(dtypes=["f32"])
def test_ranks_that_merge(spec, backend, op, direction, dtype):
    """Axes count after those of extent 1 are gone and neighbours have merged."""
    for shape in [(2,) * 12, (1,) * 20 + (4,), (3,) * 8]:
        for problem in verify.problems(op, direction, dtype, [shape]):
            # Every second axis reduced leaves as many runs of axes, which cannot merge.
            if len(problem.axes) in (0, 1, len(shape)):
                check(spec, backend, problem)


def unmerged(op, direction, rank=MAX_RANK):
    """Problems of which `rank` axes are left where the tensor named with each has its axes reversed."""
    found = []
    # Kernels that take rows together walk the axes before the row's, which are one more then.
    for shape, walked in [((2,) * rank, [(), tuple(range(rank))]), ((2,) * (rank + 1), [(rank,)])]:
        for problem in verify.problems(op, direction, "f32", [shape]):
            shapes = problem.shapes()
            full = [name for name in problem.tensors() if shapes[name] == shape]
            # One beside contiguous ones: no two axes lie together for all.
            if len(full) > 1 and tuple(problem.axes) in walked:
                found.append((problem, full[0]))
        if found:
            break
    return found


@each_kernel(dtypes=["f32"], where=unmerged)
@pytest.mark.parametrize("rank", [MAX_RANK, MAX_RANK + 1])
def test_the_rank_limit(spec, backend, op, direction, dtype, rank):
    """At the limit it works; one axis more is refused by name, and nothing is written."""
    for problem, name in unmerged(op, direction, rank)[:3]:
        layouts = {name: "all axes permuted"}
        if rank <= MAX_RANK:
            check(spec, backend, problem, layouts=layouts)
            continue
        prepared = verify.prepare(backend, problem, verify.inputs_for(problem), layouts=layouts)
        message = f"{rank} axes remain after merging .* want at most {MAX_RANK}"
        with pytest.raises(Unsupported, match=message):
            prepared.plan.can_implement(prepared.args())
        with pytest.raises(Unsupported, match=message):
            prepared.launch()
        for tensor in prepared.tensors.values():
            tensor.check_untouched(backend)


def test_offsets_decide_the_index_type():
    """Of few elements far apart the offsets are large: the number of elements alone says nothing."""
    assert fits_int32(Walk((2,), ((INT32_MAX,),)), 1)
    assert not fits_int32(Walk((2,), ((INT32_MAX + 1,),)), 1)
    assert not fits_int32(Walk((2,), ((-INT32_MAX - 1,),)), 1)
    assert not fits_int32(Walk((4,), ((1, 2**30),)), 2)
    assert fits_int32(Walk((4,), ((1, 2**29),)), 2)
    assert fits_int32(Walk((2**31 - 1,), ((1,),)), 1)
    assert not fits_int32(Walk((2**31,), ((0,),)), 1)
    assert not fits_int32(Walk((65536, 32769), ((0,), (0,))), 1)
    assert not fits_int32(Walk((3, 3), ((2**30,), (-(2**29),))), 1)


def test_merging_keeps_large_numbers():
    walk = merge([2**20, 2**20], [[2**20, 1]])
    assert walk.extents == (2**40,)
    assert walk.strides == ((1,),)


def far_tensor(problem, backend, name, shape, stride):
    """A tensor that is nowhere: its innermost axis of more than one element has a stride of its own."""
    strides, running = [0] * len(shape), 1
    for axis in reversed(range(len(shape))):
        strides[axis] = running
        running *= shape[axis]
    outer = len(shape) - problem.takes_inner(name)
    wide = [axis for axis, extent in enumerate(shape[:outer]) if extent > 1]
    if wide and stride != 1:
        strides[wide[-1]] = stride if outer == len(shape) else stride * shape[-1]
        for axis in wide[:-1]:
            strides[axis] = stride * 2 ** (4 + len(shape) - axis)
    base = 2**50 * (1 + problem.tensors().index(name))
    element = ElementKind.parse(problem.dtype_of(name))
    return TensorRef(base, shape, tuple(strides), element, backend.stream.device)


@each_kernel_program()
def test_a_large_offset_selects_64_bits(backend, op, direction):
    """One operand whose elements lie 2**31 apart: nothing is read, only selected."""
    for problem in verify.problems(op, direction, "f32", [(4, 6)]):
        plan = verify.prepare(backend, problem, verify.inputs_for(problem)).plan
        shapes = {name: shape for name, shape in problem.shapes().items() if name in problem.tensors()}
        # A saved tensor that the contract asks for may be one that the kernel does not read.
        for far in {*problem.program.read, *problem.program.written} & set(shapes):
            if math.prod(shapes[far]) < 2 or problem.takes_contiguous(far):
                continue
            for stride in (2, 2**31, -(2**31)):
                tensors = {
                    name: far_tensor(problem, backend, name, shape, stride if name == far else 1)
                    for name, shape in shapes.items()
                }
                args = plan.ARGS(**{key: tensors.get(key) for key in plan.ARGS.__dataclass_fields__})
                steps = plan._engine.steps(plan._rules.validated(args))
                numbers = [value for step in steps for value in step.values if isinstance(value, int)]
                # A run of axes may merge, so the offset itself or a multiple of it is handed over.
                assert (max(map(abs, numbers)) >= 2**31) == (stride != 2), (problem, far, stride)
                for step in steps:
                    # A 64-bit number does not go into a 32-bit field: packing it would raise.
                    step.parameters(defaultdict(int))


MANY = ["contiguous", "sliced rows"]


@each_kernel(dtypes=["f16", "f32"])
def test_many_elements(spec, backend, op, direction, dtype):
    """More than one block of a contiguous and of a strided launch, and a last block that is not full."""
    pieces = []
    for number, (shape, layout) in enumerate(itertools.product([(2, 70001), (70001, 2)], MANY)):
        problems = verify.problems(op, direction, dtype, [shape], every_option=False)[:2]
        # Of two axes each is aggregated in either layout of one shape.
        pieces += [(problem, layout) for problem in turn(problems, op, direction, number + number // 2)]
    for problem, layout in share(half(pieces, op, direction), op, direction, dtype, ["f16", "f32"]):
        check(spec, backend, problem, layouts=dict.fromkeys(problem.tensors(), layout))
