"""Ops: kinds, attributes, options, bounds, references."""

from __future__ import annotations

from small_spec import SMALL_SPEC

from spec_errors.case import MIX_Y, NUMBER, Cases

CASES = Cases()
case = CASES.case


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
    "an integer that is wide",
    (NUMBER, NUMBER.replace("f64", "i64")),
    ("{from: number,", "{from: number, wide: true,"),
    errors=[("wide: true", "ops.mix.attrs.weight.wide: belongs to f64 of the template map (leave it out)")],
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
    "an option whose default does not stand first",
    ("{ties: [all, split]}", "{ties: [split, all]}"),
    errors=[
        (
            "{ties: [split, all]}",
            "ops.total.options.ties: 'split' stands first, but the family's default is 'all' "
            "(the default first: [all, split])",
        )
    ],
)
case(
    "an option whose default is none of its values",
    ("default: all, doc: who", "default: both, doc: who"),
    errors=[
        (
            "{ties: [all, split]}",
            "ops.total.options.ties: 'all' stands first, but the family's default is 'both' "
            "(the default first: [both, all, split])",
        )
    ],
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
    "a bound of an option",
    ("        split:\n", "        split:\n          ulp: {f32: 1}\n"),
    errors=[
        (
            "ulp: {f32: 1}",
            "ops.total.backward.by ties.split.ulp: bounds are those of a whole direction (beside the `by`)",
        ),
    ],
)
case(
    "packs of an option",
    ("        split:\n", "        split:\n          packs: 2\n"),
    errors=[
        (
            "packs: 2",
            "ops.total.backward.by ties.split.packs: packs are those of a whole direction (beside the `by`)",
        ),
    ],
)
case(
    "packs of what is no map",
    ("      row: {n: matches(x > 0)}\n", "      packs: 2\n      row: {n: matches(x > 0)}\n"),
    errors=[("packs: 2", "ops.total.forward.packs: aggregate has none (leave it out)")],
)
case(
    "more packs than registers hold",
    ("      let: {rest: 1 - weight}\n      y:", "      packs: 5\n      let: {rest: 1 - weight}\n      y:"),
    errors=[("packs: 5", "ops.mix.forward.packs: is 5 (want 1, 2 or 4)")],
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
            "ops.total.ref.dx: dy * np.wher(x > 0): unknown name 'np.wher' (did you mean 'np.where'?), "
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
            "(known here: axes, axis, converted, dx, dy, element, extent, index, integer_bits, next_stored, "
            "shape, stored, ties, x, y, np, math, scipy.special, mpmath), at column 1",
        )
    ],
)
case(
    "a scale of an unknown output",
    ("      y: abs(a) + abs(b)", "      z: abs(a) + abs(b)"),
    errors=[("z: abs", "ops.mix.scale.z: unknown output 'z' (outputs: y, da, db)")],
)
case(
    "a bound that holds for an unknown output",
    ("    scale:\n      y: abs(a) + abs(b)", "    holds: {z: a > 0}\n    scale:\n      y: abs(a) + abs(b)"),
    errors=[("z: a", "ops.mix.holds.z: unknown output 'z' (outputs: y, da, db)")],
)
case(
    "a condition of a bound with an unknown name",
    ("    scale:\n      y: abs(a) + abs(b)", "    holds: {y: aa > 0}\n    scale:\n      y: abs(a) + abs(b)"),
    errors=[("aa", "ops.mix.holds.y: aa > 0: unknown name 'aa' (did you mean 'a'?)")],
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
