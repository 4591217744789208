"""One direction of a connection, read by the kernels and by the object path (the walk) in turn.

Invariant: the rows are those of the object path alone. A frame that the kernels prove is one that it
decodes. Where the kernels stop, it takes over; without an open error it gives back the bytes after its last
frame. The last frame of each is confirmed by the next one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from wirespark.decoders import has_context
from wirespark.kernels import ops
from wirespark.kernels.scanner import Scanned, Scanner
from wirespark.options import Wishes
from wirespark.stream_rows import StreamRow, Walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Part", "Relay", "Stretch"]

_WORTH = 1 << 16
"""Bytes that are worth a scan; fewer wait."""
_LEAST_WALK, _MOST_WALK = 1 << 12, 1 << 20
"""Bytes that the object path takes at a time: the more, the more often it is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Frames of a scan, to be read before the next scan; `base`: the offset of data[0] in the stream.

    Attributes:
        times: The time of the last byte of each frame, or None if unknown.
    """

    data: NDArray[np.uint8]
    found: Scanned
    base: int
    times: NDArray[np.int64] | None


Part: TypeAlias = Stretch | list[StreamRow]


class Relay:
    """Bytes in, frames out; `_pieces` wait for a scan, each with its time."""

    def __init__(self, wishes: Wishes, scanner: Scanner, walk: Walk) -> None:
        self._scanner = scanner
        self._walk = walk
        self._is_walking = not walk.is_free
        self._pieces: deque[tuple[bytes, int | None]] = deque()
        self._waiting = 0
        self._least = self._needed = 1 if has_context(wishes.package) else _WORTH
        self._walk_size = _LEAST_WALK

    def feed(self, data: bytes, time: int | None = None) -> Iterator[Part]:
        """Take the next bytes; they are scanned when there are enough."""
        if data:
            self._pieces.append((data, time))
            self._waiting += len(data)
        if self._waiting >= self._needed:
            yield from self.drain()

    def drain(self) -> Iterator[Part]:
        """Read all waiting bytes, up to a frame that is cut off."""
        while self._waiting:
            if self._is_walking:
                yield self._step()
                continue
            yield from self._scan()
            if not self._is_walking:
                return

    def gap(self, size: int, time: int | None = None) -> Iterator[Part]:
        yield from self._rest()
        yield list(self._walk.gap(size, time))

    def finish(self, time: int | None = None) -> Iterator[Part]:
        yield from self._rest()
        yield list(self._walk.finish(time))

    # ---- the two in turn

    def _scan(self) -> Iterator[Part]:
        """Scan whole frames, and set `_is_walking` if the bytes after them need the object path."""
        window, times = self._window()
        data = np.frombuffer(window, np.uint8)
        base, start, reason = self._walk.offset, 0, ops.FULL
        while reason == ops.FULL:
            found = self._scanner.scan(data, start)
            if found.is_any:
                yield list(self._walk.confirm())
            if found.end > start:
                when = None if times is None else _times(found.frames, times)
                yield Stretch(data=data, found=found, base=base, times=when)
            start, reason, needed = found.end, found.reason, found.needed
        self._walk.move(start)
        self._drop(start)
        if start >= self._walk_size:
            self._walk_size = _LEAST_WALK
        self._is_walking = reason == ops.ODD
        self._needed = max(self._waiting + self._least, needed) if reason != ops.ODD else self._least

    def _step(self) -> list[StreamRow]:
        """Let the object path read a piece; take back the bytes after its last frame if it has no open state."""
        data, time = self._pieces.popleft()
        size = min(len(data), self._walk_size)
        if size < len(data):
            self._pieces.appendleft((data[size:], time))
        self._waiting -= size
        before = self._walk.offset
        rows = list(self._walk.feed(data[:size], time))
        self._needed = self._least
        if self._walk.is_free and self._walk.offset > before:
            rest = self._walk.release()
            if rest:
                self._pieces.appendleft((rest, time))
            self._waiting += len(rest)
            self._is_walking = False
            self._walk_size = min(2 * self._walk_size, _MOST_WALK)
        return rows

    def _rest(self) -> Iterator[Part]:
        """Let the object path read all remaining bytes."""
        yield from self.drain()
        self._is_walking = True
        while self._waiting:
            data, time = self._pieces.popleft()
            self._waiting -= len(data)
            yield list(self._walk.feed(data, time))

    # ---- waiting bytes

    def _window(self) -> tuple[bytes, list[tuple[int, int]] | None]:
        """Return all waiting bytes as one, with the end and the time of each piece, or without times if
        these are unknown.
        """
        pieces = list(self._pieces)
        window = pieces[0][0] if len(pieces) == 1 else b"".join(data for data, _ in pieces)
        if all(time is None for _, time in pieces):
            self._pieces = deque([(window, None)])
            return window, None
        ends = np.cumsum([len(data) for data, _ in pieces]).tolist()
        return window, [(end, time or 0) for end, (_, time) in zip(ends, pieces, strict=True)]

    def _drop(self, size: int) -> None:
        self._waiting -= size
        while size:
            data, time = self._pieces.popleft()
            if len(data) > size:
                self._pieces.appendleft((data[size:], time))
                return
            size -= len(data)


def _times(frames: NDArray[np.int64], times: list[tuple[int, int]]) -> NDArray[np.int64]:
    """Return the time of the last byte of each frame."""
    ends = np.array([end for end, _ in times])
    return np.array([time for _, time in times])[np.searchsorted(ends, frames[:, 1])]
