"""Looking up what expressions name: the field behind a path, the numbers that a type or a subject can hold."""

from __future__ import annotations

from collections.abc import Iterable

from wiregen.checker.inspection import Record
from wiregen.model import (
    Bits,
    Block,
    Boolean,
    ContextReference,
    Expression,
    Field,
    FieldReference,
    Integer,
    Protocol,
    Reference,
    Region,
    Span,
    Type,
    Varint,
)
from wiregen.values import coding_span, span_of
from wiregen.walk import flat_fields

__all__ = ["field_at", "is_visible", "numbers_in", "type_of"]


def field_at(fields: Iterable[Field], path: tuple[str, ...], protocol: Protocol) -> Field | None:
    """Return the field that a dotted path names, or None."""
    here = tuple(fields)
    found: Field | None = None
    for name in path:
        found = next((field for field in flat_fields(here) if field.name == name), None)
        if found is None:
            return None
        here = _fields_of(found.type, protocol)
    return found


def type_of(expression: Expression, record: Record, protocol: Protocol) -> Type | None:
    """Return the type of the field or context that a subject names, or None where it names neither."""
    match expression:
        case FieldReference(path=path, scope="own") if path:
            field = field_at(record.fields, path, protocol)
            return None if field is None else field.type
        case ContextReference(context=name):
            return next((context.type for context in protocol.contexts if context.name == name), None)
        case _:
            return None


def numbers_in(type_: Type, protocol: Protocol) -> Span | None:
    """Return the numbers of an integer, of an enum's type or of a coding; None for all else."""
    match type_:
        case Integer() | Varint() | Bits():
            return span_of(type_)
        case Boolean():
            return Span(low=0, high=1)
        case Reference(target="enum", name=name):
            enum = next((enum for enum in protocol.enums if enum.name == name), None)
            return None if enum is None else span_of(enum.type)
        case Reference(target="coding", name=name):
            coding = next((coding for coding in protocol.codings if coding.name == name), None)
            return None if coding is None else coding_span(coding)
        case _:
            return None


def is_visible(field: Field) -> bool:
    """Tell whether a field is part of the Python API: not derived, not constant, not `_`, no block."""
    hidden = field.value is not None and field.value.kind in {"derived", "fixed"}
    block = field.type.content if isinstance(field.type, Region) else field.type
    return not hidden and field.name != "_" and not isinstance(block, Block)


def _fields_of(type_: Type, protocol: Protocol) -> tuple[Field, ...]:
    match type_:
        case Region(content=content):
            return _fields_of(content, protocol)
        case Block(fields=fields):
            return fields
        case Reference(target="struct", name=name):
            return next((struct.fields for struct in protocol.structs if struct.name == name), ())
        case _:
            return ()
