"""What JSON needs to know about types: which numbers are strings, which values may be null, how arms are told apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from ..reference.access import is_a, is_named, unknown_of
from ..reference.layout import Fields, Layout
from ..schema.declarations import Default, Field, FieldValue, Trailing
from ..schema.expressions import Expression, FieldReference
from ..schema.protocol import Schema
from ..schema.shapes import blocks, content, has_blocks, is_flat
from ..schema.types import (
    Arm,
    Bits,
    Boolean,
    Bytes,
    CodingReference,
    Computed,
    EnumReference,
    Float,
    FrameReference,
    Integer,
    List,
    Match,
    MessageMatch,
    MessageReference,
    Prefix,
    Region,
    StructReference,
    Text,
    Type,
    UnionReference,
    Uuid,
    Varint,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..schema.types import Carrier, Length

__all__ = [
    "accepts",
    "arm_names",
    "default_with",
    "fitting",
    "flat_fields",
    "has_null",
    "is_nullable",
    "is_trailing",
    "is_wide",
    "leaf_arms",
    "unsure_names",
    "value_arms",
]

_LIST_OF = "list of "
_PLAIN: dict[type[Any], tuple[str, tuple[type, ...]]] = {
    Integer: ("int", (int,)),
    Varint: ("varint", (int,)),
    CodingReference: ("coding", (int,)),
    EnumReference: ("enum", (int,)),
    Bits: ("bits", (int,)),
    Boolean: ("bool", (bool,)),
    Float: ("float", (float,)),
    Uuid: ("uuid", (UUID,)),
    Bytes: ("bytes", (bytes, bytearray)),
    Text: ("text", (str,)),
    List: ("list", (list, tuple)),
}
"""Of the types that records give no name but that of their kind: this name, and the classes of their values."""


def default_with(value: FieldValue, message: str | None) -> Expression:
    """Return the expression of a field's value; of a default with this message in the frame."""
    others = value.others if isinstance(value, Default) else ()
    return next((other.value for other in others if other.message == message), value.value)


def is_wide(plan: Schema, type_: Type) -> bool:
    """Say whether the numbers of a type are decimal strings: other languages lose digits beyond 32 bits."""
    match type_:
        case Integer(size):
            return size > 4
        case Varint():
            return True
        case CodingReference(name):
            return any(width.wide is not None and width.wide.size > 4 for width in plan.codings[name].widths)
        case EnumReference(name):
            return is_wide(plan, plan.enums[name].type)
        case _:
            return False


def is_nullable(type_: Type) -> bool:
    """Say whether None is a value of the type: a coding's null, or what such a null counts."""
    match type_:
        case CodingReference():
            return True
        case Bytes() | Text() | List():
            return isinstance(type_.length, Computed) or _has_coding(type_.length)
        case Region(inside, carrier):
            return is_nullable(inside) or _has_coding(carrier)
        case Match(_, arms):
            return any(is_nullable(arm.type) for arm in arms)
        case _:
            return False


def _has_coding(length: Length | Carrier) -> bool:
    return isinstance(length, Prefix) and isinstance(length.type, CodingReference)


def has_null(plan: Schema, type_: Type) -> bool:
    """Say whether None may be written as a value of the type, as far as a coding, or a field with the length, may be null."""
    match content(type_):
        case CodingReference(name):
            return any(width.is_null for width in plan.codings[name].widths)
        case Bytes(length) | Text(_, length) | List(_, length):
            is_field = isinstance(length, Computed) and isinstance(length.value, FieldReference)
            return is_field or (isinstance(length, Prefix) and has_null(plan, length.type))
        case _:
            return False


def accepts(schema: Layout, type_: Type, value: Any) -> bool:
    """Say whether a value is of the type, as far as its class tells."""
    type_ = content(type_)
    if value is None and has_null(schema.plan, type_):
        return True
    match type_:
        case StructReference(name) | MessageReference(name):
            return is_named(value, name)
        case UnionReference(name):
            return any(is_named(value, variety.name) for variety in schema.plan.unions[name].varieties)
        case FrameReference(name):
            return is_named(value, name) or _is_message(schema, value)
        case MessageMatch():
            return _is_message(schema, value)
        case Match():
            return any(accepts(schema, arm.type, value) for arm in value_arms(type_))
        case List(item):
            return is_a(value, list, tuple) and all(accepts(schema, item, each) for each in value)
        case _:
            _, classes = _PLAIN.get(type(type_), ("", (object,)))
            return is_a(value, *classes)


def fitting(schema: Layout, arms: Iterable[Type], value: Any) -> list[Type]:
    """Return the arms that take a value; where one is of truths, a truth is not taken for a number, as Python would."""
    found = [arm for arm in arms if accepts(schema, arm, value)]
    truths = [arm for arm in found if _is_of_truths(arm)]
    return truths or found


def _is_of_truths(type_: Type) -> bool:
    type_ = content(type_)
    return isinstance(type_, Boolean) or (isinstance(type_, List) and _is_of_truths(type_.item))


def _is_message(schema: Layout, value: Any) -> bool:
    is_unknown = unknown_of(value, schema.messages, "") is not None
    return is_unknown or any(is_named(value, name) for name in schema.messages)


def value_arms(type_: Match) -> Iterator[Arm]:
    """Return the arms of a choice that give it a value: those that are no blocks."""
    return (arm for arm in type_.arms if not is_flat(arm.type))


def leaf_arms(type_: Match) -> Iterator[Type]:
    """Return the types that a choice may have a value of, those of choices in its arms in their place."""
    for arm in value_arms(type_):
        inside = content(arm.type)
        if isinstance(inside, Match):
            yield from leaf_arms(inside)
        else:
            yield arm.type


def arm_names(choice: Match) -> dict[Type, str]:
    """Return the names in a record of the arms of a choice that need one.

    A struct has its name. If the plain arms are of several kinds, each has its kind; lists are of one kind if their items are.
    """
    arms = [content(arm) for arm in leaf_arms(choice)]
    plain = [arm for arm in arms if type(arm) in _PLAIN]
    kinds = {arm: _kind(arm) for arm in plain}
    if len({kind for kind in kinds.values() if kind.startswith(_LIST_OF)}) < 2:
        kinds = {arm: _PLAIN[type(arm)][0] for arm in plain}
    if len(set(kinds.values())) < 2:
        kinds = {}
    return kinds | {arm: arm.name for arm in arms if isinstance(arm, StructReference)}


def _kind(type_: Type) -> str:
    type_ = content(type_)
    match type_:
        case List(item):
            return f"{_LIST_OF}{_kind(item)}"
        case StructReference(name) | UnionReference(name) | MessageReference(name) | FrameReference(name):
            return name
        case MessageMatch():
            return "message_match"
        case Match():
            return "match"
        case _:
            return _PLAIN[type(type_)][0]


def flat_fields(fields: Fields) -> Iterator[Field]:
    """Return the fields of a declaration that have a value of their own, those of blocks too.

    Fields of one name in different arms are one: the first of them.
    """
    seen: set[str] = set()
    for field in _every_field(fields):
        if field.name == "_" or field.name not in seen:
            seen.add(field.name)
            yield field


def _every_field(fields: Fields) -> Iterator[Field]:
    for field in fields:
        if not is_flat(field.type):
            yield field
        for block in blocks(field.type):
            yield from _every_field(block)


def unsure_names(fields: Fields) -> frozenset[str]:
    """Return the names of the fields that stand in a choice with blocks, or in a block that may not be there."""
    found: set[str] = set()
    for field in fields:
        if not has_blocks(field.type):
            continue
        is_unsure = field.condition is not None or isinstance(content(field.type), Match)
        if not is_flat(field.type):
            found.add(field.name)
        for block in blocks(field.type):
            found |= {inner.name for inner in flat_fields(block)} if is_unsure else unsure_names(block)
    return frozenset(found)


def is_trailing(field: Field) -> bool:
    return isinstance(field.value, Trailing)
