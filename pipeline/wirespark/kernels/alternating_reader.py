"""One direction of a connection, read by the kernels and by the object path (the walk) in turn.

Invariant: the rows are those of the object path alone. A frame that the kernels prove is one that it
decodes. Where the kernels stop, it takes over; without an open error it gives back the bytes after its last
frame. The last frame of each is confirmed by the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from wirespark.decoders import has_context
from wirespark.kernels import ops
from wirespark.kernels.scanner import Scanned, Scanner
from wirespark.kernels.stream_buffer import StreamBuffer
from wirespark.options import Wishes
from wirespark.stream_rows import StreamRow, Walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AlternatingReader", "Part", "Stretch"]

_WORTH = 1 << 16
"""Bytes that are worth a scan at least; fewer wait."""


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


class AlternatingReader:
    """Bytes in, frames out. `worth`: the bytes that wait for a scan, unless frames change how later ones are read."""

    def __init__(self, wishes: Wishes, scanner: Scanner, walk: Walk, worth: int = _WORTH) -> None:
        self._scanner = scanner
        self._walk = walk
        self._buffer = StreamBuffer(walk)
        self._least = self._needed = 1 if has_context(wishes.package) else max(_WORTH, worth)

    def feed(self, data: bytes, time: int | None = None) -> Iterator[Part]:
        """Take the next bytes; they are scanned when there are enough."""
        self._buffer.add(data, time)
        if self._buffer.waiting >= self._needed:
            yield from self.drain()

    def drain(self) -> Iterator[Part]:
        """Read all waiting bytes, up to a frame that is cut off."""
        while self._buffer.waiting:
            if self._buffer.is_walking:
                yield self._buffer.step()
                self._needed = self._least
                continue
            yield from self._scan()
            if not (self._buffer.is_walking or self._buffer.has_more):
                return

    def gap(self, size: int, time: int | None = None) -> Iterator[Part]:
        yield from self._rest()
        yield list(self._walk.gap(size, time))

    def finish(self, time: int | None = None) -> Iterator[Part]:
        yield from self._rest()
        yield list(self._walk.finish(time))

    # ---- the two in turn

    def _scan(self) -> Iterator[Part]:
        """Scan whole frames, up to bytes that need the object path."""
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
        self._buffer.settle(start, reason)
        least = self._buffer.waiting + self._least
        self._needed = self._least if reason == ops.ODD else max(least, needed)

    def _rest(self) -> Iterator[Part]:
        """Let the object path read all remaining bytes."""
        yield from self.drain()
        yield self._buffer.rest()

    # ---- waiting bytes

    def _window(self) -> tuple[bytes | memoryview, list[tuple[int, int]] | None]:
        """Return the bytes of a scan as one, with the end and the time of each piece, or without times if these are unknown."""
        pieces = self._buffer.scanned_pieces()
        first, *others = pieces
        window = b"".join(piece.data for piece in pieces) if others else first.data
        if first.time is None:
            return window, None
        ends = np.cumsum([len(piece.data) for piece in pieces]).tolist()
        return window, [(end, piece.time or 0) for end, piece in zip(ends, pieces, strict=True)]


def _times(frames: NDArray[np.int64], times: list[tuple[int, int]]) -> NDArray[np.int64]:
    """Return the time of the last byte of each frame."""
    ends = np.array([end for end, _ in times])
    return np.array([time for _, time in times])[np.searchsorted(ends, frames[:, 1])]
