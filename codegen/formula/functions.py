"""The one table of functions. The C++ spelling of each is `baracuda::<name>`, in the header that it names."""

from __future__ import annotations

from dataclasses import dataclass

from . import numeric, specials
from .numeric import Implementation, plain, special


@dataclass(frozen=True)
class Function:
    """A function of the formula language.

    `rule` types it: "float" takes floats and gives the type in which they meet; "number" the same, but an
    integer when all arguments are; "whole" takes integers of the element dtype and gives one; "wide" gives a
    double in kernels of every dtype; "test" gives a condition; "exponent" an integer; "ldexp" takes a float
    and an integer. Functions that are `of_integers`
    take integers of the element dtype, too. `most` is None for any number of arguments. `python` is its
    spelling in plain Python, None where there is none. `numpy` takes the array module and the arguments. Of
    a function that is `of_element`, which depends on the element dtype, NumPy's side leaves that aside.
    `header` is the one beside math.cuh that a kernel must include for it.
    """

    name: str
    least: int
    most: int | None
    rule: str
    numpy: Implementation
    doc: str
    python: str | None = None
    of_element: bool = False
    header: str | None = None
    of_integers: bool = False

    def takes_integers(self) -> bool:
        """Whether its arguments may be integers of the element dtype."""
        return self.of_integers or self.rule in ("number", "whole", "wide", "test")

    def arity(self) -> str:
        """How many arguments it takes, as a message says it."""
        count = f"{self.least} argument" + ("s" if self.least > 1 else "")
        return f"at least {count}" if self.most is None else count


def _one(
    name: str, numpy: Implementation, doc: str, python: str | None = None, rule: str = "float"
) -> Function:
    return Function(name, 1, 1, rule, numpy, doc, python)


def _special(name: str, header: str, doc: str) -> Function:
    """A function of one float in a header of its own kind."""
    return Function(name, 1, 1, "float", getattr(specials, name), doc, None, False, header)


def _element(
    name: str, least: int, most: int, numpy: Implementation, doc: str, header: str = "element.cuh"
) -> Function:
    """A function to the precision of the element dtype."""
    words = f"{doc}; to the precision of the element dtype"
    return Function(name, least, most, "float", numpy, words, None, True, header)


def _two(
    name: str, numpy: Implementation, doc: str, python: str | None = None, rule: str = "float"
) -> Function:
    return Function(name, 2, 2, rule, numpy, doc, python)


def _many(name: str, numpy: Implementation, doc: str, python: str | None, rule: str) -> Function:
    return Function(name, 2, None, rule, numpy, doc, python)


def _either(name: str, count: int, numpy: Implementation, doc: str, python: str | None = None) -> Function:
    """A function of floats that has a meaning for integers of the element dtype, too."""
    return Function(name, count, count, "float", numpy, doc, python, of_integers=True)


def _three(name: str, numpy: Implementation, doc: str, rule: str) -> Function:
    return Function(name, 3, 3, rule, numpy, doc)


_TABLE = (
    _one("abs", plain("abs"), "absolute value", "abs", "number"),
    _one("sign", plain("sign"), "-1, 0 or 1; 0 for both zeros; NaN for NaN", None, "number"),
    _one("square", plain("square"), "x * x; also what x ** 2 means", None, "number"),
    _one("reciprocal", numeric.reciprocal, "1 / x"),
    _one("sqrt", plain("sqrt"), "square root, correctly rounded", "math.sqrt"),
    _one("rsqrt", numeric.rsqrt, "1 / sqrt(x)"),
    _one("cbrt", plain("cbrt"), "cube root"),
    _one("exp", plain("exp"), "e**x", "math.exp"),
    _one("exp2", plain("exp2"), "2**x"),
    _one("exp10", numeric.exp10, "10**x"),
    _one("expm1", plain("expm1"), "exp(x) - 1, accurate near 0", "math.expm1"),
    _one("log", plain("log"), "natural logarithm", "math.log"),
    _one("log2", plain("log2"), "logarithm to base 2", "math.log2"),
    _one("log10", plain("log10"), "logarithm to base 10", "math.log10"),
    _one("log1p", plain("log1p"), "log(1 + x), accurate near 0", "math.log1p"),
    _one("sin", plain("sin"), "sine", "math.sin"),
    _one("cos", plain("cos"), "cosine", "math.cos"),
    _one("tan", plain("tan"), "tangent", "math.tan"),
    _one("asin", plain("arcsin"), "inverse sine", "math.asin"),
    _one("acos", plain("arccos"), "inverse cosine", "math.acos"),
    _one("atan", plain("arctan"), "inverse tangent", "math.atan"),
    _two("atan2", plain("arctan2"), "angle of the point (second, first)", "math.atan2"),
    _one("sinh", plain("sinh"), "hyperbolic sine", "math.sinh"),
    _one("cosh", plain("cosh"), "hyperbolic cosine", "math.cosh"),
    _one("tanh", plain("tanh"), "hyperbolic tangent", "math.tanh"),
    _one("asinh", plain("arcsinh"), "inverse hyperbolic sine", "math.asinh"),
    _one("acosh", plain("arccosh"), "inverse hyperbolic cosine", "math.acosh"),
    _one("atanh", plain("arctanh"), "inverse hyperbolic tangent", "math.atanh"),
    _one("erf", special("erf", "erf"), "error function", "math.erf"),
    Function(
        "erfc",
        1,
        1,
        "float",
        special("erfc", "erfc"),
        "1 - erf(x), accurate in the positive tail",
        "math.erfc",
        False,
        "normal.cuh",
    ),
    _one("erfinv", specials.erfinv, "inverse of erf"),
    Function("lgamma", 1, 1, "float", numeric.lgamma, "log(|gamma(x)|)", "math.lgamma", False, "lgamma.cuh"),
    _one("tgamma", numeric.tgamma, "gamma function", "math.gamma"),
    _one("sigmoid", numeric.sigmoid, "1 / (1 + exp(-x)), accurate in the negative tail"),
    _special(
        "log1pexp", "activations.cuh", "log(1 + exp(x)) without overflow, accurate in the negative tail"
    ),
    _special("log_sigmoid", "activations.cuh", "log(sigmoid(x)), accurate in both tails"),
    _special("tanhshrink", "activations.cuh", "x - tanh(x), accurate near 0"),
    _special("sinpi", "half_turns.cuh", "sin(pi * x), its argument reduced without an error"),
    _special("cospi", "half_turns.cuh", "cos(pi * x), its argument reduced without an error"),
    _special("sinc", "half_turns.cuh", "sin(pi * x) / (pi * x), 1 at 0"),
    _special("sinc_slope", "half_turns.cuh", "derivative of sinc, accurate near 0"),
    _special("gaussian", "normal.cuh", "exp(-x * x), accurate in the tails"),
    _special(
        "normal_density", "normal.cuh", "density of the normal distribution, exp(-x*x / 2) / sqrt(2 * pi)"
    ),
    _special("ndtr", "normal.cuh", "probability that a normal variable is at most x"),
    _special("log_ndtr", "normal.cuh", "log(ndtr(x)), accurate in both tails"),
    _special("log_ndtr_slope", "normal.cuh", "derivative of log_ndtr, normal_density(x) / ndtr(x)"),
    _special("ndtri", "normal.cuh", "inverse of ndtr; NaN outside of 0 to 1"),
    _special("erfcx", "normal.cuh", "exp(x * x) * erfc(x) without overflow"),
    _special("erfcx_slope", "normal.cuh", "derivative of erfcx, accurate in the positive tail"),
    _special("i0", "bessel.cuh", "modified Bessel function of the first kind, order 0"),
    _special("i0e", "bessel.cuh", "i0(x) * exp(-abs(x))"),
    _special("i0e_slope", "bessel.cuh", "derivative of i0e, accurate in the tails; 0 at 0"),
    _special("i1", "bessel.cuh", "modified Bessel function of the first kind, order 1; the derivative of i0"),
    _special("i1_slope", "bessel.cuh", "derivative of i1"),
    _special("i1e", "bessel.cuh", "i1(x) * exp(-abs(x))"),
    _special("i1e_slope", "bessel.cuh", "derivative of i1e, accurate in the tails"),
    _special("digamma", "gamma.cuh", "derivative of lgamma; NaN at the negative integers"),
    _special("trigamma", "gamma.cuh", "derivative of digamma"),
    _two("scaled_exp", numeric.scaled("exp"), "x * e**y where e**y alone may over- or underflow"),
    _two("scaled_exp2", numeric.scaled("exp2"), "x * 2**y where 2**y alone may over- or underflow"),
    _three(
        "scaled_product", numeric.scaled_product, "x * y * z where a part may over- or underflow", "float"
    ),
    Function(
        "product_at_scale",
        5,
        5,
        "float",
        numeric.product_at_scale,
        "x * (y * scale) * z * last for powers of two, scale and last, where a part may over- or underflow",
    ),
    Function(
        "scaled_exp_product",
        3,
        4,
        "float",
        numeric.scaled_exp_product,
        "x * y * e**(power + low) where a part may over- or underflow, for a small low",
        None,
        False,
        "exp_product.cuh",
    ),
    _three("scaled_ratio", numeric.scaled_ratio, "x * y / z**2 where a part may over- or underflow", "float"),
    _two("hypot", plain("hypot"), "sqrt(x*x + y*y) without overflow", "math.hypot"),
    _either(
        "pow",
        2,
        plain("power"),
        "x**y as Python's floats define it; of integers the quotient without a fraction if y is negative",
        "math.pow",
    ),
    _either("fmod", 2, plain("fmod"), "remainder with the sign of the dividend, exact", "math.fmod"),
    _two("remainder", numeric.remainder, "a % b: remainder with the sign of the divisor", None, "number"),
    _two("floor_divide", numeric.floor_divide, "a // b, so that a == b * (a // b) + a % b", None, "number"),
    _either("floor", 1, plain("floor"), "largest integer not above x", "math.floor"),
    _either("ceil", 1, plain("ceil"), "smallest integer not below x", "math.ceil"),
    _either("trunc", 1, plain("trunc"), "x without its fraction", "math.trunc"),
    _either("round", 1, plain("rint"), "nearest integer, ties to even"),
    _two("copysign", plain("copysign"), "magnitude of the first, sign of the second", "math.copysign"),
    _two("nextafter", plain("nextafter"), "next value after the first toward the second", "math.nextafter"),
    _many("max", numeric.maximum, "largest; NaN if any is NaN; -0 < +0", "max", "number"),
    _many("min", numeric.minimum, "smallest; NaN if any is NaN; -0 < +0", "min", "number"),
    Function("fmax", 2, None, "float", numeric.fmax, "largest of those that are not NaN", of_integers=True),
    Function("fmin", 2, None, "float", numeric.fmin, "smallest of those that are not NaN", of_integers=True),
    _three("clamp", numeric.clamp, "min(max(x, low), high)", "number"),
    _either("fma", 3, numeric.fma, "a * b + c, rounded once"),
    _two(
        "distance",
        numeric.distance,
        "abs(x - y) as a double in kernels of every dtype; of integers without wrapping around",
        None,
        "wide",
    ),
    _one("isnan", plain("isnan"), "whether x is NaN", "math.isnan", "test"),
    _one("isinf", plain("isinf"), "whether x is an infinity", "math.isinf", "test"),
    _one("isfinite", plain("isfinite"), "whether x is neither infinite nor NaN", "math.isfinite", "test"),
    _one("signbit", plain("signbit"), "whether the sign bit of x is set, also of -0 and NaN", None, "test"),
    _one("mantissa", numeric.mantissa, "m of x = m * 2**exponent(x), 0.5 <= |m| < 1"),
    _one(
        "exponent",
        numeric.exponent,
        "exponent that goes with `mantissa`; 0 for 0, inf, NaN",
        None,
        "exponent",
    ),
    _one(
        "normal_mantissa",
        numeric.mantissa,
        "`mantissa` of a normal number, where x is known to be none of 0, subnormal, inf, NaN",
    ),
    _one(
        "normal_exponent",
        numeric.exponent,
        "`exponent` of a normal number, where x is known to be none of 0, subnormal, inf, NaN",
        None,
        "exponent",
    ),
    _one(
        "normal_scale",
        numeric.normal_scale,
        "2**-exponent(x) of a normal number x, whose product is `mantissa`",
    ),
    Function(
        "stored", 1, 1, "float", lambda _, x: x, "x rounded to the element dtype, as a store does", None, True
    ),
    Function(
        "next_stored",
        2,
        2,
        "float",
        plain("nextafter"),
        "number of the element dtype after the first toward the second, both of which are such numbers",
        None,
        True,
        "neighbours.cuh",
    ),
    _element("element_inverse", 1, 1, numeric.reciprocal, "1 / x, where 2**-120 <= abs(x) <= 2**120"),
    _element(
        "element_exp_product",
        3,
        4,
        numeric.exp_product,
        "x * y * e**(power + low) for power <= 0 (25 if no extremes) and a small low, where it may underflow",
    ),
    _element(
        "element_exp_addend",
        1,
        2,
        numeric.exp_sum,
        "e**(power + low) for power <= 25 and a small low, beside numbers that are not tiny",
    ),
    _element(
        "element_exp_times",
        2,
        3,
        numeric.exp_times,
        "x * e**(power + low) for power <= 25, a small low, abs(x) < 2**12, where that may underflow",
    ),
    _element(
        "element_exp2_times",
        2,
        3,
        numeric.exp2_times,
        "x * 2**(power + low) likewise",
    ),
    _element(
        "element_decay",
        3,
        3,
        numeric.decay,
        "e**(-x * y), z = y * log2(e), none below 0, beside no tiny numbers",
    ),
    _element(
        "element_lifted_decay",
        4,
        4,
        numeric.lifted_decay,
        "first * e**(-x * y) likewise, times 2**60 where the element dtype has more than 16 bits",
    ),
    _element("element_bell_product", 3, 3, numeric.bell_product, "x * y * e**(-a * a / 2) for abs(a) <= 60"),
    _element("element_tanh", 1, 1, plain("tanh"), "hyperbolic tangent"),
    _element("element_atan2", 2, 2, plain("arctan2"), "angle of the point (second, first)"),
    Function(
        "element_pow",
        2,
        2,
        "float",
        plain("power"),
        "`pow` to the precision of the element dtype",
        None,
        True,
        "powers.cuh",
        True,
    ),
    _element(
        "element_pow_slope",
        3,
        3,
        numeric.pow_slope,
        "x**(y - 1) for power = x**y; NaN where that is, any finite number for y = 0",
        "powers.cuh",
    ),
    _element(
        "element_early_log",
        1,
        1,
        plain("log"),
        "what `element_late_log` makes log(x) of; f32 takes it all here, before it calls functions",
        "powers.cuh",
    ),
    _element("element_late_log", 1, 1, plain("positive"), "log(x) of `element_early_log(x)`", "powers.cuh"),
    _element("element_ratio", 2, 2, numeric.quotient, "x / y of any numbers", "ratios.cuh"),
    _element(
        "element_ratio_product",
        3,
        3,
        numeric.scaled_ratio,
        "x * y / z**2, whatever may over- or underflow on the way",
        "ratios.cuh",
    ),
    _element(
        "element_over_square",
        4,
        4,
        numeric.over_square,
        "x * y / (a**2 + b**2) likewise, with abs(y) one of abs(a) and abs(b); 0 where both are 0",
        "ratios.cuh",
    ),
    _element("element_rsqrt", 1, 1, numeric.rsqrt, "1 / sqrt(x)"),
    _element("element_erf", 1, 1, special("erf", "erf"), "error function"),
    _element("element_sqrt", 1, 1, plain("sqrt"), "square root"),
    _element("element_root", 1, 1, plain("sqrt"), "square root of a normal number"),
    _element("element_expm1", 1, 1, plain("expm1"), "e**x - 1, accurate near 0"),
    _element("element_erfc", 1, 1, special("erfc", "erfc"), "1 - erf(x), accurate in the positive tail"),
    *(
        _element(f"element_{name}", 1, 1, numpy, doc, "element_logs.cuh")
        for name, numpy, doc in (
            ("log", plain("log"), "natural logarithm"),
            ("log2", plain("log2"), "logarithm to base 2"),
            ("log10", plain("log10"), "logarithm to base 10"),
            ("log1p", plain("log1p"), "log(1 + x), accurate near 0"),
            ("log1p_ratio", numeric.log1p_ratio, "log(1 + z) / z for z from 0 to 1"),
            ("log_odds", numeric.log_odds, "log(x / (1 - x)), accurate around 1/2"),
            ("atanh", plain("arctanh"), "inverse hyperbolic tangent"),
            ("asinh", plain("arcsinh"), "inverse hyperbolic sine"),
            ("acosh", plain("arccosh"), "inverse hyperbolic cosine"),
        )
    ),
    _element(
        "element_log_ndtr",
        1,
        1,
        specials.log_ndtr,
        "log(ndtr(x)), accurate in both tails",
        "element_logs.cuh",
    ),
    _element("element_lgamma", 1, 1, numeric.lgamma, "log(|gamma(x)|)", "lgamma.cuh"),
    _element(
        "element_quotient", 2, 2, numeric.quotient, "x / y, both finite, where 2**-120 <= abs(y) <= 2**120"
    ),
    _element(
        "element_less_tail_moment", 2, 2, specials.less_tail_moment, "x - y * ndtr(-y) for 0 <= y <= 60"
    ),
    _element(
        "element_mills_excess",
        1,
        1,
        specials.mills_excess,
        "ndtr(-a) * exp(a * a / 2) - a / sqrt(2 * pi) for an a of at least 0, accurate at its root",
    ),
    _one(
        "integer",
        numeric.integer,
        "x as an integer, to nearest, ties to even; 0 for NaN, and at most 2**62 in magnitude",
        None,
        "exponent",
    ),
    _two("ldexp", numeric.ldexp, "x * 2**exponent, rounded once", "math.ldexp", "ldexp"),
    _one("popcount", numeric.popcount, "how many bits of x are set", None, "whole"),
    _one(
        "leading_zeros", numeric.leading_zeros, "zeros above the highest bit of x that is set", None, "whole"
    ),
    _one(
        "trailing_zeros", numeric.trailing_zeros, "zeros below the lowest bit of x that is set", None, "whole"
    ),
    _two("gcd", plain("gcd"), "largest integer that divides both, not negative", None, "whole"),
    _two("lcm", plain("lcm"), "smallest multiple of both that is not negative", None, "whole"),
)

FUNCTIONS: dict[str, Function] = {function.name: function for function in _TABLE}
