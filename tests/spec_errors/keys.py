"""Keys that are missing, unknown or of another type."""

from __future__ import annotations

from small_spec import SMALL_SPEC

from baracuda.codegen.spec import schema, vocabulary
from spec_errors.case import MIX_FORWARD, MIX_KIND, MIX_LET, MIX_Y, Cases

CASES = Cases()
case = CASES.case

SCALAR_DOC = "one line of text, without backslashes and control characters"
OP_KEYS = ", ".join(vocabulary.keys(schema.Op))
FAMILY_KEYS = ", ".join(vocabulary.keys(schema.Family))

case(
    "an unknown section",
    ("ops:\n", "opps: {}\nops:\n"),
    errors=[("opps", "opps: unknown key 'opps' (did you mean 'ops'?)")],
)
case(
    "an unknown key of an op",
    (MIX_KIND, f"{MIX_KIND}    dtpes: float\n"),
    errors=[("dtpes", "ops.mix.dtpes: unknown key 'dtpes' (did you mean 'dtypes'?)")],
)
case(
    "an unknown key unlike any other",
    ("    template: map\n", "    template: map\n    zzz: 1\n"),
    errors=[
        (
            "zzz",
            f"families.pair.zzz: unknown key 'zzz' (known keys: {FAMILY_KEYS})",
        )
    ],
)
case(
    "an unknown key of a tensor",
    ("b: {io: in,", "b: {role: row, rolle: row, io: in,"),
    errors=[("rolle", "families.pair.forward.b.rolle: unknown key 'rolle' (did you mean 'role'?)")],
)
case(
    "a word of a block misspelt",
    (MIX_LET, MIX_LET.replace("let", "lett")),
    errors=[("lett", "ops.mix.forward.lett: unknown key 'lett' (did you mean 'let'?)")],
)
case(
    "an unknown dtype of a constant",
    ("{f32: 1.0, f64: 1.0}", "{f32: 1.0, f65: 1.0}"),
    errors=[("f65", "monoids.matches.constants.one.f65: unknown key 'f65' (did you mean 'f64'?)")],
)
case(
    "no version",
    ("version: 1\n", ""),
    errors=[("dtypes:\n  half", "the key 'version' is missing (1)")],
)
case("another version", ("version: 1", "version: 2"), errors=[("version", "version: is 2 (want 1)")])
case("a version of text", ("version: 1", 'version: "1"'), errors=[("version", "version: is '1' (want 1)")])
case(
    "no doc",
    ("    doc: a and b, weighed\n", ""),
    errors=[("  mix:", "ops.mix: the key 'doc' is missing (text)")],
)
case(
    "no forward",
    (MIX_FORWARD, ""),
    errors=[
        (
            "  mix:",
            "ops.mix: the key 'forward' is missing (a mapping with an expression for each of its outputs)",
        )
    ],
)
case(
    "a part of a monoid's run is missing",
    ("      close: {n: r.k, last: r.at}\n", ""),
    errors=[
        (
            "    run:",
            "monoids.matches.run: the key 'close' is missing "
            "(the state that the run r amounts to, a value a field of the monoid's state)",
        )
    ],
)
case(
    "an attribute without its field",
    ("{from: number, require", "{require"),
    errors=[
        (
            "weight: {require",
            "ops.mix.attrs.weight: the key 'from' is missing (the descriptor's field that holds it)",
        )
    ],
)
case(
    "a list for a section",
    (SMALL_SPEC[SMALL_SPEC.index("ops:\n") :], "ops: [mix]\n"),
    errors=[("ops: [mix]", "ops: is a list (want a mapping of names to mappings)")],
)
case(
    "a list for an op",
    ("  mix:\n    family: pair", "  mix: [1]\n  mox:\n    family: pair"),
    errors=[
        (
            "mix: [1]",
            f"ops.mix: is a list (want a mapping with {OP_KEYS})",
        )
    ],
)
case(
    "a list for a formula",
    (MIX_Y, "      y: [a, b]\n"),
    errors=[("y: [a, b]", "ops.mix.forward.y: is a list (want an expression)")],
)
case(
    "a list for a formula that may be left out",
    ("    value: s\n", "    value: [s]\n"),
    errors=[("value: [s]", "monoids.sum.value: is a list (want an expression)")],
)
case(
    "null for a formula",
    (MIX_Y, "      y: null\n"),
    errors=[("y: null", "ops.mix.forward.y: is null (want an expression)")],
)
case(
    "true for a formula",
    (MIX_Y, "      y: true\n"),
    errors=[("y: true", "ops.mix.forward.y: is true (want an expression)")],
)
case(
    "a mapping for a formula",
    (MIX_Y, "      y: {a: b}\n"),
    errors=[("y: {a: b}", "ops.mix.forward.y: is a mapping (want an expression)")],
)
case(
    "a formula for a block",
    (MIX_FORWARD, "    forward: a + b\n"),
    errors=[
        (
            "forward: a + b",
            "ops.mix.forward: is 'a + b' (want a mapping with an expression for each of its outputs)",
        )
    ],
)
case(
    "a list of lets",
    (MIX_LET, "      let: [rest]\n      y:"),
    errors=[("let: [rest]", "ops.mix.forward.let: is a list (want a mapping of names to expressions)")],
)
case(
    "text for a bound",
    ("f32: 2, f64: 2", "f32: tight, f64: 2"),
    errors=[("tight", "ops.mix.ulp.f32: is 'tight' (want a number)")],
)
case(
    "a number for dtypes",
    ("    dtypes: float\n", "    dtypes: 32\n"),
    errors=[("dtypes: 32", "ops.mix.dtypes: is 32 (want text or a list of text)")],
)
case(
    "text for a list of options",
    ("{ties: [all, split]}", "{ties: all}"),
    errors=[("{ties: all}", "ops.total.options.ties: is 'all' (want a list of text)")],
)
case(
    "a list of values of an option",
    ("by ties:\n", "by ties: [all]\n      other:\n"),
    errors=[
        (
            "by ties: [all]",
            "ops.total.backward.by ties: is a list (want a mapping of names to mappings)",
        ),
        ("      other:", "ops.total.backward.other: is a mapping (want an expression)"),
    ],
)
case(
    "deep inside an option",
    ("dx: dy / n if x > 0 else 0", "dx: [n]"),
    errors=[("dx: [n]", "ops.total.backward.by ties.split.dx: is a list (want an expression)")],
)
case(
    "another word of a list",
    ("takes: {x: required}", "takes: {x: needed}"),
    errors=[("needed", "ops.total.backward.takes.x: is 'needed' (want 'required' or 'optional')")],
)
case(
    "another direction of a tensor",
    ("a: {io: in,", "a: {io: inn,"),
    errors=[("inn", "families.pair.forward.a.io: is 'inn' (want 'in', 'out' or 'scratch')")],
)
case(
    "a mapping for one of several words",
    ("a: {io: in,", "a: {io: {in: 1},"),
    errors=[("{in: 1}", "families.pair.forward.a.io: is a mapping (want 'in', 'out' or 'scratch')")],
)
case(
    "text for a truth",
    ("optional: true", 'optional: "yes"'),
    errors=[("yes", "families.pair.backward.db.optional: is 'yes' (want true or false)")],
)
case(
    "a formula for a monoid's let",
    ("let: {later: b.n > 0}", "let: later"),
    errors=[("let: later", "monoids.matches.merge.let: is 'later' (want a mapping of names to expressions)")],
)
case(
    "a mapping for a monoid's field",
    ("      n: a.n + b.n\n", "      n: {a: b}\n"),
    errors=[("n: {a: b}", "monoids.matches.merge.n: is a mapping (want an expression)")],
)
case(
    "a list for a monoid's formula",
    ("let: {more: r.k + 1}", "let: {more: [r.k]}"),
    errors=[("more: [r.k]", "monoids.matches.run.push.let.more: is a list (want an expression)")],
)
case(
    "a doc that says nothing",
    ("doc: a and b, weighed", 'doc: " "'),
    errors=[('doc: " "', "ops.mix.doc: says nothing (a few words, without a full stop)")],
)
case(
    "a doc of two lines",
    ("doc: a and b, weighed", 'doc: "a\\n#include <b>"'),
    errors=[("#include", f"ops.mix.doc: holds a line break ({SCALAR_DOC})")],
)
case(
    "a doc that ends a docstring",
    ("doc: first", 'doc: \'a """ + evil()\''),
    errors=[("evil", f'families.pair.forward.a.doc: holds \'"""\' ({SCALAR_DOC})')],
)
case(
    "a doc with a backslash",
    ("doc: sum of x\n    state", "doc: sum of x \\\n    state"),
    errors=[("doc: sum of x \\", f"monoids.sum.doc: holds '\\\\' ({SCALAR_DOC})")],
)
