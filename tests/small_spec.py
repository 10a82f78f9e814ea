"""A small valid spec that has one of everything, for tests that break it or make something of it."""

from __future__ import annotations

SMALL_SPEC = """\
version: 1

dtypes:
  half:  [f16, bf16]
  float: [half, f32, f64]

monoids:
  sum:
    doc: sum of x
    state: {s: compute = 0}
    lift: {s: x}
    merge: {s: a.s + b.s}
    value: s
  matches:
    doc: how many x are true, and the number of the last of them
    of: bool
    constants:
      one: {f32: 1.0, f64: 1.0}
    state: {n: i64 = 0, last: i64 = 0}
    run:
      state: {k: i64 = 0, at: i64 = 0}
      push:
        let: {more: r.k + 1}
        k: more if x else r.k
        at: index if x else r.at
      close: {n: r.k, last: r.at}
    merge:
      let: {later: b.n > 0}
      n: a.n + b.n
      last: b.last if later else a.last
    derived: {any: n > 0}
    value: n

families:
  pair:
    doc: y = f(a, b) with one number
    template: map
    category: Pairs
    plan: Pair
    kind: PairKind
    domain: shape
    descriptor:
      shape: {type: shape, doc: extents of y}
      element: {type: element, doc: dtype of every tensor}
      number: {type: f64, default: 1, doc: what the op does with it}
      a_shape: {type: shape, default: shape, doc: extents of a}
    require:
      - broadcasts(a_shape, shape)
    forward:
      a: {io: in, shape: a_shape, doc: first}
      b: {io: in, shape: shape, doc: second}
      y: {io: out, shape: shape, doc: result}
    backward:
      dy: {io: in, shape: shape, doc: gradient of y}
      da: {io: out, shape: a_shape, doc: gradient of a}
      db: {io: out, shape: shape, optional: true, doc: gradient of b}
  rows:
    doc: y = aggregate of x
    template: aggregate
    category: Rows
    plan: Row
    kind: RowKind
    domain: shape
    axes: axis
    descriptor:
      shape: {type: shape, doc: extents of x}
      axis: {type: axes, of: shape, doc: the axes}
      element: {type: element, doc: dtype of every tensor}
      ties: {type: option, default: all, doc: who counts among equals}
    forward:
      x: {io: in, shape: shape, doc: input}
      y: {io: out, shape: "keepdim(shape, axis)", role: row, doc: result}
    backward:
      dy: {io: in, shape: "keepdim(shape, axis)", role: row, doc: gradient of y}
      x: {io: in, shape: shape, doc: input}
      dx: {io: out, shape: shape, doc: gradient of x}

ops:
  mix:
    family: pair
    doc: a and b, weighed
    kind: MIX
    dtypes: float
    attrs:
      weight: {from: number, require: isfinite(number)}
    samples: {number: [0.5, 2]}
    forward:
      let: {rest: 1 - weight}
      y: a * rest + b * weight
    backward:
      let: {rest: 1 - weight}
      da: dy * rest
      db: dy * weight
    ref:
      y: a * (1 - weight) + b * weight
      da: dy * (1 - weight)
      db: dy * weight
    ulp: {half: 1, f32: 2, f64: 2}
    scale:
      y: abs(a) + abs(b)
  total:
    family: rows
    doc: sum of x
    kind: TOTAL
    dtypes: [f32, f64]
    options: {ties: [all, split]}
    forward:
      require:
        - reduces_elements(shape, axis)
      row: {n: matches(x > 0)}
      y: sum(x) + n
    backward:
      takes: {x: required}
      by ties:
        all: {dx: dy if x > 0 else 0}
        split:
          row: {n: matches(x > 0)}
          dx: dy / n if x > 0 else 0
    ref:
      y: np.sum(x, axis=axes, keepdims=True)
      dx: dy * (x > 0)
    ulp: {f32: 4, f64: 4}
"""
