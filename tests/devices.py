"""What the numeric tests share: the spec, its ops as test parameters, and kernels loaded in one batch."""

from __future__ import annotations

import contextlib
import functools
import importlib.resources
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import pytest

from baracuda import host_compile, host_compiler
from baracuda import kernels as kernels_of_plans
from baracuda.codegen import kernels, load_spec, verify
from baracuda.compile import loader, pack
from baracuda.compile.cache import FOLDER_VARIABLE
from baracuda.compile.loader import preload
from baracuda.compile.unit import Unit

if TYPE_CHECKING:
    from baracuda.codegen.matrix import KernelRow
    from baracuda.codegen.spec import Spec
    from baracuda.compile.loader import Kernel, Launch, Module
    from baracuda.tensor import Device

#: Whether a test applies to an op's direction.
Where: TypeAlias = "Callable[[Any, str], bool]"
Piece = TypeVar("Piece")


@functools.cache
def checkout_spec() -> Spec:
    return load_spec()


def each_op(*directions: str, dtypes: Iterable[str] = (), where: Where | None = None) -> Any:
    """Parametrise a test over op, direction and dtype: every one of the spec, or those that are asked for."""
    return _each_op(directions, dtypes, where, every=True)


def each_kernel(*directions: str, dtypes: Iterable[str] = (), where: Where | None = None) -> Any:
    """As `each_op`, of maps whose kernels differ in their formula alone the first; `--full` takes all.

    For properties that are the template's and the engine's: layouts, shapes, streams, determinism.
    """
    return _each_op(directions, dtypes, where, every=_full)


def each_program(*directions: str, where: Where | None = None) -> Any:
    """Parametrise a test over op and direction."""
    return _each_program(directions, where, every=True)


def each_kernel_program(*directions: str, where: Where | None = None) -> Any:
    """As `each_program`, of the ops whose kernels differ in their formula alone the first."""
    return _each_program(directions, where, every=_full)


_full = False


def take_all(full: bool) -> None:
    """Whether `each_kernel` takes all ops and `share` all pieces; to be said before tests are imported."""
    global _full  # noqa: PLW0603
    _full = full


def share(
    pieces: Sequence[Piece], op: Any, direction: str, dtype: str, among: Sequence[str] = (), least: int = 1
) -> Sequence[Piece]:
    """Of what is checked in each dtype of an op this dtype's share, which `--full` makes all of it.

    The dtypes take turns, and another one begins in the next op: every piece is checked of every op, and
    beside every dtype. Where they are few, a dtype has some beyond its share.

    Args:
        pieces: problems, layouts, or pairs of them.
        op: the op.
        direction: its direction.
        dtype: whose share.
        among: the dtypes that the test has; none: all of the op's.
        least: the number of pieces that a dtype has in any case.
    """
    dtypes = [name for name in op.dtypes_of(direction) if not among or name in among]
    turns = min(len(dtypes), max(1, len(pieces) // least))
    if _full or turns < 2:
        return pieces
    return pieces[(dtypes.index(dtype) + _places()[op.name, direction]) % turns :: turns]


def turn(pieces: Sequence[Piece], op: Any, direction: str, number: int = 0) -> Sequence[Piece]:
    """Of what is checked of every op one piece, the next op or number the next; all of them with `--full`."""
    return pieces if _full else [pieces[(_places()[op.name, direction] + number) % len(pieces)]]


def half(pieces: Sequence[Piece], op: Any, direction: str, number: int = 0) -> Sequence[Piece]:
    """Of what is checked of every op every second piece, the next op or number the others; or all of it."""
    if _full or len(pieces) < 2:
        return pieces
    return pieces[(_places()[op.name, direction] + number) % 2 :: 2]


def thinned(pieces: Sequence[Piece], kind: Callable[[Piece], object], turns: int) -> Sequence[Piece]:
    """Of the pieces of each kind one in so many and one at least, kinds by turns others; or all of them."""
    kinds: dict[object, list[int]] = {}
    for place, piece in enumerate(pieces):
        kinds.setdefault(kind(piece), []).append(place)
    kept = {
        place
        for number, places in enumerate(kinds.values())
        for place in places[number % min(turns, len(places)) :: turns]
    }
    return pieces if _full else [piece for place, piece in enumerate(pieces) if place in kept]


def each_kind(pieces: Sequence[Piece], alike: Sequence[Piece]) -> Sequence[Piece]:
    """Pieces that differ in kind; with `--full` also those that each are like one of them."""
    return [*pieces, *alike] if _full else pieces


@functools.cache
def _places() -> dict[tuple[str, str], int]:
    """A number for each direction of each op; those that stand for others have the first."""
    found = [(op.name, direction) for op in checkout_spec().ops.values() for direction in op.programs]
    found.sort(key=lambda member: member not in _first_of_form())
    return {member: number for number, member in enumerate(found)}


def _each_op(directions: tuple[str, ...], dtypes: Iterable[str], where: Where | None, *, every: bool) -> Any:
    wanted = set(dtypes)
    return pytest.mark.parametrize(
        ("op", "direction", "dtype"),
        [
            pytest.param(op, direction, dtype, id=f"{op.stem(direction)}-{dtype}")
            for op, direction in _chosen(directions, where, every)
            for dtype in op.dtypes_of(direction)
            if not wanted or dtype in wanted
        ],
    )


def _each_program(directions: tuple[str, ...], where: Where | None, *, every: bool) -> Any:
    # Tests that name no dtype run f32.
    def has_f32(op: Any, direction: str) -> bool:
        return "f32" in op.dtypes and (where is None or where(op, direction))

    return pytest.mark.parametrize(
        ("op", "direction"),
        [
            pytest.param(op, direction, id=op.stem(direction))
            for op, direction in _chosen(directions, has_f32, every)
        ],
    )


def _chosen(directions: tuple[str, ...], where: Where | None, every: bool) -> list[tuple[Any, str]]:
    # `where` comes last: it costs most.
    return [
        (op, direction)
        for op in checkout_spec().ops.values()
        for direction in op.programs
        if (not directions or direction in directions)
        and (every or not repeated(op, direction))
        and (where is None or where(op, direction))
    ]


def repeated(op: Any, direction: str) -> bool:
    """Whether another op's kernel, which differs in its formula alone, stands for this one's."""
    return (op.name, direction) not in _first_of_form()


@functools.cache
def _first_of_form() -> frozenset[tuple[str, str]]:
    found: dict[Any, tuple[str, str]] = {}
    for op in checkout_spec().ops.values():
        for direction in op.programs:
            found.setdefault(_form(op, direction), (op.name, direction))
    return frozenset(found.values())


def _form(op: Any, direction: str) -> Any:
    """What the kernels of a direction are beside formulas: tensors, and what the host hands over."""
    if op.family.template != "map":
        return op.name, direction
    programs = [program for program in op.all_programs() if program.direction == direction]
    return op.family.name, tuple(
        (
            program.direction,
            program.options,
            program.inputs,
            program.outputs,
            tuple(sorted({value.kind for value in program.attributes})),
            program.packs,
            program.half_packs,
        )
        for program in programs
    )


def each_plan(where: Where | None = None) -> Any:
    """Parametrise a test over op and direction, the first op of each plan class."""
    found = {
        op.family.plan_class(direction): (op, direction)
        for op in reversed(checkout_spec().ops.values())
        for direction in op.programs
    }
    return pytest.mark.parametrize(
        ("op", "direction"),
        [
            pytest.param(op, direction, id=name)
            for name, (op, direction) in sorted(found.items())
            if where is None or where(op, direction)
        ],
    )


def unit_of(row: KernelRow, package: str = verify.GENERATED) -> Unit:
    """The compile unit of a kernel, as the plans of a package ask for it."""
    source = row.unit.removeprefix("kernels/")
    text = _own_text(row.unit) if package == verify.GENERATED else _text(package, row.unit)
    return Unit(source, text, row.defines, row.flags)


def _text(package: str, name: str) -> str:
    return importlib.resources.files(package).joinpath(*name.split("/")).read_text(encoding="utf-8")


@functools.cache
def _own_text(name: str) -> str:
    """A text of the checkout's kernels, which many rows share."""
    return _text(verify.GENERATED, name)


def load_units(rows: Iterable[KernelRow], device: Device, package: str = verify.GENERATED) -> None:
    """Load kernels, all of a source together: on the host that is one C++ file a source, not one a plan."""
    sources: dict[str, dict[Unit, None]] = {}
    for row in rows:
        sources.setdefault(row.unit, {})[unit_of(row, package)] = None
    for units in sources.values():
        preload(units, device)


@functools.cache
def bundles() -> list[list[tuple[str, str]]]:
    """Ops with a direction, in groups that are compiled together: small kernels share a C++ file."""
    found: list[list[tuple[str, str]]] = []
    size = _FULL
    for op in checkout_spec().ops.values():
        for direction in op.programs:
            own = len({row.defines for row in _rows_of()[op.name, direction] if not _waits(row)})
            alone = op.family.template != "map" or size + own > _FULL
            if alone:
                found.append([])
                size = 0 if op.family.template == "map" else _FULL
            found[-1].append((op.name, direction))
            size += own
    return found


#: Units that share a C++ file.
_FULL = 32


def _waits(row: KernelRow) -> bool:
    """Whether a kernel is compiled when it is launched first: for far elements, turned axes, or sums.

    Few ops' tests launch those; of gradients' sums one dtype of an op that another stands for.
    """
    if (row.op, row.direction) in _first_of_plan():
        return False
    sums = _is_sum(row) and not _has_sums(row.op, row.direction, row.dtype)
    return ("BARACUDA_WIDE", "1") in row.defines or sums


def _is_sum(row: KernelRow) -> bool:
    """Whether a kernel sums a gradient of a broadcast operand."""
    return any(name.startswith("BARACUDA_SUM_") for name, _ in row.defines)


@functools.cache
def _has_sums(name: str, direction: str, dtype: str) -> bool:
    """Whether an op's gradients of broadcast operands are tried in a dtype.

    The dtypes take turns in the ops that another one stands for.
    """
    op = checkout_spec().ops[name]
    dtypes = op.dtypes_of(direction)
    turned = dtypes[_places()[name, direction] % len(dtypes)]
    return _full or not repeated(op, direction) or dtype == turned


@functools.cache
def _first_of_plan() -> frozenset[tuple[str, str]]:
    """The first op of each plan class, and of maps that of each form."""
    found: dict[Any, tuple[str, str]] = {}
    for op in checkout_spec().ops.values():
        for direction in op.programs:
            key = _form(op, direction) if op.family.template == "map" else op.family.plan_class(direction)
            found.setdefault(key, (op.name, direction))
    return frozenset(found.values())


@functools.cache
def load_bundle(number: int, device: Device) -> None:
    """Load every kernel of a group of `bundles` that does not wait, once; with `--full` those too."""
    members = bundles()[number]
    rows = [row for member in members for row in _rows_of()[member]]
    early, late = ([row for row in rows if _waits(row) is waits] for waits in (False, True))
    for level in dict.fromkeys(map(_level, early)):
        with compiled_at(*level):
            _load_together([row for row in early if _level(row) == level], device, alone=len(members) == 1)
    if _full and late:
        preload([*dict.fromkeys(unit_of(row) for row in late)], device)


def _load_together(rows: Sequence[KernelRow], device: Device, *, alone: bool) -> None:
    """Load kernels of one op a file a source, those of several ops in one file."""
    if alone:
        load_units(rows, device)
    else:
        preload([*dict.fromkeys(unit_of(row) for row in rows)], device)


def _level(row: KernelRow) -> tuple[str, ...]:
    """How much a kernel is optimised, beyond the package's flags: it pays where kernels run long."""
    family = checkout_spec().ops[row.op].family
    if _full or family.tiles:
        return ()
    return ("-O0",) if family.template == "map" and not _is_sum(row) else ("-Og",)


@contextlib.contextmanager
def compiled_at(*level: str) -> Iterator[None]:
    """Host kernels are compiled with another level: optimising takes longer than all runs of the tests."""

    def flags(compiler: host_compiler.Compiler) -> tuple[str, ...]:
        return (*host_compiler.compile_flags(compiler), *level)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_compile, "compile_flags", flags)
        yield


def load_op(op: str, direction: str, device: Device) -> None:
    """Load every kernel of an op's direction, and those that are compiled with them."""
    load_bundle(_bundle_of()[op, direction], device)


class Late:
    """A module of one unit, which is loaded, alone, when a kernel of it is launched first."""

    def __init__(self, unit: Unit, device: Device) -> None:
        self._unit, self._device = unit, device

    def kernel(self, symbol: str) -> LateKernel:
        return LateKernel(self, symbol)

    def load(self) -> Module:
        return loader.load(self._unit, self._device)


class LateKernel:
    """A kernel of a `Late` module."""

    def __init__(self, module: Late, symbol: str) -> None:
        self._module, self._symbol = module, symbol

    def _kernel(self) -> Kernel:
        return self._module.load().kernel(self._symbol)

    def shared_to_hold(self, blocks: int, threads: int) -> int:
        return self._kernel().shared_to_hold(blocks, threads)

    def pack(self, grid: tuple[int, int, int], threads: int, shared_bytes: int, params: bytes) -> Launch:
        return self._kernel().pack(grid, threads, shared_bytes, params)


def late(preload: Any) -> Any:
    """A `preload` that leaves units of other packages than the checkout's until they are launched."""

    def preload_own(units: Iterable[Unit], device: Device, *rest: Any, **options: Any) -> Any:
        units = list(units)
        found = iter(preload([unit for unit in units if unit in _bundle_of_unit()], device, *rest, **options))
        return [next(found) if unit in _bundle_of_unit() else Late(unit, device) for unit in units]

    return preload_own


@contextlib.contextmanager
def plans_share_libraries(device: Device) -> Iterator[None]:
    """Plans of the checkout that a test selects load the group that their kernels are in, as `load_op` does.

    Else each unit that no test of an op loaded before would be compiled again, alone.
    Tests with a folder, packs or modules of their own get what they ask for.
    """
    modules, folder = loader._modules, os.environ.get(FOLDER_VARIABLE)

    def preload_group(units: Iterable[Unit], device: Device, *rest: Any, **options: Any) -> Any:
        units = list(units)
        usual = loader._modules is modules and os.environ.get(FOLDER_VARIABLE) == folder
        if not usual or not loader.jit_allowed() or pack.loaded_packs():
            return preload(units, device, *rest, **options)
        for unit in units:
            if unit not in modules and unit in _bundle_of_unit():
                load_bundle(_bundle_of_unit()[unit], device)
        found = iter(preload([unit for unit in units if not _is_late(unit)], device, *rest, **options))
        return [Late(unit, device) if _is_late(unit) else next(found) for unit in units]

    with pytest.MonkeyPatch.context() as patch:
        if device.kind == "host":
            patch.setattr(kernels_of_plans, "preload", preload_group)
        yield


def _is_late(unit: Unit) -> bool:
    return unit not in loader._modules and unit in _late_units()


@functools.cache
def _late_units() -> frozenset[Unit]:
    return frozenset(unit_of(row) for row in all_rows() if _waits(row))


@functools.cache
def _bundle_of_unit() -> dict[Unit, int]:
    return {unit_of(row): _bundle_of()[row.op, row.direction] for row in all_rows()}


@functools.cache
def _bundle_of() -> dict[tuple[str, str], int]:
    return {member: number for number, members in enumerate(bundles()) for member in members}


@functools.cache
def all_rows() -> list[KernelRow]:
    return kernels(checkout_spec())


@functools.cache
def _rows_of() -> dict[tuple[str, str], list[KernelRow]]:
    """The kernels of each op's directions."""
    found: dict[tuple[str, str], list[KernelRow]] = {}
    for row in all_rows():
        found.setdefault((row.op, row.direction), []).append(row)
    return found


@functools.cache
def shared_backend(kind: str) -> verify.Backend:
    return verify.backend(kind)


def small_problems(
    op: Any, direction: str, dtype: str, *shapes: tuple[int, ...], **options: Any
) -> list[Any]:
    """Problems of an op over small domains, broadcast operands and every option among them.

    Gradients of broadcast operands are there in the dtypes that `_has_sums` says.
    """
    if op is checkout_spec().ops.get(op.name):
        # Tests of one op ask for the same ones again and again.
        return [*_own_problems(op.name, direction, dtype, shapes or ((3, 5, 7),), **options)]
    return _problems(op, direction, dtype, shapes or ((3, 5, 7),), **options)


def _problems(
    op: Any, direction: str, dtype: str, shapes: tuple[tuple[int, ...], ...], **options: Any
) -> list[Any]:
    summed = op.family.template != "map" or direction == "forward" or _has_sums(op.name, direction, dtype)
    return verify.problems(op, direction, dtype, shapes, broadcast=summed, **options)


@functools.cache
def _own_problems(
    name: str, direction: str, dtype: str, shapes: tuple[tuple[int, ...], ...], **options: Any
) -> list[Any]:
    return _problems(checkout_spec().ops[name], direction, dtype, shapes, **options)


def aggregating(op: Any, direction: str, dtype: str = "f32") -> list[Any]:
    """Problems of long rows that are aggregated: several blocks may share one, by way of a workspace."""
    return [
        problem
        for problem in small_problems(op, direction, dtype, (40000,), (40000, 1))
        if problem.summed() or problem.program.aggregates
    ]


def has_axes(op: Any, direction: str) -> bool:
    """Whether the descriptor has axes that are aggregated."""
    del direction
    return op.family.axes is not None


def has_optional_outputs(op: Any, direction: str) -> bool:
    """Whether a call may leave an output out."""
    problem = small_problems(op, direction, op.dtypes[0])[0]
    return not set(problem.optional()).isdisjoint(problem.outputs())


def possible_problems(op: Any, direction: str, dtype: str, shape: tuple[int, ...]) -> list[Any]:
    """Problems over a domain; an op may refuse to aggregate nothing, or a domain without axes: none then."""
    try:
        return small_problems(op, direction, dtype, shape)
    except ValueError:
        return []


def overwrite(backend: verify.Backend, tensor: Any, values: Any = None) -> None:
    """Other values in a tensor's memory; None: what it held when it was placed, poison for an output."""
    if values is not None:
        flat = tensor.before.copy()
        tensor.strided(flat)[...] = values
        tensor.before = flat
    tensor.memory[...] = backend.memory(tensor.before)
