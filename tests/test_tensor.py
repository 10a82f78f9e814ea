"""`TensorRef` and `Device`."""

from __future__ import annotations

import re

import numpy as np
import pytest
from host_memory import HOST

from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem, Unsupported
from baracuda.tensor import Device, TensorRef, as_tensor


def make(**changes):
    fields = {"pointer": 4096, "shape": (2, 3), "strides": (3, 1), "element": "f32", "device": HOST}
    return TensorRef(**{**fields, **changes})


def test_tensor_refs_pass_through_and_compare_without_their_owner():
    tensor = make(owner=[1])
    assert as_tensor(tensor) is tensor
    assert tensor == make(owner=[2])
    assert hash(tensor) == hash(make())
    assert tensor != make(strides=(1, 2))
    assert tensor.element is ElementKind.F32


def test_tensor_ref_takes_integers_of_any_kind():
    tensor = make(pointer=np.int64(4096), shape=[np.int32(2), 3], strides=np.array([3, 1]))
    assert tensor == make()
    assert all(type(extent) is int for extent in tensor.shape + tensor.strides)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"strides": (1,)}, InvalidProblem, "strides (1,) have 1 entries, want 2"),
        ({"shape": (2, -3)}, InvalidProblem, "negative extent"),
        ({"pointer": 0}, InvalidProblem, "pointer is 0"),
        ({"pointer": -4}, InvalidProblem, "pointer is -4"),
        ({"buffer": (8, 4)}, InvalidProblem, "want (lowest address, end address)"),
        ({"buffer": (8, 16, 24)}, InvalidProblem, "want (lowest address, end address)"),
        ({"element": "f23"}, Unsupported, "TensorRef: element 'f23' is not known"),
        ({"element": 3}, TypeError, "TensorRef: element"),
        ({"strides": (2**62, 1)}, InvalidProblem, "reach beyond every address"),
        ({"strides": (-2048, 1)}, InvalidProblem, "reach beyond every address"),
        ({"strides": (2**70, 1)}, InvalidProblem, "reach beyond every address"),
        ({"pointer": 2**64 - 20}, InvalidProblem, "reach beyond every address"),
        ({"shape": (2**62, 3)}, InvalidProblem, "reach beyond every address"),
        ({"device": "cuda"}, TypeError, "want a baracuda Device"),
        ({"shape": 6}, TypeError, "shape is 6"),
        ({"shape": (2, 3.0)}, TypeError, "want a tuple of ints"),
        ({"pointer": "x"}, TypeError, "pointer is 'x'"),
    ],
)
def test_tensor_ref_is_checked_once(changes, error, text):
    with pytest.raises(error, match=re.escape(text)):
        make(**changes)


def test_an_empty_tensor_ref_may_point_nowhere():
    assert make(pointer=0, shape=(0, 3)).size == 0


@pytest.mark.parametrize(
    "changes",
    [{"pointer": 2**64 - 24}, {"strides": (-1024 + 2, -1)}, {"shape": (2**70, 3), "strides": (0, 1)}],
)
def test_a_tensor_ref_may_reach_the_first_and_the_last_address(changes):
    assert make(**changes).rank == 2


def test_devices():
    assert str(Device("cuda", 1)) == "cuda:1"
    assert str(HOST) == "host"
    for kind, index in [("gpu", 0), ("host", 1), ("cuda", -1)]:
        with pytest.raises(InvalidProblem, match=r"^Device: "):
            Device(kind, index)
