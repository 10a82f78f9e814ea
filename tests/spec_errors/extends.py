"""Specs that build on baracuda's."""

from __future__ import annotations

from spec_errors.case import Cases

CASES = Cases()
case, whole = CASES.case, CASES.whole


BASE = "version: 1\nextends: baracuda\n"

whole(
    "extending what is not there",
    "version: 1\nextends: numpy\nops:\n  x: {family: reduce, doc: x, kind: X, dtypes: f32, "
    "forward: {y: sum(x)}, ref: {y: x}, ulp: {f32: 1}}\n",
    ("extends", "extends: is 'numpy' (want 'baracuda')"),
)
whole(
    "a name of the base again",
    f"{BASE}dtypes:\n  half: [f16]\n",
    ("half:", "dtypes.half: 'half' is one of ops.yaml of baracuda already (another name)"),
)
whole(
    "an op of the base again",
    f"{BASE}ops:\n  silu:\n    family: unary\n    doc: y = x\n    dtypes: f32\n    forward: {{y: x}}\n"
    "    ref: {y: x}\n    ulp: {f32: 1}\n",
    ("silu:", "ops.silu: 'silu' is one of ops.yaml of baracuda already (another name)"),
)
whole(
    "a plan of the base again",
    f"{BASE}families:\n  own:\n    doc: y = f(x)\n    template: map\n    category: Own\n"
    "    plan: Reduce\n    kind: OwnKind\n    domain: shape\n    descriptor:\n"
    "      shape: {type: shape, doc: extents}\n      element: {type: element, doc: dtype}\n"
    "    forward:\n      x: {io: in, shape: shape, doc: input}\n"
    "      y: {io: out, shape: shape, doc: result}\n",
    ("plan: Reduce", "families.own.plan: 'Reduce' is the plan of 'reduce' already (another name)"),
)
case(
    "a template of baracuda that is said to be another",
    ("    template: map\n", "    template: aggregate\n    engine: map\n"),
    errors=[
        (
            "template: aggregate\n    engine",
            "families.pair.template: 'aggregate' is a template of baracuda (another name)",
        )
    ],
)
case(
    "an unknown engine",
    ("    template: map\n", "    template: map\n    engine: mapp\n"),
    errors=[
        (
            "    template: map\n    engine",
            "families.pair.template: 'map' is a template of baracuda (another name)",
        ),
        ("engine: mapp", "families.pair.engine: no template 'mapp' (did you mean 'map'?)"),
    ],
)
