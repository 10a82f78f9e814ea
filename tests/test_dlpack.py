"""Arrays that come by DLPack, through NumPy's own producer."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest
from host_memory import HOST, address, gather

from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem, Unsupported
from baracuda.tensor import Device, as_tensor


class OnlyDLPack:
    """A view of an array that speaks nothing but DLPack; `modern` producers know `max_version`."""

    def __init__(self, array, modern=True, device=None):
        self._array, self._modern, self._device = array, modern, device
        self.calls = []

    def __dlpack_device__(self):
        return self._device or self._array.__dlpack_device__()

    def __dlpack__(self, **options):
        self.calls.append(dict(options))
        if not self._modern and "max_version" in options:
            raise TypeError("unexpected keyword argument 'max_version'")
        options.pop("stream", None)
        return self._array.__dlpack__(**options)


@pytest.mark.parametrize("modern", [True, False])
@pytest.mark.parametrize("kind", [kind for kind in ElementKind if kind is not ElementKind.BF16])
def test_dlpack(modern, kind):
    array = np.array([[0, 1, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0]]).astype(kind.numpy)[::2, ::-1]
    tensor = as_tensor(OnlyDLPack(array, modern))
    assert tensor.pointer == address(array)
    assert tensor.shape == array.shape
    assert tensor.strides == (8, -1)
    assert tensor.element is kind
    assert tensor.device == HOST
    assert not tensor.readonly
    assert np.array_equal(gather(tensor), array.ravel())


def test_dlpack_honours_readonly():
    array = np.arange(3.0)
    array.flags.writeable = False
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert as_tensor(OnlyDLPack(array)).readonly
    with pytest.raises(Unsupported, match="cannot be exported by DLPack"):
        as_tensor(OnlyDLPack(array, modern=False))


def test_arrays_of_immutable_libraries_are_readonly():
    cls = type("ArrayImpl", (OnlyDLPack,), {})
    cls.__module__ = "jaxlib._jax"
    assert as_tensor(cls(np.arange(3.0))).readonly


@pytest.mark.parametrize("modern", [True, False])
def test_dlpack_keeps_the_memory_until_nobody_needs_it(modern):
    array = np.arange(100.0)
    count = sys.getrefcount(array)
    tensor = as_tensor(OnlyDLPack(array, modern))
    gc.collect()
    assert sys.getrefcount(array) == count + 1
    assert np.array_equal(gather(tensor), array)
    del tensor
    gc.collect()
    assert sys.getrefcount(array) == count


def test_dlpack_frees_what_it_refuses():
    array = np.zeros(4, np.complex64)
    count = sys.getrefcount(array)
    with pytest.raises(Unsupported, match=r"^SumPlan: x has dtype complex64, want one of f16"):
        as_tensor(OnlyDLPack(array), "x", "SumPlan")
    gc.collect()
    assert sys.getrefcount(array) == count


def test_dlpack_devices():
    # NumPy's capsule says host; the protocol's own answer decides what is asked of the producer.
    producer = OnlyDLPack(np.arange(3.0), device=(2, 1))
    assert as_tensor(producer).device == Device("cuda", 1)
    assert producer.calls[-1]["stream"] == 1
    producer = OnlyDLPack(np.arange(3.0), device=(3, 0))
    assert as_tensor(producer).device == HOST
    assert "stream" not in producer.calls[-1]
    with pytest.raises(Unsupported, match="DLPack device type 8"):
        as_tensor(OnlyDLPack(np.arange(3.0), device=(8, 0)))


@pytest.mark.parametrize(
    ("device", "text"),
    [
        (lambda: {}["gone"], "gives no device: KeyError: 'gone'"),
        (lambda: None.gone, "gives no device: AttributeError"),
        (lambda: None, "gives no device: TypeError"),
        (lambda: (2,), "gives no device: ValueError"),
        (lambda: ("cuda", 0), "gives no device: TypeError"),
        (lambda: (2, -1), r"gives \(2, -1\), want no index below 0"),
    ],
)
def test_a_faulty_device(device, text):
    producer = OnlyDLPack(np.arange(3.0))
    producer.__class__ = type("Faulty", (OnlyDLPack,), {"__dlpack_device__": lambda self: device()})
    with pytest.raises(InvalidProblem, match=f"^SumPlan: x has a __dlpack_device__ that {text}"):
        as_tensor(producer, "x", "SumPlan")


@pytest.mark.parametrize(
    "fault", [KeyError("gone"), AttributeError("gone"), TypeError("gone"), OSError("gone")]
)
def test_an_export_that_raises(fault):
    def export(self, **options):
        raise fault

    producer = type("Faulty", (OnlyDLPack,), {"__dlpack__": export})(np.arange(3.0))
    with pytest.raises(
        InvalidProblem, match=f"^SumPlan: x has a __dlpack__ that raises {type(fault).__name__}: "
    ):
        as_tensor(producer, "x", "SumPlan")


class Again:
    """A producer that hands out the one capsule it has, again and again."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        return self._capsule


def test_a_capsule_is_taken_once():
    producer = Again(np.arange(3.0).__dlpack__())
    assert np.array_equal(gather(as_tensor(producer)), np.arange(3.0))
    with pytest.raises(TypeError, match="want a fresh DLPack capsule"):
        as_tensor(producer)
    producer = Again(np.arange(3.0).__dlpack__())
    np.from_dlpack(producer)
    with pytest.raises(TypeError, match=r"^SumPlan: x has a __dlpack__ that gives .*used_dltensor"):
        as_tensor(producer, "x", "SumPlan")
