"""Functions that make the records of plain frames: one for each declaration, made when it is first met.

Invariant: the text of such a record has the same values as that of `runtime.records`. Its bytes are text for msgspec.
"""

from binascii import hexlify
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from wiregen.runtime.records.scalars import PLAIN
from wiregen.runtime.records.types import is_nullable, is_wide, visible_fields
from wiregen.runtime.records.views import add_view, is_shallow
from wiregen.runtime.reference.access import declared_name, spellings
from wiregen.runtime.reference.layout import Fields, Layout
from wiregen.runtime.reference.objects import class_of
from wiregen.runtime.schema.types import (
    Bits,
    Boolean,
    Bytes,
    CodingReference,
    EnumReference,
    FrameReference,
    Integer,
    List,
    Region,
    StructReference,
    Text,
    Type,
    Uuid,
    Varint,
)

__all__ = ["RecordFunction", "RecordFunctions", "UnknownRecordError"]

RecordFunction: TypeAlias = Callable[[Any], dict[str, object]]
Convert: TypeAlias = Callable[[Any], object]

_decode: Final = msgspec.json.Decoder().decode


class UnknownRecordError(ValueError):
    """A frame holds a value for whose class there is no function."""


class _Part(NamedTuple):
    """A field in a record: its name there, how to read it from its owner, and whether it has a JSON view."""

    name: str
    read: Convert
    convert: Convert
    has_view: bool


class RecordFunctions:
    """The functions of one protocol. `layout`: its declarations; `classes`: the names of its package with their values."""

    def __init__(self, layout: Layout, classes: Mapping[str, object]) -> None:
        self._layout = layout
        self._classes = dict(classes)
        self._frames: dict[tuple[type, type], RecordFunction] = {}
        self._structs: dict[str, RecordFunction] = {}

    def record(self, frame: Any) -> dict[str, object]:
        """Return the record of a frame with a message; both must be plain.

        Raises:
            UnknownRecordError: It is not a frame, or has another message.
        """
        message = getattr(frame, "message", None)
        key = type(frame), type(message)
        make = self._frames.get(key)
        if make is None:
            make = self._frames[key] = self._frame(frame, message)
        return make(frame)

    def _frame(self, frame: object, message: object) -> RecordFunction:
        name, carried, layout = declared_name(frame), declared_name(message), self._layout
        if name not in layout.frames or carried not in layout.messages:
            raise UnknownRecordError
        declared = layout.frames[name]
        header = self._fields(name, declared.fields, type(frame), without=declared.message)
        fields = self._fields(carried, layout.messages[carried].fields, type(message))
        return lambda frame: {"message": carried, "header": header(frame), "fields": fields(frame.message)}

    def _fields(
        self, name: str, fields: Fields, class_: type, *, without: str | None = None
    ) -> RecordFunction:
        """Return the function of the fields of a declaration, whose values are of the class."""
        views = self._layout.schema.views.get(name, {})
        parts = tuple(
            _Part(
                name=field.name,
                read=attrgetter(spellings(class_, field.name)[0]),
                convert=self._nullable(field.type),
                has_view=views.get(field.name) == "json",
            )
            for field in visible_fields({}, name, fields, without).fields
        )

        def record(owner: object) -> dict[str, object]:
            found: dict[str, object] = {}
            for part_name, read, convert, has_view in parts:
                value: Any = read(owner)
                found[part_name] = convert(value)
                if has_view:
                    _add_view(found, part_name, value)
            return found

        return record

    def _nullable(self, type_: Type) -> Convert:
        convert = self._convert(type_)
        return (lambda value: None if value is None else convert(value)) if is_nullable(type_) else convert

    def _convert(self, type_: Type) -> Convert:
        """Return the function of the values of a plain type."""
        match type_:
            case Integer() | Varint() | CodingReference():
                return str if is_wide(self._layout.schema, type_) else int
            case EnumReference(name):
                return self._member(name)
            case Bytes():
                return _hex
            case Text():
                return _text
            case List(item):
                convert = self._nullable(item)
                return lambda values: [convert(value) for value in values]
            case Region(inside):
                return self._nullable(inside)
            case StructReference(name):
                return lambda value: self._struct(name)(value)
            case FrameReference():
                return self.record
            case Bits() | Boolean() | Uuid():
                schema, plain = self._layout.schema, PLAIN[type(type_)].record
                return lambda value: plain(schema, type_, value)
            case _:
                raise AssertionError(f"{type_!r} is not plain")

    def _struct(self, name: str) -> RecordFunction:
        """Return the function of a struct; made late, as structs may hold themselves."""
        found = self._structs.get(name)
        if found is None:
            class_: Any = class_of(self._classes, name)
            found = self._structs[name] = self._fields(name, self._layout.structs[name], class_)
        return found

    def _member(self, name: str) -> Convert:
        enum = self._layout.schema.enums[name]
        names = {member.value: member.name for member in reversed(enum.members)}
        number = self._convert(enum.type)
        return lambda value: names.get(value) or number(value)


def _hex(value: bytes) -> object:
    """Return bytes as a string that msgspec copies, instead of looking for characters to escape."""
    return msgspec.Raw(b'"%b"' % hexlify(value))


def _text(value: str) -> str:
    """Return text as it is: msgspec refuses lone surrogates, which `runtime.records` may show as bytes."""
    return value


def _add_view(found: dict[str, object], name: str, value: bytes | str) -> None:
    """Add the JSON in a field as `runtime.records` does; msgspec reads a part of the texts that Python's decoder reads."""
    key = f"{name}_json"
    if key in found:
        return
    try:
        view = _decode(value)
    except (ValueError, RecursionError):
        add_view(found, name, value)
        return
    if is_shallow(view):
        found[key] = view
