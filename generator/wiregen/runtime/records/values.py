"""JSON records as values of the tree; strict about their shape, as a record may come from any source."""

from __future__ import annotations

from uuid import UUID

from ..codec.errors import EncodeError
from ..codec.options import Options
from ..lazy import Lazy
from ..reference.expressions import evaluate
from ..reference.layout import Fields, Layout
from ..reference.tree import FrameValue, Record, Unknown
from ..reference.writing.cells import join
from ..schema.declarations import Default, Field, FieldValue
from ..schema.expressions import Expression, ListOf, LiteralExpression
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
    Uuid,
)
from .scalars import PLAIN, integer, is_number, kind, message_name, octets, only, part, wrong
from .types import VisibleFields, is_nullable, visible_fields

TYPE_CHECKING = False
if TYPE_CHECKING:

    from ..reference.expressions import Value

__all__ = ["ValueMaker", "constant_value", "default_of"]

_CHOICE_VALUE = Lazy("records.choices", "choice_value")
_MESSAGE_KEYS = ("message", "fields")


class ValueMaker:
    """Makes the values of one protocol."""

    def __init__(self, schema: Schema, options: Options) -> None:
        self.schema = schema
        self._layout = Layout(schema, options)
        self._views = schema.views
        self._visible: dict[tuple[str, str | None], VisibleFields] = {}

    # ---- messages and frames ----

    def outermost(self, record: Value) -> FrameValue | Record:
        """Return the frame or preamble of a record; with a null message, the frame that may lack it."""
        if type(record) is dict and record.get("message", "") is None:
            return self._frame(self._frame_without_message(), record, "")
        name = message_name(record, "")
        if name in self._layout.preambles:
            fields = self._layout.preambles[name].fields
            return Record(name, self.fields(fields, part(record, "fields", name), name, name)[0])
        return self._frame(self._frame_of(name), record, "")

    def message(self, name: str, fields: object) -> Record | Unknown:
        """Return the message of that name from its fields alone, without a frame around it."""
        return self._message({"message": name, "fields": fields}, "")

    def _frame_of(self, message: str) -> str:
        layout = self._layout
        if message in layout.frames:
            return message
        divided = next((frame for frame, _ in layout.divided if layout.block_of(frame, message)), None)
        if divided is not None:
            return divided
        if message not in layout.messages and message != "Unknown":
            raise _no_message(message, message)
        role = layout.role or (layout.messages[message].role if message in layout.messages else None)
        if role is None and len(set(self.schema.sends.values())) > 1:
            raise wrong(message, "a role that sends it", "none")
        return layout.frame_of(role)

    def _frame_without_message(self) -> str:
        layout = self._layout
        if layout.role is None and len(set(self.schema.sends.values())) > 1:
            raise wrong("message", "a role that sends the frame", "none")
        return layout.frame_of(layout.role)

    def _frame(self, name: str, record: Value, path: str) -> FrameValue:
        fields, body = self._layout.frames[name].fields, self._layout.frames[name].message
        is_empty = type(record) is dict and record.get("message", "") is None
        shown = name if is_empty else message_name(record, path)
        only(record, (*_MESSAGE_KEYS, "header", "code"), join(path, shown))
        here = join(path, name)
        if body is None:
            header, absent = self.fields(fields, part(record, "fields", here), here, name)
        else:
            block = self._layout.block_of(name, shown)
            outside = fields if block is None else tuple(field for field in fields if field.name != block)
            header, absent = self.fields(outside, record.get("header", {}), here, name, without=body)
        frame = FrameValue(name, header, body=body)
        frame.absent = absent
        if body is not None and not is_empty:
            frame.message = self._message(record, path, ignore=("header",))
        return frame

    def _message(self, record: Value, path: str, *, ignore: tuple[str, ...] = ()) -> Record | Unknown:
        name = message_name(record, path)
        path = join(path, name)
        if any(self._layout.block_of(frame, name) for frame, _ in self._layout.divided):
            fields = part(record, "fields", path)
            only(fields, ("data",), path)
            return Record(name, {"data": octets(fields.get("data"), f"{path}.data")})
        if name == "Unknown" and name not in self._layout.messages:
            return self._unknown(record, path, ignore)
        if name not in self._layout.messages:
            raise _no_message(path, name)
        only(record, (*_MESSAGE_KEYS, *ignore), path)
        fields = self._layout.messages[name].fields
        values, absent = self.fields(fields, part(record, "fields", path), path, name)
        return Record(name, values, absent=absent)

    def _unknown(self, record: dict[str, object], path: str, ignore: tuple[str, ...]) -> Unknown:
        only(record, (*_MESSAGE_KEYS, "code", *ignore), path)
        fields = part(record, "fields", path)
        only(fields, ("data",), path)
        code = record.get("code")
        return Unknown(
            None if code is None else integer(code, f"{path}.code"),
            octets(fields.get("data"), f"{path}.data"),
        )

    # ---- fields ----

    def fields(
        self, fields: Fields, record: Value, path: str, name: str, *, without: str | None = None
    ) -> tuple[dict[str, Value], int]:
        """Return the values of a record's fields, and the number of absent trailing fields."""
        if type(record) is not dict:
            raise wrong(path, "an object", kind(record))
        shown = visible_fields(self._visible, name, fields, without)
        self._refuse_strangers(record, shown.names, path, name)
        values: dict[str, object] = {}
        for field in shown.fields:
            if field.name in record:
                values[field.name] = self._given(field, record[field.name], join(path, field.name))
            elif field.name not in shown.unsure:
                self._add_missing(values, field, join(path, field.name))
            elif field.value is None and is_nullable(field.type):
                values[field.name] = None  # a null is left out, like an absent field
        return values, _count_absent(shown.trailing, record)

    def _refuse_strangers(
        self, record: dict[str, object], known: tuple[str, ...], path: str, name: str
    ) -> None:
        views = [f"{field}_json" for field, form in self._views.get(name, {}).items() if form == "json"]
        for key in record:
            if key not in known and key not in views:
                raise wrong(path, ", ".join(known) or "no field", f"field {key[:64]!r}")

    def _given(self, field: Field, data: object, path: str) -> object:
        if data is None:
            if field.condition is None and not is_nullable(field.type):
                raise wrong(path, "a value", "null")
            return None
        return self.value(field.type, data, path)

    def _add_missing(self, values: dict[str, object], field: Field, path: str) -> None:
        """Add the default of a field that a record leaves out."""
        if field.value is not None:
            default = default_of(field.value, field.type)
            if default is not None:
                values[field.name] = default
        elif field.condition is not None:
            values[field.name] = None
        else:
            raise wrong(path, "a value", "nothing")

    # ---- values ----

    def value(self, type_: Type, data: object, path: str) -> Value:
        """Return the value that JSON represents."""
        if data is None and is_nullable(type_):
            return None
        plain = PLAIN.get(type(type_))
        if plain is not None:
            return plain.value(type_, data, path)
        match type_:
            case EnumReference(name):
                return self._member(name, data, path)
            case List(item):
                return self._list(item, data, path)
            case StructReference(name):
                values, absent = self.fields(self._layout.structs[name], data, path, name)
                return Record(name, values, absent=absent)
            case UnionReference() | Match():
                return _CHOICE_VALUE.load()(self, type_, data, path)
            case FrameReference(name):
                return self._frame(name, data, path)
            case Region(inside):
                return self.value(inside, data, path)
            case _:
                return self._message(data, path)

    def _member(self, enum: str, data: object, path: str) -> int:
        if type(data) is str and not is_number(data):
            number = next((each.value for each in self.schema.enums[enum].members if each.name == data), None)
            if number is None:
                raise EncodeError(
                    "invalid_enum", path=path, expected=f"a member of {enum}", found="another name"
                )
            return number
        return integer(data, path)

    def _list(self, item: Type, data: object, path: str) -> list[object]:
        if type(data) is not list:
            raise wrong(path, "a list", kind(data))
        return [self.value(item, part, f"{path}[{index}]") for index, part in enumerate(data)]


def _no_message(path: str, name: str) -> EncodeError:
    return wrong(path, "a message of the protocol", f"message {name[:64]!r}")


# A constant asks for no name.
_NO_SCOPE: Value = None


def default_of(given: FieldValue, type_: Type) -> Value:
    """Return the default of a field, or None if it depends on other fields or the message, so that the
    encoder computes it.
    """
    if not _is_constant(given.value) or isinstance(given, Default) and given.others:
        return None
    return constant_value(given.value, type_)


def constant_value(expression: Expression, type_: Type) -> Value:
    """Return the value of a literal or of a list of literals, in the type of its field."""
    value = evaluate(expression, _NO_SCOPE)
    if isinstance(type_, Uuid) and isinstance(value, bytes):
        return UUID(bytes=value)
    return list(value) if isinstance(value, tuple) else value


def _is_constant(expression: Expression) -> bool:
    """Return whether an expression is constant."""
    if isinstance(expression, ListOf):
        return all(map(_is_constant, expression.items))
    return isinstance(expression, LiteralExpression)


def _count_absent(trailing: tuple[str, ...], record: dict[str, object]) -> int:
    """Return the number of fields at the end of the trailing ones that a record leaves out."""
    absent = 0
    for name in reversed(trailing):
        if name in record:
            break
        absent += 1
    return absent
