"""What came in one direction of a connection: bytes to frames, each frame to the sessions, all of it to events."""

from __future__ import annotations

from typing import Any

from .errors import DecodeError
from .session_engine import Engine
from .session_events import Ended, Event, Fault, Received, Violation
from .session_package import Package

__all__ = ["Reading"]

_NO_MORE = object()


class Reading:
    """One direction.

    Attributes:
        is_dead: No frame can be found in it any more.
        has_more: There may be frames in what was fed that were not looked at.
    """

    def __init__(
        self,
        package: Package,
        engine: Engine,
        role: str,
        decoder: Any,
        *,
        keep_going: bool,
        shows_pieces: bool,
    ) -> None:
        self._shows_pieces = shows_pieces
        self._engine = engine
        self._role = role
        self._decoder = decoder
        self._keep_going = keep_going
        self._has_context = package.make_context is not None
        self._heard: list[Violation] = []
        self._was_heard = False
        self._now = 0.0
        self.is_dead = False
        self.has_ended = False
        self.has_more = False

    def feed(self, chunk: bytes | bytearray | memoryview, now: float, most: int | None = None) -> list[Event]:
        """Return what is complete now; where the sessions do not go on, a violation is the last event.

        `most`: events after which the rest is left for a later call.
        """
        events: list[Event] = []
        self.has_more = False
        if self.is_dead or self.has_ended:
            return events
        self._now = now
        decoder = self._decoder
        frames = decoder.feed(chunk)
        while True:
            if most is not None and len(events) >= most:
                self.has_more = True
                return events
            offset = decoder.offset
            self._was_heard = False
            item = next(frames, _NO_MORE)
            if item is _NO_MORE:
                return events
            if isinstance(item, DecodeError):
                events.append(Fault(item, self._role, now))
                self.is_dead = not item.recoverable
                self._engine.miss(self._role, item, now)
                continue
            if not self._was_heard:
                if self._heard:
                    self._heard = []
                self._see(item)
            if self._has_context and not self._shows_pieces and getattr(item, "part", None) is not None:
                item = _whole(item)
            if not self._heard:
                if item is not None:
                    events.append(Received(item, self._role, offset, now))
            elif self._report(item, offset, now, events) and not self._keep_going:
                return events

    def hear(self, item: Any, sender: str | None) -> None:
        """Let the sessions see a whole frame, before it changes what a context says, and the frames inside it."""
        if not self._was_heard:
            self._was_heard, self._heard = True, []
        self._see(item)

    def end(self, now: float) -> list[Event]:
        """Return what the end of the stream means."""
        if self.has_ended:
            return []
        self.has_ended = True
        events: list[Event] = []
        if not self.is_dead:
            try:
                self._decoder.finish()
            except DecodeError as error:
                self.is_dead = True
                events.append(Fault(error, self._role, now))
        return [*events, Ended(self._role, now)]

    def _see(self, item: Any) -> None:
        heard = self._heard
        for inner in self._engine.step(self._role, item, self._now, heard):
            if heard and self._is_over():
                return
            self._see(inner)

    def _is_over(self) -> bool:
        """Say whether nothing more is to be seen: a rule was broken, and the connection does not go on."""
        return not self._keep_going and any(not each.lenient for each in self._heard)

    def _report(self, item: Any, offset: int, now: float, events: list[Event]) -> bool:
        """Add the events of a frame; say whether a rule was broken."""
        notes = tuple(self._heard)
        broken = [note for note in notes if not note.lenient]
        for note in notes:
            note.offset, note.frame = offset, item
        if broken and not self._keep_going:
            events += notes[: notes.index(broken[0]) + 1]
            return True
        events += notes
        if item is not None:
            events.append(Received(item, self._role, offset, now, notes))
        return bool(broken)


def _whole(piece: Any) -> Any:
    """Return what a piece makes whole: the joined frame, or the piece itself with what is joined; None: it is not the last."""
    if not piece.part.last:
        return None
    joined = piece.part.joined
    return joined if hasattr(joined, "message") else piece
