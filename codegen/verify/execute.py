"""Runs a problem on a device, in any memory layouts, and checks what was written and what was left alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from baracuda.codegen.spec.model import Spec
from baracuda.codegen.verify.devices import Backend
from baracuda.codegen.verify.floats import numpy_dtype, rounded, ulp_errors
from baracuda.codegen.verify.layouts import ANY_LAYOUT, Placement
from baracuda.codegen.verify.problems import Problem
from baracuda.codegen.verify.reference import bound_holds, exact_terms, references, scales

#: The bytes of memory that belongs to no tensor, and of outputs before they are written: a NaN in every kind.
POISON = 0xFF


class GuardError(AssertionError):
    """A kernel wrote where it may not."""


@dataclass
class Tensor:
    """One tensor in its memory.

    Attributes:
        name: the argument's name.
        array: what a plan gets.
        dtype: of the elements.
        memory: the whole buffer, as the backend made it.
        before: its elements before the run.
        shape: extents.
        place: where the tensor lies.
    """

    name: str
    array: Any
    dtype: np.dtype[Any]
    memory: Any
    before: Any
    shape: tuple[int, ...]
    place: Placement

    def strided(self, flat: Any) -> Any:
        """The tensor's elements within a flat copy of the buffer, as a view."""
        strides = tuple(stride * self.dtype.itemsize for stride in self.place.strides)
        return np.ndarray(self.shape, self.dtype, flat, self.place.offset * self.dtype.itemsize, strides)

    def values(self, backend: Backend) -> Any:
        """The tensor's elements now, contiguous."""
        return np.array(self.strided(backend.read(self.memory, self.dtype)))

    def check_surroundings(self, backend: Backend) -> None:
        """Raise `GuardError` where an element of the buffer changed that is none of the tensor's."""
        after, before = backend.read(self.memory, self.dtype), self.before.copy()
        self.strided(before)[...] = self.strided(after)
        _compare(self, after, before, "outside of its elements")

    def check_untouched(self, backend: Backend) -> None:
        """Raise `GuardError` where any element of the buffer changed."""
        _compare(self, backend.read(self.memory, self.dtype), self.before, "of a tensor that is not written")


def _compare(tensor: Tensor, after: Any, before: Any, what: str) -> None:
    if np.array_equal(after.view(np.uint8), before.view(np.uint8)):
        return
    size = tensor.dtype.itemsize
    changed = np.flatnonzero((after.view(np.uint8) != before.view(np.uint8)).reshape(-1, size).any(axis=1))
    if changed.size:
        places = ", ".join(str(place) for place in changed[:5] - tensor.place.offset)
        raise GuardError(
            f"{tensor.name} {tensor.shape} strides {tensor.place.strides}: {changed.size} elements {what} "
            f"changed, the first at offsets {places}"
        )


def place(
    backend: Backend,
    name: str,
    dtype: str,
    shape: tuple[int, ...],
    values: Any = None,
    layout: str = "contiguous",
    *,
    inner: bool = False,
) -> Tensor:
    """A tensor in new memory; `values` None leaves it full of poison, as an output is before it is written.

    With `inner` the innermost axis keeps its stride of 1 in any layout.
    Where a layout shares elements between indices, the last value written is what all of them have.
    """
    kind = numpy_dtype(dtype)
    where = ANY_LAYOUT[layout](shape, inner=inner)
    flat = np.full(where.length * kind.itemsize, POISON, np.uint8).view(kind)
    memory: Any = None
    tensor = Tensor(name, None, kind, memory, flat, shape, where)
    if values is not None:
        tensor.strided(flat)[...] = values
    tensor.memory = backend.memory(flat)
    tensor.array = backend.view(tensor.memory, kind, shape, where)
    return tensor


@dataclass(frozen=True)
class Expected:
    """The exact outputs of a problem's inputs, and how they are judged.

    Attributes:
        outputs: as `references` gives them.
        sizes: as `scales` does.
        holds: as `bound_holds` does.
    """

    outputs: Mapping[str, Any]
    sizes: Mapping[str, Any]
    holds: Mapping[str, Any]


@dataclass
class Run:
    """A problem with its tensors in memory, and its plan.

    Attributes:
        problem: the problem.
        backend: where it runs.
        plan: the plan.
        tensors: what the plan gets, by argument.
        known: values of the inputs, those that only the references read among them.
    """

    problem: Problem
    backend: Backend
    plan: Any
    tensors: dict[str, Tensor]
    known: dict[str, Any]

    def args(self, **changes: Any) -> Any:
        """The arguments of the plan, with some changed."""
        arrays = {name: tensor.array for name, tensor in self.tensors.items()}
        names = self.plan.ARGS.__dataclass_fields__
        return self.plan.ARGS(**{name: {**arrays, **changes}.get(name) for name in names})

    def launch(self) -> None:
        """Run the plan once."""
        workspace = self.backend.workspace(self.plan.workspace_size())
        self.plan.run(self.backend.stream, workspace, self.args())

    def outputs(self) -> dict[str, Any]:
        """What the outputs hold; raises `GuardError` where anything else changed."""
        written = set(self.problem.outputs())
        inputs = set(self.problem.inputs())
        for name, tensor in self.tensors.items():
            if name not in inputs:
                tensor.check_surroundings(self.backend)
            else:
                tensor.check_untouched(self.backend)
        return {name: tensor.values(self.backend) for name, tensor in self.tensors.items() if name in written}

    def expected(self, spec: Spec) -> Expected:
        """What the references say of the inputs."""
        terms = exact_terms(self.problem, self.known)
        return Expected(
            references(self.problem, self.known, terms),
            scales(spec, self.problem, self.known, terms),
            bound_holds(spec, self.problem, self.known, terms),
        )

    def errors(
        self, spec: Spec, outputs: Mapping[str, Any] | None = None, expected: Expected | None = None
    ) -> dict[str, float]:
        """The largest error of each output, in units in the last place of the problem's dtype.

        `expected` is what another run of equal inputs expects, where that is known already.
        """
        outputs = self.outputs() if outputs is None else outputs
        expected = self.expected(spec) if expected is None else expected
        found = {}
        for name, got in outputs.items():
            dtype = self.problem.dtype_of(name)
            of_elements = ulp_errors(dtype, got, expected.outputs[name], expected.sizes.get(name))
            if dtype != self.problem.dtype:
                # An output in another dtype has that one's bound; what is compared is the problem's.
                own, compared = self.problem.ulp.get(dtype, 0.0), self.problem.ulp[self.problem.dtype]
                if own and compared:
                    of_elements *= compared / own
                else:
                    of_elements = np.where(of_elements <= own, 0.0, np.inf)
            found[name] = float(np.max(np.where(expected.holds.get(name, True), of_elements, 0), initial=0))
        return found


def prepare(
    backend: Backend,
    problem: Problem,
    values: Mapping[str, Any],
    *,
    layouts: Mapping[str, str] | None = None,
    unwanted: Iterable[str] = (),
    preference: Any = None,
    plan: Any = None,
) -> Run:
    """Select the plan of a problem and place its tensors.

    Args:
        backend: where to run.
        problem: the problem.
        values: the inputs, as `inputs_for` makes them; rounded to the problem's dtype.
        layouts: a layout an argument, "contiguous" for those that are not named.
        unwanted: optional arguments to leave out.
        preference: a `PlanPreference`.
        plan: a plan of the same problem, to run instead of a new one.
    """
    layouts = layouts or {}
    shapes, known, tensors = problem.shapes(), dict(values), {}
    for name in problem.tensors():
        if name in unwanted:
            continue
        layout, dtype, inner = (
            layouts.get(name, "contiguous"),
            problem.dtype_of(name),
            problem.takes_inner(name),
        )
        if problem.takes_contiguous(name) and layout != "misaligned":
            layout = "contiguous"
        if name in problem.inputs():
            if name not in values and name in problem.optional():
                continue
            given = values[name]
            if given.dtype == bool:
                dtype = "bool"
            exact = given if given.dtype == numpy_dtype(dtype) else rounded(given, dtype)
            shape = exact.shape if exact.shape in problem.other_shapes().get(name, ()) else shapes[name]
            tensors[name] = place(backend, name, dtype, shape, exact, layout, inner=inner)
            known[name] = tensors[name].values(backend)
        else:
            tensors[name] = place(backend, name, dtype, shapes[name], None, layout, inner=inner)
    if plan is None:
        plan = problem.plan_class.select(backend.stream, problem.descriptor(), preference)
    return Run(problem, backend, plan, tensors, known)


def run(backend: Backend, problem: Problem, values: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """The outputs of a problem, run once: `prepare`, launch, check the guards."""
    prepared = prepare(backend, problem, values, **options)
    prepared.launch()
    return prepared.outputs()


def worst(spec: Spec, backend: Backend, problem: Problem, values: Mapping[str, Any], **options: Any) -> float:
    """The largest error of all outputs of a problem, run once, in units in the last place."""
    prepared = prepare(backend, problem, values, **options)
    prepared.launch()
    return max(prepared.errors(spec).values(), default=0.0)
