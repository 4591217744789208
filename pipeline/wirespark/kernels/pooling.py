"""Scans of many streams at once: what they received is put one after the other, proven in one run, and fills common columns.

A run of the kernels costs as much as many frames, so connections that send little are not given runs of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from wirespark.columns import Columns, Origin
from wirespark.kernels import ops
from wirespark.kernels.scanner import Scanner
from wirespark.kernels.stream_buffer import StreamBuffer
from wirespark.pooled_direction import PooledDirection
from wirespark.stream_rows import StreamRow, Walk
from wirespark.untyped import ArrowArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Lane", "RowSink", "ScanPool"]

_COST = 128
"""The memory of a piece of a stream without its bytes, rounded up."""


class RowSink(Protocol):
    """Takes the rows of the object path, and returns them when they are enough for a batch."""

    def take(self, stream: str, rows: Iterable[StreamRow]) -> None: ...

    def full(self) -> Iterable[Columns]: ...


class Lane(StreamBuffer, PooledDirection):
    """One stream; its rows come later, with those of others.

    The bytes of all streams of a pool have times, or none have: a capture has them.

    Attributes:
        stream: Its name, which is in the origin of its rows.
        needed: The number of waiting bytes with which the next scan is worth its time.
        is_due: Whether the next scan has it.
        is_over: Whether its stream ends with the bytes that wait, at `time`.
    """

    __slots__ = ("_pool", "is_due", "is_over", "needed", "stream", "time")

    def __init__(self, pool: ScanPool, stream: str, walk: Walk) -> None:
        super().__init__(walk)
        self._pool = pool
        self.stream = stream
        self.needed = 1
        self.is_due = self.is_over = False
        self.time: int | None = None

    def feed(self, data: bytes, time: int | None) -> Iterable[Columns]:
        self.add(data, time)
        return self._pool.wake(self, len(data), is_due=self.waiting >= self.needed)

    def feed_run(self, pieces: Sequence[bytes], times: Iterable[int]) -> Iterable[Columns]:
        size = self.extend(pieces, times) + _COST * (len(pieces) - 1)
        return self._pool.wake(self, size, is_due=self.waiting >= self.needed)

    def gap(self, size: int, time: int) -> Iterable[Columns]:
        return self._pool.gap(self, size, time)

    def finish(self, time: int | None) -> Iterable[Columns]:
        self.is_over, self.time = True, time
        return self._pool.wake(self, 0, is_due=True)

    def flush(self) -> Iterable[Columns]:
        return ()


class ScanPool:
    """The streams of one role. The object path gives its rows to `rows`; `origin` has that of rows of streams with these names."""

    def __init__(
        self, scanner: Scanner, rows: RowSink, origin: Callable[[ArrowArray], Origin], batch_size: int
    ) -> None:
        self._scanner = scanner
        self._rows = rows
        self._origin = origin
        self._batch_size = batch_size
        self._due: list[Lane] = []
        self._received = 0

    def wake(self, lane: Lane, size: int, *, is_due: bool) -> Iterable[Columns]:
        """Count bytes that a stream received; if all streams together received a batch, return its columns."""
        if is_due and not lane.is_due:
            lane.is_due = True
            self._due.append(lane)
        self._received += size + _COST
        return self.drain() if self._received >= self._batch_size else ()

    def gap(self, lane: Lane, size: int, time: int) -> Iterator[Columns]:
        """Read a stream up to a gap of so many bytes, and the gap."""
        lane.is_over = True
        yield from self._read([lane])
        lane.is_over = False
        self._rows.take(lane.stream, [*lane.rest(), *lane.walk.gap(size, time)])
        lane.needed = 1
        yield from self._rows.full()

    def drain(self) -> Iterator[Columns]:
        """Read what the streams received, up to frames that are cut off."""
        due, self._due, self._received = self._due, [], 0
        yield from self._read(due)
        for lane in due:
            lane.is_due = False
            if lane.is_over:
                self._rows.take(lane.stream, [*lane.rest(), *lane.walk.finish(lane.time)])
        yield from self._rows.full()

    # ---- kernels and objects in turn

    def _read(self, lanes: Sequence[Lane]) -> Iterator[Columns]:
        while lanes:
            for lane in lanes:
                while lane.is_walking and lane.waiting:
                    self._rows.take(lane.stream, lane.step())
            yield from self._scanned([lane for lane in lanes if lane.waiting])
            lanes = [lane for lane in lanes if lane.waiting and (lane.is_walking or lane.has_more)]

    def _scanned(self, lanes: Sequence[Lane]) -> Iterator[Columns]:
        """Prove the frames of all streams in one run, and yield their columns; then let go of their bytes."""
        if not lanes:
            return
        parts, moments = zip(*[piece for lane in lanes for piece in lane.scanned_pieces()], strict=True)
        data = np.frombuffer(b"".join(parts), np.uint8)
        ends = np.cumsum(list(map(len, parts)))
        times = None if moments[0] is None else np.array(moments, np.int64)
        windows = _windows(lanes)
        begins = windows[:, ops.W_START].copy()
        bases = np.array([lane.walk.offset for lane in lanes]) - begins
        streams = pa.array([lane.stream for lane in lanes], pa.string())
        n_done = 0
        while n_done < len(lanes):
            left = windows[n_done:]
            n_more = self._scanner.scan_windows(data, left)
            which = np.repeat(np.arange(n_done, len(lanes)), left[:, ops.W_FOUND])
            frames = self._scanner.frames[: len(which)]
            if len(which):
                when = None if times is None else times[np.searchsorted(ends, frames[:, 1])]
                columns = self._scanner.filled(data, frames, frames[:, 0] + bases[which], when, 0)
                yield replace(columns, origin=self._origin(streams.take(pa.array(which))))
            n_done += n_more
            if n_more < len(left):
                windows[n_done, ops.W_START] = windows[n_done, ops.W_POSITION]
        for lane, begin, window in zip(lanes, begins.tolist(), windows.tolist(), strict=True):
            self._settle(lane, window[ops.W_POSITION] - begin, window)

    def _settle(self, lane: Lane, size: int, window: Sequence[int]) -> None:
        if (window[ops.W_PROVEN] or size) and (confirmed := lane.walk.confirm()):
            self._rows.take(lane.stream, confirmed)
        lane.settle(size, window[ops.W_REASON])
        needed = max(window[ops.W_NEEDED], lane.waiting + lane.waiting // 2 + 1)
        lane.needed = 1 if lane.is_walking else needed


def _windows(lanes: Sequence[Lane]) -> NDArray[np.int64]:
    """Return the windows of streams whose bytes are one after the other."""
    windows = np.zeros((len(lanes), ops.W_SIZE), np.int64)
    sizes = [lane.scanned for lane in lanes]
    windows[:, ops.W_STOP] = np.cumsum(sizes)
    windows[1:, ops.W_START] = windows[:-1, ops.W_STOP]
    windows[:, ops.W_IS_OVER] = [
        lane.is_over and size == lane.waiting for lane, size in zip(lanes, sizes, strict=True)
    ]
    return windows
