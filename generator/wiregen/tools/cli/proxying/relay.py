"""Relays connections between two peers: bytes are forwarded first, and given to the work of another thread after that.

Only faults that depend on messages have bytes wait until they are decoded.
"""

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from wiregen.formats.capture import Endpoint
from wiregen.tools.cli.messages import tell
from wiregen.tools.cli.proxying.decoding_thread import DecodingThread
from wiregen.tools.cli.proxying.recording import CaptureRecording
from wiregen.tools.cli.proxying.relay_settings import CHUNK, CONNECTING, RelaySettings
from wiregen.tools.cli.proxying.relayed_connection import RelayedConnection, Way
from wiregen.tools.cli.proxying.work import SharedWork

__all__ = ["ListenError", "ProxyServer"]

_TICK: Final = 1.0
"""Seconds between two looks at the timers of the sessions, and between two flushes of the recording."""


class ListenError(Exception):
    """It is not possible to listen at the address."""


class ProxyServer:
    """Runs until a signal, or until the other thread fails."""

    def __init__(
        self, settings: RelaySettings, shared: SharedWork, recording: CaptureRecording | None
    ) -> None:
        self._settings = settings
        self._shared = shared
        self._recording = recording
        self._stopping = asyncio.Event()
        self._decoding = DecodingThread(self._stopping.set)
        self._open: set[RelayedConnection] = set()
        self._n_open = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, listening: Callable[[int], None]) -> None:
        """Relay connections; `listening` is called with the port.

        Raises:
            ListenError: It is not possible to listen at the address.
            OSError: The reader of stdout has closed it, or the disk is full.
        """
        self._catch_signals()
        settings = self._settings
        try:
            server = await asyncio.start_server(
                self._admit,
                settings.listen.address,
                settings.listen.port,
                ssl=settings.listen_tls,
                limit=CHUNK,
                ssl_handshake_timeout=CONNECTING if settings.listen_tls else None,
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
            if self._decoding.is_busy and self._decoding.failure is None:
                tell("bytes that were relayed are still decoded; Ctrl-C ends at once")
            await self._decoding.drain()
        finally:
            self._shared.is_over = True
            server.close()
            ticking.cancel()
            self._decoding.close()
        if self._decoding.failure is not None:
            raise self._decoding.failure

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
            Way(role=settings.opener, from_opener=True, reader=reader, writer=target_writer),
            Way(role=settings.other, from_opener=False, reader=target_reader, writer=writer),
        )
        recorded = None if self._recording is None else self._recording.open(opener, other)
        connection = RelayedConnection(
            self._decoding, settings, self._shared, f"{opener}-{other}", ways, recorded
        )
        self._open.add(connection)
        try:
            await connection.run()
        finally:
            self._open.discard(connection)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        settings = self._settings
        name = (settings.server_name or settings.target.address) if settings.target_tls else None
        async with asyncio.timeout(CONNECTING):
            return await asyncio.open_connection(
                settings.target.address,
                settings.target.port,
                ssl=settings.target_tls,
                server_hostname=name,
                limit=CHUNK,
            )


def _peer_of(writer: asyncio.StreamWriter) -> Endpoint:
    """Return the address of a peer; 0.0.0.0 for one that has closed already."""
    address = writer.get_extra_info("peername") or ("0.0.0.0", 0)
    return Endpoint(address=str(address[0]), port=int(address[1]))
