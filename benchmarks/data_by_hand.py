"""Lumberjack's Data and Window as somebody would write them by hand: once with the same care, once without any.

`careful_*` check what the generated code checks and use the same tricks of CPython; `naive_*` are what one writes first.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from naive import Reader, Refused

HEAD = struct.Struct(">BxII").unpack_from
SMALL = struct.Struct(">BxI").unpack_from
U32 = struct.Struct(">I").unpack_from
PACK_HEAD = struct.Struct(">BBII").pack
PACK_SMALL = struct.Struct(">BBI").pack
PACK_U32 = struct.Struct(">I").pack
PREFIXES = tuple(n.to_bytes(4, "big") for n in range(256))
VERSIONS = {0x31: 1, 0x32: 2}
MAX_FRAME, MAX_PAIRS = 1 << 24, 65536
new = object.__new__


class Pair:
    __slots__ = ("key", "value")

    def __init__(self, key: str, value: str) -> None:
        self.key = key
        self.value = value


class Data:
    __slots__ = ("pairs", "sequence")

    def __init__(self, sequence: int, pairs: list[Pair]) -> None:
        self.sequence = sequence
        self.pairs = pairs

    def careful_encode(self, *, version: int = 0x32) -> bytes:
        try:
            return _encoded_data(self, version)
        except (struct.error, AttributeError, TypeError) as error:
            raise Refused from error


class Window:
    __slots__ = ("size",)

    def __init__(self, size: int) -> None:
        self.size = size

    def careful_encode(self, *, version: int = 0x32) -> bytes:
        try:
            if version not in VERSIONS:
                raise Refused
            return PACK_SMALL(version, 0x57, self.size)
        except struct.error as error:
            raise Refused from error


def careful_decode(data: bytes) -> Data | Window:
    end = len(data)
    try:
        message, at = READERS[data[1]](data, 0, end)
        if at != end:
            raise Refused
        return message
    except (struct.error, IndexError, KeyError) as error:
        raise Refused from error


def _careful_window(data: bytes, at: int, end: int) -> tuple[Window, int]:
    version, size = SMALL(data, at)
    if version not in VERSIONS or at + 6 > end:
        raise Refused
    message = new(Window)
    message.size = size
    return message, at + 6


def _careful_data(data: bytes, offset: int, end: int) -> tuple[Data, int]:
    version, sequence, count = HEAD(data, offset)
    at = offset + 10
    if version not in VERSIONS or count > MAX_PAIRS or count * 8 > end - at:
        raise Refused
    pairs = []
    for _ in range(count):
        (size,) = U32(data, at)
        start = at + 4
        at = start + size
        try:
            key = data[start:at].decode()
        except UnicodeDecodeError:
            key = data[start:at].decode("utf-8", "surrogateescape")
        (size,) = U32(data, at)
        start = at + 4
        at = start + size
        try:
            value = data[start:at].decode()
        except UnicodeDecodeError:
            value = data[start:at].decode("utf-8", "surrogateescape")
        pair = new(Pair)
        pair.key = key
        pair.value = value
        pairs.append(pair)
    if at > end or at - offset > MAX_FRAME:
        raise Refused
    message = new(Data)
    message.sequence = sequence
    message.pairs = pairs
    return message, at


READERS: dict[int, Callable[[bytes, int, int], tuple[Data | Window, int]]] = {
    0x44: _careful_data,
    0x57: _careful_window,
}


def _encoded_data(message: Data, version: int) -> bytes:
    pairs = message.pairs
    count = len(pairs)
    if type(pairs) is not list or version not in VERSIONS or count > MAX_PAIRS:
        raise Refused
    parts = [PACK_HEAD(version, 0x44, message.sequence, count)]
    for pair in pairs:
        try:
            key = pair.key.encode()
        except UnicodeEncodeError:
            key = pair.key.encode("utf-8", "surrogateescape")
        try:
            value = pair.value.encode()
        except UnicodeEncodeError:
            value = pair.value.encode("utf-8", "surrogateescape")
        n, m = len(key), len(value)
        parts += (
            PREFIXES[n] if n < 256 else PACK_U32(n),
            key,
            PREFIXES[m] if m < 256 else PACK_U32(m),
            value,
        )
    data = b"".join(parts)
    if len(data) > MAX_FRAME:
        raise Refused
    return data


def naive_decode(data: bytes) -> Data | Window:
    reader = Reader(data)
    version, kind = reader.number(">B"), reader.number(">B")
    if version not in (0x31, 0x32):
        raise Refused
    message: Data | Window
    if kind == 0x57:
        message = Window(reader.number(">I"))
    elif kind == 0x44:
        sequence, count = reader.number(">I"), reader.number(">I")
        message = Data(sequence, [Pair(_naive_text(reader), _naive_text(reader)) for _ in range(count)])
    else:
        raise Refused
    if reader.at != len(data):
        raise Refused
    return message


def _naive_text(reader: Reader) -> str:
    return reader.take(reader.number(">I")).decode("utf-8", "surrogateescape")


def naive_encode_window(message: Window, version: int) -> bytes:
    return struct.pack(">B", version) + struct.pack(">B", 0x57) + struct.pack(">I", message.size)


def naive_encode_data(message: Data, version: int) -> bytes:
    data = struct.pack(">B", version) + struct.pack(">B", 0x44)
    data += struct.pack(">I", message.sequence) + struct.pack(">I", len(message.pairs))
    for pair in message.pairs:
        for text in (pair.key, pair.value):
            encoded = text.encode("utf-8", "surrogateescape")
            data += struct.pack(">I", len(encoded)) + encoded
    return data
