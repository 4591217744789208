"""`lenient`: applied to every part of a shape that can tolerate something."""

from typing import TypeVar, assert_never

from wiregen.language.resolver.sorts import UNKNOWN_TYPE
from wiregen.schema import model
from wiregen.schema.copies import replace

_Length = TypeVar("_Length", model.ByteLength, model.ItemLength)


def tolerates(type_: model.Type) -> bool:
    """Return whether any part of a shape can tolerate something, the fields of its blocks excluded."""
    match type_:
        case model.Boolean() | model.Varint() | model.Region():
            return True
        case model.Text(encoding=encoding):
            return encoding in {"utf8", "mutf8"} or _length_tolerates(type_.length)
        case model.Bytes(length=length):
            return _length_tolerates(length)
        case model.List(item=item, length=length):
            return tolerates(item) or _length_tolerates(length)
        case (
            model.EnumReference(only=only) | model.UnionReference(only=only) | model.FrameReference(only=only)
        ):
            return only is not None
        case model.MessageMatch(only=only):
            return only is not None
        case model.StructReference() | model.CodingReference() | model.MessageReference():
            return False
        case model.Match(arms=arms):
            return any(tolerates(arm.type) for arm in arms)
        case model.Integer() | model.Float() | model.Bits() | model.Uuid() | model.Block():
            return False
        case _:
            assert_never(type_)


def tolerant(type_: model.Type) -> model.Type:
    """Return the shape with every part lenient that can be."""
    match type_:
        case model.Boolean() | model.Varint():
            return replace(type_, is_lenient=True)
        case model.Text(encoding=encoding):
            length = _tolerant_length(type_.length)
            is_lenient = type_.is_lenient or encoding in {"utf8", "mutf8"}
            return replace(type_, length=length, is_lenient=is_lenient)
        case model.Bytes() if type_ != UNKNOWN_TYPE:
            return replace(type_, length=_tolerant_length(type_.length))
        case model.List():
            return replace(type_, item=tolerant(type_.item), length=_tolerant_length(type_.length))
        case model.EnumReference() | model.UnionReference() | model.FrameReference() | model.MessageMatch():
            return type_ if type_.only is None else replace(type_, is_lenient=True)
        case model.Match():
            return replace(type_, arms=tuple(replace(arm, type=tolerant(arm.type)) for arm in type_.arms))
        case model.Region():
            return replace(type_, content=tolerant(type_.content), lenient=True)
        case model.Integer() | model.Float() | model.Bits() | model.Uuid() | model.Block() | model.Bytes():
            return type_
        case model.StructReference() | model.CodingReference() | model.MessageReference():
            return type_
        case _:
            assert_never(type_)


def _length_tolerates(length: model.Length) -> bool:
    return isinstance(length, model.Prefix) and isinstance(length.type, model.Varint)


def _tolerant_length(length: _Length) -> _Length | model.Prefix:
    if isinstance(length, model.Prefix) and isinstance(length.type, model.Varint):
        return replace(length, type=replace(length.type, is_lenient=True))
    return length
