"""Rows with tensors that may lack, with columns, and with values in another dtype."""

from __future__ import annotations

from spec_errors.case import SECOND, SHAPES, Cases

CASES = Cases()
case = CASES.case

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
            "families.rows.forward.y.dtype: 'keept' is no dtype of a tensor (one of f64, i64, bool, kept)",
        ),
    ],
)
case(
    "truth values that are aggregated",
    (ROW_X, ROW_X.replace("doc: input", "dtype: bool, doc: input")),
    errors=[
        (
            "dtype: bool",
            "families.rows.forward.x.dtype: bool is for elements of the template map (leave it out)",
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
    ("all: {dx: dy", "all: {row: {n: matches(x > 0)}, dx: dy"),
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
case(
    "a result of rows beside no aggregate",
    ("      row: {n: matches(x > 0)}\n      y: sum(x) + n", "      y: extent"),
    errors=[
        (
            "y: extent",
            "ops.total.forward.y: extent: a value of role row beside no aggregate "
            "(an aggregate of a tensor, in `row` or in a formula)",
        ),
    ],
)
case(
    "columns beside no aggregate",
    (DX, DX.replace("shape: shape", 'shape: "extents(shape, axis)", role: column')),
    errors=[
        (
            "all: {dx: dy",
            "ops.total.backward.by ties.all.dx: dy if x > 0 else 0: a value of role column beside no "
            "aggregate (an aggregate of a tensor, in `row` or in a formula)",
        ),
    ],
)
case(
    "rows that read nothing",
    ("all: {dx: dy if x > 0 else 0}", "all: {dx: index / extent}"),
    errors=[
        (
            "index / extent",
            "ops.total.backward.by ties.all.dx: index / extent: no formula reads an element of a tensor "
            "(a formula with one of x, such as 0 * x)",
        ),
    ],
)
case(
    "an aggregate of nothing that is read",
    ("dx: dy / n if x > 0 else 0", "dx: dy / n"),
    ("          row: {n: matches(x > 0)}", "          row: {n: sum(index)}"),
    errors=[
        (
            "dx: dy / n",
            "ops.total.backward.by ties.split.dx: dy / n: no formula reads an element of a tensor "
            "(a formula with one of x, such as 0 * x)",
        ),
    ],
)
