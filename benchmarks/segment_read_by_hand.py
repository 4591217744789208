"""Pravega's SegmentRead as somebody would write it by hand: with the same checks and tricks as generated code, and naively.

`careful_*` refuse what the protocol's file refuses, keep what it tolerates (a Boolean byte above 1, bytes left over, an
absent last field), and find the message by its code among others, as a codec of a whole protocol has to.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from naive import Reader, Refused

TYPE = struct.Struct(">i").unpack_from
HEAD = struct.Struct(">4xiH").unpack_from
MIDDLE = struct.Struct(">qBBi").unpack_from
ID = struct.Struct(">q").unpack_from
PACK_HEAD = struct.Struct(">iiH").pack
PACK_MIDDLE = struct.Struct(">qBBi").pack
PACK_ID = struct.Struct(">q").pack
MAX_BODY = (1 << 24) - 1
new = object.__new__


class SegmentRead:
    __slots__ = ("absent", "at_tail", "data", "end_of_segment", "offset", "request_id", "segment", "tail")

    def __init__(
        self,
        segment: str,
        offset: int,
        at_tail: bool,
        end_of_segment: bool,
        data: bytes,
        request_id: int = -1,
    ) -> None:
        self.segment = segment
        self.offset = offset
        self.at_tail = at_tail
        self.end_of_segment = end_of_segment
        self.data = data
        self.request_id = request_id
        self.absent = 0
        self.tail = b""

    def careful_encode(self) -> bytes:
        try:
            absent = self.absent
            if type(absent) is not int or not 0 <= absent <= 1:
                raise Refused
            segment = self.segment.encode()
            if not segment.isascii() or 0 in segment:
                segment = modified(self.segment)
            data = self.data
            at_tail, end_of_segment = self.at_tail, self.end_of_segment
            if type(data) is not bytes or type(at_tail) is not bool or type(end_of_segment) is not bool:
                raise Refused
            n, m = len(segment), len(data)
            last = PACK_ID(self.request_id) if absent < 1 else b""
            size = 16 + n + m + len(last)
            if size > MAX_BODY:
                raise Refused
            middle = PACK_MIDDLE(self.offset, at_tail, end_of_segment, m)
            return b"".join((PACK_HEAD(10, size, n), segment, middle, data, last))
        except (struct.error, AttributeError, TypeError) as error:
            raise Refused from error


def careful_decode(data: bytes) -> SegmentRead:
    end = len(data)
    try:
        message, position = READERS[TYPE(data, 0)[0]](data, 0, end)
        if position != end:
            raise Refused
        return message
    except (struct.error, KeyError, UnicodeDecodeError) as error:
        raise Refused from error


def _segment_read(data: bytes, offset: int, end: int) -> tuple[SegmentRead, int]:
    length, n = HEAD(data, offset)
    stop = offset + 8 + length
    if not 0 <= length <= MAX_BODY or stop > end:
        raise Refused
    start = offset + 10
    at = start + n
    raw = data[start:at]
    segment = raw.decode() if raw.isascii() and 0 not in raw else unmodified(raw)
    where, at_tail, end_of_segment, n = MIDDLE(data, at)
    if n < 0:
        raise Refused
    start = at + 14
    at = start + n
    body = data[start:at]
    request_id, absent = -1, 1
    if stop - at >= 8:
        (request_id,) = ID(data, at)
        absent = 0
        at += 8
    tail = b""
    if at != stop:
        if at > stop:
            raise Refused
        tail = data[at:stop]
    message = new(SegmentRead)
    message.segment = segment
    message.offset = where
    message.at_tail = at_tail != 0
    message.end_of_segment = end_of_segment != 0
    message.data = body
    message.request_id = request_id
    message.absent = absent
    message.tail = tail
    return message, stop


READERS: dict[int, Callable[[bytes, int, int], tuple[SegmentRead, int]]] = {10: _segment_read}


def modified(text: str) -> bytes:
    """Return modified UTF-8; two bytes for NUL, surrogates one by one."""
    units = text.encode("utf-16-be", "surrogatepass")
    pieces = (units[at : at + 2].decode("utf-16-be", "surrogatepass") for at in range(0, len(units), 2))
    return b"".join(b"\xc0\x80" if unit == "\0" else unit.encode("utf-8", "surrogatepass") for unit in pieces)


def unmodified(data: bytes) -> str:
    text = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    return text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")


def naive_decode(data: bytes) -> SegmentRead:
    reader = Reader(data)
    if reader.number(">i") != 10:
        raise Refused
    length = reader.number(">i")
    if length != len(data) - 8:
        raise Refused
    segment = reader.take(reader.number(">H")).decode()
    offset = reader.number(">q")
    at_tail, end_of_segment = reader.number(">B") != 0, reader.number(">B") != 0
    body = reader.take(reader.number(">i"))
    request_id = reader.number(">q") if len(data) - reader.at >= 8 else -1
    return SegmentRead(segment, offset, at_tail, end_of_segment, body, request_id)


def naive_encode(message: SegmentRead) -> bytes:
    segment = message.segment.encode()
    body = struct.pack(">H", len(segment)) + segment
    body += struct.pack(">q", message.offset)
    body += struct.pack(">B", message.at_tail) + struct.pack(">B", message.end_of_segment)
    body += struct.pack(">i", len(message.data)) + message.data
    body += struct.pack(">q", message.request_id)
    return struct.pack(">i", 10) + struct.pack(">i", len(body)) + body
