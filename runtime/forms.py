"""Forms of calls: whose arrays they have, which arguments are given; and functions that read all of a form.

A function is written out array by array, as text: a loop would cost as much as what it reads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from baracuda.compile.loader import Launch
from baracuda.torch_guard import tensor_guard
from baracuda.workspace import Workspace

__all__ = ["Describer", "Finder", "Form", "KnownCall", "form_of", "maker_of"]

NoneType = type(None)


@dataclass(frozen=True, slots=True)
class KnownCall:
    """A call that was found valid.

    Attributes:
        same: whether arrays at the same places are also the same in all else.
        launches: its launches; nobody writes to their parameters any more, so that threads may share them.
        current: gives the handle of the current stream of the arrays' library.
    """

    same: Callable[..., bool]
    launches: tuple[Launch, ...]
    current: Callable[[], int]


#: From arguments and workspace to the call that they are known as, or None.
Finder = Callable[[Any, Any], KnownCall | None]
#: From arguments and workspace to the arrays' places, to all else that tells them apart, and to pointers.
Describer = Callable[[Any, Any], tuple[tuple[int, ...], tuple[Any, ...], tuple[int, ...]]]


class _Reads(NamedTuple):
    """What identifies an array `{x}`, as Python expressions.

    Attributes:
        place: three integers: where it begins, where its memory begins, and how many bytes that has.
        look: all else.
        pointer: the address of its first element.
    """

    place: str
    look: str
    pointer: str


# A PyTorch tensor reaches as far as its storage, which may shrink while the tensor stays what it was.
_TORCH_PLACE = "{x}.storage_offset(), ({x}_storage := {x}.untyped_storage()).data_ptr(), len({x}_storage)"
_READS = {
    "torch": _Reads(
        _TORCH_PLACE,
        "type({x}), {x}.shape, {x}.stride(), {x}.dtype, {x}.device, {x}.layout, {x}.is_nested, {x}.is_neg()",
        "{x}.data_ptr()",
    ),
    "cupy": _Reads(
        "({x}_data := {x}.data).ptr, ({x}_memory := {x}_data.mem).ptr, {x}_memory.size",
        # Strides that follow from the shape are not asked for.
        "type({x}), {x}.shape, {x}._c_contiguous or {x}.strides, {x}.dtype, {x}_data.device_id",
        "{x}.data.ptr",
    ),
}
# PyTorch compares all of `look` in one call, where that can be trusted: see torch_guard.py.
_READS["torch guarded"] = _READS["torch"]._replace(look="{x}")

# These very classes: a subclass may answer as it likes.
_LIBRARIES = {
    ("torch", "Tensor"): "torch",
    ("torch.nn.parameter", "Parameter"): "torch",
    ("cupy", "ndarray"): "cupy",
}


class Form(NamedTuple):
    """What one finder recognises.

    Attributes:
        producer: the library whose arrays they are.
        reads: how the arrays are read: a key of `_READS`.
        given: the arguments that are arrays.
        absent: those that are None.
        space: the workspace: "none", "Workspace", or "array" for one of the same library.
    """

    producer: str
    reads: str
    given: tuple[str, ...]
    absent: tuple[str, ...]
    space: str


def form_of(types: Mapping[str, type], workspace: type) -> Form | None:
    """The form of calls with arrays of these types; None where they are none that can be recognised."""
    given = tuple(name for name, cls in types.items() if cls is not NoneType)
    absent = tuple(name for name, cls in types.items() if cls is NoneType)
    space = {NoneType: "none", Workspace: "Workspace"}.get(workspace, "array")
    arrays = [types[name] for name in given] + ([workspace] if space == "array" else [])
    libraries = {_LIBRARIES.get((cls.__module__, cls.__name__)) for cls in arrays}
    library = libraries.pop() if len(libraries) == 1 else None
    if library is None:
        return None
    reads = "torch guarded" if library == "torch" and tensor_guard() is not None else library
    return Form(library, reads, given, absent, space)


_SOURCE = """
def make(known, device, Args, Workspace):
    latest = (None, None)

    def describe(args, workspace):
        {arrays}
        return ({places},), ({looks},), ({pointers},)

    def find(args, workspace):
        nonlocal latest
        try:
            if {is_other}:
                return None
            {arrays}
            places = ({places},)
            latest_places, call = latest
            if places != latest_places:  # To compare takes less than to hash.
                call = known.get(places)
                if call is None:
                    return None
                latest = places, call
            if call.same({looks}):
                return call
            latest = None, None
            return None
        except Exception:  # The full checks say what is wrong.
            return None

    return describe, find
"""


@functools.cache
def maker_of(form: Form) -> Callable[..., tuple[Describer, Finder]]:
    """The functions of a form, written out array by array: a loop would cost as much as what it reads."""
    arrays = {f"x{at}": f"args.{name}" for at, name in enumerate(form.given)}
    is_other = ["type(args) is not Args", *(f"args.{name} is not None" for name in form.absent)]
    if form.space == "none":
        is_other.append("workspace is not None")
    elif form.space == "array":
        arrays["x"] = "workspace"
    else:
        is_other.append("type(workspace) is not Workspace")
        is_other.append("workspace.device is not device and workspace.device != device")
    reads = _READS[form.reads]
    places = [reads.place.format(x=x) for x in arrays]
    if form.space == "Workspace":
        places.append("workspace.pointer, workspace.nbytes")
    looks = ", ".join(reads.look.format(x=x) for x in arrays)
    text = _SOURCE.format(
        arrays="; ".join(f"{x} = {what}" for x, what in arrays.items()),
        places=", ".join(places),
        pointers=", ".join(reads.pointer.format(x=x) for x in arrays),
        looks=looks if form.reads == "torch guarded" else f"({looks})",
        is_other=" or ".join(is_other),
    )
    namespace: dict[str, Any] = {}
    exec(text, namespace)  # Nothing of a caller's is in the text but the names of a plan's arguments.
    make: Callable[..., tuple[Describer, Finder]] = namespace["make"]
    return make
