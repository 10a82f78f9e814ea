"""The formula language: what it accepts, what it refuses in which words, and how it is printed."""

from __future__ import annotations

import builtins
import math
import pickle

import pytest

from baracuda.codegen.formula import (
    BOOL,
    COMPUTE,
    F64,
    FUNCTIONS,
    INT,
    STATE,
    WIDE,
    Binary,
    Boolean,
    Call,
    Compare,
    Constant,
    Field,
    FormulaError,
    IfElse,
    Name,
    Number,
    Unary,
    calls,
    check_name,
    fold_conditions,
    free_names,
    infer,
    parse,
    rewrite,
    substitute,
    to_cuda,
    to_python,
    to_text,
)

STATE_TYPE = STATE({"m": COMPUTE, "s": COMPUTE, "e": INT})
ENV = {
    "x": COMPUTE,
    "y": COMPUTE,
    "dy": COMPUTE,
    "eps": F64,
    "w": F64,
    "v": WIDE,
    "i": INT,
    "n": INT,
    "hit": BOOL,
    "a": STATE_TYPE,
    "b": STATE_TYPE,
}


def error(text: str, want: object = None) -> str:
    with pytest.raises(FormulaError) as caught:
        infer(parse(text), ENV, want)  # type: ignore[arg-type]
    return str(caught.value)


SYNTAX = [
    ("", "nothing is written here: a formula is missing, at column 1"),
    ("  \n ", "nothing is written here: a formula is missing, at column 1"),
    ("x = 1", "'=' is not in the formula language: compare with `==`, at column 3"),
    ("x && y", "'&&' is not in the formula language: write `and`, at column 3"),
    ("x || y", "'||' is not in the formula language: write `or`, at column 3"),
    ("!hit", "'!' is not in the formula language: write `not`, at column 1"),
    ("x > 0 ? x : 0", "'?' is not in the formula language: write `a if c else b`, at column 7"),
    ("lambda: x", "':' is not in the formula language: write `a if c else b`, at column 7"),
    ("(x := 1)", "':=' is not in the formula language: name a sub-expression under `let`, at column 4"),
    ("a->m", "'->' is not in the formula language: a field is written `a.m`, at column 2"),
    ("x[0]", "'[' is not in the formula language: a formula has no subscripts and no lists, at column 2"),
    ("{x}", "'{' is not in the formula language: a formula has no sets and no dicts, at column 1"),
    ("'x'", '"\'" is not in the formula language: a formula has no text, at column 1'),
    ("x # note", "'#' is not in the formula language: a formula has no comments, at column 3"),
    ("x; y", "';' is no part of the formula language, at column 2"),
    ("x @ y", "'@' is no part of the formula language, at column 3"),
    ("x + é", "'é' is no part of the formula language, at column 5"),
    ("x\u00a0+ 1", "'\\xa0' is no part of the formula language, at column 2"),
    ("(x + 1", "this ( is never closed, at column 1"),
    ("x + 1)", "this ) closes nothing, at column 6"),
    ("x, y", "a comma outside a call: a formula is one expression, at column 1"),
    ("max(*x)", "`*` before an argument is not in the formula language, at column 5"),
    ("x in y", "`in` is not in the formula language: compare with `==`, at column 1"),
    ("x not in y", "`not in` is not in the formula language: compare with `!=`, at column 1"),
    ("x is y", "`is` is not in the formula language: compare with `==`, at column 1"),
    ("x is not y", "`is not` is not in the formula language: compare with `!=`, at column 1"),
    ("max(x for x in y)", "`for` is not in the formula language, at column 4"),
    ("None", "`None` is not in the formula language, at column 1"),
    ("(yield)", "`yield` is not in the formula language, at column 2"),
    ("exp(x).m", "only a name has fields: `.m` follows something else, at column 1"),
    ("is_half.m", "only a name has fields: `.m` follows something else, at column 1"),
    ("a.m.s", "only a name has fields: `.s` follows something else, at column 1"),
    ("a.m(x)", "a function is called by its plain name, at column 1"),
    (
        "017 + x",
        "'017' is no number of the formula language: write 17: a leading 0 means octal in C++, at column 1",
    ),
    ("1_000", "'1_000' is no number of the formula language: write it without underscores, at column 1"),
    ("x + 0b11", "'0b11' is no number of the formula language: write it in decimal or as 0x..., at column 5"),
    ("2j", "'2j' is no number of the formula language: there are no complex numbers, at column 1"),
    (
        "0.5f * x",
        "'0.5f' is no number of the formula language: write it without a suffix: "
        "a number takes the type of its surroundings, at column 1",
    ),
    (
        "1.2.3",
        "'1.2.3' is no number of the formula language: write a number such as 2, 0.5 or 1e-6, at column 1",
    ),
    ("x + 1e400", "1e400 does not fit a double, at column 5"),
    ("1e-400", "1e-400 does not fit a double, at column 1"),
    (
        "9223372036854775808",
        "9223372036854775808 does not fit a 64-bit integer: write it as a float, at column 1",
    ),
    ("double", "'double' is a word of C++: choose another name, at column 1"),
    ("x + int", "'int' is a word of C++: choose another name, at column 5"),
    ("a.class_ + a.this", "'this' is a word of C++: choose another name, at column 12"),
    ("__x", "'__x' is reserved in C++: choose another name, at column 1"),
    ("x__y", "'x__y' is reserved in C++: choose another name, at column 1"),
    ("_X", "'_X' is reserved in C++: choose another name, at column 1"),
    ("x.__class__", "'__class__' is reserved in C++: choose another name, at column 1"),
    ("NAN", "'NAN' means something in a kernel's C++: choose another name, at column 1"),
    ("x + A", "'A' means something in a kernel's C++: choose another name, at column 5"),
    ("a.inf", "'inf' is a constant of the formula language: choose another name, at column 1"),
    ("threadIdx", "'threadIdx' means something in a kernel's C++: choose another name, at column 1"),
    ("BARACUDA_FN", "'BARACUDA_FN' means something in a kernel's C++: choose another name, at column 1"),
    (
        "x" + " + x" * 500,
        "the formula has 2001 characters, at most 2000: name parts under `let`, at column 1",
    ),
    ("(" * 51 + "x" + ")" * 51, "nested deeper than 50: name parts under `let`, at column 51"),
    ("-" * 60 + "x", "nested deeper than 50: name parts under `let`, at column 51"),
]


@pytest.mark.parametrize(("text", "message"), SYNTAX)
def test_what_is_no_formula(text: str, message: str) -> None:
    assert error(text) == message


@pytest.mark.parametrize(
    "text", ["x +", "* x", "x y", "max(x,,y)", "x if hit", "if", "x +* y", "a.", "not", "()"]
)
def test_incomplete_expressions(text: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    # Where Python finds the fault differs between its versions; what is said does not.
    assert caught.value.message in (
        "this is no expression: something is missing or too much",
        "a comma outside a call: a formula is one expression",
    )
    assert 1 <= caught.value.column <= len(text)


MEANING = [
    ("z + 1", "unknown name 'z' (known here: x, y, dy, eps, w, v, i, n, hit, a, b), at column 1"),
    ("x + epz", "unknown name 'epz' (did you mean 'eps'?), at column 5"),
    ("exp", "unknown name 'exp' (it is a function: call it), at column 1"),
    ("x * e", "unknown name 'e' (write exp(1) for the number e), at column 5"),
    ("expp(x)", "unknown function 'expp' (did you mean 'exp'?), at column 1"),
    ("qqq(x)", "unknown function 'qqq', at column 1"),
    ("max(x)", "`max` takes at least 2 arguments, got 1, at column 1"),
    ("1 + exp(x, y)", "`exp` takes 1 argument, got 2, at column 5"),
    ("clamp(x, 0)", "`clamp` takes 3 arguments, got 2, at column 1"),
    ("exp()", "`exp` takes 1 argument, got 0, at column 1"),
    ("x + hit", "`+` wants a number, got a condition (write `1 if c else 0`), at column 5"),
    ("-hit", "`-` wants a number, got a condition (write `1 if c else 0`), at column 2"),
    ("(x > 0) * y", "`*` wants a number, got a condition (write `1 if c else 0`), at column 2"),
    ("exp(hit)", "`exp` wants a number, got a condition (write `1 if c else 0`), at column 5"),
    ("hit < x", "`<` wants a number, got a condition (write `1 if c else 0`), at column 1"),
    ("hit < hit", "`<` wants numbers, got conditions, at column 1"),
    ("x if y else 1", "`if` wants a condition, got a float (write `!= 0`), at column 6"),
    ("x if i else 1", "`if` wants a condition, got an integer (write `!= 0`), at column 6"),
    ("hit and x", "`and` wants a condition, got a float (write `!= 0`), at column 9"),
    ("hit or i", "`or` wants a condition, got an integer (write `!= 0`), at column 8"),
    ("not x", "`not` wants a condition, got a float (write `!= 0`), at column 5"),
    ("x if hit else hit", "the branches are a number and a condition (write `1 if c else 0`), at column 15"),
    ("x & 1", "`&` wants integers, got a float, at column 1"),
    ("i << 0.5", "`<<` wants integers, got a float, at column 6"),
    ("eps ^ 1", "`^` wants integers, got a float (f64), at column 1"),
    ("~x", "`~` wants integers, got a float, at column 2"),
    (
        "hit & hit",
        "`&` wants integers, got a condition (combine conditions with `and`, `or`, `not`, `!=`), at column 1",
    ),
    ("ldexp(x, y)", "the exponent of `ldexp` wants integers, got a float, at column 10"),
    ("a", "'a' is a state: use a field, such as a.m, at column 1"),
    ("x + a", "'a' is a state: use a field, such as a.m, at column 5"),
    ("a.q", "'a' has no field 'q' (it has m, s, e), at column 1"),
    ("x.m", "'x' is a float: it has no fields, at column 1"),
    ("q.m", "unknown name 'q' (known here: x, y, dy, eps, w, v, i, n, hit, a, b), at column 1"),
    (
        "x + i if i == 0.5 else max(hit, 1)",
        "`max` wants a number, got a condition (write `1 if c else 0`), at column 28",
    ),
]


@pytest.mark.parametrize(("text", "message"), MEANING)
def test_what_has_no_meaning(text: str, message: str) -> None:
    assert error(text) == message


@pytest.mark.parametrize(
    ("text", "want", "message"),
    [
        ("x > 0", COMPUTE, "a number is wanted, got a condition (write `1 if c else 0`), at column 1"),
        ("x", BOOL, "a condition is wanted, got a float (write `!= 0`), at column 1"),
        ("1", BOOL, "a condition is wanted, got an integer (write `!= 0`), at column 1"),
        ("x + 1", INT, "an integer is wanted, got a float (use `//`, or `exponent`), at column 1"),
        ("i / 2", INT, "an integer is wanted, got a float (use `//`, or `exponent`), at column 1"),
        ("0.5", INT, "an integer is wanted, got a float (use `//`, or `exponent`), at column 1"),
        ("x * eps", F64, "an f64 attribute is wanted, got a value of the kernel's own type, at column 1"),
    ],
)
def test_what_is_used_as_something_else(text: str, want: object, message: str) -> None:
    assert error(text, want) == message


def test_an_error_is_a_value_error_that_travels() -> None:
    problem = FormulaError("odd", 3)
    again = pickle.loads(pickle.dumps(problem))
    assert isinstance(again, ValueError)
    assert (again.message, again.column, str(again)) == ("odd", 3, "odd, at column 3")
    assert error(12) == "a formula is text, got 12: quote it, at column 1"  # type: ignore[arg-type]
    with pytest.raises(FormulaError, match="'1x' is no name"):
        check_name("1x")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x", COMPUTE),
        ("1", COMPUTE),
        ("x + 1", COMPUTE),
        ("i", INT),
        ("i + 1", INT),
        ("i + 0.5", COMPUTE),
        ("i * x", COMPUTE),
        ("i / n", COMPUTE),
        ("i // n % 3", INT),
        ("i ** 2", INT),
        ("i ** 3", COMPUTE),
        ("eps", F64),
        ("1 - eps", F64),
        ("sqrt(eps) + i", F64),
        ("eps * x", COMPUTE),
        ("v * x + eps", WIDE),
        ("v + i / 2", WIDE),
        ("v < x", BOOL),
        ("i / 2 + eps", F64),
        ("exp(i)", COMPUTE),
        ("max(i, 1)", INT),
        ("max(i, 1.5)", COMPUTE),
        ("abs(eps)", F64),
        ("x < i <= eps", BOOL),
        ("hit == (x > 0)", BOOL),
        ("not hit and isnan(x)", BOOL),
        ("hit if x > 0 else not hit", BOOL),
        ("i if hit else 1", INT),
        ("i if hit else x", COMPUTE),
        ("1 if hit else 0", COMPUTE),
        ("True", BOOL),
        ("exponent(x) + a.e", INT),
        ("exponent(eps)", INT),
        ("mantissa(x)", COMPUTE),
        ("ldexp(eps, i)", F64),
        ("max_value", COMPUTE),
        ("inf", COMPUTE),
        ("~i & 7", INT),
        ("~0", INT),
        ("1 << 3", INT),
    ],
)
def test_types(text: str, kind: object) -> None:
    assert infer(parse(text), ENV) == kind


def test_literals_take_the_wanted_type() -> None:
    for text in ("1", "2 * 3 + 1", "1 if hit else 0", "max(1, 2)"):
        for want in (INT, COMPUTE, F64):
            assert infer(parse(text), ENV, want) == want
    assert infer(parse("i / n"), ENV, F64) == F64
    assert infer(parse("i"), ENV, COMPUTE) == COMPUTE


CUDA = [
    ("x + 1", "x + A(1)"),
    ("x * 0.5 - 1e-5", "x * A(0.5) - A(1e-05)"),
    ("x - (y - dy)", "x - (y - dy)"),
    ("(x - y) - dy", "x - y - dy"),
    ("x + (y + dy)", "x + (y + dy)"),
    ("x / (y * dy) / (x / y)", "x / (y * dy) / (x / y)"),
    ("-x * y", "-x * y"),
    ("-(x * y)", "-(x * y)"),
    ("-(-x)", "-(-x)"),
    ("x - -y", "x - (-y)"),
    ("+x", "x"),
    ("-1.5 * x", "A(-1.5) * x"),
    ("-0.0 + -0", "A(-0.0) + A(-0.0)"),
    ("x if x > 0 else 0", "x > A(0) ? x : A(0)"),
    ("1 + (x if hit else y)", "A(1) + (hit ? x : y)"),
    ("x if hit else y if x > y else dy", "hit ? x : (x > y ? y : dy)"),
    ("x if hit and x > 0 else y", "(hit & (x > A(0))) ? x : y"),
    ("exp(x if hit else y)", "baracuda::exp(hit ? x : y)"),
    ("hit and x > 0 or not hit", "(hit & (x > A(0))) | !hit"),
    ("not (x > y or hit)", "!((x > y) | hit)"),
    ("0 <= x < 1", "(A(0) <= x) & (x < A(1))"),
    ("(x > 0) == (y > 0)", "(x > A(0)) == (y > A(0))"),
    ("x > -inf", "x > -baracuda::inf<A>"),
    ("nan if x != x else pi * x", "x != x ? baracuda::nan<A> : A(3.141592653589793) * x"),
    (
        "clamp(x, min_value, max_value)",
        "baracuda::clamp(x, A(baracuda::limits<T>::min_value), A(baracuda::limits<T>::max_value))",
    ),
    ("x ** 2 + x ** 3", "baracuda::square(x) + baracuda::pow(x, A(3))"),
    ("x ** y ** 0.5", "baracuda::pow(x, baracuda::pow(y, A(0.5)))"),
    ("x // y + x % 2", "baracuda::floor_divide(x, y) + baracuda::remainder(x, A(2))"),
    ("max(x, y, 0)", "baracuda::max(x, y, A(0))"),
    ("a.s * exp(a.m - b.m)", "a.s * baracuda::exp(a.m - b.m)"),
    ("i * x", "A(i) * x"),
    ("(i + 1) * x", "A(i + 1) * x"),
    ("i / n", "A(i) / A(n)"),
    ("i + 7", "i + 7"),
    ("-i - -2", "-i - (-2)"),
    ("i // 2 * x", "A(baracuda::floor_divide(i, baracuda::i64(2))) * x"),
    ("max(i, 2)", "baracuda::max(i, baracuda::i64(2))"),
    ("(i & 7) == 3", "(i & 7) == 3"),
    ("i & 7 | n ^ 1", "(i & 7) | (n ^ 1)"),
    ("i + (n & 1)", "i + (n & 1)"),
    ("i << 3", "baracuda::shift_left(i, 3)"),
    ("i >> 3", "i >> 3"),
    ("i >> n", "baracuda::shift_right(i, n)"),
    ("i + 70000 * 70000", "i + baracuda::i64(70000) * 70000"),
    ("ldexp(x, a.e - 1)", "baracuda::ldexp(x, a.e - 1)"),
    ("x * eps", "x * A(p.eps)"),
    ("x * (1 - w)", "x * A(1.0 - weight)"),
    ("sqrt(eps) > 1", "baracuda::sqrt(p.eps) > 1.0"),
    ("eps < inf", "p.eps < baracuda::inf<double>"),
    ("~0 * x", "A(~0) * x"),
    ("(1 << 20) * x", "A(baracuda::shift_left(baracuda::i64(1), 20)) * x"),
    ("isnan(x) or isinf(i)", "baracuda::isnan(x) | baracuda::isinf(A(i))"),
    ("x if True else y", "true ? x : y"),
    ("fma(v, x, 1)", "baracuda::fma(v, double(x), 1.0)"),
    ("x * (v if x < v else pi)", "double(x) * (double(x) < v ? v : 3.141592653589793)"),
    ("v / eps", "v / double(p.eps)"),
]


@pytest.mark.parametrize(("text", "cpp"), CUDA)
def test_cuda(text: str, cpp: str) -> None:
    assert to_cuda(parse(text), ENV, names={"eps": "p.eps", "w": "weight"}) == cpp


def test_cuda_of_a_wanted_type() -> None:
    assert to_cuda(parse("1"), ENV) == "A(1)"
    assert to_cuda(parse("1"), ENV, INT) == "1"
    assert to_cuda(parse("1"), ENV, F64) == "1.0"
    assert to_cuda(parse("i"), ENV, COMPUTE) == "A(i)"
    assert to_cuda(parse("v - x"), ENV, COMPUTE) == "A(v - double(x))"
    assert to_cuda(parse("i + 1"), ENV, F64) == "double(i + 1)"
    assert to_cuda(parse("1 if hit else 0"), ENV, INT) == "hit ? 1 : 0"
    assert to_cuda(parse("a.m"), ENV, names={"a": "left"}) == "left.m"
    assert to_cuda(parse("a.m"), ENV, names={"a.m": "m[0]"}) == "m[0]"


TEXT = [
    ("x+1", "x + 1"),
    ("x-(y-dy)", "x - (y - dy)"),
    ("(x*y)/dy", "x * y / dy"),
    ("x*(y/dy)", "x * (y / dy)"),
    ("((x if ((x >= 0)) else y))", "x if x >= 0 else y"),
    ("(x if hit else y) if x>0 else (y if hit else x)", "(x if hit else y) if x > 0 else y if hit else x"),
    ("- ( - x)", "-(-x)"),
    ("-x**2", "-x ** 2"),
    ("(-x)**-y", "(-x) ** -y"),
    ("(x**y)**dy", "(x ** y) ** dy"),
    ("x**y**dy", "x ** y ** dy"),
    ("not(hit and (x<y))", "not (hit and x < y)"),
    ("(hit or hit)and(hit and hit)", "(hit or hit) and (hit and hit)"),
    ("(x<y)==hit", "(x < y) == hit"),
    ("i|n&1^2<<3", "i | n & 1 ^ 2 << 3"),
    ("(i|n)&1", "(i | n) & 1"),
    ("max( x,y , 1e-6)", "max(x, y, 1e-06)"),
    ("a.m\n  + 0x10", "a.m + 16"),
    ("1.50", "1.5"),
    ("3.0e+38*x", "3e38 * x"),
    ("True and not False", "True and not False"),
    ("nan if x>max_value else - inf", "nan if x > max_value else -inf"),
]


@pytest.mark.parametrize(("text", "shown"), TEXT)
def test_text(text: str, shown: str) -> None:
    assert to_text(parse(text)) == shown


@pytest.mark.parametrize("text", [text for text, _ in CUDA + TEXT])
def test_text_parses_to_the_same_tree(text: str) -> None:
    tree = parse(text)
    assert parse(to_text(tree)) == tree


NAMES = {"n": "self.n", "m": "m", "a.m": "args.a"}


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("1 - m", "1 - m"),
        ("n % 2 == 0 and 0 < m <= 1", "self.n % 2 == 0 and 0 < m <= 1"),
        ("remainder(n, 2) + floor_divide(n, 3)", "self.n % 2 + self.n // 3"),
        ("max(1, n) if isfinite(m) else -inf", "max(1, self.n) if math.isfinite(m) else -math.inf"),
        ("sqrt(m) + abs(m) ** 2 + m ** n", "math.sqrt(m) + abs(m) ** 2 + math.pow(m, self.n)"),
        ("m ** -0.5 + m ** 0.5 + m ** -1", "math.pow(m, -0.5) + math.pow(m, 0.5) + math.pow(m, -1)"),
        ("2 ** -60 * m ** 2", "2**-60 * m**2"),
        ("a.m * pi", "args.a * math.pi"),
        ("broadcasts(n, m)", "checks.broadcasts(self.n, m)"),
    ],
)
def test_python(text: str, source: str) -> None:
    assert to_python(parse(text), NAMES, {"broadcasts": "checks.broadcasts"}) == source


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n + q", "'q' is not known on the host (known here: n, m, a.m), at column 5"),
        ("a.s", "'a.s' is not known on the host (known here: n, m, a.m), at column 1"),
        (
            "m < max_value",
            "'max_value' belongs to the element type: it is not known on the host, at column 5",
        ),
        ("erfinv(m)", "`erfinv` is not available on the host, at column 1"),
        ("nope(m)", "`nope` is not available on the host, at column 1"),
    ],
)
def test_python_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as caught:
        to_python(parse(text), NAMES)
    assert str(caught.value) == message


def test_every_python_spelling_exists() -> None:
    for function in FUNCTIONS.values():
        if function.python is not None:
            module, _, name = function.python.rpartition(".")
            assert module in ("", "math")
            assert callable(getattr(math if module else builtins, name))


def test_the_tree() -> None:
    assert parse("a.m + max(1, -x)") == Binary(
        "+", Field(Name("a"), "m"), Call("max", (Number(1), Unary("-", Name("x"))))
    )
    assert parse("x if 0 < y < inf else False") == IfElse(
        Compare(("<", "<"), (Number(0), Name("y"), Constant("inf"))), Name("x"), Boolean(False)
    )
    assert Number(1) != Number(2)
    columns = [node.column for node in (parse("  x  + y"), parse("\n\n x"), parse("x + yy").right)]  # type: ignore[attr-defined]
    assert columns == [3, 4, 5]


def test_walks() -> None:
    tree = parse("b * x if a.m > max(x, c) else exp(b) + sum(x)")
    assert free_names(tree) == ["b", "x", "a", "c"]
    assert calls(tree) == ["max", "exp", "sum"]
    swapped = substitute(tree, {"x": parse("y + 1"), "b": Name("x"), "a": Name("left")})
    assert to_text(swapped) == "x * (y + 1) if left.m > max(y + 1, c) else exp(x) + sum(y + 1)"
    doubled = rewrite(
        parse("1 + 2 * x"), lambda node: Number(node.value * 2) if isinstance(node, Number) else node
    )
    assert to_text(doubled) == "2 + 4 * x"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x + 1 if flag else x", "x + 1"),
        ("x + 1 if not flag else x", "x"),
        ("x if flag and x > 0 else y", "x if x > 0 else y"),
        ("x if flag or x > 0 else y", "x"),
        ("x if other or not flag else y if flag else z", "y"),
        ("x if other and x > 0 and y > 0 else y", "y"),
        ("x if other or x > 0 or y > 0 else y", "x if x > 0 or y > 0 else y"),
    ],
)
def test_options_are_folded(text: str, left: str) -> None:
    options = {"flag": Boolean(True), "other": Boolean(False)}
    assert to_text(fold_conditions(substitute(parse(text), options))) == left
