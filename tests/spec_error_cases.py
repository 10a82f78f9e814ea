"""Broken specs and what the loader says of them: data for test_spec_errors.py.

A case is the small spec with something replaced, or a text of its own. What is expected is the whole text:
for each problem, in the order of the file, a piece of the line that it must name, and the message that stands
behind `ops.yaml:LINE: `.
"""

from __future__ import annotations

from dataclasses import dataclass

from small_spec import SMALL_PAIRS, SMALL_SPEC

from baracuda.codegen.spec import schema, vocabulary

Edit = tuple[str, str]
Expected = tuple[str, str]

MIX_LET = "      let: {rest: 1 - weight}\n      y:"
MIX_Y = "      y: a * rest + b * weight\n"
MIX_KIND = "    kind: MIX\n"
MIX_FORWARD = f"    forward:\n      let: {{rest: 1 - weight}}\n{MIX_Y}"
SECOND = "      b: {io: in, shape: shape, doc: second}"
NUMBER = "      number: {type: f64"
MONOID = "    doc: x\n    state: {s: compute = 0}\n    lift: {s: x}\n    merge: {s: a.s}\n"
IDENTIFIER = "letters, digits and _, a letter first"
SCALAR_DOC = "one line of text, without backslashes and control characters"
SHAPES = (
    "in a call: broadcasts(shape, shape) or reduces_elements(shape, axes) or is_suffix(shape, axes) "
    "or is_even(extent)"
)
OP_KEYS = ", ".join(vocabulary.keys(schema.Op))
FAMILY_KEYS = ", ".join(vocabulary.keys(schema.Family))
CASE_ONLY = "names that differ by more than case"


@dataclass(frozen=True)
class Case:
    """A broken spec: the small one after edits, or a text of its own."""

    name: str
    edits: tuple[Edit, ...]
    expected: tuple[Expected, ...]
    whole: str | None = None
    most_nodes: int | None = None

    def text(self) -> str:
        text = SMALL_SPEC if self.whole is None else self.whole
        for old, new in self.edits:
            assert old in text, f"{self.name}: the small spec has no {old!r}"
            text = text.replace(old, new, 1)
        return text


CASES: list[Case] = []


def case(name: str, *edits: Edit, errors: list[Expected]) -> None:
    CASES.append(Case(name, edits, tuple(errors)))


def whole(name: str, text: str, *errors: Expected, most_nodes: int | None = None) -> None:
    CASES.append(Case(name, (), errors, text, most_nodes))


# YAML

case(
    "no is a boolean",
    (MIX_Y, "      y: no\n"),
    errors=[("y: no", "ops.mix.forward.y: no is a boolean in YAML 1.1 (quote it, or write false)")],
)
case(
    "the key on is a boolean",
    (MIX_KIND, f"{MIX_KIND}    on: 1\n"),
    errors=[
        ("    on: 1", "ops.mix.on: the key on is a boolean in YAML 1.1 (quote it)"),
    ],
)
case(
    "a number for a key",
    ("  mix:\n", "  3:\n"),
    errors=[
        ("  3:", "ops.3: the key 3 is read as a number (quote it)"),
    ],
)
case(
    "1e-5 is text",
    ("default: 1,", "default: 1e-5,"),
    errors=[
        (
            "default: 1e-5",
            "families.pair.descriptor.number.default: 1e-5 is read as text, not as a number (write 1.0e-5)",
        )
    ],
)
case(
    "1e-5 in a formula",
    (MIX_Y, "      y: 1e-5\n"),
    errors=[
        ("y: 1e-5", "ops.mix.forward.y: 1e-5 is read as text, not as a number (write 1.0e-5)"),
    ],
)
case(
    "a comma in flow style",
    (MIX_FORWARD, "    forward: {y: max(a, b)}\n"),
    errors=[
        (
            "forward: {y: max",
            "ops.mix.forward.b): a comma ended this value inside { } (put the whole formula in quotes)",
        )
    ],
)
case(
    "an op twice",
    ("  total:\n", "  mix:\n    family: pair\n  total:\n"),
    errors=[
        (
            "  mix:\n    family: pair\n  total",
            "ops.mix: this key was given already, in line 79 (keep one of the two)",
        )
    ],
)
case(
    "a key twice",
    (MIX_KIND, f"{MIX_KIND}    kind: MOX\n"),
    errors=[("kind: MOX", "ops.mix.kind: this key was given already, in line 82 (keep one of the two)")],
)
case(
    "nothing behind the colon",
    (MIX_KIND, "    kind:\n"),
    errors=[("    kind:\n", "ops.mix.kind: nothing was written here (write a value, or null)")],
)
case(
    "a tag on a mapping",
    ("    ulp: {f32: 4", "    ulp: !!set {f32: 4"),
    errors=[
        ("!!set", "ops.total.ulp: tag !!set is not supported (leave the tag out)"),
    ],
)
case(
    "a tag on a value",
    ("doc: a and b, weighed", "doc: !important x"),
    errors=[("!important", "ops.mix.doc: tag !important is not supported (leave the tag out)")],
)
case(
    "a list for a key",
    (MIX_KIND, f"{MIX_KIND}    ? [a, b]\n    : 1\n"),
    errors=[("? [a, b]", "ops.mix: a key is a list or a mapping (keys are text)")],
)
case(
    "no key before the colon",
    (MIX_KIND, f"{MIX_KIND}    ?\n    : 1\n"),
    errors=[("    ?\n", "ops.mix: a key is missing before the colon")],
)
whole("an empty file", "# nothing\n", ("# nothing", "the file is empty"))
whole("no YAML", "a: b: c\n", ("a: b", "YAML syntax: mapping values are not allowed here"))
whole(
    "tabs",
    "a:\n\tb: 1\n\tc: 1\n",
    ("\tb", "a tab in the indentation (indent with spaces)"),
    ("\tc", "a tab in the indentation (indent with spaces)"),
)
whole("a control character", "a: 1\nb: \x07\n", ("b: ", "character U+0007 is not allowed in YAML"))
whole("too deep", "a: " + "[" * 5000, ("a: ", "is nested too deeply to be read"))
whole(
    "an alias inside its anchor",
    "version: 1\nops: &all\n  silu: *all\n",
    ("silu: *all", "ops.silu: an alias stands inside its own anchor"),
)
whole(
    "merging what is no mapping",
    "version: 1\n<<: 3\n",
    ("<<: 3", "<<: merges something that is not a mapping"),
)
whole(
    "merging itself",
    "version: 1\ndtypes: &all\n  half: [f16]\n  <<: *all\n",
    ("<<: *all", "dtypes.<<: an alias stands inside its own anchor"),
)
whole(
    "aliases of aliases",
    "version: 1\ndtypes:\n  a: &a [f16, f16]\n  b: &b [*a, *a, *a]\n  c: [*b, *b, *b, *b, *b, *b]\n",
    ("dtypes:", "dtypes: anchors and aliases expand to more than 20 values"),
    most_nodes=20,
)
whole("a list", "- 1\n", ("- 1", "the file is a list (a mapping with version, families and ops)"))

# Keys and types

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
    errors=[("inn", "families.pair.forward.a.io: is 'inn' (want 'in' or 'out')")],
)
case(
    "a mapping for one of several words",
    ("a: {io: in,", "a: {io: {in: 1},"),
    errors=[("{in: 1}", "families.pair.forward.a.io: is a mapping (want 'in' or 'out')")],
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

# Names

case(
    "an op that is no identifier",
    ("  mix:\n", "  mix-2:\n"),
    errors=[("mix-2", f"ops.mix-2: the key 'mix-2' is no identifier ({IDENTIFIER})")],
)
case(
    "an op that ends a line of C++",
    ("  mix:\n", '  "mix;\\n} evil(); {":\n'),
    errors=[
        ("evil", f"ops.mix; }} evil(); {{: the key 'mix;\\n}} evil(); {{' is no identifier ({IDENTIFIER})")
    ],
)
case(
    "a kind that is no identifier",
    (MIX_KIND, '    kind: "MIX = 1, EVIL"\n'),
    errors=[("EVIL", f"ops.mix.kind: 'MIX = 1, EVIL' is no identifier ({IDENTIFIER})")],
)
case(
    "a template elsewhere",
    ("template: map", "template: ../../secret"),
    errors=[("secret", f"families.pair.template: '../../secret' is no identifier ({IDENTIFIER})")],
)
case(
    "a kind in small letters",
    (MIX_KIND, "    kind: mix\n"),
    errors=[("kind: mix", "ops.mix.kind: 'mix' is not in capitals (write MIX)")],
)
case(
    "a kind that is a word of Python",
    ("kind: PairKind", "kind: None"),
    errors=[("kind: None", "families.pair.kind: 'None' is a word of Python (another name)")],
)
case(
    "a tensor that is a word of C++",
    (SECOND, SECOND.replace("b:", "double:")),
    errors=[("double", "families.pair.forward.double: 'double' is a word of C++ (another name)")],
)
case(
    "a tensor that is reserved in C++",
    (SECOND, SECOND.replace("b:", "b__c:")),
    errors=[("b__c", "families.pair.forward.b__c: 'b__c' is reserved in C++ (another name)")],
)
case(
    "a tensor that is an argument already",
    (SECOND, SECOND.replace("b:", "stream:")),
    errors=[("stream", "families.pair.forward.stream: 'stream' is an argument of every plan (another name)")],
)
case(
    "a tensor over axes that formulas know",
    (
        "      x: {io: in, shape: shape, doc: input}\n      y",
        "      index: {io: in, shape: shape, doc: i}\n      y",
    ),
    errors=[
        (
            "index: {io",
            "families.rows.forward.index: 'index' means something in formulas over axes (another name)",
        )
    ],
)
case(
    "a let that is a word of Python",
    (MIX_LET, MIX_LET.replace("rest", "lambda")),
    errors=[("lambda", "ops.mix.forward.let.lambda: 'lambda' is a word of Python (another name)")],
)
case(
    "a let that is a constant",
    (MIX_LET, MIX_LET.replace("rest", "pi")),
    errors=[("pi", "ops.mix.forward.let.pi: 'pi' is a constant (another name)")],
)
case(
    "a let that the template has",
    (MIX_LET, MIX_LET.replace("rest", "row")),
    errors=[("row: 1", "ops.mix.forward.let.row: 'row' means something in every kernel (another name)")],
)
case(
    "a let that begins with a capital",
    (MIX_LET, MIX_LET.replace("rest", "Sum")),
    errors=[("Sum: 1", "ops.mix.forward.let.Sum: 'Sum' begins with a capital (write sum)")],
)
case(
    "a let that begins as the template's do",
    (MIX_LET, MIX_LET.replace("rest", "new_y")),
    errors=[
        (
            "new_y: 1",
            "ops.mix.forward.let.new_y: 'new_y' begins with new_, as the names of the templates do "
            "(another name)",
        )
    ],
)
case(
    "a field of every descriptor",
    (NUMBER, NUMBER.replace("number", "kind")),
    errors=[
        (
            "kind: {",
            "families.pair.descriptor.kind: 'kind' is there already in every descriptor (another name)",
        )
    ],
)
case(
    "a let that is a tensor",
    (MIX_LET, "      let: {rest: 1 - weight, a: 1}\n      y:"),
    errors=[("a: 1}", "ops.mix.forward.let.a: 'a' is already a name here (another name)")],
)
case(
    "an attribute that is a tensor",
    ("attrs:\n", "attrs:\n      a: {from: number}\n"),
    errors=[("a: {from", "ops.mix.attrs.a: 'a' is already a name here (another name)")],
)
case(
    "a monoid that is a function",
    (
        "  sum:\n",
        f"  exp:\n{MONOID}  sum:\n",
    ),
    errors=[("  exp:", "monoids.exp: 'exp' is a function of formulas (another name)")],
)
case(
    "a monoid whose struct every kernel has",
    (
        "  sum:\n",
        f"  formula:\n{MONOID}  sum:\n",
    ),
    errors=[
        ("formula:", "monoids.formula: its struct Formula means something in every kernel (another name)")
    ],
)
case(
    "two monoids with one struct",
    (
        "  matches:\n",
        f"  Sum:\n{MONOID}  matches:\n",
    ),
    errors=[("  Sum:", "monoids.Sum: its struct Sum collides with that of 'sum' (another name)")],
)
case(
    "two ops that differ by case",
    ("  total:\n", "  Mix:\n"),
    errors=[("  Mix:", f"ops.Mix: its file Mix.cu collides with one of 'mix' ({CASE_ONLY})")],
)
case(
    "an op named like another's backward",
    ("  total:\n", "  mix_backward:\n"),
    errors=[
        (
            "  mix_backward:",
            f"ops.mix_backward: its file mix_backward.cu collides with one of 'mix' ({CASE_ONLY})",
        )
    ],
)
case(
    "an op named like another's option",
    ("  mix:\n", "  total_backward_split:\n"),
    errors=[
        (
            "  total:",
            "ops.total: its file total_backward_split.cu collides with one of 'total_backward_split' "
            f"({CASE_ONLY})",
        )
    ],
)
case(
    "a kind of an enum twice",
    ("kind: TOTAL", "kind: MIX"),
    ("kind: RowKind", "kind: PairKind"),
    errors=[
        ("kind: MIX\n    dtypes: [f32", "ops.total.kind: MIX is the PairKind of 'mix' already (another kind)")
    ],
)
case(
    "two families with one plan",
    ("plan: Row", "plan: pairBackward"),
    errors=[
        (
            "plan: pairBackward",
            "families.rows.plan: the classes of 'pairBackward' collide with those of the family 'pair' "
            "(names that differ by more than case and Backward)",
        )
    ],
)
case(
    "two categories in one module",
    ("category: Rows", "category: pairs"),
    errors=[
        (
            "category: pairs",
            "families.rows.category: 'pairs' and 'Pairs' would share the module pairs.py "
            "(write Pairs, or another name)",
        )
    ],
)
case(
    "a category that is a module already",
    ("category: Rows", "category: Kinds"),
    errors=[("Kinds", "families.rows.category: kinds.py cannot be a module of plans (another name)")],
)

# Dtypes

case(
    "an unknown dtype in a set",
    ("half:  [f16, bf16]", "half:  [f16, bf61]"),
    errors=[
        ("bf61", "dtypes.half: 'bf61' is no dtype with a compute type, and no set (did you mean 'bf16'?)")
    ],
)
case(
    "a set that contains itself",
    ("half:  [f16, bf16]", "half:  [f16, float]"),
    errors=[("half:  [", "dtypes.half: the set 'half' contains itself (leave it out)")],
)
case(
    "a set named like a dtype",
    ("half:  [f16, bf16]", "half:  [f16, bf16]\n  f32: [f64]"),
    errors=[("f32: [f64]", "dtypes.f32: 'f32' is a dtype (another name for the set)")],
)
case(
    "an unknown dtype of an op",
    ("dtypes: [f32, f64]", "dtypes: [f32, i8]"),
    errors=[
        (
            "i8",
            "ops.total.dtypes: 'i8' is no dtype with a compute type, and no set "
            "(dtypes with a compute type: f16, bf16, f32, f64)",
        )
    ],
)
case(
    "an unknown set of an op",
    ("    dtypes: float\n", "    dtypes: flaot\n"),
    errors=[
        (
            "flaot",
            "ops.mix.dtypes: 'flaot' is no dtype with a compute type, and no set (did you mean 'float'?)",
        )
    ],
)
case(
    "an op without dtypes",
    ("    dtypes: float\n", "    dtypes: []\n"),
    errors=[("dtypes: []", "ops.mix.dtypes: no dtypes (a dtype, a set, or a list of them)")],
)
case(
    "a dtype without a bound",
    ("ulp: {f32: 4, f64: 4}", "ulp: {f32: 4}"),
    errors=[("ulp: {f32: 4}", "ops.total.ulp: no error bound for f64 (a bound for each dtype)")],
)
case(
    "a bound of an unknown dtype",
    ("ulp: {f32: 4, f64: 4}", "ulp: {f32: 4, f64: 4, f61: 4}"),
    errors=[
        ("f61", "ops.total.ulp.f61: 'f61' is no dtype with a compute type, and no set (did you mean 'f64'?)")
    ],
)
case(
    "a bound that is no number",
    ("ulp: {f32: 4, f64: 4}", "ulp: {f32: .nan, f64: 4}"),
    errors=[(".nan", "ops.total.ulp.f32: nan is no error bound (a finite number, 0 for exact results)")],
)
case(
    "a negative bound",
    ("ulp: {f32: 4, f64: 4}", "ulp: {f32: -1, f64: 4}"),
    errors=[("-1", "ops.total.ulp.f32: -1 is no error bound (a finite number, 0 for exact results)")],
)

# Families

case(
    "an unknown template",
    ("template: map", "template: mapp"),
    errors=[("mapp", "families.pair.template: no template 'mapp' (did you mean 'map'?)")],
)
case(
    "no element",
    ("      element: {type: element, doc: dtype of every tensor}\n      number", "      number"),
    errors=[
        (
            "    descriptor:\n      shape: {type: shape, doc: extents of y",
            "families.pair.descriptor: no field of type element (one field: {type: element, doc: ...})",
        )
    ],
)
case(
    "two elements",
    (NUMBER, f"      other: {{type: element, doc: x}}\n{NUMBER}"),
    errors=[
        (
            "    descriptor:\n      shape: {type: shape, doc: extents of y",
            "families.pair.descriptor: element and other of type element "
            "(one field: {type: element, doc: ...})",
        )
    ],
)
case(
    "an unknown domain",
    ("domain: shape", "domain: shap"),
    errors=[("shap\n", "families.pair.domain: 'shap' is no field of type shape (one of shape, a_shape)")],
)
case(
    "axes that are none",
    ("axes: axis", "axes: shape"),
    errors=[("axes: shape", "families.rows.axes: 'shape' is no field of type axes (one of axis)")],
)
case(
    "axes without a field",
    ("    domain: shape\n", "    domain: shape\n    axes: shape\n"),
    errors=[
        (
            "axes: shape",
            "families.pair.axes: 'shape' is no field of type axes "
            "(the descriptor has none: add one of type axes)",
        )
    ],
)
case(
    "axes of nothing",
    ("{type: axes, of: shape,", "{type: axes,"),
    errors=[
        (
            "{type: axes,",
            "families.rows.descriptor.axis: axes of which shape? (of: a field of type shape)",
        )
    ],
)
case(
    "axes of what is no shape",
    ("{type: axes, of: shape,", "{type: axes, of: ties,"),
    errors=[
        ("of: ties", "families.rows.descriptor.axis.of: 'ties' is no field of type shape (one of shape)")
    ],
)
case(
    "a number of a shape",
    (NUMBER, f"{NUMBER}, of: shape"),
    errors=[
        ("of: shape, default", "families.pair.descriptor.number.of: belongs to axes alone (leave it out)")
    ],
)
case(
    "a default that is no shape",
    ("default: shape, doc: extents of a", "default: shap, doc: extents of a"),
    errors=[
        (
            "shap,",
            "families.pair.descriptor.a_shape.default: 'shap' is no shape that is always given "
            "(did you mean 'shape'?)",
        )
    ],
)
case(
    "a default of another type",
    ("type: f64, default: 1,", "type: i64, default: 0.5,"),
    errors=[
        (
            "0.5, doc",
            "families.pair.descriptor.number.default: 0.5 is no default of the field 'number' "
            "(a whole number)",
        )
    ],
)
case(
    "a default that is infinite",
    ("type: f64, default: 1,", "type: f64, default: .inf,"),
    errors=[
        (
            ".inf",
            "families.pair.descriptor.number.default: inf is no default of the field 'number' "
            "(a finite number)",
        )
    ],
)
case(
    "a default of axes",
    ("{type: axes, of: shape,", "{type: axes, default: 1, of: shape,"),
    errors=[
        (
            "default: 1, of",
            "families.rows.descriptor.axis.default: 1 is no default of the field 'axis' "
            "(a field of type axes has no default)",
        )
    ],
)
case(
    "an unknown field in a shape",
    ("a: {io: in, shape: a_shape", "a: {io: in, shape: b_shape"),
    errors=[
        (
            "b_shape",
            "families.pair.forward.a.shape: b_shape: unknown name 'b_shape' (did you mean 'a_shape'?)",
        )
    ],
)
case(
    "a number for a shape",
    ("a: {io: in, shape: a_shape", "a: {io: in, shape: number"),
    errors=[
        (
            "shape: number",
            "families.pair.forward.a.shape: number: 'number' is no field of type shape "
            "(one of shape, a_shape)",
        )
    ],
)
case(
    "arithmetic for a shape",
    ("a: {io: in, shape: a_shape", "a: {io: in, shape: number + 1"),
    errors=[
        (
            "number + 1",
            "families.pair.forward.a.shape: number + 1: is no shape "
            "(a field of type shape, or keepdim(shape, axes) or extents(shape, axes) or flat(shape, axes))",
        )
    ],
)
case(
    "a shape that is no expression",
    ("a: {io: in, shape: a_shape", 'a: {io: in, shape: "keepdim("'),
    errors=[
        ('keepdim("', "families.pair.forward.a.shape: keepdim(: this ( is never closed, at column 8"),
    ],
)
case(
    "an unknown shape function",
    ("dx: {io: out, shape: shape", 'dx: {io: out, shape: "keepdims(shape, axis)"'),
    errors=[
        (
            "keepdims(shape",
            "families.rows.backward.dx.shape: keepdims(shape, axis): unknown function 'keepdims' "
            "(did you mean 'keepdim'?)",
        ),
    ],
)
case(
    "a shape function of other fields",
    ("dx: {io: out, shape: shape", 'dx: {io: out, shape: "keepdim(axis, 1)"'),
    errors=[
        (
            "keepdim(axis, 1)",
            "families.rows.backward.dx.shape: keepdim(axis, 1): keepdim is given axes, number "
            "(keepdim(shape, axes))",
        )
    ],
)
case(
    "a direction without an output",
    ("      y: {io: out, shape: shape, doc: result}\n", ""),
    errors=[
        (
            "    forward:\n      a: {io",
            "families.pair.forward: no tensor with io: out (at least one output)",
        )
    ],
)
case(
    "a requirement that is no condition",
    ("- broadcasts(a_shape, shape)", "- number"),
    errors=[
        (
            "- number",
            "families.pair.require[0]: number: a condition is wanted, got a float (f64) (write `!= 0`), "
            "at column 1",
        )
    ],
)
case(
    "a requirement of a shape",
    ("- broadcasts(a_shape, shape)", "- shape == a_shape"),
    errors=[
        ("- shape ==", f"families.pair.require[0]: shape == a_shape: 'shape' is no number ({SHAPES})"),
    ],
)
case(
    "a requirement with an unknown function",
    ("- broadcasts(a_shape, shape)", "- broadcast(a_shape, shape)"),
    errors=[
        (
            "- broadcast(",
            "families.pair.require[0]: broadcast(a_shape, shape): unknown function 'broadcast' "
            "(did you mean 'broadcasts'?)",
        )
    ],
)
case(
    "a requirement that is no expression",
    ("- broadcasts(a_shape, shape)", "- number >"),
    errors=[
        (
            "- number >",
            "families.pair.require[0]: number >: this is no expression: something is missing or too much, "
            "at column 1",
        )
    ],
)
case(
    "a requirement that the host cannot check",
    ("- broadcasts(a_shape, shape)", "- erfinv(number) > 0"),
    errors=[
        (
            "- erfinv",
            "families.pair.require[0]: erfinv(number) > 0: `erfinv` is not available on the host, "
            "at column 1",
        )
    ],
)

# Monoids

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

# Ops

case(
    "an unknown family",
    ("family: pair", "family: pear"),
    errors=[("pear", "ops.mix.family: unknown family 'pear' (did you mean 'pair'?)")],
)
case(
    "an attribute from an unknown field",
    ("{from: number,", "{from: nmber,"),
    errors=[("nmber", "ops.mix.attrs.weight.from: 'nmber' is no number of the descriptor (one of number)")],
)
case(
    "an attribute where no number is",
    ("    options: {ties", "    attrs: {w: {from: axis}}\n    options: {ties"),
    errors=[
        (
            "from: axis",
            "ops.total.attrs.w.from: 'axis' is no number of the descriptor "
            "(the descriptor has none: add one of type f64 or i64)",
        )
    ],
)
case(
    "an attribute's requirement with an unknown name",
    ("require: isfinite(number)", "require: isfinite(nmber)"),
    errors=[
        (
            "nmber",
            "ops.mix.attrs.weight.require: isfinite(nmber): unknown name 'nmber' (did you mean 'number'?)",
        )
    ],
)
case(
    "a sample of what is no number",
    ("samples: {number: [0.5, 2]}", "samples: {shape: [2]}"),
    errors=[
        ("samples: {shape", "ops.mix.samples.shape: 'shape' is no number of the descriptor (one of number)")
    ],
)
case(
    "an option that the descriptor lacks",
    ("    attrs:\n", "    options: {ties: [all]}\n    attrs:\n"),
    errors=[
        (
            "{ties: [all]}",
            "ops.mix.options.ties: 'ties' is no option of the descriptor "
            "(the descriptor has none: add one of type option)",
        )
    ],
)
case(
    "an option without values",
    ("{ties: [all, split]}", "{ties: []}"),
    errors=[("{ties: []}", "ops.total.options.ties: no values (the default first)")],
)
case(
    "an option's value twice",
    ("{ties: [all, split]}", "{ties: [all, split, all]}"),
    errors=[("split, all]", "ops.total.options.ties: 'all' stands twice (each value once)")],
)
case(
    "by an unknown option",
    ("by ties:", "by tie:"),
    errors=[("by tie:", "ops.total.backward.by tie: unknown option 'tie' (did you mean 'ties'?)")],
)
case(
    "by an option of an op without options",
    ("    options: {ties: [all, split]}\n", ""),
    errors=[
        (
            "by ties:",
            "ops.total.backward.by ties: unknown option 'ties' (options: {ties: [...]} in the op)",
        )
    ],
)
case(
    "by an unknown value",
    ("        split:\n", "        spilt:\n"),
    errors=[
        ("by ties:", "ops.total.backward.by ties: no block for 'split' (a block for each value)"),
        ("spilt:", "ops.total.backward.by ties.spilt: unknown value 'spilt' (did you mean 'split'?)"),
    ],
)
case(
    "an option inside an option",
    ("        split:\n", "        split:\n          by ties: {}\n"),
    errors=[
        ("by ties: {}", "ops.total.backward.by ties.split.by ties: a `by` inside a `by` (beside it)"),
    ],
)
case(
    "an option that adds what is there",
    ("all: {dx:", "all: {takes: {x: optional}, dx:"),
    errors=[
        (
            "all: {takes",
            "ops.total.backward.by ties.all.takes.x: 'x' is given for every value already "
            "(in one of the two places)",
        )
    ],
)
case(
    "a backward that the family lacks",
    (
        SMALL_SPEC[
            SMALL_SPEC.index('    backward:\n      dy: {io: in, shape: "keep') : SMALL_SPEC.index("ops:\n")
        ],
        "\n",
    ),
    errors=[
        (
            "    backward:\n      takes",
            "ops.total.backward: the family 'rows' has no backward tensors (add them to the family)",
        )
    ],
)
case(
    "a gradient is missing",
    ("      db: dy * weight\n    ref", "    ref"),
    errors=[
        (
            "    backward:\n      let: {rest: 1 - weight}\n      da: dy * rest\n    ref",
            "ops.mix.backward: no formula for 'db' (the backward gives da, db)",
        )
    ],
)
case(
    "an unknown output",
    (MIX_Y, f"{MIX_Y}      dydx: a\n"),
    errors=[("dydx", "ops.mix.forward.dydx: unknown output 'dydx' (one of y)")],
)
case(
    "an unknown output like a word",
    (MIX_Y, f"{MIX_Y}      tak: a\n"),
    errors=[("tak: a", "ops.mix.forward.tak: unknown output 'tak' (did you mean 'takes'?)")],
)
case(
    "an unknown saved tensor",
    ("takes: {x: required}", "takes: {z: required}"),
    errors=[("z: required", "ops.total.backward.takes.z: unknown tensor 'z' (one of dy, x)")],
)
case(
    "a reference is missing",
    ("      da: dy * (1 - weight)\n", ""),
    errors=[
        (
            "    ref:\n      y: a *",
            "ops.mix.ref: no reference for 'da' (an independent expression for each output)",
        )
    ],
)
case(
    "a reference of an unknown output",
    ("      dx: dy * (x > 0)\n", "      dx: dy * (x > 0)\n      dz: dy\n"),
    errors=[("dz", "ops.total.ref.dz: unknown output 'dz' (outputs: y, dx)")],
)
case(
    "a reference with an unknown name",
    ("      dx: dy * (x > 0)\n", "      dx: dy * np.wher(x > 0)\n"),
    errors=[
        (
            "np.wher",
            "ops.total.ref.dx: dy * np.wher(x > 0): unknown name 'np.wher' (did you mean 'where'?), "
            "at column 6",
        )
    ],
)
case(
    "a reference that runs code",
    ("      dx: dy * (x > 0)\n", "      dx: __import__('os').system('id')\n"),
    errors=[
        (
            "__import__",
            "ops.total.ref.dx: __import__('os').system('id'): unknown name '__import__' "
            "(known here: axes, axis, dx, dy, element, extent, index, shape, stored, ties, x, y, "
            "np, math, scipy.special, mpmath), at column 1",
        )
    ],
)
case(
    "a scale of an unknown output",
    ("      y: abs(a) + abs(b)", "      z: abs(a) + abs(b)"),
    errors=[("z: abs", "ops.mix.scale.z: unknown output 'z' (outputs: y, da, db)")],
)
case(
    "a scale with an unknown name",
    ("      y: abs(a) + abs(b)", "      y: abs(a) + abs(bb)"),
    errors=[("bb", "ops.mix.scale.y: abs(a) + abs(bb): unknown name 'bb' (did you mean 'b'?)")],
)
case(
    "a scale with an unknown function",
    ("      y: abs(a) + abs(b)", "      y: abs(a) + asb(b)"),
    errors=[("asb", "ops.mix.scale.y: abs(a) + asb(b): unknown function 'asb' (did you mean 'abs'?)")],
)
case(
    "a scale that is no expression",
    ("      y: abs(a) + abs(b)", "      y: abs(a) +"),
    errors=[
        (
            "abs(a) +",
            "ops.mix.scale.y: abs(a) +: this is no expression: something is missing or too much, at column 1",
        )
    ],
)

# Formulas

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

# A spec that builds on baracuda's

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

# Many at once

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
        ("  total:", "ops.total: the key 'kind' is missing (its member of the family's enum)"),
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
    "a broken monoid does not make its ops wrong",
    ("    value: s\n", "    vallue: s\n"),
    errors=[("vallue", "monoids.sum.vallue: unknown key 'vallue' (did you mean 'value'?)")],
)


# Families of pairs


def pairs(name: str, *edits: Edit, errors: list[Expected]) -> None:
    CASES.append(Case(name, edits, tuple(errors), SMALL_PAIRS))


X = "      x: {io: in, shape: whole, layout: inner, doc: input}\n"
AT = "      at: {io: in, dtype: i64, role: position, shape: [along, each], optional: true, doc: positions}\n"
Y_OF_PAIRS = "      y: pair(x.first * c - x.second * s, x.second * c + x.first * s)\n"
PLACE_LINE = "    pairs: {extent: paired, place: lie}\n"
HOST_LET = "      let: {plain: 'pow(base, -2 * pair / paired)'}\n"
HOST_FUNCTIONS = "it has abs, max, min, pow, exp, log, sqrt, floor, ceil, clamp"
ONE_OF_EACH = "one input, one output, one tensor of role position and one of role pair"

pairs(
    "a small spec of pairs",
    (HOST_LET, HOST_LET.replace("pow", "tan")),
    errors=[
        (
            "tan(",
            "ops.turn.host.let.plain: tan(base, -2 * pair / paired): the host has no tan in 50 "
            f"digits ({HOST_FUNCTIONS})",
        ),
    ],
)
pairs(
    "pairs without their template",
    ("template: rotate", "template: map"),
    errors=[
        (
            "place: lie}",
            "families.turns.pairs: pairs belong to the template rotate, and it needs them (template: rotate)",
        ),
    ],
)
pairs(
    "the template of pairs without them",
    (PLACE_LINE, ""),
    errors=[
        (
            "  turns:\n",
            "families.turns.pairs: pairs belong to the template rotate, and it needs them (pairs: "
            "{extent: ..., place: ...})",
        ),
    ],
)
case(
    "a role of pairs elsewhere",
    (SECOND, SECOND.replace("doc:", "dtype: i64, optional: true, role: position, doc:")),
    errors=[
        (
            "role: position",
            "families.pair.forward.b.role: position is a role in families of pairs (element, row or column)",
        ),
    ],
)
pairs(
    "an own dtype of an element",
    (X, X.replace("shape:", "dtype: f64, shape:")),
    errors=[
        (
            "dtype: f64, shape: whole",
            "families.turns.forward.x.dtype: a tensor of role element has the dtype f64 (leave it "
            "out: it has the descriptor's)",
        ),
    ],
)
pairs(
    "values of pairs that are stored otherwise",
    (X, X.replace("shape:", "dtype: lie, shape:")),
    errors=[
        (
            "dtype: lie, shape: whole",
            "families.turns.forward.x.dtype: a tensor of role element has the dtype lie (leave it "
            "out: it has the descriptor's)",
        ),
        (
            "layout: inner, doc: input",
            "families.turns.forward.x.dtype: 'lie' is no dtype of a tensor (one of f64, i64)",
        ),
    ],
)
pairs(
    "positions that are no integers",
    (AT, AT.replace("dtype: i64", "dtype: f64")),
    errors=[
        (
            "at: {io: in, dtype: f64",
            "families.turns.forward.at.dtype: a tensor of role position has the dtype f64 (dtype: i64)",
        ),
    ],
)
pairs(
    "positions that may not lack",
    (AT, AT.replace("optional: true, ", "")),
    errors=[
        (
            "each], doc: positions",
            "families.turns.forward.at: a tensor of role position is an input that may lack (optional: true)",
        ),
    ],
)
pairs(
    "several shapes of an element",
    (X, X.replace("shape: whole", "shape: [whole, along]")),
    errors=[
        (
            "[whole, along]",
            "families.turns.forward.x.shape: several shapes (one: only a tensor of role position or "
            "column may have others)",
        ),
    ],
)
pairs(
    "an element of any strides",
    (X, X.replace("layout: inner, ", "")),
    errors=[
        (
            "shape: whole, doc: input",
            "families.turns.forward.x.layout: the template rotate takes layout inner alone (layout: inner)",
        ),
    ],
)
pairs(
    "two inputs of pairs",
    (X, X + X.replace(" x:", " z:")),
    errors=[
        (
            "    forward:\n      x:",
            "families.turns.forward: the template rotate is given in, in, position, pair, out "
            f"({ONE_OF_EACH})",
        ),
    ],
)
pairs(
    "a domain of three extents",
    ("whole: [batch, planes, length, size]", "whole: [batch, length, size]"),
    errors=[
        (
            "domain: whole",
            "families.turns.domain: the template rotate walks four extents (the batch, the planes of "
            "a position, the positions, the elements)",
        ),
    ],
)
pairs(
    "a shape that is a field",
    ("      along:", "      base:"),
    ("[along, each]", "[base, each]"),
    errors=[
        ("base: [length]", "families.turns.shapes.base: 'base' is a field of the descriptor (another name)"),
    ],
)
pairs(
    "a shape of a number",
    ("halves: [paired // 2]", "halves: [base]"),
    errors=[
        (
            "halves: [base]",
            "families.turns.shapes.halves[0]: base: unknown name 'base' (known here: batch, planes, "
            "length, size, paired), at column 1 (one of batch, planes, length, size, paired)",
        ),
    ],
)
pairs(
    "an extent that follows nothing",
    ("default: size", "default: sizes"),
    errors=[
        (
            "default: sizes",
            "families.turns.descriptor.paired.default: 'sizes' is no extent that is always given "
            "(did you mean 'size'?)",
        ),
    ],
)
pairs(
    "pairs of a number",
    (PLACE_LINE, PLACE_LINE.replace("paired", "base")),
    errors=[
        (
            "extent: base",
            "families.turns.pairs.extent: 'base' is no field of type extent (one of batch, planes, "
            "length, size, paired)",
        ),
    ],
)
pairs(
    "a default kind that no op has",
    ("default_kind: TURN", "default_kind: TWIST"),
    errors=[
        ("TWIST", "families.turns.default_kind: no op of the family has the kind 'TWIST' (one of TURN)"),
    ],
)
pairs(
    "an option for the place that says none",
    ("{lie: [half, interleaved],", "{lie: [half, apart],"),
    errors=[
        ("[half, apart]", "ops.turn.options: lie says where pairs lie (lie: [interleaved, half])"),
    ],
)
pairs(
    "no option for the place",
    ("{lie: [half, interleaved], slow", "{slow"),
    errors=[
        ("options: {slow", "ops.turn.options: lie says where pairs lie (lie: [interleaved, half])"),
    ],
)
case(
    "values of the host elsewhere",
    (MIX_KIND, f"{MIX_KIND}    host: {{w: 1}}\n"),
    errors=[
        (
            "host: {w",
            "ops.mix.host: values of pairs that the host computes belong to families of pairs (host: "
            "{NAME: ...} in an op of such a family)",
        ),
    ],
)
pairs(
    "a row in a family of pairs",
    (Y_OF_PAIRS, Y_OF_PAIRS + "      takes: {x: required}\n"),
    errors=[
        ("takes: {x", "ops.turn.forward.takes: no takes in a family of pairs (leave it out)"),
    ],
)
pairs(
    "a row of the host",
    (HOST_LET, HOST_LET + "      takes: {x: required}\n"),
    errors=[
        ("takes: {x", "ops.turn.host.takes: no takes in what the host computes (leave it out)"),
    ],
)
pairs(
    "a let of pairs that is a tensor",
    ("        c: size_of", "        x: 1\n        c: size_of"),
    errors=[
        ("x: 1\n", "ops.turn.forward.let.x: 'x' is already a name here (another name)"),
    ],
)
pairs(
    "an output of pairs that there is not",
    (Y_OF_PAIRS, Y_OF_PAIRS + "      z: pair(0, 0)\n"),
    errors=[
        ("z: pair", "ops.turn.forward.z: unknown output 'z' (one of y)"),
    ],
)
pairs(
    "an output that is no pair",
    (Y_OF_PAIRS, "      y: x.first * c\n"),
    errors=[
        ("y: x.first", "ops.turn.forward.y: x.first * c: an output is a pair (pair(FIRST, SECOND))"),
    ],
)
pairs(
    "an output of pairs that is missing",
    (Y_OF_PAIRS, ""),
    errors=[
        ("    forward:\n      let:", "ops.turn.forward: no formula for 'y' (the forward gives y)"),
    ],
)
pairs(
    "no angle",
    (
        "        angle: at * speed\n        c: size_of * cos(angle)\n        s: size_of * sin(angle)\n",
        "        c: size_of\n        s: size_of\n",
    ),
    errors=[
        ("    forward:\n      let:", "ops.turn.forward: no angle (let: {angle: at * speed})"),
    ],
)
pairs(
    "an angle that is no number",
    ("size_of * sin(angle)", "size_of * angle"),
    errors=[
        (
            "size_of * angle",
            "ops.turn.forward.let.s: size_of * angle: 'angle' is an angle (sin(angle) or cos(angle))",
        ),
    ],
)
pairs(
    "a tensor of pairs as a number",
    (Y_OF_PAIRS, "      y: pair(x, x.second)\n"),
    errors=[
        ("y: pair(x,", "ops.turn.forward.y: x: 'x' is a state: use a field, such as x.first, at column 6"),
    ],
)
pairs(
    "a number that follows from the pair",
    ("none: {speed: plain, size_of: 1}", "none: {speed: plain, size_of: plain}"),
    errors=[
        (
            "size_of: plain",
            "ops.turn.host.by slow.none.size_of: plain: follows from the number of the pair (a value "
            "for each pair replaces a tensor of role pair: speed)",
        ),
    ],
)
pairs(
    "no frequency",
    ("none: {speed: plain, size_of: 1}", "none: {size_of: 1}"),
    errors=[
        ("    host:", "ops.turn.host: no formula for 'speed' (a value for each pair)"),
    ],
)
pairs(
    "a value of the host that is a field",
    (HOST_LET, HOST_LET.replace("{plain", "{base: 1, plain")),
    errors=[
        ("base: 1", "ops.turn.host.let.base: 'base' is already a name here (another name)"),
    ],
)
pairs(
    "a value of the host of nothing",
    (HOST_LET, HOST_LET.replace("pow(base,", "pow(bass,")),
    errors=[
        (
            "bass",
            "ops.turn.host.let.plain: pow(bass, -2 * pair / paired): unknown name 'bass' (did you "
            "mean 'base'?), at column 5",
        ),
    ],
)
pairs(
    "other names of the host for an option",
    ("speed: plain / 2, size_of: 2", "speed: plain / 2"),
    errors=[
        (
            "    host:",
            "ops.turn.host: another set of names for another option (the same names for every value)",
        ),
    ],
)


# Rows with tensors that may lack, with columns, and with values in another dtype

ROW_X = "      x: {io: in, shape: shape, doc: input}\n      y: {io: out"
ROW_Y = '"keepdim(shape, axis)", role: row, doc: result}'
AXIS = "      axis: {type: axes, of: shape, doc: the axes}\n"
STORED = "      kept: {type: storage, default: element, doc: dtype of y}\n"
DX = "      dx: {io: out, shape: shape, doc: gradient of x}\n\n"

case(
    "a value for an input of a map",
    (SECOND, SECOND.replace("doc:", "optional: true, absent: 1, doc:")),
    errors=[
        ("absent: 1", "families.pair.forward.b.absent: belongs to the template aggregate (leave it out)"),
    ],
)
case(
    "an optional input without a value",
    (ROW_X, ROW_X.replace("doc: input", "optional: true, doc: input")),
    errors=[
        (
            "optional: true, doc: input",
            "families.rows.forward.x: an input that may be None has a value then, and no other tensor "
            "(absent: 0, or another number)",
        ),
    ],
)
case(
    "a value for an output",
    (ROW_Y, ROW_Y.replace("doc:", "optional: true, absent: 0, doc:")),
    errors=[
        (
            "absent: 0",
            "families.rows.forward.y.absent: an input that may be None has a value then, and no other "
            "tensor (absent: 0, or another number)",
        ),
    ],
)
case(
    "an input of rows that may lack",
    ("role: row, doc: gradient of y}", "role: row, optional: true, doc: gradient of y}"),
    errors=[
        (
            "optional: true, doc: gradient of y",
            "families.rows.backward.dy: an input of role row cannot be None "
            "(leave out `optional` and `given`)",
        ),
    ],
)
for number in (0.1, 70000.0):
    case(
        f"a value that no dtype holds, {number}",
        (ROW_X, ROW_X.replace("doc: input", f"optional: true, absent: {number}, doc: input")),
        errors=[
            (
                f"absent: {number}",
                f"families.rows.forward.x.absent: {number} is not a number of every dtype "
                "(a number of at most 8 bits)",
            ),
        ],
    )
case(
    "a condition that is none",
    (ROW_X, ROW_X.replace("doc: input", "given: axis, absent: 0, doc: input")),
    errors=[
        ("given: axis", f"families.rows.forward.x.given: axis: 'axis' is no number ({SHAPES})"),
    ],
)
case(
    "a dtype that is none",
    (AXIS, AXIS + STORED),
    (ROW_Y, ROW_Y.replace("doc:", "dtype: keept, doc:")),
    errors=[
        (
            "dtype: keept",
            "families.rows.forward.y.dtype: 'keept' is no dtype of a tensor (one of f64, i64, kept)",
        ),
    ],
)
case(
    "elements with a choice of dtypes",
    (AXIS, AXIS + STORED),
    (DX, DX.replace("doc:", "dtype: kept, doc:")),
    errors=[
        (
            "dtype: kept, doc: gradient of x",
            "families.rows.backward.dx.dtype: only what is read or written once a row has a choice "
            "(role: row)",
        ),
    ],
)
case(
    "a storage that is none",
    (AXIS, AXIS + STORED.replace("element", "f32")),
    errors=[
        (
            "default: f32",
            "families.rows.descriptor.kept.default: 'f32' is no default of the field 'kept' "
            "(element or compute)",
        ),
    ],
)
case(
    "a mask of something else",
    (AXIS, AXIS + STORED.replace("doc:", "mask: bits, doc:")),
    errors=[("mask: bits", "families.rows.descriptor.kept.mask: belongs to axes alone (leave it out)")],
)
case(
    "a mask that is a field",
    (AXIS, AXIS.replace("doc:", "mask: ties, doc:")),
    errors=[
        (
            "mask: ties",
            "families.rows.descriptor.axis.mask: 'ties' is a field of the descriptor (another name)",
        ),
    ],
)
case(
    "axes of one direction",
    (AXIS, AXIS.replace("doc:", "only: forward, doc:")),
    errors=[
        (
            "only: forward",
            "families.rows.descriptor.axis.only: both directions need it (leave it out)",
        ),
        (
            'dy: {io: in, shape: "keepdim(shape, axis)"',
            "families.rows.backward.dy.shape: keepdim(shape, axis): unknown name 'axis' "
            "(fields: shape, element, ties)",
        ),
    ],
)
case(
    "columns of what follows from an aggregate",
    (DX, DX.replace("shape: shape", 'shape: "extents(shape, axis)", role: column')),
    errors=[
        (
            "dx: dy / n if",
            "ops.total.backward.by ties.split.dx: dy / n if x > 0 else 0: the sum over the rows of what "
            "follows from an aggregate (a formula of tensors, those of role row among them)",
        ),
    ],
)
case(
    "an aggregate of the extent",
    ("y: sum(x) + n", "y: sum(x / extent) + n"),
    errors=[
        (
            "y: sum(x / extent)",
            "ops.total.forward.y: sum(x / extent): elements do not know the row's extent "
            "(an aggregate without it, and its value with it)",
        ),
    ],
)
