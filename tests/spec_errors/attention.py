"""Families of attention."""

from __future__ import annotations

from spec_errors.case import SECOND, Cases

CASES = Cases()
case, attention = CASES.case, CASES.attention

TILES = "    tiles:\n      f32: {heads: [32], queries: 16, keys: 32}\n"
MASK = "      mask: {io: in, shape: scores, role: mask, optional: true, doc: terms}\n"
LET = '      let: {score: "factor * dot(q, k) + mask", nothing: 0}\n'
DSCORES = "        dscores: attn * (dattn - sum(attn * dattn))\n"

attention(
    "tiles without their template",
    ("template: attention", "template: map"),
    errors=[
        (
            "    tiles:",
            "families.looks.tiles: tiles belong to the template attention, and it needs them (leave them "
            "out)",
        )
    ],
)
attention(
    "the template of tiles without them",
    (TILES, ""),
    errors=[
        (
            "  looks:\n",
            "families.looks.tiles: tiles belong to the template attention, and it needs them (tiles: "
            "{DTYPES: {heads: [...], queries: ..., keys: ...}})",
        )
    ],
)
attention(
    "tiles of sizes that no kernel has",
    ("heads: [32], queries: 16, keys: 32", "heads: [64, 32], queries: 20, keys: 0"),
    errors=[
        ("f32: {", "families.looks.tiles.f32.heads: is [64, 32] (multiples of 32, ascending)"),
        ("f32: {", "families.looks.tiles.f32.queries: is [20] (multiples of 16, ascending)"),
        ("f32: {", "families.looks.tiles.f32.keys: is [0] (multiples of 32, ascending)"),
    ],
)
attention(
    "tiles of sums in parts that are no whole steps",
    (
        "keys: 32}",
        "keys: 32, scores: 48, sums: {rows: 32, down: 2, depth: 40, split: 2, across: 4}}",
    ),
    errors=[
        ("f32: {", "families.looks.tiles.f32.heads: is [32] (multiples of 64, ascending)"),
        ("f32: {", "families.looks.tiles.f32.scores: is [48] (multiples of 32, ascending)"),
        ("f32: {", "families.looks.tiles.f32.sums.rows: is [32] (multiples of 64, ascending)"),
        ("f32: {", "families.looks.tiles.f32.sums.depth: is [40] (multiples of 32, ascending)"),
    ],
)
attention(
    "tiles of sums without stages or warps",
    ("keys: 32}", "keys: 32, scores: 0, sums: {stages: 1, down: 0, across: -1, split: 0}}"),
    errors=[
        ("f32: {", "families.looks.tiles.f32.sums.stages: is 1 (at least 2)"),
        ("f32: {", "families.looks.tiles.f32.sums.down: is 0 (at least 1)"),
        ("f32: {", "families.looks.tiles.f32.sums.across: is -1 (at least 1)"),
        ("f32: {", "families.looks.tiles.f32.sums.split: is 0 (at least 1)"),
        ("f32: {", "families.looks.tiles.f32.scores: is [0] (multiples of 32, ascending)"),
    ],
)
attention(
    "a word that no tiles of sums have",
    ("keys: 32}", "keys: 32, sums: {columns: 32}}"),
    errors=[
        (
            "f32: {",
            "families.looks.tiles.f32.sums.columns: unknown key 'columns' (known keys: rows, depth, stages, "
            "down, across, split)",
        )
    ],
)
attention(
    "a domain of other axes",
    ("scores: [batch, heads, rows, columns]", "scores: [batch, heads, rows]"),
    errors=[
        (
            "    domain: scores",
            "families.looks.domain: the template attention walks four extents (the batch, the heads, the "
            "queries, the keys)",
        )
    ],
)
attention(
    "a tensor that is missing",
    (MASK, ""),
    errors=[
        (
            "    forward:\n      q",
            "families.looks.forward: the template attention is given q, k, v, y, attn (q, k, v, mask, y, "
            "attn)",
        )
    ],
)
attention(
    "a share of nothing",
    ("shares: v", "shares: w"),
    errors=[("shares: w", "families.looks.backward.dv.shares: no tensor 'w' (an input of the direction)")],
)
case(
    "a mask elsewhere",
    (SECOND, SECOND.replace("doc:", "role: mask, doc:")),
    errors=[
        ("role: mask", "families.pair.forward.b.role: belongs to the template attention (leave it out)"),
    ],
)
attention(
    "an aggregate of attention",
    (LET, LET + "      row: {s: sum(mask)}\n"),
    errors=[("row: {s", "ops.look.forward.row: no row in a family of attention (leave it out)")],
)
attention(
    "a softmax of one's own",
    ("attn: softmax(score, nothing)", "attn: softmax(score)"),
    errors=[
        (
            "attn: softmax(score)",
            "ops.look.forward.attn: softmax(score): the kernels have it themselves (softmax(score, nothing))",
        )
    ],
)
attention(
    "a formula that no kernel asks for",
    ("nothing: 0}", "nothing: 0, cap: 2}"),
    errors=[
        (
            "cap: 2",
            "ops.look.forward.let.cap: unknown formula 'cap' (the forward has score, nothing, attn, y)",
        )
    ],
)
attention(
    "a formula that is missing",
    (", nothing: 0}", "}"),
    errors=[("    forward:\n      let", "ops.look.forward: no formula for 'nothing' (the forward has one)")],
)
attention(
    "a product that no kernel has",
    ("dk: factor * dot(dscores, q)", "dk: factor * dot(attn, q)"),
    errors=[
        (
            "dk: factor",
            "ops.look.backward.dk: dot(attn, q): the kernels have no such product (dot(dy, v) or "
            "dot(dscores, k) or dot(dscores, q) or dot(attn, dy))",
        )
    ],
)
attention(
    "scores without a sum",
    (DSCORES, "        dscores: attn * dattn\n"),
    errors=[
        (
            "dscores: attn",
            "ops.look.backward.let.dscores: attn * dattn: 0 sums over the row (sum(...), once)",
        ),
    ],
)
attention(
    "a name that a formula does not see",
    ("dv: dot(attn, dy)", "dv: dot(attn, dy) * mask"),
    errors=[
        (
            "dv: dot",
            "ops.look.backward.dv: dot(attn, dy) * mask: unknown name 'mask' (known here: factor, "
            "product), at column 17",
        )
    ],
)
attention(
    "a dtype without tiles",
    ("    dtypes: [f32]\n", "    dtypes: [f32, f64]\n"),
    ("ulp: {f32: 8}", "ulp: {f32: 8, f64: 8}"),
    errors=[
        ("dtypes: [f32, f64]", "ops.look.dtypes: the family has no tiles for f64 (tiles for each dtype)")
    ],
)
