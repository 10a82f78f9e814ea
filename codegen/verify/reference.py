"""What a plan should have written: each op's independent reference, in longdouble, on the widened inputs."""

from __future__ import annotations

import contextlib
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from baracuda.codegen.formula import Call, Expr, Name, evaluate, free_names, reference, rewrite
from baracuda.codegen.formula.numeric import roughly
from baracuda.codegen.spec.model import COMPUTE, OF_KIND, Spec
from baracuda.codegen.verify.floats import (
    FORMATS,
    WIDE,
    converted,
    integer_bits,
    is_whole,
    next_after,
    rounded,
    widened,
)
from baracuda.codegen.verify.problems import Problem

Arrays = Mapping[str, Any]

#: What a scale calls the reference of its output.
EXACT = "exact"


def references(problem: Problem, tensors: Arrays, terms: Arrays | None = None) -> dict[str, Any]:
    """The exact outputs of a problem, by name, in longdouble and of the outputs' shapes.

    Args:
        problem: the problem.
        tensors: the inputs of both directions, as far as references speak of them, in any dtype.
        terms: what `exact_terms` gives, where it is known already.
    """
    shapes = problem.shapes()
    exact = {
        name: _fitted(problem, name, value, shapes[name])
        for name, value in (exact_terms(problem, tensors) if terms is None else terms).items()
    }
    return _joined(problem, exact)


def scales(spec: Spec, problem: Problem, tensors: Arrays, terms: Arrays | None = None) -> dict[str, Any]:
    """The magnitude of each output that its error bound is a multiple of, where it may exceed its own.

    That is the op's `scale`, in which `exact` names the exact output. The gradient of a broadcast operand is
    a sum, so its terms' magnitudes add up.

    Args:
        spec: has the monoids that scales name.
        problem: the problem.
        tensors: the inputs of both directions, as far as references speak of them.
        terms: what `exact_terms` gives, where it is known already.
    """
    shapes, summed = problem.shapes(), problem.summed()
    found: dict[str, Any] = {}
    if is_whole(problem.dtype):
        return found
    least = _limits(COMPUTE[problem.dtype])["smallest_normal"]
    names = [name for name in _given_by_formulas(problem) if name in problem.op.scale or name in summed]
    if not names:
        return found
    env = _environment(problem, tensors)
    terms = exact_terms(problem, tensors) if terms is None else terms
    for name in names:
        scale, size = problem.op.scale.get(name), None
        if scale is not None:
            known = {**env, **_parts(problem, free_names(scale), env), EXACT: terms[name]}
            with contextlib.nullcontext() if problem.dtype == "f64" else roughly():
                size = np.abs(evaluate_scale(spec, scale, known, problem.axes, _limits(problem.dtype)))
        if name in summed:
            with np.errstate(all="ignore"):
                size = np.abs(terms[name]) if size is None else np.fmax(size, np.abs(terms[name]))
                # A term that is subnormal in the compute type loses as much as the smallest normal one.
                size = np.where(size > 0, np.fmax(size, least), size)
        if size is not None:
            found[name] = _fitted(problem, name, size, shapes[name])
    return _joined(problem, found, WIDE(0))


def bound_holds(spec: Spec, problem: Problem, tensors: Arrays, terms: Arrays | None = None) -> dict[str, Any]:
    """For those outputs whose error bound does not hold everywhere, where it does.

    That is where the op's `holds` says, of a gradient that is a sum for each of its terms, whose magnitudes
    must add up to what the compute type has: infinities of either sign may meet on the way.

    Args:
        spec: has the monoids that conditions name.
        problem: the problem.
        tensors: the inputs of both directions, as far as references speak of them.
        terms: what `exact_terms` gives, where it is known already.
    """
    summed = problem.summed()
    if is_whole(problem.dtype) or not (problem.op.holds or summed):
        return {}
    # What over- or underflows on the way does so in the compute type.
    limits = _limits(COMPUTE[problem.dtype]) | {"is_half": _limits(problem.dtype)["is_half"]}
    env, shapes = _environment(problem, tensors), problem.shapes()
    if summed and terms is None:
        terms = exact_terms(problem, tensors)
    found: dict[str, Any] = {}
    for name in _given_by_formulas(problem):
        where: Any = np.True_
        if name in problem.op.holds:
            holds = problem.op.holds[name]
            known = {**env, **_parts(problem, free_names(holds), env)}
            where = np.asarray(evaluate_scale(spec, holds, known, problem.axes, limits), bool)
        elif name not in summed:
            continue
        if name in summed:
            assert terms is not None
            lacking = problem.lacking(name)
            sizes = np.where(np.isfinite(terms[name]), np.abs(terms[name]), 0)
            fits = np.broadcast_to(sizes, problem.domain).sum(lacking, keepdims=True) <= limits["max_value"]
            where = np.all(np.broadcast_to(where, problem.domain), axis=lacking, keepdims=True) & fits
            where = where.reshape(shapes[name])
        found[name] = np.broadcast_to(where, shapes[name])
    return _joined(problem, found, np.True_)


def _limits(element: str) -> dict[str, Any]:
    """The constants of the formula language that depend on a dtype."""
    kind = FORMATS[element]
    return {
        "max_value": kind.largest,
        "min_value": -kind.largest,
        "smallest_subnormal": np.ldexp(WIDE(1), kind.least),
        "smallest_normal": np.ldexp(WIDE(1), kind.least + kind.bits - 1),
        "epsilon": np.ldexp(WIDE(1), 1 - kind.bits),
        "is_half": COMPUTE[element] != element,
    }


def evaluate_scale(
    spec: Spec, scale: Expr, env: Arrays, axes: tuple[int, ...], limits: Mapping[str, Any] | None = None
) -> Any:
    """The value of a magnitude formula; calls of monoids aggregate over the axes, which keep extent 1."""
    values = dict(env)

    def aggregate(node: Expr) -> Expr:
        if not (isinstance(node, Call) and node.name in spec.monoids):
            return node
        monoid = spec.monoids[node.name]
        if monoid.numpy is None:
            raise ValueError(f"the monoid {monoid.name} is used in a scale and has no `numpy` expression")
        operand = evaluate(node.args[0], _only(values, node.args[0]))
        name = f"aggregate_{len(values)}"
        values[name] = np.asarray(reference(monoid.numpy, {"x": operand, "axes": axes}), WIDE)
        return Name(name)

    whole = rewrite(scale, aggregate)
    return evaluate(whole, _only(values, whole), limits=limits)


def _only(values: Arrays, expr: Expr) -> dict[str, Any]:
    """The values that a formula reads: the others need not be of a type that formulas know."""
    return {name: values[name] for name in free_names(expr)}


def _environment(problem: Problem, tensors: Arrays) -> dict[str, Any]:
    env: dict[str, Any] = {}
    # Beside integers the descriptor says what a number is: an integer, and never an infinity.
    integers = problem.descriptor() if is_whole(problem.dtype) else None
    for name, rule in problem.op.family.descriptor.items():
        value = problem.fields.get(name, None if rule.default == OF_KIND else rule.default)
        if integers is not None and rule.type == "f64" and rule.only in (None, problem.direction):
            value = getattr(integers, name)
        if rule.type == "extent" and isinstance(value, str):
            value = problem.fields[value]
        if value is not None:
            env[name] = WIDE(value) if rule.type == "f64" and not isinstance(value, int) else value
    for attribute in problem.op.attributes:
        value = problem.as_computed(attribute, env[attribute.source])
        env |= {attribute.source: value, attribute.name: value}
    # A formula or a reference asks of an input that is not there whether it is None.
    env |= dict.fromkeys((*problem.op.family.forward, *problem.op.family.backward))
    env |= {name: widened(value) for name, value in tensors.items()}
    env["integer_bits"] = integer_bits(problem.dtype)
    target = problem.op.family.target()
    env["converted"] = lambda x: widened(converted(x, problem.fields[target] if target else problem.dtype))
    for whole, held in problem.halves().items():
        if env[whole] is not None:
            assert problem.halved_axis is not None
            env |= zip(held, np.split(env[whole], 2, axis=problem.halved_axis), strict=True)
    env["stored"] = lambda x: widened(rounded(rounded(x, COMPUTE[problem.dtype]), problem.dtype))
    env["next_stored"] = lambda x, y: widened(next_after(x, y, problem.dtype))
    if problem.op.family.axes is not None:
        env["axes"] = problem.axes
        env["extent"] = math.prod(problem.domain[axis] for axis in problem.axes)
        within = [size if axis in problem.axes else 1 for axis, size in enumerate(problem.domain)]
        env["index"] = np.arange(env["extent"]).reshape(within)
    return env


def exact_terms(problem: Problem, tensors: Arrays) -> dict[str, Any]:
    """What the references give by name, before it is summed, joined to halves and given an output's shape."""
    env = _environment(problem, tensors)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # NumPy warns of empty rows and too few degrees of freedom: here they are asked for.
        warnings.simplefilter("ignore")
        parts: dict[str, Any] = {}
        names = _given_by_formulas(problem)
        return {name: np.asarray(_value(problem, name, env, parts), WIDE) for name in names}


def _given_by_formulas(problem: Problem) -> list[str]:
    """The outputs, those that hold two others as these."""
    halves = problem.halves()
    return [part for name in problem.outputs() for part in halves.get(name, (name,))]


def _joined(problem: Problem, found: dict[str, Any], missing: Any = None) -> dict[str, Any]:
    """Values of the outputs from values of what formulas give; `missing` stands for halves without any."""
    halves, shapes = problem.halves(), problem.shapes()
    joined = {name: value for name, value in found.items() if name in problem.outputs()}
    for name in problem.outputs():
        held = halves.get(name, ())
        if any(part in found for part in held):
            values = [found.get(part, np.full(shapes[part], missing)) for part in held]
            joined[name] = np.concatenate(values, axis=problem.halved_axis)
    return joined


def _value(problem: Problem, output: str, env: dict[str, Any], parts: dict[str, Any]) -> Any:
    """An output's reference; the named parts that it needs are computed once, into `parts`."""
    op, exact = problem.op, problem.dtype == "f64"
    for name in parts_of(op.ref[output], op.ref_lets):
        if name not in parts:
            parts[name] = _part(op.ref_lets[name], {**env, **parts}, exact)
    return reference(op.ref[output], {**env, **parts}, exact=exact)


def _parts(problem: Problem, names: Sequence[str], env: dict[str, Any]) -> dict[str, Any]:
    """Named parts of the references, with the digits that the widest float has."""
    lets = problem.op.ref_lets
    parts: dict[str, Any] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name in parts_of(" ".join(names), lets):
            parts[name] = _part(lets[name], {**env, **parts}, problem.dtype == "f64")
    return {name: reference(name, parts) for name in names if name in lets}


#: Parts with many digits, by their expression and what it reads: they cost most, and problems share them.
_KNOWN_PARTS: dict[Any, Any] = {}
_MOST_PARTS = 4096


def _part(text: str, env: Mapping[str, Any], exact: bool) -> Any:
    """The value of a named part; one of mpmath keeps its digits for the parts that follow from it."""
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    if "mpmath" not in words:
        return reference(text, env, keep=True, exact=exact)
    key = (text, tuple((name, _identity(env[name])) for name in sorted(words & set(env))))
    if key not in _KNOWN_PARTS:
        if len(_KNOWN_PARTS) >= _MOST_PARTS:
            _KNOWN_PARTS.clear()
        _KNOWN_PARTS[key] = reference(text, env, keep=True)
    return _KNOWN_PARTS[key]


def _identity(value: Any) -> Any:
    """What tells values apart."""
    if isinstance(value, np.ndarray):
        return (
            value.shape,
            value.dtype.str,
            tuple(value.ravel()) if value.dtype == object else value.tobytes(),
        )
    return type(value).__name__, value


def parts_of(text: str, parts: Mapping[str, str]) -> list[str]:
    """The parts that an expression needs, in their order: a forward lacks what a backward's parts read."""
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    for name in reversed([*parts]):
        if name in words:
            words |= set(re.findall(r"[A-Za-z_]\w*", parts[name]))
    return [name for name in parts if name in words]


def _fitted(problem: Problem, name: str, value: Any, shape: tuple[int, ...]) -> Any:
    """A reference's value in the output's shape: broadcast to it, or summed over the axes that it lacks."""
    if problem.op.family.template != "map" and name not in problem.summed():
        # Some functions give a scalar an axis.
        return value.reshape(shape) if value.size == math.prod(shape) else np.broadcast_to(value, shape)
    whole = np.broadcast_to(value, problem.domain)
    if not problem.lacking(name):  # a sum over no axes makes 0 of -0
        return whole.reshape(shape)
    with np.errstate(all="ignore"):
        return np.sum(whole, axis=problem.lacking(name), keepdims=True).reshape(shape)
