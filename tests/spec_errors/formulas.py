"""Formulas: syntax, names, types, aggregates."""

from __future__ import annotations

from spec_errors.case import MIX_LET, MIX_Y, Cases

CASES = Cases()
case = CASES.case


case(
    "an unknown name",
    (MIX_Y, "      y: a * rest + b * wieght\n"),
    errors=[
        (
            "wieght",
            "ops.mix.forward.y: a * rest + b * wieght: unknown name 'wieght' (did you mean 'weight'?), "
            "at column 16",
        )
    ],
)
case(
    "an unknown function",
    (MIX_Y, "      y: expp(a) * rest\n"),
    errors=[("expp", "ops.mix.forward.y: expp(a) * rest: unknown function 'expp' (did you mean 'exp'?)")],
)
case(
    "an aggregate misspelt",
    ("y: sum(x) + n", "y: smu(x) + n"),
    errors=[("smu", "ops.total.forward.y: smu(x) + n: unknown function 'smu' (did you mean 'sum'?)")],
)
case(
    "a system call",
    (MIX_Y, "      y: system(a)\n"),
    errors=[("system", "ops.mix.forward.y: system(a): unknown function 'system' (docs/spec.md lists them)")],
)
case(
    "the end of a statement",
    (MIX_Y, '      y: "a; } evil(); {"\n'),
    errors=[
        ("evil", "ops.mix.forward.y: a; } evil(); {: ';' is no part of the formula language, at column 2")
    ],
)
case(
    "a directive in a formula",
    (MIX_Y, '      y: "a\\n#include <b>"\n'),
    errors=[
        (
            "#include",
            "ops.mix.forward.y: a #include <b>: '#' is not in the formula language: "
            "a formula has no comments, "
            "at column 3",
        )
    ],
)
case(
    "a condition for a number",
    (MIX_Y, "      y: a > b\n"),
    errors=[
        (
            "y: a > b",
            "ops.mix.forward.y: a > b: a number is wanted, got a condition (write `1 if c else 0`), "
            "at column 1",
        )
    ],
)
case(
    "an aggregate without axes",
    (MIX_Y, "      y: sum(a)\n"),
    errors=[("sum(a)", "ops.mix.forward.y: sum(a): an aggregate needs axes (a family with axes)")],
)
case(
    "an aggregate of two",
    ("y: sum(x) + n", 'y: "sum(x, x) + n"'),
    errors=[("sum(x, x)", "ops.total.forward.y: sum aggregates one value, got 2")],
)
case(
    "an aggregate of an aggregate",
    ("y: sum(x) + n", "y: sum(n)"),
    errors=[
        ("sum(n)", "ops.total.forward.y: sum(n): an aggregate within an aggregate (an aggregate of tensors)")
    ],
)
case(
    "an aggregate of the wrong type",
    ("row: {n: matches(x > 0)}\n      y", "row: {n: matches(x)}\n      y"),
    errors=[
        (
            "matches(x)",
            "ops.total.forward.row.n: x: a condition is wanted, got a float (write `!= 0`), at column 9",
        )
    ],
)
case(
    "an unknown field of an aggregate",
    ("y: sum(x) + n", "y: sum(x) + n.lost"),
    errors=[("n.lost", "ops.total.forward.y: matches has no field 'lost' (did you mean 'last'?)")],
)
case(
    "what the host cannot compute",
    (MIX_LET, MIX_LET.replace("1 - weight", "cbrt(weight)")),
    errors=[
        (
            "cbrt",
            "ops.mix.forward.let.rest: cbrt(weight), which the host computes: `cbrt` is not available on the "
            "host, at column 1 (docs/spec.md lists what the host has)",
        )
    ],
)
case(
    "a formula of an option",
    ("dx: dy / n if x > 0 else 0", "dx: dy / m if x > 0 else 0"),
    errors=[
        (
            "dy / m",
            "ops.total.backward.by ties.split.dx: dy / m if x > 0 else 0: unknown name 'm' "
            "(known here: dy, x, extent, index, n), at column 6",
        )
    ],
)
case(
    "an aggregate of an option",
    ("          row: {n: matches(x > 0)}", "          row: {n: matches(z > 0)}"),
    errors=[
        (
            "matches(z",
            "ops.total.backward.by ties.split.row.n: z > 0: unknown name 'z' "
            "(known here: dy, x, extent, index), at column 9",
        )
    ],
)
case(
    "a map that reads nothing",
    (MIX_Y, "      y: weight\n"),
    errors=[
        (
            "y: weight\n",
            "ops.mix.forward.y: weight: no formula reads an element of a tensor "
            "(a formula with one of a, b, such as 0 * a)",
        )
    ],
)
case(
    "a map of conditions that reads nothing",
    ("a: {io: in, shape: a_shape", "a: {io: in, dtype: bool, shape: a_shape"),
    ("b: {io: in, shape: shape", "b: {io: in, dtype: bool, shape: shape"),
    (MIX_Y, "      y: weight\n"),
    errors=[
        (
            "y: weight\n",
            "ops.mix.forward.y: weight: no formula reads an element of a tensor (a formula with one of a, b)",
        )
    ],
)
case(
    "gradients that read nothing",
    ("da: dy * rest", "da: 0"),
    ("db: dy * weight\n    ref", "db: rest\n    ref"),
    errors=[
        (
            "da: 0",
            "ops.mix.backward.da: 0: no formula reads an element of a tensor "
            "(a formula with one of dy, such as 0 * dy)",
        )
    ],
)
