"""Connections over asyncio: a socket below, a sans-IO connection inside, frames above.

Invariant: what came before an end, whatever ended it, is given to the application first; and nothing is decoded ahead of an
application that has `backlog` events to look at, so that TCP holds the peer back. Frames that may take long are decoded in a
thread, one call of a connection at a time: while it lasts, nothing else calls the connection.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeVar

from ..codec.errors import SessionError
from ..sessions.connection import Connection
from ..sessions.events import Ended, Event, Fault, Received, Violation

__all__ = ["Peer", "Wire"]

C = TypeVar("C", bound=Connection)
F = TypeVar("F")

LINGER = 1.0
"""Seconds for a peer to close its side, once it was told that nothing more comes from ours."""
CLOSE_WAIT = 5.0
"""Seconds for a peer to take what was written before a close; then the connection is cut."""

SLICE = 64 * 1024
"""Bytes that are decoded at once on the event loop."""
LONG_END = 1024
"""Bytes of a frame that the end cuts, from which on the error is searched for in a thread."""
N_THREADS = 2
"""Threads of a process that decode what takes long; one more does not help, for they share the interpreter."""

AT_ONCE = 64
"""Messages after which a sender lets others have their turn, though the network would take more: it may take megabytes."""

TURN = 0.02
"""Seconds of a connection's own work on the event loop after which the others have their turn, though more frames are there."""


_threads = ThreadPoolExecutor(N_THREADS, thread_name_prefix="wire-decoding")


class Peer(Generic[C, F]):
    """The other side of a connection; an asynchronous iterator of the frames that it sends, for one task.

    The iteration ends when the peer does, or this side. It raises the errors of received bytes. Iteration can go on after an
    error only if the connection does (`on_error`).

    Attributes:
        connection: The connection itself, to be looked at: its sessions, its context, its failure.
        tolerated: How often the peer did what is tolerated, by the violation's name: lenient ones, and all where the
            connection keeps going. `event` has each of them.
    """

    connection: C
    tolerated: Counter[str]

    def __init__(self, connection: C, *, backlog: int = 64, idle_timeout: float | None = None) -> None:
        if backlog < 1:
            raise ValueError(f"the backlog is a number of events from 1 on, not {backlog}")
        if idle_timeout is not None and not idle_timeout > 0:
            raise ValueError(f"the idle timeout is a number of seconds above 0, not {idle_timeout}")
        self.connection = connection
        self.tolerated = Counter()
        self._keeps_going = connection.keeps_going
        self._backlog = backlog
        self._idle_timeout = idle_timeout
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._events: deque[Event] = deque()
        self._held = b""
        self._n_at_once = 0
        self._n_decoded = backlog
        self._turn_since = 0.0
        self._has_all_bytes = False
        self._is_over = False
        self._loss: Exception | None = None
        self._arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._ended = asyncio.Event()
        self._lost = asyncio.Event()
        self._turn = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._waits_since: float | None = None
        self._n_for_turn = 0
        self._long: asyncio.Future[list[Event]] | None = None
        """What a thread decodes for this peer."""
        self._writable.set()

    # ---- what an application does ----

    @property
    def address(self) -> object:
        """The peer's address as its socket says it."""
        return self.info("peername")

    @property
    def certificate(self) -> dict[str, object] | None:
        """The peer's certificate; None without TLS, or without one that was asked for and verified."""
        found: dict[str, Any] | None = self.info("peercert")
        return found or None

    def info(self, name: str) -> Any:
        """Return what the transport knows under a name, as `asyncio.BaseTransport.get_extra_info`."""
        return None if self._transport is None else self._transport.get_extra_info(name)

    @property
    def n_waiting(self) -> int:
        """How many events are there to be looked at."""
        return len(self._events)

    async def event(self) -> Event | None:
        """Return the next event, None behind the last one.

        Raises:
            TimeoutError: Nothing whole came within the idle timeout.
            OSError: The connection broke.
        """
        return self._pop() if self._events or await self._arrival() else None

    async def _arrival(self) -> bool:
        """Wait for an event; say whether there is one."""
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
        """Return the next frame, None behind the last one. What is tolerated is only counted.

        Raises:
            SessionError: The peer broke a rule, or a time ran out. The connection is over, unless the violation is only counted. To
                send an answer before the close, pass `despite=error.violation` to `send`.
            DecodeError: Received bytes are not a frame. The connection is over, unless the error is recoverable and
                `on_error` is "continue". To send an answer before the close, pass `despite=error.code` to `send`.
            TimeoutError: Nothing whole came within the idle timeout.
            OSError: The connection broke.
        """
        while self._events or await self._arrival():
            if self._loop.time() - self._turn_since > TURN:
                await asyncio.sleep(0)
                self._turn_since = self._loop.time()
            event = self._pop()
            if type(event) is Received:
                return event.frame  # type: ignore[no-any-return]
            match event:
                case Fault(error=error):
                    raise error
                case Violation(lenient=False) if not self._keeps_going:
                    raise SessionError(
                        event.name, local=event.role is None, detail=event.detail, frame=event.frame
                    )
                case _:
                    pass
        return None

    def __aiter__(self) -> Peer[C, F]:
        return self

    async def __anext__(self) -> F:
        frame = await self.receive()
        if frame is None:
            raise StopAsyncIteration
        return frame

    async def _send(self, message: object, *, wait: bool, **more: object) -> None:
        """Send a message, and wait while the peer takes in less than it is sent."""
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
        if self._n_at_once >= AT_ONCE:
            self._n_at_once = 0
            await asyncio.sleep(0)
        await self.drain()

    async def _wait_for_turn(self) -> None:
        """Wait until something has come that may allow a message."""
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
        """Wait until what was written is mostly on its way.

        Raises:
            OSError: The connection broke.
        """
        await self._writable.wait()
        if self._loss is not None and self._lost.is_set():
            raise self._loss

    def finish(self) -> None:
        """Take no more from the network: the iteration ends behind what has come."""
        self._has_all_bytes = True
        self._advance()

    async def close(self) -> None:
        """Send what was written, and close; frames that have come can still be received."""
        self.finish()
        if self._transport is None:
            return
        if self._transport.can_write_eof() and not self._transport.is_closing():
            # A socket that is closed with bytes unread is reset, and what was last written may not arrive.
            # And a peer may have reset it, of which a transport that has read the end hears nothing.
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
        """Wait for the thread that decodes for this peer; what it has after `CLOSE_WAIT` seconds is dropped."""
        work = self._long
        if work is None:
            return
        await asyncio.wait([work], timeout=CLOSE_WAIT)
        if not work.done():
            work.cancel()
            self._is_over = True

    def abort(self) -> None:
        """Cut the connection; what was written may be lost."""
        if self._transport is not None:
            self._transport.abort()

    @staticmethod
    async def _wait(event: asyncio.Event, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()
        return event.is_set()

    # ---- what the network does ----

    def attach(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._arm()

    def feed(self, data: bytes) -> None:
        """Take bytes from the network."""
        if not self._is_over and not self._has_all_bytes:
            self._held += data
            self._advance()

    def end_of_stream(self) -> bool:
        """Take the end of what the peer sends; say whether this side can still write."""
        self._has_all_bytes = True
        self._ended.set()
        self._advance()
        return self.info("sslcontext") is None

    def detach(self, loss: Exception | None) -> None:
        self._loss = self._loss or loss
        self._has_all_bytes = True
        self._ended.set()
        self._lost.set()
        self._writable.set()
        self._turn.set()
        self._advance()
        if self._timer is not None:
            self._timer.cancel()

    def allow_writing(self, is_allowed: bool) -> None:
        (self._writable.set if is_allowed else self._writable.clear)()

    # ---- between the two ----

    def _advance(self) -> None:
        """Decode what is held, as far as the application is to be ahead; let the network go on or wait."""
        if self._long is None:
            self._decode_held()
        self._arm()
        if self._transport is None or self._has_all_bytes or self._transport.is_closing():
            return
        if self._long is not None or self._has_undecoded or self._is_over:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _decode_held(self) -> None:
        """Decode on the event loop what is quick, and have a thread begin with what is not, once somebody waits for it.

        Until somebody does, the connection stays as the application has last seen it.
        """
        connection, begin = self.connection, self._loop.time()
        while self._has_undecoded and not self._is_over and len(self._events) < self._backlog:
            if self._events and self._loop.time() - begin > TURN:
                return
            if connection.has_long:
                if self._waits_since is not None or self._n_for_turn:
                    most = self._backlog - len(self._events)
                    self._begin_long(
                        partial(connection.receive, b"", self._loop.time(), most=most), self._take
                    )
                return
            self._decode()
        if self._has_all_bytes and not self._has_undecoded and not self._is_over:
            self._end()

    @property
    def _has_undecoded(self) -> bool:
        return bool(self._held) or self.connection.has_more

    def _decode(self) -> None:
        chunk = b""
        if not self.connection.has_more:
            chunk, self._held = self._held[:SLICE], self._held[SLICE:]
        most, begin = min(self._backlog - len(self._events), self._n_decoded), self._loop.time()
        self._take(self.connection.receive(chunk, begin, most=most, is_brief=True))
        is_slow = self._loop.time() - begin > TURN / 2
        self._n_decoded = max(self._n_decoded // 2, 1) if is_slow else min(self._n_decoded * 2, self._backlog)

    def _end(self) -> None:
        """Nothing more can come."""
        now = self._loop.time()
        if self.connection.n_pending > LONG_END:
            self._begin_long(partial(self.connection.eof, now), self._take_last)
        else:
            self._take_last(self.connection.eof(now))

    def _take_last(self, events: list[Event]) -> None:
        self._is_over = True
        self._take([event for event in events if not isinstance(event, Ended)])
        self._arrived.set()

    def _begin_long(self, work: Callable[[], list[Event]], take: Callable[[list[Event]], None]) -> None:
        """Have a thread do the work, and `take` its events on the event loop."""
        self._long = self._loop.run_in_executor(_threads, work)
        self._long.add_done_callback(lambda done: self._settle_long(done, take))

    def _settle_long(self, work: asyncio.Future[list[Event]], take: Callable[[list[Event]], None]) -> None:
        """Take what a thread has decoded, and go on."""
        self._long = None
        if work.cancelled():
            return
        error = work.exception()
        if error is None:
            take(work.result())
        else:  # a bug, which ends this connection only
            self._is_over = True
            self._loss = self._loss or ConnectionAbortedError("decoding failed")
            self._loop.call_exception_handler({"message": "decoding failed", "exception": error})
            self._take([])
            self.abort()
        self._advance()

    def _take(self, events: list[Event]) -> None:
        self._events += events
        for event in events:
            if type(event) is Violation and (event.lenient or self._keeps_going):
                self.tolerated[event.name] += 1
        # Whoever waits for a turn looks again, once; who comes later waits for the next one.
        self._turn.set()
        self._turn = asyncio.Event()
        if self.connection.failure is not None:
            self._is_over = True
            self._held = b""
        if self._events or self._is_over:
            self._arrived.set()

    def _raise_loss(self) -> None:
        """Say once that the connection broke."""
        loss, self._loss = self._loss, None
        if loss is not None:
            raise loss

    # ---- time ----

    def _arm(self) -> None:
        """Wake up at the next time at which something is due; a timer that is too early is left, and asks again."""
        if self._long is not None or self._is_over or self._lost.is_set():
            return
        due = self._due()
        if due is None:
            return
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(due, self._wake)

    def _due(self) -> float | None:
        idle = None
        if self._waits_since is not None and self._idle_timeout is not None:
            idle = self._waits_since + self._idle_timeout
        times = [time for time in (idle, self.connection.next_timeout()) if time is not None]
        return min(times, default=None)

    def _wake(self) -> None:
        self._timer = None
        if self._is_over or self._long is not None:
            return
        now = self._loop.time()
        idle = self._idle_timeout
        if self._waits_since is not None and idle is not None and now >= self._waits_since + idle:
            self._loss = TimeoutError(f"no whole frame came within {idle:g} s")
            self._is_over = True
            self._take([])
            return
        self._take(self.connection.tick(now))
        self._arm()


class Wire(asyncio.Protocol):
    """What asyncio calls; all of it is the peer's affair."""

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
