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

#: A small valid spec with a family of pairs.
SMALL_PAIRS = """\
version: 1
families:
  turns:
    doc: y = x in pairs, each turned
    template: rotate
    category: Turns
    plan: Turn
    kind: TurnKind
    default_kind: TURN
    domain: whole
    pairs: {extent: paired, place: lie}
    shapes:
      whole: [batch, planes, length, size]
      along: [length]
      each: [batch, length]
      halves: [paired // 2]
    descriptor:
      batch: {type: extent, doc: batches}
      planes: {type: extent, doc: planes}
      length: {type: extent, doc: positions}
      size: {type: extent, doc: elements}
      element: {type: element, doc: dtype}
      base: {type: f64, default: 10, doc: of the frequencies}
      paired: {type: extent, default: size, doc: elements in pairs}
      lie: {type: option, default: half, doc: where pairs lie}
      slow: {type: option, default: none, doc: how much slower}
    forward:
      x: {io: in, shape: whole, layout: inner, doc: input}
      at: {io: in, dtype: i64, role: position, shape: [along, each], optional: true, doc: positions}
      speed: {io: in, dtype: f64, role: pair, shape: halves, optional: true, doc: radians a position}
      y: {io: out, shape: whole, layout: inner, doc: result}
ops:
  turn:
    family: turns
    doc: pairs turned
    kind: TURN
    dtypes: [f32]
    options: {lie: [half, interleaved], slow: [none, twice]}
    host:
      let: {plain: 'pow(base, -2 * pair / paired)'}
      by slow:
        none: {speed: plain, size_of: 1}
        twice: {speed: plain / 2, size_of: 2}
    forward:
      let:
        angle: at * speed
        c: size_of * cos(angle)
        s: size_of * sin(angle)
      y: pair(x.first * c - x.second * s, x.second * c + x.first * s)
    ref:
      y: x
    ulp: {f32: 3}
"""

#: A small valid spec with a family of attention.
SMALL_ATTENTION = """\
version: 1
families:
  looks:
    doc: y = weights of keys times values
    template: attention
    category: Looks
    plan: Look
    kind: LookKind
    domain: scores
    tiles:
      f32: {heads: [32], queries: 16, keys: 32}
    shapes:
      scores: [batch, heads, rows, columns]
      queries: [batch, heads, rows, size]
      keys: [batch, kv, columns, size]
    descriptor:
      batch: {type: extent, doc: batches}
      heads: {type: extent, doc: heads}
      kv: {type: extent, doc: heads of keys}
      rows: {type: extent, doc: queries}
      columns: {type: extent, doc: keys}
      size: {type: extent, doc: elements}
      element: {type: element, doc: dtype}
      factor: {type: f64, doc: of the scores}
    forward:
      q: {io: in, shape: queries, layout: inner, doc: queries}
      k: {io: in, shape: keys, layout: inner, doc: keys}
      v: {io: in, shape: keys, layout: inner, doc: values}
      mask: {io: in, shape: scores, role: mask, optional: true, doc: terms}
      y: {io: out, shape: queries, layout: inner, doc: result}
      attn: {io: out, shape: scores, layout: contiguous, optional: true, doc: weights}
    backward:
      q: {io: in, shape: queries, layout: inner, doc: queries}
      k: {io: in, shape: keys, layout: inner, doc: keys}
      v: {io: in, shape: keys, layout: inner, doc: values}
      attn: {io: in, shape: scores, layout: contiguous, doc: weights}
      dy: {io: in, shape: queries, layout: inner, doc: gradient of y}
      dscores_ws: {io: scratch, shape: scores, layout: contiguous, doc: scratch}
      dq: {io: out, shape: queries, layout: inner, doc: gradient of q}
      dk: {io: out, shape: keys, layout: inner, role: column, shares: k, doc: gradient of k}
      dv: {io: out, shape: keys, layout: inner, role: column, shares: v, doc: gradient of v}
ops:
  look:
    family: looks
    doc: attention
    kind: LOOK
    dtypes: [f32]
    attrs:
      factor: {from: factor}
    forward:
      let: {score: "factor * dot(q, k) + mask", nothing: 0}
      attn: softmax(score, nothing)
      y: dot(attn, v)
    backward:
      let:
        dattn: dot(dy, v)
        dscores: attn * (dattn - sum(attn * dattn))
      dq: factor * dot(dscores, k)
      dk: factor * dot(dscores, q)
      dv: dot(attn, dy)
    ref: {y: q, attn: mask, dq: q, dk: k, dv: v}
    ulp: {f32: 8}
"""

SMALL_HALVES = """\
version: 1

families:
  single:
    doc: y = f(x)
    template: map
    category: Halves
    plan: Single
    kind: SingleKind
    domain: shape
    descriptor:
      shape: {type: shape, doc: extents of x}
      element: {type: element, doc: dtype of every tensor}
    forward:
      x: {io: in, shape: shape, doc: input}
      y: {io: out, shape: shape, doc: result}
    backward:
      dy: {io: in, shape: shape, doc: gradient of y}
      x: {io: in, shape: shape, doc: input}
      dx: {io: out, shape: shape, doc: gradient of x}
  gates:
    doc: y = a times f(b)
    template: map
    category: Halves
    plan: Gate
    kind: GateKind
    domain: shape
    halves: {axis: side, swapped: turned}
    descriptor:
      shape: {type: shape, doc: extents of y}
      side: {type: axes, of: shape, doc: where the halves lie}
      element: {type: element, doc: dtype of every tensor}
      turned: {type: bool, default: false, doc: whether b is first}
    require:
      - at_most_one(side)
    forward:
      x: {io: in, shape: "doubled(shape, side)", halves: [a, b], doc: a and b}
      a: {io: in, shape: shape, doc: first}
      b: {io: in, shape: shape, doc: second}
      y: {io: out, shape: shape, doc: result}

ops:
  smooth:
    family: single
    doc: x over its size plus one
    dtypes: [f16, f32]
    forward:
      let: {size: 1 + abs(x)}
      y: x / size
    backward:
      let: {size: 1 + abs(x)}
      dx: dy / (size * size)
    ref: {y: x / (1 + np.abs(x)), dx: dy / (1 + np.abs(x)) ** 2}
    ulp: {f16: 1, f32: 3}
  smooth_gate:
    family: gates
    doc: a times smooth(b)
    dtypes: [f16, f32]
    forward:
      y: a * smooth(b)
    ref: {y: a * b / (1 + np.abs(b))}
    ulp: {f16: 1, f32: 4}
"""
