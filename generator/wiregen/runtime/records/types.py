"""Facts about types for JSON: which numbers are strings, which values may be null, which arms need a name."""

from __future__ import annotations

from functools import lru_cache

from ..reference.layout import Fields
from ..schema.declarations import Default, Field, FieldValue, Trailing
from ..schema.expressions import Expression, FieldReference
from ..schema.protocol import Schema
from ..schema.shapes import content, every_field, fields_below, has_blocks, is_flat
from ..schema.types import (
    Bytes,
    CodingReference,
    Computed,
    Counted,
    EnumReference,
    Integer,
    List,
    Match,
    Prefix,
    Region,
    Text,
    Type,
    Varint,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from ..schema.types import Carrier, Length

    JsonObject: TypeAlias = dict[str, Any]  # as the standard library's `json` reads and writes it

__all__ = [
    "VisibleFields",
    "default_with",
    "flat_fields",
    "has_null",
    "is_nullable",
    "is_trailing",
    "is_wide",
    "shown_fields",
    "unsure_names",
    "visible_fields",
]


def default_with(value: FieldValue, message: str | None) -> Expression:
    """Return the expression of a field's value; for a default the one that applies to this message in the frame."""
    others = value.others if isinstance(value, Default) else ()
    return next((other.value for other in others if other.message == message), value.value)


def is_wide(schema: Schema, type_: Type) -> bool:
    """Return whether the numbers of a type are decimal strings: other languages lose digits beyond 32 bits."""
    match type_:
        case Integer(size):
            return size > 4
        case Varint():
            return True
        case CodingReference(name):
            widths = schema.codings[name].widths
            return any(width.wide is not None and width.wide.size > 4 for width in widths)
        case EnumReference(name):
            return is_wide(schema, schema.enums[name].type)
        case _:
            return False


def is_nullable(type_: Type) -> bool:
    """Return whether None is a value of the type: the null of a variable-width integer, or of an element
    whose length may be null.
    """
    if isinstance(type_, Counted):
        return isinstance(type_.length, Computed) or _has_coding(type_.length)
    match type_:
        case CodingReference():
            return True
        case Region(inside, carrier):
            return is_nullable(inside) or _has_coding(carrier)
        case Match(_, arms):
            return any(is_nullable(arm.type) for arm in arms)
        case _:
            return False


def _has_coding(length: Length | Carrier) -> bool:
    return isinstance(length, Prefix) and isinstance(length.type, CodingReference)


def has_null(schema: Schema, type_: Type) -> bool:
    """Return whether None may be encoded as a value of the type, as far as its length or its own encoding has a null."""
    match content(type_):
        case CodingReference(name):
            return any(width.is_null for width in schema.codings[name].widths)
        case Bytes(length) | Text(_, length) | List(_, length):
            is_field = isinstance(length, Computed) and isinstance(length.value, FieldReference)
            return is_field or (isinstance(length, Prefix) and has_null(schema, length.type))
        case _:
            return False


def flat_fields(fields: Fields) -> Fields:
    """Return the fields of a declaration that have a value of their own, those of blocks too.

    Fields of one name in different arms are one: the first of them.
    """
    seen: set[str] = set()
    found: list[Field] = []
    for field in every_field(fields):
        if not is_flat(field.type) and (field.name == "_" or field.name not in seen):
            seen.add(field.name)
            found.append(field)
    return tuple(found)


class VisibleFields:
    """The visible fields of a declaration, and the names of those that the end may cut off."""

    def __init__(self, declared: Fields, without: str | None) -> None:
        self.declared = declared
        self.fields = tuple(field for field in shown_fields(declared) if field.name != without)
        self.names = tuple(field.name for field in self.fields)
        self.trailing = tuple(field.name for field in self.fields if is_trailing(field))
        self.unsure = unsure_names(declared)


def visible_fields(
    known: dict[tuple[str, str | None], VisibleFields], name: str, fields: Fields, without: str | None
) -> VisibleFields:
    """Return the visible fields of a declaration but one, found once, as hashing a declaration takes long."""
    found = known.get((name, without))
    if found is None or found.declared is not fields:
        found = known[name, without] = VisibleFields(fields, without)
    return found


@lru_cache(1024)
def shown_fields(fields: Fields) -> Fields:
    """Return those that are not hidden; each record of a list asks for them."""
    return tuple(field for field in flat_fields(fields) if not field.is_hidden)


@lru_cache(1024)
def unsure_names(fields: Fields) -> frozenset[str]:
    """Return the names of the fields that are in a choice with blocks, or in an optional block."""

    def is_unsure(field: Field, above: bool) -> bool:
        return above or field.condition is not None or isinstance(content(field.type), Match)

    return frozenset(
        field.name
        for field, is_inside in fields_below(fields, False, is_unsure)
        if (is_inside or has_blocks(field.type)) and not is_flat(field.type)
    )


def is_trailing(field: Field) -> bool:
    return isinstance(field.value, Trailing)
