"""A Lumberjack receiver on asyncio and zlib alone, which behaves as badly as the protocol lets a receiver behave.

It shares no code with the tested programs: frames are read by hand.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

__all__ = ["Event", "Manners", "PlainReceiver", "receiving"]

Event = tuple[int, bytes]
"""Its sequence number and its document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How a receiver behaves. The tuples are of its connections in turn; later ones are not cut."""

    ack_every: int = 0
    """Events of a window after which it acknowledges; 0: only the last one."""
    keepalives: int = 0
    """Acks of 0 before each ack, where no event has that number."""
    repeats: int = 0
    """How often an ack of a part of a window is said again."""
    cut_after: tuple[int, ...] = ()
    """Bytes after which it resets the connection."""
    end_after: tuple[int, ...] = ()
    """Events after which it acknowledges, and closes in order."""
    drip: int = 0
    """Bytes that it reads at a time, with a pause after each."""


@dataclass(slots=True)
class PlainReceiver:
    """The received events, by connection, and the number of events acknowledged on each."""

    manners: Manners
    port: int = 0
    came: list[list[Event]] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = _Talk(self, len(self.came), reader, writer)
        self.came.append(talk.came)
        self.acknowledged.append(0)
        try:
            await talk.run()
            # A socket closed with bytes unread is reset, and the last ack would be lost.
            writer.write_eof()
            while await reader.read(65536):
                pass
        except (asyncio.IncompleteReadError, ConnectionResetError):
            pass
        except _Cut:
            writer.transport.abort()
        finally:
            writer.close()


class _Cut(Exception):
    """It is time to cut the connection."""


class _Talk:
    """One connection."""

    def __init__(
        self,
        receiver: PlainReceiver,
        number: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        manners = receiver.manners
        self.came: list[Event] = []
        self._receiver = receiver
        self._number = number
        self._manners = manners
        self._reader = reader
        self._writer = writer
        self._bytes_left = manners.cut_after[number] if number < len(manners.cut_after) else None
        self._events_left = manners.end_after[number] if number < len(manners.end_after) else None
        self._window: list[int] = []
        self._size = 0

    async def run(self) -> None:
        while self._events_left is None or self._events_left > 0:
            version, kind = await self._read(2)
            assert version == 0x32
            if kind == 0x57:
                assert not self._window, "a window before the last one is full"
                self._size = await self._number_()
            elif kind == 0x43:
                await self._take_all(zlib.decompress(await self._read(await self._number_())))
            else:
                assert kind == 0x4A
                sequence, size = await self._number_(), await self._number_()
                await self._take((sequence, await self._read(size)))

    async def _take_all(self, body: bytes) -> None:
        while body:
            assert body[:2] == b"2J"
            sequence, size = (int.from_bytes(body[start : start + 4], "big") for start in (2, 6))
            await self._take((sequence, body[10 : 10 + size]))
            body = body[10 + size :]

    async def _take(self, event: Event) -> None:
        if self._events_left is not None:
            if self._events_left == 0:
                return
            self._events_left -= 1
        self.came.append(event)
        self._window.append(event[0])
        n_events, every = len(self._window), self._manners.ack_every
        is_full = n_events == self._size
        if is_full or self._events_left == 0 or (every and n_events % every == 0):
            await self._acknowledge(event[0], is_full=is_full)
        if is_full:
            self._window = []

    async def _acknowledge(self, sequence: int, *, is_full: bool) -> None:
        for _ in range(self._manners.keepalives if 0 not in self._window else 0):
            self._writer.write(b"2A" + bytes(4))
        for _ in range(1 + (0 if is_full else self._manners.repeats)):
            self._writer.write(b"2A" + sequence.to_bytes(4, "big"))
        self._receiver.acknowledged[self._number] = len(self.came)
        await self._writer.drain()

    async def _number_(self) -> int:
        return int.from_bytes(await self._read(4), "big")

    async def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            most = min(size - len(data), self._manners.drip or size)
            if self._bytes_left is not None:
                most = min(most, self._bytes_left)
            data += await self._reader.readexactly(most)
            if self._bytes_left is not None:
                self._bytes_left -= most
                if self._bytes_left == 0:
                    raise _Cut
            if self._manners.drip:
                await asyncio.sleep(0)
        return data


@asynccontextmanager
async def receiving(manners: Manners) -> AsyncIterator[PlainReceiver]:
    receiver = PlainReceiver(manners)
    server = await asyncio.start_server(receiver.handle, "127.0.0.1", 0, limit=2048)
    receiver.port = server.sockets[0].getsockname()[1]
    async with server:
        yield receiver
