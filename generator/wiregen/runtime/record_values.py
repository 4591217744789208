"""JSON records as values of the tree; strict about their shape, for a record may be anybody's."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from .cells import content, join
from .errors import EncodeError
from .expressions import evaluate
from .options import Options, Plan
from .record_types import arm_name, flat_fields, is_mixed, is_nullable, is_trailing
from .schema import Fields, Schema, Type
from .text import decode_text
from .tree import FrameValue, Record, Unknown, Variety

if TYPE_CHECKING:
    from .errors import Code

__all__ = ["ValueMaker"]

_LONGEST_NUMBER = 80  # characters: more than any integer type can hold
_MESSAGE_KEYS = ("message", "fields")


class ValueMaker:
    """Makes the values of one protocol."""

    def __init__(self, plan: Plan, options: Options) -> None:
        self._plan = plan
        self._schema = Schema(plan, options)
        self._views: dict[str, dict[str, str]] = plan.get("views", {})

    # ---- messages and frames ----

    def outermost(self, record: Any) -> FrameValue | Record:
        """Return the frame or preamble of a record."""
        name = _name(record, "")
        if name in self._schema.preambles:
            fields = self._schema.preambles[name][1]
            return Record(name, self._fields(fields, _part(record, "fields", name), name, name)[0])
        return self._frame(self._frame_of(name), record, "")

    def _frame_of(self, message: str) -> str:
        schema = self._schema
        if message in schema.frames:
            return message
        role = schema.role or (schema.messages[message][1] if message in schema.messages else None)
        if role is None and len(set(self._plan["sends"].values())) > 1:
            raise _wrong(message, "a role that sends it", "none")
        return schema.frame_of(role)

    def _frame(self, name: str, record: Any, path: str) -> FrameValue:
        _, fields, body = self._schema.frames[name]
        message_name = _name(record, path)
        _only(record, (*_MESSAGE_KEYS, "header", "code"), join(path, message_name))
        here = join(path, name)
        if body is None:
            header, absent = self._fields(fields, _part(record, "fields", here), here, name)
        else:
            header, absent = self._fields(fields, record.get("header", {}), here, name, without=body)
        frame = FrameValue(name, header, body=body)
        frame.absent = absent
        if body is not None:
            frame.message = self._message(record, path, ignore=("header",))
        return frame

    def _message(self, record: Any, path: str, *, ignore: tuple[str, ...] = ()) -> Record | Unknown:
        name = _name(record, path)
        path = join(path, name)
        if name == "Unknown" and name not in self._schema.messages:
            return self._unknown(record, path, ignore)
        if name not in self._schema.messages:
            raise _wrong(path, "a message of the protocol", "another")
        _only(record, (*_MESSAGE_KEYS, *ignore), path)
        fields = self._schema.messages[name][2]
        values, absent = self._fields(fields, _part(record, "fields", path), path, name)
        return Record(name, values, absent=absent)

    def _unknown(self, record: dict[str, Any], path: str, ignore: tuple[str, ...]) -> Unknown:
        _only(record, (*_MESSAGE_KEYS, "code", *ignore), path)
        fields = _part(record, "fields", path)
        _only(fields, ("data",), path)
        code = record.get("code")
        return Unknown(
            None if code is None else _integer(code, f"{path}.code"),
            _octets(fields.get("data"), f"{path}.data"),
        )

    # ---- fields ----

    def _fields(
        self, fields: Fields, record: Any, path: str, name: str, *, without: str | None = None
    ) -> tuple[dict[str, Any], int]:
        """Return the values of a record's fields, and how many of the trailing ones are absent."""
        if type(record) is not dict:
            raise _wrong(path, "an object", _kind(record))
        shown = [field for field in flat_fields(fields) if not field[1] and field[0] != without]
        self._refuse_strangers(record, [field[0] for field in shown], path, name)
        values: dict[str, Any] = {}
        for field in shown:
            if field[0] in record:
                values[field[0]] = self._given(field, record[field[0]], join(path, field[0]))
            else:
                self._add_missing(values, field, join(path, field[0]), is_free=field not in fields)
        return values, _count_absent([field for field in shown if is_trailing(field)], record)

    def _refuse_strangers(self, record: dict[str, Any], known: list[str], path: str, name: str) -> None:
        views = [f"{field}_json" for field, form in self._views.get(name, {}).items() if form == "json"]
        for key in record:
            if key not in known and key not in views:
                raise _wrong(path, ", ".join(known) or "no field", f"field {key[:64]!r}")

    def _given(self, field: tuple[Any, ...], data: Any, path: str) -> Any:
        if data is None:
            if field[4] is None and not is_nullable(field[2]):
                raise _wrong(path, "a value", "null")
            return None
        return self.value(field[2], data, path)

    def _add_missing(
        self, values: dict[str, Any], field: tuple[Any, ...], path: str, *, is_free: bool
    ) -> None:
        """Put the default of a field; `is_free`: it stands in a block, which may itself not be there."""
        if field[3] is not None:
            default = self._default(field)
            if default is not None:
                values[field[0]] = default
        elif field[4] is not None:
            values[field[0]] = None
        elif not is_free:
            raise _wrong(path, "a value", "nothing")

    def _default(self, field: tuple[Any, ...]) -> Any:
        """Return the default of a field; None where only the other fields tell, and writing finds it."""
        if not _is_constant(field[3][1]):
            return None
        value = evaluate(field[3][1], _NO_SCOPE)
        if field[2][0] == "uuid" and isinstance(value, bytes):
            return UUID(bytes=value)
        return list(value) if isinstance(value, tuple) else value

    # ---- values ----

    def value(self, type_: Type, data: Any, path: str) -> Any:
        """Return the value that JSON stands for."""
        if data is None and is_nullable(type_):
            return None
        plain = _PLAIN.get(type_[0])
        if plain is not None:
            return plain(type_, data, path)
        match type_[0]:
            case "enum":
                return self._member(type_[1], data, path)
            case "list":
                return self._list(type_[1], data, path)
            case "struct":
                values, absent = self._fields(self._schema.structs[type_[1]], data, path, type_[1])
                return Record(type_[1], values, absent=absent)
            case "union":
                return self._variety(type_[1], data, path)
            case "frame":
                return self._frame(type_[1], data, path)
            case "match":
                return self._arm(type_, data, path)
            case "region":
                return self.value(type_[1], data, path)
            case _:
                return self._message(data, path)

    def _member(self, enum: str, data: Any, path: str) -> int:
        if type(data) is str and not _is_number(data):
            number = next((number for number, name in self._plan["enums"][enum][2] if name == data), None)
            if number is None:
                raise EncodeError(
                    "invalid_enum", path=path, expected=f"a member of {enum}", found="another name"
                )
            return int(number)
        return _integer(data, path)

    def _list(self, item: Type, data: Any, path: str) -> list[Any]:
        if type(data) is not list:
            raise _wrong(path, "a list", _kind(data))
        return [self.value(item, part, f"{path}[{index}]") for index, part in enumerate(data)]

    def _variety(self, union: str, data: Any, path: str) -> Variety:
        if type(data) is not dict:
            raise _wrong(path, f"a {union}", _kind(data))
        for patterns, name, fields, _ in self._plan["unions"][union][1]:
            if name in data:
                _only(data, (name, "code"), path)
                values, absent = self._fields(fields, data[name], f"{path}.{name}", name)
                variety = Variety(union, name, values, _code(patterns, data, f"{path}.{name}.code"))
                variety.absent = absent
                return variety
        raise _wrong(path, f"a variety of {union}", "none")

    def _arm(self, type_: Type, data: Any, path: str) -> Any:
        """Return the value of a choice, by what its JSON looks like."""
        arms = [content(arm) for _, arm in type_[2]]
        if type(data) is dict:
            named = [arm for arm in arms if arm_name(arm) in data and (arm[0] == "struct" or is_mixed(type_))]
            if named:
                _only(data, (str(arm_name(named[0])),), path)
                return self.value(named[0], data[str(arm_name(named[0]))], path)
        fitting = [arm for arm in arms if self._looks_like(arm, data)]
        if not fitting:
            raise _wrong(path, "one of the choices", _kind(data))
        return self.value(fitting[0], data, path)

    def _looks_like(self, type_: Type, data: Any) -> bool:
        type_ = content(type_)
        match type_[0]:
            case "message" | "frame" | "message_match":
                return type(data) is dict and "message" in data
            case "union":
                names = [name for _, name, _, _ in self._plan["unions"][type_[1]][1]]
                return type(data) is dict and any(name in data for name in names)
            case "struct":
                return False
            case "match":
                return any(self._looks_like(arm, data) for _, arm in type_[2])
            case _:
                return not (type(data) is dict and "message" in data)


# A constant asks for no name.
_NO_SCOPE: Any = None


def _is_constant(expression: Any) -> bool:
    """Say whether an expression has a value by itself."""
    return expression[0] in ("number", "truth", "text", "octets", "null") or (
        expression[0] == "list" and all(map(_is_constant, expression[1]))
    )


def _count_absent(trailing: list[tuple[Any, ...]], record: dict[str, Any]) -> int:
    """Return how many fields at the end of the trailing ones a record leaves out."""
    absent = 0
    for field in reversed(trailing):
        if field[0] in record:
            break
        absent += 1
    return absent


def _code(patterns: tuple[tuple[int, int], ...], data: dict[str, Any], path: str) -> int:
    """Return the code of a variety, which only one with several has to say."""
    low, high = patterns[0]
    if "code" in data:
        return _integer(data["code"], path)
    if len(patterns) > 1 or low != high:
        raise _wrong(path, "a value", "nothing")
    return low


# ---- shape ----


def _kind(data: Any) -> str:
    """Return what JSON calls a value."""
    if data is None:
        return "null"
    if isinstance(data, bool):
        return "a Boolean"
    if isinstance(data, int | float):
        return "a number"
    if isinstance(data, str):
        return "text"
    return "a list" if isinstance(data, list) else "an object"


def _wrong(path: str, expected: str, found: str, code: Code = "invalid_value") -> EncodeError:
    return EncodeError(code, path=path, expected=expected, found=found)


def _name(record: Any, path: str) -> str:
    if type(record) is not dict:
        raise _wrong(path, "a record with a message", _kind(record))
    name = record.get("message")
    if type(name) is not str:
        raise _wrong(join(path, "message"), "a name", _kind(name))
    return name[:256]


def _part(record: dict[str, Any], key: str, path: str) -> Any:
    if key not in record:
        raise _wrong(path, key, "nothing")
    return record[key]


def _only(record: Any, known: tuple[str, ...], path: str) -> None:
    if type(record) is not dict:
        raise _wrong(path, "an object", _kind(record))
    for key in record:
        if key not in known:
            raise _wrong(path, ", ".join(known), f"field {key[:64]!r}")


# ---- plain values ----


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return 0 < len(digits) <= _LONGEST_NUMBER and digits.isascii() and digits.isdigit()


def _integer(data: Any, path: str) -> int:
    """Return an integer, written as a number or as its decimal digits."""
    if type(data) is int:
        return data
    if type(data) is str and _is_number(data):
        return int(data)
    raise _wrong(path, "an integer", _kind(data))


def _octets(data: Any, path: str) -> bytes:
    if type(data) is not str:
        raise _wrong(path, "hexadecimal text", _kind(data))
    # fromhex would skip blanks.
    if len(data) % 2 or not data.isascii() or not data.isalnum() and data:
        raise _wrong(path, "hexadecimal text", "other text")
    try:
        return bytes.fromhex(data)
    except ValueError:
        raise _wrong(path, "hexadecimal text", "other text") from None


def _flag(data: Any, path: str) -> bool:
    if type(data) is not bool:
        raise _wrong(path, "true or false", _kind(data))
    return data


def _bits(type_: Type, data: Any, path: str) -> Any:
    return _flag(data, path) if type_[2] else _integer(data, path)


def _float(type_: Type, data: Any, path: str) -> float:
    """Return a float as its type holds it."""
    _, size, endian = type_
    form = (">" if endian == "big" else "<") + ("f" if size == 4 else "d")
    if type(data) is dict:
        _only(data, ("hex",), path)
        octets = _octets(data.get("hex"), path)
        if len(octets) != size:
            raise _wrong(path, f"{size} bytes", f"{len(octets)} bytes")
        return float(struct.unpack(form, octets)[0])
    if type(data) not in (int, float):
        raise _wrong(path, "a number", _kind(data))
    try:
        return float(struct.unpack(form, struct.pack(form, data))[0])
    except (OverflowError, struct.error):
        raise _wrong(path, f"a {8 * size} bit float", "a larger number") from None


def _text(type_: Type, data: Any, path: str) -> str:
    if type(data) is str:
        return data
    if type(data) is not dict:
        raise _wrong(path, "text", _kind(data))
    _only(data, ("hex",), path)
    try:
        return decode_text(_octets(data.get("hex"), path), type_[1], True, type_[4])
    except UnicodeDecodeError:
        raise _wrong(path, str(type_[1]), "other bytes", "invalid_text") from None


def _uuid(type_: Type, data: Any, path: str) -> UUID:
    if type(data) is not str:
        raise _wrong(path, "a UUID", _kind(data))
    try:
        if len(data) != 36:
            raise ValueError
        return UUID(data)
    except ValueError:
        raise _wrong(path, "a UUID", "other text") from None


_PLAIN: dict[str, Callable[[Type, Any, str], Any]] = {
    "int": lambda _, data, path: _integer(data, path),
    "varint": lambda _, data, path: _integer(data, path),
    "coding": lambda _, data, path: _integer(data, path),
    "bool": lambda _, data, path: _flag(data, path),
    "bits": _bits,
    "float": _float,
    "uuid": _uuid,
    "bytes": lambda _, data, path: _octets(data, path),
    "text": _text,
}
