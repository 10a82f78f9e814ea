"""Sets of dtypes."""

from __future__ import annotations

from spec_errors.case import MIX_Y, Cases

CASES = Cases()
case = CASES.case


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
    ("dtypes: [f32, f64]", "dtypes: [f32, fp8]"),
    errors=[
        (
            "fp8",
            "ops.total.dtypes: 'fp8' is no dtype with a compute type, and no set "
            "(dtypes with a compute type: f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool)",
        )
    ],
)
case(
    "integers that are aggregated",
    ("dtypes: [f32, f64]", "dtypes: [f32, i8]"),
    errors=[("i8", "ops.total.dtypes: i8 is a dtype of the template map alone (dtypes of floats)")],
)
case(
    "gradients of integers",
    ("    dtypes: float\n    attrs:", "    dtypes: [i32]\n    attrs:"),
    errors=[
        ("    backward:\n      let: {rest", "ops.mix.backward: integers have no gradients (leave it out)")
    ],
)
case(
    "a formula that means nothing for integers",
    ("    dtypes: float\n    attrs:", "    dtypes: [float, i32]\n    attrs:"),
    (MIX_Y, MIX_Y.replace("weight", "(weight + 0.5)")),
    errors=[
        (
            MIX_Y.replace("weight", "(weight + 0.5)"),
            "ops.mix.forward.y: a * rest + b * (weight + 0.5): `+` wants numbers of one kind, "
            "got an integer of the element dtype and a float, at column 17",
        )
    ],
)
case(
    "a limit of floats for integers",
    ("    dtypes: float\n    attrs:", "    dtypes: [float, i32]\n    attrs:"),
    (MIX_Y, "      y: a * rest if is_half else b * weight\n"),
    errors=[
        (
            "y: a * rest if",
            "ops.mix.forward.y: a * rest if is_half else b * weight: limits of the element type are those "
            "of floats (a formula of integers without them)",
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
