"""Real PyTorch tensors, on the CPU, read as `TensorRef`."""

from __future__ import annotations

import gc
import re

import numpy as np
import pytest
import torch
from host_memory import gather

from baracuda.checks import byte_span, check_bounds
from baracuda.dtypes import ElementKind
from baracuda.errors import BufferTooSmall, Unsupported
from baracuda.stream import Stream, current_stream, current_stream_of
from baracuda.tensor import Device, as_tensor
from baracuda.workspace import Workspace

DTYPES = {
    torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64",
    torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
    torch.uint8: "u8", torch.uint16: "u16", torch.uint32: "u32", torch.uint64: "u64",
    torch.bool: "bool",
}  # fmt: skip


def layouts():
    base = torch.arange(2 * 3 * 8, dtype=torch.float32).reshape(2, 3, 8)
    yield "contiguous", base
    yield "transposed", base.permute(2, 0, 1)
    yield "offset", base[1:, 1:, 3::2]
    yield "expanded", base[:, :1].expand(2, 5, 8)
    yield "scalar", torch.tensor(3.0)
    yield "channels last", base[None].contiguous(memory_format=torch.channels_last)
    yield "grad", base.clone().requires_grad_()
    yield "parameter", torch.nn.Parameter(base.clone())
    yield "history", base.clone().requires_grad_() * 2
    yield "unfolded", base.flatten().unfold(0, 4, 2)


@pytest.mark.parametrize(("name", "array"), list(layouts()))
def test_layouts(name, array):
    tensor = as_tensor(array)
    assert tensor.pointer == array.data_ptr()
    assert tensor.shape == tuple(array.shape)
    assert type(tensor.shape) is tuple
    assert tensor.strides == array.stride()
    assert tensor.device == Device("host")
    assert not tensor.readonly
    assert np.array_equal(gather(tensor), array.detach().numpy().ravel())
    storage = array.untyped_storage()
    assert tensor.buffer == (storage.data_ptr(), storage.data_ptr() + storage.nbytes())
    lowest, end = byte_span(tensor)
    assert tensor.buffer[0] <= lowest < end <= tensor.buffer[1]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes(dtype):
    array = torch.tensor([0, 1, 1, 0, 1]).to(dtype)
    tensor = as_tensor(array)
    assert tensor.element is ElementKind(DTYPES[dtype]) is ElementKind.parse(dtype)
    assert gather(tensor).astype(np.float64).tolist() == [0, 1, 1, 0, 1]


def test_bfloat16_values():
    array = torch.tensor([[1.5, -2.0], [3.140625, 1e30]], dtype=torch.bfloat16).T
    assert gather(as_tensor(array)).astype(np.float32).tolist() == array.float().flatten().tolist()


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2)])
def test_empty(shape):
    tensor = as_tensor(torch.empty(shape))
    assert tensor.shape == shape
    check_bounds(tensor, "x", "SumPlan")


def test_bounds_catch_a_shrunken_storage():
    array = torch.zeros(16)
    view = array.as_strided((4,), (4,))
    array.untyped_storage().resize_(32)
    with pytest.raises(BufferTooSmall):
        check_bounds(as_tensor(view), "x", "SumPlan")


@pytest.mark.filterwarnings("ignore:Sparse CSR:UserWarning")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: torch.zeros(3, dtype=torch.complex64), "has dtype torch.complex64, want one of f16"),
        (lambda: torch.zeros(3, dtype=torch.float8_e4m3fn), "has dtype torch.float8_e4m3fn"),
        (lambda: torch.zeros(3, dtype=torch.complex64).conj().imag, "has its neg bit set"),
        (lambda: torch.eye(3).to_sparse(), "has layout torch.sparse_coo"),
        (lambda: torch.eye(3).to_sparse_csr(), "has layout torch.sparse_csr"),
        (lambda: torch.zeros(3, device="meta"), "lies on the PyTorch device meta"),
        (lambda: torch.quantize_per_tensor(torch.zeros(3), 0.1, 0, torch.quint8), "has dtype torch.quint8"),
    ],
)
def test_tensors_that_no_kernel_reads(make, text):
    with pytest.raises(Unsupported, match="^SumPlan: x " + re.escape(text)):
        as_tensor(make(), "x", "SumPlan")


def test_tensors_inside_a_transform_are_refused():
    seen = []

    def look(x):
        with pytest.raises(Unsupported, match="has no memory of its own"):
            as_tensor(x)
        seen.append(x.shape)
        return x

    torch.vmap(look)(torch.zeros(2, 3))
    assert seen


def test_memory_shared_with_numpy_keeps_its_bounds():
    array = torch.zeros(12)
    view = array.numpy()[2:5]
    assert as_tensor(view).buffer == as_tensor(array).buffer
    owner = np.zeros(12, np.float32)
    assert as_tensor(torch.from_numpy(owner)[3:]).buffer == as_tensor(owner).buffer


class OnlyDLPack:
    """A tensor behind an object that speaks nothing but DLPack."""

    def __init__(self, array):
        self._array = array

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.bool], ids=str)
def test_the_same_tensor_through_dlpack(dtype):
    array = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype).T
    through, direct = as_tensor(OnlyDLPack(array)), as_tensor(array)
    assert (through.pointer, through.shape, through.strides) == (direct.pointer, direct.shape, direct.strides)
    assert through.element is direct.element
    expected = gather(direct).copy()
    del array, direct
    gc.collect()
    assert np.array_equal(gather(through), expected)


def test_streams_and_workspaces_of_the_host():
    array = torch.zeros(4)
    assert current_stream(array) == Stream.host()
    assert current_stream_of(array, np.zeros(4), None) == Stream.host()
    space = Workspace.of(torch.empty(512, dtype=torch.uint8))
    assert (space.nbytes, space.device) == (512, Device("host"))
