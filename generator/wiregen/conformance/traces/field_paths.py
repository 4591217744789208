"""Fields of a message and of its frame by their paths: their values, copies with other values, and possible numbers."""

from __future__ import annotations

from typing import Final, assert_never

from wiregen.runtime.reference.expressions import Value
from wiregen.runtime.reference.tree import FrameValue, Record
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.shapes import content
from wiregen.runtime.schema.types import (
    Bits,
    Bytes,
    CodingReference,
    Computed,
    Integer,
    Match,
    Region,
    StructReference,
    Type,
    Varint,
)

__all__ = ["NUMBERS", "fits", "is_measured", "type_at", "value_at", "with_values"]


def _holder(value: object, name: str) -> Value:
    """Return the holder of a field: the message, or else its frame."""
    if isinstance(value, FrameValue) and isinstance(value.message, Record) and name in value.message.fields:
        return value.message
    return value


def value_at(value: object, path: tuple[str, ...]) -> object:
    found = _holder(value, path[0]).fields.get(path[0])
    for name in path[1:]:
        found = None if found is None else found.fields.get(name)
    return found


def with_values(base: Value, paths: tuple[tuple[str, ...], ...], values: tuple[object, ...]) -> object:
    """Return a copy of a value with other values in some fields."""
    if isinstance(base, FrameValue):
        own, outside = dict(base.message.fields), dict(base.fields)
        made: Value = FrameValue(base.name, outside, Record(base.message.name, own), body=base.body)
    else:
        own = outside = dict(base.fields)
        made = Record(base.name, own)
    for path, value in zip(paths, values, strict=True):
        _set(own if path[0] in own else outside, path, value)
    return made


def _set(fields: dict[str, Value], path: tuple[str, ...], value: object) -> None:
    if len(path) == 1:
        fields[path[0]] = value
    elif isinstance(fields.get(path[0]), Record):
        inner = fields[path[0]]
        fields[path[0]] = Record(inner.name, dict(inner.fields))
        _set(fields[path[0]].fields, path[1:], value)


def type_at(schema: Schema, type_: Type, path: tuple[str, ...]) -> Type:
    type_ = content(type_)
    if not path or not isinstance(type_, StructReference):
        return type_
    inner = next((field.type for field in schema.structs[type_.name] if field.name == path[0]), type_)
    return type_at(schema, inner, path[1:])


def is_measured(type_: Type) -> bool:
    match type_:
        case Bytes(Computed()):
            return True
        case Match(_, arms):
            return any(is_measured(arm.type) for arm in arms)
        case Region(inner):
            return is_measured(inner)
        case _:
            return False


NUMBERS: Final = (Integer, Varint, CodingReference, Bits)


def fits(type_: Integer | Bits | Varint | CodingReference, number: int) -> bool:
    match type_:
        case CodingReference():
            return -(1 << 63) <= number < 1 << 64
        case Bits() | Integer() | Varint():
            low, high = type_.bounds
            return low <= number <= high
        case _:
            assert_never(type_)
