"""More elements than 32 bits count; on the host executor, which is slower, a few thousand."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import baracuda as bc
from baracuda.codegen.verify import Backend


@pytest.fixture
def arrays(backend: Backend) -> Any:
    """Return NumPy or CuPy."""
    return importlib.import_module("cupy") if backend.kind == "cuda" else np


@pytest.fixture
def count(backend: Backend) -> int:
    """Return how many elements: no multiple of a pack or of a block."""
    return 2**31 + 11 if backend.kind == "cuda" else 70_003


def places(count: int) -> list[int]:
    """The ends, and where 31 and 32 bits end, if there are so many."""
    known = (0, 1, 2**31 - 1, 2**31, 2**31 + 1, count // 2, count - 17, count - 1)
    return sorted({place for place in known if place < count})


def spread(arrays: Any, value: int, dtype: str, shape: tuple[int, ...]) -> Any:
    """One element in memory, seen as many by strides of 0."""
    return arrays.broadcast_to(arrays.full((1,) * len(shape), value, dtype), shape)


def marked(arrays: Any, count: int) -> Any:
    """Bytes of 3, but for some that tell their place."""
    x = arrays.full(count, 3, "u1")
    for number, place in enumerate(places(count)):
        x[place] = 100 + number
    return x


def check(arrays: Any, got: Any, wanted: Any) -> None:
    assert bool((got == wanted).all())


def test_contiguous(backend: Backend, arrays: Any, count: int) -> None:
    x = marked(arrays, count)
    desc = bc.UnaryDescriptor(kind="neg", shape=(count,), element="u8")
    y = arrays.empty_like(x)
    bc.UnaryPlan.select(backend.stream, desc)(x=x, y=y)
    backend.synchronize()
    check(arrays, y, arrays.negative(x))


def test_misaligned_and_reversed(backend: Backend, arrays: Any, count: int) -> None:
    x = marked(arrays, count + 1)[1:][::-1]
    desc = bc.UnaryDescriptor(kind="bitwise_not", shape=(count,), element="u8")
    y = arrays.empty(count, "u1")
    bc.UnaryPlan.select(backend.stream, desc)(x=x, y=y)
    backend.synchronize()
    check(arrays, y, arrays.invert(x))


def test_broadcast(backend: Backend, arrays: Any, count: int) -> None:
    """Both operands have few elements, the domain many."""
    columns = 40_009 if backend.kind == "cuda" else 211
    shape = (count // columns + 1, columns)
    row, column = arrays.arange(columns) % 251, arrays.arange(shape[0]) % 241
    a, b = row.astype("u1")[None], column.astype("u1")[:, None]
    desc = bc.BinaryDescriptor(kind="add", shape=shape, element="u8", a_shape=a.shape, b_shape=b.shape)
    y = arrays.empty(shape, "u1")
    bc.BinaryPlan.select(backend.stream, desc)(a=a, b=b, y=y)
    backend.synchronize()
    check(arrays, y, a + b)


@pytest.mark.parametrize("whole", [1, 16], ids=["elements", "packs"])
def test_transposed(backend: Backend, arrays: Any, count: int, whole: int) -> None:
    """Tiles read by elements, and by packs where both extents are whole packs."""
    columns = (40_009 if count >= 2**31 else 211) // whole * whole
    rows = (count // columns // whole + 1) * whole
    x = marked(arrays, rows * columns).reshape(columns, rows).T
    desc = bc.UnaryDescriptor(kind="bitwise_not", shape=(rows, columns), element="u8")
    y = arrays.empty((rows, columns), "u1")
    bc.UnaryPlan.select(backend.stream, desc)(x=x, y=y)
    backend.synchronize()
    check(arrays, y, arrays.invert(x))


@pytest.mark.parametrize("shape", ["row", "rows", "columns"])
def test_sums_of_one_element_seen_as_many(backend: Backend, arrays: Any, count: int, shape: str) -> None:
    """A sum of ones counts them, up to the rounding of f32; in f64 it is their number."""
    extents, axis = {
        "row": ((count,), 0),
        "rows": ((3, count), 1),
        "columns": ((count // 2, 5), 0),
    }[shape]
    x = spread(arrays, 1, "f8", extents)
    desc = bc.ReduceDescriptor(kind="sum", input_shape=extents, reduce_axis=axis, element="f64")
    plan = bc.ReducePlan.select(backend.stream, desc)
    y = arrays.zeros(tuple(1 if place == axis else extent for place, extent in enumerate(extents)), "f8")
    plan(x=x, y=y, workspace=backend.workspace(plan.workspace_size()))
    backend.synchronize()
    check(arrays, y, extents[axis])


def test_far_rows_of_packs(backend: Backend, arrays: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All packs of a thread and the step on from the last one have offsets of 32 bits, or all have 64."""
    monkeypatch.setattr("baracuda.engines.map.THREADS_ENOUGH", 1)
    x = marked(arrays, 4 * 112).reshape(4, 112)[:, :64]
    for most, variant in ((4 * 112 + 48 - 1, "strided64"), (4 * 112 + 48, "strided")):
        y = arrays.zeros((4, 64), "u1")
        plan = bc.UnaryPlan.select(
            backend.stream, bc.UnaryDescriptor(kind="neg", shape=(4, 64), element="u8")
        )
        with monkeypatch.context() as context:
            context.setattr("baracuda.layout.INT32_MAX", most)
            assert plan.sku_for(plan.ARGS(x=x, y=y)).variant == variant
            plan(x=x, y=y)
        backend.synchronize()
        check(arrays, y, arrays.negative(x))


def test_rows_whose_steps_have_more_than_32_bits(
    backend: Backend, arrays: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four rows that 32 bits reach, while a step of four of them is longer than that."""
    monkeypatch.setattr("baracuda.engines.map.THREADS_ENOUGH", 1)
    far = 700_000_000
    x = arrays.empty(3 * far + 64, "u1")
    rows = arrays.lib.stride_tricks.as_strided(x, (4, 64), (far, 1))
    rows[...] = arrays.arange(256, dtype="u1").reshape(4, 64)
    y = arrays.zeros((4, 64), "u1")
    bc.UnaryPlan.select(backend.stream, bc.UnaryDescriptor(kind="neg", shape=(4, 64), element="u8"))(
        x=rows, y=y
    )
    backend.synchronize()
    check(arrays, y, arrays.negative(rows))
