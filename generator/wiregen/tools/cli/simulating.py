"""A simulated peer: it sends messages that its sessions allow now, by chance or as a conversation has them.

Invariant: it never breaks a rule itself, and ends within the bounds of its run, whatever the other side sends.
"""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final

from wiregen.conformance.traces import ConnectionState, MessageDraft, Step, Trace
from wiregen.conformance.vectors.endpoints import Side
from wiregen.runtime.codec.errors import DecodeError
from wiregen.tools.cli.proxying.totals import Totals
from wiregen.tools.cli.proxying.work import ConnectionWork

__all__ = ["Bounds", "PeerError", "SimulatedPeer"]

_CHUNK: Final = 64 << 10
_MOST_BYTES: Final = 16 << 20
"""Bytes that the peer may send: a run keeps them."""
_MOST_TRIED: Final = 200
"""Messages that are tried in the search for one that the sessions allow."""


class PeerError(Exception):
    """The run cannot continue because of the peer; the text is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The bounds of a run: messages to send, and times in seconds.

    Attributes:
        timeout: The wait for an answer that is needed.
        pause: The wait for an answer that may come.
        seconds: The time of the whole run, or None without a bound.
    """

    n_messages: int
    timeout: float
    pause: float
    seconds: float | None = None


class SimulatedPeer:
    """One side of one connection; `work` shows and judges both directions."""

    def __init__(
        self,
        side: Side,
        work: ConnectionWork,
        totals: Totals,
        bounds: Bounds,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._side = side
        self._work = work
        self._totals = totals
        self._bounds = bounds
        self._reader = reader
        self._writer = writer
        self._world = ConnectionState(side.setup)
        self._began = time.monotonic()
        self._n_heard = 0
        self._is_closed = False

    async def converse(self, trace: Trace) -> None:
        """Play the own steps of a trace, and wait for those of the peer.

        Raises:
            PeerError: The peer broke a rule, closed the connection, or did not send its messages in time.
        """
        n_expected = 0
        for step in trace.steps:
            if step.role is None:
                await self._listen_for(step.at - self._world.now)
            elif step.role == self._side.peer:
                n_expected += step.kind == "message"
                await self._hear_messages(n_expected)
            elif step.kind == "message":
                if not self._may_send(step.data):
                    raise PeerError(
                        f"after the messages of {self._side.peer}, {self._side.own} may not send the next one"
                    )
                await self._say(step.data)
        await self._hear_rest()

    async def wander(self, chance: Random) -> None:
        """Send messages by chance, each one allowed at that moment.

        Raises:
            PeerError: The peer broke a rule, closed the connection, or did not send the messages without which nothing may follow.
        """
        for number in range(self._bounds.n_messages):
            while (data := self._choice(chance)) is None:
                if not await self._hear(self._bounds.timeout):
                    sent = f"after {number} of {self._bounds.n_messages} messages"
                    raise PeerError(
                        f"{sent}, {self._side.own} may not send any message, and {self._side.peer} was quiet"
                    )
            await self._say(data)
            await self._hear(self._bounds.pause)
        await self._hear_rest()

    # ---- messages

    def _choice(self, chance: Random) -> bytes | None:
        """Return a message that the sessions allow now, each kind as likely as the others, or None."""
        kinds: dict[str, list[MessageDraft]] = {}
        for draft in islice(self._drafts(), _MOST_TRIED):
            kinds.setdefault(draft.name, []).append(draft)
        names = sorted(kinds)
        chance.shuffle(names)
        for name in names:
            chance.shuffle(kinds[name])
            for draft in kinds[name]:
                data = draft.encoded(self._world)
                if data is not None and self._may_send(data):
                    return data
        return None

    def _drafts(self) -> Iterator[MessageDraft]:
        for each in self._side.drafts.anew().now(self._world):
            if each.sender != self._side.own:
                continue
            if isinstance(each, MessageDraft):
                yield each
            else:
                yield from map(each.draft, each.choices())

    def _may_send(self, data: bytes) -> bool:
        outcome = self._world.copy().take(self._step(self._side.own, data))
        return not outcome.violations and outcome.fault is None and bool(outcome.values)

    def _step(self, role: str, data: bytes) -> Step:
        return Step(kind="message", role=role, at=time.monotonic() - self._began, data=data)

    # ---- the network

    async def _say(self, data: bytes) -> None:
        if self._is_closed:
            raise PeerError(f"{self._side.peer} has closed the connection")
        self._world.take(self._step(self._side.own, data))
        self._work.take(self._side.own, data, time.time())
        self._totals.n_bytes[self._side.own] += len(data)
        try:
            self._writer.write(data)
            async with asyncio.timeout(self._bounds.timeout):
                await self._writer.drain()
        except TimeoutError:
            raise PeerError(f"{self._side.peer} does not read its messages") from None
        except OSError:
            self._is_closed = True

    async def _hear(self, seconds: float) -> bool:
        """Wait for bytes of the peer; return whether there were any.

        Raises:
            PeerError: They break a rule, are too many, or the connection has ended.
        """
        if self._is_closed:
            raise PeerError(f"{self._side.peer} has closed the connection")
        try:
            async with asyncio.timeout(seconds):
                data = await self._reader.read(_CHUNK)
        except TimeoutError:
            if self._work.expire(time.time()):
                raise PeerError(f"{self._side.peer} did not send its message in time") from None
            return False
        except OSError:
            data = b""
        self._is_closed = not data
        self._totals.n_bytes[self._side.peer] += len(data)
        is_wrong = self._work.take(self._side.peer, data, time.time())
        if self._is_closed:
            is_wrong |= self._work.finish(self._side.peer, time.time())
        if is_wrong:
            raise PeerError(f"{self._side.peer} broke a rule")
        if self._totals.n_bytes[self._side.peer] > _MOST_BYTES:
            raise PeerError(f"{self._side.peer} has sent more than {_MOST_BYTES >> 20} MiB")
        outcome = self._world.take(self._step(self._side.peer, data))
        self._n_heard += sum(not isinstance(each, DecodeError) for each in outcome.values)
        return True

    async def _hear_messages(self, n_expected: int) -> None:
        """Wait until the peer has sent so many messages in all."""
        end = time.monotonic() + self._bounds.timeout
        while self._n_heard < n_expected:
            if not await self._hear(max(0.0, end - time.monotonic())):
                found = f"{self._n_heard} of {n_expected} messages"
                raise PeerError(f"{self._side.peer} has sent {found} within {self._bounds.timeout:g} s")

    async def _listen_for(self, seconds: float) -> None:
        """Let time pass; the peer may send legal messages."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            await self._hear(left)

    async def _hear_rest(self) -> None:
        """Wait until the peer is quiet, or closes: either may follow the last message."""
        end = time.monotonic() + self._bounds.timeout
        while not self._is_closed and time.monotonic() < end and await self._hear(self._bounds.pause):
            pass
