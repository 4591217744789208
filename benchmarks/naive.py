"""A typical first implementation: a cursor with a method for each type, and a format string at each call."""

from __future__ import annotations

import struct


class Refused(Exception):
    """A value or bytes that are refused."""


class Reader:
    """A cursor over bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        piece = self.data[self.at : self.at + size]
        if size < 0 or len(piece) != size:
            raise Refused
        self.at += size
        return piece

    def number(self, format_: str) -> int:
        return int(struct.unpack(format_, self.take(struct.calcsize(format_)))[0])

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise Refused


def varint(value: int) -> bytes:
    """Return a number as LEB128."""
    data = b""
    while value > 127:
        data += bytes([value & 127 | 128])
        value >>= 7
    return data + bytes([value])
