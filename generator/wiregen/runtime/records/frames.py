"""Values as JSON records: `{"message": …, "header": …, "fields": …}`, the shape that every decoded line has.

A record is complete: `record_values` makes an equal value of it. Fields that are not part of the API are
omitted.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..codec.compiled import hand_over
from ..codec.errors import EncodeError
from ..codec.fragment import Part
from ..codec.options import Options
from ..lazy import Lazy
from ..reference.access import MISSING, as_items, attribute, declared_name, extra, is_named, unknown_of
from ..reference.layout import Fields, Layout
from ..reference.scalars import enum_name
from ..schema.declarations import Field
from ..schema.protocol import Schema
from ..schema.types import (
    EnumReference,
    FrameReference,
    List,
    Match,
    Region,
    StructReference,
    Type,
    UnionReference,
)
from .scalars import PLAIN
from .types import VisibleFields, is_nullable, visible_fields
from .values import ValueMaker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..reference.expressions import Value
    from .types import JsonObject

__all__ = [
    "frame_from_record", "frame_record", "message_fields", "message_from_fields", "part_record", "value_record",
]  # fmt: skip

_ADD_VIEW = Lazy("records.views", "add_view")
_CHOICE_RECORD = Lazy("records.choices", "choice_record")
_PART_RECORD = Lazy("records.fragments", "part_record")


def frame_record(schema: Schema, frame: object, *, variant: str | None = None) -> JsonObject:
    """Return the record of a frame, message or preamble. Missing fields of a partial one are left out.

    Raises:
        EncodeError: A value is not of its field's type.
    """
    try:
        return Recorder(schema, variant).outermost(frame)
    except Exception as error:  # noqa: BLE001 - a value may be of any class, and raise anything
        raise _unshowable(declared_name(frame), error) from None


def message_fields(schema: Schema, message: object) -> dict[str, object]:
    """Return the `fields` of the record of a message, a struct or a preamble."""
    recorder, name = Recorder(schema, None), declared_name(message)
    try:
        return recorder.fields(recorder.declared(name), message, name)
    except Exception as error:  # noqa: BLE001 - a value may be of any class, and raise anything
        raise _unshowable(name, error) from None


def value_record(schema: Schema, type_: Type, value: object, *, variant: str | None = None) -> object:
    """Return the record of a value of that type."""
    return Recorder(schema, variant).value(type_, value)


def part_record(schema: Schema, frame: object, *, variant: str | None = None) -> JsonObject:
    """Return the note on a fragment in a line: `part`, and for the last one `joined`; {} for any other frame."""
    return Recorder(schema, variant).part(frame)


def frame_from_record(
    schema: Schema, record: object, *, role: str | None = None, variant: str | None = None
) -> Value:
    """Return the FrameValue (for a preamble the Record) that a record represents. `role`: the sender.

    The bounds of numbers are not checked here, but by the encoder.

    Raises:
        EncodeError: The record is not of the protocol's shape.
    """
    try:
        return ValueMaker(schema, Options(role, variant=variant)).outermost(record)
    except RecursionError:
        raise EncodeError("too_deep", expected="fewer levels of nesting") from None


def message_from_fields(schema: Schema, name: str, fields: object) -> object:
    """Return the Record of the message of that name; it has no frame, and the bounds of numbers are not
    checked.

    Raises:
        EncodeError: The fields are not those of the message.
    """
    try:
        return ValueMaker(schema, Options()).message(name, fields)
    except RecursionError:
        raise EncodeError("too_deep", expected="fewer levels of nesting") from None


def _unshowable(name: str, error: Exception) -> EncodeError:
    if type(error) is EncodeError:
        return error
    hand_over(error)
    return EncodeError(
        "invalid_value", path=name[:64], expected="values of the fields' types", found="others"
    )


class Recorder:
    """Makes the records of one protocol."""

    def __init__(self, schema: Schema, variant: str | None) -> None:
        self.layout = Layout(schema, Options(variant=variant))
        self.schema = schema
        self._views = schema.views
        self._visible: dict[tuple[str, str | None], VisibleFields] = {}

    def declared(self, name: str) -> Fields:
        layout = self.layout
        if name in layout.messages:
            return layout.messages[name].fields
        return layout.preambles[name].fields if name in layout.preambles else layout.structs[name]

    # ---- messages and frames ----

    def part(self, frame: object) -> JsonObject:
        """Return the note on a fragment in a line, as `part_record`."""
        is_frame = bool(self.schema.joins) and _known(frame, self.layout.frames) is not None
        part: Part | None = getattr(frame, "part", None) if is_frame else None
        return {} if part is None else _PART_RECORD.load()(self, part)

    def outermost(self, value: Value) -> dict[str, Value]:
        name = _known(value, self.layout.frames)
        if name is not None:
            return self._frame(name, value)
        name = _known(value, self.layout.preambles)
        if name is not None:
            return {"message": name, "header": {}, "fields": self.fields(self.declared(name), value, name)}
        return {**self._message(value), "header": {}}

    def _frame(self, name: str, frame: Any) -> dict[str, Value]:
        fields, body = self.layout.frames[name].fields, self.layout.frames[name].message
        message = extra(frame, "message", None, name)
        piece = self._piece(name, message)
        if piece is not None:
            outside = tuple(field for field in fields if field.name != piece[1])
            data = bytes(attribute(message, "data", name)).hex()
            return {
                "message": piece[0],
                "header": self.fields(outside, frame, name),
                "fields": {"data": data},
            }
        if body is None:
            return {"message": name, "header": {}, "fields": self.fields(fields, frame, name)}
        header = self.fields(fields, frame, name, without=body)
        record = {"message": None, "fields": {}} if message is None else self._message(message)
        return {
            **{key: record[key] for key in record if key != "fields"},
            "header": header,
            "fields": record["fields"],
        }

    def _piece(self, frame: str, message: object) -> tuple[str, str] | None:
        """Return the join and the block, if a frame carries a fragment of a block."""
        for (owner, block), join in self.layout.divided.items():
            if owner == frame and is_named(message, join):
                return join, block
        return None

    def _message(self, message: Any) -> dict[str, Value]:
        unknown = unknown_of(message, self.layout.messages, "")
        if unknown is not None:
            return {"message": "Unknown", "code": unknown.code, "fields": {"data": unknown.data.hex()}}
        name = _known(message, self.layout.messages)
        if name is None:
            raise EncodeError("invalid_value", expected="a message", found=declared_name(message)[:64])
        return {"message": name, "fields": self.fields(self.declared(name), message, name)}

    # ---- fields ----

    def fields(self, fields: Fields, owner: object, name: str, *, without: str | None = None) -> JsonObject:
        """Return the visible fields of a record, in wire order."""
        shown = visible_fields(self._visible, name, fields, without)
        trailing = shown.trailing
        absent = extra(owner, "absent", 0, name) if trailing else 0
        gone = trailing[len(trailing) - absent :]
        views = self._views.get(name, {})
        found: JsonObject = {}
        for field in shown.fields:
            value = attribute(owner, field.name, name)
            if (
                field.name in gone
                or value is MISSING
                or (value is None and (field.name in shown.unsure or not self._is_null(field)))
            ):
                continue
            found[field.name] = self.value(field.type, value)
            if views.get(field.name) == "json":
                _ADD_VIEW.load()(found, field.name, value)
        return found

    def _is_null(self, field: Field) -> bool:
        """Return whether None is a value of the field, and not its absence."""
        return field.condition is None and is_nullable(field.type)

    def value(self, type_: Type, value: Value) -> Value:
        """Return the JSON of a value."""
        if value is None:
            return None
        plain = PLAIN.get(type(type_))
        if plain is not None:
            return plain.record(self.schema, type_, value)
        match type_:
            case EnumReference(name):
                return self._member(name, value)
            case List(item):
                return [self.value(item, each) for each in as_items(value, "")]
            case StructReference(name):
                return self.fields(self.layout.structs[name], value, name)
            case UnionReference() | Match():
                return _CHOICE_RECORD.load()(self, type_, value)
            case FrameReference():
                known = _known(value, self.layout.frames)
                return {**self._message(value), "header": {}} if known is None else self._frame(known, value)
            case Region(inside):
                return self.value(inside, value)
            case _:
                return self._message(value)

    def _member(self, enum: str, value: Value) -> Value:
        name = enum_name(self.schema, enum, value)
        return self.value(self.schema.enums[enum].type, value) if name is None else name


def _known(value: object, declarations: Mapping[str, object]) -> str | None:
    name = declared_name(value)
    return name if name in declarations else None


# ---- views ----
