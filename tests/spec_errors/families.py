"""Families: descriptors, tensors, rules."""

from __future__ import annotations

from spec_errors.case import NUMBER, SECOND, SHAPES, Cases

CASES = Cases()
case = CASES.case


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
    "a target of an input",
    (NUMBER, f"      kept: {{type: target, doc: x}}\n{NUMBER}"),
    (SECOND, SECOND.replace("doc:", "dtype: kept, doc:")),
    errors=[
        (
            "dtype: kept",
            "families.pair.forward.b.dtype: 'kept' is the dtype of outputs of the template map "
            "(leave it out)",
        )
    ],
)
case(
    "outputs of two dtypes",
    ("db: {io: out,", "db: {io: out, dtype: bool,"),
    errors=[
        (
            "dtype: bool",
            "families.pair.backward.db.dtype: db has another dtype than da (one for all outputs)",
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
    "an option without a default",
    ("type: option, default: all,", "type: option,"),
    errors=[
        (
            "type: option,",
            "families.rows.descriptor.ties: an option without a default "
            "(default: the first of the values in each op's options)",
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
            "(a finite number, or kind)",
        )
    ],
)
case(
    "a default of an attribute whose field has one",
    ("{from: number, require: isfinite(number)}", "{from: number, default: 2}"),
    errors=[
        (
            "from: number, default: 2",
            "ops.mix.attrs.weight.default: belongs to fields with `default: kind`, which 'number' is not "
            "(leave it out, or change the field)",
        )
    ],
)
case(
    "no default of an attribute whose field has none of its own",
    ("type: f64, default: 1,", "type: f64, default: kind,"),
    errors=[
        (
            "weight: {from",
            "ops.mix.attrs.weight.default: is missing: 'number' has `default: kind`, a number for each op "
            "(default: a number)",
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
            "(a field of type shape, or keepdim(shape, axes) or extents(shape, axes) "
            "or doubled(shape, axes) or flat(shape, axes))",
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
