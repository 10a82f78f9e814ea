"""Numbers of a descriptor beside integers: a kernel gets exactly what was given, or `select` refuses it."""

from __future__ import annotations

import json
import pickle
import re
from typing import Any

import numpy as np
import pytest
from devices import checkout_spec

import baracuda as bc
from baracuda.codegen import verify
from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem

HOST = bc.Stream.host()
#: Beyond what doubles tell apart.
LONG = 2**62 + 1


def numbers_of(op: Any) -> list[Any]:
    """The attributes that kernels of integers have as integers."""
    return [a for a in op.attributes if not a.wide and op.family.descriptor[a.source].type == "f64"]


#: The ops of integers that take such numbers.
OPS = [op for op in checkout_spec().ops.values() if "i64" in op.dtypes and numbers_of(op)]
CASES = [
    pytest.param(op, dtype, id=f"{op.name}-{dtype}")
    for op in OPS
    for dtype in op.dtypes
    if verify.is_whole(dtype)
]


def problem_of(op: Any, dtype: str, **numbers: Any) -> Any:
    """A problem with numbers that make sense, but for those that are given."""
    (problem, *_) = verify.problems(op, "forward", dtype, [(40,)])
    return problem.with_fields(**numbers)


def refused(problem: Any) -> bool:
    try:
        problem.plan_class.select(HOST, problem.descriptor())
    except InvalidProblem:
        return True
    return False


def test_there_are_such_ops() -> None:
    assert {op.name for op in OPS} >= {"clamp_scalar", "hardtanh", "threshold", "addcmul", "powi"}


@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in OPS])
@pytest.mark.parametrize("number", [LONG, -LONG, 2**63 - 1, -(2**63)])
def test_long_integers_are_exact(spec: Any, backend: Any, op: Any, number: int) -> None:
    assert int(float(number)) != number or number == -(2**63)
    tried = 0
    for attribute in numbers_of(op):
        problem = problem_of(op, "i64", **{attribute.source: number})
        assert getattr(problem.descriptor(), attribute.source) == number
        if attribute.require is not None and refused(problem):
            continue  # as the op asks, and says
        for profile in ("special", "extreme", "ties"):
            assert verify.worst(spec, backend, problem, verify.inputs_for(problem, profile)) == 0
        tried += 1
    assert tried or op.name == "powi"


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_what_is_no_number_of_the_dtype_is_refused(op: Any, dtype: str) -> None:
    """No fraction, no infinity, nothing beyond the ends; the ends themselves are taken."""
    low, high = verify.integer_range(dtype)
    for attribute in numbers_of(op):
        name = attribute.source
        for number in (0.5, float("nan"), float("inf"), float("-inf"), low - 1, high + 1, 2**64, -1e300):
            if number == attribute.default:
                continue
            problem = problem_of(op, dtype, **{name: number})
            shown = getattr(problem.descriptor(), name)
            told = re.escape(f"{problem.plan_class.__name__}: {name} is {shown}, want ")
            with pytest.raises(InvalidProblem, match=f"^{told}"):
                problem.plan_class.select(HOST, problem.descriptor())
        for number in (low, high):
            # Where the op asks for more, it is by name.
            assert attribute.require is not None or not refused(problem_of(op, dtype, **{name: number}))


def test_the_message_names_the_range() -> None:
    desc = bc.UnaryParamDescriptor(kind="clamp", shape=(4,), element="u8", param=-1, param2=1.5)
    text = "UnaryParamPlan: param is -1, param2 is 1.5, want a whole number from 0 to 255, as u8 has"
    with pytest.raises(InvalidProblem, match=f"^{re.escape(text)}$"):
        bc.UnaryParamPlan.select(HOST, desc)


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_an_infinite_default_is_an_end_of_the_range(op: Any, dtype: str) -> None:
    ends = verify.integer_range(dtype)
    for attribute in numbers_of(op):
        if attribute.default is None or np.isfinite(attribute.default):
            continue
        for given in (None, attribute.default):
            desc = problem_of(op, dtype, **{attribute.source: given}).descriptor()
            assert getattr(desc, attribute.source) == ends[attribute.default > 0]


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64", "u8"])
def test_clamp_without_bounds_changes_nothing(backend: Any, dtype: str) -> None:
    x = verify.special_values(dtype)
    y = np.empty_like(x)
    desc = bc.UnaryParamDescriptor(kind="clamp", shape=x.shape, element=dtype)
    bc.UnaryParamPlan.select(HOST, desc)(x=x, y=y)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("number", [7, 7.0, np.int8(7), np.float32(7), np.array(7), np.array(7.0)])
def test_whole_numbers_are_integers_beside_integers_alone(number: Any) -> None:
    desc = bc.UnaryParamDescriptor(kind="clamp", shape=(4,), element="i32", param=number)
    assert desc.param == 7
    assert type(desc.param) is int
    other = desc.replace(element="f32")
    assert other.param == 7
    assert type(other.param) is float
    assert type(other.replace(element="i8").param) is int
    assert (desc.param2, other.param2, desc.replace(element="i8").param2) == (2**31 - 1, float("inf"), 127)


def test_long_integers_go_everywhere_with_the_descriptor() -> None:
    desc = bc.UnaryParamDescriptor(kind="clamp", shape=(4,), element="i64", param=LONG)
    for copy in (pickle.loads(pickle.dumps(desc)), desc.replace(shape=(4,))):
        assert copy == desc
        assert hash(copy) == hash(desc)
        assert copy.param == LONG
    near = desc.replace(param=LONG - 1)
    plans = [bc.UnaryParamPlan.select(HOST, one) for one in (desc, near)]
    assert desc != near
    assert plans[0].key != plans[1].key
    assert json.loads(json.dumps(desc.to_json()))["param"] == LONG


@pytest.mark.parametrize("kind", list(ElementKind))
def test_the_ends_of_a_kind(kind: ElementKind) -> None:
    if kind.is_float:
        assert kind.ends is None
    elif kind is ElementKind.BOOL:
        assert kind.ends == (0, 1)
    else:
        limits = np.iinfo(kind.numpy)
        assert kind.ends == (limits.min, limits.max)
