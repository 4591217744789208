"""JSON of plain values, strictly: values are not guessed, and only floats are rounded, to their own width."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from ..codec.errors import EncodeError
from ..codec.text import decode_text, encode_text
from ..lazy import Lazy
from ..reference.access import as_bytes, as_int, as_str
from ..reference.writing.cells import join
from ..schema.types import Bits, Boolean, Bytes, CodingReference, Float, Integer, Text, Uuid, Varint
from .types import is_wide

if TYPE_CHECKING:
    from ..reference.expressions import Value
    from ..schema.literals import Code
    from ..schema.protocol import Schema

__all__ = ["PLAIN", "integer", "is_number", "kind", "message_name", "octets", "only", "part", "wrong"]

_FLOAT_VALUE = Lazy("records.floats", "float_value")
_FLOAT_RECORD = Lazy("records.floats", "float_record")
_LONGEST_NUMBER = 80  # characters: more than any integer type can hold


def kind(data: object) -> str:
    """Return JSON's name of a value's kind."""
    if data is None:
        return "null"
    if isinstance(data, bool):
        return "a Boolean"
    if isinstance(data, int | float):
        return "a number"
    if isinstance(data, str):
        return "text"
    return "a list" if isinstance(data, list) else "an object"


def wrong(path: str, expected: str, found: str, code: Code = "invalid_value") -> EncodeError:
    return EncodeError(code, path=path, expected=expected, found=found)


def message_name(record: object, path: str) -> str:
    if type(record) is not dict:
        raise wrong(path, "a record with a message", kind(record))
    name = record.get("message")
    if type(name) is not str:
        raise wrong(join(path, "message"), "a name", kind(name))
    return name[:256]


def part(record: dict[str, object], key: str, path: str) -> Value:
    if key not in record:
        raise wrong(path, key, "nothing")
    return record[key]


def only(record: object, known: tuple[str, ...], path: str) -> None:
    if type(record) is not dict:
        raise wrong(path, "an object", kind(record))
    for key in record:
        if key not in known:
            raise wrong(path, ", ".join(known), f"field {key[:64]!r}")


# ---- plain values ----


def is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return 0 < len(digits) <= _LONGEST_NUMBER and digits.isascii() and digits.isdigit()


def integer(data: object, path: str) -> int:
    """Return an integer, written as a number or as its decimal digits."""
    if type(data) is int:
        return data
    if type(data) is str and is_number(data):
        return int(data)
    raise wrong(path, "an integer", kind(data))


def octets(data: object, path: str) -> bytes:
    if type(data) is not str:
        raise wrong(path, "hexadecimal text", kind(data))
    try:
        read = bytes.fromhex(data)
    except ValueError:
        raise wrong(path, "hexadecimal text", "other text") from None
    if 2 * len(read) != len(data):  # fromhex skips blanks
        raise wrong(path, "hexadecimal text", "other text")
    return read


def _flag(data: object, path: str) -> bool:
    if type(data) is not bool:
        raise wrong(path, "true or false", kind(data))
    return data


def _bits(type_: Bits, data: object, path: str) -> Value:
    return _flag(data, path) if type_.is_flag else integer(data, path)


def _text(type_: Text, data: Value, path: str) -> str:
    if type(data) is str:
        return data
    if type(data) is not dict:
        raise wrong(path, "text", kind(data))
    only(data, ("hex",), path)
    try:
        return decode_text(octets(data.get("hex"), path), type_.encoding, True, type_.endian)
    except UnicodeDecodeError:
        raise wrong(path, type_.encoding, "other bytes", "invalid_text") from None


def _uuid(type_: Uuid, data: object, path: str) -> UUID:
    if type(data) is not str:
        raise wrong(path, "a UUID", kind(data))
    try:
        return UUID(data if len(data) == 36 else "")  # UUID takes other forms too
    except ValueError:
        raise wrong(path, "a UUID", "other text") from None


def _text_record(_: Schema, type_: Text, value: str) -> Value:
    """Return text, or the bytes that it represents if it is not valid in its encoding."""
    text = as_str(value, "")
    if type_.encoding != "utf8" or not type_.is_lenient:
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        with suppress(UnicodeEncodeError):
            return {"hex": encode_text(text, type_.encoding, type_.is_lenient, type_.endian).hex()}
    return text


class Plain(NamedTuple):
    """The JSON of a plain type: `value(type, data, path)` reads it, `record(schema, type, value)` writes it."""

    value: Callable[[Value, Value, str], Value]
    record: Callable[[Schema, Value, Value], Value]


_NUMBER = Plain(
    lambda _, data, path: integer(data, path),
    lambda schema, type_, value: (str if is_wide(schema, type_) else int)(as_int(value, "")),
)
PLAIN: dict[type[object], Plain] = {
    Integer: _NUMBER,
    Varint: _NUMBER,
    CodingReference: _NUMBER,
    Boolean: Plain(lambda _, data, path: _flag(data, path), lambda _, type_, value: bool(as_int(value, ""))),
    Bits: Plain(_bits, lambda _, type_, value: (bool if type_.is_flag else int)(as_int(value, ""))),
    Float: Plain(
        lambda type_, data, path: float(_FLOAT_VALUE.load()(type_, data, path)),
        lambda _, type_, value: _FLOAT_RECORD.load()(value, type_),
    ),
    Uuid: Plain(_uuid, lambda _, type_, value: str(value)),
    Bytes: Plain(lambda _, data, path: octets(data, path), lambda _, type_, value: as_bytes(value, "").hex()),
    Text: Plain(_text, _text_record),
}
