"""Batches across streams: the connections of a capture, and small files, are decoded into common columns.

Columns cost as much as a hundred frames, so streams that have little are not given columns of their own.
Rows of one stream keep their order among those of the kernels, and among those of the object path. Where frames change
how later ones are read, the flows of a capture have batches each, in the order of the bytes of both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from wirespark.batches import batcher_on, scanner_of
from wirespark.columns import Columns, Origin
from wirespark.decoders import Context, has_context
from wirespark.objects import RowTaker
from wirespark.options import Wishes
from wirespark.pooled_direction import PooledDirection
from wirespark.stream_rows import StreamRow, Walk
from wirespark.untyped import ArrowArray

if TYPE_CHECKING:
    from wirespark.kernels.pooling import ScanPool

__all__ = ["FlowDirection", "Pool", "Pools"]


class FlowDirection(Protocol):
    """One direction of a flow: bytes in pieces go in, columns come out, some of them later from its pool.

    The origin of the columns is known if they are of a pool.
    """

    def feed(self, data: bytes, time: int | None) -> Iterable[Columns]:
        """Add the next bytes, received at `time` (microseconds since 1970), if that is known."""

    def gap(self, size: int, time: int) -> Iterable[Columns]:
        """Record that `size` bytes are missing."""

    def finish(self, time: int | None) -> Iterable[Columns]:
        """End the stream."""

    def flush(self) -> Iterable[Columns]:
        """Return the rows of this direction that wait for a full batch, unless they wait in a pool."""


class Pools:
    """The pools of a capture, one for each role.

    Attributes:
        are_used: Whether directions wait in pools; otherwise each of them is flushed by itself.
    """

    def __init__(self, wishes: Wishes, file: str, batch_size: int) -> None:
        self._wishes = wishes
        self._file = file
        self._batch_size = batch_size
        self._pools: dict[str, Pool] = {}
        self.are_used = not has_context(wishes.package)

    def direction(self, role: str, flow: str, context: Context | None) -> FlowDirection:
        """Return what decodes one direction of a flow."""
        walk = Walk(self._wishes, role, context=context)
        if not self.are_used:
            return batcher_on(self._wishes, walk, role, self._batch_size)
        if role not in self._pools:
            self._pools[role] = Pool(self._wishes, role, self._origin, self._batch_size)
        return self._pools[role].direction(flow, walk)

    def flush(self) -> Iterator[Columns]:
        """Return the rows that wait in pools."""
        for pool in self._pools.values():
            yield from pool.flush()

    def _origin(self, flows: ArrowArray) -> Origin:
        return Origin(file=self._file, flow=flows)


class Pool:
    """What waits of the streams of one role: rows of the object path, and bytes for the kernels.

    `origin`: returns the origin of rows of streams with these names.
    """

    def __init__(
        self, wishes: Wishes, role: str | None, origin: Callable[[ArrowArray], Origin], batch_size: int
    ) -> None:
        self._rows = _Rows(wishes, role, origin, batch_size)
        self._scans: ScanPool | None = None
        scanner = scanner_of(wishes, role)
        if scanner is not None:
            from wirespark.kernels.pooling import ScanPool

            self._scans = ScanPool(scanner, self._rows, origin, batch_size)

    def direction(self, stream: str, walk: Walk) -> FlowDirection:
        """Return what decodes the stream of this name."""
        if self._scans is None:
            return _WalkedDirection(self._rows, stream, walk)
        from wirespark.kernels.pooling import Lane

        return Lane(self._scans, stream, walk)

    def flush(self) -> Iterator[Columns]:
        if self._scans is not None:
            yield from self._scans.drain()
        yield from self._rows.flush()


class _Rows:
    """Rows of the object path, each with its stream."""

    def __init__(
        self, wishes: Wishes, role: str | None, origin: Callable[[ArrowArray], Origin], batch_size: int
    ) -> None:
        self._role = role
        self._origin = origin
        self._batch_size = batch_size
        self._taker = RowTaker(wishes)
        self._rows: list[StreamRow] = []
        self._streams: list[str] = []
        self._n_bytes = 0

    def take(self, stream: str, rows: Iterable[StreamRow]) -> None:
        found = self._taker.taken(rows)
        self._rows += found
        self._streams += [stream] * len(found)
        self._n_bytes += sum(row.size for row in found)

    def full(self) -> Iterable[Columns]:
        """Return the rows if they are enough for a batch."""
        return self.flush() if self._n_bytes >= self._batch_size else ()

    def flush(self) -> Iterator[Columns]:
        rows, streams = self._rows, self._streams
        self._rows, self._streams, self._n_bytes = [], [], 0
        if rows:
            origin = self._origin(pa.array(streams, pa.string()))
            yield self._taker.recording.columns(rows, self._role, 0, origin=origin)


class _WalkedDirection(PooledDirection):
    """A stream that the object path decodes."""

    def __init__(self, rows: _Rows, stream: str, walk: Walk) -> None:
        self._rows = rows
        self._stream = stream
        self._walk = walk

    def feed(self, data: bytes, time: int | None) -> Iterable[Columns]:
        self._rows.take(self._stream, self._walk.feed(data, time))
        return self._rows.full()

    def feed_run(self, pieces: Sequence[bytes], times: Iterable[int]) -> Iterator[Columns]:
        for data, time in zip(pieces, times, strict=True):
            yield from self.feed(data, time)

    def gap(self, size: int, time: int) -> Iterable[Columns]:
        self._rows.take(self._stream, self._walk.gap(size, time))
        return self._rows.full()

    def finish(self, time: int | None) -> Iterable[Columns]:
        self._rows.take(self._stream, self._walk.finish(time))
        return self._rows.full()

    def flush(self) -> Iterable[Columns]:
        return ()
