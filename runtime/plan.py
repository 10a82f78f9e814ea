"""The plan base: select once, validate and launch many times.

A generated plan class holds data only; what happens with it is here. All cost is in `select`: it checks the
descriptor, then compiles or loads every kernel that any layout may need. `run` validates and launches; it
never compiles, allocates or synchronises.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from baracuda import observe
from baracuda.arguments import ArgumentRules, Tensors
from baracuda.arrays import is_ordered, library_of
from baracuda.bound import BoundLaunch
from baracuda.compile.loader import Kernel, Launch
from baracuda.compile.unit import Unit
from baracuda.contract import Halves, OpRecord, Problem, TensorRule
from baracuda.descriptor import Descriptor
from baracuda.dtypes import ElementKind
from baracuda.engines import Engine, LaunchStep, engine_for
from baracuda.errors import BaracudaError, InvalidProblem, Unsupported, said_by
from baracuda.guarantee import guarantee_of
from baracuda.kernels import load_kernels, units_of
from baracuda.kinds import plan_with
from baracuda.narrowing import folded
from baracuda.ordering import UNORDERED, Producers, numbered
from baracuda.recall import KnownCalls, Sighting
from baracuda.remembered import ALIGNMENT, Buffer, LaunchTemplate, RememberedLayout
from baracuda.sku import Backend, KernelSku, PlanPreference, PrecisionGuarantee
from baracuda.stream import Stream, current_stream_of, handle_on
from baracuda.tensor import Device, TensorRef, as_tensor
from baracuda.workspace import Workspace

__all__ = ["BoundLaunch", "Plan"]

Row = Sequence["TensorRef | None"]


class Plan:
    """Base of the generated plan classes; make one with `select`.

    A plan is immutable, owns no device memory, belongs to the device of its `select`, and may be used from
    several threads. A copy of it is the plan itself; pickled, it is selected again where it is loaded, on the
    device of the same index.
    """

    TEMPLATE: ClassVar[str]
    CATEGORY: ClassVar[str]
    DESCRIPTOR: ClassVar[type[Any]]
    ARGS: ClassVar[type[Any]]
    DOMAIN: ClassVar[str]
    AXES: ClassVar[str | None]
    TENSORS: ClassVar[tuple[TensorRule, ...]]
    OPS: ClassVar[Mapping[Any, OpRecord]]
    #: The descriptor's fields with the axis along which tensors hold two operands, and with their order.
    HALVES: ClassVar[tuple[str, str] | None] = None
    #: Ops with options that are not at their defaults.
    ALTERNATIVES: ClassVar[tuple[tuple[Any, Mapping[str, str], OpRecord], ...]] = ()

    #: Layouts whose launches are remembered; a plan that meets more starts over.
    REMEMBERED = 256

    _desc: Any
    _preference: PlanPreference | None
    _op: OpRecord
    _device: Device
    _engine: Engine
    _kernels: Mapping[str, Kernel]
    _element: ElementKind
    _needed: int
    _rules: ArgumentRules
    _outputs_first: tuple[str, ...]
    _guarantee: PrecisionGuarantee
    _layouts: dict[Any, RememberedLayout]
    _known: KnownCalls

    @staticmethod
    def shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of each tensor, and where it comes from."""
        raise NotImplementedError

    @staticmethod
    def other_shapes(desc: Any) -> dict[str, tuple[tuple[int, ...], ...]]:
        """Further shapes that a tensor may have."""
        del desc
        return {}

    @staticmethod
    def conditions(desc: Any) -> dict[str, tuple[bool, str]]:
        """Tensors that are there only on a condition: whether it holds, and which fields decide it."""
        del desc
        return {}

    @staticmethod
    def violations(desc: Any) -> Iterator[str]:
        """What is wrong with a descriptor, beyond the types of its fields."""
        raise NotImplementedError

    @classmethod
    def select(cls, stream: Any, desc: Any, preference: PlanPreference | None = None) -> Any:
        """A plan for a problem, on the stream's device, with its kernels loaded.

        Args:
            stream: a `Stream`, `Stream.host()`, a CuPy or PyTorch stream or a raw CUDA handle; None: the
                current CUDA device where there is one, else the host.
            desc: the descriptor.
            preference: see `PlanPreference`.

        Raises:
            InvalidProblem: extents, axes or parameters that make no sense.
            Unsupported: an op or element kind that no kernel serves.
            CompileError: a kernel did not compile.
        """
        started = time.perf_counter()
        try:
            chosen = _default_stream() if stream is None else Stream.of(stream)
        except (InvalidProblem, Unsupported, TypeError) as error:
            raise said_by(cls.__name__, error) from None
        plan = cls._planned(chosen.device, desc, preference)
        element = cls._element_of(desc)
        plan._kernels = load_kernels(plan._units(), plan._op, element, chosen)
        observe.selected(plan, started)
        return plan

    @classmethod
    def _planned(cls, device: Device, desc: Any, preference: PlanPreference | None) -> Any:
        """A plan without its kernels; raises what `select` raises for a descriptor."""
        name = cls.__name__
        if not isinstance(preference, PlanPreference | None):
            raise TypeError(f"{name}: preference is a {type(preference).__name__}, want a PlanPreference")
        if type(desc) is not cls.DESCRIPTOR:
            raise TypeError(f"{name}: desc is a {type(desc).__name__}, want a {cls.DESCRIPTOR.__name__}")
        assert isinstance(desc, Descriptor)
        desc.check()
        op = cls._op_of(desc)
        element = cls._element_of(desc)
        for violation in cls.violations(desc):
            raise InvalidProblem(f"{name}: {violation}")
        if element.value not in op.dtypes:
            raise Unsupported(
                f"{name}: element is {element}, want one of {', '.join(op.dtypes)} for {op.name}"
            )
        if op.target and getattr(desc, op.target).value not in op.dtypes:
            got, known = getattr(desc, op.target), ", ".join(op.dtypes)
            raise Unsupported(f"{name}: {op.target} is {got}, want one of {known} for {op.name}")
        plan = object.__new__(cls)
        plan._desc, plan._preference, plan._op, plan._device = desc, preference, op, device
        shapes, others = cls.shapes(desc), cls.other_shapes(desc)
        conditions = cls.conditions(desc)
        elements = {rule.name: _element_of_tensor(rule, desc, element) for rule in cls.TENSORS}
        problem = Problem(
            plan=name,
            op=op,
            element=element,
            device=device,
            domain=getattr(desc, cls.DOMAIN),
            axes=getattr(desc, cls.AXES) if cls.AXES else (),
            shapes={key: shape for key, (shape, _) in shapes.items()},
            scalars=folded(name, op, desc, element, cls.violations),
            preference=preference or PlanPreference(),
            elements=elements,
            host=None if op.host is None else op.host(desc),
            desc=desc,
            halves=cls._halves_of(desc),
        )
        plan._engine = engine_for(cls.TEMPLATE, problem)
        never = {name for name, (holds, _) in conditions.items() if not holds}
        plan._guarantee = guarantee_of(op, element, plan._engine, never)
        plan._element = element
        plan._needed = plan._engine.workspace_size()
        wanted = tuple(
            (
                rule.name,
                (shapes[rule.name][0], *others.get(rule.name, ())),
                (elements[rule.name], *map(ElementKind, rule.other_elements)),
            )
            for rule in cls.TENSORS
        )
        plan._rules = ArgumentRules(
            name, cls.ARGS, op, device, plan._engine, cls.TENSORS, wanted, shapes, conditions
        )
        outputs_first = sorted(cls.TENSORS, key=lambda rule: rule.io != "out")
        plan._outputs_first = tuple(rule.name for rule in outputs_first)
        plan._layouts = {}
        plan._known = KnownCalls(cls.ARGS, [rule.name for rule in cls.TENSORS], device)
        return plan

    def _units(self) -> dict[Unit, tuple[str, ...]]:
        """The compile units of every kernel that `run` may launch, and the variants in each."""
        return units_of(type(self).__module__, self._op, self._element_of(self._desc), self._engine)

    @classmethod
    def _op_of(cls, desc: Any) -> OpRecord:
        default = cls.OPS.get(desc.kind)
        if default is None:
            known = ", ".join(kind.value for kind in cls.OPS)
            owner = plan_with(desc.kind, cls.__name__, cls.__module__)
            hint = f", which {owner.__name__} has" if owner else ""
            raise Unsupported(f"{cls.__name__}: kind is {desc.kind.value}{hint}, want one of {known}")
        others = [(options, op) for kind, options, op in cls.ALTERNATIVES if kind is desc.kind]
        for name in dict.fromkeys(name for options, _ in others for name in options):
            values = {
                desc_default(cls.DESCRIPTOR, name),
                *(options[name] for options, _ in others if name in options),
            }
            if getattr(desc, name) not in values:
                got, wanted = getattr(desc, name), ", ".join(sorted(values))
                raise Unsupported(f"{cls.__name__}: {name} is {got!r}, want one of {wanted}")
        for name, choices in default.choices.items():
            if getattr(desc, name) not in choices:
                got, wanted = getattr(desc, name), ", ".join(choices)
                raise Unsupported(f"{cls.__name__}: {name} is {got!r}, want one of {wanted}")
        for options, op in others:
            if all(getattr(desc, name) == value for name, value in options.items()):
                return op
        return default

    @classmethod
    def _element_of(cls, desc: Any) -> ElementKind:
        field = next(name for name, rule in cls.DESCRIPTOR.RULES.items() if rule == "element")
        element = getattr(desc, field)
        assert isinstance(element, ElementKind)
        return element

    @classmethod
    def _halves_of(cls, desc: Any) -> Halves | None:
        """Which operands are halves of one tensor: none where the descriptor names no axis."""
        axes = getattr(desc, cls.HALVES[0]) if cls.HALVES else ()
        if cls.HALVES is None or not axes:
            return None
        swapped = getattr(desc, cls.HALVES[1])
        places = {
            name: (rule.name, place ^ swapped)
            for rule in cls.TENSORS
            for place, name in enumerate(rule.halves)
        }
        return Halves(axes[0], places)

    @property
    def desc(self) -> Any:
        """The descriptor."""
        return self._desc

    @property
    def device(self) -> Device:
        """Where the plan runs."""
        return self._device

    @property
    def precision_guarantee(self) -> PrecisionGuarantee:
        """What the results are held to."""
        return self._guarantee

    @property
    def sku(self) -> KernelSku:
        """Identity of the kernel that contiguous tensors get."""
        return self._sku(self._engine.usual_variant())

    @property
    def key(self) -> str:
        """What tells the plan from all others, as text: for caches and logs.

        It begins with the SKU's text, and is the same in every process and for equal descriptors, preferences
        and devices of one architecture. Other versions of baracuda may have other kernels for it.
        """
        text = json.dumps(self.to_json(), sort_keys=True)
        return f"{self.sku}/{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def to_json(self) -> dict[str, Any]:
        """The plan's class, descriptor, preference and SKU as plain values, as `json.dumps` takes them."""
        return {
            "plan": type(self).__name__,
            "desc": self._desc.to_json(),
            "preference": dataclasses.asdict(self._preference or PlanPreference()),
            "sku": self.sku.to_json(),
        }

    def sku_for(self, args: Any) -> KernelSku:
        """Identity of the kernel that these tensors get."""
        steps = self._checked(args)[1].steps
        return self._sku(steps[0].variant if steps else self._engine.usual_variant())

    def workspace_size(self) -> int:
        """Bytes of workspace that `run` wants: the most that any layout of the tensors needs."""
        return self._needed

    def can_implement(self, args: Any) -> None:
        """Check the tensors as `run` does, without a launch. Raises what `run` would raise."""
        try:
            self._checked(args)
        except AttributeError:
            _require_plan(self)
            raise

    def run(self, stream: Any, workspace: Any, args: Any) -> None:
        """Validate and launch.

        The stream waits, on the device, for what writes an array that comes by `__dlpack__` or by a
        `__cuda_array_interface__` with a stream. Arrays of PyTorch and CuPy and a `TensorRef` tell no such
        stream: who uses several orders them. So does whoever reads the outputs on another stream than this.
        While the stream records a CUDA graph it waits for nothing outside of the graph.

        Args:
            stream: as for `select`; None: the current stream of the library that the first output belongs to.
            workspace: None, any buffer of `workspace_size()` bytes on the device, or a `Workspace`.
            args: the tensors.

        Raises:
            InvalidProblem, Unsupported, MisalignedOperand, BufferTooSmall, WorkspaceTooSmall: nothing was
                launched, and no output touched.
            DriverError: the CUDA driver refused the launch.
        """
        for find in self._known.finders:
            call = find(args, workspace)
            if call is not None:
                if type(stream) is Stream and stream.device is self._device:
                    handle = stream.handle
                else:
                    handle = (
                        call.current()
                        if stream is None
                        else handle_on(stream, self._device, type(self).__name__)
                    )
                for launch in call.launches:
                    launch(handle)
                return
        self._run_unknown(stream, workspace, args)

    def bind(self, args: Any, workspace: Any = None) -> BoundLaunch:
        """Validate once and pack the launches; the result launches again and again on the same memory.

        Nothing waits here: each launch waits for those who write the arrays, as `run` does.
        """
        for find in self._known.finders:
            call = find(args, workspace)
            if call is not None:
                return BoundLaunch(self, args, call.launches, call.current, workspace)
        layout, pointers, alive, sighting = self._prepare(args, workspace, UNORDERED)
        launches: tuple[Launch, ...] = layout.packed(pointers)
        if sighting is None:
            arrays = {rule.name: getattr(args, rule.name) for rule in self.TENSORS}
            producers = Producers(type(self).__name__, self._device, {**arrays, "workspace": workspace})
            if producers:
                launches = (producers, *launches)
            return BoundLaunch(self, args, launches, lambda: self._handle(None, args), alive)
        sighting.keep(layout, launches)
        return BoundLaunch(self, args, launches, sighting.calls.current, alive)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.sku} on {self._device}: {self._desc!r}>"

    def __copy__(self) -> Plan:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Plan:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).select, (Stream(0, self._device), self._desc, self._preference)

    def _sku(self, variant: str) -> KernelSku:
        on_host = self._device.kind == "host"
        return KernelSku(
            category=self.CATEGORY,
            op=self._op.name,
            element=self._element_of(self._desc),
            aux_element=self._engine.result(),
            layout=None,
            epilogue=None,
            arch="host" if on_host else _device_arch(self._device),
            backend=Backend.HOST if on_host else Backend.CUDA,
            variant=variant,
            precision_guarantee=self._guarantee,
        )

    def _run_unknown(self, stream: Any, workspace: Any, args: Any) -> None:
        """Run a call that no finder knows."""
        handle = self._handle_first(stream, args)
        layout, pointers, _, sighting = self._prepare(args, workspace, numbered(handle, self._device))
        if sighting is not None and sighting.comes_again():
            sighting.keep(layout, layout.packed(pointers))
        for launch in layout.launches:
            launch(pointers, handle)

    def _prepare(
        self, args: Any, workspace: Any, stream: int
    ) -> tuple[RememberedLayout, list[int], Any, Sighting | None]:
        """Check a call that no finder knows; its arrays are ready on `stream`, as `as_tensor` has it.

        The result: its layout, the pointers of its launches, what must live as long as these, and what
        recognises it later, if that can be done.
        """
        sighting = self._known.sight(args, workspace)
        found = None if sighting is None else sighting.locate()
        tensors: Row = ()
        if found is not None:
            layout, pointers = found
        else:
            tensors, layout = self._checked(args, stream)
            pointers = _pointers(tensors)
            # Bounds that nobody knows cannot be compared.
            if any(tensor is not None and tensor.buffer is None for tensor in tensors):
                sighting = None
            if sighting is not None:
                sighting.learn(layout)
        try:
            given = Workspace.of(workspace, stream)
        except (BaracudaError, TypeError) as error:
            raise said_by(type(self).__name__, error) from None
        space = self._workspace(given, layout, pointers)
        if isinstance(space.owner, TensorRef) and space.owner.buffer is None:
            sighting = None
        return layout, [*pointers, space.pointer, 0], (tensors, space), sighting

    def _checked(self, args: Any, stream: int = UNORDERED) -> tuple[Row, RememberedLayout]:
        """The tensors in the order of TENSORS, found valid, and what is remembered of their layout.

        What `ArgumentRules.validated` checks is compared here, or follows from the layout, or from the
        addresses that `RememberedLayout.fits` looks at.
        """
        if type(args) is not self.ARGS:
            self._rules.validated(args, stream)
        device, plan = self._device, type(self).__name__
        index, kind = device.index, device.kind
        tensors: list[TensorRef | None] = []
        key: list[Any] = []
        for name, shapes, elements in self._rules.wanted:
            given = getattr(args, name)
            if given is None:
                tensors.append(None)
                key.append(None)
                continue
            tensor = as_tensor(given, name, plan, stream)
            where = tensor.device
            if (
                tensor.element not in elements
                or tensor.shape not in shapes
                or (where is not device and (where.index != index or where.kind != kind))
            ):
                self._rules.validated(args, stream)
            tensors.append(tensor)
            key += (tensor.strides, tensor.pointer % ALIGNMENT, tensor.readonly)
            if len(shapes) > 1 or len(elements) > 1:
                key += (tensor.shape, tensor.element)
        layout = self._layouts.get(tuple(key))
        if layout is None:
            layout = self._remember(tuple(key), tensors)
        elif not layout.fits(_pointers(tensors), _buffers(tensors)):
            self._rules.check_memory(self._by_name(tensors))
            layout.allow(_pointers(tensors))
        return tensors, layout

    def _remember(self, key: tuple[Any, ...], tensors: Row) -> RememberedLayout:
        named = self._rules.validated(self.ARGS(**self._by_name(tensors)))
        steps = self._engine.steps(named)
        names = (*named, "workspace")
        launches = tuple(LaunchTemplate(self._pack, step, names) for step in steps)
        outputs = [place for place, rule in enumerate(self.TENSORS) if rule.io != "in"]
        needed = self._needed if self._engine.takes_workspace(named) else 0
        layout = RememberedLayout(tensors, outputs, steps, launches, needed)
        if not layout.fits(_pointers(tensors), _buffers(tensors)):
            layout.allow(_pointers(tensors))
        if len(self._layouts) >= self.REMEMBERED:
            self._layouts = {}
        self._layouts[key] = layout
        return layout

    def _pack(self, step: LaunchStep) -> Launch:
        """A launch with null pointers."""
        kernel = self._kernels[step.variant]
        held = kernel.shared_to_hold(step.resident, step.threads) if step.resident else 0
        return kernel.pack((step.grid, 1, 1), step.threads, max(step.shared, held), step.blank)

    def _by_name(self, tensors: Row) -> Tensors:
        return {rule.name: tensor for rule, tensor in zip(self.TENSORS, tensors, strict=True)}

    def _workspace(self, space: Workspace, layout: RememberedLayout, pointers: Sequence[int]) -> Workspace:
        if layout.needed:
            plan = type(self).__name__
            scratch = " or ".join(rule.name for rule in self.TENSORS if rule.io == "scratch")
            space.require(layout.needed, self._device, plan, scratch)
            place = layout.within(space.pointer, space.pointer + layout.needed, pointers)
            if place is not None:
                name = self.TENSORS[place].name
                raise InvalidProblem(
                    f"{plan}: workspace overlaps {name}, want memory apart from every tensor"
                )
        return space

    def _handle_first(self, stream: Any, args: Any) -> int:
        """`_handle` before the arrays are checked; what is wrong with these is said first all the same."""
        try:
            return self._handle(stream, args)
        except Exception as error:
            fault = error
        self._checked(args)
        raise fault

    def _handle(self, stream: Any, args: Any) -> int:
        """The handle of a stream of any library; None: of the one that is current for the arrays."""
        if type(stream) is Stream and stream.device is self._device:
            return stream.handle
        if stream is not None:
            return handle_on(stream, self._device, type(self).__name__)
        if self._device.kind == "host":
            return 0
        arrays = [getattr(args, name) for name in self._outputs_first]
        return current_stream_of(*_deciding(arrays)).handle


def _require_plan(given: object) -> None:
    """Refuse whatever a method got in the place of its plan, which is so where it is called on the class."""
    if not isinstance(given, Plan):
        raise TypeError(
            f"can_implement is called on a class with a {type(given).__name__}, want plan.can_implement(args)"
            "; select(stream, desc) says whether a descriptor has a plan"
        ) from None


def desc_default(descriptor: type[Any], field: str) -> Any:
    """The default of a descriptor's field."""
    return descriptor.__dataclass_fields__[field].default


def _element_of_tensor(rule: TensorRule, desc: Any, element: ElementKind) -> ElementKind:
    """The element kind of a tensor: the descriptor's, its own, or what a field of type storage says."""
    if rule.element is None:
        return element
    if desc.RULES.get(rule.element) == "target":
        target: ElementKind = getattr(desc, rule.element)
        return target
    if rule.element in desc.RULES:
        return element.compute if getattr(desc, rule.element) == "compute" else element
    return ElementKind(rule.element)


def _pointers(tensors: Row) -> list[int]:
    return [0 if tensor is None else tensor.pointer for tensor in tensors]


def _buffers(tensors: Row) -> list[Buffer]:
    return [None if tensor is None else tensor.buffer for tensor in tensors]


def _deciding(arrays: list[Any]) -> list[Any]:
    """The arrays that decide on which stream they are used if none is given.

    The first array, the first of each type whose library has one current stream a device, and whatever can
    neither say nor be asked what its readers wait for: the stream of the rest need not be the same.
    """
    chosen: dict[Any, Any] = {}
    for place, array in enumerate(array for array in arrays if array is not None):
        shared = library_of(type(array)) in ("torch", "cupy")
        if shared or not place or not is_ordered(array):
            chosen.setdefault(type(array) if shared else place, array)
    return list(chosen.values())


def _device_arch(device: Device) -> str:
    from baracuda import driver

    return driver.device_arch(device.index)


def _default_stream() -> Stream:
    from baracuda import driver

    return Stream() if driver.device_count() else Stream.host()


observe.install(Plan, BoundLaunch)
