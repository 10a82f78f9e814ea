"""Monoids: states, transitions, runs."""

from __future__ import annotations

from spec_errors.case import Cases

CASES = Cases()
case = CASES.case


case(
    "a state of another type",
    ("state: {s: compute = 0}", "state: {s: float = 0}"),
    errors=[("float = 0", "monoids.sum.state.s: is 'float = 0' (`compute = VALUE` or `i64 = VALUE`)")],
)
case(
    "a state without an identity",
    ("state: {k: i64 = 0,", "state: {k: i64,"),
    errors=[
        (
            "k: i64,",
            "monoids.matches.run.state.k: is 'i64' (`compute = VALUE` or `i64 = VALUE` or `i32 = VALUE`)",
        )
    ],
)
case(
    "a small integer in a state",
    ("state: {n: i64 = 0,", "state: {n: i32 = 0,"),
    errors=[("n: i32 = 0", "monoids.matches.state.n: is 'i32 = 0' (`compute = VALUE` or `i64 = VALUE`)")],
)
case(
    "a field of a trial that the run has",
    (
        "      close: {n: r.k, last: r.at}",
        "      usual:\n        state: {k: i64 = r.k}\n        push: {k: r.k, at: r.at}\n"
        "        fits: r.k > 0\n      close: {n: r.k, last: r.at}",
    ),
    errors=[
        ("k: i64 = r.k", "monoids.matches.run.usual.state.k: the run has a field 'k' already (another name)")
    ],
)
case(
    "a trial that never says whether it fits",
    (
        "      close: {n: r.k, last: r.at}",
        "      usual:\n        push: {k: r.k, at: r.at}\n        fits: r.k\n"
        "      close: {n: r.k, last: r.at}",
    ),
    errors=[
        (
            "fits: r.k",
            "monoids.matches.run.usual.fits: r.k: a condition is wanted, got an integer (write `!= 0`), "
            "at column 1",
        )
    ],
)
case(
    "an identity of another type",
    ("state: {n: i64 = 0,", "state: {n: i64 = 0.5,"),
    errors=[
        (
            "n: i64 = 0.5",
            "monoids.matches.state.n: 0.5: an integer is wanted, got a float (use `//`, or `exponent`), "
            "at column 1",
        )
    ],
)
case(
    "an identity that is no expression",
    ("state: {s: compute = 0}", 'state: {s: "compute = 0; evil()"}'),
    errors=[("evil", "monoids.sum.state.s: 0; evil(): ';' is no part of the formula language, at column 2")],
)
case(
    "neither lift nor run",
    ("    lift: {s: x}\n", ""),
    errors=[("  sum:", "monoids.sum: neither lift nor run (lift: the state of one element x)")],
)
case(
    "lift and run",
    ("    run:\n", "    lift: {n: 1, last: 2}\n    run:\n"),
    errors=[("lift: {n", "monoids.matches.lift: lift and run exclude each other (one of them)")],
)
case(
    "a run that begins with an unknown field",
    ("      close: {n: r.k, last: r.at}", "      begin: {start: 1}\n      close: {n: r.k, last: r.at}"),
    errors=[("begin: {start", "monoids.matches.run.begin.start: unknown field 'start' (fields: k, at)")],
)
case(
    "a field without a value",
    ("close: {n: r.k, last: r.at}", "close: {n: r.k}"),
    errors=[
        (
            "close: {n: r.k}",
            "monoids.matches.run.close: no value for the field 'last' (a value for each field of state)",
        )
    ],
)
case(
    "an unknown field",
    ("lift: {s: x}", "lift: {s: x, t: x}"),
    errors=[("t: x", "monoids.sum.lift.t: unknown field 't' (fields: s)")],
)
case(
    "an unknown field of a state",
    ("merge: {s: a.s + b.s}", "merge: {s: a.s + b.t}"),
    errors=[("b.t", "monoids.sum.merge.s: a.s + b.t: 'b' has no field 't' (it has s), at column 7")],
)
case(
    "a state for a number",
    ("merge: {s: a.s + b.s}", "merge: {s: a + b.s}"),
    errors=[
        ("a + b.s", "monoids.sum.merge.s: a + b.s: 'a' is a state: use a field, such as a.s, at column 1")
    ],
)
case(
    "an unknown name in a value",
    ("    value: s\n", "    value: t\n"),
    errors=[("value: t", "monoids.sum.value: t: unknown name 't' (known here: s), at column 1")],
)
case(
    "a constant without one of its values",
    ("one: {f32: 1.0, f64: 1.0}", "one: {f32: 1.0}"),
    errors=[("one: {", "monoids.matches.constants.one: no value for f64 ({f32: ..., f64: ...})")],
)
