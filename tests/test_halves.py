"""Operands that are halves of one tensor: what two tensors give, in any layout, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from devices import each_kernel, each_kernel_program, each_plan, small_problems

from baracuda.codegen import verify
from baracuda.errors import InvalidProblem


def has_halves(op, direction):
    """Whether tensors may hold two operands."""
    del direction
    return op.family.halves is not None


def halved(op, direction, dtype, shape):
    """Problems whose operands are halves, along every axis in either order, each with that of two tensors."""
    rule = op.family.halves
    apart = verify.problems(op, direction, dtype, [shape])[0].with_fields(**{rule.axis: ()})
    for axis in range(len(shape)):
        for swapped in (False, True):
            yield apart.with_fields(**{rule.axis: (axis,), rule.swapped: swapped}), apart


def separate(whole, apart, values):
    """The values of the halves as tensors of their own."""
    found = {name: value for name, value in values.items() if name not in whole.halves()}
    for name, held in whole.halves().items():
        if name in values:
            found |= zip(held, np.split(values[name], 2, axis=whole.halved_axis), strict=True)
    return {name: np.ascontiguousarray(found[name]) for name in apart.inputs()}


def together(whole, results):
    """The results of the halves as the tensors that hold them."""
    halves = whole.halves()
    return {
        name: np.concatenate([results[part] for part in halves[name]], axis=whole.halved_axis)
        if name in halves
        else results[name]
        for name in whole.outputs()
    }


def assert_same_bits(got, want):
    assert got.keys() == want.keys()
    for name, value in want.items():
        np.testing.assert_array_equal(verify.bits_of(got[name]), verify.bits_of(value), err_msg=name)


@each_kernel(where=has_halves)
@pytest.mark.parametrize("shape", [(8,), (3, 16), (3, 5, 7), (1, 70, 65)], ids=str)
def test_halves_give_what_two_tensors_give(backend, op, direction, dtype, shape):
    for whole, apart in halved(op, direction, dtype, shape):
        values = verify.inputs_for(whole)
        want = together(whole, verify.run(backend, apart, separate(whole, apart, values)))
        plan = verify.prepare(backend, whole, values).plan
        for layout in verify.LAYOUTS:
            for names in ([name] for name in whole.tensors()):
                run = verify.prepare(backend, whole, values, layouts=dict.fromkeys(names, layout), plan=plan)
                run.launch()
                assert_same_bits(run.outputs(), want)
            layouts = dict.fromkeys(whole.tensors(), layout)
            assert_same_bits(verify.run(backend, whole, values, layouts=layouts, plan=plan), want)


@each_kernel("backward", where=has_halves)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "every second column", "reversed"])
def test_gradients_in_place(backend, op, direction, dtype, layout):
    """What holds the gradients may be exactly what holds the operands."""
    for shape in ((3, 16), (70, 65), (5, 7)):
        for whole, _ in halved(op, direction, dtype, shape):
            (given,) = (name for name in whole.inputs() if name in whole.halves())
            (result,) = whole.outputs()
            values = verify.inputs_for(whole)
            want = verify.run(backend, whole, values)
            run = verify.prepare(backend, whole, values, layouts={given: layout})
            shared = run.tensors[given]
            run.plan.run(backend.stream, None, run.args(**{result: shared.array}))
            shared.check_surroundings(backend)
            np.testing.assert_array_equal(
                verify.bits_of(shared.values(backend)), verify.bits_of(want[result])
            )


@each_kernel_program(where=has_halves)
def test_halves_take_packs(backend, op, direction):
    """Rows of whole packs take 16-byte accesses; along the first axis halves are contiguous tensors."""
    for extent in (32, 33):
        for whole, _ in halved(op, direction, "f32", (6, extent)):
            run = verify.prepare(backend, whole, verify.inputs_for(whole))
            (step,) = run.plan._checked(run.args())[1].steps
            assert step.variant == ("contig", "strided")[whole.halved_axis]
            packs = step.values[len(step.pointers) + 1]
            assert bool(packs) == (extent == 32)


@each_plan(where=has_halves)
def test_what_is_there_follows_from_the_axis(backend, op, direction):
    rule = op.family.halves
    (whole, apart), *_ = halved(op, direction, "f32", (4, 6))
    for problem in (whole, apart):
        run = verify.prepare(backend, problem, verify.inputs_for(problem))
        lacking = [name for name, tensor in op.family.tensors(direction).items() if name not in run.tensors]
        assert lacking
        for name in lacking:
            # Whatever its shape is: one that would be right there is not.
            for shape in (problem.shapes()[name], (4, 12), (3,), ()):
                given = verify.place(backend, name, "f32", shape)
                with pytest.raises(InvalidProblem, match=f"{name} is given, want None: {rule.axis} is"):
                    run.plan.can_implement(run.args(**{name: given.array}))
        for name in set(run.tensors) - set(problem.optional()):
            with pytest.raises(InvalidProblem, match=f"{name} is None, want a tensor"):
                run.plan.can_implement(run.args(**{name: None}))


@each_plan(where=has_halves)
def test_tensors_of_their_own_have_no_order(backend, op, direction):
    rule = op.family.halves
    (whole, apart), *_ = halved(op, direction, "f32", (4, 6))
    swapped = {rule.swapped: True}
    whole.plan_class.select(backend.stream, whole.descriptor(**swapped))
    text = f"{whole.plan_class.__name__}: {rule.swapped} is True, want False where {rule.axis} is ()"
    with pytest.raises(InvalidProblem, match=f"^{re.escape(text)}$"):
        apart.plan_class.select(backend.stream, apart.descriptor(**swapped))


@each_plan(where=has_halves)
def test_an_output_in_a_half_is_refused(backend, op, direction):
    """A result that fits into a half of an operand's tensor is another tensor, and overlaps that one."""
    for whole, _ in halved(op, direction, "f32", (4, 6)):
        run = verify.prepare(backend, whole, verify.inputs_for(whole))
        for given in whole.halves():
            for output in whole.outputs():
                if given not in run.tensors or output in whole.halves():
                    continue
                first = run.tensors[given].array[:4, :6]
                with pytest.raises(InvalidProblem, match=f"{output} overlaps a part of {given}"):
                    run.plan.can_implement(run.args(**{output: first}))


@each_plan(where=has_halves)
def test_axes_that_there_are_not(backend, op, direction):
    rule = op.family.halves
    problem = small_problems(op, direction, "f32", (4, 6))[0]
    for axes, words in (((0, 1), "want one axis, or (): none"), ((2,), "want 0 to 1"), ((0, 0), "each axis")):
        with pytest.raises(InvalidProblem, match=re.escape(words)):
            problem.plan_class.select(backend.stream, problem.descriptor(**{rule.axis: axes}))
