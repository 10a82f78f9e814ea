"""NaN, infinities, signed zeros and subnormals, and every bit pattern of the 16-bit kinds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from devices import each_kernel, each_op, share, small_problems

from baracuda.codegen import verify


def check(spec, backend, problem, values, **options):
    error = verify.worst(spec, backend, problem, values, **options)
    assert error <= problem.ulp[problem.dtype], explain(spec, backend, problem, values, error)


def explain(spec, backend, problem, values, error):
    """The first element that is off, with its operands where they have its shape."""
    prepared = verify.prepare(backend, problem, values)
    prepared.launch()
    want, sizes = verify.references(problem, prepared.known), verify.scales(spec, problem, prepared.known)
    for name, got in prepared.outputs().items():
        errors = verify.ulp_errors(problem.dtype_of(name), got, want[name], sizes.get(name))
        for index in np.argwhere(errors > problem.ulp[problem.dtype]):
            place = tuple(index)
            operands = {
                key: np.broadcast_to(value, got.shape)[place]
                if problem.op.family.template == "map" and value.shape <= got.shape
                else np.asarray(value).tolist()
                for key, value in prepared.known.items()
                if value.size <= 64 or problem.op.family.template == "map"
            }
            values = f"is {got[place]}, want {want[name][place]}, {errors[place]:.3g} ulp"
            return f"{problem}: {name}{place} {values}; {operands}"
    return f"{problem}: {error} ulp"


@each_kernel()
def test_special_operands(spec, backend, op, direction, dtype):
    """Random tensors of special values, in rows so short that many hold one kind alone."""
    problems = small_problems(op, direction, dtype, (40, 3), (7, 5, 2), (300,))
    for problem, seed in share([*itertools.product(problems, range(2))], op, direction, dtype, least=2):
        values = verify.inputs_for(problem, "special", seed)
        check(spec, backend, problem, values)


#: Whose zero at -0 is not the reference's: the maximum of x and 0; odd functions whose reference has no -0.
OTHER_ZEROS = {"relu", "relu6", "i1", "i1e"}


def has_signed_zeros(op, direction):
    """Maps of x alone whose reference tells zeros apart."""
    alone = op.programs[direction].inputs == ("x",) and op.family.template == "map"
    return alone and op.name not in OTHER_ZEROS


@each_op("forward", dtypes=("f16", "bf16", "f32"), where=has_signed_zeros)  # mpmath, of f64, has one zero
def test_zeros_have_their_signs(spec, backend, op, direction, dtype):
    """What is 0 at a zero has the sign that the function gives it there."""
    problem = verify.problems(op, direction, dtype, [(2,)], every_option=False)[0]
    for changed in verify.with_numbers(problem):
        values = {"x": verify.rounded(np.array([0.0, -0.0]), dtype)}
        want = verify.references(changed, values)["y"]
        got = verify.widened(verify.run(backend, changed, values)["y"])
        zeros = (got == 0) & (want == 0)
        np.testing.assert_array_equal(np.signbit(got)[zeros], np.signbit(want)[zeros])


@each_op()
def test_every_pair_of_special_values(spec, backend, op, direction, dtype):
    """Each value with each: side by side in two operands, and as a row of two."""
    specials = verify.rounded(
        verify.special_values(dtype, headroom=0 if op.family.axes is None else 10), dtype
    )
    first, second = (part.ravel() for part in np.meshgrid(specials, specials, indexing="ij"))
    for problem in verify.problems(op, direction, dtype, [(first.size, 2)], every_option=True):
        for changed in verify.with_numbers(problem):
            values = verify.inputs_for(changed)
            pairs = np.stack([first, second], axis=1)
            if op.family.axes is None:
                fill_operands(changed, values, pairs, pairs[:, ::-1])
            else:
                fill_operands(changed, values, pairs, pairs)
            check(spec, backend, changed, values)


@each_kernel()
def test_one_special_value_among_many(spec, backend, op, direction, dtype):
    """A NaN, an infinity or the end of a range is met wherever it stands in a long row, at last too."""
    length = 1025
    places = [0, 1, 31, 32, 500, 1023, 1024]
    specials = verify.special_values(dtype)
    ends = (specials.min(), specials.max()) if verify.is_whole(dtype) else (np.nan, np.inf, -np.inf)
    shapes = [(len(places), length)]
    pieces = [
        (value, problem)
        for value in ends
        for problem in verify.problems(op, direction, dtype, shapes, every_option=value is ends[0])
    ]
    for value, problem in share(pieces, op, direction, dtype):
        values = verify.inputs_for(problem)
        for name in problem.with_direction("forward").inputs():
            whole = (*problem.domain[:-1], length)
            if name in values and values[name].shape == whole and problem.dtype_of(name) == dtype:
                rows = values[name].reshape(-1, problem.domain[-1])
                rows[range(len(places)), places] = value
        values |= verify.saved_tensors(problem, values)
        check(spec, backend, problem, values)


@each_op("backward")
def test_special_gradients(spec, backend, op, direction, dtype):
    count = len(verify.special_values(dtype))
    problems = small_problems(op, direction, dtype, (count, 3), (3, count))
    for problem in share(problems, op, direction, dtype, least=4):
        # Parts of a sum may overflow on the way to an infinity of the other sign.
        headroom = 10 if problem.summed() else 0
        specials = verify.rounded(verify.special_values(dtype, headroom), dtype)
        values = verify.inputs_for(problem)
        for name in problem.inputs():
            if name not in problem.tensors("forward"):
                values[name] = np.resize(specials, values[name].shape)
        check(spec, backend, problem, values)


INF, NAN = np.inf, np.nan

#: An op, the descriptor's numbers, operands, and gradients beside a dy of 1 unless it is given.
KNOWN_GRADIENTS = [
    ("i0", {}, {"x": [INF, -INF, NAN, INF], "dy": [1, 1, 1, 0]}, {"dx": [INF, -INF, NAN, NAN]}),
    ("i1", {}, {"x": [INF, -INF, NAN, INF], "dy": [1, 1, 1, 0]}, {"dx": [INF, INF, NAN, NAN]}),
    ("clamp_scalar", {"param": NAN, "param2": 1}, {"x": [2, 0.5, NAN]}, {"dx": [0, 0, 0]}),
    ("clamp_scalar", {"param": -1, "param2": NAN}, {"x": [2, 0.5, -2]}, {"dx": [0, 0, 0]}),
    ("clamp_scalar", {"param": -1, "param2": 1}, {"x": [NAN, INF, 1]}, {"dx": [0, 0, 1]}),
    (
        "clamp_tensor",
        {},
        {"a": [2, 0.5, 2, 0.5, NAN], "b": [NAN, NAN, 1, 1, 0], "c": [1, -1, NAN, NAN, 1]},
        {"da": [0] * 5, "db": [0] * 5, "dc": [1, 1, 0, 0, 0]},
    ),
    ("hardsigmoid", {}, {"x": [NAN, INF, -INF]}, {"dx": [1 / 6, 0, 0]}),
    ("hardtanh", {}, {"x": [NAN, INF, -INF]}, {"dx": [1, 0, 0]}),
    ("relu", {}, {"x": [NAN, INF, -INF]}, {"dx": [1, 1, 0]}),
    ("relu6", {}, {"x": [NAN, INF, -INF]}, {"dx": [1, 0, 0]}),
    ("abs", {}, {"x": [NAN, INF, -INF]}, {"dx": [NAN, 1, -1]}),
    ("hardswish", {}, {"x": [NAN, INF, -INF]}, {"dx": [NAN, 1, 0]}),
    ("rsqrt", {}, {"x": [0.0, -0.0, INF]}, {"dx": [-INF, -INF, -0.0]}),
    ("acosh", {}, {"x": [-1.25, 1.25, 0.5]}, {"dx": [4 / 3, 4 / 3, NAN]}),
    ("atanh", {}, {"x": [3, -3, 1]}, {"dx": [-0.125, -0.125, INF]}),
    ("log", {}, {"x": [-2, 2, NAN]}, {"dx": [-0.5, 0.5, NAN]}),
]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize(
    ("name", "numbers", "operands", "want"),
    [pytest.param(*case, id=f"{place}-{case[0]}") for place, case in enumerate(KNOWN_GRADIENTS)],
)
def test_what_numerics_md_says_of_gradients(spec, backend, dtype, name, numbers, operands, want):
    """Not by the reference, which may have the formula's mistake."""
    shape = (len(next(iter(operands.values()))),)
    problem = verify.Problem(spec.ops[name], "backward", dtype, {"shape": shape, **numbers})
    given = {"dy": np.ones(shape), **operands}
    values = {key: verify.rounded(np.array(value, np.longdouble), dtype) for key, value in given.items()}
    got = verify.run(backend, problem, values)
    for key, gradients in want.items():
        rounded = verify.rounded(np.array(gradients, np.longdouble), dtype)
        np.testing.assert_array_equal(verify.widened(got[key]), verify.widened(rounded))


@each_op(dtypes=["f16", "bf16"])
def test_all_65536_patterns_as_each_operand(spec, backend, op, direction, dtype):
    """Every value of a 16-bit kind, alone in its row where there are rows, beside one, zero and itself."""
    patterns = verify.all_patterns(dtype)
    beside = [np.roll(patterns, 12345), np.ones_like(patterns), np.zeros_like(patterns), patterns]
    problems = [*enumerate(pattern_problems(op, direction, dtype))]
    for turn, problem in share(problems, op, direction, dtype, ["f16", "bf16"]):
        values = verify.inputs_for(problem)
        column = beside[turn % len(beside)]
        if problem.domain[-1] == 1 and op.family.axes is None:
            fill_operands(problem, values, patterns[:, None], column[:, None])
        else:
            whole = np.stack([patterns, column], axis=1)[:, : problem.domain[-1]]
            fill_operands(problem, values, whole, whole)
        check(spec, backend, problem, values)


@each_op(dtypes=["i8", "u8", "bool"])
def test_all_pairs_of_8_bits(spec, backend, op, direction, dtype):
    """Every value of an 8-bit kind with every other, and as a third operand with each in turn."""
    patterns = verify.all_patterns(dtype)
    first, second = (part.ravel() for part in np.meshgrid(patterns, patterns, indexing="ij"))
    for problem in verify.problems(op, direction, dtype, [first.shape], every_option=True):
        for changed in verify.with_numbers(problem):
            values = verify.inputs_for(changed)
            fill_operands(changed, values, first, second)
            check(spec, backend, changed, values)


@each_op(dtypes=["i16"])
def test_all_65536_integers_as_each_operand(spec, backend, op, direction, dtype):
    """Every value of a 16-bit kind beside many others, 0 and -1 among them, and beside itself."""
    patterns = verify.all_patterns(dtype)
    others = [np.full_like(patterns, value) for value in (0, -1, 1, 2, -32768)]
    pairs = [(patterns, beside) for beside in (np.roll(patterns, 12345), patterns[::-1].copy(), *others)]
    pairs = [*pairs, (patterns, patterns), *((second, first) for first, second in pairs)]
    for problem in verify.problems(op, direction, dtype, [patterns.shape], every_option=True):
        several = len(problem.with_direction("forward").inputs()) > 1
        for pair in pairs if several else pairs[:1]:
            values = verify.inputs_for(problem)
            fill_operands(problem, values, *pair)
            check(spec, backend, problem, values)


def pattern_problems(op, direction, dtype):
    """Rows of one and of two elements where rows are aggregated, each number's samples in turn."""
    shapes = [(65536, 1)] if op.family.axes is None else [(65536, 1), (65536, 2)]
    found = [
        problem
        for problem in verify.problems(op, direction, dtype, shapes, every_option=True)
        if op.family.axes is None or problem.axes == (1,)
    ]
    return [changed for problem in found for changed in verify.with_numbers(problem)]


def fill_operands(problem, values, first, second):
    """Give the operands of the domain's shape, or the gradient that comes in, values in turn."""
    names = [
        name
        for name, value in values.items()
        if value.shape == problem.domain
        and value.size == first.size
        and problem.dtype_of(name) == problem.dtype
    ]
    forward = problem.with_direction("forward").inputs()
    for turn, name in enumerate(names):
        if name in forward or problem.op.family.axes is None:
            values[name] = np.ascontiguousarray((first, second)[turn % 2]).reshape(problem.domain)
    values |= verify.saved_tensors(problem, values)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_rounding_and_errors_agree_with_the_formats(dtype):
    """The measure itself: neighbours are one ulp apart, subnormals and the edge to infinity included."""
    kind = verify.numpy_dtype(dtype)
    whole = {2: np.uint16, 4: np.uint32, 8: np.uint64}[kind.itemsize]
    infinity = int(np.array(np.inf, kind).view(whole))
    patterns = np.unique(
        np.r_[0:200, infinity // 2 - 100 : infinity // 2 + 100, infinity - 200 : infinity]
    ).astype(whole)
    below = verify.widened(patterns.view(kind))
    above = verify.widened((patterns + whole(1)).view(kind))
    edge = np.ldexp(np.longdouble(1), verify.floats.FORMATS[dtype].most)
    above = np.where(np.isinf(above), edge, above)
    np.testing.assert_array_equal(above - below, verify.ulp(dtype, below))
    # The middle goes to even, and just beside it to the nearer one.
    middle = (below + above) / 2
    got = verify.rounded(middle, dtype).view(whole)
    np.testing.assert_array_equal(got, patterns + (patterns & whole(1)))
    for factor, want in ((1 - 2.0**-9, patterns), (1 + 2.0**-9, patterns + whole(1))):
        near = below + (above - below) / 2 * factor
        np.testing.assert_array_equal(verify.rounded(near, dtype).view(whole), want)
    np.testing.assert_array_equal(verify.ulp_errors(dtype, patterns.view(kind), middle), 0.5)


def test_errors_of_values_that_are_no_numbers():
    want = np.array([np.nan, np.inf, -np.inf, 1.0, np.nan, np.inf, 65520.0, 65519.0, 1e6, 1e6], np.longdouble)
    got = np.array(
        [np.nan, np.inf, -np.inf, np.nan, 1.0, 65504.0, np.inf, np.inf, np.inf, 65504.0], np.float16
    )
    errors = verify.ulp_errors("f16", got, want)
    assert errors[:3].tolist() == [0, 0, 0]
    assert np.isinf(errors[3:6]).all()
    assert errors[6] == 0.5
    assert 0.5 < errors[7] < 0.6
    assert errors[8] == 0
    assert errors[9] == 1
    assert verify.ulp_errors("f32", np.float32(1), np.longdouble(2), scale=1024.0) == 2.0**13
