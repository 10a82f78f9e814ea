"""What plans check before a launch: bounds, alignment, overlap, workspaces."""

from __future__ import annotations

import itertools
import pickle
import random
import re
import time

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import baracuda as bc
from baracuda import overlap
from baracuda.checks import (
    byte_span,
    check_aligned,
    check_bounds,
    check_contiguous,
    check_device,
    check_element,
    check_no_partial_overlap,
    check_no_self_overlap,
    check_shape,
    check_unit_stride,
    check_writable,
    is_contiguous,
    is_same_view,
)
from baracuda.dtypes import ElementKind
from baracuda.errors import (
    BufferTooSmall,
    InvalidProblem,
    MisalignedOperand,
    Unsupported,
    WorkspaceTooSmall,
)
from baracuda.tensor import Device, TensorRef, as_tensor
from baracuda.workspace import Workspace

HOST, CUDA = Device("host"), Device("cuda")


def make(shape=(2, 3), strides=(3, 1), pointer=4096, element="f32", device=HOST, **more):
    return TensorRef(pointer, shape, strides, element, device, **more)


def addresses(t):
    """The address of every byte of every index, repetitions included."""
    itemsize = t.element.itemsize
    for index in itertools.product(*(range(extent) for extent in t.shape)):
        start = t.pointer + itemsize * sum(i * s for i, s in zip(index, t.strides, strict=True))
        yield from range(start, start + itemsize)


def random_layout(rng, elements, reach):
    rank = rng.choice((0, 1, 2, 2, 3, 3, 3))
    shape = tuple(rng.choice((0, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5)) for _ in range(rank))
    strides = tuple(rng.randint(-reach, reach) for _ in range(rank))
    return make(shape, strides, 4096 + rng.randint(-20, 20), rng.choice(elements))


def raises(function, *arguments, **options):
    try:
        function(*arguments, **options)
    except InvalidProblem:
        return True
    return False


# Overlap, against every byte written down


@pytest.mark.parametrize("elements", [("i16",), ("f32",), ("u8", "i16", "f32", "f64")])
def test_overlap_of_two_is_exact(elements):
    rng = random.Random(f"two {elements}")
    met = 0
    for _ in range(4000):
        out, other = random_layout(rng, elements, 12), random_layout(rng, elements, 12)
        wanted = not set(addresses(out)).isdisjoint(addresses(other))
        met += wanted
        arguments = (out, other, "y", "x", "SumPlan")
        assert raises(check_no_partial_overlap, *arguments) == wanted, (out, other)
        assert raises(check_no_partial_overlap, other, out, "y", "x", "SumPlan") == wanted, (out, other)
        assert raises(check_no_partial_overlap, *arguments, inplace=True) == (
            wanted and not is_same_view(out, other)
        )
    assert 1000 < met < 3500


def test_overlap_with_itself_is_exact():
    rng = random.Random("self")
    met = 0
    for _ in range(6000):
        t = random_layout(rng, ("f32",), 14)
        every = list(addresses(t))
        wanted = len(set(every)) < len(every)
        met += wanted
        assert raises(check_no_self_overlap, t, "y", "SumPlan") == wanted, t
    assert 1000 < met < 5000


def test_overlap_agrees_with_numpy_on_large_layouts():
    rng = random.Random("numpy")
    memory = np.zeros(1 << 16, np.int16)
    decided = {True: 0, False: 0}
    for _ in range(600):
        views = []
        for _ in range(2):
            shape = [rng.randint(1, 40) for _ in range(3)]
            strides = [rng.choice((1, 2, 3, 4, 6, 12, 30, 64, 120, 256, 1000)) for _ in range(3)]
            reach = sum(s * (n - 1) for n, s in zip(shape, strides, strict=True))
            if reach >= memory.size:
                continue
            start = rng.randint(0, min(memory.size - reach, 400) - 1)
            views.append(as_strided(memory[start:], shape, [2 * s for s in strides]))
        if len(views) == 2:
            wanted = np.shares_memory(*views)
            decided[wanted] += 1
            out, other = map(as_tensor, views)
            assert raises(check_no_partial_overlap, out, other, "y", "x", "P") == wanted, (out, other)
    assert min(decided.values()) > 50


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        (np.s_[::2], np.s_[1::2], False),
        (np.s_[::2], np.s_[2::2], True),
        (np.s_[::-1], np.s_[::-1], True),
        (np.s_[:32], np.s_[32:], False),
        (np.s_[:33], np.s_[32:], True),
        (np.s_[1::3], np.s_[::-3], False),
        (np.s_[:0], np.s_[:], False),
    ],
)
def test_views_of_one_array(first, second, wanted):
    memory = np.zeros(64, np.float32)
    out, other = as_tensor(memory[first]), as_tensor(memory[second])
    assert raises(check_no_partial_overlap, out, other, "y", "x", "SumPlan") == wanted


def test_columns_of_a_large_matrix_are_apart():
    rows = 1_000_003
    q = make((rows, 64), (192, 1), 1 << 40, device=CUDA)
    k = make((rows, 64), (192, 1), (1 << 40) + 64 * 4, device=CUDA)
    late = make((rows, 64), (192, 1), (1 << 40) + 63 * 4, device=CUDA)
    check_no_partial_overlap(q, k, "dq", "k", "SdpaBackwardPlan")
    assert raises(check_no_partial_overlap, q, late, "dq", "k", "SdpaBackwardPlan")


def test_what_is_too_hard_to_decide_counts_as_overlap_and_ends_soon():
    rng = random.Random("hard")
    strides = [tuple(rng.randrange(10**16, 10**17) for _ in range(14)) for _ in range(2)]
    out, other = (make((3,) * 14, s, 1 << 60, "u8") for s in strides)
    begin = time.perf_counter()
    assert raises(
        check_no_partial_overlap, out, make((3,) * 14, strides[1], (1 << 60) + 7, "u8"), "y", "x", "P"
    )
    assert raises(check_no_self_overlap, out, "y", "P")
    # The same sizes with a divisor that tells them apart are decided at once.
    doubled = [make((3,) * 14, tuple(2 * s for s in t.strides), t.pointer + i, "u8")
               for i, t in enumerate((out, other))]  # fmt: skip
    assert not raises(check_no_partial_overlap, *doubled, "y", "x", "P")
    assert time.perf_counter() - begin < 5


def test_a_spent_budget_says_overlap(monkeypatch):
    out = make((3, 3, 3), (112, 99, 88), element="u8")
    other = make((3, 3, 3), (72, 8, 112), 4096 + 29, element="u8")
    assert set(addresses(out)).isdisjoint(addresses(other))
    overlap.share_memory.cache_clear()
    assert not raises(check_no_partial_overlap, out, other, "y", "x", "P")
    monkeypatch.setattr(overlap, "_MAX_STEPS", 0)
    overlap.share_memory.cache_clear()
    assert raises(check_no_partial_overlap, out, other, "y", "x", "P")
    overlap.share_memory.cache_clear()


def test_other_devices_never_overlap():
    check_no_partial_overlap(make(), make(device=CUDA), "y", "x", "P")
    check_no_partial_overlap(make(device=Device("cuda", 1)), make(device=CUDA), "y", "x", "P")


def test_in_place_is_the_same_view_exactly():
    out = make((2, 1, 3), (3, 99, 1))
    check_no_partial_overlap(out, make((2, 1, 3), (3, 0, 1)), "dx", "dy", "P", inplace=True)
    check_no_partial_overlap(out, make((2, 1, 3), (3, 0, 1), element="i32"), "dx", "dy", "P", inplace=True)
    for other in (
        make((2, 1, 3), (3, 99, 1), 4100),
        make((3, 1, 2), (1, 99, 3)),
        make((2, 1, 3), (0, 99, 1)),
        make((2, 1, 3), (3, 99, 1), element="f64"),
    ):
        with pytest.raises(
            InvalidProblem, match=r"^RopeBackwardPlan: dx overlaps a part of dy, want memory apart, or"
        ):
            check_no_partial_overlap(out, other, "dx", "dy", "RopeBackwardPlan", inplace=True)
    with pytest.raises(InvalidProblem, match=r"^P: dx is exactly dy, want memory apart: "):
        check_no_partial_overlap(out, out, "dx", "dy", "P")


@pytest.mark.parametrize(
    ("shape", "strides", "text"),
    [
        ((4, 3), (0, 1), "a zero stride on axis 0"),
        ((4, 3), (2, 1), "strides that fold onto themselves"),
        ((4, 3), (-1, 1), "strides that fold onto themselves"),
    ],
)
def test_outputs_that_fold(shape, strides, text):
    with pytest.raises(InvalidProblem, match="^SumPlan: y is an output and has " + text):
        check_no_self_overlap(make(shape, strides), "y", "SumPlan")


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((), ()), ((0, 4), (0, 0)), ((1, 4), (0, 1)), ((4, 3), (1, 4)), ((4, 3), (-3, -1)), ((3, 2), (2, 3))],
)
def test_outputs_that_do_not_fold(shape, strides):
    check_no_self_overlap(make(shape, strides), "y", "SumPlan")


def test_a_shared_axis_may_have_a_zero_stride():
    dk = make((2, 8, 5, 4), (20, 0, 4, 1))
    check_no_self_overlap(dk, "dk", "SdpaBackwardPlan", shared_axes=(1,))
    check_no_self_overlap(dk, "dk", "SdpaBackwardPlan", shared_axes=(-3,))
    with pytest.raises(InvalidProblem, match="zero stride on axis 1"):
        check_no_self_overlap(dk, "dk", "SdpaBackwardPlan", shared_axes=(2,))
    with pytest.raises(InvalidProblem, match="fold onto themselves"):
        check_no_self_overlap(make((2, 8, 4), (1, 2, 1)), "dk", "SdpaBackwardPlan", shared_axes=(1,))
    with pytest.raises(InvalidProblem, match="fold onto themselves"):
        check_no_self_overlap(make((2, 8, 4), (3, 0, 1)), "dk", "SdpaBackwardPlan", shared_axes=(1,))


# Bounds, alignment and the rest


def test_byte_span_is_that_of_the_bytes():
    rng = random.Random("span")
    for _ in range(500):
        t = random_layout(rng, ("u8", "f32", "f64"), 9)
        every = set(addresses(t))
        wanted = (min(every), max(every) + 1) if every else (t.pointer, t.pointer)
        assert byte_span(t) == wanted


@pytest.mark.parametrize(
    ("t", "needed", "got", "text"),
    [
        (make(buffer=(4096, 4116)), 24, 20, "reaches 4 bytes behind its end"),
        (make(strides=(-3, 1), buffer=(4096, 5000)), 24, 12, "reaches 12 bytes below its buffer"),
        (make(strides=(-3, 1), buffer=(4092, 4104)), 24, 12, "8 bytes below its buffer and 4 bytes behind"),
        (make(buffer=(8192, 9000)), 24, 0, "below its buffer"),
    ],
)
def test_tensors_outside_of_their_buffer(t, needed, got, text):
    with pytest.raises(BufferTooSmall, match=r"^SumPlan: x with shape \(2, 3\)") as caught:
        check_bounds(t, "x", "SumPlan")
    assert text in str(caught.value)
    assert (caught.value.needed, caught.value.got) == (needed, got)
    assert pickle.loads(pickle.dumps(caught.value)).needed == needed


@pytest.mark.parametrize(
    "t",
    [
        make(),
        make(buffer=(4096, 4120)),
        make(strides=(-3, 1), buffer=(4084, 4108)),
        make((0, 3), (3, 1), buffer=(0, 0)),
        make((5, 3), (0, 1), buffer=(4096, 4108)),
    ],
)
def test_tensors_inside_their_buffer(t):
    check_bounds(t, "x", "SumPlan")


def test_a_wild_numpy_view_is_caught():
    owner = np.zeros(8, np.float32)
    with pytest.raises(BufferTooSmall):
        check_bounds(as_tensor(as_strided(owner[4:], (5,), (4,))), "x", "SumPlan")
    check_bounds(as_tensor(as_strided(owner[4:], (4,), (4,))), "x", "SumPlan")


def test_alignment():
    misaligned = np.frombuffer(bytearray(33), np.uint8)[1:].view(np.float64)
    with pytest.raises(
        MisalignedOperand, match=r"^SumPlan: x has pointer 0x.* past a multiple of 8; want one"
    ):
        check_aligned(as_tensor(misaligned), "x", "SumPlan")
    check_aligned(make(pointer=4100), "x", "SumPlan")
    check_aligned(make((0,), (1,), pointer=4097), "x", "SumPlan")
    with pytest.raises(MisalignedOperand, match="the plan's alignment"):
        check_aligned(make(pointer=4100), "x", "SumPlan", 16)


def test_simple_checks_and_their_messages():
    t = make((4, 1024), (1024, 1), readonly=True)
    why = "the keepdim form of input_shape (4, 1024) with axis 1 reduced"
    for error, text, check, wanted in [
        (InvalidProblem, f"P: dy has shape (4, 1024), want (4, 1): {why}", check_shape, ((4, 1), why)),
        (InvalidProblem, "P: dy has shape (4, 1024), want (4,)", check_shape, ((4,),)),
        (Unsupported, "P: dy has dtype f32, want bf16", check_element, (ElementKind.BF16,)),
        (InvalidProblem, "P: dy lies on host, want cuda:0, where", check_device, (CUDA,)),
        (InvalidProblem, "P: dy is an output and read-only", check_writable, ()),
        (InvalidProblem, "P: dy has stride 1024 on axis 0, want 1", check_unit_stride, (0,)),
    ]:
        with pytest.raises(error, match="^" + re.escape(text)):
            check(t, "dy", "P", *wanted)
    check_shape(t, "dy", "P", (4, 1024))
    check_element(t, "dy", "P", ElementKind.F32)
    check_device(t, "dy", "P", HOST)
    check_writable(make(), "dy", "P")
    check_unit_stride(t, "dy", "P")


@pytest.mark.parametrize(
    ("shape", "strides", "wanted"),
    [
        ((2, 3), (3, 1), True),
        ((2, 3), (4, 1), False),
        ((2, 1, 3), (3, 77, 1), True),
        ((1, 1), (-5, 0), True),
        ((), (), True),
        ((0, 3), (9, 9), True),
        ((3, 0), (9, 9), True),
        ((2, 3), (1, 2), False),
        ((2, 3), (3, -1), False),
        ((2, 2), (0, 1), False),
    ],
)
def test_contiguity(shape, strides, wanted):
    t = make(shape, strides)
    assert is_contiguous(t) == wanted
    if wanted:
        check_contiguous(t, "attn", "SdpaPlan")
    else:
        with pytest.raises(Unsupported, match=r"^SdpaPlan: attn has strides .* contiguous in C order"):
            check_contiguous(t, "attn", "SdpaPlan")


@pytest.mark.parametrize(("shape", "strides"), [((2, 1), (1, 9)), ((2, 0), (1, 9)), ((0, 3), (1, 9))])
def test_a_stride_that_is_never_walked_says_nothing(shape, strides):
    check_unit_stride(make(shape, strides), "q", "SdpaPlan")


# Workspaces


def test_no_workspace_serves_a_plan_that_needs_none():
    none = Workspace.none()
    assert Workspace.of(None) is none
    assert (none.pointer, none.nbytes, none.device) == (0, 0, None)
    none.require(0, CUDA, "SumPlan")
    with pytest.raises(WorkspaceTooSmall, match=r"^SumPlan: workspace has 0 bytes, want 512") as caught:
        none.require(512, CUDA, "SumPlan")
    assert (caught.value.needed, caught.value.got) == (512, 0)


def test_a_borrowed_workspace():
    memory = np.zeros((4, 8), np.float32)
    space = Workspace.of(memory.T[:, ::-1])
    assert (space.pointer, space.nbytes, space.device) == (as_tensor(memory).pointer, 128, HOST)
    assert Workspace.of(space) is space
    assert Workspace.of(as_tensor(memory)) == space
    assert Workspace.of((4096, 128, CUDA)) == Workspace(4096, 128, CUDA)
    assert Workspace.of(np.zeros(0)).nbytes == 0


def test_host_workspaces_are_aligned():
    for nbytes in (0, 1, 1000):
        space = Workspace.host(nbytes)
        assert space.nbytes == nbytes
        space.require(nbytes, HOST, "SumPlan")


def test_workspaces_that_a_plan_cannot_use():
    space = Workspace.of((4096, 1024, CUDA))
    space.require(1024, CUDA, "SumPlan")
    with pytest.raises(
        WorkspaceTooSmall, match=r"give Workspace\.host\(512\), or select with PlanPreference\(max_w"
    ):
        Workspace.none().require(512, HOST, "SumPlan")
    with pytest.raises(
        WorkspaceTooSmall, match=r"give an array of 512 bytes on cuda:0, or Workspace\.borrowed"
    ):
        Workspace.none().require(512, CUDA, "SumPlan")
    with pytest.raises(WorkspaceTooSmall, match="has 1024 bytes, want 1025"):
        space.require(1025, CUDA, "SumPlan")
    with pytest.raises(InvalidProblem, match=r"^SumPlan: workspace lies on cuda:0, want host"):
        space.require(1, HOST, "SumPlan")
    shifted = Workspace.of((4096 + 128, 1024, CUDA))
    shifted.require(0, CUDA, "SumPlan")
    with pytest.raises(MisalignedOperand, match="128 bytes past a multiple of 256"):
        shifted.require(1, CUDA, "SumPlan")


def test_buffers_that_are_no_workspace():
    memory = np.zeros((4, 8), np.float32)
    constant = np.zeros(4)
    constant.flags.writeable = False
    for buffer, error, text in [
        (memory[:, ::2], InvalidProblem, "without gaps"),
        (make((4, 4), (0, 5)), InvalidProblem, "without gaps"),
        (make((4, 4), (1, 4), buffer=(4096, 4112)), BufferTooSmall, "workspace with shape"),
        (constant, InvalidProblem, "read-only"),
        ((4096, 16), TypeError, "want (pointer, nbytes, Device)"),
        ((0, 16, CUDA), InvalidProblem, "want memory that exists"),
        ((4096, -1, CUDA), InvalidProblem, "want memory that exists"),
        ([1, 2], TypeError, "workspace is a list"),
    ]:
        with pytest.raises(error, match=re.escape(text)):
            Workspace.of(buffer)


HOST = bc.Device("host")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"workspace": "abc"}, "workspace is a str, want a"),
        ({"workspace": (1, 2)}, r"workspace is \(1, 2\), want"),
        ({"workspace": ("a", 5, HOST)}, r"workspace is \('a', 5, .*want \(pointer, nbytes, Device\)"),
        ({"workspace": (0, 5, HOST)}, "workspace has pointer 0 and 5 bytes, want memory"),
        ({"workspace": np.zeros((9, 2), np.uint8)[:, 0]}, "workspace has strides .*, want a buffer without"),
        ({"stream": "abc"}, "stream is a str, want a"),
        ({"stream": True}, "stream is a bool, want a"),
        ({"stream": -7}, "stream handle is -7, want 0"),
        ({"stream": bc.Stream(0, bc.Device("cuda", 3))}, "stream 0x0 is on cuda:3, want one on host"),
    ],
)
def test_messages_about_a_call_begin_with_the_plan(given, words):
    desc = bc.ReduceDescriptor(kind="sum", input_shape=(3, 4), reduce_axis=1, element="f32")
    plan = bc.ReducePlan.select(bc.Stream.host(), desc)
    x, y = np.zeros((3, 4), np.float32), np.zeros((3, 1), np.float32)
    errors = (bc.InvalidProblem, TypeError)
    for _ in range(3):  # of a call that is not known yet, and of one that is
        with pytest.raises(errors, match=f"^ReducePlan: {words}"):
            plan(x=x, y=y, **given)
        plan(x=x, y=y)
    if "stream" in given:
        with pytest.raises(errors, match=f"^ReducePlan: {words}"):
            plan.bind(bc.ReduceArgs(x=x, y=y))(given["stream"])
    else:
        with pytest.raises(errors, match=f"^ReducePlan: {words}"):
            plan.bind(bc.ReduceArgs(x=x, y=y), given["workspace"])


def test_messages_about_a_descriptor_begin_with_the_plan():
    fields = {"kind": "sum", "input_shape": (3, 4), "reduce_axis": 1, "element": "f32"}
    for wrong in ({"element": "f33"}, {"element": 3}, {"kind": "su"}, {"input_shape": "ab"}, {"ties": 1}):
        for plan in (bc.ReducePlan, bc.ReduceBackwardPlan):
            with pytest.raises(
                (bc.Unsupported, TypeError), match=rf"^{plan.__name__}: {next(iter(wrong))} .*want"
            ):
                plan.DESCRIPTOR(**{**fields, **wrong})
    with pytest.raises(TypeError, match=r"^ReducePlan: stream is a str, want a"):
        bc.ReducePlan.select("abc", bc.ReduceDescriptor(**fields))
    with pytest.raises(TypeError, match=r"^PlanPreference: max_workspace is a str, want"):
        bc.PlanPreference(max_workspace="1")
