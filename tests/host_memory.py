"""What lies in an array's memory, read without the array."""

from __future__ import annotations

import ctypes

import numpy as np

from baracuda.tensor import Device

HOST = Device("host")


def address(array):
    return array.__array_interface__["data"][0]


def gather(tensor):
    """Every element of a host tensor, read through its pointer and strides alone, as a flat array."""
    itemsize = tensor.element.itemsize
    raw = [
        ctypes.string_at(
            tensor.pointer + itemsize * sum(i * s for i, s in zip(index, tensor.strides, strict=True)),
            itemsize,
        )
        for index in np.ndindex(*tensor.shape)
    ]
    return np.frombuffer(b"".join(raw), tensor.element.numpy)
