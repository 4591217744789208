"""The network's side of a peer over asyncio: bytes and times in, events for the application out.

Invariant: decoding pauses while the application has `backlog` events to process. Frames that may take long
are decoded in a thread, one call of a connection at a time. During such a call, the connection is not
called otherwise.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, TypeVar

from ..sessions.connection import Connection
from ..sessions.events import Ended, Event, Violation

__all__ = ["TURN", "NetworkSide"]

C = TypeVar("C", bound=Connection)

SLICE = 64 * 1024
"""Bytes that are decoded at once on the event loop."""
LONG_END = 1024
"""Bytes of a frame cut off by the end, from which the error is searched for in a thread."""
N_THREADS = 2
"""Threads of a process that decode long frames; more do not help, as they share the interpreter."""

TURN = 0.02
"""Seconds of a connection's work on the event loop after which other tasks run, even if more frames are available."""

_threads = ThreadPoolExecutor(N_THREADS, thread_name_prefix="wire-decoding")


class NetworkSide(Generic[C]):
    """Decodes received bytes, up to the application's backlog.

    Attributes:
        connection: The connection itself, for reading: its sessions, its context, its failure.
        tolerated: The number of tolerated violations by their names: lenient ones, or all if the
            connection continues after violations.
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
        self._address: object = None
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
        """The decoding of a thread for this peer."""
        self._writable.set()

    def info(self, name: str) -> Any:
        """Return the transport's information under a name, as `asyncio.BaseTransport.get_extra_info`."""
        return None if self._transport is None else self._transport.get_extra_info(name)

    def abort(self) -> None:
        """Abort the connection; written bytes may be lost."""
        if self._transport is not None:
            self._transport.abort()

    # ---- events of the network ----

    def attach(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._address = self.info("peername")  # TLS forgets it with the connection
        self._arm()

    def feed(self, data: bytes) -> None:
        """Process bytes from the network."""
        if not self._is_over and not self._has_all_bytes:
            self._held += data
            self._advance()

    def end_of_stream(self) -> bool:
        """Process the end of the peer's direction; return whether this side can still write."""
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
        """Decode held bytes, up to the application's backlog; then resume or pause the network."""
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
        """Decode short frames on the event loop; let a thread start a long frame once the application waits for it.

        Until the application waits, the connection stays as the application last saw it.
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
        """Process the end of the stream, after which no bytes arrive."""
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
        """Let a thread do the work, and pass its events to `take` on the event loop."""
        self._long = self._loop.run_in_executor(_threads, work)
        self._long.add_done_callback(lambda done: self._settle_long(done, take))

    def _settle_long(self, work: asyncio.Future[list[Event]], take: Callable[[list[Event]], None]) -> None:
        """Process the events that a thread has decoded, and go on."""
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
        # Senders that wait for a turn check again once; later ones wait for the next turn.
        self._turn.set()
        self._turn = asyncio.Event()
        if self.connection.failure is not None:
            self._is_over = True
            self._held = b""
        if self._events or self._is_over:
            self._arrived.set()

    def _raise_loss(self) -> None:
        """Report once that the connection broke."""
        loss, self._loss = self._loss, None
        if loss is not None:
            raise loss

    # ---- time ----

    def _arm(self) -> None:
        """Wake up at the next due time; a timer that fires too early is kept, and checks again."""
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
