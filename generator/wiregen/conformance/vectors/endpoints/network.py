"""Scripts held over TCP or TLS: the runner connects, or listens; each conversation has a connection of its own.

Invariant: memory and time of a connection are bounded: by bytes that the peer may send, and by the patience of each step.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ssl import SSLContext
from typing import Final, TypeAlias

from wiregen.conformance.judge import Finding, Verdict
from wiregen.conformance.vectors.endpoints.conversation import (
    Action,
    Conversing,
    Finish,
    Hear,
    News,
    Patience,
    Send,
    talk,
)
from wiregen.conformance.vectors.endpoints.live import Live
from wiregen.conformance.vectors.endpoints.script import Script, Side

__all__ = ["AnswerCounts", "Network", "NetworkError", "held"]

_MOST_BYTES: Final = 64 << 10
"""Bytes that a peer may send on one connection."""
_CONNECTING: Final = 10.0
"""Seconds for a connection, TLS included, and for a peer to receive the bytes that it is sent."""
_CHUNK: Final = _MOST_BYTES + 1
"""Bytes that are read at once: too many of them are counted before any of them is decoded."""
_COMPUTING: Final = 60.0
"""Seconds that a trace may take beyond the time for which its steps may wait."""

_TLS_ALERT: Final = bytes.fromhex("1503")
"""The first bytes of a TLS record that refuses something."""

Told: TypeAlias = Callable[[Verdict], None]


@dataclass(slots=True)
class AnswerCounts:
    """Counts of a peer's answers on all connections: connections with bytes, those that began with a TLS
    record, those that it closed, and waits without an answer.
    """

    n_heard: int = 0
    n_tls: int = 0
    n_closed: int = 0
    n_quiet: int = 0

    def note(self, news: News, *, is_first: bool) -> None:
        """Count an answer. `is_first`: the peer has sent nothing on this connection before."""
        if not is_first:
            return
        if news is None:
            self.n_quiet += 1
        elif news == "closed":
            self.n_closed += 1
        elif isinstance(news, bytes) and news.startswith(_TLS_ALERT):
            self.n_tls += 1
        else:
            self.n_heard += 1


class NetworkError(Exception):
    """The address does not accept connections, or cannot be listened on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The address of the peer, or the one to which it connects.

    Attributes:
        server_name: The name in the peer's certificate; the default is that of the host.
        n_at_once: Simultaneous conversations.
        waiting: Seconds within which a peer must connect.
    """

    host: str
    port: int
    is_listening: bool = False
    ssl: SSLContext | None = None
    server_name: str | None = None
    n_at_once: int = 8
    waiting: float = 30.0


async def held(
    scripts: Sequence[Script],
    side: Side,
    network: Network,
    patience: Patience,
    *,
    listening: Callable[[int], None] = lambda port: None,
    told: Told = lambda verdict: None,
    answers: AnswerCounts | None = None,
) -> dict[str, Verdict]:
    """Return the verdict of each script by its id; `answers` counts the peer's answers. `listening` is
    called with the port, `told` with each verdict when it is known.

    Raises:
        NetworkError: The address does not accept connections, or cannot be listened on.
    """
    run = _Run(scripts, side, network, patience, told)
    run.heard = answers or run.heard
    await (run.listen(listening) if network.is_listening else run.connect())
    return run.verdicts


class _Run:
    def __init__(
        self, scripts: Sequence[Script], side: Side, network: Network, patience: Patience, told: Told
    ) -> None:
        self.verdicts: dict[str, Verdict] = {}
        self._left = deque(scripts)
        self._n_all = len(scripts)
        self._side = side
        self._network = network
        self._patience = patience
        self._told = told
        self.heard = AnswerCounts()
        self._n_open = 0
        self._searched = 0.0
        """Seconds in which the runner computed what to say: in them it hears no peer."""
        self._came = asyncio.Event()

    # ---- the runner connects

    async def connect(self) -> None:
        if self._left:
            await self._call(self._left.popleft(), is_first=True)
        async with asyncio.TaskGroup() as group:
            for _ in range(self._network.n_at_once):
                group.create_task(self._calls())

    async def _calls(self) -> None:
        while self._left:
            await self._call(self._left.popleft())

    async def _call(self, script: Script, *, is_first: bool = False) -> None:
        network = self._network
        name = (network.server_name or network.host) if network.ssl else None
        try:
            async with asyncio.timeout(_CONNECTING):
                reader, writer = await asyncio.open_connection(
                    network.host, network.port, ssl=network.ssl, server_hostname=name, limit=_MOST_BYTES
                )
        except OSError as error:
            why = _why(error, is_tls=network.ssl is not None)
            if is_first:
                raise NetworkError(f"no connection to {network.host} port {network.port}: {why}") from None
            finding = Finding(check="the connection", expected="one", found=why)
            self._settle(Verdict(id=script.id, outcome="failed", findings=(finding,)))
            return
        self._settle(await self._converse(script, reader, writer))

    # ---- the runner listens

    async def listen(self, listening: Callable[[int], None]) -> None:
        network = self._network
        try:
            server = await asyncio.start_server(
                self._admit, network.host, network.port, ssl=network.ssl, limit=_MOST_BYTES
            )
        except OSError as error:
            raise NetworkError(
                f"cannot listen on {network.host} port {network.port}: {error.strerror or error}"
            ) from None
        async with server:
            listening(server.sockets[0].getsockname()[1])
            while len(self.verdicts) < self._n_all:
                self._came.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(network.waiting):
                        await self._came.wait()
                        continue
                if not self._n_open:
                    self._nobody_came()

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._left or self._n_open >= self._network.n_at_once:
            writer.transport.abort()
            return
        script = self._left.popleft()
        self._n_open += 1
        self._came.set()
        try:
            self._settle(await self._converse(script, reader, writer))
        finally:
            self._n_open -= 1
            self._came.set()

    def _nobody_came(self) -> None:
        found = f"none within {self._network.waiting:g} s"
        while self._left:
            finding = Finding(check="a connection of the peer", expected="one", found=found)
            self._settle(Verdict(id=self._left.popleft().id, outcome="failed", findings=(finding,)))

    # ---- one conversation

    def _settle(self, verdict: Verdict) -> None:
        self.verdicts[verdict.id] = verdict
        self._told(verdict)

    async def _converse(
        self, script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Verdict:
        loop = asyncio.get_running_loop()
        began = loop.time()
        live = Live(side=self._side)
        talking = talk(script, live, self._patience, lambda: loop.time() - began, self._waited)
        try:
            async with asyncio.timeout(_longest(script, self._patience)):
                verdict = await self._driven(script, talking, reader, writer)
        except TimeoutError:
            reason = f"it takes longer than {loop.time() - began:.0f} s with this peer"
            verdict = Verdict(id=script.id, outcome="skipped", reason=reason)
        finally:
            talking.close()
            writer.transport.abort()
        return verdict

    def _waited(self) -> float:
        return asyncio.get_running_loop().time() - self._searched

    def _next(self, talking: Conversing, news: News) -> Action:
        """Return the next action of a conversation; the time of the search for it counts against no peer."""
        began = self._waited()
        try:
            return talking.send(news)
        finally:
            self._searched += self._waited() - began

    async def _driven(
        self,
        script: Script,
        talking: Conversing,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> Verdict:
        """Perform the actions of the conversation until it has a verdict."""
        news: News = None
        n_bytes, is_closed = 0, False
        while True:
            try:
                action = self._next(talking, news)
            except StopIteration as stop:
                verdict: Verdict = stop.value
                return verdict
            news = None
            match action:
                case Send(data=data):
                    is_closed |= not await _sent(writer, data)
                case Finish():
                    with suppress(OSError):
                        writer.write_eof()
                case Hear(seconds=seconds):
                    is_over = is_closed and reader.at_eof()
                    news = "closed" if is_over else await self._listened(reader, seconds)
                    self.heard.note(news, is_first=n_bytes == 0)
                    n_bytes += len(news) if isinstance(news, bytes) else 0
                    if n_bytes > _MOST_BYTES:
                        reason = f"the peer sent more than {_MOST_BYTES >> 10} KiB"
                        return Verdict(id=script.id, outcome="skipped", reason=reason)

    async def _listened(self, reader: asyncio.StreamReader, seconds: float) -> News:
        """Return what the peer sends within so many seconds of waiting."""
        end = self._waited() + seconds
        while (left := end - self._waited()) > 0:
            try:
                async with asyncio.timeout(left):
                    return await reader.read(_CHUNK) or "closed"
            except TimeoutError:
                continue  # the time that another conversation searched does not count
            except OSError:
                return "closed"
        return None


def _longest(script: Script, patience: Patience) -> float:
    """Return the seconds that a trace may take: the longest waits of its steps, and time to compute."""
    return _COMPUTING + len(script.steps) * (patience.refusal + patience.pause + 3 * patience.quiet)


def _why(error: OSError, *, is_tls: bool) -> str:
    """Return the reason why a connection failed, in words."""
    if not isinstance(error, TimeoutError) or str(error):
        return str(error) or type(error).__name__
    return f"{'the TLS handshake' if is_tls else 'connecting'} did not end within {_CONNECTING:g} s"


async def _sent(writer: asyncio.StreamWriter, data: bytes) -> bool:
    """Send bytes; return whether the connection is still open."""
    try:
        async with asyncio.timeout(_CONNECTING):
            writer.write(data)
            await writer.drain()
    except OSError:
        return False
    return True
