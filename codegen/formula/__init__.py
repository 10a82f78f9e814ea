"""The formula language: a subset of Python expressions, the only place where mathematics is written.

`parse` gives a tree; `infer` checks it against typed names; `to_cuda`, `to_python` and `to_text` print it;
`evaluate` and `magnitude` compute it in NumPy; `reference` evaluates an independent expression.
"""

from .cuda import to_cuda
from .errors import FormulaError
from .evaluate import evaluate, magnitude
from .functions import FUNCTIONS, Function
from .lexical import check_name
from .nodes import (
    CONSTANTS,
    Binary,
    Boolean,
    BoolOp,
    Call,
    Compare,
    Constant,
    Expr,
    Field,
    IfElse,
    Name,
    Number,
    Unary,
    calls,
    children,
    fold_conditions,
    free_names,
    of_element_type,
    rewrite,
    substitute,
    walk,
    with_children,
)
from .parser import parse
from .reference import check_reference, reference
from .text import to_decimal, to_python, to_text
from .typed import infer
from .types import BOOL, COMPUTE, F64, INT, STATE, WHOLE, WIDE, Type

__all__ = [
    "BOOL",
    "COMPUTE",
    "CONSTANTS",
    "F64",
    "FUNCTIONS",
    "INT",
    "STATE",
    "WHOLE",
    "WIDE",
    "Binary",
    "BoolOp",
    "Boolean",
    "Call",
    "Compare",
    "Constant",
    "Expr",
    "Field",
    "FormulaError",
    "Function",
    "IfElse",
    "Name",
    "Number",
    "Type",
    "Unary",
    "calls",
    "check_name",
    "check_reference",
    "children",
    "evaluate",
    "fold_conditions",
    "free_names",
    "infer",
    "magnitude",
    "of_element_type",
    "parse",
    "reference",
    "rewrite",
    "substitute",
    "to_cuda",
    "to_decimal",
    "to_python",
    "to_text",
    "walk",
    "with_children",
]
