"""One relayed connection: its bytes are forwarded, recorded, and given to the thread that decodes.

Invariant: a connection holds at most the buffers of its two sockets, its delayed bytes, one frame of each direction, and the backlog of its work.
Reading from a peer waits while the other one is slow.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from wiregen.tools.cli.proxying.decoding_thread import DecodingError, DecodingThread
from wiregen.tools.cli.proxying.recording import RecordedConnection
from wiregen.tools.cli.proxying.relay_settings import CHUNK, CONNECTING, RelaySettings
from wiregen.tools.cli.proxying.work import ConnectionWork, Forwarded, SharedWork

__all__ = ["RelayedConnection", "Way"]

_ITEM: Final = 512
"""Bytes that a waiting piece of work takes in addition to its data."""
_MOST_DELAYED: Final = 64
"""Chunks of one direction that are delayed at the same time."""


class _Cut(Exception):
    """A message asks for the end of its connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Delayed:
    """Bytes, and the time of the event loop at which they are forwarded."""

    due: float
    data: bytes


@dataclass(slots=True, kw_only=True)
class Way:
    """One direction of a connection. `n_missing`: bytes that were forwarded since the last decoded ones."""

    role: str
    from_opener: bool
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    n_missing: int = 0
    has_ended: bool = False


class RelayedConnection:
    """Forwards the bytes of two peers until both directions have ended."""

    def __init__(
        self,
        decoding: DecodingThread,
        settings: RelaySettings,
        shared: SharedWork,
        flow: str,
        ways: tuple[Way, Way],
        recorded: RecordedConnection | None,
    ) -> None:
        self._decoding = decoding
        self._settings = settings
        self._shared = shared
        self._holds = shared.faults.is_any
        self._work = ConnectionWork(shared, flow, time.time())
        self._ways = ways
        self._recorded = recorded
        self._n_waiting = 0
        self._is_over = False

    async def run(self) -> None:
        """Relay both directions to their ends."""
        writers = [way.writer for way in self._ways]
        pumps = [asyncio.create_task(self._pump(way)) for way in self._ways]
        try:
            await asyncio.gather(*pumps)
            for end in writers:
                end.close()
            async with asyncio.timeout(CONNECTING):
                for end in writers:
                    await end.wait_closed()
        except (_Cut, DecodingError):
            pass
        except OSError:  # a peer has reset the connection, or does not take its last bytes
            pass
        finally:
            self._is_over = True
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for end in writers:
                end.transport.abort()
            self._reset()

    def tick(self) -> None:
        """Look at the timers of the sessions."""
        work, now = self._work, time.time()
        if not self._n_waiting:
            self._submit(lambda: work.expire(now), 0)

    async def _pump(self, way: Way) -> None:
        delay = self._settings.delays.get(way.role)
        if delay:
            await self._pump_late(way, delay)
        else:
            while data := await way.reader.read(CHUNK):
                await self._forward(way, data)
        if self._holds:
            work, now = self._work, time.time()
            way.has_ended = True
            await self._forward_instead(
                way, await self._decoding.finished(lambda: work.filter_end(way.role, now))
            )
            self._record_end(way)
        else:
            self._end(way)
        if way.writer.can_write_eof():
            way.writer.write_eof()
        else:  # TLS has no end of one direction
            way.writer.close()

    async def _pump_late(self, way: Way, delay: float) -> None:
        """Forward bytes after a delay, while further ones are read."""
        waiting: asyncio.Queue[_Delayed | None] = asyncio.Queue(_MOST_DELAYED)
        clock = asyncio.get_running_loop().time

        async def read() -> None:
            try:
                while data := await way.reader.read(CHUNK):
                    await waiting.put(_Delayed(due=clock() + delay, data=data))
            except OSError:
                await waiting.put(None)
                raise
            await waiting.put(None)

        reading = asyncio.create_task(read())
        try:
            while (item := await waiting.get()) is not None:
                await asyncio.sleep(item.due - clock())
                await self._forward(way, item.data)
            await reading
        finally:
            reading.cancel()

    async def _forward(self, way: Way, data: bytes) -> None:
        self._shared.totals.n_bytes[way.role] += len(data)
        if self._holds:
            work, now = self._work, time.time()
            await self._forward_instead(
                way, await self._decoding.finished(lambda: work.filter(way.role, data, now))
            )
            return
        way.writer.write(data)
        self._observe(way, data)
        await way.writer.drain()

    async def _forward_instead(self, way: Way, forwarded: Forwarded) -> None:
        """Forward the bytes that the faults have left."""
        if forwarded.data:
            way.writer.write(forwarded.data)
            if self._recorded is not None:
                self._recorded.send(forwarded.data, from_opener=way.from_opener)
            await way.writer.drain()
        if forwarded.is_cut or (forwarded.is_wrong and self._settings.closes_on_error):
            way.writer.close()
            async with asyncio.timeout(CONNECTING):
                await way.writer.wait_closed()
            raise _Cut

    def _observe(self, way: Way, data: bytes) -> None:
        """Record bytes, and have them decoded unless too many wait already."""
        work, now, size = self._work, time.time(), len(data)
        if self._recorded is not None:
            self._recorded.send(data, from_opener=way.from_opener)
        if self._n_waiting + size + _ITEM > self._settings.backlog:
            way.n_missing += size
            self._shared.totals.n_skipped += size
            return
        n_missing, way.n_missing = way.n_missing, 0
        self._submit(lambda: work.take(way.role, data, now, n_missing), size)

    def _end(self, way: Way, *, is_reset: bool = False) -> None:
        """Note the end of a direction, once."""
        work, now, n_missing = self._work, time.time(), way.n_missing
        if way.has_ended:
            return
        way.has_ended = True
        if not is_reset:
            self._record_end(way)
        self._submit(lambda: work.finish(way.role, now, n_missing), 0)

    def _record_end(self, way: Way) -> None:
        if self._recorded is not None:
            self._recorded.finish(from_opener=way.from_opener)

    def _reset(self) -> None:
        """Note the end of the directions that have not ended in order."""
        left = [way for way in self._ways if not way.has_ended]
        if left and self._recorded is not None:
            self._recorded.reset(from_opener=left[0].from_opener)
        for way in left:
            self._end(way, is_reset=True)

    def _submit(self, work: Callable[[], bool], size: int) -> None:
        cost = size + _ITEM
        self._n_waiting += cost

        def done(is_wrong: bool) -> None:
            self._n_waiting -= cost
            if is_wrong and self._settings.closes_on_error and not self._is_over:
                for way in self._ways:
                    way.writer.transport.abort()

        self._decoding.submit(work, done)
