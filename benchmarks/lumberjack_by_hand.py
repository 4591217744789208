"""Lumberjack's Data and Window as somebody would write them by hand: once with the same care, once without any.

`careful_*` check what the generated code checks and use the same tricks of CPython; `naive_*` are what one writes first.
"""

from __future__ import annotations

import struct

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


class Refused(Exception):
    pass


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


class Window:
    __slots__ = ("size",)

    def __init__(self, size: int) -> None:
        self.size = size


def careful_decode(data: bytes) -> Data | Window:
    try:
        if data[1] == 0x44:
            return _careful_data(data)
        if data[1] == 0x57:
            return _careful_window(data)
    except (struct.error, IndexError) as error:
        raise Refused from error
    raise Refused


def _careful_window(data: bytes) -> Window:
    version, size = SMALL(data, 0)
    if version not in VERSIONS or len(data) != 6:
        raise Refused
    message = new(Window)
    message.size = size
    return message


def _careful_data(data: bytes) -> Data:
    end = len(data)
    version, sequence, count = HEAD(data, 0)
    if version not in VERSIONS or count > MAX_PAIRS or count * 8 > end - 10 or end > MAX_FRAME:
        raise Refused
    at = 10
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
    if at != end:
        raise Refused
    message = new(Data)
    message.sequence = sequence
    message.pairs = pairs
    return message


def careful_encode_window(message: Window, version: int) -> bytes:
    if version not in VERSIONS:
        raise Refused
    return PACK_SMALL(version, 0x57, message.size)


def careful_encode_data(message: Data, version: int) -> bytes:
    count = len(message.pairs)
    if version not in VERSIONS or count > MAX_PAIRS:
        raise Refused
    parts = [PACK_HEAD(version, 0x44, message.sequence, count)]
    for pair in message.pairs:
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


class _Reader:
    """What one writes first: a cursor with a method for each type."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        piece = self.data[self.at : self.at + size]
        if len(piece) != size:
            raise Refused
        self.at += size
        return piece

    def u8(self) -> int:
        return int(struct.unpack(">B", self.take(1))[0])

    def u32(self) -> int:
        return int(struct.unpack(">I", self.take(4))[0])

    def text(self) -> str:
        return self.take(self.u32()).decode("utf-8", "surrogateescape")


def naive_decode(data: bytes) -> Data | Window:
    reader = _Reader(data)
    version, kind = reader.u8(), reader.u8()
    if version not in (0x31, 0x32):
        raise Refused
    message: Data | Window
    if kind == 0x57:
        message = Window(reader.u32())
    elif kind == 0x44:
        sequence, count = reader.u32(), reader.u32()
        message = Data(sequence, [Pair(reader.text(), reader.text()) for _ in range(count)])
    else:
        raise Refused
    if reader.at != len(data):
        raise Refused
    return message


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
