"""The checks that plans make on their tensors before anything is launched.

Pure functions over `TensorRef`. Each takes the argument's name and the plan's, and raises an error whose
message begins with both. The common cases, contiguous and disjoint, cost a few integer operations.
"""

from __future__ import annotations

from baracuda.dtypes import ElementKind
from baracuda.errors import BufferTooSmall, InvalidProblem, MisalignedOperand, Unsupported
from baracuda.overlap import folds_onto_itself, reach, share_memory
from baracuda.tensor import Device, TensorRef, argument, contiguous_strides

__all__ = [
    "byte_span",
    "check_aligned",
    "check_bounds",
    "check_contiguous",
    "check_device",
    "check_element",
    "check_no_partial_overlap",
    "check_no_self_overlap",
    "check_shape",
    "check_unit_stride",
    "check_writable",
    "is_contiguous",
    "is_same_view",
]


def byte_span(t: TensorRef) -> tuple[int, int]:
    """The lowest address that `t` reaches and the one behind its last byte; equal where `t` is empty."""
    reached = reach(t.shape, t.strides)
    if reached is None:
        return t.pointer, t.pointer
    itemsize = t.element.itemsize
    return t.pointer + reached[0] * itemsize, t.pointer + (reached[1] + 1) * itemsize


def is_contiguous(t: TensorRef) -> bool:
    """Whether `t` lies in C order without gaps. The stride of an axis of extent 0 or 1 says nothing."""
    expected = 1
    for extent, stride in zip(reversed(t.shape), reversed(t.strides), strict=True):
        if extent == 0:
            return True
        if extent != 1:
            if stride != expected:
                return 0 in t.shape
            expected *= extent
    return True


def is_same_view(a: TensorRef, b: TensorRef) -> bool:
    """Whether `a` and `b` have every element at the same address: same pointer, shape and strides."""
    if a.pointer != b.pointer or a.shape != b.shape or a.element.itemsize != b.element.itemsize:
        return False
    return a.strides == b.strides or all(
        own == other or extent == 1 for extent, own, other in zip(a.shape, a.strides, b.strides, strict=True)
    )


def check_element(t: TensorRef, name: str, plan: str, *elements: ElementKind) -> None:
    """Raise `Unsupported` where `t` has elements of none of these kinds."""
    if t.element not in elements:
        wanted = " or ".join(map(str, elements))
        raise Unsupported(f"{argument(name, plan)} has dtype {t.element}, want {wanted}")


def check_shape(t: TensorRef, name: str, plan: str, shape: tuple[int, ...], why: str = "") -> None:
    """Raise `InvalidProblem` where `t` has another shape; `why` says where the wanted one comes from."""
    if t.shape != shape:
        reason = f": {why}" if why else ""
        raise InvalidProblem(f"{argument(name, plan)} has shape {t.shape}, want {shape}{reason}")


def check_device(t: TensorRef, name: str, plan: str, device: Device) -> None:
    """Raise `InvalidProblem` where `t` lies on another device than the plan's."""
    if t.device != device:
        raise InvalidProblem(
            f"{argument(name, plan)} lies on {t.device}, want {device}, where the plan's stream is"
        )


def check_writable(t: TensorRef, name: str, plan: str) -> None:
    """Raise `InvalidProblem` where `t` is read-only."""
    if t.readonly:
        raise InvalidProblem(f"{argument(name, plan)} is an output and read-only, want a writable array")


def check_unit_stride(t: TensorRef, name: str, plan: str, axis: int = -1) -> None:
    """Raise `InvalidProblem` where the elements along `axis` do not lie side by side.

    The stride of an axis of extent 0 or 1 says nothing, nor does any stride of an empty tensor.
    """
    if t.shape[axis] > 1 and t.strides[axis] != 1 and 0 not in t.shape:
        raise InvalidProblem(
            f"{argument(name, plan)} has stride {t.strides[axis]} on axis {axis % t.rank}, want 1: "
            f"shape {t.shape}, strides {t.strides}"
        )


def check_contiguous(t: TensorRef, name: str, plan: str) -> None:
    """Raise `Unsupported` where `t` does not lie in C order without gaps."""
    if not is_contiguous(t):
        raise Unsupported(
            f"{argument(name, plan)} has strides {t.strides}, "
            f"want {contiguous_strides(t.shape)}: shape {t.shape} contiguous in C order"
        )


def check_bounds(t: TensorRef, name: str, plan: str) -> None:
    """Raise `BufferTooSmall` where `t` reaches outside of its buffer, in either direction.

    Nothing is checked where the buffer is not known, or where `t` is empty.
    """
    if t.buffer is None:
        return
    lowest, end = byte_span(t)
    first, last = t.buffer
    if lowest == end or (first <= lowest and end <= last):
        return
    inside = max(0, min(end, last) - max(lowest, first))
    outside = [f"{first - lowest} bytes below its buffer"] if lowest < first else []
    outside += [f"{end - last} bytes behind its end"] if end > last else []
    raise BufferTooSmall(
        end - lowest,
        inside,
        f"{argument(name, plan)} with shape {t.shape} and strides {t.strides} reaches "
        f"{' and '.join(outside)}: the buffer has {inside} of the {end - lowest} bytes, want all of them",
    )


def check_aligned(t: TensorRef, name: str, plan: str, alignment: int | None = None) -> None:
    """Raise `MisalignedOperand` where the pointer is no multiple of `alignment`.

    Args:
        t: the tensor; an empty one is aligned.
        name: the argument's name.
        plan: the plan's name.
        alignment: in bytes; the size of an element where it is None.
    """
    wanted = t.element.itemsize if alignment is None else alignment
    if t.pointer % wanted and 0 not in t.shape:
        what = f"the size of a {t.element} element" if alignment is None else "the plan's alignment"
        raise MisalignedOperand(
            f"{argument(name, plan)} has pointer {t.pointer:#x}, {t.pointer % wanted} bytes past a multiple "
            f"of {wanted}; want one, {what}"
        )


def check_no_self_overlap(
    t: TensorRef, name: str, plan: str, shared_axes: tuple[int, ...] = (), unless: str = ""
) -> None:
    """Raise `InvalidProblem` where two indices of the output `t` reach the same memory.

    Args:
        t: the output.
        name: the argument's name.
        plan: the plan's name.
        shared_axes: axes on which a zero stride is meant: the kernel sums into the one slot.
        unless: what would allow a zero stride, for the message.
    """
    shape, strides = t.shape, t.strides
    if is_contiguous(t):
        return
    if shared_axes:
        shared = {axis % t.rank for axis in shared_axes if strides[axis] == 0}
        shape = tuple(1 if axis in shared and extent else extent for axis, extent in enumerate(shape))
    if folds_onto_itself(shape, strides):
        zeros = [axis for axis, extent in enumerate(shape) if extent > 1 and strides[axis] == 0]
        what = f"a zero stride on axis {zeros[0]}" if zeros else "strides that fold onto themselves"
        raise InvalidProblem(
            f"{argument(name, plan)} is an output and has {what} (shape {t.shape}, strides {t.strides}), "
            f"want every element at an address of its own{unless if zeros else ''}"
        )


def check_no_partial_overlap(
    out: TensorRef,
    other: TensorRef,
    out_name: str,
    other_name: str,
    plan: str,
    *,
    inplace: bool = False,
    why: str = "",
) -> None:
    """Raise `InvalidProblem` where the output `out` shares memory with `other`.

    Interleaved views that share no element, such as `x[::2]` and `x[1::2]`, pass.

    Args:
        out: the output.
        other: an input, or another output.
        out_name: the output's name.
        other_name: the other argument's name.
        plan: the plan's name.
        inplace: true where `out` may be exactly `other`: same pointer, shape and strides.
        why: what of the problem keeps `out` from being exactly `other`, for the message.
    """
    lowest, end = byte_span(out)
    other_lowest, other_end = byte_span(other)
    if end <= other_lowest or other_end <= lowest or lowest == end or other_lowest == other_end:
        return
    if out.device != other.device:
        return
    same = is_same_view(out, other)
    if same and inplace:
        return
    if same or share_memory(
        other.pointer - out.pointer,
        out.shape, out.strides, out.element.itemsize,
        other.shape, other.strides, other.element.itemsize,
    ):  # fmt: skip
        how = "is exactly" if same else "overlaps a part of"
        wanted = "memory apart, or exactly the same pointer, shape and strides" if inplace else "memory apart"
        wanted += f", as {why}" if same and why else ""
        raise InvalidProblem(
            f"{argument(out_name, plan)} {how} {other_name}, want {wanted}: "
            f"{out_name} has shape {out.shape} and strides {out.strides}, "
            f"{other_name} begins {other.pointer - out.pointer} bytes from it "
            f"with shape {other.shape} and strides {other.strides}"
        )
