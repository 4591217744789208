"""Connections over asyncio: a socket below, a sans-IO connection inside, frames above.

Invariant: the bytes received before an end reach the application first, whatever the cause of the end.
Decoding pauses while the application has `backlog` events to process, so that TCP slows the peer down.
Frames that may take long are decoded in a thread, one call of a connection at a time. During such a call,
the connection is not called otherwise.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Generic, TypeVar

from ..sessions.connection import Connection
from ..sessions.events import Event, Fault, Received, Violation
from ..sessions.session_error import SessionError
from .network_side import TURN, NetworkSide

__all__ = ["Peer", "Wire"]

C = TypeVar("C", bound=Connection)
F = TypeVar("F")

LINGER = 1.0
"""Seconds for a peer to close its side, after this side has sent its end."""
CLOSE_WAIT = 5.0
"""Seconds for a peer to receive the bytes written before a close; then the connection is aborted."""

AT_ONCE = 64
"""Messages after which a sender yields to other tasks, though the network would accept more: it may accept megabytes."""
AT_ONCE_OVER_TLS = 4
"""The same over TLS, whose transport accepts writes after the socket broke; asyncio logs a warning for each from the sixth on."""


class Peer(NetworkSide[C], Generic[C, F]):
    """The other side of a connection; an asynchronous iterator of the frames that it sends, for one task.

    The iteration ends when the peer does, or this side. It raises the errors of received bytes. Iteration
    can go on after an error only if the connection does (`on_error`).

    Attributes:
        connection: The connection itself, for reading: its sessions, its context, its failure.
        tolerated: The number of tolerated violations by their names: lenient ones, or all if the
            connection continues after violations. `event` returns each of them.
        frame_offset: Where the frame that `receive` returned last begins in the peer's stream.
    """

    frame_offset = 0

    # ---- calls of an application ----

    @property
    def address(self) -> object:
        """The peer's address as its socket gave it, also after the connection is lost."""
        return self._address

    @property
    def certificate(self) -> dict[str, object] | None:
        """The peer's certificate, or None without TLS or without a verified certificate."""
        found: dict[str, Any] | None = self.info("peercert")
        return found or None

    @property
    def n_waiting(self) -> int:
        """The number of events that wait to be processed."""
        return len(self._events)

    async def event(self) -> Event | None:
        """Return the next event, or None after the last one.

        Raises:
            TimeoutError: A whole frame did not arrive within the idle timeout.
            OSError: The connection broke.
        """
        return self._pop() if self._events or await self._arrival() else None

    async def _arrival(self) -> bool:
        """Wait for an event; return whether there is one."""
        while not self._events:
            if self._is_over:
                self._raise_loss()
                return False
            self._arrived.clear()
            self._waits_since = self._loop.time()
            try:
                (self._advance if self._has_undecoded else self._arm)()
                await self._arrived.wait()
            finally:
                self._waits_since = None
            self._turn_since = self._loop.time()
        return True

    def _pop(self) -> Event:
        event = self._events.popleft()
        if not self._events and self._has_undecoded:
            self._advance()
        return event

    async def receive(self) -> F | None:
        """Return the next frame, or None after the last one. Tolerated violations are only counted.

        Raises:
            SessionError: The peer broke a rule, or a time ran out. The connection is over, unless the
                violation is only counted. To send an answer before the close, pass
                `despite=error.violation` to `send`.
            DecodeError: Received bytes are not a frame. The connection is over, unless the error is
                recoverable and `on_error` is "continue". To send an answer before the close, pass
                `despite=error.code` to `send`.
            TimeoutError: A whole frame did not arrive within the idle timeout.
            OSError: The connection broke.
        """
        while self._events or await self._arrival():
            if self._loop.time() - self._turn_since > TURN:
                await asyncio.sleep(0)
                self._turn_since = self._loop.time()
            event = self._pop()
            if type(event) is Received:
                self.frame_offset = event.offset
                return event.frame  # type: ignore[no-any-return]
            match event:
                case Fault(error=error):
                    raise error
                case Violation(lenient=False) if not self._keeps_going:
                    raise self._error_of(event)
                case _:
                    pass
        return None

    @staticmethod
    def _error_of(violation: Violation) -> SessionError:
        is_local = violation.role is None
        return SessionError(
            violation.name,
            local=is_local,
            detail=violation.detail,
            frame=violation.frame,
            frame_offset=None if is_local else violation.offset,
        )

    def __aiter__(self) -> Peer[C, F]:
        return self

    async def __anext__(self) -> F:
        frame = await self.receive()
        if frame is None:
            raise StopAsyncIteration
        return frame

    async def _send(self, message: object, *, wait: bool, **more: object) -> None:
        """Send a message, and wait while the peer reads more slowly than this side writes."""
        connection: Any = self.connection  # each package's has its own `send`
        while True:
            transport = self._writing_transport()
            if self._long is not None:
                await asyncio.wait([self._long])
                continue
            try:
                data = connection.send(message, self._loop.time(), **more)
                break
            except SessionError:
                if not wait or self._is_over:
                    raise
                await self._wait_for_turn()
        transport.write(data)
        self._arm()
        self._n_at_once += 1
        if self._n_at_once >= (AT_ONCE if self.info("sslcontext") is None else AT_ONCE_OVER_TLS):
            self._n_at_once = 0
            await asyncio.sleep(0)
        await self.drain()

    async def _wait_for_turn(self) -> None:
        """Wait until an event arrives that may allow a message."""
        turn = self._turn
        self._n_for_turn += 1
        try:
            self._advance()
            await turn.wait()
        finally:
            self._n_for_turn -= 1

    def _writing_transport(self) -> asyncio.Transport:
        if self._transport is None or self._transport.is_closing():
            raise self._loss or ConnectionResetError("the connection is closed")
        return self._transport

    async def drain(self) -> None:
        """Wait until most of the written bytes have been sent.

        Raises:
            TimeoutError: The peer took no bytes within the idle timeout; the connection is aborted.
            OSError: The connection broke.
        """
        while not self._writable.is_set():
            await self._let_peer_read()
        if self._loss is not None and self._lost.is_set():
            raise self._loss

    async def _let_peer_read(self) -> None:
        """Wait until writing can go on, or the idle timeout, in which the peer must have taken bytes."""
        idle = self._idle_timeout
        if idle is None or self._transport is None:
            await self._writable.wait()
            return
        before = self._transport.get_write_buffer_size()
        if not await self._wait(self._writable, idle) and self._transport.get_write_buffer_size() >= before:
            self.abort()
            raise TimeoutError(f"the peer took no bytes for {idle:g} s")

    def finish(self) -> None:
        """Read no more from the network: the iteration ends after the frames that have arrived."""
        self._has_all_bytes = True
        self._advance()

    async def close(self) -> None:
        """Send the written bytes, and close; frames that have arrived can still be received."""
        self.finish()
        if self._transport is None:
            return
        if self._transport.can_write_eof() and not self._transport.is_closing():
            # Closing a socket with unread bytes resets it, and the last written bytes may not arrive. The
            # peer may also have reset it; a transport that has read the end is not notified of that.
            with suppress(OSError):
                self._transport.write_eof()
                self._transport.resume_reading()
                await self._wait(self._ended, LINGER)
        self._transport.close()
        if not await self._wait(self._lost, CLOSE_WAIT):
            self.abort()
        await self._end_long()
        if self._is_over:
            self.connection.close()

    async def _end_long(self) -> None:
        """Wait for the thread that decodes for this peer; its events after `CLOSE_WAIT` seconds are dropped."""
        work = self._long
        if work is None:
            return
        await asyncio.wait([work], timeout=CLOSE_WAIT)
        if not work.done():
            work.cancel()
            self._is_over = True

    @staticmethod
    async def _wait(event: asyncio.Event, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()
        return event.is_set()


class Wire(asyncio.Protocol):
    """The protocol object that asyncio calls; it passes each call to the peer."""

    def __init__(self, peer: Peer[Any, Any]) -> None:
        self._peer = peer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._peer.attach(transport)

    def data_received(self, data: bytes) -> None:
        self._peer.feed(data)

    def eof_received(self) -> bool:
        return self._peer.end_of_stream()

    def connection_lost(self, exc: Exception | None) -> None:
        self._peer.detach(exc)

    def pause_writing(self) -> None:
        self._peer.allow_writing(False)

    def resume_writing(self) -> None:
        self._peer.allow_writing(True)
