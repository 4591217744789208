"""Numbers of fixed widths, as flat steps to a frame's end.

Invariant: the steps are those of `extent_steps`, for fields that are numbers or have a size given by one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from struct import Struct
from typing import Any, Final, TypeAlias

from ..reference.layout import Layout
from ..schema.declarations import Constant, FieldValue
from ..schema.expressions import Number, Truth
from ..schema.types import Boolean, EnumReference, Integer, Type

__all__ = [
    "BYTES", "NUMBER", "SIZED", "SKIP", "EndUnknown", "Step", "Steps", "Wrong", "allowed_of", "constant_of", "length_step", "number_step", "unpack_of",
]  # fmt: skip

Step: TypeAlias = tuple[Any, ...]
Steps: TypeAlias = tuple[Step, ...]

SKIP: Final = 0  # (SKIP, size)
SIZED: Final = 1  # (SIZED, size of the length, unpack, bytes that it counts as one, is it signed, format)
NUMBER: Final = 2  # (NUMBER, name or None, size, unpack, allowed values or None, struct format or "")
BYTES: Final = 5  # (BYTES, expression, unit)


class EndUnknown(Exception):
    """The frame's end cannot be found."""


class Wrong(EndUnknown):
    """The frame's end cannot be found, as the frame does not conform, whatever bytes follow."""


def number_step(layout: Layout, type_: Type, name: str | None, constant: int | None) -> Step | None:
    """Return the step of a number of a fixed width, or None for other types; `constant`: the only valid number.

    A lenient Boolean on whose value others depend has no step: several bytes are true.
    """
    allowed = allowed_of(layout, type_, constant)
    if isinstance(type_, EnumReference):
        type_ = layout.schema.enums[type_.name].type
    if isinstance(type_, Boolean):
        if name is not None and type_.is_lenient and not layout.strict:
            return None
        type_ = Integer(1, False, "big")
    if not isinstance(type_, Integer):
        return None
    if name is None and allowed is None:
        return (SKIP, type_.size)
    return (NUMBER, name, type_.size, unpack_of(type_), allowed, format_of(type_))


def allowed_of(layout: Layout, type_: Type, constant: int | None) -> frozenset[int] | None:
    """Return the valid values of a number, or None if all are."""
    if constant is not None:
        return frozenset((constant,))
    match type_:
        case EnumReference(name) if not layout.schema.enums[name].is_open:
            return frozenset(member.value for member in layout.schema.enums[name].members)
        case Boolean(is_lenient) if layout.strict or not is_lenient:
            return frozenset((0, 1))
        case _:
            return None


def constant_of(value: FieldValue | None) -> int | None:
    """Return the number that a field must be, or None if it may be another."""
    match value:
        case Constant(Number(number) | Truth(number)):
            return int(number)
        case _:
            return None


@cache
def length_step(type_: Integer, unit: int) -> Step:
    """Return the step of bytes after a length, which counts units of that many bytes."""
    return (SIZED, type_.size, unpack_of(type_), unit, type_.is_signed, format_of(type_))


def unpack_of(type_: Integer) -> Callable[[Any, int], tuple[Any, ...]]:
    """Return a function that reads an integer at a position; its bytes must be there."""
    form = format_of(type_)
    if form:
        return Struct(form).unpack_from
    return lambda data, position: (type_.decode(data[position : position + type_.size]),)


def format_of(type_: Integer) -> str:
    """Return the format of an integer for `struct`; empty for a width that it does not have."""
    order = ">" if type_.endian == "big" else "<"
    return order + type_.letter if type_.letter else ""
