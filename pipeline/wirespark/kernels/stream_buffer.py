"""The bytes of one direction that wait for the kernels, and the object path that takes them over where these give up.

The object path continues after the last frame that the kernels proved, and returns after its own last one.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from wirespark.kernels import ops
from wirespark.stream_rows import StreamRow, Walk

__all__ = ["StreamBuffer", "TimedBytes"]

_LEAST_WALK, _MOST_WALK = 1 << 12, 1 << 20
"""Bytes that the object path takes at a time: the more, the more often it is needed."""


class TimedBytes(NamedTuple):
    """Bytes that arrived together, at `time` in microseconds; a tuple because there is one for each packet.

    `data` is a view if the bytes before it were read already.
    """

    data: bytes | memoryview
    time: int | None


class StreamBuffer:
    """Bytes in pieces, each with its time.

    Attributes:
        walk: The object path; its offset is that of the first byte that waits.
        is_walking: Whether the object path reads the next bytes.
        waiting: The number of bytes in `pieces`.
    """

    __slots__ = ("_walk_size", "is_walking", "pieces", "waiting", "walk")

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.is_walking = not walk.is_free
        self.pieces: deque[TimedBytes] = deque()
        self.waiting = 0
        self._walk_size = _LEAST_WALK

    def add(self, data: bytes, time: int | None) -> None:
        if data:
            self.pieces.append(TimedBytes(data, time))
            self.waiting += len(data)

    def settle(self, size: int, reason: int) -> None:
        """Drop the bytes of frames that the kernels proved; `reason`: why these ended there, one of `ops`."""
        self.walk.move(size)
        self.waiting -= size
        self.is_walking = reason == ops.ODD
        if size >= self._walk_size:
            self._walk_size = _LEAST_WALK
        pieces = self.pieces
        while size:
            data, time = pieces.popleft()
            if len(data) > size:
                pieces.appendleft(TimedBytes(bytes(data[size:]), time))  # a view would keep all of it
                return
            size -= len(data)

    def step(self) -> list[StreamRow]:
        """Let the object path read a piece; take back the bytes after its last frame if it has no open state."""
        data, time = self.pieces.popleft()
        size = min(len(data), self._walk_size)
        if size < len(data):
            self.pieces.appendleft(TimedBytes(memoryview(data)[size:], time))
        self.waiting -= size
        before = self.walk.offset
        rows = list(self.walk.feed(bytes(data[:size]), time))
        if self.walk.is_free and self.walk.offset > before:
            rest = self.walk.release()
            if rest:
                self.pieces.appendleft(TimedBytes(rest, time))
            self.waiting += len(rest)
            self.is_walking = False
            self._walk_size = min(2 * self._walk_size, _MOST_WALK)
        return rows

    def rest(self) -> list[StreamRow]:
        """Let the object path read all remaining bytes."""
        self.is_walking = True
        rows: list[StreamRow] = []
        while self.waiting:
            data, time = self.pieces.popleft()
            self.waiting -= len(data)
            rows.extend(self.walk.feed(bytes(data), time))
        return rows
