"""What bad input gets: the right kind of error, a message that helps, nothing launched, no output touched."""

from __future__ import annotations

import ast
import inspect
import itertools
import math
import re
import textwrap
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from devices import (
    aggregating,
    checkout_spec,
    each_kernel_program,
    each_plan,
    each_program,
    has_axes,
    overwrite,
    small_problems,
)

import baracuda as bc
from baracuda.codegen import verify
from baracuda.codegen.formula import evaluate, free_names
from baracuda.codegen.spec.idle import idle_with
from baracuda.dtypes import ElementKind
from baracuda.errors import (
    BufferTooSmall,
    InvalidProblem,
    MisalignedOperand,
    Unsupported,
    WorkspaceTooSmall,
)
from baracuda.plan import Plan
from baracuda.stream import Stream
from baracuda.tensor import Device, TensorRef, as_tensor


@dataclass
class Good:
    """A call that works; the tests spoil one thing of it."""

    problem: Any
    run: Any

    @property
    def name(self):
        return type(self.run.plan).__name__

    def refs(self):
        return {name: as_tensor(tensor.array) for name, tensor in self.run.tensors.items()}


def good_problem(op, direction):
    """A problem over (4, 6) in which no operand is broadcast."""
    problem = small_problems(op, direction, "f32", (4, 6))[0]
    return problem.with_fields(
        **{name: (4, 6) for name, rule in op.family.descriptor.items() if rule.type == "shape"}
    )


@pytest.fixture(params=["first", "known"])
def good(request, backend, op, direction, monkeypatch):
    """A call over (4, 6), all tensors contiguous; no test that takes it may get as far as a launch.

    Of a plan that ran never before, and of one that knows the call: it may not mistake a spoiled one for it.
    """
    problem = good_problem(op, direction)
    prepared = verify.prepare(backend, problem, verify.inputs_for(problem))
    if request.param == "known":
        args, space = prepared.args(), backend.workspace(prepared.plan.workspace_size())
        for _ in range(3):
            prepared.plan.run(backend.stream, space, args)
        backend.synchronize()
        for name in set(prepared.tensors) - set(problem.inputs()):
            overwrite(backend, prepared.tensors[name])
    monkeypatch.setattr(Plan, "_pack", None)
    yield Good(problem, prepared)
    for tensor in prepared.tensors.values():
        tensor.check_untouched(backend)


def refused(good, kind, *words, workspace="enough", **changes):
    """Both `can_implement` and `run` refuse the arguments; the message says what they got and want."""
    plan, backend = good.run.plan, good.run.backend
    args = good.run.args(**changes)
    space = backend.workspace(plan.workspace_size()) if workspace == "enough" else workspace
    with pytest.raises(kind) as first:
        plan.can_implement(args)
    with pytest.raises(kind) as second:
        plan.run(backend.stream, space, args)
    assert type(first.value) is type(second.value) is kind
    assert str(first.value) == str(second.value)
    message = str(first.value)
    assert message.startswith(f"{good.name}: "), message
    assert "want" in message
    for word in words:
        assert word in message, f"{word!r} is not in {message!r}"
    return first.value


def with_element(ref, element):
    kind = ElementKind.parse(element)
    return replace(ref, element=kind, buffer=None)


# The descriptor


@each_plan()
def test_a_dtype_out_of_scope(backend, op, direction, good):
    """Every element kind that the op does not declare."""
    for kind in set(ElementKind) - {ElementKind.parse(dtype) for dtype in op.dtypes_of(direction)}:
        with pytest.raises(
            Unsupported, match=rf"^{good.name}: element is {kind}, want one of .*f32"
        ) as error:
            good.problem.plan_class.select(backend.stream, good.problem.descriptor(element=kind))
        assert op.name in str(error.value)


@each_plan()
def test_names_that_are_not_known(good, op, direction):
    rules = good.problem.plan_class.DESCRIPTOR.RULES
    for name, rule in rules.items():
        if isinstance(rule, type) or rule in ("element", "target"):
            with pytest.raises(Unsupported, match="want one of"):
                good.problem.descriptor(**{name: "nonsense"})


def test_the_kind_of_another_plan():
    """The message says whose it is: the plan's own kinds alone would read as if there were no such op."""
    for kind in ("isclose", bc.BinaryCmpKind.ISCLOSE):
        with pytest.raises(Unsupported, match=r"kind is .*isclose.*, which is a BinaryCmpKind, want one of"):
            bc.BinaryDescriptor(kind=kind, shape=(2,), element="f32")


@each_plan()
def test_a_kind_that_shares_the_enum(good, op, direction):
    """`exp` is a function of one number, but not one of `UnaryParamPlan`'s."""
    families = {known.kind: known.family for known in checkout_spec().ops.values()}
    plan = good.problem.plan_class
    own = {known.kind for known in checkout_spec().ops.values() if known.family.plan == op.family.plan}
    shared = {kind for kind, family in families.items() if family.kind == op.family.kind}
    for kind in sorted(shared - own):
        with pytest.raises(
            Unsupported, match=rf"^{plan.__name__}: kind is {kind.lower()}(, which \w+ has)?, want one of"
        ):
            plan.select(Stream.host(), good.problem.descriptor(kind=kind))


def test_a_misspelt_kind_and_one_of_a_plan_beside():
    """What was meant is named: the nearest kind, or the plan that has this one."""
    with pytest.raises(Unsupported, match=r"kind is 'sillu' \(did you mean 'silu'\?\), want one of"):
        bc.UnaryDescriptor(kind="sillu", shape=(2,), element="f32")
    for plan, desc, owner in (
        (bc.UnaryPlan, bc.UnaryDescriptor, "UnaryParamPlan"),
        (bc.UnaryBackwardPlan, bc.UnaryBackwardDescriptor, "UnaryParamBackwardPlan"),
    ):
        with pytest.raises(Unsupported, match=rf"kind is leaky_relu, which {owner} has, want one of"):
            plan.select(Stream.host(), desc(kind="leaky_relu", shape=(2,), element="f32"))


@each_plan()
def test_a_kind_that_there_is_not(good, op, direction):
    """Whether the descriptor or the plan refuses it: what is offered are the plan's kinds, all and alone."""
    plan = good.problem.plan_class
    known = ", ".join(kind.value for kind in plan.OPS)
    others = [kind for kind in plan.DESCRIPTOR.RULES["kind"] if kind not in plan.OPS]
    for kind in ("quux", *others[:1]):
        with pytest.raises(Unsupported) as error:
            plan.select(Stream.host(), good.problem.descriptor(kind=kind))
        assert str(error.value).endswith(f"want one of {known}")


def test_a_misspelt_kind_of_a_plan_beside():
    for desc, kind, hint in (
        (bc.BinaryDescriptor, "lerpp", "'lerp', which BinaryParamPlan has"),
        (bc.BinaryBackwardDescriptor, "lerpp", "'lerp', which BinaryParamBackwardPlan has"),
        (bc.BinaryParamDescriptor, "lerpp", "'lerp'"),
    ):
        with pytest.raises(Unsupported) as error:
            desc(kind=kind, shape=(2,), element="f32", **({"param": 0.5} if "Param" in desc.__name__ else {}))
        assert f"kind is '{kind}' (did you mean {hint}?), want one of" in str(error.value)
    # One direction alone has it.
    with pytest.raises(Unsupported, match="kind is 'florr', want one of"):
        bc.UnaryBackwardDescriptor(kind="florr", shape=(2,), element="f32")


@each_plan()
def test_fields_of_the_wrong_type(good, op, direction):
    wrong = {
        "shape": ["ab", 3, (1.5,), None],
        "axes": ["ab", (0.5,)],
        "f64": ["one", (1,)],
        "i64": [0.5, "1"],
        "extent": [0.5, "1", (4,), None],
        "bool": [1],
    }
    rules, defaults = good.problem.plan_class.DESCRIPTOR.RULES, good.problem.plan_class.DESCRIPTOR.DEFAULTS
    for name, rule in rules.items():
        for value in wrong.get(rule, []) if isinstance(rule, str) else []:
            if value is None and name in defaults:
                continue
            with pytest.raises(TypeError, match=name):
                good.problem.descriptor(**{name: value})


@each_plan()
def test_negative_extents(backend, good, op, direction):
    negative = {"shape": (4, -6), "extent": -6}
    fields = {name: rule.type for name, rule in op.family.descriptor.items() if rule.type in negative}
    assert fields
    for name, kind in fields.items():
        bad = good.problem.descriptor(**{name: negative[kind]})
        message = rf"^{good.name.replace('Plan', '')}.*{name} is {re.escape(str(negative[kind]))}, want"
        with pytest.raises(InvalidProblem, match=message):
            good.problem.plan_class.select(backend.stream, bad)


@each_plan(where=has_axes)
@pytest.mark.parametrize("axes", [(2,), (-1,), (0, 0), (0, 5)])
def test_axes_out_of_range(backend, good, op, direction, axes):
    bad = good.problem.descriptor(**{op.family.axes: axes})
    with pytest.raises(InvalidProblem, match=rf"{op.family.axes} is .*, want"):
        good.problem.plan_class.select(backend.stream, bad)


@each_plan(where=has_axes)
def test_axes_counted_from_the_last(backend, good, op, direction):
    """They are refused with the number that they would have, where there is one."""
    for axis, wanted in ((-1, "0 to 1: it is 1, counted from the first"), (-2, ".*it is 0"), (-3, "0 to 1$")):
        bad = good.problem.descriptor(**{op.family.axes: axis})
        with pytest.raises(InvalidProblem, match=rf"{op.family.axes} is {axis}, want {wanted}"):
            good.problem.plan_class.select(backend.stream, bad)


@each_plan(where=has_axes)
def test_axes_of_a_scalar(backend, good, op, direction):
    fields = {op.family.axes: (0,), op.family.domain: ()}
    with pytest.raises(InvalidProblem, match="the tensor has none"):
        good.problem.plan_class.select(backend.stream, good.problem.descriptor(**fields))


def broadcast_shapes(op, direction):
    """Fields with the shape of an operand that is broadcast to the domain."""
    fields = op.family.descriptor.items()
    return [name for name, rule in fields if rule.type == "shape" and rule.default == op.family.domain]


@each_plan(where=broadcast_shapes)
def test_shapes_that_do_not_broadcast(backend, good, op, direction):
    for name in broadcast_shapes(op, direction):
        for shape in [(4, 5), (3, 6), (2, 4, 6), (1, 4, 6), (6, 4), (0,)]:
            bad = good.problem.descriptor(**{name: shape})
            with pytest.raises(InvalidProblem, match="^" + re.escape(f"{good.name}: {name} is {shape}, ")):
                good.problem.plan_class.select(backend.stream, bad)


def limited(op, direction):
    """Attributes that may not have every value."""
    fields = op.family.fields(direction)
    return [
        attribute
        for attribute in op.attributes
        if attribute.require is not None and attribute.source in fields
    ]


def foreign_element(op):
    """A dtype that the op does not have."""
    return next(kind.value for kind in ElementKind if kind.value not in op.dtypes)


@each_program(where=limited)
def test_numbers_that_the_op_excludes(backend, good, op, direction):
    """What `require` of an attribute says is held, for values that it excludes."""
    for attribute in limited(op, direction):
        excluded = 0
        whole = op.family.descriptor[attribute.source].type == "i64"
        for value in (0, -1, -(10**6)) if whole else (float("nan"), float("inf"), float("-inf"), 0.0, -1.0):
            env = {**good.problem.fields, attribute.source: value}
            if bool(evaluate(attribute.require, {name: env[name] for name in free_names(attribute.require)})):
                continue
            excluded += 1
            bad = good.problem.descriptor(**{attribute.source: value})
            # What makes no sense is said before what no kernel serves.
            for desc in (bad, bad.replace(element=foreign_element(op))):
                # Beside integers a number without a fraction is an integer.
                told = rf"{str(value).removesuffix('.0')}(\.0)?"
                with pytest.raises(InvalidProblem, match=f"^{good.name}: {attribute.source} is {told}, want"):
                    good.problem.plan_class.select(backend.stream, desc)
        assert excluded


def narrowed_numbers(op, direction):
    """Fields with a number that kernels take in the compute type, and all that is folded from these."""
    values = [*op.programs[direction].folded_lets, *op.programs[direction].attributes]
    read = {name for value in values if value.kind == "compute" for name in free_names(value.value)}
    fields = op.family.fields(direction)
    names = {a.name: a.source for a in op.attributes if a.source in fields}
    numbers = {names[name] for name in read & {*names} if fields[names[name]].type == "f64"}
    return [(sorted(numbers), names, values)] if numbers else []


def in_f32(number):
    """The nearest f32 number, where there is one."""
    if not isinstance(number, float) or not math.isfinite(number) or abs(number) > 3.4028235677973362e38:
        return number
    return float(np.float32(number))


@each_program(where=narrowed_numbers)
def test_numbers_beyond_the_compute_type(backend, good, op, direction):
    """What is finite in double and would be infinite in f32 is refused; the largest f32 is not."""
    cls = good.problem.plan_class
    ((numbers, names, values),) = narrowed_numbers(op, direction)
    for name in numbers:
        for value in (1e39, -1e39, 1e300, 3.4028235677973366e38, 3.4028235677973362e38, 1e-39):
            desc = good.problem.descriptor(**{name: value})
            if list(cls.violations(desc)):
                continue
            given = {key: in_f32(getattr(desc, source)) for key, source in names.items()}
            for value_of in values:  # which may read those before them
                given[value_of.name] = evaluate(value_of.value, given)
            shown = op.programs[direction].attributes
            folded = [float(given[value_of.name]) for value_of in shown if value_of.kind == "compute"]
            with np.errstate(over="ignore"):
                beyond = np.isinf(np.float32(folded)) & np.isfinite(folded)
            if not np.any(beyond):
                infinite = abs(value) >= 3.4028235677973366e38
                known = (
                    good.problem.descriptor(**{name: math.copysign(math.inf, value)}) if infinite else desc
                )
                if list(cls.violations(known)):
                    with pytest.raises(
                        InvalidProblem, match=rf"{name} is -?inf, want .*, of the nearest number"
                    ):
                        cls._planned(backend.stream.device, desc, None)
                else:
                    cls._planned(backend.stream.device, desc, None)
                continue
            message = rf"^{good.name}: .*{name} is {re.escape(str(value))}.*, want .* f32, in which {op.name}"
            with pytest.raises(InvalidProblem, match=message):
                cls.select(backend.stream, desc)
            cls._planned(backend.stream.device, good.problem.descriptor(element="f64", **{name: value}), None)


#: Values of which one or another breaks a rule about a field, by the field's type.
BREAKING = {
    "f64": [float("nan"), float("inf"), -float("inf"), -1.0, 0.0, 0.5, 1e-3, 1e6],
    "i64": [-1, 0],
    "extent": [0, 1, 3, 10**6],
    "shape": [(0, 6), (4, 0), (5, 6), (4, 7), (0,)],
    "axes": [(), (0,), (0, 1)],
    "bool": [False],
}


@each_kernel_program()
def test_no_rule_of_the_spec_can_be_broken(backend, op, direction):
    """What `violations` of a plan class says is what `select` raises, and no rule is without an example."""
    problem = small_problems(op, direction, "f32", (4, 6))[0]
    cls, broken = problem.plan_class, set()
    fields = op.family.fields(direction)
    choices = {name: op.options[name] for name in op.options}
    choices |= {name: (True, False) for name, rule in fields.items() if rule.type == "bool"}
    for options in itertools.product(*choices.values()):
        chosen = dict(zip(choices, options, strict=True))
        numbers = numbers_under(op, direction, chosen)
        for name, rule in fields.items():
            for value in BREAKING.get(rule.type, ()):
                given = {**chosen, name: value}
                desc = problem.descriptor(**{**numbers, **given})
                try:
                    desc.check()
                except InvalidProblem:
                    continue
                found = list(cls.violations(desc))
                if found:
                    told = "".join(found)
                    assert all(
                        f"{name} is {value}" in told or name not in told for name, value in given.items()
                    )
                    assert any(name in told for name in given)
                    with pytest.raises(
                        InvalidProblem, match="^" + re.escape(f"{cls.__name__}: {found[0]}") + "$"
                    ):
                        cls.select(backend.stream, desc)
                broken |= {message.partition("want ")[2] for message in found}
    assert broken >= rules_of(cls, op)


def numbers_under(op, direction, options):
    """The first sample of each number that is read under these options, the default of every other."""
    fields, idle = op.family.fields(direction), idle_with(op, options)
    numbers = {name: values[0] for name, values in op.samples.items() if name in fields}
    found = {name: int(value) if fields[name].type == "i64" else value for name, value in numbers.items()}
    return found | {name: fields[name].default for name in idle if name in fields}


def rules_of(cls, op):
    """What the messages of a plan class want, those of other ops left out."""
    wanted = set()
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(cls.violations)))):
        if isinstance(node, ast.If) and isinstance(node.body[0], ast.Expr):
            kinds = re.findall(r"desc\.kind\.value == '(\w+)'", ast.unparse(node.test))
            text = "".join(
                part.value
                for part in ast.walk(node.body[0])
                if isinstance(part, ast.Constant) and "want " in str(part.value)
            )
            if op.kind.lower() in kinds or not kinds:
                wanted.add(text.partition("want ")[2])
    return wanted


@each_plan()
def test_a_descriptor_of_another_plan(backend, good, op, direction):
    with pytest.raises(TypeError, match=rf"^{good.name}: desc is a dict, want a .*Descriptor"):
        good.problem.plan_class.select(backend.stream, {})


# The tensors


@each_plan()
def test_arguments_of_another_plan(good, op, direction):
    with pytest.raises(TypeError, match=rf"^{good.name}: args is a dict, want .*Args"):
        good.run.plan.can_implement({})


def test_a_method_of_a_plan_called_on_its_class():
    """Plans of the Rust crate are asked so; the message says what to call instead."""
    desc = bc.UnaryDescriptor(kind="exp", shape=(2,), element="f32")
    with pytest.raises(
        TypeError, match=r"on a class with a Stream, want plan\.can_implement\(args\); select\("
    ):
        bc.UnaryPlan.can_implement(Stream.host(), desc)


def test_an_attribute_that_lacks_otherwise_is_told_as_it_is(monkeypatch):
    """What an array's own protocol fails with is no mistake in the call."""
    plan = bc.UnaryPlan.select(Stream.host(), bc.UnaryDescriptor(kind="exp", shape=(2,), element="f32"))

    def fails(*_):
        raise AttributeError("of the array")

    monkeypatch.setattr(bc.UnaryPlan, "_checked", fails)
    with pytest.raises(AttributeError, match="of the array"):
        plan.can_implement(plan.ARGS(x=np.ones(2, np.float32), y=np.ones(2, np.float32)))


@each_plan()
def test_a_tensor_of_another_dtype(good, op, direction):
    for name, ref in good.refs().items():
        wanted = good.problem.dtype_of(name)
        for kind in {"f64", "f16", "bf16", "i32", "u32", "i64"} - {wanted}:
            refused(
                good,
                Unsupported,
                f"{name} has dtype {kind}",
                f"want {wanted}",
                **{name: with_element(ref, kind)},
            )


@each_plan()
def test_a_tensor_of_another_shape(good, op, direction):
    for name, ref in good.refs().items():
        shape = ref.shape
        others = {
            (*shape[:-1], shape[-1] + 1), (*shape[:-1], shape[-1] - 1), (shape[0] + 1, *shape[1:]),
            shape[::-1], shape[1:], (*shape, 1), (1, *shape), (), (0, *shape[1:]),
        } - {good.problem.shapes()[name], *good.problem.other_shapes().get(name, ())}  # fmt: skip
        for other in others:
            bad = replace(ref, shape=other, strides=(1,) * len(other), buffer=None)
            wanted = f"want {good.problem.shapes()[name]}"
            refused(good, InvalidProblem, f"{name} has shape {other}", wanted, **{name: bad})


@each_kernel_program()
def test_missing_and_surplus_arguments(good, op, direction):
    optional, known = good.problem.optional(), good.problem.tensors()
    for name in good.run.plan.ARGS.__dataclass_fields__:
        if name in known and name not in optional:
            refused(good, InvalidProblem, f"{name} is None", "want a tensor", **{name: None})
        elif name not in known:
            shape = good.problem.shapes()[name]
            given = verify.place(good.run.backend, name, "f32", shape)
            refused(good, InvalidProblem, f"{name} is given", "want None", **{name: given.array})
            given.check_untouched(good.run.backend)


def optional_outputs(op, direction):
    """The outputs of a direction, if each may be left out."""
    problem = good_problem(op, direction)
    rules = op.family.tensors(direction)
    names = [name for name in problem.outputs() if rules[name].io == "out"]
    return names if all(rules[name].optional for name in names) else []


@each_plan(where=optional_outputs)
def test_no_result_is_wanted(good, op, direction):
    """Each may be left out, but not all of them: such a call would do nothing."""
    nothing = dict.fromkeys(optional_outputs(op, direction))
    names = " and ".join(", ".join(nothing).rsplit(", ", 1))
    refused(good, InvalidProblem, f"{names} are None, want a tensor for one of them at least", **nothing)


@each_plan()
def test_objects_that_are_no_arrays(good, op, direction):
    for name in good.problem.tensors():
        for thing in ([1.0, 2.0], "x", 3.0, {}, np.float32, object()):
            args = good.run.args(**{name: thing})
            with pytest.raises(TypeError, match=rf"^{good.name}: {name} is a .*, want a"):
                good.run.plan.can_implement(args)
            with pytest.raises(TypeError, match=rf"^{good.name}: {name} is a .*, want a"):
                good.run.plan.run(good.run.backend.stream, None, args)


@each_plan()
def test_a_buffer_that_is_too_small(good, op, direction):
    """At its end and, with negative strides, at its beginning."""
    for name, ref in good.refs().items():
        lowest, item = ref.pointer, ref.element.itemsize
        size = item * ref.size
        short = replace(ref, buffer=(lowest, lowest + size - item))
        error = refused(good, BufferTooSmall, name, f"{item} bytes behind its end", **{name: short})
        assert (error.needed, error.got) == (size, size - item)
        if good.problem.takes_contiguous(name):
            continue
        # Backwards, but for an innermost axis that must have stride 1.
        kept = 1 if good.problem.takes_inner(name) else 0
        strides = [-stride for stride in ref.strides]
        strides[len(strides) - kept :] = ref.strides[len(strides) - kept :]
        top = size - (item * ref.shape[-1] if kept else item)
        turned = replace(
            ref, pointer=lowest + top, strides=tuple(strides), buffer=(lowest + item, lowest + size)
        )
        refused(good, BufferTooSmall, name, f"{item} bytes below its buffer", **{name: turned})


@each_plan()
def test_an_array_that_reaches_out_of_its_memory(good, op, direction):
    """The library's own arrays carry their bounds too."""
    if good.run.backend.kind != "host":
        pytest.skip("as_strided of CuPy checks nothing, and its memory is larger than the array")
    for name, tensor in good.run.tensors.items():
        if good.problem.takes_contiguous(name):
            continue
        kept = (tensor.dtype.itemsize,) if good.problem.takes_inner(name) else ()
        strides = (4096,) * (len(tensor.shape) - len(kept)) + kept
        wide = np.lib.stride_tricks.as_strided(
            np.zeros(tensor.shape, tensor.dtype), tensor.shape, strides, writeable=True
        )
        refused(good, BufferTooSmall, name, "bytes", **{name: wide})


@each_plan()
def test_a_pointer_that_is_not_aligned(good, op, direction):
    for name, ref in good.refs().items():
        for shift in range(1, min(4, ref.element.itemsize)):
            odd = replace(ref, pointer=ref.pointer + shift, buffer=None)
            words = f"{shift} bytes past a multiple of {ref.element.itemsize}"
            refused(good, MisalignedOperand, name, words, **{name: odd})


@each_plan()
def test_a_read_only_output(good, op, direction):
    for name, ref in good.refs().items():
        if name in good.problem.outputs():
            refused(
                good,
                InvalidProblem,
                f"{name} is an output and read-only",
                **{name: replace(ref, readonly=True)},
            )


@each_plan()
def test_a_read_only_array_as_an_output(good, op, direction):
    if good.run.backend.kind != "host":
        pytest.skip("CuPy has no read-only arrays")
    for name in good.problem.outputs():
        array = good.run.tensors[name].array.view()
        array.flags.writeable = False
        refused(good, InvalidProblem, f"{name} is an output and read-only", **{name: array})


@each_plan()
def test_an_output_that_overlaps_itself(good, op, direction):
    for name, ref in good.refs().items():
        if name not in good.problem.outputs() or ref.size < 2 or good.problem.takes_contiguous(name):
            continue
        outer = len(ref.shape) - good.problem.takes_inner(name)
        axis = max(axis for axis, extent in enumerate(ref.shape[:outer]) if extent > 1)
        zero = tuple(0 if place == axis else stride for place, stride in enumerate(ref.strides))
        refused(
            good,
            InvalidProblem,
            f"{name} is an output",
            f"zero stride on axis {axis}",
            **{name: replace(ref, strides=zero)},
        )
        if sum(extent > 1 for extent in ref.shape) > 1:
            folded = (1,) * len(ref.shape)
            refused(
                good,
                InvalidProblem,
                f"{name} is an output",
                "fold onto themselves",
                **{name: replace(ref, strides=folded)},
            )


@each_plan()
def test_an_output_that_overlaps_a_part_of_another_argument(good, op, direction):
    refs = good.refs()
    for name in good.problem.outputs():
        for other, ref in refs.items():
            if other == name:
                continue
            # One element further, so that it is exactly the other in no case.
            further = max(4, ref.element.itemsize * ref.size // 2 // 4 * 4)
            moved = replace(refs[name], pointer=ref.pointer + further, buffer=None)
            if ref.element.itemsize * ref.size > further:
                words = (name, other, "overlaps a part of")
                error = first_error(good, {name: moved})
                assert type(error) is InvalidProblem
                # Two outputs are compared once, in either order.
                assert all(
                    word in str(error) for word in words
                ) or f"{other} overlaps a part of {name}" in str(error)


def first_error(good, changes):
    with pytest.raises(InvalidProblem) as error:
        good.run.plan.run(
            good.run.backend.stream,
            good.run.backend.workspace(good.run.plan.workspace_size()),
            good.run.args(**changes),
        )
    return error.value


def outputs_alike(op, direction):
    """Pairs of outputs of one shape."""
    problem = good_problem(op, direction)
    shapes = problem.shapes()
    pairs = itertools.permutations(problem.outputs(), 2)
    return [(name, other) for name, other in pairs if shapes[name] == shapes[other]]


@each_plan(where=outputs_alike)
def test_two_outputs_that_are_the_same(good, op, direction):
    for name, other in outputs_alike(op, direction):
        error = first_error(good, {name: good.run.tensors[other].array})
        assert re.search(
            rf"({name} is exactly {other}|{other} is exactly {name}), want memory apart", str(error)
        )


@each_plan()
def test_a_tensor_on_another_device(good, op, direction):
    here = good.run.backend.stream.device
    for elsewhere in (Device("cuda", 7), Device("host") if here.kind == "cuda" else Device("cuda", 0)):
        for name, ref in good.refs().items():
            moved = replace(ref, device=elsewhere)
            refused(good, InvalidProblem, f"{name} lies on {elsewhere}", f"want {here}", **{name: moved})


class CudaArray:
    """An array of some library in CUDA memory, or so it says."""

    def __init__(self, ref):
        strides = tuple(stride * ref.element.itemsize for stride in ref.strides)
        self.__cuda_array_interface__ = {
            "data": (ref.pointer, False), "shape": ref.shape, "strides": strides,
            "typestr": ref.element.numpy.str, "version": 3,
        }  # fmt: skip


@each_plan()
def test_a_cuda_array_on_the_host_stream(good, op, direction):
    if good.run.backend.kind != "host":
        pytest.skip("a plan of the host executor")
    for name, ref in good.refs().items():
        refused(good, InvalidProblem, f"{name} lies on cuda:0", "want host", **{name: CudaArray(ref)})


@pytest.mark.cuda
@each_plan()
def test_a_numpy_array_on_a_cuda_stream(good, op, direction):
    for name, tensor in good.run.tensors.items():
        array = np.zeros_like(tensor.before)
        refused(good, InvalidProblem, f"{name} lies on host", "want cuda:", **{name: array})


@each_plan()
def test_a_stream_of_another_device(good, op, direction):
    other = Stream(0, Device("cuda", 5))
    workspace = good.run.backend.workspace(good.run.plan.workspace_size())
    with pytest.raises(InvalidProblem, match=r"cuda:5.*want"):
        good.run.plan.run(other, workspace, good.run.args())


def bound_layouts(op, direction):
    """Tensors that may not have any strides, and what is asked of each."""
    tensors = op.family.tensors(direction).items()
    return {name: tensor.layout for name, tensor in tensors if tensor.layout != "any"}


@each_kernel_program(where=bound_layouts)
def test_layouts_that_a_kernel_does_not_take(good, op, direction):
    """Innermost stride 1, or contiguous, where the spec asks for it."""
    given = good.refs()
    assert not given.keys().isdisjoint(bound_layouts(op, direction))
    for name, layout in bound_layouts(op, direction).items():
        if name not in given:
            continue
        ref = given[name]
        stepped = replace(ref, strides=tuple(2 * stride for stride in ref.strides), buffer=None)
        if layout == "inner":
            refused(good, InvalidProblem, name, "stride 2", "want 1", **{name: stepped})
        else:
            refused(good, Unsupported, name, "strides", "contiguous", **{name: stepped})


def inner_layouts(op, direction):
    return [name for name, layout in bound_layouts(op, direction).items() if layout == "inner"]


@each_plan(where=inner_layouts)
def test_the_innermost_stride_of_an_empty_tensor_says_nothing(backend, op, direction):
    inner = inner_layouts(op, direction)
    for problem in small_problems(op, direction, "f32", (0, 6)):
        prepared = verify.prepare(backend, problem, verify.inputs_for(problem))
        for name in inner:
            ref = as_tensor(prepared.tensors[name].array)
            if 0 not in ref.shape:
                continue
            stepped = replace(ref, strides=tuple(7 * stride + 3 for stride in ref.strides), buffer=None)
            prepared.plan.can_implement(prepared.args(**{name: stepped}))


@each_kernel_program(where=aggregating)
def test_a_workspace_that_is_too_small(backend, op, direction, monkeypatch):
    needing = [
        prepared
        for problem in aggregating(op, direction)
        if (prepared := verify.prepare(backend, problem, verify.inputs_for(problem))).plan.workspace_size()
    ]
    assert needing
    monkeypatch.setattr(Plan, "_pack", None)
    for prepared in needing:
        plan, needed = prepared.plan, prepared.plan.workspace_size()
        for given in (None, backend.workspace(needed - 1)):
            for call in (
                lambda given=given, plan=plan, prepared=prepared: plan.run(
                    backend.stream, given, prepared.args()
                ),
                lambda given=given, plan=plan, prepared=prepared: plan.bind(prepared.args(), given),
            ):
                with pytest.raises(
                    WorkspaceTooSmall, match=rf"^{type(plan).__name__}: workspace has .* want {needed}"
                ) as error:
                    call()
                assert (error.value.needed, error.value.got) == (needed, 0 if given is None else needed - 1)
        far = TensorRef(256, (needed,), (1,), ElementKind.U8, Device("cuda", 9))
        with pytest.raises(InvalidProblem, match=r"workspace lies on cuda:9, want"):
            plan.run(backend.stream, far, prepared.args())
        odd = backend.workspace(needed + 8)[8:]
        with pytest.raises(MisalignedOperand, match="workspace has pointer"):
            plan.run(backend.stream, odd, prepared.args())
        for tensor in prepared.tensors.values():
            tensor.check_untouched(backend)


#: A value for a field of each type that is no default.
OTHER = {"f64": 7.5, "i64": 7, "option": "nonsense"}


def idle(op, direction):
    """Options, and a field that nothing reads under them."""
    fields = op.family.fields(direction)
    choices = itertools.product(*(op.options[name] for name in op.host_options()))
    chosen = [dict(zip(op.host_options(), values, strict=True)) for values in choices]
    return [(options, name) for options in chosen for name in idle_with(op, options) if name in fields]


@each_program(where=idle)
def test_fields_that_nothing_reads(backend, good, op, direction):
    """A field of other kinds, or of other values of an option, keeps its default."""
    for options, name in idle(op, direction):
        rule = op.family.descriptor[name]
        other = OTHER.get(rule.type, not rule.default)
        problem = good.problem.with_fields(
            **{key: op.family.descriptor[key].default for key in idle_with(op, options)},
            **options,
        )
        if not problem.is_valid():  # an option that asks for numbers which the problem lacks
            continue
        good.problem.plan_class._planned(backend.stream.device, problem.descriptor(), None)
        bad = problem.descriptor(**{name: other})
        message = re.escape(f"{name} is {other}, want {rule.default}: {op.kind.lower()}")
        with pytest.raises(InvalidProblem, match=rf"^{good.name.replace('Plan', '')}\w*: {message}"):
            good.problem.plan_class.select(backend.stream, bad)


@pytest.mark.parametrize("plan", [bc.ReducePlan, bc.ReduceBackwardPlan])
def test_options_of_other_kinds(plan):
    known = {"input_shape": (4, 6), "reduce_axis": 1, "element": "f32"}
    for kind, field, value in (
        ("sum", "ties", "split"),
        ("max", "correction", 0.0),
        ("var", "ties", "first"),
    ):
        with pytest.raises(InvalidProblem, match=rf"{field} is {value}, want .*: {kind} does not read it"):
            plan.select(Stream.host(), plan.DESCRIPTOR(kind=kind, **known, **{field: value}))
    for kind in ("max", "min"):
        with pytest.raises(Unsupported, match="ties is 'nonsense', want one of all"):
            plan.select(Stream.host(), plan.DESCRIPTOR(kind=kind, **known, ties="nonsense"))
