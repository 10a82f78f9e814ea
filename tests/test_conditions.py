"""Operands of bool: a byte an element, true where it is not 0, wherever they lie."""

from __future__ import annotations

import numpy as np
import pytest

import baracuda as bc

SHAPE = (9, 4099)  # several chunks, and packs with a rest


def condition(layout: str) -> np.ndarray:
    """Truth values of every byte, none of them where a pack of flags would be aligned."""
    if layout == "contiguous":
        flat = np.resize(np.arange(256, dtype=np.uint8) * 37, np.prod(SHAPE) + 1)
        return flat[1:].reshape(SHAPE).view(bool)
    flat = np.resize(np.arange(256, dtype=np.uint8) * 37, np.prod(SHAPE) * 2)
    return flat.reshape((*SHAPE[::-1], 2))[..., 0].T.view(bool)


@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
@pytest.mark.parametrize("element", ["f16", "f32", "f64"])
def test_every_byte_that_is_not_zero_is_true(layout: str, element: str) -> None:
    flags, kind, host = condition(layout), bc.ElementKind.parse(element).numpy, bc.Stream.host()
    truth = flags.view(np.uint8) != 0
    assert 0 < truth.sum() < truth.size
    a, b, y = np.full(SHAPE, 1, kind), np.full(SHAPE, 2, kind), np.empty(SHAPE, kind)
    plan = bc.WherePlan.select(host, bc.WhereDescriptor(shape=SHAPE, element=element))
    plan(condition=flags, a=a, b=b, y=y)
    np.testing.assert_array_equal(y, np.where(truth, 1, 2))


@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
@pytest.mark.parametrize("shapes", [((1, SHAPE[1]), (SHAPE[0], 1)), ((), (1, 1)), ((SHAPE[1],), SHAPE)])
def test_sums_over_broadcast_axes(layout: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    """Small integers, whose sums are exact: along rows, down columns, over all."""
    flags, host = condition(layout), bc.Stream.host()
    dy = np.random.default_rng(0).integers(-3, 4, SHAPE).astype(np.float32)
    da, db = (np.empty(shape, np.float32) for shape in shapes)
    fields = {"shape": SHAPE, "element": "f32", "a_shape": shapes[0], "b_shape": shapes[1]}
    plan = bc.WhereBackwardPlan.select(host, bc.WhereBackwardDescriptor(**fields))
    workspace = bc.Workspace.host(plan.workspace_size())
    plan(dy=dy, condition=flags, da=da, db=db, workspace=workspace)
    truth = flags.view(np.uint8) != 0
    for got, terms in ((da, np.where(truth, dy, 0)), (db, np.where(truth, 0, dy))):
        lacking = tuple(axis for axis in (0, 1) if (1, 1, *got.shape)[axis - 2] != SHAPE[axis])
        np.testing.assert_array_equal(got, terms.sum(lacking, keepdims=True).reshape(got.shape))


def test_a_result_may_not_lie_where_a_condition_does() -> None:
    memory = np.zeros(64, np.uint8)
    y, flags = memory.view(np.float32), memory[:16].view(bool)
    plan = bc.WherePlan.select(bc.Stream.host(), bc.WhereDescriptor(shape=(16,), element="f32"))
    a = np.ones(16, np.float32)
    with pytest.raises(bc.InvalidProblem, match="y overlaps a part of condition"):
        plan(condition=flags, a=a, b=a, y=y)


def test_numbers_are_no_conditions() -> None:
    plan = bc.WherePlan.select(bc.Stream.host(), bc.WhereDescriptor(shape=(4,), element="f32"))
    a, y = np.ones(4, np.float32), np.empty(4, np.float32)
    with pytest.raises(bc.Unsupported, match="condition has dtype u8, want bool"):
        plan(condition=np.ones(4, np.uint8), a=a, b=a, y=y)
