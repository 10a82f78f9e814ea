"""Names that C++, Python or the templates would take otherwise."""

from __future__ import annotations

from spec_errors.case import MIX_KIND, MIX_LET, NUMBER, SECOND, Cases

CASES = Cases()
case = CASES.case

MONOID = "    doc: x\n    state: {s: compute = 0}\n    lift: {s: x}\n    merge: {s: a.s}\n"
IDENTIFIER = "letters, digits and _, a letter first"
CASE_ONLY = "names that differ by more than case"

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
