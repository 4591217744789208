"""Results of the reference decoder as objects of a generated module, for frames that have no straight-line code."""

from __future__ import annotations

from enum import EnumType
from functools import lru_cache
from typing import Any, TypeAlias

from ..codec.fragment import Part
from ..records.types import flat_fields, shown_fields
from ..schema.declarations import Field
from ..schema.protocol import Schema
from ..schema.shapes import content
from ..schema.types import EnumReference, List, Type
from .access import declared_name, spellings
from .layout import Fields
from .scalars import enum_name
from .tree import FrameValue, Record, Variety

__all__ = ["build", "class_of", "typed"]

Made: TypeAlias = Any  # a class of a generated package, or a value of one: found by name at run time


def build(schema: Schema, value: object, namespace: dict[str, object]) -> Made:
    """Return a value with its records as objects of the classes that `namespace` holds by name."""
    match value:
        case FrameValue() if _is_piece(schema, value):
            return _built_piece(schema, value, namespace)
        case FrameValue():
            frame = value.made
            if frame is None:
                fields = schema.frames[value.name].fields
                frame = _built(schema, class_of(namespace, value.name), value, fields, namespace)
                frame.message = build(schema, value.message, namespace)
            if value.part is not None:
                part = value.part
                frame.part = Part(part.join, part.key, part.index, part.last, frame.message)
            return frame
        case Variety():
            union = class_of(namespace, value.union)
            fields = next(
                each.fields for each in schema.unions[value.union].varieties if each.name == value.name
            )
            class_ = class_of(vars(union), value.name, declared_name(value))
            variety = _built(schema, class_, value, fields, namespace)
            if "code" in type(variety).__slots__ and "code" not in value.fields:
                variety.code = value.code
            return variety
        case Record():
            fields = _fields_of(schema, value.name)
            return _built(schema, class_of(namespace, value.name), value, fields, namespace)
        case list():
            return [build(schema, item, namespace) for item in value]
        case _:
            return value


def _is_piece(schema: Schema, frame: FrameValue) -> bool:
    name = getattr(frame.message, "name", "")
    return isinstance(frame.message, Record) and name in schema.joins and name not in schema.messages


def _built_piece(schema: Schema, value: FrameValue, namespace: dict[str, object]) -> Made:
    """Return a frame with a fragment of a block; the content of the block has its defaults."""
    class_ = class_of(namespace, value.name)
    types = {field.name: field.type for field in flat_fields(schema.frames[value.name].fields)}
    header = {
        spellings(class_, name)[0]: typed(schema, types[name], field, namespace)
        for name, field in value.fields.items()
    }
    frame = class_(class_of(namespace, value.message.name)(value.message.data), **header)
    if value.part is not None:
        frame.part = value.part
    return frame


def class_of(namespace: Made, name: str, declared: str = "") -> Made:
    """Return the class of a declaration; if the module uses the name itself, the class has a longer name."""
    other = namespace.get(f"{name}_")
    return other if getattr(other, "_NAME", "") == (declared or name) else namespace[name]


def _enum(namespace: Made, name: str) -> Made:
    return namespace[name] if isinstance(namespace.get(name), EnumType) else namespace[f"{name}_"]


def _fields_of(schema: Schema, name: str) -> Fields:
    if name in schema.structs:
        return schema.structs[name]
    return schema.messages[name].fields if name in schema.messages else schema.preambles[name].fields


def _built(schema: Schema, class_: Made, value: Made, fields: Fields, namespace: dict[str, object]) -> Made:
    made = object.__new__(class_)
    for slot, field in _slots(class_, fields):
        if field is not None:
            setattr(made, slot, typed(schema, field.type, value.fields.get(field.name), namespace))
        elif slot in ("absent", "tail"):
            setattr(made, slot, getattr(value, slot))
    return made


@lru_cache(1024)
def _slots(class_: Made, fields: Fields) -> tuple[tuple[str, Field | None], ...]:
    """Return the slots of a class, each with the field of a declaration that it is for."""
    found = {slot: field for field in shown_fields(fields) for slot in spellings(class_, field.name)[:1]}
    return tuple((slot, found.get(slot)) for slot in class_.__slots__)


def typed(schema: Schema, type_: Type, value: object, namespace: dict[str, object]) -> Made:
    """Return a value of that type; numbers of enums become members."""
    type_ = content(type_)
    if isinstance(type_, EnumReference) and isinstance(value, int):
        known = enum_name(schema, type_.name, value) is not None
        return _enum(namespace, type_.name)(value) if known else value
    if isinstance(type_, List) and isinstance(value, list):
        return [typed(schema, type_.item, item, namespace) for item in value]
    return build(schema, value, namespace)
