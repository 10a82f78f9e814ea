"""Families of pairs."""

from __future__ import annotations

from spec_errors.case import MIX_KIND, SECOND, Cases

CASES = Cases()
case, pairs = CASES.case, CASES.pairs


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
            "ops.turn.host.let.plain: tan(base, -2 * pair / paired): the host has no tan in 40 "
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
            "families.turns.forward.x.dtype: 'lie' is no dtype of a tensor (one of f64, i64, bool)",
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
