"""A recorded connection and its sessions: the effects of each frame of either side on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.sessions.engine import Engine
from wiregen.runtime.sessions.events import TimedOut, Violation
from wiregen.runtime.sessions.table import Program
from wiregen.runtime.stream.context import Context
from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings

__all__ = ["Replayed", "Step", "Watch"]

Step = tuple[str, Any, str, str]
"""The session, the key, the old state and the new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A frame, an error (`decoded`), or a timer that ran out, with its effects on the sessions.

    `is_unread`: it came after an error that closes the connection, so that its receiver did not read it.
    """

    flow: str | None
    time: float | None
    decoded: Decoded | None
    steps: tuple[Step, ...]
    violations: tuple[Violation, ...]
    is_unread: bool = False

    @property
    def is_fault(self) -> bool:
        return self.decoded is not None and isinstance(self.decoded.outcome, DecodeError)


class Watch:
    """The sessions of one connection; both directions are decoded with its `context`.

    `closes`: an error from which the codec can recover ends its direction. In a direction with a gap it does
    not: the bytes that the capture lacks may be its cause.
    """

    def __init__(
        self,
        program: Program,
        settings: DecodingSettings,
        context: Context,
        *,
        options: Mapping[str, object],
        closes: bool,
        flow: str | None = None,
        now: float = 0.0,
    ) -> None:
        self._flow = flow
        self._now = now
        self._closes = closes
        self._with_gap: set[str | None] = set()
        self._unread: set[str | None] = set()
        self._engine = Engine(
            program,
            strict=settings.is_strict,
            limits=settings.limits,
            contexts=context,
            options=options,
            variant=settings.variant,
            now=now,
        )
        self._steps: list[Step] = []
        self._engine.trail = self._steps
        self._violations: list[Violation] | None = None
        context.listener = self._hear

    def expire(self, now: float) -> Iterator[Replayed]:
        """Yield the timers that have run out; the next event happens at `now`."""
        self._now = now
        for event in self._engine.expire(now):
            violations = (event,) if isinstance(event, Violation) else ()
            time = event.time if isinstance(event, Violation | TimedOut) else now
            yield Replayed(
                flow=self._flow, time=time, decoded=None, steps=self._taken_steps(), violations=violations
            )

    def judge(self, decoded: Decoded) -> Replayed:
        """Return the effects of a frame; most were reported to the sessions while it was decoded."""
        is_unread = decoded.role in self._unread
        if isinstance(decoded.outcome, DecodeError):
            if not is_unread:
                self._miss(decoded.role, decoded.outcome)
        elif self._violations is None:
            self._hear(decoded.outcome.value, decoded.role)
        violations, self._violations = tuple(self._violations or ()), None
        for violation in violations:
            violation.offset = decoded.offset
        return Replayed(
            flow=self._flow,
            time=decoded.time,
            decoded=decoded,
            steps=self._taken_steps(),
            violations=violations,
            is_unread=is_unread,
        )

    def _miss(self, role: str | None, error: DecodeError) -> None:
        """Report an error to the sessions; it may end its direction."""
        if error.code == "gap":
            self._with_gap.add(role)
        violation = None if role is None else self._engine.miss(role, error, self._now)
        if violation is not None:
            self._violations = [violation]
        if self._closes and error.recoverable and role not in self._with_gap:
            self._unread.add(role)

    def states(self) -> Iterator[tuple[str, object, str]]:
        """Yield session, key and state of each instance that is kept."""
        for name, kept in self._engine.instances.items():
            for instance in kept.all():
                yield name, instance.shown_key, instance.table.states[instance.state]

    def _taken_steps(self) -> tuple[Step, ...]:
        steps = tuple(self._steps)
        self._steps.clear()
        return steps

    def _hear(self, frame: object, sender: str | None) -> None:
        if self._violations is None:
            self._violations = []
        assert sender is not None
        if sender in self._unread:
            return
        for inner in self._engine.step(sender, frame, self._now, self._violations):
            self._hear(inner, sender)
