"""The bytes of one direction that wait for the kernels, and the object path that takes them over where these give up.

The object path continues after the last frame that the kernels proved, and returns after its own last one.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice

from wirespark.kernels import ops
from wirespark.stream_rows import StreamRow, Walk
from wirespark.timed_bytes import TimedBytes

__all__ = ["StreamBuffer"]

_new = tuple.__new__  # faster than the generated `__new__` of a named tuple
_LEAST_WALK, _MOST_WALK = 1 << 12, 1 << 20
"""Bytes that the object path takes at a time: the more, the more often it is needed."""
_LEAST_SCAN = 1 << 14
"""Bytes that the kernels are given after they gave up: twice as many each time until they do so again."""


class StreamBuffer:
    """Bytes in pieces, each with its time.

    Attributes:
        walk: The object path; its offset is that of the first byte that waits.
        is_walking: Whether the object path reads the next bytes.
        has_more: Whether more bytes wait than the last scan was given.
        waiting: The number of bytes in `pieces`.
    """

    __slots__ = ("_scan_size", "_walk_size", "has_more", "is_walking", "pieces", "waiting", "walk")

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.is_walking = not walk.is_free
        self.has_more = False
        self.pieces: deque[TimedBytes] = deque()
        self.waiting = 0
        self._walk_size = _LEAST_WALK
        self._scan_size = sys.maxsize

    def add(self, data: bytes, time: int | None) -> None:
        if data:
            self.pieces.append(_new(TimedBytes, (data, time)))
            self.waiting += len(data)

    def extend(self, pieces: Sequence[bytes], times: Iterable[int]) -> int:
        """Add pieces, each with its time; return the number of their bytes."""
        n_bytes = sum(map(len, pieces))
        self.pieces.extend(map(TimedBytes._make, zip(pieces, times, strict=True)))
        self.waiting += n_bytes
        return n_bytes

    @property
    def scanned(self) -> int:
        """Return the number of bytes for the next scan."""
        return min(self.waiting, self._scan_size)

    def scanned_pieces(self) -> list[TimedBytes]:
        """Return the bytes for the next scan."""
        left, n_whole = self.scanned, 0
        if left == self.waiting:
            return list(self.pieces)
        for piece in self.pieces:
            if len(piece.data) > left:
                break
            left -= len(piece.data)
            n_whole += 1
        found = list(islice(self.pieces, n_whole))
        return [*found, TimedBytes(memoryview(piece.data)[:left], piece.time)] if left else found

    def settle(self, size: int, reason: int) -> None:
        """Drop the bytes of frames that the kernels proved; `reason`: why these ended there, one of `ops`."""
        self.has_more = self.waiting > self._scan_size
        self.is_walking = reason == ops.ODD
        if self.is_walking:
            self._scan_size = _LEAST_SCAN
        elif self._scan_size < sys.maxsize:
            self._scan_size = min(2 * self._scan_size, sys.maxsize)
        if size >= self._walk_size:
            self._walk_size = _LEAST_WALK
        self.walk.move(size)
        self.waiting -= size
        self._drop(size)

    def step(self) -> list[StreamRow]:
        """Let the object path read some bytes; take back those after its last frame if it has no open state."""
        before, left = self.walk.offset, self._walk_size
        rows: list[StreamRow] = []
        while left and self.waiting:
            data, time = self._taken(left)
            self.waiting -= len(data)
            left -= len(data)
            rows += self.walk.feed(bytes(data), time)
        if self.walk.is_free and self.walk.offset > before:
            rest = self.walk.release()
            self.pieces.extendleft(reversed(rest))
            self.waiting += sum(len(piece.data) for piece in rest)
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

    def _drop(self, size: int) -> None:
        """Drop so many bytes; keep no others alive than those that wait."""
        pieces = self.pieces
        while pieces:
            data, time = pieces[0]
            if len(data) > size:
                if size or isinstance(data, memoryview):
                    pieces[0] = _new(TimedBytes, (_rest(data, size), time))
                return
            size -= len(data)
            pieces.popleft()

    def _taken(self, size: int) -> TimedBytes:
        """Drop and return the first piece, or so many bytes of it."""
        data, time = self.pieces.popleft()
        if len(data) <= size:
            return TimedBytes(data, time)
        whole = memoryview(data)
        self.pieces.appendleft(TimedBytes(whole[size:], time))
        return TimedBytes(whole[:size], time)


def _rest(data: bytes | memoryview, size: int) -> bytes | memoryview:
    """Return all but so many bytes; as a view, unless it would keep more than twice its own size alive."""
    rest = memoryview(data)[size:]
    return bytes(rest) if 2 * len(rest) < memoryview(rest.obj).nbytes else rest
