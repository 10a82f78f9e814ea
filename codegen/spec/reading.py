"""What a program must read for its kernels to walk anything: a tensor, and for rows an aggregate of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from baracuda.codegen.problems import Path, Problems
from baracuda.codegen.spec.model import Family, Program
from baracuda.codegen.spec.tensors import FLAG, TEMPLATE


def check_reading(
    program: Program, family: Family, inputs: Sequence[str], at: Callable[[str], Path], problems: Problems
) -> None:
    """Note outputs that no kernel can give; `at` says where an output's formula is written.

    Args:
        inputs: the tensors that formulas may read.
    """
    before = len(problems)
    if family.template == TEMPLATE and not program.aggregates:
        # Rows without an aggregate are mapped, element by element.
        for name in (*program.row_outputs, *program.column_outputs):
            what = (
                f"{program.source[name]}: a value of role {_role(name, family, program)} beside no aggregate"
            )
            problems.add(at(name), what, "an aggregate of a tensor, in `row` or in a formula")
    if len(problems) > before or program.inputs:
        return
    # Only rows are mapped from what is read once a row.
    if family.template != TEMPLATE or program.aggregates or not program.row_inputs:
        name = program.written[0]
        what = f"{program.source[name]}: no formula reads an element of a tensor"
        problems.add(at(name), what, _such_as(family, program, inputs))


def _role(name: str, family: Family, program: Program) -> str:
    return family.tensors(program.direction)[name].role


def _such_as(family: Family, program: Program, inputs: Sequence[str]) -> str:
    """What a formula can read, and a term that does and adds nothing, of a number if there is one."""
    tensors = family.tensors(program.direction)
    known = [name for name in inputs if tensors[name].role != "row"]
    numbers = [name for name in known if tensors[name].dtype != FLAG]
    term = f", such as 0 * {numbers[0]}" if numbers else ""
    return "a formula with one of " + ", ".join(known) + term
