"""What bad arguments get: the right kind of error, a message that helps, no launch, no output touched."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from devices import (
    aggregating,
    each_kernel_program,
    each_plan,
    small_problems,
)
from refusals import good_problem, refused, with_element

import baracuda as bc
from baracuda.codegen import verify
from baracuda.dtypes import ElementKind
from baracuda.errors import (
    BufferTooSmall,
    InvalidProblem,
    MisalignedOperand,
    Unsupported,
    WorkspaceTooSmall,
)
from baracuda.plan import Plan
from baracuda.stream import Stream
from baracuda.tensor import Device, TensorRef, as_tensor


@each_plan()
def test_arguments_of_another_plan(good, op, direction):
    with pytest.raises(TypeError, match=rf"^{good.name}: args is a dict, want .*Args"):
        good.run.plan.can_implement({})


def test_a_method_of_a_plan_called_on_its_class():
    """Plans of the Rust crate are asked so; the message says what to call instead."""
    desc = bc.UnaryDescriptor(kind="exp", shape=(2,), element="f32")
    with pytest.raises(
        TypeError, match=r"on a class with a Stream, want plan\.can_implement\(args\); select\("
    ):
        bc.UnaryPlan.can_implement(Stream.host(), desc)


def test_an_attribute_that_lacks_otherwise_is_told_as_it_is(monkeypatch):
    """What an array's own protocol fails with is no mistake in the call."""
    plan = bc.UnaryPlan.select(Stream.host(), bc.UnaryDescriptor(kind="exp", shape=(2,), element="f32"))

    def fails(*_):
        raise AttributeError("of the array")

    monkeypatch.setattr(bc.UnaryPlan, "_checked", fails)
    with pytest.raises(AttributeError, match="of the array"):
        plan.can_implement(plan.ARGS(x=np.ones(2, np.float32), y=np.ones(2, np.float32)))


@each_plan()
def test_a_tensor_of_another_dtype(good, op, direction):
    for name, ref in good.refs().items():
        wanted = good.problem.dtype_of(name)
        for kind in {"f64", "f16", "bf16", "i32", "u32", "i64"} - {wanted}:
            refused(
                good,
                Unsupported,
                f"{name} has dtype {kind}",
                f"want {wanted}",
                **{name: with_element(ref, kind)},
            )


@each_plan()
def test_a_tensor_of_another_shape(good, op, direction):
    for name, ref in good.refs().items():
        shape = ref.shape
        others = {
            (*shape[:-1], shape[-1] + 1), (*shape[:-1], shape[-1] - 1), (shape[0] + 1, *shape[1:]),
            shape[::-1], shape[1:], (*shape, 1), (1, *shape), (), (0, *shape[1:]),
        } - {good.problem.shapes()[name], *good.problem.other_shapes().get(name, ())}  # fmt: skip
        for other in others:
            bad = replace(ref, shape=other, strides=(1,) * len(other), buffer=None)
            wanted = f"want {good.problem.shapes()[name]}"
            refused(good, InvalidProblem, f"{name} has shape {other}", wanted, **{name: bad})


@each_kernel_program()
def test_missing_and_surplus_arguments(good, op, direction):
    optional, known = good.problem.optional(), good.problem.tensors()
    for name in good.run.plan.ARGS.__dataclass_fields__:
        if name in known and name not in optional:
            refused(good, InvalidProblem, f"{name} is None", "want a tensor", **{name: None})
        elif name not in known:
            shape = good.problem.shapes()[name]
            given = verify.place(good.run.backend, name, "f32", shape)
            refused(good, InvalidProblem, f"{name} is given", "want None", **{name: given.array})
            given.check_untouched(good.run.backend)


def optional_outputs(op, direction):
    """The outputs of a direction, if each may be left out."""
    problem = good_problem(op, direction)
    rules = op.family.tensors(direction)
    names = [name for name in problem.outputs() if rules[name].io == "out"]
    return names if all(rules[name].optional for name in names) else []


@each_plan(where=optional_outputs)
def test_no_result_is_wanted(good, op, direction):
    """Each may be left out, but not all of them: such a call would do nothing."""
    nothing = dict.fromkeys(optional_outputs(op, direction))
    names = " and ".join(", ".join(nothing).rsplit(", ", 1))
    refused(good, InvalidProblem, f"{names} are None, want a tensor for one of them at least", **nothing)


@each_plan()
def test_objects_that_are_no_arrays(good, op, direction):
    for name in good.problem.tensors():
        for thing in ([1.0, 2.0], "x", 3.0, {}, np.float32, object()):
            args = good.run.args(**{name: thing})
            with pytest.raises(TypeError, match=rf"^{good.name}: {name} is a .*, want a"):
                good.run.plan.can_implement(args)
            with pytest.raises(TypeError, match=rf"^{good.name}: {name} is a .*, want a"):
                good.run.plan.run(good.run.backend.stream, None, args)


@each_plan()
def test_a_buffer_that_is_too_small(good, op, direction):
    """At its end and, with negative strides, at its beginning."""
    for name, ref in good.refs().items():
        lowest, item = ref.pointer, ref.element.itemsize
        size = item * ref.size
        short = replace(ref, buffer=(lowest, lowest + size - item))
        error = refused(good, BufferTooSmall, name, f"{item} bytes behind its end", **{name: short})
        assert (error.needed, error.got) == (size, size - item)
        if good.problem.takes_contiguous(name):
            continue
        # Backwards, but for an innermost axis that must have stride 1.
        kept = 1 if good.problem.takes_inner(name) else 0
        strides = [-stride for stride in ref.strides]
        strides[len(strides) - kept :] = ref.strides[len(strides) - kept :]
        top = size - (item * ref.shape[-1] if kept else item)
        turned = replace(
            ref, pointer=lowest + top, strides=tuple(strides), buffer=(lowest + item, lowest + size)
        )
        refused(good, BufferTooSmall, name, f"{item} bytes below its buffer", **{name: turned})


@each_plan()
def test_an_array_that_reaches_out_of_its_memory(good, op, direction):
    """The library's own arrays carry their bounds too."""
    if good.run.backend.kind != "host":
        pytest.skip("as_strided of CuPy checks nothing, and its memory is larger than the array")
    for name, tensor in good.run.tensors.items():
        if good.problem.takes_contiguous(name):
            continue
        kept = (tensor.dtype.itemsize,) if good.problem.takes_inner(name) else ()
        strides = (4096,) * (len(tensor.shape) - len(kept)) + kept
        wide = np.lib.stride_tricks.as_strided(
            np.zeros(tensor.shape, tensor.dtype), tensor.shape, strides, writeable=True
        )
        refused(good, BufferTooSmall, name, "bytes", **{name: wide})


@each_plan()
def test_a_pointer_that_is_not_aligned(good, op, direction):
    for name, ref in good.refs().items():
        for shift in range(1, min(4, ref.element.itemsize)):
            odd = replace(ref, pointer=ref.pointer + shift, buffer=None)
            words = f"{shift} bytes past a multiple of {ref.element.itemsize}"
            refused(good, MisalignedOperand, name, words, **{name: odd})


@each_plan()
def test_a_read_only_output(good, op, direction):
    for name, ref in good.refs().items():
        if name in good.problem.outputs():
            refused(
                good,
                InvalidProblem,
                f"{name} is an output and read-only",
                **{name: replace(ref, readonly=True)},
            )


@each_plan()
def test_a_read_only_array_as_an_output(good, op, direction):
    if good.run.backend.kind != "host":
        pytest.skip("CuPy has no read-only arrays")
    for name in good.problem.outputs():
        array = good.run.tensors[name].array.view()
        array.flags.writeable = False
        refused(good, InvalidProblem, f"{name} is an output and read-only", **{name: array})


@each_plan()
def test_an_output_that_overlaps_itself(good, op, direction):
    for name, ref in good.refs().items():
        if name not in good.problem.outputs() or ref.size < 2 or good.problem.takes_contiguous(name):
            continue
        outer = len(ref.shape) - good.problem.takes_inner(name)
        axis = max(axis for axis, extent in enumerate(ref.shape[:outer]) if extent > 1)
        zero = tuple(0 if place == axis else stride for place, stride in enumerate(ref.strides))
        refused(
            good,
            InvalidProblem,
            f"{name} is an output",
            f"zero stride on axis {axis}",
            **{name: replace(ref, strides=zero)},
        )
        if sum(extent > 1 for extent in ref.shape) > 1:
            folded = (1,) * len(ref.shape)
            refused(
                good,
                InvalidProblem,
                f"{name} is an output",
                "fold onto themselves",
                **{name: replace(ref, strides=folded)},
            )


@each_plan()
def test_an_output_that_overlaps_a_part_of_another_argument(good, op, direction):
    refs = good.refs()
    for name in good.problem.outputs():
        for other, ref in refs.items():
            if other == name:
                continue
            # One element further, so that it is exactly the other in no case.
            further = max(4, ref.element.itemsize * ref.size // 2 // 4 * 4)
            moved = replace(refs[name], pointer=ref.pointer + further, buffer=None)
            if ref.element.itemsize * ref.size > further:
                words = (name, other, "overlaps a part of")
                error = first_error(good, {name: moved})
                assert type(error) is InvalidProblem
                # Two outputs are compared once, in either order.
                assert all(
                    word in str(error) for word in words
                ) or f"{other} overlaps a part of {name}" in str(error)


def first_error(good, changes):
    with pytest.raises(InvalidProblem) as error:
        good.run.plan.run(
            good.run.backend.stream,
            good.run.backend.workspace(good.run.plan.workspace_size()),
            good.run.args(**changes),
        )
    return error.value


def outputs_alike(op, direction):
    """Pairs of outputs of one shape."""
    problem = good_problem(op, direction)
    shapes = problem.shapes()
    pairs = itertools.permutations(problem.outputs(), 2)
    return [(name, other) for name, other in pairs if shapes[name] == shapes[other]]


@each_plan(where=outputs_alike)
def test_two_outputs_that_are_the_same(good, op, direction):
    for name, other in outputs_alike(op, direction):
        error = first_error(good, {name: good.run.tensors[other].array})
        assert re.search(
            rf"({name} is exactly {other}|{other} is exactly {name}), want memory apart", str(error)
        )


@each_plan()
def test_a_tensor_on_another_device(good, op, direction):
    here = good.run.backend.stream.device
    for elsewhere in (Device("cuda", 7), Device("host") if here.kind == "cuda" else Device("cuda", 0)):
        for name, ref in good.refs().items():
            moved = replace(ref, device=elsewhere)
            refused(good, InvalidProblem, f"{name} lies on {elsewhere}", f"want {here}", **{name: moved})


class CudaArray:
    """An array of some library in CUDA memory, or so it says."""

    def __init__(self, ref):
        strides = tuple(stride * ref.element.itemsize for stride in ref.strides)
        self.__cuda_array_interface__ = {
            "data": (ref.pointer, False), "shape": ref.shape, "strides": strides,
            "typestr": ref.element.numpy.str, "version": 3,
        }  # fmt: skip


@each_plan()
def test_a_cuda_array_on_the_host_stream(good, op, direction):
    if good.run.backend.kind != "host":
        pytest.skip("a plan of the host executor")
    for name, ref in good.refs().items():
        refused(good, InvalidProblem, f"{name} lies on cuda:0", "want host", **{name: CudaArray(ref)})


@pytest.mark.cuda
@each_plan()
def test_a_numpy_array_on_a_cuda_stream(good, op, direction):
    for name, tensor in good.run.tensors.items():
        array = np.zeros_like(tensor.before)
        refused(good, InvalidProblem, f"{name} lies on host", "want cuda:", **{name: array})


@each_plan()
def test_a_stream_of_another_device(good, op, direction):
    other = Stream(0, Device("cuda", 5))
    workspace = good.run.backend.workspace(good.run.plan.workspace_size())
    with pytest.raises(InvalidProblem, match=r"cuda:5.*want"):
        good.run.plan.run(other, workspace, good.run.args())


def bound_layouts(op, direction):
    """Tensors that may not have any strides, and what is asked of each."""
    tensors = op.family.tensors(direction).items()
    return {name: tensor.layout for name, tensor in tensors if tensor.layout != "any"}


@each_kernel_program(where=bound_layouts)
def test_layouts_that_a_kernel_does_not_take(good, op, direction):
    """Innermost stride 1, or contiguous, where the spec asks for it."""
    given = good.refs()
    assert not given.keys().isdisjoint(bound_layouts(op, direction))
    for name, layout in bound_layouts(op, direction).items():
        if name not in given:
            continue
        ref = given[name]
        stepped = replace(ref, strides=tuple(2 * stride for stride in ref.strides), buffer=None)
        if layout == "inner":
            refused(good, InvalidProblem, name, "stride 2", "want 1", **{name: stepped})
        else:
            refused(good, Unsupported, name, "strides", "contiguous", **{name: stepped})


def inner_layouts(op, direction):
    return [name for name, layout in bound_layouts(op, direction).items() if layout == "inner"]


@each_plan(where=inner_layouts)
def test_the_innermost_stride_of_an_empty_tensor_says_nothing(backend, op, direction):
    inner = inner_layouts(op, direction)
    for problem in small_problems(op, direction, "f32", (0, 6)):
        prepared = verify.prepare(backend, problem, verify.inputs_for(problem))
        for name in inner:
            ref = as_tensor(prepared.tensors[name].array)
            if 0 not in ref.shape:
                continue
            stepped = replace(ref, strides=tuple(7 * stride + 3 for stride in ref.strides), buffer=None)
            prepared.plan.can_implement(prepared.args(**{name: stepped}))


@each_kernel_program(where=aggregating)
def test_a_workspace_that_is_too_small(backend, op, direction, monkeypatch):
    needing = [
        prepared
        for problem in aggregating(op, direction)
        if (prepared := verify.prepare(backend, problem, verify.inputs_for(problem))).plan.workspace_size()
    ]
    assert needing
    monkeypatch.setattr(Plan, "_pack", None)
    for prepared in needing:
        plan, needed = prepared.plan, prepared.plan.workspace_size()
        for given in (None, backend.workspace(needed - 1)):
            for call in (
                lambda given=given, plan=plan, prepared=prepared: plan.run(
                    backend.stream, given, prepared.args()
                ),
                lambda given=given, plan=plan, prepared=prepared: plan.bind(prepared.args(), given),
            ):
                with pytest.raises(
                    WorkspaceTooSmall, match=rf"^{type(plan).__name__}: workspace has .* want {needed}"
                ) as error:
                    call()
                assert (error.value.needed, error.value.got) == (needed, 0 if given is None else needed - 1)
        far = TensorRef(256, (needed,), (1,), ElementKind.U8, Device("cuda", 9))
        with pytest.raises(InvalidProblem, match=r"workspace lies on cuda:9, want"):
            plan.run(backend.stream, far, prepared.args())
        odd = backend.workspace(needed + 8)[8:]
        with pytest.raises(MisalignedOperand, match="workspace has pointer"):
            plan.run(backend.stream, odd, prepared.args())
        for tensor in prepared.tensors.values():
            tensor.check_untouched(backend)
