"""The service: connections to batches, batches to the spool, acks back; and its counters."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext

from wireproto import lumberjack as lj
from wireproto.lumberjack import aio

from .batches import Batch, Batches
from .refusals import Refusals
from .spool import Spool

__all__ = ["Service", "Settings"]

_LOST = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
"""The peer or the network ended the connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the service runs. Sizes are bytes, times seconds."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 5044
    ssl: SSLContext | None = None
    max_connections: int = 256
    max_batch: int = 4 << 20
    max_file: int = 64 << 20
    limits: lj.Limits = field(default_factory=lj.Limits)
    """Of each connection; the protocol's own by default. `ack_wait` is not used."""
    backlog: int = 2
    """Frames of one connection decoded ahead of the disk; each of them may inflate to `limits.inflated`."""
    idle_timeout: float = 600.0
    quiet: float = 2.0
    """Until events of a window that is not full are stored, though not acknowledged."""
    keepalive: float = 5.0
    grace: float = 10.0
    refusal_lines: int = 60
    """Lines a minute about refused connections."""

    def connection_limits(self) -> lj.Limits:
        """Return the limits of a connection. The writer decides how long it waits, so the timer here never runs out."""
        return lj.Limits(**(self.limits.to_dict() | {"ack_wait": 2**31 - 1}))


@dataclass(slots=True)
class Counts:
    """The counts since the start."""

    connections: int = 0
    events: int = 0
    acks: int = 0
    keepalives: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    """Connections that ended abnormally, by the reason."""


class Service:
    """A listener and its spool."""

    def __init__(self, settings: Settings) -> None:
        self.counts = Counts()
        self._settings = settings
        self.spool = Spool(settings.folder, max_file=settings.max_file)
        self._refusals = Refusals(settings.refusal_lines, _log, time.monotonic)
        self._server: aio.Server[aio.Peer] | None = None

    async def start(self) -> int:
        """Listen; return the port."""
        settings = self._settings
        self._server = await aio.serve(
            self._handle,
            settings.host,
            settings.port,
            ssl=settings.ssl,
            limits=settings.connection_limits(),
            max_connections=settings.max_connections,
            backlog=settings.backlog,
            idle_timeout=settings.idle_timeout,
            report=self._report,
        )
        return self._server.port

    async def stop(self) -> None:
        """Stop accepting, store and acknowledge the received events, and close."""
        if self._server is not None:
            await self._server.close(self._settings.grace)
        await self.spool.close()
        self._refusals.flush()

    @property
    def n_connections(self) -> int:
        return 0 if self._server is None else self._server.n_connections

    @property
    def n_refused(self) -> int:
        return 0 if self._server is None else self._server.refused

    def _report(self, peer: aio.Peer | None, error: Exception) -> None:
        """Count the reason for the end of a connection; write a line if this side refused it."""
        if not isinstance(error, _LOST):
            self._refusals.add(peer, error)
        match error:
            case lj.SessionError():
                self.counts.ended[error.violation] += 1
            case lj.DecodeError():
                self.counts.ended[error.code] += 1
            case _:
                self.counts.ended[type(error).__name__] += 1

    async def _handle(self, peer: aio.Peer) -> None:
        """Store each batch, then acknowledge it; batches that came together are stored together."""
        self.counts.connections += 1
        batches, ready = Batches(self._settings.max_batch), list[Batch]()
        try:
            while (frame := await self._next(peer, batches)) is not None:
                for batch in batches.take(frame):
                    ready.append(batch)
                    if sum(len(each.data) for each in ready) >= self._settings.max_batch:
                        await self._settle(peer, ready)
                del frame  # it may hold `limits.inflated` bytes
                if ready and not peer.n_waiting:
                    await self._settle(peer, ready)
        except (lj.SessionError, lj.DecodeError):
            with suppress(*_LOST):
                await self._settle(peer, ready)  # these windows were whole before the error
            raise
        finally:
            # A writer that does not wait for acks would not send these again. Batches whose ack failed are stored already.
            await self._store([*ready, batches.rest()])

    async def _next(self, peer: aio.Peer, batches: Batches) -> lj.Frame | None:
        """Return the next frame; events of an incomplete window go to disk if no frame comes for a while."""
        if batches.is_open and not peer.n_waiting:
            try:
                async with asyncio.timeout(self._settings.quiet):
                    return await self._received(peer)
            except TimeoutError:
                await self._store([batches.rest()])
        return await self._received(peer)

    async def _received(self, peer: aio.Peer) -> lj.Frame | None:
        """Return the next frame. The protocol only notes a large window, as its document has no bound; the
        operator has one.
        """
        frame, most = await peer.receive(), self._settings.limits.window
        match frame:
            case lj.Frame(message=lj.Window(size=size)) if size > most:
                detail = f"a Window of {size} events, at most {most} (--max-window)"
                raise lj.SessionError(
                    "window_too_large",
                    local=False,
                    detail=detail,
                    frame=frame,
                    frame_offset=peer.frame_offset,
                )
        return frame

    async def _settle(self, peer: aio.Peer, ready: list[Batch]) -> None:
        """Store batches and acknowledge each; meanwhile send keepalives to a peer that understands them."""
        batches = tuple(ready)
        storing = asyncio.create_task(self._store(batches))
        try:
            version = next((each.ack.version for each in batches if each.ack is not None), None)
            while not (await asyncio.wait({storing}, timeout=self._settings.keepalive))[0]:
                if version is lj.Version.V2 and not _is_awaited(peer, 0):
                    await peer.send(lj.Ack(0), version=version)
                    self.counts.keepalives += 1
        finally:
            await storing
            ready.clear()
        for batch in batches:
            await self._acknowledge(peer, batch)

    async def _acknowledge(self, peer: aio.Peer, batch: Batch) -> None:
        ack = batch.ack
        if ack is None or (not batch.n_events and ack.sequence == 0 and _is_awaited(peer, 0)):
            return
        try:
            await peer.send(lj.Ack(ack.sequence), version=ack.version)
        except lj.SessionError as error:
            # Frames are decoded ahead of the disk: a later one may have failed the connection while this window was stored.
            await peer.send(lj.Ack(ack.sequence), version=ack.version, despite=error.violation)
        self.counts.acks += 1

    async def _store(self, batches: list[Batch] | tuple[Batch, ...]) -> None:
        data = b"".join(batch.data for batch in batches)
        if data:
            await self.spool.store(data)
            self.counts.events += sum(batch.n_events for batch in batches)


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _is_awaited(peer: aio.Peer, sequence: int) -> bool:
    """Return whether an ack of that number would acknowledge an event."""
    return sequence in peer.connection.transfer.outstanding
