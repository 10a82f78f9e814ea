"""Numbers of f64 at which functions of one number are hard.

There they turn, cancel, saturate, over- or underflow, or reduce their arguments.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from baracuda.codegen.verify.problems import Problem

__all__ = ["LEAST", "hard_inputs", "hard_points"]

#: The least that `hard_points` gives.
LEAST = 200

#: Where something happens, whatever the function: both signs of each are taken.
PLACES = (
    # Where polynomials and series commonly change hands, and what saturates.
    *(0.25, 0.3, 0.5, 0.575, 0.75, 0.84375, 1.2, 1.25, 1.5, 2.0, 2.4375, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0, 15.0),
    *(20.0, 22.0, 36.0436533891172, 37.429947750237048, 40.0, 60.0, 1e4, 2.0**26, 2.0**27, 2.0**52, 2.0**53),
    # Probabilities: where an inverse changes from the middle to the tails.
    *(0.025, 0.075, 0.925, 0.975, 0.14644660940672624, 0.8535533905932737, 0.02425),
    # Roots: of log-gamma and digamma, of derivatives of bells and their products with x.
    *(1.4616321449683622, 0.5040830082644554, 1.5734984731623905, 2.6107208684441447, 3.6352933664369010),
    *(2.457024738220801, 2.7476826467274127, 3.143580888349980, 3.955294284858598, 0.7071067811865476),
    *(1.2784645427610738, 1.5447, 0.7517916, 0.3678794411714423, 0.2784645427610738),
    # exp, exp2, sinh and their like at the ends of the normal, subnormal and all numbers.
    *(709.782712893384, 710.4758600739439, 708.3964185322641, 744.4400719213812, 745.1332191019412),
    *(1024.0, 1022.0, 1074.0, 1075.0, 355.0, 713.9869085439682, 308.2547155599167, 323.6),
    # exp(-x * x), exp(-x * x / 2) and what they are factors of, there.
    *(26.543258454250983, 26.615717509251258, 27.226017111108362, 5.926, 26.62873571375149),
    *(37.51937934714069, 37.677, 38.48540833556734, 38.608, 8.29),
    # Powers and gamma functions there.
    *(1.3407807929942596e154, 1.4916681462400413e-154, 5.643803094122288e102, 2.8126442852362996e-103),
    *(1.7976931348623157e308, 2.2250738585072014e-308, 5e-324, 5.562684646268003e-309, 4.49423283715579e307),
    *(171.6243769563027, 2.5563481638716906e305, 184.0, 3.1e-308),
)
#: What arguments are reduced by: half a multiple is the farthest from a whole one.
STEPS = (
    math.log(2),
    math.log10(2),
    math.pi / 2,
    math.pi / 4,
    1.0,
    1 / 32,
    math.log(2) / 32,
    math.log(2) / 128,
)


def hard_points(count: int, seed: int = 5) -> Any:
    """Hard numbers, in no order that means anything, none of them NaN or infinite.

    Args:
        count: how many, at least `LEAST`; the more, the closer each place is looked at.
        seed: of the random numbers.
    """
    if count < LEAST:
        raise ValueError(f"hard_points: count is {count}, want at least {LEAST}")
    rng = np.random.default_rng(seed)
    part = count // 10
    scales = rng.choice([1, 1, 10, 10, 50, 750], count - 7 * part)
    parts = [
        _around(rng, np.resize(PLACES, 2 * part)),
        _around(rng, np.ones(part)),
        _halves(rng, part),
        _turns(rng, part),
        np.exp2(rng.uniform(-1074, 1024, 2 * part)),
        rng.random(len(scales)) * scales,
    ]
    found = np.concatenate(parts) * rng.choice([-1.0, 1.0], count)
    return rng.permutation(np.clip(found, -np.finfo(float).max, np.finfo(float).max))


def _around(rng: Any, places: Any) -> Any:
    """Both sides of some places: neighbours, and any distance up to a half of theirs."""
    count = len(places)
    power = np.where(rng.random(count) < 0.25, -52, rng.uniform(-52, -2, count))
    with np.errstate(over="ignore", under="ignore"):
        return places * (1 + rng.choice([-1.0, 1.0], count) * rng.uniform(0, 2, count) * np.exp2(power))


def _halves(rng: Any, count: int) -> Any:
    """Halves of multiples of what arguments are reduced by, and their neighbours."""
    steps = np.resize(STEPS, count)
    most = np.where(rng.random(count) < 0.5, 40, 750 / steps)
    exact = np.floor(rng.uniform(1, most)) / 2 * steps
    return exact * (1 + rng.integers(-4, 5, count) * 2.0**-53)


def _turns(rng: Any, count: int) -> Any:
    """Multiples of pi / 2: small ones, and the numbers of all magnitudes that are nearest to one."""
    nearest = _nearest_to_turns()
    chosen = nearest[rng.permutation(len(nearest))[: count // 2]]
    rest = count - len(chosen)
    return np.concatenate([chosen, np.floor(np.exp2(rng.uniform(0, 30, rest))) * (np.pi / 2)])


@functools.cache
def _nearest_to_turns() -> Any:
    """Numbers m * 2**e, m below 2**53, that are nearest to multiples of pi / 2, by continued fractions."""
    import mpmath

    found = []
    with mpmath.workprec(2400):
        for exponent in range(-52, 972):
            # A denominator m of a convergent of 2**e / (pi / 2) makes m times it nearly whole.
            rest, before, m = mpmath.ldexp(1, exponent) / (mpmath.pi / 2), 0, 1
            denominators = []
            while m < 2**53:
                denominators.append(m)
                rest = 1 / (rest - mpmath.floor(rest))
                before, m = m, int(rest) * m + before
            found += [math.ldexp(each, exponent) for each in denominators[-2:]]
    return np.array(found)


def hard_inputs(problem: Problem, count: int) -> dict[str, Any]:
    """Inputs of a problem in f64: the last of the forward's operands is hard, the others are of usual sizes.

    Args:
        problem: a problem of a family of maps, over one axis.
        count: the extent of that axis, at least `LEAST`.
    """
    *others, hard = problem.inputs("forward")
    rng = np.random.default_rng(6)
    values = {name: rng.uniform(0.5, 2, count) for name in problem.inputs() if name not in (*others, hard)}
    return values | {name: rng.standard_normal(count) for name in others} | {hard: hard_points(count)}
