"""A segment store at the other end of a connection: requests, their replies, and the bytes of a segment.

Invariant: one request is in progress at a time, and no more than one piece of a segment is in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext

from wireproto import pravega
from wireproto.pravega import aio

from .failures import Exit, Failure, refusal

__all__ = ["PIECE", "Store", "connect"]

Request = pravega.Hello | pravega.GetStreamSegmentInfo | pravega.ReadSegment

PIECE = 1 << 20
"""Bytes of one request; a Java store returns at most 2 MiB."""
LIMITS = pravega.Limits(frame=PIECE + (1 << 18))
"""Limits for a piece and the texts around it. A peer that sends more in one message is not read any further."""
PAUSE = 0.2
"""Seconds until the next request if a store replies at once that it has no more bytes."""


@asynccontextmanager
async def connect(
    host: str,
    port: int,
    *,
    token: str = "",
    ssl: SSLContext | None = None,
    server_hostname: str | None = None,
    timeout: float = 10.0,
) -> AsyncIterator[Store]:
    """Connect, exchange Hello, yield the store, and close. `timeout`: seconds for the connection, and for each reply.

    Raises:
        TimeoutError: The connection, or the Hello, did not come in time.
        SessionError: No version in common (`incompatible_version`), or another violation of the rules.
        DecodeError: The peer's bytes are not the protocol.
        OSError: The network, TLS.
    """
    async with aio.connect(
        host, port, ssl=ssl, server_hostname=server_hostname, timeout=timeout, limits=LIMITS, backlog=1
    ) as peer:
        store = Store(peer, token=token, timeout=timeout)
        await store.greet()
        yield store


class Store:
    """A segment store. Its methods raise `Failure` for error replies, and the errors of `connect`.

    Attributes:
        hello: Its message about its versions.
    """

    hello: pravega.Hello

    def __init__(self, peer: aio.Peer, *, token: str, timeout: float) -> None:
        self._peer = peer
        self._token = token
        self._timeout = timeout
        self._last_id = 0

    async def greet(self) -> None:
        """Exchange Hello. The connection checks that the versions overlap."""
        await self._send(pravega.Hello())
        match await self._reply():
            case pravega.Hello() as hello:
                self.hello = hello
            case reply:
                raise _unexpected(pravega.Hello(), reply)

    async def info(self, segment: str) -> pravega.StreamSegmentInfo:
        """Return the store's information on a segment that exists."""
        request = pravega.GetStreamSegmentInfo(self._next_id(), segment, self._token)
        await self._send(request)
        match _checked(await self._reply(), request, request.request_id):
            case pravega.StreamSegmentInfo(segment_name=name) as found if name == segment:
                if not found.exists or found.is_deleted:
                    raise Failure(Exit.NO_SUCH_SEGMENT, "the segment does not exist")
                return found
            case reply:
                raise _unexpected(request, reply)

    async def read(self, segment: str, start: int, end: int | None, *, waits: bool) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` up to `end`, or to the end of a sealed segment; never an empty piece.

        `waits`: wait for bytes that are not written yet; otherwise it is a failure if they are missing.
        """
        offset = start
        while end is None or offset < end:
            data, is_last = await self._piece(segment, offset, end, waits=waits)
            offset += len(data)
            if data:
                yield data
            if is_last:
                return
            if not data:
                if not waits:
                    raise Failure(
                        Exit.PROTOCOL, f"the store gives nothing at {offset}, before the end at {end}"
                    )
                await asyncio.sleep(PAUSE)

    async def _piece(self, segment: str, offset: int, end: int | None, *, waits: bool) -> tuple[bytes, bool]:
        """Return bytes from an offset on, and whether the segment ends after them."""
        most = PIECE if end is None else min(PIECE, end - offset)
        request = pravega.ReadSegment(segment, offset, most, self._token, self._next_id())
        await self._send(request)
        reply = await (self._late_reply() if waits else self._reply())
        match _checked(reply, request, request.request_id, -1):  # -1: a store of before version 8 says none
            case pravega.SegmentRead(segment=name, offset=at) as read if (name, at) == (segment, offset):
                return read.data[:most], read.end_of_segment  # fewer than 8 bytes may be rounded up
            case pravega.SegmentIsSealed():  # while it was waited for more
                return b"", True
            case other:
                raise _unexpected(request, other)

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    async def _send(self, message: Request | pravega.KeepAlive) -> None:
        async with asyncio.timeout(self._timeout):
            await self._peer.send(message)

    async def _reply(self) -> object:
        """Return the next message that is not a KeepAlive."""
        async with asyncio.timeout(self._timeout):
            while isinstance(message := await self._message(), pravega.KeepAlive):
                pass
            return message

    async def _late_reply(self) -> object:
        """Return the next message, but wait as long as the store sends KeepAlive in time."""
        while True:
            try:
                return await self._reply()
            except TimeoutError:
                await self._send(pravega.KeepAlive())
            async with asyncio.timeout(self._timeout):
                message = await self._message()
            if not isinstance(message, pravega.KeepAlive):
                return message

    async def _message(self) -> object:
        frame = await self._peer.receive()
        if frame is None:
            raise Failure(Exit.NETWORK, "the store closed the connection")
        return frame.message


def _checked(reply: object, request: Request, *ids: int) -> object:
    """Return a reply that has one of the ids, and is not an error."""
    found = getattr(reply, "request_id", None)
    if found not in ids and not isinstance(
        reply, pravega.AuthTokenCheckFailed
    ):  # which holds the offset of a read there
        answered = "no request" if found is None else f"request {found}"
        text = f"{type(reply).__name__} answers {answered}, but request {ids[0]} was asked ({type(request).__name__})"
        raise Failure(Exit.PROTOCOL, text)
    failure = refusal(reply)
    if failure is not None:
        raise failure
    return reply


def _unexpected(request: Request, reply: object) -> Failure:
    asked, given = type(request).__name__, type(reply).__name__
    return Failure(Exit.PROTOCOL, f"{given} does not answer the {asked} that was sent")
