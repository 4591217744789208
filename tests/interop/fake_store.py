"""A segment store for tests: it keeps to the protocol where nobody tells it otherwise, and does the same in every run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

from wireproto import pravega
from wireproto.pravega import aio

__all__ = ["HOST", "Cut", "FakeStore", "Segment", "serving"]

HOST = "127.0.0.1"
MOST = 1 << 21
Answer = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The first bytes of a message, then the end of the connection."""

    message: Any
    size: int


@dataclass(slots=True, kw_only=True)
class Segment:
    """Bytes from `start` on; `later`: pieces that are appended one by one when a reader waits at the end,
    before the seal.
    """

    data: bytes
    start: int = 0
    is_sealed: bool = False
    later: list[bytes] = field(default_factory=list)
    seals_then: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.data)


@dataclass(kw_only=True)
class FakeStore:
    """`answers`: for a class of requests, a different answer: a message, bytes, a Cut, a list of them, or
    None for no answer.

    `chunk`: bytes that are sent at a time.
    """

    segments: dict[str, Segment] = field(default_factory=dict)
    answers: Mapping[type, Answer] = field(default_factory=dict)
    chunk: int | None = None
    asked: list[Any] = field(default_factory=list)
    ended: list[Exception | None] = field(default_factory=list)

    async def handle(self, peer: aio.Peer) -> None:
        try:
            async for frame in peer:
                self.asked.append(frame.message)
                answer = self.answers.get(type(frame.message))
                for each in _listed(answer(frame.message) if answer else self._answer(frame.message)):
                    await self._say(peer, each)
        except Exception as error:
            self.ended.append(error)
            raise
        self.ended.append(None)

    def _answer(self, request: Any) -> Any:
        match request:
            case pravega.Hello():
                return pravega.Hello()
            case pravega.KeepAlive():
                return request
            case pravega.GetStreamSegmentInfo(request_id=number, segment_name=name):
                segment = self.segments.get(name)
                if segment is None:
                    return pravega.NoSuchSegment(number, name, "a stack trace", -1)
                return pravega.StreamSegmentInfo(
                    number, name, True, segment.is_sealed, False, 0, segment.end, segment.start
                )
            case pravega.ReadSegment():
                return self._read(self.segments[request.segment], request)
        raise AssertionError(f"nobody asked for {request}")

    def _read(self, segment: Segment, request: pravega.ReadSegment) -> Any:
        name, offset, number = request.segment, request.offset, request.request_id
        if offset < segment.start:
            return pravega.SegmentIsTruncated(number, name, segment.start, "", offset)
        if offset == segment.end and not segment.is_sealed:
            if segment.later:
                segment.data += segment.later.pop(0)
            elif segment.seals_then:
                return pravega.SegmentIsSealed(number, name, "", offset)
            else:
                return None
        at = offset - segment.start
        data = segment.data[at : at + min(MOST, max(8, request.suggested_length))]
        is_tail = offset + len(data) == segment.end
        return pravega.SegmentRead(
            name, offset, is_tail and not segment.is_sealed, is_tail and segment.is_sealed, data, number
        )

    async def _say(self, peer: aio.Peer, answer: Any) -> None:
        transport = peer._transport
        assert transport is not None
        match answer:
            case Cut(message=message, size=size):
                transport.write(pravega.encode(message)[:size])
                transport.close()
            case bytes():
                transport.write(answer)
            case _ if self.chunk is None and not self.answers:
                await peer.send(answer)
            case _:  # the connection would refuse some of what these tests need
                await self._drip(transport, pravega.encode(answer))

    async def _drip(self, transport: asyncio.Transport, data: bytes) -> None:
        size = self.chunk or len(data)
        for at in range(0, len(data), size):
            transport.write(data[at : at + size])
            await asyncio.sleep(0)


def _listed(answer: Any) -> list[Any]:
    if isinstance(answer, list):
        return answer
    return [] if answer is None else [answer]


@contextmanager
def serving(store: FakeStore, *, ssl: SSLContext | None = None) -> Iterator[int]:
    """Let a store listen in a thread of its own, and give its port."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(_listen(store, ssl), loop).result(10)
    try:
        yield server.port
    finally:
        asyncio.run_coroutine_threadsafe(server.close(1.0), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


async def _listen(store: FakeStore, ssl: SSLContext | None) -> aio.Server[aio.Peer]:
    return await aio.serve(store.handle, HOST, 0, ssl=ssl)
