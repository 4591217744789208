"""Relays connections between two peers: bytes are forwarded first, and given to the work of another thread after that.

Only faults that depend on messages have bytes wait until they are decoded.

Invariant: a connection holds at most the buffers of its two sockets, its delayed bytes, one frame of each direction, and the backlog of its
work. Reading from a peer waits while the other one is slow.
"""

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Final

from wiregen.formats.capture import Endpoint
from wiregen.tools.cli.messages import tell
from wiregen.tools.cli.proxying.recording import CaptureRecording, RecordedConnection
from wiregen.tools.cli.proxying.work import ConnectionWork, Forwarded, SharedWork

__all__ = ["ListenError", "ProxyServer", "RelaySettings"]

_CHUNK: Final = 64 << 10
"""Bytes that are read at once; the buffers of a connection hold a few times as many."""
_ITEM: Final = 512
"""Bytes that a waiting piece of work takes in addition to its data."""
_CONNECTING: Final = 10.0
"""Seconds for a connection, TLS included, and for a peer to take the last bytes."""
_MOST_DELAYED: Final = 64
"""Chunks of one direction that are delayed at the same time."""
_SWITCHING: Final = 0.0005
"""Seconds after which the thread that decodes gives up the interpreter, which the event loop needs for each chunk; Python's 0.005 have
the relay wait ten times as long.
"""
_TICK: Final = 1.0
"""Seconds between two looks at the timers of the sessions, and between two flushes of the recording."""


class ListenError(Exception):
    """It is not possible to listen at the address."""


class _Cut(Exception):
    """A message asks for the end of its connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelaySettings:
    """The two sides of a relay, and its bounds.

    Attributes:
        opener, other: The role of the peers that connect, and that of the target.
        server_name: The name in the target's certificate; the default is that of the host.
        backlog: Bytes of one connection that may wait to be decoded; further ones are not.
        closes_on_error: Connections are closed after an error or a violation.
        delays: Seconds by which the bytes of a role are delayed.
    """

    listen: Endpoint
    target: Endpoint
    opener: str
    other: str
    listen_tls: SSLContext | None = None
    target_tls: SSLContext | None = None
    server_name: str | None = None
    most_connections: int = 64
    backlog: int = 8 << 20
    closes_on_error: bool = False
    delays: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Delayed:
    """Bytes, and the time of the event loop at which they are forwarded."""

    due: float
    data: bytes


@dataclass(slots=True, kw_only=True)
class _Way:
    """One direction of a connection. `n_missing`: bytes that were forwarded since the last decoded ones."""

    role: str
    from_opener: bool
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    n_missing: int = 0
    has_ended: bool = False


class ProxyServer:
    """Runs until a signal, or until the other thread fails."""

    def __init__(
        self, settings: RelaySettings, shared: SharedWork, recording: CaptureRecording | None
    ) -> None:
        self._settings = settings
        self._shared = shared
        self._recording = recording
        self._executor = ThreadPoolExecutor(1, "decoding")
        self._stopping = asyncio.Event()
        self._failure: BaseException | None = None
        self._open: set[_Connection] = set()
        self._n_open = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._pending: set[asyncio.Future[bool]] = set()

    async def run(self, listening: Callable[[int], None]) -> None:
        """Relay connections; `listening` is called with the port.

        Raises:
            ListenError: It is not possible to listen at the address.
            OSError: The reader of stdout has closed it, or the disk is full.
        """
        self._catch_signals()
        sys.setswitchinterval(_SWITCHING)
        settings = self._settings
        try:
            server = await asyncio.start_server(
                self._admit,
                settings.listen.address,
                settings.listen.port,
                ssl=settings.listen_tls,
                limit=_CHUNK,
                ssl_handshake_timeout=_CONNECTING if settings.listen_tls else None,
            )
        except OSError as error:
            raise ListenError(f"cannot listen on {settings.listen}: {error.strerror or error}") from None
        listening(server.sockets[0].getsockname()[1])
        ticking = asyncio.create_task(self._tick())
        try:
            await self._stopping.wait()
            server.close()
            for task in tuple(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            if self._pending and self._failure is None:
                tell("bytes that were relayed are still decoded; Ctrl-C ends at once")
            await asyncio.gather(*self._pending, return_exceptions=True)
        finally:
            self._shared.is_over = True
            server.close()
            ticking.cancel()
            self._executor.shutdown(wait=False, cancel_futures=True)
        if self._failure is not None:
            raise self._failure

    def submit(self, work: Callable[[], bool], done: Callable[[bool], None]) -> None:
        """Have the other thread do something, and call `done` with its result in this one."""

        def finished(future: asyncio.Future[bool]) -> None:
            self._pending.discard(future)
            if future.cancelled():
                return
            error = future.exception()
            if error is None:
                done(future.result())
            else:
                self._fail(error)

        future = asyncio.get_running_loop().run_in_executor(self._executor, work)
        self._pending.add(future)
        future.add_done_callback(finished)

    async def finished(self, work: Callable[[], Forwarded]) -> Forwarded:
        """Have the other thread do something, and return its result."""
        future = asyncio.get_running_loop().run_in_executor(self._executor, work)
        await asyncio.wait([future])
        error = future.exception()
        if error is not None:
            self._fail(error)
            raise _Cut
        return future.result()

    def _fail(self, error: BaseException) -> None:
        """End the run with an error of the other thread; those that follow from it are dropped."""
        self._failure = self._failure or error
        self._stopping.set()

    def _catch_signals(self) -> None:
        """End in order at the first SIGINT or SIGTERM, and at once at the second."""
        running = asyncio.current_task()
        assert running is not None

        def stop() -> None:
            if self._stopping.is_set():
                running.cancel()
            self._stopping.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError, ValueError, RuntimeError):  # another system, another thread
                asyncio.get_running_loop().add_signal_handler(number, stop)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            if self._recording is not None:
                self._recording.flush()
            for connection in tuple(self._open):
                connection.tick()

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        totals = self._shared.totals
        if self._n_open >= self._settings.most_connections or self._stopping.is_set():
            if not totals.n_refused:
                tell(f"connections over the maximum of {self._settings.most_connections} are closed")
            totals.n_refused += 1
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._n_open += 1
        totals.n_connections += 1
        try:
            await self._relay(reader, writer)
        except asyncio.CancelledError:  # the end of the run
            pass
        finally:
            writer.transport.abort()
            self._n_open -= 1
            self._tasks.discard(task)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect to the target, and relay a connection to its end."""
        try:
            target_reader, target_writer = await self._connect()
        except OSError as error:
            tell(f"no connection to {self._settings.target}: {error.strerror or error}")
            return
        settings, opener, other = self._settings, _peer_of(writer), _peer_of(target_writer)
        ways = (
            _Way(role=settings.opener, from_opener=True, reader=reader, writer=target_writer),
            _Way(role=settings.other, from_opener=False, reader=target_reader, writer=writer),
        )
        recorded = None if self._recording is None else self._recording.open(opener, other)
        connection = _Connection(self, settings, self._shared, f"{opener}-{other}", ways, recorded)
        self._open.add(connection)
        try:
            await connection.run()
        finally:
            self._open.discard(connection)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        settings = self._settings
        name = (settings.server_name or settings.target.address) if settings.target_tls else None
        async with asyncio.timeout(_CONNECTING):
            return await asyncio.open_connection(
                settings.target.address,
                settings.target.port,
                ssl=settings.target_tls,
                server_hostname=name,
                limit=_CHUNK,
            )


class _Connection:
    """One relayed connection."""

    def __init__(
        self,
        relay: ProxyServer,
        settings: RelaySettings,
        shared: SharedWork,
        flow: str,
        ways: tuple[_Way, _Way],
        recorded: RecordedConnection | None,
    ) -> None:
        self._relay = relay
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
            async with asyncio.timeout(_CONNECTING):
                for end in writers:
                    await end.wait_closed()
        except (OSError, _Cut):  # a peer has reset the connection, or does not take its last bytes
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

    async def _pump(self, way: _Way) -> None:
        delay = self._settings.delays.get(way.role)
        if delay:
            await self._pump_late(way, delay)
        else:
            while data := await way.reader.read(_CHUNK):
                await self._forward(way, data)
        if self._holds:
            work, now = self._work, time.time()
            way.has_ended = True
            await self._forward_instead(
                way, await self._relay.finished(lambda: work.filter_end(way.role, now))
            )
            self._record_end(way)
        else:
            self._end(way)
        if way.writer.can_write_eof():
            way.writer.write_eof()
        else:  # TLS has no end of one direction
            way.writer.close()

    async def _pump_late(self, way: _Way, delay: float) -> None:
        """Forward bytes after a delay, while further ones are read."""
        waiting: asyncio.Queue[_Delayed | None] = asyncio.Queue(_MOST_DELAYED)
        clock = asyncio.get_running_loop().time

        async def read() -> None:
            try:
                while data := await way.reader.read(_CHUNK):
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

    async def _forward(self, way: _Way, data: bytes) -> None:
        self._shared.totals.n_bytes[way.role] += len(data)
        if self._holds:
            work, now = self._work, time.time()
            await self._forward_instead(
                way, await self._relay.finished(lambda: work.filter(way.role, data, now))
            )
            return
        way.writer.write(data)
        self._observe(way, data)
        await way.writer.drain()

    async def _forward_instead(self, way: _Way, forwarded: Forwarded) -> None:
        """Forward the bytes that the faults have left."""
        if forwarded.data:
            way.writer.write(forwarded.data)
            if self._recorded is not None:
                self._recorded.send(forwarded.data, from_opener=way.from_opener)
            await way.writer.drain()
        if forwarded.is_cut or (forwarded.is_wrong and self._settings.closes_on_error):
            way.writer.close()
            async with asyncio.timeout(_CONNECTING):
                await way.writer.wait_closed()
            raise _Cut

    def _observe(self, way: _Way, data: bytes) -> None:
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

    def _end(self, way: _Way, *, is_reset: bool = False) -> None:
        """Note the end of a direction, once."""
        work, now, n_missing = self._work, time.time(), way.n_missing
        if way.has_ended:
            return
        way.has_ended = True
        if not is_reset:
            self._record_end(way)
        self._submit(lambda: work.finish(way.role, now, n_missing), 0)

    def _record_end(self, way: _Way) -> None:
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

        self._relay.submit(work, done)


def _peer_of(writer: asyncio.StreamWriter) -> Endpoint:
    """Return the address of a peer; 0.0.0.0 for one that has closed already."""
    address = writer.get_extra_info("peername") or ("0.0.0.0", 0)
    return Endpoint(address=str(address[0]), port=int(address[1]))
