"""What bad descriptors get: the right kind of error, a message that helps, no launch."""

from __future__ import annotations

import ast
import inspect
import itertools
import math
import re
import textwrap

import numpy as np
import pytest
from devices import (
    checkout_spec,
    each_kernel_program,
    each_plan,
    each_program,
    has_axes,
    small_problems,
)

import baracuda as bc
from baracuda.codegen.formula import evaluate, free_names
from baracuda.codegen.spec.idle import idle_with
from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem, Unsupported
from baracuda.stream import Stream


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
                    told = rf"{name} is {re.escape(str(value))} \(-?inf in f32, .* {op.name}\w* is .*\), want"
                    with pytest.raises(InvalidProblem, match=told):
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
