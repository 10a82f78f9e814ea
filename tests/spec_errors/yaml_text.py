"""What is wrong as YAML."""

from __future__ import annotations

from spec_errors.case import MIX_FORWARD, MIX_KIND, MIX_Y, Cases

CASES = Cases()
case, whole = CASES.case, CASES.whole


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
