"""Several mistakes at once, each told."""

from __future__ import annotations

from spec_errors.case import Cases

CASES = Cases()
case = CASES.case


case(
    "all mistakes of a file in the order of its lines",
    ("kind: TOTAL", "kin: TOTAL"),
    ("y: a * rest + b * weight", "y: a * rset + c"),
    ("da: dy * rest", "da: expp(dy)"),
    ("half:  [f16, bf16]", "half:  [f16, no]"),
    ("doc: second", "doc: 2"),
    ("value: s\n", "value: z\n"),
    ("template: aggregate", "template: agregate"),
    errors=[
        ("no]", "dtypes.half[1]: no is a boolean in YAML 1.1 (quote it, or write false)"),
        ("value: z", "monoids.sum.value: z: unknown name 'z' (known here: s), at column 1"),
        ("doc: 2", "families.pair.forward.b.doc: is 2 (want text)"),
        ("agregate", "families.rows.template: no template 'agregate' (did you mean 'aggregate'?)"),
        ("kin:", "ops.total.kin: unknown key 'kin' (did you mean 'kind'?)"),
    ],
)
case(
    "all mistakes of an op",
    ("y: a * rest + b * weight", "y: a * rset"),
    ("da: dy * rest", "da: expp(dy)"),
    ("db: dy * weight\n    ref", "db: dy *\n    ref"),
    errors=[
        (
            "rset",
            "ops.mix.forward.y: a * rset: unknown name 'rset' (did you mean 'rest'?), at column 5",
        ),
        ("expp", "ops.mix.backward.da: expp(dy): unknown function 'expp' (did you mean 'exp'?)"),
        (
            "db: dy *\n",
            "ops.mix.backward.db: dy *: this is no expression: something is missing or too much, at column 1",
        ),
    ],
)
case(
    "a broken formula does not hide the references",
    ("y: a * rest + b * weight", "y: a * rset"),
    ("      y: a * (1 - weight) + b * weight", "      y: np.expp(a)"),
    ("      db: dy * weight\n    ulp", "      d: dy\n    holds: {y: aa > 0}\n    ulp"),
    ("      y: abs(a) + abs(b)", "      y: abs(a) + abs(bb)"),
    errors=[
        (
            "rset",
            "ops.mix.forward.y: a * rset: unknown name 'rset' (did you mean 'rest'?), at column 5",
        ),
        (
            "np.expp",
            "ops.mix.ref.y: np.expp(a): unknown name 'np.expp' (did you mean 'np.exp'?), at column 1",
        ),
        ("d: dy\n    holds", "ops.mix.ref.d: unknown output 'd' (outputs: y, da, db)"),
        ("aa > 0", "ops.mix.holds.y: aa > 0: unknown name 'aa' (did you mean 'a'?)"),
        ("bb", "ops.mix.scale.y: abs(a) + abs(bb): unknown name 'bb' (did you mean 'b'?)"),
    ],
)
case(
    "a broken monoid does not make its ops wrong",
    ("    value: s\n", "    vallue: s\n"),
    errors=[("vallue", "monoids.sum.vallue: unknown key 'vallue' (did you mean 'value'?)")],
)
