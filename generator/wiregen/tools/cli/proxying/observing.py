"""One relayed connection as its messages: both directions decoded, and held to the sessions. No sockets, no clock."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.sessions.table import Program
from wiregen.runtime.stream.context import Context
from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings
from wiregen.tools.cli.direction import Direction
from wiregen.tools.cli.replayed import Replayed, Watch

__all__ = ["Observation", "ObservedConnection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """How connections are observed. `program`: their sessions, if the protocol has any; `options`: of the sessions.

    `closes`: an error ends its direction for the sessions, as in `replay`.
    """

    settings: DecodingSettings
    program: Program | None
    options: Mapping[str, object]
    closes: bool


class ObservedConnection:
    """One connection; frames and errors of a direction cover its stream without gaps."""

    def __init__(self, observation: Observation, flow: str, now: float) -> None:
        self.flow = flow
        settings = observation.settings
        self.context = Context(settings.schema, limits=dict(settings.limits))
        self._lost: set[str | None] = set()
        self._directions = {
            role: Direction(settings, role, self.context, is_live=True) for role in settings.schema.roles
        }
        self._watch = None
        if observation.program is not None:
            self._watch = Watch(
                observation.program,
                settings,
                self.context,
                options=observation.options,
                closes=observation.closes,
                flow=flow,
                now=now,
            )

    def take(self, role: str, data: bytes, time: float) -> Iterator[Replayed]:
        """Yield the frames and errors that the bytes of a role complete, and the timers that ran out before."""
        yield from self.expire(time)
        yield from self._judged(self._directions[role].feed(data), time)

    def gap(self, role: str, size: int, time: float) -> Iterator[Replayed]:
        """Record bytes of a role that are not decoded."""
        yield from self.expire(time)
        yield from self._judged(self._directions[role].gap(size), time)

    def finish(self, role: str, time: float) -> Iterator[Replayed]:
        """Yield the remaining errors at the end of a role's direction."""
        yield from self.expire(time)
        yield from self._judged(self._directions[role].finish(), time)

    def expire(self, now: float) -> Iterator[Replayed]:
        """Yield the timers of the sessions that have run out."""
        if self._watch is not None:
            yield from self._watch.expire(now)

    def _judged(self, items: Iterable[Decoded], time: float) -> Iterator[Replayed]:
        for each in items:
            decoded = each.seen(self.flow, time)
            if self._watch is not None:
                replayed = self._watch.judge(decoded)
            else:
                replayed = Replayed(flow=self.flow, time=time, decoded=decoded, steps=(), violations=())
            yield replayed

    def is_repeated(self, decoded: Decoded) -> bool:
        """Return whether an error only says again that a direction cannot be decoded any further; called once for each."""
        outcome, role = decoded.outcome, decoded.role
        if not isinstance(outcome, DecodeError):
            self._lost.discard(role)
            return False
        is_known = outcome.code == "lost_sync" and role in self._lost
        if outcome.code != "gap" and not outcome.recoverable:
            self._lost.add(role)
        return is_known
