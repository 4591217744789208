"""The extent of a value: the steps of a length before it, and the place where it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from wiregen.generate.steps.step import (
    Delimiter,
    Extent,
    FixedRun,
    GivenLength,
    Held,
    Rest,
    Slot,
    Step,
    Until,
    VariableNumber,
)
from wiregen.schema import model as m

__all__ = ["extent_of", "held_steps", "length_steps", "may_be_null"]


def length_steps(length: m.Length, key: str, prefix: str, field: m.Field) -> Iterator[Step]:
    """Yield the step of a length that precedes its value; other lengths have no step."""
    if isinstance(length, m.Prefix):
        yield from held_steps(length.type, f"{key}#length", prefix, field)


def held_steps(
    type_: m.Integer | m.Varint | m.CodingReference, key: str, prefix: str, field: m.Field
) -> Iterator[Step]:
    """Yield the step of a length that precedes the bytes that it measures."""
    if isinstance(type_, m.Integer):
        slot = Slot(key=key, type=type_, bits=type_.bits, field=field, part="length", prefix=prefix)
        yield FixedRun(slots=(slot,), size=slot.size)
    else:
        yield VariableNumber(key=key, type=type_, field=field, part="length", prefix=prefix)


def extent_of(length: m.Length, key: str, prefix: str, codings: Mapping[str, m.Coding]) -> Extent:
    """Return the extent of a value."""
    match length:
        case m.Prefix(type=type_):
            return Held(key=f"{key}#length", may_be_null=may_be_null(type_, codings))
        case m.Computed(value=value):
            return GivenLength(value=value, prefix=prefix)
        case m.ToEnd():
            return Rest()
        case m.Delimited(delimiter=delimiter):
            return Delimiter(bytes=bytes.fromhex(delimiter))
        case m.Until(condition=condition):
            return Until(condition=condition, prefix=prefix)
        case _:
            assert_never(length)


def may_be_null(type_: m.Type, codings: Mapping[str, m.Coding]) -> bool:
    """Return whether a length may mean null."""
    if not isinstance(type_, m.CodingReference):
        return False
    return any(width.is_null for width in codings[type_.name].widths)
