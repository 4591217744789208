"""Pieces of a stream with the times at which they arrived."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

__all__ = ["PieceTimes", "TimedBytes"]

_PIECES = 32
"""Pieces whose times are kept although they are read."""


class TimedBytes(NamedTuple):
    """Bytes that arrived together, at `time` in microseconds; a tuple because there is one for each packet.

    `data` is a view if the bytes before it were read already.
    """

    data: bytes | memoryview
    time: int | None


class PieceTimes:
    """The times of pieces of a stream, by the offsets at which they end. Without times nothing is kept."""

    __slots__ = ("_ends", "_times")

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._times: list[int] = []

    def add(self, end: int, time: int | None, begin: int) -> None:
        """Add a piece; those that end before the offset `begin` are not asked for any more."""
        if time is None:
            return
        self._ends.append(end)
        self._times.append(time)
        half = len(self._ends) // 2
        if half > _PIECES and self._ends[half] <= begin:
            del self._ends[:half], self._times[:half]

    def at(self, end: int) -> int | None:
        """Return the time of the byte before an offset."""
        if not self._ends:
            return None
        return self._times[min(bisect_left(self._ends, end), len(self._ends) - 1)]

    def divided(self, data: bytes, offset: int) -> list[TimedBytes]:
        """Return the last bytes of the stream, from an offset on, as the pieces that they were, and forget these."""
        if not self._ends:
            return [TimedBytes(data, None)] if data else []
        found: list[TimedBytes] = []
        begin, first = offset, bisect_left(self._ends, offset)
        for end, time in zip(self._ends[first:], self._times[first:], strict=True):
            if end > begin:
                found.append(TimedBytes(data[begin - offset : end - offset], time))
                begin = end
        del self._ends[first + 1 :], self._times[first + 1 :]
        if first < len(self._ends):
            self._ends[first] = offset
        return found
