"""What a plan is: selected once, described by data, run in four ways, from several threads."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import json
import pickle
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from devices import (
    all_rows,
    each_kernel,
    each_kernel_program,
    each_plan,
    overwrite,
    share,
    small_problems,
)
from small_problems import first_problem

import baracuda
import baracuda.kernels as kernels_of_plans
from baracuda.codegen import verify
from baracuda.codegen.formula import to_text
from baracuda.codegen.spec.model import COMPUTE
from baracuda.compile import loader
from baracuda.dtypes import ElementKind
from baracuda.errors import DriverError
from baracuda.plan import BoundLaunch, Plan
from baracuda.sku import Backend, KernelSku, MathPrecision, PlanPreference, PrecisionGuarantee
from baracuda.stream import Stream
from baracuda.tensor import Device


def prepared_of(backend, op, direction, dtype="f32", shape=(3, 5, 7), **options):
    problem = small_problems(op, direction, dtype, shape)[0]
    return verify.prepare(backend, problem, verify.inputs_for(problem), **options)


def assert_outputs(prepared, want):
    for name, got in prepared.outputs().items():
        np.testing.assert_array_equal(verify.bits_of(got), verify.bits_of(want[name]))


@each_kernel_program()
def test_four_ways_to_run(backend, op, direction):
    prepared = prepared_of(backend, op, direction)
    prepared.launch()
    want = prepared.outputs()
    for way in ("run", "call", "bind", "stream of None"):
        again = prepared_of(backend, op, direction)
        plan, args = again.plan, again.args()
        space = backend.workspace(plan.workspace_size())
        if way == "run":
            assert plan.run(backend.stream, space, args) is None
        elif way == "call":
            arrays = {name: tensor.array for name, tensor in again.tensors.items()}
            assert plan(**arrays, stream=backend.stream, workspace=space) is None
        elif way == "bind":
            launch = plan.bind(args, space)
            assert isinstance(launch, BoundLaunch)
            launch(backend.stream)
        else:
            plan.run(None, space, args)
        assert_outputs(again, want)


@each_kernel_program()
def test_a_bound_launch_reads_its_memory_anew(backend, op, direction):
    """The same places with other contents give what a new run of those contents gives."""
    problem = small_problems(op, direction, "f32")[0]
    first, second = (verify.inputs_for(problem, seed=seed, every=True) for seed in (1, 2))
    prepared = verify.prepare(backend, problem, first)
    launch = prepared.plan.bind(prepared.args(), backend.workspace(prepared.plan.workspace_size()))
    launch()
    backend.synchronize()
    for name in problem.inputs():
        tensor = prepared.tensors[name]
        overwrite(backend, tensor, second[name])
    launch(backend.stream)
    assert_outputs(prepared, verify.run(backend, problem, second))
    assert prepared.plan.__class__.__name__ in repr(launch)


def bound(problem):
    """The error bound of a problem: of outputs with a dtype of their own that of this one."""
    own = problem.op.family.result(problem.direction) if problem.op.family.template == "map" else None
    return problem.ulp[problem.dtype_of(problem.outputs()[0]) if own else problem.dtype]


@each_kernel()
def test_the_guarantee(backend, op, direction, dtype):
    prepared = prepared_of(backend, op, direction, dtype)
    guarantee = prepared.plan.precision_guarantee
    assert isinstance(guarantee, PrecisionGuarantee)
    compute = COMPUTE[dtype]
    exact = verify.is_whole(dtype)
    assert guarantee.math_precision is MathPrecision("integer" if exact else compute)
    assert guarantee.accumulator is ElementKind(compute)
    assert guarantee.deterministic
    assert guarantee.bit_stable_on_same_hardware
    assert guarantee.ulp == bound(prepared.problem)
    named = {name: to_text(op.scale[name]) for name in prepared.problem.outputs() if name in op.scale}
    got = dict(guarantee.scale)
    assert {**got, **named}.keys() == got.keys()
    limited = {name: to_text(op.holds[name]) for name in prepared.problem.outputs() if name in op.holds}
    sums = [] if op.family.template == "attention" else prepared.problem.summed()
    assert {*got} == {*named, *sums}
    for name in sums:
        term = f"max({named.get(name, 'abs(exact)')}, smallest_normal of {compute})"
        named[name] = f"the sum over its terms of {term}"
        fits = "the sum over its terms of abs(exact) is at most max_value"
        limited[name] = f"({limited[name]}) and {fits}" if name in limited else fits
    assert got == named
    assert dict(guarantee.holds) == limited
    assert set(guarantee.batch_invariant) <= set(prepared.problem.outputs())


@each_kernel("backward")
def test_sums_over_rows_are_not_called_batch_invariant(backend, op, direction, dtype):
    for problem in share(small_problems(op, direction, dtype), op, direction, dtype):
        plan = verify.prepare(backend, problem, verify.inputs_for(problem)).plan
        assert not set(plan.precision_guarantee.batch_invariant) & set(problem.summed())


@each_kernel()
def test_the_sku(backend, op, direction, dtype):
    """Identity as data: hashable, equal for equal plans, and plain when asked for."""
    prepared, other = (prepared_of(backend, op, direction, dtype) for _ in range(2))
    sku = prepared.plan.sku
    assert isinstance(sku, KernelSku)
    assert sku == other.plan.sku
    assert hash(sku) == hash(other.plan.sku)
    assert len({sku, other.plan.sku}) == 1
    plain = json.loads(json.dumps(sku.to_json()))
    assert plain["element"] == dtype
    assert plain["category"] == op.family.category
    assert plain["op"].startswith(op.name)
    assert plain["precision_guarantee"]["ulp"] == bound(prepared.problem)
    result = prepared.problem.dtype_of(prepared.problem.outputs()[0])
    if op.family.template == "map":
        assert plain["aux_element"] == (result if result != dtype else None)
    assert sku.backend is (Backend.HOST if backend.kind == "host" else Backend.CUDA)
    assert sku.arch == "host" if backend.kind == "host" else sku.arch.startswith("sm_")
    assert pickle.loads(pickle.dumps(sku)) == sku


@each_kernel_program()
def test_skus_differ_where_kernels_do(backend, op, direction):
    skus = {prepared_of(backend, op, direction, dtype).plan.sku for dtype in op.dtypes_of(direction)}
    assert len(skus) == len(op.dtypes_of(direction))


@each_kernel()
def test_the_sku_of_arguments_is_in_the_matrix(backend, op, direction, dtype):
    """Whatever the layout, the kernel that is launched is a row of the matrix."""
    symbols = {
        (row.dtype, row.variant) for row in all_rows() if (row.op, row.direction) == (op.name, direction)
    }
    layouts = ("contiguous", "misaligned", "all axes permuted", "every second column")
    problems = small_problems(op, direction, dtype, (4, 6, 10), (2050,))
    for problem, layout in share([*itertools.product(problems, layouts)], op, direction, dtype):
        same = dict.fromkeys(problem.tensors(), layout)
        prepared = verify.prepare(backend, problem, verify.inputs_for(problem), layouts=same)
        assert (dtype, prepared.plan.sku_for(prepared.args()).variant) in symbols


@each_kernel_program()
def test_repr_tells_what_it_is(backend, op, direction):
    prepared = prepared_of(backend, op, direction)
    text = repr(prepared.plan)
    for word in (type(prepared.plan).__name__, op.name, "f32", str(backend.stream.device)):
        assert word in text
    assert all(str(extent) in text for extent in prepared.problem.domain)


@each_plan()
def test_descriptors_are_data(op, direction):
    """Frozen, hashable, picklable; equal however they are written."""
    problem = small_problems(op, direction, "f32")[0]
    desc = problem.descriptor()
    assert pickle.loads(pickle.dumps(desc)) == desc
    assert hash(desc) == hash(problem.descriptor())
    domain = op.family.domain
    assert problem.descriptor(**{domain: list(problem.domain)}) == desc
    assert problem.descriptor(element=ElementKind.F32) == desc
    assert problem.descriptor(element=np.float32) == desc
    assert problem.descriptor(kind=desc.kind) == desc
    assert problem.descriptor(kind=op.kind) == desc
    if op.family.axes is not None:
        axis = len(problem.domain) - 1
        assert problem.descriptor(**{op.family.axes: axis}) == problem.descriptor(**{op.family.axes: (axis,)})
        assert problem.descriptor(**{op.family.axes: (2, 0)}) == problem.descriptor(
            **{op.family.axes: (0, 2)}
        )
    with pytest.raises(AttributeError):
        setattr(desc, domain, (1,))
    with pytest.raises(TypeError):
        problem.plan_class.DESCRIPTOR(*desc.__dict__.values())
    assert type(desc).__name__ in repr(desc)


@each_plan()
def test_a_plan_keeps_its_descriptor_and_device(backend, op, direction):
    prepared = prepared_of(backend, op, direction)
    assert prepared.plan.desc == prepared.problem.descriptor()
    assert prepared.plan.device == backend.stream.device
    with pytest.raises(AttributeError):
        prepared.plan.desc = None


@each_plan()
def test_a_copied_plan_is_itself_and_a_pickled_one_is_selected_again(backend, op, direction):
    prepared = prepared_of(backend, op, direction)
    problem = prepared.problem
    plan = problem.plan_class.select(backend.stream, problem.descriptor(), PlanPreference(max_workspace=0))
    assert copy.copy(plan) is plan
    assert copy.deepcopy([plan])[0] is plan
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(plan, protocol))
        assert again is not plan
        assert (type(again), again.desc, again.device) == (type(plan), plan.desc, plan.device)
        assert (again.sku, again.workspace_size()) == (plan.sku, 0)
    bound = prepared.plan.bind(prepared.args(), backend.workspace(prepared.plan.workspace_size()))
    assert copy.copy(bound) is bound
    for refused in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="Plan: a bound launch holds the places of its arrays"):
            refused(bound)


def test_a_pickled_plan_of_a_device_that_is_not_there_does_not_load():
    problem = first_problem()
    plan = problem.plan._planned(Device("cuda", 99), problem.desc, None)
    with pytest.raises(DriverError, match="no CUDA device"):
        pickle.loads(pickle.dumps(plan))


@each_plan()
def test_plans_are_names_of_the_package(op, direction):
    name = op.family.plan_class(direction)
    cls = getattr(baracuda, name)
    assert issubclass(cls, Plan)
    assert name in dir(baracuda)
    assert cls.__doc__
    stem = name.removesuffix("Plan")
    assert cls.DESCRIPTOR is getattr(baracuda, f"{stem}Descriptor")
    assert cls.ARGS is getattr(baracuda, f"{stem}Args")


@each_kernel_program()
def test_one_plan_in_many_threads(backend, op, direction):
    """Each thread has tensors of its own; the plan is shared, and so are layouts it has not met before."""
    problem = small_problems(op, direction, "f32", (5, 300))[0]
    plan = verify.prepare(backend, problem, verify.inputs_for(problem)).plan
    layouts = ["contiguous", "misaligned", "every second column", "all axes permuted"]
    barrier = threading.Barrier(8)

    def work(number):
        values = verify.inputs_for(problem, seed=number)
        chosen = dict.fromkeys(problem.tensors(), layouts[number % 4])
        prepared = verify.prepare(backend, problem, values, layouts=chosen, plan=plan)
        barrier.wait()
        for _ in range(5):
            prepared.launch()
        return prepared.outputs(), values

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(8)))
    for got, values in results:
        want = verify.run(backend, problem, values, plan=plan)
        for name, value in want.items():
            np.testing.assert_array_equal(verify.bits_of(got[name]), verify.bits_of(value))


@each_kernel_program()
def test_layouts_beyond_those_remembered(backend, op, direction, monkeypatch):
    """A plan that met more layouts than it keeps starts over, and stays right."""
    monkeypatch.setattr(Plan, "REMEMBERED", 3)
    problem = small_problems(op, direction, "f32")[0]
    values = verify.inputs_for(problem)
    plan = verify.prepare(backend, problem, values).plan
    want = verify.run(backend, problem, values)
    for layout in [*verify.LAYOUTS, *verify.LAYOUTS]:
        chosen = dict.fromkeys(problem.tensors(), layout)
        got = verify.run(backend, problem, values, layouts=chosen, plan=plan)
        for name, value in want.items():
            np.testing.assert_array_equal(verify.bits_of(got[name]), verify.bits_of(value))
        assert len(plan._layouts) <= 3


@each_kernel_program()
def test_run_neither_compiles_nor_selects(backend, op, direction, monkeypatch):
    """All cost is in `select`: every layout's kernel is loaded by then."""
    problem = small_problems(op, direction, "f32", (4, 6, 10))[0]
    values = verify.inputs_for(problem)
    plan = verify.prepare(backend, problem, values).plan

    def never(*args, **kwargs):
        raise AssertionError("a kernel was loaded by run")

    for module in (loader, kernels_of_plans):
        for name in ("load", "preload"):
            monkeypatch.setattr(module, name, never, raising=False)
    for layout in verify.LAYOUTS:
        verify.run(backend, problem, values, layouts=dict.fromkeys(problem.tensors(), layout), plan=plan)


@each_plan()
def test_the_batch_of_the_tests_is_what_plans_load(backend, op, direction, monkeypatch):
    """The fixture loads exactly the units that `select` asks for; else each would be compiled on its own."""
    asked = []
    real = kernels_of_plans.preload

    def record(units, device, *rest, **options):
        units = list(units)
        loaded = {key[0] if isinstance(key, tuple) else key for key in loader._modules}
        asked.extend(unit in loaded for unit in units)
        return real(units, device, *rest, **options)

    monkeypatch.setattr(kernels_of_plans, "preload", record)
    for dtype in op.dtypes_of(direction):
        for problem in small_problems(op, direction, dtype):
            problem.plan_class.select(backend.stream, problem.descriptor())
    assert asked
    assert all(asked)


@each_kernel_program()
def test_no_workspace_is_one_way_to_the_same_bits(backend, op, direction):
    problem = small_problems(op, direction, "f32", (20000,))[0]
    for bytes_ in (0, 1, 10**9):
        plan = verify.prepare(
            backend, problem, verify.inputs_for(problem), preference=PlanPreference(max_workspace=bytes_)
        ).plan
        assert 0 <= plan.workspace_size() <= bytes_


@each_plan()
def test_a_stream_where_none_is_given_to_select(backend, op, direction):
    problem = small_problems(op, direction, "f32")[0]
    plan = problem.plan_class.select(None, problem.descriptor())
    try:
        from baracuda import driver

        cuda = driver.device_count() > 0
    except DriverError:
        cuda = False
    assert (plan.device.kind == "cuda") == cuda


def test_a_host_stream_is_one_object():
    assert Stream.host() is Stream.host()


def test_a_workspace_that_overlaps_a_tensor_is_refused():
    import baracuda as bc

    shape = (4, 300_000)
    desc = bc.ReduceDescriptor(kind="sum", input_shape=shape, reduce_axis=1, element="f32")
    plan = bc.ReducePlan.select(bc.Stream.host(), desc)
    needed = plan.workspace_size()
    assert needed > 0
    memory = np.ones(4 * 4 * 300_000 + 256, np.uint8)
    start = -memory.ctypes.data % 256
    buffer = memory[start : start + 4 * 4 * 300_000]
    x = buffer.view(np.float32).reshape(shape)
    before = memory.tobytes()
    with pytest.raises(bc.InvalidProblem, match=r"ReducePlan: workspace overlaps x"):
        plan(x=x, y=np.empty((4, 1), np.float32), workspace=buffer[:needed])
    assert memory.tobytes() == before


def test_numbers_and_preferences_out_of_range_are_refused():
    import baracuda as bc

    with pytest.raises(bc.InvalidProblem, match="want an integer that fits 64 bits"):
        bc.RopeDescriptor(
            batch_size=1, num_heads=1, seq_len=1, head_dim=2, element="f32", original_seq_len=2**63
        )
    with pytest.raises(bc.InvalidProblem, match="want a number that fits a double"):
        bc.BinaryParamDescriptor(kind="lerp", shape=(3,), element="f32", param=10**400)
    with pytest.raises(TypeError, match=r"param is '0\.5', want a number"):
        bc.BinaryParamDescriptor(kind="lerp", shape=(3,), element="f32", param="0.5")
    with pytest.raises(TypeError, match="correction is True, want a number"):
        bc.ReduceDescriptor(kind="var", input_shape=(3,), reduce_axis=0, element="f32", correction=True)
    for axes in (True, (True,)):
        with pytest.raises(
            TypeError, match=r"reduce_axis is .*True.*, want an integer or a tuple of integers"
        ):
            bc.ReduceDescriptor(kind="sum", input_shape=(3, 2), reduce_axis=axes, element="f32")
    for shape in ("", b"", bytearray(2), {}, set(), {3, 2}, {3: 2}):
        with pytest.raises(TypeError, match=r"input_shape is .*, want integers in a tuple"):
            bc.ReduceDescriptor(kind="sum", input_shape=shape, reduce_axis=(), element="f32")
        with pytest.raises(TypeError, match=r"reduce_axis is .*, want integers in a tuple"):
            bc.ReduceDescriptor(kind="sum", input_shape=(2, 3, 4, 5), reduce_axis=shape, element="f32")
    for shape in ([3, 2], range(2), iter((3, 2)), np.array([3, 2])):
        bc.ReduceDescriptor(kind="sum", input_shape=shape, reduce_axis=0, element="f32")
    for number in (True, "1", 1.0):
        with pytest.raises(TypeError, match=r"max_workspace is a .*, want an int or None"):
            bc.PlanPreference(max_workspace=number)
    for word in ("no", 0, 1, None):
        with pytest.raises(TypeError, match=r"allow_tf32 is .*, want True or False"):
            bc.PlanPreference(allow_tf32=word)
    for size in (1.0, "1", None, True):
        with pytest.raises(TypeError, match=r"^Workspace\.host: nbytes is a .*, want an int"):
            bc.Workspace.host(size)
    with pytest.raises(bc.InvalidProblem, match=r"^Workspace\.host: nbytes is -1, want at least 0"):
        bc.Workspace.host(-1)
    with pytest.raises(bc.InvalidProblem, match="max_workspace is -1, want at least 0"):
        bc.PlanPreference(max_workspace=-1)
    desc = bc.BinaryParamDescriptor(kind="lerp", shape=(3,), element="f32", param=0.5)
    with pytest.raises(TypeError, match="preference is a int, want a PlanPreference"):
        bc.BinaryParamPlan.select(bc.Stream.host(), desc, 3)


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_lerp_is_monotonic_across_its_ends(element):
    import baracuda as bc

    rng = np.random.default_rng(0)
    dtype = np.float32 if element == "f32" else np.float64
    a, b = rng.standard_normal((2, 20_000)).astype(dtype)
    b = np.where(rng.random(20_000) < 0.5, np.abs(b) * np.sign(a), b).astype(dtype)
    results = []
    for weight in (-(2.0**-53), 0.0, 2.0**-60, 1 - 2.0**-53, 1.0, 1 + 2.0**-52, 1.0000002):
        desc = bc.BinaryParamDescriptor(kind="lerp", shape=a.shape, element=element, param=weight)
        y = np.empty_like(a)
        bc.BinaryParamPlan.select(bc.Stream.host(), desc)(a=a, b=b, y=y)
        results.append(np.where(b >= a, y, -y))
    assert all((later >= earlier).all() for earlier, later in itertools.pairwise(results))


def test_descriptors_with_other_fields():
    """What was not given follows again; what was given stays."""
    import baracuda as bc

    norm = bc.RMSNormDescriptor(input_shape=(3, 4), norm_axes=(1,), element="f32")
    wider = norm.replace(input_shape=(2, 3, 4), norm_axes=(1, 2))
    assert (wider.norm_axes, wider.norm_axes_mask) == ((1, 2), 0b110)
    assert norm.replace(norm_axes_mask=0b11).norm_axes == (0, 1)
    assert norm.replace(element="f64") == dataclasses.replace(norm, element="f64")
    assert norm.replace() == norm
    with pytest.raises(bc.InvalidProblem, match=r"want one of the two; desc\.replace\(\.\.\.\) sees to both"):
        dataclasses.replace(norm, norm_axes=(0, 1))
    lerp = bc.BinaryParamDescriptor(kind="lerp", shape=(3,), element="f32", param=0.5, b_shape=(1,))
    assert [lerp.replace(shape=(5,)).a_shape, lerp.replace(shape=(5,)).b_shape] == [(5,), (1,)]
    elu = bc.UnaryParamDescriptor(kind="elu", shape=(3,), element="f32")
    tanh = bc.UnaryParamDescriptor(kind="hardtanh", shape=(3,), element="f32")
    assert pickle.loads(pickle.dumps(elu)).replace(kind="hardtanh") == tanh
    with pytest.raises(TypeError):
        elu.replace(nonsense=1)


@each_plan()
def test_every_descriptor_as_itself_and_as_plain_data(op, direction):
    desc = small_problems(op, direction, "f32", (4, 6))[0].descriptor()
    assert desc.replace() == desc
    assert hash(desc.replace()) == hash(desc)
    plain = json.loads(json.dumps(desc.to_json()))
    assert type(desc)(**plain) == desc


def test_keys_tell_plans_apart():
    """By every field of the descriptor and by the preference, where the SKU has the kernel alone."""
    import baracuda as bc

    stream = bc.Stream.host()
    desc = bc.RopeDescriptor(batch_size=1, num_heads=1, seq_len=2, head_dim=8, element="f32")
    changes = (
        {}, {"seq_len": 3}, {"layout": "half"}, {"base": 500000.0}, {"scaling": "linear"},
        {"scaling": "linear", "factor": 2.0}, {"rotary_dim": 4}, {"element": "f64"},
    )  # fmt: skip
    plans = [bc.RopePlan.select(stream, desc.replace(**change)) for change in changes]
    plans.append(bc.RopeBackwardPlan.select(stream, bc.RopeBackwardDescriptor(**desc.to_json())))
    plans.append(bc.RopePlan.select(stream, desc, bc.PlanPreference(max_workspace=0)))
    keys = [plan.key for plan in plans]
    assert len({*keys}) == len(keys)
    assert len({plan.sku for plan in plans}) < len(keys)
    assert bc.RopePlan.select(stream, desc.replace(), bc.PlanPreference()).key == keys[0]
    assert pickle.loads(pickle.dumps(plans[0])).key == keys[0]
    assert re.fullmatch(r"rope/f32/contig/host/[0-9a-f]{16}", keys[0])
    text = f"import baracuda as bc; desc = bc.RopeDescriptor(**{desc.to_json()}); "
    text += "print(bc.RopePlan.select(bc.Stream.host(), desc).key)"
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
    assert told.strip() == keys[0]
    assert all(key.startswith(f"{plan.sku}/") for key, plan in zip(keys, plans, strict=True))
    plain = json.loads(json.dumps(plans[5].to_json()))
    assert (plain["plan"], plain["desc"]["factor"], plain["sku"]["variant"]) == ("RopePlan", 2.0, "contig")
    assert plain["preference"] == {"max_workspace": None, "allow_tf32": False}


@pytest.mark.parametrize(
    ("element", "weight"),
    [(one, weight) for one in ("f16", "f32", "f64") for weight in (1e-40, -1e-40, 1e-45)]
    + [("f64", weight) for weight in (1e-50, -1e-50, 5e-324)],
)
def test_lerp_of_an_infinite_end_by_a_tiny_weight(element, weight):
    """A weight that is not 0 leads to what is infinite, subnormal or not."""
    import baracuda as bc

    dtype = ElementKind.parse(element).numpy
    a, b = np.array(
        [[1, 0, 1, np.inf, np.inf, 1, -np.inf], [np.inf, -np.inf, -np.inf, np.inf, 1, 2, np.inf]], dtype
    )
    y = np.empty_like(a)
    desc = bc.BinaryParamDescriptor(kind="lerp", shape=a.shape, element=element, param=weight)
    bc.BinaryParamPlan.select(bc.Stream.host(), desc)(a=a, b=b, y=y)
    sign = np.copysign(1, weight)
    middle = np.nan if weight > 0 else -np.inf
    want = np.array([sign * np.inf, sign * -np.inf, sign * -np.inf, np.inf, np.inf, 1, middle], dtype)
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("element", ["f16", "f32", "f64"])
@pytest.mark.parametrize("weight", [1e-50, -1e-50, 1e-330])
def test_lerp_of_finite_ends_by_a_weight_that_vanishes(element, weight):
    """It is a, however far b is."""
    import baracuda as bc

    dtype = ElementKind.parse(element).numpy
    most = np.finfo(dtype).max
    a = np.array([1, -1, 1e-3, 0, -0.0, 2], dtype)
    b = np.array([3, 5, 7, most, -3, -most], dtype)
    y = np.empty_like(a)
    desc = bc.BinaryParamDescriptor(kind="lerp", shape=a.shape, element=element, param=weight)
    bc.BinaryParamPlan.select(bc.Stream.host(), desc)(a=a, b=b, y=y)
    within = a + np.longdouble(weight) * b if element == "f64" else a
    np.testing.assert_array_equal(y, within.astype(dtype))


def described(plan_class):
    """What the docstring of a plan's arguments says of each."""
    found, name = {}, None
    for line in inspect.getdoc(plan_class.ARGS).split("Attributes:")[1].splitlines():
        start = re.fullmatch(r" {4}(\w+): (.*)", line)
        if start:
            name = start[1]
        if name and line.strip():
            found[name] = f"{found[name]} {line.strip()}" if name in found else start[2]
    return found


@each_plan()
def test_arguments_say_which_kinds_take_them(op, direction):
    plan_class = getattr(baracuda, op.family.plan_class(direction))
    for tensor in plan_class.TENSORS:
        text = described(plan_class)[tensor.name]
        needing = {kind.name for kind, record in plan_class.OPS.items() if tensor.name in record.required}
        refusing = {
            kind.name for kind, record in plan_class.OPS.items() if tensor.name not in record.accepted
        }
        if not needing or not refusing or tensor.optional:
            assert "; None for " not in text
            assert " alone;" not in text
            continue
        some = re.search(r"; None for ([A-Z0-9_, ]+);", text)
        if some:
            assert set(some[1].split(", ")) == refusing
        else:
            assert set(re.search(r"; for ([A-Z0-9_, ]+) alone;", text)[1].split(", ")) == needing


@each_plan()
def test_arguments_say_their_dtype(op, direction):
    """Where it is not the descriptor's."""
    plan_class = getattr(baracuda, op.family.plan_class(direction))
    for tensor in plan_class.TENSORS:
        named = re.search(r"; of dtype (\w+), shape ", described(plan_class)[tensor.name])
        assert (named[1] if named else None) == tensor.element
