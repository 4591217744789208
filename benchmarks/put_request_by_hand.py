"""Geode's PutRequest by hand: a header, a name, and three tagged values of which the last comes in chunks.

Values are found by their type code in a table, as there are some sixty of them; those that the message
needs are written out. The checks are those of generated code; a frame's metadata is refused rather than
read.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from naive import Reader, Refused
from segment_read_by_hand import modified, unmodified

HEAD = struct.Struct(">iiBBhb").unpack_from
U16 = struct.Struct(">H").unpack_from
I32 = struct.Struct(">i").unpack_from
CHUNK = struct.Struct(">iB").unpack_from
PACK_HEAD = struct.Struct(">iiBBhbH").pack
PACK_TEXT = struct.Struct(">BH").pack
PACK_INTEGER = struct.Struct(">Bi").pack
PACK_CHUNK = struct.Struct(">iB").pack
MAX_FRAME = 1 << 24
new = object.__new__


class Integer:
    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value


class Null:
    __slots__ = ()


class StringBytes:
    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value = value


Value = Integer | Null | StringBytes


class PutRequest:
    __slots__ = ("callback_arg", "key", "region_name", "value")

    def __init__(self, region_name: str, key: Value, callback_arg: Value, value: Value) -> None:
        self.region_name = region_name
        self.key = key
        self.callback_arg = callback_arg
        self.value = value

    def careful_encode(self, *, correlation_id: int, is_partial: bool = False) -> bytes:
        try:
            name = self.region_name.encode()
            if not name.isascii() or 0 in name:
                name = modified(self.region_name)
            key, callback_arg, value = self.key, self.callback_arg, self.value
            if type(key) not in KEYS or type(is_partial) is not bool:
                raise Refused
            key_data = WRITERS[type(key)](key)
            callback_data = WRITERS[type(callback_arg)](callback_arg)
            value_data = WRITERS[type(value)](value)
            n = len(name)
            size = 10 + n + len(key_data) + len(callback_data) + len(value_data)
            if size + 10 > MAX_FRAME:
                raise Refused
            head = PACK_HEAD(size, correlation_id, is_partial, 0, 3, 1, n)
            chunk = PACK_CHUNK(len(value_data), 0)
            return b"".join((head, name, key_data, callback_data, chunk, value_data))
        except (struct.error, KeyError, TypeError, AttributeError, UnicodeEncodeError) as error:
            raise Refused from error


def _write_integer(value: Integer) -> bytes:
    return PACK_INTEGER(57, value.value)


def _write_null(value: Null) -> bytes:
    return b"\x29"


def _write_text(value: StringBytes) -> bytes:
    text = value.value.encode("ascii")
    return PACK_TEXT(87, len(text)) + text


WRITERS: dict[type, Callable[..., bytes]] = {
    Integer: _write_integer,
    Null: _write_null,
    StringBytes: _write_text,
}
KEYS = frozenset((Integer, StringBytes))


def careful_decode(data: bytes) -> PutRequest:
    end = len(data)
    try:
        size, _, is_partial, has_metadata, api, version = HEAD(data, 0)
        if is_partial > 1 or has_metadata or version != 1 or size + 10 != end or end > MAX_FRAME:
            raise Refused
        message, at = APIS[api](data, 13, end)
        if at != end:
            raise Refused
        return message
    except (struct.error, KeyError, IndexError, UnicodeDecodeError) as error:
        raise Refused from error


def _put_request(data: bytes, at: int, end: int) -> tuple[PutRequest, int]:
    (n,) = U16(data, at)
    start = at + 2
    at = start + n
    raw = data[start:at]
    region_name = raw.decode() if raw.isascii() and 0 not in raw else unmodified(raw)
    key, at = READERS[data[at]](data, at + 1)
    if type(key) not in KEYS:
        raise Refused
    callback_arg, at = READERS[data[at]](data, at + 1)
    pieces = []
    while True:
        n, more = CHUNK(data, at)
        if n < 0:
            raise Refused
        start = at + 5
        at = start + n
        pieces.append(data[start:at])
        if more == 0:
            break
    if at > end:
        raise Refused
    inner = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    value, stop = READERS[inner[0]](inner, 1)
    if stop != len(inner):
        raise Refused
    message = new(PutRequest)
    message.region_name = region_name
    message.key = key
    message.callback_arg = callback_arg
    message.value = value
    return message, at


def _read_integer(data: bytes, at: int) -> tuple[Value, int]:
    (number,) = I32(data, at)
    value = new(Integer)
    value.value = number
    return value, at + 4


def _read_null(data: bytes, at: int) -> tuple[Value, int]:
    return new(Null), at


def _read_text(data: bytes, at: int) -> tuple[Value, int]:
    (n,) = U16(data, at)
    start = at + 2
    at = start + n
    value = new(StringBytes)
    value.value = data[start:at].decode("ascii")
    return value, at


READERS: dict[int, Callable[[bytes, int], tuple[Value, int]]] = {
    57: _read_integer,
    41: _read_null,
    87: _read_text,
}
APIS: dict[int, Callable[[bytes, int, int], tuple[PutRequest, int]]] = {3: _put_request}


def naive_decode(data: bytes) -> PutRequest:
    reader = Reader(data)
    size = reader.number(">i")
    reader.number(">i")
    if reader.number(">B") > 1 or reader.number(">B") or size != len(data) - 10:
        raise Refused
    if reader.number(">h") != 3 or reader.number(">b") != 1:
        raise Refused
    name = reader.take(reader.number(">H")).decode()
    key, callback_arg = _naive_value(reader), _naive_value(reader)
    inner = b""
    while True:
        n, more = reader.number(">i"), reader.number(">B")
        inner += reader.take(n)
        if not more:
            break
    return PutRequest(name, key, callback_arg, _naive_value(Reader(inner)))


def _naive_value(reader: Reader) -> Value:
    code = reader.number(">B")
    if code == 57:
        return Integer(reader.number(">i"))
    if code == 41:
        return Null()
    if code == 87:
        return StringBytes(reader.take(reader.number(">H")).decode("ascii"))
    raise Refused


def naive_encode(message: PutRequest, correlation_id: int) -> bytes:
    name = message.region_name.encode()
    body = (
        struct.pack(">H", len(name)) + name + _naive_bytes(message.key) + _naive_bytes(message.callback_arg)
    )
    value = _naive_bytes(message.value)
    body += struct.pack(">i", len(value)) + struct.pack(">B", 0) + value
    body = struct.pack(">h", 3) + struct.pack(">b", 1) + body
    head = struct.pack(">i", len(body)) + struct.pack(">i", correlation_id)
    return head + struct.pack(">B", 0) + struct.pack(">B", 0) + body


def _naive_bytes(value: Value) -> bytes:
    if isinstance(value, Integer):
        return struct.pack(">B", 57) + struct.pack(">i", value.value)
    if isinstance(value, Null):
        return struct.pack(">B", 41)
    text = value.value.encode("ascii")
    return struct.pack(">B", 87) + struct.pack(">H", len(text)) + text
