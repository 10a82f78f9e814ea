"""Element kinds: the types that a tensor's elements can have."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from baracuda.errors import Unsupported, nearest

__all__ = ["ElementKind"]

_ITEMSIZES = {
    "f16": 2, "bf16": 2, "f32": 4, "f64": 8,
    "i8": 1, "i16": 2, "i32": 4, "i64": 8,
    "u8": 1, "u16": 2, "u32": 4, "u64": 8,
    "bool": 1,
}  # fmt: skip


class ElementKind(str, enum.Enum):
    """The type of a tensor's elements, spelled as in the spec and in kernel symbols.

    Attributes:
        itemsize: bytes an element.
        is_float: true for f16, bf16, f32 and f64.
        compute: the kind that kernels compute and accumulate in: f32 for f16 and bf16, itself otherwise.
        ends: the smallest and the largest integer, 0 and 1 of bool; None for floats.
    """

    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    F64 = "f64"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    BOOL = "bool"

    itemsize: int
    is_float: bool
    compute: ElementKind
    ends: tuple[int, int] | None

    def __init__(self, code: str) -> None:
        self.itemsize = _ITEMSIZES[code]
        self.is_float = code in ("f16", "bf16", "f32", "f64")
        bits = 1 if code == "bool" else 8 * self.itemsize
        signed = -(1 << bits - 1), (1 << bits - 1) - 1
        self.ends = None if self.is_float else signed if code[0] == "i" else (0, (1 << bits) - 1)

    def __str__(self) -> str:
        return str(self.value)

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype of the same elements; `ml_dtypes` is imported when bf16 is asked for."""
        if self is ElementKind.BF16:
            import ml_dtypes

            bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
            return bfloat16
        return np.dtype(_NUMPY_NAMES[self])

    @staticmethod
    def parse(element: object) -> ElementKind:
        """The kind that `element` names.

        Args:
            element: an `ElementKind`, its name ("bf16"), a usual alias ("bfloat16", "half", "float32"), a
                NumPy dtype or scalar type, or a PyTorch dtype.

        Raises:
            Unsupported: the name or dtype is none of ours, or its byte order is not the machine's.
            TypeError: `element` is nothing that names a dtype.
        """
        if isinstance(element, ElementKind):
            return element
        try:
            known = _PARSED.get(element)
        except TypeError:
            known = None
        return known if known is not None else _parse_slowly(element)


for _kind in ElementKind:
    _kind.compute = ElementKind.F32 if _kind.itemsize == 2 and _kind.is_float else _kind

_NUMPY_NAMES = {
    ElementKind.F16: "float16", ElementKind.BF16: "bfloat16", ElementKind.F32: "float32",
    ElementKind.F64: "float64",
    ElementKind.I8: "int8", ElementKind.I16: "int16", ElementKind.I32: "int32", ElementKind.I64: "int64",
    ElementKind.U8: "uint8", ElementKind.U16: "uint16", ElementKind.U32: "uint32", ElementKind.U64: "uint64",
    ElementKind.BOOL: "bool",
}  # fmt: skip

# Words whose width depends on who says them ("float" and "int" of Python, NumPy, PyTorch and C) are left out.
_BY_NAME: dict[str, ElementKind] = {
    **{kind.value: kind for kind in ElementKind},
    **{name: kind for kind, name in _NUMPY_NAMES.items()},
    "half": ElementKind.F16,
    "single": ElementKind.F32,
    "double": ElementKind.F64,
    "bool_": ElementKind.BOOL,
}

# What was parsed before: names, and dtype objects of any library. Only what is known gets in.
_PARSED: dict[Any, ElementKind] = dict(_BY_NAME)


def _parse_slowly(element: object) -> ElementKind:
    name = _name_of(element)
    kind = _BY_NAME.get(name)
    if kind is None:
        # Only a word can be misspelt: a dtype object that is not known was meant as it is.
        hint = _suggestion(name) if isinstance(element, str) else ""
        raise Unsupported(f"element {name!r} is not known{hint}; want one of {_all_names()}")
    if isinstance(element, np.dtype) and not element.isnative:
        raise Unsupported(
            f"element {element.str!r} has the other byte order than this machine; "
            f"want {kind}: convert with .astype({name!r})"
        )
    _PARSED[element] = kind
    return kind


def _name_of(element: object) -> str:
    """The bare name of a dtype: "float32" of `np.dtype("f4")`, `np.float32`, `torch.float32`."""
    if isinstance(element, np.dtype):
        return str(element) if element.names else element.name
    if isinstance(element, str):
        return element.removeprefix("torch.").removeprefix("numpy.")
    if isinstance(element, type):
        return element.__name__
    if type(element).__module__.partition(".")[0] == "torch":
        return str(element).removeprefix("torch.")
    raise TypeError(
        f"element is a {type(element).__qualname__} ({element!r}), want an ElementKind, "
        f"its name (one of {_all_names()}), a NumPy dtype or a PyTorch dtype"
    )


def _suggestion(name: str) -> str:
    close = nearest(name, _BY_NAME)
    return f": did you mean {_BY_NAME[close].value!r}?" if close else ""


def _all_names() -> str:
    return ", ".join(kind.value for kind in ElementKind)
