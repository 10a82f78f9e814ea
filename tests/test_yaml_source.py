"""What the YAML reader refuses, in which words and at which line; and what it keeps."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest

from baracuda.codegen.problems import Problem, Problems, SpecError, dotted, suggest
from baracuda.codegen.spec import default_spec_path
from baracuda.codegen.yaml_source import Source, parse_yaml


def messages(text: str) -> list[str]:
    return [str(problem) for problem in parse_yaml(text, "ops.yaml").problems.sorted()]


def clean(text: str) -> Source:
    source = parse_yaml(text, "ops.yaml")
    source.problems.raise_if_any()
    return source


OFF = "is a boolean in YAML 1.1 (quote it, or write false)"
ON = "is a boolean in YAML 1.1 (quote it, or write true)"
TEXT = "is read as text, not as a number"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no", f"no {OFF}"),
        ("Off", f"Off {OFF}"),
        ("yes", f"yes {ON}"),
        ("on", f"on {ON}"),
        ("True", f"True {ON}"),
        ("FALSE", f"FALSE {OFF}"),
        ("017", "017 is an octal number in YAML 1.1 (write 15, or quote it if text is meant)"),
        ("0b11", "0b11 is a binary number in YAML 1.1 (write 3, or quote it if text is meant)"),
        ("0o17", f"0o17 {TEXT} (write it in decimal digits, or quote it)"),
        ("089", "089 is read as text, not as a number (write 89, or quote it if text is meant)"),
        ("1:30", "1:30 is a number in base 60 in YAML 1.1 (quote it)"),
        ("1:30.5", "1:30.5 is a number in base 60 in YAML 1.1 (quote it)"),
        ("1_000", "1_000 has underscores (write 1000, or quote it if text is meant)"),
        ("1_0.5", "1_0.5 has underscores (write 10.5, or quote it if text is meant)"),
        ("2024-05-01", "2024-05-01 is a date in YAML (quote it)"),
        ("2024-05-01 10:00:00", "2024-05-01 10:00:00 is a date in YAML (quote it)"),
        ("1e-5", f"1e-5 {TEXT} (write 1.0e-5)"),
        ("1e5", f"1e5 {TEXT} (write 1.0e+5)"),
        ("1e+10", f"1e+10 {TEXT} (write 1.0e+10)"),
        ("1.5e10", f"1.5e10 {TEXT} (write 1.5e+10)"),
        ("-2E-6", f"-2E-6 {TEXT} (write -2.0e-6)"),
        (".5e3", f".5e3 {TEXT} (write 0.5e+3)"),
        (".Inf", ".Inf is spelled in capitals (write .inf)"),
        ("", "nothing was written here (write a value, or null)"),
        ("~", "~ means null in YAML (write null, or quote it if text is meant)"),
        ("NULL", "NULL means null in YAML (write null, or quote it if text is meant)"),
        ("=", "= is a special value in YAML (quote it)"),
        ("!foo x", "tag !foo is not supported (leave the tag out)"),
        ("!!python/object:os.system x", "tag !!python/object:os.system is not supported (leave the tag out)"),
        ("!!set {a: null}", "tag !!set is not supported (leave the tag out)"),
        ("!!binary aGk=", "tag !!binary is not supported (leave the tag out)"),
    ],
)
def test_a_surprising_value_is_refused(value: str, message: str) -> None:
    assert messages(f"first: 1\nkey: {value}\n") == [f"ops.yaml:2: key: {message}"]
    assert messages(f"first: 1\nkey:\n  - 1\n  - {value}\n") == [f"ops.yaml:4: key[1]: {message}"]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("on", "on: the key on is a boolean in YAML 1.1 (quote it)"),
        ("no", "no: the key no is a boolean in YAML 1.1 (quote it)"),
        ("true", "true: the key true is read as a boolean (quote it)"),
        ("3", "3: the key 3 is read as a number (quote it)"),
        ("1.5", "1.5: the key 1.5 is read as a number (quote it)"),
        ("017", "017: the key 017 is an octal number in YAML 1.1 (quote it)"),
        ("1e5", "1e5: the key 1e5 is read as text, not as a number (quote it)"),
        ("null", "null: the key null is read as null (quote it)"),
        ("2024-05-01", "2024-05-01: the key 2024-05-01 is a date in YAML (quote it)"),
        ("!foo x", "x: the key x is read as tag !foo (quote it)"),
        ("?\n", "a key is missing before the colon"),
        ("? [a, b]\n", "a key is a list or a mapping (keys are text)"),
    ],
)
def test_a_key_that_is_no_text_is_refused(key: str, message: str) -> None:
    assert messages(f"first: 1\n{key}: 2\n") == [f"ops.yaml:2: {message}"]


def test_a_duplicate_key_names_both_lines() -> None:
    text = "ops:\n  silu:\n    y: x\n  relu: {y: x}\n  silu:\n    y: z\n"
    what = "this key was given already, in line 2 (keep one of the two)"
    assert messages(text) == [f"ops.yaml:5: ops.silu: {what}"]
    assert parse_yaml(text, "ops.yaml").data["ops"]["silu"] == {"y": "x"}
    assert messages("{a: 1, b: 2, 'a': 3}") == [
        "ops.yaml:1: a: this key was given already, in line 1 (keep one of the two)"
    ]


def test_a_comma_in_a_flow_formula_is_caught() -> None:
    assert messages("forward: {y: max(a, b)}\n") == [
        "ops.yaml:1: forward.b): a comma ended this value inside { } (put the whole formula in quotes)"
    ]
    assert clean('forward: {y: "max(a, b)"}\n').data == {"forward": {"y": "max(a, b)"}}
    assert clean("forward:\n  y: max(a, b)\n").data == {"forward": {"y": "max(a, b)"}}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a:\n\tb: 1\n \tc: 2\n", [(2, "a tab in the indentation (indent with spaces)"), (3, "")]),
        ("a: b: c\n", [(1, "YAML syntax: mapping values are not allowed here")]),
        ("a: 1\nb: *nope\n", [(2, "YAML syntax: found undefined alias 'nope'")]),
        (
            "a: 1\n---\nb: 2\n",
            [(2, "YAML syntax: expected a single document in the stream: but found another")],
        ),
        ("a: 1\nb: [1, 2\nc: 3\n", [(3, "YAML syntax: while parsing a flow sequence: expected ',' or ']'")]),
        ("a: 1\nb: \x07\n", [(2, "character U+0007 is not allowed in YAML")]),
        ("", [(1, "the file is empty")]),
        ("# only a comment\n", [(1, "the file is empty")]),
        ("a: " + "[" * 5000, [(1, "is nested too deeply to be read")]),
    ],
)
def test_what_yaml_itself_refuses(text: str, found: list[tuple[int, str]]) -> None:
    got = messages(text)
    assert len(got) == len(found)
    for message, (line, start) in zip(got, found, strict=True):
        assert message.startswith(f"ops.yaml:{line}: {start}")
    assert parse_yaml(text, "ops.yaml").data is None


def test_all_mistakes_at_once_sorted_by_line() -> None:
    text = "b: yes\na: {x: 1e5, x: 2}\non: [017,\n  no]\nb: 3\n"
    source = parse_yaml(text, "ops.yaml")
    source.problems.add(("a", "x"), "is a consequence of the first")
    source.problems.add(("a",), "is wrong for the spec", "do better")
    with pytest.raises(SpecError) as caught:
        source.problems.raise_if_any()
    assert str(caught.value).split("\n") == [
        f"ops.yaml:1: b: yes {ON}",
        "ops.yaml:2: a.x: this key was given already, in line 2 (keep one of the two)",
        f"ops.yaml:2: a.x: 1e5 {TEXT} (write 1.0e+5)",
        "ops.yaml:2: a: is wrong for the spec (do better)",
        "ops.yaml:3: on: the key on is a boolean in YAML 1.1 (quote it)",
        "ops.yaml:3: on[0]: 017 is an octal number in YAML 1.1 (write 15, or quote it if text is meant)",
        f"ops.yaml:4: on[1]: no {OFF}",
        "ops.yaml:5: b: this key was given already, in line 1 (keep one of the two)",
    ]
    assert isinstance(caught.value, ValueError)
    assert caught.value.problems[0] == Problem(
        "ops.yaml", 1, "b", "yes is a boolean in YAML 1.1", "quote it, or write true"
    )
    assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems


def test_plain_data_and_its_types() -> None:
    text = """
number: 3
negative: -4
hex: 0x1F
float: 1.0e-5
whole: 2.
infinite: -.inf
truth: true
lie: false
nothing: null
empty: ""
text: silu(x) + 1
quoted: ['no', "017", '1e5', '2024-05-01', '~']
"on": 1
block: |
  a
  b
folded: >-
  a
  b
tagged: !!str 12
y: n
list: [1, [2, {a: 3}], []]
mapping: {}
"""
    data = clean(text).data
    assert data == {
        "number": 3,
        "negative": -4,
        "hex": 31,
        "float": 1e-5,
        "whole": 2.0,
        "infinite": float("-inf"),
        "truth": True,
        "lie": False,
        "nothing": None,
        "empty": "",
        "text": "silu(x) + 1",
        "quoted": ["no", "017", "1e5", "2024-05-01", "~"],
        "on": 1,
        "block": "a\nb\n",
        "folded": "a b",
        "tagged": "12",
        "y": "n",
        "list": [1, [2, {"a": 3}], []],
        "mapping": {},
    }
    assert type(data["whole"]) is float
    assert data["truth"] is True
    assert list(data)[:3] == ["number", "negative", "hex"]


def test_lines() -> None:
    source = clean(
        "# comment\nops:\n  silu:\n    let: {z: exp(x),\n      w: x}\n    args:\n    - x\n    - {io: out}\n"
    )
    lines = {
        (): 2,
        ("ops",): 2,
        ("ops", "silu"): 3,
        ("ops", "silu", "let", "z"): 4,
        ("ops", "silu", "let", "w"): 5,
        ("ops", "silu", "args", 0): 7,
        ("ops", "silu", "args", 1, "io"): 8,
        ("ops", "silu", "args", 1, "io", "deeper"): 8,
        ("ops", "silu", "missing", "z"): 3,
        ("missing",): 2,
    }
    assert {path: source.line(path) for path in lines} == lines


REMARKED = """
ops:
  # Not of the block: not as deep.
  one:   # of the op
    # Two lines
    # before it,
    let: &shared  # and one behind
      a: x + 1      # behind a.
      # Above b.

      b: x#2
    # Before a flow.
    other: {<<: *shared, c: "x", d: 'y'}      # in braces
    own: {<<: *shared, a: x}
    last: y                           # C++ would go on \\
    doc: 'no # comment'
    long: "one
    # of its words"
    after: x #behind
"""
# What is said before and behind each key; those of others are none.
SAID = {
    ("one",): (("Not of the block: not as deep.",), "of the op"),
    ("one", "let"): (("Two lines before it,",), "and one behind"),
    ("one", "let", "a"): ((), "behind a."),
    ("one", "other"): (("Before a flow.",), ""),
    ("one", "other", "a"): ((), "behind a."),
    ("one", "other", "d"): ((), "in braces"),
    ("one", "after"): ((), "behind"),
}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028"])
@pytest.mark.parametrize("trusted", [False, True])
def test_remarks(end: str, trusted: bool) -> None:
    """Of a key: the comment lines before it, and that behind its value; of merged keys, at the anchor."""
    text = REMARKED.replace("\n", end)
    source = parse_yaml(text, "ops.yaml", trusted=trusted)
    assert not source.problems
    found = {path[1:]: tuple(remark) for path, remark in source.remarks.items() if any(remark)}
    assert found == SAID


def test_anchors_and_merge_keys() -> None:
    text = """
base: &base
  dtypes: [f32, f64]
  ulp: 1
more: &more {ulp: 2, doc: more}
a:
  <<: *base
  ulp: 3
b:
  doc: mine
  <<: [*more, *base]
c: *base
"""
    source = clean(text)
    assert source.data["a"] == {"dtypes": ["f32", "f64"], "ulp": 3}
    assert source.data["b"] == {"ulp": 2, "dtypes": ["f32", "f64"], "doc": "mine"}
    assert source.data["c"] == source.data["base"]
    assert source.data["c"]["dtypes"] is not source.data["base"]["dtypes"]
    assert source.line(("a", "ulp")) == 8
    assert source.line(("a", "dtypes")) == 3
    assert source.line(("b", "ulp")) == 5
    assert source.line(("c",)) == 12


def test_mistakes_in_anchors_and_merges() -> None:
    assert messages("base: &base\n  a: no\nb:\n  <<: *base\n") == [f"ops.yaml:2: base.a: no {OFF}"]
    assert messages("a: 1\n<<: 3\n") == ["ops.yaml:2: <<: merges something that is not a mapping"]
    assert messages("a: &x\n  b: [*x]\n") == ["ops.yaml:2: a.b[0]: an alias stands inside its own anchor"]


def test_aliases_of_aliases_do_not_fill_the_memory() -> None:
    rows = [f"{name}: &{name} [{', '.join([f'*{base}'] * 10)}]\n" for base, name in pairwise("abcdefgh")]
    (message,) = messages("a: &a [1]\n" + "".join(rows))
    assert message == "ops.yaml:7: g: anchors and aliases expand to more than 500000 values"


def test_problems_by_themselves() -> None:
    problems = Problems("x.yaml", len)
    problems.raise_if_any()
    problems.add(("a", "b"), "is\n  wrong", "be\n  right")
    problems.add(("a", "b"), "is wrong", "be right")
    problems.add((), "the whole is wrong", line=7)
    other = Problems("w.yaml")
    other.add(("z",), "is odd")
    problems.extend(other)
    assert len(problems) == 3
    assert [str(problem) for problem in problems.sorted()] == [
        "w.yaml:1: z: is odd",
        "x.yaml:2: a.b: is wrong (be right)",
        "x.yaml:7: the whole is wrong",
    ]
    assert dotted(("ops", "silu", "args", 0, "io")) == "ops.silu.args[0].io"


def test_suggestions() -> None:
    assert suggest("expp", ["log", "exp", "expm1"]) == "did you mean 'exp'?"
    assert suggest("dtpyes", ["doc", "dtypes"]) == "did you mean 'dtypes'?"
    assert suggest("zzz", ["doc", "dtypes"]) is None
    assert suggest("a", []) is None


@pytest.mark.parametrize(
    "text", ["", "a: [1, 'no', \"\", 2.5, null, true]\nb: {c: on, d: }\n", "a: [\n", "a:\n\tb: 1\n"]
)
def test_a_trusted_text_is_read_the_same(text: str) -> None:
    text = text or default_spec_path().read_text(encoding="utf-8")
    plain, fast = (parse_yaml(text, "x.yaml", trusted=trusted) for trusted in (False, True))
    assert fast.data == plain.data
    assert fast.lines == plain.lines
    assert fast.problems.sorted() == plain.problems.sorted()
