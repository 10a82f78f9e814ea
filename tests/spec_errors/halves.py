"""Tensors that hold two others, and formulas that call ops."""

from __future__ import annotations

from spec_errors.case import Cases

CASES = Cases()
halves = CASES.halves

WHOLE = 'x: {io: in, shape: "doubled(shape, side)", halves: [a, b], doc: a and b}'
GATE = "      y: a * smooth(b)\n"


halves(
    "halves along no axis",
    ("    halves: {axis: side, swapped: turned}\n", ""),
    errors=[
        (
            "halves: [a, b]",
            "families.gates.forward.x.halves: nothing says along which axis "
            "(halves: {axis: ..., swapped: ...} in the family)",
        )
    ],
)
halves(
    "halves along what is no axis, in an order that is none",
    ("halves: {axis: side, swapped: turned}", "halves: {axis: shape, swapped: side}"),
    errors=[
        (
            "halves: {axis: shape",
            "families.gates.halves.axis: 'shape' is no field of type axes (one of side)",
        ),
        (
            "halves: {axis: shape",
            "families.gates.halves.swapped: 'side' is no field of type bool (one of turned)",
        ),
        (
            WHOLE,
            "families.gates.forward.x.shape: doubled(shape, side) is not that of two halves "
            "(doubled(shape, shape))",
        ),
    ],
)
halves(
    "one half",
    ("halves: [a, b]", "halves: [a]"),
    errors=[
        (
            "halves: [a]",
            "families.gates.forward.x.halves: [a] are no halves "
            "(two tensors with io: in and the shape shape)",
        )
    ],
)
halves(
    "a half that is written",
    ("halves: [a, b]", "halves: [a, y]"),
    errors=[
        (
            "halves: [a, y]",
            "families.gates.forward.x.halves: [a, y] are no halves "
            "(two tensors with io: in and the shape shape)",
        )
    ],
)
halves(
    "halves of another shape",
    ('shape: "doubled(shape, side)"', "shape: shape"),
    errors=[
        (
            "x: {io: in, shape: shape, halves",
            "families.gates.forward.x.shape: shape is not that of two halves (doubled(shape, side))",
        )
    ],
)
halves(
    "halves that may lack",
    ("halves: [a, b]", "optional: true, halves: [a, b]"),
    errors=[
        (
            "optional: true",
            "families.gates.forward.x: is there where its axis is given, and its halves where not "
            "(no other condition)",
        )
    ],
)
halves(
    "a formula of what holds the halves",
    (GATE, "      y: x * smooth(b)\n"),
    errors=[
        (
            "y: x * smooth(b)",
            "ops.smooth_gate.forward.y: x * smooth(b): unknown name 'x' "
            "(known here: a, b, smooth_size, smooth_value), at column 1",
        )
    ],
)
halves(
    "an op called with too many numbers",
    (GATE, "      y: smooth(a, b)\n"),
    errors=[
        (
            "smooth(a, b)",
            "ops.smooth_gate.forward.y: smooth(a, b): smooth is given 2 numbers (smooth(x))",
        )
    ],
)
halves(
    "a gradient called with too few",
    (GATE, "      y: smooth_backward(b)\n"),
    errors=[
        (
            "smooth_backward(b)",
            "ops.smooth_gate.forward.y: smooth_backward(b): smooth_backward is given 1 numbers "
            "(smooth_backward(dy, x))",
        )
    ],
)
halves(
    "an op misspelt",
    (GATE, "      y: a * smoth(b)\n"),
    errors=[
        (
            "smoth(b)",
            "ops.smooth_gate.forward.y: a * smoth(b): unknown function 'smoth' (did you mean 'smooth'?)",
        )
    ],
)
halves(
    "an op that calls itself",
    ("      y: x / size\n", "      y: smooth(x) / size\n"),
    errors=[
        (
            "y: smooth(x) / size",
            "ops.smooth.forward.y: smooth calls itself (a formula without it)",
        ),
    ],
)
halves(
    "two ops that call each other",
    ("      y: x / size\n", "      y: x / other(size)\n"),
    (
        "  smooth_gate:\n",
        "  other:\n    family: single\n    doc: the other\n    dtypes: [f16, f32]\n    forward:\n"
        "      y: smooth(x) + 1\n    ref: {y: x}\n    ulp: {f16: 1, f32: 3}\n  smooth_gate:\n",
    ),
    errors=[
        (
            "y: x / other(size)",
            "ops.smooth.forward.y: smooth calls itself (a formula without it)",
        ),
        (
            "y: smooth(x) + 1",
            "ops.other.forward.y: other calls itself (a formula without it)",
        ),
    ],
)
halves(
    "an op that does not compute",
    ("      y: x / size\n", "      y: x / sise\n"),
    errors=[
        (
            "y: x / sise",
            "ops.smooth.forward.y: x / sise: unknown name 'sise' (did you mean 'size'?), at column 5",
        )
    ],
)
halves(
    "an op with a number is none that can be called",
    (
        "doc: extents of x}\n",
        "doc: extents of x}\n      number: {type: f64, doc: n}\n",
    ),
    (
        "    doc: x over its size plus one\n",
        "    doc: x over its size plus one\n    attrs: {n: {from: number}}\n",
    ),
    errors=[
        (
            "y: a * smooth(b)",
            "ops.smooth_gate.forward.y: a * smooth(b): unknown function 'smooth' "
            "(did you mean 'smooth_gate'?)",
        )
    ],
)
halves(
    "a condition where an op wants a number",
    (GATE, "      y: a * smooth(b > 0)\n"),
    errors=[
        (
            "smooth(b > 0)",
            "ops.smooth_gate.forward.y: b > 0: a number is wanted, got a condition "
            "(write `1 if c else 0`), at column 12",
        )
    ],
)
halves(
    "halves of what is aggregated",
    ("doc: y = a times f(b)\n    template: map", "doc: y = a times f(b)\n    template: aggregate"),
    errors=[
        ("halves: {axis: side", "families.gates.halves: belongs to the template map (leave it out)"),
    ],
)
