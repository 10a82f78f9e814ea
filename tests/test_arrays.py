"""Arrays of every library and layout, read as `TensorRef`."""

from __future__ import annotations

import gc
import mmap
import re
import subprocess
import sys
import types

import ml_dtypes
import numpy as np
import pytest
from host_memory import HOST, address, gather
from numpy.lib.stride_tricks import as_strided

from baracuda.checks import byte_span
from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem, MisalignedOperand, Unsupported
from baracuda.tensor import Device, TensorRef, as_tensor

# NumPy


def layouts():
    base = np.arange(2 * 3 * 8, dtype=np.float32).reshape(2, 3, 8)
    yield "contiguous", base
    yield "sliced", base[:, 1:, 2:7:2]
    yield "transposed", base.transpose(2, 0, 1)
    yield "fortran", np.asfortranarray(base)
    yield "negative", base[::-1, :, ::-2]
    yield "broadcast", np.broadcast_to(base[:, :1], (4, 2, 3, 8))
    yield "scalar", np.array(3.5, np.float32)
    yield "scalar view", base[1, 2, 3, ...]
    yield "newaxis", base[:, None, :, 3]
    yield "strided over bytes", as_strided(np.frombuffer(bytes(range(64)), np.float32)[2:], (3, 2), (8, 4))
    yield "memmap-like", np.frombuffer(mmap.mmap(-1, 4096), np.float32)[8:24:4]


@pytest.mark.parametrize(("name", "array"), list(layouts()))
def test_numpy_layouts(name, array):
    tensor = as_tensor(array)
    assert tensor.pointer == address(array)
    assert tensor.shape == array.shape
    assert tensor.strides == tuple(stride // 4 for stride in array.strides)
    assert tensor.element is ElementKind.F32
    assert tensor.device == HOST
    assert tensor.rank == array.ndim
    assert tensor.size == array.size
    assert tensor.readonly == (not array.flags.writeable)
    assert np.array_equal(gather(tensor), array.ravel())
    lowest, end = byte_span(tensor)
    assert tensor.buffer is not None
    assert tensor.buffer[0] <= lowest < end <= tensor.buffer[1]


@pytest.mark.parametrize("kind", ElementKind)
def test_numpy_dtypes(kind):
    array = np.array([0, 1, 1, 0, 1]).astype(kind.numpy)
    tensor = as_tensor(array[1::2])
    assert tensor.element is kind
    assert tensor.strides == (2,)
    assert np.array_equal(gather(tensor), array[1::2])


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (0, 0)])
def test_empty_arrays(shape):
    tensor = as_tensor(np.zeros(shape, np.float64))
    assert tensor.shape == shape
    assert tensor.size == 0


def test_strides_of_size_one_and_empty_axes_say_nothing():
    memory = np.zeros(16, np.float32)
    assert as_tensor(as_strided(memory, (1, 3), (7, 4))).shape == (1, 3)
    assert as_tensor(as_strided(memory, (0, 3), (7, 5))).shape == (0, 3)
    with pytest.raises(
        MisalignedOperand, match=r"^SumPlan: x has byte strides \(7, 4\), want multiples of 4"
    ):
        as_tensor(as_strided(memory, (2, 3), (7, 4)), "x", "SumPlan")


def test_packed_record_fields_are_refused():
    records = np.zeros(4, np.dtype([("flag", "u1"), ("value", "f4")]))
    with pytest.raises(MisalignedOperand, match="multiples of 4"):
        as_tensor(records["value"])


def test_a_misaligned_pointer_is_read_as_it_is():
    array = np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float32)
    assert as_tensor(array).pointer % 4 == address(array) % 4 != 0


@pytest.mark.parametrize("view", [slice(None), slice(2, 5), slice(None, None, -1)])
def test_bounds_are_those_of_the_array_that_owns_the_memory(view):
    owner = np.zeros(10, np.int16)
    assert as_tensor(owner[1:9][view]).buffer == (address(owner), address(owner) + 20)


def test_bounds_reach_through_as_strided():
    owner = np.zeros(10, np.float64)
    wild = as_strided(owner[5:], (100,), (8,))
    assert as_tensor(wild).buffer == (address(owner), address(owner) + 80)


def test_bounds_of_an_owner_that_is_not_contiguous():
    owner = np.copy(np.zeros((3, 4, 5), np.float32).transpose(1, 2, 0), order="K")
    assert owner.base is None
    assert as_tensor(owner).buffer == (address(owner), address(owner) + owner.nbytes)


def test_bounds_of_lent_memory():
    lender = bytearray(40)
    whole = address(np.frombuffer(lender, np.uint8))
    assert as_tensor(np.frombuffer(lender, np.float32, 3, 8)).buffer == (whole, whole + 40)
    part = memoryview(lender)[8:24]
    assert as_tensor(np.frombuffer(part, np.float32)).buffer == (whole + 8, whole + 24)


def test_bounds_of_unknown_lenders_are_unknown():
    array = np.zeros(4, np.float32)
    holder = types.SimpleNamespace(__array_interface__=array.__array_interface__)
    assert as_tensor(np.asarray(holder)).buffer is None


def test_readonly():
    array = np.zeros(3)
    assert not as_tensor(array).readonly
    array.flags.writeable = False
    assert as_tensor(array).readonly
    assert as_tensor(np.frombuffer(b"12345678", np.int64)).readonly
    assert as_tensor(np.broadcast_to(np.zeros(1), (3,))).readonly


def test_the_array_is_kept_alive():
    array = np.arange(4.0)
    tensor = as_tensor(array)
    del array
    gc.collect()
    assert np.array_equal(gather(tensor), np.arange(4.0))


def test_subclasses_are_arrays(tmp_path):
    path = tmp_path / "x.bin"
    np.arange(8, dtype=np.float32).tofile(path)
    mapped = np.memmap(path, np.float32, "r", offset=8, shape=(6,))
    tensor = as_tensor(mapped)
    assert tensor.readonly
    assert tensor.buffer is not None
    assert np.array_equal(gather(tensor), np.arange(2, 8, dtype=np.float32))
    with pytest.raises(Unsupported, match="masked array"):
        as_tensor(np.ma.masked_array([1.0, 2.0], mask=[True, False]))


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (np.complex64, "has dtype complex64, want one of f16, bf16, f32"),
        (object, "has dtype object"),
        ("S4", "has dtype |S4"),
        ("datetime64[s]", "has dtype datetime64[s]"),
        ([("a", "f4"), ("b", "f4")], "has dtype [('a', '<f4'), ('b', '<f4')]"),
        (">f4", "has dtype >f4 in the other byte order than this machine, want float32"),
        (ml_dtypes.float8_e4m3fn, "has dtype float8_e4m3fn"),
    ],
)
def test_foreign_dtypes_are_named(dtype, text):
    with pytest.raises(Unsupported, match=r"^LerpPlan: weight " + re.escape(text)):
        as_tensor(np.zeros(3, dtype), "weight", "LerpPlan")


@pytest.mark.parametrize(
    "thing", [None, [1.0], 1.0, "x", np.float32(1), np.ndarray, object(), np.dtype("f4")]
)
def test_what_is_no_array_is_a_type_error(thing):
    with pytest.raises(TypeError, match=r"^SumPlan: x is a .*, want a NumPy, CuPy or PyTorch array"):
        as_tensor(thing, "x", "SumPlan")


def test_nothing_heavy_is_imported():
    code = (
        "import numpy as np, sys\n"
        "from baracuda import arrays, checks, dtypes, errors, stream, tensor, workspace\n"
        "tensor.as_tensor(np.zeros(3, np.float32))\n"
        "print([m for m in ('ml_dtypes', 'cupy', 'torch', 'ctypes.util', 'difflib') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before = subprocess.run(
        [sys.executable, "-c", "import numpy, sys; print([m for m in ('ml_dtypes', 'cupy', 'torch', "
         "'ctypes.util', 'difflib') if m in sys.modules])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert answer.stdout == before.stdout


# Libraries that are not there: classes that look like theirs


def fake(module, name, **attributes):
    cls = type(name, (), {})
    cls.__module__ = module
    instance = cls()
    for key, value in attributes.items():
        setattr(instance, key, value)
    return instance


def cupy_array(pointer=4096, shape=(2, 3), strides=(12, 4), dtype="f4", lowest=4000, size=200, device=1):
    memory = types.SimpleNamespace(ptr=lowest, size=size)
    data = types.SimpleNamespace(ptr=pointer, mem=memory, device_id=device)
    return fake("cupy", "ndarray", shape=shape, strides=strides, dtype=np.dtype(dtype), data=data)


def test_cupy_arrays():
    array = cupy_array(strides=(-12, 4))
    assert as_tensor(array) == TensorRef(
        4096, (2, 3), (-3, 1), ElementKind.F32, Device("cuda", 1), False, (4000, 4200)
    )
    assert as_tensor(array).owner is array
    assert as_tensor(cupy_array(size=0)).buffer is None
    with pytest.raises(Unsupported, match="complex128"):
        as_tensor(cupy_array(dtype=np.complex128))
    with pytest.raises(MisalignedOperand, match="byte strides"):
        as_tensor(cupy_array(strides=(13, 4)))


def test_cupy_memory_whose_size_says_little_has_no_bounds():
    for memory, wanted in [
        (fake("cupy._core.dlpack", "DLPackMemory", ptr=4096, size=20), None),
        (
            fake("cupy.cuda.memory", "UnownedMemory", ptr=4096, size=20, _owner=Interface(strides=(-12, 4))),
            None,
        ),
        (fake("cupy.cuda.memory", "UnownedMemory", ptr=4096, size=24, _owner=Interface()), (4096, 4120)),
        (fake("cupy.cuda.memory", "UnownedMemory", ptr=4096, size=24, _owner=None), (4096, 4120)),
    ]:
        array = cupy_array()
        array.data.mem = memory
        assert as_tensor(array).buffer == wanted


def test_cupy_arrays_themselves_are_recognised():
    cupy = pytest.importorskip("cupy", reason="CuPy comes by extra")
    memory = cupy.cuda.UnownedMemory(4096, 64, None, 0)
    array = cupy.ndarray((2, 4), "f4", cupy.cuda.MemoryPointer(memory, 16))
    assert as_tensor(array.T[::-1]) == TensorRef(
        4112 + 12, (4, 2), (-1, 4), ElementKind.F32, Device("cuda"), False, (4096, 4160)
    )


def torch_tensor(*, kind="cuda", dtype="bfloat16", layout="torch.strided", pointer=8192, **changes):
    storage = types.SimpleNamespace(data_ptr=lambda: 8000, nbytes=lambda: 500)
    dtype_class = type("dtype", (), {"__str__": lambda self: f"torch.{dtype}"})
    dtype_class.__module__ = "torch"
    attributes = {
        "layout": layout, "is_nested": False, "device": fake("torch", "device", type=kind, index=1),
        "dtype": dtype_class(), "shape": (2, 3), "is_neg": lambda: False,
        "data_ptr": lambda: pointer, "stride": lambda: (0, 2), "untyped_storage": lambda: storage,
    }  # fmt: skip
    return fake("torch", "Tensor", **{**attributes, **changes})


def test_torch_tensors():
    assert as_tensor(torch_tensor()) == TensorRef(
        8192, (2, 3), (0, 2), ElementKind.BF16, Device("cuda", 1), False, (8000, 8500)
    )
    assert as_tensor(torch_tensor(kind="cpu", dtype="bool")).device == HOST


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"kind": "mps"}, "lies on the PyTorch device"),
        ({"layout": "torch.sparse_csr"}, "has layout torch.sparse_csr"),
        ({"is_neg": lambda: True}, "resolve_neg"),
        ({"is_nested": True}, "nested"),
        ({"dtype": "qint8"}, "has dtype torch.qint8"),
        ({"pointer": 0}, "without memory"),
    ],
)
def test_torch_tensors_that_no_kernel_reads(changes, text):
    with pytest.raises(Unsupported, match=re.escape(text)):
        as_tensor(torch_tensor(**changes), "x", "SumPlan")


class Interface:
    """An object that has `__cuda_array_interface__` and nothing else."""

    def __init__(self, **entries):
        entries.setdefault("version", 3)
        self.__cuda_array_interface__ = {
            "shape": (2, 3), "typestr": "<f4", "data": (4096, False), **entries
        }  # fmt: skip


@pytest.mark.parametrize(
    "entries", [{}, {"strides": None}, {"version": 2}, {"strides": (12, 4), "stream": 1}]
)
def test_cuda_array_interface(entries):
    obj = Interface(**entries)
    assert as_tensor(obj) == TensorRef(4096, (2, 3), (3, 1), ElementKind.F32, Device("cuda"))
    assert as_tensor(obj).owner is obj


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ({"shape": None}, "shape None, want a tuple of ints"),
        ({"shape": 3}, "shape 3, want a tuple of ints"),
        ({"shape": (2, 3.5)}, "shape (2, 3.5), want a tuple of ints"),
        ({"shape": ("2", "3")}, "shape ('2', '3'), want a tuple of ints"),
        ({"shape": (2, -3)}, "shape (2, -3), want no extent below 0"),
        ({"strides": (4,)}, "strides (4,), want None, or one for each extent of shape (2, 3)"),
        ({"strides": ()}, "strides (), want None, or one for each extent of shape (2, 3)"),
        ({"strides": 4}, "strides 4, want a tuple of ints"),
        ({"strides": (12, None)}, "strides (12, None), want a tuple of ints"),
        ({"typestr": None}, "typestr None, want a str"),
        ({"typestr": np.float32}, "want a str such as '<f4'"),
        ({"typestr": "<nonsense"}, "typestr '<nonsense', want one such as '<f4'"),
        ({"typestr": "f4, ("}, "typestr 'f4, (', want one such as '<f4'"),
        ({"data": 4096}, "data 4096, want (address, read-only)"),
        ({"data": (4096,)}, "data (4096,), want (address, read-only)"),
        ({"data": ("4096", False)}, "data ('4096', False), want (address, read-only)"),
        ({"data": (-1, False)}, "data (-1, False), want (address, read-only)"),
        ({"data": (0, False)}, "data (0, False), want the address of the first element"),
        ({"stream": "1"}, "stream '1', want None"),
    ],
)
def test_a_faulty_cuda_array_interface(entries, text):
    with pytest.raises(InvalidProblem, match=r"^SumPlan: x has a __cuda_array_interface__ with ") as caught:
        as_tensor(Interface(**entries), "x", "SumPlan")
    assert text in str(caught.value)


@pytest.mark.parametrize("missing", ["shape", "typestr", "data"])
def test_an_incomplete_cuda_array_interface(missing):
    obj = Interface()
    del obj.__cuda_array_interface__[missing]
    with pytest.raises(
        InvalidProblem, match=f"^SumPlan: x has a __cuda_array_interface__ without {missing}, want"
    ):
        as_tensor(obj, "x", "SumPlan")


@pytest.mark.parametrize(
    ("interface", "text"),
    [
        (lambda self: [1, 2], "that is a list, want a dict"),
        (lambda self: 1 // 0, "that raises ZeroDivisionError: "),
        (lambda self: {}["gone"], "that raises KeyError: 'gone'"),
    ],
)
def test_what_is_no_cuda_array_interface(interface, text):
    obj = type("Array", (), {"__cuda_array_interface__": property(interface)})()
    with pytest.raises(InvalidProblem, match=f"^SumPlan: x has a __cuda_array_interface__ {text}"):
        as_tensor(obj, "x", "SumPlan")


def test_cuda_array_interface_details():
    assert as_tensor(Interface(data=(4096, True))).readonly
    assert as_tensor(Interface(strides=(-24, 8))).strides == (-6, 2)
    assert as_tensor(Interface(shape=(0, 3), data=(0, False))).size == 0
    half = Interface(typestr="<V2")
    half.dtype = np.dtype(ml_dtypes.bfloat16)
    assert as_tensor(half).element is ElementKind.BF16
    for entries, text in [
        ({"typestr": "<c8"}, "complex64"),
        ({"typestr": "|V2"}, "has dtype |V2"),
        ({"typestr": ">f4"}, "byte order"),
        ({"mask": object()}, "mask"),
    ]:
        with pytest.raises(Unsupported, match=re.escape(text)):
            as_tensor(Interface(**entries))
