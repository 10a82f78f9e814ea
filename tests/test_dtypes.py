"""Element kinds and their names."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

from baracuda.dtypes import ElementKind
from baracuda.errors import Unsupported


@pytest.mark.parametrize("kind", ElementKind)
def test_every_kind_matches_its_numpy_dtype(kind):
    assert kind.numpy.itemsize == kind.itemsize
    assert ElementKind.parse(kind.numpy) is kind
    assert ElementKind.parse(kind.numpy.type) is kind
    assert ElementKind.parse(kind.value) is kind
    assert ElementKind.parse(kind.numpy.name) is kind
    assert ElementKind(kind.value) is kind
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert f"{kind}" == str(kind) == kind.value
    assert kind.is_float == (kind.value in ("f16", "bf16", "f32", "f64"))


@pytest.mark.parametrize(
    ("kind", "compute"),
    [("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64"), ("i16", "i16"), ("bool", "bool")],
)
def test_compute_kind(kind, compute):
    assert ElementKind(kind).compute is ElementKind(compute)


@pytest.mark.parametrize(
    ("alias", "kind"),
    [("half", "f16"), ("single", "f32"), ("double", "f64"), ("torch.bfloat16", "bf16"), (np.bool_, "bool")],
)
def test_aliases(alias, kind):
    assert ElementKind.parse(alias) is ElementKind(kind)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("F32", "did you mean 'f32'?"),
        ("bfloat61", "did you mean 'bf16'?"),
        ("complex64", "want one of f16, bf16,"),
        (np.dtype(">f4"), "byte order"),
        (np.complex64, "complex64"),
        (np.dtype([("a", "f4")]), "[('a', '<f4')]"),
    ],
)
def test_unknown_elements_are_refused_with_a_way_out(name, text):
    with pytest.raises(Unsupported, match=re.escape(text)):
        ElementKind.parse(name)


@pytest.mark.parametrize("thing", [None, 4, ["f32"], 1.5])
def test_what_names_no_dtype_is_a_type_error(thing):
    with pytest.raises(TypeError, match="want an ElementKind"):
        ElementKind.parse(thing)
