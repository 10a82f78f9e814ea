"""Descriptors: frozen descriptions of a problem, hashable and picklable, normalised when they are made."""

from __future__ import annotations

import dataclasses
import enum
import math
import operator
from collections.abc import Mapping, Set
from typing import Any, ClassVar

from baracuda.dtypes import ElementKind
from baracuda.errors import InvalidProblem, Unsupported
from baracuda.kinds import member_of

__all__ = ["Descriptor"]


class Descriptor:
    """Base of the generated descriptors.

    A shape may be any sequence of integers, axes an integer or a sequence, an enum its member or the member's
    name, an element kind its name; the fields then hold tuples, members and kinds. A number beside an element
    kind of integers stays the integer that it is. Values are judged by `select`, types here. `replace` makes
    another one of a descriptor; `dataclasses.replace` would keep what followed from the fields that it
    changes.

    Raises:
        TypeError: a field of the wrong type.
        Unsupported: an enum or element name that is not known.
    """

    kind: Any
    #: Each field's rule: an enum class, or shape, axes, extent, element, target, storage, f64, i64, bool or
    #: option.
    RULES: ClassVar[Mapping[str, Any]]
    #: Fields that take another's value where they are None.
    DEFAULTS: ClassVar[Mapping[str, str]]
    #: Axes that another field may give instead, a number with a bit an axis.
    MASKS: ClassVar[Mapping[str, str]] = {}
    #: Numbers that only some kinds have, by kind, with their values where they are None.
    NUMBERS: ClassVar[Mapping[str, Mapping[str, float]]] = {}
    #: Fields that nothing reads where others, the kind among them, have certain values.
    IDLE: ClassVar[tuple[tuple[Mapping[str, str], tuple[str, ...]], ...]] = ()

    #: Fields that were None and follow from others.
    _followed: frozenset[str]

    def __post_init__(self) -> None:
        followed = frozenset(name for name in _names(self) if getattr(self, name) is None)
        object.__setattr__(self, "_followed", followed)
        for axes, mask in self.MASKS.items():
            self._unmask(axes, mask)
        for name, rule in self.RULES.items():
            value = getattr(self, name)
            if value is None and name in self.DEFAULTS:
                value = getattr(self, self.DEFAULTS[name])
            elif value is None and rule == "f64" and self.NUMBERS:
                # A kind of another plan has none here, and `select` names those that this one has.
                value = self.NUMBERS.get(self.kind.value, {}).get(name)
                if value is None:
                    continue
            normal = self._normal(name, rule, value)
            if rule == "f64":
                normal = self._beside_elements(name, normal, value)
            object.__setattr__(self, name, normal)

    def replace(self, **changes: Any) -> Any:
        """The descriptor with other values of some fields; what was not given follows again.

        Raises:
            TypeError: a field that the descriptor does not have.
            InvalidProblem, Unsupported: as when a descriptor is made.
        """
        given = {name: getattr(self, name) for name in _names(self) if name not in self._followed}
        for pair in self.MASKS.items():
            if not changes.keys().isdisjoint(pair):
                given = {name: value for name, value in given.items() if name not in pair}
        return type(self)(**{**given, **changes})

    def to_json(self) -> dict[str, Any]:
        """The fields as a dictionary of plain values, as `json.dumps` takes it."""
        return {name: _plain(getattr(self, name)) for name in _names(self)}

    def _unmask(self, axes: str, mask: str) -> None:
        """Give each of two fields what the other says."""
        where, given, bits = self._plan_name(), getattr(self, axes), getattr(self, mask)
        if bits is not None:
            bits = self._normal(mask, "i64", bits)
            if bits < 0:
                raise InvalidProblem(f"{where}: {mask} is {bits}, want a bit for each of the axes")
            named = tuple(axis for axis in range(bits.bit_length()) if bits >> axis & 1)
            if given is not None and self._normal(axes, "axes", given) != named:
                raise InvalidProblem(
                    f"{where}: {axes} is {given} and {mask} is {bits}, want one of the two; "
                    "desc.replace(...) sees to both"
                )
            object.__setattr__(self, axes, named)
        elif given is None:
            raise TypeError(f"{where}: {axes} and {mask} are None, want one of the two")
        else:
            known = [axis for axis in self._normal(axes, "axes", given) if 0 <= axis < 63]
            object.__setattr__(self, mask, sum(1 << axis for axis in dict.fromkeys(known)))

    def _beside_elements(self, name: str, number: float, given: Any) -> float | int:
        """A number as it is beside floats; beside integers exactly what was given, where that is whole.

        A default that is infinite is the end of their range.
        """
        field = next((key for key, rule in self.RULES.items() if rule == "element"), None)
        ends = self._normal(field, "element", getattr(self, field)).ends if field else None
        if ends is None:
            return number
        if math.isinf(number) and number == self.NUMBERS.get(self.kind.value, {}).get(name):
            return int(ends[number > 0])
        if not number.is_integer():
            return number
        try:
            return operator.index(given)
        except TypeError:
            return int(number)

    def _plan_name(self) -> str:
        """The name of the plan that the descriptor is for: messages begin with it."""
        return type(self).__name__.removesuffix("Descriptor") + "Plan"

    def _wrong_axis(self, name: str, axis: int, rank: int) -> str:
        """What is wrong with an axis out of range, by the name of the field that was given."""
        if name in self._followed:
            mask = self.MASKS[name]
            wanted = f"no bit but 0 to {rank - 1}" if rank else "0: the tensor has no axis"
            return f"{mask} is {getattr(self, mask)}, want {wanted}"
        if not rank:
            return f"{name} is {axis}, want no axis, (): the tensor has none"
        hint = f": it is {axis + rank}, counted from the first" if -rank <= axis < 0 else ""
        return f"{name} is {axis}, want 0 to {rank - 1}{hint}"

    def _normal(self, name: str, rule: Any, value: Any) -> Any:
        where = f"{self._plan_name()}: {name}"
        if rule in ("element", "target"):
            try:
                return ElementKind.parse(value)
            except (Unsupported, TypeError) as error:
                text = str(error).replace("element", name, 1)
                raise type(error)(f"{self._plan_name()}: {text}") from None
        if rule in ("shape", "axes"):
            # A set has no order, and text, bytes and mappings hold no extents even where they are empty.
            if isinstance(value, (str, bytes, bytearray, Set, Mapping)):
                raise TypeError(f"{where} is {value!r}, want integers in a tuple")
            one = rule == "axes" and hasattr(value, "__index__")
            try:
                numbers = tuple(_index(item) for item in ((value,) if one else value))
            except TypeError:
                wanted = "an integer or a tuple of integers" if rule == "axes" else "a tuple of integers"
                raise TypeError(f"{where} is {value!r}, want {wanted}") from None
            return tuple(sorted(numbers)) if rule == "axes" else numbers
        if rule == "f64":
            try:
                return _number(value)
            except OverflowError:
                raise InvalidProblem(f"{where} is {value!r}, want a number that fits a double") from None
            except (TypeError, ValueError):
                raise TypeError(f"{where} is {value!r}, want a number") from None
        if rule in ("i64", "extent"):
            try:
                number = _index(value)
            except TypeError:
                raise TypeError(f"{where} is {value!r}, want an integer") from None
            if not -(2**63) <= number < 2**63:
                raise InvalidProblem(f"{where} is {value!r}, want an integer that fits 64 bits")
            return number
        if rule in ("option", "storage"):
            if not isinstance(value, str):
                raise TypeError(f"{where} is {value!r}, want a string")
            if rule == "storage" and value not in ("element", "compute"):
                raise Unsupported(f"{where} is {value!r}, want one of element, compute")
            return value
        if rule == "bool":
            if not isinstance(value, bool):
                raise TypeError(f"{where} is {value!r}, want True or False")
            return value
        return member_of(rule, value, self._plan_name(), type(self).__module__, name)

    def check(self) -> None:
        """Extents and axes: what every problem has in common.

        Raises:
            InvalidProblem: an axis out of range or named twice, a negative extent, a value for a field that
                nothing reads.
        """
        where = self._plan_name()
        shapes = {name: getattr(self, name) for name, rule in self.RULES.items() if rule == "shape"}
        for name, rule in self.RULES.items():
            if rule != "axes":
                continue
            axes, rank = getattr(self, name), len(next(iter(shapes.values())))
            for axis in axes:
                if not 0 <= axis < rank:
                    raise InvalidProblem(f"{where}: {self._wrong_axis(name, axis, rank)}")
            if len(set(axes)) != len(axes):
                raise InvalidProblem(f"{where}: {name} is {axes}, want each axis once")
        if self.kind.value in self.NUMBERS:
            known = self.NUMBERS[self.kind.value]
            for name, rule in self.RULES.items():
                if rule == "f64" and name not in known and getattr(self, name) is not None:
                    text = f"{where}: {name} is {getattr(self, name)}, want None: {self.kind.value} has "
                    raise InvalidProblem(text + (", ".join(known) or "no numbers"))
        for given, names in self.IDLE:
            if all(_word(getattr(self, name)) == word for name, word in given.items()):
                self._check_idle(where, given, names)
        for name, rule in self.RULES.items():
            if rule == "extent" and getattr(self, name) < 0:
                raise InvalidProblem(f"{where}: {name} is {getattr(self, name)}, want a non-negative extent")
        for name, shape in shapes.items():
            if any(extent < 0 for extent in shape):
                raise InvalidProblem(f"{where}: {name} is {shape}, want non-negative extents")

    def _check_idle(self, where: str, given: Mapping[str, str], names: tuple[str, ...]) -> None:
        """Refuse values of fields that nothing reads; a default is none."""
        fields: Any = self
        for name, field in fields.__dataclass_fields__.items():
            if name not in names:
                continue
            default, got = field.default, getattr(self, name)
            if got != default:
                kind, *options = given.items()
                reader = " with ".join([kind[1], *(f"{option} {word}" for option, word in options)])
                raise InvalidProblem(f"{where}: {name} is {got}, want {default}: {reader} does not read it")


def _names(desc: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(desc)]


def _plain(value: Any) -> Any:
    """A field's value without our own types."""
    if isinstance(value, enum.Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def _word(value: Any) -> str:
    return str(value.value) if isinstance(value, enum.Enum) else str(value)


def _index(value: Any) -> int:
    """An integer; True and False, which Python takes for 1 and 0, are none."""
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _number(value: Any) -> float:
    """A number; text that spells one is none, nor are True and False."""
    if isinstance(value, (str, bytes, bool)):
        raise TypeError
    return float(value)
