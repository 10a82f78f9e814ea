"""What the dtypes of an op share: nothing is lost between them, and each has its part."""

from __future__ import annotations

from typing import Any

import pytest
from devices import checkout_spec, share, turn

OPS = [(op, direction) for op in checkout_spec().ops.values() for direction in op.programs]
PIECES = range(13)


def shares(op: Any, direction: str, pieces: range, **options: Any) -> dict[str, list[int]]:
    return {dtype: [*share(pieces, op, direction, dtype, **options)] for dtype in op.dtypes_of(direction)}


@pytest.mark.parametrize("count", [1, 2, 3, 5, 13, 40])
def test_the_dtypes_of_an_op_check_everything_together(count: int) -> None:
    for op, direction in OPS:
        found = shares(op, direction, range(count))
        assert {piece for pieces in found.values() for piece in pieces} == {*range(count)}
        assert all(found.values())


def test_a_share_is_no_smaller_than_asked_for() -> None:
    for op, direction in OPS:
        assert all(len(pieces) >= 4 for pieces in shares(op, direction, PIECES, least=4).values())


def test_every_dtype_meets_every_piece_in_some_op() -> None:
    met: dict[str, set[int]] = {}
    for op, direction in OPS:
        for dtype, pieces in shares(op, direction, PIECES).items():
            met.setdefault(dtype, set()).update(pieces)
    assert all(pieces == {*PIECES} for pieces in met.values())


def test_dtypes_that_a_test_names_share_among_themselves() -> None:
    for op, direction in OPS:
        among = [dtype for dtype in ("f16", "f32") if dtype in op.dtypes_of(direction)]
        found = [share(PIECES, op, direction, dtype, among) for dtype in among]
        assert not found or {piece for pieces in found for piece in pieces} == {*PIECES}


def test_ops_take_pieces_in_turn() -> None:
    assert {piece for op, direction in OPS for piece in turn(PIECES, op, direction)} == {*PIECES}
