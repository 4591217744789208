"""Lumberjack's Json from segments, as written by hand: the minimum that keeps a stream linear.

It joins segments once, reads a header once a frame, and makes the checks of generated code on a valid
frame. It keeps no positions, names no limits or rules, and gives up at the first error.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from naive import Refused

HEAD = Struct(">BBII").unpack_from
HEAD_SIZE = 10
JSON = 0x4A
MAX_FRAME = 1 << 24
new = object.__new__


class Json:
    __slots__ = ("document", "sequence")

    document: bytes
    sequence: int


class Segments:
    """Messages out of segments; `feed` returns those that are complete."""

    __slots__ = ("_held", "_missing")

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._missing = 1

    def feed(self, segment: bytes) -> Iterator[Json]:
        self._missing -= len(segment)
        self._held.append(segment)
        return iter(()) if self._missing > 0 else self._messages()

    def _messages(self) -> Iterator[Json]:
        data = b"".join(self._held)
        position, end = 0, len(data)
        need = HEAD_SIZE
        while end - position >= HEAD_SIZE:
            version, code, sequence, size = HEAD(data, position)
            if version not in b"12" or code != JSON or size > MAX_FRAME:
                raise Refused
            need = HEAD_SIZE + size
            after = position + need
            if after > end:
                break
            message = new(Json)
            message.sequence = sequence
            message.document = data[position + HEAD_SIZE : after]
            yield message
            position, need = after, HEAD_SIZE
        self._held = [data[position:]]
        self._missing = need - (end - position)
