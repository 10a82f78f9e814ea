"""What a formula may be written with, checked before parsing: characters, numbers, names, length, depth."""

from __future__ import annotations

import re

from .errors import FormulaError
from .nodes import CONSTANTS

MAX_LENGTH = 2000
MAX_DEPTH = 50

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<number>(?:[0-9]+\.?|\.[0-9])(?:[eE][-+]?[0-9]|[0-9A-Za-z_.])*)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<op>&&|\|\||->|:=|==|!=|<=|>=|<<|>>|\*\*|//|[-+*/%&|^~<>().,=!?:;@$\[\]{}'"`\#\\])
    """,
    re.VERBOSE,
)
_INTEGER = re.compile(r"0|[1-9][0-9]*|0[xX][0-9a-fA-F]+")
_DECIMAL = re.compile(r"([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")

# Signs that other languages have and this one lacks, with what to write.
_FOREIGN = {
    "&&": "write `and`",
    "||": "write `or`",
    "!": "write `not`",
    "?": "write `a if c else b`",
    ":": "write `a if c else b`",
    "=": "compare with `==`",
    ":=": "name a sub-expression under `let`",
    "->": "a field is written `a.m`",
    "'": "a formula has no text",
    '"': "a formula has no text",
    "#": "a formula has no comments",
    "[": "a formula has no subscripts and no lists",
    "]": "a formula has no subscripts and no lists",
    "{": "a formula has no sets and no dicts",
    "}": "a formula has no sets and no dicts",
}

_CPP_WORDS = """
    alignas alignof asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield
    decltype default delete do double dynamic_cast else enum explicit export extern false final float
    for friend goto if import inline int long module mutable namespace new noexcept nullptr operator
    override private protected public register reinterpret_cast requires return short signed sizeof
    static static_assert static_cast struct switch template this thread_local throw true try typedef
    typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq and_eq
    not_eq or_eq
"""
# Macros, built-ins and types that a kernel's C++ sees.
_CPP_MACROS = """
    A T Params NULL EOF NAN INFINITY HUGE_VAL assert errno stdin stdout stderr unix linux threadIdx blockIdx
    blockDim gridDim warpSize
"""
_RESERVED = {
    **dict.fromkeys(_CPP_WORDS.split(), "is a word of C++"),
    **dict.fromkeys(_CPP_MACROS.split(), "means something in a kernel's C++"),
}


def check_name(name: str, column: int = 1) -> None:
    """Raise `FormulaError` unless `name` may become an identifier of a kernel's C++."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise FormulaError(f"{name!r} is no name: letters, digits and _, not starting with a digit", column)
    if name in CONSTANTS:
        raise FormulaError(f"{name!r} is a constant of the formula language: choose another name", column)
    what = _RESERVED.get(name)
    if what is None and name.startswith("BARACUDA"):
        what = "means something in a kernel's C++"
    if what is None and ("__" in name or re.match(r"_[A-Z]", name) or name == "_"):
        what = "is reserved in C++"
    if what is not None:
        raise FormulaError(f"{name!r} {what}: choose another name", column)


def check_text(text: str) -> None:
    """Raise `FormulaError` for anything that no formula has; what passes is a row of known tokens."""
    if not text.strip():
        raise FormulaError("nothing is written here: a formula is missing", 1)
    if len(text) > MAX_LENGTH:
        what = f"the formula has {len(text)} characters, at most {MAX_LENGTH}"
        raise FormulaError(f"{what}: name parts under `let`", 1)
    opened: list[int] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise FormulaError(f"{text[at]!r} is no part of the formula language", at + 1)
        token, column = match.group(), at + 1
        if match.lastgroup == "number":
            _check_number(token, column)
        elif match.lastgroup == "op":
            _check_sign(token, column, opened)
        at = match.end()
    if opened:
        raise FormulaError("this ( is never closed", opened[-1])


def _check_sign(sign: str, column: int, opened: list[int]) -> None:
    if sign in _FOREIGN:
        raise FormulaError(f"{sign!r} is not in the formula language: {_FOREIGN[sign]}", column)
    if sign in ";@$`\\":
        raise FormulaError(f"{sign!r} is no part of the formula language", column)
    if sign == "(":
        opened.append(column)
        if len(opened) > MAX_DEPTH:
            raise FormulaError(f"nested deeper than {MAX_DEPTH}: name parts under `let`", column)
    elif sign == ")":
        if not opened:
            raise FormulaError("this ) closes nothing", column)
        opened.pop()


def _check_number(token: str, column: int) -> None:
    if _INTEGER.fullmatch(token):
        value = int(token, 16) if token[:2] in ("0x", "0X") else int(token)
        if value > 2**63 - 1:
            raise FormulaError(f"{token} does not fit a 64-bit integer: write it as a float", column)
        return
    if _DECIMAL.fullmatch(token):
        value_f = float(token)
        digits = re.split("[eE]", token)[0]
        if value_f in (0.0, float("inf")) and re.search("[1-9]", digits):
            raise FormulaError(f"{token} does not fit a double", column)
        return
    if "_" in token:
        right = "write it without underscores"
    elif re.fullmatch("0[0-9]+", token):
        right = f"write {token.lstrip('0') or '0'}: a leading 0 means octal in C++"
    elif token[-1] in "jJ":
        right = "there are no complex numbers"
    elif token[:2] in ("0b", "0B", "0o", "0O"):
        right = "write it in decimal or as 0x..."
    elif token[-1] in "fFuUlL":
        right = "write it without a suffix: a number takes the type of its surroundings"
    else:
        right = "write a number such as 2, 0.5 or 1e-6"
    raise FormulaError(f"{token!r} is no number of the formula language: {right}", column)
