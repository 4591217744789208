"""Batches across the connections of a capture: what they send is decoded into common columns, flow by flow a column.

Columns cost as much as a hundred frames, so connections that send little are not given columns of their own.
Rows of one flow keep their order among those of the kernels, and among those of the object path. Protocols in
which frames change how later ones are read have batches for each flow, in the order of its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from wirespark.batches import batcher_on, scanner_of
from wirespark.columns import Batcher, Columns
from wirespark.decoders import Context, Snapshot, has_context
from wirespark.objects import RowTaker
from wirespark.options import Wishes
from wirespark.stream_rows import StreamRow, Walk

if TYPE_CHECKING:
    from wirespark.kernels.relay import Part, Relay

__all__ = ["Pools"]


class Pools:
    """The pools of a capture, one for each role."""

    def __init__(self, wishes: Wishes, batch_size: int) -> None:
        self._wishes = wishes
        self._batch_size = batch_size
        self._pools: dict[str, _Pool] = {}

    def batcher(self, role: str, flow: str, context: Context | None) -> Batcher:
        """Return the batcher of one direction of a flow."""
        walk = Walk(self._wishes, role, context=context)
        if has_context(self._wishes.package):
            return batcher_on(self._wishes, walk, role, self._batch_size)
        if role not in self._pools:
            self._pools[role] = _Pool(self._wishes, role, self._batch_size)
        return _PooledBatcher(self._pools[role], flow, walk)

    def flush(self) -> Iterator[Columns]:
        """Return the rows that wait."""
        for pool in self._pools.values():
            yield from pool.flush()


class _Pool:
    """Rows of one role, each with its flow: those of the object path, and stretches that the kernels proved."""

    def __init__(self, wishes: Wishes, role: str, batch_size: int) -> None:
        self._wishes = wishes
        self._role = role
        self._batch_size = batch_size
        self._taker = RowTaker(wishes)
        self._rows: list[StreamRow] = []
        self._flows: list[str] = []
        self._n_bytes = 0
        self._scanner = scanner_of(wishes, role)
        if self._scanner is not None:
            from wirespark.kernels.pooling import StretchPool

            self._stretches = StretchPool(self._scanner)

    def relay(self, walk: Walk) -> Relay | None:
        """Return what reads a direction with the kernels, or None without them. All share one scanner."""
        if self._scanner is None:
            return None
        from wirespark.kernels.relay import Relay

        return Relay(self._wishes, self._scanner, walk)

    def take(self, flow: str, parts: Iterable[Part]) -> Iterator[Columns]:
        """Add rows and stretches of a flow."""
        for part in parts:
            if isinstance(part, list):
                found = self._taker.taken(part)
                self._rows += found
                self._flows += [flow] * len(found)
                self._n_bytes += sum(row.size for row in part)
            else:
                self._stretches.add(part, flow)
        waiting = self._n_bytes + (self._stretches.size if self._scanner is not None else 0)
        if waiting >= self._batch_size:
            yield from self.flush()

    def flush(self) -> Iterator[Columns]:
        if self._scanner is not None:
            yield from self._stretches.flush()
        rows, flows = self._rows, self._flows
        self._rows, self._flows, self._n_bytes = [], [], 0
        if rows:
            yield self._taker.recording.columns(rows, self._role, 0, flows=pa.array(flows, pa.string()))


class _PooledBatcher:
    """One direction; its rows wait in a pool."""

    def __init__(self, pool: _Pool, flow: str, walk: Walk) -> None:
        self._pool = pool
        self._flow = flow
        self._walk = walk
        self._relay = pool.relay(walk)

    @property
    def given(self) -> int:
        return self._walk.given

    def feed(self, data: bytes, time: int | None = None) -> Iterator[Columns]:
        relay = self._relay
        found = [list(self._walk.feed(data, time))] if relay is None else relay.feed(data, time)
        yield from self._pool.take(self._flow, found)

    def gap(self, size: int, time: int | None = None) -> Iterator[Columns]:
        relay = self._relay
        found = [list(self._walk.gap(size, time))] if relay is None else relay.gap(size, time)
        yield from self._pool.take(self._flow, found)

    def finish(self, time: int | None = None) -> Iterator[Columns]:
        relay = self._relay
        found = [list(self._walk.finish(time))] if relay is None else relay.finish(time)
        yield from self._pool.take(self._flow, found)

    def flush(self) -> Iterator[Columns]:
        if self._relay is not None:
            yield from self._pool.take(self._flow, self._relay.drain())

    def snapshot(self) -> Snapshot | None:
        return self._walk.snapshot()
