"""Values that a caller gave as a reader of their bytes has them: for sessions and contexts, whose conditions and keys are of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..codec.text import decode_text, encode_text
from ..records.types import flat_fields
from ..schema.declarations import Field
from ..schema.expressions import Expression
from ..schema.node import nodes_in
from ..schema.protocol import Schema
from ..schema.shapes import content
from ..schema.types import Bytes, Float, List, Match, StructReference, Text, Type
from .access import as_bytes, as_items
from .expressions import Undefined, Value

__all__ = ["as_read", "is_rewritten", "type_at"]


def type_at(schema: Schema, fields: Sequence[Field], path: tuple[str, ...]) -> Type | None:
    """Return the type of a field, or of one of a struct in it; None for other paths."""
    type_: Type | None = None
    for name in path:
        if isinstance(type_, StructReference):
            fields = flat_fields(schema.structs[type_.name])
        elif type_ is not None:
            return None
        found = next((each for each in fields if each.name == name), None)
        type_ = None if found is None else content(found.type)
        if type_ is None:
            return None
    return type_


def is_rewritten(type_: Type | None) -> bool:
    """Return whether a reader may have another value of a type than the caller gave, or one of another class."""
    return type_ is not None and any(
        isinstance(node, Float | Bytes | List) or (isinstance(node, Text) and node.is_rewritten)
        for node in nodes_in(type_)
    )


def as_read(type_: Type, value: Value, number_of: Callable[[Expression], Value]) -> Value:
    """Return a value as a reader has it; structs and alternatives are not changed. `number_of`: returns the subject of a choice."""
    type_ = content(type_)
    match type_:
        case _ if value is None:
            return None
        case Match(subject):
            try:
                arm = type_.arm(number_of(subject))
            except Undefined:
                return value
            return value if arm is None else as_read(arm.type, value, number_of)
        case List(item):
            return [as_read(item, each, number_of) for each in as_items(value, "")]
        case _:
            return _plain_as_read(type_, value)


def _plain_as_read(type_: Type, value: Value) -> Value:
    match type_:
        case Float():
            return type_.definition.held(value)
        case Bytes():
            return as_bytes(value, "")
        case Text(encoding=encoding, is_lenient=is_lenient, endian=endian) if not value.isascii():
            return decode_text(encode_text(value, encoding, is_lenient, endian), encoding, is_lenient, endian)
        case _:
            return value
