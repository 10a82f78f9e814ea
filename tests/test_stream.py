"""Streams of every library, and the current stream that an array implies."""

from __future__ import annotations

import pickle
import re
import sys
import types

import numpy as np
import pytest

from baracuda.errors import InvalidProblem, Unsupported
from baracuda.stream import Stream, current_stream, current_stream_of
from baracuda.tensor import Device, TensorRef, as_tensor

HOST = Device("host")


def fake(module, name, **attributes):
    cls = type(name, (), {})
    cls.__module__ = module
    instance = cls()
    for key, value in attributes.items():
        setattr(instance, key, value)
    return instance


def cupy_stream(ptr, device_id=0):
    return fake("cupy.cuda.stream", "ExternalStream", ptr=ptr, device_id=device_id)


def torch_stream(handle, index=0):
    return fake("torch.cuda.streams", "Stream", cuda_stream=handle, device=types.SimpleNamespace(index=index))


def cupy_array(device=0):
    memory = types.SimpleNamespace(ptr=4096, size=12)
    data = types.SimpleNamespace(ptr=4096, mem=memory, device_id=device)
    return fake("cupy", "ndarray", shape=(3,), strides=(4,), dtype=np.dtype("f4"), data=data)


def torch_tensor(kind="cuda", index=0):
    dtype_class = type("dtype", (), {"__str__": lambda self: "torch.float32"})
    dtype_class.__module__ = "torch"
    storage = types.SimpleNamespace(data_ptr=lambda: 8192, nbytes=lambda: 12)
    return fake(
        "torch", "Tensor", layout="torch.strided", is_nested=False,
        device=fake("torch", "device", type=kind, index=index), dtype=dtype_class(), shape=(3,),
        is_neg=lambda: False, data_ptr=lambda: 8192, stride=lambda: (1,),
        untyped_storage=lambda: storage,
    )  # fmt: skip


class Interface:
    """An object that has `__cuda_array_interface__` and nothing else."""

    def __init__(self, **entries):
        self.__cuda_array_interface__ = {
            "version": 3, "shape": (3,), "typestr": "<f4", "data": (4096, False), **entries
        }  # fmt: skip


class OnCuda:
    """An array of a library of which only DLPack is known, in CUDA memory as it says."""

    __module__ = "jax"

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **options):
        return np.zeros(3, np.float32).__dlpack__()


@pytest.fixture
def libraries(monkeypatch):
    """Fake `cupy` and `torch` modules; their current streams are set by device index."""
    current = {"cupy": {}, "torch": {}}
    cupy_runtime = types.SimpleNamespace(getDevice=lambda: 1)
    cupy = types.SimpleNamespace(
        cuda=types.SimpleNamespace(
            runtime=cupy_runtime,
            get_current_stream=lambda device_id=-1: cupy_stream(current["cupy"].get(device_id, 0), -1),
        )
    )
    torch = types.SimpleNamespace(
        cuda=types.SimpleNamespace(
            current_stream=lambda device: torch_stream(current["torch"].get(device.index, 0), device.index)
        )
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "torch", torch)
    return current


def test_a_stream_is_a_light_value():
    stream = Stream(0x70, Device("cuda", 1), owner=object())
    assert stream == Stream(0x70, Device("cuda", 1))
    assert hash(stream) == hash(Stream(0x70, Device("cuda", 1)))
    assert stream != Stream(0x70)
    assert Stream.host() == pickle.loads(pickle.dumps(Stream.host()))
    assert (Stream.host().device, Stream.host().handle) == (HOST, 0)
    assert str(stream) == "0x70 on cuda:1"
    assert str(Stream.host()) == "host"
    with pytest.raises(InvalidProblem, match="handle is -1"):
        Stream(-1)
    with pytest.raises(InvalidProblem, match="the host has no handles"):
        Stream(7, HOST)


@pytest.mark.parametrize(
    ("obj", "wanted"),
    [
        (Stream.host(), Stream.host()),
        (0, Stream(0, Device("cuda", 0))),
        (np.uint64(0x7F00), Stream(0x7F00)),
        (cupy_stream(0x10, 2), Stream(0x10, Device("cuda", 2))),
        (torch_stream(0x20, 3), Stream(0x20, Device("cuda", 3))),
        (fake("pkg", "S", __cuda_stream__=lambda: (0, 0x30)), Stream(0x30)),
        (fake("pkg", "S", __cuda_stream__=(0, 0x30)), Stream(0x30)),
        (
            fake("pkg", "S", __cuda_stream__=lambda: (0, 1), device=types.SimpleNamespace(device_id=4)),
            Stream(1, Device("cuda", 4)),
        ),
    ],
)
def test_streams_of_every_library(obj, wanted):
    assert Stream.of(obj) == wanted


def test_a_library_stream_is_kept_alive():
    stream = cupy_stream(0x10)
    assert Stream.of(stream).owner is stream


def test_a_handle_lies_on_the_device_that_is_given():
    assert Stream.of(0x70, Device("cuda", 2)) == Stream(0x70, Device("cuda", 2))
    assert Stream.of(cupy_stream(0, -1), Device("cuda", 2)) == Stream(0, Device("cuda", 2))
    with pytest.raises(InvalidProblem, match="is on cuda:3, want one on cuda:2"):
        Stream.of(torch_stream(0x20, 3), Device("cuda", 2))


def test_cupy_null_stream_is_on_the_current_device(libraries):
    assert Stream.of(cupy_stream(0, -1)) == Stream(0, Device("cuda", 1))


@pytest.mark.parametrize("thing", [None, "0", 1.0, True, [0], object()])
def test_what_is_no_stream_is_a_type_error(thing):
    with pytest.raises(TypeError, match=r"^stream is a .*, want a baracuda\.Stream"):
        Stream.of(thing)


def test_an_unknown_protocol_version_is_refused():
    with pytest.raises(Unsupported, match="version 1, want 0"):
        Stream.of(fake("pkg", "S", __cuda_stream__=lambda: (1, 0x30)))


def test_current_stream_of_each_library(libraries):
    libraries["cupy"][1] = 0x10
    libraries["torch"][0] = 0x20
    assert current_stream(np.zeros(3)) == Stream.host()
    assert current_stream(torch_tensor("cpu", None)) == Stream.host()
    assert current_stream(cupy_array(device=1)) == Stream(0x10, Device("cuda", 1))
    assert current_stream(cupy_array(device=0)) == Stream(0, Device("cuda", 0))
    assert current_stream(torch_tensor()) == Stream(0x20)
    assert current_stream(as_tensor(torch_tensor())) == Stream(0x20)
    assert current_stream(OnCuda()) == Stream(0)
    with pytest.raises(TypeError, match="want a NumPy"):
        current_stream([1.0])


@pytest.mark.parametrize(("stream", "handle"), [(None, 0), (1, 0), (2, 2), (0x7F00, 0x7F00)])
def test_the_interface_says_its_own_stream(stream, handle):
    assert current_stream(Interface(stream=stream)) == Stream(handle)
    assert current_stream(as_tensor(Interface(stream=stream))) == Stream(handle)


def test_current_stream_of_an_ownerless_reference():
    reference = TensorRef(4096, (3,), (1,), "f32", Device("cuda", 1))
    assert current_stream(reference) == Stream(0, Device("cuda", 1))


def test_agreeing_arrays_give_their_stream(libraries):
    libraries["cupy"][0] = libraries["torch"][0] = 0x20
    reference = TensorRef(4096, (3,), (1,), "f32", Device("cuda"))
    assert current_stream_of(None, np.zeros(3), reference, cupy_array(), torch_tensor()) == Stream(0x20)
    assert current_stream_of(np.zeros(3), np.zeros(4)) == Stream.host()
    assert current_stream_of(np.zeros(3), reference) == Stream(0)
    assert current_stream_of(reference, np.zeros(3)) == Stream(0)


def test_differing_streams_name_both_libraries(libraries):
    libraries["cupy"][0] = 0x10
    libraries["torch"][0] = 0x20
    text = "cupy has 0x10 on cuda:0, torch has 0x20 on cuda:0"
    with pytest.raises(InvalidProblem, match=re.escape(text)):
        current_stream_of(cupy_array(), torch_tensor())
    with pytest.raises(InvalidProblem, match=re.escape(text)):
        current_stream_of(as_tensor(cupy_array()), as_tensor(torch_tensor()))
    with pytest.raises(InvalidProblem, match=re.escape("cupy has 0x10 on cuda:0, jax has 0x0")):
        current_stream_of(cupy_array(), as_tensor(OnCuda()))
    with pytest.raises(InvalidProblem, match="on cuda:1"):
        current_stream_of(torch_tensor(index=0), torch_tensor(index=1))


def test_no_array_gives_no_stream():
    with pytest.raises(InvalidProblem, match="no array to take one from"):
        current_stream_of(None)
