"""The part of a writer outside the protocol: it keeps events until they are acknowledged, and sends the others again.

Invariant: an event is forgotten only after the connection has seen its ack, so that no event is lost.
Unacknowledged events of an ended connection are sent again, first and in order, on the next one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import islice
from ssl import SSLContext

from wireproto import lumberjack as lj
from wireproto.lumberjack import aio

from .closing import Size, limit_closed_on

__all__ = ["Settings", "Writer"]

_EVENT_HEAD = 10
"""Bytes of a Json before its document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a writer writes. Times are seconds."""

    host: str
    port: int
    ssl: SSLContext | None = None
    window: int = 2_000
    """Events of a window."""
    max_in_flight: int = 2
    """Windows that are sent ahead of their acks."""
    first: int | None = None
    """The number of the first event, from which numbers count up and wrap around; by default each window is
    numbered from 1.
    """
    compression: int = 3
    """zlib's level; 0: events are sent uncompressed."""
    ack_value: lj.AckValue = lj.AckValue.SEQUENCE
    """The meaning of the number in an ack: go-lumber's server counts the events of a window."""
    ack_wait: float = 30.0
    """Without an ack or a keepalive, until the connection is given up."""
    pause: float = 1.0
    """Before the next connection."""
    tries: int = 10
    """Connections in a row without any ack, before the writer gives up."""

    def __post_init__(self) -> None:
        for name in ("window", "max_in_flight", "tries"):
            if getattr(self, name) < 1:
                raise ValueError(f"`{name}` is {getattr(self, name)}: give at least 1")


class Writer:
    """A writer of JSON documents.

    Attributes:
        n_acknowledged: The number of events that are safe with the receiver.
        n_connections: The number of connections, failed attempts included.
        closed_on: The limit that the receiver may have closed the last connection on, in words, or None if
            it did not close, owed no ack, or the sizes do not determine it.
    """

    def __init__(self, settings: Settings) -> None:
        self.n_acknowledged = 0
        self.n_connections = 0
        self.closed_on: str | None = None
        self._settings = settings
        self._limits = lj.Limits(window=settings.window, ack_wait=int(settings.ack_wait * 1000))
        self._next = settings.first
        self._kept: deque[bytes] = deque()
        self._sent: deque[Size] = deque()
        """Windows that were sent whole and are not acknowledged."""
        self._sending: Size | None = None
        """The window that is being sent, or whose sending has failed."""
        self._taken = Size()

    async def deliver(self, documents: Iterable[bytes]) -> None:
        """Return when all documents are acknowledged. They are requested as capacity allows: the iterator
        must not block for long.

        Raises:
            OSError, SessionError, DecodeError: The error of the last of too many connections without an
                ack.
            EncodeError: An event that is too large.
        """
        source, n_failed = iter(documents), 0
        while True:
            n_before = self.n_acknowledged
            try:
                self.n_connections += 1
                self._sent.clear()
                self._sending = None
                async with self._connect() as peer:
                    return await self._talk(peer, source)
            except (OSError, lj.SessionError, lj.DecodeError) as error:
                refused = self._sent[0] if self._sent else self._sending
                is_closed = isinstance(error, ConnectionError)
                self.closed_on = limit_closed_on(refused, self._taken) if is_closed and refused else None
                n_failed = 0 if self.n_acknowledged > n_before else n_failed + 1
                if n_failed >= self._settings.tries:
                    raise
            await asyncio.sleep(self._settings.pause)

    def _connect(self) -> AbstractAsyncContextManager[aio.Peer]:
        settings = self._settings
        return aio.connect(
            settings.host,
            settings.port,
            ssl=settings.ssl,
            limits=self._limits,
            ack_value=settings.ack_value,
            strict=True,  # no document limits the wait for acks, so only a strict side gives up
        )

    async def _talk(self, peer: aio.Peer, source: Iterator[bytes]) -> None:
        """Send the kept events, and then those of the source, until all of them are acknowledged."""
        settings, n_sent = self._settings, 0
        try:
            while True:
                while n_sent <= settings.window * (settings.max_in_flight - 1):
                    documents = self._following(source, n_sent)
                    if not documents:
                        break
                    await self._send(peer, documents)
                    n_sent += len(documents)
                if not n_sent:
                    return
                if await peer.receive() is None:
                    raise ConnectionResetError("the receiver has closed the connection")
                if not peer.n_waiting:  # acks that came together are processed once
                    n_sent = self._settle(peer, n_sent)
        finally:
            self._settle(peer, n_sent)

    def _following(self, source: Iterator[bytes], n_sent: int) -> list[bytes]:
        """Return the documents of the next window, after those in flight."""
        end = n_sent + self._settings.window
        self._kept.extend(islice(source, max(0, end - len(self._kept))))
        return list(islice(self._kept, n_sent, end))

    def _settle(self, peer: aio.Peer, n_sent: int) -> int:
        """Forget acknowledged events; return the number of sent ones that are not acknowledged."""
        n_left = len(peer.connection.transfer.outstanding)
        for _ in range(n_sent - n_left):
            self._kept.popleft()
            self.n_acknowledged += 1
        while self._sent and sum(size.window for size in self._sent) - self._sent[0].window >= n_left:
            self._taken = self._taken.max(self._sent.popleft())
        return min(n_sent, n_left)

    async def _send(self, peer: aio.Peer, documents: list[bytes]) -> None:
        """Send a window: as one Compressed, or uncompressed, which every receiver accepts."""
        events = [lj.Frame(lj.Json(self._number(place), each)) for place, each in enumerate(documents, 1)]
        self._sending = self._size(documents)
        await peer.send(lj.Window(len(events)))
        if self._settings.compression:
            await peer.send(lj.Compressed(events), compression=self._settings.compression)
        else:
            for event in events:
                await peer.send(event)
        self._sent.append(self._sending)
        self._sending = None

    def _size(self, documents: list[bytes]) -> Size:
        sizes = [_EVENT_HEAD + len(each) for each in documents]
        inflated = sum(sizes) if self._settings.compression else 0
        return Size(window=len(documents), frame=max(sizes), inflated=inflated)

    def _number(self, place: int) -> int:
        if self._next is None:
            return place
        number, self._next = self._next, (self._next + 1) % 2**32
        return number
