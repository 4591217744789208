"""Relays connections between two peers: bytes are forwarded first, and shown to the work of another thread after that.

Invariant: a connection holds at most the buffers of its two sockets and the backlog of its work. Reading from a peer waits while the other
one is slow.
"""

import asyncio
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from ssl import SSLContext
from typing import Final

from wiregen.formats.capture import Endpoint
from wiregen.tools.cli.messages import tell
from wiregen.tools.cli.proxying.recording import CaptureRecording, RecordedConnection
from wiregen.tools.cli.proxying.work import ConnectionWork, SharedWork

__all__ = ["ListenError", "ProxyServer", "RelaySettings"]

_CHUNK: Final = 64 << 10
"""Bytes that are read at once; the buffers of a connection hold a few times as many."""
_ITEM: Final = 512
"""Bytes that a waiting piece of work takes in addition to its data."""
_CONNECTING: Final = 10.0
"""Seconds for a connection, TLS included, and for a peer to take the last bytes."""
_TICK: Final = 1.0
"""Seconds between two looks at the timers of the sessions, and between two flushes of the recording."""


class ListenError(Exception):
    """It is not possible to listen at the address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelaySettings:
    """The two sides of a relay, and its bounds.

    Attributes:
        opener, other: The role of the peers that connect, and that of the target.
        server_name: The name in the target's certificate; the default is that of the host.
        backlog: Bytes of one connection that may wait to be decoded; further ones are not.
        closes_on_error: Connections are closed after an error or a violation.
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
        self._tasks: set[asyncio.Task[None]] = set()
        self._pending: set[asyncio.Future[bool]] = set()

    async def run(self, listening: Callable[[int], None]) -> None:
        """ProxyServer connections; `listening` is called with the port.

        Raises:
            ListenError: It is not possible to listen at the address.
            OSError: Nothing can be printed on stdout.
        """
        self._catch_signals()
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
            elif self._failure is None:
                self._failure = error
                self._stopping.set()

        future = asyncio.get_running_loop().run_in_executor(self._executor, work)
        self._pending.add(future)
        future.add_done_callback(finished)

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
        if len(self._open) >= self._settings.most_connections or self._stopping.is_set():
            if not totals.n_refused:
                tell(f"connections over the maximum of {self._settings.most_connections} are closed")
            totals.n_refused += 1
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        connection = _Connection(self, self._settings, _end_of(writer, "peername"))
        self._open.add(connection)
        totals.n_connections += 1
        try:
            target_reader, target_writer = await self._connect()
        except OSError as error:
            tell(f"no connection to {self._settings.target}: {error.strerror or error}")
            writer.transport.abort()
        except asyncio.CancelledError:
            writer.transport.abort()
        else:
            connection.begin(self._shared, self._recording, target_writer)
            with suppress(asyncio.CancelledError):  # the end of the run
                await connection.run(reader, writer, target_reader, target_writer)
        finally:
            self._open.discard(connection)
            self._tasks.discard(task)

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

    def __init__(self, relay: ProxyServer, settings: RelaySettings, opener: Endpoint) -> None:
        self._relay = relay
        self._settings = settings
        self._opener = opener
        self._n_waiting = 0
        self._ways: tuple[_Way, ...] = ()
        self._work: ConnectionWork | None = None
        self._shared: SharedWork | None = None
        self._recorded: RecordedConnection | None = None
        self._is_over = False

    def begin(
        self, shared: SharedWork, recording: CaptureRecording | None, target: asyncio.StreamWriter
    ) -> None:
        """Prepare for bytes: both peers are connected."""
        other = _end_of(target, "peername")
        self._shared = shared
        self._work = ConnectionWork(shared, f"{self._opener}-{other}", time.time())
        self._recorded = None if recording is None else recording.open(self._opener, other)

    async def run(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        target_reader: asyncio.StreamReader,
        target_writer: asyncio.StreamWriter,
    ) -> None:
        """ProxyServer both directions to their ends."""
        settings = self._settings
        self._ways = (
            _Way(role=settings.opener, from_opener=True, reader=reader, writer=target_writer),
            _Way(role=settings.other, from_opener=False, reader=target_reader, writer=writer),
        )
        pumps = [asyncio.create_task(self._pump(way)) for way in self._ways]
        try:
            await asyncio.gather(*pumps)
            for end in (writer, target_writer):
                end.close()
            async with asyncio.timeout(_CONNECTING):
                for end in (writer, target_writer):
                    await end.wait_closed()
        except OSError:  # a peer has reset the connection, or does not take its last bytes
            pass
        finally:
            self._is_over = True
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for end in (writer, target_writer):
                end.transport.abort()
            self._reset()

    def tick(self) -> None:
        """Look at the timers of the sessions."""
        work, now = self._work, time.time()
        if work is not None and not self._n_waiting:
            self._submit(lambda: work.expire(now), 0)

    async def _pump(self, way: _Way) -> None:
        while data := await way.reader.read(_CHUNK):
            way.writer.write(data)
            self._forwarded(way, data)
            await way.writer.drain()
        self._end(way)
        if way.writer.can_write_eof():
            way.writer.write_eof()
        else:  # TLS has no end of one direction
            way.writer.close()

    def _forwarded(self, way: _Way, data: bytes) -> None:
        """Record bytes, and have them decoded if there is room for them to wait."""
        work, now, size = self._work, time.time(), len(data)
        assert work is not None and self._shared is not None
        totals = self._shared.totals
        totals.n_bytes[way.role] += size
        if self._recorded is not None:
            self._recorded.send(data, from_opener=way.from_opener)
        if self._n_waiting + size + _ITEM > self._settings.backlog:
            way.n_missing += size
            totals.n_skipped += size
            return
        n_missing, way.n_missing = way.n_missing, 0
        self._submit(lambda: work.take(way.role, data, now, n_missing), size)

    def _end(self, way: _Way, *, is_reset: bool = False) -> None:
        """Note the end of a direction, once."""
        work, now, n_missing = self._work, time.time(), way.n_missing
        if way.has_ended or work is None:
            return
        way.has_ended = True
        if self._recorded is not None and not is_reset:
            self._recorded.finish(from_opener=way.from_opener)
        self._submit(lambda: work.finish(way.role, now, n_missing), 0)

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


def _end_of(writer: asyncio.StreamWriter, which: str) -> Endpoint:
    """Return the address of an end of a connection; a peer that is gone already has none."""
    address = writer.get_extra_info(which) or ("0.0.0.0", 0)
    return Endpoint(address=str(address[0]), port=int(address[1]))
