"""JSON records as values of the tree; strict about their shape, for a record may be anybody's."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ..codec.errors import EncodeError
from ..codec.options import Options
from ..reference.expressions import evaluate
from ..reference.layout import Fields, Layout
from ..reference.tree import FrameValue, Record, Unknown, Variety
from ..reference.writing.cells import join
from ..schema.declarations import Default, Field, FieldValue
from ..schema.expressions import Expression, ListOf, Null, Number, Octets, String, Truth
from ..schema.protocol import Schema
from ..schema.shapes import content
from ..schema.types import (
    EnumReference,
    Float,
    FrameReference,
    List,
    Match,
    MessageMatch,
    MessageReference,
    Region,
    Span,
    StructReference,
    Text,
    Type,
    UnionReference,
    Uuid,
)
from .scalars import PLAIN, integer, is_number, kind, message_name, octets, only, part, wrong
from .types import (
    arm_names,
    flat_fields,
    is_nullable,
    is_trailing,
    leaf_arms,
    unsure_names,
    value_arms,
)

__all__ = ["ValueMaker", "default_of"]

_MESSAGE_KEYS = ("message", "fields")


class ValueMaker:
    """Makes the values of one protocol."""

    def __init__(self, plan: Schema, options: Options) -> None:
        self._plan = plan
        self._schema = Layout(plan, options)
        self._views = plan.views

    # ---- messages and frames ----

    def outermost(self, record: Any) -> FrameValue | Record:
        """Return the frame or preamble of a record; a message that is null is none, in a frame that may lack it."""
        if type(record) is dict and record.get("message", "") is None:
            return self._frame(self._frame_without_message(), record, "")
        name = message_name(record, "")
        if name in self._schema.preambles:
            fields = self._schema.preambles[name].fields
            return Record(name, self._fields(fields, part(record, "fields", name), name, name)[0])
        return self._frame(self._frame_of(name), record, "")

    def message(self, name: str, fields: Any) -> Record | Unknown:
        """Return the message of that name, of which only the fields are given, without a frame around it."""
        return self._message({"message": name, "fields": fields}, "")

    def _frame_of(self, message: str) -> str:
        schema = self._schema
        if message in schema.frames:
            return message
        divided = next((frame for frame, _ in schema.divided if schema.block_of(frame, message)), None)
        if divided is not None:
            return divided
        if message not in schema.messages and message != "Unknown":
            raise _no_message(message, message)
        role = schema.role or (schema.messages[message].role if message in schema.messages else None)
        if role is None and len(set(self._plan.sends.values())) > 1:
            raise wrong(message, "a role that sends it", "none")
        return schema.frame_of(role)

    def _frame_without_message(self) -> str:
        schema = self._schema
        if schema.role is None and len(set(self._plan.sends.values())) > 1:
            raise wrong("message", "a role that sends the frame", "none")
        return schema.frame_of(schema.role)

    def _frame(self, name: str, record: Any, path: str) -> FrameValue:
        fields, body = self._schema.frames[name].fields, self._schema.frames[name].message
        is_empty = type(record) is dict and record.get("message", "") is None
        shown = name if is_empty else message_name(record, path)
        only(record, (*_MESSAGE_KEYS, "header", "code"), join(path, shown))
        here = join(path, name)
        if body is None:
            header, absent = self._fields(fields, part(record, "fields", here), here, name)
        else:
            block = self._schema.block_of(name, shown)
            outside = tuple(field for field in fields if field.name != block)
            header, absent = self._fields(outside, record.get("header", {}), here, name, without=body)
        frame = FrameValue(name, header, body=body)
        frame.absent = absent
        if body is not None and not is_empty:
            frame.message = self._message(record, path, ignore=("header",))
        return frame

    def _message(self, record: Any, path: str, *, ignore: tuple[str, ...] = ()) -> Record | Unknown:
        name = message_name(record, path)
        path = join(path, name)
        if any(self._schema.block_of(frame, name) for frame, _ in self._schema.divided):
            fields = part(record, "fields", path)
            only(fields, ("data",), path)
            return Record(name, {"data": octets(fields.get("data"), f"{path}.data")})
        if name == "Unknown" and name not in self._schema.messages:
            return self._unknown(record, path, ignore)
        if name not in self._schema.messages:
            raise _no_message(path, name)
        only(record, (*_MESSAGE_KEYS, *ignore), path)
        fields = self._schema.messages[name].fields
        values, absent = self._fields(fields, part(record, "fields", path), path, name)
        return Record(name, values, absent=absent)

    def _unknown(self, record: dict[str, Any], path: str, ignore: tuple[str, ...]) -> Unknown:
        only(record, (*_MESSAGE_KEYS, "code", *ignore), path)
        fields = part(record, "fields", path)
        only(fields, ("data",), path)
        code = record.get("code")
        return Unknown(
            None if code is None else integer(code, f"{path}.code"),
            octets(fields.get("data"), f"{path}.data"),
        )

    # ---- fields ----

    def _fields(
        self, fields: Fields, record: Any, path: str, name: str, *, without: str | None = None
    ) -> tuple[dict[str, Any], int]:
        """Return the values of a record's fields, and how many of the trailing ones are absent."""
        if type(record) is not dict:
            raise wrong(path, "an object", kind(record))
        shown = [field for field in flat_fields(fields) if not field.is_hidden and field.name != without]
        self._refuse_strangers(record, [field.name for field in shown], path, name)
        values: dict[str, Any] = {}
        unsure = unsure_names(fields)
        for field in shown:
            if field.name in record:
                values[field.name] = self._given(field, record[field.name], join(path, field.name))
            elif field.name not in unsure:
                self._add_missing(values, field, join(path, field.name))
            elif field.value is None and is_nullable(field.type):
                values[field.name] = None  # a null is left out, as what is absent is
        return values, _count_absent([field for field in shown if is_trailing(field)], record)

    def _refuse_strangers(self, record: dict[str, Any], known: list[str], path: str, name: str) -> None:
        views = [f"{field}_json" for field, form in self._views.get(name, {}).items() if form == "json"]
        for key in record:
            if key not in known and key not in views:
                raise wrong(path, ", ".join(known) or "no field", f"field {key[:64]!r}")

    def _given(self, field: Field, data: Any, path: str) -> Any:
        if data is None:
            if field.condition is None and not is_nullable(field.type):
                raise wrong(path, "a value", "null")
            return None
        return self.value(field.type, data, path)

    def _add_missing(self, values: dict[str, Any], field: Field, path: str) -> None:
        """Put the default of a field that a record leaves out."""
        if field.value is not None:
            default = default_of(field.value, field.type)
            if default is not None:
                values[field.name] = default
        elif field.condition is not None:
            values[field.name] = None
        else:
            raise wrong(path, "a value", "nothing")

    # ---- values ----

    def value(self, type_: Type, data: Any, path: str) -> Any:
        """Return the value that JSON stands for."""
        if data is None and is_nullable(type_):
            return None
        plain = PLAIN.get(type(type_))
        if plain is not None:
            return plain(type_, data, path)
        match type_:
            case EnumReference(name):
                return self._member(name, data, path)
            case List(item):
                return self._list(item, data, path)
            case StructReference(name):
                values, absent = self._fields(self._schema.structs[name], data, path, name)
                return Record(name, values, absent=absent)
            case UnionReference(name):
                return self._variety(name, data, path)
            case FrameReference(name):
                return self._frame(name, data, path)
            case Match():
                return self._arm(type_, data, path)
            case Region(inside):
                return self.value(inside, data, path)
            case _:
                return self._message(data, path)

    def _member(self, enum: str, data: Any, path: str) -> int:
        if type(data) is str and not is_number(data):
            number = next((each.value for each in self._plan.enums[enum].members if each.name == data), None)
            if number is None:
                raise EncodeError(
                    "invalid_enum", path=path, expected=f"a member of {enum}", found="another name"
                )
            return number
        return integer(data, path)

    def _list(self, item: Type, data: Any, path: str) -> list[Any]:
        if type(data) is not list:
            raise wrong(path, "a list", kind(data))
        return [self.value(item, part, f"{path}[{index}]") for index, part in enumerate(data)]

    def _variety(self, union: str, data: Any, path: str) -> Variety:
        if type(data) is not dict:
            raise wrong(path, f"a {union}", kind(data))
        for declared in self._plan.unions[union].varieties:
            name = declared.name
            if name in data:
                only(data, (name, "code"), path)
                values, absent = self._fields(declared.fields, data[name], f"{path}.{name}", name)
                variety = Variety(union, name, values, _code(declared.spans, data, f"{path}.{name}.code"))
                variety.absent = absent
                return variety
        raise wrong(path, f"a variety of {union}", "none")

    def _arm(self, type_: Match, data: Any, path: str) -> Any:
        """Return the value of a choice, by what its JSON looks like."""
        if type(data) is dict:
            named = [(arm, name) for arm, name in arm_names(type_).items() if name in data]
            if named:
                _, name = named[0]
                only(data, (name,), path)
                alike = [arm for arm, own in named if own == name]
                like = (arm for arm in alike if self._looks_like(arm, data[name]))
                return self.value(next(like, alike[0]), data[name], path)
        arms = [content(arm) for arm in leaf_arms(type_)]
        fitting = [arm for arm in arms if self._looks_like(arm, data)]
        if not fitting:
            raise wrong(path, "one of the choices", kind(data))
        return self.value(fitting[0], data, path)

    def _is_item(self, type_: Type, data: Any) -> bool:
        """Say whether JSON looks like an item of a list; there a struct stands without its name."""
        return type(data) is dict if isinstance(type_, StructReference) else self._looks_like(type_, data)

    def _looks_like(self, type_: Type, data: Any) -> bool:
        type_ = content(type_)
        match type_:
            case MessageReference() | FrameReference() | MessageMatch():
                return type(data) is dict and "message" in data
            case UnionReference(name):
                varieties = self._plan.unions[name].varieties
                return type(data) is dict and any(variety.name in data for variety in varieties)
            case StructReference():
                return False
            case Match():
                return any(self._looks_like(arm.type, data) for arm in value_arms(type_))
            case List(item):
                return type(data) is list and all(self._is_item(content(item), each) for each in data)
            case Float() | Text() if type(data) is dict:
                return data.keys() == {"hex"}  # the bytes of a NaN, or of text with lone surrogates
            case _:
                return type(data) not in (dict, list)


def _no_message(path: str, name: str) -> EncodeError:
    return wrong(path, "a message of the protocol", f"message {name[:64]!r}")


# A constant asks for no name.
_NO_SCOPE: Any = None


def default_of(given: FieldValue, type_: Type) -> Any:
    """Return the default of a field; None where only the other fields, or the message, tell, and writing finds it."""
    if not _is_constant(given.value) or isinstance(given, Default) and given.others:
        return None
    value = evaluate(given.value, _NO_SCOPE)
    if isinstance(type_, Uuid) and isinstance(value, bytes):
        return UUID(bytes=value)
    return list(value) if isinstance(value, tuple) else value


def _is_constant(expression: Expression) -> bool:
    """Say whether an expression has a value by itself."""
    if isinstance(expression, ListOf):
        return all(map(_is_constant, expression.items))
    return isinstance(expression, Number | Truth | String | Octets | Null)


def _count_absent(trailing: list[Field], record: dict[str, Any]) -> int:
    """Return how many fields at the end of the trailing ones a record leaves out."""
    absent = 0
    for field in reversed(trailing):
        if field.name in record:
            break
        absent += 1
    return absent


def _code(spans: tuple[Span, ...], data: dict[str, Any], path: str) -> int:
    """Return the code of a variety, which only one with several has to say."""
    if "code" in data:
        return integer(data["code"], path)
    if len(spans) > 1 or spans[0].low != spans[0].high:
        raise wrong(path, "a value", "nothing")
    return spans[0].low
